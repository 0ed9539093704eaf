"""The parts of a release for a person: in the unit of their column, with dates for numbers of days.

>>> pair = {"code": "apart", "whole": False, "distance": "3600", "nearest_squared": "0", "metric": {"base": "line"}}
>>> protects = {"kind": "near", "type": "time", "distance": "1", "unit": "hour"}
>>> part_pair({"kind": "column", "pair": pair, "protects": protects, "conditions": []}, {})
'values at most 1 hour apart'
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from noisewright.claims import phrases

__all__ = ["part_pair", "part_sentence"]


def part_pair(part: Mapping[str, Any], relation: Mapping[str, Any]) -> str:
    """Return the protection of a part of a release, and the values for which it is proved, in the unit of its
    column.
    """
    words = phrases.protected_by(part, relation)
    type_ = part["protects"].get("type") if part["kind"] == "column" else None
    conditions = [_dated(one, type_) for one in part["conditions"] if one["code"] != "level"]
    if part["kind"] == "column" and part["pair"]["code"] in ("apart", "radius") and part["protects"]["kind"] == "near":
        lattice = part["pair"]["metric"].get("lattice")
        step = "" if lattice is None else f", rounded to steps of {phrases.step(lattice)}"
        words += step + phrases.on_map(part["pair"])
    elif part["kind"] == "query":
        words += f": {phrases.pair(part['pair'])}{phrases.SENSITIVITY}"
    elif part["pair"]["code"] != "any":
        words += f": {phrases.pair(_dated(part['pair'], type_))}"
    return words + "".join(phrases.conditions(conditions))


def part_sentence(part: Mapping[str, Any], relation: Mapping[str, Any]) -> str:
    """Return the cost and the protection of a part of a release, in the unit of its column."""
    times = f", {part['times']} times {phrases.up(part['loss'])}" if part["times"] > 1 else ""
    return f"{phrases.part_title(part)}: {phrases.cost(part['price'], part['delta'])} for {part_pair(part, relation)}{times}"


def _dated(record: Mapping[str, Any], type_: str | None) -> Mapping[str, Any]:
    """The same with days and seconds since 1970 as dates and times, where the column has those."""
    if "ends" not in record or type_ not in ("date", "time"):
        return record
    several = isinstance(record["ends"][0], list)
    ends = (
        [[_moment(end, type_) for end in pair] for pair in record["ends"]]
        if several
        else [_moment(end, type_) for end in record["ends"]]
    )
    return {**record, "ends": ends}


def _moment(end: str | None, type_: str) -> str | None:
    """A number of days or seconds as a date or a time; a number where that is none."""
    if end is None or Fraction(end).denominator != 1:
        return end
    try:
        moment = datetime(1970, 1, 1) + timedelta(**{"days" if type_ == "date" else "seconds": int(end)})
    except OverflowError:
        return end
    return str(moment.date() if type_ == "date" else moment)
