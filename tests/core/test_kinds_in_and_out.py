"""Columns of other libraries go into a mechanism and come out as they are: kind, index, names, dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.exceptions import DataError

AGES = nw.geometric(epsilon=1, within=(0, 100))
YES = nw.randomised_response(["yes", "no"], epsilon=1)
RESPONSE = {"mechanism": "randomised-response", "categories": ["yes", "no"]}


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "Int8", "Int64"])
def test_a_series_keeps_index_name_and_dtype(dtype: str) -> None:
    given = pd.Series([30, 41, 52], index=["a", "b", "c"], name="age", dtype=dtype)
    drawn = AGES.release(given, np.random.default_rng(3))
    pd.testing.assert_index_equal(drawn.index, given.index)
    assert (drawn.name, str(drawn.dtype)) == ("age", dtype)
    assert drawn.tolist() == AGES.release([30, 41, 52], np.random.default_rng(3)).tolist()


@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_labels_keep_their_dtype(dtype: Any) -> None:
    given = pd.Series(["yes", "no"] * 20, index=range(40, 80), dtype=dtype)
    drawn = YES.release(given)
    assert drawn.index.equals(given.index)
    assert isinstance(drawn.dtype, type(given.dtype))
    assert set(drawn) <= {"yes", "no"}


def test_words_of_a_dtype_that_no_value_has_stay_behind() -> None:
    """A categorical column remembers the names of rows that were left out long ago."""
    whole = pd.Series(["yes", "no", "Ann Other"], dtype="category")
    drawn = YES.release(whole[:2])
    assert isinstance(drawn.dtype, pd.CategoricalDtype)
    assert set(drawn.dtype.categories) <= {"yes", "no"}
    policy = {"dataset": "d", "budget": {"epsilon": 1}, "columns": [{"name": "x", "epsilon": 1} | RESPONSE]}
    done = nw.release(policy, pd.DataFrame({"x": whole[:2]}), seed=1)
    assert isinstance(done.data.x.dtype, pd.CategoricalDtype)
    assert "Ann Other" not in done.data.x.dtype.categories


def test_a_dtype_that_does_not_hold_what_was_drawn_is_widened_and_nothing_wraps_around() -> None:
    wide = nw.geometric(epsilon="0.001")
    drawn = wide.release(pd.Series(np.full(50, 100), dtype="int8"), np.random.default_rng(0))
    assert str(drawn.dtype) == "int64"
    assert drawn.tolist() == wide.release(np.full(50, 100), np.random.default_rng(0)).tolist()
    assert abs(drawn).max() > 127
    small = pa.array([100] * 50, pa.int8())
    assert wide.release(small, np.random.default_rng(0)).to_pylist() == drawn.tolist()
    tiny = pl.Series("n", [100] * 50, dtype=pl.Int8)
    assert wide.release(tiny, np.random.default_rng(0)).to_list() == drawn.tolist()


def test_arrow_and_polars_come_back_as_themselves() -> None:
    assert AGES.release(pa.array([1, 2], pa.int16())).type == pa.int16()
    chunked = AGES.release(pa.chunked_array([[1], [2]]))
    assert isinstance(chunked, pa.ChunkedArray)
    assert chunked.type == pa.int64()
    series = AGES.release(pl.Series("age", [1, 2], dtype=pl.UInt8))
    assert isinstance(series, pl.Series)
    assert (series.name, series.dtype) == ("age", pl.UInt8)
    assert isinstance(AGES.release([1, 2]), np.ndarray)
    assert isinstance(AGES.release(3), int)


def test_a_frame_of_places_keeps_its_columns() -> None:
    given = pd.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]}, index=[7, 8]).astype({"y": "float32"})
    drawn = nw.planar_laplace(epsilon=1).release(given)
    assert list(drawn.columns) == ["x", "y"]
    assert drawn.index.tolist() == [7, 8]
    assert drawn.dtypes.astype(str).tolist() == ["float64", "float32"]


def test_what_is_loaded_releases(tmp_path: Any) -> None:
    nw.save(AGES.certificate(), tmp_path / "age.json")
    given = pd.Series([30, 41], index=[5, 6], dtype="int16")
    drawn = nw.load(tmp_path / "age.json").release(given, np.random.default_rng(3))  # type: ignore[union-attr]
    pd.testing.assert_series_equal(drawn, AGES.release(given, np.random.default_rng(3)))


@pytest.mark.parametrize(
    "values", [pd.Index([3, 4]), pd.array([3, 4]), pd.Index(["yes", "no"]), pd.Categorical(["no"])]
)
def test_values_of_pandas_without_an_index_come_back_as_an_array(values: Any) -> None:
    mechanism = AGES if values.dtype.kind == "i" else YES
    drawn = mechanism.release(values)
    assert isinstance(drawn, np.ndarray)
    assert len(drawn) == len(values)


def test_reports_with_two_parts_come_back_as_a_table_and_are_estimated_from() -> None:
    words = nw.mechanisms.local_hashing(["red", "green", "blue"], epsilon=2)
    given = pd.Series(["red", "blue", "red"] * 50, index=range(150, 300), name="word")
    frame = words.release(given, np.random.default_rng(3))
    assert list(frame.columns) == ["hash", "bucket"]
    pd.testing.assert_index_equal(frame.index, given.index)
    structs = words.release(pl.Series("word", given.tolist()), np.random.default_rng(3))
    assert (structs.name, structs.struct.fields) == ("word", ["hash", "bucket"])
    plain = words.release(given.tolist(), np.random.default_rng(3))
    wanted = nw.estimate(plain, words).probabilities.tolist()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    turned = table.select(["bucket", "hash"])
    for reports in (frame, frame[["bucket", "hash"]], pl.from_pandas(frame), structs, table, turned.to_struct_array()):
        assert nw.estimate(reports, words).probabilities.tolist() == wanted
    for bad in (frame.astype(float), frame["hash"], frame.rename(columns={"hash": "h"})):
        with pytest.raises(DataError):
            nw.estimate(bad, words)


def test_days_in_a_column_of_times_come_back_as_such() -> None:
    days = pd.date_range("2024-01-01", periods=30)
    year = [days[0].date(), days[-1].date()]
    column = {
        "name": "day",
        "mechanism": "laplace",
        "within": year,
        "protect": "7 days",
        "epsilon": 1,
        "missing": "keep",
    }
    frame = pd.DataFrame({"day": days}).where(lambda table: table["day"] > days[0])
    drawn = nw.release({"dataset": "d", "budget": {"epsilon": 1}, "columns": [column]}, frame, seed=1).data
    assert drawn["day"].dtype == frame["day"].dtype
    assert drawn["day"].isna().sum() == 1


def test_frames_of_polars_and_tables_of_arrow_keep_their_names() -> None:
    places = nw.planar_laplace(epsilon=1, radius=100)
    frame = pl.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    drawn = places.release(frame, np.random.default_rng(3))
    assert (type(drawn), drawn.columns) == (pl.DataFrame, ["x", "y"])
    table = places.release(frame.to_arrow(), np.random.default_rng(3))
    assert (type(table), table.column_names) == (pa.Table, ["x", "y"])
    wanted = places.release([(1.0, 3.0), (2.0, 4.0)], np.random.default_rng(3))
    assert drawn.to_numpy().tolist() == wanted.tolist() == table.to_pandas().to_numpy().tolist()


@pytest.mark.parametrize(
    "values",
    [pd.Series([1, None]), pd.Series([1, None], dtype="Int8"), pl.Series([1, None]), pa.array([1, None]), [1, None]],
)
def test_missing_numbers_are_said_to_be_missing(values: Any) -> None:
    with pytest.raises(DataError, match="some values are missing; drop or replace them first"):
        AGES.release(values)


@pytest.mark.parametrize(
    "values", [pd.Series(["yes", None]), pl.Series(["yes", None]), ["yes", None], pa.array(["yes", None])]
)
def test_missing_labels_are_said_to_be_missing(values: Any) -> None:
    with pytest.raises(DataError, match="some values are missing; drop or replace them first"):
        YES.release(values)
