r"""Enclosures of :math:`e^{-E}`, :math:`E = \theta \|k\|_2 - r \|k\|_1 \ge 0`, for pairs of integers k.

Many pairs at once in 64-bit integers (:class:`Radial.table`), one pair to any number of bits (:meth:`Radial.bounds`). A float
guesses the square root of :math:`\|k\|_2^2`; an integer comparison then confirms the guess or flags the pair. The exponential
is a product of three entries of digit tables. All that is cut off is bounded, so no outcome ever rests on a rounded number.

>>> radial = Radial.of(Fraction(1, 10), Fraction(1, 20), 8)
>>> low, high = radial.bounds(3, 4, 40)
>>> low <= math.exp(-(0.5 - 0.35)) * 2**40 <= high
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noisewright.core.exact import ceil_div, exp_bounds

__all__ = ["TABLE", "Radial"]

TABLE = 31
"""Bits after the point of a probability in a table."""

_COORDINATE = 30  # bits of a coordinate in fixed point
_FRACTION = 54  # bits after the point of the exponent E
_DIGIT = 10  # bits of a digit of E; three digits, the last one in units of 2**-24
_LAST = 24


@dataclass(frozen=True)
class Radial:
    """Enclosures for one theta (``rate``) and r (``slope``), for coordinates below ``2**reach``, where E must be below 64.

    Coordinates are scaled to 30 bits, E is counted in units of ``2**-54``. With ``unit = 2**(reach - 30 + 54)``:
    ``radius_unit <= rate * unit < radius_unit + 1`` and ``sum_unit - 1 < slope * unit <= sum_unit``.
    """

    rate: Fraction
    slope: Fraction
    reach: int
    radius_unit: int
    sum_unit: int

    @classmethod
    def of(cls, rate: Fraction, slope: Fraction, reach: int) -> Radial:
        """The fixed point for these numbers; ``rate * 2**reach`` may be 128 at most, unless only the origin is in reach."""
        unit = Fraction(2) ** (reach - _COORDINATE + _FRACTION) if reach else Fraction(0)
        return cls(rate, slope, reach, math.floor(rate * unit), math.ceil(slope * unit))

    @property
    def cut(self) -> int:
        """Number of low bits of a coordinate that do not fit in 30 bits."""
        return max(0, self.reach - _COORDINATE)

    @property
    def gaps(self) -> tuple[int, int]:
        """Largest excess of length and sum over their values for the cut coordinates, which each lose less than 1."""
        return (2, 2) if self.cut else (0, 0)  # the length loses less than sqrt(2), the sum less than 2

    @property
    def relative_error(self) -> Fraction:
        """``e**-E * 2**31`` is at least ``table * (1 - relative_error)``; it is always below ``table + 5``."""
        root_gap, sum_gap = self.gaps
        # root < 2**30.5 and sum < 2**31 multiply units that are off by less than one; the root itself is off by less than one.
        width = (3 << _COORDINATE) + (root_gap + 1) * (self.radius_unit + 1) + sum_gap * self.sum_unit
        return Fraction(width, 1 << _FRACTION) + Fraction(1, 1 << _LAST)

    def table(self, across: NDArray[np.int64], up: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Lower estimates of ``e**-E * 2**31``, and which of them are void because the float's guess was wrong.

        ``across`` and ``up`` are the absolute coordinates, below ``2**reach``; they are overwritten.
        """
        if self.cut:
            across >>= self.cut
            up >>= self.cut
        else:
            across <<= _COORDINATE - self.reach
            up <<= _COORDINATE - self.reach
        square = across * across
        square += up * up
        root = np.sqrt(square.astype(np.float64)).astype(np.int64)
        exponent = root * self.radius_unit
        if self.sum_unit:
            across += up
            across += self.gaps[1]
            across *= self.sum_unit
            exponent -= across
            np.maximum(exponent, 0, out=exponent)  # E is never negative, whatever the cut bits made of it
        exponent >>= _FRACTION - _LAST
        high, middle, low = digit_tables()
        mask = (1 << _DIGIT) - 1
        product = high.take(exponent >> (2 * _DIGIT), mode="clip")  # never clips: E < 64
        product *= middle.take((exponent >> _DIGIT) & mask)
        product >>= TABLE
        product *= low.take(exponent & mask)
        product >>= TABLE
        # A guess that is too large makes the rest negative, a huge number when read as unsigned; one too small, above 2 root.
        square -= root * root
        root <<= 1
        return product, square.view(np.uint64) > root.view(np.uint64)

    def bounds(self, x: int, y: int, width: int, shift: Fraction = Fraction(0)) -> tuple[int, int]:
        """Integers ``(low, high)`` with ``low <= e**-(E + shift) * 2**width <= high``, a few units apart."""
        square = x * x + y * y
        places = width + 8 + math.ceil(self.rate).bit_length()
        root = math.isqrt(square << (2 * places))
        linear = self.slope * (abs(x) + abs(y)) - shift
        above = root if root * root == square << (2 * places) else root + 1
        least = max(self.rate * Fraction(root, 1 << places) - linear, Fraction(0))
        most = self.rate * Fraction(above, 1 << places) - linear
        return exp_bounds(-most, width)[0], min(exp_bounds(-least, width)[1], 1 << width)


@lru_cache(maxsize=1)
def digit_tables() -> tuple[NDArray[np.int64], ...]:
    """``e**(-digit * 2**-b) * 2**31`` rounded down, for the digits from the highest: b = 4, 14, 24.

    Each entry is low by less than 1; so the product of three, rounded down twice, is low by less than 5.
    """

    return tuple(_powers(_LAST - _DIGIT * place) for place in (2, 1, 0))


def _powers(b: int) -> NDArray[np.int64]:
    """One table: each entry is enclosed by a product with the one before, which is fast; a doubtful one is worked out alone."""
    work, cut = 96, 96 - TABLE
    decay = exp_bounds(Fraction(-1, 1 << b), work)
    low = high = 1 << work
    values = []
    for digit in range(1 << _DIGIT):
        certain = low >> cut == high >> cut
        values.append((low if certain else exp_bounds(Fraction(-digit, 1 << b), work)[0]) >> cut)
        low, high = low * decay[0] >> work, ceil_div(high * decay[1], 1 << work)
    return np.array(values, dtype=np.int64)
