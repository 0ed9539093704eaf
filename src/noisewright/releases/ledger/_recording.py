"""Records written to the tables of a ledger, and sums over them, inside a transaction of the caller.

**Protected distances** of a dataset are part of the meaning of its budget, so they never become smaller. A loss of epsilon
between ages at most 5 apart and one between ages at most a thousandth apart do not add up to a loss between anything that a
person would ask about: between ages 5 apart the second is five thousand times as large. Therefore the first release of
a column sets the distance that the dataset's total is about. A later release may protect more, which counts in full;
one that protects less is refused.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from fractions import Fraction

from noisewright.core.errors import LedgerError
from noisewright.releases.ledger._chain import derived
from noisewright.releases.ledger._neighbours import sentence
from noisewright.releases.ledger.homes.database import Database, Place
from noisewright.releases.ledger.records import Balance, Charge, Protected

__all__ = [
    "CHARGED",
    "OTHER_PEOPLE",
    "balance_of",
    "input_digest",
    "keep_to",
    "protections",
    "record_budget",
    "record_input",
    "record_release",
]

OTHER_PEOPLE = "Another dataset name is for data about other people only."
CHARGED = "(r.dataset = ? OR r.number IN (SELECT o.release FROM others o WHERE o.dataset = ? AND o.reason = ''))"
"""Condition for a release ``r`` to count for a dataset: it is its own, or is charged to it also."""


def balance_of(db: Database, path: Place, dataset: str) -> Balance:
    """Budget, spent and left of a dataset."""
    found = db.execute(
        "SELECT d.number, d.scope, d.neighbours, b.epsilon, b.delta FROM datasets d JOIN budgets b ON b.dataset = d.number "
        "WHERE d.name = ? ORDER BY b.number DESC LIMIT 1",
        (dataset,),
    ).fetchone()
    if found is None:
        raise LedgerError(f"{path} knows no dataset {dataset!r}; set a budget for it first.")
    number, scope, neighbours, epsilon, delta = found
    releases = db.execute(f"SELECT count(*) FROM releases r WHERE {CHARGED}", (number, number)).fetchone()[0]
    spent = [Fraction(0), Fraction(0)]
    for *amounts, times in db.execute(
        "SELECT c.epsilon, c.delta, count(*) FROM charges c JOIN releases r ON r.number = c.release "
        f"WHERE {CHARGED} GROUP BY c.epsilon, c.delta",
        (number, number),
    ):
        spent = [total + times * Fraction(amount) for total, amount in zip(spent, amounts, strict=True)]
    budget, protected = (Fraction(epsilon), Fraction(delta)), tuple(protections(db, number))
    unprotected = db.execute(
        "SELECT c.name FROM charges c JOIN releases r ON r.number = c.release "
        "WHERE r.dataset = ? AND c.kind IN ('kept', 'changed') GROUP BY c.name ORDER BY min(c.number)",
        (number,),
    )
    same = tuple(name for (name,) in unprotected)
    return Balance(dataset, scope, sentence(neighbours), releases, *budget, spent[0], spent[1], protected, same)


def record_release(
    db: Database, dataset: str, items: Sequence[Charge], release_id: str, policy: str, time: str
) -> tuple[int, int]:
    """Record a release with its charges; the numbers of the new release and of its dataset."""
    place = db.execute("SELECT number FROM datasets WHERE name = ?", (dataset,)).fetchone()[0]
    db.execute(
        "INSERT INTO releases (name, dataset, time, policy) VALUES (?, ?, ?, ?)", (release_id, place, time, policy)
    )
    number = db.execute("SELECT number FROM releases WHERE name = ?", (release_id,)).fetchone()[0]
    db.executemany(
        "INSERT INTO charges (release, name, kind, epsilon, delta, guarantee) VALUES (?, ?, ?, ?, ?, ?)",
        [(number, i.name, i.kind, str(i.epsilon), str(i.delta), i.guarantee) for i in items],
    )
    return number, place


def input_digest(key: bytes, policy: str, content: bytes) -> str:
    """Return the ledger's record of the data of a release: a keyed digest of the data and the policy.

    Anyone who has the key can ask whether guessed data are these; nothing that knows data again can prevent that.
    Without the key it states nothing, and two policies for the same data do not look alike.
    """
    return hmac.new(derived(key, "input"), policy.encode() + b"\0" + content, "sha256").hexdigest()


def record_input(db: Database, release: int, digest: str, place: str) -> None:
    """Record the data of a release, and the place of its output."""
    db.execute("INSERT INTO inputs (release, digest, place) VALUES (?, ?, ?)", (release, digest, place))


def record_budget(db: Database, dataset: str, event: str, epsilon: Fraction, delta: Fraction, time: str) -> None:
    """A budget that was set or changed."""
    db.execute(
        "INSERT INTO budgets (dataset, time, event, epsilon, delta) SELECT number, ?, ?, ?, ? FROM datasets WHERE name = ?",
        (time, event, str(epsilon), str(delta), dataset),
    )


def protections(db: Database, dataset: int) -> list[Protected]:
    """Return the distances recorded for a dataset (by its number), in the order in which they came."""
    rows = db.execute("SELECT columns, distance, unit FROM protections WHERE dataset = ? ORDER BY number", (dataset,))
    return [
        Protected(tuple(json.loads(columns)), None if distance == "any" else Fraction(distance), unit)
        for columns, distance, unit in rows
    ]


def keep_to(db: Database, path: Place, name: str, dataset: int, release: int, asked: Protected) -> None:
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
                f"which is less or cannot be compared; protect what is recorded, or more. {OTHER_PEOPLE}"
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
    return f"{protected.words} in {' with '.join(map(repr, protected.columns))}"
