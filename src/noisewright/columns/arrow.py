"""Arrow arrays from Python and NumPy, and back, without pandas.

The conversions of pyarrow import pandas wherever it is installed, whatever they convert, which takes longer than many
releases. These build the arrays from their buffers instead, as the Arrow format defines them; for a type that they do
not support, pyarrow's own conversion does the work.

>>> arrow_array(["a", None]).to_pylist(), arrow_array([1, 2]).type
(['a', None], DataType(int64))
>>> numpy_array(arrow_array([0.5, 2.0]))
array([0.5, 2. ])

>>> taken = take_present(pa.array([5, None, 7]), mask := np.array([True, False, True]))
>>> restore(taken, mask).to_pylist()
[5, None, 7]
"""

from __future__ import annotations

import os
import struct
from collections.abc import Collection, Iterator, Sequence
from types import NoneType
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright._utils.inputs import max_memory, open_input
from noisewright.exceptions import FileFormatError

__all__ = [
    "Mask",
    "all_true",
    "arrow_array",
    "arrow_cast",
    "arrow_scalar",
    "as_array",
    "check_arrow_sizes",
    "numpy_array",
    "pc",
    "restore",
    "take_present",
    "written_size",
]


Bools = NDArray[np.bool_]

TEXT_END = np.iinfo(np.int32).max
"""Maximum number of bytes in an array of text."""


def arrow_array(
    values: NDArray[Any] | Sequence[Any], type: pa.DataType | None = None, mask: Bools | None = None
) -> pa.Array:
    """Return ``pa.array(values, type, mask)``; ``mask`` is true where a value is missing."""
    if not isinstance(values, np.ndarray):
        return _from_list(list(values), type) if mask is None else pa.array(values, type=type, mask=mask)
    if values.ndim != 1 or values.dtype.kind not in "biuf" or values.dtype.itemsize > 8 or not values.dtype.isnative:
        if values.ndim == 1 and values.dtype.kind == "U" and mask is None:
            return _from_list(values.tolist(), pa.string() if type is None else type)
        return pa.array(values, type=type, mask=mask)
    found = _from_numpy(values, None if mask is None else ~np.asarray(mask, dtype=bool))
    return found if type is None or type == found.type else arrow_cast(found, type)


def arrow_cast(array: pa.Array, type: pa.DataType) -> pa.Array:
    """Return ``array.cast(type)``; Arrow raises an error if a value has to change for it."""
    return pc.call_function("cast", [array], pc.CastOptions.safe(type))


def arrow_scalar(value: Any, type: pa.DataType | None = None) -> pa.Scalar:
    """Return ``pa.scalar(value, type)``."""
    return arrow_array([value], type)[0]


def numpy_array(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return ``to_numpy(zero_copy_only=False)``: a view of the numbers; floats with NaN where some are missing."""
    if isinstance(column, pa.ChunkedArray):
        column = (
            column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.nulls(0, column.type)])
        )
    kind = column.type
    if pa.types.is_boolean(kind) and not column.null_count:
        return _bits(column.buffers()[1], column.offset, len(column))
    if not (pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    validity, data = column.buffers()
    dtype = np.dtype(kind.to_pandas_dtype())
    if data is None or not len(column):
        return np.zeros(len(column), dtype=dtype)
    values = np.frombuffer(data, dtype=dtype, count=len(column), offset=column.offset * dtype.itemsize)
    if not column.null_count:
        return values
    missing = ~_bits(validity, column.offset, len(column))
    found = values.astype(dtype if dtype.kind == "f" else np.float64)
    np.putmask(found, missing, np.nan)
    return found


def _from_numpy(values: NDArray[Any], valid: Bools | None) -> pa.Array:
    """Numbers or truth values, and which of them are there."""
    if values.dtype.kind == "b":
        kind, data = pa.bool_(), _bitmap(values)
    else:
        kind, data = pa.from_numpy_dtype(values.dtype), pa.py_buffer(np.ascontiguousarray(values))
    missing = None if valid is None or valid.all() else _bitmap(valid)
    return pa.Array.from_buffers(kind, len(values), [missing, data])


def _from_list(values: list[Any], kind: pa.DataType | None) -> pa.Array:
    types = set(map(type, values))
    valid = None
    if NoneType in types:
        types.remove(NoneType)
        valid = np.fromiter((value is not None for value in values), dtype=bool, count=len(values))
    if not types and kind is not None:
        return pa.nulls(len(values), kind)
    if types == {str} and (kind is None or kind in (pa.string(), pa.large_string())):
        found = _text(values if valid is None else [value or "" for value in values], valid)
        return found if found is not None and (kind is None or kind == found.type) else pa.array(values, type=kind)
    if types == {bool} and (kind is None or pa.types.is_boolean(kind)):
        return _from_numpy(np.array(values, dtype=bool), valid)
    if types == {int} and (kind is None or pa.types.is_integer(kind)):
        try:
            numbers = np.array(values if valid is None else [value or 0 for value in values], dtype=np.int64)
        except OverflowError:
            return pa.array(values, type=kind)
        found = _from_numpy(numbers, valid)
        return found if kind is None or kind == found.type else arrow_cast(found, kind)
    if types == {float} and (kind is None or kind in (pa.float64(), pa.date32())):
        numbers = np.array(values if valid is None else [value or 0.0 for value in values], dtype=np.float64)
        if kind != pa.date32():
            return _from_numpy(numbers, valid)
        if np.isfinite(numbers).all() and (np.abs(numbers) < 2**31).all():  # days, of which Arrow takes the whole ones
            return arrow_cast(_from_numpy(numbers.astype(np.int32), valid), kind)
    return pa.array(values, type=kind)


def _text(values: list[str], valid: Bools | None) -> pa.Array | None:
    """Text: where each value ends, and all of it in one piece."""
    whole = "".join(values)
    data = whole.encode()
    if len(data) > TEXT_END:
        return None
    lengths = map(len, values) if len(data) == len(whole) else (len(value.encode()) for value in values)
    ends = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(np.fromiter(lengths, dtype=np.int32, count=len(values)), out=ends[1:])
    missing = None if valid is None or valid.all() else _bitmap(valid)
    return pa.Array.from_buffers(pa.string(), len(values), [missing, pa.py_buffer(ends), pa.py_buffer(data)])


def _bitmap(flags: Bools) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def _bits(buffer: pa.Buffer, offset: int, count: int) -> Bools:
    if buffer is None or not count:
        return np.zeros(count, dtype=bool)
    whole = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), count=offset + count, bitorder="little")
    return whole[offset:].view(bool)


# Arrow sizes --------------------------------------------------------------------------------------------------------------
#
# Read the memory that the batches of an Arrow file say that they take, from its tables of buffers alone.
#
# Arrow allocates what a compressed buffer says that it unpacks to: a file of some kilobytes can fill the memory. The
# footer of a
# file lists its messages; each of these lists its buffers; and a compressed buffer begins with the number of bytes that
# it unpacks to (Arrow Columnar Format, "Serialization and Interprocess Communication"). All of it is FlatBuffers, of
# which little is needed.


END = b"ARROW1"
LONGEST_TABLE = 1 << 26
DICTIONARY, RECORD_BATCH = 2, 3
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
    if kind is None or header is None or table[kind] not in (DICTIONARY, RECORD_BATCH):
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


# Rows ---------------------------------------------------------------------------------------------------------------------
#
# Rows of a column: in one piece, those where nothing is missing, and back in their places.


Mask = NDArray[np.bool_]


def as_array(column: Any) -> pa.Array:
    """A column in one piece; a dictionary of anything but text, or with a null in it, and a view are written out."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_string_view(column.type):  # which Arrow cannot filter
        return column.cast(pa.string())
    if pa.types.is_binary_view(column.type):
        return column.cast(pa.binary())
    if isinstance(column, pa.DictionaryArray):
        kind = column.type.value_type
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        if not text or column.dictionary.null_count:
            return column.dictionary_decode()
    return column


def take_present(array: pa.Array, mask: Mask | None) -> pa.Array:
    """The rows of the mask, none of them missing."""
    return array if mask is None else array.filter(arrow_array(mask))


def restore(array: pa.Array, mask: Mask | None) -> pa.Array:
    """The rows back in their places, null where something was missing."""
    if mask is None:
        return array
    places = np.cumsum(mask) - 1
    return array.take(arrow_array(places, mask=~mask))


def all_true(truths: pa.Array) -> bool:
    """Return whether none of them is false."""
    return pc.call_function("all", [truths]).as_py() is not False
