"""A kept column is built anew from what can be seen in it: the same values, and nothing else in its buffers."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from noisewright.columns.registry import visible, visible_type
from noisewright.exceptions import DataError

SECRET = b"secret"
LONG = "a text of more than twelve bytes"
PLAIN: dict[pa.DataType, list[Any]] = {
    pa.null(): [None, None, None],
    pa.bool_(): [True, None, False],
    pa.int64(): [1, None, 3],
    pa.float16(): [1.0, None, 2.0],
    pa.decimal128(5, 2): [decimal.Decimal("1.20"), None, decimal.Decimal(3)],
    pa.date32(): [dt.date(2020, 1, 1), None, dt.date(2021, 1, 1)],
    pa.timestamp("us", "UTC"): [dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None, dt.datetime(2021, 1, 1, tzinfo=dt.UTC)],
    pa.month_day_nano_interval(): [(1, 2, 3), None, (4, 5, 6)],
    pa.binary(2): [b"ab", None, b"cd"],
    pa.string(): ["a", None, LONG],
    pa.large_string(): ["a", None, LONG],
    pa.binary(): [b"a", None, b""],
    pa.string_view(): ["a", None, LONG],
    pa.binary_view(): [b"a", None, LONG.encode()],
}


def _columns() -> Iterator[pa.Array]:
    """Columns of every layout, three rows or more, some of them missing and some lists without a missing one."""
    for type_, values in PLAIN.items():
        yield pa.array(values, type_)
        yield pa.array([values[0], values[2], values[0]], type_)
        for listed in (pa.list_, pa.large_list, pa.list_view, pa.large_list_view):
            yield pa.array([values, None, values[1:], [], None, values], listed(type_))
            yield pa.array([values, values[1:], []], listed(type_))
        yield pa.array([values[:2], None, values[1:]], pa.list_(type_, 2))
        yield pa.array([values[:2], values[1:], values[:2]], pa.list_(type_, 2))
        yield pa.array([{"x": values[0], "y": 1}, None, {"x": None}], pa.struct({"x": type_, "y": pa.int8()}))
        yield pa.array([[("k", values[0])], None, [("l", None), ("m", values[2])]], pa.map_(pa.string(), type_))
        if not pa.types.is_null(type_):
            yield pa.array(values, type_).dictionary_encode()
    yield pc.run_end_encode(pa.array(["a", "a", None, "b"]))
    yield pa.array([[["a"], None], None, [[], ["b", "c"]]], pa.list_(pa.list_(pa.string())))
    yield pa.array([["a"], None, ["b", "a"]]).cast(pa.list_(pa.dictionary(pa.int32(), pa.string())))
    tensor = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2))
    yield pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int64(), [2]), tensor)
    yield pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16, None, b"1" * 16], pa.binary(16)))
    yield pa.ExtensionArray.from_storage(
        pa.opaque(pa.string_view(), "a", "b"), pa.array(["x", None, LONG], pa.string_view())
    )


def _bytes(array: pa.Array) -> list[bytes | None]:
    return [None if buffer is None else buffer.to_pybytes() for buffer in array.buffers()]


@pytest.mark.parametrize("column", list(_columns()), ids=lambda column: f"{column.type} {column.null_count}")
def test_the_values_stay_and_the_layout_is_plain(column: pa.Array) -> None:
    for part in (column, column[1:], column[1:2], column[:0], column[2:]):
        found = visible(part)
        found.validate(full=True)
        assert (found.to_pylist(), found.type, found.offset) == (part.to_pylist(), visible_type(column.type), 0)
        # The same values, as they come in a file, in other buffers: the same bytes.
        batch = pa.record_batch({"x": part})
        with pa.ipc.open_stream(pa.BufferReader(_stream(batch))) as reader:
            again = reader.read_all().column("x").combine_chunks()
        assert _bytes(visible(again)) == _bytes(found)


def _stream(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _under_a_null(values: pa.Array) -> pa.Array:
    """The same buffers, and the second of three values masked."""
    there = pa.py_buffer(np.packbits([True, False, True], bitorder="little"))
    buffers = [there, *values.buffers()[1:]]
    children = None
    if pa.types.is_list(values.type):
        buffers, children = [there, values.buffers()[1]], [values.values]
    if pa.types.is_fixed_size_list(values.type):
        buffers, children = [there], [values.values]
    if pa.types.is_struct(values.type):
        buffers, children = [there], [values.field(0)]
    if pa.types.is_map(values.type):
        buffers = [there, values.buffers()[1]]
        children = [pa.StructArray.from_arrays([values.keys, values.items], names=["key", "value"])]
    return pa.Array.from_buffers(values.type, 3, buffers, children=children)


HIDING = {
    "text": pa.array(["a", "secret", "b"]),
    "bytes of one width": pa.array([b"abcdef", SECRET, b"ghijkl"], pa.binary(6)),
    "numbers": pa.array([1, int.from_bytes(SECRET, "little"), 3]),
    "lists": pa.array([["a"], ["x", "secret"], []]),
    "lists of one size": pa.array([["a"], ["secret"], ["b"]], pa.list_(pa.string(), 1)),
    "structs": pa.array([{"x": "a"}, {"x": "secret"}, {"x": "b"}]),
    "maps": pa.array([[("a", "b")], [("secret", "secret")], []], pa.map_(pa.string(), pa.string())),
}


@pytest.mark.parametrize("values", HIDING.values(), ids=HIDING.keys())
def test_what_lies_under_a_missing_value_is_gone(values: pa.Array) -> None:
    masked = _under_a_null(values)
    masked.validate(full=True)
    assert masked[1].as_py() is None
    assert SECRET in bytes(_stream(pa.record_batch({"x": masked})))  # so it would have been published
    assert SECRET not in b"".join(part or b"" for part in _bytes(visible(masked)))
    assert visible(masked).to_pylist() == masked.to_pylist()


def test_rows_that_were_cut_away_are_gone() -> None:
    for column in (*HIDING.values(), pa.array(["a", "secret" * 3, "b"], pa.string_view())):
        for part in (column[:1], column[2:]):
            assert SECRET not in b"".join(buffer or b"" for buffer in _bytes(visible(part)))


def test_a_dictionary_shows_neither_its_words_nor_their_order() -> None:
    one = pa.DictionaryArray.from_arrays([1, 2, None], ["secret", "b", "a"], ordered=True)
    other = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), ["b", "a"])
    assert _bytes(visible(one)) == _bytes(visible(other))
    assert visible_type(one.type) == pa.string()


def test_fields_lose_their_notes() -> None:
    noted = pa.field("x", pa.list_(pa.field("item", pa.int8(), False, {"note": "secret"})), False, {"note": "secret"})
    for outer in (pa.struct([noted]), pa.list_(noted), pa.large_list(noted), pa.list_(noted, 2)):
        assert SECRET not in pa.schema([pa.field("y", visible_type(outer))]).serialize().to_pybytes()
        assert SECRET in pa.schema([pa.field("y", outer)]).serialize().to_pybytes()


@pytest.mark.parametrize(
    ("width", "payload"), [(2, 0x7E5A), (4, 0xFFC0BEEF), (8, 0x7FF00000000007A2)]
)  # the last: R's NA
def test_a_nan_carries_no_payload(width: int, payload: int) -> None:
    numbers = np.array([payload, 0, payload], f"u{width}").view(f"f{width}")
    plain = pa.array(np.where(np.isnan(numbers), np.nan, numbers).astype(f"f{width}"))
    assert pa.array(numbers).buffers()[1].to_pybytes() != plain.buffers()[1].to_pybytes()
    assert visible(pa.array(numbers)).buffers()[1].to_pybytes() == plain.buffers()[1].to_pybytes()


def test_unions_are_refused() -> None:
    for mode in ("sparse", "dense"):
        with pytest.raises(DataError, match="cannot be kept; cast it to one type, or leave it out"):
            visible_type(pa.list_(pa.union([pa.field("a", pa.int8()), pa.field("b", pa.string())], mode)))
