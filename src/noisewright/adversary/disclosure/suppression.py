r"""Cells that were left out of a table with totals: between which numbers each of them must lie.

A table of counts is published with the totals of its rows and columns, and small cells are left out to protect someone.
The totals still bind them: each suppressed cell lies between the least and the greatest number that it can have while
all rows and columns add up and no cell is negative. A cell whose two bounds are one number is **disclosed**.

>>> table = SuppressedTable([[20, None, 3, 25], [None, None, 9, 30], [8, 5, 2, 15], [40, 16, 14, 70]])
>>> for cell in table.bounds():
...     print(cell)
row 0, column 1: 2, disclosed
row 1, column 0: 12, disclosed
row 1, column 1: 9, disclosed

The last row and the last column are the totals, and may have gaps as well. Bounds are linear programs over a network:
every cell is in one equation of a row and one of a column, with opposite signs once some equations are turned around.
Therefore, if the published numbers are whole, cells and multipliers at an optimum are integers too: the solution of the
solver is rounded, and then proved in integers. Other numbers are counted in the unit in which all of them are whole.

Reference: Willenborg and de Waal, *Elements of Statistical Disclosure Control* (2001), chapter 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import as_fraction, whole_or_fraction

__all__ = ["CellBounds", "SuppressedTable"]

MOST_CELLS = 1_000
"""Suppressed cells, each of which takes two linear programs."""
LARGEST = 10**12
"""Largest count in the smallest unit: floats of the solver must distinguish neighbouring integers."""
INFEASIBLE, UNBOUNDED = 2, 3
CONTRADICTION = (
    "the published numbers contradict each other: some row or column cannot add up to its total; check the table."
)


@dataclass(frozen=True)
class CellBounds:
    """The least and the greatest number that a suppressed cell can have; ``row`` and ``column`` count from 0."""

    row: int
    column: int
    low: int | Fraction
    high: int | Fraction | None
    """None where the totals that are left put no end to it."""

    @property
    def disclosed(self) -> bool:
        """Return whether the published numbers determine it."""
        return self.low == self.high

    def __str__(self) -> str:
        if self.disclosed:
            return f"row {self.row}, column {self.column}: {self.low}, disclosed"
        between = f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}"
        return f"row {self.row}, column {self.column}: {between}"


@dataclass(frozen=True)
class SuppressedTable:
    """Rows of exact numbers that are 0 or more, None for a suppressed cell; the last row and the last column are totals."""

    rows: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        try:
            rows = tuple(
                tuple(None if v is None else as_fraction(v, "a published cell") for v in row) for row in self.rows
            )
        except TypeError:
            raise ParameterError("a table is a list of rows of numbers, with None for a suppressed cell.") from None
        if len(rows) < 2 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
            raise ParameterError("a table has rows of one length, two or more, and the last row and column are totals.")
        if any(v is not None and v < 0 for row in rows for v in row):
            raise DataError("a published cell is negative; tables of counts and amounts have none.")
        object.__setattr__(self, "rows", rows)
        if len(self.suppressed) > MOST_CELLS:
            raise ParameterError(f"{len(self.suppressed)} cells are suppressed; {MOST_CELLS} are looked at, at most.")

    @cached_property
    def suppressed(self) -> tuple[tuple[int, int], ...]:
        """Row and column of every suppressed cell, totals among them."""
        return tuple((i, j) for i, row in enumerate(self.rows) for j, v in enumerate(row) if v is None)

    def bounds(self) -> tuple[CellBounds, ...]:
        """The bounds of every suppressed cell; an error where the published numbers contradict each other."""
        left, right = self._system
        if right[~left.any(axis=1)].any():
            raise DataError(CONTRADICTION)
        found = []
        for place, (i, j) in enumerate(self.suppressed):
            low, high = self._end(place, 1), self._end(place, -1)
            assert low is not None  # no cell is negative
            found.append(CellBounds(i, j, low, high))
        return tuple(found)

    def _end(self, place: int, sign: int) -> int | Fraction | None:
        """The least value of a suppressed cell, with -1 the greatest; None if it has no end."""
        from scipy.optimize import linprog

        left, right = self._system
        cost = np.zeros(len(self.suppressed), dtype=np.int64)
        cost[place] = sign
        found = linprog(cost, A_eq=left, b_eq=right, bounds=(0, None), method="highs")
        if found.status == INFEASIBLE:
            raise DataError(CONTRADICTION)
        if found.status == UNBOUNDED:
            return None
        if found.x is not None:
            cells, prices = (np.rint(v).astype(np.int64) for v in (found.x, found.eqlin.marginals))
            can_be = (left @ cells == right).all() and (cells >= 0).all()
            cannot_be_beyond = (cost >= prices @ left).all() and prices @ right == cost @ cells
            if can_be and cannot_be_beyond:
                return whole_or_fraction(Fraction(int(cells[place]), self._unit))
        raise DataError("the solver did not find the bounds of a cell; round the published numbers.")

    @cached_property
    def _unit(self) -> int:
        """Number of parts of 1 in which all published numbers are integers."""
        return lcm(*(Fraction(v).denominator for row in self.rows for v in row if v is not None))

    @cached_property
    def _system(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """One equation for each row and each column: the suppressed cells that it counts, and the total left for
        them.
        """
        height, width = len(self.rows), len(self.rows[0])
        known = np.array([[0 if v is None else int(v * self._unit) for v in row] for row in self.rows], dtype=object)
        if known.max() > LARGEST:
            raise DataError(
                "a published cell is too large, or has too many digits, to be bounded exactly; round the table."
            )
        signs = [np.array([*[1] * (size - 1), -1]) for size in (width, height)]
        right = np.concatenate([-(known @ signs[0]), -(signs[1] @ known)]).astype(np.int64)
        left = np.zeros((height + width, len(self.suppressed)), dtype=np.int64)
        for place, (i, j) in enumerate(self.suppressed):
            left[i, place], left[height + j, place] = signs[0][j], signs[1][i]
        return left, right
