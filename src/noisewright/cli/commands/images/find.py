"""``noisewright images find``: where faces are found, to look at and to correct before anything is hidden."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.images._where import Margin, Smallest, Sure, search
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, counting, emit, facts, heading, plural
from noisewright.cli.shared.problems import exit_if_any, listed, unread
from noisewright.cli.shared.targets import Replace, target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["COMMAND", "find"]

SHOWN = 60


def find(
    pictures: Annotated[list[str], typer.Argument(metavar="PICTURES...", help="Photographs, or folders of them.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.json", help="Where the boxes are written.")],
    smallest: Smallest = 32.0,
    sure: Sure = 0.5,
    margin: Margin = 1.0,
    sheet: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Write a page with the boxes drawn; it is for the owner alone."),
    ] = None,
    crops: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Write each sure face, upright and cut out, into this new folder: to train models."
        ),
    ] = None,
    size: Annotated[int, typer.Option(metavar="PIXELS", help="The side of those pictures.", min=8, max=1024)] = 64,
    replace: Replace = False,
    as_json: AsJson = False,
) -> None:
    """Find faces in photographs, and write a box for each: x, y, width, height and tilt, by the names of files.

    Look whether all are there, add those that are missing, and hand the file to images obfuscate --boxes. It tells who is where:
    it is for the owner of the photographs.
    """
    from noisewright.cli.commands.images._sheet import contact_sheet, sheet_file
    from noisewright.core.errors import DataError, FileFormatError
    from noisewright.files.atomic import write_atomically
    from noisewright.files.folders import whole_folder
    from noisewright.images.obfuscation import Obfuscated, picture_files, thumbnail
    from noisewright.images.pictures.reading import read_picture
    from noisewright.images.pictures.writing import png_of
    from noisewright.images.pipeline.finding import CERTAIN
    from noisewright.images.pipeline.heads import aligned_face
    from noisewright.images.pipeline.marking import marked

    target = target_file(output, "a list of boxes", (".json",), replace=replace)
    page = sheet_file(sheet, replace)
    there = picture_files(pictures)
    files = there.files
    if len({file.name for file in files}) < len(files):
        raise FileFormatError("two files have the same name, and boxes are listed by names; rename one.")
    look = search(smallest=smallest, sure=sure, margin=margin)
    boxes: dict[str, list[list[float]] | None] = {}
    problems = list(there.problems)
    shown: list[Obfuscated] = []
    cut = 0
    with (
        nullcontext() if crops is None else whole_folder(crops) as folder,
        counting("pictures looked at", "pictures") as progress,
    ):
        for number, file in enumerate(files, start=1):
            try:
                picture = read_picture(file)
                found = look.found(picture)
                places = [place for _, place in found]
                for face, _ in found:
                    if folder is not None and face.score >= CERTAIN:
                        cut += 1
                        (folder / f"face-{cut}.png").write_bytes(png_of(aligned_face(picture, face, size)))
                sure_of_one = any(face.score >= CERTAIN for face, _ in found)
                boxes[file.name] = [place.box for place in places] if sure_of_one else None
                if page is not None and len(shown) < SHOWN:
                    small = (thumbnail(picture), thumbnail(marked(picture, places)))
                    shown.append(Obfuscated(file, Path(plural(len(places), "face")), None, None, small))
            except DataError as problem:
                problems.append((file, str(problem)))
            if progress is not None:
                progress(number, len(files))
        if page is not None:
            write_atomically(
                page, contact_sheet(shown, "Faces that were found, with the places that would be hidden.").encode()
            )
        lines = ",\n".join(f" {json.dumps(name, ensure_ascii=False)}: {json.dumps(own)}" for name, own in boxes.items())
        write_atomically(target, f"{{\n{lines}\n}}\n".encode())
    data: dict[str, Any] = {
        "pictures": len(boxes),
        "faces": sum(len(own or ()) for own in boxes.values()),
        "output": output,
        "without": sorted(name for name, found in boxes.items() if not found),
        "sheet": sheet,
        "left_out": there.others,
        "crops": cut if crops is not None else None,
        "problems": listed(problems),
    }
    emit(data, lambda: _page(data), as_json)
    exit_if_any(problems)


def _page(data: dict[str, Any]) -> list[RenderableType]:
    from noisewright.cli.commands.images._sheet import left_out

    rows = [
        ("faces", f"{data['faces']} in {plural(data['pictures'], 'picture')}"),
        ("no face found", ", ".join(data["without"]) or "in none"),
        ("next", f"look at them, correct {data['output']}, and use images obfuscate --boxes {data['output']}"),
    ]
    rows += left_out(data["left_out"])
    return [heading(data["output"], "for the owner alone"), facts(rows), *unread(data["problems"])]


COMMAND = Command(find)
