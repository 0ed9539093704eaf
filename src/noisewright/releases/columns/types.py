"""The type of every column that a policy uses, from the policy alone.

``types = { visit = "date" }`` says it; otherwise it follows from what else the policy states: declared values are text,
true/false, integers or numbers; a range of dates is for dates, one of dates with a clock, or a distance in hours, for
times; a mechanism that takes integers, documents or pictures is for these; every other mechanism and every aggregate is
for numbers. A unit is named by text.
Times have an offset if those that the policy names have one.

Tables with types of their own (Parquet, Arrow, DuckDB, Polars, Spark) keep them: a schema is public. It must be what
the policy states, or integers where that states numbers.

>>> from noisewright.releases.policy.policy import as_policy
>>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 3}, "types": {"ward": "text"}, "columns": [
...     {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1},
...     {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}]})
>>> {name: str(kind) for name, kind in known_types(policy).items()}
{'smoker': 'string', 'age': 'int64', 'ward': 'string'}
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from noisewright.core.choices import nearest_name, toml_key
from noisewright.core.errors import DataError, PolicyError
from noisewright.core.labels import labels_between
from noisewright.core.mechanism import Takes
from noisewright.mechanisms.registry import registry
from noisewright.releases.kinds.booleans import BOOLEAN
from noisewright.releases.kinds.dates import ZONED
from noisewright.releases.kinds.numbers import INTEGER, NUMBER
from noisewright.releases.kinds.registry import KINDS, every_kind, kind_named
from noisewright.releases.kinds.spans import Span
from noisewright.releases.policy.policy import ColumnPolicy, Policy, QueryPolicy
from noisewright.releases.queries.filters import names_in
from noisewright.releases.sources.open import source_of
from noisewright.releases.sources.source import SUFFIXES, Source

__all__ = ["check_spelling", "check_stated", "known_types", "source_for", "used_columns"]

LABELS, DATES, COUNTS, NUMBERS, NAMES = range(5)
"""Sources of a type, the surest first: declared values, dates, a mechanism for one kind, any other use, a unit's name."""

Use = tuple[str, int, str]


def known_types(policy: Policy) -> dict[str, pa.DataType]:
    """The type of every column that the policy states something about; filters and kept columns say nothing."""
    uses: list[Use] = []
    for column in policy.columns:
        if not column.keep:
            uses += _of_column(column)
    for query in policy.queries:
        uses += _of_query(query)
    if policy.unit.column is not None:
        uses.append((policy.unit.column, NAMES, "text"))
    surest: dict[str, tuple[int, str]] = {}
    for name, rank, kind in uses:
        if name not in surest or rank < surest[name][0]:
            surest[name] = rank, kind
    kinds = {name: kind for name, (_, kind) in surest.items()} | policy.types
    zoned = _with_offsets(policy)
    return {name: ZONED if kind == "time" and name in zoned else kind_named(kind).plain for name, kind in kinds.items()}


def source_for(policy: Policy, data: Any) -> Source:
    """The source of some data: the columns that a policy uses, in its types.

    Refused where a filter needs a type that neither states; kept columns of files without types are the text of each cell.
    """
    source = source_of(data, known_types(policy), policy.types, used_columns(policy))
    if source.format == "remote" and any(
        source.name.rstrip("/").lower().endswith(suffix) for suffix, form in SUFFIXES.items() if form == "json"
    ):
        raise DataError(f"{source.name}: JSON lines at an address have no types; store the table as Parquet there.")
    for place, query in enumerate(policy.queries):
        for name in sorted(source.guessed & names_in(query.where or "")):
            others = ", ".join(kind.name for kind in every_kind() if kind.name != "text" and kind.labels)
            raise PolicyError(
                f'{policy.where("queries", place, "where")} needs the type of the column "{name}", which {source.name} does '
                f'not tell; say types = {{ {toml_key(name)} = "text" }} (or {others}).'
            )
    if source.kind == "pandas" and policy.unit.drops:
        for name in sorted(source.guessed):
            if any(kind.holds(source.types[name]) for kind in (INTEGER, NUMBER, BOOLEAN)):
                raise PolicyError(
                    f"the column {name!r} is kept as it is, and pandas chooses its type by whether a value is missing, in rows "
                    'that are left out (excess = "first") as well; say its type, as in types = '
                    f'{{ {toml_key(name)} = "integer" }}.'
                )
    return source


def used_columns(policy: Policy) -> set[str]:
    """Return every name of a column that the policy uses: nothing that is published depends on the others."""
    found = {name for column in policy.columns for name in column.names} | set(policy.types)
    for query in policy.queries:
        found |= {*query.by} | names_in(query.where or "") | ({query.column} if query.column is not None else set())
    return found | ({policy.unit.column} if policy.unit.column is not None else set())


def check_spelling(policy: Policy, source: Source) -> None:
    """Refuse a name that is not in the table where another is much like it; one that is like nothing is refused where
    it is used.

    Keys of JSON lines are not read: the set of keys may disclose something about one row.
    """
    there = [] if source.format == "json" else source.schema.names
    named: list[tuple[str | None, tuple[str | int, ...]]] = [
        (name, ("columns", place)) for place, column in enumerate(policy.columns) for name in column.names
    ]
    for place, query in enumerate(policy.queries):
        named += [(name, ("queries", place)) for name in (query.column, *query.by)]
    named += [(policy.unit.column, ("unit",)), *((name, ("types", name)) for name in policy.types)]
    for name, where in named:
        if name is None:
            continue
        if name not in there and (near := nearest_name(name, there)) is not None:
            raise DataError(f"{policy.line(*where)}: there is no column {name!r} in the data; did you mean {near!r}?")


def check_stated(policy: Policy, types: Mapping[str, pa.DataType]) -> None:
    """Refuse a table whose columns are of other types than the policy states."""
    for name, stated in policy.types.items():
        where = policy.where("types", name)
        if name not in types:
            raise DataError(f"{where}: there is no column {name!r} in the data; correct the name, or the data.")
        if not kind_named(stated).holds(types[name]):
            raise DataError(
                f'{where}: the column is of type {types[name]}, which is not "{stated}"; correct the policy, or convert the '
                "column."
            )


def _of_column(column: ColumnPolicy) -> Iterator[Use]:
    takes, given = registry[column.mechanism or ""].takes, column.parameters
    if not takes.claims:  # its file states what each column is
        made: Any = registry[column.mechanism or ""].make(**given)
        yield from ((name, LABELS, kind) for name, kind in zip(column.names, made.kinds, strict=False))
        return
    for place, name in enumerate(column.names):
        labels = None if takes.points else _of_labels(given.get(takes.secrets or ""), place)
        if labels is not None:
            yield name, LABELS, labels
        elif (dates := _of_dates((given.get("within"), given.get("excluding"), column.fill))) is not None:
            clock = isinstance(column.protect, Span) and column.protect.days is None
            yield name, DATES, "time" if clock else dates
        elif isinstance(column.protect, Span):
            yield name, DATES, "date" if column.protect.days is not None else "time"
        else:
            yield name, *_of_mechanism(takes, len(column.names), given.get("dimension"))


def _of_mechanism(takes: Takes, columns: int, dimension: Any) -> tuple[int, str]:
    """Return the type that a mechanism takes: a kind of its own; coordinates and undeclared values are numbers."""
    if takes.points or takes.kind not in KINDS:
        alone = takes.kind == "vector" and columns == 1 and dimension not in (None, 1)
        return (COUNTS, takes.kind) if alone else (NUMBERS, "number")
    return (NUMBERS, "number") if takes.kind == "number" else (COUNTS, takes.kind)


def _of_query(query: QueryPolicy) -> Iterator[Use]:
    for name, values in (*query.by.items(), *([(query.column, query.values)] if query.column and query.values else ())):
        if (labels := _of_labels(values, 0)) is not None:
            yield name, LABELS, labels
    if query.column is not None and query.values is None:
        dates = _of_dates((query.within, query.bins))
        yield (query.column, NUMBERS, "number") if dates is None else (query.column, DATES, dates)


def _with_offsets(policy: Policy) -> set[str]:
    """The columns of which the policy names a time with an offset: they hold moments."""
    named: list[tuple[str, Any]] = []
    for column in policy.columns:
        given = column.parameters
        places = (given.get("within"), given.get("excluding"), column.fill)
        named += [(name, places) for name in column.names]
    named += [(query.column, (query.within, query.bins)) for query in policy.queries if query.column is not None]
    return {name for name, places in named if _has_offset(places)}


def _has_offset(places: Any) -> bool:
    if isinstance(places, (list, tuple)):
        return any(_has_offset(place) for place in places)
    return isinstance(places, datetime.datetime) and places.tzinfo is not None


def _of_labels(labels: Any, place: int) -> str | None:
    """Return the type of a list of values (in one of its columns), or None where it is unknown."""
    if isinstance(labels, int):
        return "integer"
    if isinstance(labels, str):
        return "integer" if labels_between(labels, "points") is not None else None
    if not isinstance(labels, (list, tuple)) or not labels:
        return None
    parts = [label[place] if isinstance(label, (list, tuple)) and place < len(label) else label for label in labels]
    kinds = {_of_label(part) for part in parts}
    if kinds == {"integer", "number"}:
        return "number"
    return kinds.pop() if len(kinds) == 1 else None


def _of_label(value: Any) -> str | None:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, datetime.date):
        return "time" if isinstance(value, datetime.datetime) else "date"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, (float, Decimal, Fraction)):
        return "number"
    return "text" if isinstance(value, str) else None


def _of_dates(places: Any) -> str | None:
    """Return whether there are dates among places, however deep; a clock anywhere makes them times."""
    if isinstance(places, datetime.date):
        return "time" if isinstance(places, datetime.datetime) else "date"
    if not isinstance(places, (list, tuple)):
        return None
    kinds = [_of_dates(place) for place in places]
    return "time" if "time" in kinds else "date" if "date" in kinds else None
