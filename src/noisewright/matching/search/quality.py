r"""Quality of returned neighbours, for anyone who has the true profiles: recall, and the distance that is lost.

*Recall at k* is the share of the k nearest that was returned; a neighbour that is as near as the k-th counts, anyone
who it is. The *utility loss* is how much further away, on average, the returned ones are than the nearest (in units of
the distance, from 0 to 1):

.. math:: U = \frac{1}{k} \sum_{x \in \text{returned}} d(x_0, x) - \frac{1}{k} \sum_{x \in \text{nearest}} d(x_0, x) \ge 0 .

It is more informative than recall where many are about equally near.

>>> profiles = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
>>> found = search_quality(profiles, np.array([[1], [0], [3], [0]]))
>>> found.recall, round(found.loss, 3), round(found.random_recall, 3)
(0.75, 0.109, 0.333)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError

__all__ = ["AS_NEAR", "Quality", "all_distances", "members", "search_quality", "unit_rows"]

TOGETHER = 1 << 23
"""Distances that are held at once."""
AS_NEAR = 1e-9
"""Distances that differ by less are equal except for rounding."""


@dataclass(frozen=True)
class Quality:
    """Quality of a search, on average over the queries; the last two are for neighbours drawn at random."""

    recall: float
    loss: float
    nearest: float
    """The mean distance of the true neighbours."""
    random_recall: float
    random_loss: float


def search_quality(
    profiles: Any,
    returned: NDArray[np.int64],
    queries: NDArray[np.int64] | None = None,
    *,
    family: str = "projection",
) -> Quality:
    """Return the quality of the ``returned`` rows as neighbours of the rows ``queries`` (all of them without it).

    Distances are those that the ``family`` of hashes is made for: angles, unless another one is named.
    """
    k = returned.shape[1]
    asked = np.arange(len(returned)) if queries is None else queries
    sums = np.zeros(5)
    start = 0
    for distances in all_distances(profiles, asked, family):
        rows = np.arange(len(distances))
        distances[rows, asked[start : start + len(rows)]] = np.inf  # no one is an own neighbour
        found = np.take_along_axis(distances, returned[start : start + len(rows)], axis=1)
        nearest = np.partition(distances, k - 1, axis=1)[:, :k]
        distances[rows, asked[start : start + len(rows)]] = 0.0
        others = distances.shape[1] - 1
        within = distances <= nearest.max(axis=1, keepdims=True) + AS_NEAR
        true = nearest.mean(axis=1)
        sums += [
            (found <= nearest.max(axis=1, keepdims=True) + AS_NEAR).mean(axis=1).sum(),
            (found.mean(axis=1) - true).sum(),
            true.sum(),
            ((within.sum(axis=1) - 1) / others).sum(),
            (distances.sum(axis=1) / others - true).sum(),
        ]
        start += len(rows)
    recall, loss, near, random_recall, random_loss = (sums / len(asked)).tolist()
    return Quality(recall, loss, near, random_recall, random_loss)


def all_distances(profiles: Any, queries: NDArray[np.int64], family: str = "projection") -> Iterator[Floats]:
    """The distances, in the distance of the family of hashes, of some profiles to all; in blocks that memory holds."""
    rows = members(profiles) if family in ("minhash", "sampling") else unit_rows(profiles)
    between = {"minhash": _jaccard, "sampling": _alone}.get(family, _angle)
    step = max(1, TOGETHER // rows.shape[0])
    for start in range(0, len(queries), step):
        product = rows[queries[start : start + step]] @ rows.T
        yield between(
            rows, queries[start : start + step], product.toarray() if hasattr(product, "toarray") else product
        )


def _angle(rows: Any, asked: NDArray[np.int64], cosine: Floats) -> Floats:
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)) / np.pi)


def _jaccard(rows: Any, asked: NDArray[np.int64], common: Floats) -> Floats:
    sizes = np.asarray(rows.sum(axis=1)).ravel()
    return np.asarray(1 - common / np.maximum(sizes[asked][:, None] + sizes[None] - common, 1))


def _alone(rows: Any, asked: NDArray[np.int64], common: Floats) -> Floats:
    sizes = np.asarray(rows.sum(axis=1)).ravel()
    return np.asarray((sizes[asked][:, None] + sizes[None] - 2 * common) / rows.shape[1])


def members(profiles: Any) -> Any:
    """Sets as rows of a sparse matrix of ones: collections of items, or the coordinates that are not zero."""
    from scipy.sparse import csr_array

    if hasattr(profiles, "tocsr") or isinstance(profiles, np.ndarray):
        return csr_array(profiles != 0).astype(np.float64)
    known: dict[Any, int] = {}
    columns = [[known.setdefault(item, len(known)) for item in set(items)] for items in profiles]
    ends = np.concatenate([[0], np.cumsum([len(one) for one in columns])])
    flat = np.array([column for one in columns for column in one], dtype=np.int64)
    return csr_array((np.ones(len(flat)), flat, ends), shape=(len(columns), max(1, len(known))))


def unit_rows(profiles: Any) -> Any:
    """Rows of length 1, dense or sparse; a row of zeros has no direction, and is refused."""
    sparse = hasattr(profiles, "tocsr")
    rows: Any = profiles.tocsr().astype(np.float64) if sparse else np.asarray(profiles, dtype=np.float64)
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() if sparse else (rows * rows).sum(axis=1)
    if not np.all(np.isfinite(squares)) or not np.all(squares > 0):
        raise DataError("a profile is all zeros or has a number that is none, and so no direction; leave it out.")
    length = np.sqrt(squares)
    if sparse:
        from scipy.sparse import diags_array

        return (diags_array(1 / length) @ rows).tocsr()
    return rows / length[:, None]
