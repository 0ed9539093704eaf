r"""The ledger: what was spent of a budget, remembered before anything is drawn and never forgotten.

A dataset has a budget: what all releases together may cost one unit. Losses add up under composition, so a release with parts
:math:`(\varepsilon_i, \delta_i)` is recorded as :math:`\sum \varepsilon_i, \sum \delta_i`, in exact fractions, if everything
recorded before plus this fits; otherwise it is refused whole. The record is on the disk when :meth:`Ledger.spend` returns. A
release that breaks off later stays recorded: some of it may have been drawn.

The budget has one meaning: between which tables, and how far apart values may be in each column
(:mod:`noisewright.releases.ledger._recording`).

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
import logging
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from noisewright.claims import phrases
from noisewright.core.errors import BudgetError, LedgerError, NoLedgerError, ParameterError
from noisewright.core.exact import Exact
from noisewright.releases.ledger import _units as ledger_units
from noisewright.releases.ledger._chain import derived, key_of, lost, place_of
from noisewright.releases.ledger._checks import amount, check_name, check_text, checked, checked_terms, refusal
from noisewright.releases.ledger._file import create, default_path, opened, reading, trying, writing
from noisewright.releases.ledger._integrity import (
    begin_chain,
    check_accounts,
    check_all,
    check_records,
    extend_chain,
    up_to_date,
)
from noisewright.releases.ledger._lookalikes import alike
from noisewright.releases.ledger._neighbours import sentence, stored
from noisewright.releases.ledger._recording import (
    balance_of,
    input_digest,
    keep_to,
    protections,
    record_budget,
    record_input,
    record_release,
)
from noisewright.releases.ledger.records import (
    Balance,
    BudgetEvent,
    BudgetScope,
    Charge,
    Checked,
    Earlier,
    Input,
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
    "Earlier",
    "Input",
    "Ledger",
    "LedgerRecord",
    "Protected",
    "Spend",
    "Terms",
    "default_path",
    "downward",
]

_log = logging.getLogger(__name__)

NONCE_BYTES = 32
Transaction = Callable[[sqlite3.Connection], AbstractContextManager[None]]


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
        _log.debug("opening the ledger %s", self.path)
        if "\0" in str(self.path):
            raise LedgerError(f"{str(path)!r} cannot be the name of a ledger.")
        if os.path.isdir(self.path):
            raise LedgerError(f"{self.path} is a folder, not a ledger; name a file.")
        if not os.path.lexists(self.path):
            if not create_missing:
                raise NoLedgerError(f"there is no ledger {self.path}; a release creates one.")
            create(self.path, _now(), lambda db: begin_chain(db, self.path), with_folder=path is None)
        with opened(self.path, self.wait) as db, reading(db):
            self._seen = check_all(db, self.path)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Questions to one state of the ledger, whose new records are checked first."""
        with opened(self.path, self.wait) as db, reading(db):
            self._seen = check_records(db, self.path, self._seen)
            yield db

    @contextmanager
    def _writing(self, db: sqlite3.Connection, transaction: Transaction) -> Iterator[None]:
        """One transaction; what it records is added to the chain at its end, and so is what an older ledger holds."""
        with transaction(db):
            head = up_to_date(db, self.path, self._seen)
            yield
            head = extend_chain(db, self.path, head)
        if transaction is writing:
            self._seen = head

    # Budgets ---------------------------------------------------------------------------------------------------------

    def set_budget(
        self,
        dataset: str,
        epsilon: Exact,
        delta: Exact = 0,
        scope: BudgetScope = "dataset",
        *,
        between: str | Mapping[str, Any] = phrases.ONE_UNIT,
        raise_budget: bool = False,
    ) -> Balance:
        """Record what all releases of ``dataset`` may cost one unit; nothing happens if that is recorded already.

        A smaller budget is recorded. A larger one is refused unless ``raise_budget``, and then recorded with its time. The
        scope and the neighbours (``between``: a record, as a certificate has it, or a description in free words) never change,
        because losses under different meanings do not add up.
        """
        check_name(dataset)
        terms = Terms(epsilon, delta, scope, between, raise_budget)
        amounts = checked_terms(terms)
        with opened(self.path, self.wait) as db, self._writing(db, writing):
            return self._agree(db, dataset, terms, *amounts)

    def _agree(self, db: sqlite3.Connection, dataset: str, terms: Terms, epsilon: Fraction, delta: Fraction) -> Balance:
        """Budget and meaning as the terms say, inside the transaction of the caller."""
        found = db.execute("SELECT scope, neighbours FROM datasets WHERE name = ?", (dataset,)).fetchone()
        if found is None:
            for (other,) in db.execute("SELECT name FROM datasets ORDER BY number"):
                if alike(dataset, other):
                    raise LedgerError(
                        f"{dataset!a} looks like {other!a}, a dataset that {self.path} has already; write {other!a} if it is "
                        "that one, or a name that nobody can take for it."
                    )
            found = (terms.scope, stored(terms.between))
            db.execute("INSERT INTO datasets (name, scope, neighbours) VALUES (?, ?, ?)", (dataset, *found))
            record_budget(db, dataset, "set", epsilon, delta, _now())
        if found[0] != terms.scope:
            raise self._other_meaning(dataset, "scope", found[0], terms.scope)
        recorded, asked = sentence(found[1]), sentence(stored(terms.between))
        if recorded != asked:
            raise self._other_meaning(dataset, "promise between", recorded, asked)
        before = balance_of(db, self.path, dataset)
        if epsilon > before.epsilon or delta > before.delta:
            if not terms.raise_budget:
                raise BudgetError(
                    f"the budget of {dataset!r} in {self.path} is {amount(before.epsilon, before.delta)}, and this policy "
                    f"says {amount(epsilon, delta)}; keep to it, or raise it, which is recorded: raise_budget=True, "
                    "--raise-budget."
                )
            record_budget(db, dataset, "raised", epsilon, delta, _now())
        elif (epsilon, delta) != (before.epsilon, before.delta):
            record_budget(db, dataset, "lowered", epsilon, delta, _now())
        return balance_of(db, self.path, dataset)

    def _other_meaning(self, dataset: str, what: str, recorded: str, given: str) -> LedgerError:
        return LedgerError(
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
        made_of: Input | None = None,
    ) -> Spend:
        """Record a release if it fits the budget; it is on the disk when this returns. Draw only after that.

        ``policy`` is a digest of the policy. With scope ``unit``, ``units`` are the identifiers of those who take part, in
        any order; one that comes twice is charged once. ``terms``: the budget as :meth:`set_budget` takes it. ``made_of``: the
        data, by which :meth:`made_before` knows them again. All of it is recorded, budget, protected distances and prices, or
        nothing.
        """
        return self._spent(dataset, items, release_id, policy, units, terms, writing, made_of)

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
        transaction: Transaction,
        made_of: Input | None = None,
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
            scope = balance_of(db, self.path, dataset).scope if terms is None else terms.scope
            if (scope == "unit") != (units is not None):
                raise ParameterError(
                    f"units are named for datasets with the scope unit and for no others; see {dataset!r}."
                )
            if units is not None:  # the slow part comes before the lock that others wait for
                check_accounts(db, self.path)
                ledger_units.gather(db, derived(key_of(db, self.path), "unit", dataset), units)
            with self._writing(db, transaction):
                if terms is not None and amounts is not None:
                    self._agree(db, dataset, terms, *amounts)
                balance = balance_of(db, self.path, dataset)
                if units is None and (epsilon > balance.left_epsilon or delta > balance.left_delta):
                    raise BudgetError(refusal(balance, epsilon, delta))
                if db.execute("SELECT 1 FROM releases WHERE name = ?", (release_id,)).fetchone():
                    raise LedgerError(
                        f"{self.path} has a release called {release_id!r} already; give this one another name."
                    )
                number, place = record_release(db, dataset, items, release_id, policy, time)
                if made_of is not None:
                    digest = input_digest(key_of(db, self.path), policy, made_of.content)
                    record_input(db, number, digest, made_of.place)
                for item in items:
                    if item.protected is not None and (item.epsilon or item.delta):
                        keep_to(db, self.path, dataset, place, number, item.protected)
                own = derived(key_of(db, self.path), "accounts")
                if units is not None and not ledger_units.charge(
                    db, own, place, number, (epsilon, delta), (balance.epsilon, balance.delta)
                ):
                    raise BudgetError(
                        f"this release asks for {amount(epsilon, delta)} from every unit, and at least one unit of {dataset!r} "
                        f"has not that much left of its {amount(balance.epsilon, balance.delta)}; ask for less."
                    )
                after = balance_of(db, self.path, dataset)
        return Spend(release_id, dataset, time, epsilon, delta, after.left_epsilon, after.left_delta)

    def finish(self, release_id: str, output: str) -> None:
        """Note that the output of a release (``output``: its digest) is complete. What was spent stays spent either way."""
        with opened(self.path, self.wait) as db, self._writing(db, writing):
            found = db.execute(
                "SELECT r.number, f.output FROM releases r LEFT JOIN finishes f ON f.release = r.number WHERE r.name = ?",
                (release_id,),
            ).fetchone()
            if found is None:
                raise LedgerError(f"{self.path} has no release called {release_id!r}; spend before finishing.")
            if found[1] is not None:
                if found[1] != output:
                    raise LedgerError(f"release {release_id!r} is finished already, with another output.")
                return
            db.execute("INSERT INTO finishes (release, time, output) VALUES (?, ?, ?)", (found[0], _now(), output))

    def is_finished(self, release_id: str) -> bool | None:
        """Whether a release was finished; None if there is no record of it."""
        with self._reading() as db:
            found = db.execute(
                "SELECT f.release IS NOT NULL FROM releases r LEFT JOIN finishes f ON f.release = r.number WHERE r.name = ?",
                (release_id,),
            ).fetchone()
        return None if found is None else bool(found[0])

    def made_before(self, policy: str, content: bytes) -> list[Earlier]:
        """The finished releases of data with this SHA-256 under the policy with this digest, the latest first."""
        with self._reading() as db:
            digest = input_digest(key_of(db, self.path), policy, content)
            rows = db.execute(
                "SELECT r.name, r.time, i.place FROM inputs i JOIN releases r ON r.number = i.release "
                "JOIN finishes f ON f.release = r.number WHERE i.digest = ? ORDER BY r.number DESC",
                (digest,),
            )
            return [Earlier(*row) for row in rows]

    def made_under(self, policy: str) -> list[Earlier]:
        """The finished releases under the policy with this digest, of whatever data it would know again, the latest first."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT r.name, r.time, i.place FROM inputs i JOIN releases r ON r.number = i.release "
                "JOIN finishes f ON f.release = r.number WHERE r.policy = ? ORDER BY r.number DESC",
                (policy,),
            )
            return [Earlier(*row) for row in rows]

    # What it knows ---------------------------------------------------------------------------------------------------

    def datasets(self) -> list[str]:
        """The names of all datasets, in the order in which they came."""
        with self._reading() as db:
            return [name for (name,) in db.execute("SELECT name FROM datasets ORDER BY number")]

    def remaining(self, dataset: str) -> Balance:
        """Budget, spent and left."""
        with self._reading() as db:
            return balance_of(db, self.path, dataset)

    def history(self, dataset: str) -> list[BudgetEvent]:
        """Every budget that the dataset ever had."""
        with self._reading() as db:
            balance_of(db, self.path, dataset)
            rows = db.execute(
                "SELECT b.time, b.event, b.epsilon, b.delta FROM budgets b JOIN datasets d ON d.number = b.dataset "
                "WHERE d.name = ? ORDER BY b.number",
                (dataset,),
            )
            return [BudgetEvent(time, event, Fraction(e), Fraction(d)) for time, event, e, d in rows]

    def entries(self, dataset: str) -> list[LedgerRecord]:
        """Every part of every release, oldest first."""
        with self._reading() as db:
            balance_of(db, self.path, dataset)
            rows = db.execute(
                "SELECT r.time, d.name, r.name, iif(f.release IS NULL, 'started', 'finished'), f.time, c.name, c.kind, "
                "c.epsilon, c.delta, c.guarantee, r.policy, f.output FROM charges c JOIN releases r ON r.number = c.release "
                "JOIN datasets d ON d.number = r.dataset LEFT JOIN finishes f ON f.release = r.number "
                "WHERE d.name = ? ORDER BY c.number",
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
        with self._reading() as db:
            balance_of(db, self.path, dataset)
            number = db.execute("SELECT number FROM datasets WHERE name = ?", (dataset,)).fetchone()[0]
            return protections(db, number)

    # Whether it is whole ---------------------------------------------------------------------------------------------

    def check(self) -> Checked:
        """Check every page, every record and every account; :class:`LedgerError` if something is not as it was written."""
        with opened(self.path, self.wait) as db, reading(db):
            check_records(db, self.path, self._seen)
            self._seen = check_all(db, self.path, every_account=True)
            counts = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("releases", "units")]
        return Checked(None if self._seen is None else self._seen.number, self._head(), *counts)

    def head(self) -> str:
        """The digest of the last record, which locks keep: a copy of the ledger from before does not hold it.

        Empty for a ledger of an earlier version in which nothing was recorded since.
        """
        with self._reading():
            return self._head()

    def _head(self) -> str:
        return "" if self._seen is None else self._seen.digest.hex()

    def check_holds(self, head: str) -> int:
        """The number of the record whose digest a lock keeps; :class:`LedgerError` if the ledger has lost it."""
        with self._reading() as db:
            found = None if self._seen is None else place_of(db, head)
        if found is None:
            raise lost(self.path)
        return found

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
            return hmac.new(derived(key_of(db, self.path), purpose), digestmod="sha256")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
