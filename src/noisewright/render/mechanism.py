"""The claim of one mechanism for a person: one line, or a sentence with a belief in it.

>>> from noisewright.core.channels.channel import Channel
>>> from noisewright.core.certificates.certificate import Certificate
>>> claim = Certificate.of(Channel([[0.75, 0.25], [0.5, 0.5]]).certify(1)).verify()
>>> str(claim), short(claim)
('epsilon = 1 per unit of discrete', 'epsilon 1 between any two answers')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from noisewright.claims.readings import level_meaning, level_reading, reading

if TYPE_CHECKING:
    from noisewright.core.guarantee import Guarantee

__all__ = ["meaning", "promised", "short"]


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
