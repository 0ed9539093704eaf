"""Columns of other libraries: they go into a mechanism and come out as they are, of pandas, of Polars, or of Arrow.

>>> import pyarrow as pa
>>> doubled = in_kind(lambda self, values, rng=None: 2 * np.asarray(values))
>>> doubled(None, pa.array([1, 2])).type, doubled(None, [1, 2]).tolist()
(DataType(int64), [2, 4])

A mechanism whose reports are single values takes one column, and nothing else is read as one: not an array with two axes,
not a table, which would yield the names of its columns, and not a set, which holds every value once. Values that are
missing or masked are missing reports.

>>> numeric([3, None, 5]).tolist()
[3.0, nan, 5.0]
>>> numeric(np.array([[3, 5]]))
Traceback (most recent call last):
noisewright.exceptions.DataError: each report of this mechanism is one value, and an array with 2 axes was given; ...
>>> numeric(["3", "5"]) is None
True

A report that is missing, or has another number of parts, is distinguished rather than refused: whether the column is
of this mechanism at all is decided when all of it was counted.

>>> column = plain_column(pa.array([[7, 1], None, [2, 3, 4]]), "give pairs.")
>>> rows, there = list_rows(column, 2)
>>> rows.tolist(), there.tolist()
([[7, 1], [0, 0], [0, 0]], [True, False, False])
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.exceptions import DataError

__all__ = [
    "Floats",
    "arrow_column",
    "as_dtype",
    "as_numbers",
    "as_single",
    "byte_rows",
    "in_kind",
    "length_of",
    "list_rows",
    "numeric",
    "parts_of",
    "plain_column",
    "vectors",
]


Release = TypeVar("Release", bound=Callable[..., Any])


def in_kind(release: Release) -> Release:
    """A method ``release(self, values, rng)`` whose outputs are of the kind of the values.

    A pandas Series or frame gives one with the same index, names and dtypes, a Polars Series one of the same dtype if
    it can hold the output, and an Arrow array an Arrow array; a frame of Polars and a table of Arrow keep their names.
    Reports with named parts (``report_fields``) become a frame with that index, or structs. The sample is not changed;
    only outputs are converted.
    """

    @wraps(release)
    def released(self: Any, values: Any, rng: np.random.Generator | None = None) -> Any:
        drawn = release(self, values, rng)
        library = type(values).__module__.partition(".")[0]
        wrap = WRAPS.get(library) if isinstance(drawn, np.ndarray) and library in sys.modules else None
        return drawn if wrap is None else wrap(values, drawn, getattr(self, "report_fields", ()))

    return released  # type: ignore[return-value]


def _pandas(values: Any, drawn: NDArray[Any], fields: tuple[str, ...]) -> Any:
    import pandas

    if not isinstance(values, (pandas.Series, pandas.DataFrame)):
        return drawn  # an index, or values alone
    if fields and values.ndim == 1:
        return pandas.DataFrame(drawn, index=values.index, columns=list(fields))
    if len(drawn) != len(values) or drawn.ndim != values.ndim or drawn.shape[1:] != values.shape[1:]:
        return drawn  # reports of another form, such as bits for a category
    if values.ndim == 1:
        return as_dtype(pandas.Series(drawn, index=values.index, name=values.name), values.dtype)
    columns = [as_dtype(pandas.Series(drawn[:, k], index=values.index), dtype) for k, dtype in enumerate(values.dtypes)]
    frame = pandas.concat(columns, axis=1)
    frame.columns = values.columns
    return frame


def as_dtype(series: Any, dtype: Any) -> Any:
    """A pandas Series in another dtype of the same sort, if that holds its values; otherwise as it is.

    Categories come from the values alone: the words of the other dtype may be of people who are not in the table any
    more.
    """
    import pandas

    if series.dtype == dtype:
        return series
    kinds = pandas.api.types
    if isinstance(dtype, pandas.CategoricalDtype):
        return series.astype("category")
    if kinds.is_datetime64_dtype(dtype) and kinds.is_object_dtype(series.dtype):  # days, which pandas has no dtype for
        with suppress(ValueError, TypeError):
            return pandas.to_datetime(series).astype(dtype)
    for sort in (
        kinds.is_bool_dtype,
        kinds.is_integer_dtype,
        kinds.is_float_dtype,
        kinds.is_datetime64_any_dtype,
        _texts,
    ):
        if sort(dtype) and sort(series.dtype):
            found = series.astype(dtype)
            whole = kinds.is_integer_dtype(dtype)
            return series if whole and not (found.astype(series.dtype) == series).fillna(True).all() else found
    return series


def _texts(dtype: Any) -> bool:
    import pandas

    return isinstance(dtype, pandas.StringDtype) or pandas.api.types.is_object_dtype(dtype)


def _polars(values: Any, drawn: NDArray[Any], fields: tuple[str, ...]) -> Any:
    import polars

    if fields and isinstance(values, polars.Series):
        return polars.DataFrame(drawn, schema=list(fields), orient="row").to_struct(values.name)
    if isinstance(values, polars.DataFrame) and drawn.shape == values.shape:
        return polars.DataFrame(drawn, schema=values.columns, orient="row")
    if drawn.ndim != 1 or not isinstance(values, polars.Series):
        return drawn
    made = polars.Series(values.name, drawn)
    try:
        return made.cast(values.dtype) if made.dtype.is_integer() == values.dtype.is_integer() else made
    except polars.exceptions.PolarsError:  # it cannot hold the output
        return made


def _arrow(values: Any, drawn: NDArray[Any], fields: tuple[str, ...]) -> Any:
    import pyarrow

    if isinstance(values, pyarrow.Table) and drawn.shape == values.shape:
        return pyarrow.table([pyarrow.array(column) for column in drawn.T], names=values.column_names)
    if drawn.ndim != 1 or isinstance(values, pyarrow.Table):
        return drawn
    made = pyarrow.array(drawn)
    if pyarrow.types.is_integer(made.type) == pyarrow.types.is_integer(values.type):
        with suppress(pyarrow.ArrowException):  # the type may not hold the output
            made = made.cast(values.type)
    return pyarrow.chunked_array([made]) if isinstance(values, pyarrow.ChunkedArray) else made


WRAPS = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow}


# Columns ------------------------------------------------------------------------------------------------------------------
#
# Columns of reports in every form that people have them: lists, arrays, columns of Arrow, pandas or polars, whole tables.


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


# Coordinates --------------------------------------------------------------------------------------------------------------
#
# Columns of coordinate vectors: one row a secret. A bad column is refused as a whole, without showing a coordinate.


def as_numbers(values: Any) -> NDArray[Any]:
    """The values as an array; rows of different lengths give an empty one of objects, and a masked array is refused."""
    masked = np.ma.isMaskedArray(values) or (
        isinstance(values, (list, tuple)) and any(np.ma.isMaskedArray(row) for row in values)
    )
    if masked:
        raise DataError("a masked column has missing values; fill or drop them first.")
    try:
        return np.asarray(values)
    except (TypeError, ValueError):  # rows of different lengths
        return np.empty((0, 0), dtype=object)


def vectors(values: Any, dimension: int) -> tuple[Floats, bool]:
    """The coordinates as an array with ``dimension`` columns, and whether a single vector was given."""
    given = as_numbers(values)
    if given.shape in ((0,), (0, dimension)):
        return np.empty((0, dimension)), False
    single = given.shape == (dimension,)
    if not single and (given.ndim != 2 or given.shape[1] != dimension):
        raise DataError(
            f"the values must be rows of {dimension} coordinates each; give an array with {dimension} columns."
        )
    if given.dtype.kind not in "iuf":
        raise DataError("the coordinates are not numbers; convert the columns first.")
    # Wider numbers would be rounded to floats first, and rounding twice can move two points farther apart than one step.
    wide = given.dtype.kind in "iu" and max(abs(int(given.min())), abs(int(given.max()))) > 1 << 53
    if wide or given.dtype.itemsize > 8:
        raise DataError("the coordinates are wider than 64-bit floats or beyond 2^53; convert the columns first.")
    floats = given.astype(np.float64, copy=False).reshape(-1, dimension)
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(floats.sum())  # finite unless a coordinate is not, or the sum overflows: the cheap question first
    if not math.isfinite(total) and not np.isfinite(floats).all():
        raise DataError("a coordinate is missing or infinite; drop or repair such rows first.")
    return floats, single


def as_single(rows: NDArray[Any], single: bool) -> Any:
    """The rows, or the only one of them as a tuple."""
    return tuple(rows[0].tolist()) if single else rows


# Report rows --------------------------------------------------------------------------------------------------------------
#
# Columns of reports that have several parts each, whatever they are kept in: rows of bytes, pairs of numbers.


Rows = NDArray[np.integer[Any]]


def plain_column(reports: Any, wanted: str) -> Any:
    """A column of Arrow, an array of integers with one or two axes, or a list; ``wanted`` is the message for anything else."""
    if isinstance(reports, pa.ChunkedArray):
        return reports.combine_chunks()
    if isinstance(reports, pa.Array):
        return reports
    if np.ma.is_masked(reports):
        raise DataError("some reports are masked; drop them first.")
    if isinstance(reports, np.ndarray):
        if reports.ndim not in (1, 2) or (reports.size and reports.dtype.kind not in "iuO"):
            raise DataError(wanted)
        return reports if reports.size and reports.dtype.kind != "O" else reports.tolist()
    table = isinstance(reports, Mapping) or hasattr(reports, "columns")
    if table or isinstance(reports, (str, bytes)) or not isinstance(reports, Iterable):
        raise DataError(wanted)
    if hasattr(reports, "to_numpy"):  # a column of pandas or polars
        try:
            read = pa.chunked_array if hasattr(reports, "__arrow_c_stream__") else pa.array
            return plain_column(read(reports), wanted)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            pass  # of Python's objects, of several kinds
    return list(reports)


def byte_rows(column: Any, width: int) -> tuple[Rows, NDArray[np.bool_]] | None:
    """The bytes of each report, and which reports have ``width`` of them; None for a column of Arrow that holds no bytes."""
    kind = column.type
    if pa.types.is_fixed_size_binary(kind):
        if kind.byte_width == width and not column.null_count:  # as they are released: no copy
            part = np.frombuffer(column.buffers()[1], dtype=np.uint8)[column.offset * width :]
            return part[: len(column) * width].reshape(len(column), width), np.ones(len(column), dtype=bool)
        column = column.cast(pa.binary())
    elif not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)):
        return None
    whole = column.cast(pa.large_binary())
    return _of_length(whole, pc.binary_length(whole), width, _bytes)


def list_rows(column: Any, width: int) -> tuple[Rows, NDArray[np.bool_]] | None:
    """The numbers of each report, and which reports have ``width`` of them; None for a column without lists of integers."""
    kind = column.type
    if pa.types.is_null(kind):  # all of them are missing
        return np.zeros((len(column), width), dtype=np.int64), np.zeros(len(column), dtype=bool)
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if not lists or not pa.types.is_integer(kind.value_type):
        return None
    return _of_length(column, pc.list_value_length(column), width, _whole)


def _of_length(column: Any, lengths: Any, width: int, read: Callable[[Any], Rows]) -> tuple[Rows, NDArray[np.bool_]]:
    right = pc.fill_null(pc.equal(lengths, width), False)
    there = np.asarray(right.to_numpy(zero_copy_only=False), dtype=bool)
    kept = read(column if there.all() else column.filter(right)).reshape(-1, width)
    if there.all():
        return kept, there
    rows = np.zeros((len(column), width), dtype=kept.dtype)
    rows[there] = kept
    return rows, there


def _bytes(column: Any) -> Rows:
    if not len(column):
        return np.zeros(0, dtype=np.uint8)
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(data, dtype=np.uint8)[ends[0] : ends[-1]] if data is not None else np.zeros(0, dtype=np.uint8)


def _whole(column: Any) -> Rows:
    """The parts of lists; -1, which is part of no report, for one that is missing."""
    parts = column.flatten()
    if parts.null_count:
        parts = parts.cast(pa.int64(), safe=False).fill_null(-1)
    return np.asarray(parts.to_numpy(zero_copy_only=False))
