r"""Joins and meets of the privacy order: metrics that two mechanisms have in common.

In the privacy order a channel is the metric ``d_C(x, x')`` that it puts between secrets, and the smaller metric is the safer one.

* **join**, the least metric-safe one above both: the largest metric below ``min(d_A, d_B)``, that is its shortest-path closure;
* **meet**: ``max(d_A, d_B)``, which is a metric already.

Either is realised by a channel (:mod:`noisewright.mechanisms.categories.realising`), so it is a mechanism and not just a number.

>>> from noisewright.adversary.families.families import geometric_family, response_family
>>> g, r = geometric_family.member(decay="1/2", size=3), response_family.member(decay="1/3", size=3)
>>> np.round(np.exp(privacy_join(g, r).metric.distances), 6)[0].tolist()
[1.0, 2.0, 3.0]
>>> np.round(np.exp(privacy_meet(g, r).metric.distances), 6)[0].tolist()
[1.0, 3.0, 4.0]

Reference: Fernandes, *Differential privacy for metric spaces* (2021), the lattice of the privacy-based order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.adversary.exact.channels import common_secrets, read
from noisewright.adversary.families.closed_privacy import member_distances
from noisewright.adversary.families.families import as_member
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.metrics.metric import Table
from noisewright.core.metrics.spaces import closure
from noisewright.mechanisms.categories.realising import realising_channel

__all__ = ["MetricBound", "privacy_join", "privacy_meet"]


@dataclass(frozen=True, eq=False)
class MetricBound:
    """A join or a meet in the privacy order, as a metric; ``channel()`` is a channel that has it."""

    metric: Table

    def channel(self) -> Channel:
        """A channel whose own metric is :attr:`metric`; its utility is poor, it shows that there is one."""
        return realising_channel(self.metric.points, 1.0, self.metric)


def privacy_join(a: Any, b: Any) -> MetricBound:
    """The least private metric that is as private as both: every metric below ``d_A`` and ``d_B`` is below it."""
    first, second, secrets = _distances(a, b)
    return MetricBound(closure(np.minimum(first, second), secrets))


def privacy_meet(a: Any, b: Any) -> MetricBound:
    """The most private metric that neither is beyond: every metric above ``d_A`` and ``d_B`` is above it."""
    first, second, secrets = _distances(a, b)
    return MetricBound(Table(np.maximum(first, second), secrets, name="larger of two"))


def _distances(a: Any, b: Any) -> tuple[Floats, Floats, tuple[Any, ...]]:
    first, second = read(a), read(b)
    common_secrets(first, second)
    found = []
    for thing, given in ((a, first), (b, second)):
        member = as_member(thing)
        own = member_distances(member) if member is not None else given.channel.distinguishability()
        found.append(np.maximum(own, own.T))
    return found[0], found[1], first.inputs
