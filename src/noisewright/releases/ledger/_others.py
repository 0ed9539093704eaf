"""One group of people under two names: which datasets a release is charged to, and the same data under another name.

Two datasets with the same bytes are about the same people, so their releases must meet in one account. ``also`` charges
a release to further datasets. An owner who knows that the people are different ones says why, and the ledger keeps the reason.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from noisewright.core.errors import LedgerError
from noisewright.releases.ledger._chain import key_of
from noisewright.releases.ledger._recording import balance_of, input_digest
from noisewright.releases.ledger.homes.database import Database, Place
from noisewright.releases.ledger.records import Apart, Balance, Earlier, Input

__all__ = ["accounts_of", "check_alone", "record_others", "said_apart"]


@dataclass(frozen=True)
class Match:
    """A release of the same data: its dataset, and all datasets that it was charged to."""

    release: Earlier
    dataset: str
    accounts: frozenset[str]


def accounts_of(db: Database, path: Place, own: Balance, also: Sequence[str]) -> list[Balance]:
    """Return the balances of the datasets that are charged also; all must have the same meaning as the release's."""
    found = [balance_of(db, path, name) for name in also]
    for one in found:
        if "unit" in (own.scope, one.scope):
            raise LedgerError(
                f"{own.dataset!r} and {one.dataset!r} cannot be charged together, because one of them has the scope unit in "
                f"{path}; release under one dataset name, or use the scope dataset for both."
            )
        if own.neighbours != one.neighbours:
            raise LedgerError(
                f"{own.dataset!r} and {one.dataset!r} cannot be charged together, because {path} keeps the one between "
                f"{own.neighbours!r} and the other between {one.neighbours!r}; use the same neighbours for both."
            )
    return found


def check_alone(db: Database, path: Place, dataset: str, also: Sequence[str], made_of: Input) -> None:
    """Refuse data that were released under another name, unless both are charged or the owner says that the people differ."""
    apart = _apart(db, path, {dataset, *also}, made_of)
    if apart and not made_of.apart:
        names = list(dict.fromkeys(one.dataset for one in apart if one.dataset != dataset))
        listed = ", ".join(f'"{name}"' for name in names)
        raise LedgerError(
            f"these data were released as {' and '.join(map(repr, names))} before ({apart[0].release.in_words()}), and "
            f"{dataset!r} would be a second budget for the same people. Charge both, with also = [{listed}] in [budget]; or, if "
            "these are other people, say why, which is recorded: separate_people=REASON, --separate-people REASON."
        )


def record_others(
    db: Database, path: Place, number: int, dataset: str, also: Sequence[str], made_of: Input | None
) -> None:
    """Record which datasets are charged also (without a reason), and which are kept apart, and why."""
    said = [(name, "") for name in also]
    if made_of is not None and made_of.apart:
        said += [(name, made_of.apart) for name in {one.dataset for one in _apart(db, path, {dataset, *also}, made_of)}]
    db.executemany(
        "INSERT INTO others (release, dataset, reason) SELECT ?, number, ? FROM datasets WHERE name = ?",
        [(number, reason, name) for name, reason in sorted(said)],
    )


def said_apart(db: Database, dataset: str) -> list[Apart]:
    """Return the reasons why a dataset and others with the same data are about different people."""
    rows = db.execute(
        "SELECT r.time, r.name, d.name, a.name, o.reason FROM others o JOIN releases r ON r.number = o.release "
        "JOIN datasets d ON d.number = r.dataset JOIN datasets a ON a.number = o.dataset "
        "WHERE o.reason <> '' AND (d.name = ? OR a.name = ?) ORDER BY o.number",
        (dataset, dataset),
    )
    return [Apart(*row) for row in rows]


def _apart(db: Database, path: Place, accounts: set[str], made_of: Input) -> list[Match]:
    """Return the releases of the same data with which these accounts have nothing in common.

    Without a reason to keep them apart, one account must hold all of them: pairs that share are not enough.
    """
    found = _matches(db, path, made_of.content)
    apart = [one for one in found if not one.accounts & accounts]
    together = accounts.intersection(*(one.accounts for one in found))
    return apart if apart or together or made_of.apart else found


def _matches(db: Database, path: Place, content: bytes) -> list[Match]:
    """Return every release of data with this SHA-256, under whatever policy and name."""
    if not content:
        return []
    key, found = key_of(db, path), []
    for number, policy, digest, *known in db.execute(
        "SELECT r.number, r.policy, i.digest, r.name, r.time, i.place, d.name FROM inputs i "
        "JOIN releases r ON r.number = i.release JOIN datasets d ON d.number = r.dataset ORDER BY r.number"
    ).fetchall():
        if hmac.compare_digest(digest, input_digest(key, policy, content)):
            *release, dataset = known
            also = db.execute(
                "SELECT d.name FROM others o JOIN datasets d ON d.number = o.dataset WHERE o.release = ? AND o.reason = ''",
                (number,),
            )
            found.append(Match(Earlier(*release), dataset, frozenset({dataset, *(name for (name,) in also)})))
    return found
