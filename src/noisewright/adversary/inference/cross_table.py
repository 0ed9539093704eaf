"""Joint frequencies of two columns of a table: the counts behind a correlation.

A table is a pyarrow table or record batch, a pandas or Polars frame, or a mapping from names to columns. Values are counted
column by column, never row by row in Python.

>>> people = {"vote": ["red", "blue", "red", "red"], "age": [30, 30, 40, 40]}
>>> found = cross_table(people, "vote", "age")
>>> found.rows, found.columns, found.counts.tolist()
(('blue', 'red'), (30, 40), [[1, 0], [1, 2]])

Numbers, dates and true/false come in their own order, and so do ordered categories; text comes in alphabetical order, which
means nothing: ``found.rows_ordered`` says whether the order does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.core.choices import one_of
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.labels import as_labels

__all__ = ["CrossTable", "arrow_column", "cross_table"]

MOST_VALUES = 10_000
"""Maximum number of different values of a column that is taken for an attribute with categories; a column with more is
rejected.
"""
MOST_CELLS = 4_000_000
"""Tables of counts with more cells than this are not built."""

Names = tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class CrossTable:
    """``counts[i, j]`` rows have the value ``rows[i]`` in the first column and ``columns[j]`` in the second.

    ``rows_ordered`` and ``columns_ordered`` say whether the order of the values means something. ``left_out`` rows had no value
    in one of the two columns and were dropped.
    """

    counts: NDArray[np.int64]
    rows: Names
    columns: Names
    rows_ordered: bool = True
    columns_ordered: bool = True
    left_out: int = 0

    def __post_init__(self) -> None:
        try:
            counts = np.asarray(self.counts)
        except ValueError:
            raise ParameterError("counts must be a matrix of whole numbers with rows of one length.") from None
        if counts.ndim != 2 or counts.dtype.kind not in "iu" or (counts < 0).any() or not counts.any():
            raise ParameterError("counts must be a matrix of whole numbers that are 0 or more, and not all 0.")
        rows, columns = as_labels(self.rows, "rows"), as_labels(self.columns, "columns")
        if counts.shape != (len(rows), len(columns)):
            raise ParameterError(
                f"a matrix of {counts.shape[0]} by {counts.shape[1]} counts has {len(rows)} names of rows and {len(columns)} "
                "of columns; name each row and each column once."
            )
        if len(set(rows)) < len(rows) or len(set(columns)) < len(columns):
            raise ParameterError("a value of a table of counts is named twice; name each once.")
        fixed = np.array(counts, dtype=np.int64)
        fixed.flags.writeable = False
        for name, value in (("counts", fixed), ("rows", rows), ("columns", columns)):
            object.__setattr__(self, name, value)

    @property
    def total(self) -> int:
        """Number of rows that were counted."""
        return int(self.counts.sum())


def cross_table(
    table: Any,
    first: str,
    second: str,
    *,
    first_order: Iterable[Hashable] | None = None,
    second_order: Iterable[Hashable] | None = None,
    missing: str = "refuse",
) -> CrossTable:
    """Count the pairs of values of two columns.

    ``first_order`` and ``second_order`` list the values of a column in the order that they are to have, all of them; values
    that do not occur may be listed too. A row without a value in one of the columns is refused, or left out with
    ``missing="drop"``.
    """
    one_of(missing, "missing", ("refuse", "drop"))
    columns = [arrow_column(table, first), arrow_column(table, second)]
    if len(columns[0]) != len(columns[1]):
        raise DataError(
            f"the columns {first!r} and {second!r} differ in length; a table has one value for each row in each."
        )
    absent = pc.or_(_absent(columns[0]), _absent(columns[1]))
    gaps = int(pc.sum(absent).as_py() or 0)
    if gaps and missing == "refuse":
        raise DataError(
            f"some rows have no value in {first!r} or {second!r}; complete them, or leave them out with missing='drop'."
        )
    if gaps:
        columns = [column.filter(pc.invert(absent)) for column in columns]
    if not len(columns[0]):
        raise DataError(f"no row has a value in both {first!r} and {second!r}; there is nothing to count.")
    codes_of_rows, rows, rows_ordered = _coded(columns[0], first, first_order)
    codes_of_columns, names, columns_ordered = _coded(columns[1], second, second_order)
    if len(rows) * len(names) > MOST_CELLS:
        raise DataError(
            f"the columns {first!r} and {second!r} have too many different values to count all pairs; put them into classes "
            "first, such as ranges."
        )
    cells = codes_of_rows * len(names) + codes_of_columns
    counts = np.bincount(cells, minlength=len(rows) * len(names)).reshape(len(rows), len(names))
    return CrossTable(counts, rows, names, rows_ordered, columns_ordered, gaps)


# Columns -----------------------------------------------------------------------------------------------------------------


def arrow_column(table: Any, name: str) -> pa.ChunkedArray:
    """One column as Arrow holds it, whatever kind of table it is in."""
    if hasattr(table, "collect"):  # a lazy frame of Polars
        table = table.collect()
    if isinstance(table, (pa.Table, pa.RecordBatch)):
        known = table.schema.names
    elif isinstance(table, Mapping) or hasattr(table, "columns"):
        known = list(table if isinstance(table, Mapping) else table.columns)
    else:
        raise ParameterError(
            f"a table is a pyarrow table, a pandas or Polars frame or a mapping of columns, not {type(table).__name__}."
        )
    if name not in known:
        raise DataError(f"the table has no column {name!r}; name one that it has.")
    if known.count(name) > 1:
        raise DataError(f"the table has more than one column {name!r}; give its columns different names.")
    values = table.column(name) if isinstance(table, (pa.Table, pa.RecordBatch)) else table[name]
    try:
        if hasattr(values, "to_arrow"):  # a column of Polars
            values = values.to_arrow()
        elif not isinstance(values, (pa.Array, pa.ChunkedArray)):
            values = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise DataError(f"the column {name!r} mixes values of different kinds; give it one kind.") from None
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if pa.types.is_dictionary(column.type) and not column.type.ordered:
        return column.cast(column.type.value_type)  # a missing value may hide among the categories
    return column


def _absent(column: pa.ChunkedArray) -> pa.ChunkedArray:
    nan = pa.types.is_floating(column.type)
    return pc.is_null(column, nan_is_null=nan)


def _coded(
    column: pa.ChunkedArray, name: str, order: Iterable[Hashable] | None
) -> tuple[NDArray[np.intp], Names, bool]:
    """The number of each row's value, the values by number, and whether their order means something."""
    given = column.type
    ordered = bool(pa.types.is_dictionary(given) and given.ordered)
    try:
        encoded = (column if pa.types.is_dictionary(given) else column.dictionary_encode()).unify_dictionaries()
    except pa.ArrowException:
        raise DataError(f"the column {name!r} is of type {given}, which has no categories to count.") from None
    whole = encoded.combine_chunks()
    values, indices = whole.dictionary.to_pylist(), np.asarray(whole.indices.to_numpy(zero_copy_only=False), np.intp)
    if len(values) > MOST_VALUES:
        raise DataError(
            f"the column {name!r} has more than {MOST_VALUES} different values; put them into classes first, such as ranges."
        )
    labels = as_labels(values, f"the values of {name!r}", DataError)
    if order is None:
        if not ordered:
            seen = sorted(np.unique(indices).tolist(), key=lambda i: labels[i])
            ordered = _has_order(whole.dictionary.type)
        else:
            seen = list(range(len(labels)))
        wanted = tuple(dict.fromkeys(labels[i] for i in seen))  # 0.0 and -0.0 are one value
    else:
        wanted, ordered = as_labels(order, f"the order of {name!r}"), True
        if len(set(wanted)) < len(wanted):
            raise ParameterError(f"the order of {name!r} lists a value twice; list each once.")
    place = {label: i for i, label in enumerate(wanted)}
    number = np.array([place.get(label, -1) for label in labels], dtype=np.intp)
    codes = number[indices]
    if (codes < 0).any():
        raise DataError(f"the column {name!r} has a value that the order given for it leaves out; list all values.")
    return codes, wanted, ordered


def _has_order(kind: pa.DataType) -> bool:
    """Return whether values of a type come in an order that means something: numbers, moments, and true and false."""
    named = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_temporal, pa.types.is_boolean)
    return any(of_kind(kind) for of_kind in named)
