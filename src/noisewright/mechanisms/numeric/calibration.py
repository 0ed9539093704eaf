"""The true answer that fares worst: which answers are rounded to a lattice point, and a search over all of them.

A mechanism on a lattice treats all answers alike that it rounds to the same point, but its error counts against the answer
itself. The answers of a point form a *cell*: half a step to either side, and at the ends of an interval whatever the interval
holds. Absolute and squared losses are convex in the answer, so the worst one of a cell is at an end of it:

>>> from noisewright.mechanisms.numeric.feasible_sets import Feasible
>>> cells = RoundingCells.of(Feasible.parse(("0.25", "3.5")), Lattice(0), clipped=True)
>>> int(cells.firsts[0]), int(cells.lasts[0]), float(cells.lowest[0]), float(cells.highest[0])
(1, 3, -0.75, 0.5)

Inverse quadratic interpolation where the last three points say that it is safe, bisection otherwise; usually ten steps
in all. It is the one solver that mechanisms for numbers need, and having it here spares everyone who uses one of them
the half second that loading SciPy's optimisers takes.

>>> abs(root(lambda x: x * x - 2, 0, 2) - math.sqrt(2)) <= 4e-16
True

T. R. Chandrupatla, *A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without using
derivatives*, Advances in Engineering Software 28 (1997).

A true answer ``mu`` in a feasible set ``X`` is released as ``x`` in ``X`` with density proportional to ``e^(-|x -
mu|/scale)``. The normaliser ``Z(mu)`` depends on the secret and so leaks: two answers ``d`` apart are distinguished by
up to ``d/scale + |ln Z(mu) - ln Z(mu')|``. The guarantee is ``epsilon d / sensitivity`` for all pairs (scope
``"metric"``), or ``epsilon`` for pairs at most ``sensitivity`` apart (scope ``"adjacent"``).

:func:`continuous` solves this for real numbers, :func:`on_lattice` for the whole steps of a lattice, which is the
sampled law. Only finitely many pairs matter, O(n) for n intervals:

* *metric*: losses add along a path, so the condition is local. ``Z`` is concave on an interval, hence ``ln Z`` is, and
  its slope is largest at the interval's ends; jumps over a gap never bind for real numbers, and are checked on a lattice;
* *adjacent*: the loss grows with the distance, so a pair is as far apart as allowed or ends at an end of ``X``. Where
  both answers move at a fixed distance, the guarantee is exceeded by ``P + Q s + R/s`` with ``s = e^(-mu/scale)`` and
  ``P <= 0``: largest at an end of the stretch, or below zero all along it.

Which pairs there are is decided in integers, and floats hold only differences of ends: moving the whole set changes no
digit of the scale.

>>> from noisewright.mechanisms.numeric.feasible_sets import Feasible
>>> half_line = Feasible.parse((0, None))
>>> found = continuous(half_line, epsilon=1, sensitivity=1, scope="adjacent")
>>> round(found.scale, 6), found.reason
(1.612605, 'binding at the wall at 0, pair 0 and 1')

References: Holohan, Antonatos, Braghin and Mac Aonghusa, *The bounded Laplace mechanism in differential privacy* (2020), for
the adjacent scope on an interval.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.certificates.checker import checker, checker_noise
from noisewright.claims.figures import ceil_div, numeral
from noisewright.exceptions import ParameterError
from noisewright.guarantees import Scope
from noisewright.mechanisms.numeric.feasible_sets import Feasible, Range
from noisewright.mechanisms.numeric.laplace_distribution import LatticeLaw, feasible_shares
from noisewright.numerics.exact import Exact, as_fraction, positive_fraction
from noisewright.sampling.lattice import Lattice

__all__ = [
    "Calibration",
    "LatticeCalibration",
    "RoundingCells",
    "continuous",
    "on_lattice",
    "ranged_proof",
    "root",
    "worst_answer",
]


Places = NDArray[np.int64]

Losses = Callable[[Places, Places, Floats, Floats], Floats]
"""From intervals, lattice points in them, and the ends of their cells to the expected losses of the worse ends."""

PROBES = 257
"""Points that are evaluated in each stretch before the search looks closer."""


@dataclass(frozen=True)
class RoundingCells:
    """First and last cell for each interval of true answers: the lattice points, infinite where the interval is open,
    and how far the lowest and the highest answer are from them, in steps."""

    firsts: Floats
    lasts: Floats
    lowest: Floats
    highest: Floats

    @classmethod
    def of(cls, answers: Feasible, lattice: Lattice, *, clipped: bool) -> RoundingCells:
        """The cells of rounding to the nearest point, ties upwards; ``clipped``: to the nearest one inside the interval."""

        numbers, up, unit = answers.against(lattice)
        points, offsets = [], []
        for place, number in enumerate(numbers):
            outwards = 1 if place % 2 else -1
            if number is None:
                points.append(outwards * math.inf)
                offsets.append(outwards * 0.5)
                continue
            scaled = number << up
            if not clipped:
                point = (2 * scaled + unit) // (2 * unit)
            else:
                point = scaled // unit if outwards > 0 else ceil_div(scaled, unit)
            points.append(point)
            offsets.append((scaled - point * unit) / unit)
        at, away = np.array(points, dtype=np.float64).reshape(-1, 2), np.array(offsets).reshape(-1, 2)
        return cls(at[:, 0], at[:, 1], away[:, 0], away[:, 1])

    def ends(self, k: Places, places: Places) -> tuple[Floats, Floats]:
        """The lowest and the highest answer of each cell, from its point, in steps."""
        low = np.where(places == self.firsts[k], self.lowest[k], -0.5)
        high = np.where(places == self.lasts[k], self.highest[k], 0.5)
        return low, high


def worst_answer(cells: RoundingCells, spread: float, losses: Losses) -> float:
    """The largest loss of any true answer.

    ``spread``: the noise in steps; an end of the set is forgotten 70 spreads away from it, so open ends are followed
    that far. Losses vary smoothly from one point to the next except at the ends of an interval, so the search looks at
    all ends, at evenly spread places next to them and in between, and then closer and closer around the worst.
    """
    far = np.ceil(70 * spread) + 2
    first = np.where(np.isinf(cells.firsts), np.where(np.isinf(cells.lasts), 0.0, cells.lasts - far), cells.firsts)
    last = np.where(np.isinf(cells.lasts), np.where(np.isinf(cells.firsts), 0.0, cells.firsts + far), cells.lasts)
    length, beside = last - first, np.minimum(last - first, far)
    ways = np.linspace(0, 1, max(3, min(PROBES, 100_000 // first.size)))[None, :]
    stretches = (first[:, None] + length[:, None] * ways, first[:, None] + beside[:, None] * ways,
                 last[:, None] - beside[:, None] * ways)  # fmt: skip
    places = np.sort(np.rint(np.concatenate(stretches, axis=1)).clip(first[:, None], last[:, None])).astype(np.int64)
    which = np.broadcast_to(np.arange(first.size)[:, None], places.shape)
    found = 0.0
    while True:
        at, rank = places.reshape(-1), which.reshape(-1)
        values = losses(rank, at, *cells.ends(rank, at))
        k, spot = (int(v) for v in np.unravel_index(int(np.argmax(values)), places.shape))
        found = max(found, float(values.max()))
        row = places[k]
        low, high = int(row[row < row[spot]].max(initial=row[spot])), int(row[row > row[spot]].min(initial=row[spot]))
        if high - low <= 2:
            return found
        places = np.unique(np.rint(np.linspace(low, high, PROBES)).astype(np.int64))[None, :]
        which = np.full(places.shape, which[k, spot])


# Roots --------------------------------------------------------------------------------------------------------------------
#
# The root of a continuous function between two places where its signs differ, by Chandrupatla's method.


def root(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float = 0.0,
    rtol: float = 2 * sys.float_info.epsilon,
) -> float:
    """Return where ``function`` changes its sign between ``low`` and ``high``, to within ``xtol + rtol * |root|``."""
    # The bracket is x1..x2, x1 the newest point, and x3 the one that was left out last.
    x1, f1, x2, f2 = float(low), float(function(low)), float(high), float(function(high))
    if f1 == 0 or f2 == 0:
        return x1 if f1 == 0 else x2
    if (f1 > 0) == (f2 > 0) or math.isnan(f1) or math.isnan(f2):
        raise ParameterError("a root needs two ends at which the function has different signs.")
    share = 0.5
    while True:
        x = x1 + share * (x2 - x1)
        f = float(function(x))
        if (f > 0) == (f1 > 0):
            x3, f3, x1, f1 = x1, f1, x, f
        else:
            x3, f3, x2, f2, x1, f1 = x2, f2, x1, f1, x, f
        best, value = (x1, f1) if abs(f1) < abs(f2) else (x2, f2)
        near = (2 * rtol * abs(best) + xtol) / abs(x2 - x1)
        if near > 0.5 or value == 0:
            return best
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        share = 0.5
        if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
            share = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        share = min(1 - near, max(near, share))


# Calibrate ----------------------------------------------------------------------------------------------------------------
#
# The smallest scale of truncated Laplace noise that keeps a guarantee, and why it is that one.


PRECISION = 320
"""Bits of the integers in a proof; the slack that a calibration leaves is far above their rounding."""


LARGEST_SCALE = Fraction(2) ** 900
"""Scales beyond this or below its inverse are refused, so that floats can hold their squares with a wide margin."""


@dataclass(frozen=True)
class Calibration:
    """A scale for real numbers, rounded up, and the reason for it."""

    scale: float
    reason: str


@dataclass(frozen=True)
class LatticeCalibration:
    """The rate of noise for each step of a lattice (``step / scale``), proved sufficient, and the reason for it."""

    rate: Fraction
    reason: str
    reach: int


def continuous(
    feasible: Feasible, *, epsilon: Exact, sensitivity: Exact = 1, scope: Scope = "adjacent", margin: Exact = 0
) -> Calibration:
    """The smallest scale for real numbers, rounded up: to about 12 digits, and to fewer where epsilon is tiny.

    ``margin``: true answers are known to stay that far away from the excluded half lines.
    """
    budget, width = positive_fraction(epsilon, "epsilon"), positive_fraction(sensitivity, "sensitivity")
    inner = feasible.inner(as_fraction(margin, "margin"))
    if not 1 / LARGEST_SCALE < width / budget < LARGEST_SCALE:
        raise ParameterError(
            "sensitivity / epsilon is a number that floats cannot compute with; rescale the column or choose another epsilon."
        )
    unit = float(width / budget)
    if feasible.kind == "none":
        return Calibration(_up(unit), "nothing is excluded: sensitivity / epsilon")
    problem = _Continuous(feasible, inner, width, budget, adjacent=scope == "adjacent")
    if problem.at_a_wall:
        where, which = problem.place(1.0)
        return Calibration(
            _up(2 * unit),
            f"binding at {where}, pairs close to {which}: 2 sensitivity / epsilon whatever else is excluded",
        )
    rate = _largest_rate(lambda r: problem.loss(r)[0], *problem.bracket())
    where, which = problem.place(rate)
    # A scale twice the rounding larger uses at least that much less; and twice the unit is always enough.
    scale = min(unit / rate * (1 + 2 * problem.rounding), 2 * unit)
    return Calibration(_up(scale), f"binding at {where}, {problem.pair_word} {which}")


def on_lattice(
    ranges: Sequence[Range],
    inputs: Sequence[Range],
    *,
    epsilon: Fraction,
    step: Fraction,
    scope: Scope,
    reach: int,
    lattice: Lattice,
) -> LatticeCalibration:
    """The largest rate for each lattice step, proved in integers by the certificate's own checker.

    ``ranges`` are the feasible lattice points and ``inputs`` those that a true answer can be; ``step`` is the length of one
    step in sensitivities, and neighbours are at most ``reach`` steps apart.
    """
    adjacent = scope == "adjacent"
    if tuple(ranges) == ((None, None),):
        rate = epsilon / reach if adjacent else epsilon * step
        return LatticeCalibration(rate, "nothing is excluded: sensitivity / epsilon", reach)
    found = checker_noise.near_pairs(inputs, reach) if adjacent else checker_noise.facing_pairs(inputs)
    pairs = np.array([(k, i, m, j) for (k, i), (m, j) in found], dtype=np.int64).T
    apart = (pairs[3] - pairs[1]).astype(np.float64)
    allowed = np.full(apart.size, float(epsilon)) if adjacent else float(epsilon * step) * apart

    def shares(rate: float) -> Floats:
        law = LatticeLaw(rate, ranges)
        return np.asarray((rate * apart + np.abs(law.log_ratio(*pairs))) / allowed)

    top = float(np.min(allowed / apart))
    best = _largest_rate(lambda r: float(shares(r).max()) - 1, top / 2, top)
    k, i, m, j = (int(v) for v in pairs[:, int(np.argmax(shares(best)))])
    places = tuple(float(p * lattice.step) for p in (i, j))
    reason = f"binding at {_where(ranges, (k, i), (m, j), lattice)}, pair {numeral(places[0])} and {numeral(places[1])}"
    distances = {"shape": "adjacent" if adjacent else "steps", "distance": str(step)}
    for slack in range(45, 15, -3):
        rate = Fraction(best * (1 - 2.0**-slack))
        proof = ranged_proof(rate, ranges, inputs, reach)
        try:
            checker_noise.check_ranged(epsilon, distances, proof)
        except checker.NotProved:
            continue
        return LatticeCalibration(rate, reason, reach)
    raise ParameterError(
        "no scale could be proved for these ranges; the feasible set is too uneven for this lattice, use a finer one."
    )


def ranged_proof(rate: Fraction, ranges: Sequence[Range], inputs: Sequence[Range], reach: int) -> dict[str, Any]:
    """Return the proof of noise inside ranges, for a certificate."""
    return {
        "kind": "ranged",
        "rate": str(rate),
        "ranges": [list(pair) for pair in ranges],
        "inputs": [list(pair) for pair in inputs],
        "reach": reach,
        "precision": PRECISION,
    }


class _Continuous:
    """The loss of real numbers as a function of the rate ``1/scale``, in units of ``epsilon/sensitivity``.

    In those units everything depends on the geometry and, between neighbours, on epsilon alone.
    """

    def __init__(
        self, feasible: Feasible, inner: Feasible, width: Fraction, budget: Fraction, *, adjacent: bool
    ) -> None:
        (ends, over), (answers, under) = feasible.whole, inner.whole
        self.common = math.lcm(over, under, width.denominator)
        self.ends = [None if end is None else end * (self.common // over) for end in ends]
        self.unit = width / budget * self.common
        self.epsilon = float(budget) if adjacent else None
        self.pair_word = "pair" if adjacent else "pairs close to"
        places = [None if end is None else end * (self.common // under) for end in answers]
        known = sorted({end for end in places if end is not None})
        self.at_a_wall = not adjacent and not {self.ends[0], self.ends[-1]}.isdisjoint(known)
        self.pairs = _near(places, known, int(width * self.common)) if adjacent else [(end, end) for end in known]
        self.apart = self._units([there - here for here, there in self.pairs])
        self.gaps = self._units(_lengths(self.ends[1:-1]))
        self.lengths = self._units(_lengths(self.ends))
        self.spots = [self._spots([pair[end] for pair in self.pairs]) for end in (0, 1)]

    @property
    def rounding(self) -> float:
        """Largest float error in the share of its allowance that a pair uses: a few units for each interval."""
        return (32 + 4 * len(self.lengths)) * 2.0**-53 / min(1.0, self.epsilon or 1.0)

    def bracket(self) -> tuple[float, float]:
        """Rates between which the answer lies: the normaliser can at most double the loss."""
        if self.epsilon is None:
            return 0.5, 1.0
        top = self.epsilon / float(self.apart.max())
        return top / 2, top

    def loss(self, rate: float) -> tuple[float, int]:
        """Return how much the worst pair exceeds its allowance, and which pair that is."""
        if self.epsilon is None:
            left, right = self._sides(rate, *self.spots[0])
            found = rate * 2 * np.maximum(left, right) / (left + right) - 1
        else:
            here, there = (np.add(*self._sides(rate, *spots)) for spots in self.spots)
            found = (rate * self.apart + np.abs(np.log(here / there))) / self.epsilon - 1
        worst = int(np.argmax(found))
        return float(found[worst]), worst

    def place(self, rate: float) -> tuple[str, str]:
        """Return where the worst pair is, in words."""
        pair = self.pairs[self.loss(rate)[1]]
        text = " and ".join(_plain(self._number(place)) for place in dict.fromkeys(pair))
        for wall in (self.ends[0], self.ends[-1]):
            if wall is not None and wall in pair:
                return f"the wall at {_plain(self._number(wall))}", text
        return ("two inner answers" if set(pair).isdisjoint(self.ends) else "an end of the feasible set"), text

    def _number(self, place: int) -> float:
        """A place as a float; one beyond all floats, which only an open end has, as an infinity."""
        return place / self.common if abs(place) <= self.common << 1023 else math.copysign(math.inf, place)

    def _units(self, lengths: Sequence[int | None]) -> Floats:
        """Lengths as floats, each rounded once; infinite if unbounded or beyond floats."""
        above, below = self.unit.denominator, self.unit.numerator
        top = below << 1000
        return np.array([math.inf if n is None or n * above > top else n * above / below for n in lengths])

    def _spots(self, places: Sequence[int]) -> tuple[NDArray[np.intp], Floats, Floats]:
        """The interval that each place is in, and how far it is from its two ends."""
        lows, highs = self.ends[::2], self.ends[1::2]
        ranks = _ranks(lows, places)
        left = [None if (low := lows[k]) is None else at - low for k, at in zip(ranks, places, strict=True)]
        right = [None if (high := highs[k]) is None else high - at for k, at in zip(ranks, places, strict=True)]
        return np.array(ranks, dtype=np.intp), self._units(left), self._units(right)

    def _sides(self, rate: float, k: NDArray[np.intp], left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """The feasible mass on the left and on the right of each place, times the rate (A and B of the O(n) recursion)."""
        below = feasible_shares(rate, self.gaps, self.lengths[:-1])[k]
        above = feasible_shares(rate, self.gaps[::-1], self.lengths[:0:-1])[::-1][k]
        return tuple(np.exp(-rate * d) * rest - np.expm1(-rate * d) for d, rest in ((left, below), (right, above)))  # type: ignore[return-value]


def _near(places: Sequence[int | None], known: Sequence[int], reach: int) -> list[tuple[int, int]]:
    """The pairs of neighbours that can be the worst: from each end, and from a reach below each, to the last answer in reach."""
    lows, highs = places[::2], places[1::2]
    starts = sorted({*known, *(end - reach for end in known)})
    found = []
    for start, k, m in zip(starts, _ranks(lows, starts), _ranks(lows, [s + reach for s in starts]), strict=True):
        high, last = (highs[k] if k >= 0 else start - 1), highs[m] if m >= 0 else None
        if high is None or start <= high:
            found.append((start, start + reach if last is None else min(start + reach, last)))
    return found


def _ranks(lows: Sequence[int | None], places: Sequence[int]) -> list[int]:
    """The last interval that begins at or below each place; -1 where none does."""
    closed = [low for low in lows if low is not None]
    return [bisect_right(closed, place) - 1 + len(lows) - len(closed) for place in places]


def _lengths(ends: Sequence[int | None]) -> list[int | None]:
    """Return the lengths from each even end to the odd one after it; None where that does not end."""
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return [None if low is None or high is None else high - low for low, high in pairs]


def _largest_rate(excess: Callable[[float], float], low: float, high: float) -> float:
    """The rate where the excess turns positive, to about 15 digits; at the answer itself nothing is exceeded."""
    if excess(high) <= 0:
        return high
    low *= 1 - 1e-9
    if excess(low) > 0:  # it is on the safe side by theory, and only rounding makes it look unsafe
        return low
    rate = root(excess, low, high)
    step = 2.0**-51
    while excess(rate) > 0:
        rate, step = rate * (1 - step), 2 * step
    return max(rate, low)


def _where(ranges: Sequence[Range], one: tuple[int, int], other: tuple[int, int], lattice: Lattice) -> str:
    for _, place in (one, other):
        if place in (ranges[0][0], ranges[-1][1]):
            return f"the wall at {numeral(float(place * lattice.step))}"
    if any(place in ranges[k] for k, place in (one, other)):
        return "an end of the feasible set"
    return "two inner answers"


def _plain(number: float) -> str:
    return f"{0.0 if abs(number) < 1e-12 else number:.6g}"


def _up(scale: float) -> float:
    """A few units in the last place upwards, more than the arithmetic above can be wrong."""
    return scale * (1 + 1e-13)
