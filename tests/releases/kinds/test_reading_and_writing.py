"""Columns of Arrow to the values of a mechanism and back: exact, for every type, with what is missing in its place."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.columns import TIME, as_array, kind_of, present, restore, take_present
from noisewright.columns.label_encoder import Labels
from noisewright.exceptions import DataError, ParameterError

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def ends(kind: pa.DataType) -> tuple[int, int]:
    signed = pa.types.is_signed_integer(kind)
    return (-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1) if signed else (0, 2**kind.bit_width - 1)


@given(data=st.data(), kind=st.sampled_from(INTEGERS))
def test_whole_numbers_come_back_as_they_were(data, kind):
    low, high = ends(kind)
    values = data.draw(st.lists(st.integers(low + (low < 0), min(high, 2**63 - 1)), max_size=20))
    array = pa.array([99, *values, 98], kind).slice(1, len(values))  # a slice, with an offset
    numbers = kind_of(array.type).read(array)
    assert numbers.tolist() == values
    assert kind_of(kind).write(numbers.astype(np.int64), kind).to_pylist() == values


@given(
    kind=st.sampled_from([*INTEGERS, pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns")]),
    far=st.booleans(),
)
def test_what_is_beyond_a_type_goes_to_its_nearer_end(kind, far):
    size = 2.0**70 if far else 2.0**64
    column = kind_of(kind).write(np.array([-size, 0.4, 0.6, size]), kind)
    assert column.type == kind
    numbers = [int(v) for v in kind_of(column.type).read(column)]
    assert numbers[1:3] == [0, 1]
    if kind in INTEGERS:
        low, high = ends(kind)
        assert low <= numbers[0] <= low + 1
        assert high - 1024 <= numbers[3] <= high or kind == pa.uint64()
    assert numbers[0] <= 0 < numbers[3]
    assert column.null_count == 0


@pytest.mark.parametrize("size", [-1e300, 1e300])
@pytest.mark.parametrize(("kind", "most"), [(pa.float16(), 65504.0), (pa.float32(), float(np.finfo(np.float32).max))])
def test_narrow_floats_never_become_infinite(kind, most, size):
    assert kind_of(kind).write(np.array([size]), kind).to_pylist() == [math.copysign(most, size)]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32)))
def test_floats_are_read_exactly(values):
    numbers = kind_of(pa.float32()).read(pa.array(values, pa.float32()))
    assert numbers.dtype == np.float64
    assert numbers.tolist() == values


@given(
    st.lists(st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31))), st.sampled_from([pa.date32(), pa.date64()])
)
def test_dates_are_whole_days(values, kind):
    array = pa.array(values, pa.date32()).cast(kind)
    numbers = kind_of(array.type).read(array)
    assert numbers.tolist() == [value.toordinal() - 719_163 for value in values]
    assert kind_of(kind).write(numbers.astype(np.float64), kind).equals(array)


@given(
    st.lists(st.integers(-(2**31), 2**32)),
    st.integers(0, 10**9 - 1),
    st.sampled_from(sorted(UNITS)),
    st.sampled_from([None, "UTC", "Europe/Paris"]),
)
def test_times_are_whole_seconds_with_fractions_cut_off(seconds, fraction, unit, zone):
    kind = pa.timestamp(unit, tz=zone)
    parts = fraction * UNITS[unit] // 10**9
    array = pa.array([s * UNITS[unit] + parts for s in seconds], pa.int64()).view(kind)
    assert kind_of(array.type).read(array).tolist() == seconds
    back = kind_of(kind).write(np.array(seconds, dtype=np.float64), kind)
    assert back.type == kind
    assert back.view(pa.int64()).to_pylist() == [s * UNITS[unit] for s in seconds]


def test_cutting_off_fractions_parts_no_two_times_by_more_than_whole_seconds():
    rng = np.random.default_rng(1)
    first = rng.integers(0, 10**12, 2000)
    second = first + rng.integers(0, 7 * 10**9 + 1, 2000)  # at most seven seconds later
    apart = TIME.read(pa.array(second).view(pa.timestamp("ns"))) - TIME.read(pa.array(first).view(pa.timestamp("ns")))
    assert apart.max() == 7


def test_decimals_without_places_are_whole_numbers_and_others_are_not_taken():
    kind = pa.decimal128(6, 0)
    array = pa.array([Decimal(-12), Decimal(999_999)], kind)
    assert kind_of(kind).name == "integer"
    assert kind_of(array.type).read(array).tolist() == [-12, 999_999]
    assert kind_of(kind).write(np.array([3.6, -1e9, 1e9]), kind).to_pylist() == [4, -999_999, 999_999]
    assert kind_of(pa.decimal128(6, 2)) is None
    with pytest.raises(DataError, match="beyond 64 bits") as refused:
        kind_of(kind).read(pa.array([Decimal(10**30 + 7)], pa.decimal128(35, 0)))
    assert "7" not in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "found", "out"),
    [
        (pa.dictionary(pa.int8(), pa.string()), "text", pa.string()),
        (pa.dictionary(pa.int8(), pa.int64()), "integer", pa.int64()),
        (pa.large_string(), "text", pa.string()),
        (pa.string_view(), "text", pa.string()),
        (pa.float16(), "number", pa.float16()),
        (pa.bool_(), "boolean", pa.bool_()),
        (pa.time32("s"), None, None),
        (pa.binary(), "bytes", pa.binary()),
        (pa.null(), None, None),
    ],
)
def test_kinds(kind, found, out):
    held = kind_of(kind)
    assert (held and held.name) == found
    assert held is None or held.output_type(kind) == out


@given(st.lists(st.tuples(st.none() | st.integers(0, 9), st.none() | st.floats(0, 1) | st.just(math.nan)), min_size=1))
def test_missing_rows_are_taken_out_and_put_back(rows):
    whole, numbers = (
        pa.array(list(side), kind)
        for side, kind in zip(zip(*rows, strict=True), (pa.int8(), pa.float64()), strict=True)
    )
    mask = present([kind_of(whole.type), kind_of(numbers.type)], [whole, numbers])
    there = [x is not None and y is not None and not math.isnan(y) for x, y in rows]
    assert (mask is None and all(there)) or mask.tolist() == there
    taken = take_present(whole, mask)
    assert taken.to_pylist() == [x for (x, _), here in zip(rows, there, strict=True) if here]
    assert restore(taken, mask).to_pylist() == [x if here else None for (x, _), here in zip(rows, there, strict=True)]


def test_a_null_inside_a_dictionary_is_missing():
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None]))
    plain = as_array(array)
    assert present([kind_of(plain.type)], [plain]).tolist() == [True, False, True]


def test_outputs_of_another_kind_are_refused():
    with pytest.raises(DataError, match="of another kind than the column"):
        kind_of(pa.string()).write(pa.array([1, 2]), pa.string())


@pytest.mark.parametrize(
    ("value", "kind"), [("a", pa.int8()), (True, pa.int8()), (1, pa.bool_()), (2, pa.string()), (128, pa.int8())]
)
def test_a_value_that_a_column_cannot_hold(value, kind):
    with pytest.raises(ParameterError, match="that the column can hold"):
        kind_of(kind).scalar(value, kind)


# Labels in Arrow ----------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@given(st.lists(TEXTS, min_size=1, unique=True), st.data())
def test_labels_of_text_are_found_as_without_arrow(labels, data):
    values = data.draw(st.lists(st.sampled_from(labels)))
    known = Labels(labels)
    wanted = known.encode(np.array(values, dtype=object))[0]
    array = pa.array(values, pa.string())
    for form in (
        array,
        array.dictionary_encode(),
        array.cast(pa.large_string()),
        pa.chunked_array([array, array.slice(0, 0)]),
    ):
        codes, how = known.encode(form)
        assert np.array_equal(codes, wanted)
        assert known.decode(codes, how).to_pylist() == values


@given(
    st.lists(st.tuples(st.integers(-3, 3), TEXTS, st.booleans()), min_size=1, unique=True),
    st.data(),
)
def test_labels_that_are_tuples_are_structs(labels, data):
    values = data.draw(st.lists(st.sampled_from(labels)))
    known = Labels(labels)
    kinds = (pa.int8(), pa.string(), pa.bool_())
    columns = [pa.array([v[k] for v in values], kind) for k, kind in enumerate(kinds)]
    codes, how = known.encode(pa.StructArray.from_arrays(columns, names=["a", "b", "c"]))
    assert codes.tolist() == [labels.index(v) for v in values]
    out = known.decode(codes, how)
    assert [tuple(row.values()) for row in out.to_pylist()] == values


@pytest.mark.parametrize(
    ("labels", "column"),
    [
        (["a", "b"], pa.array(["a", "zebra"])),
        (["a", "b"], pa.array(["a", "zebra"]).dictionary_encode()),
        (["a", "b"], pa.array([77])),
        (["a", "b"], pa.array(["a", None])),
        ([1, 2], pa.array([1, 77])),
        ([1, 2], pa.array(["zebra"])),
        ([True, False], pa.array(["zebra"])),
        ([(1, 2), (3, 4)], pa.StructArray.from_arrays([pa.array([1]), pa.array([4])], names=["a", "b"])),
        ([(1, 2), (3, 4)], pa.StructArray.from_arrays([pa.array([77]), pa.array([4])], names=["a", "b"])),
        ([(1, 2), (3, 4)], pa.array([77])),
    ],
)
def test_a_column_with_undeclared_values_is_refused_without_showing_them(labels, column):
    with pytest.raises(DataError) as refused:
        Labels(labels).encode(column)
    assert "zebra" not in str(refused.value)
    assert "77" not in str(refused.value)


def test_what_a_dictionary_holds_but_no_row_uses_need_not_be_declared():
    column = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array(["zebra", "a"]))
    assert Labels(["a", "b"]).encode(column)[0].tolist() == [0, 0]


def test_labels_without_one_type_cannot_be_a_column():
    with pytest.raises(ParameterError, match="numbers, text, true and false, or tuples"):
        _ = Labels([None, "a"]).column
    with pytest.raises(ParameterError, match="tuples of one length"):
        _ = Labels([(1, 2), (1, 2, 3)]).column
    with pytest.raises(ParameterError, match="too many parts"):
        _ = Labels([tuple([k] * 64) for k in range(2)]).column
