"""A policy to start from: the names and types of a table's columns, and the decisions about each of them.

What goes into a policy is published with every release, so a range or a list of categories must be known without looking at
the
data. Where it is to stand, the policy states ``"FILL IN"``, and is refused until someone has. ``from_data`` copies the
smallest
and largest values and the categories of the table instead, and the policy states so in capitals.

The schema of Parquet, Arrow, DuckDB and Polars tables is public, and nothing else of them is examined. Files without
types (CSV, JSON lines, objects of pandas) are examined by their owner: a column is taken for what most of its first
cells are, so that hardly ever one person's cell decides it, and every column waits for its owner's confirmation.

>>> import pyarrow as pa
>>> start = starting_policy(pa.table({"age": [44, 31], "patient_id": ["a", "b"]}))
>>> [line for line in start.text.splitlines() if line.startswith(("name", "mechanism", "within"))]
['name = "age"  # whole numbers', 'mechanism = "geometric"', 'within = ["FILL IN", "FILL IN"]']
>>> start.columns, start.left_out, start.waiting
(('age',), ('patient_id',), 2)
"""

from __future__ import annotations

import datetime
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from noisewright.columns.registry import describe, fits, kind_of
from noisewright.policy.diagnostics import PLACEHOLDER
from noisewright.policy.parameters import EAST, NORTH
from noisewright.tables.duckdb import LADDER, identifier, quiet
from noisewright.tables.files import names_without_types
from noisewright.tables.reading import source_of
from noisewright.tables.source import Source

__all__ = ["Proposal", "Start", "starting_policy"]


TOTAL = 3
"""Settings that the columns share."""
LOOKED_AT, MOST = 100, Fraction(9, 10)
"""A column without a type is what nine tenths of its first cells are."""
MOST_CATEGORIES = 50

PERSON = re.compile(
    r"(?:^|[^a-z])(?:id|ids|uuid|guid|key|ssn|iban|e-?mail|phone|telephone|mobile|name|surname|username|passport|address"
    r"|(?:patient|person|customer|client|user|member|employee|student|subject|respondent|participant)"
    r"[\s_-]*(?:id|ids|no|nr|number|code|key)?)\s*$",
    re.IGNORECASE,
)
"""Names of columns that point to a person."""
SPELLINGS = {
    re.compile(
        r"[-+]?[0-9]+(?:[. ][0-9]{3})*,[0-9]+"
    ): "numbers with a decimal comma: save the table with points, as in 31.5, and start again",
    re.compile(
        r"[0-9]{1,2}([./-])[0-9]{1,2}\1(?:[0-9]{2}|[0-9]{4})(?:[ T][0-9:.]+)?"
    ): "dates in another order: save the table with dates like 2024-02-29, and start again",
}
"""Numbers and dates as they are written in many places, and the correction: a policy and a
table without types have one form of each."""

PUBLIC = "make this public knowledge yourself"
COPIED = f"COPIED FROM THE DATA: {PUBLIC}"
UNKNOWN_LENGTH = " of unknown length"


@dataclass(frozen=True)
class Start:
    """A starting policy as the text of a TOML file."""

    text: str
    columns: tuple[str, ...]
    """The columns that it would release."""
    left_out: tuple[str, ...]
    """Those that it would not, because of their names or types."""
    waiting: int
    """Number of places still to be filled in."""
    guessed: bool
    """True if types were guessed from cells."""
    from_data: bool
    """True if ranges and categories were copied from the data."""
    share: str
    """The part of the budget of each column."""
    proposals: tuple[Proposal, ...]
    """Proposals for every column, those left out too."""


def starting_policy(data: Any, *, dataset: str | None = None, from_data: bool = False) -> Start:
    """A policy to start from, for anything that a release takes.

    ``dataset``: the name under which the ledger is to remember; that of the file by default. ``from_data``: copy ranges and
    categories from the data, which discloses values of people in it; the text states that.
    """
    source, types, guessed = _typed(data, from_data)
    columns = _blocks(types, _respelled(source, types))
    called = _title(data, source) if dataset is None else dataset
    known = _known(source, columns) if from_data else {}
    share = _share(sum(column.mechanism is not None for column in columns))
    released = [column for column in columns if column.mechanism is not None]
    head = _head(source.name, called, guessed, from_data, columns)
    lines = (line for column in released for line in column.lines(share, known))
    parts = [*head, *lines, *_answers(released, share), *_left_out(columns)]
    text = "\n".join(parts) + "\n"
    return Start(
        text,
        tuple(name for column in released for name in column.names),
        tuple(name for column in columns if column.mechanism is None for name in column.names),
        sum(f'"{PLACEHOLDER}"' in line for line in text.splitlines() if not line.startswith(("#", "name"))),
        guessed,
        from_data,
        share,
        tuple(columns),
    )


# Facts about the table -----------------------------------------------------------------------------------------------------


def _typed(data: Any, from_data: bool) -> tuple[Source, dict[str, pa.DataType], bool]:
    """The source, the types of its columns, and whether these were guessed."""
    source = source_of(data, used=None if from_data else names_without_types(data))
    if from_data or source.format != "csv":
        return source, dict(zip(source.schema.names, source.schema.types, strict=True)), bool(source.guessed)
    names = source.schema.names
    first = next(iter(source.batches(names)), None)
    return source, {name: _likely(pa.nulls(0) if first is None else first.column(name)) for name in names}, True


def _likely(cells: pa.Array) -> pa.DataType:
    """Return the type of most of the first cells; text if they are nothing else."""
    seen = cells.drop_null()[:LOOKED_AT]
    for type_ in LADDER:
        hits = sum(fits(seen.slice(place, 1), type_) for place in range(len(seen)))
        if len(seen) and hits >= MOST * len(seen):
            return type_
    return pa.string()


def _respelled(source: Source, types: Mapping[str, pa.DataType]) -> dict[str, str]:
    """The columns of text of a file without types that hold numbers or dates in another form, and the correction."""
    texts = [name for name, type_ in types.items() if pa.types.is_string(type_)] if source.format == "csv" else []
    first = next(iter(source.batches(texts)), None) if texts else None
    found: dict[str, str] = {}
    if first is None:
        return found
    for name in texts:
        seen = [cell.strip() for cell in first.column(name).drop_null()[:LOOKED_AT].to_pylist()]
        for spelling, words in SPELLINGS.items():
            hits = sum(spelling.fullmatch(cell) is not None for cell in seen)
            if hits and hits + sum(cell.isdecimal() for cell in seen) >= MOST * len(seen):  # 31 needs no comma
                found[name] = words
    return found


def _known(source: Source, columns: Iterable[Proposal]) -> dict[str, Any]:
    """The ends or the values of every column, off the data."""
    found: dict[str, Any] = {}
    with source.database() as duck, quiet(f"{source.name} cannot be read"):
        for column in columns:
            for name in column.names if column.mechanism is not None else ():
                quoted = identifier(name)
                if column.kind in ("integer", "number", "date", "time"):
                    both = duck.sql(f"SELECT min({quoted}) AS low, max({quoted}) AS high FROM data").to_arrow_table()
                    found[name] = _ends(both)
                elif column.kind == "text":
                    asked = f"SELECT DISTINCT {quoted} FROM data WHERE {quoted} IS NOT NULL ORDER BY 1"
                    values = [value for (value,) in duck.sql(f"{asked} LIMIT {MOST_CATEGORIES + 1}").fetchall()]
                    found[name] = values if 2 <= len(values) <= MOST_CATEGORIES else None
    return found


def _ends(both: pa.Table) -> tuple[Any, Any] | None:
    """Two different ends that a policy can hold; None where none exist."""
    if pa.types.is_timestamp(both.schema.types[0]):
        both = both.cast(pa.schema([(f.name, pa.timestamp("us", f.type.tz)) for f in both.schema]), safe=False)
    low, high = both.to_pylist()[0].values()
    finite = all(end is not None and not (isinstance(end, float) and not math.isfinite(end)) for end in (low, high))
    return (low, high) if finite and low != high else None


def _title(data: Any, source: Source) -> str:
    """A name for the dataset that the ledger would take."""
    stem = re.sub(r"[^a-z0-9]+", "-", source.name.rpartition("@")[0].lower() or Path(source.name).name.lower())
    stem = stem if isinstance(data, (str, os.PathLike)) else ""
    return (
        re.sub(r"-(csv|tsv|parquet|pq|arrow|feather|ipc|jsonl|ndjson|xlsx)(-gz|-zst)?$", "", stem).strip("-") or "table"
    )


# What is said about each column -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Proposal:
    """One column, or two that form a place; without a mechanism it is left out, and ``words`` says why."""

    names: tuple[str, ...]
    kind: str
    words: str
    mechanism: str | None = None

    def lines(self, share: str, known: Mapping[str, Any]) -> Iterator[str]:
        """Return its ``[[columns]]``, with the decisions that are left."""
        name = _text(self.names[0]) if len(self.names) == 1 else f"[{', '.join(map(_text, self.names))}]"
        blank = "; with its stray blank, as in the table" if any(one != one.strip() for one in self.names) else ""
        yield from ("", "[[columns]]", f"name = {name}  # {self.words}{blank}")
        yield f"mechanism = {_text(str(self.mechanism))}"
        copied = known.get(self.names[0])
        match self.kind:
            case "text":
                yield "# free text, or a name or number of a person? then remove this column"
                if copied is None:
                    yield from _asking("categories", 'all values, as ["yes", "no"]', 1)
                else:
                    yield from (f"# {COPIED}", f"categories = [{', '.join(map(_text, copied))}]")
            case "boolean":
                yield "categories = [true, false]"
            case "place":
                yield from _asking("reference", "latitude and longitude near all places", 2)
                yield "protect = 500  # metres"
            case "vector":
                yield from _asking("protect", "a distance")
                if self.words.endswith(UNKNOWN_LENGTH):
                    yield from _asking("dimension", "how many numbers each vector has")
            case _:
                yield from self._range(copied)
        yield f"epsilon = {share}"

    def _range(self, copied: tuple[Any, Any] | None) -> Iterator[str]:
        if self.kind == "integer":
            yield '# a code? then mechanism = "randomised-response" and categories = [1, 2, 3]'
        if copied is None:
            ends = {"date": "the first and the last possible day", "time": "the first and the last possible time"}
            yield from _asking("within", ends.get(self.kind, "the least and the largest possible value"), 2)
        else:
            yield from (f"# {COPIED}", f"within = [{', '.join(map(_value, copied))}]")
        near = {"date": '"7 days"', "time": '"1 hour"'}.get(self.kind)
        if near is not None:
            yield f"protect = {near}"
        elif copied is not None:
            yield f"protect = {_tenth(copied)}  # a tenth of that range"
        else:
            yield from _asking("protect", "a distance")


def _asking(key: str, what: str, values: int = 0) -> Iterator[str]:
    """Return a placeholder, and the description of its value or values."""
    marks = ", ".join([f'"{PLACEHOLDER}"'] * max(1, values))
    if key != "protect":
        yield f"# {PUBLIC}: {what}"
    yield f"{key} = [{marks}]" if values else f"{key} = {marks}"


_MECHANISMS = {
    "integer": "geometric",
    "number": "laplace",
    "date": "laplace",
    "time": "laplace",
    "text": "randomised-response",
    "boolean": "randomised-response",
    "vector": "product-laplace",
}


def _blocks(types: Mapping[str, pa.DataType], respelled: Mapping[str, str]) -> list[Proposal]:
    """Every column in the order of the table; a latitude and a longitude are one place."""
    place = _place(types)
    found = []
    for name, type_ in types.items():
        if name in place:
            if name == place[0]:
                found.append(Proposal(place, "place", "latitude and longitude, in degrees", "geo-laplace"))
            continue
        if name in respelled:
            found.append(Proposal((name,), "number", respelled[name]))
            continue
        kind = kind_of(type_)
        mechanism = None if kind is None else _MECHANISMS.get(kind.name)
        if kind is None or mechanism is None:
            words = f"{describe(type_)}, for which you choose a mechanism yourself"
            found.append(Proposal((name,), "" if kind is None else kind.name, words))
        elif kind.name in ("integer", "text") and PERSON.search(name):
            found.append(Proposal((name,), kind.name, "its name says that it points to a person"))
        else:
            words = describe(type_) + (UNKNOWN_LENGTH if kind.name == "vector" and kind.size(type_) is None else "")
            found.append(Proposal((name,), kind.name, words, mechanism))
    return found


def _place(types: Mapping[str, pa.DataType]) -> tuple[str, ...]:
    """The columns of a latitude and of a longitude, if there is one of each."""
    numbers = [name for name, type_ in types.items() if getattr(kind_of(type_), "name", "") == "number"]
    north, east = ([name for name in numbers if name.lower() in known] for known in (NORTH, EAST))
    return (north[0], east[0]) if len(north) == len(east) == 1 else ()


# The text -----------------------------------------------------------------------------------------------------------------


def _head(file: str, dataset: str, guessed: bool, from_data: bool, columns: list[Proposal]) -> Iterator[str]:
    yield f"# A starting policy for {_text(file)}, from its schema."
    if from_data:
        yield from (
            "#",
            "# WARNING: RANGES AND CATEGORIES BELOW WERE COPIED FROM THE DATA.",
            "# A policy is published with every release, and they tell values of people",
            "# in the table. Replace each by what is known without looking at the data.",
        )
    yield from (
        "#",
        f'# 1. Replace every "{PLACEHOLDER}" by what is known without looking at the data:',
        "#    a policy is published with every release.",
    )
    if guessed:
        yield "#    The file has no types; they were guessed from its cells. Confirm each."
    yield from (
        "# 2. Remove the columns that nobody needs: each takes its part of the budget.",
        "# 3. See what it would promise: noisewright plan THIS_FILE TABLE",
        "#",
        '# protect: values at most this far apart look alike ("any": all; more noise)',
        "# epsilon: its part of the budget; more is less noise, and less protection",
        "",
        f"dataset = {_text(dataset)}  # the name under which the ledger remembers",
        "",
        "[budget]",
        f"epsilon = {TOTAL}  # for all releases together: 1 is strict, 10 is a lot",
        '# also = ["city-visits"]  # further datasets of the same people: charged, too',
    )
    person = next((c.names[0] for c in columns if c.kind in ("integer", "text") and c.mechanism is None), "patient")
    yield from (
        "",
        "# Every row is taken for one person. If one has several, say whose they are:",
        "# [unit]",
        f"# column = {_text(person)}",
        "# rows = 3  # the most rows of one person; each costs the whole price",
    )


def _answers(released: list[Proposal], share: str) -> Iterator[str]:
    """Write how to ask about all rows, in a comment: many who release rows want only their mean or their counts."""
    number = next((column.names[0] for column in released if column.kind in ("integer", "number")), None)
    yield from (
        "",
        "# Rows carry much noise, and an answer about all rows little. To ask for one,",
        "# take its epsilon from the columns, or remove some of them:",
        "# [[queries]]",
    )
    if number is None:
        yield from ('# name = "rows"', '# aggregate = "count"')
        yield '# where = "..."  # a condition in SQL; without one, all rows'
    else:
        yield from (
            f"# name = {_text(f'mean {number.strip()}')}",
            '# aggregate = "mean"',
            f"# column = {_text(number)}",
        )
        yield f"# within = [0, 100]  # {PUBLIC}"
    yield f"# epsilon = {share}"


def _left_out(columns: list[Proposal]) -> Iterator[str]:
    gone = [column for column in columns if column.mechanism is None]
    if gone:
        yield from ("", "# Not released, unless you add them:")
        yield from (f"# - {_text(column.names[0])}: {column.words}" for column in gone)


def _share(columns: int) -> str:
    """An equal part of the total, rounded down to two digits.

    >>> _share(4), _share(7), _share(400)
    ('0.75', '0.42', '0.0075')
    """
    part, scale = Fraction(TOTAL, max(1, columns)), 1
    while part * scale < 10:
        scale *= 10
    return f"{float(Fraction(int(part * scale), scale)):g}"


def _tenth(ends: tuple[Any, Any]) -> str:
    """About a tenth of a range, in one digit; at least 1 where values are whole."""
    low, high = (Fraction(end) for end in ends)
    width = float(high - low) / 10
    found = float(f"{width:.0e}")
    return f"{max(1, round(found))}" if all(isinstance(end, int) for end in ends) else f"{found:g}"


def _value(value: Any) -> str:
    """A number, a date or a time, as TOML writes it."""
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep="T")
    return value.isoformat() if isinstance(value, datetime.date) else repr(value)


def _text(value: str) -> str:
    """Text in quotes, as TOML reads it; also safe in a comment.

    >>> _text('say "no"'), _text("two\\nlines")
    ('"say \\\\"no\\\\""', '"two\\\\nlines"')
    """
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
