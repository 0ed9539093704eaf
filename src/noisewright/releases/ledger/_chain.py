r"""The chain of a ledger: every record holds a keyed digest of its statements and of everything that came before it.

With the ledger's key :math:`k`, records :math:`r_1, r_2, \ldots` and the digest of the beginning :math:`h_0`, it is
:math:`h_i = \mathrm{HMAC}_k(h_{i-1}, r_i)`. No one without the key can change, leave out, exchange or add a record and find
the digests that fit. What the chain cannot show by itself is that its end is missing, so its head :math:`h_n` is kept
apart: in a row of its own, as a keyed digest of ``n`` and :math:`h_n` that is found nowhere on the chain and cannot be
set back to an earlier record without the key; in every :class:`~noisewright.releases.ledger.ledger.Ledger` that has
read it; and in the lock of every release.

A digest says nothing to anyone who has not the key, so a lock may be published. Other keys are made of the ledger's,
one for each purpose.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from typing import cast

from noisewright.core.errors import LedgerError
from noisewright.releases.ledger.homes.database import Database, Place
from noisewright.releases.ledger.homes.schema import CHAINED

__all__ = ["Head", "begin", "damaged", "derived", "extend", "key_of", "lost", "place_of", "walk"]


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
