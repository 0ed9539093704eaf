"""Counting pairs of values: every kind of column, orders, missing values, and errors that show no value."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.attacks.correlation import CrossTable, cross_table
from noisewright.exceptions import DataError, ParameterError

SECRET = "Zebulon-7"


@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from("pqr")), min_size=1, max_size=40))
def test_counts_are_those_of_a_plain_loop(rows: list[tuple[int, str]]) -> None:
    found = cross_table({"n": [n for n, _ in rows], "c": [c for _, c in rows]}, "n", "c")
    assert found.rows == tuple(sorted({n for n, _ in rows}))
    assert found.columns == tuple(sorted({c for _, c in rows}))
    for i, n in enumerate(found.rows):
        for j, c in enumerate(found.columns):
            assert found.counts[i, j] == rows.count((n, c))
    assert (found.total, found.left_out) == (len(rows), 0)
    assert (found.rows_ordered, found.columns_ordered) == (True, False)


def test_the_same_column_may_be_both() -> None:
    found = cross_table({"a": [1, 1, 2]}, "a", "a")
    assert found.counts.tolist() == [[2, 0], [0, 1]]


@pytest.mark.parametrize(
    ("values", "labels", "ordered"),
    [
        (pa.array([3, 1, 3]), (1, 3), True),
        (pa.array([2.5, 0.5, 0.5]), (0.5, 2.5), True),
        (pa.array([True, False, True]), (False, True), True),
        (pa.array([datetime.date(2024, 5, 1), datetime.date(2023, 1, 1), None][:2] * 1 + [datetime.date(2024, 5, 1)]),
         (datetime.date(2023, 1, 1), datetime.date(2024, 5, 1)), True),
        (pa.array(["b", "a", "b"]), ("a", "b"), False),
        (pa.array(["b", "a", "b"], pa.large_string()), ("a", "b"), False),
        (pa.array(["b", "a", "b"], pa.string_view()), ("a", "b"), False),
        (pa.array(["b", "a", "b"]).dictionary_encode(), ("a", "b"), False),
        (pa.DictionaryArray.from_arrays([0, 2, 0], ["low", "middle", "high"], ordered=True), ("low", "middle", "high"), True),
        (pa.chunked_array([["b"], [], ["a", "b"]]), ("a", "b"), False),
    ],
)  # fmt: skip
def test_the_order_of_values(values: pa.Array, labels: tuple[object, ...], ordered: bool) -> None:
    found = cross_table({"v": values, "w": [0, 0, 0]}, "v", "w")
    assert found.rows == labels
    assert found.rows_ordered is ordered
    assert found.total == 3


def test_chunks_with_dictionaries_of_their_own() -> None:
    chunks = pa.chunked_array([pa.array(["x", "y"]).dictionary_encode(), pa.array(["y", "z"]).dictionary_encode()])
    found = cross_table(pa.table({"v": chunks, "w": [1, 1, 1, 1]}), "v", "w")
    assert found.rows == ("x", "y", "z")
    assert found.counts.ravel().tolist() == [1, 2, 1]


def test_frames_with_ordered_categories() -> None:
    levels = ["low", "middle", "high"]
    frame = pd.DataFrame({"v": pd.Categorical(["high", "low"], levels, ordered=True), "w": [1, 2]})
    found = cross_table(frame, "v", "w")
    assert (found.rows, found.rows_ordered) == (tuple(levels), True)
    assert found.counts.sum(axis=1).tolist() == [1, 0, 1]
    plain = pl.DataFrame({"v": ["high", "low"], "w": [1, 2]}).with_columns(pl.col("v").cast(pl.Categorical))
    assert cross_table(plain, "v", "w").rows == ("high", "low")
    assert cross_table(plain.lazy(), "v", "w").rows == ("high", "low")


def test_an_order_can_be_given_with_values_that_do_not_occur() -> None:
    found = cross_table({"v": ["b", "a"], "w": [1, 2]}, "w", "v", second_order=["c", "b", "a"])
    assert (found.columns, found.columns_ordered) == (("c", "b", "a"), True)
    assert found.counts.tolist() == [[0, 1, 0], [0, 0, 1]]
    with pytest.raises(DataError, match="leaves out; list all values"):
        cross_table({"v": ["b", SECRET], "w": [1, 2]}, "w", "v", second_order=["b"])
    with pytest.raises(ParameterError, match="lists a value twice"):
        cross_table({"v": ["b"], "w": [1]}, "w", "v", second_order=["b", "b"])


@pytest.mark.parametrize("absent", [None, float("nan")])
def test_rows_without_a_value_are_refused_or_left_out(absent: float | None) -> None:
    table = {"v": [1.0, absent, 2.0, 1.0], "w": ["a", "a", None, "b"]}
    with pytest.raises(DataError, match="some rows have no value in 'v' or 'w'"):
        cross_table(table, "v", "w")
    found = cross_table(table, "v", "w", missing="drop")
    assert (found.rows, found.counts.tolist(), found.left_out) == ((1.0,), [[1, 1]], 2)
    with pytest.raises(DataError, match="nothing to count"):
        cross_table({"v": [None], "w": [1]}, "v", "w", missing="drop")
    with pytest.raises(ParameterError, match="missing"):
        cross_table(table, "v", "w", missing="guess")


def test_nan_in_a_column_of_arrow_is_no_value_either() -> None:
    table = pa.table({"v": pa.array([1.0, float("nan"), 2.0]), "w": ["a", "a", "b"]})
    assert table.column("v").null_count == 0
    with pytest.raises(DataError, match="some rows have no value"):
        cross_table(table, "v", "w")
    found = cross_table(table, "v", "w", missing="drop")
    assert (found.rows, found.left_out) == ((1.0, 2.0), 1)


def test_what_cannot_be_counted_is_refused_without_showing_it() -> None:
    cases: list[tuple[object, str]] = [
        ({"v": [1, SECRET], "w": [1, 2]}, "mixes values"),
        ({"v": [[SECRET]], "w": [1]}, "has no categories"),
        ({"v": [1, 2], "w": [1]}, "differ in length"),
        ({"v": [f"{SECRET}{i}" for i in range(10_001)], "w": [1] * 10_001}, "more than 10000 different values"),
        ({"v": range(3000), "w": range(3000)}, "too many different values to count all pairs"),
        ({"w": [1]}, "no column 'v'"),
        (pd.DataFrame([[1, 2, 3]], columns=["v", "v", "w"]), "more than one column 'v'"),
    ]
    for table, words in cases:
        with pytest.raises(DataError, match=words) as problem:
            cross_table(table, "v", "w")
        assert SECRET not in str(problem.value)
    with pytest.raises(ParameterError, match="a table is"):
        cross_table(7, "v", "w")


def test_counts_by_hand_are_checked() -> None:
    made = CrossTable(np.array([[1, 2]]), ("a",), (0, 1))
    with pytest.raises(ValueError, match="read-only"):
        made.counts[0, 0] = 5
    for counts, rows, columns, words in (
        ([[1.5, 2]], "a", "xy", "whole numbers"),
        ([[-1, 2]], "a", "xy", "0 or more"),
        ([[0, 0]], "a", "xy", "not all 0"),
        ([[1, 2]], "ab", "xy", "name each row"),
        ([[1, 2]], "a", "xx", "named twice"),
    ):
        with pytest.raises(ParameterError, match=words):
            CrossTable(np.array(counts), tuple(rows), tuple(columns))
