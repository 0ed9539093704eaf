"""The plan asks the ledger what the release will ask it, and nothing is recorded by asking."""

from __future__ import annotations

import sqlite3
from fractions import Fraction

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.engines.base import engine_for
from noisewright.exceptions import LedgerError, ParameterError
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Charge, Input, Terms
from noisewright.planning.columns import source_for
from noisewright.policy.policy import as_policy
from noisewright.releases.checks import rehearse
from noisewright.releases.lock import References, content_digest
from noisewright.releases.release import plan_for

AGES = pa.table({"who": ["a", "b", "c"], "age": [31, 47, 58]})


def policy(**changes):
    age = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}
    stated = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [age | changes.pop("age", {})]}
    return as_policy(stated | changes)


def asked(given, book, table=AGES):
    source = source_for(given, table)
    with engine_for("local", source) as engine:
        made_of = lambda: Input(content_digest(source, References(source, ())))  # noqa: E731
        return rehearse(book, plan_for(given, source, engine), engine, source, made_of=made_of)


def released(given, book, table=AGES) -> str | None:
    """What a release says at the ledger: None, or its refusal."""
    try:
        nw.release(given, table, ledger=book, again=True)
    except LedgerError as problem:
        return str(problem)
    return None


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "ledger"
    assert released(policy(), path) is None
    return path


UNIT = {"unit": {"column": "who"}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, None),
        ({"age": {"epsilon": 2}}, None),
        ({"age": {"epsilon": "2.000001"}}, "asks for epsilon 2.00001, but only 2 of the budget of 3"),
        ({"age": {"protect": 4}}, "would protect values at most 4 apart in 'age'"),
        ({"age": {"protect": 6}}, None),
        ({"budget": {"epsilon": 4}}, "and this policy says epsilon 4"),
        ({"budget": {"epsilon": "3/2"}}, "but only 0.5 of the budget of 1.5"),
        (UNIT, "with the promise between"),
        ({**UNIT, "ledger": {"scope": "unit"}}, "with the scope 'dataset', not 'unit'"),
        ({"dataset": "other"}, "these data were released as 'clinic' before"),
    ],
)
def test_plan_and_release_hear_the_same(book, changes, words):
    """Every reason that a ledger has to refuse: the rehearsal says it first, word for word."""
    given = policy(**changes)
    before = book.read_bytes()
    balance, refusal = asked(given, book)
    assert (refusal is None) if words is None else words in refusal
    assert (balance is None) == (given.dataset == "other")
    assert Ledger(book).remaining("clinic").spent_epsilon == 1
    assert Ledger(book).datasets() == ["clinic"]
    assert released(given, book) == refusal
    assert book.read_bytes()[:16] == before[:16]


def test_a_unit_that_has_spent_its_budget_is_found_before_signing(tmp_path):
    given = policy(**UNIT, ledger={"scope": "unit"}, age={"epsilon": 2})
    book = tmp_path / "units"
    assert asked(given, book) == (None, None)  # no ledger yet, and none is made by asking
    assert not book.exists()
    assert released(given, book, AGES.slice(0, 1)) is None
    assert asked(given, book, AGES.slice(1))[1] is None
    refusal = asked(given, book)[1]
    assert refusal is not None
    assert "at least one unit" in refusal
    assert released(given, book) == refusal
    assert released(given, book, AGES.slice(1)) is None


def test_asking_leaves_no_trace_and_can_be_repeated(book):
    ledger = Ledger(book)
    charge = Charge("age", "column", Fraction(2))
    for _ in range(3):
        assert ledger.rehearse("clinic", [charge]).left_epsilon == 0
    assert ledger.rehearse("new", [charge], terms=Terms(2)).left_epsilon == 0
    with sqlite3.connect(book) as db:
        assert [db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("datasets", "releases")] == [1, 1]


def test_a_ledger_that_cannot_be_used_is_an_error_for_the_plan_too(tmp_path):
    (tmp_path / "text").write_text("no ledger, but longer than a header of SQLite " * 20)
    with pytest.raises(LedgerError, match="is not a Noisewright ledger"):
        asked(policy(), tmp_path / "text")
    with pytest.raises(ParameterError, match="mixes letters of several scripts"):
        asked(policy(dataset="clinіc"), tmp_path / "none")  # with a Cyrillic letter
