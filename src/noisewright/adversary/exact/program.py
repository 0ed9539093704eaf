r"""Systems of equations with non-negative unknowns, decided in fractions.

``A R = B`` with ``R >= 0``: column by column (the cone of A's columns, which is the max-case order), or with rows of R that
sum to one (the average-case order). Either a solution is found or multipliers that prove there is none; both are exact.

:class:`Elimination` brings A to reduced form once. Where its columns are independent that is all. Otherwise the free unknowns
are a linear program without an objective, decided by the dual simplex method, which can start from any basis: a float
solver's answer is a *hint* where to start, never part of the proof. Bland's rule makes it end.

>>> from fractions import Fraction
>>> square = Elimination([[2, 1], [1, 2]], [[3, 0], [0, 3]])
>>> square.independent, square.solution[0]
(True, (Fraction(2, 1), Fraction(-1, 1)))
>>> [str(v) for v in square.left(0)]  # times A it is (1, 0), times B the first line of the solution
['2/3', '-1/3']

Reference: Chvatal, *Linear Programming* (1983), chapters 3 and 10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from noisewright.adversary.exact.channels import Rows
from noisewright.core.arrays import Floats

__all__ = ["LARGEST_ELIMINATION", "Elimination", "TooLargeError", "cone", "elimination_work", "stochastic"]

Vector = tuple[Fraction, ...]

MOST_WORK = 40_000_000
"""Entries that may be updated, counted once for every 512 bits; beyond it :class:`TooLargeError` is raised."""

LARGEST_ELIMINATION = 250_000
"""Eliminations that cost more than this, by :func:`elimination_work`, are not started: some seconds."""

HINTED = 1e-7
"""Unknowns above this in a float solution are brought into the first basis."""


class TooLargeError(Exception):
    """The exact decision would take too long."""


def elimination_work(rows: int, columns: int, right: int, bits: int) -> int:
    """What :class:`Elimination` costs, in rough units; numbers grow with every row that is eliminated."""
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
        """Whether A's columns are linearly independent, so that a solution is the only one."""
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
        """The equation of a pivot: its coefficient (above 0), those of the free columns, and the right-hand sides."""
        row = self._rows[self.pivots.index(pivot)]
        known = set(self.pivots)
        free = {j: row[j] for j in range(self.unknowns) if j not in known}
        return self._pivot, free, row[self.unknowns : self.unknowns + self.right].tolist()


def cone(found: Elimination, column: int, hints: Sequence[float] | None = None) -> tuple[bool, Vector]:
    """True and weights ``r >= 0`` with ``A r = b`` for one column of B; or False and h with ``h . A <= 0 < h . b``."""
    free = [j for j in range(found.unknowns) if j not in set(found.pivots)]
    basic, rows = [], []
    for pivot in found.pivots:
        coefficient, others, values = found.line(pivot)
        basic.append(pivot)
        rows.append([coefficient, *(others[j] for j in free), values[column]])
    answer = _Dictionary(basic, free, rows).decide(None if hints is None else dict(enumerate(hints)))
    if answer.feasible:
        return True, tuple(answer.values.get(j, Fraction(0)) for j in range(found.unknowns))
    against = found.combine({j: answer.values.get(j, Fraction(0)) for j in found.pivots})
    return False, tuple(-v for v in against)


def stochastic(found: Elimination, hints: Floats | None = None) -> tuple[bool, Rows]:
    """True and a channel R with ``A R = B``; or False and a gain ``G[w][x]`` for which B is worth more than A.

    A and B must have the same row sums, so that the rows of R at pivots sum to one by themselves.
    """
    k = found.right
    pivots = found.pivots
    free = [j for j in range(found.unknowns) if j not in set(pivots)]
    start = {j: int(np.argmax(hints[j])) if hints is not None else k - 1 for j in free}
    nonbasic = [j * k + w for j in free for w in range(k) if w != start[j]]
    place = {variable: i + 1 for i, variable in enumerate(nonbasic)}
    width = len(nonbasic) + 2
    basic, rows = [], []
    for j in free:  # the entries of a free row sum to one
        row = [0] * width
        row[0] = row[-1] = 1
        for w in range(k):
            if w != start[j]:
                row[place[j * k + w]] = 1
        basic.append(j * k + start[j])
        rows.append(row)
    for pivot in pivots:
        coefficient, others, values = found.line(pivot)
        for w in range(k):
            row = [0] * width
            row[0], row[-1] = coefficient, values[w]
            for j, v in others.items():
                if w != start[j]:
                    row[place[j * k + w]] = v
                else:  # what the rest of its row leaves
                    row[-1] -= v
                    for z in range(k):
                        if z != w:
                            row[place[j * k + z]] = -v
            basic.append(pivot * k + w)
            rows.append(row)
    guess = None if hints is None else {j * k + w: float(hints[j, w]) for j in range(found.unknowns) for w in range(k)}
    answer = _Dictionary(basic, nonbasic, rows).decide(guess)
    full = [[answer.values.get(j * k + w, Fraction(0)) for w in range(k)] for j in range(found.unknowns)]
    if answer.feasible:
        return True, tuple(tuple(row) for row in full)
    return False, tuple(found.combine({j: full[j][0] - full[j][w] for j in pivots}) for w in range(k))


@dataclass(frozen=True)
class _Answer:
    """Values of a solution; or the coefficients, all 0 or more, of a combination that would have to be negative."""

    feasible: bool
    values: dict[int, Fraction]


class _Dictionary:
    """``row[0] x + sum_j row[j] z_j = row[-1]`` for each basic unknown x, over non-basic ones z; all integers, ``row[0] > 0``."""

    def __init__(self, basic: list[int], nonbasic: list[int], rows: list[list[int]]) -> None:
        self.basic, self.nonbasic = list(basic), list(nonbasic)
        self.rows = [_short(row) for row in rows]
        self.work = 0

    def decide(self, hints: dict[int, float] | None) -> _Answer:
        if hints is not None:
            self._start_near(hints)
        # The row that is furthest from feasible first; Bland's rule, which cannot cycle, once that has gone on for long.
        patience = 4 * (len(self.basic) + len(self.nonbasic))
        while True:
            short = [i for i, row in enumerate(self.rows) if row[-1] < 0]
            if not short:
                return _Answer(True, {x: Fraction(r[-1], r[0]) for x, r in zip(self.basic, self.rows, strict=True)})
            leaving = min(short, key=self._depth if patience > 0 else self.basic.__getitem__)
            row = self.rows[leaving]
            helpful = [c for c in range(1, len(row) - 1) if row[c] < 0]
            if not helpful:
                values = {z: Fraction(row[c + 1], row[0]) for c, z in enumerate(self.nonbasic)}
                return _Answer(False, {**values, self.basic[leaving]: Fraction(1)})
            entering = min(helpful, key=row.__getitem__ if patience > 0 else self._name)
            patience -= 1
            self._pivot(leaving, entering)

    def _depth(self, i: int) -> Fraction:
        return Fraction(self.rows[i][-1], self.rows[i][0])

    def _name(self, column: int) -> int:
        return self.nonbasic[column - 1]

    def _start_near(self, hints: dict[int, float]) -> None:
        """Bring the unknowns that a float solution has above zero into the basis, for ones that it has at zero."""
        wanted = sorted((z for z in self.nonbasic if hints.get(z, 0.0) > HINTED), key=lambda z: -hints[z])
        for z in wanted:
            column = self.nonbasic.index(z) + 1
            rows = [i for i, row in enumerate(self.rows) if row[column] and hints.get(self.basic[i], 0.0) <= HINTED]
            if rows:
                self._pivot(min(rows, key=lambda i: hints.get(self.basic[i], 0.0)), column)

    def _pivot(self, leaving: int, entering: int) -> None:
        row = self.rows[leaving]
        if row[entering] < 0:
            row = [-v for v in row]
        pivot, old = row[entering], row[0]
        bits = max(v.bit_length() for v in row)
        self.work += len(self.rows) * len(row) * (1 + bits // 512)
        if self.work > MOST_WORK:
            raise TooLargeError
        for i, other in enumerate(self.rows):
            factor = other[entering]
            if i == leaving or not factor:
                continue
            changed = [pivot * x - factor * y for x, y in zip(other, row, strict=True)]
            changed[0] = pivot * other[0]
            changed[entering] = -factor * old
            self.rows[i] = _short(changed)
        fresh = list(row)
        fresh[0], fresh[entering] = pivot, old
        self.rows[leaving] = _short(fresh)
        self.basic[leaving], self.nonbasic[entering - 1] = self.nonbasic[entering - 1], self.basic[leaving]


def _short(row: list[int]) -> list[int]:
    divisor = math.gcd(*row)
    return row if divisor <= 1 else [v // divisor for v in row]
