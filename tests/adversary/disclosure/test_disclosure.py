"""Rows that stand out, tables that are joined and cells that are left out, against brute force."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisewright.attacks import SuppressedTable, anonymity, link, rank_swapped, rounded
from noisewright.exceptions import DataError, ParameterError

VALUES = st.sampled_from(["a", "b", None])
ROWS = st.lists(st.tuples(VALUES, st.integers(0, 2)), min_size=1, max_size=12)


def table(rows):
    return pa.table({"x": pa.array([r[0] for r in rows], pa.string()), "y": pa.array([r[1] for r in rows], pa.int64())})


@given(ROWS, ROWS)
def test_03_bg3_anonymity_and_linkage_are_what_counting_finds(here, there):
    counts = Counter(here)
    found = anonymity(table(here), ["x", "y"])
    assert found.sizes.tolist() == sorted(counts.values())
    assert found.k == min(counts.values())
    assert found.rows_below(3) == sum(n for n in counts.values() if n < 3)
    known = Counter(row for row in there if row[0] is not None)
    pairs = [(i, there.index(row)) for i, row in enumerate(here) if counts[row] == 1 and known[row] == 1]
    joined = link(table(here), table(there), ["x", "y"])
    assert joined.pairs.tolist() == [list(pair) for pair in pairs]
    assert joined.possible == sum(1 for row in here if known[row])
    assert joined.left_out == sum(row[0] is None for row in [*here, *there])


def test_tables_of_any_kind_and_types_that_can_be_compared():
    columns = {"post": ["A1", "B2"], "born": [1970, 1980]}
    for made in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), columns):
        assert link(made, {"post": ["B2"], "born": [1980.0]}, ["post", "born"]).pairs.tolist() == [[1, 0]]
        assert anonymity(made, ["post"]).k == 1
    coded = pd.DataFrame({"post": pd.Categorical(["A1", "A1"])})
    assert anonymity(coded, ["post"]).k == 2
    with pytest.raises(DataError, match="'born' is of another kind in each table, int64 and string"):
        link(columns, {"post": ["A1"], "born": ["1970"]}, ["born"])


@pytest.mark.parametrize(
    ("given", "columns", "sentence"),
    [
        ({"a": [1]}, "a", "in a list"),
        ({"a": [1]}, [], "in a list"),
        ({"a": [1]}, ["a", "a"], "named twice"),
        ({"a": [1]}, ["b"], "no column 'b'"),
        ({"a": []}, ["a"], "no rows"),
        ({"a": [1], "b": [1, 2]}, ["a", "b"], "differ in length"),
        (3, ["a"], "not int"),
    ],
)
def test_bad_tables(given, columns, sentence):
    with pytest.raises((DataError, ParameterError), match=sentence):
        anonymity(given, columns)


# Suppressed cells --------------------------------------------------------------------------------------------------------


def every_completion(rows, most):
    """All tables of whole numbers up to ``most`` that fit the published cells, by brute force."""
    places = [(i, j) for i, row in enumerate(rows) for j, v in enumerate(row) if v is None]
    for values in product(range(most + 1), repeat=len(places)):
        full = np.array([[0 if v is None else v for v in row] for row in rows])
        for place, value in zip(places, values, strict=True):
            full[place] = value
        if (full[:, :-1].sum(axis=1) == full[:, -1]).all() and (full[:-1].sum(axis=0) == full[-1]).all():
            yield values


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_03_bg3_bounds_are_those_of_all_tables_that_fit(data):
    inner = np.array(data.draw(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=2, max_size=2)))
    full = np.zeros((3, 4), dtype=int)
    full[:2, :3] = inner
    full[:2, 3], full[2, :3], full[2, 3] = inner.sum(axis=1), inner.sum(axis=0), inner.sum()
    cells = [(i, j) for i in range(2) for j in range(4)]  # of totals those of the rows may be left out as well
    hidden = data.draw(st.lists(st.sampled_from(cells), min_size=1, max_size=5, unique=True))
    rows = [[None if (i, j) in hidden else int(full[i, j]) for j in range(4)] for i in range(3)]
    found = SuppressedTable(rows).bounds()
    fitting = list(every_completion(rows, 9 if len(hidden) < 5 else 6))
    assert [(cell.row, cell.column) for cell in found] == sorted(hidden)
    if full.max() <= 6 and all(cell.high is not None and cell.high <= 6 for cell in found):
        assert [cell.low for cell in found] == [min(v) for v in zip(*fitting, strict=True)]
        assert [cell.high for cell in found] == [max(v) for v in zip(*fitting, strict=True)]


def test_a_cell_without_an_end_and_amounts_that_are_not_whole():
    (own, total, *_) = SuppressedTable([[None, 2, None], [1, 1, 2], [None, 3, None]]).bounds()
    assert (own.low, own.high, str(total)) == (0, None, "row 0, column 2: 2 or more")
    amounts = SuppressedTable([["0.5", None, "1.25"], ["1/4", "1/4", "1/2"], ["0.75", "1", "1.75"]]).bounds()
    assert [(cell.low, cell.high, cell.disclosed) for cell in amounts] == [(Fraction(3, 4), Fraction(3, 4), True)]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([[1, 2], [3]], "rows of one length"),
        ([[1, 2]], "two or more"),
        (3, "a list of rows"),
        ([[1, -1], [1, None]], "negative"),
        ([[1, 2], [1, None]], "contradict each other"),
        ([[5, None, 3], [None, None, 4], [2, 5, 7]], "contradict each other"),
        ([[10**13, None], [10**13, None]], "too large"),
        ([["x", None], [1, 1]], "is not a number"),
    ],
)
def test_bad_tables_with_totals(rows, sentence):
    with pytest.raises((DataError, ParameterError), match=sentence):
        SuppressedTable(rows).bounds()


# Maskings ----------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-50, 50), max_size=30), st.integers(1, 5), st.integers(0, 2**32))
def test_03_bg3_swapped_values_stay_within_the_window(values, window, seed):
    swapped = rank_swapped(np.array(values, dtype=int), window=window, rng=np.random.default_rng(seed))
    assert sorted(swapped.tolist()) == sorted(values)
    order = np.argsort(np.array(values, dtype=int), kind="stable")
    ranked = np.array(values, dtype=int)[order]
    for rank, value in enumerate(swapped[order]):
        assert value in ranked[max(0, rank - window) : rank + window + 1]
    if len(set(values)) == len(values) > 1:  # the first in rank always finds somebody
        assert swapped[order[0]] != values[order[0]]


@given(st.lists(st.integers(-(10**6), 10**6), max_size=20), st.integers(1, 100))
def test_03_bg3_rounded_values(values, base):
    found = rounded(np.array(values, dtype=np.int64), base=base)
    assert found.tolist() == [base * round(Fraction(v, base)) for v in values]  # Python rounds halves to even, too
    assert rounded([0.7], base="0.5").tolist() == [0.5]


@pytest.mark.parametrize("bad", [["a"], [[1]], [np.nan], [np.inf]])
def test_bad_columns_to_mask(bad):
    with pytest.raises(DataError, match="a list of numbers"):
        rounded(bad, base=5)
    with pytest.raises(DataError, match="a list of numbers"):
        rank_swapped(bad, window=1)
    with pytest.raises(ParameterError, match="base must be greater than 0"):
        rounded([1], base=0)
    with pytest.raises(ParameterError, match="window must be a whole number of ranks"):
        rank_swapped([1], window=0)
