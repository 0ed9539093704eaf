r"""Pixelise, then exact Laplace noise on the sums of blocks (known as DP-Pix): any picture, any block, ragged edges.

The values of a block are added up, which gives an integer; discrete Laplace noise of one scale t is added to every
sum, and the result is clamped to the range of a block of that size, divided by its size and painted.

**Guarantee.** Two pictures whose values differ by D steps of colour in total have sums that differ by at most D in total, so the
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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.product import Part
from noisewright.core.choices import one_of
from noisewright.core.exact import Exact
from noisewright.core.loading.parameters import EPSILON
from noisewright.core.mechanism import Takes
from noisewright.images._parameters import BETWEEN, BLOCK, BLUR, COLOURS, FIT, PICTURE_HEIGHT, PICTURE_WIDTH
from noisewright.images.mechanism import Fit, no_rebuild
from noisewright.images.pictures.reading import Colours
from noisewright.images.pixels.mechanism import TOP, BlockMechanism
from noisewright.mechanisms.numbers.geometric import geometric
from noisewright.mechanisms.registry import Entry
from noisewright.noise.bits import Bits
from noisewright.noise.laws.clamped import ClampedLaplace
from noisewright.noise.laws.geometric import discrete_laplace

__all__ = ["PixelLaplace", "noisy_sums", "pixel_laplace", "sum_proof"]

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


ENTRY = Entry(
    "pixel-laplace",
    pixel_laplace,
    Takes("image"),
    summary="pictures: blocks of pixels with Laplace noise, exact",
    words="pictures",
    rebuild=no_rebuild,
)
