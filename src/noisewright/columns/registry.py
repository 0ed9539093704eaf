r"""The table of kinds: names of column types in a policy, and which kind an Arrow type is of.

A package offers a kind by an entry point in its ``pyproject.toml``::

    [project.entry-points."noisewright.kinds"]
    colour = "colours.kind:COLOUR"

>>> kind_of(pa.int8()).name, kind_of(pa.dictionary(pa.int8(), pa.string())).name, kind_of(pa.time32("s"))
('integer', 'text', None)
>>> kind_named("vector").words
'vectors'

An Arrow column can carry more than it shows: the bytes under a masked null, rows that were cut away, words of a dictionary
that
no row has, the order of that dictionary, notes at the fields of a struct, the payload of a NaN. None of it is a released
value,
so none of it leaves: :func:`visible` copies the visible values alone, in the plain layout of :func:`visible_type`.
Columns with the same values come out as the same bytes.

>>> hidden = pa.DictionaryArray.from_arrays([1, None, 1], ["Ada", "Bob"])
>>> visible(hidden).type, visible(hidden).to_pylist()
(DataType(string), ['Bob', None, 'Bob'])
>>> [buffer.to_pybytes() for buffer in visible(pa.array(["x", "secret", "y"])[2:]).buffers()[1:]]
[b'\x00\x00\x00\x00\x01\x00\x00\x00', b'y']

The type of a column decides on the lattice, the unit and the output of a mechanism. Were it read off the values, one person's
cell could change all of that for everyone. Therefore data without types of their own (CSV, JSON lines, pandas) is put into the
types of the policy, and a value that does not fit refuses the whole release.

>>> recast(pa.array([31.0, None]), pa.int64()).to_pylist(), recast(pa.array([7, 8]), pa.string()).to_pylist()
([31, None], ['7', '8'])
>>> recast(pa.array([31.5]), pa.int64())
Traceback (most recent call last):
ValueError: a value is not of this type
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright._utils.lazy import Addresses
from noisewright.columns.arrow import Mask, arrow_array, arrow_cast, arrow_scalar, numpy_array, pc
from noisewright.columns.column_type import Kind, not_a_date
from noisewright.columns.nested import TEXT
from noisewright.columns.scalars import DATE, NUMBER, TIME, ZONED
from noisewright.exceptions import DataError, ParameterError

__all__ = [
    "KINDS",
    "describe",
    "every_kind",
    "fits",
    "fits_json",
    "kind_named",
    "kind_names",
    "kind_of",
    "place_in",
    "present",
    "recast",
    "visible",
    "visible_type",
]


KINDS = Addresses(
    "noisewright.kinds",
    "kind",
    {
        "integer": "noisewright.columns.scalars:INTEGER",
        "number": "noisewright.columns.scalars:NUMBER",
        "date": "noisewright.columns.scalars:DATE",
        "time": "noisewright.columns.scalars:TIME",
        "text": "noisewright.columns.nested:TEXT",
        "boolean": "noisewright.columns.scalars:BOOLEAN",
        "vector": "noisewright.columns.nested:VECTOR",
        "bytes": "noisewright.columns.nested:BYTES",
        "image": "noisewright.columns.nested:IMAGE",
        "document": "noisewright.columns.nested:DOCUMENT",
    },
)


def kind_named(name: str) -> Kind:
    """The kind that a policy calls by this name."""
    if name not in KINDS:
        raise ParameterError(f"there is no kind of column called {name!r}; choose one of {', '.join(kind_names())}.")
    found = KINDS.load(name)
    if not isinstance(found, Kind) or found.name != name:
        raise ParameterError(f"{KINDS.provider(name)} offers a kind {name!r} that is no Kind of that name.")
    return found


def kind_names() -> tuple[str, ...]:
    """All names, Noisewright's own first."""
    return tuple(KINDS)


def kind_of(type_: pa.DataType) -> Kind | None:
    """The first kind that holds an Arrow type, Noisewright's own first; None for a type that no mechanism takes.

    Where several kinds hold a type (text and documents, bytes and pictures) the plainer one comes first, and a policy or a
    mechanism says where it is another.
    """
    return next((kind for kind in every_kind() if kind.holds(type_)), None)


def every_kind() -> Iterator[Kind]:
    """All kinds, Noisewright's own first; other packages are only looked for after those, and one that is broken is
    passed over.

    Anyone who asks for that one by its name gets its error.
    """
    yield from map(kind_named, KINDS.own)
    for name in KINDS:
        if name not in KINDS.own:
            with suppress(ParameterError):
                yield kind_named(name)


def present(kinds: Sequence[Kind], arrays: Sequence[pa.Array]) -> Mask | None:
    """Return a mask of the rows without missing values in any column; None where that is everywhere."""
    found: Mask | None = None
    for kind, array in zip(kinds, arrays, strict=True):
        mask = kind.present(array)
        if mask is not None:
            found = mask if found is None else found & mask
    return found


def place_in(value: Any, type_: pa.DataType, name: str, side: int = 0) -> Any:
    """A value of a policy on the axis of a column of this type: :meth:`Kind.place`, also for a type of no kind."""
    kind = kind_of(type_)
    return not_a_date(value, name, describe(type_)) if kind is None else kind.place(value, type_, name, side)


def describe(type_: pa.DataType, kind: Kind | None = None) -> str:
    """Describe a column of this type, for a message."""
    found = kind or kind_of(type_)
    if found is not None:
        return found.in_words(type_)
    return f"decimals with {type_.scale} places" if pa.types.is_decimal(type_) else f"of type {type_}"


# Kept ---------------------------------------------------------------------------------------------------------------------
#
# A column that is kept, built again from the values that can be seen in it.


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


# Casts --------------------------------------------------------------------------------------------------------------------
#
# Columns in the type that a policy states, value by value and without loss, or not at all.


def recast(column: Any, wanted: pa.DataType) -> Any:
    """A column in the wanted type; ``ValueError``, which shows no value, if one of its values is not of that type.

    Times keep their unit and their zone.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    own = column.type
    if own == wanted or (pa.types.is_timestamp(own) and pa.types.is_timestamp(wanted)):
        return column
    have, want = kind_of(own), kind_of(wanted)
    try:
        if pa.types.is_null(own) or have is want or (pa.types.is_decimal(own) and want is not None and want.coordinate):
            return column.cast(wanted)
        return _converted(column, have, want, wanted)
    except (pa.ArrowException, ValueError):
        raise ValueError("a value is not of this type") from None


def _converted(column: Any, have: Kind | None, want: Kind | None, wanted: pa.DataType) -> Any:
    """A column of one kind as one of another, if every value allows it."""
    own = column.type
    if have is None or want is None or have.name not in want.castable:
        raise ValueError
    if (have is TIME and own.tz is not None) or (have is DATE and wanted == ZONED):
        raise ValueError  # a day begins at another moment in every place
    if have is TEXT and not want.fits(_in_one_piece(column.cast(pa.string())), wanted):
        raise ValueError
    if have is NUMBER and want is not None and want.plain == TEXT.plain:
        column = column.cast(pa.int64())  # integers that a frame holds as floats, as it does next to a missing one
    found = column.cast(wanted)
    if have is TIME and not found.cast(own).equals(column):
        raise ValueError
    return found


def fits(cells: pa.Array, type_: pa.DataType) -> bool:
    """Return whether every cell of text that is not missing is a plain form of a value of this type.

    >>> fits(pa.array(["1", "-20", None]), pa.int64()), fits(pa.array(["1", "007"]), pa.int64())
    (True, False)
    """
    kind = kind_of(type_)
    return kind is not None and kind.fits(cells, type_)


def fits_json(cells: pa.Array, type_: pa.DataType) -> bool:
    """Return whether every value that is not missing, as JSON writes it, is of this type; dates and times are text there.

    >>> [fits_json(pa.array(["31", text]), pa.int64()) for text in ("40", "31.5", '"40"', None)]
    [True, False, False, True]
    """
    kind = kind_of(type_)
    cells = pc.if_else(pc.equal(cells, arrow_scalar("null", cells.type)), arrow_scalar(None, cells.type), cells)
    return kind is not None and kind.fits_json(cells, type_)


def _in_one_piece(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
