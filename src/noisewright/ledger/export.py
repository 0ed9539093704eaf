"""A ledger as a document: JSON with everything but its secrets, or CSV with one row for each part of each release.

The key and the accounts of single units never leave the ledger.

>>> import tempfile
>>> from noisewright.ledger.ledger import Ledger
>>> from noisewright.ledger.records import Charge
>>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.sqlite")
>>> balance = ledger.set_budget("clinic", 3)
>>> spend = ledger.spend("clinic", [Charge("age", "column", 1, guarantee="any two values")], "first", "")
>>> document(ledger)["datasets"][0]["left"]
{'epsilon': '2', 'delta': '0'}

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

import csv
import io
import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, fields
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from noisewright._utils.inputs import is_url
from noisewright.exceptions import LedgerError, ParameterError
from noisewright.io.atomic import write_atomically
from noisewright.ledger.database import CHAINED, UNIT_COLUMNS, Database, reading
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import LedgerRecord
from noisewright.ledger.sqlite import appear, create, sentences, store_of
from noisewright.numerics.exact import LARGEST_SPELLED

__all__ = ["back_up", "changed", "document", "export", "kept"]


FORMAT, VERSION = "noisewright-ledger", 2


def export(ledger: Ledger, path: str | os.PathLike[str]) -> Path:
    """Write the ledger to a ``.json`` or a ``.csv`` file, whole or not at all."""
    target = Path(path)
    if target.suffix.lower() == ".json":
        write_atomically(target, (json.dumps(document(ledger), indent=1) + "\n").encode())
    elif target.suffix.lower() == ".csv":
        write_atomically(target, _rows(ledger).encode())
    else:
        raise ParameterError(f"{target.name}: a ledger is exported to a .json or a .csv file.")
    return target


def document(ledger: Ledger, datasets: Sequence[str] | None = None, shown: bool = False) -> dict[str, Any]:
    """The ledger as plain data; numbers are exact and written as fractions such as ``1/3``.

    What is ``shown`` to a person also says between which tables a budget is beyond what the ledger records of them.
    """
    chosen = ledger.datasets() if datasets is None else datasets
    return {"format": FORMAT, "version": VERSION, "datasets": [_dataset(ledger, name, shown) for name in chosen]}


def kept(entries: Sequence[LedgerRecord]) -> list[str]:
    """The columns that some release gave away as they are."""
    return list(dict.fromkeys(entry.name for entry in entries if entry.kind == "kept"))


def changed(entries: Sequence[LedgerRecord]) -> list[str]:
    """The columns that some release changed without an epsilon."""
    return list(dict.fromkeys(entry.name for entry in entries if entry.kind == "changed"))


def _dataset(ledger: Ledger, name: str, shown: bool) -> dict[str, Any]:
    balance = ledger.remaining(name)
    return {
        "dataset": name,
        "scope": balance.scope,
        "between": balance.between if shown else balance.recorded,
        "protected": [
            {"columns": list(p.columns), "distance": "any" if p.distance is None else str(p.distance), "unit": p.unit}
            for p in ledger.protections(name)
        ],
        "kept": kept(ledger.entries(name)),
        **({"changed": without} if (without := changed(ledger.entries(name))) else {}),
        "budget": _amount(balance.epsilon, balance.delta),
        "spent": _amount(balance.spent_epsilon, balance.spent_delta),
        "left": _amount(balance.left_epsilon, balance.left_delta, down=True),
        "history": [{"time": e.time, "event": e.event, **_amount(e.epsilon, e.delta)} for e in ledger.history(name)],
        **({"apart": [asdict(one) for one in apart]} if (apart := ledger.apart(name)) else {}),
        "entries": [_entry(entry) for entry in ledger.entries(name)],
    }


def _rows(ledger: Ledger) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(LedgerRecord)], lineterminator="\n")
    writer.writeheader()
    for name in ledger.datasets():
        writer.writerows(_entry(entry) for entry in ledger.entries(name))
    return text.getvalue()


def _entry(entry: LedgerRecord) -> dict[str, Any]:
    amount = _amount(entry.epsilon, entry.delta) if entry.bounded else {"epsilon": None, "delta": None}
    return {**asdict(entry), **amount}


def _amount(epsilon: Fraction, delta: Fraction, down: bool = False) -> dict[str, str]:
    return {"epsilon": _spelled(epsilon, down), "delta": _spelled(delta, down)}


def _spelled(value: Fraction, down: bool) -> str:
    """The exact fraction; sums of very unlike fractions, which no reader could write out, are rounded towards privacy."""
    if value.denominator.bit_length() > LARGEST_SPELLED:
        scaled = value * 10**30
        value = Fraction(floor(scaled) if down else -floor(-scaled), 10**30)
    return str(value)


# Backup -------------------------------------------------------------------------------------------------------------------
#
# A copy of a ledger that is known to be whole: made while others use the ledger, and checked before it gets its name.


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
