"""Ledgers that earlier versions wrote: read as they are, and brought up to date by the first thing that is recorded in them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from old_ledger import make_older

import noisewright as nw
from noisewright.exceptions import BudgetError, LedgerError
from noisewright.ledger.export import back_up
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Charge, Input, Protected

KEPT = Path(__file__).parents[2] / "fixtures" / "kept" / "release"
VISITS = Charge("visits", "query", Fraction(1), Fraction(0), "one row")
AGE = Charge("age", "column", Fraction(1), Fraction(0), "at most 5", Protected(("age",), Fraction(5)))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A finished and a broken-off release, a raised budget, and a dataset with accounts of units."""
    found = Ledger(tmp_path / "ledger.sqlite")
    found.set_budget("clinic", 3)
    found.spend("clinic", [VISITS], "first", "p")
    found.spend("clinic", [VISITS], "second", "p")
    found.finish("second", "o")
    found.set_budget("clinic", 5, raise_budget=True)
    found.set_budget("panel", 2, scope="unit")
    found.spend("panel", [VISITS], "third", "p", units=[b"ann", b"bob"])
    return found


def known(ledger: Ledger) -> list[Any]:
    """All that can be asked of a ledger."""
    questions = (ledger.remaining, ledger.entries, ledger.history, ledger.protections)
    return [ledger.seal(b"x"), *(ask(name) for name in ledger.datasets() for ask in questions)]


def shape(path: Path) -> Any:
    with closing(sqlite3.connect(path)) as db:
        found = sorted(db.execute("SELECT type, name, sql FROM sqlite_master"), key=str)
        return found, db.execute("PRAGMA user_version").fetchone()


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_ledger_is_read_as_it_is_and_brought_up_to_date_by_the_first_record(
    ledger: Ledger, tmp_path: Path, version: int
) -> None:
    before = known(ledger)
    make_older(ledger.path, version)
    older, written = Ledger(ledger.path), shape(ledger.path)
    assert known(older) == before
    assert (older.head(), older.check().records) == ("", None)
    older.rehearse("clinic", [AGE])
    with pytest.raises(BudgetError):
        older.spend("clinic", [VISITS] * 9, "too much", "p")
    assert shape(ledger.path) == written  # neither a question nor a refusal changes it
    older.spend("clinic", [AGE], "fourth", "p")
    assert shape(ledger.path) == shape(Ledger(tmp_path / "new").path)
    now = Ledger(ledger.path)
    assert now.head() == older.head() != ""
    assert (
        now.check().records == 2 + 3 + 4 + 4 + 1 + 1 + 1
    )  # datasets, budgets, releases, charges, distance, total, finish
    assert now.remaining("clinic").spent_epsilon == 3
    assert now.protections("clinic") == [Protected(("age",), Fraction(5))]
    assert known(now)[5:] == before[5:]
    with pytest.raises(BudgetError):
        now.spend("panel", [VISITS] * 2, "fifth", "p", units=[b"ann"])


def test_a_ledger_that_knew_no_data_again_keeps_its_chain(ledger: Ledger, tmp_path: Path) -> None:
    before, head, records = known(ledger), ledger.head(), ledger.check().records
    make_older(ledger.path, 3)
    older, written = Ledger(ledger.path), shape(ledger.path)
    assert (known(older), older.head(), older.check().records) == (before, head, records)
    assert older.made_before("p", b"data") == []
    assert older.made_under("p") == []
    older.rehearse("clinic", [AGE])
    assert shape(ledger.path) == written
    older.spend("clinic", [AGE], "fourth", "p", made_of=Input(b"data", "/somewhere"))
    older.finish("fourth", "o")
    assert shape(ledger.path) == shape(Ledger(tmp_path / "new").path)
    now = Ledger(ledger.path)
    assert now.check_holds(head) == records
    assert [(one.release_id, one.place) for one in now.made_before("p", b"data")] == [("fourth", "/somewhere")]
    assert now.made_under("p") == now.made_before("p", b"data")


def test_the_kept_ledger_is_read_copied_and_brought_up_to_date(tmp_path: Path) -> None:
    shutil.copy(KEPT / "ledger.sqlite", tmp_path / "ledger.sqlite")
    ledger = Ledger(tmp_path / "ledger.sqlite")
    before = known(ledger)
    name = ledger.datasets()[0]
    assert known(back_up(ledger, tmp_path / "copy")) == before
    balance = ledger.remaining(name)
    assert balance.between == (
        "two tables with the same rows of every patient, in which the rows of one patient (at most 2) have other values: by at "
        "most 5 in age, by any two values in smoker; how missing and undeclared values count is stated with each release"
    )
    ledger.set_budget(
        name, balance.epsilon + 1, balance.delta, balance.scope, between=balance.neighbours, raise_budget=True
    )
    assert [event.event for event in ledger.history(name)] == ["set", "raised"]
    assert (ledger.entries(name), ledger.seal(b"x")) == (before[2], before[0])
    assert Ledger(ledger.path).check().records == ledger.check().records
    with pytest.raises(LedgerError, match="has lost records: it is an older copy"):
        Ledger(tmp_path / "copy").check_holds(ledger.head())


def test_a_release_is_added_to_the_kept_ledger(tmp_path: Path) -> None:
    """It was written when neighbours were a sentence of other words; the people are the same, and so is their budget."""
    shutil.copy(KEPT / "ledger.sqlite", tmp_path / "ledger.sqlite")
    table = pa.table({"patient": ["p", "q"], "age": [31, 62]})
    age = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}
    policy = {"dataset": "kept clinic, whole", "budget": {"epsilon": 10}, "columns": [age]}
    unit = {"column": "patient", "rows": 2}
    before = Ledger(tmp_path / "ledger.sqlite").remaining("kept clinic, whole")
    done = nw.release({**policy, "unit": unit}, table, ledger=tmp_path / "ledger.sqlite")
    assert done.balance is not None
    assert (before.spent_epsilon, done.balance.spent_epsilon) == (Fraction(7, 2), Fraction(11, 2))
    with pytest.raises(LedgerError, match="with the promise between 'two tables with the same rows of every patient, "):
        nw.release({**policy, "unit": {**unit, "rows": 1}}, table, ledger=tmp_path / "ledger.sqlite")


def test_a_ledger_with_columns_of_unknown_distance_is_refused_and_left_alone(ledger: Ledger) -> None:
    ledger.spend("clinic", [Charge("age", "column", Fraction(1), Fraction(0), "at most 5")], "r", "p")
    make_older(ledger.path, 1)
    before = shape(ledger.path)
    with pytest.raises(LedgerError, match=r"written by an earlier Noisewright.*; keep it, and name a new ledger\.$"):
        Ledger(ledger.path)
    assert shape(ledger.path) == before


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_a_ledger_of_this_version_cannot_be_passed_off_as_an_older_one(ledger: Ledger, version: int) -> None:
    with closing(sqlite3.connect(ledger.path)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(ledger.path)


def test_who_has_seen_the_chain_does_not_take_an_older_ledger_for_it(ledger: Ledger) -> None:
    make_older(ledger.path, 2)
    with pytest.raises(LedgerError, match="is damaged or was changed"):
        ledger.remaining("clinic")
    with pytest.raises(LedgerError, match="is damaged or was changed"):
        ledger.spend("clinic", [VISITS], "fourth", "p")


@pytest.mark.parametrize("amount", ["-1", "inf", "nan", "1e-9", "", "1/-2"])
def test_an_older_ledger_with_an_amount_that_is_none_is_refused(ledger: Ledger, amount: str) -> None:
    make_older(ledger.path, 2)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        db.execute("INSERT INTO charges VALUES (99, 1, 'age', 'column', ?, '0', '')", (amount,))
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(ledger.path)
