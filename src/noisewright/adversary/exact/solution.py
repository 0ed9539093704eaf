r"""Signs of the solution of a square system, proved without solving it exactly.

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
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.core.arrays import Integers
from noisewright.optimality.algebra.elimination import Rows

__all__ = ["Enclosed", "enclose", "short_solution"]

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
