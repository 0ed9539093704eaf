r"""Dates and times, as the integers that a mechanism sees: days and seconds since 1970.

==============================  =========================================================  ==============================
column                          what a mechanism sees                                      what comes out
==============================  =========================================================  ==============================
dates                           whole days since 1970-01-01                                the same type
times (a date and a clock)      whole seconds since 1970-01-01, fractions cut off          the same type, on the second
==============================  =========================================================  ==============================

Two times at most an integer D of seconds apart stay so once fractions are cut off. Where a column of times is given a date,
the low end of a range is the first second of that day and the high end the last one.

>>> days = pa.array([datetime.date(1970, 1, 8), datetime.date(2024, 2, 29)])
>>> DATE.read(days).tolist()
[7, 19782]
>>> DATE.write(np.array([7.0, 19783.0]), days.type).to_pylist()[1]
datetime.date(2024, 3, 1)
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.mechanisms.arrow import arrow_array, pc
from noisewright.releases.kinds._whole import (
    can_hold_whole,
    in_form,
    nullable,
    read_whole,
    rounded,
    signed_ends,
    whole_scalar,
)
from noisewright.releases.kinds.kind import Form, Kind, Speech
from noisewright.releases.kinds.rows import all_true
from noisewright.releases.kinds.spans import Span

__all__ = ["DATE", "TIME", "ZONED", "Date", "Time"]

ZONED = pa.timestamp("us", "UTC")
"""Times with an offset: moments, whatever the clock of the place shows. A policy calls them times, too."""

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Number of each unit of a time in a second."""

HOUR_ALONE = r"[ T]\d\d($|[^\d:])"
"""An hour without its minutes."""

MILLISECONDS = 86_400_000
"""Number of milliseconds in a day."""

SECONDS_OF_A_DAY = 86_400

EPOCH = datetime.date(1970, 1, 1)

FIRST_DAY, LAST_DAY = (day.toordinal() - EPOCH.toordinal() for day in (datetime.date.min, datetime.date.max))
"""The days of the years 1 to 9999, counted from 1970: beyond these Python, pandas and Spark have no dates, and no one
could read the release."""


@dataclass(frozen=True)
class Date(Kind):
    """Days."""

    def holds(self, type_: pa.DataType) -> bool:
        """Dates in days or in milliseconds; also in a dictionary."""
        return bool(pa.types.is_date(self.output_type(type_)))

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """Whole days since 1970."""
        days = pa.types.is_date32(array.type)
        stored = array.view(pa.int32() if days else pa.int64())
        return in_form(read_whole(stored, 1 if days else MILLISECONDS), form)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The nearest day of the years 1 to 9999."""
        return nullable(values, type_, self._written)

    def place(self, value: Any, type_: pa.DataType, name: str, side: int = 0) -> Any:
        """A date as its day."""
        if not isinstance(value, datetime.date):
            return super().place(value, type_, name, side)
        if isinstance(value, datetime.datetime):
            raise ParameterError(f"{name} has a date with a clock, but the column holds dates; leave the clock out.")
        return value.toordinal() - EPOCH.toordinal()

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """A day that the type can hold."""
        return whole_scalar(self, value, type_)

    def can_hold(self, numbers: Sequence[int | float], type_: pa.DataType) -> bool:
        """Return whether they are days of the years 1 to 9999."""
        return can_hold_whole(numbers, _days(self.output_type(type_)))

    def distance(self, protect: Fraction | Span) -> Fraction:
        """Days."""
        if not isinstance(protect, Span):
            return Fraction(protect)
        if protect.days is None:
            raise ParameterError(
                f'protect = "{protect}" is not a whole number of days, and the column holds dates; write "1 day" or more.'
            )
        return Fraction(protect.days)

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """A date."""
        return "DATE"

    def sql_number(self, column: str, type_: pa.DataType, dialect: Speech) -> str | None:
        """Days since 1970; dates in milliseconds are not read alike by all engines."""
        return f"CAST({dialect.days(column)} AS DOUBLE)" if pa.types.is_date32(type_) else None

    def _written(self, values: NDArray[Any], type_: pa.DataType) -> pa.Array:
        days = rounded(values, *_days(type_))
        if pa.types.is_date32(type_):
            return arrow_array(days.astype(np.int32)).view(type_)
        return arrow_array(days * MILLISECONDS).view(type_)


@dataclass(frozen=True)
class Time(Kind):
    """Dates with a clock, with or without a time zone."""

    def holds(self, type_: pa.DataType) -> bool:
        """Timestamps of any unit; also in a dictionary."""
        return bool(pa.types.is_timestamp(self.output_type(type_)))

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """Whole seconds since 1970."""
        return in_form(read_whole(array.view(pa.int64()), UNITS[array.type.unit]), form)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The nearest second of the years 1 to 9999."""
        return nullable(values, type_, self._written)

    def place(self, value: Any, type_: pa.DataType, name: str, side: int = 0) -> Any:
        """A time as its second; a date as its first or its last one."""
        if not isinstance(value, datetime.date):
            return super().place(value, type_, name, side)
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime.combine(value, datetime.time(23, 59, 59) if side else datetime.time())
        zone = self.output_type(type_).tz
        if (value.tzinfo is None) != (zone is None):
            raise ParameterError(
                f"{name} must be a time with an offset, such as 2024-01-31T00:00:00Z, since the column has a time zone."
                if zone is not None
                else f"{name} must be a time without an offset, such as 2024-01-31T00:00:00, since the column has no time "
                "zone."
            )
        since = value - datetime.datetime(1970, 1, 1, tzinfo=None if value.tzinfo is None else datetime.UTC)
        return since // datetime.timedelta(seconds=1)

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """A second that the type can hold."""
        return whole_scalar(self, value, type_)

    def can_hold(self, numbers: Sequence[int | float], type_: pa.DataType) -> bool:
        """Return whether they are seconds of the years 1 to 9999 that the type can hold."""
        return can_hold_whole(numbers, _seconds(self.output_type(type_)))

    def distance(self, protect: Fraction | Span) -> Fraction:
        """Seconds; a plain number does not say of what."""
        if isinstance(protect, Span):
            return protect.seconds
        raise ParameterError(
            f'protect = {protect} does not say of what; the column holds times, so write protect = "7 days", "2 hours" or '
            '"30 seconds".'
        )

    def after_reading(self, distance: Fraction) -> Fraction:
        """Fractions of a second are cut off, so two times land up to an integer of seconds apart."""
        return Fraction(math.ceil(distance))

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every cell is a time; an hour without minutes is one for Arrow alone."""
        return super().fits(cells, type_) and all_true(
            pc.call_function(
                "invert", [pc.call_function("match_substring_regex", [cells], pc.MatchSubstringOptions(HOUR_ALONE))]
            )
        )

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """A timestamp; a moment where it has a zone."""
        zoned = type_.tz is not None
        if dialect == "duckdb":
            return "TIMESTAMP WITH TIME ZONE" if zoned else "TIMESTAMP"
        return "TIMESTAMP" if zoned else "TIMESTAMP_NTZ"

    def sql_number(self, column: str, type_: pa.DataType, dialect: Speech) -> str | None:
        """Seconds since 1970."""
        return f"(CAST({dialect.microseconds(column)} AS DOUBLE) / CAST('1000000.0' AS DOUBLE))"

    def _written(self, values: NDArray[Any], type_: pa.DataType) -> pa.Array:
        return arrow_array(rounded(values, *_seconds(type_)) * UNITS[type_.unit]).view(type_)


def _days(type_: pa.DataType) -> tuple[int, int]:
    low, high = signed_ends(32) if pa.types.is_date32(type_) else signed_ends(64, MILLISECONDS)
    return max(low, FIRST_DAY), min(high, LAST_DAY)


def _seconds(type_: pa.DataType) -> tuple[int, int]:
    low, high = signed_ends(64, UNITS[type_.unit])
    return max(low, FIRST_DAY * SECONDS_OF_A_DAY), min(high, (LAST_DAY + 1) * SECONDS_OF_A_DAY - 1)


DATE = Date(
    "date",
    "dates",
    "a date such as 2024-02-29",
    pa.date32(),
    wider="time",
    castable=frozenset({"time", "text"}),
    numeric=True,
    whole=True,
    calendar=True,
    unit="day",
    nearest=Fraction(1),
    chart="dates",
)
TIME = Time(
    "time",
    "times",
    "a time such as 2024-02-29 12:30:00, without an offset",
    pa.timestamp("us"),
    castable=frozenset({"date", "text"}),
    numeric=True,
    whole=True,
    calendar=True,
    unit="second",
    chart="dates",
)
