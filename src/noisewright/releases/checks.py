"""Content of a table compared with its policy: missing, undeclared, out of range. The owner's view, which is NOT private.

It states why a release would be refused and how much would be clamped or mapped, in exact numbers of the data. Nothing
of it enters a plan, a lock, a certificate or a report.

>>> import pyarrow as pa
>>> policy = {"dataset": "clinic", "budget": {"epsilon": 1}, "columns": [
...     {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}]}
>>> [found] = inspect_table(policy, pa.table({"age": [44, 150, None]}))
>>> found.missing, found.outside
(1, 1)
>>> print(found)
age: 1 of 3 rows missing; 1 out of range (the release is refused; outside = "clamp" moves it to the nearer end)

>>> import pyarrow as pa
>>> from noisewright.engines.base import engine_for
>>> from noisewright.releases.plan import make_plan
>>> from noisewright.policy.policy import as_policy
>>> from noisewright.tables.reading import source_of
>>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 1}, "columns": [
...     {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}]})
>>> source = source_of(pa.table({"age": [44, None]}))
>>> with engine_for("local", source) as engine:
...     check_data(make_plan(policy, source.types), engine, source)
Traceback (most recent call last):
noisewright.exceptions.DataError: column 'age' has missing values; say missing = "keep" to leave them missing for all to see, ...
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import permutations
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa

from noisewright._utils.inputs import read_input
from noisewright.claims import totals
from noisewright.claims.figures import upward
from noisewright.claims.phrases import OPEN, distance_name
from noisewright.columns.label_encoder import NOT_DECLARED
from noisewright.columns.registry import kind_of
from noisewright.engines.base import Engine
from noisewright.exceptions import (
    DataError,
    FileFormatError,
    LedgerError,
    NoisewrightError,
    NoLedgerError,
    ParameterError,
    PolicyError,
)
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import (
    Balance,
    Charge,
    Input,
    Protected,
    Terms,
    check_name,
    check_text,
    checked,
    checked_terms,
)
from noisewright.ledger.sqlite import store_of
from noisewright.ledger.witness import Lost, witnesses
from noisewright.planning.column_plan import ColumnPlan
from noisewright.planning.columns import check_spelling, known_types, source_for, used_columns
from noisewright.policy.policy import ColumnPolicy, Policy, as_policy
from noisewright.releases.lock import LOCK, Lock
from noisewright.releases.plan import BEYOND_SENSE, Plan, has_public_rows, make_plan, title
from noisewright.tables.duckdb import Connection, identifier, in_sql, literal, quiet
from noisewright.tables.files import names_without_types
from noisewright.tables.reading import source_of
from noisewright.tables.source import Source

__all__ = [
    "NOT_PRIVATE",
    "AnyLedger",
    "Inspected",
    "Results",
    "Witness",
    "adopt",
    "charges_of",
    "check_data",
    "check_release_id",
    "data_cautions",
    "existing_ledger",
    "inspect_table",
    "ledger_of",
    "place_of",
    "protected_by",
    "rehearse",
    "spend",
    "turn",
    "without_rows",
]


NOT_PRIVATE = (
    f"For the owner of the data alone: these are exact numbers of the table, {OPEN}. Show them to nobody else."
)


SPELLED = {
    "integer": r"-?(0|[1-9]\d*)",
    "number": r"((0|[1-9]\d*)(\.\d*)?|[-+]\d+(\.\d*)?|[-+]?\.\d+)([eE][-+]?\d+)?|(?i)-?(nan|inf|infinity)",
    "date": r"\d{4}-\d\d-\d\d",
    "boolean": "(?i)true|false",
}
"""Plain spellings, as a release takes them: DuckDB reads more, such as 31.5 as an integer, a time as a
date, or blanks around a number."""


@dataclass(frozen=True)
class Inspected:
    """One column (or the units of a table) next to the policy's statement of it."""

    name: str
    rows: int
    missing: int = 0
    misfits: int = 0
    """Values that are not of the type that the policy states."""
    outside: int = 0
    """Values out of the declared range."""
    undeclared: int = 0
    """Rows with a category that is not declared."""
    kinds: int = 0
    """Number of different undeclared categories."""
    nearly: int = 0
    """Number of misfits and undeclared values that would do except blanks around them, other capitals, or a decimal comma."""
    clamped: bool = False
    other: Any = None
    crowded: int = 0
    """Units with more rows than the policy allows."""
    asked: bool = False
    """True if the column is only used in answers: undeclared values then count in no group."""

    @property
    def fine(self) -> bool:
        """True if all of the column is as the policy states."""
        return not (self.missing or self.misfits or self.outside or self.undeclared or self.crowded)

    def to_json(self) -> dict[str, Any]:
        """The numbers as plain data."""
        keys = ("name", "rows", "missing", "misfits", "outside", "undeclared", "kinds", "nearly", "crowded")
        return {key: getattr(self, key) for key in keys}

    def __str__(self) -> str:
        return f"{self.name}: " + ("; ".join(self._words()) or f"all {self.rows:,} rows are as declared")

    def _words(self) -> Iterator[str]:
        of = f" of {self.rows:,} rows"
        if self.missing:
            yield f"{self.missing:,}{of} missing"
        if self.misfits:
            yield f"{self.misfits:,} not of the declared type" + self._spelling("blanks around them or a decimal comma")
        if self.outside:
            done = "moved to the nearer end" if self.clamped else "the release is refused; "
            done += (
                ""
                if self.clamped
                else f'outside = "clamp" moves {"it" if self.outside == 1 else "them"} to the nearer end'
            )
            yield f"{self.outside:,} out of range ({done})"
        if self.undeclared:
            what = (
                f"{self.undeclared:,} with {self.kinds:,} undeclared {'category' if self.kinds == 1 else 'categories'}"
            )
            done = "in no group" if self.asked else "the release is refused; other = ... maps them to a public one"
            done = done if self.other is None else f"they count as {self.other!r}"
            yield f"{what}{self._spelling('blanks around them or capitals')} ({done})"
        if self.crowded:
            yield f"{self.crowded:,} units have more rows than the policy allows"

    def _spelling(self, what: str) -> str:
        return f", {self.nearly:,} of them only for {what}" if self.nearly else ""


def inspect_table(policy: Policy | Mapping[str, Any] | str | os.PathLike[str], data: Any) -> list[Inspected]:
    """Every column that the policy perturbs or asks about, and its units: exact numbers, for the owner's eyes alone."""
    read = as_policy(policy)
    source = _as_it_is(read, data)
    check_spelling(read, source)
    for name in sorted(used_columns(read) - set(source.schema.names)):
        raise DataError(f"there is no column {name!r} in the data; correct the name in the policy, or the data.")
    spelled = source.format == "csv"
    types = {**source.types, **(known_types(read) if spelled else {})}
    with source.database() as duck, quiet(f"{source.name} cannot be read"):

        def ask(sql: str) -> list[int]:
            (found,) = duck.sql(f"SELECT {sql} FROM data").fetchall()
            return [int(number or 0) for number in found]

        found = [
            _column(_Declared.by_column(column), name, types.get(name, pa.string()), spelled, ask)
            for column in read.columns
            if not column.keep
            for name in column.names
        ]
        for name, declared in _asked(read).items():
            if all(name != one.name for one in found):
                found.append(_column(declared, name, types.get(name, pa.string()), spelled, ask))
        if read.unit.column is not None:
            unit = identifier(read.unit.column)
            sql = f"SELECT count(*) FROM (SELECT 1 FROM data GROUP BY {unit} HAVING count(*) > {read.unit.rows})"
            ((crowded,),) = duck.sql(sql).fetchall()
            rows, missing = ask(f"count(*), count(*) FILTER ({unit} IS NULL)")
            found.append(Inspected(read.unit.column, rows, missing, crowded=int(crowded)))
    return found


def _as_it_is(policy: Policy, data: Any) -> Source:
    """The columns of a policy; without types in the table as text, so that cells that are not of their type are
    counted, too.
    """
    if names_without_types(data) is not None:
        return source_of(data, used=used_columns(policy))
    return source_for(policy, data)


@dataclass(frozen=True)
class _Declared:
    """Declaration of a policy about the values of a column."""

    within: Any = None
    labels: Any = None
    clamped: bool = False
    other: Any = None
    asked: bool = False

    @staticmethod
    def by_column(column: ColumnPolicy) -> _Declared:
        given = column.parameters
        labels = given.get("categories") if len(column.names) == 1 else None
        return _Declared(given.get("within"), labels, given.get("outside") == "clamp", column.other)


def _asked(policy: Policy) -> dict[str, _Declared]:
    """Return the columns that answers are about, and the statement of the first answer."""
    found: dict[str, _Declared] = {}
    for query in policy.queries:
        if query.column is not None:
            found.setdefault(query.column, _Declared(query.within, query.values, clamped=True, asked=True))
        for name, values in query.by.items():
            found.setdefault(name, _Declared(labels=values, asked=True))
    return found


def _column(declared: _Declared, name: str, type_: pa.DataType, spelled: bool, ask: Any) -> Inspected:
    """The numbers of one column; ``spelled``: its cells are text, which must be plain spellings of the type."""
    cell, kind = identifier(name), kind_of(type_)
    value = f"TRY_CAST({cell} AS {in_sql(type_)})"
    if spelled and kind is not None and kind.name in SPELLED:
        value = f"CASE WHEN regexp_full_match({cell}, {literal(SPELLED[kind.name])}) THEN {value} END"
    parts = [
        "count(*)",
        f"count(*) FILTER ({cell} IS NULL)",
        f"count(*) FILTER ({cell} IS NOT NULL AND {value} IS NULL)",
    ]
    labels = declared.labels
    parts.append(f"count(*) FILTER ({_outside(value, declared.within)})")
    among = near = "false"
    if isinstance(labels, tuple):
        among = f"{value} IS NOT NULL AND {value} NOT IN ({', '.join(map(_spelled, labels))})"
        texts = [literal(label.strip().lower()) for label in labels if isinstance(label, str)]
        near = f"{among} AND lower(trim({cell})) IN ({', '.join(texts)})" if texts else near
    elif spelled and kind is not None and kind.name in SPELLED:
        plain = f"replace(trim({cell}), ',', '.')"
        fits = f"regexp_full_match({plain}, {literal(SPELLED[kind.name])}) AND TRY_CAST({plain} AS {in_sql(type_)})"
        near = f"{cell} IS NOT NULL AND {value} IS NULL AND {fits} IS NOT NULL"
    parts += [f"count(*) FILTER ({among})", f"count(DISTINCT {value}) FILTER ({among})", f"count(*) FILTER ({near})"]
    rows, missing, misfits, outside, undeclared, kinds, nearly = ask(", ".join(parts))
    own = {"clamped": declared.clamped, "other": declared.other, "asked": declared.asked}
    return Inspected(name, rows, missing, misfits, outside, undeclared, kinds, nearly, **own)


def _outside(value: str, within: Any) -> str:
    """Return the SQL condition for values outside all declared ranges."""
    if not isinstance(within, tuple) or not within:
        return "false"
    pairs = within if isinstance(within[0], tuple) else (within,)
    inside = []
    for low, high in pairs:
        ends = [f"{value} >= {_spelled(low)}"] if low is not None else []
        ends += [f"{value} <= {_spelled(high)}"] if high is not None else []
        inside.append(" AND ".join(ends) or "true")
    return f"{value} IS NOT NULL AND NOT ({' OR '.join(f'({one})' for one in inside)})"


def _spelled(value: Any) -> str:
    """A value of a policy, in SQL."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return f"{'TIMESTAMPTZ' if value.tzinfo else 'TIMESTAMP'} {literal(value.isoformat(sep=' '))}"
    if isinstance(value, date):
        return f"DATE {literal(value.isoformat())}"
    if isinstance(value, Fraction):
        return repr(float(value))
    return literal(value) if isinstance(value, str) else repr(value)


# Checking -----------------------------------------------------------------------------------------------------------------
#
# Requirements of a release for its table: the same checks for the plan, which reports them, and for the release.


Results = Sequence[Sequence[pa.Table]]
"""The exact results of the statistics of every query: not for release."""


def check_data(plan: Plan, engine: Engine, source: Source, spends: bool = True) -> Results:
    """Refuse data from which the release cannot be made; what the queries are answered from.

    A release that spends nothing, a simulation, may be of a table without rows.
    """
    policy = plan.policy
    for part in plan.parts if spends else ():
        if part.price > BEYOND_SENSE:
            kind = "columns" if isinstance(part, ColumnPlan) else "queries"
            raise PolicyError(
                f"{policy.line(kind, part.position, 'epsilon')}: {title(part)} would cost epsilon {upward(part.price)}, beyond "
                f"the {BEYOND_SENSE} up to which odds can be computed; it would protect nobody, so lower it, or say keep = true."
            )
    if spends and has_public_rows(policy) and engine.is_empty(source):
        raise DataError(
            "the table has no rows: a release would spend its price and tell nothing; give the table that is meant."
        )
    engine.check_units(source, policy.unit)
    try:
        engine.check_values(source, [column for column in plan.columns if not column.keep], policy.unit)
    except DataError as problem:
        raise DataError(_with_what_helps(str(problem), plan)) from None
    found = [[engine.aggregate(source, s, policy.unit) for s in query.statistics] for query in plan.queries]
    for query, tables in zip(plan.queries, found, strict=True):
        query.check(tables)
    return found


def _with_what_helps(refusal: str, plan: Plan) -> str:
    """The same refusal; of a column with categories with the key of a policy that helps."""
    named = any(column.choices and refusal == f"{column.title}: {NOT_DECLARED}" for column in plan.columns)
    help = 'add it to categories, or say other = "..." to count all such values as one public category.'
    return f"{refusal.removesuffix(NOT_DECLARED.partition('; ')[2])}{help}" if named else refusal


def without_rows(plan: Plan, results: Results) -> Iterator[str]:
    """Cautions about groups that no row belongs to, and filters that no row passes: for the curator's eyes."""
    for query, tables in zip(plan.queries, results, strict=True):
        statistic, table = query.statistics[0], tables[0]
        if not statistic.keys:
            counts = [table["nw_value"] for s, table in zip(query.statistics, tables, strict=True) if s.name == "count"]
            if query.query.where is not None and counts and not sum(counts[0].to_pylist()):
                yield (
                    f"{query.name}: no row of this table passes its filter, so the answer is noise alone; see that the values in "
                    "where are spelled as in the table."
                )
            continue
        count, keys = statistic.groups, [f"nw_k{place}" for place in range(len(statistic.keys))]
        seen = table.group_by(keys).aggregate([]).num_rows
        if seen < count:
            which = "none of its groups has" if not seen else f"{count - seen:,} of its {count:,} groups have"
            rows = "any rows" if not seen else "no rows"
            yield (
                f"{query.name}: {which} {rows} in this table, so the answer there is noise alone; see that the values of "
                f"{' and '.join(key.column for key in statistic.keys)} are spelled as in the table."
            )


# Cautions -----------------------------------------------------------------------------------------------------------------
#
# Cautions that need a look at the data: for the curator's eyes, before signing; never part of what is published.
#
# * A declared range whose two ends are the smallest and the largest value of the table was probably read off the table.
#   A range must be public knowledge, or it discloses two people's values.
# * A column that follows from another one (a town from a postcode) is protected by no more than that one is.
# * Where the policy keeps the order of rows: in a table that is sorted by a protected column, the place of a row
#   discloses its value, and a changed value would move other rows, too.


SAMPLE = 20_000
MOST_COLUMNS = 12
FEWEST_SORTED = 20
"""Minimum number of values that are hardly ever in order by chance."""


def data_cautions(plan: Plan, source: Source, engine: Engine) -> list[str]:
    """Return points for a curator to consider after a look at the data. Data that this machine cannot query are skipped."""
    if engine.name == "local":
        with suppress(DataError), source.database() as duck, quiet(f"{source.name} cannot be read"):
            found = list(_ranges(plan, source, duck))
            sample = _Sample(plan, duck)
            return [*found, *_order(plan, sample), *_dependence(plan, sample)]
    return []


class _Sample:
    """The first rows of the table, in memory: columns of listed values under short names, and the number of each row."""

    def __init__(self, plan: Plan, duck: Connection) -> None:
        self.duck = duck
        self.places = {
            name: f"c{place}"
            for place, name in enumerate(n for column in plan.columns if _listed(column) for n in column.names)
        }
        if self.places:
            listed = ", ".join(f"{identifier(name)} AS {place}" for name, place in self.places.items())
            first = f"SELECT {listed}, row_number() OVER () AS nw_row FROM data LIMIT {SAMPLE}"
            duck.execute(f"CREATE TEMP TABLE nw_sample AS {first}")

    def counts(self, wanted: Sequence[str], relation: str = "nw_sample") -> list[int]:
        return [int(count) for count in _row(self.duck, wanted, relation)]


def _ranges(plan: Plan, source: Source, duck: Connection) -> Iterator[str]:
    declared = {c.names[0]: c.parameters.get("within") for c in plan.policy.columns if len(c.names) == 1}
    declared.update({q.column: q.within for q in plan.policy.queries if q.column is not None and q.within is not None})
    ends = {name: _ends(within) for name, within in declared.items() if _is_number(source.types.get(name))}
    known = {name: pair for name, pair in ends.items() if pair is not None}
    found = iter(_row(duck, [f"{end}({identifier(name)})" for name in known for end in ("min", "max")], "data"))
    for name, (low, high) in known.items():
        pair = (next(found), next(found))
        if all(map(_is_finite, pair)) and [_number(v) for v in pair] == [low, high] and low < high:
            yield (
                f"{name}: its declared range is just that of the data, from the smallest to the largest value; a range must "
                "be known without looking at the data, or it tells two people's values."
            )


def _order(plan: Plan, sample: _Sample) -> Iterator[str]:
    """Protected columns in whose order the first rows of the table stand, upwards or downwards, if they are to stay in it."""
    if plan.order != "kept":
        return
    names = [name for column in plan.columns if not column.keep for name in column.names if name in sample.places]
    places = [sample.places[name] for name in names]
    before = ", ".join(f"lag({c}) OVER (ORDER BY nw_row) AS {c}_before" for c in places)
    wanted = [
        count
        for c in places
        for count in (f"count({c})", f"count(*) FILTER ({c} > {c}_before)", f"count(*) FILTER ({c} < {c}_before)")
    ]
    found = iter(sample.counts(wanted, f"(SELECT *, {before} FROM nw_sample)"))
    for name in names:
        known, up, down = next(found), next(found), next(found)
        if known >= FEWEST_SORTED and (up == 0) != (down == 0):
            yield (
                f"{name}: the table is sorted by it, and released rows keep their order, which tells its values whatever the "
                'noise; remove order = "kept" from the policy.'
            )


def _dependence(plan: Plan, sample: _Sample) -> Iterator[str]:
    names, kept = list(sample.places)[:MOST_COLUMNS], set(plan.kept)
    if len(names) < 2:
        return
    rows, *counts = sample.counts(["count(*)", *(f"count(DISTINCT {sample.places[name]})" for name in names)])
    distinct = dict(zip(names, counts, strict=True))
    pairs = [
        (first, second)
        for first, second in permutations(names, 2)
        if 1 < distinct[second] <= distinct[first] <= rows // 4 and not {first, second} <= kept
    ]
    together = sample.counts([f"count(DISTINCT ({sample.places[a]}, {sample.places[b]}))" for a, b in pairs])
    for (first, second), both in zip(pairs, together, strict=True):
        if both == distinct[first]:
            weak = " It is kept as it is, so the other is hardly protected." if first in kept else ""
            yield f"{second} follows from {first} in this table: whoever learns {first} knows {second}.{weak}"


def _row(duck: Connection, wanted: Sequence[str], relation: str) -> tuple[Any, ...]:
    """Several numbers about a relation, in one go."""
    if not wanted:
        return ()
    found = duck.execute(f"SELECT {', '.join(wanted)} FROM {relation}").fetchone()
    assert found is not None
    return tuple(found)


def _listed(column: ColumnPlan) -> bool:
    """Return whether values can be distinguished one by one: vectors, documents and pictures hardly ever occur twice."""
    return all(kind is None or kind.labels for kind in column.kinds)


def _ends(within: Any) -> tuple[Fraction, Fraction] | None:
    """The ends of one bounded interval, as numbers; dates as days."""
    if not isinstance(within, (list, tuple)) or len(within) != 2:
        return None
    try:
        low, high = (_number(end) for end in within)
    except (TypeError, ValueError):
        return None
    return low, high


def _is_finite(value: Any) -> bool:
    """Return whether there is a value, and it is a number: not missing, not infinite."""
    return value is not None and (not isinstance(value, float) or isfinite(value))


def _number(value: Any) -> Fraction:
    if isinstance(value, datetime):
        value = value.date()
    return Fraction(value.toordinal()) if isinstance(value, date) else Fraction(value)


def _is_number(kind: pa.DataType | None) -> bool:
    types = (pa.types.is_integer, pa.types.is_floating, pa.types.is_date)
    return kind is not None and any(is_one(kind) for is_one in types)


# Budget check -------------------------------------------------------------------------------------------------------------
#
# Request of a planned release to the ledger: the plan rehearses it, and the release makes it in earnest.


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
    >>> from noisewright.policy.policy import as_policy
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


# Adopting -----------------------------------------------------------------------------------------------------------------
#
# Releases that a ledger has lost, from their locks: each with the privacy costs that follow from its policy.


def adopt(ledger: Ledger, folders: Sequence[str | os.PathLike[str]], reason: str) -> tuple[int, int]:
    """Charge spends that witnesses and the locks in these folders record and the ledger does not.

    Return how many heads it had lost, and how many releases were charged.
    """
    lost = ledger.forgotten()
    lost += [one for folder in folders if (one := _lost(Path(folder), ledger)) is not None]
    if not lost:
        return 0, 0
    return len({one.head for one in lost}), ledger.adopt(lost, reason)


def _lost(folder: Path, ledger: Ledger) -> Lost | None:
    try:
        lock = Lock.from_json(read_input(folder / LOCK).decode())
    except (OSError, UnicodeError, FileFormatError):
        raise ParameterError(f"{folder} holds no {LOCK} that can be read; name the folders of releases.") from None
    if lock.simulated or not lock.sealed_by(ledger.seal):
        raise ParameterError(f"{ledger.path} did not seal the lock in {folder}; name folders that it made.")
    if lock.head is None:
        return None
    try:
        ledger.check_holds(lock.head)
        return None
    except LedgerError:
        pass
    try:
        policy = Policy.from_dict(lock.document["policy"], LOCK)
        plan = make_plan(policy, lock.types, lock.table_rows)
    except NoisewrightError as problem:
        raise LedgerError(f"the prices of the release in {folder} cannot be computed again: {problem}") from None
    release, digest = lock.document["release"], lock.document["policy_digest"]
    return Lost(lock.head, release, policy.dataset, digest, terms_of(plan), tuple(charges_of(plan)))
