r"""Max-case vulnerability: how bad the worst output is, however rarely it occurs.

.. math:: V^{\max}_Q[\pi \triangleright C] = \max_{y:\, \Pr(y) > 0} Q(\delta^y)

with the posterior ``delta^y`` of output ``y`` and a quasi-convex ``Q`` (``Q`` of a mixture is at most the largest ``Q``
of its parts). Because of quasi-convexity post-processing cannot make it larger. Every g-vulnerability is quasi-convex,
and so is the *d-vulnerability*

.. math:: V_d(p) = \max_{x \ne x'} \frac{\ln (p_x / p_{x'})}{d(x, x')},

through which epsilon itself is a leakage: over all priors that leave no secret out, the most that ``V_d`` can grow at the
worst output is the smallest ``epsilon`` of the channel for ``d``, and the uniform prior reaches it.

>>> from noisewright.core.channels.channel import Channel
>>> rare = Channel([[0.1, 0.5, 0.4], [0, 0.5, 0.5], [0, 0.5, 0.5]])  # an output that gives the secret away, seldom
>>> from noisewright.adversary.measures.vulnerability import leakage
>>> round(leakage(rare).multiplicative, 9), max_vulnerability(None, rare, "identity").value
(1.1, 1.0)

Reference: Chatzikokolakis, Fernandes, Palamidessi, *Comparing systems: max-case refinement orders and application to
differential privacy* (2019).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.adversary.measures.gallery import as_gain, is_belief_function
from noisewright.adversary.measures.vulnerability import as_channel, belief_values, secrets_of
from noisewright.core.arrays import Floats
from noisewright.core.channels import audit
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.labels import encode_number
from noisewright.core.mechanism import Mechanism
from noisewright.core.metrics.metric import Discrete, Metric, as_metric
from noisewright.core.verdict import FAILS, UNDECIDED, Verdict
from noisewright.optimality.priors import as_prior

__all__ = ["WorstOutput", "d_leakage", "d_vulnerability", "max_vulnerability", "quasi_convex"]


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

    >>> from noisewright.core.channels.channel import Channel
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

    >>> from noisewright.core.channels.channel import Channel
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
