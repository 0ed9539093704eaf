"""Values of columns in a policy: public labels and lists of them, groups, types, and what is handed to a mechanism.

>>> label("yes"), label(Decimal("0.5")), _labels([True, False])
('yes', 0.5, (True, False))
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic_core import PydanticCustomError

from noisewright.release.policy_kinds import LONGEST_LIST, Kind, each, inner_problems, listed, plain, wrong
from noisewright.release.policy_names import text, writable
from noisewright.release.policy_places import Date

__all__ = ["Filling", "Flag", "Groups", "Labels", "Parameter", "Scalar", "Types", "label"]

Scalar = str | int | float | bool
"""A label: a value of a column of text, numbers or booleans."""

TYPES = ("integer", "number", "date", "time", "text", "boolean")
"""The types that a policy may name."""

IS_LABEL = {"type": ["string", "number", "boolean"]}

IS_LABELS = {"type": "array", "items": IS_LABEL, "minItems": 1, "uniqueItems": True}


def label(value: Any) -> Scalar:
    """A value that a column may hold: text, a whole number, a float or a boolean."""
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
    teach = f'write one of {", ".join(TYPES)} for each column, such as types = {{ visit = "date" }}'
    if not isinstance(value, dict):
        raise wrong(f"must be a table of columns; {teach}")
    found, problems = {}, []
    for key, kind in value.items():
        try:
            found[text(key)] = kind
        except PydanticCustomError as error:
            problems += inner_problems(error, str(key))
        if not isinstance(kind, str) or kind not in TYPES:
            problems.append(((str(key),), f"must be the type of a column; write one of {', '.join(TYPES)}"))
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
    if value is None or isinstance(value, (bool, datetime.date, Decimal, Fraction)):
        return value
    if isinstance(value, (int, str)):
        return label(value)
    raise wrong("must be text, a number, true, false, a date, or a list of them")


def _as_float(value: float | Decimal | Fraction) -> float:
    """The nearest float; not a number where there is none."""
    try:
        return float(value)
    except (OverflowError, ValueError):
        return math.nan


Labels = Annotated[tuple[Scalar, ...], Kind(_labels, IS_LABELS)]
Groups = Annotated[dict[str, tuple[Scalar, ...]], Kind(_groups, {"type": "object", "additionalProperties": IS_LABELS})]
Types = Annotated[
    dict[str, Literal["integer", "number", "date", "time", "text", "boolean"]],
    Kind(_types, {"type": "object", "additionalProperties": {"enum": list(TYPES)}}),
]
Filling = Annotated[Scalar | Date, Kind(_filling, IS_LABEL)]
Flag = Annotated[bool, Kind(_flag, {"type": "boolean"})]
Parameter = Annotated[Any, Kind(_parameter, {})]
