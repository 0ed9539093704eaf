"""``noisewright images obfuscate``: a photograph, or a folder of them, in; pictures that may be shown out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.claims.phrases import OPEN
from noisewright.claims.readings import NOTHING_HIDDEN, OF_REGIONS, not_hidden, of_each_place
from noisewright.cli.commands.images._options import (
    Attributes,
    Block,
    Blur,
    Components,
    DrawUnlike,
    Levels,
    Mask,
    MethodName,
    Model,
    Pixels,
    Quality,
    Regions,
    Resize,
    Sampler,
    Window,
    in_options,
    method_of,
    model_of,
    model_rows,
    spelt,
)
from noisewright.cli.commands.images._where import (
    Boxes,
    Expect,
    Keep,
    Margin,
    Masks,
    NoFaceFound,
    Outline,
    Smallest,
    Sure,
    WhereName,
    in_places,
)
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, counting, emit, facts, heading, plural
from noisewright.cli.shared.problems import exit_if_any, listed, unread
from noisewright.cli.shared.targets import Replace, target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.images.methods import Method
    from noisewright.images.obfuscation import Obfuscated
    from noisewright.images.pictures.reading import Colours

__all__ = ["COMMAND", "obfuscate"]

SHOWN = 60
"""Maximum number of pictures on a contact sheet."""


def obfuscate(
    pictures: Annotated[list[str], typer.Argument(metavar="PICTURES...", help="Photographs, or folders of them.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder, or a .png file for one photograph.")
    ],
    epsilon: Annotated[
        str,
        typer.Option(
            metavar="E",
            help=OF_REGIONS,
        ),
    ],
    method: MethodName = "windows",
    model: Model = None,
    components: Components = None,
    attribute: Attributes = None,
    resize: Resize = False,
    draw_unlike: DrawUnlike = False,
    block: Block = None,
    blur: Blur = 0.0,
    region: Regions = None,
    mask: Mask = None,
    pixels: Pixels = None,
    quality: Quality = None,
    levels: Levels = None,
    window: Window = None,
    sampler: Sampler = None,
    where: WhereName = "whole",
    boxes: Boxes = None,
    masks: Masks = None,
    keep: Keep = None,
    no_face: NoFaceFound = "refuse",
    expect: Expect = None,
    smallest: Smallest = 32.0,
    sure: Sure = 0.5,
    margin: Margin = 1.0,
    outline: Outline = False,
    grey: Annotated[
        bool, typer.Option("--grey", help="Read all pictures in grey: a third of the values to draw.")
    ] = False,
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Call files as they were called, instead of by random numbers.")
    ] = False,
    keep_metadata: Annotated[
        bool,
        typer.Option(
            "--keep-metadata",
            help="Keep plain entries of EXIF: who took a picture, when, where, with what. They are in the clear.",
        ),
    ] = False,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="How many pictures are worked on at once.", min=1)
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Write a contact sheet, before and after; it is for the owner alone."),
    ] = None,
    replace: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Obfuscate photographs so that epsilon bounds what anybody learns from what comes out, whatever they know.

    Metadata does not come out, unless some is asked for. Nothing is recorded in a ledger here; a table with a column of pictures
    goes through noisewright release.
    """
    from noisewright.cli.commands.images._sheet import contact_sheet, sheet_file
    from noisewright.files.atomic import write_atomically
    from noisewright.images.obfuscation import obfuscate_picture, obfuscate_pictures, picture_files
    from noisewright.images.pictures.metadata import IN_THE_CLEAR

    page, single = sheet_file(sheet, replace), _is_single(output, pictures)
    there = picture_files(pictures)
    files = there.files
    made = method_of(
        method,
        epsilon,
        block=block,
        blur=blur,
        pixels=pixels,
        region=region,
        mask=mask,
        quality=quality,
        levels=levels,
        window=window,
        sampler=sampler,
        model=model,
        components=components,
        attribute=attribute,
        resize=resize,
        draw_unlike=draw_unlike,
    )
    chosen = in_places(
        made,
        where,
        files,
        boxes=boxes,
        masks=masks,
        keep=keep,
        no_face=no_face,
        expect=expect,
        smallest=smallest,
        sure=sure,
        margin=margin,
        outline=outline,
    )
    colours: Colours | None = "grey" if grey else None
    told: dict[str, Any] = {}
    promised: list[tuple[str, str]] = []

    def before(done: Sequence[Obfuscated]) -> None:
        """State the guarantee, and write the contact sheet, while nothing else is there yet."""
        told.update(_told(chosen, done, promised))
        if page is not None:
            write_atomically(page, contact_sheet(done, told["promise"]).encode())

    if single:
        place = target_file(output, "a picture", (".png",), replace=replace)
        done = [
            obfuscate_picture(
                chosen,
                files[0],
                place,
                colours=colours,
                keep_metadata=keep_metadata,
                replace=replace,
                before=before,
            )
        ]
    else:
        with counting("pictures obfuscated", "pictures") as progress:
            done = obfuscate_pictures(
                chosen,
                files,
                output,
                colours=colours,
                keep_names=keep_names,
                keep_metadata=keep_metadata,
                workers=workers or min(os.cpu_count() or 1, 8),
                thumbnails=SHOWN if page is not None else 0,
                progress=progress,
                before=before,
            )
    problems = there.problems + [(one.source, spelt(one.problem)) for one in done if one.problem is not None]
    clear = [] if single else ["how many pictures there are"]
    clear += [*told["in_the_clear"], *(["the names of the files"] if keep_names else [])]
    clear += [IN_THE_CLEAR] if keep_metadata else []
    data: dict[str, Any] = {
        "pictures": sum(one.problem is None for one in done),
        "output": output,
        "method": method,
        "epsilon": epsilon,
        "model": model_of(made),
        **told,
        "in_the_clear": clear,
        "metadata": "plain entries of EXIF are kept; no thumbnail or anything else"
        if keep_metadata
        else "none comes out",
        "sheet": sheet,
        "left_out": there.others,
        "problems": listed(problems),
    }
    emit(data, lambda: _page(data, promised, method), as_json)
    exit_if_any(problems)


def _told(method: Method, done: Sequence[Obfuscated], page: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the guarantee of the pictures in which something was drawn, which of them are the others, and the rows of a
    page about it."""
    from noisewright.claims.phrases import measured_parts
    from noisewright.images.hidden_faces import measured_in_words
    from noisewright.images.mechanism import clear_words

    open_ones = [str(one.source) for one in done if one.problem is None and not one.places]
    sizes = list(dict.fromkeys(one.size for one in done if one.size is not None and one.places))
    if not sizes:
        page.append(("guarantee", NOTHING_HIDDEN))
        return {
            "promise": NOTHING_HIDDEN,
            "guarantee": None,
            "guarantee_of_each": None,
            "faces_at_most": 0,
            "in_the_clear": ["everything"],
            "not_protected": open_ones,
            "numerics": None,
        }
    most = {size: max(one.places for one in done if one.size == size) for size in sizes}
    several = [method.promise(*size, places=many) for size, many in most.items()]  # a certificate for each size
    many, promised = max(most.values()), several[0]
    if promised.each is not None:
        page.append(("hidden", of_each_place(many, promised.each.record())))
    page.append(("guarantee", _each("; ", (one.guarantee.reading() for one in several))))
    page.append(("it means", _each(" ", (one.alone for one in several))))
    page += [("measured", "; ".join(measured_parts(promised.measured)))] if promised.measured else []
    return {
        "promise": _each(" ", [*(one.alone for one in several), promised.clear, *measured_in_words(promised.measured)]),
        "guarantee": _each("; ", (str(one.guarantee) for one in several)),
        "guarantee_of_each": None if promised.each is None else str(promised.each),
        "faces_at_most": None if promised.each is None else many,
        "in_the_clear": clear_words(method.mechanisms(*sizes[0])[0].clear),
        "not_protected": open_ones,
        "numerics": "exact",
    }


def _each(between: str, texts: Iterable[str]) -> str:
    """Return several texts in one, each of them once."""
    return between.join(dict.fromkeys(texts))


def _is_single(output: str, pictures: Sequence[str]) -> bool:
    """Return whether one picture goes into a file; refused where the output would be taken for something else."""
    from noisewright.core.errors import ParameterError
    from noisewright.images.obfuscation import SUFFIXES

    suffix, folders = Path(output).suffix.lower(), [place for place in map(Path, pictures) if place.is_dir()]
    if suffix in SUFFIXES and suffix != ".png":
        raise ParameterError(f"{output}: a picture comes out as .png; name a file that ends so, or a new folder.")
    if suffix == ".png" and (len(pictures) > 1 or folders):
        raise ParameterError("several pictures are written into a new folder; name one that does not end in .png.")
    if any(Path(output).resolve().is_relative_to(folder.resolve()) for folder in folders):
        raise ParameterError(
            f"{output} is in a folder of originals, and would be among them the next time; name a place outside."
        )
    return suffix == ".png"


def _page(data: dict[str, Any], promised: list[tuple[str, str]], method: str) -> list[RenderableType]:
    from noisewright.cli.commands.images._sheet import left_out

    rows = [
        *promised,
        *model_rows(data["model"]),
        ("in the clear", "; ".join(data["in_the_clear"]) or "nothing"),
        ("metadata", data["metadata"]),
    ]
    if data["numerics"] is not None:
        rows.insert(len(promised), ("numerics", "exact: drawn from the integers that the certificates are about"))
        rows.append(("certificates", f"one for each size of pictures, beside the pictures ({method})"))
    if names := [Path(one).name for one in data["not_protected"]]:
        rows.append((OPEN, not_hidden(", ".join(names))))
    rows += left_out(data["left_out"])
    if data["sheet"]:
        rows.append(("sheet", f"{data['sheet']}, which shows originals: do not pass it on"))
    return [heading(data["output"], plural(data["pictures"], "picture")), facts(rows), *unread(data["problems"])]


COMMAND = Command(in_options(obfuscate))
