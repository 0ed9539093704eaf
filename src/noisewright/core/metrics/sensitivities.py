r"""Sensitivity of the mean and the standard deviation of numbers in a public range to one record.

The records lie in ``[low, high]`` and their number is public. One of them may be another (``"replace"``), or one may be
there that is not in the other table (``"add"``, where ``size`` is the size of the smaller table). With
``w = high - low``:

================================  =======================  =======================
statistic                         replace, of ``n``        add, to ``n``
================================  =======================  =======================
mean                              ``w / n``                ``w / (n + 1)``
standard deviation                ``w sqrt(n - 1) / n``    ``w sqrt(n) / (n + 1)``
standard deviation, ``ddof=1``    ``w / sqrt(n)``          ``w / sqrt(n + 1)``
================================  =======================  =======================

All of these are attained, by records that are all at one end and one at the other. No two tables are farther apart. A deviation
is the length of the centred records over ``sqrt(n - ddof)``, so replacing one record moves it by no more than a centred unit
vector is long; and a record ``d`` from the mean of ``n`` with deviation ``s`` makes that
``sqrt(n s^2 / (n + 1) + n d^2 / (n + 1)^2)``, which is farthest from ``s`` at ``s = 0``.

>>> mean_sensitivity(0, 120, size=60), mean_sensitivity(0, 120, size=59, neighbours="add")
(Fraction(2, 1), Fraction(2, 1))
>>> deviation_sensitivity(0, 120, size=5), deviation_sensitivity(0, 1, size=4, neighbours="add")
(Fraction(48, 1), Fraction(2, 5))
>>> float(deviation_sensitivity(0, 1, size=50, ddof=1))
0.1414213562373095...

A noisy mean or deviation follows: ``nw.laplace(epsilon=1, sensitivity=mean_sensitivity(0, 120, size=60))``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from noisewright.core.choices import is_whole, one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, ceil_div

__all__ = ["deviation_sensitivity", "mean_sensitivity"]

Change = Literal["replace", "add"]

ROOT_BITS = 64
"""A root that is not a fraction is rounded up by less than one part in two to this power."""


def mean_sensitivity(low: Exact, high: Exact, *, size: int, neighbours: Change = "replace") -> Fraction:
    """The most that one record can change the mean of ``size`` numbers in ``[low, high]``, exactly."""
    return _width(low, high) / _larger(size, neighbours)


def deviation_sensitivity(
    low: Exact, high: Exact, *, size: int, neighbours: Change = "replace", ddof: Literal[0, 1] = 0
) -> Fraction:
    """The most that one record can change the standard deviation, exact where the root is, else rounded up.

    ``ddof`` as in NumPy: 0 divides by the number of records, 1 by one less, which is the default of pandas. One record
    alone has no deviation with ``ddof=1``, so it is refused.
    """
    width, larger = _width(low, high), _larger(size, neighbours)
    if isinstance(ddof, bool) or ddof not in (0, 1):
        raise ParameterError("ddof must be 0 (divide by the number of records) or 1 (by one less).")
    if ddof and size < 2:
        raise ParameterError("size must be 2 or more with ddof=1: one record has no such deviation.")
    return width * _root_up(Fraction(1, larger) if ddof else Fraction(larger - 1, larger**2))


def _width(low: Exact, high: Exact) -> Fraction:
    width = as_fraction(high, "high") - as_fraction(low, "low")
    if width <= 0:
        raise ParameterError("low must be below high: they are the public range of the records.")
    return width


def _larger(size: int, neighbours: str) -> int:
    """The number of records in the larger of two neighbouring tables."""
    one_of(neighbours, "neighbours", ("replace", "add"))
    if not is_whole(size) or size < 1:
        raise ParameterError("size must be a whole number of records, 1 or more.")
    return int(size) + (neighbours == "add")


def _root_up(square: Fraction) -> Fraction:
    """The root where it is a fraction, else the least one above it over a power of two."""
    top, below = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and below * below == square.denominator:
        return Fraction(top, below)
    bits = ROOT_BITS + square.denominator.bit_length()
    return Fraction(math.isqrt(ceil_div(square.numerator << 2 * bits, square.denominator) - 1) + 1, 1 << bits)
