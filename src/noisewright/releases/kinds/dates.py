"""Dates and times of a policy as the whole numbers that a mechanism sees: days and seconds since 1970."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa

from noisewright.core.errors import ParameterError
from noisewright.releases.kinds.codecs import in_words, kind_of

__all__ = ["day_or_second"]


def day_or_second(value: Any, column: pa.DataType, name: str, side: int) -> Any:
    """A date as its day, or as its first (``side`` 0) or last second; a time as its second; anything else as it is."""
    if not isinstance(value, (datetime.date, datetime.time)):
        return value
    kind = kind_of(column)
    if isinstance(value, datetime.time) or kind not in ("date", "time"):
        what = "a time of day" if isinstance(value, datetime.time) else "a date"
        raise ParameterError(f"{name} has {what}, but the column is {in_words(column)}; write it as in the column.")
    clock = isinstance(value, datetime.datetime)
    if kind == "date":
        if clock:
            raise ParameterError(f"{name} has a date with a clock, but the column holds dates; leave the clock out.")
        return value.toordinal() - datetime.date(1970, 1, 1).toordinal()
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time(23, 59, 59) if side else datetime.time())
    if (value.tzinfo is None) != (column.tz is None):
        raise ParameterError(
            f"{name} must be a time with an offset, such as 2024-01-31T00:00:00Z, since the column has a time zone."
            if column.tz is not None
            else f"{name} must be a time without an offset, such as 2024-01-31T00:00:00, since the column has no time zone."
        )
    since = value - datetime.datetime(1970, 1, 1, tzinfo=None if value.tzinfo is None else datetime.UTC)
    return since // datetime.timedelta(seconds=1)
