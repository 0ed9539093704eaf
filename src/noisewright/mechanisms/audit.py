"""``audit(mechanism)``: the smallest epsilon that a mechanism really has, in the terms of its own guarantee, with
evidence.

* A mechanism with a **finite channel** is audited on it: all pairs of secrets for ``scope="metric"``, pairs at most
  one unit apart for ``scope="adjacent"``, at the guaranteed delta if there is one.
* A mechanism without one, or with one too large to compare all pairs of its rows, says it itself by an optional
  method ``audit()`` that returns an :class:`~noisewright.channels.audit.Audit` (:class:`MechanismAudit` carries a scope
  and words).
* Otherwise the law in its certificate states it: unbounded integer noise loses exactly ``1/scale`` a step, and noise
  cut to ranges has its worst case at one of the few pairs that the certificate's checker compares.

>>> from noisewright.mechanisms.numeric.geometric import geometric
>>> print(audit(geometric(epsilon=2)))
epsilon = 2 per unit of line; one lattice step more or less changes every log-probability by 1/scale = 2
>>> print(audit(geometric(epsilon=2, within=(0, 1))))
epsilon = 2 per unit of line; worst pair 0 and 1, output 0: 0.880797 against 0.119203
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.base import Mechanism, MechanismAudit, described
from noisewright.certificates.checker import checker_noise
from noisewright.channels.audit import Audit
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_up, upward
from noisewright.exceptions import NoChannelError, NoisewrightError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.laplace_distribution import LatticeLaw
from noisewright.mechanisms.registry import PROOFS
from noisewright.metrics.base import Metric
from noisewright.metrics.composite import Scaled

__all__ = ["Neighbours", "audit", "law_audit", "ranged_audit"]


LARGEST_PAIRWISE = 600
"""Channels with more secrets than this are compared pair by pair only when nothing faster is known."""


@dataclass(frozen=True)
class Neighbours(Metric):
    """1 between points at most one unit apart, infinite otherwise: who counts as a neighbour.

    It breaks the triangle inequality on purpose, so it serves audits only: a guarantee between neighbours extends to
    farther pairs by chains of steps, which is what ``scope="adjacent"`` says.
    """

    inner: Metric

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"neighbours ({self.inner} at most 1)"

    def matrix(self, points: Sequence[Any]) -> NDArray[np.float64]:
        distances = self.inner.matrix(points)
        return np.where(distances == 0, 0.0, np.where(distances <= 1, 1.0, np.inf))


def audit(thing: Channel | Mechanism, metric: Metric | None = None) -> Audit:
    """The smallest epsilon of a channel, or of a mechanism in the terms of its own guarantee, with the worst case as
    evidence.

    ``metric`` asks for another metric than the guaranteed one; that needs a finite channel.
    """
    if isinstance(thing, Channel):
        return thing.epsilon(metric)
    if not callable(getattr(thing, "channel", None)) or isinstance(thing, type):
        raise ParameterError(f"an audit needs a Channel or a mechanism, not {type(thing).__name__}.")
    try:
        channel = thing.channel()
    except NoChannelError as problem:
        return _checked(_without_channel(thing), thing, metric, problem)
    if metric is not None:
        return channel.epsilon(metric)
    large = len(channel.inputs) > LARGEST_PAIRWISE
    return (_without_channel(thing) if large else None) or _on_channel(channel, thing.guarantee)


def _on_channel(channel: Channel, promise: Guarantee) -> Audit:
    """The audit of a finite channel for the kind of guarantee that is made."""
    if promise.scope == "metric":
        if promise.delta == 0 and promise.radius is None:
            return channel.epsilon(promise.metric)
        return channel.epsilon_at(promise.delta, promise.metric, promise.radius)
    near = Neighbours(promise.metric)
    found = channel.epsilon(near) if promise.delta == 0 else channel.epsilon_at(promise.delta, near)
    return MechanismAudit(
        found.value, promise.metric, found.pair, found.output, found.probabilities, found.delta, scope="adjacent"
    )


def _without_channel(thing: Mechanism) -> Audit | None:
    """Return the mechanism's own audit, or one that follows from the law in its certificate."""
    own = described(thing).audit
    if own is not None:
        found: object = own()
        return found if isinstance(found, Audit) else None
    try:
        document, promise = thing.certificate().document, thing.guarantee
        proof, distances = document["proof"], document["claim"]["distances"]
        return PROOFS[proof["kind"]].audit(proof, distances, promise)
    except (NoisewrightError, KeyError, TypeError):
        return None


def _checked(found: Audit | None, thing: Mechanism, metric: Metric | None, problem: NoChannelError) -> Audit:
    if found is None:
        raise NoChannelError(
            f"{getattr(thing, 'name', 'this mechanism')!r} cannot be audited: it has no finite channel ({problem}) "
            "and no audit() of its own."
        )
    if metric is not None and str(metric) != str(found.metric):
        raise NoChannelError(f"without a finite channel only the promised metric, {found.metric}, can be audited.")
    return found


def law_audit(proof: Mapping[str, Any], distances: Mapping[str, Any], promise: Guarantee) -> Audit | None:
    """Integer noise without bounds: the loss of one step is exactly ``1/scale``."""
    if promise.delta or proof["law"] != "discrete laplace":
        return None
    rate, step = 1 / Fraction(proof["scale"]), Fraction(distances["distance"])
    value = rate * math.ceil(1 / step) if distances["shape"] == "adjacent" else rate / step
    words = f"one lattice step more or less changes every log-probability by 1/scale = {upward(rate)}"
    return MechanismAudit(float_up(value), promise.metric, None, None, None, scope=promise.scope, words=words)


def ranged_audit(proof: Mapping[str, Any], distances: Mapping[str, Any], promise: Guarantee) -> Audit | None:
    """Integer noise cut to ranges: the loss at the pairs that imply all others (their proof is in the checker)."""
    adjacent, step = distances["shape"] == "adjacent", Fraction(distances["distance"])
    inputs = [tuple(pair) for pair in proof["inputs"]]
    pairs = list(checker_noise.near_pairs(inputs, proof["reach"]) if adjacent else checker_noise.facing_pairs(inputs))
    if not pairs:
        return None
    law = LatticeLaw(float(Fraction(proof["rate"])), [tuple(pair) for pair in proof["ranges"]])
    (k, i), (m, j) = (np.array([pair[side] for pair in pairs], dtype=np.int64).T for side in (0, 1))
    change = law.log_ratio(k, i, m, j)
    losses = law.rate * (j - i) + np.abs(change)
    needs = losses if adjacent else losses / ((j - i) * float(step))
    worst = int(needs.argmax())
    # The more likely secret is the one with the smaller normaliser, at the output where it is itself.
    first, second = ((k, i), (m, j)) if change[worst] >= 0 else ((m, j), (k, i))
    top = -float(law.log_normaliser(first[0][worst : worst + 1], first[1][worst : worst + 1])[0])
    unit = step * _unit(promise.metric)
    pair = tuple(float(int(side[1][worst]) * unit) for side in (first, second))
    value = float(needs[worst]) * (1 + 2.0**-40)  # more than the floats above can be off by
    chances = (math.exp(top), math.exp(top - float(losses[worst])))
    return MechanismAudit(value, promise.metric, (pair[0], pair[1]), pair[0], chances, scope=promise.scope)


def _unit(metric: Metric) -> Fraction:
    """Return how many units of the line make one unit of the metric."""
    return 1 / Fraction(metric.factor) if isinstance(metric, Scaled) else Fraction(1)
