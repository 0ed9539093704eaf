"""A server: holds the codes that people sent, and finds whose are nearest. It never sees a profile.

>>> import numpy as np
>>> from noisewright.core.seed import Seed
>>> from noisewright.matching.client import Client
>>> from noisewright.matching.hashing.scheme import Scheme
>>> scheme = Scheme(dimension=3, bits=256, epsilon=3, seed=Seed.from_hex("00" * 32))
>>> client, server = Client(scheme), Server(scheme)
>>> server.add(["ann", "bob", "eve"], client.encode([[5, 0, 3], [4, 0, 3], [0, 5, 0]]))
>>> found = server.neighbours(["ann"], 1)
>>> found.names.tolist()
[['bob']]
>>> bool(found.low[0, 0] <= 0.034 <= found.high[0, 0])  # the angle between ann and bob, over pi
True
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.matching.hashing.codes import hamming
from noisewright.matching.hashing.scheme import Scheme
from noisewright.matching.search.code_file import read_codes
from noisewright.matching.search.debiasing import Debiased, debiased
from noisewright.matching.search.index import Index, IndexKind, Neighbours, check_scheme

__all__ = ["Matches", "Server"]


@dataclass(frozen=True)
class Matches:
    """Neighbours by name, nearest first, a row for each query; with estimates of their true distances."""

    names: NDArray[Any]
    """None where an approximate index found fewer."""
    differ: NDArray[np.int64]
    """Number of bits in which the noisy codes differ; -1 without a neighbour."""
    distance: Floats
    """The distance of the profiles, without the bias of the noise; NaN without a neighbour."""
    low: Floats
    high: Floats
    """The ends of an interval; the intervals of all searched codes hold simultaneously, so selection does not
    invalidate them.

    They are 0 and 1 under a family of hashes whose law only approximately follows the distance
    (``fast-projection``)."""
    confidence: float


class Server:
    """Codes by name under one public scheme."""

    def __init__(self, scheme: Scheme, *, kind: IndexKind = "flat") -> None:
        if not isinstance(scheme, Scheme):
            raise ParameterError(
                f"a server needs a public Scheme, not {type(scheme).__name__}; Server.at(path) reads one."
            )
        self.scheme = scheme
        self.index = Index(scheme.fingerprint, scheme.bits, kind=kind)

    @classmethod
    def at(
        cls, path: str | os.PathLike[str], index: str | os.PathLike[str] | None = None, *, kind: IndexKind = "flat"
    ) -> Server:
        """The server of the service whose public scheme is in this file, with the codes of an index file if there is one."""
        server = cls(Scheme.at(path), kind=kind)
        if index is not None:
            server.add_file(index)
        return server

    def __len__(self) -> int:
        return len(self.index)

    def add(self, names: Sequence[str], codes: object) -> None:
        """Take the codes of new people."""
        self.index.add(names, codes)

    def add_file(self, path: str | os.PathLike[str]) -> int:
        """Take the codes of a file that a client or a server wrote; how many there were."""
        found = read_codes(path)
        check_scheme(found, self.scheme.fingerprint, Path(path).name, self.scheme.bits)
        self.index.add(found.names, found.codes)
        return len(found.names)

    def remove(self, names: Sequence[str]) -> None:
        """Forget people."""
        self.index.remove(names)

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write the index to a file, whole or not at all; its SHA-256."""
        return self.index.save(path)

    def search(
        self, codes: object, neighbours: int, *, confidence: float = 0.95, rng: np.random.Generator | None = None
    ) -> Matches:
        """Whose codes are nearest to each of these."""
        return self._matches(self.index.search(codes, neighbours, rng=rng), confidence, len(self))

    def neighbours(
        self, names: Sequence[str], neighbours: int, *, confidence: float = 0.95, rng: np.random.Generator | None = None
    ) -> Matches:
        """Whose codes are nearest to those of these people, they themselves left out."""
        return self._matches(self.index.neighbours(names, neighbours, rng=rng), confidence, max(1, len(self) - 1))

    def distance(self, one: str, other: str, *, confidence: float = 0.95) -> Debiased:
        """Return how far apart the profiles of two people are, who were named without a look at the codes."""
        return self._known(hamming(*self.index.codes([one, other])), confidence, 1)

    def _matches(self, found: Neighbours, confidence: float, among: int) -> Matches:
        there = found.differ >= 0
        known = self._known(np.where(there, found.differ, 0), confidence, among)
        distance, low, high = (np.where(there, part, np.nan) for part in (known.distance, known.low, known.high))
        return Matches(found.names, found.differ, distance, low, high, known.confidence)

    def _known(self, differ: NDArray[np.int64], confidence: float, among: int) -> Debiased:
        """Return the estimate for profiles whose codes differ in the given numbers of bits, in the distance of the family."""
        given = {"bits": self.scheme.bits, "flip": float(self.scheme.flip), "share": float(self.scheme.words.share)}
        found = debiased(differ, **given, confidence=confidence, among=among)  # type: ignore[arg-type]
        if self.scheme.words.exact:
            return found
        return replace(found, low=np.zeros_like(found.low), high=np.ones_like(found.high))  # no theorem, no interval
