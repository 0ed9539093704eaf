"""Read the memory that the batches of an Arrow file say that they take, from its tables of buffers alone.

Arrow allocates what a compressed buffer says that it unpacks to: a file of some kilobytes can fill the memory. The footer of a
file lists its messages; each of these lists its buffers; and a compressed buffer begins with the number of bytes that
it unpacks to (Arrow Columnar Format, "Serialization and Interprocess Communication"). All of it is FlatBuffers, of
which little is needed.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.core.errors import FileFormatError
from noisewright.files.inputs import max_memory, open_input

__all__ = ["check_arrow_sizes", "written_size"]

END = b"ARROW1"
LONGEST_TABLE = 1 << 26
DICTIONARY, BATCH = 2, 3
BLOCK, BUFFER = struct.Struct("<qi4xq"), struct.Struct("<qq")


def check_arrow_sizes(path: str) -> None:
    """Refuse a file with a batch that unpacks to far more than its size. Other files are left to Arrow."""
    with open_input(path) as file:
        most = max_memory(os.fstat(file.fileno()).st_size)
        try:
            largest = max((_unpacked_size(file, *block) for block in _blocks(file)), default=0)
        except (struct.error, IndexError, ValueError, OverflowError, OSError):
            return
    if largest > most:
        name = os.path.basename(path)
        raise FileFormatError(
            f"{name} has a batch that unpacks to far more than its size; write it in smaller batches."
        )


def _blocks(file: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Yield the place of each message of batches, and the length of its table."""
    size = file.seek(0, os.SEEK_END)
    file.seek(size - len(END) - 4)
    (length,) = struct.unpack("<i", file.read(4))
    if file.read() != END or not 0 < length <= LONGEST_TABLE:
        raise ValueError("no footer")
    file.seek(size - len(END) - 4 - length)
    footer = file.read(length)
    (root,) = struct.unpack_from("<I", footer)
    for number in (2, 3):  # dictionaries, and batches
        for place in _vector(footer, root, number, BLOCK.size):
            offset, table, _ = BLOCK.unpack_from(footer, place)
            yield offset, table


def _unpacked_size(file: IO[bytes], place: int, length: int) -> int:
    """Return the number of bytes that the buffers of a message unpack to; 0 if they are not compressed."""
    if not 8 < length <= LONGEST_TABLE:
        raise ValueError("no message")
    file.seek(place)
    table = file.read(length)
    skip = 8 if table[:4] == b"\xff\xff\xff\xff" else 4
    table = table[skip:]
    (message,) = struct.unpack_from("<I", table)
    kind, header = _field(table, message, 1), _field(table, message, 2)
    if kind is None or header is None or table[kind] not in (DICTIONARY, BATCH):
        return 0
    batch = header + _unsigned(table, header)
    if table[kind] == DICTIONARY:
        inner = _field(table, batch, 1)
        if inner is None:
            return 0
        batch = inner + _unsigned(table, inner)
    if _field(table, batch, 3) is None:
        return 0
    total = 0
    for entry in _vector(table, batch, 2, BUFFER.size):
        offset, size = BUFFER.unpack_from(table, entry)
        if size >= 8:
            file.seek(place + length + offset)
            (stated,) = struct.unpack("<q", file.read(8))
            total += max(stated, 0)
    return total


def _field(table: bytes, start: int, number: int) -> int | None:
    """Return the place of a field of a FlatBuffers table; None if it is not there."""
    (back,) = struct.unpack_from("<i", table, start)
    (size,) = struct.unpack_from("<H", table, start - back)
    slot = 4 + 2 * number
    offset = struct.unpack_from("<H", table, start - back + slot)[0] if slot + 2 <= size else 0
    return start + offset if offset else None


def _vector(table: bytes, start: int, number: int, width: int) -> Iterator[int]:
    """Yield the places of the structures of a vector."""
    field = _field(table, start, number)
    if field is None:
        return
    first = field + _unsigned(table, field)
    count = _unsigned(table, first)
    if count * width > len(table):
        raise ValueError("a vector is longer than its table")
    yield from range(first + 4, first + 4 + count * width, width)


def _unsigned(table: bytes, place: int) -> int:
    return int(struct.unpack_from("<I", table, place)[0])


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
