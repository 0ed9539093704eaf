r"""The chain of a ledger: every record holds a keyed digest of its statements and of everything that came before it.

With the ledger's key :math:`k`, records :math:`r_1, r_2, \ldots` and the digest of the beginning :math:`h_0`, it is
:math:`h_i = \mathrm{HMAC}_k(h_{i-1}, r_i)`. No one without the key can change, leave out, exchange or add a record and find
the digests that fit. What the chain cannot show by itself is that its end is missing, so its head :math:`h_n` is kept
apart: in a row of its own, as a keyed digest of ``n`` and :math:`h_n` that is found nowhere on the chain and cannot be
set back to an earlier record without the key; in every :class:`~noisewright.ledger.ledger.Ledger` that has
read it; and in the lock of every release.

A digest says nothing to anyone who has not the key, so a lock may be published. Other keys are made of the ledger's,
one for each purpose.
"""

from __future__ import annotations

import hmac
import json
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from noisewright.exceptions import LedgerError
from noisewright.ledger import records as ledger_units
from noisewright.ledger.database import (
    CHAINED,
    LATER,
    VERSION,
    Database,
    Place,
    add_later,
    build,
    has_chain,
    old_version,
)
from noisewright.ledger.records import Apart, Balance, Charge, Earlier, Input, Protected, sentence

__all__ = [
    "CHARGED",
    "MANY",
    "OTHER_PEOPLE",
    "Head",
    "accounts_of",
    "balance_of",
    "begin",
    "begin_ledger",
    "check_accounts",
    "check_all",
    "check_alone",
    "check_records",
    "damaged",
    "derived",
    "extend",
    "extend_chain",
    "input_digest",
    "keep_to",
    "key_of",
    "lost",
    "place_of",
    "protections",
    "record_budget",
    "record_input",
    "record_others",
    "record_release",
    "said_apart",
    "up_to_date",
    "walk",
]


@dataclass(frozen=True)
class Head:
    """The end of a chain: how many records it has, and the digest of the last."""

    number: int
    digest: bytes


def begin(db: Database, key: bytes) -> Head:
    """An empty chain, whose beginning belongs to this ledger alone."""
    head = _first(db, key)
    db.execute("INSERT INTO head VALUES (1, 0, ?)", (_sealed(key, 0, head.digest),))
    return head


def walk(db: Database, path: Place, key: bytes, since: Head | None = None) -> Head:
    """Check all records, or those after a head that was checked before, and that no record is outside of the chain."""
    stated = db.execute("SELECT number, digest FROM head").fetchone()
    if stated is None:
        raise damaged(path)
    if since is not None and since.number:
        found = db.execute("SELECT digest FROM chain WHERE number = ?", (since.number,)).fetchone()
        if found is None or found[0] != since.digest:
            raise lost(path)
    head = _first(db, key) if since is None else since
    number, digest = head.number, head.digest
    said = {}
    for kind, columns in CHAINED.items():
        own = ", ".join(f"t.{name}" for name in columns.split(", "))
        rows = db.execute(
            f"SELECT c.number, {own} FROM chain c JOIN {kind} t ON t.number = c.row WHERE c.kind = ? AND c.number > ?",
            (kind, number),
        )
        said.update({place: (kind, *row) for place, *row in rows})
    try:
        for place, stored in db.execute("SELECT number, digest FROM chain WHERE number > ? ORDER BY number", (number,)):
            number, digest = number + 1, _digest(key, digest, said[number + 1])
            if place != number or stored != digest:
                raise damaged(path)
    except (KeyError, TypeError, ValueError):  # a record that is not there, or is not of its kind
        raise damaged(path) from None
    covered = dict(db.execute("SELECT kind, count(*) FROM chain GROUP BY kind"))
    counted = {kind: db.execute(f"SELECT count(*) FROM {kind}").fetchone()[0] for kind in CHAINED}
    if stated != (number, _sealed(key, number, digest)) or covered != {
        kind: count for kind, count in counted.items() if count
    }:
        raise damaged(path)
    return Head(number, digest)


def extend(db: Database, key: bytes, head: Head) -> Head:
    """Add all rows that this transaction has made: those that come after the last of their table in the chain."""
    number, digest, added = head.number, head.digest, []
    for kind, columns in CHAINED.items():
        last = db.execute("SELECT max(row) FROM chain WHERE kind = ?", (kind,)).fetchone()[0] or 0
        for row in db.execute(f"SELECT {columns} FROM {kind} WHERE number > ? ORDER BY number", (last,)).fetchall():
            number, digest = number + 1, _digest(key, digest, (kind, *row))
            added.append((number, kind, row[0], digest))
    if not added:
        return head
    db.executemany("INSERT INTO chain VALUES (?, ?, ?, ?)", added)
    db.execute("UPDATE head SET number = ?, digest = ?", (number, _sealed(key, number, digest)))
    return Head(number, digest)


def place_of(db: Database, digest: str) -> int | None:
    """Return the number of the record with this digest, or of the one that adopted it; None if the chain knows neither."""
    try:
        found = db.execute("SELECT number FROM chain WHERE digest = ?", (bytes.fromhex(digest),)).fetchone()
    except ValueError:
        return None
    found = (
        found
        or db.execute(
            "SELECT c.number FROM adoptions a JOIN chain c ON c.kind = 'adoptions' AND c.row = a.number WHERE a.head = ?",
            (digest,),
        ).fetchone()
    )
    return None if found is None else int(found[0])


def damaged(path: Place) -> LedgerError:
    """Return the message for records that do not fit together."""
    return LedgerError(
        f"{path} is damaged or was changed by another program: its records are not those that were written; restore it from a "
        "backup, because what was spent must not be forgotten."
    )


def lost(path: Place, evidence: str = "") -> LedgerError:
    """Say that later records are known of than there are; ``evidence``: who knows of them."""
    known = f" ({evidence})" if evidence else ""
    return LedgerError(
        f"{path} has lost records: it is an older copy, and what was spent later is missing from it{known}; restore its latest "
        "copy, because what was spent must not be forgotten. Without a newer copy, charge what is missing: "
        "noisewright ledger adopt."
    )


def key_of(db: Database, path: Place) -> bytes:
    """The secret key of a ledger."""
    found = db.execute("SELECT key FROM secret").fetchone()
    if found is None:
        raise LedgerError(f"{path} is damaged: its key is missing; restore it from a backup.")
    return cast(bytes, found[0])


def derived(key: bytes, *purpose: str) -> bytes:
    """A key for one purpose alone, so that a hash made for one says nothing about a hash made for another."""
    return hmac.digest(key, "\0".join(("noisewright", *purpose)).encode(), "sha256")


def _first(db: Database, key: bytes) -> Head:
    created = db.execute("SELECT created FROM secret").fetchone()[0]
    return Head(0, hmac.digest(key, str(created).encode(), "sha256"))


def _digest(key: bytes, before: bytes, record: tuple[object, ...]) -> bytes:
    return hmac.digest(key, before + json.dumps(record, separators=(",", ":")).encode(), "sha256")


def _sealed(key: bytes, number: int, digest: bytes) -> bytes:
    """The head as its row holds it, which no record's digest is: those are of a digest and a list, never of this word."""
    return hmac.digest(key, b"head %d " % number + digest, "sha256")


# Recording ----------------------------------------------------------------------------------------------------------------
#
# Records written to the tables of a ledger, and sums over them, inside a transaction of the caller.
#
# **Protected distances** of a dataset are part of the meaning of its budget, so they never become smaller. A loss of epsilon
# between ages at most 5 apart and one between ages at most a thousandth apart do not add up to a loss between anything that a
# person would ask about: between ages 5 apart the second is five thousand times as large. Therefore the first release of
# a column sets the distance that the dataset's total is about. A later release may protect more, which counts in full;
# one that protects less is refused.


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


# Integrity ----------------------------------------------------------------------------------------------------------------
#
# Whether a ledger is the one that was written: its pages, its chain of records and its accounts, checked before it is
# believed.
#
# An older ledger, which has no chain yet, is brought up to date in the transaction of the first thing that is recorded in it.


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


# Others -------------------------------------------------------------------------------------------------------------------
#
# One group of people under two names: which datasets a release is charged to, and the same data under another name.
#
# Two datasets with the same bytes are about the same people, so their releases must meet in one account. ``also`` charges
# a release to further datasets. An owner who knows that the people are different ones says why, and the ledger keeps
# the reason.


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
