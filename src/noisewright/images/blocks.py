r"""Pictures as grids of blocks: their sums, which are integers, and back to pixels.

A picture whose sides are not a multiple of the block has smaller blocks at its right and lower edges. Sums need no
care there: a changed pixel changes one sum by as much as the pixel itself, whatever the size of its block.

>>> import numpy as np
>>> picture = np.arange(12, dtype=np.uint8).reshape(1, 3, 4, 1)
>>> grid = Blocks(height=3, width=4, size=2)
>>> grid.sums(picture)[0, :, :, 0].tolist(), grid.areas.tolist()
([[10, 18], [17, 21]], [[4, 4], [2, 2]])
>>> grid.painted(grid.sums(picture) / grid.areas[:, :, None])[0, :, :, 0].tolist()[0]
[2.5, 2.5, 4.5, 4.5]

>>> import numpy as np
>>> grid = Windows(rows=3, columns=5, size=2)
>>> grid.count, grid.left_over
(2, 7)
>>> cells = np.arange(15).reshape(3, 5, 1)
>>> grid.cut(cells).tolist()
[[0, 1, 5, 6], [2, 3, 7, 8]]
>>> bool((grid.put(np.zeros_like(cells), grid.cut(cells))[:2, :4] == cells[:2, :4]).all())
True

.. math:: \text{SSIM}(a, b) =
   \frac{(2\mu_a\mu_b + C_1)(2\sigma_{ab} + C_2)}{(\mu_a^2 + \mu_b^2 + C_1)(\sigma_a^2 + \sigma_b^2 + C_2)},
   \qquad C_1 = (0.01 \cdot 255)^2,\ C_2 = (0.03 \cdot 255)^2.

It is 1 for equal pictures, and **can be negative**, down to about -1.

>>> import numpy as np
>>> ramp = np.arange(0.0, 180.0, 20.0)
>>> round(float(window_ssim(ramp, ramp[::-1])), 6)
-0.978292

Reference: Wang, Bovik, Sheikh and Simoncelli, *Image quality assessment: from error visibility to structural similarity*
(2004).

>>> import numpy as np
>>> black, dot = np.zeros((2, 2, 3), int), np.zeros((2, 2, 3), int)
>>> dot[0, 1] = 255, 10, 0
>>> ChangedPixels("hamming", 3).distance(black, dot), ColourSteps().distance(black, dot)
(1.0, 265.0)
>>> AnyPicture(Inside("place", 6)).secret
{'kind': 'picture', 'inside': 'place', 'count': 6}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, is_whole, one_of
from noisewright.certificates.certificate import Certificate, clear_record
from noisewright.certificates.composition import Part, Whole, product_certificate
from noisewright.claims.phrases import metric_name
from noisewright.exceptions import MetricError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.images.base import PictureMechanism
from noisewright.images.pictures import CHANNELS, Colours, Inside, Picture, as_pixels
from noisewright.metrics.base import Discrete, Metric
from noisewright.numerics.exact import positive_fraction
from noisewright.sampling.random_bits import Bits

__all__ = [
    "C1",
    "C2",
    "TOP",
    "AnyPicture",
    "Between",
    "BlockMechanism",
    "Blocks",
    "ChangedPixels",
    "ColourSteps",
    "Windows",
    "blurred",
    "mse",
    "ssim",
    "ssim_of",
    "whole_certificate",
    "window_ssim",
]


@dataclass(frozen=True)
class Blocks:
    """The blocks of pictures of one size."""

    height: int
    width: int
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many rows and columns of blocks there are."""
        return -(-self.height // self.size), -(-self.width // self.size)

    @property
    def count(self) -> int:
        """Return how many blocks there are, in each channel."""
        return self.shape[0] * self.shape[1]

    @property
    def areas(self) -> NDArray[np.int64]:
        """Return how many pixels each block has."""
        high, wide = (
            np.minimum(self.size, side - self.size * np.arange(many))
            for side, many in zip((self.height, self.width), self.shape, strict=True)
        )
        return np.asarray(np.outer(high, wide), np.int64)

    def sums(self, pictures: Picture) -> NDArray[Any]:
        """The sum of every block as an integer, for pictures (pictures, rows, columns, channels)."""
        if self.size == 1:
            return pictures
        rows, columns = (np.arange(0, side, self.size) for side in (self.height, self.width))
        halfway = np.add.reduceat(pictures, rows, axis=1, dtype=np.uint32)  # long rows first: they are added up fastest
        return np.asarray(np.add.reduceat(halfway, columns, axis=2, dtype=np.int64))

    def painted(self, values: NDArray[Any]) -> NDArray[Any]:
        """Every block filled with its value."""
        if self.size == 1:
            return values
        tall = np.repeat(values, self.size, axis=1)[:, : self.height]
        return np.repeat(tall, self.size, axis=2)[:, :, : self.width]


# Windows ------------------------------------------------------------------------------------------------------------------
#
# Windows of p x p cells: the part of a grid that whole windows cover, and the remainder at its right and lower edges.


@dataclass(frozen=True)
class Windows:
    """Windows side by side on a grid of cells; each channel has its own."""

    rows: int
    columns: int
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many rows and columns of windows there are."""
        return self.rows // self.size, self.columns // self.size

    @property
    def count(self) -> int:
        """Return how many windows there are, in each channel."""
        return self.shape[0] * self.shape[1]

    @property
    def left_over(self) -> int:
        """Return how many cells no window covers, in each channel."""
        return self.rows * self.columns - self.count * self.size**2

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Mask of the cells that are in a window."""
        found = np.zeros((self.rows, self.columns), np.bool_)
        found[: self.shape[0] * self.size, : self.shape[1] * self.size] = True
        return found

    def cut(self, cells: NDArray[Any]) -> NDArray[Any]:
        """The windows of cells (rows, columns, channels), one in each row, channel after channel."""
        (high, wide), p = self.shape, self.size
        inside = cells[: high * p, : wide * p].reshape(high, p, wide, p, cells.shape[2])
        return inside.transpose(4, 0, 2, 1, 3).reshape(-1, p * p)

    def put(self, cells: NDArray[Any], windows: NDArray[Any]) -> NDArray[Any]:
        """The cells with these windows in their places."""
        (high, wide), p = self.shape, self.size
        result, channels = cells.copy(), cells.shape[2]
        laid = windows.reshape(channels, high, wide, p, p).transpose(1, 3, 2, 4, 0)
        result[: high * p, : wide * p] = laid.reshape(high * p, wide * p, channels)
        return result


# Similarity ---------------------------------------------------------------------------------------------------------------
#
# Similarity of two pictures: the structural similarity (SSIM) of small windows and of whole pictures, and squared
# errors.


C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
RADIUS, SIGMA = 5, 1.5
"""The usual window of whole pictures: 11 x 11 pixels with Gaussian weights."""


def window_ssim(first: NDArray[np.floating], second: NDArray[np.floating]) -> Floats:
    """The SSIM of windows, whose pixels are on the last axis: uniform weights, population moments."""
    a, b = (np.asarray(values, np.float64) for values in (first, second))
    mean_a, mean_b = a.mean(-1), b.mean(-1)
    away_a, away_b = a - mean_a[..., None], b - mean_b[..., None]
    var_a, var_b = (away_a**2).mean(-1), (away_b**2).mean(-1)
    return np.asarray(ssim_of(mean_a, mean_b, var_a, var_b, (away_a * away_b).mean(-1)))


def ssim(first: Picture, second: Picture) -> float:
    """The mean SSIM of two pictures over all positions of an 11 x 11 window with Gaussian weights, and over channels.

    Several pictures of one size may be compared with as many others (an axis in front): the mean over all.
    """
    from scipy.ndimage import gaussian_filter

    a, b = (np.asarray(values, np.float64) for values in _both(first, second))
    if min(a.shape[-3:-1]) <= 2 * RADIUS:
        raise ParameterError(f"SSIM is for pictures of at least {2 * RADIUS + 1} pixels on each side.")

    def smooth(values: Floats) -> Floats:
        found = gaussian_filter(values, SIGMA, radius=RADIUS, axes=(-3, -2))
        return np.asarray(found[..., RADIUS:-RADIUS, RADIUS:-RADIUS, :])

    mean_a, mean_b = smooth(a), smooth(b)
    var_a, var_b = smooth(a * a) - mean_a**2, smooth(b * b) - mean_b**2
    return float(ssim_of(mean_a, mean_b, var_a, var_b, smooth(a * b) - mean_a * mean_b).mean())


def mse(first: Picture, second: Picture) -> float:
    """The mean squared difference of two pictures, over pixels and channels; or of several and as many others."""
    a, b = _both(first, second)
    return float(np.mean((a.astype(np.float64) - b) ** 2))


def blurred(values: NDArray[np.floating] | Picture, sigma: float = 1.0) -> Floats:
    """Pictures (..., rows, columns, channels) under a Gaussian with a width in pixels: after noise, it is post-processing."""
    from scipy.ndimage import gaussian_filter

    if not 0 < sigma <= 100:
        raise ParameterError("the sigma of a blur is above 0 and at most 100 pixels.")
    still = (0.0,) * (values.ndim - 3)
    return np.asarray(gaussian_filter(np.asarray(values, np.float64), (*still, sigma, sigma, 0.0), mode="nearest"))


def ssim_of(mean_a: Any, mean_b: Any, var_a: Any, var_b: Any, cov: Any) -> Floats:
    """The formula, from means, variances and covariances."""
    above = (2 * mean_a * mean_b + C1) * (2 * cov + C2)
    return np.asarray(above / ((mean_a**2 + mean_b**2 + C1) * (var_a + var_b + C2)))


def _both(first: Picture, second: Picture) -> tuple[Picture, Picture]:
    if first.shape != second.shape or first.ndim not in (3, 4) or not first.size:
        raise ParameterError("two pictures are compared that have the same size and the same channels.")
    return first, second


# Distances ----------------------------------------------------------------------------------------------------------------
#
# Pairs of pictures for which a claim holds: any two of one size, those that differ in some pixels, or in some steps
# of colour.


TOP = 255


@dataclass(frozen=True)
class AnyPicture(Discrete):
    """1 between any two different pictures of one size, or any two that are alike outside of some parts."""

    inside: Inside | None = None

    @property
    def secret(self) -> dict[str, Any]:
        """Description of the pictures, and of the part in which they are alike."""
        return {"kind": "picture", **({} if self.inside is None else self.inside.record())}


@dataclass(frozen=True)
class ChangedPixels(Metric):
    """The number of pixels in which two pictures of one size differ, however much, in whichever channels.

    ``base`` is the metric of the certificate on the values that are drawn, such as blocks, which is never larger.
    """

    base: Literal["hamming", "manhattan"]
    channels: int
    inside: Inside | None = None
    finite = True

    @property
    def name(self) -> str:  # type: ignore[override]
        return metric_name(self.record())

    def record(self) -> dict[str, Any]:
        values = self.channels * (TOP if self.base == "manhattan" else 1)
        return {"base": self.base, **({"factor": str(Fraction(1, values))} if values != 1 else {})}

    @property
    def secret(self) -> dict[str, Any]:
        """Pictures, whose pixels are counted."""
        inside = {} if self.inside is None else self.inside.record()
        return {"kind": "picture", "unit": "pixel", "channels": self.channels, **inside}

    @property
    def unit(self) -> str:
        return "pixel"

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between pictures."""
        given = _pictures(points)
        return np.array([[float((a != b).any(-1).sum()) for b in given] for a in given])


@dataclass(frozen=True)
class ColourSteps(Metric):
    """The sum of the differences of all values of two pictures of one size."""

    name = "manhattan"
    finite = True

    def record(self) -> dict[str, Any]:
        return {"base": "manhattan"}

    @property
    def secret(self) -> dict[str, Any]:
        """Pictures, whose steps of colour are counted."""
        return {"kind": "picture", "unit": "step"}

    @property
    def unit(self) -> str:
        return "step"

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between pictures."""
        given = _pictures(points)
        return np.array([[float(np.abs(a - b).sum()) for b in given] for a in given])


def _pictures(points: Sequence[Any]) -> list[NDArray[np.int64]]:
    given = [np.asarray(point, np.int64) for point in points]
    if len({picture.shape for picture in given}) > 1 or any(picture.ndim != 3 for picture in given):
        raise MetricError("a distance is between pictures of one size: rows, columns and channels.")
    return given


# Mechanism ----------------------------------------------------------------------------------------------------------------
#
# Base of the mechanisms on pixels: blocks of pixels, each of which comes out in one colour.
#
# A picture of ``width`` x ``height`` pixels is cut into blocks of ``block`` x ``block`` pixels; the values of all blocks and
# channels are drawn independently, so their losses add up. What ``epsilon`` is for, is said by ``between``:
#
# ==============  ================================================================================================
# ``"pictures"``  any two pictures of that size (the default)
# ``"pixels"``    pictures that differ in one pixel; N times as much where they differ in N
# ``"steps"``     pictures that differ in one step of one colour (Laplace noise alone)
# ==============  ================================================================================================
#
# The output is painted and perhaps blurred, which is post-processing. Reading and writing of pictures are in
# :mod:`noisewright.images.base`.


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
