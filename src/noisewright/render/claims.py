"""The parts of a release for a person: in the unit of their column, with dates for numbers of days.

>>> pair = {"code": "apart", "whole": False, "distance": "3600", "nearest_squared": "0", "metric": {"base": "line"}}
>>> protects = {"kind": "near", "type": "time", "distance": "1", "unit": "hour"}
>>> part_pair({"kind": "column", "pair": pair, "protects": protects, "conditions": []}, {})
'values at most 1 hour apart'

>>> from noisewright.channels.channel import Channel
>>> from noisewright.certificates.certificate import Certificate
>>> claim = Certificate.of(Channel([[0.75, 0.25], [0.5, 0.5]]).certify(1)).verify()
>>> str(claim), short(claim)
('epsilon = 1 per unit of discrete', 'epsilon 1 between any two answers')

>>> from noisewright.channels.channel import Channel
>>> found = Channel([[0.75, 0.25], [0.5, 0.5]]).epsilon()
>>> smallest(found)
'0.6932 between any two answers'
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.claims import phrases
from noisewright.claims.readings import level_meaning, level_reading, needs, reading

if TYPE_CHECKING:
    from noisewright.channels.audit import Audit
    from noisewright.guarantees import Guarantee

__all__ = ["audit_meaning", "meaning", "part_pair", "part_sentence", "promised", "short", "smallest"]


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


# Mechanism ----------------------------------------------------------------------------------------------------------------
#
# The claim of one mechanism for a person: one line, or a sentence with a belief in it.


def short(claim: str) -> str:
    """Return a proved claim in one line, in words for a person; other texts are returned as they are."""
    record = getattr(claim, "record", None)
    if record is None:
        return claim
    level = level_of(record)
    if level is not None:  # the epsilon of a whole radius, which is more informative than the epsilon of a metre
        return level_reading(level)
    return reading(record)


def promised(guarantee: Guarantee, proved: str | None) -> str:
    """Return the guarantee of a mechanism in half a line; for places within a radius, the level within that."""
    record = getattr(proved, "record", None)
    if proved is not None and record is not None and level_of(record) is not None:
        return short(proved)
    return guarantee.reading()


def meaning(claim: str, otherwise: str) -> str:
    """Return the meaning of a claim: for places within their radius; any other claim means the text read from it."""
    record = getattr(claim, "record", None)
    level = None if record is None else level_of(record)
    return otherwise if level is None else level_meaning(level)


def level_of(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the level within a radius that a claim has, or None."""
    return next((one for one in record["conditions"] if one["code"] == "level"), None)


# Audit --------------------------------------------------------------------------------------------------------------------
#
# Results of an audit for a person: the smallest epsilon, and its meaning for the pair of secrets that needs it.


def smallest(found: Audit) -> str:
    """Return the smallest epsilon of an audit, and its unit."""
    from noisewright.guarantees import Guarantee

    if math.isinf(found.value):
        return "infinite: no epsilon will do"
    return needs(Guarantee(found.value, found.metric, found.delta).record())


def audit_meaning(found: Audit, worst: Audit | None = None) -> str:
    """Return what an audit means at the distance of the pair of secrets that is the worst, that of `found` by default."""
    from noisewright.guarantees import Guarantee

    worst = found if worst is None else worst
    distance = 1.0 if worst.pair is None else worst.metric.distance(*worst.pair)
    if math.isinf(found.value):
        return phrases.broken(distance == 0)
    return Guarantee(found.value, found.metric, found.delta).in_words(distance)
