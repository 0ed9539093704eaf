"""Independent rows of exact numbers, taken in one by one: rank, solutions, and the orthogonal complement.

>>> solve([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 1, 1])
[Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)]
>>> rank([[1, 2], [2, 4]]), kernel([[1, 2], [2, 4]])
(1, [Fraction(-2, 1), Fraction(1, 1)])

Rows are kept as integers without a common factor while they are eliminated, which is several times faster than
fractions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

__all__ = ["Echelon", "kernel", "rank", "shortened", "solve", "solve_many", "whole_row"]

Number = int | Fraction
Row = list[int]


def whole_row(row: Iterable[Number]) -> Row:
    """A row times the positive number that makes its entries integers without a common factor."""
    entries = list(row)
    common = math.lcm(*(v.denominator for v in entries))
    return shortened([v.numerator * (common // v.denominator) for v in entries])


def shortened(row: Row) -> Row:
    """Return a row of integers divided by their greatest common divisor."""
    divisor = math.gcd(*row)
    return row if divisor <= 1 else [v // divisor for v in row]


class Echelon:
    """Independent rows, one pivot each; no pivot column of one row appears in another."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def reduce(self, row: Iterable[Number]) -> Row:
        """Return the remainder of a row after the pivots are taken out of it; all zeros if it depends on the rows
        held.
        """
        rest = whole_row(row)
        for pivot, held in self.rows.items():
            if rest[pivot]:
                rest = _without(rest, held, pivot)
        return rest

    def add(self, row: Iterable[Number], pivots: int | None = None) -> bool:
        """Take a row in; whether it was independent. Only the first ``pivots`` columns may hold its pivot."""
        rest = self.reduce(row)
        limit = self.width if pivots is None else pivots
        pivot = next((j for j in range(limit) if rest[j]), None)
        if pivot is None:
            return False
        for other, held in self.rows.items():
            if held[pivot]:
                self.rows[other] = _without(held, rest, pivot)
        self.rows[pivot] = rest
        return True

    def orthogonal(self) -> Iterator[list[Fraction]]:
        """Return independent vectors that span the orthogonal complement of all rows, one for each column without a
        pivot.
        """
        for free in range(self.width):
            if free in self.rows:
                continue
            vector = [Fraction(0)] * self.width
            vector[free] = Fraction(1)
            for pivot, row in self.rows.items():
                vector[pivot] = Fraction(-row[free], row[pivot])
            yield vector


def rank(rows: Iterable[Sequence[Number]]) -> int:
    """The rank of a matrix."""
    matrix = list(rows)
    echelon = Echelon(len(matrix[0]) if matrix else 0)
    return sum(echelon.add(row) for row in matrix)


def solve(rows: Sequence[Sequence[Number]], right: Sequence[Number]) -> list[Fraction] | None:
    """Return the one solution of a linear system; None if it has no solution, or more than one."""
    found = solve_many(rows, [[value] for value in right])
    return None if found is None else [line[0] for line in found]


def solve_many(rows: Sequence[Sequence[Number]], right: Sequence[Sequence[Number]]) -> list[list[Fraction]] | None:
    """Solve as :func:`solve`, for several right-hand sides at once: ``right`` has one line for each equation."""
    width = len(rows[0]) if rows else 0
    echelon = Echelon(width)
    for row, values in zip(rows, right, strict=True):
        line = [*row, *values]
        if not echelon.add(line, pivots=width) and any(echelon.reduce(line)):
            return None
    if len(echelon) < width:
        return None
    return [[Fraction(v, echelon.rows[j][j]) for v in echelon.rows[j][width:]] for j in range(width)]


def kernel(rows: Sequence[Sequence[Number]], width: int | None = None) -> list[Fraction] | None:
    """A vector other than zero that every row is orthogonal to, or None."""
    columns = len(rows[0]) if width is None else width
    echelon = Echelon(columns)
    for row in rows:
        echelon.add(row)
    return next(echelon.orthogonal(), None)


def _without(row: Row, held: Row, pivot: int) -> Row:
    """The row with its entry at a pivot eliminated; its direction stays (it is scaled by a positive number only)."""
    a, b = held[pivot], row[pivot]
    if a < 0:
        a, b = -a, -b
    return shortened([a * x - b * y for x, y in zip(row, held, strict=True)])
