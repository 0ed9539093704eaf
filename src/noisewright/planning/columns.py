"""The type of every column that a policy uses, from the policy alone.

``types = { visit = "date" }`` says it; otherwise it follows from what else the policy states: declared values are text,
true/false, integers or numbers; a range of dates is for dates, one of dates with a clock, or a distance in hours, for
times; a mechanism that takes integers, documents or pictures is for these; every other mechanism and every aggregate is
for numbers. A unit is named by text.
Times have an offset if those that the policy names have one.

Tables with types of their own (Parquet, Arrow, DuckDB, Polars, Spark) keep them: a schema is public. It must be what
the policy states, or integers where that states numbers.

>>> from noisewright.policy.policy import as_policy
>>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 3}, "types": {"ward": "text"}, "columns": [
...     {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1},
...     {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}]})
>>> {name: str(kind) for name, kind in known_types(policy).items()}
{'smoker': 'string', 'age': 'int64', 'ward': 'string'}

The kind of a column is the one that the policy states; or the input of the mechanism, where that kind holds the column's type
(free text is distinguished from text in no other way); or else the kind of its type. What a mechanism is given then
follows from what it declares (:class:`~noisewright.base.Takes`), and nothing from the names of its parameters.

>>> from noisewright.mechanisms.registry import registry
>>> place = secret_of(("north", "east"), (pa.float32(), pa.int8()), registry["planar-laplace"])
>>> place.read([pa.array([0.5], pa.float32()), pa.array([7], pa.int8())]).tolist(), place.numbers
([[0.5, 7.0]], 2)
>>> [column.type for column in place.write(np.array([[1.25, 300.0]]), 1)]
[DataType(float), DataType(int8)]

A policy has checked the kinds of all values, and numbers are exact already. The rest depends on the columns:

* a date stands for its day number, a date with a clock for its second, as :mod:`noisewright.columns.scalars` counts them;
* labels (the parameter that lists the secrets) are a list, a number of them, or text such as ``"0..120"``; a list inside is a
  tuple with a part for each column;
* a metric is named by text: ``metric = "line"``, ``metric = "0.5 * euclidean"``;
* a grid is ``{columns = 4, rows = 3, step = 100, origin = [0, 0]}``, a polygon ``{polygon = [[x, y], ...]}``, a list of
  places ``{places = [[x, y], ...]}`` or just the list.

``excluding`` names gaps where nothing may come out. For numbers a gap is open: its two ends are valid. For dates and times
people say which is the *first and the last closed day*, so both are excluded: the gap runs from the day before to the
day after.

>>> import datetime
>>> import pyarrow as pa
>>> from noisewright.mechanisms.registry import registry
>>> from noisewright.planning.columns import secret_of
>>> season = ((datetime.date(1970, 1, 11), datetime.date(1970, 1, 20)),)
>>> arguments({"excluding": season, "scope": "metric"}, secret_of(("day",), (pa.date32(),), registry["laplace"]))
{'excluding': ((9, 20),), 'scope': 'metric'}
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from noisewright._utils.validation import nearest_name, toml_key
from noisewright.base import Entry, Takes
from noisewright.columns.arrow import Mask, arrow_array, as_array, pc, restore, take_present
from noisewright.columns.column_type import Kind, Span
from noisewright.columns.nested import TEXT, plain_text
from noisewright.columns.registry import KINDS, describe, every_kind, kind_named, kind_of, present
from noisewright.columns.scalars import BOOLEAN, INTEGER, NUMBER, ZONED
from noisewright.exceptions import DataError, ParameterError, PolicyError
from noisewright.mechanisms.registry import registry
from noisewright.metrics.base import Metric, labels_between, named_metric
from noisewright.policy.policy import ColumnPolicy, Policy, QueryPolicy
from noisewright.queries.filters import names_in
from noisewright.resources import Resource, Seed
from noisewright.tables.reading import source_of
from noisewright.tables.source import SUFFIXES, Source

if TYPE_CHECKING:
    from noisewright.mechanisms.spatial.planar_laplace import Grid, Places, Polygon

__all__ = [
    "Secret",
    "arguments",
    "check_spelling",
    "check_stated",
    "kind_for",
    "known_types",
    "label",
    "secret_of",
    "source_for",
    "title_of",
    "used_columns",
]


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


# Secret -------------------------------------------------------------------------------------------------------------------
#
# The columns that form one secret: of which kind each is, and the way to the values of a mechanism and back.


@dataclass(frozen=True)
class Secret:
    """Columns, their types and kinds, and the mechanism's declaration; ``size`` is the length of a value with several
    numbers.
    """

    names: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    kinds: tuple[Kind, ...]
    takes: Takes
    size: int | None = None

    @property
    def numbers(self) -> int:
        """Number of numbers in one secret: one for each column, or the length of the vector of one column."""
        return len(self.types) if self.several is None or self.size is None else self.size

    @property
    def several(self) -> Kind | None:
        """The kind of the only column, where each of its values has several numbers."""
        alone = self.kinds[0] if len(self.kinds) == 1 else None
        return alone if alone is not None and alone.size(self.types[0]) != 1 else None

    @property
    def unit(self) -> str:
        """The unit of the values of a single column, in the singular."""
        return self.kinds[0].unit if len(self.kinds) == 1 else ""

    @property
    def output_kinds(self) -> tuple[Kind, ...]:
        """The kinds of the output: what the mechanism declares, or the columns' own."""
        gives = self.takes.gives
        return self.kinds if gives is None or gives not in KINDS else (kind_named(gives),) * len(self.kinds)

    @property
    def output_types(self) -> tuple[pa.DataType, ...]:
        """The types of the released columns."""
        return tuple(
            kind.output_type(type_ if kind.holds(type_) else kind.plain)
            for kind, type_ in zip(self.output_kinds, self.types, strict=True)
        )

    @property
    def block_rows(self) -> int:
        """The most rows of a block."""
        return min(kind.block_rows(type_, self.size) for kind, type_ in zip(self.kinds, self.types, strict=True))

    @property
    def coded(self) -> bool:
        """True if the columns are of labels, which may come with a dictionary."""
        return self.takes.form == "arrow" and all(kind is TEXT for kind in self.kinds)

    def described(self) -> str:
        """Describe the content of the columns in words."""
        return " and ".join(describe(type_, kind) for type_, kind in zip(self.types, self.kinds, strict=True))

    def arrays(self, columns: Sequence[Any]) -> list[pa.Array]:
        """The columns in one piece each; refused if they are not of the kinds that were planned for."""
        found = [as_array(column) for column in columns]
        if not all(kind.holds(array.type) for kind, array in zip(self.kinds, found, strict=True)):
            raise DataError(
                f"{title_of(self.names)} has another type than planned for; plan the release for these data again."
            )
        return found

    def there(self, arrays: Sequence[pa.Array]) -> Mask | None:
        """Return a mask of the rows without missing values in any column; None where that is everywhere."""
        return present(self.kinds, arrays)

    def filled(self, arrays: Sequence[pa.Array], fill: Sequence[Any]) -> list[pa.Array]:
        """The columns with public values wherever they are missing."""
        found = []
        for array, kind, value in zip(arrays, self.kinds, fill, strict=True):
            plain, mask = plain_text(array), kind.present(array)
            found.append(
                plain if mask is None else pc.if_else(arrow_array(mask), plain, kind.scalar(value, plain.type))
            )
        return found

    def taken(self, arrays: Sequence[pa.Array], mask: Mask | None) -> list[pa.Array]:
        """The rows of a mask."""
        return [take_present(array, mask) for array in arrays]

    def put_back(self, arrays: Sequence[pa.Array], mask: Mask | None) -> list[pa.Array]:
        """Rows in their places again, null where something was missing."""
        return [restore(array, mask) for array in arrays]

    def empty(self) -> list[pa.Array]:
        """Columns without rows."""
        return [pa.nulls(0, self._plain(place)) for place in range(len(self.types))]

    def missing(self) -> list[pa.Array]:
        """Columns of one row in which all is missing."""
        return [pa.nulls(1, self._plain(place)) for place in range(len(self.types))]

    def read(self, arrays: Sequence[pa.Array]) -> Any:
        """Return the inputs of the mechanism, for columns without missing values."""
        parts = [kind.read(array, self.takes.form, self.size) for kind, array in zip(self.kinds, arrays, strict=True)]
        if self.takes.form == "arrow":
            if len(parts) == 1:
                return parts[0]
            return pa.StructArray.from_arrays(
                [plain_text(part) for part in parts], names=list(map(str, range(len(parts))))
            )
        if len(parts) > 1 or (self.takes.points and self.several is None):
            return np.column_stack(parts)
        return parts[0]

    def write(self, drawn: Any, rows: int) -> list[pa.Array]:
        """Convert the output of the mechanism to the types of the released columns."""
        parts = self._parts(drawn)
        if len(parts) != len(self.types) or any(len(part) != rows for part in parts):
            raise DataError("the mechanism does not give one value for each; use it on its own, not for a column.")
        return [
            kind.write(part, type_)
            for kind, part, type_ in zip(self.output_kinds, parts, self.output_types, strict=True)
        ]

    def _parts(self, drawn: Any) -> list[Any]:
        """One array for each column."""
        if isinstance(drawn, pa.StructArray):
            return list(drawn.flatten())
        if isinstance(drawn, tuple):
            return list(drawn)
        if isinstance(drawn, pa.Array):
            return [drawn]
        alone = self.output_kinds[0] if len(self.kinds) == 1 else None
        if (
            alone is not None
            and isinstance(drawn, list)
            and not (alone.numeric or alone.size(self.output_types[0]) != 1)
        ):
            return [drawn]  # bytes, of which numpy would cut off zeros at their ends
        table = np.asarray(drawn)
        if alone is not None and alone.size(self.output_types[0]) != 1:
            return [table]
        parts = [table] if table.ndim <= 1 else list(table.T)
        return parts if all(part.ndim == 1 for part in parts) else []

    def _plain(self, place: int) -> pa.DataType:
        """The type of a column, dictionaries written out."""
        type_ = self.types[place]
        return self.kinds[place].output_type(type_) if pa.types.is_dictionary(type_) else type_


def secret_of(
    names: tuple[str, ...],
    types: tuple[pa.DataType, ...],
    entry: Entry,
    stated: Mapping[str, str] | None = None,
    folder: str | None = None,
) -> Secret:
    """The secret that some columns form for a mechanism; refused where it does not take them.

    ``stated``: the kinds that a policy states; ``folder``: where the files are that the cells name.
    """
    takes, kinds = entry.takes, []
    if takes.purpose == "choice":
        raise ParameterError(
            f"{title_of(names)}: {entry.name} takes {entry.words} and gives no value for each; it cannot perturb a column."
        )
    for name, type_ in zip(names, types, strict=True):
        kind = kind_for(name, type_, takes, stated or {})
        kinds.append(_taken(name, type_, kind, entry))
    try:
        if takes.parts == 1 and len(names) > 1:
            raise ParameterError(f"{entry.name} takes one column of {entry.words}, not {len(names)}; name each alone.")
        if len(names) > 1 and (_gives_another(takes) or any(k.size(t) != 1 for k, t in zip(kinds, types, strict=True))):
            raise ParameterError(f"{entry.name} takes one column here, not {len(names)}; name one that holds it all.")
        kinds = kinds if folder is None else [kind.under(folder) for kind in kinds]
    except ParameterError as problem:
        raise ParameterError(f"{title_of(names)}: {problem}") from None
    return Secret(names, types, tuple(kinds), takes)


def kind_for(name: str, type_: pa.DataType, takes: Takes, stated: Mapping[str, str]) -> Kind | None:
    """The kind of a column: the stated one, the one that the mechanism takes, or its type's."""
    for wanted in (stated.get(name), takes.kind):
        if wanted is not None and wanted in KINDS and kind_named(wanted).holds(type_):
            return kind_named(wanted)
    return kind_of(type_)


def title_of(columns: Sequence[str]) -> str:
    """The columns of one part in a message.

    >>> title_of(["age"]), title_of(["lat", "lon"])
    ("column 'age'", "columns 'lat' and 'lon'")
    """
    if len(columns) == 1:
        return f"column {columns[0]!r}"
    return f"columns {', '.join(map(repr, columns[:-1]))} and {columns[-1]!r}"


def _gives_another(takes: Takes) -> bool:
    return takes.gives is not None and takes.gives in KINDS


def _taken(name: str, type_: pa.DataType, kind: Kind | None, entry: Entry) -> Kind:
    """The kind, if the mechanism takes it."""
    words = f"column {name!r} is {describe(type_, kind)}"
    if kind is None:
        hint = "convert the column first."
        if pa.types.is_decimal(type_):
            hint = "make it a double, or whole numbers of its smallest unit (cents), before the release."
        raise DataError(f"{words}, which cannot be perturbed exactly; {hint}")
    if not _takes(entry.takes, kind):
        wordy = kind.labels and not kind.numeric
        other = "a mechanism for categories, such as randomised-response" if wordy else "another mechanism"
        raise DataError(f"{words}, but {entry.name} takes {entry.words}; choose {other}, or convert the column.")
    return kind


def _takes(takes: Takes, kind: Kind) -> bool:
    """Return whether a mechanism takes columns of a kind."""
    if kind.name == takes.kind or (takes.kind == "record" and (kind.numeric or kind.labels)):
        return True
    if takes.points:
        return kind.coordinate
    if takes.kind == "category":
        return kind.labels
    return kind.numeric and takes.kind in KINDS and kind_named(takes.kind).numeric


# Arguments ----------------------------------------------------------------------------------------------------------------
#
# From the values of a policy to the parameters of a mechanism, for the columns that they are about.


INTERVALS = ("within", "excluding")
"""The declared range of the secrets, and the gaps in it."""


def arguments(given: Mapping[str, Any], secret: Secret) -> dict[str, Any]:
    """The given values as a constructor wants them, for the columns that they are about."""
    return {name: _convert(name, value, secret) for name, value in given.items()}


def label(value: Any, secret: Secret) -> Any:
    """One label as it stands in a column, or a tuple of them for several columns."""
    columns = len(secret.types)
    if isinstance(value, (list, tuple)):
        if len(value) != columns:
            raise ParameterError(f"a label has {len(value)} parts, but there are {columns} columns; give one for each.")
        return tuple(_part(part, secret, place) for place, part in enumerate(value))
    if columns != 1:
        raise ParameterError(f"a label of {columns} columns is a list with a part for each of them.")
    return _part(value, secret, 0)


def _part(value: Any, secret: Secret, place: int) -> Any:
    """Return the value in one column for a label, or for a part of one."""
    if isinstance(value, (list, tuple)):
        inner = tuple(_part(part, secret, place) for part in value)
        if len(inner) == 1:
            return inner
        raise ParameterError(f"a label has {len(inner)} parts, but there are 1 columns; give one for each.")
    kind = secret.kinds[place]
    value = kind.place(value, secret.types[place], "a label")
    if isinstance(value, (bool, str, int)):
        return value
    number, fractions = float(value), kind.numeric and not kind.whole
    return int(number) if not fractions and number == math.floor(number) else number


def _convert(name: str, value: Any, secret: Secret) -> Any:
    if isinstance(value, (Resource, Seed)):
        return value
    if name == "metric" and secret.takes.metric:
        return value if isinstance(value, Metric) else named_metric(value)
    if isinstance(value, dict):
        return _shape(name, value)
    if name == secret.takes.secrets:
        return _labels(name, value, secret)
    if name in INTERVALS:
        return _intervals(name, value, secret)
    if isinstance(value, (list, tuple)):
        return tuple(_convert(name, part, secret) for part in value)
    return secret.kinds[0].place(value, secret.types[0], name)


def _intervals(name: str, value: Any, secret: Secret) -> Any:
    """Return one interval, or several; any other value is left to the constructor to refuse."""
    if not isinstance(value, (list, tuple)):
        return value
    if value and all(isinstance(part, (list, tuple)) for part in value):
        return tuple(_intervals(name, part, secret) for part in value)
    kind, sides = secret.kinds[0], (0, *[1] * len(value))
    ends = [kind.place(end, secret.types[0], name, side) for side, end in zip(sides, value, strict=False)]
    if name == "excluding" and kind.calendar:
        ends = [
            end + move if isinstance(end, (int, Fraction)) else end for end, move in zip(ends, (-1, 1), strict=False)
        ]
    return tuple(ends)


def _labels(name: str, value: Any, secret: Secret) -> Any:
    if isinstance(value, str):
        found = labels_between(value, name)
        if found is None:
            raise ParameterError(
                f"{name} must be a list, a number of labels, or text such as '0..120' from a low to a high number."
            )
        return tuple(found)
    return tuple(label(part, secret) for part in value) if isinstance(value, (list, tuple, range)) else value


def _shape(name: str, value: Mapping[str, Any]) -> Grid | Places | Polygon:
    from noisewright.mechanisms.spatial.planar_laplace import Grid, Places, Polygon

    plain = {key: _plain(part) for key, part in value.items()}
    if set(plain) == {"polygon"}:
        return Polygon(plain["polygon"])
    if set(plain) == {"places"}:
        return Places(plain["places"])
    if {"columns", "rows"} <= set(plain) <= {"columns", "rows", "step", "origin"}:
        return Grid(**plain)
    raise ParameterError(
        f"{name} must be a list of places, {{columns, rows, step, origin}}, {{polygon = [...]}} or {{places = [...]}}."
    )


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_plain(part) for part in value)
    return float(value) if isinstance(value, (Decimal, Fraction)) else value
