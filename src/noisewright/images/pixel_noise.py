r"""Pixelise, then exact Laplace noise on the sums of blocks (known as DP-Pix): any picture, any block, ragged edges.

The values of a block are added up, which gives an integer; discrete Laplace noise of one scale t is added to every
sum, and the result is clamped to the range of a block of that size, divided by its size and painted.

**Guarantee.** Two pictures whose values differ by D steps of colour in total have sums that differ by at most D in total, so
the
loss is at most D / t. A pixel of c channels can differ by 255 c steps, and a picture of N pixels by 255 c N. Hence t is

* ``255 c N / epsilon`` for epsilon between any two pictures,
* ``255 c / epsilon`` for epsilon per pixel: n pixels that differ lose n epsilon,
* ``1 / epsilon`` for epsilon per step: the guarantee grows with distance, and near pictures are hidden best.

All three are readings of one noise: :attr:`PixelLaplace.per_step` is the guaranteed loss for a step, however epsilon
was given. Noise on the mean of a block of b x b pixels has the scale ``t / b^2``. Exact: integers are drawn, and the
certificate is about their law.

>>> import numpy as np
>>> photo = np.full((48, 64, 3), 200, np.uint8)
>>> hidden = pixel_laplace(epsilon=50, width=64, height=48, block=16)
>>> hidden.release(photo).shape, hidden.certificate().verify()
((48, 64, 3), 'epsilon = 50 per unit of discrete between two pictures of one size, over 36 independent parts')
>>> hidden.per_step == Fraction(50, 255 * 3 * 64 * 48)
True

Reference: Fan, *Image pixelization with differential privacy* (2018).

A block whose mean has the level x comes out at the level r with probability proportional to :math:`e^{\epsilon' q(x, r)}`,
where the quality is :math:`-|x - r| / (k - 1)` (``"absolute"``, the default) or :math:`-((x - r) / (k - 1))^2`
(``"squared"``), for k levels.

**Guarantee.** The generic bound of such a choice is :math:`2\epsilon'`; the true loss between any two levels is
exactly :math:`\epsilon'`, reached between the darkest and the lightest. Here probabilities are integers over
:math:`2^{48}`, the loss is the one that this very table has, and the certificate proves it entry by entry. Losses of
blocks and channels add up: epsilon between any two pictures is shared out evenly, and a pixel is in one block of each
channel.

With strong privacy this is much better than clamped Laplace noise, which piles up at black and white; with weak privacy
``"absolute"`` is as good, and ``"squared"`` worse.

>>> import numpy as np
>>> hidden = pixel_exponential(epsilon=2000, width=32, height=32, block=4)
>>> hidden.release(np.full((32, 32, 3), 200, np.uint8)).shape
(32, 32, 3)
>>> print(hidden.guarantee)
epsilon = 2000 per unit of discrete between two pictures of one size
>>> level_table(Fraction(1), "squared", 4).channel().matrix.round(4).tolist()[0]
[0.3444, 0.3082, 0.2208, 0.1267]

Reference: McSherry and Talwar, *Mechanism design via differential privacy* (2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import is_whole, one_of
from noisewright.base import EPSILON, Entry, Takes
from noisewright.certificates.composition import Part
from noisewright.channels.integer_table import CertifiedChannel
from noisewright.claims.figures import exp_bounds
from noisewright.exceptions import ParameterError
from noisewright.images.base import (
    BETWEEN,
    BLOCK,
    BLUR,
    COLOURS,
    FIT,
    LEVELS,
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    QUALITY,
    Fit,
    no_rebuild,
)
from noisewright.images.blocks import TOP, Between, BlockMechanism
from noisewright.images.pictures import Colours
from noisewright.mechanisms.categorical.base import FiniteMechanism
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.metrics.base import Discrete
from noisewright.metrics.distances import UniformDistances
from noisewright.numerics.exact import Exact
from noisewright.sampling.categorical import TableSampler
from noisewright.sampling.laplace import ClampedLaplace, discrete_laplace
from noisewright.sampling.random_bits import Bits

__all__ = [
    "PixelExponential",
    "PixelLaplace",
    "Quality",
    "colours_of",
    "level_table",
    "noisy_sums",
    "pixel_exponential",
    "pixel_laplace",
    "sum_proof",
]


LARGEST_TABLE = 1 << 12
"""Noise on sums that end below this is drawn by a look-up."""
TOGETHER = 1 << 15


def pixel_laplace(
    *,
    epsilon: Annotated[Exact, EPSILON],
    width: Annotated[int, PICTURE_WIDTH],
    height: Annotated[int, PICTURE_HEIGHT],
    block: Annotated[int, BLOCK] = 1,
    colours: Annotated[Colours, COLOURS] = "rgb",
    between: Annotated[Literal["pictures", "pixels", "steps"], BETWEEN] = "pictures",
    fit: Annotated[Fit, FIT] = "refuse",
    blur: Annotated[float, BLUR] = 0.0,
) -> PixelLaplace:
    """Laplace noise on blocks of ``block`` x ``block`` pixels of pictures of ``width`` x ``height`` pixels."""
    one_of(between, "between", ("pictures", "pixels", "steps"))
    made = PixelLaplace(epsilon, width, height, colours, block, between, blur, fit=fit)  # type: ignore[arg-type]
    discrete_laplace(made.scale, 0)  # refuses a scale whose noise would not fit
    return made


@dataclass(frozen=True)
class PixelLaplace(BlockMechanism):
    """Laplace noise on the sums of blocks; build it with :func:`pixel_laplace`."""

    name = "pixel-laplace"
    proved_by = ("manhattan", TOP)

    @property
    def per_step(self) -> Fraction:
        """The loss between two pictures that differ by one step of one colour; it adds up over steps."""
        pixels = {"pictures": self.width * self.height, "pixels": 1}.get(self.between)
        return self.epsilon / (1 if pixels is None else TOP * self.channels * pixels)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on sums."""
        return 1 / self.per_step

    def _parts(self, rng: np.random.Generator | None) -> Sequence[Part]:
        return [
            Part(sum_proof(self.per_step, area, rng), int(where.sum()) * self.channels) for area, where in self._by_area
        ]

    def _values(self, sums: NDArray[Any], bits: Bits) -> NDArray[Any]:
        if self.block == 1:
            return noisy_sums(sums, 1, self.scale, bits)
        found = np.empty(sums.shape)
        for area, where in self._by_area:
            found[:, where] = noisy_sums(sums[:, where], area, self.scale, bits) / area
        return found


def sum_proof(rate: Fraction, area: int, rng: np.random.Generator | None) -> Any:
    """The certificate of one sum of values: the law of its noise, clamped to the range of such sums."""
    return geometric(epsilon=rate, within=(0, TOP * area)).certificate(rng)


def noisy_sums(sums: NDArray[Any], area: int, scale: Fraction, bits: Bits) -> NDArray[Any]:
    """Sums of values with noise of a scale, clamped to the range of such sums; eight bits for single pixels."""
    top = TOP * area
    if top > LARGEST_TABLE:
        return np.asarray(np.clip(sums + discrete_laplace(scale, sums.shape, bits), 0, top))
    noise, flat = _noise(scale, top), sums.reshape(-1)
    result = np.empty(flat.size, np.uint8 if area == 1 else np.int64)
    for start in range(0, flat.size, TOGETHER):  # in pieces that stay in the processor's cache
        part = flat[start : start + TOGETHER]
        noisy = noise.block(part.size, bits)
        noisy += part
        result[start : start + TOGETHER] = np.clip(noisy, 0, top, out=noisy)
    return result.reshape(sums.shape)


@lru_cache(maxsize=16)
def _noise(scale: Fraction, reach: int) -> ClampedLaplace:
    return ClampedLaplace(scale, reach)


PIXEL_LAPLACE = Entry(
    "pixel-laplace",
    pixel_laplace,
    Takes("image"),
    summary="pictures: blocks of pixels with Laplace noise, exact",
    words="pictures",
    rebuild=no_rebuild,
)


# Exponential --------------------------------------------------------------------------------------------------------------
#
# Each block drawn by itself from all levels, near levels more likely: the exponential mechanism on pixels, from an
# integer table.


Quality = Literal["absolute", "squared"]
WIDTH = 48
"""Probabilities are multiples of 2^-48, and none is 0: a loss beyond 33 is cut there."""
PRECISION = 128
EXPONENTIAL_TOGETHER = 1 << 17
"""Maximum number of values drawn at once, so that they need little memory."""


def pixel_exponential(
    *,
    epsilon: Annotated[Exact, EPSILON],
    width: Annotated[int, PICTURE_WIDTH],
    height: Annotated[int, PICTURE_HEIGHT],
    block: Annotated[int, BLOCK] = 1,
    quality: Annotated[Quality, QUALITY] = "absolute",
    levels: Annotated[int, LEVELS] = 256,
    colours: Annotated[Colours, COLOURS] = "rgb",
    between: Annotated[Between, BETWEEN] = "pictures",
    fit: Annotated[Fit, FIT] = "refuse",
    blur: Annotated[float, BLUR] = 0.0,
) -> PixelExponential:
    """A choice of a level for each of the blocks of pictures of ``width`` x ``height`` pixels."""
    one_of(between, "between", ("pictures", "pixels"))
    made = PixelExponential(epsilon, width, height, colours, block, between, blur, quality, levels, fit=fit)  # type: ignore[arg-type]
    made.table  # noqa: B018  refuses an epsilon that is too small for the table
    return made


@dataclass(frozen=True)
class PixelExponential(BlockMechanism):
    """A choice of levels; build it with :func:`pixel_exponential`."""

    quality: Quality = "absolute"
    levels: int = 256
    name = "pixel-exponential"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.quality, "quality", ("absolute", "squared"))
        if not is_whole(self.levels) or not 2 <= self.levels <= 256:
            raise ParameterError("levels is a whole number from 2 to 256: so many values can come out.")

    @property
    def share(self) -> Fraction:
        """The loss of one value of one block: epsilon'."""
        return self.epsilon / (self.channels * (self.blocks.count if self.between == "pictures" else 1))

    @property
    def table(self) -> CertifiedChannel:
        """The integers that are drawn from."""
        return level_table(self.share, self.quality, self.levels)

    def _parts(self, rng: np.random.Generator | None) -> Sequence[Part]:
        return [Part(FiniteMechanism(self.table).certificate(rng), self.blocks.count * self.channels)]

    def nearest(self, sums: NDArray[Any]) -> NDArray[Any]:
        """The levels that the means of blocks are nearest to, from their sums (pictures, rows, columns, channels)."""
        steps = self.levels - 1
        if self.block == 1 and steps == TOP:
            return sums
        area = self.blocks.areas[None, :, :, None]
        return np.asarray((2 * steps * sums.astype(np.int64) + TOP * area) // (2 * TOP * area))

    def _values(self, sums: NDArray[Any], bits: Bits) -> NDArray[Any]:
        sampler, colours = _sampler(self.share, self.quality, self.levels), colours_of(self.levels)
        flat = self.nearest(sums).reshape(-1)
        result = np.empty(flat.size, np.uint8)
        for start in range(0, flat.size, EXPONENTIAL_TOGETHER):
            result[start : start + EXPONENTIAL_TOGETHER] = colours[
                sampler.draw(flat[start : start + EXPONENTIAL_TOGETHER], bits)
            ]
        return result.reshape(sums.shape)


def colours_of(levels: int) -> NDArray[np.uint8]:
    """The values of the given number of levels, evenly from 0 to 255.

    >>> colours_of(4).tolist()
    [0, 85, 170, 255]
    """
    return np.rint(np.linspace(0, TOP, levels)).astype(np.uint8)


@lru_cache(maxsize=8)
def level_table(share: Fraction, quality: Quality, levels: int) -> CertifiedChannel:
    """The table for a loss of at most ``share`` between any two levels.

    It is made of integers alone, so every computer makes the same. The rate is lowered until the table itself, rounded
    as it is, has the loss that is guaranteed.
    """
    below, most = Fraction(0), Fraction(exp_bounds(min(share, Fraction(PRECISION)), PRECISION)[0], 1 << PRECISION)
    while below < share:
        table = _rounded(share - below, quality, levels)
        if max(Fraction(int(column.max()), int(column.min())) for column in table.T) <= most:
            table.flags.writeable = False
            names, apart = tuple(range(levels)), UniformDistances(levels, Fraction(1))
            return CertifiedChannel(table, WIDTH, names, names, share, Discrete(), apart, PRECISION, 0.0)
        below = max(2 * below, Fraction(1, int(table.min())))  # rounding moves an entry by less than one
    raise ParameterError(
        "epsilon is too small for so many values: the share of each cannot be told from 0; use larger blocks."
    )


def _rounded(rate: Fraction, quality: Quality, levels: int) -> NDArray[Any]:
    """Rows of integers that sum to 2^48, none of them 0."""
    power = {"absolute": 1, "squared": 2}[quality]
    away = [min(rate * Fraction(d, levels - 1) ** power, Fraction(PRECISION)) for d in range(levels)]
    near = [exp_bounds(-exponent, PRECISION)[0] for exponent in away]
    table = np.empty((levels, levels), object)
    for x in range(levels):
        weights = [near[abs(x - r)] for r in range(levels)]
        total = sum(weights)
        row = [max(1, (weight << WIDTH) // total) for weight in weights]
        missing = (1 << WIDTH) - sum(row)
        if missing >= 0:  # what rounding left out: less than one for each entry
            row = [entry + (place < missing) for place, entry in enumerate(row)]
        else:
            row[x] += missing
        table[x] = row
    return table


@lru_cache(maxsize=8)
def _sampler(share: Fraction, quality: Quality, levels: int) -> TableSampler:
    return TableSampler(level_table(share, quality, levels).table, WIDTH)


PIXEL_EXPONENTIAL = Entry(
    "pixel-exponential",
    pixel_exponential,
    Takes("image"),
    summary="pictures: near colours likelier for every block, from a certified table",
    words="pictures",
    rebuild=no_rebuild,
)
