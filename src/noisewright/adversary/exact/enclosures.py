r"""Numbers known to lie between two others, for signs that floats get wrong.

The families are compared by the sign of expressions in ``e^(-epsilon)``, and some of them fail by one part in 10^14 of
their terms. An :class:`Enclosure` holds a real number between two integers times one power of two. Every operation
rounds outwards, and the caller chooses the number of significant bits. An enclosure that is positive or negative holds
a number of that sign.

>>> from fractions import Fraction
>>> a = Enclosure.of_exp(Fraction(-8), 64)  # e^-8
>>> (1 - a).sign(), (a - a).sign() is None, (1 - (1 + a) * (1 - a)).sign()
(1, True, 1)
>>> low, high = a.ends()
>>> float(low) == float(high) == 0.00033546262790251185
True

Reference: Moore, *Interval Analysis* (1966).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from noisewright.core.exact import exp_bounds

__all__ = ["PRECISIONS", "Enclosure", "Number", "ends_of", "sign_of"]

PRECISIONS = (160, 512, 2048)
"""Significant bits that a sign is tried with, one after the other."""


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A real number between ``low * 2**scale`` and ``high * 2**scale``; results keep ``bits`` significant bits."""

    low: int
    high: int
    scale: int
    bits: int

    @classmethod
    def of_exp(cls, exponent: Fraction, bits: int) -> Enclosure:
        """``e**exponent`` with the given number of significant bits, also where it is very small."""
        extra = max(0, int(-exponent * 3 / 2)) + 8
        low, high = exp_bounds(exponent, bits + extra)
        return _rounded(low, high, -bits - extra, bits)

    @classmethod
    def of_fraction(cls, value: Fraction | int, bits: int) -> Enclosure:
        """A fraction, exactly where it has a short power of two below."""
        number = Fraction(value)
        shift = bits + 8 + number.denominator.bit_length() - number.numerator.bit_length()
        shift = max(shift, 0)
        low, rest = divmod(number.numerator << shift, number.denominator)
        return _rounded(low, low + (rest > 0), -shift, bits)

    def ends(self) -> tuple[Fraction, Fraction]:
        """The two bounds, as fractions."""
        power = Fraction(2) ** self.scale
        return self.low * power, self.high * power

    def sign(self) -> int | None:
        """1 or -1 where the number is certainly above or below zero, 0 where it is zero, None where that is not known."""
        if self.low > 0:
            return 1
        if self.high < 0:
            return -1
        return 0 if self.low == self.high == 0 else None

    def __add__(self, other: Enclosure | Fraction | int) -> Enclosure:
        given = self._take(other)
        scale = min(self.scale, given.scale)
        mine, theirs = self.scale - scale, given.scale - scale
        low = (self.low << mine) + (given.low << theirs)
        return _rounded(low, (self.high << mine) + (given.high << theirs), scale, self.bits)

    def __mul__(self, other: Enclosure | Fraction | int) -> Enclosure:
        given = self._take(other)
        corners = (self.low * given.low, self.low * given.high, self.high * given.low, self.high * given.high)
        return _rounded(min(corners), max(corners), self.scale + given.scale, self.bits)

    def __truediv__(self, other: Enclosure | Fraction | int) -> Enclosure:
        given = self._take(other)
        if given.low <= 0:
            raise ZeroDivisionError("an enclosure is divided by positive numbers only")
        shift = self.bits + given.high.bit_length() + 8
        low = min((self.low << shift) // given.low, (self.low << shift) // given.high)
        high = max(-((-self.high << shift) // given.low), -((-self.high << shift) // given.high))
        return _rounded(low, high, self.scale - given.scale - shift, self.bits)

    def __pow__(self, power: int) -> Enclosure:
        found, square = self._take(1), self
        while power:
            found = found * square if power & 1 else found
            power >>= 1
            square = square * square if power else square
        return found

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.high, -self.low, self.scale, self.bits)

    def __sub__(self, other: Enclosure | Fraction | int) -> Enclosure:
        return self + (-self._take(other))

    def __rsub__(self, other: Fraction | int) -> Enclosure:
        return self._take(other) - self

    def __rtruediv__(self, other: Fraction | int) -> Enclosure:
        return self._take(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def _take(self, other: Enclosure | Fraction | int) -> Enclosure:
        return other if isinstance(other, Enclosure) else Enclosure.of_fraction(other, self.bits)


Number = Fraction | Enclosure
"""Number type in which the formulas of the families are evaluated: exactly, or within bounds."""


def ends_of(number: Number | int) -> tuple[Fraction, Fraction]:
    """Two bounds of a number, which are the number itself where it is known exactly."""
    return number.ends() if isinstance(number, Enclosure) else (Fraction(number), Fraction(number))


def sign_of(value: Callable[[int], Number | int]) -> int | None:
    """The sign of ``value(bits)``, with more and more bits; None where it stays open.

    >>> sign_of(lambda bits: 1 - Enclosure.of_exp(Fraction(-1, 2**500), bits))
    1
    """
    for bits in PRECISIONS:
        number = value(bits)
        if not isinstance(number, Enclosure):
            return (number > 0) - (number < 0)
        sign = number.sign()
        if sign is not None:
            return sign
    return None


def _rounded(low: int, high: int, scale: int, bits: int) -> Enclosure:
    """The same bounds with shorter integers, the lower one rounded down and the upper one up."""
    drop = max(low.bit_length(), high.bit_length()) - bits - 8
    if drop <= 0:
        return Enclosure(low, high, scale, bits)
    return Enclosure(low >> drop, -((-high) >> drop), scale + drop, bits)
