r"""Systems of equations with non-negative unknowns, decided in fractions.

``A R = B`` with ``R >= 0``: column by column (the cone of A's columns, which is the max-case order), or with rows of R
that sum to one (the average-case order). The result is either a solution or multipliers that prove that no solution
exists; both are exact.

:class:`~noisewright.optimality.algebra.elimination.Elimination` brings A to reduced form once. Where its columns are
independent that is all. Otherwise the free unknowns
are a linear program without an objective, decided by the dual simplex method, which can start from any basis: a float
solver's answer is a *hint* where to start, never part of the proof. Bland's rule makes it end.

>>> solved, weights = cone(Elimination([[2, 1, 1], [1, 2, 1]], [[4], [5]]), 0)
>>> solved, [str(v) for v in weights]
(True, ['1', '2', '0'])

Reference: Chvatal, *Linear Programming* (1983), chapters 3 and 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.optimality.algebra.echelon import shortened
from noisewright.optimality.algebra.elimination import Elimination, Rows, Vector

__all__ = ["TooLargeError", "cone", "stochastic"]

MOST_WORK = 40_000_000
"""Entries that may be updated, counted once for every 512 bits; beyond it :class:`TooLargeError` is raised."""

HINTED = 1e-7
"""Unknowns above this in a float solution are brought into the first basis."""


class TooLargeError(Exception):
    """The exact decision would take too long."""


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
        self.rows = [shortened(row) for row in rows]
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
            self.rows[i] = shortened(changed)
        fresh = list(row)
        fresh[0], fresh[entering] = pivot, old
        self.rows[leaving] = shortened(fresh)
        self.basic[leaving], self.nonbasic[entering - 1] = self.nonbasic[entering - 1], self.basic[leaving]
