r"""The smallest scale of truncated Laplace noise that keeps a promise, and why it is that one.

A true answer ``mu`` in a feasible set ``X`` is released as ``x`` in ``X`` with density proportional to
``e^(-|x - mu|/scale)``. The normaliser ``Z(mu)`` depends on the secret and so leaks: two answers ``d`` apart are told
apart by up to ``d/scale + |ln Z(mu) - ln Z(mu')|``. The promise is ``epsilon d / sensitivity`` for all pairs (scope
``"metric"``), or ``epsilon`` for pairs at most ``sensitivity`` apart (scope ``"adjacent"``).

:func:`continuous` solves this for real numbers, :func:`on_lattice` for the whole steps of a lattice, which is what is drawn.
Only finitely many pairs matter, O(n) for n intervals:

* *metric*: losses add along a path, so the condition is local. ``Z`` is concave on an interval, hence ``ln Z`` is, and
  its slope is largest at the interval's ends; jumps over a gap never bind for real numbers, and are checked on a lattice;
* *adjacent*: the loss grows with the distance, so a pair is as far apart as allowed or ends at an end of ``X``; where both
  answers move at a fixed distance the ends of the stretch are the worst (a quadratic in ``e^(-mu/scale)`` that is concave or
  monotone).

>>> from noisewright.mechanisms.laws.feasible import Feasible
>>> half_line = Feasible.parse((0, None))
>>> found = continuous(half_line, epsilon=1, sensitivity=1, scope="adjacent")
>>> round(found.scale, 6), found.reason
(1.612605, 'binding at the wall at 0, pair 0 and 1')

References: Holohan, Antonatos, Braghin and Mac Aonghusa, *The bounded Laplace mechanism in differential privacy* (2020), for
the adjacent scope on an interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.certificates.checker import checker, checker_noise
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, positive_fraction
from noisewright.core.guarantee import Scope
from noisewright.mechanisms.laws.feasible import Feasible, Range
from noisewright.mechanisms.laws.lattice import LatticeLaw, feasible_shares
from noisewright.mechanisms.laws.roots import root
from noisewright.noise.lattice import Lattice

__all__ = ["Calibration", "LatticeCalibration", "continuous", "on_lattice", "ranged_proof"]


PRECISION = 320
"""Bits of the integers in a proof; the slack that a calibration leaves is far above their rounding."""


LARGEST_SCALE = Fraction(2) ** 900
"""Scales beyond this or below its inverse are refused, so that floats can hold their squares with room to spare."""

FARTHEST = 1 << 52
"""Ends this many scales away from zero or farther are refused: floats would not tell them from their neighbours."""


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
    """The smallest scale for real numbers, to about 12 digits and rounded up.

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
    # In units of sensitivity / epsilon everything depends on the geometry (and, between neighbours, on epsilon) alone.
    ends = _units(feasible, width / budget)
    problem = _Continuous(ends, _units(inner, width / budget), float(budget) if scope == "adjacent" else None)
    if scope == "metric" and problem.at_a_wall:
        where, which = problem.place(1.0, unit)
        return Calibration(
            _up(2 * unit),
            f"binding at {where}, pairs close to {which}: 2 sensitivity / epsilon whatever else is excluded",
        )
    rate = _largest_rate(lambda r: problem.loss(r)[0], *problem.bracket())
    where, which = problem.place(rate, unit)
    return Calibration(_up(unit / rate), f"binding at {where}, {problem.pair_word} {which}")


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
    reason = f"binding at {_where(ranges, (k, i), (m, j), lattice)}, pair {places[0]:g} and {places[1]:g}"
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
    """What a certificate says about noise inside ranges."""
    return {
        "kind": "ranged",
        "rate": str(rate),
        "ranges": [list(pair) for pair in ranges],
        "inputs": [list(pair) for pair in inputs],
        "reach": reach,
        "precision": PRECISION,
    }


class _Continuous:
    """The loss of real numbers as a function of the rate ``1/scale``, in units of ``epsilon/sensitivity``."""

    def __init__(
        self, ends: list[tuple[float, float]], inner: list[tuple[float, float]], epsilon: float | None
    ) -> None:
        self.ends, self.inner, self.epsilon = np.array(ends), np.array(inner), epsilon
        known = np.array(sorted({e for pair in inner for e in pair if math.isfinite(e)}))
        walls = [self.ends[0, 0], self.ends[-1, 1]]
        self.at_a_wall = epsilon is None and any(e in known for e in walls if math.isfinite(e))
        self.pair_word = "pairs close to" if epsilon is None else "pair"
        if epsilon is None:
            self.first = self.second = known
        else:
            # Neighbours are at most epsilon units apart. Each start has one partner: the last feasible point within reach.
            starts = np.unique(np.concatenate([known, known - epsilon]))
            k = np.searchsorted(self.inner[:, 0], starts, side="right") - 1
            starts = starts[(k >= 0) & (starts <= self.inner[np.maximum(k, 0), 1])]
            m = np.searchsorted(self.inner[:, 0], starts + epsilon, side="right") - 1
            partner = np.minimum(starts + epsilon, self.inner[m, 1])
            self.first, self.second = starts[partner > starts], partner[partner > starts]
            if not self.first.size:
                raise ParameterError(
                    "the feasible set is too far away from zero for its size, so that floats cannot tell neighbours apart; "
                    "shift the column."
                )
        self._ranks = [np.searchsorted(self.ends[:, 0], at, side="right") - 1 for at in (self.first, self.second)]

    def bracket(self) -> tuple[float, float]:
        """Rates between which the answer lies: the normaliser can at most double the loss."""
        if self.epsilon is None:
            return 0.5, 1.0
        top = self.epsilon / float((self.second - self.first).max())
        return top / 2, top

    def loss(self, rate: float) -> tuple[float, int]:
        """How much the worst pair exceeds its allowance, and which pair that is."""
        if self.epsilon is None:
            left, right = self._sides(rate, self.first, self._ranks[0])
            found = rate * 2 * np.maximum(left, right) / (left + right) - 1
        else:
            here, there = (
                np.add(*self._sides(rate, at, k)) for at, k in zip((self.first, self.second), self._ranks, strict=True)
            )
            found = (rate * (self.second - self.first) + np.abs(np.log(here / there))) / self.epsilon - 1
        worst = int(np.argmax(found))
        return float(found[worst]), worst

    def place(self, rate: float, unit: float) -> tuple[str, str]:
        """Where the worst pair is, in words."""
        _, worst = self.loss(rate)
        here, there = float(self.first[worst]), float(self.second[worst])
        text = f"{_plain(here * unit)}" if here == there else f"{_plain(here * unit)} and {_plain(there * unit)}"
        for wall in (self.ends[0, 0], self.ends[-1, 1]):
            if wall in (here, there):
                return f"the wall at {_plain(wall * unit)}", text
        return "an end of the feasible set" if self._at_end(here, there) else "two inner answers", text

    def _at_end(self, *places: float) -> bool:
        return any(p in self.ends for p in places)

    def _sides(self, rate: float, at: Floats, k: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """The feasible mass on the left and on the right of each place, times the rate (A and B of the O(n) recursion)."""
        lows, highs = self.ends[:, 0], self.ends[:, 1]
        gaps, lengths = lows[1:] - highs[:-1], highs - lows
        below = feasible_shares(rate, gaps, lengths[:-1])[k]
        above = feasible_shares(rate, gaps[::-1], lengths[:0:-1])[::-1][k]
        left, right = -rate * (at - lows[k]), -rate * (highs[k] - at)
        return np.exp(left) * below - np.expm1(left), np.exp(right) * above - np.expm1(right)


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


def _units(feasible: Feasible, unit: Fraction) -> list[tuple[float, float]]:
    ends, common = feasible.whole
    above, below = unit.denominator, unit.numerator * common  # end / unit = number * above / below, rounded once
    if any(end is not None and abs(end) * above >= FARTHEST * below for end in (*ends[:2], *ends[-2:])):
        raise ParameterError(
            "an end of the feasible set is more than 2^52 times sensitivity / epsilon away from zero; shift or rescale the "
            "column."
        )
    return [
        (-math.inf if lo is None else lo * above / below, math.inf if hi is None else hi * above / below)
        for lo, hi in zip(ends[::2], ends[1::2], strict=True)
    ]


def _where(ranges: Sequence[Range], one: tuple[int, int], other: tuple[int, int], lattice: Lattice) -> str:
    for _, place in (one, other):
        if place in (ranges[0][0], ranges[-1][1]):
            return f"the wall at {float(place * lattice.step):g}"
    if any(place in ranges[k] for k, place in (one, other)):
        return "an end of the feasible set"
    return "two inner answers"


def _plain(number: float) -> str:
    return f"{0.0 if abs(number) < 1e-12 else number:.6g}"


def _up(scale: float) -> float:
    """A few units in the last place upwards, more than the arithmetic above can be wrong."""
    return scale * (1 + 1e-13)
