"""A whole release in Python: order of things, kinds of tables, re-reading, composition, faults after the spend."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.engines.local import LocalEngine
from noisewright.exceptions import BudgetError, DataError, GuaranteeError, LedgerError, NoisewrightError, ParameterError
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Protected
from noisewright.releases import release as run
from noisewright.releases.lock import file_digest

ROWS = 3000
POLICY = {
    "dataset": "clinic",
    "budget": {"epsilon": 5},
    "columns": [
        {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": "1/2"},
        {"name": "ward", "keep": True},
    ],
    "queries": [{"name": "mean age", "aggregate": "mean", "column": "age", "within": [0, 110], "epsilon": "1/4"}],
}


def visits(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "smoker": rng.random(rows) < 0.3,
            "age": rng.integers(0, 100, rows),
            "ward": np.array(["a", "b"])[rng.integers(2, size=rows)],
            "secret note": ["nothing"] * rows,
        }
    )


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def test_a_release_may_be_given_its_id_once(book: Path, tmp_path: Path) -> None:
    nw.release(POLICY, visits(), ledger=book, release_id="june 2024")
    assert {entry.release_id for entry in Ledger(book).entries("clinic")} == {"june 2024"}
    with pytest.raises(LedgerError, match="has a release called 'june 2024' already"):
        nw.release(POLICY, visits(50), ledger=book, release_id="june 2024")
    for wrong in ("", "a\nb", "x" * 9999, 3):
        with pytest.raises(ParameterError, match="release_id must be text"):
            nw.release(POLICY, visits(), ledger=tmp_path / "other", release_id=wrong)
    assert Ledger(book).check().releases == 1


def test_what_comes_out(book):
    done = nw.release(POLICY, visits(), ledger=book)
    assert done.data.schema.names == ["smoker", "age", "ward"]
    assert done.data.num_rows == done.rows == ROWS
    assert done.plan.dropped == ()
    assert "secret note" not in done.page
    assert done.plan.kept == ("ward",)
    assert sorted(done.data["ward"].to_pylist()) == sorted(visits()["ward"].to_pylist())
    assert not done.data["age"].equals(visits()["age"])
    assert done.plan.epsilon == Fraction(7, 4)
    assert done.balance.left_epsilon == Fraction(13, 4)
    assert 30 < done.answers["mean age"].column(0)[0].as_py() < 70
    assert "NOT FOR RELEASE" not in done.page
    assert (
        "epsilon = 1.75 between two tables with the same number of rows that differ in the values of one row"
        in done.certificate.verify()[0]
    )
    entries = Ledger(book).entries("clinic")
    assert [(e.name, e.kind, e.epsilon, e.state) for e in entries] == [
        ("smoker", "column", Fraction(1), "finished"),
        ("age", "column", Fraction(1, 2), "finished"),
        ("mean age", "query", Fraction(1, 4), "finished"),
        ("ward", "kept", Fraction(0), "finished"),
    ]
    assert Ledger(book).protections("clinic") == [Protected(("smoker",), None), Protected(("age",), Fraction(5))]


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars", "polars-lazy", "duckdb", "reader"])
def test_the_same_kind_comes_out(kind, book):
    table = visits()
    given = {
        "arrow": lambda: table,
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
        "polars-lazy": lambda: pl.from_arrow(table).lazy(),
        "duckdb": lambda: duckdb.from_arrow(table),
        "reader": table.to_reader,
    }[kind]()
    found = nw.release(POLICY, given, seed=3).data
    wanted = {
        "arrow": pa.Table,
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "polars-lazy": pl.LazyFrame,
        "duckdb": duckdb.DuckDBPyRelation,
        "reader": pa.RecordBatchReader,
    }[kind]
    assert isinstance(found, wanted)
    values = {
        "arrow": lambda: found,
        "pandas": lambda: pa.Table.from_pandas(found, preserve_index=False),
        "polars": lambda: pa.table(found),
        "polars-lazy": lambda: found.collect().to_arrow(),
        "duckdb": lambda: found.to_arrow_reader().read_all(),
        "reader": lambda: pa.Table.from_batches(list(found)),
    }[kind]()
    expected = nw.release(POLICY, table, seed=3).data
    assert values["age"].to_pylist() == expected["age"].to_pylist()  # the same seed, so the same draws
    assert values["smoker"].to_pylist() == expected["smoker"].to_pylist()


def test_a_simulation_spends_nothing_and_says_so(book):
    done = nw.release(POLICY, visits(), seed=1, ledger=book)
    assert done.simulated
    assert done.balance is None
    assert not book.exists()
    assert "NOT FOR RELEASE" in done.page
    assert "not for release" in done.certificate.document["randomness"]
    assert done.data.equals(nw.release(POLICY, visits(), seed=1).data)


def test_a_folder_is_written_whole_and_read_again_for_free(tmp_path, book):
    pq.write_table(visits(), tmp_path / "visits.parquet")
    first = nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book)
    names = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert names == {"data.parquet", "answers/01-mean-age.csv", "certificate.json", "policy.lock", "report.html"}
    again = nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book)
    assert again.reread
    assert not first.reread
    assert again.data.equals(first.data)
    assert again.answers["mean age"].to_pylist() == first.answers["mean age"].to_pylist()
    assert Ledger(book).remaining("clinic").spent_epsilon == Fraction(7, 4)
    anew = nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book, again=True)
    assert not anew.reread
    assert not anew.data.equals(first.data)
    assert Ledger(book).remaining("clinic").spent_epsilon == Fraction(7, 2)  # a second draw composes
    with pytest.raises(BudgetError, match=r"only 1\.5 of the budget"):
        nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book, again=True)
    assert pq.read_table(tmp_path / "out/data.parquet").equals(anew.data)  # the old output is still there


def test_other_data_or_another_policy_is_another_release(tmp_path, book):
    pq.write_table(visits(), tmp_path / "visits.parquet")
    nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book)
    pq.write_table(visits(ROWS - 1), tmp_path / "visits.parquet")
    with pytest.raises(ParameterError, match="there already"):
        nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book)
    done = nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book, replace=True)
    assert done.rows == ROWS - 1
    assert Ledger(book).remaining("clinic").spent_epsilon == Fraction(7, 2)


@pytest.mark.parametrize("hidden", ["nothing", "outputs emptied", "hash replaced", "hash and seal of another release"])
@pytest.mark.parametrize("file", ["answers/01-mean-age.csv", "data.parquet", "certificate.json"])
def test_an_edited_output_is_not_taken_for_the_release(tmp_path, book, hidden, file):
    pq.write_table(visits(), tmp_path / "visits.parquet")
    out = tmp_path / "out"
    nw.release(POLICY, tmp_path / "visits.parquet", output=out, ledger=book)
    (out / file).write_bytes((out / file).read_bytes() + b"\n")
    lock = json.loads((out / "policy.lock").read_text())
    if hidden == "outputs emptied":
        lock["outputs"] = {}
    elif hidden != "nothing":
        lock["outputs"][file] = file_digest(out / file)
    if hidden == "hash and seal of another release":
        nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "other", ledger=book, again=True)
        lock["seal"] = json.loads((tmp_path / "other/policy.lock").read_text())["seal"]
    (out / "policy.lock").write_text(json.dumps(lock))
    with pytest.raises(ParameterError, match="there already"):
        nw.release(POLICY, tmp_path / "visits.parquet", output=out, ledger=book)


def test_only_the_ledger_that_sealed_a_release_reads_it_again(tmp_path, book):
    pq.write_table(visits(), tmp_path / "visits.parquet")
    nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book)
    with pytest.raises(ParameterError, match="there already"):
        nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=tmp_path / "other.sqlite")
    (tmp_path / "out/one more.txt").write_text("x")
    with pytest.raises(ParameterError, match="there already"):
        nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book)


@pytest.mark.parametrize("how", [{"replace": True}, {"again": True}])
def test_files_of_somebody_else_are_never_deleted(tmp_path, book, how):
    pq.write_table(visits(), tmp_path / "visits.parquet")
    out = tmp_path / "out"
    nw.release(POLICY, tmp_path / "visits.parquet", output=out, ledger=book)
    spent = Ledger(book).remaining("clinic")
    (out / "my_notes.txt").write_text("years of work")
    with pytest.raises(ParameterError, match=r"holds 'my_notes\.txt', which is no part of an earlier output"):
        nw.release(POLICY, tmp_path / "visits.parquet", output=out, ledger=book, again=True)
    (out / "my_notes.txt").unlink()
    pq.write_table(visits(), out / "visits.parquet")
    for data in (out / "visits.parquet", out / "data.parquet", tmp_path / "linked.parquet"):
        if not data.exists():
            data.symlink_to(out / "visits.parquet")
        with pytest.raises(ParameterError, match="lie inside the output folder"):
            nw.release(POLICY, data, output=out, ledger=book, **how)
    assert pq.read_table(out / "visits.parquet").equals(visits())
    assert Ledger(book).remaining("clinic") == spent


def test_the_published_files_hold_no_hash_of_the_data(tmp_path, book):
    path = tmp_path / "visits.parquet"
    pq.write_table(visits(), path)
    nw.release(POLICY, path, output=tmp_path / "out", ledger=book)
    nw.release(POLICY, path, output=tmp_path / "again", ledger=book, again=True)
    nw.release(POLICY, path, output=tmp_path / "other", ledger=tmp_path / "another.sqlite")
    locks = [json.loads((tmp_path / name / "policy.lock").read_text()) for name in ("out", "again", "other")]
    assert len({lock["data"] for lock in locks}) == 3  # the same data look different, also to the same ledger
    assert len({lock["nonce"] for lock in locks}) == 3
    content = f"{path.stat().st_size}\0".encode() + path.read_bytes()
    assert locks[1]["data"] == Ledger(book).fingerprint(
        hashlib.sha256(content).digest(), bytes.fromhex(locks[1]["nonce"])
    )


def changed_age(**changes):
    age = {**POLICY["columns"][1], **changes}
    return {**POLICY, "columns": [age], "queries": []}


def test_a_dataset_keeps_to_the_distances_it_began_with(book):
    nw.release(changed_age(protect=110, epsilon=1), visits(), ledger=book)
    with pytest.raises(LedgerError, match=r"at most 110 apart in 'age', .* at most 1 apart in 'age'"):
        nw.release(changed_age(protect=1, epsilon=1), visits(), ledger=book)
    balance = Ledger(book).remaining("clinic")
    assert (balance.spent_epsilon, balance.releases) == (1, 1)
    nw.release(changed_age(protect="any", epsilon=1), visits(), ledger=book)
    nw.release(
        {**changed_age(protect=1, epsilon=1), "dataset": "near"}, visits(), ledger=book, separate_people="other ones"
    )
    assert Ledger(book).protections("clinic") == [Protected(("age",), Fraction(110))]
    assert Ledger(book).protections("near") == [Protected(("age",), Fraction(1))]


def test_distances_have_the_unit_of_their_column(book):
    table = pa.table(
        {
            "day": pa.array([1, 2], pa.date32()),
            "lat": [53.45, 53.46],
            "lon": [-2.2, -2.21],
            "x": [0.5, 1.5],
            "y": [1.0, 0.0],
        }
    )
    columns = [
        {"name": "day", "mechanism": "laplace", "protect": 7, "epsilon": 1},
        {"name": ["lat", "lon"], "mechanism": "geo-laplace", "reference": [53.45, -2.2], "protect": 500, "epsilon": 1},
        {"name": ["x", "y"], "mechanism": "planar-laplace", "protect": "1/2", "epsilon": 1},
    ]
    nw.release({"dataset": "d", "budget": {"epsilon": 9}, "columns": columns}, table, ledger=book)
    assert Ledger(book).protections("d") == [
        Protected(("day",), Fraction(7), "day"),
        Protected(("lat", "lon"), Fraction(500), "metre"),
        Protected(("x", "y"), Fraction(1, 2), "euclidean"),
    ]


def test_a_refused_release_leaves_the_ledger_as_it_was(book):
    nw.release(POLICY, visits(), ledger=book)
    before = Ledger(book).remaining("clinic"), Ledger(book).history("clinic")
    with pytest.raises(BudgetError, match="only"):  # a typing error: 2 instead of 20
        nw.release({**POLICY, "budget": {"epsilon": 2}}, visits(), ledger=book)
    more = {**POLICY, "columns": [{**POLICY["columns"][0], "epsilon": 9}], "budget": {"epsilon": 10}}
    with pytest.raises(BudgetError, match="only"):
        nw.release(more, visits(), ledger=book, raise_budget=True)
    assert (Ledger(book).remaining("clinic"), Ledger(book).history("clinic")) == before


def test_columns_that_are_only_kept_are_in_the_ledger(book):
    policy = {"dataset": "raw", "budget": {"epsilon": 1}, "columns": [{"name": "ward", "keep": True}]}
    nw.release(policy, visits(), ledger=book)
    (entry,) = Ledger(book).entries("raw")
    assert (entry.name, entry.kind, entry.epsilon, entry.state) == ("ward", "kept", 0, "finished")
    assert entry.guarantee == "released as it is, not protected"


@pytest.mark.parametrize("name", [" clinic", "clin\u0456c", "\uff43linic"])
def test_names_that_look_like_another_dataset_are_refused(book, name):
    with pytest.raises(NoisewrightError, match=r"name|dataset"):
        nw.release({**POLICY, "dataset": name}, visits(), ledger=book)
    assert Ledger(book).datasets() == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"age": [31, 200]}, "age"),
        ({"smoker": [True, None]}, "missing"),
        ({"age": ["thirty", "forty"]}, "age"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_spent(change, problem, tmp_path, book):
    table = pa.table({**{n: visits(2)[n].to_pylist() for n in ("smoker", "age", "ward")}, **change})
    with pytest.raises(NoisewrightError, match=problem) as caught:
        nw.release(POLICY, table, output=tmp_path / "out", ledger=book)
    assert "200" not in str(caught.value)
    assert "thirty" not in str(caught.value)
    assert not (tmp_path / "out").exists()
    assert not any(Ledger(book).datasets())


def test_a_missing_column(book):
    with pytest.raises(DataError, match="'age'"):
        nw.release(POLICY, visits().drop_columns(["age"]), ledger=book)
    assert not Ledger(book).datasets()


def test_a_fault_after_the_spend_keeps_the_spend_and_the_old_output(tmp_path, book, monkeypatch):
    pq.write_table(visits(), tmp_path / "visits.parquet")
    nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book)
    before = (tmp_path / "out/data.parquet").read_bytes()

    def broken(*_, **__):
        raise RuntimeError("the power is gone")

    monkeypatch.setattr(run, "report", broken)
    with pytest.raises(RuntimeError, match="power"):
        nw.release(POLICY, tmp_path / "visits.parquet", output=tmp_path / "out", ledger=book, again=True)
    assert (tmp_path / "out/data.parquet").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []
    assert Ledger(book).remaining("clinic").spent_epsilon == Fraction(7, 2)
    assert {e.state for e in Ledger(book).entries("clinic")} == {"finished", "started"}


def test_the_spend_is_on_the_disk_before_the_first_draw(book, monkeypatch):
    seen = []
    draw = LocalEngine.frame

    def watched(self, *arguments, **more):
        seen.append(Ledger(book).remaining("clinic").spent_epsilon)
        return draw(self, *arguments, **more)

    monkeypatch.setattr(LocalEngine, "frame", watched)
    nw.release(POLICY, visits(), ledger=book)
    assert seen == [Fraction(7, 4)]


def test_units_with_several_rows_pay_for_each_of_them(book):
    policy = {**POLICY, "unit": {"column": "patient", "rows": 2}, "queries": []}
    table = visits(6).append_column("patient", pa.array([1, 1, 2, 2, 3, 4]))
    done = nw.release(policy, table, ledger=book)
    assert done.plan.epsilon == 2 * Fraction(3, 2)
    assert "the rows of one patient (at most 2)" in done.plan.between
    with pytest.raises(DataError, match="more than 2 rows"):
        nw.release(policy, table.set_column(4, "patient", pa.array([1, 1, 1, 2, 3, 4])), ledger=book)
    assert Ledger(book).remaining("clinic").spent_epsilon == 3


def test_a_budget_for_every_unit(book):
    policy = {
        **POLICY,
        "budget": {"epsilon": 2},
        "unit": {"column": "patient"},
        "ledger": {"scope": "unit"},
        "queries": [],
    }
    table = visits(4).append_column("patient", pa.array(["p1", "p2", "p3", "p4"]))
    nw.release(policy, table.slice(0, 2), ledger=book)
    nw.release(policy, table.slice(2, 2), ledger=book)  # other people have their whole budget
    with pytest.raises(BudgetError, match="at least one unit"):
        nw.release(policy, table.slice(1, 2), ledger=book)


def test_only_answers(book):
    policy = {
        "dataset": "counts",
        "budget": {"epsilon": 1},
        "queries": [{"name": "smokers", "aggregate": "count", "where": "smoker", "epsilon": 1}],
    }
    done = nw.release(policy, visits(), ledger=book)
    truth = sum(visits()["smoker"].to_pylist())
    assert done.data is None
    assert abs(done.answers["smokers"].column(0)[0].as_py() - truth) < 40  # off by more once in e^40 releases


def test_a_policy_over_its_budget_is_refused_with_both_numbers():
    with pytest.raises(NoisewrightError, match=r"3/2.* 1\.75"):
        nw.release({**POLICY, "budget": {"epsilon": "3/2"}}, visits(10), seed=1)


def test_floating_mechanisms_must_be_allowed(book):
    policy = {
        "dataset": "vectors",
        "budget": {"epsilon": 5},
        "columns": [{"name": ["x", "y"], "mechanism": "spherical-laplace", "dimension": 2, "epsilon": 1, "protect": 1}],
    }
    table = pa.table({"x": [0.5, 1.5], "y": [0.0, 1.0]})
    with pytest.raises(GuaranteeError, match="floating = true"):
        nw.release(policy, table, ledger=book)
    done = nw.release({**policy, "floating": True}, table, ledger=book)
    with pytest.raises(NoisewrightError, match="floating"):
        done.certificate.verify()


@pytest.mark.parametrize("seed", [-1, 1.5, True, "7"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ParameterError, match="seed"):
        nw.release(POLICY, visits(5), seed=seed)
