"""Distortion by a release, for each column and for all together.

A number's is the mean squared difference in variances of the original column (of a constant one, in its own units), a word's
the share of records in which it changed. The sum over columns is the distortion of the mixed kind with weight 1 each.

>>> before = {"height": [1.0, 2.0, 3.0, 4.0], "town": ["a", "a", "b", "b"]}
>>> after = {"height": [1.0, 2.0, 3.0, 5.0], "town": ["a", "b", "b", "b"]}
>>> print(distortion_of(before, after))
0.45 (height 0.2, town 0.25)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.core.errors import DataError
from noisewright.learned.evaluation.tables import Columns

__all__ = ["Distortion", "distortion_of", "unrelated"]

MOST_SHOWN = 6


@dataclass(frozen=True)
class Distortion:
    """By column, in variances or shares of changed records; ``squared`` is the plain sum of squares of the numbers."""

    columns: Mapping[str, float]
    squared: float

    @property
    def total(self) -> float:
        """The sum over columns."""
        return float(sum(self.columns.values()))

    def __str__(self) -> str:
        most = sorted(self.columns, key=lambda name: -self.columns[name])[:MOST_SHOWN]
        shown = ", ".join(f"{name} {self.columns[name]:.3g}" for name in self.columns if name in most)
        more = len(self.columns) - len(most)
        return f"{self.total:.4g} ({shown}{f', and {more} smaller' if more else ''})"


def distortion_of(original: Any, released: Any) -> Distortion:
    """Return how far a release is from the original, for the columns that both have."""
    before, after = Columns.of(original, "the original"), Columns.of(released, "the release")
    if len(before) != len(after):
        raise DataError("the release and the original have other numbers of rows; give the table that was released.")
    found, squared = {}, 0.0
    for name in (n for n in before.names if n in after.names):
        one, two = before.values[name], after.values[name]
        if before.numeric(name) != after.numeric(name):
            raise DataError(f"the column {name!r} holds numbers in one table and words in the other; give both alike.")
        if before.numeric(name):
            moved = float(np.mean((one - two) ** 2))
            squared += moved
            found[name] = moved / (float(one.var()) or 1.0)
        else:
            found[name] = float(np.mean(one != two))
    return Distortion(found, squared)


def unrelated(original: Columns, released: Columns) -> bool:
    """Return whether no column of a release goes with its own column in the original: rows in another order, or
    nothing left.

    By correlation for numbers, by agreement for words, at four standard errors.
    """
    shared = [n for n in released.names if n in original.names and released.numeric(n) == original.numeric(n)]
    rows, tried = len(original), False
    for name in shared:
        one, two = original.values[name], released.values[name]
        if len(np.unique(one)) < 2 or len(np.unique(two)) < 2:
            continue
        tried = True
        if original.numeric(name):
            seen, chance = abs(float(np.corrcoef(one, two)[0, 1])), 0.0
            error = 1 / np.sqrt(rows)
        else:
            words = np.unique(np.concatenate([one, two]))
            chance = float(sum(np.mean(one == word) * np.mean(two == word) for word in words))
            seen, error = float(np.mean(one == two)), np.sqrt(max(chance * (1 - chance), 1e-12) / rows)
            seen, chance = abs(seen - chance), 0.0
        if seen > chance + 4 * error:
            return False
    return tried
