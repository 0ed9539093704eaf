"""Whether a ledger is the one that was written: its pages, its chain of records and its accounts, checked before it is
believed.

An older ledger, which has no chain yet, is brought up to date in the transaction of the first thing that is recorded in it.
"""

from __future__ import annotations

import os
import sqlite3

from noisewright.releases.ledger import _units as ledger_units
from noisewright.releases.ledger._chain import Head, begin, damaged, derived, extend, key_of, walk
from noisewright.releases.ledger.homes.database import Database, Place, has_chain, old_version
from noisewright.releases.ledger.homes.schema import LATER, VERSION, add_later, build

__all__ = ["MANY", "begin_ledger", "check_accounts", "check_all", "check_records", "extend_chain", "up_to_date"]

KEY_BYTES = 32
MANY = 100_000
"""Accounts of units above which not every opening adds them up; every release that charges units does."""
COPIED = ("secret", "datasets", "budgets", "charges", "protections")
"""Tables that older versions had with the same columns."""


def check_all(db: Database, path: Place, *, every_account: bool = False) -> Head | None:
    """Check a ledger from its first page to its last record; the head of its chain, None where there is no chain yet."""
    db.check_pages(path, all_of_it=every_account)
    key = key_of(db, path)
    if not has_chain(db):
        return None
    head = walk(db, path, derived(key, "chain"))
    if every_account or ledger_units.count(db) <= MANY:
        check_accounts(db, path)
    return head


def check_records(db: Database, path: Place, since: Head | None) -> Head | None:
    """Check the records after a head that was checked before."""
    if has_chain(db):
        return walk(db, path, derived(key_of(db, path), "chain"), since)
    if since is not None:  # it had a chain
        raise damaged(path)
    return None


def check_accounts(db: Database, path: Place) -> None:
    """Check the accounts of all units against their records."""
    if has_chain(db) and not ledger_units.agree(db, derived(key_of(db, path), "accounts")):
        raise damaged(path)


def begin_ledger(db: Database, path: Place, time: str) -> Head:
    """Write what an empty ledger holds: a secret key of its own, and the beginning of its chain."""
    db.execute("INSERT INTO secret VALUES (1, ?, ?)", (os.urandom(KEY_BYTES), time))
    return begin_chain(db, path)


def begin_chain(db: Database, path: Place) -> Head:
    """Begin the chain of a ledger that has a key."""
    return begin(db, derived(key_of(db, path), "chain"))


def extend_chain(db: Database, path: Place, head: Head) -> Head:
    """Add the records of this transaction to the chain."""
    return extend(db, derived(key_of(db, path), "chain"), head)


def up_to_date(db: Database, path: Place, since: Head | None) -> Head:
    """The checked head inside a transaction that is about to write; an older ledger gets its chain here, and what else
    is new.
    """
    checked = check_records(db, path, since)
    version = old_version(db)
    if checked is not None and version is None:
        return checked
    assert isinstance(db, sqlite3.Connection)  # there are older ledgers in files alone
    if checked is not None and version is not None:
        for table in (name for name, since in LATER.items() if since > version):
            db.execute(f"DROP VIEW temp.{table}")
        add_later(db, version)
        db.execute(f"PRAGMA user_version = {VERSION}")
        return checked
    db.check_pages(path)
    protected = version != 1
    for view in (*LATER, "finishes", *(() if protected else ("protections",))):
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


def _insert(db: Database, table: str, rows: list[tuple[object, ...]]) -> None:
    if rows:
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
