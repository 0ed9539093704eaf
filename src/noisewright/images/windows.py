r"""Windows over a few levels by their levels: windows with the same levels, in any order, are one class.

The mean and the variance of a window depend on its class alone, and so is the best SSIM that any of its windows can
have with a given one: SSIM grows with the covariance, and that is greatest where both are in the same order. Therefore
a bound of the weights of a class is found from one window, and proposals need not be uniform.

>>> classes = WindowClasses.of(cells=4, levels=3)
>>> len(classes.counts), len(classes.codes), classes.codes[classes.starts[1] :][:4].tolist()
(15, 81, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])

A window y over k levels has the whole-number weight

.. math:: w(x, y) = \lfloor 2^{40} e^{\epsilon' (q(x, y) - 1)} \rfloor, \quad \text{within } \lceil 2^{40} e^{-\epsilon'}
\rceil
   \text{ and } 2^{40},

and the probability w(x, y) over the sum of all weights. The quality q is made from the SSIM of the windows, which lies in
[-1, 1]: ``"clipped"`` is max(SSIM, 0), ``"shifted"`` is (1 + SSIM) / 2. Both lie in [0, 1]. Where all windows or their classes
are listed, the best quality that there is stands for 1, which changes no probability but what rounding does.

**Guarantee.** :math:`2\epsilon'` between any two windows, whatever q is: a weight changes by a factor of at most
:math:`e^{\epsilon'}`, and so does the sum. Nothing about SSIM, or about how floats compute it, is part of the proof:
weights are brought within their bounds as integers. (With SSIM itself as quality and the same epsilon' the proof is
**wrong**, and the loss can be a little more than is claimed; see :func:`noisewright.images.raw_losses`.)

Two samplers have this very law:

* *rejection*: a window is proposed at random and accepted with probability w / 2^40, until one is. It needs at most
  :math:`e^{\epsilon'}` proposals on average, for windows of any size and any number of levels. Where windows are of
  few classes (:mod:`~noisewright.images.windows`), each has a bound B of the weights in it: a class of n
  windows is proposed in proportion to n B, then any of its windows, which is accepted with probability w / B; that is
  often a hundred times as fast. (All of it is one integer below the sum of all n B.) **How long it takes depends on
  the secret**: who can measure that learns something that is not covered by the guarantee.
* *enumeration*: all windows are weighed, and one is drawn. It takes as long for every secret, and needs few enough windows
  (3 x 3 pixels of 4 levels have 262,144).

>>> choice = WindowChoice(Fraction(6), cells=4, levels=4)
>>> windows = np.array([[10.0, 200.0, 90.0, 250.0]] * 3)
>>> choice.draw(windows, np.random.default_rng(1)).shape, choice.rejects
((3, 4), True)
>>> choice.certificate().verify()
'epsilon = 6 per unit of discrete'

Blocks are cells; each channel of the grid of cells is cut into windows of ``window`` x ``window`` cells, and every
window is drawn among all windows over ``levels`` levels, those more alike being more likely
(:mod:`~noisewright.images.windows`). Cells that no window covers, at the right and lower edges, get
Laplace noise on their sums.

**Guarantee.** Every cell of every channel has the same share s of epsilon. A window of p x p cells loses at most
:math:`2\epsilon' = p^2 s` between any two contents, and a cell at the edges s; together that is epsilon exactly. With
``between="pixels"`` a window and a cell lose epsilon / c each: one pixel is in one of them in every channel. The proof counts
windows and cells that change, by whatever; so a cell at the edges is drawn as if all its pixels could change with one,
with as many times the noise that :func:`~noisewright.images.pixel_noise.pixel_laplace` needs as it has pixels.

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

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole, one_of
from noisewright.base import EPSILON, Entry, Parameter, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.composition import Part
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
from noisewright.images.blocks import TOP, Between, BlockMechanism, Windows, ssim_of
from noisewright.images.pictures import Colours
from noisewright.images.pixel_noise import colours_of, noisy_sums, sum_proof
from noisewright.numerics.exact import Exact
from noisewright.sampling.random_bits import Bits, Rng, bits_from, uniform_below

__all__ = [
    "LARGEST_LIST",
    "PixelWindows",
    "Sampler",
    "WindowChoice",
    "WindowClasses",
    "WindowQuality",
    "class_count",
    "every_window",
    "level_values",
    "pixel_windows",
]


def level_values(levels: int) -> Floats:
    """The value of each level."""
    return np.rint(np.linspace(0, 255, levels))


def every_window(cells: int, levels: int) -> NDArray[np.uint8]:
    """All windows, as numbers of levels."""
    number = np.arange(levels**cells)
    return np.stack([(number // levels**place % levels).astype(np.uint8) for place in range(cells)], 1)


def class_count(cells: int, levels: int) -> int:
    """Return how many classes there are."""
    return math.comb(cells + levels - 1, cells)


@dataclass(frozen=True, eq=False)
class WindowClasses:
    """All windows, with windows of one class together; make it with :meth:`of`."""

    codes: NDArray[np.uint8]
    counts: NDArray[np.int64]
    """Number of windows in each class,"""
    starts: NDArray[np.int64]
    """and the place of its first."""
    sorted: Floats
    """The values of each class, the smallest first."""

    @classmethod
    @lru_cache(maxsize=4)
    def of(cls, cells: int, levels: int) -> WindowClasses:
        """The classes of windows with the given number of cells."""
        every = every_window(cells, levels)
        kinds, which, counts = np.unique(np.sort(every, 1), axis=0, return_inverse=True, return_counts=True)
        codes = every[np.argsort(which.reshape(-1), kind="stable")]
        return cls(codes, counts.astype(np.int64), np.cumsum(counts) - counts, level_values(levels)[kinds])


# Window choice ------------------------------------------------------------------------------------------------------------
#
# A window of pixels drawn by its likeness to the true one: an exponential choice among all windows over a few levels.


WindowQuality = Literal["clipped", "shifted"]
Sampler = Literal["auto", "rejection", "enumeration"]

WEIGHT_BITS = 40
PRECISION = 128
LARGEST_LIST = 1 << 20
"""Maximum number of windows that are listed; the sum of their weights stays below 2^63."""
PATIENCE = 8
"""Up to this epsilon' windows are proposed: 3,000 at most on average, and in fact far fewer."""
PLAIN, MOST_CLASSES = 5, 512
"""Largest epsilon' without proposals by class, and maximum number of classes; otherwise bounds take longer than they save."""
BOUNDS, BUSY = 1 << 17, 1 << 13
"""Maximum number of bounds of classes held at once, and of proposals by class evaluated together."""
SLACK = 20
"""Bounds are larger by this power of a half, which is far more than floats are off."""
LAST_RESORT = 14
"""Beyond this epsilon' windows that are too many to list are refused."""
TOGETHER = 1 << 15
"""Maximum number of proposals evaluated together."""


@dataclass(frozen=True)
class WindowChoice:
    """A choice of windows with a number of cells, with a loss of at most ``loss`` between any two true windows."""

    loss: Fraction
    cells: int
    levels: int
    quality: WindowQuality = "clipped"
    sampler: Sampler = "auto"

    def __post_init__(self) -> None:
        if self.sampler == "enumeration" and not self.listable:
            raise ParameterError(
                f"there are more than {LARGEST_LIST:,} windows of {self.cells} cells and {self.levels} levels to enumerate; "
                'take smaller windows or fewer levels, or say sampler = "rejection".'
            )
        if self.rejects and not self.by_class and self.rate > LAST_RESORT:
            raise ParameterError(
                f"epsilon' = {float(self.rate):.3g} for a window of {self.cells} cells would take e^{float(self.rate):.3g} "
                "proposals; take a smaller epsilon, or windows few enough to enumerate."
            )

    @property
    def rate(self) -> Fraction:
        """epsilon': the exponent between the best and the worst window, half of the loss."""
        return self.loss / 2

    @property
    def listable(self) -> bool:
        """Return whether all windows can be listed."""
        return bool(self.levels**self.cells <= LARGEST_LIST)

    @property
    def rejects(self) -> bool:
        """Return whether windows are drawn by rejection. Parameters decide it, never a secret."""
        quick = self.rate <= PATIENCE or not self.listable or self.by_class
        return self.sampler == "rejection" or (self.sampler == "auto" and quick)

    @property
    def by_class(self) -> bool:
        """True if proposals are made by class: it takes no more of them, on average, than the largest class has windows."""
        few = self.listable and class_count(self.cells, self.levels) <= MOST_CLASSES
        return bool(few and self.rate > PLAIN)

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the largest weight."""
        if self.rate > WEIGHT_BITS:
            return 1, 1 << WEIGHT_BITS
        above = exp_bounds(-self.rate, PRECISION)[1]
        return (
            above >> (PRECISION - WEIGHT_BITS)
        ) + 1 if above < 1 << PRECISION else 1 << WEIGHT_BITS, 1 << WEIGHT_BITS

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The bounds of the weights, and the loss that follows."""
        least, most = self.bounds
        return Certificate.build(
            mechanism="window choice",
            epsilon=self.loss,
            metric="discrete",
            distances={"shape": "uniform", "distance": "1"},
            proof={"kind": "weights", "least": least, "most": most, "precision": PRECISION},
            simulated=rng is not None,
        )

    def weights(self, similarity: Floats, best: Floats | float = 1.0) -> NDArray[np.int64]:
        """The weights of windows with this SSIM to the true one; whatever it is, they are within their bounds.

        They are relative to the ``best`` SSIM that a window can have.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            worse = self._likeness(similarity) - self._likeness(best)
            raw = np.floor(np.exp(float(self.rate) * worse) * 2.0**WEIGHT_BITS)
        least, most = self.bounds
        return np.asarray(np.fmin(np.fmax(raw, least), most), np.int64)  # these two pass over NaN

    def _likeness(self, similarity: Floats | float) -> Any:
        return np.maximum(similarity, 0.0) if self.quality == "clipped" else (1 + similarity) / 2

    def draw(self, windows: Floats, rng: Rng = None) -> NDArray[np.uint8]:
        """One window over the levels (as numbers of levels) for each of the given ones, whose cells are in a row."""
        bits = bits_from(rng)
        if not len(windows):
            return np.empty((0, self.cells), np.uint8)
        if not self.rejects:
            return self._enumerated(windows, bits)
        return self._proposed_by_class(windows, bits) if self.by_class else self._proposed(windows, bits)

    # Rejection ----------------------------------------------------------------------------------------------------------

    def _proposed(self, windows: Floats, bits: Bits) -> NDArray[np.uint8]:
        """Every window that has none yet gets a batch of proposals; its first accepted one counts."""
        true, found = _Moments(windows), np.empty(windows.shape, np.uint8)
        waiting = np.arange(len(windows))
        tries = 1 + int(math.exp(0.6 * float(self.rate)))  # about the needed number; then twice as many each time
        while len(waiting):
            part = waiting[: max(1, TOGETHER // tries)]
            codes = self._codes(len(part) * tries, bits).reshape(len(part), tries, self.cells)
            weights = self.weights(true.similarity(part, self._values[codes]))
            accepted = (bits.words(weights.size) >> np.uint64(64 - WEIGHT_BITS)).reshape(
                weights.shape
            ) < weights.astype(np.uint64)
            done = accepted.any(1)
            found[part[done]] = codes[done, accepted[done].argmax(1)]
            waiting = np.concatenate([waiting[len(part) :], part[~done]])
            if len(part) > len(waiting) // 2:
                tries = max(1, min(2 * tries, TOGETHER // max(len(waiting), 1), 1 << 12))
        return found

    def _codes(self, count: int, bits: Bits) -> NDArray[np.uint8]:
        """Windows of uniformly random levels."""
        each = self.levels.bit_length() - 1
        if self.levels != 1 << each or each * self.cells > 64:
            return np.asarray(uniform_below(self.levels, count * self.cells, bits), np.uint8).reshape(count, self.cells)
        words, mask = bits.words(count), np.uint64(self.levels - 1)
        codes = np.empty((count, self.cells), np.uint8)
        for place in range(self.cells):
            codes[:, place] = (words >> np.uint64(each * place)) & mask
        return codes

    def _proposed_by_class(self, windows: Floats, bits: Bits) -> NDArray[np.uint8]:
        found = np.empty(windows.shape, np.uint8)
        together = max(1, BOUNDS // class_count(self.cells, self.levels))
        for start in range(0, len(windows), together):
            some, drawn = windows[start : start + together], found[start : start + together]
            (bounds, best), left = self.class_bounds(some), np.arange(len(some))
            while len(left):
                tries = max(1, BUSY // len(left))
                codes, accepted = self._by_class(some[left], bounds[left], best[left], tries, bits)
                done = accepted.any(1)
                drawn[left[done]] = codes[done, accepted[done].argmax(1)]
                left = left[~done]
        return found

    def class_bounds(self, windows: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Return an upper bound of weights for each window and class, and the best SSIM for each window."""
        true, kinds = _Moments(np.sort(windows, -1)), self._kinds
        cov = true.away @ kinds.away.T / self.cells
        similarity = ssim_of(true.mean[:, None], kinds.mean, true.variance[:, None], kinds.variance, cov)
        best = similarity.max(1, keepdims=True)
        found = self.weights(similarity, best)
        return np.minimum(found + (found >> SLACK) + 1, self.bounds[1]), best

    def _by_class(
        self, windows: Floats, bounds: NDArray[np.int64], best: Floats, tries: int, bits: Bits
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return proposals for each window, and which of them are accepted.

        A random number below a power of two that is at least the sum of all n B is a class, one of its windows, and a number
        below B; or it is too large, and nothing is proposed.
        """
        classes, kinds, true = WindowClasses.of(self.cells, self.levels), self._kinds, _Moments(windows)
        many = bounds.shape[1]
        ends = np.full((len(windows), 1 << many.bit_length()), np.iinfo(np.int64).max)  # no cell follows the last one
        np.cumsum(classes.counts * bounds, 1, out=ends[:, :many])
        total = ends[:, many - 1 : many]
        width = np.frexp(total.astype(np.float64))[1].astype(np.uint64)
        number = (bits.words(len(windows) * tries).reshape(-1, tries) >> (np.uint64(64) - width)).astype(np.int64)
        inside = number < total
        number[~inside] = 0
        which, first = np.zeros(number.shape, np.intp), ends.shape[1] * np.arange(len(windows))[:, None]
        step = ends.shape[1] // 2
        while step:  # how many ends are not above it
            which += step * (ends.take(first + which + (step - 1)) <= number)
            step //= 2
        bound = bounds.take(many * np.arange(len(windows))[:, None] + which)
        place, rest = np.divmod(ends.take(first + which) - number - 1, bound)
        codes = classes.codes[classes.starts[which] + place]
        cov = np.einsum("ik,ijk->ij", true.away, self._values[codes]) / self.cells
        mean, variance = kinds.mean[which], kinds.variance[which]
        weights = self.weights(ssim_of(true.mean[:, None], mean, true.variance[:, None], variance, cov), best)
        return codes, inside & (rest < np.minimum(weights, bound))

    @cached_property
    def _kinds(self) -> _Moments:
        return _Moments(WindowClasses.of(self.cells, self.levels).sorted)

    # Enumeration --------------------------------------------------------------------------------------------------------

    def _enumerated(self, windows: Floats, bits: Bits) -> NDArray[np.uint8]:
        true, codes = _Moments(windows), self._every
        values = _Moments(self._values[codes])
        found = np.empty(windows.shape, np.uint8)
        for place in range(len(windows)):
            similarity = true.against(place, values)
            sums = np.cumsum(self.weights(similarity, similarity.max()))
            drawn = uniform_below(int(sums[-1]), rng=bits)
            found[place] = codes[int(np.searchsorted(sums, drawn, side="right"))]
        return found

    @cached_property
    def _values(self) -> Floats:
        """The value of each level."""
        return level_values(self.levels)

    @cached_property
    def _every(self) -> NDArray[np.uint8]:
        """All windows, as numbers of levels."""
        return every_window(self.cells, self.levels)


class _Moments:
    """The means, variances and centred values of windows, for their SSIM with others."""

    def __init__(self, windows: Any) -> None:
        values = np.asarray(windows, np.float64)
        self.mean = values.mean(-1)
        self.away = values - self.mean[..., None]
        self.variance = (self.away**2).mean(-1)

    def similarity(self, places: NDArray[np.intp], proposals: Floats) -> Floats:
        """The SSIM of some of these windows with several proposals each (windows, proposals, cells)."""
        cells = proposals.shape[-1]
        mean = proposals.mean(-1)
        variance = np.einsum("ijk,ijk->ij", proposals, proposals) / cells - mean**2
        cov = np.einsum("ik,ijk->ij", self.away[places], proposals) / cells
        return ssim_of(self.mean[places, None], mean, self.variance[places, None], variance, cov)

    def against(self, place: int, others: _Moments) -> Floats:
        """The SSIM of one of these windows with many others."""
        cov = others.away @ (self.away[place] / others.away.shape[-1])
        return ssim_of(self.mean[place], others.mean, self.variance[place], others.variance, cov)


# Windows ------------------------------------------------------------------------------------------------------------------
#
# Windows of blocks that look like the true ones: an exponential choice with SSIM as quality, and Laplace noise at ragged edges.


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
