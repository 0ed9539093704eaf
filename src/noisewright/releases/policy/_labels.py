"""Names and other text in a policy: of columns and datasets, for people to read and programs to write.

>>> text("age"), _names(["lat", "lon"])
('age', ('lat', 'lon'))
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic_core import PydanticCustomError

from noisewright.core.resource import Resource
from noisewright.core.seed import Seed
from noisewright.releases.kinds.registry import KINDS, kind_names
from noisewright.releases.policy._numbers import Date
from noisewright.releases.policy._values import LONGEST_LIST, ValueType, each, inner_problems, listed, plain, wrong

__all__ = [
    "Datasets",
    "Filling",
    "Flag",
    "Groups",
    "Labels",
    "Name",
    "Names",
    "Parameter",
    "Renames",
    "Scalar",
    "Text",
    "Types",
    "label",
    "text",
    "writable",
]


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
