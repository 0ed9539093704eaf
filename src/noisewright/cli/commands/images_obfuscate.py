"""``noisewright images obfuscate``: a photograph, or a folder of them, in; pictures that may be shown out."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.claims.phrases import OPEN
from noisewright.claims.readings import NOTHING_HIDDEN, OF_REGIONS, not_hidden, of_each_place
from noisewright.cli.app import Command
from noisewright.cli.arguments import Replace, exit_if_any, listed, target_file, unread
from noisewright.cli.commands.images_options import (
    Attributes,
    Block,
    Blur,
    Boxes,
    Components,
    DrawUnlike,
    Expect,
    Keep,
    Levels,
    Margin,
    Mask,
    Masks,
    MethodName,
    Model,
    NoFaceFound,
    Outline,
    Pixels,
    Quality,
    Regions,
    Resize,
    Sampler,
    Smallest,
    Sure,
    WhereName,
    Window,
    in_options,
    in_own_frames,
    in_places,
    method_of,
    model_of,
    model_rows,
    spelt,
)
from noisewright.exceptions import ParameterError
from noisewright.images.pipeline.methods import Obfuscated
from noisewright.render.text import AsJson, counting, emit, facts, heading, plural, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.images.pictures import Colours
    from noisewright.images.pipeline.methods import Method

__all__ = [
    "OBFUSCATE_COMMAND",
    "PREVIEW_COMMAND",
    "VIDEO_COMMAND",
    "contact_sheet",
    "left_out",
    "obfuscate",
    "preview",
    "sheet_file",
    "video",
]


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
    from noisewright.images.pictures import IN_THE_CLEAR
    from noisewright.images.pipeline.methods import obfuscate_picture, obfuscate_pictures, picture_files
    from noisewright.io.atomic import write_atomically

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
    from noisewright.images.base import clear_words
    from noisewright.images.faces.mechanism import measured_in_words

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
    from noisewright.exceptions import ParameterError
    from noisewright.images.pipeline.methods import SUFFIXES

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


OBFUSCATE_COMMAND = Command(in_options(obfuscate))


# Preview ------------------------------------------------------------------------------------------------------------------
#
# ``noisewright images preview``: one photograph at several epsilons, side by side, with numbers.


def preview(
    picture: Annotated[str, typer.Argument(metavar="PICTURE", help="A photograph.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.png", help="Where the strip is written.")],
    epsilon: Annotated[str, typer.Option(metavar="E,E,...", help="The epsilons to try.")] = "10,100,1000,10000",
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
    smallest: Smallest = 32.0,
    sure: Sure = 0.5,
    margin: Margin = 1.0,
    outline: Outline = False,
    replace: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Draw one photograph at several epsilons: a strip with the original first, and how alike each of the others is to it.

    The strip and the numbers are for the owner of the photograph; each picture in it costs its epsilon to whom it is shown.
    """
    from noisewright.claims.phrases import measured_parts
    from noisewright.images.blocks import mse, ssim
    from noisewright.images.pictures import png_of, read_picture, recoloured, resized, strip
    from noisewright.io.atomic import write_atomically

    target = target_file(output, "a strip", (".png",), replace=replace)
    options: dict[str, Any] = {"block": block, "blur": blur, "pixels": pixels, "region": region, "mask": mask}
    options |= {"quality": quality, "levels": levels, "window": window, "sampler": sampler}
    options |= {"model": model, "components": components, "attribute": attribute, "resize": resize}
    options["draw_unlike"] = draw_unlike
    found: dict[str, Any] = {"smallest": smallest, "sure": sure, "margin": margin, "outline": outline}
    made = {word.strip(): method_of(method, word.strip(), **options) for word in epsilon.split(",")}
    methods = {word: in_places(one, where, [Path(picture)], **found) for word, one in made.items()}
    original = read_picture(picture)
    with working("drawing"):
        results = {word: one.drawn(original) for word, one in methods.items()}
    drawn, places = {word: picture for word, (picture, _) in results.items()}, max(many for _, many in results.values())
    height, width, channels = next(iter(drawn.values())).shape
    promised = {word: one.promise(height, width, channels, max(places, 1)) for word, one in methods.items()}
    original = resized(recoloured(original, channels), height, width)  # a face comes out in the size of its model
    large = min(height, width) > 10
    tried: list[dict[str, Any]] = [
        {
            "epsilon": word,
            "guarantee": str(promised[word].guarantee) if places else None,
            "ssim": ssim(original, found) if large else None,
            "mse": mse(original, found),
            "measured": measured_parts(promised[word].measured),
        }
        for word, found in drawn.items()
    ]
    write_atomically(
        target, png_of(strip([("original", original), *((f"epsilon {word}", found) for word, found in drawn.items())]))
    )
    model_used = model_of(next(iter(made.values())))
    data: dict[str, Any] = {"strip": output, "method": method, "model": model_used}
    data |= {"width": original.shape[1], "height": original.shape[0], "tried": tried}

    def shown() -> list[RenderableType]:
        rows = [
            (
                f"epsilon {one['epsilon']}",
                "; ".join([*_alike(one), promised[one["epsilon"]].guarantee.reading(), *one["measured"]]),
            )
            for one in tried
        ]
        note = ("strip", f"{output}, which shows the original: do not pass it on")
        rows += [*model_rows(model_used), note]
        return [heading(picture, f"{original.shape[1]} x {original.shape[0]} pixels, {method}"), facts(rows)]

    emit(data, shown, as_json)


def _alike(tried: dict[str, Any]) -> list[str]:
    structure = [] if tried["ssim"] is None else [f"SSIM {tried['ssim']:.3f}"]
    return [*structure, f"mean squared error {tried['mse']:,.0f}"]


PREVIEW_COMMAND = Command(in_options(preview))


# Video --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright images video``: the faces in a video hidden, each of them followed from frame to frame.


def video(
    film: Annotated[str, typer.Argument(metavar="VIDEO", help="A video: MP4, MOV, AVI, MKV or WebM.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.mp4", help="A new file, .mp4 or .avi.")],
    epsilon: Annotated[str, typer.Option(metavar="E", help="For each face that is followed; see --draw.")],
    draw: Annotated[
        str,
        typer.Option(
            metavar="once|every", help="Draw a face once and show that in all its frames, or anew in every frame."
        ),
    ] = "once",
    hold: Annotated[
        int, typer.Option(metavar="FRAMES", help="Hold a face so many frames where the detector loses it.", min=0)
    ] = 12,
    method: MethodName = "windows",
    model: Model = None,
    components: Components = None,
    draw_unlike: DrawUnlike = False,
    block: Block = None,
    blur: Blur = 0.0,
    quality: Quality = None,
    levels: Levels = None,
    window: Window = None,
    boxes: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json",
            help='Hide these boxes, by frames: {"1-40": \\[\\[x, y, width, height]], "41": \\[]}. No face is looked for then.',
        ),
    ] = None,
    keep: Keep = None,
    no_face: NoFaceFound = "refuse",
    smallest: Smallest = 32.0,
    sure: Sure = 0.5,
    margin: Margin = 1.0,
    as_json: AsJson = False,
) -> None:
    """Find, follow and hide the faces in a video; everything else in it stays as it is, but for sound and metadata.

    A face that is followed through n frames costs epsilon if it is drawn once, and n epsilon if it is drawn in every frame.
    A face that is lost and found again is followed as another one, so the certificate counts all draws for one person.
    """
    from noisewright.certificates.certificate import prove
    from noisewright.claims import phrases
    from noisewright.claims.figures import upward
    from noisewright.claims.readings import not_hidden, one_person
    from noisewright.exceptions import ParameterError
    from noisewright.images.pipeline.finding import HiddenPlaces
    from noisewright.images.pipeline.video import hide_video
    from noisewright.numerics.exact import positive_fraction

    options: dict[str, Any] = {"block": block, "blur": blur, "quality": quality, "levels": levels, "window": window}
    options |= {"model": model, "components": components, "draw_unlike": draw_unlike, "region": None, "mask": None}
    made = method_of(method, epsilon, **options)
    if boxes is not None and (keep or no_face != "refuse"):
        raise ParameterError("--boxes say what is hidden, so no face is looked for; leave out --keep and --no-face.")
    chosen = (
        in_own_frames(made, boxes)
        if boxes is not None
        else in_places(
            made,
            "faces",
            [Path(film)],
            keep=keep,
            no_face=no_face,
            smallest=smallest,
            sure=sure,
            margin=margin,
        )
    )
    assert isinstance(chosen, HiddenPlaces)
    with counting("frames looked at and written", "frames") as progress:
        done = hide_video(chosen, film, output, draw=draw, hold=hold, progress=progress)  # type: ignore[arg-type]
    proved, claim, clear = done.certificate, None, ["everything"]
    model_used = model_of(made)
    if proved is not None:
        claim = prove(proved.document)[0]
        clear = [one["called"] if "called" in one else phrases.clear(one) for one in proved.document["in_the_clear"]]
    track, person = (positive_fraction(epsilon, "--epsilon") * many for many in (done.longest, done.draws))
    data = {
        "output": output,
        "frames": done.frames,
        "faces_followed": done.tracks,
        "draws": done.draws,
        "whole_frames": done.whole,
        "draws_of_one_track": done.longest,
        "epsilon_of_one_track": None if proved is None else upward(track),
        "draws_of_one_person": done.draws,
        "epsilon_of_one_person": None if proved is None else upward(person),
        "claim": None if claim is None else str(claim),
        "model": model_used,
        "in_the_clear": clear,
    }
    promised = [
        ("faces followed", f"{done.tracks}, in {plural(done.draws, 'draw')}"),
        *([("whole frames", f"{done.whole} hidden, each drawn again")] if done.whole else []),
        ("guarantee", "" if claim is None else phrases.line({**claim.record, "conditions": []})),
        ("one person", one_person(done.longest, track, person)),
        *model_rows(model_used),
        ("certificate", "of all draws together, beside the video"),
    ]
    nothing = [("guarantee", not_hidden("the video"))]
    rows = [
        *(nothing if proved is None else promised),
        ("in the clear", "; ".join(clear)),
        ("sound, metadata", "none comes out"),
    ]
    emit(data, lambda: [heading(output, plural(done.frames, "frame")), facts(rows)], as_json)


VIDEO_COMMAND = Command(in_options(video))


# Sheet --------------------------------------------------------------------------------------------------------------------
#
# A page with pictures before and after, side by side, for their owner alone.


STYLE = """\
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2733; --line: #d5dce2; --alarm: #a51d2d; }
@media (prefers-color-scheme: dark) { :root { --paper: #14191e; --ink: #e6ebf0; --line: #36424d; --alarm: #c9304a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
.banner { margin: 0; padding: .6rem 1.25rem; background: var(--alarm); color: #fff; }
main { max-width: 80rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); gap: 1rem; }
ul { list-style: none; margin: 0; padding: 0; }
li { border: 1px solid var(--line); border-radius: .4rem; padding: .75rem; overflow-wrap: anywhere; }
li div { display: flex; gap: .5rem; } img { max-width: 50%; height: auto; image-rendering: pixelated; }
"""


def sheet_file(sheet: str | None, replace: bool) -> Path | None:
    """Return the path of the page, if one is wanted; it is not passed on."""
    if sheet is None:
        return None
    target = target_file(sheet, "a contact sheet", (".html",), replace=replace)
    if any(target.parent.glob("certificate*.json")):
        raise ParameterError(
            f"{sheet} shows originals, and would be in a folder of pictures that may be passed on; name another place."
        )
    return target


def left_out(others: dict[str, int]) -> list[tuple[str, str]]:
    """A line about files whose endings are not those of pictures, if there are some."""
    if not others:
        return []
    listed = ", ".join(f"{many} {ending}" for ending, many in others.items())
    return [("left out", f"{plural(sum(others.values()), 'file')} of other kinds, not looked at: {listed}")]


def contact_sheet(done: Sequence[Obfuscated], promise: str) -> str:
    """The page."""
    shown = [one for one in done if one.thumbnails is not None]
    rest = f" {len(shown)} of {len(done)} are shown." if len(shown) < len(done) else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>"
        f"<title>Before and after</title><style>{STYLE}</style></head><body>"
        '<p class="banner" role="alert">This page shows originals. It is for their owner; do not pass it on.</p>'
        f"<main><h1>Before and after</h1><p>{escape(promise)}{rest}</p>"
        f"<ul>{''.join(map(_pair, shown))}</ul></main></body></html>\n"
    )


def _pair(one: Obfuscated) -> str:
    assert one.thumbnails is not None
    assert one.target is not None
    sides = zip(("before", "after"), one.thumbnails, strict=True)
    pictures = "".join(
        f'<img alt="{escape(one.source.name)}, {side}" src="data:image/png;base64,{base64.b64encode(small).decode()}"/>'
        for side, small in sides
    )
    as_it_is = "" if one.places else "; nothing was hidden in it"
    return f"<li><div>{pictures}</div>{escape(one.source.name)} as {escape(one.target.name)}{as_it_is}</li>"
