"""A column that is kept, built again from the values that can be seen in it.

An Arrow column can carry more than it shows: the bytes under a masked null, rows that were cut away, words of a dictionary that
no row has, the order of that dictionary, notes at the fields of a struct, the payload of a NaN. None of it is a released value,
so none of it leaves: :func:`visible` copies the visible values alone, in the plain layout of :func:`visible_type`.
Columns with the same values come out as the same bytes.

>>> hidden = pa.DictionaryArray.from_arrays([1, None, 1], ["Ada", "Bob"])
>>> visible(hidden).type, visible(hidden).to_pylist()
(DataType(string), ['Bob', None, 'Bob'])
>>> [buffer.to_pybytes() for buffer in visible(pa.array(["x", "secret", "y"])[2:]).buffers()[1:]]
[b'\\x00\\x00\\x00\\x00\\x01\\x00\\x00\\x00', b'y']
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.errors import DataError
from noisewright.mechanisms.arrow import arrow_array, arrow_cast, numpy_array

__all__ = ["visible", "visible_type"]

VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


def visible_type(type_: pa.DataType) -> pa.DataType:
    """The type in which a column is kept: values for dictionaries and runs, plain layouts for views, fields without notes."""
    is_a = pa.types
    if is_a.is_dictionary(type_) or is_a.is_run_end_encoded(type_):
        return visible_type(type_.value_type)
    if isinstance(type_, pa.BaseExtensionType):
        return type_ if visible_type(type_.storage_type) == type_.storage_type else visible_type(type_.storage_type)
    if is_a.is_struct(type_):
        return pa.struct([_plain(type_.field(place)) for place in range(type_.num_fields)])
    if is_a.is_map(type_):
        return pa.map_(visible_type(type_.key_type), visible_type(type_.item_type))
    if is_a.is_fixed_size_list(type_):
        return pa.list_(_plain(type_.value_field), type_.list_size)
    if is_a.is_large_list(type_) or is_a.is_large_list_view(type_):
        return pa.large_list(_plain(type_.value_field))
    if is_a.is_list(type_) or is_a.is_list_view(type_):
        return pa.list_(_plain(type_.value_field))
    if is_a.is_union(type_):
        raise DataError(f"a column of type {type_} cannot be kept; cast it to one type, or leave it out.")
    return VIEWS.get(type_, type_)


def visible(array: pa.Array) -> pa.Array:
    """The same values in new buffers of the type :func:`visible_type`, with zeros under nulls and nothing before or behind."""
    kind, is_a = array.type, pa.types
    if is_a.is_dictionary(kind):
        return visible(visible(array.dictionary).take(array.indices))
    if is_a.is_run_end_encoded(kind):
        rows = np.arange(array.offset, array.offset + len(array))
        runs = np.searchsorted(numpy_array(array.run_ends), rows, side="right")
        return visible(visible(array.values).take(arrow_array(runs)))
    if isinstance(kind, pa.BaseExtensionType):
        storage = visible(array.storage)
        return kind.wrap_array(storage) if visible_type(kind) == kind else storage
    if kind in VIEWS:
        return visible(arrow_cast(array, VIEWS[kind]))
    if is_a.is_null(kind):
        return pa.nulls(len(array))
    if is_a.is_struct(kind):
        return _built(array, [], [visible(child) for child in array.flatten()])
    if is_a.is_fixed_size_list(kind):
        first = np.arange(array.offset, array.offset + len(array)) * kind.list_size
        return _built(array, [], [_items(array, array.values, first, np.full(len(array), kind.list_size), keep=True)])
    if is_a.is_nested(kind):
        return _list(array)
    if is_a.is_boolean(kind):
        values = np.packbits(_filled(array), bitorder="little")
        return _built(array, [pa.py_buffer(values)])
    if is_a.is_primitive(kind) or is_a.is_fixed_size_binary(kind) or is_a.is_decimal(kind) or is_a.is_interval(kind):
        return _built(array, [pa.py_buffer(_fixed(array, kind.bit_width // 8))])
    return _text(array)


def _plain(field: pa.Field) -> pa.Field:
    return pa.field(field.name, visible_type(field.type))


def _built(array: pa.Array, buffers: list[Any], children: list[pa.Array] | None = None) -> pa.Array:
    """A column of these buffers after one that states which values are there, if some are not."""
    there = None
    if array.null_count:
        there = pa.py_buffer(np.packbits(numpy_array(array.is_valid()), bitorder="little"))
    return pa.Array.from_buffers(visible_type(array.type), len(array), [there, *buffers], children=children)


def _filled(array: pa.Array) -> NDArray[np.bool_]:
    return numpy_array(array.fill_null(False) if array.null_count else array)


def _fixed(array: pa.Array, width: int) -> NDArray[np.uint8]:
    """The bytes of values of one width; zeros for those that are missing."""
    values = np.frombuffer(array.buffers()[1] or b"", dtype=np.uint8)
    found = values[array.offset * width : (array.offset + len(array)) * width].reshape(len(array), width).copy()
    if array.null_count:
        found[~numpy_array(array.is_valid())] = 0
    if pa.types.is_floating(array.type):  # a NaN has 51 bits that no one sees
        numbers: NDArray[Any] = found.view(f"f{width}")
        numbers[np.isnan(numbers)] = np.nan
    return found.reshape(-1)


def _text(array: pa.Array) -> pa.Array:
    """Text or bytes of any length."""
    present = array.drop_null() if array.null_count else array
    offsets = _offsets(present)
    values = np.frombuffer(present.buffers()[2] or b"", dtype=np.uint8)[offsets[0] : offsets[-1]].copy()
    lengths = np.zeros(len(array), dtype=offsets.dtype)
    lengths[numpy_array(array.is_valid())] = np.diff(offsets)
    return _built(array, [_ends(lengths), pa.py_buffer(values)])


def _list(array: pa.Array) -> pa.Array:
    """Lists and maps of any length, one after the other."""
    if pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type):
        first, lengths = (_numbers(array, place)[array.offset : array.offset + len(array)] for place in (1, 2))
        together = False
    else:
        offsets = _offsets(array)
        first, lengths, together = offsets[:-1], np.diff(offsets), True
    if array.null_count:
        lengths = np.where(numpy_array(array.is_valid()), lengths, 0).astype(lengths.dtype)
        together = False
    if pa.types.is_map(array.type):
        child = pa.StructArray.from_arrays([array.keys, array.items], names=["key", "value"])
    else:
        child = array.values
    items = (
        visible(child.slice(first[0], lengths.sum()))
        if together and len(array)
        else _items(array, child, first, lengths)
    )
    return _built(array, [_ends(lengths)], [items])


def _items(array: pa.Array, child: pa.Array, first: Any, lengths: Any, keep: bool = False) -> pa.Array:
    """The items of all lists, those of the first list first; ``keep``: missing lists have items, which are missing."""
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    places = np.arange(total) + np.repeat(first - (ends - lengths), lengths)
    low = int(places.min()) if total else 0
    near = visible(child.slice(low, int(places.max()) + 1 - low if total else 0))
    hidden = np.repeat(~numpy_array(array.is_valid()), lengths) if keep and array.null_count else None
    return visible(near.take(arrow_array(places - low, mask=hidden)))


def _offsets(array: pa.Array) -> NDArray[Any]:
    found = _numbers(array, 1)[array.offset : array.offset + len(array) + 1]
    return found if len(found) else np.zeros(1, dtype=found.dtype)


def _numbers(array: pa.Array, place: int) -> NDArray[Any]:
    """One of the buffers of places or lengths in a column."""
    is_a, kind = pa.types, array.type
    large = is_a.is_large_string(kind) or is_a.is_large_binary(kind) or is_a.is_large_list(kind)
    wide = np.int64 if large or is_a.is_large_list_view(kind) else np.int32
    return np.frombuffer(array.buffers()[place] or b"", dtype=wide)


def _ends(lengths: NDArray[Any]) -> Any:
    """The buffer of places for values of these lengths, one after the other."""
    places = np.zeros(len(lengths) + 1, dtype=lengths.dtype)
    np.cumsum(lengths, out=places[1:])
    return pa.py_buffer(places)
