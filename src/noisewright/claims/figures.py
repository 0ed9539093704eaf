"""Numbers as people read them, and bounds of e^x in whole numbers: what the sentences about claims are made with.

Every number is rounded to a known side, so that a sentence never claims more than its record. Standard library only.

>>> low, high = exp_bounds(Fraction(1), 64)
>>> low / 2**64 <= 2.718281828459045 <= high / 2**64, high - low <= 2
(True, True)
>>> upward(0.1), downward(0.3), percent(0.997269)
('0.1', '0.3', '99.8 %')
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal

__all__ = [
    "ceil_div",
    "decimals",
    "downward",
    "exp_bounds",
    "factor_above",
    "factor_in_words",
    "figure",
    "float_down",
    "float_up",
    "numeral",
    "percent",
    "rounded_up",
    "upward",
]


ROUNDINGS = {"up": ROUND_CEILING, "nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR}
SLACK = {ROUND_CEILING: -1, ROUND_HALF_EVEN: 0, ROUND_FLOOR: 1}
"""In parts of 10^12: how much of a float is not shown, so that the float 0.1 is one tenth in either direction. A fraction has
no such allowance, and losses are given as fractions."""
FLOATS = 1 << 1023
"""Numbers from here on are not taken for floats, since the largest float is less than twice as large."""
CERTAIN = 4
"""A percentage that would take more digits than this not to read as certain is practically 100 %."""


def upward(value: float | Fraction, digits: int = 6) -> str:
    """A number in at most ``digits`` significant digits, rounded up: what may be said of an epsilon or a delta.

    A fraction is never shown as less than it is; losses are given so. Only the last digits of a float, which was measured or
    typed, are not shown: an excess of less than one part in 10^12, such as that of the float 0.1 over one tenth.

    >>> upward(0.6931471805599453), upward(1.0), upward(2.0**-40, 3)
    ('0.693148', '1', '9.1e-13')
    >>> upward(0.1), upward(Fraction(0.1)), upward(Fraction(1, 10)), upward(Fraction(1) + Fraction(1, 10**15))
    ('0.1', '0.10000000000000001', '0.1', '1.000000000000001')
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
    """Return a number as a person reads it: a few digits, thousands set apart, words for millions, and no powers of ten.

    All digits of an integer below a million are shown. Only what is below a millionth is written as a power.

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
    return _plain(value, digits, rounding) if size >= Fraction(1, 10**6) else _shown(value, digits, ROUNDINGS[rounding])


def decimals(value: float | Fraction, places: int = 4) -> str:
    """Return an expected loss with a fixed number of decimals, rounded up, as columns of a table have it.

    >>> decimals(0.3), decimals(2.00001)
    ('0.3000', '2.0001')
    """
    exact = Fraction(value)
    if isinstance(value, float):
        exact *= Fraction(10**12 - (1 if value > 0 else -1), 10**12)
    return f"{Decimal(math.ceil(exact * 10**places)).scaleb(-places):.{places}f}"


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
    hundred = 100 * share if isinstance(share, float) else 100 * Fraction(share)
    shown = figure(hundred, digits)
    while shown == "100" and digits < CERTAIN:
        digits += 1
        shown = figure(hundred, digits)
    return "practically 100 %" if shown == "100" else f"{shown} %"


def _plain(value: float | Fraction, digits: int, rounding: str) -> str:
    shown = Decimal(_shown(value, digits, ROUNDINGS[rounding]))
    return f"{shown:,f}"


def _shown(value: float | Fraction, digits: int, rounding: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    exact = Fraction(value)
    if isinstance(value, float):
        exact *= Fraction(10**12 + (SLACK[rounding] if value > 0 else -SLACK[rounding]), 10**12)
    elif rounding != ROUND_HALF_EVEN and abs(exact) < FLOATS:
        near, missed = Fraction(f"{float(exact):.{digits}g}"), exact if rounding == ROUND_CEILING else -exact
        missed -= near if rounding == ROUND_CEILING else -near
        digits = 17 if 0 < missed * 10**12 <= abs(exact) else digits  # hardly more than a short number, which it is not
    shown = Context(prec=digits, rounding=rounding).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    shown = shown.normalize()
    plain = not shown or -5 <= shown.adjusted() < digits + 2
    return f"{shown:f}" if plain else f"{shown:e}".replace("e+", "e")


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


def factor_in_words(bound: float) -> str:
    """Return the factor ``e^bound``, rounded up: in digits where that is readable."""
    return f"e^{rounded_up(Fraction(bound), 4)}" if bound >= 20 else rounded_up(factor_above(bound), 3)


def factor_above(bound: float) -> Fraction:
    """Return a number that is at least ``e^bound``, and larger by less than 2^-192 of it."""
    return Fraction(exp_bounds(Fraction(bound), 192)[1], 1 << 192)


def rounded_up(value: Fraction, digits: int) -> str:
    """Return a number in a few digits, rounded up, without the allowance for the last bits of a float."""
    least = Context(prec=digits, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return upward(Fraction(least), digits)
