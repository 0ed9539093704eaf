r"""Distance of two profiles from two noisy codes, without the bias of the flips, with an interval.

A bit of the hash differs between two profiles with a chance :math:`d` that is their distance (the angle over pi, for random
projections). Each side flips its bit with a chance :math:`f`, so exactly one of them does with :math:`c = 2f(1 - f)`, and the
bits that were sent differ with

.. math:: p = c + d (1 - 2c), \qquad 1 - 2c = (1 - 2f)^2 .

Over the public seed and the flips, the number of bits that differ is binomial with this chance, for a pair of profiles
that was fixed before the seed was drawn. Therefore the unbiased estimate is :math:`(h/\kappa - c)/(1 - 2c)`, and
Clopper and Pearson's interval for :math:`p`, which is exact, becomes one for :math:`d` that covers at least as often
as it states.

A neighbour that a search returned was chosen *because* its code looks near. ``among`` is the number of codes it was
chosen from; the error probability is divided by that number (Bonferroni), and the interval then holds for all of them
at once.

>>> found = debiased(40, bits=128, flip=0.1)
>>> round(float(found.distance), 3), round(float(found.low), 3), round(float(found.high), 3)
(0.207, 0.084, 0.344)
>>> float(debiased(40, bits=128, flip=0.1, among=1000).high.round(3))
0.49

Noisy codes have integer distances, so ties are everywhere. A library that breaks them by the order of its list favours
those who came first, in every search. Here all codes at the same distance are equally likely to be returned: NumPy
draws among the ties of each query, and faiss is given the codes in a fresh random order for each search.

>>> codes = np.array([[0], [0], [255]], dtype=np.uint8)
>>> rng = np.random.default_rng(0)
>>> both = [int(nearest_codes(codes, codes[:1], 1, rng)[0][0, 0]) for _ in range(200)]
>>> sorted(set(both)), 60 < sum(both) < 140
([0, 1], True)

An index knows the fingerprint of the scheme whose codes it holds, and takes no others. Three kinds: ``flat`` is exact, looks
at every code, and breaks ties at random; ``hnsw`` and ``ivf`` are faiss's graph and cells for many millions of codes, which
miss some neighbours. The file holds names and codes alone; a graph or cells are made again when they are first needed.

>>> import numpy as np
>>> index = Index("ab" * 32, bits=16)
>>> index.add(["ann", "bob", "eve"], np.array([[0, 0], [1, 0], [255, 255]], dtype=np.uint8))
>>> found = index.search(np.array([[0, 0]], dtype=np.uint8), 2)
>>> found.names.tolist(), found.differ.tolist()
([['ann', 'bob']], [[0, 1]])
>>> index.remove(["ann"])
>>> index.neighbours(["bob"], 1).names.tolist()
[['eve']]
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole
from noisewright.exceptions import DataError, FileFormatError, MissingPartError, ParameterError
from noisewright.matching.hash_functions import Codes, as_codes, code_bytes
from noisewright.matching.scheme import CodeFile, check_names, read_codes, write_codes

__all__ = [
    "Approximate",
    "Debiased",
    "Found",
    "Index",
    "IndexKind",
    "Neighbours",
    "check_flip",
    "debiased",
    "differing",
    "faiss",
    "faiss_is_here",
    "nearest_codes",
    "without_own",
]


@dataclass(frozen=True)
class Debiased:
    """Distances that were estimated from codes, and the ends of their intervals, all from 0 to 1."""

    distance: Floats
    """The estimate, cut to [0, 1]."""
    low: Floats
    high: Floats
    unbiased: Floats
    """The estimate before it was cut: its mean is the distance."""
    confidence: float


def differing(distance: ArrayLike, flip: float, *, one_sided: bool = False) -> Floats:
    """The chance that a bit differs between the codes of two profiles at this distance.

    ``one_sided``: only one of the two codes is noisy, as when someone compares an own profile with the codes of
    others.

    >>> [float(p.round(4)) for p in differing([0, 0.25, 1], 0.1)]
    [0.18, 0.34, 0.82]
    """
    apart = np.asarray(distance, dtype=np.float64)
    if not np.all((apart >= 0) & (apart <= 1)):
        raise ParameterError("distances between profiles are numbers from 0 to 1.")
    one = _only_one(flip, one_sided)
    return np.asarray(one + apart * (1 - 2 * one))


def debiased(
    differ: ArrayLike,
    *,
    bits: int,
    flip: float,
    confidence: float = 0.95,
    among: int = 1,
    one_sided: bool = False,
    share: float = 1.0,
) -> Debiased:
    """Distances of profiles whose codes of ``bits`` bits ``differ`` in the given number of them.

    ``share``: a hash differs with this chance times the distance; 1/2 for one bit of MinHash and the Jaccard distance.
    """
    from noisewright.estimation.result import shared_confidence, tail_interval  # a client has NumPy alone

    count = np.asarray(differ, dtype=np.float64)
    if not is_whole(bits) or bits < 1:
        raise ParameterError("a code has 1 bit or more, as a whole number.")
    if not is_whole(among) or among < 1:
        raise ParameterError("a neighbour is chosen among 1 code or more, as a whole number.")
    if not np.all((count >= 0) & (count <= bits) & (count == np.floor(count))):
        raise ParameterError(f"codes of {bits} bits differ in 0 to {bits} of them.")
    one = _only_one(flip, one_sided)
    seen = count / bits
    low, high = tail_interval(seen, (0.0, 1.0), bits, shared_confidence(confidence, among), either=True)
    lower, middle, upper = ((part - one) / (1 - 2 * one) / share for part in (low, seen, high))
    cut = (np.asarray(np.clip(part, 0, 1)) for part in (middle, lower, upper))
    distance, below, above = cut
    return Debiased(distance, below, above, np.asarray(middle), float(confidence))


def check_flip(flip: float) -> float:
    """A chance of a flip below one half; at one half codes say nothing."""
    if not 0 <= flip < 0.5:
        raise ParameterError(
            f"bits are flipped with a chance from 0 to below 1/2, not {flip}; a larger epsilon flips fewer."
        )
    return float(flip)


def _only_one(flip: float, one_sided: bool) -> float:
    """The chance that exactly one of two bits was flipped."""
    f = check_flip(flip)
    return f if one_sided else 2 * f * (1 - f)


# Nearest ------------------------------------------------------------------------------------------------------------------
#
# The nearest codes by Hamming distance, with ties at random: a few lines of NumPy, or faiss where there is more to do.


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


# Index --------------------------------------------------------------------------------------------------------------------
#
# The codes that a server holds, by name: add, remove, search, and keep in a file.


IndexKind = Literal["flat", "hnsw", "ivf"]
KINDS = ("flat", "hnsw", "ivf")


@dataclass(frozen=True)
class Neighbours:
    """Result of a search, nearest first: one row for each code that was searched with."""

    names: NDArray[Any]
    """None where an approximate index found fewer."""
    differ: NDArray[np.int64]
    """In how many bits the codes differ; -1 where there is no code."""


class Index:
    """Codes by name, all of one scheme."""

    def __init__(self, fingerprint: str, bits: int, *, kind: IndexKind = "flat") -> None:
        if kind not in KINDS:
            raise ParameterError(f"an index is {', '.join(KINDS[:-1])} or {KINDS[-1]}, not {kind!r}.")
        if kind != "flat":
            faiss()
        self.fingerprint, self.bits, self.kind = fingerprint, bits, kind
        self._rows: dict[str, int] = {}
        self._codes: Codes = np.empty((0, code_bytes(bits)), dtype=np.uint8)
        self._names: NDArray[Any] = np.empty(0, dtype=object)
        self._used = 0
        """Rows beyond it are spare capacity; rows below it without a name were removed."""
        self._structure: Approximate | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    @property
    def names(self) -> list[str]:
        """Everyone whose code is here, in the order in which they came."""
        return list(self._rows)

    def codes(self, names: Sequence[str]) -> Codes:
        """The codes of these names."""
        return self._codes[[self._row(name) for name in names]]

    def add(self, names: Sequence[str], codes: object) -> None:
        """Take the codes of new names; all of them, or none where one is refused."""
        rows = np.ascontiguousarray(as_codes(codes, self.bits))
        check_names(names, len(rows))
        for name in names:
            if name in self._rows:
                raise DataError("a code has a name that is in the index already; remove the old code first.")
        first, last = self._used, self._used + len(rows)
        if last > len(self._codes):
            room = max(last, 2 * len(self._codes)) - first
            self._codes = np.concatenate([self._codes[:first], np.empty((room, rows.shape[1]), dtype=np.uint8)])
            self._names = np.concatenate([self._names[:first], np.empty(room, dtype=object)])
        self._codes[first:last] = rows
        self._names[first:last] = names
        self._rows.update(zip(names, range(first, last), strict=True))
        self._used = last
        if self._structure is not None:
            self._structure.add(rows, np.arange(first, last))

    def remove(self, names: Sequence[str]) -> None:
        """Forget the codes of these names; all of them, or none where one is unknown."""
        rows = [self._row(name) for name in names]
        for name in names:
            self._rows.pop(name, None)
        self._codes[rows] = 0
        self._names[rows] = None
        if 2 * len(self._rows) < self._used:
            live = self._live()
            names_left = self._names[live]
            self._codes, self._names, self._used = self._codes[live], names_left, len(live)
            self._rows = {name: row for row, name in enumerate(names_left)}
            self._structure = None

    def search(self, codes: object, neighbours: int, *, rng: np.random.Generator | None = None) -> Neighbours:
        """The nearest codes to each of these; ties are broken by a fresh draw (``rng`` is for simulations)."""
        queries = np.ascontiguousarray(as_codes(codes, self.bits))
        return self._named(*self._search(queries, self._number(neighbours), rng))

    def neighbours(
        self, names: Sequence[str], neighbours: int, *, rng: np.random.Generator | None = None
    ) -> Neighbours:
        """The nearest codes to those of people in the index, who are not their own neighbours."""
        own = np.array([self._row(name) for name in names], dtype=np.int64)
        found = self._search(self._codes[own], self._number(neighbours) + 1, rng)
        return self._named(*without_own(found, own))

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write names and codes to a file, whole or not at all; its SHA-256."""
        live = self._live()
        return write_codes(path, CodeFile(self.fingerprint, self.bits, self._names[live].tolist(), self._codes[live]))

    @classmethod
    def load(cls, path: str | os.PathLike[str], fingerprint: str, *, kind: IndexKind = "flat") -> Self:
        """The index in a file, if it is of the scheme with this fingerprint, and was not changed."""
        found = read_codes(path)
        check_scheme(found, fingerprint, Path(path).name)
        index = cls(found.fingerprint, found.bits, kind=kind)
        index.add(found.names, found.codes)
        return index

    def _search(self, queries: Codes, k: int, rng: np.random.Generator | None) -> Found:
        if not self._rows:
            raise DataError("the index is empty; add codes first.")
        draw = np.random.default_rng() if rng is None else rng
        used = self._codes[: self._used]
        if self.kind == "flat":
            return nearest_codes(used, queries, k, draw, None if len(self._rows) == self._used else self._live())
        if self._structure is None:
            self._structure = Approximate(self.kind, used, draw)
        live = np.zeros(self._used, dtype=np.bool_)
        live[self._live()] = True
        return self._structure.search(queries, min(k, len(self._rows)), live, draw)

    def _named(self, rows: NDArray[np.int64], differ: NDArray[np.int64]) -> Neighbours:
        names = self._names[rows]
        names[rows < 0] = None
        return Neighbours(names, differ)

    def _live(self) -> NDArray[np.int64]:
        return np.fromiter(self._rows.values(), dtype=np.int64, count=len(self._rows))

    def _row(self, name: str) -> int:
        row = self._rows.get(name)
        if row is None:
            raise DataError("a name is not in the index; list the names it has, or add a code first.")
        return row

    def _number(self, neighbours: int) -> int:
        if not is_whole(neighbours) or neighbours < 1:
            raise ParameterError(f"a search is for 1 neighbour or more, as a whole number, not {neighbours}.")
        return int(neighbours)


def check_scheme(found: CodeFile, fingerprint: str, called: str, bits: int | None = None) -> None:
    """Refuse codes of another scheme."""
    if found.fingerprint != fingerprint:
        raise FileFormatError(
            f"the codes in {called} were made with the scheme {found.fingerprint[:12]}..., not with {fingerprint[:12]}...; "
            "codes of two schemes cannot be compared: encode the profiles again with one public file."
        )
    if bits is not None and found.bits != bits:
        raise FileFormatError(
            f"{called} says that its codes have {found.bits} bits, and those of its scheme have {bits}; get it once more."
        )
