"""The nearest codes by Hamming distance, with ties at random: a few lines of NumPy, or faiss where there is more to do.

Noisy codes have integer distances, so ties are everywhere. A library that breaks them by the order of its list favours
those who came first, in every search. Here all codes at the same distance are equally likely to be returned: NumPy
draws among the ties of each query, and faiss is given the codes in a fresh random order for each search.

>>> codes = np.array([[0], [0], [255]], dtype=np.uint8)
>>> rng = np.random.default_rng(0)
>>> both = [int(nearest_codes(codes, codes[:1], 1, rng)[0][0, 0]) for _ in range(200)]
>>> sorted(set(both)), 60 < sum(both) < 140
([0, 1], True)
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import MissingPartError
from noisewright.matching.hashing.codes import Codes

__all__ = ["Approximate", "Found", "faiss", "faiss_is_here", "nearest_codes", "without_own"]

Found = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows of the codes that were found, and in how many bits they differ, nearest first; one row for each query."""

FEW = 16
"""Maximum number of queries for which reordering all codes is not worthwhile."""
SAMPLE = 1 << 16
"""Number of codes that are examined to divide all of them into cells."""


def faiss_is_here() -> bool:
    """Return whether the extra ``matching`` is installed."""
    return find_spec("faiss") is not None


def nearest_codes(
    codes: Codes, queries: Codes, k: int, rng: np.random.Generator, live: NDArray[np.int64] | None = None
) -> Found:
    """The ``k`` nearest codes to each query among the rows ``live`` (all of them without it); exact, with ties at random."""
    rows = np.arange(len(codes)) if live is None else live
    k = min(k, len(rows))
    if len(queries) > FEW and faiss_is_here():
        order = rows[rng.permutation(len(rows))]
        differ, places = faiss().knn_hamming(queries, _taken(codes, order), k)
        return order[places], differ.astype(np.int64)
    words, asked = (_words(part) for part in (codes if live is None else _taken(codes, rows), queries))
    found = [_nearest(words, one, k, rng) for one in asked]
    places, differ = (np.array([pair[i] for pair in found], dtype=np.int64).reshape(len(queries), k) for i in (0, 1))
    return rows[places], differ


def without_own(found: Found, own: NDArray[np.int64]) -> Found:
    """The same without everyone's own row, so one fewer; if ties exclude it, the last one goes."""
    rows, differ = found
    others = rows != own[:, None]
    others[others.all(axis=1), -1] = False
    shape = (len(own), rows.shape[1] - 1)
    return rows[others].reshape(shape), differ[others].reshape(shape)


def _nearest(words: NDArray[np.uint64], query: NDArray[np.uint64], k: int, rng: np.random.Generator) -> Found:
    """The nearest codes to one query: all that are nearer than the last to be taken, and a draw among those as far as it."""
    differ = np.zeros(len(words), dtype=np.int32)
    for column, word in enumerate(query):
        differ += np.bitwise_count(words[:, column] ^ word)
    last = int(np.searchsorted(np.cumsum(np.bincount(differ)), k))
    nearer, ties = np.flatnonzero(differ < last), np.flatnonzero(differ == last)
    chosen = np.concatenate([rng.permutation(nearer), rng.choice(ties, k - len(nearer), replace=False)])
    chosen = chosen[np.argsort(differ[chosen], kind="stable")]
    return chosen, differ[chosen].astype(np.int64)


class Approximate:
    """A graph (``hnsw``) or cells (``ivf``) of faiss over codes: faster for millions of them, and not exact.

    Codes go in in random order, and ties among those that were found are put in a fresh random order; but which of many ties
    are found is up to the structure.
    """

    def __init__(self, kind: str, codes: Codes, rng: np.random.Generator) -> None:
        library, width = faiss(), 8 * codes.shape[1]
        self._rows = rng.permutation(len(codes))
        if kind == "hnsw":
            self._index: Any = library.IndexBinaryHNSW(width, 16)
            self._index.hnsw.efConstruction, self._index.hnsw.efSearch = 80, 128
        else:
            cells = max(1, min(int(np.sqrt(len(codes))), len(codes) // 39))
            self._centres = library.IndexBinaryFlat(width)  # faiss does not keep it alive
            self._index = library.IndexBinaryIVF(self._centres, width, cells)
            self._index.nprobe = max(1, cells // 8)
            self._index.cp.min_points_per_centroid = 1
            self._index.train(np.ascontiguousarray(codes[self._rows[:SAMPLE]]))
        self._index.add(_taken(codes, self._rows))

    def add(self, codes: Codes, rows: NDArray[np.int64]) -> None:
        """Codes that came later."""
        self._index.add(np.ascontiguousarray(codes))
        self._rows = np.concatenate([self._rows, rows])

    def search(self, queries: Codes, k: int, live: NDArray[np.bool_], rng: np.random.Generator) -> Found:
        """The nearest ``k`` of those that were found and are ``live``; -1 where fewer were found."""
        fetch = min(len(self._rows), 4 * k + 16)
        while True:
            differ, places = self._index.search(queries, fetch)
            rows = np.where(places >= 0, self._rows[places], -1)
            good = (rows >= 0) & live[rows]
            more = (good.sum(axis=1) < k) & (places >= 0).all(
                axis=1
            )  # where a place is empty, there is no more to be had
            if fetch == len(self._rows) or not more.any():
                break
            fetch = min(len(self._rows), 2 * fetch)
        far = np.where(good, differ + rng.random(differ.shape), np.inf)
        order = np.argsort(far, axis=1)[:, :k]
        rows, differ, good = (np.take_along_axis(part, order, axis=1) for part in (rows, differ, good))
        return np.where(good, rows, -1), np.where(good, differ, -1).astype(np.int64)


def faiss() -> Any:
    """The library, or a sentence about its installation."""
    if not faiss_is_here():
        raise MissingPartError("this kind of index needs faiss; install noisewright[matching], or use kind='flat'.")
    import faiss as library

    return library


def _taken(codes: Codes, rows: NDArray[np.int64]) -> Codes:
    """These rows, one behind the other; whole rows are moved at once."""
    whole = np.ascontiguousarray(codes).view(f"V{codes.shape[1]}").ravel()
    return whole[rows].view(np.uint8).reshape(len(rows), codes.shape[1])


def _words(codes: Codes) -> NDArray[np.uint64]:
    """Eight bytes at a time."""
    missing = -codes.shape[1] % 8
    padded = np.pad(codes, ((0, 0), (0, missing))) if missing else np.ascontiguousarray(codes)
    return padded.view(np.uint64)
