r"""The Earth Mover's distance between two bags of words: the least mean distance over which one is moved to the other.

For bags :math:`\langle x_i^{a_i} \rangle` and :math:`\langle y_j^{b_j} \rangle` it is the minimum of
:math:`\sum_{ij} d(x_i, y_j) F_{ij}` over flows :math:`F \ge 0` with row sums :math:`a_i / |X|` and column sums
:math:`b_j / |Y|`. Between bags of one size N some best flow is a matching (Birkhoff and von Neumann):

.. math:: E(X, Y) = \frac{1}{N} \min_\sigma \sum_i d(x_i, y_{\sigma(i)}).

Therefore ``total``, which is N E, is the cost of the whole matching, and a document whose words are each drawn with
``epsilon`` for each unit of distance loses at most ``epsilon * total`` against another one. It is never multiplied by
N a second time.

Between bags of different sizes the distance is defined, but is not a measure of privacy: a bag and its doubled copy
are at distance 0, and a mechanism that draws word by word distinguishes them by their sizes. ``total`` is None there.

>>> found = earth_movers([[0.0], [10.0]], [[11.0], [0.0]])
>>> found.mean, found.total, found.flow.tolist()
(0.5, 1.0, [[0, 1], [1, 0]])

Reference: Kusner, Sun, Kolkin and Weinberger, "From word embeddings to document distances", ICML 2015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError, MissingPartError
from noisewright.text._threads import single_products

if TYPE_CHECKING:
    from noisewright.text.embeddings.embedding import Embedding

__all__ = ["Transport", "earth_movers", "lower_bound", "vector_distances"]

LARGEST = 1e150
"""Coordinates beyond this have squares that cannot be added up."""


@dataclass(frozen=True, eq=False)
class Transport:
    """Optimal movement of one bag to another."""

    mean: float
    """The Earth Mover's distance."""
    total: float | None
    """The cost of the whole matching, which is the size of the bags times ``mean``; None for bags of different sizes."""
    flow: NDArray[np.int64]
    """Members that are matched, as pairs of their places in the two bags."""
    mass: Floats
    """Share of the whole mass for each pair of ``flow``."""


def earth_movers(first: Any, second: Any, *, embedding: Embedding | None = None) -> Transport:
    """The Earth Mover's distance of two bags, each an array of vectors; with an ``embedding``, each a list of its words.

    Bags of one size are matched by an assignment; others need POT (the extra ``transport``).
    """
    with single_products():  # documents are short
        if embedding is None:
            costs = vector_distances(first, second)
        else:
            costs = embedding.distances(_rows(first, embedding), _rows(second, embedding))
    return moved(costs)


def moved(costs: Floats) -> Transport:
    """The best way to move one bag to another, from the distances between their members."""
    rows, columns = costs.shape
    if rows == columns:
        from scipy.optimize import linear_sum_assignment

        pairs = linear_sum_assignment(costs)
        total = float(costs[pairs].sum())
        return Transport(total / rows, total, np.column_stack(pairs).astype(np.int64), np.full(rows, 1 / rows))
    try:
        import ot
    except ImportError:
        raise MissingPartError(
            "documents of different sizes are compared with POT; install noisewright[transport], or give them one size."
        ) from None
    plan, log = ot.emd(np.full(rows, 1 / rows), np.full(columns, 1 / columns), costs, numItermax=10_000_000, log=True)
    if log.get("warning"):
        raise DataError("the transport problem was not solved to its end; compare shorter documents.")
    flow = np.argwhere(plan)
    return Transport(float(log["cost"]), None, flow.astype(np.int64), plan[flow[:, 0], flow[:, 1]])


def lower_bound(first: ArrayLike, second: ArrayLike) -> float:
    """A number that the Earth Mover's distance of two bags of vectors is not below, without a transport problem.

    The larger of the distance between the mean vectors and the mean distance to the nearest member of the other bag.

    >>> lower_bound([[0.0], [10.0]], [[11.0], [0.0]])
    0.5
    """
    a, b = _vectors(first), _vectors(second)
    costs = vector_distances(a, b)
    nearest = max(costs.min(axis=1).mean(), costs.min(axis=0).mean())
    return float(max(nearest, np.linalg.norm(a.mean(axis=0) - b.mean(axis=0))))


def vector_distances(first: ArrayLike, second: ArrayLike) -> Floats:
    """The Euclidean distances between the members of two bags of vectors, by one matrix product.

    What the product loses is put right where two members nearly coincide: their difference is taken itself.
    """
    a, b = _vectors(first), _vectors(second)
    if a.shape[1] != b.shape[1]:
        raise DataError(f"the vectors of one bag have {a.shape[1]} coordinates, those of the other {b.shape[1]}.")
    x, y = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
    squares = x[:, None] + y[None, :]
    near = squares * 1e-9
    squares -= 2 * (a @ b.T)
    rows, columns = np.nonzero(squares <= near)
    squares[rows, columns] = ((a[rows] - b[columns]) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(squares, out=squares))


def _vectors(bag: ArrayLike) -> Floats:
    try:
        found = np.asarray(bag, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("a bag of vectors is an array of numbers, one row for each vector.") from None
    if found.ndim != 2 or not found.size:
        raise DataError("a bag of vectors is an array with a row for each vector, at least one.")
    if not (np.abs(found) <= LARGEST).all():
        raise DataError("the vectors of a bag are finite numbers; take out what is missing first.")
    return found


def _rows(bag: Sequence[str], embedding: Embedding) -> NDArray[np.int64]:
    if isinstance(bag, str) or not len(bag):
        raise DataError("a bag of words is a list of words, at least one.")
    rows = embedding.rows(bag)
    if (rows < 0).any():
        raise DataError(
            f"{int((rows < 0).sum())} of {len(rows)} words are not in the embedding {embedding.name}; take them out first."
        )
    return rows
