"""Reasoning about finite metric spaces: closures, essential pairs, and the effect of a query on distances.

The metric that a query ``f`` induces on its answers gives the distance of two answers as the shortest chain of secrets
between them. A mechanism on the answers is private for it **iff** asking ``f`` and then running the mechanism is private
for the metric on the secrets.

>>> from noisewright.metrics.base import Hamming
>>> bits = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
>>> induced = induced_metric(sum, bits, Hamming())
>>> induced.matrix([0, 1, 2, 3])[0].tolist()
[0.0, 1.0, 2.0, 3.0]
>>> sensitivity(sum, bits, Hamming(), Line())
1.0

The records lie in ``[low, high]`` and their number is public. One of them may be another (``"replace"``), or one may be
there that is not in the other table (``"add"``, where ``size`` is the size of the smaller table). With
``w = high - low``:

================================  =======================  =======================
statistic                         replace, of ``n``        add, to ``n``
================================  =======================  =======================
mean                              ``w / n``                ``w / (n + 1)``
standard deviation                ``w sqrt(n - 1) / n``    ``w sqrt(n) / (n + 1)``
standard deviation, ``ddof=1``    ``w / sqrt(n)``          ``w / sqrt(n + 1)``
================================  =======================  =======================

All of these are attained, by records that are all at one end and one at the other. No two tables are farther apart. A
deviation
is the length of the centred records over ``sqrt(n - ddof)``, so replacing one record moves it by no more than a centred unit
vector is long; and a record ``d`` from the mean of ``n`` with deviation ``s`` makes that
``sqrt(n s^2 / (n + 1) + n d^2 / (n + 1)^2)``, which is farthest from ``s`` at ``s = 0``.

>>> mean_sensitivity(0, 120, size=60), mean_sensitivity(0, 120, size=59, neighbours="add")
(Fraction(2, 1), Fraction(2, 1))
>>> deviation_sensitivity(0, 120, size=5), deviation_sensitivity(0, 1, size=4, neighbours="add")
(Fraction(48, 1), Fraction(2, 5))
>>> float(deviation_sensitivity(0, 1, size=50, ddof=1))
0.1414213562373095...

A noisy mean or deviation follows: ``nw.laplace(epsilon=1, sensitivity=mean_sensitivity(0, 120, size=60))``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from noisewright._utils.validation import is_number, is_whole, one_of
from noisewright.claims.figures import ceil_div
from noisewright.exceptions import MetricError, ParameterError
from noisewright.metrics.base import Line, Metric, Table, as_labels, as_metric
from noisewright.metrics.distances import Point, square_matrix
from noisewright.numerics.exact import Exact, as_fraction

__all__ = ["closure", "deviation_sensitivity", "essential_pairs", "induced_metric", "mean_sensitivity", "sensitivity"]


def closure(weights: ArrayLike, points: Sequence[Point] = ()) -> Table:
    """The largest metric below the given symmetric weights: all shortest paths (Floyd and Warshall).

    ``inf`` stands for "no edge"; a weight of 0 between different points is kept as distance 0.
    """
    distances = square_matrix(weights, "closure", "weights")
    if np.isnan(distances).any() or (distances < 0).any():
        raise MetricError(
            "closure needs weights that are 0 or more (inf for no edge); one is negative or not a number."
        )
    np.fill_diagonal(distances, 0.0)
    for k in range(len(distances)):
        with np.errstate(over="ignore"):
            np.minimum(distances, distances[:, k, None] + distances[None, k, :], out=distances)
    return Table(distances, as_labels(points, "the points of closure", MetricError), name="shortest path")


def essential_pairs(metric: Metric, points: Sequence[Point], tolerance: float = 1e-12) -> list[tuple[int, int]]:
    """The pairs whose distance is not the sum of two shorter ones; privacy for these implies it for all pairs.

    ``tolerance`` is relative. Pairs at distance 0 or infinity are never dropped by it: a pair at infinite distance does
    not constrain and is left out, a pair at distance 0 is always kept.
    """
    if not is_number(tolerance) or not 0 <= tolerance < 1:
        raise MetricError("the tolerance of essential pairs must be a number from 0 to below 1.")
    distances = as_metric(metric).matrix(points)
    n = len(distances)
    needed = np.isfinite(distances) & ~np.eye(n, dtype=bool)
    positive = np.where(distances > 0, distances, np.inf)
    for k in range(n):
        first, second = positive[:, k, None], positive[None, k, :]
        # Both legs must be strictly shorter, or two pairs could each be dropped in favour of the other.
        needed &= ~((first + second <= distances * (1 + tolerance)) & (first < distances) & (second < distances))
    return [(int(i), int(j)) for i, j in np.argwhere(np.triu(needed, 1))]


def sensitivity(
    query: Callable[[Point], Point], secrets: Sequence[Point], metric: Metric, output_metric: Metric | None = None
) -> float:
    """Return the smallest ``c`` with ``d_out(f(x), f(x')) <= c d(x, x')`` for all pairs; ``inf`` if no finite ``c``
    exists.
    """
    outer = as_metric(output_metric, Line()).matrix([query(x) for x in secrets])
    inner = as_metric(metric).matrix(secrets)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(outer == 0, 0.0, np.where(np.isinf(inner), 0.0, outer / inner))
    largest = float(ratio.max(initial=0.0))
    if math.isinf(largest):
        return largest
    finite = np.isfinite(inner)
    if (outer[finite] > largest * inner[finite]).any():  # the quotient was rounded down
        largest = math.nextafter(largest, math.inf)
    return largest


def induced_metric(query: Callable[[Point], Point], secrets: Sequence[Point], metric: Metric) -> Table:
    """The graph-induced metric on the answers of ``query``, over exactly the answers that occur."""
    answers = as_labels([query(x) for x in secrets], "the answers of a query", MetricError)
    labels = list(dict.fromkeys(answers))
    position = {label: i for i, label in enumerate(labels)}
    index = np.array([position[a] for a in answers])
    weights = np.full((len(labels), len(labels)), np.inf)
    np.minimum.at(weights, (index[:, None], index[None, :]), as_metric(metric).matrix(secrets))
    induced = closure(weights, labels)
    return Table(induced.distances, induced.points, name=f"induced({metric})")


# Sensitivities ------------------------------------------------------------------------------------------------------------
#
# Sensitivity of the mean and the standard deviation of numbers in a public range to one record.


Change = Literal["replace", "add"]

ROOT_BITS = 64
"""A root that is not a fraction is rounded up by less than one part in two to this power."""


def mean_sensitivity(low: Exact, high: Exact, *, size: int, neighbours: Change = "replace") -> Fraction:
    """The most that one record can change the mean of ``size`` numbers in ``[low, high]``, exactly."""
    return _width(low, high) / _larger(size, neighbours)


def deviation_sensitivity(
    low: Exact, high: Exact, *, size: int, neighbours: Change = "replace", ddof: Literal[0, 1] = 0
) -> Fraction:
    """The most that one record can change the standard deviation, exact where the root is, else rounded up.

    ``ddof`` as in NumPy: 0 divides by the number of records, 1 by one less, which is the default of pandas. One record
    alone has no deviation with ``ddof=1``, so it is refused.
    """
    width, larger = _width(low, high), _larger(size, neighbours)
    if isinstance(ddof, bool) or ddof not in (0, 1):
        raise ParameterError("ddof must be 0 (divide by the number of records) or 1 (by one less).")
    if ddof and size < 2:
        raise ParameterError("size must be 2 or more with ddof=1: one record has no such deviation.")
    return width * _root_up(Fraction(1, larger) if ddof else Fraction(larger - 1, larger**2))


def _width(low: Exact, high: Exact) -> Fraction:
    width = as_fraction(high, "high") - as_fraction(low, "low")
    if width <= 0:
        raise ParameterError("low must be below high: they are the public range of the records.")
    return width


def _larger(size: int, neighbours: str) -> int:
    """The number of records in the larger of two neighbouring tables."""
    one_of(neighbours, "neighbours", ("replace", "add"))
    if not is_whole(size) or size < 1:
        raise ParameterError("size must be a whole number of records, 1 or more.")
    return int(size) + (neighbours == "add")


def _root_up(square: Fraction) -> Fraction:
    """The root where it is a fraction, else the least one above it over a power of two."""
    top, below = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and below * below == square.denominator:
        return Fraction(top, below)
    bits = ROOT_BITS + square.denominator.bit_length()
    return Fraction(math.isqrt(ceil_div(square.numerator << 2 * bits, square.denominator) - 1) + 1, 1 << bits)
