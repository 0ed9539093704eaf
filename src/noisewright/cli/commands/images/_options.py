"""The options of methods, which obfuscate and preview share."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.metrics import check_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from noisewright.images.methods import FaceMethod, PixelMethod
    from noisewright.images.pictures.regions import Region

__all__ = [
    "Attributes",
    "Block",
    "Blur",
    "Components",
    "DrawUnlike",
    "Levels",
    "Mask",
    "MethodName",
    "Model",
    "Pixels",
    "Quality",
    "Regions",
    "Resize",
    "Sampler",
    "Window",
    "in_options",
    "method_of",
    "model_of",
    "model_rows",
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
        from noisewright.core.errors import NoisewrightError

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
    from noisewright.core.choices import one_of
    from noisewright.core.errors import ParameterError
    from noisewright.core.exact import positive_fraction
    from noisewright.core.loading.signatures import parameters_of
    from noisewright.images.methods import PIXELS, PixelMethod
    from noisewright.images.pictures.regions import Region

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
    from noisewright.images.methods import FaceMethod

    return method.faces.source if isinstance(method, FaceMethod) else None


def model_rows(model: str | None) -> list[tuple[str, str]]:
    """Return the row of a page that names the model of faces."""
    return [("model", f"{model}; other people may be closer together or farther apart than these")] if model else []


def _mask(file: str) -> NDArray[np.bool_]:
    from noisewright.core.errors import DataError
    from noisewright.images.pictures.reading import read_picture

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
    from noisewright.images.faces.models.model import open_model
    from noisewright.images.hidden_faces import private_faces
    from noisewright.images.methods import FaceMethod

    found = None if model is None else open_model(model)
    more |= {"fit": "resize" if resize else "refuse", "unlike": "draw" if draw_unlike else "refuse"}
    return FaceMethod(private_faces(found, epsilon=epsilon, attributes=attribute, **more), regions)
