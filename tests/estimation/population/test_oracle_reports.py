"""Reports of frequency oracles in every kind of column, and what is refused: shapes, missing reports, other domains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.columns.adapters import byte_rows, list_rows, plain_column
from noisewright.exceptions import DataError
from noisewright.mechanisms.categorical.frequency_oracle import read_packed

NAMES = list("abcdefghij")
MAKERS: dict[str, Callable[..., Any]] = {
    "unary": nw.mechanisms.unary_encoding,
    "hashing": nw.mechanisms.local_hashing,
    "subset": nw.mechanisms.subset_selection,
    "hadamard": nw.mechanisms.hadamard_response,
}
SETS = ["subset", "unary"]
COUNT = 300


def made(kind: str) -> tuple[Any, Any, Any]:
    """A mechanism, its reports as an array, and the same reports as a column of Arrow."""
    mechanism = MAKERS[kind](NAMES, epsilon=2)
    values = np.random.default_rng(1).choice(NAMES, COUNT)
    plain = mechanism.release(values, np.random.default_rng(2))
    return mechanism, plain, mechanism.release(pa.array(values.tolist()), np.random.default_rng(2))


COLUMNS: dict[str, Callable[[Any, Any], Any]] = {
    "list": lambda plain, arrow: plain.tolist(),
    "tuple": lambda plain, arrow: tuple(plain.tolist()),
    "generator": lambda plain, arrow: iter(plain.tolist()),
    "list of arrays": lambda plain, arrow: list(plain),
    "values of Arrow": lambda plain, arrow: arrow.to_pylist() if not pa.types.is_struct(arrow.type) else list(plain),
    "int64": lambda plain, arrow: plain.astype(np.int64),
    "uint64": lambda plain, arrow: plain.astype(np.uint64),
    "other order": lambda plain, arrow: np.asfortranarray(plain),
    "objects": lambda plain, arrow: np.array(plain.tolist(), dtype=object),
    "Arrow": lambda plain, arrow: arrow,
    "chunks": lambda plain, arrow: pa.chunked_array([arrow[:100], arrow[100:]]),
    "a slice": lambda plain, arrow: pa.concat_arrays([arrow[:7], arrow])[7:],
    "lists of Arrow": lambda plain, arrow: pa.array(plain.tolist()),
    "pandas": lambda plain, arrow: pd.Series(arrow.to_pylist()),
    "pandas, objects": lambda plain, arrow: pd.Series(plain.tolist(), dtype=object),
    "pandas, Arrow": lambda plain, arrow: pd.Series(arrow.to_pylist(), dtype=pd.ArrowDtype(arrow.type)),
    "polars": lambda plain, arrow: pl.Series(pl.from_arrow(arrow)),
    "polars, lists": lambda plain, arrow: pl.Series(plain.tolist()),
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_the_same_reports_in_any_column_give_the_same_estimate(kind: str, column: str) -> None:
    mechanism, plain, arrow = made(kind)
    expected = nw.estimate(plain, mechanism)
    found = nw.estimate(COLUMNS[column](plain, arrow), mechanism)
    assert found.reports == COUNT
    assert found.probabilities.tolist() == expected.probabilities.tolist()


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("binary", [pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_bytes_of_any_type_of_arrow(kind: str, binary: pa.DataType) -> None:
    mechanism, plain, arrow = made(kind)
    column = arrow.cast(pa.binary()).cast(binary)
    assert mechanism.support(column).counts.tolist() == mechanism.support(plain).counts.tolist()
    assert mechanism.support(column[5:50]).counts.tolist() == mechanism.support(plain[5:50]).counts.tolist()


def with_missing(kind: str) -> dict[str, Any]:
    """Columns in which three reports are missing."""
    _, plain, arrow = made(kind)
    lists = plain.tolist()
    found = {
        "list": [None, *lists, None, None],
        "Arrow": pa.concat_arrays([pa.nulls(1, arrow.type), arrow, pa.nulls(2, arrow.type)]),
        "lists of Arrow": pa.array([None, *lists, None, None]),
        "pandas": pd.Series([None, *arrow.to_pylist(), None, None]),
        "polars": pl.Series([None, *lists, None, None]),
    }
    if kind in SETS:
        found["bytes of Arrow"] = pa.array([None, *map(bytes, plain), None, None], type=pa.binary())
        found["a part is missing"] = pa.array([*lists, [None, 3], [3, None], [None, None]])
    if kind == "hashing":
        seed, bucket = lists[0]
        parts = [{"hash": seed, "bucket": None}, {"hash": None, "bucket": bucket}, None]
        found["a part is missing"] = pa.array([*arrow.to_pylist(), *parts])
        unsigned = pa.struct([("hash", pa.uint64()), ("bucket", pa.uint64())])
        found["a part without a sign"] = pa.array([*arrow.to_pylist(), *parts], type=unsigned)
    return found


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_missing_reports_are_counted_and_refused_or_dropped(kind: str) -> None:
    mechanism, plain, _ = made(kind)
    expected = nw.estimate(plain, mechanism).probabilities
    for column in with_missing(kind).values():
        with pytest.raises(DataError, match=rf"^3 of {COUNT + 3} reports are not .* or drop such reports"):
            nw.estimate(column, mechanism)
        found = nw.estimate(column, mechanism, outside="drop")
        assert (found.reports, found.dropped) == (COUNT, 3)
        assert found.probabilities.tolist() == expected.tolist()
    with pytest.raises(DataError, match=r"^5 of 5 reports are not"):
        nw.estimate(pa.nulls(5), mechanism, outside="drop")


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_what_is_no_column_is_refused_in_a_sentence(kind: str) -> None:
    """No data is shown: the sentences are about the shape alone."""
    mechanism, plain, arrow = made(kind)
    wrong: list[Any] = [
        "1234",
        b"1234",
        None,
        17,
        plain.reshape(2, -1, *plain.shape[1:]),
        pa.table({"report": arrow}),
        pl.DataFrame({"report": pl.from_arrow(arrow)}),
        pd.DataFrame({"report": arrow.to_pylist()}),
    ]
    if kind != "hadamard":
        wrong += [{"a": 5}, plain.astype(float), plain.astype(float).tolist() if kind == "hashing" else plain == 1]
        wrong += [pa.array(["x", "y"]), pa.array([1.5, 2.5]), pa.array([[0.5, 1.0]])]
        wrong += [np.ma.array(plain, mask=plain == plain[0, 0])]
    if kind == "hashing":
        wrong += [pa.array([b"12"], type=pa.binary(2)), pa.array([b"12"]), [(1, 2, 3)], [(2**70, 1)], np.arange(3)]
    for column in wrong:
        with pytest.raises(DataError) as caught:
            nw.estimate(column, mechanism)
        sentence = str(caught.value)
        assert sentence.endswith(".")
        assert any(word in sentence for word in ("give", "drop"))
        assert "1234" not in sentence
    for empty in (plain[:0], arrow[:0], [], np.zeros(0), pa.chunked_array([], type=arrow.type)):
        with pytest.raises(DataError, match="there are no reports"):
            nw.estimate(empty, mechanism)


@pytest.mark.parametrize("kind", SETS)
def test_reports_over_another_number_of_categories(kind: str) -> None:
    """Reports of another number of bytes, or with a bit after the last category, or sets of another size, are known as such."""
    mechanism, _, _ = made(kind)
    for size in (3, 17, 50):
        reports = MAKERS[kind](size, epsilon=2).release(np.zeros(40, dtype=int))
        for column in (reports, reports.tolist(), pa.array([bytes(row) for row in reports])):
            with pytest.raises(DataError, match=r"^40 of 40 reports are not .* made by .* over the same 10 categories"):
                nw.estimate(column, mechanism)
    wide = nw.mechanisms.unary_encoding(16, epsilon="1/10").release(np.arange(1600) % 16)  # as many bytes: 2
    late = int((wide[:, 1] >= 4).sum())
    assert late > 1000  # all but one of 64, about
    assert read_packed(wide, 10)[1].sum() == 1600 - late


@given(
    st.lists(st.one_of(st.none(), st.lists(st.integers(0, 255), max_size=4)), min_size=1, max_size=12),
    st.integers(1, 3),
    st.integers(0, 3),
)
def test_rows_of_arrow_are_those_of_plain_lists(reports: list[Any], width: int, cut: int) -> None:
    """Bytes, lists and lists of one length agree with a loop over the reports, also behind an offset."""
    kept = reports[cut:]
    expected = [report if report is not None and len(report) == width else [0] * width for report in kept]
    right = [report is not None and len(report) == width for report in kept]
    numbers = pa.array(reports, type=pa.list_(pa.int64()))[cut:]
    packed = pa.array([None if report is None else bytes(report) for report in reports], type=pa.binary())[cut:]
    for found in (list_rows(numbers, width), byte_rows(packed, width)):
        assert found is not None
        assert found[0].tolist() == expected
        assert found[1].tolist() == right
    assert byte_rows(numbers, width) is None
    assert list_rows(packed, width) is None


def test_a_column_of_pandas_with_objects_of_several_kinds_is_a_list() -> None:
    column = pd.Series([b"\x05\x01", None, [5, 1]], dtype=object)
    assert plain_column(column, "") == [b"\x05\x01", None, [5, 1]]
    rows, there = read_packed(column, 9)
    assert rows.tolist() == [[5, 1], [0, 0], [5, 1]]
    assert there.tolist() == [True, False, True]
