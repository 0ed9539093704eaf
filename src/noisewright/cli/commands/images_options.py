"""The options of methods, which obfuscate and preview share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.arguments import check_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from noisewright.images.pictures import Region
    from noisewright.images.pipeline.finding import FoundFaces, HiddenPlaces, KeptFaces, Where
    from noisewright.images.pipeline.geometry import Place
    from noisewright.images.pipeline.methods import FaceMethod, Method, PixelMethod

__all__ = [
    "Attributes",
    "Block",
    "Blur",
    "Boxes",
    "Components",
    "DrawUnlike",
    "Expect",
    "Keep",
    "Levels",
    "Margin",
    "Mask",
    "Masks",
    "MethodName",
    "Model",
    "NoFaceFound",
    "Outline",
    "Pixels",
    "Quality",
    "Regions",
    "Resize",
    "Sampler",
    "Smallest",
    "Sure",
    "WhereName",
    "Window",
    "in_options",
    "in_own_frames",
    "in_places",
    "method_of",
    "model_of",
    "model_rows",
    "search",
    "spelt",
]


MethodName = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="laplace|exponential|windows|faces",
        help="How the values of blocks are drawn; or faces: every picture is one, and is drawn anew by a model.",
    ),
]
Block = Annotated[
    int | None,
    typer.Option(metavar="B", help="The side of blocks of pixels that come out in one colour. Default: 16.", min=1),
]
Model = Annotated[
    str | None, typer.Option(metavar="FILE", help="For faces: a public model. Default: a small one of drawn faces.")
]
Components = Annotated[
    int | None,
    typer.Option(metavar="N", help="For faces: how many elements of a code come out. Default: by epsilon.", min=1),
]
Attributes = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="NAME",
        help="For faces: what the model passes around the noise, in the clear; several times.",
    ),
]
Resize = Annotated[
    bool, typer.Option("--resize", help="For faces: resize pictures to the model, instead of refusing other sizes.")
]
DrawUnlike = Annotated[
    bool,
    typer.Option(
        "--draw-unlike",
        help="For faces: draw pictures too that lie far from what the model can draw, instead of refusing.",
    ),
]
Blur = Annotated[
    float,
    typer.Option(metavar="SIGMA", help="A blur afterwards, in pixels; it costs nothing. 0 is none.", min=0, max=100),
]
Pixels = Annotated[
    int | None,
    typer.Option(metavar="N", help="Epsilon is between pictures that differ in at most N pixels, not any two.", min=1),
]
Regions = Annotated[
    list[str] | None,
    typer.Option("--region", metavar="X,Y,W,H", help="Obfuscate this rectangle alone; may be given several times."),
]
Mask = Annotated[
    str | None, typer.Option(metavar="FILE", help="Obfuscate what is not black in this picture of the same size.")
]
Quality = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="For exponential: absolute or squared. For windows: clipped or shifted. Default: the first.",
    ),
]
Levels = Annotated[
    int | None, typer.Option(metavar="K", help="How many levels come out. Default: 256; 4 for windows.", min=2, max=256)
]
Window = Annotated[
    int | None, typer.Option(metavar="P", help="The side of windows, in blocks. Default: 3.", min=2, max=32)
]
Sampler = Annotated[
    str | None,
    typer.Option(
        metavar="auto|rejection|enumeration",
        help="How windows are drawn. The time of rejection depends on the picture.",
    ),
]


SPELT = {
    'fit = "resize"': "--resize",
    'unlike = "draw"': "--draw-unlike",
    'sampler = "rejection"': "--sampler rejection",
    "components=1": "--components 1",
    "alpha = 0.9 of its standard deviations": "0.9 of its standard deviations",
}
"""Names that messages take from Python or from a policy, and their names on the command line."""


def spelt(message: str, options: Collection[str] = ()) -> str:
    """A message with the names of options, of which it may begin with one.

    >>> spelt('crop it, or say fit = "resize".'), spelt("no_face must be 'keep'.", ["no_face"])
    ('crop it, or say --resize.', "--no-face must be 'keep'.")
    """
    for python, option in SPELT.items():
        message = message.replace(python, option)
    for name in options:
        message = re.sub(rf"(^|: ){name}(?= (is|must) )", rf"\g<1>--{name.replace('_', '-')}", message)
    return message


def in_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command, with the names of its options in its error messages."""
    options = signature(command).parameters

    @wraps(command)
    def run(*arguments: Any, **named: Any) -> None:
        from noisewright.exceptions import NoisewrightError

        try:
            command(*arguments, **named)
        except NoisewrightError as problem:
            raise type(problem)(spelt(str(problem), options)) from None

    return run


OF_FACES = ("model", "components", "attribute", "resize", "draw_unlike")


def method_of(
    method: str, epsilon: str, *, region: list[str] | None, mask: str | None, **more: Any
) -> PixelMethod | FaceMethod:
    """The method with these options; those that are not given are its own."""
    from noisewright._utils.validation import one_of
    from noisewright.base import parameters_of
    from noisewright.exceptions import ParameterError
    from noisewright.images.pictures import Region
    from noisewright.images.pipeline.methods import PIXELS, PixelMethod
    from noisewright.numerics.exact import positive_fraction

    one_of(method, "--method", (*PIXELS, "faces"))
    options = {name: value for name, value in more.items() if value}
    known = OF_FACES if method == "faces" else {*parameters_of(PIXELS[method]), "pixels"}
    strange = next(
        (name for name in [*options, *(["mask"] if mask and method == "faces" else [])] if name not in known), None
    )
    if strange is not None:
        raise ParameterError(f"--{strange.replace('_', '-')} is not for the method {method}; leave it out.")
    budget: Fraction = positive_fraction(check_number(epsilon, "--epsilon"), "--epsilon")
    parts = tuple(map(Region.of, region or []))
    if method == "faces":
        return _faces(budget, parts, **options)
    options = {"block": 16, **options}
    pixels = options.pop("pixels", None)
    marked = None if mask is None else _mask(mask)
    return PixelMethod(method, budget, options, parts, marked, pixels)


def model_of(method: PixelMethod | FaceMethod) -> str | None:
    """Return the model that draws faces: its file, and whose faces it was made of; None for methods on pixels."""
    from noisewright.images.pipeline.methods import FaceMethod

    return method.faces.source if isinstance(method, FaceMethod) else None


def model_rows(model: str | None) -> list[tuple[str, str]]:
    """Return the row of a page that names the model of faces."""
    return [("model", f"{model}; other people may be closer together or farther apart than these")] if model else []


def _mask(file: str) -> NDArray[np.bool_]:
    from noisewright.exceptions import DataError
    from noisewright.images.pictures import read_picture

    try:
        return read_picture(file, colours="grey")[:, :, 0] > 0
    except DataError as problem:
        raise DataError(f"the mask {file}: {problem}") from None


def _faces(
    epsilon: Fraction,
    regions: tuple[Region, ...],
    model: str | None = None,
    attribute: Sequence[str] = (),
    resize: bool = False,
    draw_unlike: bool = False,
    **more: Any,
) -> FaceMethod:
    from noisewright.images.faces.mechanism import private_faces
    from noisewright.images.faces.model import open_model
    from noisewright.images.pipeline.methods import FaceMethod

    found = None if model is None else open_model(model)
    more |= {"fit": "resize" if resize else "refuse", "unlike": "draw" if draw_unlike else "refuse"}
    return FaceMethod(private_faces(found, epsilon=epsilon, attributes=attribute, **more), regions)


# Where --------------------------------------------------------------------------------------------------------------------
#
# The options that state which parts of photographs are hidden: faces that are found, or boxes and masks of the owner's own.


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
    from noisewright._utils.validation import one_of
    from noisewright.exceptions import FileFormatError, ParameterError
    from noisewright.images.pipeline.finding import OwnPlaces, in_frames
    from noisewright.images.pipeline.methods import FaceMethod

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
    from noisewright.images.pipeline.finding import in_frames
    from noisewright.images.pipeline.video import OwnFrames

    return in_frames(method, OwnFrames.of(_document(boxes), boxes))


def _kept(files: Sequence[str]) -> KeptFaces:
    from noisewright.exceptions import DataError
    from noisewright.images.pictures import read_picture
    from noisewright.images.pipeline.finding import KeptFaces, face_to_keep

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
    from noisewright._utils.inputs import read_json
    from noisewright.exceptions import FileFormatError

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
    from noisewright.exceptions import FileFormatError

    if len(dict(pairs)) < len(pairs):
        raise FileFormatError("a name is there twice in a list of boxes; write all of its boxes in one line.")
    return dict(pairs)
