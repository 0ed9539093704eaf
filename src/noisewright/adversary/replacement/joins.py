r"""Joins and meets of the max-case order: the least channel that is safer than both, and the safest one that both refine.

In the max-case order a channel is its hull of posteriors, and the smaller hull is the safer one. So

* the **join** of A and B has the vertices of the intersection of their hulls as posteriors;
* the **meet** has the posteriors of both: toss a fair coin, use A or B, and state which.

Weights do not matter in this order; the join's are positive and as equal as possible, so that it is one definite channel.
The average-case order has no joins (:mod:`noisewright.adversary.replacement.hexagon`), so none is offered.

**Guarantee.** Every channel that may replace both A and B in the max-case order may replace their join, and the join may replace
both, up to the accuracy of its vertices (about ``1e-9``).

>>> from noisewright.adversary.families.families import geometric_family, response_family
>>> both = max_join(geometric_family.member(decay="1/2", size=3), response_family.member(decay="1/3", size=3))
>>> np.round(both.posteriors * 35, 6).tolist()[0]  # (1/5, 2/7, 18/35)
[7.0, 10.0, 18.0]
>>> both.channel.shape
(3, 5)

Reference: Fernandes, *Differential privacy for metric spaces* (2021), the lattice of max-case refinement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.adversary.exact.channels import common_secrets, read
from noisewright.adversary.replacement.hulls import hull_corners, hull_of, intersection, positive_weights, posteriors
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel

__all__ = ["ChannelBound", "max_join", "max_meet"]


@dataclass(frozen=True, eq=False)
class ChannelBound:
    """A join or a meet: its ``channel``, the ``posteriors`` of that for a uniform prior (one row each) and their ``weights``."""

    channel: Channel
    posteriors: Floats
    weights: Floats


def max_join(a: Any, b: Any) -> ChannelBound:
    """The least channel that may replace both ``a`` and ``b`` in the max-case order."""
    first, second = _read(a, b)
    return _bound(intersection(hull_of(posteriors(first)), hull_of(posteriors(second))), first)


def max_meet(a: Any, b: Any) -> ChannelBound:
    """The safest channel that both ``a`` and ``b`` may replace in the max-case order, with extreme posteriors only.

    >>> whole = max_meet([[1, 0], ["1/2", "1/2"]], [["1/2", "1/2"], [0, 1]])
    >>> np.round(whole.posteriors, 6).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    first, second = _read(a, b)
    glued = Channel(np.hstack([first.matrix / 2, second.matrix / 2]), first.inputs)
    return _bound(hull_corners(posteriors(glued)), first)


def _read(a: Any, b: Any) -> tuple[Channel, Channel]:
    first, second = read(a), read(b)
    common_secrets(first, second)
    return first.channel, second.channel


def _bound(points: Floats, like: Channel) -> ChannelBound:
    weights = positive_weights(points)
    channel = Channel((weights[:, None] * points).T * len(like.inputs), like.inputs, normalise=True)
    return ChannelBound(channel, points, weights)
