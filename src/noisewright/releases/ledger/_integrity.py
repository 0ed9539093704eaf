"""Whether a ledger is the one that was written: its pages, its chain of records and its accounts, checked before it is believed.

An older ledger, which has no chain yet, is brought up to date in the transaction of the first thing that is recorded in it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from noisewright.releases.ledger import _units as ledger_units
from noisewright.releases.ledger._chain import Head, begin, damaged, derived, extend, key_of, walk
from noisewright.releases.ledger._file import check_pages, has_chain, old_version
from noisewright.releases.ledger._schema import VERSION, add_inputs, build

__all__ = ["MANY", "begin_chain", "check_accounts", "check_all", "check_records", "extend_chain", "up_to_date"]

MANY = 100_000
"""Accounts of units above which not every opening adds them up; every release that charges units does."""
COPIED = ("secret", "datasets", "budgets", "charges", "protections")
"""Tables that older versions had with the same columns."""


def check_all(db: sqlite3.Connection, path: Path, *, every_account: bool = False) -> Head | None:
    """Check a ledger from its first page to its last record; the head of its chain, None where there is no chain yet."""
    check_pages(db, path, all_of_it=every_account)
    key = key_of(db, path)
    if not has_chain(db):
        return None
    head = walk(db, path, derived(key, "chain"))
    if every_account or ledger_units.count(db) <= MANY:
        check_accounts(db, path)
    return head


def check_records(db: sqlite3.Connection, path: Path, since: Head | None) -> Head | None:
    """Check the records after a head that was checked before."""
    if has_chain(db):
        return walk(db, path, derived(key_of(db, path), "chain"), since)
    if since is not None:  # it had a chain
        raise damaged(path)
    return None


def check_accounts(db: sqlite3.Connection, path: Path) -> None:
    """Check the accounts of all units against what was recorded of them."""
    if has_chain(db) and not ledger_units.agree(db, derived(key_of(db, path), "accounts")):
        raise damaged(path)


def begin_chain(db: sqlite3.Connection, path: Path) -> Head:
    """What an empty ledger holds besides its key."""
    return begin(db, derived(key_of(db, path), "chain"))


def extend_chain(db: sqlite3.Connection, path: Path, head: Head) -> Head:
    """Add to the chain what this transaction recorded."""
    return extend(db, derived(key_of(db, path), "chain"), head)


def up_to_date(db: sqlite3.Connection, path: Path, since: Head | None) -> Head:
    """The checked head inside a transaction that is about to write; an older ledger gets its chain here, and what else is new."""
    checked = check_records(db, path, since)
    if checked is not None:
        if old_version(db) is not None:
            db.execute("DROP VIEW temp.inputs")
            add_inputs(db)
            db.execute(f"PRAGMA user_version = {VERSION}")
        return checked
    check_pages(db, path)
    protected = old_version(db) != 1
    for view in ("inputs", "finishes", *(() if protected else ("protections",))):
        db.execute(f"DROP VIEW temp.{view}")
    copied = [table for table in COPIED if protected or table != "protections"]
    rows = {table: db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in copied}
    releases = db.execute(
        "SELECT number, name, dataset, time, policy, state, finished, output FROM releases ORDER BY number"
    ).fetchall()
    for trigger in ("units_stay", "units_grow"):
        db.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    for table in (*copied, "releases"):
        db.execute(f"DROP TABLE {table}")
    build(db, units=False)
    _insert(db, "releases", [row[:5] for row in releases])
    for table, content in rows.items():
        _insert(db, table, content)
    done = sorted((finished, number, output) for number, *_, state, finished, output in releases if state == "finished")
    _insert(db, "finishes", [(place, number, time, output) for place, (time, number, output) in enumerate(done, 1)])
    key = key_of(db, path)
    ledger_units.record_totals(db, derived(key, "accounts"))
    db.execute(f"PRAGMA user_version = {VERSION}")
    return extend_chain(db, path, begin_chain(db, path))


def _insert(db: sqlite3.Connection, table: str, rows: list[tuple[object, ...]]) -> None:
    if rows:
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
