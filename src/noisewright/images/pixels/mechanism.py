r"""Base of the mechanisms on pixels: blocks of pixels, each of which comes out in one colour.

A picture of ``width`` x ``height`` pixels is cut into blocks of ``block`` x ``block`` pixels; the values of all blocks and
channels are drawn independently, so their losses add up. What ``epsilon`` is for, is said by ``between``:

==============  ================================================================================================
``"pictures"``  any two pictures of that size (the default)
``"pixels"``    pictures that differ in one pixel; N times as much where they differ in N
``"steps"``     pictures that differ in one step of one colour (Laplace noise alone)
==============  ================================================================================================

The output is painted and perhaps blurred, which is post-processing. Reading and writing of pictures are in
:mod:`noisewright.images.mechanism`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.product import Part, Whole, product_certificate
from noisewright.core.certificates.records import clear_record
from noisewright.core.choices import is_number, is_whole, one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import positive_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.metrics.metric import Metric
from noisewright.images.mechanism import PictureMechanism
from noisewright.images.pictures.blocks import Blocks
from noisewright.images.pictures.reading import CHANNELS, Colours, Picture
from noisewright.images.pictures.regions import Inside
from noisewright.images.pictures.similarity import blurred
from noisewright.images.pictures.writing import as_pixels
from noisewright.images.pixels.distances import AnyPicture, ChangedPixels, ColourSteps
from noisewright.noise.bits import Bits

__all__ = ["TOP", "Between", "BlockMechanism", "whole_certificate"]

TOP = 255
"""The largest value of a pixel."""
MOST_PIXELS = 100_000_000
"""Maximum number of pixels of a mechanism; files of pictures are read up to a smaller number."""

Between = Literal["pictures", "pixels"]


@dataclass(frozen=True)
class BlockMechanism(PictureMechanism):
    """The base of mechanisms on blocks of pixels; a subclass samples their values and proves their law."""

    epsilon: Fraction
    width: int
    height: int
    colours: Colours = "rgb"
    block: int = 1
    between: Literal["pictures", "pixels", "steps"] = "pictures"
    blur: float = 0.0
    proved_by: ClassVar[tuple[Whole, int]] = ("hamming", 1)
    """The metric of a proof between pixels, and how much of it one value of a pixel is."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction(self.epsilon, "epsilon"))
        for what in ("width", "height", "block"):
            if not is_whole(getattr(self, what)) or not 1 <= getattr(self, what) <= MOST_PIXELS:
                raise ParameterError(
                    f"{what} is a whole number of pixels, 1 or more, and no picture has {MOST_PIXELS:,}."
                )
        if self.width * self.height > MOST_PIXELS:
            raise ParameterError(f"a picture has at most {MOST_PIXELS:,} pixels; make width or height smaller.")
        if self.block > max(self.width, self.height):
            raise ParameterError("a block is at most as large as the picture; make block smaller.")
        one_of(self.colours, "colours", tuple(CHANNELS))
        one_of(self.fit, "fit", ("refuse", "resize"))
        if self.fit == "resize" and self.between != "pictures":
            raise ParameterError(
                'pixels and steps are counted in pictures of the declared size, so others are refused: leave out fit = "resize".'
            )
        if not is_number(self.blur) or not 0 <= self.blur <= 100:
            raise ParameterError("blur is the sigma of a Gaussian in pixels, from 0 (none) to 100.")

    # The guarantee
    # --------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and channels of every picture."""
        return self.height, self.width, self.channels

    @property
    def channels(self) -> int:
        """Return how many values a pixel has."""
        return CHANNELS[self.colours]

    @property
    def blocks(self) -> Blocks:
        """The blocks of a picture."""
        return Blocks(self.height, self.width, self.block)

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` between any two pictures, or for each pixel, or for each step of colour."""
        found: Metric = AnyPicture()
        if self.between == "pixels":
            found = ChangedPixels("hamming" if self.proved_by[0] == "hamming" else "manhattan", self.channels)
        elif self.between == "steps":
            found = ColourSteps()
        return Guarantee.exactly(self.epsilon, found)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The proofs of all values that are drawn, and the sum of their losses."""
        return whole_certificate([self], rng)

    # Pictures -----------------------------------------------------------------------------------------------------------

    def drawn(self, picture: Picture, bits: Bits) -> Picture:
        """A new picture for one whose size is the declared one."""
        blocks = self.blocks
        values = self._values(blocks.sums(picture[None]), bits)
        if self.blur:
            return as_pixels(blurred(blocks.painted(values)[0], self.blur))
        return np.asarray(blocks.painted(as_pixels(values) if values.dtype.kind == "f" else values)[0])

    # For subclasses -----------------------------------------------------------------------------------------------------

    def _parts(self, rng: np.random.Generator | None) -> Sequence[Part]:
        """The proofs of the values of blocks, and how many values each is for."""
        raise TypeError(f"{type(self).__name__} must define _parts(rng).")

    def _values(self, sums: NDArray[Any], bits: Bits) -> NDArray[Any]:
        """A value from 0 to 255 for every block and channel, drawn from the sums of blocks (1, rows, columns, channels).

        In eight bits, or in floats that are yet to be rounded.
        """
        raise TypeError(f"{type(self).__name__} must define _values(sums, bits).")

    @property
    def _proved(self) -> tuple[Whole, Fraction]:
        """The metric of the proof, and how much of its unit epsilon is for."""
        base, times = self.proved_by
        if self.between == "pixels":
            return base, Fraction(times * self.channels)
        return "discrete" if self.between == "pictures" else "manhattan", Fraction(1)

    @cached_property
    def _by_area(self) -> list[tuple[int, NDArray[np.bool_]]]:
        """The sizes of blocks, and where the blocks of each size are."""
        areas = self.blocks.areas
        return [(int(area), areas == area) for area in np.unique(areas)[::-1]]


def whole_certificate(
    made: Sequence[BlockMechanism], rng: np.random.Generator | None = None, inside: Inside | None = None
) -> Certificate:
    """Return the certificate of parts of one picture that lie apart, drawn by mechanisms of one kind.

    Their losses add up between any two pictures; a pixel, or a step of colour, is in one of them. ``inside`` says which parts
    of a picture they are, if they are not all of it.
    """
    first = made[0]
    metric, unit = first._proved
    parts: dict[str, Part] = {}
    for part in (part for one in made for part in one._parts(rng)):
        alike = parts.get(part.certificate.document["digest"])  # regions of one size are drawn alike
        many = None if alike is None else (alike.count or 1) + (part.count or 1)
        parts[part.certificate.document["digest"]] = part if many is None else Part(part.certificate, many)
    clear: dict[str, Any] = {"in_the_clear": [clear_record(one) for one in first.clear]} if first.clear else {}
    secret = {**(first.guarantee.metric.secret or {}), **({} if inside is None else inside.record())}
    return product_certificate(
        first.name, list(parts.values()), metric=metric, unit=unit, simulated=rng is not None, secret=secret, **clear
    )
