r"""The ledger: what was spent of a budget, remembered before anything is drawn and never forgotten.

A dataset has a budget: what all releases together may cost one unit. Losses add up under composition, so a release with parts
:math:`(\varepsilon_i, \delta_i)` is recorded as :math:`\sum \varepsilon_i, \sum \delta_i`, in exact fractions, if everything
recorded before plus this fits; otherwise it is refused whole. The record is on the disk when :meth:`Ledger.spend` returns. A
release that breaks off later stays recorded: some of it may have been drawn.

The budget has one meaning: between which tables, and how far apart values may be in each column
(:mod:`noisewright.releases.ledger._protection`).

Scope ``dataset``: every release counts for everybody. Scope ``unit``: it counts for the units that take part in it, so people
who come later have the whole budget. Units are remembered under a keyed hash, and nothing is said about any single one.

>>> import tempfile
>>> from fractions import Fraction
>>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.sqlite")
>>> _ = ledger.set_budget("clinic", epsilon=1, delta=0, scope="dataset", between="two tables that differ in one row")
>>> smoker = Charge("smoker", "column", Fraction(3, 4), guarantee="any two values")
>>> ledger.spend("clinic", [smoker], release_id="first", policy="").left_epsilon
Fraction(1, 4)
>>> ledger.spend("clinic", [smoker], release_id="second", policy="")
Traceback (most recent call last):
    ...
noisewright.core.errors.BudgetError: this release asks for epsilon 0.75, but only 0.25 of the budget of 1 for ...

Reference: Dwork and Roth, The Algorithmic Foundations of Differential Privacy, 2014, section 3.5 (composition).
"""

from __future__ import annotations

import hmac
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import cast

from noisewright.core.errors import BudgetError, LedgerError, NoLedgerError, ParameterError
from noisewright.core.exact import Exact
from noisewright.releases.ledger import _units as ledger_units
from noisewright.releases.ledger._checks import amount, check_name, check_text, checked, checked_terms, refusal
from noisewright.releases.ledger._file import create, default_path, opened, reading, trying, writing
from noisewright.releases.ledger._protection import keep_to, protections
from noisewright.releases.ledger.records import (
    Balance,
    BudgetEvent,
    BudgetScope,
    Charge,
    LedgerRecord,
    Protected,
    Spend,
    Terms,
    downward,
)

__all__ = [
    "NONCE_BYTES",
    "Balance",
    "BudgetEvent",
    "BudgetScope",
    "Charge",
    "Ledger",
    "LedgerRecord",
    "Protected",
    "Spend",
    "Terms",
    "default_path",
    "downward",
]

NONCE_BYTES = 32


class Ledger:
    """A ledger in one file, made with a secret key of its own if it is not there.

    Without a path it is the ledger of this user (``$NOISEWRIGHT_LEDGER``, or a file in the home folder). Every call opens the
    file anew and waits up to ``wait`` seconds for other processes, so an object may be shared by threads, forked and pickled.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, create_missing: bool = True, wait: float = 30.0
    ) -> None:
        self.wait = wait
        self.path = Path(os.path.abspath(default_path() if path is None else path))
        if "\0" in str(self.path):
            raise LedgerError(f"{str(path)!r} cannot be the name of a ledger.")
        if os.path.isdir(self.path):
            raise LedgerError(f"{self.path} is a folder, not a ledger; name a file.")
        if not os.path.lexists(self.path):
            if not create_missing:
                raise NoLedgerError(f"there is no ledger {self.path}; a release creates one.")
            create(self.path, _now(), with_folder=path is None)
        with opened(self.path, self.wait) as db:
            _key(db, self.path)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    # Budgets ---------------------------------------------------------------------------------------------------------

    def set_budget(
        self,
        dataset: str,
        epsilon: Exact,
        delta: Exact = 0,
        scope: BudgetScope = "dataset",
        *,
        between: str = "two tables that differ in one unit",
        raise_budget: bool = False,
    ) -> Balance:
        """Record what all releases of ``dataset`` may cost one unit; nothing happens if that is recorded already.

        A smaller budget is recorded. A larger one is refused unless ``raise_budget``, and then recorded with its time. The
        scope and the neighbours (``between``: who is a unit, and whether it is replaced or there at all) never change, because
        losses under different meanings do not add up.
        """
        check_name(dataset)
        terms = Terms(epsilon, delta, scope, between, raise_budget)
        amounts = checked_terms(terms)
        with opened(self.path, self.wait) as db, writing(db):
            return self._agree(db, dataset, terms, *amounts)

    def _agree(self, db: sqlite3.Connection, dataset: str, terms: Terms, epsilon: Fraction, delta: Fraction) -> Balance:
        """Budget and meaning as the terms say, inside the transaction of the caller."""
        found = db.execute("SELECT scope, neighbours FROM datasets WHERE name = ?", (dataset,)).fetchone()
        if found is None:
            found = (terms.scope, terms.between)
            db.execute("INSERT INTO datasets (name, scope, neighbours) VALUES (?, ?, ?)", (dataset, *found))
            _record_budget(db, dataset, "set", epsilon, delta)
        self._same_meaning(dataset, found[0], terms.scope, "scope")
        self._same_meaning(dataset, found[1], terms.between, "promise between")
        before = _balance(db, self.path, dataset)
        if epsilon > before.epsilon or delta > before.delta:
            if not terms.raise_budget:
                raise BudgetError(
                    f"the budget of {dataset!r} in {self.path} is {amount(before.epsilon, before.delta)}, and this policy "
                    f"says {amount(epsilon, delta)}; keep to it, or ask for it to be raised, which is recorded."
                )
            _record_budget(db, dataset, "raised", epsilon, delta)
        elif (epsilon, delta) != (before.epsilon, before.delta):
            _record_budget(db, dataset, "lowered", epsilon, delta)
        return _balance(db, self.path, dataset)

    def _same_meaning(self, dataset: str, recorded: str, given: str, what: str) -> None:
        if recorded != given:
            raise LedgerError(
                f"{self.path} keeps {dataset!r} with the {what} {recorded!r}, not {given!r}; keep to it, or use another dataset "
                "name with a budget of its own."
            )

    # Spends ----------------------------------------------------------------------------------------------------------

    def spend(
        self,
        dataset: str,
        items: Sequence[Charge],
        release_id: str,
        policy: str,
        units: Iterable[bytes] | None = None,
        *,
        terms: Terms | None = None,
    ) -> Spend:
        """Record a release if it fits the budget; it is on the disk when this returns. Draw only after that.

        ``policy`` is a digest of the policy. With scope ``unit``, ``units`` are the identifiers of those who take part, in
        any order; one that comes twice is charged once. ``terms``: the budget as :meth:`set_budget` takes it. All of it is
        recorded, budget, protected distances and prices, or nothing.
        """
        return self._spent(dataset, items, release_id, policy, units, terms, writing)

    def rehearse(
        self,
        dataset: str,
        items: Sequence[Charge],
        units: Iterable[bytes] | None = None,
        *,
        terms: Terms | None = None,
    ) -> Spend:
        """What :meth:`spend` would answer now: the same questions in the same transaction, which is then undone."""
        return self._spent(dataset, items, f"rehearsal-{secrets.token_hex(16)}", "", units, terms, trying)

    def _spent(
        self,
        dataset: str,
        items: Sequence[Charge],
        release_id: str,
        policy: str,
        units: Iterable[bytes] | None,
        terms: Terms | None,
        transaction: Callable[[sqlite3.Connection], AbstractContextManager[None]],
    ) -> Spend:
        check_name(dataset)
        check_text(release_id, "the name of a release")
        if not items:
            raise ParameterError("a release without parts cannot be recorded; name its columns and answers.")
        items = [checked(item) for item in items]
        epsilon, delta = sum((i.epsilon for i in items), Fraction(0)), sum((i.delta for i in items), Fraction(0))
        amounts = None if terms is None else checked_terms(terms)
        time = _now()
        with opened(self.path, self.wait) as db:
            scope = _balance(db, self.path, dataset).scope if terms is None else terms.scope
            if (scope == "unit") != (units is not None):
                raise ParameterError(
                    f"units are named for datasets with the scope unit and for no others; see {dataset!r}."
                )
            if units is not None:  # the slow part comes before the lock that others wait for
                ledger_units.gather(db, _derived(_key(db, self.path), "unit", dataset), units)
            with transaction(db):
                if terms is not None and amounts is not None:
                    self._agree(db, dataset, terms, *amounts)
                balance = _balance(db, self.path, dataset)
                if units is None and (epsilon > balance.left_epsilon or delta > balance.left_delta):
                    raise BudgetError(refusal(balance, epsilon, delta))
                if db.execute("SELECT 1 FROM releases WHERE name = ?", (release_id,)).fetchone():
                    raise LedgerError(
                        f"{self.path} has a release called {release_id!r} already; give this one another name."
                    )
                number, place = _record(db, dataset, items, release_id, policy, time)
                for item in items:
                    if item.protected is not None and (item.epsilon or item.delta):
                        keep_to(db, self.path, dataset, place, number, item.protected)
                if units is not None and not ledger_units.charge(
                    db, place, number, (epsilon, delta), (balance.epsilon, balance.delta)
                ):
                    raise BudgetError(
                        f"this release asks for {amount(epsilon, delta)} from every unit, and at least one unit of {dataset!r} "
                        f"has not that much left of its {amount(balance.epsilon, balance.delta)}; ask for less."
                    )
                after = _balance(db, self.path, dataset)
        return Spend(release_id, dataset, time, epsilon, delta, after.left_epsilon, after.left_delta)

    def finish(self, release_id: str, output: str) -> None:
        """Note that the output of a release (``output``: its digest) is complete. What was spent stays spent either way."""
        with opened(self.path, self.wait) as db, writing(db):
            found = db.execute("SELECT state, output FROM releases WHERE name = ?", (release_id,)).fetchone()
            if found is None:
                raise LedgerError(f"{self.path} has no release called {release_id!r}; spend before finishing.")
            if found[0] == "finished":
                if found[1] != output:
                    raise LedgerError(f"release {release_id!r} is finished already, with another output.")
                return
            db.execute(
                "UPDATE releases SET state = 'finished', finished = ?, output = ? WHERE name = ?",
                (_now(), output, release_id),
            )

    # What it knows ---------------------------------------------------------------------------------------------------

    def datasets(self) -> list[str]:
        """The names of all datasets, in the order in which they came."""
        with opened(self.path, self.wait) as db:
            return [name for (name,) in db.execute("SELECT name FROM datasets ORDER BY number")]

    def remaining(self, dataset: str) -> Balance:
        """Budget, spent and left."""
        with opened(self.path, self.wait) as db, reading(db):
            return _balance(db, self.path, dataset)

    def history(self, dataset: str) -> list[BudgetEvent]:
        """Every budget that the dataset ever had."""
        with opened(self.path, self.wait) as db, reading(db):
            _balance(db, self.path, dataset)
            rows = db.execute(
                "SELECT b.time, b.event, b.epsilon, b.delta FROM budgets b JOIN datasets d ON d.number = b.dataset "
                "WHERE d.name = ? ORDER BY b.number",
                (dataset,),
            )
            return [BudgetEvent(time, event, Fraction(e), Fraction(d)) for time, event, e, d in rows]

    def entries(self, dataset: str) -> list[LedgerRecord]:
        """Every part of every release, oldest first."""
        with opened(self.path, self.wait) as db, reading(db):
            _balance(db, self.path, dataset)
            rows = db.execute(
                "SELECT r.time, d.name, r.name, r.state, r.finished, c.name, c.kind, c.epsilon, c.delta, c.guarantee, "
                "r.policy, r.output FROM charges c JOIN releases r ON r.number = c.release "
                "JOIN datasets d ON d.number = r.dataset WHERE d.name = ? ORDER BY c.number",
                (dataset,),
            )
            return [
                LedgerRecord(
                    time, name, release, state, finished, part, kind, Fraction(e), Fraction(d), words, policy, output
                )
                for time, name, release, state, finished, part, kind, e, d, words, policy, output in rows
            ]

    def protections(self, dataset: str) -> list[Protected]:
        """How far apart the values are that the budget is about, for each column, as its first release had it."""
        with opened(self.path, self.wait) as db, reading(db):
            _balance(db, self.path, dataset)
            number = db.execute("SELECT number FROM datasets WHERE name = ?", (dataset,)).fetchone()[0]
            return protections(db, number)

    # Its key ---------------------------------------------------------------------------------------------------------

    def fingerprint(self, content: bytes | Iterable[bytes], nonce: bytes) -> str:
        """A keyed hash (HMAC-SHA256) of data that only this ledger can compute; a plain hash would confirm guesses.

        With a fresh ``nonce`` of 32 bytes for each release, two published fingerprints do not tell whether the data are the same.
        """
        if len(nonce) != NONCE_BYTES:
            raise ParameterError(f"a nonce has {NONCE_BYTES} bytes.")
        found = self._hash("data")
        found.update(nonce)
        for part in (content,) if isinstance(content, bytes) else content:
            found.update(part)
        return found.hexdigest()

    def seal(self, content: bytes) -> str:
        """A message authentication code (HMAC-SHA256): nobody without this ledger can make it for other content."""
        found = self._hash("lock")
        found.update(content)
        return found.hexdigest()

    def _hash(self, purpose: str) -> hmac.HMAC:
        with opened(self.path, self.wait) as db:
            return hmac.new(_derived(_key(db, self.path), purpose), digestmod="sha256")


# Inside a connection -------------------------------------------------------------------------------------------------


def _balance(db: sqlite3.Connection, path: Path, dataset: str) -> Balance:
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


def _record(
    db: sqlite3.Connection, dataset: str, items: Sequence[Charge], release_id: str, policy: str, time: str
) -> tuple[int, int]:
    """The numbers of the new release and of its dataset."""
    place = db.execute("SELECT number FROM datasets WHERE name = ?", (dataset,)).fetchone()[0]
    number = db.execute(
        "INSERT INTO releases (name, dataset, time, policy, state) VALUES (?, ?, ?, ?, 'started')",
        (release_id, place, time, policy),
    ).lastrowid
    db.executemany(
        "INSERT INTO charges (release, name, kind, epsilon, delta, guarantee) VALUES (?, ?, ?, ?, ?, ?)",
        [(number, i.name, i.kind, str(i.epsilon), str(i.delta), i.guarantee) for i in items],
    )
    return cast(int, number), place


def _record_budget(db: sqlite3.Connection, dataset: str, event: str, epsilon: Fraction, delta: Fraction) -> None:
    db.execute(
        "INSERT INTO budgets (dataset, time, event, epsilon, delta) SELECT number, ?, ?, ?, ? FROM datasets WHERE name = ?",
        (_now(), event, str(epsilon), str(delta), dataset),
    )


def _key(db: sqlite3.Connection, path: Path) -> bytes:
    found = db.execute("SELECT key FROM secret").fetchone()
    if found is None:
        raise LedgerError(f"{path} is damaged: its key is missing; restore it from a backup.")
    return cast(bytes, found[0])


def _derived(key: bytes, *purpose: str) -> bytes:
    """A key for one purpose alone, so that a hash made for one says nothing about a hash made for another."""
    return hmac.digest(key, "\0".join(("noisewright", *purpose)).encode(), "sha256")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
