"""The protected distances of a dataset: part of the meaning of its budget, so they never become smaller.

A loss of epsilon between ages at most 5 apart and one between ages at most a thousandth apart do not add up to a loss between
anything that a person would ask about: between ages 5 apart the second is five thousand times as large. So the first release of a
column sets the distance that the dataset's total is about. A later release may protect more, which counts in full; one that
protects less is refused.
"""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction
from pathlib import Path

from noisewright.core.errors import LedgerError
from noisewright.releases.ledger.records import Protected

__all__ = ["keep_to", "protections"]


def protections(db: sqlite3.Connection, dataset: int) -> list[Protected]:
    """What is recorded for a dataset (by its number), in the order in which it came."""
    rows = db.execute("SELECT columns, distance, unit FROM protections WHERE dataset = ? ORDER BY number", (dataset,))
    return [
        Protected(tuple(json.loads(columns)), None if distance == "any" else Fraction(distance), unit)
        for columns, distance, unit in rows
    ]


def keep_to(db: sqlite3.Connection, path: Path, name: str, dataset: int, release: int, asked: Protected) -> None:
    """Record the protected distance of columns that are new; refuse one that is smaller than the recorded one.

    A column that was recorded together with others (or alone, and is now asked for with others) has no distance to compare
    with; then only the protection of any two values is surely not less.
    """
    recorded = protections(db, dataset)
    same = [known for known in recorded if set(known.columns) == set(asked.columns)]
    for known in same or [known for known in recorded if set(known.columns) & set(asked.columns)]:
        if not _at_least(asked, known, bool(same)):
            raise LedgerError(
                f"the budget of {name!r} in {path} is about {_spelled(known)}, and this release would protect {_spelled(asked)}, "
                "which is less or cannot be compared; protect what is recorded, or more, or use another dataset name with a "
                "budget of its own."
            )
    if not same:
        distance = "any" if asked.distance is None else str(asked.distance)
        db.execute(
            "INSERT INTO protections (dataset, release, columns, distance, unit) VALUES (?, ?, ?, ?, ?)",
            (dataset, release, json.dumps(asked.columns), distance, asked.unit),
        )


def _at_least(asked: Protected, known: Protected, same: bool) -> bool:
    if asked.distance is None:
        return True
    return same and known.distance is not None and asked.unit == known.unit and asked.distance >= known.distance


def _spelled(protected: Protected) -> str:
    columns = " with ".join(map(repr, protected.columns))
    return (
        f"any two values of {columns}" if protected.distance is None else f"values of {columns} {protected.words} apart"
    )
