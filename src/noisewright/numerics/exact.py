"""Exact numbers and directed rounding: what every privacy decision rests on.

All functions here work on integers and fractions. ``exp_bounds`` and ``log_bounds`` enclose a real number between two
integers over a power of two, so that a caller can always round towards more privacy:

>>> from fractions import Fraction
>>> low, high = exp_bounds(Fraction(1), 64)
>>> low / 2**64 <= 2.718281828459045 <= high / 2**64, high - low <= 2
(True, True)
>>> float_up(Fraction(1, 3)) > Fraction(1, 3) > float_down(Fraction(1, 3))
True

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

import math
import numbers
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from noisewright.claims.figures import (
    ceil_div,
    downward,
    exp_bounds,
    figure,
    float_down,
    float_up,
    numeral,
    percent,
    upward,
)
from noisewright.exceptions import ParameterError

__all__ = [
    "PRECISIONS",
    "Enclosure",
    "Exact",
    "Number",
    "as_confidence",
    "as_fraction",
    "ceil_div",
    "downward",
    "ends_of",
    "exp_bounds",
    "figure",
    "float_down",
    "float_up",
    "fraction_or_none",
    "in_words",
    "log_bounds",
    "numeral",
    "percent",
    "positive_fraction",
    "sign_of",
    "upward",
    "whole_or_fraction",
]


def as_confidence(confidence: Exact) -> float:
    """A confidence greater than 0 and below 1."""
    confidence = float(as_fraction(confidence, "confidence"))
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must be above 0 and below 1, such as 0.95, not {confidence:g}.")
    return confidence


Exact = int | float | str | Fraction
"""A number given exactly: an int, a Fraction, a string such as ``"1/3"`` or ``"0.1"``, or a float taken as it is."""

LARGEST_SPELLED = 6_000
"""Maximum number of bits of a parameter on either side of the fraction, so that a certificate can write it out."""


def as_fraction(value: object, name: str = "value") -> Fraction:
    """The exact value of ``value``. A float counts as the binary fraction it is; the string ``"0.1"`` is one tenth."""
    found = _number_or_problem(value, name)
    if isinstance(found, str):
        raise ParameterError(found)
    return found


def fraction_or_none(value: object) -> Fraction | None:
    """The exact value of ``value``, or None if it is not a number: for callers that ask rather than reject.

    >>> fraction_or_none("1/3"), fraction_or_none("yes")
    (Fraction(1, 3), None)
    """
    found = _number_or_problem(value, "value")
    return None if isinstance(found, str) else found


def _number_or_problem(value: object, name: str) -> Fraction | str:
    """The exact value, or the sentence that refuses it."""
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, bool) and isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, str):
        return _read(value, name)
    if not isinstance(value, bool) and isinstance(value, numbers.Real):
        try:
            number = float(value)
        except OverflowError:
            return f"{name} is too large a number; the largest float is about 1.8e308."
        return Fraction(number) if math.isfinite(number) else f"{name} must be a finite number, not {number}."
    return f"{name} must be a number, not {type(value).__name__}."


def positive_fraction(value: object, name: str) -> Fraction:
    """The exact value of ``value``, which must be finite and above zero."""
    number = as_fraction(value, name)
    if number <= 0:
        shown = value.strip()[:40] if isinstance(value, str) else in_words(number)
        raise ParameterError(f"{name} must be greater than 0, not {shown}.")
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > LARGEST_SPELLED:
        raise ParameterError(f"{name} is far too long or too large a number; write it like 0.5 or 1/2.")
    return number


def whole_or_fraction(value: Fraction) -> int | Fraction:
    """The number as an int where it is whole, which is how labels and messages have it."""
    return value.numerator if value.denominator == 1 else value


def _read(text: str, name: str) -> Fraction | str:
    """Return the number that a string writes in ASCII digits; digits that would take for ever to expand are rejected
    first.
    """
    found = re.fullmatch(r"\s*[-+]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][-+]?(\d+))?)\s*", text, re.ASCII)
    if found is None:
        shown = repr(text) if len(text) <= 40 else f"{text[:40]!r}..."
        return f"{name} = {shown} is not a number; write it like 0.5 or 1/2."
    if len(text) > 4000 or len((found[4] or "").lstrip("0")) > 4:
        return f"{name} is far too long or too large a number; write it like 0.5 or 1/2."
    try:
        return Fraction(text)
    except ZeroDivisionError:
        return f"{name} = {text[:40]!r} is not a number; write it like 0.5 or 1/2."


def in_words(number: Fraction) -> str:
    """A number for a message, also where a float could not hold it."""
    try:
        return (
            str(float(number)) if number == 0 or float(number) else f"a {'negative' if number < 0 else 'tiny'} number"
        )
    except OverflowError:
        return f"a number {'below -' if number < 0 else 'above '}1.8e308"


def log_bounds(value: Fraction, bits: int) -> tuple[int, int]:
    """Integers ``(low, high)`` with ``low <= ln(value) * 2**bits <= high``; ``value`` must be above zero."""
    if value <= 0:
        raise ParameterError("the logarithm needs a number greater than 0.")
    power = value.numerator.bit_length() - value.denominator.bit_length()
    mantissa = value / Fraction(2) ** power
    if mantissa > Fraction(4, 3):
        mantissa, power = mantissa / 2, power + 1
    elif mantissa < Fraction(2, 3):
        mantissa, power = mantissa * 2, power - 1
    work = bits + abs(power).bit_length() + 16
    low, high = _atanh_bounds((mantissa - 1) / (mantissa + 1), work)
    if power:
        low_ln2, high_ln2 = _ln2_bounds(work)
        low += power * (low_ln2 if power > 0 else high_ln2)
        high += power * (high_ln2 if power > 0 else low_ln2)
    shift = work - bits - 1  # ln x = 2 atanh((x - 1) / (x + 1)): one factor of two is the missing bit
    return low >> shift, ceil_div(high, 1 << shift)


@lru_cache(maxsize=64)
def _ln2_bounds(bits: int) -> tuple[int, int]:
    """Half of ln 2, that is atanh(1/3), over ``2**bits``."""
    return _atanh_bounds(Fraction(1, 3), bits)


def _atanh_bounds(argument: Fraction, bits: int) -> tuple[int, int]:
    """Bounds of ``atanh(argument) * 2**bits`` for ``|argument| <= 1/3``."""
    if argument < 0:
        low, high = _atanh_bounds(-argument, bits)
        return -high, -low
    power = (argument.numerator << bits) // argument.denominator
    square = power * power >> bits
    total, order = 0, 1
    while power:
        total += power // order
        power = power * square >> bits
        order += 2
    # Each of the (order - 1)/2 terms was rounded down by less than three units, and the rest is below one unit.
    return total, total + 2 * order + 4


# Enclosures ---------------------------------------------------------------------------------------------------------------
#
# Numbers known to lie between two others, for signs that floats get wrong.


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
