r"""Max-case vulnerability: how bad the worst output is, however rarely it occurs.

.. math:: V^{\max}_Q[\pi \triangleright C] = \max_{y:\, \Pr(y) > 0} Q(\delta^y)

with the posterior ``delta^y`` of output ``y`` and a quasi-convex ``Q`` (``Q`` of a mixture is at most the largest ``Q``
of its parts). Because of quasi-convexity post-processing cannot make it larger. Every g-vulnerability is quasi-convex,
and so is the *d-vulnerability*

.. math:: V_d(p) = \max_{x \ne x'} \frac{\ln (p_x / p_{x'})}{d(x, x')},

through which epsilon itself is a leakage: over all priors that leave no secret out, the most that ``V_d`` can grow at the
worst output is the smallest ``epsilon`` of the channel for ``d``, and the uniform prior reaches it.

>>> from noisewright.channels.channel import Channel
>>> rare = Channel([[0.1, 0.5, 0.4], [0, 0.5, 0.5], [0, 0.5, 0.5]])  # an output that gives the secret away, seldom
>>> from noisewright.qif.vulnerability import leakage
>>> round(leakage(rare).multiplicative, 9), max_vulnerability(None, rare, "identity").value
(1.1, 1.0)

Reference: Chatzikokolakis, Fernandes, Palamidessi, *Comparing systems: max-case refinement orders and application to
differential privacy* (2019).

For every prior and every gain of 0 or more the multiplicative leakage ``V_g[pi > C] / V_g(pi)`` is at most

* the sum of the column maxima ``sum_y max_x C[x,y]``, the Bayes capacity: it needs the channel;
* ``exp(epsilon d_max)`` for a channel that is private for ``epsilon`` times ``d``, with the largest distance ``d_max`` between
  two secrets: it needs only the guarantee, and is far looser.

Therefore, no attacker is right more often than the cap times how often they would be right without any output.

>>> from noisewright.mechanisms.numeric.geometric import geometric
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
import numbers
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright.base import Mechanism
from noisewright.channels import audit
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import as_prior
from noisewright.claims.figures import exp_bounds, float_up, numeral, upward
from noisewright.exceptions import ParameterError
from noisewright.guarantees import FAILS, UNDECIDED, Guarantee, Verdict
from noisewright.metrics.base import Discrete, Metric, as_labels, as_metric, encode_number
from noisewright.qif.gains import as_gain, is_belief_function
from noisewright.qif.vulnerability import as_channel, bayes_capacity, belief_values, prior_vulnerability, secrets_of

__all__ = [
    "Caps",
    "WorstOutput",
    "d_leakage",
    "d_vulnerability",
    "leakage_caps",
    "max_vulnerability",
    "promise_cap",
    "quasi_convex",
    "success_cap",
]


SMALLEST_SAFE = 1e-290
"""Joint probabilities below this lose digits; posteriors of outputs without larger ones come from logarithms."""

MOST_SAMPLED = 10_000_000
"""Maximum number of probabilities drawn when looking for a violation."""


@dataclass(frozen=True, eq=False)
class WorstOutput:
    """The worst output for one measure: its value, the output, and the belief over ``secrets`` that it leaves."""

    value: float
    output: Hashable
    posterior: Floats
    secrets: tuple[Hashable, ...]

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        top = int(self.posterior.argmax())
        return (
            f"{self.value:.6g} at output {self.output}, after which secret {self.secrets[top]} has probability "
            f"{self.posterior[top]:.6g}"
        )

    def to_json(self) -> dict[str, Any]:
        """The worst output as plain data."""
        return {
            "value": encode_number(self.value),
            "output": self.output,
            "posterior": self.posterior.tolist(),
        }


def max_vulnerability(prior: object, channel: Channel | Mechanism, function: object = "identity") -> WorstOutput:
    """The largest ``Q`` over the posteriors of outputs that can occur, and where.

    ``function`` is a quasi-convex function of the belief, a gain in any form (for ``V_g``), or a metric (for ``V_d``).
    An output counts however small its probability is; one of probability zero does not.

    >>> from noisewright.channels.channel import Channel
    >>> print(max_vulnerability(None, Channel([[0.75, 0.25], [0.5, 0.5]]), lambda p: 1 - min(p) ** 2))
    0.888889 at output 1, after which secret 1 has probability 0.666667
    """
    seen = as_channel(channel)
    belief = as_prior(prior, seen.inputs).probabilities
    if isinstance(function, Metric):
        return _worst_for_metric(belief, seen, function)
    outputs, posteriors = _posteriors(belief, seen)
    if is_belief_function(function):
        values = belief_values(function, posteriors.T)
    else:
        values = as_gain(function, seen.inputs).expected(posteriors).max(axis=0)
    worst = int(values.argmax())
    return WorstOutput(float(values[worst]), outputs[worst], np.asarray(posteriors[:, worst]), seen.inputs)


def d_vulnerability(prior: object, metric: Metric | None = None, secrets: Sequence[Hashable] | None = None) -> float:
    """``max ln(p_x / p_x') / d(x, x')``, rounded up: how peaked a belief is, in units of the metric (default: discrete).

    A pair of impossible secrets does not constrain; one impossible secret at a finite distance from a possible one is
    infinite.

    >>> round(d_vulnerability([1/2, 1/4, 1/4]), 9), d_vulnerability([1, 0, 0])
    (0.693147181, inf)
    """
    belief = as_prior(prior, secrets_of(prior, None, secrets))
    return audit.d_vulnerability(belief.probabilities, as_metric(metric, Discrete()), belief.secrets)


def d_leakage(channel: Channel | Mechanism, prior: object = None, metric: Metric | None = None) -> float:
    """Return the growth of the d-vulnerability at the worst output, from a prior that leaves no secret out.

    Its largest value over priors, the d-capacity, is ``channel.epsilon(metric)``, reached at the uniform prior.

    >>> from noisewright.channels.channel import Channel
    >>> noisy = Channel([[0.9, 0.1], [0.1, 0.9]])
    >>> round(d_leakage(noisy), 6), round(d_leakage(noisy, [0.8, 0.2]), 6), round(noisy.epsilon().value, 6)
    (2.197225, 2.197225, 2.197225)
    """
    seen = as_channel(channel)
    given = as_prior(prior, seen.inputs)
    if (given.probabilities <= 0).any():
        raise ParameterError("d-leakage needs a prior that gives every secret a probability above 0.")
    measure = as_metric(metric, Discrete())
    before = audit.d_vulnerability(given.probabilities, measure, seen.inputs)
    if math.isinf(before):
        raise ParameterError(
            "d-leakage needs a prior that gives secrets at distance 0 the same probability; from an infinite d-vulnerability "
            "nothing can grow."
        )
    return max(0.0, _worst_for_metric(given.probabilities, seen, measure).value - before)


def quasi_convex(function: Callable[[Floats], float], size: int, *, samples: int = 1000, seed: int = 0) -> Verdict:
    """Look for beliefs over ``size`` secrets whose mixture has a larger value than each of them.

    Such a pair shows that ``function`` cannot be a max-case vulnerability: merging the two outputs that lead to those
    beliefs would make the worst case worse. Finding none proves nothing, and the answer says so.

    >>> quasi_convex(lambda p: -max(p), 3).status
    'fails (witness)'
    >>> quasi_convex(lambda p: 1 - min(p) ** 2, 3).status
    'undecided'
    """
    if not _whole(size) or size < 2:
        raise ParameterError("beliefs are over a whole number of secrets, 2 or more.")
    if not _whole(samples) or samples < 1 or samples * size > MOST_SAMPLED:
        raise ParameterError(f"samples must be a whole number from 1 to {MOST_SAMPLED} over the number of secrets.")
    if not _whole(seed) or seed < 0:
        raise ParameterError("seed must be a whole number, 0 or more.")
    rng = np.random.default_rng(seed)
    shapes = rng.choice([0.2, 1.0, 5.0], size=samples)[:, None, None]
    weights = rng.standard_gamma(np.broadcast_to(shapes, (samples, 2, size))) + 1e-12
    pairs = weights / weights.sum(axis=2, keepdims=True)
    share = rng.random(samples)[:, None]
    mixed = share * pairs[:, 0] + (1 - share) * pairs[:, 1]
    first, second, between = (belief_values(function, beliefs) for beliefs in (pairs[:, 0], pairs[:, 1], mixed))
    top = np.maximum(first, second)
    with np.errstate(invalid="ignore"):  # infinite against infinite does not violate it
        excess = np.nan_to_num(between - top - 1e-9 * np.maximum(1.0, np.abs(top)), nan=-np.inf)
    worst = int(excess.argmax())
    if excess[worst] > 0:
        reason = f"a mixture of two beliefs has the value {between[worst]:.6g}, above {top[worst]:.6g} of both"
        return Verdict(FAILS, reason, (pairs[worst, 0], pairs[worst, 1], mixed[worst]))
    return Verdict(UNDECIDED, f"no violation among {samples} random mixtures, which is no proof")


def _whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _worst_for_metric(belief: Floats, channel: Channel, metric: Metric) -> WorstOutput:
    """The worst output for V_d: the largest log-ratio of joint probabilities for each unit of distance."""
    joint = belief[:, None] * channel.matrix
    possible = np.isfinite(channel.logs) & (belief > 0)[:, None]
    if channel.has_logs or (joint[possible] < SMALLEST_SAFE).any():
        found = audit.smallest_epsilon(_log_joint(belief, channel), channel.inputs, channel.outputs, metric, True)
    else:
        found = audit.smallest_epsilon(joint, channel.inputs, channel.outputs, metric)
    outputs, posteriors = _posteriors(belief, channel)
    place = 0 if found.output is None else outputs.index(found.output)
    return WorstOutput(found.value, outputs[place], np.asarray(posteriors[:, place]), channel.inputs)


def _posteriors(belief: Floats, channel: Channel) -> tuple[list[Hashable], Floats]:
    """The outputs that can occur, and the belief that each leaves, one a column.

    What can occur is read from the channel itself, not from a probability that may have underflowed.
    """
    possible = np.asarray(np.isfinite(channel.logs[belief > 0]).any(axis=0))
    joint = belief[:, None] * channel.matrix[:, possible]
    tiny = joint.max(axis=0) < SMALLEST_SAFE
    if tiny.any():
        logs = _log_joint(belief, channel)[:, possible][:, tiny]
        joint[:, tiny] = np.exp(logs - logs.max(axis=0))
    outputs = [y for y, kept in zip(channel.outputs, possible, strict=True) if kept]
    return outputs, np.asarray(joint / joint.sum(axis=0))


def _log_joint(belief: Floats, channel: Channel) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(belief)[:, None] + channel.logs)


# Caps ---------------------------------------------------------------------------------------------------------------------
#
# Caps: the maximum gain of any adversary, for every prior and every aim.


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

    >>> from noisewright.metrics.base import Line
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
