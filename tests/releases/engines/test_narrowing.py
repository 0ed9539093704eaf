"""Rows in fewer bytes: the same values and types come back, few bytes are used for small values, and sizes are known."""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisewright.engines.blocks import Narrow

WHOLE = [(pa.int8(), -128, 127), (pa.int16(), -(2**15), 2**15 - 1), (pa.int64(), -(2**63), 2**63 - 1)]
WHOLE += [(pa.uint8(), 0, 255), (pa.uint32(), 0, 2**32 - 1), (pa.uint64(), 0, 2**64 - 1)]
COUNTED = [(pa.date32(), 32), (pa.date64(), 64), (pa.timestamp("ns", "Europe/Paris"), 64), (pa.duration("s"), 64)]
COUNTED += [(pa.time32("s"), 32), (pa.time64("us"), 64)]


@st.composite
def columns(draw: st.DrawFn) -> tuple[pa.DataType, list[pa.Array]]:
    """A column in one to four pieces, whose values may grow from one to the next."""
    kind = draw(st.sampled_from(["whole", "counted", "text"]))
    pieces = draw(st.integers(1, 4))
    if kind == "text":
        type_ = draw(st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]))
        text = st.sampled_from(["", "a", "b", "é" * 40, "a\0"]) | st.text(max_size=4)
        return type_, [pa.array(draw(st.lists(text | st.none(), max_size=200)), type_) for _ in range(pieces)]
    if kind == "whole":
        type_, least, most = draw(st.sampled_from(WHOLE))
        number = st.integers(least, most) | st.integers(max(least, -5), 5)
        return type_, [pa.array(draw(st.lists(number | st.none(), max_size=20)), type_) for _ in range(pieces)]
    type_, width = draw(st.sampled_from(COUNTED))
    number = st.integers(-(2 ** (width - 1)), 2 ** (width - 1) - 1) | st.integers(-5, 300)
    whole = pa.int32() if width == 32 else pa.int64()
    return type_, [pa.array(draw(st.lists(number | st.none(), max_size=20)), whole).view(type_) for _ in range(pieces)]


@settings(max_examples=200, deadline=None)
@given(columns(), st.integers(0, 3))
def test_what_is_widened_is_what_was_narrowed(column: tuple[pa.DataType, list[pa.Array]], skip: int) -> None:
    type_, pieces = column
    schema = pa.schema([pa.field("x", type_), pa.field("key", pa.int64(), nullable=False)])
    narrow = Narrow(schema)
    batches = [pa.RecordBatch.from_arrays([piece.slice(skip)], schema=schema.remove(1)) for piece in pieces]
    small = [narrow.narrow(batch) for batch in batches]
    whole = pa.concat_arrays([piece.slice(skip) for piece in pieces])
    back = narrow.widen(narrow.joined(small))
    back.validate()
    assert back.schema == schema.remove(1)
    assert back.column(0).equals(whole)
    assert all(narrow.widen(one).equals(batch) for one, batch in zip(small, batches, strict=True))


@pytest.mark.parametrize(
    ("values", "type_", "becomes"),
    [
        ([0, 127, None], pa.int64(), pa.int8()),
        ([0, 128], pa.int64(), pa.int16()),
        ([-40_000], pa.int64(), pa.int32()),
        ([2**40], pa.int64(), pa.int64()),
        ([datetime.date(2025, 5, 1)], pa.date32(), pa.int16()),
        ([None, None], pa.int32(), pa.int8()),
        ([f"ward {n}" for n in range(127)], pa.string(), pa.int8()),
        ([f"ward {n}" for n in range(128)], pa.string(), pa.string()),
        (["x" * 65], pa.string(), pa.string()),
        ([0.5], pa.float64(), pa.float64()),
        ([True], pa.bool_(), pa.bool_()),
    ],
)
def test_the_bytes_that_are_used(values: list[Any], type_: pa.DataType, becomes: pa.DataType) -> None:
    batch = pa.record_batch({"x": pa.array(values, type_)})
    assert Narrow(batch.schema).narrow(batch).schema.types == [becomes]


def test_a_column_does_not_become_narrower_again() -> None:
    """So that all batches but the first few have one type, and are joined as they are."""
    batches = [pa.record_batch({"n": [n], "text": [text]}) for n, text in [(1, "a"), (1_000, "x" * 99), (1, "a")]]
    narrow = Narrow(batches[0].schema)
    found = [narrow.narrow(batch).schema.types for batch in batches]
    assert found == [[pa.int8(), pa.int8()], [pa.int16(), pa.string()], [pa.int16(), pa.string()]]


def test_sizes_are_those_of_wide_rows() -> None:
    """1,000 rows: 8 bytes for a number, at most 4 + 5 for a text of at most five letters."""
    batch = pa.record_batch({"n": [3] * 1_000, "text": ["north", "east"] * 500})
    narrow = Narrow(batch.schema)
    small = narrow.narrow(batch)
    assert small.nbytes < 2_200
    assert narrow.size(small) == 17_000 >= batch.nbytes - 4
