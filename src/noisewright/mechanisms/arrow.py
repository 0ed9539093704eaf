"""Arrow arrays from Python and NumPy, and back, without pandas.

The conversions of pyarrow import pandas wherever it is installed, whatever they convert, which takes longer than many
releases. These build the arrays from their buffers instead, as the Arrow format defines them; for a type that they do
not support, pyarrow's own conversion does the work.

>>> arrow_array(["a", None]).to_pylist(), arrow_array([1, 2]).type
(['a', None], DataType(int64))
>>> numpy_array(arrow_array([0.5, 2.0]))
array([0.5, 2. ])
"""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.loading.doors import later

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    # It makes functions with docstrings of 300 kernels, which takes a while. What calls a kernel by its name is there before.
    pc = later("pyarrow.compute", "pyarrow._compute")

__all__ = ["arrow_array", "arrow_cast", "arrow_scalar", "numpy_array", "pc"]

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
