"""A ledger in PostgreSQL: the same answers as in a file, one winner among many machines, and no password in any word."""

from __future__ import annotations

import json
import logging
import pickle
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from postgresql_support import PASSWORD, server

import noisewright as nw
from noisewright.cli import run
from noisewright.exceptions import BudgetError, LedgerError, NoLedgerError, PolicyError
from noisewright.ledger.database import Address, ConflictError, shown
from noisewright.ledger.export import back_up
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.postgresql import PostgresqlDatabase
from noisewright.ledger.records import Charge, Input, Protected, Terms
from noisewright.policy.policy import Policy

pytestmark = pytest.mark.xdist_group("postgresql")

AGE = Charge("age", "column", Fraction(1, 3), Fraction(1, 10**9), "at most 5", Protected(("age",), Fraction(5)))
POLICY: dict[str, Any] = {
    "dataset": "clinic",
    "budget": {"epsilon": 3},
    "columns": [{"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}],
}


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    with server() as found:
        yield found


@pytest.fixture
def url(folder: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A schema of its own for every test; the password is not in the URL."""
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    number = sum(map(ord, request.node.name))
    return f"postgresql://postgres@/postgres?host={folder}&schema=t{number}_{len(request.node.name)}"


def connection(url: str) -> Any:
    import pg8000.dbapi

    address = Address.read(url)
    made = address.connect(pg8000.dbapi, 10)
    made.autocommit = True
    made.cursor().execute(f"SET search_path TO {address.schema}")
    return made


def history(ledger: Ledger) -> list[object]:
    """The same calls for both homes, and everything that they answer but times."""
    said: list[object] = [ledger.set_budget("clinic", 3, "1e-6"), ledger.set_budget("panel", 1, "1e-6", scope="unit")]
    terms = Terms(2, "1e-6", also=("clinic",))
    for number in range(3):
        spend = ledger.spend("clinic", [AGE, Charge("kept", "kept", Fraction(0))], f"c{number}", "p" * 64)
        said.append((spend.left_epsilon, spend.left_delta))
        units = (b"%d" % n for n in range(number, 40))
        said.append(ledger.spend("panel", [AGE], f"u{number}", "p" * 64, units=units).left_epsilon)
    for call in (
        lambda: ledger.spend("clinic", [Charge("all", "query", Fraction(3))], "much", ""),
        lambda: ledger.spend("panel", [AGE], "late", "", units=[b"39", b"new"]),
        lambda: ledger.spend("clinic", [AGE], "c1", ""),
        lambda: ledger.set_budget("clinic", 9, "1e-6"),
        lambda: ledger.set_budget("Clinic", 9),
    ):
        with pytest.raises(LedgerError) as refused:
            call()
        said.append(str(refused.value).replace(str(ledger.path), "LEDGER"))
    ledger.finish("c0", "o" * 64)
    ledger.set_budget("clinic", 2, "1e-6")
    ledger.set_budget("clinic", 5, "1e-6", raise_budget=True)
    said.append(ledger.spend("both", [AGE], "b", "q" * 64, terms=terms, made_of=Input(b"d" * 32, "/out")).left_epsilon)
    said += [(ledger.remaining(n), ledger.protections(n)) for n in ("clinic", "panel", "both")]
    said += [[(e.release_id, e.state, e.epsilon, e.output) for e in ledger.entries("clinic")], ledger.datasets()]
    said += [[(e.event, e.epsilon) for e in ledger.history("clinic")], len(ledger.made_before("q" * 64, b"d" * 32))]
    found = ledger.check()
    return [*said, found.records, found.releases, found.accounts, ledger.check_holds(ledger.head())]


def test_it_answers_as_a_file_does(url: str, tmp_path: Path) -> None:
    with pytest.raises(NoLedgerError, match=r"there is no ledger postgresql://postgres@/postgres\?host="):
        Ledger(url, create_missing=False)
    assert history(Ledger(url)) == history(Ledger(tmp_path / "ledger"))
    again = Ledger(url, create_missing=False)
    assert (again.check().releases, pickle.loads(pickle.dumps(again)).head()) == (7, again.head())


def test_copies_go_both_ways_and_end_alike(url: str, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    history(ledger)
    moved = back_up(ledger, url)
    assert moved.head() == ledger.head()
    moved.spend("clinic", [AGE], "next", "p")
    copy = back_up(moved, tmp_path / "copy")
    assert (copy.check(), copy.remaining("panel")) == (moved.check(), moved.remaining("panel"))
    with pytest.raises(LedgerError, match="holds a ledger already"):
        back_up(ledger, url)
    with pytest.raises(LedgerError, match="has lost records"):  # the witness has seen the team's ledger
        ledger.spend("clinic", [AGE], "other", "p")


RACER = """
    import os, sys
    from fractions import Fraction
    from noisewright.exceptions import BudgetError
    from noisewright.ledger.ledger import Ledger
    from noisewright.ledger.records import Charge, Terms
    me = sys.argv[1]
    os.environ["XDG_STATE_HOME"] = sys.argv[2]
    print("ready", flush=True)
    for line in sys.stdin:
        url, scope = line.split()
        units = None if scope == "dataset" else [me.encode(), b"shared"]
        try:
            ledger = Ledger(url)
            terms = Terms(1, scope=scope)
            ledger.spend("clinic", [Charge("age", "column", Fraction(3, 5))], f"by {me}", "", units=units, terms=terms)
            print("won", flush=True)
        except BudgetError:
            print("lost", flush=True)
"""


def test_of_several_machines_one_gets_the_last_of_a_budget(url: str, tmp_path: Path) -> None:
    """Each racer has a home of its own, as another machine would; they also race to make the ledger."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(RACER), str(number), str(tmp_path / str(number))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    assert [r.stdout.readline() for r in racers] == ["ready\n"] * 3  # type: ignore[union-attr]
    for race in range(4):
        place = f"{url}_{race}"
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write(f"{place} {'unit' if race % 2 else 'dataset'}\n")
            racer.stdin.flush()
        said = [r.stdout.readline().strip() for r in racers]  # type: ignore[union-attr]
        assert sorted(said) == ["lost", "lost", "won"], (race, said)
        assert Ledger(place).check().releases == 1
    for racer in racers:
        assert racer.communicate(timeout=60) == ("", "")


def test_a_transaction_that_loses_is_run_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(url)
    ledger.set_budget("clinic", 3)
    lost = []
    real = PostgresqlDatabase.execute

    def execute(db: PostgresqlDatabase, sql: str, parameters: Any = (), /) -> Any:
        if sql == "COMMIT" and len(lost) < 2:
            lost.append(sql)
            real(db, "ROLLBACK")
            raise ConflictError
        return real(db, sql, parameters)

    with monkeypatch.context() as patch:
        patch.setattr(PostgresqlDatabase, "execute", execute)
        assert ledger.spend("clinic", [Charge("age", "column", Fraction(1))], "first", "p").left_epsilon == 2
    assert (len(lost), ledger.check().releases) == (2, 1)


REFUSED = [
    "UPDATE charges SET epsilon = '0'",
    "DELETE FROM charges",
    "TRUNCATE charges CASCADE",
    "UPDATE units SET epsilon = 0",
    "UPDATE head SET number = number - 1",
    "UPDATE form SET version = 4",
    "INSERT INTO charges (release, name, kind, epsilon, delta, guarantee) VALUES (1, 'x', 'query', '-1', '0', '')",
    "INSERT INTO charges (release, name, kind, epsilon, delta, guarantee) VALUES (1, 'x', 'query', '1/0', '0', '')",
    "INSERT INTO budgets (dataset, time, event, epsilon, delta) VALUES (1, 't', 'set', '99', '0')",
    "INSERT INTO head VALUES (1, 0, '') ON CONFLICT (one) DO UPDATE SET number = 0",
]
NOTICED = {
    "a dropped trigger": ["DROP TRIGGER charges_stay ON charges"],
    "a trigger that sleeps": ["ALTER TABLE charges DISABLE TRIGGER charges_stay", "DELETE FROM charges"],
    "a trigger that does nothing": [
        "CREATE OR REPLACE FUNCTION charges_stay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$"
    ],
    "a trigger of somebody else": [
        "CREATE TRIGGER more AFTER INSERT ON charges FOR EACH ROW EXECUTE FUNCTION charges_stay()"
    ],
    "hidden rows": ["ALTER TABLE charges ENABLE ROW LEVEL SECURITY"],
    "a rule": ["CREATE RULE more AS ON DELETE TO charges DO INSTEAD NOTHING"],
    "a table that a crash empties": ["ALTER TABLE units SET UNLOGGED"],
    "a dropped check": ["ALTER TABLE charges DROP CONSTRAINT charges_epsilon_check"],
    "another charge": [
        "INSERT INTO charges (release, name, kind, epsilon, delta, guarantee) VALUES (1, 'x', 'query', '1', '0', '')"
    ],
    "an account that grew": ["UPDATE units SET epsilon = epsilon + 1"],
    "a charge that shrank, with its guard put back": [
        "ALTER TABLE charges DISABLE TRIGGER USER",
        "UPDATE charges SET epsilon = '0'",
        "ALTER TABLE charges ENABLE TRIGGER USER",
    ],
    "a missing table": ["DROP TABLE totals"],
}


@pytest.fixture
def filled(url: str) -> str:
    ledger = Ledger(url)
    ledger.set_budget("clinic", 3, "1e-6")
    ledger.spend("clinic", [AGE], "first", "p")
    ledger.set_budget("panel", 1, "1e-6", scope="unit")
    ledger.spend("panel", [AGE], "second", "p", units=[b"1", b"2"])
    return url


def test_the_database_refuses_what_would_reduce_a_spend(filled: str) -> None:
    with closing(connection(filled)) as db:
        for statement in REFUSED:
            with pytest.raises(Exception, match=r"a ledger forgets nothing|violates"):
                db.cursor().execute(statement)
    assert Ledger(filled).check().releases == 2


@pytest.mark.parametrize("statements", NOTICED.values(), ids=NOTICED)
def test_what_another_program_wrote_is_noticed(filled: str, statements: list[str]) -> None:
    with closing(connection(filled)) as db:
        for statement in statements:
            db.cursor().execute(statement)
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(filled)


def test_a_release_with_it_from_beginning_to_end(
    url: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the command, with the password in the URL: it is found in no file, no output and no message."""
    monkeypatch.delenv("PGPASSWORD")
    secret = url.replace("postgres@", f"postgres:{quote(PASSWORD, safe='')}@")
    (tmp_path / "visits.csv").write_text("age\n31\n47\n58\n")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'dataset = "clinic"\n[budget]\nepsilon = 1\n[[columns]]\nname = "age"\nmechanism = "geometric"\n'
        "within = [0, 110]\nprotect = 5\nepsilon = 1\n"
    )
    out, more = str(tmp_path / "out"), str(tmp_path / "more")
    release = ["release", str(policy), str(tmp_path / "visits.csv"), "--ledger", secret]
    said = []
    for words, code in (
        (["plan", *release[1:], "--json"], 0),
        ([*release, "-o", out], 0),
        ([*release, "-o", more, "--again"], 2),
        (["verify", out, "--ledger", secret], 0),
        (["verify", out, "--ledger", secret, "--json"], 0),
        (["ledger", "show", secret], 0),
        (["ledger", "check", secret, out, "--json"], 0),
        (["ledger", "export", secret, "-o", str(tmp_path / "spent.json")], 0),
        (["ledger", "backup", secret, str(tmp_path / "copy.sqlite"), "--json"], 0),
        (["ledger", "show", secret.replace("postgres:", "nobody:")], 2),
        (["ledger", "show", secret.replace("/postgres?", "/missing?")], 2),
        (["ledger", "show", secret + "&password=1"], 2),
    ):
        ended = run(words)
        told = capsys.readouterr()
        assert (ended == 0) == (code == 0), (words[:2], told)
        said.append(told.out + told.err)
    assert json.loads(said[6])["agrees"]
    assert "did not let this user in" in said[9]
    assert re.search(
        "did not let this user in|the server has no database of this name", said[10]
    )  # as fast as the driver is
    with caplog.at_level(logging.DEBUG):
        said.append(repr(Ledger(secret)))
    texts = [*said, caplog.text, *(p.read_bytes().decode("latin1") for p in tmp_path.rglob("*") if p.is_file())]
    for hidden in (PASSWORD, quote(PASSWORD, safe=""), quote(PASSWORD)):
        assert not [text for text in texts if hidden in text]


def test_a_policy_may_name_it_without_a_password(url: str) -> None:
    named = {**POLICY, "ledger": {"path": url}}
    assert Policy.from_dict(named).ledger_path() == url
    with pytest.raises(PolicyError, match="has a path with a password, and a policy is published") as refused:
        Policy.from_dict({**POLICY, "ledger": {"path": "postgresql://ann:hush@db.example/team"}})
    assert "hush" not in str(refused.value)
    import pyarrow as pa

    assert nw.release(named, pa.table({"age": [31, 47]})).balance.left_epsilon == 2
    with pytest.raises(BudgetError):
        nw.release({**named, "columns": [{**POLICY["columns"][0], "epsilon": 3}]}, pa.table({"age": [3, 4]}))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("postgresql://ann:hush@db.example:port/team", "is not a URL of a PostgreSQL database"),
        ("postgresql://ann:hush@db.example/team?password=hush", "has a part that is not known"),
        ("postgresql://ann:hush@db.example/team/hush", "has a part that is not known"),
        ("postgresql://ann:hush@db.example/team?schema=a;b", "name of small letters"),
        ("postgresql://ann:hush@localhost:1/team", "cannot be reached; look at the host and the port"),
        ("postgresql://ann:hush@/team?host=/nowhere", "cannot be reached; look at the host and the port"),
    ],
)
def test_what_is_wrong_with_a_url_is_said_without_it(wrong: str, words: str) -> None:
    with pytest.raises(LedgerError, match=words) as refused:
        Ledger(wrong)
    assert "hush" not in str(refused.value).replace(words, "") + shown(wrong)


def test_a_file_may_not_be_taken_for_it_nor_it_for_a_file(tmp_path: Path) -> None:
    path = tmp_path / "postgresql"
    assert Ledger(path).path == path
    shutil.copy(path, tmp_path / "copy")
    assert shown(tmp_path / "copy") == str(tmp_path / "copy")
