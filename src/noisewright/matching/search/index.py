"""The codes that a server holds, by name: add, remove, search, and keep in a file.

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
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, FileFormatError, ParameterError
from noisewright.matching.hashing.codes import Codes, as_codes, code_bytes
from noisewright.matching.search.code_file import CodeFile, check_names, read_codes, write_codes
from noisewright.matching.search.nearest import Approximate, Found, faiss, nearest_codes, without_own

__all__ = ["Index", "IndexKind", "Neighbours"]

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
