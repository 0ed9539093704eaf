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
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa

from noisewright.claims.phrases import OPEN
from noisewright.core.errors import DataError
from noisewright.releases.columns.types import check_spelling, known_types, source_for, used_columns
from noisewright.releases.kinds.registry import kind_of
from noisewright.releases.policy.policy import ColumnPolicy, Policy, as_policy
from noisewright.releases.sources.delimited import in_sql
from noisewright.releases.sources.duck import identifier, literal, quiet
from noisewright.releases.sources.files import names_without_types
from noisewright.releases.sources.open import source_of
from noisewright.releases.sources.source import Source

__all__ = ["NOT_PRIVATE", "Inspected", "inspect_table"]

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
    if isinstance(value, datetime.datetime):
        return f"{'TIMESTAMPTZ' if value.tzinfo else 'TIMESTAMP'} {literal(value.isoformat(sep=' '))}"
    if isinstance(value, datetime.date):
        return f"DATE {literal(value.isoformat())}"
    if isinstance(value, Fraction):
        return repr(float(value))
    return literal(value) if isinstance(value, str) else repr(value)
