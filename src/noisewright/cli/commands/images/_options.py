"""The options of methods on pixels, which obfuscate and preview share."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.metrics import check_number

if TYPE_CHECKING:
    from noisewright.images.methods import PixelMethod

__all__ = [
    "Block",
    "Blur",
    "Levels",
    "Mask",
    "MethodName",
    "Pixels",
    "Quality",
    "Regions",
    "Sampler",
    "Window",
    "method_of",
]

MethodName = Annotated[
    str, typer.Option("--method", metavar="laplace|exponential|windows", help="How the values of blocks are drawn.")
]
Block = Annotated[
    int, typer.Option(metavar="B", help="The side of blocks of pixels that come out in one colour.", min=1)
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


def method_of(
    method: str,
    epsilon: str,
    *,
    block: int,
    blur: float,
    pixels: int | None,
    region: list[str] | None,
    mask: str | None,
    **more: Any,
) -> PixelMethod:
    """The method with these options; those that are not given are its own."""
    from noisewright.core.choices import one_of
    from noisewright.core.errors import ParameterError
    from noisewright.core.exact import positive_fraction
    from noisewright.images.methods import PIXELS, PixelMethod
    from noisewright.images.pictures.reading import read_picture
    from noisewright.images.pictures.regions import Region
    from noisewright.mechanisms.signatures import parameters_of

    make = PIXELS[one_of(method, "--method", tuple(PIXELS))]
    options: dict[str, Any] = {"block": block, "blur": blur}
    for name, value in more.items():
        if value is not None and name not in parameters_of(make):
            raise ParameterError(f"--{name} is not for the method {method}; leave it out.")
        options |= {} if value is None else {name: value}
    budget: Fraction = positive_fraction(check_number(epsilon, "--epsilon"), "--epsilon")
    if pixels is not None:
        budget, options["between"] = budget / pixels, "pixels"
    marked = None if mask is None else read_picture(mask, colours="grey")[:, :, 0] > 0
    return PixelMethod(method, budget, options, tuple(map(Region.of, region or [])), marked)
