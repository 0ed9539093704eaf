r"""The law of noise on ranges of integers, in floats: normalisers and expected errors, for analysis.

The sampled law and its proof are exact (:mod:`noisewright.noise.laws.ranged` and the checker of certificates); the
floats here find the scale before it is proved, and give the expected error.

>>> law = LatticeLaw(0.5, [(0, 2)])
>>> first = np.array([0])
>>> a = math.exp(-0.5)
>>> bool(abs(law.expected("absolute", first, first)[0] - (a + 2 * a * a) / (1 + a + a * a)) < 1e-15)
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.mechanisms.laws.feasible import Range

__all__ = ["LatticeLaw", "feasible_shares", "geometric_moments", "shifted"]


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
