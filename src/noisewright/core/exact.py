r"""Exact numbers and directed rounding: what every privacy decision rests on.

All functions here work on integers and fractions. ``exp_bounds`` and ``log_bounds`` enclose a real number between two
integers over a power of two, so that a caller can always round towards more privacy:

>>> from fractions import Fraction
>>> low, high = exp_bounds(Fraction(1), 64)
>>> low / 2**64 <= 2.718281828459045 <= high / 2**64, high - low <= 2
(True, True)
>>> float_up(Fraction(1, 3)) > Fraction(1, 3) > float_down(Fraction(1, 3))
True
"""

from __future__ import annotations

import math
import numbers
import re
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
from noisewright.core.errors import ParameterError

__all__ = [
    "Exact",
    "as_fraction",
    "ceil_div",
    "downward",
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
    "upward",
    "whole_or_fraction",
]

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
