r"""Integer privacy: the smallest private majorant of integer weights, and the exact check of an integer table.

For secrets at exact distances ``d`` and a budget ``epsilon`` let ``b(x, x')`` be an integer with
``b / 2**bits <= e^(epsilon d(x, x'))``. A table of integers is *private* when ``T[x,y] 2**bits <= b(x,x') T[x',y]`` for all
pairs and outputs: then it is private for the real ``e^(epsilon d)`` too. Everything here is integer arithmetic on arrays of
Python integers; no comparison has a tolerance.

The smallest private table above given weights is ``max_x' W[x',y] / b(x,x')``. On a line two sweeps compute it, for one
distance between all pairs a column maximum does; only a general table takes every pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from noisewright.core.arrays import Integers
from noisewright.core.exact import exp_bounds
from noisewright.core.metrics.distances import Distances, LineDistances, UniformDistances

__all__ = ["Breach", "Envelope", "Integers"]


Breach = tuple[int, int, int]
"""Rows ``x`` and ``x'`` and a column ``y`` with ``T[x,y] > e^(epsilon d) T[x',y]``."""


class Envelope:
    """Lower bounds of the allowed factors ``e^(epsilon d)`` at a given precision."""

    def __init__(self, distances: Distances, epsilon: Fraction, bits: int) -> None:
        self.distances, self.epsilon, self.bits = distances, epsilon, bits
        self._pairs: list[tuple[int, int, int]] | None = None
        self._factors: dict[Fraction, int] = {}

    def factor(self, distance: Fraction) -> int:
        """The largest factor that is allowed at a distance, rounded down, over ``2**bits``."""
        known = self._factors.get(distance)
        if known is None:
            known = self._factors[distance] = self._factor(distance)
        return known

    def _factor(self, distance: Fraction) -> int:
        # No entry of a table exceeds another by more than 2**width, so beyond that a larger factor proves nothing more.
        return exp_bounds(min(self.epsilon * distance, Fraction(self.bits)), self.bits)[0]

    def shrink(self, distance: Fraction) -> int:
        """The inverse of :meth:`factor`, over ``2**bits``."""
        return (1 << (2 * self.bits)) // self.factor(distance)

    def majorant(self, weights: Integers) -> Integers:
        """The smallest private table above ``weights`` (up to one unit, because divisions are rounded down)."""
        if isinstance(self.distances, LineDistances):
            return self._swept(weights)
        if isinstance(self.distances, UniformDistances):
            floor = (weights.max(axis=0) * self.shrink(self.distances.distance)) >> self.bits
            return np.asarray(np.maximum(weights, floor))
        result, changed = weights, True
        # One pass is enough for a metric; distances that break the triangle inequality by a rounding error need more.
        while changed:
            raised = self._raised(result)
            changed = bool(((raised - result) > (raised >> (self.bits // 2))).any())
            result = raised
        return result

    def violation(self, table: Integers) -> Breach | None:
        """The first place where the table is not private, or None: the proof that it is, in integers."""
        if isinstance(self.distances, UniformDistances):
            allowed = table.min(axis=0) * self.factor(self.distances.distance)
            broken = np.flatnonzero((table.max(axis=0) << self.bits) > allowed)
            if not len(broken):
                return None
            column = int(broken[0])
            return int(table[:, column].argmax()), int(table[:, column].argmin()), column
        for i, j, factor in self.pairs():
            for x, other in ((i, j), (j, i)):
                broken = np.flatnonzero((table[x] << self.bits) > table[other] * factor)
                if len(broken):
                    return x, other, int(broken[0])
        return None

    def growth(self, values: list[int]) -> int:
        """The smallest amount that, added to all of ``values``, makes each at most the allowed factor times any other."""
        one = 1 << self.bits
        needed = 0
        if isinstance(self.distances, UniformDistances):
            low, high = min(values), max(values)
            candidates = [(high, low, self.factor(self.distances.distance))] if self.distances.size > 1 else []
        else:
            candidates = [(max(values[i], values[j]), min(values[i], values[j]), f) for i, j, f in self.pairs()]
        for high, low, factor in candidates:
            if high > low:
                needed = max(needed, -(-(high * one - low * factor) // (factor - one)))
        return needed

    def smallest_factor(self) -> int:
        """The smallest factor among pairs at a distance above zero, or twice one if there is no such pair."""
        if isinstance(self.distances, UniformDistances):
            return self.factor(self.distances.distance)
        smallest = min((d for _, _, d in self.distances.pairs() if d > 0), default=None)
        return 2 << self.bits if smallest is None else self.factor(smallest)

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """Pairs that together imply all others, each with its factor."""
        if self._pairs is None:
            self._pairs = [(i, j, self.factor(d)) for i, j, d in self.distances.pairs()]
        return iter(self._pairs)

    def _swept(self, weights: Integers) -> Integers:
        result = weights.copy()
        steps = [(i, j, self.shrink(d)) for i, j, d in self.distances.pairs()]
        for left, right, shrink in steps:
            result[right] = np.maximum(result[right], (result[left] * shrink) >> self.bits)
        for left, right, shrink in reversed(steps):
            result[left] = np.maximum(result[left], (result[right] * shrink) >> self.bits)
        return result

    def _raised(self, weights: Integers) -> Integers:
        """One pass over all pairs. Floats only choose which entries are worth computing; the computed entries are
        exact.
        """
        size = len(weights)
        given = [[self.distances.between(x, z) for z in range(size)] for x in range(size)]
        apart = np.array([[math.inf if d is None else float(d) for d in row] for row in given])
        logs = np.array([[math.log(v) if v else -math.inf for v in row] for row in weights.tolist()])
        with np.errstate(over="ignore"):
            losses = float(self.epsilon) * apart
        result = weights.copy()
        for x in range(size):
            shrinks = np.array([0 if d is None else self.shrink(d) for d in given[x]], dtype=object)
            with np.errstate(invalid="ignore"):
                # Entries more than a millionth below their bound cannot rise: logarithms are far more accurate.
                z, y = np.nonzero(logs - losses[x][:, None] > logs[x] - 1e-6)
            np.maximum.at(result[x], y, (weights[z, y] * shrinks[z]) >> self.bits)
        return result
