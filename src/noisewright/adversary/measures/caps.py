r"""Caps: the maximum gain of any adversary, for every prior and every aim.

For every prior and every gain of 0 or more the multiplicative leakage ``V_g[pi > C] / V_g(pi)`` is at most

* the sum of the column maxima ``sum_y max_x C[x,y]``, the Bayes capacity: it needs the channel;
* ``exp(epsilon d_max)`` for a channel that is private for ``epsilon`` times ``d``, with the largest distance ``d_max`` between
  two secrets: it needs only the guarantee, and is far looser.

Therefore, no attacker is right more often than the cap times how often they would be right without any output.

>>> from noisewright.mechanisms.numbers.geometric import geometric
>>> found = leakage_caps(geometric(epsilon="0.5", within=(0, 4)))
>>> print(found)
at most 1.97968 times by the columns of the channel, at most 7.38906 times by epsilon = 0.5 over a distance of 4 (line)
>>> round(success_cap(found, {0: 0.5, 1: 0.2, 2: 0.1, 3: 0.1, 4: 0.1}), 4)
0.9898

References: Alvim et al. (2012) for the capacity; Fernandes, *Differential privacy for metric spaces* (2021) for the
guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright.adversary.measures.gallery import as_gain, is_belief_function
from noisewright.adversary.measures.vulnerability import as_channel, bayes_capacity, prior_vulnerability
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import exp_bounds, float_up, numeral, upward
from noisewright.core.guarantee import Guarantee
from noisewright.core.labels import as_labels, encode_number
from noisewright.core.mechanism import Mechanism
from noisewright.core.metrics.metric import Metric

__all__ = ["Caps", "leakage_caps", "promise_cap", "success_cap"]

LARGEST_BOUND = 700
"""Largest exponent of a useful cap; e to a larger power is soon beyond all floats."""


@dataclass(frozen=True)
class Caps:
    """Two caps on multiplicative leakage, both rounded up: ``columns`` from the channel, ``promise`` from its guarantee."""

    columns: float
    promise: float
    epsilon: float
    metric: Metric
    diameter: float
    secrets: tuple[Hashable, ...]

    @property
    def best(self) -> float:
        """The smaller of the two."""
        return min(self.columns, self.promise)

    def __str__(self) -> str:
        first = f"at most {upward(self.columns)} times by the columns of the channel"
        if math.isinf(self.promise):
            return f"{first}; its promise caps nothing"
        return (
            f"{first}, at most {upward(self.promise)} times by epsilon = {upward(self.epsilon)} over a distance of "
            f"{numeral(self.diameter)} ({self.metric})"
        )

    def to_json(self) -> dict[str, Any]:
        """The caps as plain data."""
        return {
            "columns": self.columns,
            "promise": encode_number(self.promise),
            "epsilon": encode_number(self.epsilon),
            "metric": str(self.metric),
            "diameter": encode_number(self.diameter),
        }


def leakage_caps(thing: Channel | Mechanism, metric: Metric | None = None) -> Caps:
    """Both caps. A mechanism is held to its own guarantee; a channel to the smallest epsilon that it has for ``metric``
    (default: discrete), as is a mechanism when a metric is named.
    """
    channel = as_channel(thing)
    columns = bayes_capacity(channel)
    if isinstance(thing, Channel) or metric is not None:
        found = channel.epsilon(metric)
        epsilon, measure = found.value, found.metric
        promise = Guarantee(epsilon, measure) if math.isfinite(epsilon) else None
    else:
        promise = thing.guarantee
        epsilon, measure = promise.epsilon, promise.metric
    diameter = _diameter(measure, channel.inputs)
    if promise is None or promise.delta or promise.seed_failure:
        return Caps(columns, math.inf, epsilon, measure, diameter, channel.inputs)
    return Caps(columns, promise_cap(promise, channel.inputs), epsilon, measure, diameter, channel.inputs)


def promise_cap(guarantee: Guarantee, secrets: Iterable[Hashable]) -> float:
    """``exp(epsilon d_max)``, rounded up: the bound of a guarantee alone for every adversary; infinite where it gives
    no bound.

    >>> from noisewright.core.metrics.metric import Line
    >>> round(promise_cap(Guarantee(1.0, Line()), range(5)), 3)
    54.598
    """
    if not isinstance(guarantee, Guarantee):
        raise ParameterError(f"a cap follows from a Guarantee, not from {type(guarantee).__name__}.")
    if guarantee.delta or guarantee.seed_failure:
        raise ParameterError(
            "a promise with a delta (or with seeds that may fail) caps no leakage: some output may give everything away; "
            "use bayes_capacity(channel)."
        )
    bound = guarantee.bound(_diameter(guarantee.metric, as_labels(secrets, "secrets")))
    if bound > LARGEST_BOUND:
        return math.inf
    return float_up(Fraction(exp_bounds(Fraction(bound), 80)[1], 1 << 80))


def success_cap(caps: Caps, prior: object, gain: object = "identity") -> float:
    """The most that an adversary with this prior and gain can expect to gain from the output: the best cap times the prior
    vulnerability, and never more than the largest gain there is.
    """
    if not isinstance(caps, Caps):
        raise ParameterError(f"a cap on success follows from leakage_caps(...), not from {type(caps).__name__}.")
    if is_belief_function(gain):
        raise ParameterError("a cap on success needs a gain, not a function of beliefs; give a matrix or a name.")
    wanted = as_gain(gain, caps.secrets)
    if wanted.signed:
        raise ParameterError("a cap on leakage needs a gain that is 0 or more everywhere; use gain.shifted().")
    before = prior_vulnerability(prior, wanted, caps.secrets)
    largest = 1.0 if wanted.blocks is not None else float(wanted.matrix.max())
    if math.isinf(caps.best) or not before:
        return largest if before else 0.0
    return min(largest, float_up(Fraction(caps.best) * Fraction(before)))


def _diameter(metric: Metric, secrets: tuple[Hashable, ...]) -> float:
    return float(metric.matrix(secrets).max(initial=0.0))
