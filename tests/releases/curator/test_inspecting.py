"""The owner's view in exact numbers, which enters no file; and undeclared categories that count as a public one."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.cli import run
from noisewright.exceptions import DataError, PolicyError
from noisewright.releases.checks import inspect_table

SEX = {"name": "sex", "mechanism": "randomised-response", "categories": ["f", "m"], "epsilon": 1}


YEAR = [datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)]


def policy(**more: Any) -> dict[str, Any]:
    return {"dataset": "clinic", "budget": {"epsilon": 9}, "columns": [{**SEX, **more}]}


def test_exact_numbers_of_every_column(tmp_path: Path) -> None:
    full = {
        "dataset": "clinic",
        "budget": {"epsilon": 9},
        "unit": {"column": "patient", "rows": 2},
        "columns": [
            {"name": "age", "mechanism": "geometric", "within": [0, 120], "protect": 5, "epsilon": 1},
            {**SEX, "other": "x"},
            {"name": "visit", "mechanism": "laplace", "within": YEAR, "protect": 7, "epsilon": 1, "outside": "clamp"},
        ],
    }
    text = "patient,age,sex,visit\na,44,f,2024-01-01\na,150,it's,2025-01-01\na,-1,q,2024-02-01\nb,many,q,\nc,,m,2023-01-01\n"
    (tmp_path / "visits.csv").write_text(text)
    age, sex, visit, unit = inspect_table(full, tmp_path / "visits.csv")
    assert (age.rows, age.missing, age.misfits, age.outside) == (5, 1, 1, 2)
    assert (sex.undeclared, sex.kinds, sex.missing) == (3, 2, 0)
    assert (visit.outside, visit.missing, visit.clamped) == (2, 1, True)
    assert unit.crowded == 1
    assert str(sex) == "sex: 3 with 2 undeclared categories (they count as 'x')"
    assert str(visit) == "visit: 1 of 5 rows missing; 2 out of range (moved to the nearer end)"


def test_the_view_is_the_same_for_every_source(tmp_path: Path) -> None:
    table = pa.table({"sex": ["f", None, "q", "q"]})
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("sex,note\nf,1\n,1\nq,1\nq,1\n")
    for data in (table, tmp_path / "t.parquet", tmp_path / "t.csv", pl.from_arrow(table), table.to_pandas()):
        (found,) = inspect_table(policy(), data)
        assert (found.rows, found.missing, found.undeclared, found.kinds) == (4, 1, 2, 1)


def test_the_command_says_that_it_is_not_private(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text("sex\nf\nq\n")
    (tmp_path / "p.toml").write_text(
        'dataset = "c"\nbudget.epsilon = 1\n[[columns]]\nname = "sex"\nmechanism = "randomised-response"\n'
        'categories = ["f", "m"]\nepsilon = 1\n'
    )
    words = [
        "plan",
        str(tmp_path / "p.toml"),
        str(tmp_path / "t.csv"),
        "--ledger",
        str(tmp_path / "ledger"),
        "--inspect",
    ]
    assert run(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "NOT protected. Show them to nobody else." in said
    assert "sex: 1 with 1 undeclared category (the release is refused; other = ... maps them to a public one)" in said
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inspected"][0]["undeclared"] == 1
    assert "NOT protected" in found["not_private"]
    assert run([*words[:-1], "--json"]) == 0
    assert "inspected" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("other", ["m", "rest"])
def test_undeclared_categories_count_as_a_public_one(other: str, tmp_path: Path) -> None:
    """Two neighbours, one with an undeclared word and one with the public one in its place, have one and the same release."""
    with pytest.raises(DataError, match="column 'sex'"):
        nw.release(policy(), pa.table({"sex": ["f", "secret word"]}), seed=1)
    rows = ["f", "m", "f"] * 50
    folders = []
    for word in ("secret word", other):
        table = pa.table({"sex": [word, *rows]})
        folders.append(tmp_path / str(len(folders)))
        nw.release(policy(other=other), table, output=folders[-1], seed=3)
    first, second = ({p.name: p.read_bytes() for p in folder.iterdir()} for folder in folders)
    assert first["data.parquet"] == second["data.parquet"]
    assert first["certificate.json"] == second["certificate.json"]
    assert b"secret" not in b"".join(first.values())
    part = json.loads(first["certificate.json"])["parts"][0]
    assert part["protects"] == {"kind": "any", "other": other}
    categories = part["certificate"]["proof"].get("categories")
    assert categories is None or len(categories) == (2 if other == "m" else 3)


def test_such_a_release_is_verified_and_estimated(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pa.table({"sex": pa.array(rng.choice(["f", "m", "a", "b", None], 6000).tolist()).dictionary_encode()})
    rule = policy(other='the "rest"', missing="keep", epsilon=3)
    done = nw.release(rule, table, output=tmp_path / "out", ledger=tmp_path / "ledger")
    assert nw.verify(tmp_path / "out", tmp_path / "ledger").proved
    assert set(done.data["sex"].to_pylist()) == {"f", "m", 'the "rest"', None}
    found = nw.load(tmp_path / "out").estimate("sex")
    assert {s.label: s.share for s in found.shares}['the "rest"'] == pytest.approx(0.5, abs=0.05)


def test_other_of_numbers_and_refusals() -> None:
    rule = {"name": "code", "mechanism": "randomised-response", "categories": [1, 2], "other": 9, "epsilon": 1}
    done = nw.release(
        {"dataset": "c", "budget": {"epsilon": 1}, "columns": [rule]}, pa.table({"code": [1, 77, 5]}), seed=1
    )
    assert set(done.data["code"].to_pylist()) <= {1, 2, 9}
    for column, told in (
        (
            {"name": "age", "mechanism": "geometric", "within": [0, 9], "other": 3, "epsilon": 1},
            "is for mechanisms with categories",
        ),
        (
            {**SEX, "name": ["a", "b"], "categories": [["x", "y"], ["z", "y"]], "other": "q"},
            "needs one column with a list",
        ),
        ({"name": "a", "keep": True, "other": "q"}, "does nothing to a kept column"),
    ):
        with pytest.raises(PolicyError, match=told):
            nw.Policy.from_dict({"dataset": "c", "budget": {"epsilon": 1}, "columns": [column]})


def test_what_a_release_would_not_read_is_counted(tmp_path: Path) -> None:
    """DuckDB reads 31.5 as a whole number and a time as a date; a release does not, and neither does the owner's view."""
    rule = {
        "dataset": "c",
        "budget": {"epsilon": 9},
        "columns": [
            {"name": "age", "mechanism": "geometric", "within": [0, 120], "protect": 5, "epsilon": 1},
            {"name": "visit", "mechanism": "laplace", "within": YEAR, "protect": "7 days", "epsilon": 1},
            {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
        ],
        "queries": [
            {"name": "pay", "aggregate": "mean", "column": "income", "within": [0, 100], "epsilon": 1},
            {"name": "wards", "aggregate": "count", "by": {"ward": ["n", "s"]}, "epsilon": 1},
        ],
    }
    (tmp_path / "t.csv").write_text(
        "age,visit,smoker,income,ward\n31.5,2024-01-01,true,7,n\n007,2024-01-01 10:00,1,,w\n40,2024-01-01,FALSE,0.5,w\n"
        "150,24-01-01,no,120,\n"
    )
    age, visit, smoker, income, ward = inspect_table(rule, tmp_path / "t.csv")
    assert (age.misfits, age.outside, visit.misfits, smoker.misfits) == (2, 1, 2, 2)
    assert str(income) == "income: 1 of 4 rows missing; 1 out of range (moved to the nearer end)"
    assert str(ward) == "ward: 1 of 4 rows missing; 2 with 1 undeclared category (in no group)"


def test_a_distance_in_hours_is_one_of_times(tmp_path: Path) -> None:
    """Whoever writes the ends of a range of times without a clock still says by the distance that these are times."""
    column = {"name": "last seen", "mechanism": "laplace", "within": YEAR, "protect": "1 hour", "epsilon": 1}
    (tmp_path / "t.csv").write_text("last seen\n2024-01-01 10:30:00\n2024-03-01 00:00:00\n")
    rule: dict[str, Any] = {"dataset": "c", "budget": {"epsilon": 9}, "columns": [column]}
    assert nw.release(rule, tmp_path / "t.csv", seed=1).data["last seen"].type == pa.timestamp("us")
    column["protect"] = "7 days"
    with pytest.raises(DataError, match=r'such as types = { "last seen" = "time" }\.$'):
        nw.release(rule, tmp_path / "t.csv", seed=1)


def test_a_key_of_the_policy_below_a_table_is_told_where_it_belongs() -> None:
    query = '[[queries]]\nname = "n"\naggregate = "count"\nepsilon = 1\n'
    text = f'dataset = "c"\nbudget.epsilon = 1\n{query}types = {{ age = "number" }}\n'
    with pytest.raises(
        PolicyError, match=r"line 7: queries\[0\].types belongs to the policy itself; write it at the top"
    ):
        nw.Policy.from_toml(text)


def test_a_column_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"sex": ["f"], "ward": ["n"]})
    pq.write_table(table, tmp_path / "t.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    for data in (table, tmp_path / "t.parquet", tmp_path / "t.csv"):
        with pytest.raises(DataError, match="there is no column 'sx' in the data; did you mean 'sex'"):
            inspect_table(policy(name="sx"), data)
        with pytest.raises(DataError, match="there is no column 'height' in the data; correct"):
            inspect_table(policy(name="height"), data)


def test_what_only_spelling_keeps_from_fitting_is_counted(tmp_path: Path) -> None:
    both = policy()
    both["columns"].append({"name": "pay", "mechanism": "laplace", "within": [0, 9], "protect": 1, "epsilon": 1})
    (tmp_path / "t.csv").write_text("sex;pay\nf;1,5\nf ;2.5\nM;many\nq; 2\n")
    sex, pay = inspect_table(both, tmp_path / "t.csv")
    assert (sex.undeclared, sex.kinds, sex.nearly) == (3, 3, 2)
    assert (pay.misfits, pay.nearly) == (3, 2)
    assert "3 undeclared categories, 2 of them only for blanks around them or capitals" in str(sex)
    assert str(pay) == "pay: 3 not of the declared type, 2 of them only for blanks around them or a decimal comma"
    (typed,) = inspect_table(policy(), pa.table({"sex": ["f", "F", "x"]}))
    assert (typed.undeclared, typed.nearly) == (2, 1)
