r"""Windows of blocks that look like the true ones: an exponential choice with SSIM as quality, and Laplace noise at ragged edges.

Blocks are cells; each channel of the grid of cells is cut into windows of ``window`` x ``window`` cells, and every
window is drawn among all windows over ``levels`` levels, those more alike being more likely
(:mod:`~noisewright.images.pixels.window_choice`). Cells that no window covers, at the right and lower edges, get
Laplace noise on their sums.

**Guarantee.** Every cell of every channel has the same share s of epsilon. A window of p x p cells loses at most
:math:`2\epsilon' = p^2 s` between any two contents, and a cell at the edges s; together that is epsilon exactly. With
``between="pixels"`` a window and a cell lose epsilon / c each: one pixel is in one of them in every channel. The proof counts
windows and cells that change, by whatever; so a cell at the edges is drawn as if all its pixels could change with one,
with as many times the noise that :func:`~noisewright.images.pixels.laplace.pixel_laplace` needs as it has pixels.

Windows of 3 x 3 cells on 8 x 8 cells cover 36 of 64: nearly half of such a picture is Laplace noise.

>>> import numpy as np
>>> hidden = pixel_windows(epsilon=200, width=64, height=48, block=8)
>>> hidden.release(np.full((48, 64, 3), 200, np.uint8)).shape, hidden.grid.count, hidden.grid.left_over
((48, 64, 3), 4, 12)
>>> print(hidden.guarantee)
epsilon = 200 per unit of discrete between two pictures of one size

How long a draw by rejection takes depends on the picture; ``sampler="enumeration"`` does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.product import Part
from noisewright.core.choices import is_whole, one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact
from noisewright.core.loading.parameters import EPSILON, Parameter
from noisewright.core.mechanism import Takes
from noisewright.images._parameters import (
    BETWEEN,
    BLOCK,
    BLUR,
    COLOURS,
    FIT,
    LEVELS,
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    QUALITY,
)
from noisewright.images.mechanism import Fit, no_rebuild
from noisewright.images.pictures.reading import Colours
from noisewright.images.pictures.windows import Windows
from noisewright.images.pixels.exponential import colours_of
from noisewright.images.pixels.laplace import noisy_sums, sum_proof
from noisewright.images.pixels.mechanism import TOP, Between, BlockMechanism
from noisewright.images.pixels.window_choice import Sampler, WindowChoice, WindowQuality
from noisewright.mechanisms.registry import Entry
from noisewright.noise.bits import Bits

__all__ = ["PixelWindows", "pixel_windows"]

WINDOW = Parameter("Side, in blocks, of the windows that are sampled as a whole.", "window = 3")
SAMPLER = Parameter(
    "Sampler of windows: rejection (its time depends on the picture), enumeration, or auto.", 'sampler = "enumeration"'
)


def pixel_windows(
    *,
    epsilon: Annotated[Exact, EPSILON],
    width: Annotated[int, PICTURE_WIDTH],
    height: Annotated[int, PICTURE_HEIGHT],
    block: Annotated[int, BLOCK] = 16,
    window: Annotated[int, WINDOW] = 3,
    levels: Annotated[int, LEVELS] = 4,
    quality: Annotated[WindowQuality, QUALITY] = "clipped",
    sampler: Annotated[Sampler, SAMPLER] = "auto",
    colours: Annotated[Colours, COLOURS] = "rgb",
    between: Annotated[Between, BETWEEN] = "pictures",
    fit: Annotated[Fit, FIT] = "refuse",
    blur: Annotated[float, BLUR] = 0.0,
) -> PixelWindows:
    """A choice of windows for pictures of ``width`` x ``height`` pixels, in blocks of ``block`` x ``block`` pixels."""
    one_of(between, "between", ("pictures", "pixels"))
    shared = (epsilon, width, height, colours, block, between, blur)
    return PixelWindows(*shared, window, levels, quality, sampler, fit=fit)  # type: ignore[arg-type]


@dataclass(frozen=True)
class PixelWindows(BlockMechanism):
    """A choice of windows; build it with :func:`pixel_windows`."""

    window: int = 3
    levels: int = 4
    quality: WindowQuality = "clipped"
    sampler: Sampler = "auto"
    name = "pixel-windows"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.quality, "quality", ("clipped", "shifted"))
        one_of(self.sampler, "sampler", ("auto", "rejection", "enumeration"))
        if not is_whole(self.window) or not 2 <= self.window <= 32:
            raise ParameterError("window is a whole number of cells from 2 to 32.")
        if not is_whole(self.levels) or not 2 <= self.levels <= 256:
            raise ParameterError("levels is a whole number from 2 to 256: so many values can come out.")
        self.choice  # noqa: B018  refuses what cannot be drawn

    @property
    def grid(self) -> Windows:
        """The windows, and the cells next to them."""
        return Windows(*self.blocks.shape, self.window)

    @property
    def share(self) -> Fraction:
        """Loss of one cell of one channel, at most."""
        return self.epsilon / (self.channels * (self.blocks.count if self.between == "pictures" else 1))

    @property
    def choice(self) -> WindowChoice:
        """Return how one window is drawn."""
        loss = self.share * (self.window**2 if self.between == "pictures" else 1)
        return WindowChoice(loss, self.window**2, self.levels, self.quality, self.sampler)

    def _parts(self, rng: np.random.Generator | None) -> Sequence[Part]:
        edges = [
            Part(sum_proof(self.share / (TOP * area), area, rng), many * self.channels)
            for area, where in self._by_area
            if (many := int((where & ~self.grid.covered).sum()))
        ]
        windows = [Part(self.choice.certificate(rng), self.grid.count * self.channels)] if self.grid.count else []
        return [*windows, *edges]

    def _values(self, sums: NDArray[Any], bits: Bits) -> NDArray[Any]:
        grid, cells = self.grid, np.empty(sums.shape[1:])
        for area, where in self._by_area:
            edge = where & ~grid.covered
            if edge.any():
                cells[edge] = noisy_sums(sums[0, edge], area, TOP * area / self.share, bits) / area
        if grid.count:
            means = sums[0] / self.blocks.areas[:, :, None]
            cells = grid.put(cells, colours_of(self.levels)[self.choice.draw(grid.cut(means), bits)])
        return cells[None]


ENTRY = Entry(
    "pixel-windows",
    pixel_windows,
    Takes("image"),
    summary="pictures: windows of blocks that look alike are likelier (SSIM), exact",
    words="pictures",
    rebuild=no_rebuild,
)
