"""Results of an audit for a person: the smallest epsilon, and its meaning for the pair of secrets that needs it.

>>> from noisewright.core.channels.channel import Channel
>>> found = Channel([[0.75, 0.25], [0.5, 0.5]]).epsilon()
>>> smallest(found)
'0.6932 between any two answers'
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from noisewright.claims import phrases
from noisewright.claims.readings import needs

if TYPE_CHECKING:
    from noisewright.core.channels.audit import Audit

__all__ = ["audit_meaning", "smallest"]


def smallest(found: Audit) -> str:
    """Return the smallest epsilon of an audit, and its unit."""
    from noisewright.core.guarantee import Guarantee

    if math.isinf(found.value):
        return "infinite: no epsilon will do"
    return needs(Guarantee(found.value, found.metric, found.delta).record())


def audit_meaning(found: Audit, worst: Audit | None = None) -> str:
    """Return what an audit means at the distance of the pair of secrets that is the worst, that of `found` by default."""
    from noisewright.core.guarantee import Guarantee

    worst = found if worst is None else worst
    distance = 1.0 if worst.pair is None else worst.metric.distance(*worst.pair)
    if math.isinf(found.value):
        return phrases.broken(distance == 0)
    return Guarantee(found.value, found.metric, found.delta).in_words(distance)
