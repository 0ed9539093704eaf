r"""``A R = B`` in integers: A brought to reduced form once, with the multipliers that do it.

>>> square = Elimination([[2, 1], [1, 2]], [[3, 0], [0, 3]])
>>> square.independent, square.solution[0]
(True, (Fraction(2, 1), Fraction(-1, 1)))
>>> [str(v) for v in square.left(0)]  # times A it is (1, 0), times B the first line of the solution
['2/3', '-1/3']

Where rows come one by one, and only their independence matters, :mod:`~noisewright.optimality.algebra.echelon` is for it.

Reference: Bareiss, *Sylvester's identity and multistep integer-preserving Gaussian elimination* (1968).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

__all__ = ["LARGEST_ELIMINATION", "Elimination", "Rows", "Vector", "elimination_work"]

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
