"""Guarantee, privacy cost and accuracy of a release before it is made: ``nw.plan``, the library side of ``noisewright plan``.

>>> import tempfile
>>> import pyarrow as pa
>>> policy = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [
...     {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}]}
>>> found = plan(policy, pa.table({"age": [44, 31]}), ledger=tempfile.mkdtemp() + "/ledger")
>>> found.parts[0].error_words, found.budget.fits
('expected error at most 4.97', True)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from noisewright.core.errors import DataError, LedgerError, PolicyError
from noisewright.core.loading.guided import guided
from noisewright.releases.columns.types import check_spelling, source_for
from noisewright.releases.curator.cautions import data_cautions
from noisewright.releases.curator.checking import check_data, without_rows
from noisewright.releases.engines import engine_for
from noisewright.releases.ledger.budget_check import AnyLedger, existing_ledger, place_of, rehearse
from noisewright.releases.ledger.ledger import Input, Ledger
from noisewright.releases.output.mark import content_digest
from noisewright.releases.output.places import check_places
from noisewright.releases.output.recorded import check_locks
from noisewright.releases.output.references import References
from noisewright.releases.plan import BudgetLeft, Plan, make_plan, solve
from noisewright.releases.policy.policy import Policy, as_policy
from noisewright.releases.sources.duck import one_database

__all__ = ["plan"]


@guided
def plan(
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    data: Any,
    *,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    target_error: Mapping[str, Any] | None = None,
    raise_budget: bool = False,
    witness: str | os.PathLike[str] | None = None,
    separate_people: str | None = None,
) -> Plan:
    """Return the guarantee, privacy cost and accuracy of a release. Nothing is sampled, spent or written.

    ``data``: what :func:`~noisewright.releases.run.release` takes, except frames of Spark. ``ledger``: the one that reports
    the remaining budget; by default the policy's or this user's. ``target_error``: the wanted expected error of some columns or
    answers by name; the plan's policy then has the smallest epsilons that reach them. ``raise_budget``: of a release that
    accepts a larger budget than the ledger has. ``witness`` and ``separate_people``: as for a release.

    Every check of a release is made: where the data cannot be released as they are, ``refusal`` says why, and ``fits``
    is False. The warnings of the plan are those that need a look at the data, too. They are for the curator's eyes, and no part
    of a release.
    """
    read = as_policy(policy)
    with one_database():
        source = source_for(read, data)
        check_spelling(read, source)
        with engine_for("local", source) as engine:
            types, rows = engine.types(source), engine.rows(source)
            found = make_plan(solve(read, types, target_error or {}, rows), types, rows)
            cautions = list(data_cautions(found, source, engine))
            check_places(place_of(ledger, read), witness, None, source)
            book = existing_ledger(ledger, found, witness)
            digest = cache(lambda: content_digest(source, References(source, found.columns)))
            made_of = lambda: Input(digest(), "", separate_people or "")  # noqa: E731
            balance, refusal = rehearse(book or ledger, found, engine, source, raise_budget, made_of)
            if book is not None:
                cautions += book.cautions()
                refusal = refusal or _lost(book)
            if balance is not None and balance.releases:
                cautions += _made_already(ledger, found, digest)
            unfit = None
            try:
                cautions += without_rows(found, check_data(found, engine, source))
            except (DataError, PolicyError) as problem:
                unfit = str(problem)
    budget = found.policy.budget
    if balance is not None and raise_budget:
        epsilon, delta = max(balance.epsilon, budget.epsilon), max(balance.delta, budget.delta)
        balance = replace(balance, epsilon=epsilon, delta=delta)
    left = (
        BudgetLeft(budget.epsilon, budget.delta, refusal=refusal)
        if balance is None
        else BudgetLeft(balance.left_epsilon, balance.left_delta, balance.releases, True, refusal)
    )
    return replace(found, warnings=(*found.warnings, *cautions), budget=left, refusal=unfit)


def _lost(book: Ledger) -> str | None:
    """Return the reason to refuse a release because of a lock with more records than the ledger."""
    try:
        check_locks(book, None)
    except LedgerError as problem:
        return str(problem)
    return None


def _made_already(ledger: AnyLedger, found: Plan, digest: Callable[[], bytes]) -> Iterator[str]:
    """Warn that these data were released under this policy before; they are read for it only if something was."""
    from noisewright.releases.output.earlier import paid_before  # only few plans need it

    book, policy = existing_ledger(ledger, found), found.policy
    if book is None or policy.digest() not in {entry.policy for entry in book.entries(policy.dataset)}:
        return
    same = book.made_before(policy.digest(), digest())[:1]
    for one in same:
        yield (
            f"these data were released under this policy already ({one.in_words()}): another format of that is free, and a new "
            "draw, which costs the whole price again, is made only with again=True, --again."
        )
    yield from () if same else paid_before(found, book)
