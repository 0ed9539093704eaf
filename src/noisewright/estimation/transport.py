r"""Distance of an estimate from the truth: Kantorovich (earth mover's) distance and total variation.

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
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import DataError, MissingPartError, ParameterError
from noisewright.core.labels import as_labels
from noisewright.core.metrics.metric import Discrete, Line, Metric, as_metric

__all__ = ["kantorovich", "total_variation"]


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
