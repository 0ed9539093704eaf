"""Independent rows of exact numbers, taken in one by one: rank, solutions, and the orthogonal complement.

>>> solve([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 1, 1])
[Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)]
>>> rank([[1, 2], [2, 4]]), kernel([[1, 2], [2, 4]])
(1, [Fraction(-2, 1), Fraction(1, 1)])

Rows are kept as integers without a common factor while they are eliminated, which is several times faster than
fractions.

>>> square = Elimination([[2, 1], [1, 2]], [[3, 0], [0, 3]])
>>> square.independent, square.solution[0]
(True, (Fraction(2, 1), Fraction(-1, 1)))
>>> [str(v) for v in square.left(0)]  # times A it is (1, 0), times B the first line of the solution
['2/3', '-1/3']

Where rows come one by one, and only their independence matters, :mod:`~noisewright.numerics.linear_algebra` is for it.

Reference: Bareiss, *Sylvester's identity and multistep integer-preserving Gaussian elimination* (1968).

Elimination in fractions takes numbers as long as a determinant. To know that the only R with ``A R = B`` is positive, less
will do: let X be any approximate inverse with ``e = ||1 - X A|| < 1`` (computed exactly). Then for every R', in the maximum
norm,

    ``|R - R'| <= ||X|| max |B - A R'| / (1 - e)``,

and ``R' += X (B - A R')`` makes the right side as small as one likes, a few dozen bits at each step, with integers of
moderate length. Entries of R that are zero are never distinguished from tiny ones this way; they are guessed as short
fractions and checked in the equation.

>>> import numpy as np
>>> a, b = np.array([[2, 1], [1, 2]], dtype=object), np.array([[3, 0], [0, 3]], dtype=object)
>>> found = enclose(a, b, 64)
>>> [[round(v / 2**64, 9) for v in row] for row in found.scaled.tolist()], found.bound < 16
([[2.0, -1.0], [-1.0, 2.0]], True)
>>> short_solution(found, a, b)[0]
(Fraction(2, 1), Fraction(-1, 1))

Reference: Rump, *Verification methods: rigorous results using floating-point arithmetic* (2010).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from noisewright._typing import Integers

__all__ = [
    "LARGEST_ELIMINATION",
    "Echelon",
    "Elimination",
    "Enclosed",
    "Rows",
    "Vector",
    "elimination_work",
    "enclose",
    "kernel",
    "rank",
    "short_solution",
    "shortened",
    "solve",
    "solve_many",
    "whole_row",
]


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


# Elimination --------------------------------------------------------------------------------------------------------------
#
# ``A R = B`` in integers: A brought to reduced form once, with the multipliers that do it.


Vector = tuple[Fraction, ...]
Rows = tuple[Vector, ...]
"""A matrix of fractions."""

LARGEST_ELIMINATION = 250_000
"""Eliminations that cost more than this, by :func:`elimination_work`, are not started: some seconds."""


def elimination_work(rows: int, columns: int, right: int, bits: int) -> int:
    """Return the cost of :class:`Elimination`, in rough units; numbers grow with every row that is eliminated."""
    depth = min(rows, columns)
    return rows * depth * (rows + columns + right) * (1 + depth * bits // 1024)


class Elimination:
    """``[A | B | 1]`` in reduced echelon form over A; integer matrices given as rows.

    Without fractions: every entry is a minor of the matrix, and all pivots are the same number, so that divisions are exact and
    nothing need be cancelled (Bareiss).
    """

    def __init__(self, a: Sequence[Sequence[int]], b: Sequence[Sequence[int]]) -> None:
        self.unknowns, self.right, size = len(a[0]), len(b[0]), len(a)
        work = np.empty((size, self.unknowns + self.right + size), dtype=object)
        work[:, : self.unknowns] = np.array(a, dtype=object)
        work[:, self.unknowns : self.unknowns + self.right] = np.array(b, dtype=object)
        work[:, self.unknowns + self.right :] = np.array(
            [[int(x == z) for z in range(size)] for x in range(size)], dtype=object
        )
        self.pivots: list[int] = []
        """The columns of A that the others are expressed by; row i of the reduced form belongs to the i-th of them."""
        before = 1
        for column in range(self.unknowns):
            done = len(self.pivots)
            row = next((i for i in range(done, size) if work[i, column]), None)
            if row is None:
                continue
            work[[done, row]] = work[[row, done]]
            pivot = work[done, column]
            rest = np.arange(size) != done
            work[rest] = (pivot * work[rest] - np.multiply.outer(work[rest, column], work[done])) // before
            before = pivot
            self.pivots.append(column)
            if len(self.pivots) == size:
                break
        self._rows = work if before > 0 else -work
        self._pivot = abs(before)
        self.outside = self._outside()
        """A column of B and a vector that is orthogonal to A's columns but not to it, if there is one."""

    def _outside(self) -> tuple[int, Vector] | None:
        for row in self._rows[len(self.pivots) :]:
            beyond = row[self.unknowns : self.unknowns + self.right]
            column = next((w for w, v in enumerate(beyond) if v), None)
            if column is not None:
                return column, tuple(Fraction(v) for v in row[self.unknowns + self.right :])
        return None

    @property
    def independent(self) -> bool:
        """Return whether A's columns are linearly independent, so that a solution is the only one."""
        return len(self.pivots) == self.unknowns

    @cached_property
    def solution(self) -> Rows:
        """The only R with ``A R = B``, where A's columns are independent; its signs are still to be seen."""
        end = self.unknowns + self.right
        return tuple(
            tuple(Fraction(v, self._pivot) for v in row[self.unknowns : end]) for row in self._rows[: self.unknowns]
        )

    def left(self, pivot: int) -> Vector:
        """The vector whose product with A is 1 at ``pivot``, 0 at other pivots, and whatever it is elsewhere."""
        row = self._rows[self.pivots.index(pivot)]
        return tuple(Fraction(v, self._pivot) for v in row[self.unknowns + self.right :])

    def combine(self, wanted: dict[int, Fraction]) -> Vector:
        """The vector whose products with the pivot columns of A are as wanted (0 where nothing is said)."""
        total = [Fraction(0)] * len(self._rows)
        for pivot, value in wanted.items():
            if value:
                total = [t + value * v for t, v in zip(total, self.left(pivot), strict=True)]
        return tuple(total)

    def line(self, pivot: int) -> tuple[int, dict[int, int], list[int]]:
        """The equation of a pivot: its coefficient (greater than 0), the coefficients of the free columns, and the
        right-hand sides.
        """
        row = self._rows[self.pivots.index(pivot)]
        known = set(self.pivots)
        free = {j: row[j] for j in range(self.unknowns) if j not in known}
        return self._pivot, free, row[self.unknowns : self.unknowns + self.right].tolist()


# Solution -----------------------------------------------------------------------------------------------------------------
#
# Signs of the solution of a square system, proved without solving it exactly.


INVERSE_BITS = 60
LONGEST = 4_096
"""Guesses whose common denominator has more bits than this are not tried."""


@dataclass(frozen=True, eq=False)
class Enclosed:
    """Every entry of the solution is within ``bound`` of ``scaled``, both over ``2**bits``."""

    scaled: Integers
    bound: int
    bits: int

    @property
    def least(self) -> tuple[int, int]:
        """Position of the least entry."""
        flat = min(range(self.scaled.size), key=self.scaled.ravel().__getitem__)
        row, column = divmod(flat, self.scaled.shape[1])
        return row, column

    @property
    def positive(self) -> bool:
        """Return whether every entry is proved to be above zero."""
        return bool(self.scaled[self.least] > self.bound)

    @property
    def negative(self) -> bool:
        """Return whether some entry is proved to be below zero."""
        return bool(self.scaled[self.least] < -self.bound)


def enclose(a: Integers, b: Integers, bits: int) -> Enclosed | None:
    """The solution of ``A R = B`` for integer matrices to about ``bits`` binary places; None if A is too nearly singular."""
    size = len(a)
    largest = max(int(v) for v in np.abs(a).ravel())
    try:
        inverse = np.linalg.inv((a / largest).astype(np.float64))
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(inverse).all() or np.abs(inverse).max() > 2.0**40:
        return None
    rough: Integers = np.array([[round(v * 2**INVERSE_BITS) for v in row] for row in inverse.tolist()], dtype=object)
    unit = largest << INVERSE_BITS
    off = np.dot(rough, a)
    off[np.arange(size), np.arange(size)] -= unit
    error = max(int(v) for v in np.abs(off).sum(axis=1))  # e, over the unit
    if 2 * error >= unit:
        return None
    scaled: Integers = np.zeros((size, b.shape[1]), dtype=object)
    rest = b << bits
    while True:
        step = np.dot(rough, rest) // unit
        scaled = scaled + step
        rest = (b << bits) - np.dot(a, scaled)
        if not (np.abs(step) > 2 * size).any():
            break
    norm = max(int(v) for v in np.abs(rough).sum(axis=1))
    worst = max(int(v) for v in np.abs(rest).ravel())
    return Enclosed(scaled, norm * worst // (unit - error) + 1, bits)


def short_solution(found: Enclosed, a: Integers, b: Integers) -> Rows | None:
    """The solution itself where all its entries are short fractions: guessed from the enclosure, and proved by ``A R = B``."""
    most = 1 << (found.bits // 4)
    one = 1 << found.bits
    guessed = [[Fraction(int(v), one).limit_denominator(most) for v in row] for row in found.scaled]
    common = 1
    for denominator in {v.denominator for row in guessed for v in row}:
        common = math.lcm(common, denominator)
        if common.bit_length() > LONGEST:
            return None
    whole = np.array([[v.numerator * (common // v.denominator) for v in row] for row in guessed], dtype=object)
    if (np.dot(a, whole) != b * common).any():
        return None
    return tuple(tuple(row) for row in guessed)
