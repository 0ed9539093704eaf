"""A kind of value that a policy is written in: how it is read, what a schema says of it, and how JSON has it.

A reader raises :func:`wrong` with the end of a sentence, which begins with the key: *must be greater than 0; write ...*
Pydantic carries it to the top, with the path to the key.

>>> def even(value: int) -> int:
...     if value % 2:
...         raise wrong("must be even; write a number such as 2")
...     return value
>>> list(each([2, 4], even))
[2, 4]
>>> try:
...     list(each([2, 3], even))
... except PydanticCustomError as error:
...     inner_problems(error, "doors")
[(('doors', 1), 'must be even; write a number such as 2')]

``0.1`` in a policy is one tenth, and so are ``"0.1"`` and ``"1/10"``. TOML hands decimals over as they were written
(:class:`decimal.Decimal`); a Python float counts as the decimal that Python prints for it.

>>> number(0.1) == number("1/10") == number(Decimal("0.1")) == Fraction(1, 10)
True

>>> text("age"), _names(["lat", "lon"])
('age', ('lat', 'lon'))
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from noisewright.columns.column_type import UNITS, Span
from noisewright.columns.registry import KINDS, kind_names
from noisewright.numerics.exact import LARGEST_SPELLED, fraction_or_none
from noisewright.resources import Resource, Seed

__all__ = [
    "IS_FRACTION",
    "IS_NUMBER",
    "IS_PLACE",
    "IS_POSITIVE",
    "LONGEST_LIST",
    "PUBLIC_RANGE",
    "Chance",
    "Datasets",
    "Date",
    "Distance",
    "Edges",
    "Filling",
    "Flag",
    "Groups",
    "Labels",
    "Name",
    "Names",
    "Number",
    "Pair",
    "Parameter",
    "Path",
    "Positive",
    "Problem",
    "Renames",
    "Scalar",
    "Text",
    "Types",
    "ValueType",
    "Weights",
    "Whole",
    "each",
    "inner_problems",
    "jsonable",
    "label",
    "listed",
    "number",
    "place",
    "plain",
    "positive",
    "text",
    "whole",
    "writable",
    "wrong",
]


Path = tuple[str | int, ...]
"""Keys and positions in arrays, from the outside in: ``("columns", 2, "epsilon")``."""


Problem = tuple[Path, str]
"""Place of a problem, and the end of the sentence about it."""

LONGEST_LIST = 10_000_000
"""No mechanism takes more labels than this."""


@dataclass(frozen=True, eq=False)
class ValueType:
    """A kind of value for Pydantic: how it is read, how a schema describes it, and how it is written as JSON."""

    read: Callable[[Any], Any]
    schema: dict[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(jsonable, when_used="json")
        return core_schema.no_info_plain_validator_function(self.read, serialization=written)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return dict(self.schema)


def wrong(*problems: Problem | str) -> PydanticCustomError:
    """The error that carries problems through a validation; a string is about the value itself."""
    told = [((), problem) if isinstance(problem, str) else problem for problem in problems]
    return PydanticCustomError("wrong", "see the problems", {"problems": told})


def inner_problems(error: PydanticCustomError, *head: str | int) -> list[Problem]:
    """Return the problems that a :func:`wrong` carries, with paths that begin with ``head``."""
    return [((*head, *path), told) for path, told in (error.context or {})["problems"]]


def each(values: Iterable[Any], read: Callable[[Any], Any]) -> Iterator[Any]:
    """Every value of a list, read; a problem is given with the position it is at."""
    for position, value in enumerate(values):
        try:
            yield read(value)
        except PydanticCustomError as error:
            raise wrong(*inner_problems(error, position)) from None


def listed(value: Any, teach: str) -> Iterable[Any]:
    """A list that is not too long; ``teach`` says what to write instead."""
    value = plain(value)
    if not isinstance(value, (list, tuple, range)) or len(value) > LONGEST_LIST:
        raise wrong(f"must be a list; {teach}")
    return value


def plain(value: Any) -> Any:
    """numpy's numbers and arrays as Python's own."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def jsonable(value: Any) -> Any:
    """Return the JSON form of a value of a policy: exact numbers are integers or text such as "1/10"."""
    if isinstance(value, (tuple, list)):
        return [jsonable(part) for part in value]
    if isinstance(value, dict):
        return {key: jsonable(part) for key, part in value.items()}
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if isinstance(value, Span):
        return str(value)
    if isinstance(value, Seed):
        return value.hex
    if isinstance(value, Resource):
        return value.to_json()
    return value.isoformat() if isinstance(value, datetime.date) else value


# Numbers ------------------------------------------------------------------------------------------------------------------
#
# Numbers in a policy: exact, as they were written.


MOST_EDGES = 4097
"""Maximum number of bins by their edges; a query can have 4096."""
MOST_WEIGHTS = 16

IS_NUMBER: dict[str, Any] = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^\s*[-+]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)\s*$"},
    ]
}

IS_FRACTION = {"type": "string", "pattern": r"^\s*\+?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)\s*$"}

IS_POSITIVE: dict[str, Any] = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, IS_FRACTION]}

IS_CHANCE: dict[str, Any] = {"anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, IS_FRACTION]}


def number(value: Any) -> Fraction:
    """A number, exactly as it was written."""
    value = plain(value)
    if isinstance(value, (float, Decimal)):
        if not _finite(value):
            raise wrong("must be a finite number; write a number such as 0.5")
        if isinstance(value, Decimal) and abs(value.adjusted()) > LARGEST_SPELLED:
            raise wrong('is far too long or too large a number; write it like 0.5 or "1/2"')
        value = repr(float(value)) if isinstance(value, float) else str(value)
    found = fraction_or_none(value)
    if found is None:
        raise wrong('must be a number; write it like 0.5 or "1/2"')
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > LARGEST_SPELLED:
        raise wrong('is far too long or too large a number; write it like 0.5 or "1/2"')
    return found


def positive(value: Any) -> Fraction:
    """A number positive."""
    found = number(value)
    if found <= 0:
        raise wrong("must be greater than 0; write a number such as 0.5")
    return found


def _chance(value: Any) -> Fraction:
    found = number(value)
    if not 0 <= found < 1:
        raise wrong("must be at least 0 and below 1; write a small number such as 1e-6")
    return found


def whole(value: Any) -> int:
    """An integer at least 1."""
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
        raise wrong("must be a whole number from 1 on; write one such as 3")
    return value


def _weights(value: Any) -> tuple[Fraction, ...]:
    if isinstance(value, (list, tuple)) and len(value) > MOST_WEIGHTS:
        raise wrong("must have two or three numbers; write shares such as [1, 3]")
    return tuple(each(listed(value, "write shares such as [1, 3]"), positive))


def _finite(value: float | Decimal) -> bool:
    return value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)


Number = Annotated[Fraction, ValueType(number, IS_NUMBER)]
Positive = Annotated[Fraction, ValueType(positive, IS_POSITIVE)]
Chance = Annotated[Fraction, ValueType(_chance, IS_CHANCE)]
Whole = Annotated[int, ValueType(whole, {"type": "integer", "minimum": 1})]
Weights = Annotated[
    tuple[Fraction, ...], ValueType(_weights, {"type": "array", "items": IS_POSITIVE, "minItems": 2, "maxItems": 3})
]


Date = datetime.date | datetime.datetime
"""A day, or a moment."""

PUBLIC_RANGE = (
    "must be two numbers that are public: a range found in the data would give its extreme values away; "
    "write the lowest and the highest value that are possible, such as [0, 120]"
)
"""Message to someone who wants the range taken from the data."""

IS_PLACE: dict[str, Any] = {
    "anyOf": [*IS_NUMBER["anyOf"], {"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]
}

IS_SPAN = {"type": "string", "pattern": r"^\s*\+?(\d+/\d+|\d+\.?\d*|\.\d+)\s*(day|hour|minute|second)s?\s*$"}


def place(value: Any) -> Fraction | Date:
    """A place on the axis of a column: a number, or a date or a time, which JSON writes as text."""
    value = plain(value)
    if isinstance(value, datetime.date):
        return value
    try:
        return number(value)
    except PydanticCustomError:
        for read in (datetime.date.fromisoformat, datetime.datetime.fromisoformat):
            try:
                return read(value)
            except (TypeError, ValueError):
                continue
        raise


def _pair(value: Any) -> tuple[Any, Any]:
    if isinstance(value, str):
        raise wrong(PUBLIC_RANGE)
    found = _places(value)
    if len(found) != 2 or not _rising(found):
        raise wrong("must be two numbers or two dates, the lower one first; write a public range such as [0, 120]")
    return found[0], found[1]


def _edges(value: Any) -> int | tuple[Any, ...]:
    value = plain(value)
    if isinstance(value, int):
        return whole(value)
    if isinstance(value, (list, tuple)) and len(value) > MOST_EDGES:
        raise wrong(
            f"has {len(value):,} edges, and {MOST_EDGES:,} are the most; write how many bins there are, such as 100"
        )
    found = _places(value)
    if not _rising(found):
        raise wrong("must be a whole number or rising edges; write bins = 10 or bins = [0, 18, 65, 120]")
    return found


def _distance(value: Any) -> Fraction | Span | Literal["any"]:
    if value == "any" and isinstance(value, str):
        return "any"
    try:
        timed = re.fullmatch(r"(.*?)(day|hour|minute|second)s?\s*", value) if isinstance(value, str) else None
        return positive(value) if timed is None else Span(positive(timed[1]) * UNITS[timed[2]])
    except PydanticCustomError:
        raise wrong(
            'must be a distance greater than 0 or "any"; write a number such as 5 (of places, in metres), or "7 days" (or hours, '
            "minutes, seconds)"
        ) from None


def _places(value: Any) -> tuple[Any, ...]:
    return tuple(each(listed(value, "write numbers such as [0, 10, 20]"), place))


def _rising(places: tuple[Any, ...]) -> bool:
    """Return whether there are two places or more, of one kind, each above the last."""
    try:
        return len(places) >= 2 and all(a < b for a, b in pairwise(places))
    except TypeError:  # a number and a date, a date and a time, or a local time and one with an offset
        return False


Pair = Annotated[
    tuple[Fraction | Date, Fraction | Date],
    ValueType(_pair, {"type": "array", "items": IS_PLACE, "minItems": 2, "maxItems": 2}),
]
Edges = Annotated[
    int | tuple[Fraction | Date, ...],
    ValueType(
        _edges, {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": IS_PLACE, "minItems": 2}]}
    ),
]
Distance = Annotated[
    Fraction | Span | Literal["any"],
    ValueType(_distance, {"anyOf": [{"const": "any"}, IS_POSITIVE["anyOf"][0], IS_FRACTION, IS_SPAN]}),
]


# Labels -------------------------------------------------------------------------------------------------------------------
#
# Names and other text in a policy: of columns and datasets, for people to read and programs to write.


def text(value: Any) -> str:
    """Text that is not blank and can be written to a file."""
    if not isinstance(value, str):
        raise wrong('must be text; write it in quotes, such as "age"')
    if not value.strip():
        raise wrong("must not be empty; write a name or remove the key")
    if not writable(value):
        raise wrong("holds half of a character (a lone surrogate) and cannot be written; correct the text")
    return value


def _name(value: Any) -> str:
    """A name that people read in a ledger, a report and on a screen."""
    found = text(value)
    if not found.isprintable():
        raise wrong("holds control characters, which a screen would follow; write a name such as clinic")
    return found


def _new_name(value: Any) -> str:
    """A name for a column of the output, which other programs will read."""
    found = text(value)
    if not found.isprintable():
        raise wrong("holds control characters, which a screen would follow; write a name such as age_noisy")
    if found.startswith(".") or re.search(r"\.\.[/\\]", found):
        raise wrong(
            "must not begin with a dot nor lead to a folder above, because programs name files by columns; write a name such "
            "as age_noisy"
        )
    return found


def _renames(value: Any) -> str | tuple[str, ...]:
    return _names(value, _new_name)


def _names(value: Any, read: Callable[[Any], str] = text) -> str | tuple[str, ...]:
    """One name, or several that belong together."""
    value = plain(value)
    if not isinstance(value, (list, tuple)):
        return read(value)
    if not value:
        raise wrong('must not be empty; write a name such as "age", or several such as ["lat", "lon"]')
    found = tuple(each(value, read))
    if len(set(found)) < len(found):
        raise wrong("holds a name twice; write each name once")
    return found


def _datasets(value: Any) -> tuple[str, ...]:
    """The names of further datasets, each once."""
    found = tuple(each(listed(value, 'write ["city-visits"]'), _name))
    if len(set(found)) < len(found):
        raise wrong("holds a name twice; write each name once")
    return found


def writable(words: str) -> bool:
    """Return whether a text can be written to a file: no half of a character."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True


IS_TEXT = {"type": "string", "minLength": 1}

IS_NEW_NAME = {**IS_TEXT, "pattern": r"^[^.\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"}

Text = Annotated[str, ValueType(text, IS_TEXT)]
Name = Annotated[str, ValueType(_name, {**IS_TEXT, "pattern": r"^[^\x00-\x1f\x7f]*$"})]
Datasets = Annotated[tuple[str, ...], ValueType(_datasets, {"type": "array", "items": IS_TEXT, "uniqueItems": True})]
Names = Annotated[
    str | tuple[str, ...],
    ValueType(_names, {"anyOf": [IS_TEXT, {"type": "array", "items": IS_TEXT, "minItems": 1, "uniqueItems": True}]}),
]
Renames = Annotated[
    str | tuple[str, ...],
    ValueType(
        _renames, {"anyOf": [IS_NEW_NAME, {"type": "array", "items": IS_NEW_NAME, "minItems": 1, "uniqueItems": True}]}
    ),
]


Scalar = str | int | float | bool
"""A label: a value of a column of text, numbers or booleans."""


IS_LABEL = {"type": ["string", "number", "boolean"]}

IS_LABELS = {"type": "array", "items": IS_LABEL, "minItems": 1, "uniqueItems": True}


def label(value: Any) -> Scalar:
    """A value that a column may hold: text, an integer, a float or a boolean."""
    value = plain(value)
    if isinstance(value, (Decimal, float, Fraction)):
        value = _as_float(value)
        if not math.isfinite(value):
            raise wrong("must be a finite number; write a number such as 0.5")
    if isinstance(value, int) and value.bit_length() > 64:
        raise wrong("is a larger number than a column can hold")
    if isinstance(value, str) and not writable(value):
        raise wrong("holds half of a character (a lone surrogate) and cannot be written; correct the text")
    if not isinstance(value, (str, int, float)):
        raise wrong("must be text, a number, true or false")
    return value


def _labels(value: Any) -> tuple[Scalar, ...]:
    found = tuple(each(listed(value, 'write the public values, such as ["yes", "no"]'), label))
    if not found:
        raise wrong('must not be empty; write the public values, such as ["yes", "no"]')
    if len(set(found)) < len(found):
        raise wrong("holds a value twice; write each value once")
    return found


def _groups(value: Any) -> dict[str, tuple[Scalar, ...]]:
    teach = 'write the public values of every group, such as by = { ward = ["north", "south"] }'
    if not isinstance(value, dict):
        raise wrong(f"must be a table of columns, because the groups that exist in the data are not public; {teach}")
    found, problems = {}, []
    for key, values in value.items():
        try:
            found[text(key)] = _labels(values)
        except PydanticCustomError as error:
            problems += inner_problems(error, str(key))
    if problems:
        raise wrong(*problems)
    return found


def _types(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        teach = f'write one of {", ".join(kind_names())} for each column, such as types = {{ visit = "date" }}'
        raise wrong(f"must be a table of columns; {teach}")
    found, problems = {}, []
    for key, kind in value.items():
        try:
            found[text(key)] = kind
        except PydanticCustomError as error:
            problems += inner_problems(error, str(key))
        if not isinstance(kind, str) or kind not in KINDS:
            problems.append(((str(key),), f"must be the type of a column; write one of {', '.join(kind_names())}"))
    if problems:
        raise wrong(*problems)
    return found


def _filling(value: Any) -> Scalar | Date:
    return value if isinstance(value, datetime.date) else label(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise wrong("must be true or false, without quotes")
    return value


def _parameter(value: Any, depth: int = 0) -> Any:
    """Something for a mechanism: scalars, dates and lists of them, which become tuples; numbers stay as written."""
    value = plain(value)
    if isinstance(value, (list, tuple, range)):
        if depth == 3 or len(value) > LONGEST_LIST:
            raise wrong("is a list too long or too deep; write numbers, text, or lists of them")
        return tuple(each(value, lambda part: _parameter(part, depth + 1)))
    if isinstance(value, (float, Decimal)):
        value = Decimal(repr(float(value))) if isinstance(value, float) else value
        if value.is_nan():
            raise wrong("must be a number; nan is none")
    if isinstance(value, dict) and depth == 0:  # a grid or a polygon
        if not all(isinstance(key, str) for key in value):
            raise wrong("has a key that is not text; write keys as text")
        return {key: _parameter(part, 1) for key, part in value.items()}
    if value is None or isinstance(value, (bool, datetime.date, Decimal, Fraction, Resource, Seed)):
        return value
    if isinstance(value, (int, str)):
        return label(value)
    raise wrong("must be text, a number, true, false, a date, or a list of them")


def _as_float(value: float | Decimal | Fraction) -> float:
    """The nearest float; not a number where none exists."""
    try:
        return float(value)
    except (OverflowError, ValueError):
        return math.nan


Labels = Annotated[tuple[Scalar, ...], ValueType(_labels, IS_LABELS)]
Groups = Annotated[
    dict[str, tuple[Scalar, ...]], ValueType(_groups, {"type": "object", "additionalProperties": IS_LABELS})
]
Types = Annotated[
    dict[str, str],
    ValueType(_types, {"type": "object", "additionalProperties": {"type": "string"}}),
]
Filling = Annotated[Scalar | Date, ValueType(_filling, IS_LABEL)]
Flag = Annotated[bool, ValueType(_flag, {"type": "boolean"})]
Parameter = Annotated[Any, ValueType(_parameter, {})]
