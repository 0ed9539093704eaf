"""A released table comes back as it was released, whatever it was written to; times with an offset are times in CSV, too."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

import noisewright as nw
from noisewright.columns import ZONED, fits
from noisewright.exceptions import DataError, ParameterError
from noisewright.planning.columns import known_types
from noisewright.policy.policy import as_policy
from noisewright.releases import release as run
from noisewright.tables.files import read_written
from noisewright.tables.reading import source_of

NOON = dt.datetime(2024, 1, 5, 12, tzinfo=dt.UTC)
SUMMER = dt.datetime(2024, 7, 5, 12, 30, 15, tzinfo=dt.UTC)
KEPT = {
    "digits": pa.array(["1", "2", None], pa.string()),
    "blank": pa.array(["", "a", None], pa.string()),
    "days in words": pa.array(["2024-01-01", "2024-01-02", None], pa.string()),
    "truth": pa.array([True, False, None], pa.bool_()),
    "small": pa.array([-7, 100, None], pa.int8()),
    "huge": pa.array([2**64 - 1, 5, None], pa.uint64()),
    "cents": pa.array([Decimal("1.25"), Decimal("-3.50"), None], pa.decimal128(7, 2)),
    "single": pa.array([0.1, 1e30, None], pa.float32()),
    "large": pa.array([1e20, -0.5, None], pa.float64()),
    "day": pa.array([dt.date(2024, 2, 29), dt.date(1, 1, 1), None], pa.date32()),
    "clock": pa.array(
        [dt.datetime(2024, 1, 5, 12), dt.datetime(1969, 7, 5, 12, 0, 0, 250_000), None], pa.timestamp("ms")
    ),
    "moment": pa.array([NOON, SUMMER, None], pa.timestamp("us", "Europe/Paris")),
    "empty": pa.nulls(3, pa.timestamp("s", "Asia/Kolkata")),
}
TABLE = pa.table(KEPT | {"at": pa.array([NOON, NOON, NOON], pa.timestamp("ms", "America/St_Johns"))})
AT = {
    "name": "at",
    "mechanism": "laplace",
    "within": ["2024-01-01T00:00:00Z", "2024-02-01T00:00:00+01:00"],
    "protect": "1 hour",
    "epsilon": 1,
}


def policy(*columns: dict[str, object]) -> dict[str, object]:
    order = {"order": "kept"} if columns else {}
    return {"dataset": "clinic", **order, "budget": {"epsilon": 100}, "columns": list(columns)}


@pytest.mark.parametrize("form", ["parquet", "csv", "arrow"])
def test_a_released_table_has_the_same_types_and_values_in_every_format(tmp_path, form):
    asked = policy(AT, *({"name": name, "keep": True} for name in KEPT))
    book = tmp_path / "ledger"
    first = nw.release(asked, TABLE, output=tmp_path / "out", ledger=book, format=form)
    again = nw.release(asked, TABLE, output=tmp_path / "out", ledger=book, format=form)
    assert (first.reread, again.reread) == (False, True)
    for done in (first, again):
        assert {n: done.data.schema.field(n).type for n in TABLE.schema.names} == {f.name: f.type for f in TABLE.schema}
        assert {name: done.data[name].to_pylist() for name in KEPT} == {n: a.to_pylist() for n, a in KEPT.items()}
    assert first.data.equals(again.data)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", "3"], pa.string()),
        (["2024-01-01", "2024-01-02"], pa.string()),
        (["", "a"], pa.string()),
        ([True, False], pa.bool_()),
        ([1.0, 2.0], pa.float64()),
        ([3, 5, 7], pa.int16()),
    ],
)
def test_charts_of_a_csv_release_are_of_the_released_categories(tmp_path, monkeypatch, values, kind):
    charted = []
    monkeypatch.setattr(run, "report", lambda plan, made, *, marginals, **rest: charted.extend(marginals) or "page")
    column = {"name": "a", "mechanism": "randomised-response", "categories": values, "epsilon": 1}
    table = pa.table({"a": pa.array(values * 200, kind)})
    done = nw.release(policy(column), table, output=tmp_path / "out", ledger=tmp_path / "ledger", format="csv")
    assert done.data.schema == table.schema
    assert set(done.data["a"].to_pylist()) == set(values)
    counted = {str(value).lower(): count for value, count in Counter(done.data["a"].to_pylist()).items()}
    assert dict(zip(charted[0].labels, charted[0].counts, strict=True)) == counted
    assert charted[0].missing == 0


def test_a_number_of_many_digits_does_not_stop_a_release(tmp_path):
    """Arrow writes 1e20 in full, which read as a guess would be a code, not a number."""
    column = {"name": "a", "mechanism": "laplace", "protect": 1e18, "epsilon": 1}
    table = pa.table({"a": [1e20] * 50})
    done = nw.release(policy(column), table, output=tmp_path / "out", ledger=tmp_path / "ledger", format="csv")
    assert done.data.schema == table.schema
    assert 9e19 < np.mean(done.data["a"].to_numpy()) < 1.1e20


# Times with an offset in files without types --------------------------------------------------------------------------------


def test_a_released_csv_with_zones_is_a_source_of_moments_again(tmp_path):
    asked = policy(AT, {"name": "moment", "keep": True})
    nw.release(asked, TABLE, output=tmp_path / "out", ledger=tmp_path / "ledger", format="csv")
    path = tmp_path / "out" / "data.csv"
    assert source_of(path).types == {"at": ZONED, "moment": ZONED}
    done = nw.release(asked, path, ledger=tmp_path / "second")
    assert done.data.schema.types == [
        ZONED,
        pa.string(),
    ]  # the policy says nothing of what it keeps: text, as it is spelled
    assert [cell and dt.datetime.fromisoformat(cell) for cell in done.data["moment"].to_pylist()] == [
        NOON,
        SUMMER,
        None,
    ]
    near = [abs(moment - NOON) for moment in done.data["at"].to_pylist()]
    assert max(near) < dt.timedelta(days=5)  # twice noise of scale 1 hour: beyond 5 days once in e^60


CELLS = ["2024-01-05T12:00:00Z", "2024-01-05 13:00:00.000000+0100", "2024-01-05 17:30+05:30", "2024-01-05 11:00:00-01"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "pandas"])
def test_an_offset_says_which_moment_is_meant(tmp_path, ending):
    data: object = tmp_path / f"visits.{ending}"
    if ending == "csv":
        (tmp_path / "visits.csv").write_text("at\n" + "\n".join(CELLS) + "\n")
    elif ending == "jsonl":
        (tmp_path / "visits.jsonl").write_text("".join(f'{{"at": "{cell}"}}\n' for cell in CELLS))
    else:
        data = pd.DataFrame({"at": CELLS})
    source = source_of(data, known_types(as_policy(policy(AT))))
    moments = [value for batch in source.batches(["at"]) for value in batch.column(0).to_pylist()]
    assert moments == [NOON] * 4


def test_the_type_says_time_and_the_ends_say_whether_with_an_offset():
    local = AT | {"within": ["2024-01-01T00:00:00", "2024-02-01T00:00:00"]}
    mean = {"name": "when", "aggregate": "mean", "column": "at", "within": AT["within"], "epsilon": 1}
    for stated in ({}, {"types": {"at": "time"}}):
        assert known_types(as_policy(policy(AT) | stated)) == {"at": ZONED}
        assert known_types(as_policy(policy(local) | stated)) == {"at": pa.timestamp("us")}
        assert known_types(as_policy(policy() | {"queries": [mean]} | stated)) == {"at": ZONED}


@pytest.mark.parametrize(
    ("within", "cell", "words"),
    [
        (AT["within"], "2024-01-05 12:00:00", "not a time with an offset such as 2024-02-29 12:30:00[+]01:00"),
        (AT["within"], "2024-01-05", "write the ends of its range without an offset"),
        (AT["within"], "2024-01-05 12Z", "not a time with an offset"),
        (["2024-01-01T00:00:00", "2024-02-01T00:00:00"], "2024-01-05 12:00:00Z", "ends of its range with one, such as"),
        (
            ["2024-01-01T00:00:00", "2024-02-01T00:00:00"],
            "2024-01-05 12",
            "not a time such as 2024-02-29 12:30:00, without",
        ),
    ],
)
def test_cells_with_and_without_an_offset_are_not_mixed(tmp_path, within, cell, words):
    path = tmp_path / "visits.csv"
    path.write_text(f"at\n{cell}\n")
    with pytest.raises((DataError, ParameterError), match=words) as problem:
        nw.release(policy(AT | {"within": within}), path, ledger=tmp_path / "ledger")
    assert "2024-01-05" not in str(problem.value)


def test_a_column_of_both_kinds_of_times_is_text(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("a,b\n2024-01-05 12:00:00,2024-01-05 12:00:00Z\n2024-01-05 12:00:00+01:00,2024-01-05 12:00:00\n")
    assert source_of(path).types == {"a": pa.string(), "b": pa.string()}


@pytest.mark.parametrize("cell", ["2024-01-05 12Z", "2024-01-05 12+01:00", "2024-01-05T12", "2024-01-05 12:00:60Z"])
def test_what_arrow_and_duckdb_read_differently_is_no_time(cell):
    assert not fits(pa.array([cell]), ZONED)
    assert not fits(pa.array([cell]), pa.timestamp("us"))


def test_a_file_that_is_not_as_it_was_written_is_told(tmp_path: Path):
    path = tmp_path / "data.csv"
    path.write_text('"truth","more"\nmaybe,1\n')
    with pytest.raises(nw.NoisewrightError, match=r"data\.csv cannot be read to its end") as problem:
        read_written(path, {"truth": pa.bool_()})
    assert "maybe" not in str(problem.value)
