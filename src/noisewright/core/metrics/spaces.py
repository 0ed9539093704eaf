r"""Reasoning about finite metric spaces: closures, essential pairs, and the effect of a query on distances.

The metric that a query ``f`` induces on its answers gives the distance of two answers as the shortest chain of secrets
between them. A mechanism on the answers is private for it **iff** asking ``f`` and then running the mechanism is private
for the metric on the secrets.

>>> from noisewright.core.metrics.metric import Hamming
>>> bits = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
>>> induced = induced_metric(sum, bits, Hamming())
>>> induced.matrix([0, 1, 2, 3])[0].tolist()
[0.0, 1.0, 2.0, 3.0]
>>> sensitivity(sum, bits, Hamming(), Line())
1.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.choices import is_number
from noisewright.core.errors import MetricError
from noisewright.core.labels import as_labels
from noisewright.core.metrics._axioms import square_matrix
from noisewright.core.metrics._points import Point
from noisewright.core.metrics.metric import Line, Metric, Table, as_metric

__all__ = ["closure", "essential_pairs", "induced_metric", "sensitivity"]


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
