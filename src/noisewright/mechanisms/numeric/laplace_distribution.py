r"""The law of noise on ranges of integers, in floats: normalisers and expected errors, for analysis.

The sampled law and its proof are exact (:mod:`noisewright.sampling.bounded_laplace` and the checker of certificates); the
floats here find the scale before it is proved, and give the expected error.

>>> law = LatticeLaw(0.5, [(0, 2)])
>>> first = np.array([0])
>>> a = math.exp(-0.5)
>>> bool(abs(law.expected("absolute", first, first)[0] - (a + 2 * a * a) / (1 + a + a * a)) < 1e-15)
True

A distribution function gives the masses themselves, spikes and jumps included. A density can be evaluated at finitely
many points only, so its masses are an estimate: two Gauss rules in each cell, finer and finer where they differ. A
spike that is narrower than the distance of these points is seen only if it is declared and may be overlooked
otherwise.

>>> [float(m) for m in from_cdf(lambda x: x**2, 4).masses], from_cdf(lambda x: x**2, 4).certain
([0.0625, 0.1875, 0.3125, 0.4375], True)
>>> spike = lambda x: 1 + 1e8 * (abs(x - 0.37) < 5e-9)  # half of the prior within 1e-8
>>> [round(float(from_density(spike, 4, told).masses[1]), 3) for told in ((), (0.37,))]
[0.25, 0.625]

For a true answer ``mu`` in the feasible set ``X`` and a scale ``s`` the density on ``X`` is

.. math:: p(x \mid \mu) = e^{-|x - \mu|/s} / Z(\mu), \qquad Z(\mu) = \int_X e^{-|x - \mu|/s}\,dx .

This is the continuous limit of what :func:`noisewright.laplace` draws on its lattice, for analysis; nothing is drawn from
here. Every function takes arrays and broadcasts them. Masses beyond an interval's ends come from one pass over the
intervals, so a call costs O(1) for each value after O(n) for n intervals.

>>> law = TruncatedLaplace(Feasible.parse((0, None)), 2.0)
>>> float(law.density(0.0, 0.0)), float(law.mean(0.0)), float(law.error(0.0, "absolute"))
(0.5, 2.0, 2.0)
>>> bool(abs(law.cdf(law.quantile(0.3, 1.0), 1.0) - 0.3) < 1e-15)
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import fields_alone, is_number
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.numeric.feasible_sets import Feasible, Range

__all__ = [
    "CellMasses",
    "LatticeLaw",
    "TruncatedLaplace",
    "feasible_shares",
    "from_cdf",
    "from_density",
    "geometric_moments",
    "shifted",
]


class LatticeLaw:
    r"""``P(j | i) = a^|i-j| / Z(i)`` on ranges of integers, ``a = e^-rate``.

    ``(1 - a) Z = (1 - y) + y A + (a - z) + z B``, all terms positive, with ``y = a^(L+1)`` and ``z = a^(R+1)`` for L
    points to the left and R to the right in the range of i; A and B are the shares of feasible points beyond the
    range.
    """

    def __init__(self, rate: float, ranges: Sequence[Range]) -> None:
        self.rate = rate
        ends = np.array(ranges, dtype=np.float64)  # with NaN for None, where a range does not end
        self.firsts, self.lasts = (np.where(np.isnan(ends), [-np.inf, np.inf], ends)).T
        gaps = self.firsts[1:] - self.lasts[:-1] - 1  # the numbers that are missing
        counts = self.lasts - self.firsts + 1
        self.below = feasible_shares(rate, gaps, counts[:-1])
        self.above = feasible_shares(rate, gaps[::-1], counts[:0:-1])[::-1]

    def parts(self, k: NDArray[np.int64], i: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
        """``(1 - a) Z``, ``y`` and ``z``."""
        left, right = self.rate * (i - self.firsts[k] + 1), self.rate * (self.lasts[k] - i)
        a, y, z = math.exp(-self.rate), np.exp(-left), np.exp(-(right + self.rate))
        total = -np.expm1(-left) + y * self.below[k] - a * np.expm1(-right) + z * self.above[k]
        return total, y, z

    def log_normaliser(self, k: NDArray[np.int64], i: NDArray[np.int64]) -> Floats:
        """``ln Z(i)``."""
        return np.asarray(np.log(self.parts(k, i)[0]) - math.log(-math.expm1(-self.rate)))

    def chances(self, k: NDArray[np.int64], i: NDArray[np.int64], places: Floats) -> Floats:
        """``P(j < place | i)`` for each ``i`` (in range ``k``) in a row and each place in a column."""
        places = np.clip(places, -(2.0**60), 2.0**60)
        rows, total = i.astype(np.float64).reshape(-1, 1), np.zeros((i.size, places.size))
        for first, last in zip(self.firsts, self.lasts, strict=True):
            end = np.clip(places - 1, first - 1, last)
            total += self._sum(np.maximum(first, rows), end, rows) + self._sum(
                -np.minimum(end, rows - 1), -first, -rows
            )
        logs = self.log_normaliser(k.reshape(-1), i.reshape(-1)).reshape(-1, 1)
        return np.asarray(np.clip(total * np.exp(-logs), 0, 1))

    def _sum(self, start: Floats, end: Floats, centre: Floats) -> Floats:
        """The sum of ``a^(j - centre)`` over ``j = start..end``, from the centre on; nothing where the end comes first."""
        count = np.maximum(end - start + 1, 0)
        return np.asarray(np.exp(-self.rate * (start - centre)) * np.expm1(-self.rate * count) / math.expm1(-self.rate))

    def log_ratio(
        self, k: NDArray[np.int64], i: NDArray[np.int64], m: NDArray[np.int64], j: NDArray[np.int64]
    ) -> Floats:
        """``ln Z(j) - ln Z(i)``, without cancellation for points of one range."""
        here, y, z = self.parts(k, i)
        there, _, _ = self.parts(m, j)
        moved = self.rate * (j - i)
        change = y * (1 - self.below[k]) * -np.expm1(-moved) - z * (1 - self.above[k]) * np.expm1(
            np.minimum(moved, 700)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            same = np.log1p(change / here)
        return np.where((k == m) & (moved < 1), same, np.log(there) - np.log(here))

    def expected(
        self,
        loss: str,
        k: NDArray[np.int64],
        i: NDArray[np.int64],
        low: Floats | float = 0.0,
        high: Floats | float = 0.0,
    ) -> Floats:
        """The expected loss of the output at each ``i`` (in range ``k``), in whole steps: closed geometric sums.

        It counts against a true answer from ``low`` to ``high`` steps away (at most 1) that is rounded to ``i``, the worst one,
        which is an end since losses are convex: moving the answer up brings it nearer to all outputs above ``i`` and farther
        from all others.
        """
        if loss == "zero-one":
            return np.asarray(-np.expm1(-self.log_normaliser(k, i)))
        below, above = self._sides(k, i)
        total = below[0] + above[0]

        def at(t: Floats | float) -> Floats:
            if loss == "absolute":  # i itself, of weight 1, is on the side below
                away = np.where(np.asarray(t) > 0, below[0] - above[0], below[0] - above[0] - 2)
                return np.asarray((below[1] + above[1] + t * away) / total)
            return np.asarray((below[2] + above[2] + 2 * t * (below[1] - above[1])) / total + t * t)

        return np.maximum(at(low), at(high))

    def _sides(self, k: NDArray[np.int64], i: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Sums of ``d^p a^d`` over the outputs at most and above ``i``, d being their distance, for p = 0, 1, 2."""
        found = []
        for side, (points, beyond) in enumerate(
            ((i - self.firsts[k] + 1, self._moments_below), (self.lasts[k] - i + 1, self._moments_above))
        ):
            inside = geometric_moments(self.rate, points)
            # Beyond the end a distance is the way to the end plus the rest.
            way = np.where(np.isinf(points), 0.0, points - 1)
            rest = np.where(np.isinf(points), 0.0, np.exp(-self.rate * way)) * beyond[:, k]
            sums = inside + shifted(rest, way)
            sums[0] -= side  # i itself is on both sides
            found.append(sums)
        return found[0], found[1]

    @cached_property
    def _moments_below(self) -> Floats:
        return _moments(self.rate, self.firsts, self.lasts)

    @cached_property
    def _moments_above(self) -> Floats:
        return _moments(self.rate, -self.lasts[::-1], -self.firsts[::-1])[:, ::-1]


def feasible_shares(rate: float, gaps: Floats, counts: Floats) -> Floats:
    """The feasible shares below each range: ``A' = q (1 - p + p A)``, q = e^(-gap rate), p = e^(-length rate).

    A linear recursion, solved for all ranges at once by doubling strides.
    """
    near, whole = np.exp(-rate * gaps), np.exp(-rate * counts)
    constant, factor = near * -np.expm1(-rate * counts), near * whole
    stride = 1
    while stride < constant.size and factor.max() > 0:
        constant[stride:] += factor[stride:] * constant[:-stride]
        factor[stride:] *= factor[:-stride].copy()
        factor[:stride] = 0.0
        stride *= 2
    return np.concatenate([[0.0], constant])


def geometric_moments(rate: float | Floats, counts: Floats) -> Floats:
    """``sum_t t^p a^t`` over ``t = 0, ..., count - 1`` for p = 0, 1, 2, for each count; only positive terms are added.

    From n terms to 2n: the second half is the first, moved by n and multiplied by ``a^n``.
    """
    a, q = np.exp(-rate), -np.expm1(-rate)
    endless = np.isinf(counts)
    whole = np.where(endless, 0, counts).astype(np.int64)
    n, sums = np.zeros(whole.size), np.zeros((3, whole.size))
    for place in reversed(range(int(whole.max(initial=0)).bit_length())):
        sums = sums + shifted(np.exp(-rate * n) * sums, n)
        n = 2 * n
        odd = (whole >> place & 1).astype(np.float64)
        sums = sums + odd * np.exp(-rate * n) * np.array([np.ones_like(n), n, n * n])
        n += odd
    for p, limit in enumerate((1 / q, a / q**2, a * (1 + a) / q**3)):
        sums[p] = np.where(endless, limit, sums[p])
    return sums


def shifted(sums: Floats, by: Floats) -> Floats:
    """Moments of distances that all grow by the same amount."""
    return np.array([sums[0], sums[1] + by * sums[0], sums[2] + 2 * by * sums[1] + by * by * sums[0]])


def _moments(rate: float, firsts: Floats, lasts: Floats) -> Floats:
    """Return for each range the sums of ``d^p a^d`` over the feasible points below it, d being the distance to its first."""
    own = geometric_moments(rate, lasts - firsts + 1)
    lengths = np.where(np.isinf(firsts), 0.0, lasts - firsts)
    found = [(0.0, 0.0, 0.0)]
    for k, (gap, length) in enumerate(zip((firsts[1:] - lasts[:-1]).tolist(), lengths[:-1].tolist(), strict=True)):
        far, near = math.exp(-rate * length), math.exp(-rate * gap)
        a, b, c = found[-1]
        a, b, c = _shifted(far * a, far * b, far * c, length)
        x, y, z = own[:, k].tolist()
        found.append(_shifted(near * (x + a), near * (y + b), near * (z + c), gap))
    return np.array(found).T


def _shifted(zeroth: float, first: float, second: float, by: float) -> tuple[float, float, float]:
    """:func:`shifted` for plain numbers, which are faster one at a time."""
    return zeroth, first + by * zeroth, second + 2 * by * first + by * by * zeroth


# Cell masses --------------------------------------------------------------------------------------------------------------
#
# Masses of a prior on [0, 1] in each of many equal cells: known from a distribution function, estimated from a
# density.


CLOSE_ENOUGH = 1e-11
"""Pieces in which two rules differ by less than this share of the whole are not cut again."""

MOST_PIECES = 1 << 20
MOST_CUTS = 60
GRADED = 50
"""Number of halvings of the pieces around a declared spike."""


@dataclass(frozen=True)
class CellMasses:
    """The masses of all cells, which add up to 1; how far off they may be all together; and whether that is certain."""

    masses: Floats
    error: float
    certain: bool


def from_cdf(cdf: Callable[[float], float], cells: int) -> CellMasses:
    """The masses of ``(k/n, (k+1)/n]``, the first with 0: exactly, up to the rounding of floats."""
    heights = np.array([float(cdf(k / cells)) for k in range(cells + 1)])
    heights[0] = 0.0  # whatever lies at 0 belongs to the first cell
    risen = np.maximum.accumulate(heights)  # the last digits of a sum may fall
    off = float(np.max(risen - heights)) + abs(1 - float(risen[-1]))
    if not off <= 1e-9:
        raise ParameterError("a distribution function on [0, 1] never falls, is 0 or more, and is 1 at 1.")
    return CellMasses(np.diff(risen) / risen[-1], 2 * cells * (off + 2.0**-52), True)


def from_density(density: Callable[[Floats], ArrayLike], cells: int, spikes: Sequence[float] = ()) -> CellMasses:
    """The masses by quadrature, with an estimate of its error; ``spikes``: where the density jumps or is very high."""
    if not all(is_number(s) and 0 <= s <= 1 for s in spikes):
        raise ParameterError("a spike of the prior is a place in [0, 1].")
    fine = 2.0 ** -np.arange(GRADED) / cells
    cuts = [np.arange(cells + 1) / cells, *(np.concatenate([[s], s - fine, s + fine]) for s in map(float, spikes))]
    edges = np.unique(np.clip(np.concatenate(cuts), 0.0, 1.0))
    low, high = edges[:-1], edges[1:]
    done: list[tuple[Floats, Floats, Floats]] = []
    for _ in range(MOST_CUTS):
        found, error = _rules(density, low, high)
        total = float(found.sum()) + sum(float(mass.sum()) for _, mass, _ in done)
        coarse = (error > CLOSE_ENOUGH * total) & ((high - low) > 2.0**-50)
        done.append((low[~coarse], found[~coarse], error[~coarse]))
        if not coarse.any() or 2 * coarse.sum() > MOST_PIECES:
            done.append((low[coarse], found[coarse], error[coarse]))
            break
        middle = (low[coarse] + high[coarse]) / 2
        low, high = np.concatenate([low[coarse], middle]), np.concatenate([middle, high[coarse]])
    places, masses, errors = (np.concatenate(part) for part in zip(*done, strict=True))
    cell = np.minimum(np.searchsorted(np.arange(cells + 1) / cells, places, side="right") - 1, cells - 1)
    whole = np.bincount(cell, weights=masses, minlength=cells)
    total = math.fsum(whole)
    if not total > 0:
        raise ParameterError("the prior density must be finite, 0 or more, and not 0 everywhere.")
    return CellMasses(whole / total, 2 * float(errors.sum()) / total + cells * 2.0**-52, False)


def _rules(density: Callable[[Floats], ArrayLike], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The mass of each piece, and how much a second rule differs."""
    found = []
    for points in (15, 7):
        nodes, weights = _gauss(points)
        x = low[:, None] + (high - low)[:, None] * nodes
        heights = np.broadcast_to(np.asarray(density(x.reshape(-1)), dtype=np.float64), x.size).reshape(x.shape)
        if not bool((np.isfinite(heights) & (heights >= 0)).all()):
            raise ParameterError("the prior density must be finite, 0 or more, and not 0 everywhere.")
        found.append((heights @ weights) * (high - low))
    return found[0], np.abs(found[0] - found[1])


@cache
def _gauss(points: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2


# Truncated ----------------------------------------------------------------------------------------------------------------
#
# The Laplace law cut to a feasible set: density, distribution, quantiles, mean, variance and expected errors.


@dataclass(frozen=True)
class TruncatedLaplace:
    """The truncated and normalised Laplace law on ``feasible`` with the given ``scale``."""

    feasible: Feasible
    scale: float

    def __post_init__(self) -> None:
        if not 0 < self.scale < math.inf:
            raise ParameterError(f"the scale must be a finite number above 0, not {self.scale}.")

    def density(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """``p(x | mu)``, zero outside the feasible set."""
        places, centre = np.asarray(x, dtype=np.float64), self._centre(mu)
        k = self._rank(places)
        inside = (places >= self._lows[k]) & (places <= self._highs[k])
        return np.asarray(
            np.where(inside, np.exp(-np.abs(places - centre) / self.scale - self.log_normaliser(mu)), 0.0)
        )

    def cdf(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """The probability of an output of at most ``x``."""
        places, centre = np.asarray(x, dtype=np.float64), self._centre(mu)
        total = self._left(centre) + self._right(centre)
        away = np.exp(-np.abs(places - centre) / self.scale)
        return np.asarray(
            np.where(places <= centre, away * self._left(places) / total, 1 - away * self._right(places) / total)
        )

    def quantile(self, probability: ArrayLike, mu: ArrayLike) -> Floats:
        """The smallest ``x`` with ``cdf(x | mu) >= probability``, for probabilities strictly between 0 and 1."""
        p = np.asarray(probability, dtype=np.float64)
        if not bool(((p > 0) & (p < 1)).all()):
            raise ParameterError("a quantile needs probabilities strictly between 0 and 1.")
        p, centre = np.broadcast_arrays(p, self._centre(mu))
        left, right = self._left(centre), self._right(centre)
        total = left + right
        low = self._upto(p * total, centre)
        high = -self._mirror._upto((1 - p) * total, -centre)
        return np.asarray(np.where(p * total <= left, low, high))

    def log_normaliser(self, mu: ArrayLike) -> Floats:
        """``ln Z(mu)``."""
        centre = self._centre(mu)
        return np.asarray(np.log(self.scale * (self._left(centre) + self._right(centre))))

    def loss(self, mu: ArrayLike, other: ArrayLike) -> Floats:
        """``sup_x |ln p(x | mu) - ln p(x | other)|``: reached at one of the two answers themselves."""
        apart = np.abs(self._centre(mu) - self._centre(other))
        return np.asarray(apart / self.scale + np.abs(self.log_normaliser(mu) - self.log_normaliser(other)))

    def mean(self, mu: ArrayLike) -> Floats:
        """The mean output; away from ``mu`` where the set is lopsided around it."""
        left, right = self._moments(mu)
        return np.asarray(self._centre(mu) + (right[1] - left[1]) / (left[0] + right[0]))

    def variance(self, mu: ArrayLike) -> Floats:
        """The variance of the output around its own mean."""
        left, right = self._moments(mu)
        total = left[0] + right[0]
        return np.asarray((left[2] + right[2]) / total - ((right[1] - left[1]) / total) ** 2)

    def error(self, mu: ArrayLike, loss: str = "absolute") -> Floats:
        """The expected ``|x - mu|`` (``"absolute"``) or ``(x - mu)^2`` (``"squared"``)."""
        if loss not in ("absolute", "squared"):
            raise ParameterError(f"the loss must be 'absolute' or 'squared', not {loss!r}.")
        left, right = self._moments(mu)
        order = 1 if loss == "absolute" else 2
        return np.asarray((left[order] + right[order]) / (left[0] + right[0]))

    # Masses on each side -------------------------------------------------------------------------------------------

    @cached_property
    def _lows(self) -> Floats:
        return np.array([-math.inf if lo is None else float(lo) for lo, _ in self.feasible.components])

    @cached_property
    def _highs(self) -> Floats:
        return np.array([math.inf if hi is None else float(hi) for _, hi in self.feasible.components])

    @cached_property
    def _below(self) -> Floats:
        """Mass for each interval below its low end, in scales, as seen from that end."""
        return feasible_shares(1 / self.scale, self._lows[1:] - self._highs[:-1], (self._highs - self._lows)[:-1])

    @cached_property
    def _mirror(self) -> TruncatedLaplace:
        swapped = tuple(
            (None if hi is None else -hi, None if lo is None else -lo) for lo, hi in reversed(self.feasible.components)
        )
        return TruncatedLaplace(Feasible(swapped), self.scale)

    def _centre(self, mu: ArrayLike) -> Floats:
        centre = np.asarray(mu, dtype=np.float64)
        k = self._rank(centre)
        if not bool(((centre >= self._lows[k]) & (centre <= self._highs[k])).all()):
            raise ParameterError("a true answer must lie in the feasible set.")
        return centre

    def _rank(self, places: Floats) -> NDArray[np.intp]:
        return np.maximum(np.searchsorted(self._lows, places, side="right") - 1, 0)

    def _left(self, places: Floats) -> Floats:
        """The feasible mass at most ``places``, in scales, as seen from there; any place will do."""
        k = self._rank(places)
        inside = np.maximum(np.minimum(places, self._highs[k]) - self._lows[k], 0.0) / self.scale
        beyond = np.maximum(places - self._highs[k], 0.0) / self.scale
        mass = np.exp(-inside) * self._below[k] - np.expm1(-inside)
        return np.asarray(np.where(places < self._lows[0], 0.0, np.exp(-beyond) * mass))

    def _right(self, places: Floats) -> Floats:
        return self._mirror._left(-places)

    def _upto(self, mass: Floats, centre: Floats) -> Floats:
        """The place left of ``centre`` with that much mass (in scales, as seen from the centre) at most there."""
        # ln of e^(x/s) times the mass left of x grows with x; find its interval, then solve inside it.
        with np.errstate(divide="ignore", invalid="ignore"):
            goal = centre / self.scale + np.log(mass)
            starts = np.where(np.isinf(self._lows), -np.inf, self._lows / self.scale + np.log(self._below))
            k = np.clip(np.searchsorted(starts, goal, side="right") - 1, 0, self._lows.size - 1)
            low, below = self._lows[k], self._below[k]
            ahead = goal - low / self.scale
            near = np.log1p(np.maximum(np.exp(np.minimum(ahead, 1.0)) - below, 0.0))
            far = ahead + np.log1p((1 - below) * np.exp(-np.maximum(ahead, 1.0)))
            found = np.where(np.isinf(low), self.scale * goal, low + self.scale * np.where(ahead < 1, near, far))
        return np.asarray(np.minimum(np.clip(found, low, self._highs[k]), centre))

    def _moments(self, mu: ArrayLike) -> tuple[Floats, Floats]:
        """Integrals of ``d^p e^(-d/s)`` over the feasible points at distance d on the left and on the right, p = 0, 1, 2."""
        centre = self._centre(mu)
        return self._moments_left(centre), self._mirror._moments_left(-centre)

    def _moments_left(self, centre: Floats) -> Floats:
        k = self._rank(centre)
        way = centre - self._lows[k]
        near = np.where(np.isinf(way), 0.0, way)
        rest = np.where(np.isinf(way), 0.0, np.exp(-near / self.scale)) * self._moments_below[:, k]
        return np.asarray(self._inside(way) + shifted(rest, near))

    def _inside(self, length: Floats) -> Floats:
        """Integrals over distances 0 to ``length``: incomplete gamma functions, which keep their digits for short ones."""
        from scipy.special import gammainc

        powers = [math.gamma(p + 1) * self.scale ** (p + 1) for p in range(3)]
        return np.array([c * gammainc(p + 1, length / self.scale) for p, c in enumerate(powers)])

    @cached_property
    def _moments_below(self) -> Floats:
        own = self._inside(self._highs - self._lows)
        found = np.zeros((3, self._lows.size))
        for k in range(1, self._lows.size):
            gap = np.array([self._lows[k] - self._highs[k - 1]])
            length = np.array([0.0 if k == 1 and np.isinf(self._lows[0]) else self._highs[k - 1] - self._lows[k - 1]])
            before = np.exp(-length / self.scale) * shifted(found[:, k - 1 : k], length)
            found[:, k] = (np.exp(-gap / self.scale) * shifted(own[:, k - 1 : k] + before, gap))[:, 0]
        return found

    __getstate__ = fields_alone
