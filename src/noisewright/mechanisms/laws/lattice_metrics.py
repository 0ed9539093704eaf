r"""The distance that a guarantee about rounded numbers or points is about: between the lattice points that they are
rounded to.

A mechanism that rounds its input to the nearest point of a lattice treats two inputs of one cell alike, and two inputs
on either side of a border as if they were a whole step apart, however close they are. A loss of ``epsilon`` per unit
is then guaranteed for

.. math:: d(x, x') = |\,\mathrm{round}(x) - \mathrm{round}(x')\,|,

and the name of the metric says so. On a line that is less than one step away from ``|x - x'|``; for vectors coordinates are
rounded one by one, and the difference is less than a step for each of them (Manhattan) or the length of a cell's diagonal
(Euclidean).

Answers of a set with gaps stay on their side of a gap: where its ends are not lattice points, an answer next to it may
go to the second nearest point, and two answers land up to one step more apart. The metric is then given the set, and
rounds as the mechanism does:

>>> beside = LatticeLine(Lattice(0), Feasible.parse([(0, 4.9), (5.1, 10)]))
>>> beside.distance(4.9, 5.1), LatticeLine(Lattice(0)).distance(4.9, 5.1)
(2.0, 0.0)

>>> near = LatticeLine(Lattice(-2))
>>> str(near)
'line between points of the lattice 2^-2'
>>> near.matrix([0.124, 0.126, 1.0])[0].tolist()
[0.0, 0.25, 1.0]
>>> from noisewright.core.metrics.metric import Manhattan
>>> plane = LatticePoints(Manhattan(), Lattice(-2))
>>> str(plane), plane.distance((0.124, 0.124), (0.126, 0.126))
('manhattan between points of the lattice 2^-2', 0.5)
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.phrases import base_name, metric_name
from noisewright.core.errors import MetricError
from noisewright.core.exact import as_fraction
from noisewright.core.guarantee import Guarantee, Scope
from noisewright.core.metrics.algebra import Scaled
from noisewright.core.metrics.distances import Distances
from noisewright.core.metrics.metric import Euclidean, Line, Manhattan, Metric
from noisewright.mechanisms.laws.feasible import Feasible
from noisewright.noise.lattice import Lattice

__all__ = ["LatticeLine", "LatticePoints", "metric_of", "rounding"]

SQRT2 = Fraction(99, 70)
"""The square root of 2, rounded up: 99^2 = 9801 and 2 * 70^2 = 9800."""


@dataclass(frozen=True)
class LatticeLine(Line):
    """``|round(x) - round(x')|``, rounding to the nearest point of ``lattice``, ties upwards.

    With ``answers`` a point is rounded within the interval of them that it lies in.
    """

    lattice: Lattice
    answers: Feasible | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        return {"base": "line", "lattice": self.lattice.exponent}

    def matrix(self, points: Sequence[Any]) -> NDArray[np.float64]:
        return Line().matrix(self._rounded(points))

    def places(self, points: Sequence[Any]) -> NDArray[np.float64]:
        """The lattice points that the points are rounded to."""
        return Line().places(self._rounded(points))

    def exact(self, points: Sequence[Any]) -> Distances:
        return Line().exact(self._rounded(points))

    @property
    def step(self) -> Fraction | None:
        return self.lattice.step

    def after_rounding(self, distance: Fraction, columns: int) -> Fraction:
        """Rounded up to whole steps, and a step more next to gaps off the lattice."""
        return self.lattice.step * self.steps(distance)

    def steps(self, distance: Fraction) -> int:
        """Return how many steps apart two answers at most ``distance`` apart can land."""
        return self.lattice.steps(distance) + (self.answers is not None and distance > 0)

    def _rounded(self, points: Sequence[Any]) -> list[Fraction]:
        if self.answers is None:
            return [nearest(point, self.lattice) for point in points]
        lows = [low for low, _ in self.answers.components if low is not None][self.answers.low is not None :]
        return [_beside_gaps(as_fraction(point, "a point"), self.lattice, self.answers, lows) for point in points]


@dataclass(frozen=True)
class LatticePoints(Metric):
    """The distance ``inner`` (Euclidean or Manhattan) of vectors once each coordinate is rounded to ``lattice``, ties upwards."""

    inner: Metric
    lattice: Lattice

    @property
    def name(self) -> str:  # type: ignore[override]
        return metric_name(self.record())

    def record(self) -> dict[str, Any]:
        return {**self.inner.record(), "lattice": self.lattice.exponent}

    def matrix(self, points: Sequence[Any]) -> NDArray[np.float64]:
        return self.inner.matrix(self._rounded(points))

    def exact(self, points: Sequence[Any]) -> Distances:
        return self.inner.exact(self._rounded(points))

    @property
    def step(self) -> Fraction | None:
        return self.lattice.step

    def after_rounding(self, distance: Fraction, columns: int) -> Fraction:
        """A cell's diagonal more in the plane; whole steps along coordinates; or a step more for each of them."""
        if isinstance(self.inner, Euclidean) and columns == 2:
            return distance + rounding(self.lattice)
        if isinstance(self.inner, Manhattan):
            return self.lattice.step * (self.lattice.steps(distance) + columns - 1)
        return distance + columns * self.lattice.step  # each coordinate is moved by at most half a step

    @property
    def secret(self) -> Mapping[str, Any] | None:
        return self.inner.secret

    def _rounded(self, points: Sequence[Any]) -> list[tuple[Fraction, ...]]:
        try:
            return [tuple(nearest(coordinate, self.lattice) for coordinate in point) for point in points]
        except TypeError:
            raise MetricError(f"the {self.name} metric needs points that are number vectors of one length.") from None


def rounding(lattice: Lattice) -> Fraction:
    """Return how much farther apart two points of the plane can be once both are rounded to the lattice, rounded up."""
    return SQRT2 * lattice.step


def nearest(number: Any, lattice: Lattice) -> Fraction:
    """The lattice point that a number is rounded to, exactly."""
    return ((as_fraction(number, "a point") / lattice.step + Fraction(1, 2)) // 1) * lattice.step


def _beside_gaps(point: Fraction, lattice: Lattice, answers: Feasible, lows: list[Fraction]) -> Fraction:
    """The nearest lattice point of the interval that the point lies in, or of all where it lies in none.

    ``lows`` are the low ends of the intervals after the first one.
    """
    low, high = answers.components[bisect_right(lows, point)]
    place, step = nearest(point, lattice), lattice.step
    if low is not None and low <= point and place < low:
        return place + step
    return place - step if high is not None and point <= high and place > high else place


def loss_before_rounding(guarantee: Guarantee, distance: float, loss: Callable[[Fraction], float]) -> float:
    """The largest log-ratio for two inputs that are ``distance`` apart themselves, before they are rounded.

    The guarantee is about lattice points, and its ``bound`` takes their distance; ``loss`` is the loss of inputs at
    some positive distance, including rounding.
    """
    plain = guarantee.bound(distance)  # rejects an invalid distance
    return plain if plain in (0, math.inf) else loss(as_fraction(distance))


def metric_of(lattice: Lattice, sensitivity: Fraction, scope: Scope, answers: Feasible | None = None) -> Metric:
    """The metric of a guarantee about rounded numbers, one unit being one ``sensitivity``.

    Between neighbours it is the plain line: numbers at most one sensitivity apart are covered, because the noise is made for
    the most steps that they can land apart. ``answers``: the set whose gaps rounding does not cross, where that matters.
    """
    base: Metric = Line() if scope == "adjacent" else LatticeLine(lattice, answers)
    return base if sensitivity == 1 else Scaled(base, 1 / sensitivity)
