"""Counting reports: every kind of column, missing values, and what is no output."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.estimation.counts import Counts, LabelOutputs, PartOutputs, Tally, WholeNumbers, count_reports
from noisewright.exceptions import DataError, ParameterError

WORDS = LabelOutputs(["yes", "no", "it's"])
MIXED = LabelOutputs([True, "other", None, 7])


@pytest.mark.parametrize(
    "column",
    [
        [3, 5, 5, 4],
        np.array([3, 5, 5, 4], dtype=np.uint8),
        np.array([3.0, 5.0, 5.0, 4.0]),
        pa.array([3, 5, 5, 4], type=pa.int16()),
        pa.chunked_array([[3, 5], [5, 4]]),
        pa.array([3, 5, 5, 4]).dictionary_encode(),
        {3: 1, 5: 2, 4: 1},
        np.array([3, 5, 5, 4], dtype=object),
        np.array([3, 5, 5, 4], dtype=np.uint64),
    ],
)
@pytest.mark.parametrize("outputs", [WholeNumbers(3, 6), LabelOutputs([3, 4, 5, 6])])
def test_numbers_in_every_form(column, outputs):
    assert count_reports(column, outputs).counts.tolist() == [1, 1, 2, 0]


def test_small_unsigned_numbers_do_not_wrap_around():
    assert WholeNumbers(-5, 250).positions(np.array([0, 250], dtype=np.uint8)).tolist() == [5, 255]
    assert WholeNumbers(-5, 5, clamp=True).positions(np.array([0, 250], dtype=np.uint8)).tolist() == [5, 10]


@pytest.mark.parametrize(
    "column",
    [
        ["no", "yes", "no", "it's"],
        np.array(["no", "yes", "no", "it's"]),
        pa.array(["no", "yes", "no", "it's"]),
        pa.array(["no", "yes", "no", "it's"], type=pa.large_string()),
        pa.array(["no", "yes", "no", "it's"]).dictionary_encode(),
        {"no": 2, "yes": 1, "it's": 1},
    ],
)
def test_words_in_every_form(column):
    assert count_reports(column, WORDS).counts.tolist() == [1, 2, 1]


def test_labels_of_several_kinds():
    assert MIXED.positions([7, True, "other", None, "7", 8]).tolist() == [3, 0, 1, 2, -1, -1]


def test_labels_in_any_order_and_halves():
    outputs = LabelOutputs([2.5, 0, -1])
    assert outputs.positions([0, 2.5, -1, 2, 2.4999]).tolist() == [1, 0, 2, -1, -1]


def test_the_output_that_stands_for_none_is_null_in_a_column_of_numbers():
    outputs = LabelOutputs([1, 2, "*"])
    assert outputs.positions(pa.array([2, None, 1])).tolist() == [1, 2, 0]
    assert LabelOutputs(["a", "*"]).positions(pa.array(["*", None])).tolist() == [1, -1]


def test_places():
    grid = PartOutputs([WholeNumbers(0, 2), WholeNumbers(0, 1)])
    pairs = [(0, 0), (2, 1), (1, 0), (3, 0), (0, -1)]
    wanted = [0, 5, 2, -1, -1]
    assert grid.positions(pairs).tolist() == wanted
    assert grid.positions(np.array(pairs)).tolist() == wanted
    struct = pa.StructArray.from_arrays([pa.array([p[i] for p in pairs]) for i in (0, 1)], names=["x", "y"])
    assert grid.positions(struct).tolist() == wanted
    assert grid.size == 6


def test_tuples_that_are_not_all_combinations():
    outputs = PartOutputs.of([("a", 1), ("b", 2), ("a", 2)])
    assert outputs.size == 3
    assert outputs.positions([("a", 2), ("b", 1), ("a", 1), ("b", 2)]).tolist() == [2, -1, 0, 1]


@pytest.mark.parametrize(
    ("column", "outside"),
    [([3, 2, 99], 1), ([3, 2, 99.5], 1), ([3, 2, float("nan"), float("inf")], 2), (pa.array([3, None, 2]), 1)],
)
def test_reports_that_are_no_outputs_are_counted_and_refused(column, outside):
    outputs = WholeNumbers(0, 3)
    with pytest.raises(DataError, match=f"^{outside} of {outside + 2} reports are not outputs") as problem:
        count_reports(column, outputs)
    assert "99" not in str(problem.value)  # a value of the data is never shown
    found = count_reports(column, outputs, outside="drop")
    assert (found.total, found.dropped) == (2, outside)


def test_text_for_numbers_and_numbers_for_text_are_no_outputs():
    with pytest.raises(DataError, match=r"2 of 2 reports .* are numbers, and these are none; convert the column"):
        count_reports(["3", "4"], WholeNumbers(0, 9), outside="drop")
    with pytest.raises(DataError, match=r"2 of 2 reports .* column is of its type"):
        count_reports([30, 40], WholeNumbers(0, 9), outside="drop")
    with pytest.raises(DataError, match=r"2 of 2 reports .* column is of its type"):
        count_reports([3, 4], WORDS, outside="drop")


def test_clamping_counts_at_the_ends():
    outputs = WholeNumbers(0, 3, clamp=True)
    assert outputs.positions([-7, 2, 10**12]).tolist() == [0, 2, 3]
    assert outputs.positions([2.5, float("inf"), 1e300]).tolist() == [-1, -1, 3]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=50), st.integers(1, 49))
def test_batches_add_up(values, cut):
    outputs = WholeNumbers(0, 9)
    tally = Tally(outputs)
    for batch in (values[:cut], values[cut:]):
        tally.add(np.array(batch, dtype=np.int64))
    whole = count_reports(values, outputs)
    assert tally.result().counts.tolist() == whole.counts.tolist()
    first = Counts(np.bincount(values[:cut], minlength=10))
    second = Counts(np.bincount(values[cut:], minlength=10).astype(np.int64), dropped=2)
    assert (first + second).counts.tolist() == whole.counts.tolist()
    assert (first + second).dropped == 2


@pytest.mark.parametrize(
    ("reports", "error", "words"),
    [
        ([], DataError, "no reports"),
        ({}, DataError, "no reports"),
        ({1: 0}, DataError, "no reports"),
        ({1: -1}, DataError, "whole numbers, 0 or more"),
        ({1: 2.5}, DataError, "whole numbers, 0 or more"),
        ("13", DataError, "a column"),
        (13, DataError, "a column"),
        (Counts(np.array([1, 2])), ParameterError, "2 counts for 4 outputs"),
        (Counts(np.array([1, -2, 0, 0])), DataError, "0 or more"),
        (Counts(np.zeros(4, dtype=np.int64)), DataError, "no reports"),
    ],
)
def test_what_is_no_column_is_refused(reports, error, words):
    with pytest.raises(error, match=words):
        count_reports(reports, WholeNumbers(0, 3))


def test_parts_are_refused_in_a_sentence():
    grid = PartOutputs([WholeNumbers(0, 2), WholeNumbers(0, 1)])
    for column in ([1, 2], [(1, 2, 3)], np.ones((2, 3)), pa.array([1, 2])):
        with pytest.raises(DataError, match="2 parts"):
            grid.positions(column)
    with pytest.raises(ParameterError, match="one length"):
        PartOutputs.of([(1, 2), (1,)])
    with pytest.raises(ParameterError, match="'refuse' or 'drop'"):
        count_reports([1], WholeNumbers(0, 3), outside="ignore")
