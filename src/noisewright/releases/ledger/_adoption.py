"""Charges that an older copy of a ledger has lost, recorded again: for an owner without a newer copy.

A witness records each charge, and so does the lock of a release. The heads that were lost are recorded with the reason, so
anyone who knows one of them (a witness, a lock) is answered by the record that adopted it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.core.errors import LedgerError
from noisewright.releases.ledger._chain import place_of
from noisewright.releases.ledger._neighbours import stored
from noisewright.releases.ledger._recording import keep_to, record_budget, record_release
from noisewright.releases.ledger.homes.database import Database, Place
from noisewright.releases.ledger.homes.witness import Sighting
from noisewright.releases.ledger.records import Charge, Protected, Terms

__all__ = ["Lost", "adopt", "charge_record", "lost_from"]


@dataclass(frozen=True)
class Lost:
    """A head that a ledger has lost, and the release that was charged with it, if one was."""

    head: str
    release: str = ""
    dataset: str = ""
    policy: str = ""
    terms: Terms | None = None
    charges: tuple[Charge, ...] = ()


def charge_record(
    db: Database, release: str, dataset: str, also: Sequence[str], policy: str, items: Sequence[Charge]
) -> Mapping[str, Any]:
    """Return the witness's record of a spend, inside its transaction."""
    scope, neighbours, epsilon, delta = db.execute(
        "SELECT d.scope, d.neighbours, b.epsilon, b.delta FROM datasets d JOIN budgets b ON b.dataset = d.number "
        "WHERE d.name = ? ORDER BY b.number DESC LIMIT 1",
        (dataset,),
    ).fetchone()
    return {
        "release": release,
        "dataset": dataset,
        "also": list(also),
        "policy": policy,
        "budget": [epsilon, delta, scope, neighbours],
        "charges": [[i.name, i.kind, str(i.epsilon), str(i.delta), i.guarantee, _distance(i.protected)] for i in items],
    }


def lost_from(sighting: Sighting) -> Lost:
    """Return the observations of a witness as something to adopt."""
    told = sighting.charged
    if told is None:
        return Lost(sighting.head)
    try:
        epsilon, delta, scope, neighbours = told["budget"]
        terms = Terms(Fraction(epsilon), Fraction(delta), scope, neighbours, also=tuple(told["also"]))
        charges = tuple(
            Charge(name, kind, Fraction(e), Fraction(d), guarantee, None if far is None else _protected(far))
            for name, kind, e, d, guarantee, far in told["charges"]
        )
        return Lost(sighting.head, told["release"], told["dataset"], told["policy"], terms, charges)
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise LedgerError("a witness holds a spend that cannot be read; restore the witness, or the ledger.") from None


def adopt(db: Database, path: Place, lost: Sequence[Lost], reason: str, time: str) -> int:
    """Charge every release that is not there, and record every head that is not known, inside the transaction of the caller."""
    charged = 0
    for one in lost:
        known = db.execute("SELECT 1 FROM releases WHERE name = ?", (one.release,)).fetchone()
        if one.release and known is None:
            _charge(db, path, one, time)
            charged += 1
        if place_of(db, one.head) is None:
            taken = db.execute("SELECT 1 FROM adoptions WHERE head = ?", (one.head,)).fetchone()
            if taken is None:
                db.execute("INSERT INTO adoptions (time, head, reason) VALUES (?, ?, ?)", (time, one.head, reason))
    return charged


def _charge(db: Database, path: Place, one: Lost, time: str) -> None:
    terms = one.terms
    assert terms is not None
    if terms.scope == "unit":
        raise LedgerError(
            f"the release {one.release!r} was charged to single units of {one.dataset!r}, and their names are lost; "
            "restore a newer copy of the ledger, or begin a new dataset with a smaller budget."
        )
    if db.execute("SELECT 1 FROM datasets WHERE name = ?", (one.dataset,)).fetchone() is None:
        db.execute(
            "INSERT INTO datasets (name, scope, neighbours) VALUES (?, ?, ?)",
            (one.dataset, terms.scope, stored(terms.between)),
        )
        record_budget(db, one.dataset, "set", Fraction(terms.epsilon), Fraction(terms.delta), time)
    number, _ = record_release(db, one.dataset, one.charges, one.release, one.policy, time)
    for account in (one.dataset, *terms.also):
        found = db.execute("SELECT number FROM datasets WHERE name = ?", (account,)).fetchone()
        if found is None:
            raise LedgerError(
                f"the release {one.release!r} was also charged to {account!r}, which {path} does not know; restore a newer copy."
            )
        if account != one.dataset:
            db.execute("INSERT INTO others (release, dataset, reason) VALUES (?, ?, '')", (number, found[0]))
        for item in one.charges:
            if item.protected is not None and (item.epsilon or item.delta):
                keep_to(db, path, account, found[0], number, item.protected)


def _distance(protected: Protected | None) -> list[Any] | None:
    if protected is None:
        return None
    distance = None if protected.distance is None else str(protected.distance)
    return [list(protected.columns), distance, protected.unit]


def _protected(told: Sequence[Any]) -> Protected:
    columns, distance, unit = told
    return Protected(tuple(columns), None if distance is None else Fraction(distance), unit)
