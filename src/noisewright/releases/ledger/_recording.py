"""What is written to the tables of a ledger, and added up from them, inside a transaction of the caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import cast

from noisewright.core.errors import LedgerError
from noisewright.releases.ledger.records import Balance, Charge

__all__ = ["balance_of", "record_budget", "record_release"]


def balance_of(db: sqlite3.Connection, path: Path, dataset: str) -> Balance:
    """Budget, spent and left of a dataset."""
    found = db.execute(
        "SELECT d.number, d.scope, d.neighbours, b.epsilon, b.delta FROM datasets d JOIN budgets b ON b.dataset = d.number "
        "WHERE d.name = ? ORDER BY b.number DESC LIMIT 1",
        (dataset,),
    ).fetchone()
    if found is None:
        raise LedgerError(f"{path} knows no dataset {dataset!r}; set a budget for it first.")
    number, scope, between, epsilon, delta = found
    releases = db.execute("SELECT count(*) FROM releases WHERE dataset = ?", (number,)).fetchone()[0]
    spent = [Fraction(0), Fraction(0)]
    for *amounts, times in db.execute(
        "SELECT c.epsilon, c.delta, count(*) FROM charges c JOIN releases r ON r.number = c.release "
        "WHERE r.dataset = ? GROUP BY c.epsilon, c.delta",
        (number,),
    ):
        spent = [total + times * Fraction(amount) for total, amount in zip(spent, amounts, strict=True)]
    return Balance(dataset, scope, between, releases, Fraction(epsilon), Fraction(delta), *spent)


def record_release(
    db: sqlite3.Connection, dataset: str, items: Sequence[Charge], release_id: str, policy: str, time: str
) -> tuple[int, int]:
    """Record a release with its charges; the numbers of the new release and of its dataset."""
    place = db.execute("SELECT number FROM datasets WHERE name = ?", (dataset,)).fetchone()[0]
    number = db.execute(
        "INSERT INTO releases (name, dataset, time, policy) VALUES (?, ?, ?, ?)",
        (release_id, place, time, policy),
    ).lastrowid
    db.executemany(
        "INSERT INTO charges (release, name, kind, epsilon, delta, guarantee) VALUES (?, ?, ?, ?, ?, ?)",
        [(number, i.name, i.kind, str(i.epsilon), str(i.delta), i.guarantee) for i in items],
    )
    return cast(int, number), place


def record_budget(
    db: sqlite3.Connection, dataset: str, event: str, epsilon: Fraction, delta: Fraction, time: str
) -> None:
    """A budget that was set or changed."""
    db.execute(
        "INSERT INTO budgets (dataset, time, event, epsilon, delta) SELECT number, ?, ?, ?, ? FROM datasets WHERE name = ?",
        (time, event, str(epsilon), str(delta), dataset),
    )
