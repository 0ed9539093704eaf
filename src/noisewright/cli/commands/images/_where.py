"""The options that state which parts of photographs are hidden: faces that are found, or boxes and masks of the owner's own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from noisewright.images.methods import Method
    from noisewright.images.pipeline.finding import FoundFaces
    from noisewright.images.pipeline.hiding import HiddenPlaces, Where
    from noisewright.images.pipeline.keeping import KeptFaces
    from noisewright.images.pipeline.places import Place

__all__ = [
    "Boxes",
    "Expect",
    "Keep",
    "Margin",
    "Masks",
    "NoFaceFound",
    "Outline",
    "Smallest",
    "Sure",
    "WhereName",
    "in_own_frames",
    "in_places",
    "search",
]

WhereName = Annotated[
    str,
    typer.Option(
        "--where", metavar="whole|faces", help="Hide the whole picture, or each face that is found, one by one."
    ),
]
NoFaceFound = Annotated[
    str,
    typer.Option(
        "--no-face",
        metavar="refuse|whole|keep",
        help="What becomes of a picture in which no face is found; keep shows it as it is.",
    ),
]
Expect = Annotated[
    int | None, typer.Option(metavar="N", help="Refuse pictures in which not exactly N faces are found.", min=0)
]
Smallest = Annotated[
    float, typer.Option(metavar="PIXELS", help="Look for faces of so many pixels across, or more; fewer take longer.")
]
Sure = Annotated[
    float, typer.Option(metavar="P", help="How sure the detector must be, from 0 to 1; less finds and hides more.")
]
Margin = Annotated[
    float, typer.Option(metavar="TIMES", help="How large the place around a face is, against the usual.")
]
Outline = Annotated[
    bool,
    typer.Option("--outline", help="Hide heads by their outlines, which are then in the clear, not by rectangles."),
]
Boxes = Annotated[
    str | None,
    typer.Option(metavar="FILE.json", help="Hide these boxes, one by one: what noisewright images find writes."),
]
Masks = Annotated[
    str | None, typer.Option(metavar="FOLDER", help="Hide what is not black in the mask of each picture's name.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Leave faces as they are: a picture of one, cut out of the photographs, or boxes (.json). May be repeated.",
    ),
]


def search(*, smallest: float, sure: float, margin: float, **more: Any) -> FoundFaces:
    """Return the way in which faces are searched for."""
    from noisewright.images.pipeline.finding import FoundFaces

    return FoundFaces(smallest=smallest, sure=sure, margin=margin, **more)


def in_places(
    method: Method,
    where: str,
    files: Sequence[Path],
    *,
    boxes: str | None = None,
    masks: str | None = None,
    keep: list[str] | None = None,
    no_face: str = "refuse",
    expect: int | None = None,
    **found: Any,
) -> Method:
    """The method on each place alone, or on whole pictures if no place is requested."""
    from noisewright.core.choices import one_of
    from noisewright.core.errors import FileFormatError, ParameterError
    from noisewright.images.methods import FaceMethod
    from noisewright.images.pipeline.finding import OwnPlaces
    from noisewright.images.pipeline.hiding import in_frames

    one_of(where, "--where", ("whole", "faces"))
    own = boxes is not None or masks is not None
    if where == "whole" and (keep or expect is not None or no_face != "refuse" or found.get("outline")):
        raise ParameterError("--keep, --expect, --no-face and --outline go with --where faces.")
    if where == "whole" and not own:
        return method
    if where == "faces" and own:
        raise ParameterError(
            "--boxes and --masks say what is hidden, so no face is looked for; leave out --where faces."
        )
    boxed = [file for file in keep or [] if Path(file).suffix.lower() == ".json"]
    if (own or boxed) and len({file.name for file in files}) < len(files):
        raise FileFormatError("two files have the same name, so boxes and masks could be meant for either; rename one.")
    if masks is not None and len({file.stem for file in files}) < len(files):
        raise FileFormatError(
            "two files differ in their suffixes alone, so a mask could be meant for either; rename one."
        )
    if own:
        folder = None if masks is None else Path(masks)
        if folder is not None and not folder.is_dir():
            raise FileFormatError(f"there is no folder {masks}; name one with a mask for each picture.")
        places: Where = OwnPlaces({} if boxes is None else _places(boxes), folder)
    else:
        aligned = isinstance(method, FaceMethod)  # a model wants faces upright, blocks do not
        places = search(aligned=aligned, no_face=no_face, expect=expect, keep=_kept(keep or []), **found)
    return in_frames(method, places)


def in_own_frames(method: Method, boxes: str) -> HiddenPlaces:
    """The method on boxes of a video, which are listed by frames."""
    from noisewright.images.pipeline.frame_boxes import OwnFrames
    from noisewright.images.pipeline.hiding import in_frames

    return in_frames(method, OwnFrames.of(_document(boxes), boxes))


def _kept(files: Sequence[str]) -> KeptFaces:
    from noisewright.core.errors import DataError
    from noisewright.images.pictures.reading import read_picture
    from noisewright.images.pipeline.finding import face_to_keep
    from noisewright.images.pipeline.keeping import KeptFaces

    boxes: dict[str, list[Place]] = {}
    faces = []
    for file in files:
        if Path(file).suffix.lower() == ".json":
            for name, places in _places(file).items():
                boxes.setdefault(name, []).extend(places or ())
        else:
            try:
                faces.append(face_to_keep(read_picture(file)))
            except DataError as problem:
                raise DataError(f"{file}: {problem}") from None
    return KeptFaces(boxes, tuple(faces))


def _places(file: str) -> dict[str, list[Place] | None]:
    from noisewright.images.pipeline.finding import places_of

    return places_of(_document(file), file)


def _document(file: str) -> Any:
    from noisewright.core.errors import FileFormatError
    from noisewright.files.inputs import read_json

    try:
        return read_json(file, parse=partial(json.loads, object_pairs_hook=_each_once))
    except OSError as problem:
        raise FileFormatError(f"{file} cannot be read: {problem.strerror}.") from None
    except FileFormatError as problem:
        raise FileFormatError(f"{file}: {problem}") from None
    except (ValueError, RecursionError):
        raise FileFormatError(f"{file} is not JSON; write boxes as noisewright images find does.") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Read an object of JSON and reject repeated names: a repeated name would hide the first value."""
    from noisewright.core.errors import FileFormatError

    if len(dict(pairs)) < len(pairs):
        raise FileFormatError("a name is there twice in a list of boxes; write all of its boxes in one line.")
    return dict(pairs)
