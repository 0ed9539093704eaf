"""Bars over dates and times that begin where calendars do: at full hours, at midnight, on Mondays, with months and with years.

Days are counted from 1970-01-01. An edge in minutes is a quotient of integers, and so the very float that a time at it is.

>>> [str(day_of(edge)) for edge in calendar_bars(20090, 20445, 31)]
['2025-01-01', '2025-04-01', '2025-07-01', '2025-10-01', '2026-01-01']
>>> [24 * edge % 24 for edge in calendar_bars(20000.1, 20000.9, 0.15)]
[0.0, 6.0, 12.0, 18.0, 0.0]
"""

from __future__ import annotations

import math
from datetime import date

__all__ = ["calendar_bars", "day_of"]

MINUTES = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 20_160)
"""Widths of bars up to two weeks."""
MINUTES_PER_DAY = 1440
MONDAY = 4
"""The first Monday after 1970-01-01, in days."""
MONTHS = (1, 3, 6, 12)
DAYS_PER_MONTH = 30.436875
YEARS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)


def calendar_bars(low: float, high: float, width: float) -> tuple[float, ...]:
    """The edges of bars from ``low`` to ``high``, in days, each about as wide as ``width`` or wider."""
    short = next((minutes for minutes in MINUTES if minutes / MINUTES_PER_DAY >= width * (1 - 1e-12)), None)
    if short is not None:
        start = MONDAY * MINUTES_PER_DAY if short % MINUTES[-2] == 0 else 0
        first = math.floor((low * MINUTES_PER_DAY - start) / short)
        last = max(math.ceil((high * MINUTES_PER_DAY - start) / short), first + 1)
        return tuple((start + k * short) / MINUTES_PER_DAY for k in range(first, last + 1))
    months = next((k for k in (*MONTHS, *(12 * y for y in YEARS)) if k * DAYS_PER_MONTH >= width), 12 * YEARS[-1])
    month = _month_of(day_of(math.floor(low)))
    edges = [month - month % months]
    while _first_of(edges[-1]) < high and edges[-1] // 12 < date.max.year:
        edges.append(edges[-1] + months)
    return tuple(float(_first_of(k)) for k in edges)


def day_of(number: float) -> date:
    """A day by its number from 1970; days beyond all years are at the first or the last day of them."""
    return date.fromordinal(min(max(date(1970, 1, 1).toordinal() + math.floor(number), 1), date.max.toordinal()))


def _month_of(day: date) -> int:
    return 12 * day.year + day.month - 1


def _first_of(month: int) -> int:
    """The number of the first day of a month; before the first year and after the last one, by the length of mean months."""
    year, place = divmod(month, 12)
    if date.min.year <= year <= date.max.year:
        return (date(year, place + 1, 1) - date(1970, 1, 1)).days
    return round((month - 12 * 1970) * DAYS_PER_MONTH)
