"""What is cut off, flipped, planted or put in behind a ledger's back is never read as a ledger with less spent."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from noisewright.exceptions import LedgerError
from noisewright.ledger import transactions as _integrity
from noisewright.ledger.export import back_up
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Charge, Protected

AGE = Charge("age", "column", Fraction(1, 3), Fraction(1, 10**9), "at most 5", Protected(("age",), Fraction(5)))
CUTS = 120
FLIPS = 500


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of many pages: datasets of both scopes, lowered and raised budgets, releases with and without an end."""
    ledger = Ledger(tmp_path_factory.mktemp("filled") / "ledger.sqlite")
    ledger.set_budget("clinic", 90, "1e-6")
    ledger.set_budget("panel", 9, "1e-6", scope="unit")
    for number in range(12):
        ledger.spend("clinic", [AGE, Charge(f"part {number}", "query", Fraction(number, 7))], f"c{number}", "p" * 64)
        ledger.spend("panel", [AGE], f"u{number}", "p" * 64, units=[b"%d" % n for n in range(number, 60)])
        if number % 2:
            ledger.finish(f"c{number}", "o" * 64)
    ledger.set_budget("clinic", 80, "1e-6")
    ledger.set_budget("clinic", 85, "1e-6", raise_budget=True)
    return ledger.path


def accounts(path: Path) -> dict[bytes, tuple[int, int]]:
    with closing(sqlite3.connect(path)) as db:
        return {unit: (epsilon, delta) for unit, epsilon, delta in db.execute("SELECT unit, epsilon, delta FROM units")}


def knows(path: Path) -> list[object]:
    ledger = Ledger(path, create_missing=False)
    ledger.check()
    return [accounts(path), *((ledger.remaining(n), ledger.entries(n), ledger.history(n)) for n in ("clinic", "panel"))]


def reads_differently(path: Path, truth: list[object]) -> bool:
    """Whether the file is taken for a ledger and says anything else; to be refused is what is wanted."""
    try:
        return knows(path) != truth
    except LedgerError as problem:
        return not str(problem).startswith(str(path)) or "\n" in str(problem)


def damaged(filled: Path, folder: Path, contents: Iterator[bytes]) -> tuple[int, int]:
    """How many damaged files were refused, and how many read as if they were another ledger."""
    truth, path, refused, wrong = knows(filled), folder / "ledger.sqlite", 0, 0
    for content in contents:
        for beside in folder.glob("ledger.sqlite*"):
            beside.unlink()
        path.write_bytes(content)
        wrong += reads_differently(path, truth)
        try:
            Ledger(path, create_missing=False)
        except LedgerError:
            refused += 1
    return refused, wrong


def test_a_ledger_that_was_cut_off_anywhere_is_refused(filled: Path, tmp_path: Path) -> None:
    content = filled.read_bytes()
    places = sorted(
        {round(len(content) * n / CUTS) for n in range(CUTS)} | {len(content) - n for n in (1, 7, 100, 511, 2048)}
    )
    refused, wrong = damaged(filled, tmp_path, (content[:place] for place in places))
    assert wrong == 0
    assert refused >= len(places) - 8  # the last page may end in bytes that mean nothing


def test_a_ledger_with_a_flipped_byte_says_the_same_or_nothing(filled: Path, tmp_path: Path) -> None:
    content, random_ = filled.read_bytes(), random.Random(5)

    def flipped() -> Iterator[bytes]:
        for _ in range(FLIPS):
            place = random_.randrange(len(content))
            yield content[:place] + bytes([content[place] ^ random_.randrange(1, 256)]) + content[place + 1 :]

    refused, wrong = damaged(filled, tmp_path, flipped())
    assert wrong == 0
    assert refused > FLIPS // 10  # most of the others fall on bytes that mean nothing


def test_pages_of_an_older_copy_or_of_nothing_are_found_out(filled: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.sqlite"
    shutil.copy(filled, older)
    later = Ledger(older)
    later.spend("clinic", [AGE], "later", "p")
    later.spend("panel", [AGE], "later too", "p", units=[b"1", b"2", b"new"])
    before, after = filled.read_bytes(), older.read_bytes()
    size = 4096
    pages = [n for n in range(0, len(after), size) if after[n : n + size] != before[n : n + size]]
    assert len(pages) > 5
    contents = [after[:n] + before[n : n + size].ljust(size, b"\0") + after[n + size :] for n in pages]
    contents += [after[:n] + bytes(size) + after[n + size :] for n in range(0, len(after), size)]
    (tmp_path / "planted").mkdir()
    refused, wrong = damaged(older, tmp_path / "planted", iter(contents))
    assert wrong == 0
    assert refused >= len(pages)


INJECTED = {
    "a negative charge": "INSERT INTO charges VALUES (NULL, 1, 'refund', 'column', '-5', '0', '')",
    "a charge of less than nothing": "INSERT INTO charges VALUES (NULL, 1, 'refund', 'column', '5/-1', '0', '')",
    "a charge that is not finite": "INSERT INTO charges VALUES (NULL, 1, 'refund', 'column', '-inf', '0', '')",
    "a charge that is no number": "INSERT INTO charges VALUES (NULL, 1, 'refund', 'column', 'nan', '0', '')",
    "a charge of a float": "INSERT INTO charges VALUES (NULL, 1, 'refund', 'column', -0.5, '0', '')",
    "a charge over nothing": "INSERT INTO charges VALUES (NULL, 1, 'refund', 'column', '1/0', '0', '')",
    "a negative delta": "INSERT INTO charges VALUES (NULL, 1, 'refund', 'column', '0', '-1', '')",
    "a replaced charge": "INSERT OR REPLACE INTO charges VALUES (1, 1, 'age', 'column', '0', '0', '')",
    "a replaced release": "INSERT OR REPLACE INTO releases VALUES (NULL, 'c1', 2, 't', 'p')",
    "a replaced budget": "INSERT OR REPLACE INTO budgets VALUES (1, 1, 't', 'set', '1000', '0')",
    "a second first budget": "INSERT INTO budgets VALUES (NULL, 1, 't', 'set', '1000', '0')",
    "a replaced account": "INSERT OR REPLACE INTO units SELECT dataset, unit, 0, 0, latest FROM units LIMIT 1",
    "a smaller account": "UPDATE units SET epsilon = 0",
    "another key": "INSERT OR REPLACE INTO secret SELECT one, zeroblob(32), created FROM secret",
    "a head that goes back": "UPDATE head SET number = number - 1",
    "a chain without its end": "DELETE FROM chain WHERE number > 3",
}


@pytest.mark.parametrize("statement", INJECTED.values(), ids=INJECTED)
def test_the_file_does_not_let_through_what_would_reduce_a_spend(filled: Path, tmp_path: Path, statement: str) -> None:
    shutil.copy(filled, tmp_path / "ledger.sqlite")
    said = r"a ledger forgets nothing|CHECK constraint failed"
    with (
        closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as db,
        pytest.raises(sqlite3.IntegrityError, match=said),
    ):
        db.execute(statement)
    assert knows(tmp_path / "ledger.sqlite") == knows(filled)


NOTICED = {
    "a raised budget": ["INSERT INTO budgets VALUES (NULL, 1, 't', 'raised', '1000', '0')"],
    "a lowered budget that is larger": ["INSERT INTO budgets VALUES (NULL, 1, 't', 'lowered', '1000', '0')"],
    "a charge": ["INSERT INTO charges VALUES (NULL, 1, 'age', 'column', '5', '0', '')"],
    "a finish": ["INSERT INTO finishes VALUES (NULL, 1, 't', 'o')"],
    "an account": ["INSERT INTO units VALUES (2, zeroblob(16), 0, 0, 1)"],
    "an account that grew": ["UPDATE units SET epsilon = epsilon + 1"],
    "a chain that goes on": ["INSERT INTO chain VALUES (9999, 'charges', 9999, zeroblob(32))"],
    "a head that goes on": ["UPDATE head SET number = number + 1"],
    "a dropped table": ["DROP TABLE charges"],
    "dropped accounts": ["DROP TABLE units"],
    "a dropped chain": ["DROP TABLE chain", "DROP TABLE head", "PRAGMA user_version = 2"],
    "a dropped trigger": ["DROP TRIGGER charges_stay"],
    "a table made again": [
        "DROP TABLE charges",
        "CREATE TABLE charges (number, release, name, kind, epsilon, delta, guarantee)",
    ],
    "a trigger of somebody else": ["CREATE TRIGGER refund AFTER INSERT ON charges BEGIN SELECT 1; END"],
    "a view in the way": ["CREATE VIEW spends AS SELECT 1"],
    "deleted without its guard": ["DROP TRIGGER charges_stay", "DELETE FROM charges WHERE number = 3"],
    "changed without its guard": ["DROP TRIGGER charges_frozen", "UPDATE charges SET epsilon = '0'"],
}


@pytest.mark.parametrize("statements", NOTICED.values(), ids=NOTICED)
def test_what_another_program_wrote_is_noticed(filled: Path, tmp_path: Path, statements: list[str]) -> None:
    shutil.copy(filled, tmp_path / "ledger.sqlite")
    open_before = Ledger(tmp_path / "ledger.sqlite")
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(LedgerError, match="is damaged"):
        open_before.check()
    if "units" not in statements[0]:
        with pytest.raises(LedgerError, match="is damaged"):
            open_before.spend("clinic", [AGE], "next", "p")


def guards_of(db: sqlite3.Connection, table: str) -> list[str]:
    return [
        sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,))
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE charges SET epsilon = '0' WHERE number = 5",
        "DELETE FROM charges WHERE number = (SELECT max(number) FROM charges)",
        "UPDATE units SET epsilon = 0 WHERE rowid_of = 1",
        "DELETE FROM units WHERE unit = (SELECT max(unit) FROM units)",
        "UPDATE units SET unit = zeroblob(16) WHERE unit = (SELECT min(unit) FROM units)",
        "DELETE FROM chain WHERE number = (SELECT max(number) FROM chain)",
        "DELETE FROM budgets WHERE event = 'lowered'",
        "DELETE FROM protections",
        "DELETE FROM finishes WHERE number = 1",
        "UPDATE releases SET dataset = 2 WHERE number = 1",
    ],
)
def test_who_puts_the_triggers_back_is_found_out_by_the_chain(filled: Path, tmp_path: Path, statement: str) -> None:
    """Somebody who knows SQLite well, and has not the program that makes the digests."""
    statement = statement.replace("WHERE rowid_of = 1", "WHERE unit = (SELECT min(unit) FROM units)")
    shutil.copy(filled, tmp_path / "ledger.sqlite")
    table = statement.replace("UPDATE ", "FROM ").split("FROM ")[1].split()[0]
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as db:
        guards = guards_of(db, table)
        for (name,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,)
        ).fetchall():
            db.execute(f"DROP TRIGGER {name}")
        assert db.execute(statement).rowcount > 0
        for guard in guards:
            db.execute(guard)
    with pytest.raises(LedgerError, match="is damaged or was changed by another program"):
        Ledger(tmp_path / "ledger.sqlite")


INDEXES = {
    "an index that finds nothing": [
        "DROP INDEX charges_of_release",
        "CREATE INDEX charges_of_release ON charges (-release)",
        "UPDATE sqlite_master SET sql = 'CREATE INDEX charges_of_release ON charges (release)' "
        "WHERE name = 'charges_of_release'",
    ],
    "one that looks like SQLite's own": [
        "CREATE INDEX more ON releases (-dataset, number)",
        "UPDATE sqlite_master SET name = 'sqlite_autoindex_releases_2', "
        "sql = 'CREATE INDEX sqlite_autoindex_releases_2 ON releases (dataset, number)' WHERE name = 'more'",
    ],
    "one more, that is right": [
        "CREATE INDEX more ON releases (dataset, number)",
        "UPDATE sqlite_master SET name = 'sqlite_autoindex_releases_2' WHERE name = 'more'",
    ],
}


@pytest.mark.parametrize("statements", INDEXES.values(), ids=INDEXES)
def test_an_index_through_which_less_is_found_is_found_out(filled: Path, tmp_path: Path, statements: list[str]) -> None:
    """All rows are there and fit the chain; but what was spent is looked up through an index, which had other rows."""
    shutil.copy(filled, tmp_path / "ledger.sqlite")
    open_before = Ledger(tmp_path / "ledger.sqlite")
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            db.execute(statement)
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(LedgerError, match="is damaged"):
        open_before.check()


def test_a_chain_that_is_cut_back_to_an_earlier_record_is_found_out(tmp_path: Path) -> None:
    """All later records are deleted, the head is set to a digest that is on the chain, and the triggers are put back."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_budget("clinic", 90, "1e-6")
    for number in range(6):
        ledger.spend("clinic", [AGE], f"c{number}", "p" * 64)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        guards = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        (place,) = db.execute("SELECT number FROM chain WHERE kind = 'charges' AND row = 3").fetchone()
        db.execute("DELETE FROM chain WHERE number > ?", (place,))
        for table in ("releases", "charges"):
            db.execute(f"DELETE FROM {table} WHERE number NOT IN (SELECT row FROM chain WHERE kind = ?)", (table,))
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (3,)
        db.execute("UPDATE head SET (number, digest) = (SELECT number, digest FROM chain WHERE number = ?)", (place,))
        for _, guard in guards:
            db.execute(guard)
    with pytest.raises(LedgerError, match="is damaged or was changed by another program"):
        Ledger(ledger.path)


# Accounts, where there are too many to add up each time -------------------------------------------------------------------


def test_many_accounts_are_added_up_before_any_is_charged(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(filled, tmp_path / "ledger.sqlite")
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite", isolation_level=None)) as db:
        db.execute("UPDATE units SET epsilon = epsilon + 1 WHERE unit = (SELECT min(unit) FROM units)")
    monkeypatch.setattr(_integrity, "MANY", 10)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with pytest.raises(LedgerError, match="is damaged"):
        ledger.spend("panel", [AGE], "next", "p", units=[b"1"])
    with pytest.raises(LedgerError, match="is damaged"):
        ledger.check()


# Copies -------------------------------------------------------------------------------------------------------------------


def test_the_one_file_is_enough_after_every_call_also_while_others_have_it_open(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with closing(sqlite3.connect(ledger.path)) as other:  # which keeps SQLite from putting the journal away by itself
        other.execute("SELECT count(*) FROM releases").fetchall()
        for number, call in enumerate(
            [
                lambda: ledger.set_budget("clinic", 9, "1e-6"),
                lambda: ledger.spend("clinic", [AGE], "first", "p"),
                lambda: ledger.finish("first", "o"),
                lambda: ledger.set_budget("clinic", 12, "1e-6", raise_budget=True),
                lambda: ledger.spend("clinic", [AGE], "second", "p"),
            ]
        ):
            call()
            copy = tmp_path / f"copy{number}"
            copy.write_bytes(ledger.path.read_bytes())
            found = Ledger(copy)
            assert (found.head(), found.remaining("clinic")) == (ledger.head(), ledger.remaining("clinic"))


def test_an_older_copy_put_in_its_place_is_refused_by_whoever_knows_better(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_budget("clinic", 9, "1e-6")
    shutil.copy(ledger.path, tmp_path / "older")
    ledger.spend("clinic", [AGE], "first", "p")
    head = ledger.head()
    os.replace(tmp_path / "older", ledger.path)
    with pytest.raises(LedgerError, match=r"has lost records: it is an older copy.*; restore its latest copy"):
        ledger.spend("clinic", [AGE], "second", "p")
    with pytest.raises(LedgerError, match="has lost records"):
        ledger.remaining("clinic")
    stranger = Ledger(ledger.path)  # who has seen nothing of it cannot know, but a lock does
    assert stranger.remaining("clinic").spent_epsilon == 0
    with pytest.raises(LedgerError, match="has lost records"):
        stranger.check_holds(head)


def test_a_history_that_parted_is_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two copies that both went on: neither knows the head of the other, though they are as long."""
    one = Ledger(tmp_path / "one")
    one.set_budget("clinic", 9, "1e-6")
    shutil.copy(one.path, tmp_path / "two")
    two = Ledger(tmp_path / "two")
    common = one.head()
    for ledger, name in ((one, "first"), (two, "other")):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"machine of {name}"))
        Ledger(ledger.path).spend("clinic", [AGE], name, "p")
    assert one.check().records == two.check().records
    for ledger, other in ((one, two), (two, one)):
        assert ledger.check_holds(common) < ledger.check_holds(ledger.head())
        with pytest.raises(LedgerError, match="has lost records"):
            ledger.check_holds(other.head())


def test_a_backup_is_whole_private_and_overwrites_nothing(filled: Path, tmp_path: Path) -> None:
    copy = back_up(Ledger(filled), tmp_path / "copy.sqlite")
    assert knows(copy.path) == knows(filled)
    assert copy.path.stat().st_mode & 0o777 == 0o600
    before = copy.path.read_bytes()
    with pytest.raises(LedgerError, match=r"copy\.sqlite is there already; a backup overwrites nothing"):
        back_up(Ledger(filled), tmp_path / "copy.sqlite")
    with pytest.raises(LedgerError, match=r"cannot be written: there is no folder .*/no\."):
        back_up(Ledger(filled), tmp_path / "no" / "copy.sqlite")
    assert copy.path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["copy.sqlite"]


def test_a_backup_while_others_write_holds_all_that_was_recorded_before(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_budget("clinic", 9, "1e-6")
    ledger.spend("clinic", [AGE], "first", "p")
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        copy = back_up(ledger, tmp_path / "copy")
        other.execute("ROLLBACK")
    assert copy.remaining("clinic") == ledger.remaining("clinic")


def test_ten_thousand_records_are_walked(tmp_path: Path) -> None:
    """Long chains are checked whole, and added to from where they were checked last."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_budget("clinic", 10**6, "1e-6")
    ledger.spend("clinic", [Charge(f"part {n}", "query", Fraction(1, 9)) for n in range(10_000)], "large", "p")
    again = Ledger(ledger.path)
    assert again.check().records == 10_003
    again.spend("clinic", [AGE], "next", "p")
    assert ledger.remaining("clinic").spent_epsilon == Fraction(10_000, 9) + AGE.epsilon
    assert Ledger(ledger.path).check().records == 10_003 + 3
