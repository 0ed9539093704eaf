"""``noisewright images find``: where faces are found, to look at and to correct before anything is hidden."""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.app import Command
from noisewright.cli.arguments import Replace, exit_if_any, listed, target_file, unread
from noisewright.cli.commands.images_options import Margin, Smallest, Sure, in_options, search
from noisewright.render.text import AsJson, counting, emit, facts, heading, plural, say

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.images.faces.model import FaceModel
    from noisewright.images.faces.public_faces import PublicFaces

__all__ = ["FIND_COMMAND", "GET_COMMAND", "TRAIN_COMMAND", "find", "get", "train"]


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
    from noisewright.cli.commands.images_obfuscate import contact_sheet, sheet_file
    from noisewright.exceptions import DataError, FileFormatError
    from noisewright.images.pictures import png_of, read_picture
    from noisewright.images.pipeline.detection import aligned_face
    from noisewright.images.pipeline.finding import CERTAIN
    from noisewright.images.pipeline.geometry import marked
    from noisewright.images.pipeline.methods import Obfuscated, picture_files, thumbnail
    from noisewright.io.atomic import whole_folder, write_atomically

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
    emit(data, lambda: _find_page(data), as_json)
    exit_if_any(problems)


def _find_page(data: dict[str, Any]) -> list[RenderableType]:
    from noisewright.cli.commands.images_obfuscate import left_out

    rows = [
        ("faces", f"{data['faces']} in {plural(data['pictures'], 'picture')}"),
        ("no face found", ", ".join(data["without"]) or "in none"),
        ("next", f"look at them, correct {data['output']}, and use images obfuscate --boxes {data['output']}"),
    ]
    rows += left_out(data["left_out"])
    return [heading(data["output"], "for the owner alone"), facts(rows), *unread(data["problems"])]


FIND_COMMAND = Command(find)


# Get ----------------------------------------------------------------------------------------------------------------------
#
# ``noisewright images get``: the small networks that find faces, from a package registry.


def get(as_json: AsJson = False) -> None:
    """Fetch the networks that find faces (1.7 MB, Apache-2.0) with pip, so that the mirror it is set up for is asked; keep them.

    They lie in a wheel of mediapipe. It is compared with a known SHA-256, and no code in it is run or installed.
    """
    from noisewright.images.pipeline.detection import NETWORKS, fetch_networks

    places = fetch_networks(_say)
    found = [
        {"name": name, "path": str(path), "sha256": NETWORKS[name].sha256, "about": NETWORKS[name].about}
        for name, path in places.items()
    ]
    rows = [(one["name"], f"{one['about']}; {one['path']}") for one in found]
    emit({"networks": found}, lambda: [heading("networks", "here"), facts(rows)], as_json)


def _say(step: str) -> None:
    if sys.stderr.isatty():
        say(f"{step} ...")


GET_COMMAND = Command(get)


# Train --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright images train``: public faces in, a model of faces out.


SIDE = 48
LOOKED_AT = 200
"""Number of faces that are drawn again to measure how well that goes."""


def train(
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.nwm", help="Where the model is written.")],
    faces: Annotated[
        str | None,
        typer.Argument(
            metavar="[FACES]",
            help="A folder of public, aligned faces: a folder for each person, or labels.csv. Default: made-up faces.",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(metavar="eigenfaces|autoencoder|identities|attgan", help="The kind of model."),
    ] = "eigenfaces",
    size: Annotated[int, typer.Option(metavar="N", help="The side of faces in pixels.", min=8, max=1024)] = SIDE,
    grey: Annotated[bool, typer.Option("--grey", help="Learn from faces in grey.")] = False,
    code: Annotated[
        int | None, typer.Option(metavar="N", help="The length of codes. Default: that of the kind of model.", min=2)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", help="How often all faces are learned from; not for eigenfaces.", min=1)
    ] = None,
    scale: Annotated[
        float | None, typer.Option(metavar="S", help="For attgan: the width of its layers, 1 being all of it.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Where networks start; not for eigenfaces.", min=0)
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="cpu|cuda", help="Where a network learns; cuda is a graphics card.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train a model of faces, in seconds (eigenfaces) or minutes (networks, which need PyTorch), and write it to a file.

    The faces must be public: nothing protects the people that a model was trained on. A training that is stopped goes on where it
    was when it is started again with the same words.
    """
    from noisewright._utils.validation import one_of
    from noisewright.images.faces.training import KINDS, train_model
    from noisewright.io.atomic import endings_as_exceptions

    one_of(model, "--model", KINDS)
    target = target_file(output, "a model", (".nwm",), new=True)
    started = time.perf_counter()
    learned = _faces(faces, size, grey)
    options = {"code": code, "epochs": epochs, "scale": scale, "seed": seed, "device": device}
    try:
        with endings_as_exceptions(), counting("epochs", "epochs") as progress:
            made = train_model(
                model,
                target,
                learned,
                progress,
                **{name: value for name, value in options.items() if value is not None},
            )
    except (KeyboardInterrupt, SystemExit):
        if (checkpoint := Path(f"{target}.part")).exists():
            say(f"Stopped. {checkpoint} has what was learned: start again with the same words to go on.")
        raise
    data = {
        "output": output,
        "model": model,
        **_found(made, learned),
        "seconds": round(time.perf_counter() - started, 1),
        "problems": listed(learned.problems),
    }
    emit(data, lambda: _train_page(data), as_json)
    exit_if_any(learned.problems)


def _faces(folder: str | None, size: int, grey: bool) -> PublicFaces:
    """The faces of a folder, or those that come along."""
    from noisewright.images.faces.public_faces import PublicFaces, read_faces, sprite_faces, square

    if folder is not None:
        with counting("faces read", "faces") as progress:
            return read_faces(folder, size=size, colours="grey" if grey else "rgb", progress=progress)
    import numpy as np

    sprites = sprite_faces()
    pictures = sprites.pictures if not grey else np.rint(sprites.pictures @ [0.299, 0.587, 0.114])[..., None]
    pictures = np.stack([square(picture, size) for picture in pictures.astype(np.uint8)])
    labels = {"expression": sprites.expressions, "gender": sprites.genders}
    return PublicFaces(pictures, sprites.people, labels, source="made-up faces drawn by facesjs")


def _found(made: FaceModel, learned: PublicFaces) -> dict[str, Any]:
    """Describe the model, and how well it draws the faces again that it learned from."""
    import numpy as np

    some = learned.pictures[:: max(1, len(learned.pictures) // LOOKED_AT)]
    attributes = [attribute.name for attribute in getattr(made, "attributes", ())]
    kept = made.keeping(*attributes)
    again = kept.decode(kept.encode(some), kept.attributes_of(some)).astype(float)
    return {
        "faces": len(learned.pictures),
        "source": learned.source,
        "size": list(made.shape),
        "elements": len(made.low),
        "attributes": attributes,
        "sha256": made.resource.sha256,
        "bytes": made.resource.size,
        "error": float(np.abs(again - some).mean()),
        "error_of_the_mean_face": float(np.abs(learned.pictures.mean(0) - some).mean()),
    }


def _train_page(data: dict[str, Any]) -> list[RenderableType]:
    height, width, channels = data["size"]
    rows = [
        ("made of", f"{plural(data['faces'], 'face')} of {data['source']}, {width} x {height} pixels"),
        ("codes", f"{plural(data['elements'], 'element')}, the most telling first"),
        ("attributes", ", ".join(data["attributes"]) or "none"),
        (
            "without noise",
            f"pixels are {data['error']:.1f} of 255 off; the mean face is {data['error_of_the_mean_face']:.1f} off",
        ),
        ("file", f"{data['bytes']:,} bytes, sha256 {data['sha256']}"),
        ("took", f"{data['seconds']} seconds"),
        ("public", "this file tells about the faces that it was made of; nothing protects those"),
    ]
    return [
        heading(data["output"], f"{data['model']}{', grey' if channels == 1 else ''}"),
        facts(rows),
        *unread(data["problems"]),
    ]


TRAIN_COMMAND = Command(in_options(train))
