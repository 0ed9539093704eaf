"""Witnesses: files outside of the ledger to which the head of its chain is added after every commit.

A ledger that was replaced by an older copy looks whole, because an older copy is whole. A witness holds a head that this copy
does not know. Each line is one record in JSON: which ledger (a keyed name, the same for all of its copies), how long its chain
was, its head, the time, and the charge, so that the charge can be made again where no newer copy is left. A line is
added after the commit and before anything is published, so a witness may be behind its ledger, and never ahead.

Nothing in a witness comes from the data. It names datasets, columns and privacy costs, so only its owner can read it.
"""

from __future__ import annotations

import errno
import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright._utils.inputs import read_input
from noisewright.exceptions import LedgerError
from noisewright.ledger.database import Database, Place
from noisewright.ledger.records import Charge, Protected, Terms, stored
from noisewright.ledger.transactions import keep_to, place_of, record_budget, record_release

__all__ = ["Lost", "Sighting", "Witness", "adopt", "charge_record", "default_witness", "lost_from", "witnesses"]


_log = logging.getLogger(__name__)

FORMAT = "noisewright-witness"
ROOM = 1 << 18
"""Bytes that must be free before a spend that a witness must record."""
TORN = " #torn"
"""The end of a line that a crash cut off."""


@dataclass(frozen=True)
class Sighting:
    """A head that a ledger had: the number of its record, its digest, when it was seen, and the charge with it."""

    number: int
    head: str
    time: str
    charged: Mapping[str, Any] | None = None


def default_witness() -> Path | None:
    """Return the witness of this user, in the folder for states of programs; None for a user without a home."""
    state = os.environ.get("XDG_STATE_HOME")
    try:
        folder = Path(state) if state and os.path.isabs(state) else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return folder / "noisewright" / "witness.jsonl"


def witnesses(named: str | os.PathLike[str] | None) -> tuple[Witness, ...]:
    """Return the witness of this user and the one that is named: all of them are asked, and all are given."""
    own = default_witness()
    found = [] if own is None else [Witness(own, needed=False)]
    return (*found, *([] if named is None else [Witness(Path(os.path.abspath(named)), needed=True)]))


class Witness:
    """One witness; ``needed``: nothing is spent where it cannot be written to."""

    def __init__(self, path: Path, *, needed: bool) -> None:
        self.path, self.needed = path, needed
        if "\0" in str(path):
            raise LedgerError(f"{str(path)!r} cannot be the name of a witness.")

    def seen(self, ledger: str) -> list[Sighting]:
        """Return the heads seen of a ledger; a last line that was cut off by a crash is passed over."""
        try:
            text = read_input(self.path).decode()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeError, ValueError) as problem:
            if not self.needed and isinstance(problem, OSError) and not os.path.lexists(self.path):
                return []
            raise self._problem("cannot be read", problem) from None
        found = []
        for line in text.split("\n")[:-1]:
            if not line or line.endswith(TORN):
                continue
            try:
                record = json.loads(line)
                if record["format"] != FORMAT:
                    raise ValueError
                if record["ledger"] == ledger:
                    charged = record.get("charged")
                    found.append(Sighting(int(record["record"]), str(record["head"]), str(record["time"]), charged))
            except (ValueError, LookupError, TypeError, RecursionError):
                way = (
                    "name another file, or restore this one"
                    if self.needed
                    else "restore it, or move it away, and then only the locks of releases tell an older copy of a ledger"
                )
                raise LedgerError(f"{self.path} is not a witness of ledgers, or is damaged; {way}.") from None
        return found

    def ready(self) -> None:
        """Make sure that it can be added to, if it is needed."""
        if not self.needed:
            return
        try:
            self._add(b"")
            if not self._has_room(self.path):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as problem:
            raise self._problem("cannot be written", problem) from None

    def hindered(self) -> str | None:
        """Return why it cannot be added to, without making anything; None if it can."""
        place = self.path
        while not os.path.lexists(place) and place != place.parent:
            place = place.parent
        if not ((place == self.path or place.is_dir()) and os.access(place, os.W_OK)):
            why = f"this user may not write to {place}"
        elif not self._has_room(place):
            why = f"the disk of {place} is full"
        else:
            return None
        return (
            f"no witness is kept, because {why}: an older copy of the ledger is only noticed by the locks of its releases; name "
            "a file to write to: --witness."
        )

    @staticmethod
    def _has_room(place: Path) -> bool:
        """Return whether a line fits on the disk; file systems that do not say count as having space."""
        try:
            found = os.statvfs(place)
        except (OSError, AttributeError):
            return True
        return not found.f_blocks or found.f_bavail * found.f_frsize >= ROOM

    def add(self, ledger: str, one: Sighting) -> None:
        """Add a sighting; it is on the disk when this returns. The record of the ledger stays there if that fails."""
        charged = {} if one.charged is None else {"charged": one.charged}
        line = {"format": FORMAT, "ledger": ledger, "record": one.number, "head": one.head, "time": one.time, **charged}
        try:
            self._add(f"{json.dumps(line)}\n".encode())
        except OSError as problem:
            if self.needed:
                raise self._problem(
                    "did not get to know what was recorded, which counts: it cannot be written", problem
                ) from None
            _log.warning("the witness %s cannot be written (%s), and is behind its ledger", self.path, problem.strerror)

    def _add(self, lines: bytes) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            if lines:
                if size and os.pread(descriptor, 1, size - 1) != b"\n":
                    lines = f"{TORN}\n".encode() + lines
                while lines:
                    lines = lines[os.write(descriptor, lines) :]
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _problem(self, what: str, problem: Exception) -> LedgerError:
        reason = getattr(problem, "strerror", None) or "it is not text"
        return LedgerError(
            f"the witness {self.path} {what} ({reason}); make that possible, or name another: --witness."
        )


# Adoption -----------------------------------------------------------------------------------------------------------------
#
# Charges that an older copy of a ledger has lost, recorded again: for an owner without a newer copy.
#
# A witness records each charge, and so does the lock of a release. The heads that were lost are recorded with the reason, so
# anyone who knows one of them (a witness, a lock) is answered by the record that adopted it.


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
