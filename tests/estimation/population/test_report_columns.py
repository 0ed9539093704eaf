"""Reports in every form that people have them, and what is no column: refused in a sentence, without a value of the data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.estimation.counts import Counts, LabelOutputs, PartOutputs, Tally, WholeNumbers, count_reports
from noisewright.exceptions import DataError, ParameterError

NUMBERS = WholeNumbers(0, 9)
WORDS = LabelOutputs(["a", "b"])
PLACES = PartOutputs([WholeNumbers(0, 2), WholeNumbers(0, 1)])


@pytest.mark.parametrize(
    ("column", "missing"),
    [
        (pd.Series([3, 5, 5]), 0),
        (pd.Series([3, 5, None, 5]), 1),
        (pd.Series([3, None, 5, 5], dtype="Int64"), 1),
        (pd.Series([3, 5, 5], index=[7, 7, 7]), 0),
        (pd.Series([3, 5, 5], dtype="category"), 0),
        (pl.Series([3, None, 5, 5]), 1),
        (np.ma.masked_array([3, 5, 4, 5], mask=[0, 0, 1, 0]), 1),
        (np.ma.masked_array([3.0, 5.0, 4.0, 5.0], mask=[0, 0, 1, 0]), 1),
        ((x for x in [3, 5, 5]), 0),
        ((x for x in [3, None, 5, 5]), 1),
        (iter([3, "5", 5, 5]), 1),
        (map(int, "355"), 0),
        ([3, 5, 10**40, 5], 1),
        ([3, True, 5, 5], 1),
        ([3, -(2**63), 5, 2**64, 5], 2),
        (np.array([3, 5, 5, "7"], dtype=object), 1),
    ],
)
def test_numbers_and_what_is_missing_among_them(column, missing):
    found = count_reports(column, NUMBERS, outside="drop")
    assert found.counts.tolist() == [0, 0, 0, 1, 0, 2, 0, 0, 0, 0]
    assert found.dropped == missing


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["b", "a", "b", None]),
        pd.Series(["b", "a", "b", None], dtype="category"),
        pl.Series(["b", "a", "b", None]),
        pl.Series(["b", "a", "b", None], dtype=pl.Categorical),
        (x for x in ["b", "a", "b", None]),
        iter(["b", "a", "b", 7]),
        np.ma.masked_array(["b", "a", "b", "a"], mask=[0, 0, 0, 1]),
    ],
    ids=lambda c: type(c).__name__,
)
def test_words_and_what_is_missing_among_them(column):
    found = count_reports(column, WORDS, outside="drop")
    assert (found.counts.tolist(), found.dropped) == ([1, 2], 1)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": [0, 2, 3], "y": [0, 1, 0]}),
        pl.DataFrame({"x": [0, 2, 3], "y": [0, 1, 0]}),
        pa.table({"x": [0, 2, 3], "y": [0, 1, 0]}),
        pa.record_batch({"x": [0, 2, 3], "y": [0, 1, 0]}),
        pa.chunked_array([pa.table({"x": [0, 2, 3], "y": [0, 1, 0]}).to_struct_array().combine_chunks()]),
        (pair for pair in [(0, 0), (2, 1), (3, 0)]),
    ],
    ids=lambda t: f"{type(t).__module__.split('.')[0]} {type(t).__name__}",
)
def test_places_in_the_columns_of_a_table(table):
    found = count_reports(table, PLACES, outside="drop")
    assert (found.counts.tolist(), found.dropped) == ([1, 0, 0, 0, 0, 1], 1)


def test_an_iterator_is_counted_in_batches(monkeypatch):
    monkeypatch.setattr("noisewright.estimation.counts.BATCH", 7)
    tally = Tally(NUMBERS)
    tally.add(x % 10 for x in range(100))
    assert tally.result().counts.tolist() == [10] * 10
    assert count_reports(("ab"[x % 2] for x in range(15)), WORDS).counts.tolist() == [8, 7]


SEVERAL = {
    "two axes": (np.array([[71, 72], [73, 74]]), "an array with 2 axes was given"),
    "one wide": (np.array([[71], [72]]), "an array with 2 axes was given"),
    "words in two axes": (np.array([["kept", "secret"]]), "an array with 2 axes was given"),
    "no axis": (np.array(71), "an array with 0 axes was given"),
    "lists": ([[71, 72], [73]], "lists or arrays were given"),
    "arrays": ([np.array([71]), np.array([72])], "lists or arrays were given"),
    "words in arrays": ([np.array(["kept"]), np.array(["secret"])], "lists or arrays were given"),
    "columns": ([pd.Series([71]), pd.Series([72])], "lists or arrays were given"),
    "batches": ((np.array([x]) for x in (71, 72)), "lists or arrays were given"),
    "arrow lists": (pa.array([["kept"], ["secret"]]), "a column of lists or of several parts was given"),
    "pandas": (pd.DataFrame({0: [71, 72], 1: [1, 1]}), "a table was given"),
    "one column of pandas": (pd.DataFrame({"kept": [71, 72]}), "a table was given"),
    "polars": (pl.DataFrame({"kept": [71, 72], "secret": [1, 1]}), "a table was given"),
    "lazy polars": (pl.DataFrame({"kept": [71, 72]}).lazy(), "a table was given"),
    "arrow table": (pa.table({"kept": [71, 72]}), "a table was given"),
}


@pytest.mark.parametrize(
    "outputs", [NUMBERS, WORDS, LabelOutputs([True, "other", 7])], ids=["numbers", "words", "mixed"]
)
@pytest.mark.parametrize("name", [name for name in SEVERAL if name != "batches"])
def test_what_is_more_than_one_column_is_refused(name, outputs):
    """An array with two axes is not flattened, and a table is not read as the names of its columns."""
    reports, words = SEVERAL[name]
    with pytest.raises(
        DataError, match=f"each report of this mechanism is one value, and {words}; give one column"
    ) as problem:
        count_reports(reports, outputs)
    assert not any(value in str(problem.value) for value in ("7", "kept", "secret"))


def test_batches_of_arrays_are_refused():
    reports, words = SEVERAL["batches"]
    with pytest.raises(DataError, match=words):
        count_reports(reports, NUMBERS)


@pytest.mark.parametrize("reports", [None, 71, 7.1, "71", b"71", {71, 72}, frozenset({71}), object()])
@pytest.mark.parametrize("outputs", [NUMBERS, WORDS], ids=["numbers", "words"])
def test_what_is_no_column_is_refused_without_its_value(reports, outputs):
    with pytest.raises(DataError, match="reports are a column: give a list, an array or a column of Arrow") as problem:
        count_reports(reports, outputs)
    assert "7" not in str(problem.value)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({1: -71}, "whole numbers, 0 or more"),
        ({1: 7.1}, "whole numbers, 0 or more"),
        ({1: 71.0}, "whole numbers, 0 or more"),
        ({1: True}, "whole numbers, 0 or more"),
        ({1: "71"}, "whole numbers, 0 or more"),
        ({1: None}, "whole numbers, 0 or more"),
        ({1: 71 * 10**40}, "sum to at most"),
        (Counts(np.arange(10), dropped=-71), "whole numbers, 0 or more"),
        (Counts(np.arange(20).reshape(10, 2)), "20 counts for 10 outputs"),
        (Counts(np.array(71)), "1 counts for 10 outputs"),
    ],
)
def test_counts_that_make_no_sense_are_refused_without_their_values(counts, words):
    with pytest.raises((DataError, ParameterError), match=words) as problem:
        count_reports(counts, NUMBERS)
    assert "71" not in str(problem.value)


def test_counts_do_not_overflow_batch_by_batch():
    tally = Tally(NUMBERS)
    tally.add([1], np.array([6 * 10**17]))
    with pytest.raises(DataError, match="sum to at most"):
        tally.add([2], np.array([6 * 10**17]))
    assert tally.result().total == 6 * 10**17


def test_places_that_are_none_are_refused_in_a_sentence():
    for reports in (pd.DataFrame({"x": [71]}), pl.DataFrame({"x": [1], "y": [1]}).lazy(), [71, 72], np.ones((2, 3))):
        with pytest.raises(DataError, match="each report of this mechanism has 2 parts") as problem:
            count_reports(reports, PLACES)
        assert "71" not in str(problem.value)


# Through the whole of estimate -----------------------------------------------------------------------------------------

LINE = nw.geometric(epsilon=1, within=(0, 3))
PAGES = nw.mechanisms.unary_encoding(["a", "b", "c"], epsilon=1)


def test_a_mechanism_of_a_mixture_may_have_no_reports():
    strong = nw.geometric(epsilon=3, within=(0, 3))
    found = nw.estimate([[1, 2, 2], []], [LINE, strong], intervals="asymptotic")
    alone = nw.estimate([1, 2, 2], LINE, intervals="asymptotic")
    assert found.probabilities.tolist() == alone.probabilities.tolist()
    assert found.low.tolist() == alone.low.tolist()  # type: ignore[union-attr]
    assert found.promise == alone.promise  # nobody was promised the other
    assert found.warnings == (
        "there are no reports of mechanism 2 (geometric); the estimate is from the others.",
        *alone.warnings,
    )
    with pytest.raises(DataError, match="there are no reports"):
        nw.estimate([[], {}], [LINE, strong])
    with pytest.raises(DataError, match="2 of 2 reports are not outputs"):
        nw.estimate([[1, 2], [71, 72]], [LINE, strong], outside="drop")


def test_an_oracle_of_a_mixture_may_have_no_reports():
    rng = np.random.default_rng(0)
    reports, none = PAGES.release(["a", "b", "a"] * 100, rng), PAGES.release([], rng)
    found = nw.estimate([none, reports], (PAGES, PAGES), intervals="asymptotic", joint=True)
    alone = nw.estimate(reports, PAGES, intervals="asymptotic", joint=True)
    assert found.unbiased.tolist() == alone.unbiased.tolist()  # type: ignore[union-attr]
    assert found.low.tolist() == alone.low.tolist()  # type: ignore[union-attr]
    assert found.warnings[0] == "there are no reports of mechanism 1 (unary-encoding); the estimate is from the others."
    with pytest.raises(DataError, match="there are no reports"):
        nw.estimate([none, none], [PAGES, PAGES])
    other = nw.mechanisms.unary_encoding(["x", "y"], epsilon=1)
    with pytest.raises(ParameterError, match="the same secrets"):
        nw.estimate([reports, other.release([], rng)], [PAGES, other])


@pytest.mark.parametrize("method", ["inversion", "ibu", "mle"])
def test_reports_that_no_population_gives_are_refused_by_every_method(method):
    sure = nw.Channel([[0.5, 0.5, 0], [0.4, 0.6, 0]], ["a", "b"], ["x", "y", "never"])
    with pytest.raises(DataError, match="some reports cannot come from this mechanism") as problem:
        nw.estimate({"never": 71}, sure, method=method)
    assert "never" not in str(problem.value)


@pytest.mark.parametrize(
    ("reports", "mechanism", "words"),
    [
        ([[1, 2], [1]], LINE, "a list of as many columns and a list of the mechanisms"),
        ({1: 2}, [LINE], "a list of 1 mechanisms needs a list of as many columns"),
        ([[1]], [LINE, LINE], "a list of 2 mechanisms needs a list of as many columns"),
        ([], [], "at least one mechanism"),
        ([[1]], [LINE, PAGES], "as many columns"),
    ],
)
def test_lists_of_columns_go_with_lists_of_mechanisms(reports, mechanism, words):
    with pytest.raises((DataError, ParameterError), match=words):
        nw.estimate(reports, mechanism)
