"""Distance of an estimate from the truth: Kantorovich (earth mover's) distance and total variation.

The Kantorovich distance of two distributions is the least mean distance over which mass must be moved to turn one into
the other; equivalently the largest difference of means of a 1-Lipschitz function. On a line it is the area between the
two cumulative sums, and is defined for signed estimates too; for the discrete metric it is the total variation; for any
other metric the transport problem is solved by POT (the extra ``transport``).

>>> kantorovich([0.5, 0.5, 0.0], [0.0, 0.5, 0.5])
1.0
>>> kantorovich([1.7, -0.7], [1, 0])
0.7
>>> total_variation([0.5, 0.5, 0.0], [0.0, 0.5, 0.5])
0.5

Randomised response with ``epsilon`` allows a factor of ``e^epsilon`` between *any* two values. A mechanism for a metric
with ``epsilon'`` per unit allows ``e^(epsilon' r)`` at distance ``r``. They guarantee the same within a radius ``r0``
if ``epsilon' = epsilon / r0``. Outside the radius the metric guarantee is weaker, and both numbers must be reported:

>>> print(comparable(epsilon="0.6931", radius=10, diameter=100))
epsilon = 0.06931 per unit: the same factor of 2 within 10, but up to 1024 over the whole range of 100; ...
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright._utils.validation import is_number
from noisewright.claims.figures import float_up, upward
from noisewright.claims.readings import within_and_beyond
from noisewright.exceptions import DataError, MissingPartError, ParameterError
from noisewright.metrics.base import Discrete, Line, Metric, as_labels, as_metric
from noisewright.numerics.exact import Exact, positive_fraction

__all__ = ["Comparable", "comparable", "kantorovich", "total_variation"]


MASS = 1e-9
"""Masses may differ by this much."""

LARGEST_MASS = 1e15
"""Sums of masses beyond this would lose the compared differences."""

LARGEST_PROBLEM = 5000
"""Points between which mass is moved, at most, for a metric that needs a transport problem."""


def kantorovich(
    first: ArrayLike, second: ArrayLike, points: Sequence[Hashable] | None = None, metric: Metric | None = None
) -> float:
    """The Kantorovich distance of two distributions over the same ``points`` (default ``0, 1, 2, ...`` on a line).

    ``metric`` defaults to the line where all points are numbers, and to the discrete metric otherwise.
    """
    a, b = _masses(first, second)
    names: Sequence[Hashable] = range(len(a)) if points is None else _points(points)
    if len(names) != len(a):
        raise ParameterError(f"there are {len(names)} points for {len(a)} masses.")
    if len(set(names)) < len(names):
        raise ParameterError("some points are given more than once; add up their masses first.")
    measure = as_metric(metric, Line() if _on_a_line(names) else Discrete())
    if isinstance(measure, Line):
        places = measure.places(names)
        order = np.argsort(places, kind="stable")
        return float(np.abs(np.cumsum((a - b)[order])[:-1]) @ np.diff(places[order]))
    if isinstance(measure, Discrete):
        return total_variation(a, b)
    return _transport(a, b, names, measure)


def total_variation(first: ArrayLike, second: ArrayLike) -> float:
    """Half of the L1 distance: the largest difference in the probability of an event."""
    a, b = _masses(first, second)
    return float(np.abs(a - b).sum() / 2)


def _transport(a: Floats, b: Floats, points: Sequence[Hashable], metric: Metric) -> float:
    if min(a.min(), b.min()) < 0:
        raise DataError("mass that is moved must not be negative; project a signed estimate first.")
    # Mass that both have at a point stays there: by the triangle inequality moving it gains nothing.
    source, target = np.flatnonzero(a > b), np.flatnonzero(b > a)
    if not len(source) or not len(target):
        return 0.0
    if len(source) + len(target) > LARGEST_PROBLEM:
        raise ParameterError(
            f"a transport problem is solved for {LARGEST_PROBLEM} points at most; merge points, or use a line."
        )
    try:
        import ot
    except ImportError:
        raise MissingPartError(
            "the Kantorovich distance for this metric needs POT; install noisewright[transport]."
        ) from None
    moved = np.concatenate([source, target])
    distances = metric.matrix([points[i] for i in moved])[: len(source), len(source) :]
    if not np.isfinite(distances).all():
        raise ParameterError("the Kantorovich distance needs finite distances.")
    out, into = (a - b)[source], (b - a)[target]
    mass = float(out.sum())
    cost, log = ot.emd2(out / mass, into / into.sum(), distances, numItermax=10_000_000, log=True)
    if log.get("warning"):
        raise ParameterError("the transport problem was not solved to its end; use fewer points.")
    return float(cost) * mass


def _masses(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    try:
        a, b = (np.asarray(v, dtype=np.float64) for v in (first, second))
    except (TypeError, ValueError, OverflowError):
        raise DataError("masses must be finite numbers.") from None
    if a.ndim != 1 or a.shape != b.shape or not a.size:
        raise ParameterError("two distributions are compared as two lists of one length.")
    if not np.isfinite([a, b]).all() or np.abs([a, b]).max() > LARGEST_MASS:
        raise DataError("masses must be finite numbers, and small enough to be added up.")
    if not math.isclose(float(a.sum()), float(b.sum()), rel_tol=0, abs_tol=MASS):
        raise DataError("the two masses differ, so one cannot be moved to the other; normalise both first.")
    return a, b


def _points(points: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Points as labels; rows of a matrix and lists are vectors."""
    if not isinstance(points, Iterable):
        raise ParameterError("points are a list, one point for each mass.")
    vectors = (np.ndarray, list)
    return as_labels([tuple(p) if isinstance(p, vectors) and np.ndim(p) else p for p in points], "points")


def _on_a_line(points: Sequence[Hashable]) -> bool:
    if isinstance(points, range):
        return True
    return all(is_number(x) for x in points)


# Calibration --------------------------------------------------------------------------------------------------------------
#
# Making guarantees for different metrics comparable, within a radius.


@dataclass(frozen=True)
class Comparable:
    """Two guarantees that agree within a radius."""

    epsilon: Fraction
    radius: Fraction
    diameter: Fraction
    """The largest distance between two secrets."""

    @property
    def per_unit(self) -> Fraction:
        """The epsilon per unit of distance, exactly."""
        return self.epsilon / self.radius

    @property
    def everywhere(self) -> Fraction:
        """The epsilon per unit that would keep the guarantee over the whole range."""
        return self.epsilon / self.diameter

    @property
    def factor(self) -> float:
        """The largest factor between two secrets within the radius, rounded up."""
        return _exp_up(self.epsilon)

    @property
    def worst_factor(self) -> float:
        """The largest factor between any two secrets, rounded up."""
        return _exp_up(self.per_unit * self.diameter)

    def __str__(self) -> str:
        near, far = _plain(self.radius), _plain(self.diameter)
        return within_and_beyond(self.per_unit, self.factor, near, self.worst_factor, far, self.everywhere)


def comparable(*, epsilon: Exact, radius: Exact, diameter: Exact) -> Comparable:
    """The epsilon per unit of distance that guarantees within ``radius`` what ``epsilon`` guarantees between any two
    values.
    """
    found = Comparable(
        positive_fraction(epsilon, "epsilon"),
        positive_fraction(radius, "radius"),
        positive_fraction(diameter, "diameter"),
    )
    if found.radius > found.diameter:
        raise ParameterError("the radius is larger than the range of the secrets; choose one within it.")
    return found


def _exp_up(exponent: Fraction) -> float:
    value = float_up(exponent)
    return math.inf if value > 709 else math.nextafter(math.exp(value), math.inf)


def _plain(value: Fraction) -> str:
    whole = value.denominator == 1 and value < 10**15
    return str(value) if whole else upward(value)
