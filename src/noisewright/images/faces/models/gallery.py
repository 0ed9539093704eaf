"""The codes of some public faces, and whose they are: a model keeps them in its file, so that anyone can measure an
epsilon.

>>> gallery = Gallery.of([[0.0, 1], [0, 2], [5, 5], [6, 6], [7, 7]], [3, 3, 8, 8, 8])
>>> gallery.people.tolist(), gallery.one_each.tolist()
([0, 0, 1, 1, 1], [[0.0, 1.0], [5.0, 5.0]])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError

__all__ = ["Gallery"]

MOST_PEOPLE, MOST_FACES = 200, 4
"""Maximum number of people in a file, and of faces of each."""
ROUNDED = 2.0**-23
"""Codes are kept in floats of 32 bits, which are off by less than this part."""


@dataclass(frozen=True, eq=False)
class Gallery:
    """Codes of public faces, one in each row, with faces of one person together; make one with :meth:`of`."""

    codes: Floats
    people: NDArray[np.int64]
    """Whose each is, numbered starting at 0."""

    @classmethod
    def of(cls, codes: ArrayLike, people: Sequence[Any] | NDArray[Any] | None = None) -> Gallery:
        """Some of the codes of public faces; without ``people``, each is someone else's."""
        given = np.asarray(codes, np.float64)
        if people is not None and len(people) != len(given):
            raise DataError("every public face has the label of its person, or none has one.")
        who = np.arange(len(given)) if people is None else np.unique(np.asarray(people), return_inverse=True)[1]
        rows = [
            np.flatnonzero(who == person)[:MOST_FACES] for person in range(min(MOST_PEOPLE, who.max(initial=-1) + 1))
        ]
        kept = np.concatenate([np.empty(0, np.int64), *rows])
        return cls(given[kept], np.asarray(who[kept], np.int64))

    @property
    def one_each(self) -> Floats:
        """The first code of everyone."""
        return np.asarray(self.codes[np.unique(self.people, return_index=True)[1]])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays for a model's file."""
        return {"gallery": self.codes.astype("<f4"), "people": self.people.astype("<i8")}

    @classmethod
    def kept(cls, arrays: Mapping[str, NDArray[Any]], low: Floats, high: Floats) -> Gallery | None:
        """Return the gallery of a file; None if it has no valid codes in this public box."""
        codes, people = arrays.get("gallery"), arrays.get("people")
        if codes is None or people is None or codes.shape != (len(people), len(low)) or people.ndim != 1:
            return None
        if not np.isfinite(codes).all() or people.dtype != np.int64:
            return None
        near = ROUNDED * np.maximum(np.abs(low), np.abs(high))
        if (codes < low - near).any() or (codes > high + near).any():
            return None
        return cls(np.asarray(codes, np.float64), np.asarray(people))
