"""What a ledger records, refuses and never forgets."""

from __future__ import annotations

import csv
import hashlib
import hmac
import json
import os
import pickle
import random
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisewright.exceptions import BudgetError, FileFormatError, LedgerError, NoLedgerError, ParameterError
from noisewright.ledger import records as ledger_units
from noisewright.ledger.export import document, export
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Charge
from noisewright.ledger.sqlite import SqliteDatabase

ROW = "two tables with the same number of rows that differ in the values of one row"


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def part(epsilon, delta=0, name="age"):
    return Charge(name, "column", Fraction(epsilon), Fraction(delta), "any two values")


def inside(path):
    """A look behind the ledger's back."""
    return sqlite3.connect(path, isolation_level=None)


# Budgets -----------------------------------------------------------------------------------------------------------------


def test_spends_add_up_exactly_and_what_does_not_fit_is_refused(ledger):
    ledger.set_budget("clinic", "0.3", "1e-6", between=ROW)
    for number in range(3):  # three tenths are three tenths: in floats they are more
        ledger.spend("clinic", [part("0.1", "1e-7")], f"r{number}", "digest")
    balance = ledger.remaining("clinic")
    assert (balance.spent_epsilon, balance.left_epsilon) == (Fraction(3, 10), 0)
    assert (balance.spent_delta, balance.left_delta) == (Fraction(3, 10**7), Fraction(7, 10**7))
    assert (balance.releases, balance.between, balance.scope) == (3, ROW, "dataset")
    with pytest.raises(
        BudgetError,
        match=r"asks for epsilon 1e-30, but only 0 of the budget of 0\.3 for 'clinic' is left; ask for less",
    ):
        ledger.spend("clinic", [part(Fraction(1, 10**30))], "r4", "digest")
    assert ledger.remaining("clinic") == balance


def test_delta_is_a_budget_of_its_own(ledger):
    ledger.set_budget("clinic", 10, "1e-6")
    with pytest.raises(BudgetError, match=r"asks for delta 2e-6, but only 1e-6 of the budget of 1e-6"):
        ledger.spend("clinic", [part(1, "1e-6"), part(1, "1e-6")], "r", "")
    assert ledger.remaining("clinic").spent_epsilon == 0
    ledger.spend("clinic", [part(1, "1e-6")], "r", "")
    assert ledger.remaining("clinic").left_delta == 0


@settings(max_examples=25)
@given(
    st.lists(st.fractions(min_value=0, max_value=2, max_denominator=10**6), min_size=1, max_size=8),
    st.fractions(min_value=Fraction(1, 100), max_value=4, max_denominator=1000),
)
def test_a_release_is_recorded_exactly_when_it_fits(prices, budget):
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "l")
        ledger.set_budget("d", budget)
        spent = Fraction(0)
        for number, price in enumerate(prices):
            if spent + price <= budget:
                spent += price
                assert ledger.spend("d", [part(price)], str(number), "").left_epsilon == budget - spent
            else:
                with pytest.raises(BudgetError):
                    ledger.spend("d", [part(price)], str(number), "")
        assert ledger.remaining("d").spent_epsilon == spent


def test_a_larger_budget_must_be_asked_for_and_every_change_is_recorded(ledger):
    ledger.set_budget("clinic", 2, between=ROW)
    ledger.set_budget("clinic", 2, between=ROW)
    with pytest.raises(
        BudgetError,
        match=r"is epsilon 2, and this policy says epsilon 3; keep to it, or raise it, .*--raise-budget",
    ):
        ledger.set_budget("clinic", 3, between=ROW)
    with pytest.raises(BudgetError, match=r"says epsilon 1 and delta 0\.1;"):
        ledger.set_budget("clinic", 1, "0.1", between=ROW)
    assert ledger.set_budget("clinic", 1, between=ROW).left_epsilon == 1
    assert ledger.set_budget("clinic", 5, between=ROW, raise_budget=True).epsilon == 5
    found = ledger.history("clinic")
    assert [(e.event, e.epsilon) for e in found] == [("set", 2), ("lowered", 1), ("raised", 5)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", e.time) for e in found)


def test_a_budget_lowered_below_what_was_spent_leaves_nothing(ledger):
    ledger.set_budget("clinic", 2)
    ledger.spend("clinic", [part(1)], "r", "")
    assert ledger.set_budget("clinic", "1/2").left_epsilon == 0
    with pytest.raises(BudgetError):
        ledger.spend("clinic", [part("1/10")], "s", "")


def test_losses_with_another_meaning_are_not_added_up(ledger):
    ledger.set_budget("clinic", 2, between=ROW)
    with pytest.raises(LedgerError, match=r"with the scope 'dataset', not 'unit'; keep to it\. Another dataset name"):
        ledger.set_budget("clinic", 2, scope="unit", between=ROW)
    with pytest.raises(LedgerError, match=f"with the promise between '{ROW}', not"):
        ledger.set_budget("clinic", 2, between=ROW + ": there or not")
    assert len(ledger.history("clinic")) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dataset": ""}, "the name of a dataset must be text"),
        ({"dataset": "a\nb"}, "printable"),
        ({"dataset": "a\ud800"}, "printable"),
        ({"epsilon": 0}, "greater than 0"),
        ({"epsilon": "nan"}, "not a number"),
        ({"epsilon": float("inf")}, "finite"),
        ({"delta": -1}, "at least 0"),
        ({"delta": 1}, "below 1"),
        ({"scope": "person"}, "dataset or unit"),
        ({"between": ""}, "the description of the neighbours"),
        ({"epsilon": 10**7, "scope": "unit"}, "must be at most 1537228"),
    ],
)
def test_budgets_that_make_no_sense(ledger, change, words):
    with pytest.raises(ParameterError, match=words):
        ledger.set_budget(**{"dataset": "clinic", "epsilon": 1, **change})
    assert ledger.datasets() == []


# Spends ------------------------------------------------------------------------------------------------------------------


def test_a_release_is_started_then_finished_and_counts_either_way(ledger):
    ledger.set_budget("clinic", 3)
    items = [part(1, name="age"), Charge("visits", "query", Fraction(1, 2), Fraction(0), "one row there or not")]
    spend = ledger.spend("clinic", items, "first", "policy-digest")
    assert (spend.epsilon, spend.left_epsilon) == (Fraction(3, 2), Fraction(3, 2))
    age, visits = ledger.entries("clinic")
    assert (age.name, age.kind, age.epsilon, age.guarantee, age.state) == (
        "age",
        "column",
        1,
        "any two values",
        "started",
    )
    assert (visits.guarantee, visits.policy, visits.output, visits.time) == (
        "one row there or not",
        "policy-digest",
        None,
        spend.time,
    )
    ledger.finish("first", "output-digest")
    assert {(e.state, e.output) for e in ledger.entries("clinic")} == {("finished", "output-digest")}
    ledger.finish("first", "output-digest")
    with pytest.raises(LedgerError, match="is finished already, with another output"):
        ledger.finish("first", "other")
    assert ledger.remaining("clinic").spent_epsilon == Fraction(3, 2)


def test_what_cannot_be_spent(ledger):
    with pytest.raises(LedgerError, match="knows no dataset 'clinic'; set a budget for it first"):
        ledger.spend("clinic", [part(1)], "r", "")
    ledger.set_budget("clinic", 9)
    ledger.spend("clinic", [part(1)], "r", "")
    with pytest.raises(LedgerError, match="has a release called 'r' already"):
        ledger.spend("clinic", [part(1)], "r", "")
    with pytest.raises(ParameterError, match="the epsilon of age must be at least 0"):
        ledger.spend("clinic", [part(-1)], "s", "")
    with pytest.raises(ParameterError, match="the delta of age must be at least 0"):
        ledger.spend("clinic", [part(1, -1)], "s", "")
    with pytest.raises(ParameterError, match="far too long"):
        ledger.spend("clinic", [part(Fraction(1, 7**9000))], "s", "")
    with pytest.raises(ParameterError, match="without parts"):
        ledger.spend("clinic", [], "s", "")
    with pytest.raises(ParameterError, match="scope unit and for no others"):
        ledger.spend("clinic", [part(1)], "s", "", units=[b"a"])
    with pytest.raises(LedgerError, match="has no release called 's'; spend before finishing"):
        ledger.finish("s", "")
    assert ledger.remaining("clinic").spent_epsilon == 1


def test_a_float_is_charged_as_the_number_it_is(ledger):
    ledger.set_budget("clinic", "0.1")
    with pytest.raises(BudgetError):  # the float 0.1 is a little more than one tenth
        ledger.spend("clinic", [Charge("age", "column", 0.1)], "r", "")


def test_datasets_have_budgets_of_their_own(ledger):
    ledger.set_budget("b", 1)
    ledger.set_budget("a", 1)
    ledger.spend("b", [part(1)], "r", "")
    assert ledger.remaining("a").left_epsilon == 1
    assert ledger.datasets() == ["b", "a"]


@pytest.mark.parametrize("recursive", ["ON", "OFF"])
@pytest.mark.parametrize(
    "verb",
    [
        "DELETE FROM {}",
        "UPDATE {} SET {}",
        "UPDATE OR REPLACE {} SET {}",
        "INSERT OR REPLACE INTO {} SELECT * FROM {}",
        "REPLACE INTO {} SELECT * FROM {}",
    ],
)
def test_the_file_itself_refuses_to_forget(ledger, verb, recursive):
    ledger.set_budget("clinic", 3, scope="unit")
    ledger.spend("clinic", [part(1)], "r", "", units=[b"a"])
    ledger.finish("r", "")
    changes = {
        "secret": "key = x'00'",
        "budgets": "epsilon = '9'",
        "charges": "epsilon = '0'",
        "releases": "policy = ''",
        "finishes": "output = ''",
        "units": "epsilon = 0",
        "datasets": "scope = 'dataset'",
        "totals": "accounts = 0",
        "chain": "row = 1",
        "head": "number = 0",
    }
    db = inside(ledger.path)
    db.execute(f"PRAGMA recursive_triggers = {recursive}")
    before = list(db.iterdump())
    for table, change in changes.items():
        with pytest.raises(sqlite3.IntegrityError, match="a ledger forgets nothing"):
            db.execute(verb.format(table, change if "SET" in verb else table))
    assert list(db.iterdump()) == before
    db.close()


# Units -------------------------------------------------------------------------------------------------------------------


def accounts(ledger):
    db = inside(ledger.path)
    found = [tuple(row) for row in db.execute("SELECT unit, epsilon, delta FROM units ORDER BY unit")]
    db.close()
    return found


def test_units_have_budgets_of_their_own(ledger):
    ledger.set_budget("clinic", 1, "1e-6", scope="unit")
    ledger.spend("clinic", [part("0.6")], "r", "", units=[b"ann", b"bob", b"ann"])  # ann came twice and pays once
    ledger.spend("clinic", [part("0.6")], "s", "", units=iter([b"carol"]))
    before = accounts(ledger)
    with pytest.raises(BudgetError) as refused:
        ledger.spend("clinic", [part("0.6")], "t", "", units=[b"dave", b"erin", b"bob", b"fred"])
    assert "at least one unit of 'clinic' has not that much left of its epsilon 1" in str(refused.value)
    assert not re.search("bob|dave|2|3|4", str(refused.value))
    assert accounts(ledger) == before
    assert [e.release_id for e in ledger.entries("clinic")] == ["r", "s"]
    ledger.spend("clinic", [part("0.4")], "t", "", units=[b"ann", b"dave"])
    assert sorted(e for _, e, _ in accounts(ledger)) == [n * 3 * 10**11 for n in (4, 6, 6, 10)]
    balance = ledger.remaining("clinic")
    assert (balance.spent_epsilon, balance.left_epsilon) == (Fraction(8, 5), 0)


def test_delta_of_a_unit(ledger):
    ledger.set_budget("clinic", 9, "2e-9", scope="unit")
    ledger.spend("clinic", [part(1, "1e-9")], "r", "", units=[b"a"])
    ledger.spend("clinic", [part(1, "1e-9")], "s", "", units=[b"a"])
    with pytest.raises(BudgetError):
        ledger.spend("clinic", [part(1, "1e-18")], "t", "", units=[b"b", b"a"])
    ledger.spend("clinic", [part(1)], "t", "", units=[b"b", b"a"])


@given(st.lists(st.fractions(min_value=0, max_value=1), min_size=1, max_size=6))
def test_grains_never_hold_less_than_what_was_spent(prices):
    db = sqlite3.connect(":memory:", isolation_level=None, factory=SqliteDatabase)
    db.execute("CREATE TABLE units (dataset, unit, epsilon, delta, latest, PRIMARY KEY (dataset, unit))")
    db.execute("CREATE TABLE totals (number INTEGER PRIMARY KEY, dataset, accounts, digest)")
    budget = Fraction(2)
    spent = Fraction(0)
    for number, price in enumerate(prices):
        ledger_units.gather(db, b"k" * 32, [b"a", b"b"])
        db.execute("BEGIN")
        fits = ledger_units.charge(db, b"t" * 32, 1, number, (price, price / 4), (budget, Fraction(1, 2)))
        db.execute("COMMIT" if fits else "ROLLBACK")
        db.execute("DROP TABLE taking_part")
        assert ledger_units.agree(db, b"t" * 32)
        if fits:
            spent += price
        else:
            assert spent + price > budget - Fraction(len(prices), 10**12)
        for epsilon, delta in db.execute("SELECT epsilon, delta FROM units"):
            assert spent <= Fraction(epsilon, ledger_units.EPSILON_GRAINS) <= budget
            assert spent / 4 <= Fraction(delta, ledger_units.DELTA_GRAINS) <= Fraction(1, 2)
    db.close()


def test_the_largest_accounts_stay_whole_numbers(ledger):
    most = (2**62 - 1) // (3 * 10**12)
    ledger.set_budget("clinic", most, scope="unit")
    ledger.spend("clinic", [part(most)], "r", "", units=[b"a"])
    with pytest.raises(BudgetError):
        ledger.spend("clinic", [part(most)], "s", "", units=[b"a"])
    with pytest.raises(BudgetError):
        ledger.spend("clinic", [part(10**30)], "s", "", units=[b"b"])
    assert [e for _, e, _ in accounts(ledger)] == [most * 3 * 10**12]


def test_accounts_are_named_by_a_keyed_hash_that_differs_between_datasets(ledger):
    for dataset in ("a", "b"):
        ledger.set_budget(dataset, 1, scope="unit")
        ledger.spend(dataset, [part(1)], dataset, "", units=[b"ann of the north ward"])
    db = inside(ledger.path)
    key = db.execute("SELECT key FROM secret").fetchone()[0]
    names = dict(db.execute("SELECT dataset, unit FROM units"))
    db.close()
    for number, dataset in ((1, "a"), (2, "b")):
        derived = hmac.digest(key, f"noisewright\0unit\0{dataset}".encode(), "sha256")
        assert names[number] == hmac.digest(derived, b"ann of the north ward", "sha256")[:16]
    assert b"ann of the north ward" not in ledger.path.read_bytes()


def test_units_that_cannot_be_used(ledger):
    ledger.set_budget("clinic", 1, scope="unit")
    with pytest.raises(ParameterError, match="scope unit and for no others"):
        ledger.spend("clinic", [part(1)], "r", "")
    with pytest.raises(ParameterError, match="units are named by bytes") as refused:
        ledger.spend("clinic", [part(1)], "r", "", units=["ann"])  # type: ignore[list-item]
    assert "ann" not in str(refused.value)

    def broken():
        yield b"ann"
        raise OSError("the table ends here")

    with pytest.raises(OSError, match="the table ends here"):
        ledger.spend("clinic", [part(1)], "r", "", units=broken())
    assert accounts(ledger) == []
    assert ledger.entries("clinic") == []
    ledger.spend("clinic", [part(1)], "r", "", units=[])
    assert ledger.remaining("clinic").releases == 1


def test_many_units_stream_through(ledger):
    ledger.set_budget("clinic", 1, scope="unit")
    many = 60_000
    order = random.Random(1).sample(range(many), many)
    ledger.spend("clinic", [part("1/2")], "r", "", units=(b"%d" % n for n in order))
    ledger.spend("clinic", [part("1/2")], "s", "", units=(b"%d" % n for n in range(many // 2)))
    assert len(accounts(ledger)) == many
    assert sum(e for _, e, _ in accounts(ledger)) == 3 * 10**12 * 3 * many // 4
    with pytest.raises(BudgetError):
        ledger.spend("clinic", [part("1/2")], "t", "", units=(b"%d" % n for n in range(many // 2 - 1, many)))
    ledger.spend("clinic", [part("1/2")], "t", "", units=(b"%d" % n for n in range(many // 2, many)))


# The key -----------------------------------------------------------------------------------------------------------------


def test_fingerprints_depend_on_the_data_the_nonce_and_the_ledger_alone(ledger, tmp_path):
    nonce = bytes(range(32))
    one = ledger.fingerprint(b"some data", nonce)
    assert one == ledger.fingerprint(iter([b"some", b" ", b"data"]), nonce)
    assert one == Ledger(ledger.path).fingerprint(b"some data", nonce)
    assert one != ledger.fingerprint(b"some datA", nonce)
    assert one != ledger.fingerprint(b"some data", bytes(32))
    assert one != Ledger(tmp_path / "other").fingerprint(b"some data", nonce)
    assert one != hashlib.sha256(nonce + b"some data").hexdigest()
    assert re.fullmatch("[0-9a-f]{64}", one)
    db = inside(ledger.path)
    key = db.execute("SELECT key FROM secret").fetchone()[0]
    db.close()
    assert one == hmac.new(hmac.digest(key, b"noisewright\0data", "sha256"), nonce + b"some data", "sha256").hexdigest()
    with pytest.raises(ParameterError, match="32 bytes"):  # a shorter one could be taken for a part of the data
        ledger.fingerprint(b"some data", b"short")


def test_a_seal_is_of_one_content_and_one_ledger_and_no_fingerprint(ledger, tmp_path):
    content = bytes(64)
    seal = ledger.seal(content)
    assert seal == Ledger(ledger.path).seal(content)
    assert seal not in (ledger.seal(bytes(63)), Ledger(tmp_path / "other").seal(content))
    assert seal != ledger.fingerprint(bytes(32), bytes(32))


def test_the_key_never_leaves(ledger, tmp_path):
    ledger.set_budget("clinic", 1, scope="unit")
    ledger.spend("clinic", [part(1)], "r", "", units=[b"ann"])
    db = inside(ledger.path)
    key, name = db.execute("SELECT key, unit FROM secret, units").fetchone()
    db.close()
    assert len(key) == 32
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    export(ledger, tmp_path / "all.json")
    export(ledger, tmp_path / "all.csv")
    given_out = (tmp_path / "all.json").read_bytes() + (tmp_path / "all.csv").read_bytes() + pickle.dumps(ledger)
    for secret in (key, name):
        assert secret not in given_out
        assert secret.hex().encode() not in given_out
        assert repr(secret) not in repr(vars(ledger))


def test_a_ledger_can_be_pickled_and_shared_by_threads(ledger):
    ledger.set_budget("clinic", 4)
    same = pickle.loads(pickle.dumps(ledger))
    threads = [threading.Thread(target=same.spend, args=("clinic", [part(1)], f"r{n}", "")) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.remaining("clinic").left_epsilon == 0


# Export ------------------------------------------------------------------------------------------------------------------


def test_a_ledger_is_exported_without_loss(ledger, tmp_path):
    ledger.set_budget("clinic", 3, "1e-5", between=ROW)
    ledger.spend("clinic", [part("1/3", "1e-7"), part(1, name='a "quoted", name')], "first", "p")
    ledger.finish("first", "o")
    found = json.loads(export(ledger, tmp_path / "all.json").read_text())
    assert found == document(ledger)
    assert (found["format"], found["version"]) == ("noisewright-ledger", 2)
    (dataset,) = found["datasets"]
    assert (dataset["spent"], dataset["left"]) == (
        {"epsilon": "4/3", "delta": "1/10000000"},
        {"epsilon": "5/3", "delta": "99/10000000"},
    )
    assert dataset["between"] == ROW
    with open(export(ledger, tmp_path / "all.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [{k: str(v) for k, v in entry.items()} for entry in dataset["entries"]]
    assert rows[1]["name"] == 'a "quoted", name'
    with pytest.raises(ParameterError, match=r"all\.txt: a ledger is exported to a \.json or a \.csv file"):
        export(ledger, tmp_path / "all.txt")
    with pytest.raises(FileFormatError, match="cannot be written"):
        export(ledger, tmp_path / "no" / "all.csv")


def test_sums_that_nobody_could_spell_are_rounded_towards_privacy(ledger):
    ledger.set_budget("clinic", 1)
    primes = [Fraction(1, p**700) for p in (3, 5, 7, 11, 13, 17)]
    for number, price in enumerate(primes):
        ledger.spend("clinic", [part(price)], str(number), "")
    found = document(ledger)["datasets"][0]
    assert sum(primes) < Fraction(found["spent"]["epsilon"]) < Fraction(1, 10**29)
    assert 1 - Fraction(1, 10**29) < Fraction(found["left"]["epsilon"]) < 1


# Files that are no ledgers, or cannot be used -----------------------------------------------------------------------------


def sqlite_file(path, *commands):
    db = inside(path)
    for command in commands:
        db.execute(command)
    db.close()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty, not a Noisewright ledger; restore the ledger that was there"),
        (b"hello" * 1000, "is not a Noisewright ledger; name the right file"),
        (b"SQLite format 3\0" + b"\xff" * 5000, "is not a Noisewright ledger|is damaged"),
    ],
)
def test_files_that_are_no_ledgers(tmp_path, content, words):
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(content)
    with pytest.raises(LedgerError, match=words) as problem:
        Ledger(path)
    assert str(problem.value).count(". ") == 0
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["ledger.sqlite"]


def test_a_database_of_another_program_is_left_alone(tmp_path):
    sqlite_file(tmp_path / "other.db", "CREATE TABLE mine (a)")
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(LedgerError, match="is a database, but not a Noisewright ledger"):
        Ledger(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before


def test_a_ledger_from_a_newer_version(ledger):
    sqlite_file(ledger.path, "PRAGMA user_version = 6")
    with pytest.raises(
        LedgerError, match=r"written by a newer Noisewright \(ledger version 6, this program knows 5\); update it"
    ):
        Ledger(ledger.path)
    with pytest.raises(LedgerError, match="newer"):
        ledger.spend("clinic", [part(1)], "r", "")


def test_a_damaged_ledger_is_refused(ledger):
    ledger.set_budget("clinic", 1000)
    for number in range(200):
        ledger.spend("clinic", [part(1)], f"r{number}", "x" * 100)
    content = ledger.path.read_bytes()
    ledger.path.write_bytes(content[: len(content) // 2])
    with pytest.raises(LedgerError, match="is damaged; restore it from a backup"):
        Ledger(ledger.path).remaining("clinic")
    ledger.path.write_bytes(content[:4096] + os.urandom(len(content) - 4096))
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(ledger.path).remaining("clinic")


def test_names_and_places_that_cannot_be(tmp_path, monkeypatch):
    with pytest.raises(LedgerError, match=r"there is no folder .*/no; create it"):
        Ledger(tmp_path / "no" / "ledger")
    with pytest.raises(LedgerError, match="is a folder, not a ledger"):
        Ledger(tmp_path)
    with pytest.raises(LedgerError, match="cannot be the name of a ledger"):
        Ledger("a\0b")
    with pytest.raises(NoLedgerError, match=r"^there is no ledger .*; a release creates one"):
        Ledger(tmp_path / "ledger", create_missing=False)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger(tmp_path / "dangling")
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be created: Not a directory"):
        Ledger(tmp_path / "file" / "ledger")
    monkeypatch.chdir(tmp_path)
    odd = Ledger("100%?x=#1 é.sqlite")
    assert odd.path == tmp_path / "100%?x=#1 é.sqlite"
    odd.set_budget("clinic", 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["100%?x=#1 é.sqlite", "dangling", "file"]


def test_without_a_path_it_is_the_ledger_of_this_user(tmp_path, monkeypatch):
    monkeypatch.delenv("NOISEWRIGHT_LEDGER", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert Ledger().path == tmp_path / "data" / "noisewright" / "ledger.sqlite"
    assert stat.S_IMODE((tmp_path / "data" / "noisewright").stat().st_mode) == 0o700
    monkeypatch.setenv("NOISEWRIGHT_LEDGER", str(tmp_path / "mine"))
    assert Ledger().path == tmp_path / "mine"


def test_a_ledger_that_somebody_else_holds(ledger):
    ledger.set_budget("clinic", 1)
    holder = inside(ledger.path)
    holder.execute("BEGIN IMMEDIATE")
    impatient = Ledger(ledger.path, wait=0.05)
    assert impatient.remaining("clinic").left_epsilon == 1  # readers do not wait for writers
    with pytest.raises(LedgerError, match=r"has been in use by another program for more than 0\.05 s; try again"):
        impatient.spend("clinic", [part(1)], "r", "")
    holder.execute("ROLLBACK")
    holder.close()
    impatient.spend("clinic", [part(1)], "r", "")


def test_wal_mode_and_full_synchronisation(ledger):
    db = inside(ledger.path)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert db.execute("PRAGMA application_id").fetchone() == (0x4E574C44,)
    db.execute("PRAGMA journal_mode = DELETE")
    db.close()
    ledger.datasets()
    db = inside(ledger.path)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def in_a_process(script, *arguments):
    head = """
        import os, resource, sys
        from fractions import Fraction
        from noisewright.exceptions import NoisewrightError
        from noisewright.ledger.ledger import Ledger
        from noisewright.ledger.records import Charge
        items = [Charge("age", "column", Fraction(1))]
        """
    code = textwrap.dedent(head) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.stderr == ""
    return done.stdout


def test_a_full_disk_is_one_sentence_and_nothing_is_recorded(ledger):
    """A limit on the size of files stands for the disk: the system refuses the write in the same way."""
    ledger.set_budget("clinic", 10**6, scope="unit")
    ledger.spend("clinic", [part(1)], "r", "", units=[b"%d" % n for n in range(100)])
    before = accounts(ledger)
    script = """
        ledger = Ledger(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
        try:
            ledger.spend("clinic", items, "s", "", units=(b"%d" % n for n in range(100_000)))
        except NoisewrightError as problem:
            print(type(problem).__name__, problem)
        """
    said = in_a_process(script, ledger.path)
    assert re.fullmatch(r"LedgerError \S+ cannot be (read or )?written: the disk is full[^.]*\.\n", said)
    assert accounts(ledger) == before
    assert [e.release_id for e in ledger.entries("clinic")] == ["r"]
    ledger.spend("clinic", [part(1)], "s", "", units=[b"1"])


@pytest.mark.parametrize(("mode", "words"), [(0o444, "cannot be (written|opened)"), (0o000, "cannot be opened")])
def test_a_ledger_that_may_not_be_written(mode, words):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = Ledger(folder / "ledger")
        ledger.set_budget("clinic", 1)
        ledger.path.chmod(mode)
        folder.chmod(0o555)
        script = """
            try:
                ledger = Ledger(sys.argv[1])
                if os.geteuid() == 0:  # whom nothing is forbidden
                    os.setuid(65534)
                ledger.spend("clinic", items, "r", "")
            except NoisewrightError as problem:
                print(problem)
            """
        said = in_a_process(script, ledger.path)
        folder.chmod(0o755)
        ledger.path.chmod(0o600)
        assert re.fullmatch(rf"{ledger.path} {words}[^.]*\.\n", said)
        assert ledger.remaining("clinic").spent_epsilon == 0


def test_a_copy_of_a_ledger_is_a_ledger(ledger, tmp_path):
    ledger.set_budget("clinic", 2)
    ledger.spend("clinic", [part(1)], "r", "")
    shutil.copy(ledger.path, tmp_path / "copy")
    assert Ledger(tmp_path / "copy").remaining("clinic") == ledger.remaining("clinic")
