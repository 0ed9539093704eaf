"""Integers between columns and mechanisms: common code of integers, dates and times.

``per_unit`` is how many of what is stored make one of what a mechanism sees. On the way out a number is rounded, and moved to
the range of the type where it is beyond (an age in 8 bits stays below 128). That looks at the noisy value alone, so it costs
no privacy.

>>> BOOLEAN.read(pa.array([True, False])).tolist(), BOOLEAN.fits(pa.array(["true", "FALSE", None]), pa.bool_())
([True, False], True)

==============================  =========================================================  ==============================
column                          what a mechanism sees                                      what comes out
==============================  =========================================================  ==============================
integers, 8 to 64 bits     the same integers                                     the same type
decimals without places         the same integers                                     the same type
floats, 16 to 64 bits           64-bit floats                                              the same type
==============================  =========================================================  ==============================

Nothing is rounded on the way in. Decimals with places are of no kind, since no float holds most of them: two rounded values
could be farther apart than the values were, and the guarantee would not cover them. NaN counts as missing, like null.

>>> INTEGER.write(np.array([127.6, -3.2]), pa.int8()).to_pylist(), NUMBER.present(pa.array([0.5, float("nan")])).tolist()
([127, -3], [True, False])

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.columns.arrow import (
    Mask,
    all_true,
    arrow_array,
    arrow_cast,
    arrow_scalar,
    numpy_array,
    pc,
    restore,
    take_present,
)
from noisewright.columns.column_type import Form, Kind, Span, Speech
from noisewright.exceptions import DataError, ParameterError

__all__ = [
    "BOOLEAN",
    "DATE",
    "INTEGER",
    "NUMBER",
    "TIME",
    "ZONED",
    "Boolean",
    "Date",
    "Integer",
    "Number",
    "Time",
    "can_hold_whole",
    "in_form",
    "is_number",
    "nullable",
    "read_whole",
    "rounded",
    "signed_ends",
    "whole_scalar",
]


def read_whole(stored: pa.Array, per_unit: int = 1) -> NDArray[Any]:
    """Stored integers in the unit of a mechanism, fractions of it cut off."""
    values: NDArray[Any] = numpy_array(stored)
    return values // per_unit if per_unit > 1 else values


def in_form(values: NDArray[Any], form: Form) -> Any:
    """Numbers as a mechanism wants them."""
    return values if form == "numpy" else arrow_array(values)


def nullable(values: Any, type_: pa.DataType, write: Callable[[NDArray[Any], pa.DataType], pa.Array]) -> pa.Array:
    """Written numbers, of numpy or of Arrow, where a null of Arrow stays one."""
    if not isinstance(values, pa.Array):
        return write(values, type_)
    mask = numpy_array(values.is_valid()) if values.null_count else None
    return restore(write(numpy_array(take_present(values, mask)), type_), mask)


def rounded(values: NDArray[Any], low: int, high: int) -> NDArray[np.int64]:
    """The nearest integers within two ends."""
    if values.dtype.kind == "f":
        # Floats near 2^63 are multiples of 1024: the last one below it is still a 64-bit integer.
        values = np.clip(np.rint(values), float(low), min(float(high), 2.0**63 - 1024)).astype(np.int64)
    elif low > -(1 << 62) or high < 1 << 62:
        values = np.clip(values, low, high)
    return np.asarray(values, dtype=np.int64)


def signed_ends(bits: int, per_unit: int = 1) -> tuple[int, int]:
    """Return the least and the greatest signed number of this number of bits, in the unit of a mechanism."""
    # One more than the least number: some readers take that one for a missing value.
    most = ((1 << (bits - 1)) - 1) // per_unit
    return -most, most


def can_hold_whole(numbers: Sequence[int | float], ends: tuple[int, int]) -> bool:
    """Return whether all of the numbers are whole and within two ends."""
    return not any(number % 1 for number in numbers) and ends[0] <= min(numbers) and max(numbers) <= ends[1]


def whole_scalar(kind: Kind, value: Any, type_: pa.DataType) -> pa.Scalar:
    """A value of a kind whose values are integers, in the type of a column; refused where it does not fit there."""
    if is_number(value) and kind.can_hold([value], type_):
        return kind.write(np.array([value], dtype=np.int64), kind.output_type(type_))[0]
    raise kind.unfit(type_)


def is_number(value: Any) -> bool:
    """Return whether a value of a policy is a number, which true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# Booleans -----------------------------------------------------------------------------------------------------------------
#
# True and false.


@dataclass(frozen=True)
class Boolean(Kind):
    """Truth values."""

    def holds(self, type_: pa.DataType) -> bool:
        """True/false; also in a dictionary."""
        return bool(pa.types.is_boolean(self.output_type(type_)))

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """The same truth values."""
        return array if form == "arrow" else numpy_array(array)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The same truth values."""
        return self.as_written(values, type_)

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """True or false."""
        if isinstance(value, bool):
            return arrow_scalar(value, self.output_type(type_))
        raise self.unfit(type_)

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every cell is the word true or false, however it is capitalised."""
        return all_true(_among(pc.call_function("ascii_lower", [cells]), ["true", "false", None]))

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is true or false, without quotes."""
        return all_true(_among(cells, ["true", "false", None]))

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """A truth value."""
        return "BOOLEAN"

    def sql_number(self, column: str, type_: pa.DataType, dialect: Speech) -> str | None:
        """1 for true, 0 for false."""
        return f"(CASE WHEN {column} THEN CAST('1.0' AS DOUBLE) ELSE CAST('0.0' AS DOUBLE) END)"


BOOLEAN = Boolean("boolean", "true/false", "true or false", pa.bool_(), chart="categories")


def _among(cells: pa.Array, values: list[str | None]) -> pa.Array:
    return pc.call_function("is_in", [cells], pc.SetLookupOptions(arrow_array(values)))


# Numbers ------------------------------------------------------------------------------------------------------------------
#
# Numbers: whole ones, and floats.


LONGEST_WHOLE = 18
"""Digits of an integer that a float keeps, whatever they are; a longer one is a code."""


@dataclass(frozen=True)
class Integer(Kind):
    """Integers."""

    def holds(self, type_: pa.DataType) -> bool:
        """Integers of any width, and decimals without places; also in a dictionary."""
        plain = self.output_type(type_)
        return bool(pa.types.is_integer(plain) or (pa.types.is_decimal(plain) and plain.scale == 0))

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """The same integers."""
        if pa.types.is_decimal(array.type):
            try:
                array = array.cast(pa.int64())
            except pa.ArrowException:
                raise DataError("a value is beyond 64 bits; rescale the column.") from None
        return in_form(read_whole(array), form)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """Rounded, and moved to the range of the type."""
        return nullable(values, type_, self._written)

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """An integer that the type can hold."""
        return whole_scalar(self, value, type_)

    def can_hold(self, numbers: Sequence[int | float], type_: pa.DataType) -> bool:
        """Return whether they are whole and within the range of the type."""
        return can_hold_whole(numbers, _ends(self.output_type(type_)))

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every cell is an integer in its plain form: ``007`` is a code, not a number."""
        try:
            values = arrow_cast(cells, type_)
        except pa.ArrowInvalid:
            return False
        return all_true(pc.call_function("equal", [arrow_cast(values, pa.string()), cells]))

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is an integer, without quotes."""
        return all_true(pc.invert(pc.starts_with(cells, '"'))) and self.fits(cells, type_)

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """A type that holds all of its values."""
        if pa.types.is_uint64(type_):
            return "UBIGINT" if dialect == "duckdb" else "DECIMAL(20, 0)"
        if pa.types.is_decimal(type_):
            wide = "VARCHAR" if dialect == "duckdb" else "STRING"
            return f"DECIMAL({type_.precision}, {type_.scale})" if type_.precision <= 38 else wide
        return "BIGINT"

    def sql_number(self, column: str, type_: pa.DataType, dialect: Speech) -> str | None:
        """The number itself; a decimal by way of its digits, since engines divide decimals in different ways."""
        return (
            f"CAST(CAST({column} AS STRING) AS DOUBLE)" if pa.types.is_decimal(type_) else f"CAST({column} AS DOUBLE)"
        )

    def _written(self, values: NDArray[Any], type_: pa.DataType) -> pa.Array:
        whole = rounded(values, *_ends(type_))
        if pa.types.is_decimal(type_):
            return arrow_array(whole).cast(pa.decimal128(19, 0)).cast(type_)
        return arrow_array(whole.astype(type_.to_pandas_dtype(), copy=False), type=type_)


@dataclass(frozen=True)
class Number(Kind):
    """Numbers with a point."""

    def holds(self, type_: pa.DataType) -> bool:
        """Floats of any width; also in a dictionary."""
        return bool(pa.types.is_floating(self.output_type(type_)))

    def present(self, array: pa.Array) -> Mask | None:
        """Return a mask of the numbers: NaN is not a number."""
        mask: Mask = ~np.isnan(numpy_array(array))  # a null becomes NaN
        return None if mask.all() else mask

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """64-bit floats, exactly."""
        return in_form(numpy_array(array).astype(np.float64, copy=False), form)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """Rounded to the width of the type; never infinite."""
        return nullable(values, type_, self._written)

    def distinct(self, array: pa.Array) -> pa.Array:
        """All of them: floats hardly ever occur twice."""
        return array

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """A number that the type can hold."""
        if is_number(value) and self.can_hold([value], type_):
            return self.write(np.array([value], dtype=np.float64), self.output_type(type_))[0]
        raise self.unfit(type_)

    def can_hold(self, numbers: Sequence[int | float], type_: pa.DataType) -> bool:
        """Return whether they are within the range of the type."""
        most = float(np.finfo(self.output_type(type_).to_pandas_dtype()).max)
        return -most <= min(numbers) and max(numbers) <= most

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every cell is a number, none with a superfluous 0, and none a long code that would lose digits."""
        try:
            arrow_cast(cells, type_)
        except pa.ArrowInvalid:
            return False
        padded = pc.and_(pc.starts_with(cells, "0"), pc.greater(pc.binary_length(cells), arrow_scalar(1)))
        long = pc.greater(pc.binary_length(cells), arrow_scalar(LONGEST_WHOLE))
        if pc.any(long).as_py() and pc.any(pc.match_substring_regex(cells.filter(long), r"^[-+]?\d+$")).as_py():
            return False
        return all_true(pc.or_(pc.invert(padded), pc.starts_with(cells, "0.")))

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is a number, without quotes."""
        return all_true(pc.invert(pc.starts_with(cells, '"'))) and self.fits(cells, type_)

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """The widest float."""
        return "DOUBLE"

    def sql_number(self, column: str, type_: pa.DataType, dialect: Speech) -> str | None:
        """The number itself."""
        return f"CAST({column} AS DOUBLE)"

    def _written(self, values: NDArray[Any], type_: pa.DataType) -> pa.Array:
        wanted = np.dtype(type_.to_pandas_dtype())
        if wanted.itemsize < 8:
            limit = float(np.finfo(wanted).max)
            values = np.clip(values, -limit, limit)
        return arrow_array(values.astype(wanted, copy=False), type=type_)


def _ends(type_: pa.DataType) -> tuple[int, int]:
    """The least and the greatest integer that a type can hold, within 64 bits."""
    if pa.types.is_decimal(type_):
        most = min(10**type_.precision - 1, (1 << 63) - 1)
        return -most, most
    if pa.types.is_unsigned_integer(type_):
        return 0, min((1 << type_.bit_width) - 1, (1 << 63) - 1)
    return signed_ends(type_.bit_width)


INTEGER = Integer(
    "integer",
    "whole numbers",
    "a whole number",
    pa.int64(),
    wider="number",
    castable=frozenset({"number"}),
    numeric=True,
    whole=True,
    coordinate=True,
    nearest=Fraction(1),
    chart="numbers",
)
NUMBER = Number(
    "number",
    "numbers",
    "a number",
    pa.float64(),
    castable=frozenset({"integer"}),
    numeric=True,
    coordinate=True,
    chart="numbers",
)


# Dates --------------------------------------------------------------------------------------------------------------------
#
# Dates and times, as the integers that a mechanism sees: days and seconds since 1970.


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
