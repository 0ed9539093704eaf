r"""Between columns of Arrow and the values of a mechanism, exactly, and back.

==============================  =========================================================  ==============================
column                          what a mechanism sees                                      what comes out
==============================  =========================================================  ==============================
whole numbers, 8 to 64 bits     the same whole numbers                                     the same type
decimals without places         the same whole numbers                                     the same type
floats, 16 to 64 bits           64-bit floats                                              the same type
dates                           whole days since 1970-01-01                                the same type
times (a date and a clock)      whole seconds since 1970-01-01, fractions cut off          the same type, on the second
text, also with a dictionary    text                                                       utf8
true/false                      true/false                                                 true/false
==============================  =========================================================  ==============================

Nothing is rounded on the way in but fractions of a second: two times at most a whole number D of seconds apart stay so.
Decimals with places are refused, since no float holds most of them: two rounded values could be farther apart than the
values were, and the promise would not cover them.

On the way out a number is rounded to what the type of the column can hold, and moved to its range if it is beyond (an age
in 8 bits stays below 128). That looks at the noisy value alone, so it costs no privacy.

NaN counts as missing, like null.

>>> import datetime
>>> days = pa.array([datetime.date(1970, 1, 8), datetime.date(2024, 2, 29)])
>>> read_numbers(days).tolist()
[7, 19782]
>>> write_numbers(np.array([7.0, 19783.0]), days.type).to_pylist()[1]
datetime.date(2024, 3, 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.core.errors import DataError, ParameterError
from noisewright.mechanisms.arrow import arrow_array, arrow_scalar, numpy_array

__all__ = [
    "Kind",
    "as_array",
    "as_scalar",
    "can_hold",
    "fill_missing",
    "in_words",
    "kind_of",
    "output_type",
    "plain_text",
    "present",
    "read_numbers",
    "restore",
    "take_present",
    "write",
    "write_numbers",
]

Kind = Literal["whole", "number", "date", "time", "text", "boolean"]
"""What a column holds, as a mechanism sees it; dates and times are whole numbers, of days and of seconds."""

Mask = NDArray[np.bool_]

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many of each unit of a time make a second."""

MILLISECONDS = 86_400_000
"""In a day."""

SECONDS_OF_A_DAY = 86_400

FIRST_DAY, LAST_DAY = (day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max))
"""The days of the years 1 to 9999, counted from 1970."""

_WORDS = {
    "whole": "whole numbers",
    "number": "numbers",
    "date": "dates",
    "time": "times",
    "text": "text",
    "boolean": "true/false",
}


def kind_of(type_: pa.DataType) -> Kind | None:
    """What a column of this type holds; None for a type that no mechanism takes."""
    if pa.types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if pa.types.is_integer(type_) or (pa.types.is_decimal(type_) and type_.scale == 0):
        return "whole"
    if pa.types.is_floating(type_):
        return "number"
    if pa.types.is_date(type_):
        return "date"
    if pa.types.is_timestamp(type_):
        return "time"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return "text"
    return "boolean" if pa.types.is_boolean(type_) else None


def in_words(type_: pa.DataType) -> str:
    """What a column of this type is, for a message."""
    kind = kind_of(type_)
    if kind is not None:
        return _WORDS[kind]
    return f"decimals with {type_.scale} places" if pa.types.is_decimal(type_) else f"of type {type_}"


def output_type(type_: pa.DataType) -> pa.DataType:
    """The type of a perturbed column: its own; text is utf8, and a dictionary becomes its values."""
    if kind_of(type_) == "text":
        return pa.string()
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def as_array(column: Any) -> pa.Array:
    """A column in one piece; a dictionary of anything but text, or with a null in it, is written out."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.DictionaryArray) and (kind_of(column.type) != "text" or column.dictionary.null_count):
        return column.dictionary_decode()
    return column


def present(arrays: list[pa.Array]) -> Mask | None:
    """Where nothing is missing in any of the columns; None where that is everywhere."""
    found: Mask | None = None
    for array in arrays:
        if pa.types.is_floating(array.type):
            mask = ~np.isnan(numpy_array(array))  # a null becomes NaN
            if mask.all():
                continue
        elif array.null_count:
            mask = numpy_array(array.is_valid())
        else:
            continue
        found = mask if found is None else found & mask
    return found


def take_present(array: pa.Array, mask: Mask | None) -> pa.Array:
    """The rows of the mask, none of them missing."""
    return array if mask is None else array.filter(arrow_array(mask))


def restore(array: pa.Array, mask: Mask | None) -> pa.Array:
    """The rows back in their places, null where something was missing."""
    if mask is None:
        return array
    places = np.cumsum(mask) - 1
    return array.take(arrow_array(places, mask=~mask))


def read_numbers(array: pa.Array) -> NDArray[Any]:
    """A column without missing values as whole numbers or as 64-bit floats, exactly."""
    kind = array.type
    if pa.types.is_decimal(kind):
        try:
            array = array.cast(pa.int64())
        except pa.ArrowException:
            raise DataError("a value is beyond 64 bits; rescale the column.") from None
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        array = array.view(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    values: NDArray[Any] = numpy_array(array)
    unit = _per_unit(kind)
    if unit > 1:
        values = values // unit
    return values.astype(np.float64, copy=False) if values.dtype.kind == "f" else values


def write_numbers(values: NDArray[Any], type_: pa.DataType) -> pa.Array:
    """Numbers as a column of the given type: rounded to what it can hold, and moved to its range where they are beyond."""
    if pa.types.is_floating(type_):
        wanted = np.dtype(type_.to_pandas_dtype())
        if wanted.itemsize < 8:
            limit = float(np.finfo(wanted).max)
            values = np.clip(values, -limit, limit)
        return arrow_array(values.astype(wanted, copy=False), type_)
    low, high = _limits(type_)
    whole = _whole(values, low, high)
    if pa.types.is_decimal(type_):
        return arrow_array(whole).cast(pa.decimal128(19, 0)).cast(type_)
    unit = _per_unit(type_)
    if unit > 1:
        whole = whole * unit
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        narrow = whole.astype(np.int32) if pa.types.is_date32(type_) else whole
        return arrow_array(narrow).view(type_)
    return arrow_array(whole.astype(type_.to_pandas_dtype(), copy=False), type_)


def write(values: Any, type_: pa.DataType) -> pa.Array:
    """Outputs of a mechanism, numpy's or Arrow's, as a column of the given type; a null stays one."""
    kind = kind_of(type_)
    if kind in ("text", "boolean"):
        column = values if isinstance(values, pa.Array) else pa.array(values, type=type_)
        if column.type != type_:
            raise DataError(
                "the outputs of the mechanism are of another kind than the column; convert the column first."
            )
        return column
    if not isinstance(values, pa.Array):
        return write_numbers(values, type_)
    mask = numpy_array(values.is_valid()) if values.null_count else None
    return restore(write_numbers(numpy_array(take_present(values, mask)), type_), mask)


def plain_text(array: pa.Array) -> pa.Array:
    """A column of text as plain utf8; any other column as it is."""
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    return array.cast(pa.string()) if kind_of(array.type) == "text" and array.type != pa.string() else array


def fill_missing(array: pa.Array, value: Any) -> pa.Array:
    """The column with a public value wherever it is missing."""
    plain, mask = plain_text(array), present([array])
    return plain if mask is None else pc.if_else(arrow_array(mask), plain, as_scalar(value, plain.type))


def as_scalar(value: Any, type_: pa.DataType) -> pa.Scalar:
    """A value, as a mechanism sees it, in the type of a column; refused where it does not fit there."""
    kind, wanted = kind_of(type_), output_type(type_)
    if isinstance(value, str if kind == "text" else bool if kind == "boolean" else ()):
        return arrow_scalar(value, wanted)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and can_hold(type_, [value]):
        return write_numbers(np.array([value], dtype=np.float64 if kind == "number" else np.int64), wanted)[0]
    raise ParameterError(
        f"a value to fill in is not one of {in_words(type_)} that the column can hold; choose another."
    )


def can_hold(type_: pa.DataType, numbers: Sequence[int | float]) -> bool:
    """Whether a column of this type can hold all of the numbers, floats of fewer bits rounded."""
    kind, wanted = kind_of(type_), output_type(type_)
    if kind == "number":
        most = float(np.finfo(wanted.to_pandas_dtype()).max)
        return -most <= min(numbers) and max(numbers) <= most
    if kind in (None, "text", "boolean") or any(number % 1 for number in numbers):
        return False
    low, high = _limits(wanted)
    return low <= min(numbers) and max(numbers) <= high


def _per_unit(type_: pa.DataType) -> int:
    """How many of what is stored make one of what a mechanism sees."""
    if pa.types.is_timestamp(type_):
        return UNITS[type_.unit]
    return MILLISECONDS if pa.types.is_date64(type_) else 1


def _limits(type_: pa.DataType) -> tuple[int, int]:
    """The least and the greatest whole number that a type can hold, as a mechanism sees them, within 64 bits."""
    if pa.types.is_decimal(type_):
        most = min(10**type_.precision - 1, (1 << 63) - 1)
        return -most, most
    bits = 32 if pa.types.is_date32(type_) else type_.bit_width
    if pa.types.is_unsigned_integer(type_):
        return 0, min((1 << bits) - 1, (1 << 63) - 1)
    unit = _per_unit(type_)
    # One more than the least number: some readers take that one for a missing value.
    low, high = -(((1 << (bits - 1)) - 1) // unit), ((1 << (bits - 1)) - 1) // unit
    if not (pa.types.is_date(type_) or pa.types.is_timestamp(type_)):
        return low, high
    # Beyond these years Python, pandas and Spark have no dates, and nobody could read what was released.
    day = SECONDS_OF_A_DAY if pa.types.is_timestamp(type_) else 1
    return max(low, FIRST_DAY * day), min(high, (LAST_DAY + 1) * day - 1)


def _whole(values: NDArray[Any], low: int, high: int) -> NDArray[np.int64]:
    if values.dtype.kind == "f":
        # Floats near 2^63 are multiples of 1024: the last one below it is still a 64-bit integer.
        values = np.clip(np.rint(values), float(low), min(float(high), 2.0**63 - 1024)).astype(np.int64)
    elif low > -(1 << 62) or high < 1 << 62:
        values = np.clip(values, low, high)
    return np.asarray(values, dtype=np.int64)
