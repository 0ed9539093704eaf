r"""Columns of reports that have several parts each, whatever they are kept in: rows of bytes, pairs of numbers.

A report that is missing, or has another number of parts, is distinguished rather than refused: whether the column is
of this mechanism at all is decided when all of it was counted.

>>> column = plain_column(pa.array([[7, 1], None, [2, 3, 4]]), "give pairs.")
>>> rows, there = list_rows(column, 2)
>>> rows.tolist(), there.tolist()
([[7, 1], [0, 0], [0, 0]], [True, False, False])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.core.errors import DataError

__all__ = ["byte_rows", "list_rows", "plain_column"]

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
