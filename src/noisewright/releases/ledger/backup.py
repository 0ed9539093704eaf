"""A copy of a ledger that is known to be whole: made while others use the ledger, and checked before it gets its name.

>>> import tempfile
>>> from pathlib import Path
>>> folder = Path(tempfile.mkdtemp())
>>> ledger = Ledger(folder / "ledger.sqlite")
>>> _ = ledger.set_budget("clinic", 3)
>>> copy = back_up(ledger, folder / "copy.sqlite")
>>> copy.datasets(), copy.head() == ledger.head()
(['clinic'], True)
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from noisewright.core.errors import LedgerError
from noisewright.files.urls import is_url
from noisewright.releases.ledger.homes.database import Database, reading
from noisewright.releases.ledger.homes.schema import CHAINED, UNIT_COLUMNS
from noisewright.releases.ledger.homes.sqlite import appear, create, sentences
from noisewright.releases.ledger.homes.stores import store_of
from noisewright.releases.ledger.ledger import Ledger

__all__ = ["back_up"]

COPIED = {
    "secret": "one, key, created",
    **CHAINED,
    "chain": "number, kind, row, digest",
    "head": "one, number, digest",
    "units": UNIT_COLUMNS,
}
"""All tables, in an order in which each row finds those that it names."""


def back_up(ledger: Ledger, target: str | os.PathLike[str]) -> Ledger:
    """Copy a ledger, with its key, to a new file that its owner alone can read; it appears whole and checked, or not at all.

    The target may be the URL of a database, and the ledger may be in one: a copy goes on where the ledger ended.
    """
    if is_url(target):
        return _to_database(ledger, str(target))
    path = Path(os.path.abspath(target))

    def fill(made: Path) -> None:
        with ledger.opened() as db:
            if isinstance(db, sqlite3.Connection):
                with sentences(path), closing(sqlite3.connect(made)) as copy:
                    db.backup(copy)
            else:
                made.unlink()
                create(made, lambda copy: _copy(db, copy), with_folder=False)
        _check(ledger, Ledger(made, create_missing=False))

    try:
        appear(path, fill)
    except FileExistsError:
        raise LedgerError(f"{path} is there already; a backup overwrites nothing, so choose another name.") from None
    except FileNotFoundError:
        raise LedgerError(f"{path} cannot be written: there is no folder {path.parent}.") from None
    except OSError as problem:
        raise LedgerError(f"{path} cannot be written: {problem.strerror}.") from None
    return Ledger(path, create_missing=False)


def _to_database(ledger: Ledger, url: str) -> Ledger:
    store = store_of(url)
    if ledger.check().records is None:
        raise LedgerError(
            f"{ledger.path} was written by an earlier version; record something in it first, such as its budget once more."
        )
    with ledger.opened() as db:
        made = store.create(lambda copy: _copy(db, copy), with_folder=False)
    if not made:
        raise LedgerError(
            f"{store.place} holds a ledger already; a backup overwrites nothing, so choose another schema."
        )
    found = Ledger(url, create_missing=False)
    _check(ledger, found)
    return found


def _copy(source: Database, target: Database) -> None:
    """Copy every row, in the transaction of ``target``."""
    with reading(source):
        for table, columns in COPIED.items():
            marks = ", ".join("?" * len(columns.split(", ")))
            rows = source.execute(f"SELECT {columns} FROM {table}")
            target.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)


def _check(ledger: Ledger, copy: Ledger) -> None:
    """Refuse a copy that does not end where the ledger ended; something may have been recorded meanwhile."""
    head = ledger.check().head
    copy.check()
    if head and copy.head() != head:
        ledger.check_holds(copy.head())
