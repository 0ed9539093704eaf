"""``noisewright images train``: public faces in, a model of faces out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.images._options import in_options
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, counting, emit, facts, heading, plural, say
from noisewright.cli.shared.problems import exit_if_any, listed, unread
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.images.faces import FaceModel, PublicFaces

__all__ = ["COMMAND", "train"]

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
    from noisewright.core.choices import one_of
    from noisewright.files.endings import endings_as_exceptions
    from noisewright.images.training import KINDS, train_model

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
    emit(data, lambda: _page(data), as_json)
    exit_if_any(learned.problems)


def _faces(folder: str | None, size: int, grey: bool) -> PublicFaces:
    """The faces of a folder, or those that come along."""
    from noisewright.images.faces import PublicFaces, read_faces, sprite_faces
    from noisewright.images.faces.models.public_faces import square

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


def _page(data: dict[str, Any]) -> list[RenderableType]:
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


COMMAND = Command(in_options(train))
