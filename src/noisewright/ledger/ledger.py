r"""Ledger of the spends of a budget, recorded before anything is sampled and never forgotten.

A dataset has a budget: what all releases together may cost one unit. Losses add up under composition, so a release with parts
:math:`(\varepsilon_i, \delta_i)` is recorded as :math:`\sum \varepsilon_i, \sum \delta_i`, in exact fractions, if everything
recorded before plus this fits; otherwise it is refused whole. The record is on the disk when :meth:`Ledger.spend` returns. A
release that breaks off later stays recorded: some of it may have been drawn.

The budget has one meaning: between which tables, and how far apart values may be in each column
(:mod:`noisewright.ledger.transactions`).

Scope ``dataset``: every release counts for everyone. Scope ``unit``: it counts for the units that take part in it, so people
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
noisewright.exceptions.BudgetError: this release asks for epsilon 0.75, but only 0.25 of the budget of 1 for ...

Reference: Dwork and Roth, The Algorithmic Foundations of Differential Privacy, 2014, section 3.5 (composition).
"""

from __future__ import annotations

import hmac
import logging
import os
import random
import secrets
import time as clock
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, TypeVar

from noisewright.claims import phrases
from noisewright.exceptions import BudgetError, LedgerError, NoLedgerError, ParameterError
from noisewright.ledger import records as ledger_units
from noisewright.ledger.database import (
    ConflictError,
    Database,
    Place,
    UncertainError,
    default_path,
    has_chain,
    reading,
    trying,
    writing,
)
from noisewright.ledger.records import (
    Apart,
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
    amount,
    check_name,
    check_text,
    checked,
    checked_terms,
    downward,
    refusal,
    sentence,
    stored,
)
from noisewright.ledger.sqlite import alike, store_of
from noisewright.ledger.transactions import (
    CHARGED,
    OTHER_PEOPLE,
    Head,
    accounts_of,
    balance_of,
    begin_ledger,
    check_accounts,
    check_all,
    check_alone,
    check_records,
    derived,
    extend_chain,
    input_digest,
    keep_to,
    key_of,
    lost,
    place_of,
    protections,
    record_budget,
    record_input,
    record_others,
    record_release,
    said_apart,
    up_to_date,
)
from noisewright.ledger.witness import (
    Lost,
    Sighting,
    Witness,
    adopt,
    charge_record,
    default_witness,
    lost_from,
    witnesses,
)
from noisewright.numerics.exact import Exact

__all__ = [
    "NONCE_BYTES",
    "Apart",
    "Balance",
    "BudgetEvent",
    "BudgetScope",
    "Charge",
    "Earlier",
    "Input",
    "Ledger",
    "LedgerRecord",
    "Lost",
    "Protected",
    "Spend",
    "Terms",
    "default_path",
    "default_witness",
    "downward",
]


_log = logging.getLogger(__name__)

NONCE_BYTES = 32
Transaction = Callable[[Database], AbstractContextManager[None]]
TRIES, PAUSE = 20, 0.05
"""Maximum number of attempts at one transaction, and of seconds before the second attempt."""
STAMP = "%Y-%m-%dT%H:%M:%SZ"
SKEW = timedelta(minutes=1)
"""Difference between the clocks of two machines that is not worth a warning."""
Result = TypeVar("Result")


class Ledger:
    """A ledger in one file or in a PostgreSQL database, made with a secret key of its own if it is not there.

    ``path``: a file, or ``postgresql://USER@HOST/DATABASE``. Without one it is the ledger of this user
    (``$NOISEWRIGHT_LEDGER``, or a file in the home folder). Every call opens it again and waits up to ``wait`` seconds
    for other processes, so an object may be shared by threads, forked and pickled. ``witness``: a file that keeps the
    heads of the chain in addition to this user's (:mod:`noisewright.ledger.witness`).
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        create_missing: bool = True,
        wait: float = 30.0,
        witness: str | os.PathLike[str] | None = None,
    ) -> None:
        self.wait = wait
        self._store = store_of(path)
        self.path: Place = self._store.place
        self.witnesses: tuple[Witness, ...] = witnesses(witness)
        _log.debug("opening the ledger %s", self.path)
        if not self._store.exists():
            if not create_missing:
                raise NoLedgerError(f"there is no ledger {self.path}; a release creates one.")
            self._store.create(lambda db: begin_ledger(db, self.path, _now()), with_folder=path is None)
        with self.opened() as db, reading(db):
            self._seen = check_all(db, self.path)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def opened(self) -> AbstractContextManager[Database]:
        """Open a connection for one call."""
        return self._store.opened(self.wait)

    def turn(self, name: str, busy: Callable[[], None]) -> AbstractContextManager[None]:
        """Wait until no other process has the turn of this name with this ledger."""
        return self._store.turn(name, busy, with_folder=False)

    @contextmanager
    def _reading(self) -> Iterator[Database]:
        """Questions to one state of the ledger, whose new records are checked first."""
        with self.opened() as db, reading(db):
            self._seen = check_records(db, self.path, self._seen)
            yield db

    def _write(
        self,
        db: Database,
        body: Callable[[], Result],
        transaction: Transaction = writing,
        charged: Callable[[], Mapping[str, Any]] | None = None,
        adopting: bool = False,
    ) -> Result:
        """Run one transaction, again if others get in its way; its records are added to the chain, then to the witnesses.

        The content of an older ledger is added to the chain first. ``charged``: the witness's record of a spend.
        ``adopting``: it may go on although a witness knows better.
        """
        for left in reversed(range(TRIES)):
            try:
                with transaction(db):
                    head = up_to_date(db, self.path, self._seen)
                    if not adopting:
                        self._check_witnesses(db)
                    result = body()
                    before, head = head, extend_chain(db, self.path, head)
                    told = None if charged is None else charged()
                    identity = _identity(db, self.path)
                    if transaction is writing:
                        for witness in self.witnesses:
                            witness.ready()
                break
            except UncertainError:
                self._check_recorded(head)
                break
            except ConflictError:
                if not left:
                    raise LedgerError(
                        f"{self.path} was written by others {TRIES} times in a row; try again when they have ended."
                    ) from None
                clock.sleep(random.uniform(0, PAUSE) * (TRIES - left))
        if transaction is writing:
            self._seen = head
            if head != before:
                for witness in self.witnesses:
                    witness.add(identity, Sighting(head.number, head.digest.hex(), _now(), told))
        return result

    def _check_recorded(self, head: Head) -> None:
        """Refuse a transaction whose commit was not answered, unless the chain holds its record."""
        try:
            with self.opened() as db, trying(db):  # which waits until the commit has ended
                recorded = place_of(db, head.digest.hex()) is not None
        except LedgerError as problem:
            raise LedgerError(
                f"the connection to {self.path} was lost while something was recorded, so it may be there, and then counts. "
                f"Look with noisewright ledger show before you try again: {problem}"
            ) from None
        if not recorded:
            raise LedgerError(
                f"the connection to {self.path} was lost before anything was recorded, so nothing was spent; try again."
            )

    # Witnesses -------------------------------------------------------------------------------------------------------

    def _check_witnesses(self, db: Database) -> None:
        """Refuse a ledger of which a witness has seen a later head."""
        for witness, one in self._unknown(db):
            raise lost(self.path, f"{witness.path} has seen record {one.number} of it at {one.time}")

    def _unknown(self, db: Database) -> Iterator[tuple[Witness, Sighting]]:
        """Yield heads that the witnesses have seen and the chain does not hold; a head on the chain vouches for all
        before it.
        """
        identity, chained = _identity(db, self.path), has_chain(db)
        for witness in self.witnesses:
            late = []
            for one in sorted(witness.seen(identity), key=lambda one: -one.number):
                if chained and place_of(db, one.head) is not None:
                    break
                late.append((witness, one))
            yield from reversed(late)

    def check_witnesses(self) -> int:
        """Refuse a ledger of which a witness has seen a later head; the number of heads that the witnesses have of it."""
        with self.opened() as db, trying(db):  # no one commits while the witnesses are read
            self._check_witnesses(db)
            identity = _identity(db, self.path)
            return sum(len(witness.seen(identity)) for witness in self.witnesses)

    def forgotten(self) -> list[Lost]:
        """Return heads of this ledger that the witnesses have seen and the ledger does not hold."""
        with self.opened() as db, trying(db):
            return [lost_from(one) for one in {one.head: one for _, one in self._unknown(db)}.values()]

    def cautions(self) -> list[str]:
        """Return warnings before a spend: no witness knows this ledger, a clock goes back, a witness cannot be kept."""
        with self._reading() as db:
            recorded = db.execute("SELECT max(time) FROM releases").fetchone()[0] or ""
            seen = [one.time for witness in self.witnesses for one in witness.seen(_identity(db, self.path))]
        last, said = max(recorded, *seen, ""), []
        if recorded and not seen:
            said.append(
                f"no witness has seen {self.path} before, so only the locks of releases would tell an older copy of it from the "
                "latest one. That is so on a new machine or for a new user; otherwise a witness was lost: look at the last "
                "releases with noisewright ledger show."
            )
        now = datetime.now(UTC)
        if last > (now + SKEW).strftime(STAMP):
            said.append(
                f"the clock of this machine says {now:{STAMP}}, which is before the last record of {self.path} ({last}): "
                "records would be in no order of time; set the clock."
            )
        return said + [why for witness in self.witnesses if not witness.needed and (why := witness.hindered())]

    def adopt(self, lost: Sequence[Lost], reason: str) -> int:
        """Charge what an older copy has forgotten, and record the heads that it lost; the number of releases charged.

        For an owner without a newer copy: the charge may go beyond the budget, and is not given back.
        """
        check_text(reason, "the reason")
        with self.opened() as db:
            return self._write(db, lambda: adopt(db, self.path, lost, reason, _now()), adopting=True)

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
        with self.opened() as db:
            return self._write(db, lambda: self._agree(db, dataset, terms, *amounts))

    def _agree(self, db: Database, dataset: str, terms: Terms, epsilon: Fraction, delta: Fraction) -> Balance:
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
            f"{self.path} keeps {dataset!r} with the {what} {recorded!r}, not {given!r}; keep to it. {OTHER_PEOPLE}"
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
        any order; one that comes twice is charged once. ``terms``: the budget as :meth:`set_budget` takes it, and which other
        datasets are charged also. ``made_of``: the data, by which :meth:`made_before` knows them again, and which are
        refused if another dataset was charged for them. All of it is recorded, budget, protected distances and privacy
        costs, or nothing.
        """
        return self._spent(dataset, items, release_id, policy, units, terms, writing, made_of)

    def rehearse(
        self,
        dataset: str,
        items: Sequence[Charge],
        units: Iterable[bytes] | None = None,
        *,
        terms: Terms | None = None,
        made_of: Input | None = None,
    ) -> Spend:
        """Return the answer that :meth:`spend` would give now: the same questions in the same transaction, which is
        then undone.
        """
        return self._spent(dataset, items, f"rehearsal-{secrets.token_hex(16)}", "", units, terms, trying, made_of)

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
        if made_of is not None and made_of.apart:
            check_text(made_of.apart, "the reason in separate_people")
        if not items:
            raise ParameterError("a release without parts cannot be recorded; name its columns and answers.")
        items = [checked(item) for item in items]
        price = sum((i.epsilon for i in items), Fraction(0)), sum((i.delta for i in items), Fraction(0))
        amounts = None if terms is None else checked_terms(terms)
        also = () if terms is None else terms.also
        time = _now()
        with self.opened() as db:
            scope = balance_of(db, self.path, dataset).scope if terms is None else terms.scope
            if (scope == "unit") != (units is not None):
                raise ParameterError(
                    f"units are named for datasets with the scope unit and for no others; see {dataset!r}."
                )
            if units is not None:  # the slow part comes before the lock that others wait for
                check_accounts(db, self.path)
                ledger_units.gather(db, derived(key_of(db, self.path), "unit", dataset), units)

            def body() -> Balance:
                if terms is not None and amounts is not None:
                    self._agree(db, dataset, terms, *amounts)
                balance = balance_of(db, self.path, dataset)
                others = accounts_of(db, self.path, balance, also)
                if made_of is not None:
                    check_alone(db, self.path, dataset, also, made_of)
                if units is None:
                    for one in (balance, *others):
                        if price[0] > one.left_epsilon or price[1] > one.left_delta:
                            raise BudgetError(refusal(one, *price))
                if db.execute("SELECT 1 FROM releases WHERE name = ?", (release_id,)).fetchone():
                    raise LedgerError(
                        f"{self.path} has a release called {release_id!r} already; give this one another name."
                    )
                number, place = record_release(db, dataset, items, release_id, policy, time)
                if made_of is not None and made_of.content:
                    digest = input_digest(key_of(db, self.path), policy, made_of.content)
                    record_input(db, number, digest, made_of.place)
                record_others(db, self.path, number, dataset, also, made_of)
                for account in (dataset, *also):
                    (at,) = db.execute("SELECT number FROM datasets WHERE name = ?", (account,)).fetchone()
                    for item in items:
                        if item.protected is not None and (item.epsilon or item.delta):
                            keep_to(db, self.path, account, at, number, item.protected)
                own = derived(key_of(db, self.path), "accounts")
                budget = (balance.epsilon, balance.delta)
                if units is not None and not ledger_units.charge(db, own, place, number, price, budget):
                    raise BudgetError(
                        f"this release asks for {amount(*price)} from every unit, and at least one unit of {dataset!r} "
                        f"has not that much left of its {amount(*budget)}; ask for less."
                    )
                return balance_of(db, self.path, dataset)

            def charged() -> Mapping[str, Any]:
                return charge_record(db, release_id, dataset, also, policy, items)

            after = self._write(db, body, transaction, charged)
        return Spend(release_id, dataset, time, *price, after.left_epsilon, after.left_delta)

    def finish(self, release_id: str, output: str) -> None:
        """Note that the output of a release (``output``: its digest) is complete. What was spent stays spent either way."""
        with self.opened() as db:
            self._write(db, lambda: self._finish(db, release_id, output))

    def _finish(self, db: Database, release_id: str, output: str) -> None:
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
        """Return whether a release was finished; None if there is no record of it."""
        with self._reading() as db:
            found = db.execute(
                "SELECT f.release IS NOT NULL FROM releases r LEFT JOIN finishes f ON f.release = r.number WHERE r.name = ?",
                (release_id,),
            ).fetchone()
        return None if found is None else bool(found[0])

    def made_before(self, policy: str, content: bytes) -> list[Earlier]:
        """The finished releases of data with this SHA-256 under the policy with this digest, the latest first."""
        return self._of_input(policy, content, finished=True)

    def unfinished(self, policy: str, content: bytes) -> list[Earlier]:
        """The releases of these data under this policy that were not finished, the latest first."""
        return self._of_input(policy, content, finished=False) if content else []

    def _of_input(self, policy: str, content: bytes, *, finished: bool) -> list[Earlier]:
        with self._reading() as db:
            digest = input_digest(key_of(db, self.path), policy, content)
            rows = db.execute(
                "SELECT r.name, r.time, i.place FROM inputs i JOIN releases r ON r.number = i.release "
                f"LEFT JOIN finishes f ON f.release = r.number WHERE i.digest = ? AND f.release IS {'NOT ' * finished}NULL "
                "ORDER BY r.number DESC",
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

    def knows_data(self) -> bool:
        """Return whether the data of any release would be known again."""
        with self._reading() as db:
            return db.execute("SELECT 1 FROM inputs LIMIT 1").fetchone() is not None

    def places(self) -> list[str]:
        """Return the folders to which the outputs of releases went."""
        with self._reading() as db:
            return [place for (place,) in db.execute("SELECT DISTINCT place FROM inputs WHERE place <> ''")]

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
            number = db.execute("SELECT number FROM datasets WHERE name = ?", (dataset,)).fetchone()[0]
            rows = db.execute(
                "SELECT r.time, d.name, r.name, CASE WHEN f.release IS NULL THEN 'started' ELSE 'finished' END, f.time, c.name, "
                "c.kind, c.epsilon, c.delta, c.guarantee, r.policy, f.output FROM charges c "
                "JOIN releases r ON r.number = c.release "
                "JOIN datasets d ON d.number = r.dataset LEFT JOIN finishes f ON f.release = r.number "
                f"WHERE {CHARGED} ORDER BY c.number",
                (number, number),
            )
            return [
                LedgerRecord(
                    time, name, release, state, finished, part, kind, Fraction(e), Fraction(d), words, policy, output
                )
                for time, name, release, state, finished, part, kind, e, d, words, policy, output in rows
            ]

    def apart(self, dataset: str) -> list[Apart]:
        """Return which datasets with the same data were said to be about other people, oldest first."""
        with self._reading() as db:
            balance_of(db, self.path, dataset)
            return said_apart(db, dataset)

    def protections(self, dataset: str) -> list[Protected]:
        """Return the distances between the values that the budget is about, for each column, as its first release had it."""
        with self._reading() as db:
            balance_of(db, self.path, dataset)
            number = db.execute("SELECT number FROM datasets WHERE name = ?", (dataset,)).fetchone()[0]
            return protections(db, number)

    # Whether it is whole ---------------------------------------------------------------------------------------------

    def check(self) -> Checked:
        """Check every page, every record and every account; :class:`LedgerError` if something is not as it was written."""
        with self.opened() as db, reading(db):
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

    def check_holds(self, head: str, evidence: str = "") -> int:
        """The number of the record whose digest a lock keeps; :class:`LedgerError` if the ledger has lost it.

        ``evidence``: what the error says of where that digest was found.
        """
        with self._reading() as db:
            found = None if self._seen is None else place_of(db, head)
        if found is None:
            raise lost(self.path, evidence)
        return found

    # Its key ---------------------------------------------------------------------------------------------------------

    def fingerprint(self, content: bytes | Iterable[bytes], nonce: bytes) -> str:
        """A keyed hash (HMAC-SHA256) of data that only this ledger can compute; a plain hash would confirm guesses.

        With a fresh ``nonce`` of 32 bytes for each release, two published fingerprints do not show whether the data are
        the same.
        """
        if len(nonce) != NONCE_BYTES:
            raise ParameterError(f"a nonce has {NONCE_BYTES} bytes.")
        found = self._hash("data")
        found.update(nonce)
        for part in (content,) if isinstance(content, bytes) else content:
            found.update(part)
        return found.hexdigest()

    def seal(self, content: bytes) -> str:
        """A message authentication code (HMAC-SHA256): no one without this ledger can make it for other content."""
        found = self._hash("lock")
        found.update(content)
        return found.hexdigest()

    def _hash(self, purpose: str) -> hmac.HMAC:
        with self.opened() as db:
            return hmac.new(derived(key_of(db, self.path), purpose), digestmod="sha256")


def _identity(db: Database, path: Place) -> str:
    """Return by which name witnesses know a ledger: the same for all of its copies, and nothing to anyone without it."""
    return derived(key_of(db, path), "witness").hex()[:32]


def _now() -> str:
    return datetime.now(UTC).strftime(STAMP)
