"""Count the bytes that texts and lists take once each stands where it is used, however seldom a file stores it.

A dictionary, a run and a view store a long text once and refer to it in every row.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["written_size"]

VIEW = 16
"""Bytes of a view of a text: the length is the first four."""
ITEM = 8


def written_size(batch: pa.RecordBatch, coded: Collection[str] = ()) -> int:
    """Return the bytes of the columns of texts, bytes and lists; columns that stay ``coded`` count as they are."""
    return sum(
        batch.column(place).nbytes if name in coded else _size(batch.column(place))
        for place, name in enumerate(batch.schema.names)
    )


def _size(column: pa.Array, inside: bool = False) -> int:
    """``inside``: of another column, where numbers count, too; as columns they are bounded by the rows of a block."""
    kind, is_a = column.type, pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _size(column.storage, inside)
    if is_a.is_struct(kind):
        return sum(_size(child, inside) for child in column.flatten())
    if is_a.is_list(kind) or is_a.is_large_list(kind) or is_a.is_fixed_size_list(kind):
        return _size(column.flatten(), True)
    if is_a.is_dictionary(kind):
        return _taken(_sizes(column.dictionary), column.indices)
    if is_a.is_run_end_encoded(kind):
        ends = np.clip(np.asarray(column.run_ends) - column.offset, 0, len(column))
        return int(np.dot(np.diff(ends, prepend=0), _sizes(column.values)))
    if is_a.is_primitive(kind) and not inside:
        return 0
    return int(_sizes(column).sum()) if _is_view(kind) else int(column.nbytes)


def _taken(sizes: NDArray[np.int64], indices: pa.Array) -> int:
    counts = pc.value_counts(indices.drop_null())
    return int(np.dot(sizes[np.asarray(counts.field(0))], np.asarray(counts.field(1))))


def _sizes(values: pa.Array) -> NDArray[np.int64]:
    """Return the bytes of each value."""
    kind, is_a = values.type, pa.types
    if is_a.is_string_view(kind) or is_a.is_binary_view(kind):
        lengths = np.frombuffer(values.buffers()[1], np.int32)[:: VIEW // 4]
        return lengths[values.offset : values.offset + len(values)].astype(np.int64)
    if any(one(kind) for one in (is_a.is_string, is_a.is_large_string, is_a.is_binary, is_a.is_large_binary)):
        return np.asarray(pc.fill_null(pc.binary_length(values), 0)).astype(np.int64)
    if any(one(kind) for one in (is_a.is_list, is_a.is_large_list, is_a.is_list_view, is_a.is_large_list_view)):
        return ITEM * np.asarray(pc.fill_null(pc.list_value_length(values), 0)).astype(np.int64)
    return np.full(len(values), ITEM)


def _is_view(kind: pa.DataType) -> bool:
    is_a = pa.types
    return any(
        one(kind) for one in (is_a.is_string_view, is_a.is_binary_view, is_a.is_list_view, is_a.is_large_list_view)
    )
