"""Types come from the policy or from a schema, never from the values: one person's cell changes nothing for the others."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.columns.registry import recast
from noisewright.exceptions import DataError, NoisewrightError, ParameterError, PolicyError
from noisewright.planning.columns import known_types, source_for
from noisewright.policy.policy import Policy, as_policy
from noisewright.releases.plan import make_plan

HEAD = 'dataset = "clinic"\nbudget = { epsilon = 1e7 }\n'
AGE = '[[columns]]\nname = "x"\nmechanism = "laplace"\nwithin = [0, 100]\nprotect = 5\nepsilon = 1\n'
COUNT = AGE.replace("laplace", "geometric")
VISIT = '[[columns]]\nname = "x"\nmechanism = "laplace"\nwithin = [2024-01-01, 2024-12-31]\nprotect = "7 days"\nepsilon = 1\n'
SECRET = "31.5"


def policy(text: str, types: str = "") -> Policy:
    return Policy.from_toml(HEAD + (f"types = {types}\n" if types else "") + text, "p.toml")


def csv(folder: Path, *cells: str) -> Path:
    path = folder / f"rows{len(list(folder.iterdir()))}.csv"
    path.write_text("\n".join(["x", *cells]) + "\n")
    return path


def jsonl(folder: Path, *cells: str) -> Path:
    path = folder / f"rows{len(list(folder.iterdir()))}.jsonl"
    path.write_text("".join(f'{{"x": {cell}, "note": "n"}}\n' for cell in cells))
    return path


# What a policy tells ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (AGE, "double"),
        (COUNT, "int64"),
        (VISIT, "date32[day]"),
        (
            VISIT.replace("2024-01-01", "2024-01-01T00:00:00").replace("2024-12-31", "2024-12-31T00:00:00"),
            "timestamp[us]",
        ),
        ('[[columns]]\nname = "x"\nmechanism = "laplace"\nprotect = "2 hours"\nepsilon = 1\n', "timestamp[us]"),
        ('[[columns]]\nname = "x"\nmechanism = "laplace"\nprotect = "2 days"\nepsilon = 1\n', "date32[day]"),
        ('[[columns]]\nname = "x"\nmechanism = "exponential"\npoints = "0..9"\nepsilon = 1\n', "int64"),
        ('[[columns]]\nname = "x"\nmechanism = "exponential"\npoints = [0, 0.5]\nepsilon = 1\n', "double"),
        (
            '[[columns]]\nname = "x"\nmechanism = "randomised-response"\ncategories = ["1", "2"]\nepsilon = 1\n',
            "string",
        ),
        (
            '[[columns]]\nname = "x"\nmechanism = "randomised-response"\ncategories = [true, false]\nepsilon = 1\n',
            "bool",
        ),
        ('[[queries]]\nname = "q"\naggregate = "count"\nby = { x = [1, 2] }\nepsilon = 1\n', "int64"),
        ('[[queries]]\nname = "q"\naggregate = "mean"\ncolumn = "x"\nwithin = [0, 9]\nepsilon = 1\n', "double"),
        (
            '[[queries]]\nname = "q"\naggregate = "histogram"\ncolumn = "x"\nbins = [2024-01-01, 2024-02-01]\nepsilon = 1\n',
            "date32[day]",
        ),
        (COUNT + '[[queries]]\nname = "q"\naggregate = "mean"\ncolumn = "x"\nwithin = [0, 9]\nepsilon = 1\n', "int64"),
        ('[[columns]]\nname = "y"\nkeep = true\n[unit]\ncolumn = "x"\n', "string"),
    ],
)
def test_a_type_follows_from_the_policy_alone(text: str, kind: str) -> None:
    assert str(known_types(policy(text))["x"]) == kind
    assert str(known_types(policy(text, '{ x = "time" }'))["x"]) == "timestamp[us]"


def test_filters_and_kept_columns_tell_nothing() -> None:
    text = '[[columns]]\nname = "y"\nkeep = true\n[[queries]]\nname = "q"\naggregate = "count"\nwhere = "x > 1"\nepsilon = 1\n'
    assert known_types(policy(text)) == {}


def test_types_are_part_of_the_policy() -> None:
    one, other = policy(AGE), policy(AGE, '{ x = "integer" }')
    assert one.digest() != other.digest()
    assert Policy.from_dict(other.to_json()) == other
    with pytest.raises(
        PolicyError, match=r'p.toml, line 3: types.x = "dat" must be the type of a column; write one of integer'
    ):
        policy(AGE, '{ x = "dat" }')
    with pytest.raises(PolicyError, match=r"types = .* must be a table of columns"):
        policy(AGE, '"date"')


# One cell changes nothing for the others ----------------------------------------------------------------------------------


def test_one_fraction_does_not_change_the_lattice_of_the_others(tmp_path: Path) -> None:
    kept = policy(f'order = "kept"\n{AGE}')
    plain, other = (nw.release(kept, csv(tmp_path, "31", "40", "22", x), seed=1) for x in ("31", SECRET))
    assert plain.data.schema == other.data.schema == pa.schema({"x": pa.float64()})
    assert plain.data.slice(0, 3) == other.data.slice(0, 3)
    assert plain.certificate.document == other.certificate.document


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        (VISIT, ["2024-06-01", "2024-06-01 00:00:00"]),
        (COUNT, ["31", "31.5"]),
        (COUNT, ["31", "s3cr3t"]),
        (AGE, ["31", "s3cr3t"]),
    ],
)
def test_a_cell_of_another_type_refuses_the_file_without_showing_it(
    text: str, cells: list[str], tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    for data in (csv(tmp_path, *cells), jsonl(tmp_path, *(c if c[:2] == "31" else f'"{c}"' for c in cells))):
        with pytest.raises(DataError, match="holds something that is not") as caught:
            nw.release(policy(text), data, ledger=ledger, output=tmp_path / "out")
        assert cells[1] not in str(caught.value)
    assert not ledger.exists()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", [AGE, COUNT])
def test_a_missing_value_does_not_change_the_type_of_a_pandas_column(text: str) -> None:
    keep = policy(text + 'missing = "keep"\n')
    whole, gap = (nw.release(keep, pd.DataFrame({"x": rows}), seed=1) for rows in ([1, 2, 3], [1, 2, None]))
    assert whole.certificate.document == gap.certificate.document
    assert [c.types for c in whole.plan.columns] == [c.types for c in gap.plan.columns]


def test_pandas_columns_of_all_kinds_become_what_the_policy_says() -> None:
    def types(text: str, values: Any, stated: str = "") -> pa.DataType:
        return source_for(policy(text, stated), pd.DataFrame({"x": values})).types["x"]

    assert types(COUNT, pd.array([1, 2], dtype="int8")) == pa.int64()
    assert types(COUNT, pd.array([1, None], dtype="Int64")) == pa.int64()
    assert types(COUNT, [1.0, None]) == pa.int64()
    assert types(VISIT, ["2024-06-01", None]) == pa.date32()
    assert types(VISIT, [datetime.date(2024, 6, 1)]) == pa.date32()
    assert types(VISIT, pd.to_datetime(["2024-06-01"])) == pa.date32()
    zoned = pd.to_datetime(["2024-06-01"]).tz_localize("UTC")
    assert types(VISIT, zoned, '{ x = "time" }').tz == "UTC"
    for text, values in (
        (VISIT, pd.to_datetime(["2024-06-01 00:00:00", "2024-06-01 00:00:01"])),
        (VISIT, zoned),
        (COUNT, [1, 2.5]),
        (COUNT, [1, "a"]),
        (COUNT, ["1", "2"]),
        (AGE, [True, False]),
        (AGE, [1, 2**60 + 1]),
    ):
        with pytest.raises(DataError, match="its type by the policy"):
            types(text, values)


def test_a_table_without_rows_has_the_types_of_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("x,note\n")
    done = nw.release(policy(AGE), path, seed=1)
    assert done.data.schema == pa.schema({"x": pa.float64()})
    assert done.rows == 0


def test_units_are_named_by_text(tmp_path: Path) -> None:
    text = '[[columns]]\nname = "y"\nkeep = true\n[unit]\ncolumn = "x"\n'
    frame = pd.DataFrame({"x": [7.0, 8.0], "y": [1, 2]})
    assert next(iter(source_for(policy(text), frame).batches(["x"]))).column(0).to_pylist() == ["7", "8"]
    path = tmp_path / "u.csv"
    path.write_text("x,y\n7,1\n8.0,2\n")
    assert next(iter(source_for(policy(text), path).batches(["x"]))).column(0).to_pylist() == ["7", "8.0"]


def test_the_columns_of_a_filter_need_a_type_where_the_table_has_none(tmp_path: Path) -> None:
    text = '[[queries]]\nname = "q"\naggregate = "count"\nwhere = "x >= 2"\nepsilon = 1e6\n'
    path = csv(tmp_path, "1", "2", "3")
    for data in (path, pd.DataFrame({"x": [1, 2, 3]})):
        with pytest.raises(
            PolicyError, match=r'p.toml, line 6: queries\[0\].where needs the type .* say types = { x = "text" }'
        ):
            nw.release(policy(text), data, seed=1)
        done = nw.release(policy(text, '{ x = "integer" }'), data, seed=1)
        found = done.answers["q"]["q"]  # of the kind that came in
        assert (found.to_pylist() if isinstance(data, Path) else found.tolist()) == [2]
    assert nw.release(policy(text), pa.table({"x": [1, 2, 3]}), seed=1).answers["q"].column("q").to_pylist() == [2]


# Tables with types --------------------------------------------------------------------------------------------------------


def test_a_schema_counts_and_a_stated_type_must_be_its_own(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([31, 40], pa.int64())})
    pq.write_table(table, tmp_path / "x.parquet")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as duck:
        duck.execute("CREATE TABLE rows_here AS SELECT unnest([31, 40])::BIGINT AS x")
    for data in (
        table,
        tmp_path / "x.parquet",
        f"rows_here@{tmp_path}/x.duckdb",
        pl.from_arrow(table),
        table.to_reader(),
    ):
        if not isinstance(data, pa.RecordBatchReader):
            assert source_for(policy(AGE), data).types["x"] == pa.int64()
            with pytest.raises(DataError, match=r'types.x: the column is of type int64, which is not "date"'):
                nw.release(policy(AGE, '{ x = "date" }'), data, seed=1)
        wide = source_for(policy(AGE, '{ x = "number" }'), data)
        assert wide.types["x"] == pa.float64()
        assert [v for b in wide.batches(["x"]) for v in b.column(0).to_pylist()] == [31.0, 40.0]
        with wide.database() as found:
            assert found.sql("SELECT typeof(x), sum(x) FROM data GROUP BY 1").fetchall() == [("DOUBLE", 71.0)]
    with pytest.raises(DataError, match="there is no column 'y'"):
        nw.release(policy(AGE, '{ y = "date" }'), table, seed=1)
    with pytest.raises(DataError, match="not a number"):
        nw.release(policy(AGE, '{ x = "number" }'), pa.table({"x": [2**60 + 1]}), seed=1)


def test_casts_lose_nothing() -> None:
    day = datetime.date(2024, 6, 1)
    assert recast(pa.array(["2024-06-01"]), pa.date32()).to_pylist() == [day]
    assert recast(pa.array([day]), pa.timestamp("us")).to_pylist() == [datetime.datetime(2024, 6, 1)]
    assert recast(pa.array(["a", "a"]).dictionary_encode(), pa.string()).to_pylist() == ["a", "a"]
    for column, kind in (
        (pa.array([0.5]), pa.string()),
        (pa.array([2**60 + 1]), pa.float64()),
        (pa.array([True]), pa.int64()),
        (pa.array(["1"]), pa.int64()),
        (pa.array([datetime.datetime(2024, 6, 1, 1)]), pa.date32()),
        (pa.array(["1 June"]), pa.date32()),
    ):
        with pytest.raises(ValueError, match=r"^a value is not of this type$"):
            recast(column, kind)


# Lengths of time ----------------------------------------------------------------------------------------------------------


def test_a_number_without_a_unit_is_refused_for_times() -> None:
    bare = policy(VISIT.replace('"7 days"', "7"))
    assert make_plan(bare, {"x": pa.date32()}).columns[0].protects == "values at most 7 days apart"
    with pytest.raises(ParameterError, match=r'protect = 7 does not say of what; .* write protect = "7 days"'):
        make_plan(bare, {"x": pa.timestamp("us")})


@pytest.mark.parametrize(
    ("written", "kind", "distance", "words"),
    [
        ("7 days", pa.date32(), 7, "values at most 7 days apart"),
        ("48 hours", pa.date32(), 2, "values at most 2 days apart"),
        ("7 days", pa.timestamp("ms"), 604_800, "values at most 7 days apart"),
        ("2 hours", pa.timestamp("s"), 7_200, "values at most 2 hours apart"),
        ("90 seconds", pa.timestamp("s"), 90, "values at most 90 seconds apart"),
        ("1 minute", pa.timestamp("s"), 60, "values at most 1 minute apart"),
    ],
)
def test_a_length_of_time_is_the_protected_distance(written: str, kind: pa.DataType, distance: int, words: str) -> None:
    plan = make_plan(policy(VISIT.replace("7 days", written)), {"x": kind})
    assert plan.columns[0].protect == distance
    assert plan.columns[0].mechanism.sensitivity == distance  # type: ignore[union-attr]
    assert plan.columns[0].protects == words
    assert plan.policy == Policy.from_dict(plan.policy.to_json())


def test_a_length_of_time_is_for_dates_and_times() -> None:
    with pytest.raises(ParameterError, match='protect = "7 days" is for dates and times, not for whole numbers'):
        make_plan(policy(AGE.replace("protect = 5", 'protect = "7 days"')), {"x": pa.int64()})
    with pytest.raises(ParameterError, match="not a whole number of days"):
        make_plan(policy(VISIT.replace("7 days", "30 hours")), {"x": pa.date32()})
    for wrong in ('"0 days"', '"days"', '"7 weeks"', '"-1 hour"'):
        with pytest.raises(PolicyError, match="must be a distance greater than 0"):
            policy(VISIT.replace('"7 days"', wrong))


# What is said -------------------------------------------------------------------------------------------------------------


def test_kept_missing_values_are_said_everywhere(tmp_path: Path) -> None:
    text = '[[columns]]\nname = "x"\nmechanism = "randomised-response"\ncategories = ["a", "b"]\nepsilon = 1\nmissing = "keep"\n'
    done = nw.release(policy(text), pa.table({"x": ["a", None]}), seed=1, output=tmp_path / "out")
    words = "any two values (whether one is missing is shown)"
    assert done.plan.columns[0].protects == words
    assert done.plan.between.endswith(f"by {words} in x")
    assert done.certificate.document["parts"][0]["protects"] == {"kind": "any", "missing": "shown"}
    assert done.certificate.document["parts"][0]["distance"] == "any"
    assert words in (tmp_path / "out" / "report.html").read_text()
    assert any("whether a value is missing is shown" in warning for warning in done.plan.warnings)
    assert done.certificate.verify()


@pytest.mark.parametrize(("protect", "warned"), [("99", True), ("100", False), ("0.5", True)])
def test_a_tiny_distance_is_warned_of(protect: str, warned: bool) -> None:
    wide = AGE.replace("[0, 100]", "[0, 100_000]").replace("protect = 5", f"protect = {protect}")
    found = make_plan(policy(wide), {"x": pa.float64()}).warnings
    assert any(f"farther apart than {protect} are hardly protected" in warning for warning in found) is warned


def test_what_cannot_be_computed_names_its_query() -> None:
    query = '[[queries]]\nname = "q"\nepsilon = 1\n'
    types = {"x": pa.float64()}
    wide = policy(query + 'aggregate = "variance"\ncolumn = "x"\nwithin = [-1e200, 1e200]\n')
    with pytest.raises(ParameterError, match="query 'q': within is too wide for a variance"):
        make_plan(wide, types)
    for where in ("NOT", "(" * 3000 + "x > 1" + ")" * 3000):
        with pytest.raises(NoisewrightError, match=r"p.toml, line 7: query 'q': the filter"):
            make_plan(policy(query + f'aggregate = "count"\nwhere = "{where}"\n'), types)


def test_names_that_lead_elsewhere_are_refused() -> None:
    for name, words in (("../../x", "lead to a folder above"), (".x", "begin with a dot"), ("a\\u001b", "control")):
        with pytest.raises(PolicyError, match=f"rename = .* {words}|rename = .*{words}"):
            policy(AGE + f'rename = "{name}"\n')
    assert policy(AGE + 'rename = "km/h"\n').columns[0].outputs == ("km/h",)
    assert as_policy({**policy(AGE).to_json(), "dataset": "north/south"}).dataset == "north/south"


# How many rows there are --------------------------------------------------------------------------------------------------

ANSWERS = """
[[queries]]
name = "mean"
aggregate = "mean"
column = "x"
within = [0, 100]
epsilon = 1
[[queries]]
name = "variance"
aggregate = "variance"
column = "x"
within = [0, 100]
epsilon = 1
[[queries]]
name = "count"
aggregate = "count"
epsilon = 1
[[queries]]
name = "median"
aggregate = "quantile"
quantile = 0.5
column = "x"
within = [0, 100]
epsilon = 1
"""


def test_nothing_published_tells_the_number_of_rows(tmp_path: Path) -> None:
    read = policy(ANSWERS)
    assert read.neighbours == "add-remove"
    published = []
    for rows in (7_919, 7_920):
        folder = tmp_path / str(rows)
        done = nw.release(read, pa.table({"x": [(7 * i) % 100 for i in range(rows)]}), seed=3, output=folder)
        assert done.rows is None
        files = {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}
        for name, text in files.items():
            if not name.startswith("answers"):
                plain = re.sub(r"[0-9a-f]{32,}", "", text)
                for answer in done.answers.values():  # noisy numbers may be near
                    for value in answer.column(answer.num_columns - 1).to_pylist():
                        plain = plain.replace(f"{value:,}", "").replace(str(value), "").replace(f"{value:,.6g}", "")
                assert not re.search(rf"(?<![\d.]){rows}(?!\d)|{rows:,}", plain), name
        published.append((files, [q.error_words for q in done.plan.queries], done.plan.to_json()))
    (one, words, plan), (other, other_words, other_plan) = published
    assert words == other_words
    assert plan == other_plan
    assert json.loads(one["certificate.json"]) == json.loads(other["certificate.json"])
    assert json.loads(one["policy.lock"]).get("rows") is None
    assert one.keys() == other.keys()


def test_where_the_number_of_rows_is_public_errors_use_it() -> None:
    mean = policy('neighbours = "replace"\n' + ANSWERS)
    assert make_plan(mean, {"x": pa.int64()}, 100).queries[0].error_words.endswith("for 100 rows")
    units = policy('neighbours = "replace"\nunit = { column = "who" }\n' + ANSWERS)
    assert "100 rows" not in make_plan(units, {"x": pa.int64(), "who": pa.string()}, 100).queries[0].error_words
