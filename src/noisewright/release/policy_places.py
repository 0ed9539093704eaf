"""Places on the axis of a column in a policy: ends of ranges, edges of bins, and how far apart two places are.

A place is a number, a date or a time. A distance is a number, a length of time, or ``"any"``.

>>> _pair([0, "1/2"]), place("2024-02-29"), str(_distance("7 days"))
((Fraction(0, 1), Fraction(1, 2)), datetime.date(2024, 2, 29), '7 days')
"""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic_core import PydanticCustomError

from noisewright.release.policy_kinds import Kind, each, listed, plain, wrong
from noisewright.release.policy_numbers import IS_FRACTION, IS_NUMBER, IS_POSITIVE, number, positive, whole
from noisewright.release.spans import UNITS, Span

__all__ = ["IS_PLACE", "PUBLIC_RANGE", "Date", "Distance", "Edges", "Pair", "place"]

Date = datetime.date | datetime.datetime
"""A day, or a moment."""

PUBLIC_RANGE = (
    "must be two numbers that are public: a range found in the data would give its extreme values away; "
    "write the lowest and the highest value that are possible, such as [0, 120]"
)
"""What to say to somebody who wants the range taken from the data."""

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
        raise wrong('must be a distance greater than 0 or "any"; write a number such as 5, or "7 days"') from None


def _places(value: Any) -> tuple[Any, ...]:
    return tuple(each(listed(value, "write numbers such as [0, 10, 20]"), place))


def _rising(places: tuple[Any, ...]) -> bool:
    """Whether there are two places or more, of one kind, each above the last."""
    try:
        return len(places) >= 2 and all(a < b for a, b in pairwise(places))
    except TypeError:  # a number and a date, a date and a time, or a local time and one with an offset
        return False


Pair = Annotated[
    tuple[Fraction | Date, Fraction | Date],
    Kind(_pair, {"type": "array", "items": IS_PLACE, "minItems": 2, "maxItems": 2}),
]
Edges = Annotated[
    int | tuple[Fraction | Date, ...],
    Kind(_edges, {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": IS_PLACE, "minItems": 2}]}),
]
Distance = Annotated[
    Fraction | Span | Literal["any"],
    Kind(_distance, {"anyOf": [{"const": "any"}, IS_POSITIVE["anyOf"][0], IS_FRACTION, IS_SPAN]}),
]
