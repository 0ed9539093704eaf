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
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal

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
"""Parameters of more bits than this on either side of the fraction are refused, so that a certificate can spell them."""

ROUNDINGS = {"up": ROUND_CEILING, "nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR}
SLACK = {ROUND_CEILING: -1, ROUND_HALF_EVEN: 0, ROUND_FLOOR: 1}
"""In parts of 10^12: how much of a float is not shown, so that the float 0.1 is one tenth in either direction."""
CERTAIN = 4
"""A percentage that would take more digits than this not to read as certain is practically 100 %."""


def as_fraction(value: object, name: str = "value") -> Fraction:
    """The exact value of ``value``. A float counts as the binary fraction it is; the string ``"0.1"`` is one tenth."""
    found = _number_or_problem(value, name)
    if isinstance(found, str):
        raise ParameterError(found)
    return found


def fraction_or_none(value: object) -> Fraction | None:
    """The exact value of ``value``, or None for what is no number: for who asks rather than refuses.

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
    """The number that a string spells in ASCII digits; digits that would take for ever to expand are refused first."""
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


def ceil_div(numerator: int, denominator: int) -> int:
    """The integer quotient rounded up."""
    return -(-numerator // denominator)


def float_up(value: Fraction) -> float:
    """The smallest float that is at least ``value``."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.ldexp(1 - 2.0**-53, 1024)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def upward(value: float | Fraction, digits: int = 6) -> str:
    """A number in at most ``digits`` significant digits, rounded up: what may be said of an epsilon or a delta.

    Only the last digits of a float are not shown: an excess of less than one part in 10^12, such as that of the float 0.1 over
    one tenth.

    >>> upward(0.6931471805599453), upward(1.0), upward(2.0**-40, 3)
    ('0.693148', '1', '9.1e-13')
    """
    return _shown(value, digits, ROUND_CEILING)


def downward(value: float | Fraction, digits: int = 6) -> str:
    """A number in at most ``digits`` significant digits, rounded down: what may be said of an epsilon or a distance that is safe.

    Only the last digits of a float are not shown: less than one part in 10^12, by which the float 0.3 misses three tenths.

    >>> downward(3.9818613), downward(0.3), downward(math.inf)
    ('3.98186', '0.3', 'inf')
    """
    return _shown(value, digits, ROUND_FLOOR)


def figure(value: float | Fraction, digits: int = 3, rounding: Literal["up", "nearest", "down"] = "up") -> str:
    """A number as a person reads it: so many digits, thousands set apart, and words for millions; no powers of ten.

    Of a whole number of up to six digits all are shown. Only what is below a millionth is written as a power.

    >>> figure(4399.7), figure(9.9505), figure(0.3), figure(1_234_567), figure(0.00204), figure(2.0**-40)
    ('4,400', '9.96', '0.3', '1.24 million', '0.00204', '9.1e-13')
    >>> figure(48_123, rounding="nearest"), figure(61.94, rounding="nearest"), figure(-0.5, rounding="down")
    ('48,123', '61.9', '-0.5')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "infinite" if value > 0 else str(value)
    exact = Fraction(value)
    size = abs(exact)
    if exact.denominator == 1 and size < 10**6:
        return f"{int(exact):,}"
    if size >= 10**15:
        return _shown(value, digits, ROUNDINGS[rounding])
    for unit, name in ((10**12, " trillion"), (10**9, " billion"), (10**6, " million")):
        if size >= unit:
            return f"{_plain(exact / unit, digits, rounding)}{name}"
    return _plain(exact, digits, rounding) if size >= Fraction(1, 10**6) else _shown(value, digits, ROUNDINGS[rounding])


def numeral(value: float | Fraction) -> str:
    """A number that somebody gave, such as a radius or a confidence, as a person reads it: the nearest in six digits.

    >>> numeral(0.05), numeral(Fraction(1, 3)), numeral(1e6), numeral(2500.0)
    ('0.05', '0.333333', '1 million', '2,500')
    """
    return figure(value, 6, "nearest")


def percent(share: float | Fraction, digits: int = 3) -> str:
    """A probability in per cent, rounded up in three digits; near certainty with as many as it takes not to say certain.

    >>> percent(0.12345), percent(0.55), percent(0.997269), percent(0.999876), percent(1.0)
    ('12.4 %', '55 %', '99.8 %', '99.99 %', '100 %')
    >>> percent(1 - 2.0**-40)
    'practically 100 %'
    """
    if share >= 1:
        return "100 %"
    shown = figure(100 * Fraction(share), digits)
    while shown == "100" and digits < CERTAIN:
        digits += 1
        shown = figure(100 * Fraction(share), digits)
    return "practically 100 %" if shown == "100" else f"{shown} %"


def _plain(value: Fraction, digits: int, rounding: str) -> str:
    shown = Decimal(_shown(value, digits, ROUNDINGS[rounding]))
    return f"{shown:,f}"


def _shown(value: float | Fraction, digits: int, rounding: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    exact = Fraction(value) * Fraction(10**12 + (SLACK[rounding] if value > 0 else -SLACK[rounding]), 10**12)
    shown = Context(prec=digits, rounding=rounding).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    shown = shown.normalize()
    plain = not shown or -5 <= shown.adjusted() < digits + 2
    return f"{shown:f}" if plain else f"{shown:e}".replace("e+", "e")


def float_down(value: Fraction) -> float:
    """The largest float that is at most ``value``."""
    return -float_up(-value)


@lru_cache(maxsize=65536)
def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    r"""Integers ``(low, high)`` with ``low <= e**exponent * 2**bits <= high``.

    The relative width is about ``2**-bits`` for non-negative exponents, the absolute width about one unit for negative
    ones. Taylor's series after halving the argument, each operation rounded outwards.
    """
    if exponent < 0:
        if -exponent > bits:  # below one unit, and the power itself would be a needlessly long integer
            return 0, 1
        low, high = exp_bounds(-exponent, bits + 2)
        return (1 << (2 * bits + 2)) // high, ceil_div(1 << (2 * bits + 2), low)
    if exponent == 0:
        return 1 << bits, 1 << bits
    halvings = max(0, math.ceil(exponent).bit_length() + 1 + math.isqrt(bits) // 2)
    work = bits + 2 * halvings + 32
    numerator, denominator = exponent.numerator, exponent.denominator << halvings
    low_arg, high_arg = (numerator << work) // denominator, ceil_div(numerator << work, denominator)
    low = high = low_term = high_term = 1 << work
    order = 0
    while high_term > 1:
        order += 1
        low_term = (low_term * low_arg // order) >> work
        high_term = ceil_div(high_term * high_arg, order << work)
        low, high = low + low_term, high + high_term
    high += 2  # the rest of the series is below the last term, because the argument is at most 1/2
    for _ in range(halvings):
        low, high = (low * low) >> work, ceil_div(high * high, 1 << work)
    return low >> (work - bits), ceil_div(high, 1 << (work - bits))


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
