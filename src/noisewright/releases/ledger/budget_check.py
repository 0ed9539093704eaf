"""Request of a planned release to the ledger: the plan rehearses it, and the release makes it in earnest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from pathlib import Path

from noisewright.claims import totals
from noisewright.claims.phrases import distance_name
from noisewright.core.errors import LedgerError, NoLedgerError
from noisewright.releases.columns.plan import ColumnPlan
from noisewright.releases.engines.engine import Engine
from noisewright.releases.ledger._checks import check_name, check_text, checked, checked_terms
from noisewright.releases.ledger.homes.stores import store_of
from noisewright.releases.ledger.homes.witness import witnesses
from noisewright.releases.ledger.ledger import Balance, Charge, Input, Ledger, Terms
from noisewright.releases.ledger.records import Protected
from noisewright.releases.plan import Plan, title
from noisewright.releases.policy.policy import Policy
from noisewright.releases.sources.source import Source

__all__ = [
    "AnyLedger",
    "Witness",
    "charges_of",
    "check_release_id",
    "existing_ledger",
    "ledger_of",
    "place_of",
    "protected_by",
    "rehearse",
    "spend",
    "turn",
]

_turns: ContextVar[frozenset[str]] = ContextVar("turns", default=frozenset())


AnyLedger = Ledger | str | os.PathLike[str] | None
"""A ledger or the name of its file; None: the policy's, or this user's."""


Witness = str | os.PathLike[str] | None
"""File to which every spend is reported; None: this user's alone."""


def ledger_of(ledger: AnyLedger, policy: Policy, witness: Witness = None) -> Ledger:
    """The ledger that is named, or else the policy's, or else this user's; it is made if it is not there."""
    return _with(ledger, witness) if isinstance(ledger, Ledger) else Ledger(_named(ledger, policy), witness=witness)


def _with(ledger: Ledger, witness: Witness) -> Ledger:
    if witness is not None:
        ledger.witnesses = witnesses(witness)
    return ledger


def place_of(ledger: AnyLedger, policy: Policy) -> Path | None:
    """Return the file of the ledger that a release would use, whether it is there or not; None for one in a database."""
    place = ledger.path if isinstance(ledger, Ledger) else store_of(_named(ledger, policy)).place
    return place if isinstance(place, Path) else None


def existing_ledger(ledger: AnyLedger, plan: Plan, witness: Witness = None) -> Ledger | None:
    """The same ledger if it is there; None if the release will make it, which must then be possible where it is named.

    What a ledger would refuse whatever it holds is refused here: a release that is refused leaves no empty ledger behind.
    """
    check_name(plan.policy.dataset)
    checked_terms(terms_of(plan))
    for item in charges_of(plan):
        checked(item)
    if isinstance(ledger, Ledger):
        return _with(ledger, witness)
    named = _named(ledger, plan.policy)
    try:
        return Ledger(named, create_missing=False, witness=witness)
    except NoLedgerError:
        store_of(named).check_place(with_folder=named is None)
        if unknown := plan.policy.budget.also:
            raise LedgerError(
                f"the ledger is new, and has no dataset {unknown[0]!r}, which [budget] also names; name the ledger that has it."
            ) from None
        return None


@contextmanager
def turn(ledger: AnyLedger, policy: Policy, busy: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Wait until nobody else makes a release under this policy with this ledger; ``busy`` is called once if somebody does.

    Two commands that ask for one release would both pay for it; the second one waits, and then finds that of the first. A thread
    that has the turn already goes on.
    """
    named, digest = ledger if isinstance(ledger, Ledger) else _named(ledger, policy), policy.digest()
    if isinstance(named, Ledger):
        name, waited = f"{named.path} {digest}", named.turn(digest, busy)
    else:
        store = store_of(named)
        name, waited = f"{store.place} {digest}", store.turn(digest, busy, with_folder=named is None)
    if name in _turns.get():
        yield
        return
    with waited:
        before = _turns.set(_turns.get() | {name})
        try:
            yield
        finally:
            _turns.reset(before)


def check_release_id(name: object) -> None:
    """Refuse an id under which no ledger would record a release."""
    check_text(name, "release_id")


def _named(ledger: str | os.PathLike[str] | None, policy: Policy) -> str | os.PathLike[str] | None:
    return policy.ledger_path() if ledger is None else ledger


def spend(
    book: Ledger, plan: Plan, name: str, engine: Engine, source: Source, raise_budget: bool, made_of: Input
) -> Balance:
    """Record the privacy cost before anything is drawn."""
    policy = plan.policy
    terms, units = terms_of(plan, raise_budget), _units(plan, engine, source)
    book.spend(policy.dataset, charges_of(plan), name, policy.digest(), units, terms=terms, made_of=made_of)
    return book.remaining(policy.dataset)


def rehearse(
    ledger: AnyLedger,
    plan: Plan,
    engine: Engine,
    source: Source,
    raise_budget: bool = False,
    made_of: Callable[[], Input] | None = None,
) -> tuple[Balance | None, str | None]:
    """Return the ledger's record of the dataset (None: nothing yet), and the sentence with which it would refuse the release.

    Nothing is recorded. ``made_of`` reads the data, which is only done where some were recorded before. Budget, neighbours,
    protected distances and single units are asked about just as by :func:`spend`. A ledger that cannot be used at all is an
    error, as it is for a release.
    """
    policy = plan.policy
    book = existing_ledger(ledger, plan)
    if book is None:  # the first release makes it, and fits if the policy itself does
        return None, None
    balance = book.remaining(policy.dataset) if policy.dataset in book.datasets() else None
    units = _units(plan, engine, source)
    try:
        known = made_of() if made_of is not None and book.knows_data() else None
        book.rehearse(policy.dataset, charges_of(plan), units, terms=terms_of(plan, raise_budget), made_of=known)
    except LedgerError as problem:
        return balance, str(problem)
    return balance, None


def charges_of(plan: Plan) -> list[Charge]:
    """Return the ledger's records of a release: every part with its privacy cost, and every column given away as it is."""
    found = [
        Charge(title(part), "column", part.price, part.delta, part.protects, protected_by(part))
        if isinstance(part, ColumnPlan)
        else Charge(title(part), "query", part.price, part.delta, part.protects)
        for part in plan.parts
    ]
    found += [Charge(name, "kept", Fraction(0), guarantee=totals.KEPT) for name in plan.kept]
    changed = (name for column in plan.context_aware for name in column.names)
    return found + [Charge(name, "changed", Fraction(0), guarantee=totals.CHANGED) for name in changed]


def terms_of(plan: Plan, raise_budget: bool = False) -> Terms:
    """The budget of a policy, and between which tables it is meant."""
    budget, scope = plan.policy.budget, plan.policy.ledger.scope
    return Terms(budget.epsilon, budget.delta, scope, plan.policy.relation, raise_budget, budget.also)


def _units(plan: Plan, engine: Engine, source: Source) -> Iterator[bytes] | None:
    """Return the participating units, where every unit has an account of its own."""
    return engine.units(source, plan.policy.unit) if plan.policy.ledger.scope == "unit" else None


def protected_by(column: ColumnPlan) -> Protected | None:
    """The protected distance in the column's own unit; None for a column that is not protected.

    >>> import pyarrow as pa
    >>> from noisewright.releases.plan import make_plan
    >>> from noisewright.releases.policy.policy import as_policy
    >>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [
    ...     {"name": "visit", "mechanism": "laplace", "protect": 7, "epsilon": 1}]})
    >>> protected_by(make_plan(policy, {"visit": pa.date32()}).columns[0])
    Protected(columns=('visit',), distance=Fraction(7, 1), unit='day')
    """
    if column.mechanism is None or column.secret is None:
        return None
    protect = column.protect
    if protect is None:
        certificate = column.certificate()
        if certificate is None or certificate.document.get("outside") != "keep":
            return Protected(column.names, None)
        protect = column.width  # values from beyond the range are farther apart than any two of it
    metric, alone = column.mechanism.guarantee.metric, len(column.types) == 1
    unit = metric.unit or (
        column.secret.unit if metric.on_numbers and alone else distance_name(metric.record(), metric.secret)
    )
    return Protected(column.names, protect, unit)
