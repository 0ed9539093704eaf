r"""What the mechanisms on any picture share: a public size, blocks of pixels, pictures in and pictures out.

A picture of ``width`` x ``height`` pixels is cut into blocks of ``block`` x ``block`` pixels, each of which comes out in one
colour; the values of all blocks and channels are drawn independently, so their losses add up. What ``epsilon`` is for, is said by
``between``:

==============  ================================================================================================
``"pictures"``  any two pictures of that size (the default)
``"pixels"``    pictures that differ in one pixel; N times as much where they differ in N
``"steps"``     pictures that differ in one step of one colour (Laplace noise alone)
==============  ================================================================================================

What comes out is painted, perhaps blurred, and written as PNG without any metadata: all of that looks at what was drawn alone.
The size of pictures is public: others are refused, or resized first where ``fit`` says so. Grey and colour likewise: all are read
as ``colours`` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.product import Part, Whole, product_certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import is_number, is_whole, one_of
from noisewright.core.errors import CertificateError, DataError, NoChannelError, NoLossError, ParameterError
from noisewright.core.exact import float_up, positive_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import fields_alone
from noisewright.core.metrics.metric import Metric
from noisewright.images.pictures.blocks import Blocks
from noisewright.images.pictures.reading import CHANNELS, MOST_PIXELS, Colours, Picture, pillow, read_picture
from noisewright.images.pictures.similarity import blurred
from noisewright.images.pictures.writing import as_pixels, png_of
from noisewright.images.pixels.distances import AnyPicture, ChangedPixels, ColourSteps
from noisewright.noise.bits import Bits, bits_from

__all__ = ["TOP", "Between", "Fit", "PictureMechanism", "no_rebuild"]

TOP = 255
"""The largest value of a pixel."""

Between = Literal["pictures", "pixels"]
Fit = Literal["refuse", "resize"]


@dataclass(frozen=True)
class PictureMechanism:
    """The base of mechanisms on pictures of one size; a subclass draws blocks and proves what it draws from."""

    epsilon: Fraction
    width: int
    height: int
    colours: Colours = "rgb"
    block: int = 1
    between: Literal["pictures", "pixels", "steps"] = "pictures"
    fit: Fit = "refuse"
    blur: float = 0.0
    clear: tuple[str, ...] = field(default=(), kw_only=True)
    """What comes out unprotected, in words: the certificate says it. For a part of a picture, the rest of it."""
    name = ""
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

    # The promise --------------------------------------------------------------------------------------------------------

    @property
    def channels(self) -> int:
        """How many values a pixel has."""
        return CHANNELS[self.colours]

    @property
    def blocks(self) -> Blocks:
        """The blocks of a picture."""
        return Blocks(self.height, self.width, self.block)

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` between any two pictures, or for each pixel, or for each step of colour."""
        found: Metric = AnyPicture(self.width, self.height)
        if self.between == "pixels":
            metric, unit = self._proved
            found = ChangedPixels(metric if unit == 1 else f"{1 / unit} * {metric}")
        elif self.between == "steps":
            found = ColourSteps()
        return Guarantee(float_up(self.epsilon), found)

    def map(self, distance: float) -> float:
        """The largest log-ratio for two pictures at this distance."""
        return self.guarantee.bound(distance)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The proofs of all values that are drawn, and the sum of their losses."""
        metric, unit = self._proved
        clear: dict[str, Any] = {"in_the_clear": list(self.clear)} if self.clear else {}
        return product_certificate(
            self.name, self._parts(rng), metric=metric, unit=unit, simulated=rng is not None, **clear
        )

    def in_words(self) -> str:
        """The promise, and what it does not cover."""
        told = self.guarantee.in_words(1)
        clear = ", ".join(self.clear) or "nothing but the declared size of pictures"
        return f"{told} In the clear: {clear}."

    def error(self, loss: str = "absolute") -> float:
        """There is none: how good a picture is, is measured on pictures."""
        raise NoLossError("pictures have no loss of their own; noisewright images preview shows what an epsilon does.")

    def channel(self) -> Channel:
        """There is none that could be listed."""
        raise NoChannelError("there are too many pictures to list.")

    # Pictures -----------------------------------------------------------------------------------------------------------

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One picture for every picture: bytes of PNG for the bytes of a file, pixels for an array of pixels.

        An array of eight bits has rows, columns and channels (or rows and columns, for grey); with one axis more in front it
        holds several pictures. Anything else is a sequence of bytes.
        """
        bits = bits_from(rng)
        if isinstance(values, bytes):
            return png_of(self.drawn(self._read(values), bits))
        if isinstance(values, np.ndarray) and values.dtype == np.uint8:
            return self._arrays(values, bits)
        given = _cells(values)
        result = np.empty(len(given), object)
        for place, content in enumerate(given):
            result[place] = png_of(self.drawn(self._read(content), bits))
        return result.reshape(values.shape) if isinstance(values, np.ndarray) else result

    def drawn(self, picture: Picture, bits: Bits) -> Picture:
        """One picture, whose size is the declared one."""
        blocks = self.blocks
        values = self._values(blocks.sums(picture[None]), bits)
        if self.blur:
            return as_pixels(blurred(blocks.painted(values)[0], self.blur))
        return np.asarray(blocks.painted(as_pixels(values) if values.dtype.kind == "f" else values)[0])

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        if isinstance(values, np.ndarray) and values.dtype == np.uint8:
            self._shaped(values)
            return
        for content in [values] if isinstance(values, bytes) else _cells(values):
            self._read(content)

    __getstate__ = fields_alone

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

    # Helpers ------------------------------------------------------------------------------------------------------------

    def _read(self, content: Any) -> Picture:
        if not isinstance(content, bytes):
            raise DataError("a picture is the bytes of a file; leave out what is missing.")
        picture = read_picture(content, colours=self.colours)
        if picture.shape[:2] == (self.height, self.width):
            return picture
        if self.fit == "refuse":
            raise DataError(
                f"a picture has not the declared size of {self.width} x {self.height} pixels; declare another, or say "
                'fit = "resize".'
            )
        image = pillow("Image").fromarray(picture[:, :, 0] if self.channels == 1 else picture)
        resized = np.asarray(image.resize((self.width, self.height), resample=pillow("Image").Resampling.BOX))
        return resized.reshape(self.height, self.width, self.channels)

    def _arrays(self, values: Picture, bits: Bits) -> Picture:
        shaped = self._shaped(values)
        result = np.empty_like(shaped)
        for place, picture in enumerate(shaped):
            result[place] = self.drawn(picture, bits)
        return result.reshape(values.shape)

    def _shaped(self, values: Picture) -> Picture:
        """Pixels with an axis for several pictures in front and one for channels at the end."""
        size, own = (self.height, self.width), (self.channels,)
        if values.shape[-3:] == size + own and values.ndim in (3, 4):
            return values.reshape(-1, *size, *own)
        if self.channels == 1 and values.shape[-2:] == size and values.ndim in (2, 3):
            return values.reshape(-1, *size, 1)
        raise DataError(
            f"pixels of a picture have {self.height} rows, {self.width} columns and {self.channels} channel"
            f"{'s' if self.channels > 1 else ''} here; give such, with one axis more for several pictures."
        )


def no_rebuild(certificate: Certificate) -> PictureMechanism:
    """A certificate is about the values of blocks; how they lie in a picture is none of its business."""
    raise CertificateError(
        "a certificate of pictures does not state their width and height; make the mechanism again from its parameters."
    )


def _cells(values: Any) -> list[Any]:
    if hasattr(values, "to_pylist"):
        return list(values.to_pylist())
    if isinstance(values, np.ndarray):
        return list(values.reshape(-1).tolist())
    if isinstance(values, (str, np.generic)) or not hasattr(values, "__len__"):
        raise DataError("pictures are the bytes of files, or arrays of pixels of eight bits.")
    return list(values)
