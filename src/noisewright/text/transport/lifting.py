r"""Lifting a mechanism from words to bags of words, and the audit of what that guarantees, by enumeration.

A mechanism K on members becomes K* on bags: every member is drawn by itself, and the order is forgotten,

.. math:: K^*(b)\{c\} = \sum_{\sigma} \prod_i K(b_i)\{c_{\sigma(i)}\}

over the different orders of c. If K is :math:`\epsilon d`-private, K* is :math:`\epsilon N E_d`-private between bags
of one size N, with the Earth Mover's distance E over d: align the bags by their best matching, bound each term by the
product, and add up. Bags of different sizes are distinguished by their sizes alone, so nothing is guaranteed between
them.

>>> from noisewright.mechanisms import geometric
>>> word = geometric(epsilon=1, within=(0, 2)).channel()
>>> bags = lift(word, 2)
>>> bags.inputs[:3], len(bags.outputs)
(((0, 0), (0, 1), (0, 2)), 6)
>>> found = audit_lifted(word, 2, epsilon=1)
>>> found.holds, round(found.tightness, 9)
(True, 1.0)
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.metrics.bags import EarthMovers
from noisewright.core.metrics.metric import Line, Metric, as_metric

__all__ = ["LiftedAudit", "audit_lifted", "lift"]

MOST_BAGS = 3000
"""Bags of secrets times bags of outputs are compared, so there must not be more of either."""
ROUNDING = 1e-9
"""Sums of products of floats may be off by this much of a log-ratio; the verdict says so."""


@dataclass(frozen=True)
class LiftedAudit:
    """Result of enumeration of a lifted mechanism."""

    size: int
    epsilon: float
    """The smallest epsilon for each unit of N times the Earth Mover's distance that all pairs of bags keep, up to rounding."""
    claimed: float
    pair: tuple[Hashable, Hashable] | None
    """Two bags that come closest to the claim; None where no two bags are distinguished."""

    @property
    def tightness(self) -> float:
        """The smallest epsilon divided by the claimed one: 1 where the claim is reached."""
        return self.epsilon / self.claimed

    @property
    def holds(self) -> bool:
        """Return whether every pair keeps the claim, up to the rounding of floats."""
        return self.epsilon <= self.claimed * (1 + ROUNDING) + ROUNDING


def lift(channel: Channel, size: int) -> Channel:
    """The channel of K* between bags of ``size`` members; bags are sorted tuples, in the order of the labels."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ParameterError("the size of a bag is a whole number from 1 on.")
    secrets, outputs = len(channel.inputs), len(channel.outputs)
    if max(math.comb(secrets + size - 1, size), math.comb(outputs + size - 1, size)) > MOST_BAGS:
        raise ParameterError(
            f"there are more than {MOST_BAGS} bags of {size} members; enumerate fewer members or smaller bags."
        )
    matrix = np.asarray(channel.matrix, dtype=np.float64)
    rows = list(combinations_with_replacement(range(secrets), size))
    columns = list(combinations_with_replacement(range(outputs), size))
    place = {bag: number for number, bag in enumerate(columns)}
    lifted = np.zeros((len(rows), len(columns)))
    for number, bag in enumerate(rows):  # the law of a bag grows by one member at a time
        law: dict[tuple[int, ...], float] = {(): 1.0}
        for member in bag:
            grown: dict[tuple[int, ...], float] = {}
            for drawn, chance in law.items():
                for output in np.flatnonzero(matrix[member]):
                    key = tuple(sorted((*drawn, int(output))))
                    grown[key] = grown.get(key, 0.0) + chance * matrix[member, output]
            law = grown
        for drawn, chance in law.items():
            lifted[number, place[drawn]] = chance
    return Channel(
        lifted / lifted.sum(axis=1, keepdims=True),
        inputs=[tuple(channel.inputs[i] for i in bag) for bag in rows],
        outputs=[tuple(channel.outputs[j] for j in bag) for bag in columns],
    )


def audit_lifted(channel: Channel, size: int, *, epsilon: float, metric: Metric | None = None) -> LiftedAudit:
    """Return whether K* keeps ``epsilon`` for each unit of N times the Earth Mover's distance over ``metric``
    (default: the line)."""
    if not (isinstance(epsilon, int | float) and math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError("the epsilon that is claimed is a finite number above 0.")
    lifted = lift(channel, size)
    found = lifted.epsilon(metric=EarthMovers(as_metric(metric, Line())))
    return LiftedAudit(size, found.value / size, float(epsilon), found.pair)
