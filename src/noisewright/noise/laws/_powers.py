r"""Powers :math:`a^n` of :math:`a = e^{-\text{rate}}`: for whole columns of n in fixed point, and enclosed exactly for one.

:class:`FixedPowers` gives, in 64-bit integer arithmetic and without a float, numbers of ``2**-62`` units that are at most
``error`` units below the truth. :class:`PowerBounds` gives Python integers that enclose a power as tightly as one likes.
A sampler decides by the first and settles the rare draw that falls within the error by the second.

>>> powers = FixedPowers(Fraction(1, 3))
>>> exact = PowerBounds(Fraction(1, 3), 62)
>>> low, high = exact(5)
>>> 0 <= low - int(powers(np.array([5], dtype=np.uint64))[0]) <= powers.error + 2
True
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.core.exact import ceil_div, exp_bounds

__all__ = ["ONE", "UNIT_BITS", "FixedPowers", "PowerBounds", "multiply_high"]

UNIT_BITS = 62
"""Fixed-point numbers are multiples of ``2**-62``; a sum of two probabilities still fits in a signed word."""

ONE = 1 << UNIT_BITS
DIGIT_BITS = 11

_HALF = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)

Words = NDArray[np.uint64]


def multiply_high(x: Words, y: Words) -> Words:
    """``x * y / 2**64`` rounded down, or up to two units less: the three leading products of 32-bit halves.

    The fourth product and the two fractions that are cut off are each below one unit. ``x`` is below ``2**63``.
    """
    x_high, y_high = x >> _HALF, y >> _HALF
    return np.asarray(x_high * y_high + (x_high * (y & _LOW) >> _HALF) + ((x & _LOW) * y_high >> _HALF))


class FixedPowers:
    """``a**n * 2**62`` for arrays of ``n``, by one table look-up for each digit of n and a product of them.

    The result is never above the truth, and at most ``error`` units below it. Every n takes the same work.
    """

    def __init__(self, rate: Fraction) -> None:
        # From this n on the power is below one unit; larger n are treated as this one, and give zero.
        self._largest = ceil_div(UNIT_BITS * rate.denominator, rate.numerator)
        digits = max(1, ceil_div(self._largest.bit_length(), DIGIT_BITS))
        self._width = ceil_div(self._largest.bit_length(), digits)
        self._tables = []
        for place in range(digits):
            # The first table is in units of 2**-62, the others in units of 2**-64 (where 1 is written one unit less).
            scale = UNIT_BITS if place == 0 else 64
            base = PowerBounds(rate * (1 << (place * self._width)), scale + 32)
            values = [min(base(n)[0] >> 32, (1 << 64) - 1) for n in range(1 << self._width)]
            self._tables.append(np.array(values, dtype=np.uint64))
        # A table entry is less than one unit too low. A product adds the error of the other factor (below 1, and below
        # 1/2 from its own rounding) and at most 3 of its own.
        self.error = 1 + 5 * (digits - 1)

    def __call__(self, exponents: Words) -> Words:
        n = np.minimum(exponents, np.uint64(self._largest))
        mask = np.uint64((1 << self._width) - 1)
        result: Words = self._tables[0].take((n & mask).view(np.int64))
        for place, table in enumerate(self._tables[1:], start=1):
            digit = (n >> np.uint64(place * self._width)) & mask
            result = multiply_high(result, table.take(digit.view(np.int64)))
        return result


class PowerBounds:
    """``bounds(n)`` gives integers ``low <= a**n * 2**bits <= high``, by repeated squaring with outward rounding."""

    def __init__(self, rate: Fraction, bits: int) -> None:
        self.bits = bits
        # Squaring doubles relative errors; 64 more bits keep a power of 2**60 as tight as the first.
        self._work = bits + 72
        self._squares = [exp_bounds(-rate, self._work)]

    def __call__(self, n: int) -> tuple[int, int]:
        low = high = 1 << self._work
        place = 0
        while n >> place and high > 1:
            if place == len(self._squares):
                below, above = self._squares[-1]
                self._squares.append((below * below >> self._work, ceil_div(above * above, 1 << self._work)))
            if n >> place & 1:
                below, above = self._squares[place]
                low, high = low * below >> self._work, ceil_div(high * above, 1 << self._work)
            place += 1
        if n >> place:  # so small that further factors only make it smaller
            low = 0
        return low >> 72, min(ceil_div(high, 1 << 72), 1 << self.bits)
