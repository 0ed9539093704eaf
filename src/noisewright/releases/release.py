"""Releases: a policy and a table in; the protected table, answers, certificate and report out; the ledger records.

The order is what makes it safe. Everything that can be refused is refused first: the policy, the types, the units,
values that do not fit, the budget. Then the spend is recorded, durably; only then is anything drawn. Everything is
written under a hidden name and appears in one step. Whatever goes wrong after the spend, the spend stays: something may
have been drawn.

>>> import tempfile
>>> import pyarrow as pa
>>> policy = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [
...     {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1}]}
>>> visits = pa.table({"smoker": [True, False, True], "note": ["a", "b", "c"]})
>>> done = release(policy, visits, ledger=tempfile.mkdtemp() + "/ledger")
>>> done.data.schema.names, done.data.num_rows, float(done.balance.left_epsilon)
(['smoker'], 3, 2.0)
>>> for sentence in done.certificate.verify()[1:]:
...     print(sentence)
  column "smoker": epsilon = 1 for any two values that differ
  the number of rows: NOT protected

>>> import tempfile
>>> import pyarrow as pa
>>> policy = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [
...     {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}]}
>>> found = plan(policy, pa.table({"age": [44, 31]}), ledger=tempfile.mkdtemp() + "/ledger")
>>> found.parts[0].error_words, found.budget.fits
('expected error at most 4.97', True)
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from noisewright._utils.validation import OutputFormat, guided
from noisewright.engines.base import Engine, Progress, engine_for
from noisewright.exceptions import DataError, LedgerError, ParameterError, PolicyError
from noisewright.guarantees import Guarantee, card
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Balance, Input
from noisewright.planning.columns import check_spelling, source_for
from noisewright.policy.policy import Policy, as_policy
from noisewright.releases.certificate import ANSWERS, CERTIFICATE, REPORT, ReleaseCertificate, answer_files
from noisewright.releases.checks import (
    AnyLedger,
    check_data,
    check_release_id,
    data_cautions,
    existing_ledger,
    ledger_of,
    place_of,
    rehearse,
    spend,
    turn,
    without_rows,
)
from noisewright.releases.folder import (
    Written,
    broken_off,
    check_locks,
    converted,
    find_written,
    mend,
    mend_unfinished,
    paid_before,
    read_folder,
    replace_earlier,
    sealed_at,
    unknown_again,
    write_answer,
)
from noisewright.releases.lock import LOCK, Given, Lock, Making, Mark, References, Sealing, content_digest
from noisewright.releases.marginals import marginals_of
from noisewright.releases.plan import BudgetLeft, Plan, has_public_rows, listed, make_plan, solve
from noisewright.releases.report import Made, report
from noisewright.releases.staging import Staging, check_apart, check_places
from noisewright.render.charts import Marginal
from noisewright.tables.duckdb import one_database
from noisewright.tables.files import read_written, written_batches
from noisewright.tables.source import Source

__all__ = ["Release", "new_id", "plan", "plan_for", "release"]


_log = logging.getLogger(__name__)

CHARTED = 1 << 19
"""Approximate number of rows that charts count, spread over the table."""


@dataclass(frozen=True, eq=False)
class Release:
    """Result of a release. ``data``, and ``answers`` by the names of queries, are of the kind that came in; Arrow for files."""

    plan: Plan
    certificate: ReleaseCertificate
    answers: Mapping[str, Any]
    balance: Balance | None
    """The ledger's balance after this release; None for a simulation."""
    rows: int | None
    folder: Path | None
    """Folder of the output, if it was written."""
    simulated: bool
    reread: bool = False
    """True if the output was there already, so that nothing was drawn and nothing spent."""
    page: str = ""
    """The report, as HTML."""
    table: Any = None
    converted: Path | None = None
    """The folder of the same release in another format, of which this is a copy; nothing was drawn for it."""
    warnings: tuple[str, ...] = ()
    """Warnings that a person should think about. Some were found by a look at the true data: it is for the curator's
    eyes, and not published."""
    wrap: Callable[[pa.Table], Any] | None = None
    """Makes an Arrow table one of the kind that came in."""

    @cached_property
    def data(self) -> Any:
        """The released table; None if the policy has only queries."""
        if self.table is not None or self.folder is None:
            return self.table
        found = sorted(self.folder.glob("data.*"))
        if not found:
            return None
        table = read_written(found[0], self.plan.output_types)
        return table if self.wrap is None else self.wrap(table)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee, and the neighbouring tables."""
        return self.plan.guarantee

    def in_words(self) -> str:
        """Describe the guarantee in plain words, and the tables that it is about."""
        return (
            f"{self.guarantee.in_words()} {self.plan.not_proved}".rstrip() if self.plan.claims else self.plan.in_words()
        )

    def __repr__(self) -> str:
        rows, asked = "" if self.rows is None else f"{self.rows:,} rows", len(self.answers)
        parts = " and ".join(filter(None, [rows, f"{asked} answer{'' if asked == 1 else 's'}" if asked else ""]))
        note = f"; not proved, {listed(self.plan.floating)} in floats" if self.plan.floating else ""
        note += "; a simulation, not for release" if self.simulated else ""
        return f"<Release of {self.plan.policy.dataset!r}: {parts}, {self.plan.brief}{note}>"

    def _repr_html_(self) -> str:
        facts = [] if self.rows is None else [("rows", f"{self.rows:,}")]
        facts += [("promise", self.guarantee.reading() if self.plan.claims else self.plan.total)]
        facts += [("between", self.plan.between)] if self.plan.claims else []
        facts += [("in words", self.in_words())]
        facts += [("beware", "a simulation, NOT for release")] if self.simulated else []
        facts += [] if self.folder is None else [("report", f"{self.folder}/{REPORT}")]
        facts += [("answers", f"{listed(list(self.answers))}, in answers")] if self.answers else []
        return card(f"Release of {self.plan.policy.dataset}", facts, *self.plan.listed_parts())


@guided
def release(
    policy: Policy | Mapping[str, Any] | str | os.PathLike[str],
    data: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    engine: Literal["auto", "local", "spark"] = "auto",
    master: str | None = None,
    format: OutputFormat = "parquet",
    seed: int | None = None,
    replace: bool = False,
    again: bool = False,
    raise_budget: bool = False,
    witness: str | os.PathLike[str] | None = None,
    separate_people: str | None = None,
    release_id: str | None = None,
    progress: Progress | None = None,
    warn: Callable[[str], None] | None = None,
) -> Release:
    """Protect a table under a policy.

    ``data``: a path, or a table of pyarrow, pandas, Polars, DuckDB or Spark; the result is of the same kind. ``output``: a
    folder for the table, the answers, the certificate, the report and the lock; it appears whole or not at all. If it holds the
    release of these data under this policy already, that is read and nothing is drawn, unless ``again``: a second draw costs
    the whole privacy cost again. The ledger has the data again wherever that release went: another ``format`` of it is
    a copy of the same rows, which costs nothing, and a second payment is refused. ``replace``: an earlier output of
    something else may be replaced, if nothing else lies in its folder. ``ledger``: where the spend is recorded, a file or the
    URL of a PostgreSQL database; the policy's, or this user's, by default. ``witness``: a file to which
    every spend is reported, in addition to this user's, so that an older copy of the ledger is noticed.
    ``separate_people``: why data that were released under another dataset name are about other people here; it is
    recorded. ``release_id``: under which name the ledger records the release; by default one is made up. ``seed`` makes
    a simulation: repeatable, not recorded, and marked as not for release. ``warn`` is called with each caution before
    anything is spent.
    """
    policy, name = as_policy(policy), new_id() if release_id is None else release_id
    check_release_id(name)
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise ParameterError("a seed is a whole number from 0 on; leave it out for a release.")
    source = source_for(policy, data)
    with ExitStack() as stack:
        runner = stack.enter_context(engine_for(engine, source, master=master))
        plan = plan_for(policy, source, runner)
        _log.info("planned %s with %d parts, for the engine %s", policy.dataset, len(plan.parts), runner.name)
        if seed is None:
            check_places(place_of(ledger, policy), witness, output, source)
            stack.enter_context(turn(ledger, policy, partial(_waits, policy, warn)))
        book = None if seed is not None else existing_ledger(ledger, plan, witness)
        if output is not None:
            check_apart(source, output)
            runner.check_output(source, plan.columns, format)
            mend(output, book)
        references = References(source, plan.columns)
        staging, content = None, b"" if seed is not None else content_digest(source, references)
        if book is not None:
            mend_unfinished(plan, content, book)
        if book is not None and not again:
            if output is not None and (there := read_folder(output, plan, content, book)) is not None:
                if there.is_stored_as(format):
                    return _in_kind(_reread(there, book), source)
                copy = replace_earlier(there, format, replace, content, book)
                return _in_kind(_reread(copy, book, there.folder), source)
            free = output is None or replace or not os.path.lexists(output)
            if free and (found := find_written(plan, content, book, output, format)) is not None:
                if output is None:
                    return _in_kind(_reread(found, book), source)
                copy = converted(found, output, format, replace, content, book)
                return _in_kind(_reread(copy, book, found.folder), source)
        if output is not None:
            staging = stack.enter_context(Staging(output, replace or again, sealed_at=partial(sealed_at, book)))
        exact = check_data(plan, runner, source, spends=seed is None)
        twice = [] if book is None or again else paid_before(plan, book)
        if book is not None:
            check_locks(book, output)
            twice += [*broken_off(plan, content, book), *book.cautions()]
        if seed is None:
            twice += unknown_again(source, content)
        cautions = (*twice, *plan.warnings, *without_rows(plan, exact), *data_cautions(plan, source, runner))
        if warn is not None:
            for caution in cautions:
                warn(caution)
        references.check_unchanged()
        _log.info("checked the data")
        balance = None
        if seed is None:
            if book is None:  # made only now: whatever was refused so far leaves no ledger behind
                book = ledger_of(ledger, policy, witness)
            place = "" if staging is None else str(staging.target)
            made_of = Input(content, place, separate_people or "")
            balance = spend(book, plan, name, runner, source, raise_budget, made_of)
            reached("recorded")
        # From here on things are drawn.
        certificate = ReleaseCertificate.build(plan, simulated=seed is not None)
        answers = {q.name: q.answer(tables, seed) for q, tables in zip(plan.queries, exact, strict=True)}
        made = _Made(plan, certificate, answers, balance, seed, runner.name, cautions, references)
        if staging is None:
            return _in_kind(_in_memory(made, runner, source, book, name), source)
        mark = Mark.new(book, content)
        done = _to_folder(made, runner, source, staging, format, progress, mark, name)
        _finish(book, name, certificate)
        reached("finished")
        return _in_kind(done, source)


def new_id() -> str:
    """Make up the id of a release, under which its ledger records it: the time, and random digits."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"


def _in_kind(done: Release, source: Source) -> Release:
    """Return it with answers, and a table read from files, of the kind that came in; a reader, read once, gives tables."""
    if source.kind in ("file", "arrow", "reader"):
        return done
    wrap = None if source.kind == "spark" else source.wrap  # a table in files may be more than a driver holds
    return replace(done, answers={name: source.wrap(table) for name, table in done.answers.items()}, wrap=wrap)


def reached(phase: str) -> None:
    """Logs how far a release is; the places at which tests end one, as a kill would."""
    _log.info("the release is %s", phase)


def plan_for(policy: Policy, source: Source, engine: Engine) -> Plan:
    """The plan of a policy for a table."""
    check_spelling(policy, source)
    return make_plan(policy, engine.types(source), engine.rows(source))


def _reread(found: Written, book: Ledger, copy_of: Path | None = None) -> Release:
    """A release that was made before."""
    plan = found.plan
    return Release(
        plan,
        found.certificate,
        found.answers,
        book.remaining(plan.policy.dataset),
        found.lock.rows,
        found.folder,
        False,
        reread=True,
        page=found.page,
        warnings=plan.warnings,
        converted=copy_of,
    )


def _waits(policy: Policy, warn: Callable[[str], None] | None) -> None:
    """Say that another release has the turn."""
    _log.info("waiting for another release of %s", policy.dataset)
    if warn is not None:
        warn(f"another process makes a release of {policy.dataset!r} under this policy; this one waits for its end.")


# Before the first draw ----------------------------------------------------------------------------------------------------


def _finish(book: Ledger | None, name: str, certificate: ReleaseCertificate) -> None:
    """Note that the output is complete."""
    if book is not None:
        book.finish(name, certificate.digest)


# Drawing and writing ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Made:
    """Prepared parts before the rows are sampled."""

    plan: Plan
    certificate: ReleaseCertificate
    answers: Mapping[str, pa.Table]
    balance: Balance | None
    seed: int | None
    engine: str
    cautions: tuple[str, ...]
    references: References

    def page(self, marginals: list[Marginal], rows: int | None, files: tuple[str, ...] = ()) -> str:
        simulated = self.seed is not None
        made = Made(datetime.now(UTC), self.engine, simulated, self.certificate.digest, rows, files)
        return report(self.plan, made, balance=self.balance, marginals=marginals, answers=self.answers)

    def result(self, rows: int | None, folder: Path | None, page: str, table: Any = None) -> Release:
        return Release(
            self.plan,
            self.certificate,
            self.answers,
            self.balance,
            rows,
            folder,
            self.seed is not None,
            page=page,
            table=table,
            warnings=self.cautions,
        )


def _in_memory(made: _Made, engine: Engine, source: Source, book: Ledger | None, name: str) -> Release:
    """The release as a table of the kind that came in."""
    plan, table, rows, marginals = made.plan, None, None, []
    if plan.columns:
        drawn = engine.frame(source, plan.columns, plan.policy.unit, made.seed, plan.policy.order)
        made.references.check_unchanged()
        rows = engine.length(drawn)
        if isinstance(drawn, pa.Table):
            marginals, table = marginals_of(plan.columns, iter(drawn.to_batches())), source.wrap(drawn)
        else:  # a Spark frame stays with Spark
            table = drawn
    _finish(book, name, made.certificate)
    return made.result(rows, None, made.page(marginals, rows), table)


def _to_folder(
    made: _Made,
    engine: Engine,
    source: Source,
    staging: Staging,
    format: OutputFormat,
    progress: Progress | None,
    mark: Mark,
    name: str,
) -> Release:
    plan, folder, rows, marginals = made.plan, staging.folder, None, []
    outputs: dict[str, Path] = {}
    if plan.columns:
        path = folder / f"data.{format}"
        policy = plan.policy
        rows = engine.perturb(source, plan.columns, policy.unit, path, format, made.seed, progress, policy.order)
        made.references.check_unchanged()
        outputs[path.name] = path
        charted = [name for column in plan.columns for name in column.outputs if column.charted]
        every = max(1, round(rows / CHARTED))
        if charted:
            marginals = marginals_of(plan.columns, written_batches(path, plan.output_types, charted, every))
    reached("drawn")
    if made.answers:
        (folder / ANSWERS).mkdir()
    for file, answer in zip(answer_files(plan), made.answers.values(), strict=True):
        outputs[file] = folder / file
        write_answer(answer, outputs[file])
    page = made.page(marginals, rows, tuple(outputs))
    for file, text in ((CERTIFICATE, made.certificate.to_json()), (REPORT, page)):
        outputs[file] = folder / file
        outputs[file].write_text(text, encoding="utf-8")
    reached("written")
    public_rows = engine.rows(source) if has_public_rows(plan.policy) else None
    lock = Lock.build(
        plan.policy,
        Making(name, made.engine, made.seed is not None, made.seed),
        Given(mark.fingerprint, mark.nonce, plan.types, public_rows, plan.resources),
        outputs,
        rows=rows,
        sealing=None if mark.book is None else Sealing(mark.book.seal, mark.book.head()),
    )
    (folder / LOCK).write_text(lock.to_json(), encoding="utf-8")
    reached("sealed")
    staging.publish()
    reached("published")
    return made.result(rows, staging.target, page)


# Planning -----------------------------------------------------------------------------------------------------------------
#
# Guarantee, privacy cost and accuracy of a release before it is made: ``nw.plan``, the library side of ``noisewright plan``.


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

    ``data``: what :func:`~noisewright.releases.release.release` takes, except frames of Spark. ``ledger``: the one that reports
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
    from noisewright.releases.folder import paid_before  # only few plans need it

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
