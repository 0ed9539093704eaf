"""Numbers in a policy: exact, as they were written.

``0.1`` in a policy is one tenth, and so are ``"0.1"`` and ``"1/10"``. TOML hands decimals over as they were written
(:class:`decimal.Decimal`); a Python float counts as the decimal that Python prints for it.

>>> number(0.1) == number("1/10") == number(Decimal("0.1")) == Fraction(1, 10)
True
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic_core import PydanticCustomError

from noisewright.core.exact import LARGEST_SPELLED, fraction_or_none
from noisewright.releases.kinds.spans import UNITS, Span
from noisewright.releases.policy._values import ValueType, each, listed, plain, wrong

__all__ = [
    "IS_FRACTION",
    "IS_NUMBER",
    "IS_PLACE",
    "IS_POSITIVE",
    "PUBLIC_RANGE",
    "Chance",
    "Date",
    "Distance",
    "Edges",
    "Number",
    "Pair",
    "Positive",
    "Weights",
    "Whole",
    "number",
    "place",
    "positive",
    "whole",
]

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
