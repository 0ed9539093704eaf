"""Columns of reports in every form that people have them: lists, arrays, columns of Arrow, pandas or polars, whole tables.

A mechanism whose reports are single values takes one column, and nothing else is read as one: not an array with two axes,
not a table, which would yield the names of its columns, and not a set, which holds every value once. Values that are
missing or masked are missing reports.

>>> numeric([3, None, 5]).tolist()
[3.0, nan, 5.0]
>>> numeric(np.array([[3, 5]]))
Traceback (most recent call last):
noisewright.core.errors.DataError: each report of this mechanism is one value, and an array with 2 axes was given; ...
>>> numeric(["3", "5"]) is None
True
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.errors import DataError

__all__ = ["arrow_column", "length_of", "numeric", "parts_of"]

NO_COLUMN = "reports are a column: give a list, an array or a column of Arrow."

ONE_COLUMN = (
    "each report of this mechanism is one value, and {given} given; give one column, or for several mechanisms a list of as many "
    "columns and a list of the mechanisms."
)


def numeric(values: Any) -> NDArray[Any] | None:
    """A column as numbers, NaN where one is missing; None if it does not hold numbers."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        values = arrow_column(values)
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if pa.types.is_decimal(values.type):
            values = values.cast(pa.float64())
        if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
            return None
        return _signed(np.asarray(values.to_numpy(zero_copy_only=False)))
    given = _array(values)
    if given.dtype.kind == "O":
        column = arrow_column(given)
        return _numbers_among(given.tolist()) if column is None else numeric(column)
    return _signed(given) if given.dtype.kind in "iuf" else None


def arrow_column(values: Any) -> Any:
    """A column of Arrow; None if values of several kinds do not make one."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        if pa.types.is_nested(values.type):
            raise DataError(ONE_COLUMN.format(given="a column of lists or of several parts was"))
        return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    given = _array(values)
    try:
        return pa.array(given.tolist() if given.dtype.kind == "U" else given, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def parts_of(values: Any, count: int) -> list[Any]:
    """The parts of a column of tuples, each as a column."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if _is_table(values):
        if len(columns := _columns(values)) == count:
            return columns
    elif isinstance(values, pa.StructArray):
        if values.type.num_fields == count:
            return list(values.flatten())
    elif isinstance(values, np.ndarray) and values.ndim == 2:
        if values.shape[1] == count:
            return list(values.T)
    elif isinstance(values, Iterable) and not isinstance(values, (str, bytes, pa.Array)):
        listed = list(values)
        if all(isinstance(v, (tuple, list, np.ndarray)) and len(v) == count for v in listed):
            return [list(place) for place in zip(*listed, strict=True)] or [[] for _ in range(count)]
    raise DataError(
        f"each report of this mechanism has {count} parts; give tuples, or an array or a table with {count} columns."
    )


def length_of(values: Any) -> int:
    """Return the number of reports in a column."""
    return len(values) if hasattr(values, "__len__") else len(list(values))


def _is_table(values: Any) -> bool:
    """Return whether something is a table of Arrow, pandas, polars or DuckDB."""
    return isinstance(values, (pa.Table, pa.RecordBatch)) or hasattr(type(values), "columns")


def _columns(values: Any) -> list[Any]:
    """The columns of a table; none where they cannot be had one by one."""
    if isinstance(values, (pa.Table, pa.RecordBatch)):
        return list(values.columns)
    return [values[name] for name in values.columns] if hasattr(values, "__len__") else []


def _array(values: Any) -> NDArray[Any]:
    """Return a column as an array: of numbers or truth values, or of its objects."""
    if isinstance(values, (str, bytes, set, frozenset)):
        raise DataError(NO_COLUMN)
    if _is_table(values):
        raise DataError(ONE_COLUMN.format(given="a table was"))
    if isinstance(values, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(values)
        values = values.data.astype(object)
        values[masked] = None
    elif hasattr(values, "__array__"):
        values = np.asarray(values)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise DataError(ONE_COLUMN.format(given=f"an array with {values.ndim} axes was"))
        if values.dtype.kind != "O":
            return values
    elif not isinstance(values, Iterable):
        raise DataError(NO_COLUMN)
    listed = list(values)
    kinds = set(map(type, listed))
    if any(issubclass(kind, Iterable) and not issubclass(kind, (str, bytes, tuple)) for kind in kinds):
        raise DataError(ONE_COLUMN.format(given="lists or arrays were"))
    # numpy would turn mixed values into text, and text with a character of code 0 at its end into other text.
    if kinds and all(issubclass(kind, (int, float, np.number)) for kind in kinds) and bool not in kinds:
        try:
            return np.array(listed)
        except OverflowError:
            pass
    return np.fromiter(listed, dtype=object, count=len(listed))


def _numbers_among(values: list[Any]) -> NDArray[np.float64] | None:
    """The numbers among values of several kinds; NaN for the others, and for those too large to be an output."""
    numbers = [isinstance(v, (int, float, np.number)) and not isinstance(v, (bool, complex)) for v in values]
    found = [v if number and abs(v) < 1 << 53 else np.nan for v, number in zip(values, numbers, strict=True)]
    return np.array(found, dtype=np.float64) if any(numbers) else None


def _signed(given: NDArray[Any]) -> NDArray[Any]:
    """Integers with a sign, so that nothing wraps around; those too large for it are beyond all outputs as floats
    too.
    """
    if given.dtype.kind == "i" or (given.dtype.kind == "u" and given.dtype.itemsize < 8):
        return given.astype(np.int64, copy=False)
    return given if given.dtype.kind == "f" else given.astype(np.float64)
