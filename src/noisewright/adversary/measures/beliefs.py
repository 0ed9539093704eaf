r"""Meaning of a privacy guarantee for an adversary's beliefs, for every prior.

For the posterior ``delta`` after any output of a channel that is private for ``epsilon`` times ``d``:

* *odds bound*: ``delta_x / delta_x' <= e^(epsilon d(x,x')) pi_x / pi_x'`` for any two secrets of positive prior probability;
* *ball bound*: if all possible secrets lie within distance ``r`` of ``x``, then ``delta_x <= e^(epsilon r) pi_x``.

Required for **all** priors, each of the two says the same as the guarantee. Checked at **one** prior, the ball bound
proves nothing: at the uniform prior beliefs in one of two secrets cannot even double, however bad the channel is.
:func:`revealing_prior` gives the prior of someone for whom the bound is nearly reached.

>>> from noisewright.core.channels.channel import Channel
>>> noisy = Channel([[0.9, 0.1], [0.1, 0.9]], inputs=["well", "ill"])
>>> print(largest_growth(noisy))
the belief in well grows 1.8 times, from 0.5 to 0.9, at output 0; any belief within distance 1 grows at most 9 times
>>> print(largest_growth(noisy, revealing_prior(noisy)))
the belief in well grows 8.99993 times, from 1e-06 to 8.99993e-06, at output 0; any belief within distance 1 grows at most 9 times

References: Chatzikokolakis et al., *Broadening the scope of differential privacy using metrics* (2013);
Fernandes, *Differential privacy for metric spaces* (2021).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.adversary.measures.vulnerability import as_channel
from noisewright.claims.readings import odds_changed, rate
from noisewright.core.arrays import Floats
from noisewright.core.channels.audit import Audit
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import exp_bounds, float_up, numeral, upward
from noisewright.core.labels import encode_number
from noisewright.core.mechanism import Mechanism
from noisewright.core.metrics.metric import Discrete, Metric, as_metric
from noisewright.optimality.priors import Prior, as_prior

__all__ = ["Growth", "Odds", "largest_growth", "odds_change", "revealing_prior"]


LARGEST_BOUND = 700
"""e to a larger power than this is taken as infinite."""


@dataclass(frozen=True)
class Growth:
    """The belief that grows most at one prior, and how much any belief could grow for an adversary who knows that the
    secret is within ``radius`` of it: ``bound = e^(epsilon radius)``, rounded up.
    """

    secret: Hashable
    output: Hashable
    before: float
    after: float
    radius: float
    epsilon: float
    metric: Metric
    bound: float

    @property
    def factor(self) -> float:
        """Ratio of the belief after the output to the belief before it."""
        return self.after / self.before

    def __str__(self) -> str:
        limit = "without limit" if math.isinf(self.bound) else f"at most {upward(self.bound)} times"
        return (
            f"the belief in {self.secret} grows {self.factor:.6g} times, from {self.before:.6g} to {self.after:.6g}, at output "
            f"{self.output}; any belief within distance {numeral(self.radius)} grows {limit}"
        )

    def to_json(self) -> dict[str, Any]:
        """The growth as plain data."""
        return {
            "secret": self.secret,
            "output": self.output,
            "before": self.before,
            "after": self.after,
            "factor": self.factor,
            "radius": encode_number(self.radius),
            "epsilon": encode_number(self.epsilon),
            "metric": str(self.metric),
            "bound": encode_number(self.bound),
        }


@dataclass(frozen=True)
class Odds:
    """The pair of secrets whose odds change most for their distance, and the change that ``epsilon`` allows.

    ``before`` and ``after`` are odds for the first against the second; ``epsilon`` is the smallest one for the secrets that
    the prior holds possible.
    """

    pair: tuple[Hashable, Hashable] | None
    output: Hashable
    before: float
    after: float
    epsilon: float
    metric: Metric

    @property
    def factor(self) -> float:
        """Ratio of the odds after the output to the odds before it."""
        return math.inf if math.isinf(self.after) else self.after / self.before

    def __str__(self) -> str:
        return odds_changed(self.pair, self.before, self.after, self.output, rate(self.epsilon, self.metric))


def odds_change(channel: Channel | Mechanism, prior: object = None, metric: Metric | None = None) -> Odds:
    """The largest change of odds for each unit of distance, over all outputs and all pairs of possible secrets.

    The change itself does not depend on the prior, only on which secrets it holds possible. This is the odds bound, and
    its epsilon is the channel's when all are possible.

    >>> from noisewright.core.channels.channel import Channel
    >>> noisy = Channel([[0.9, 0.1], [0.1, 0.9]], inputs=["well", "ill"])
    >>> print(odds_change(noisy, {"well": 0.99, "ill": 0.01}))
    the odds of well against ill change from 99 to 891 at output 0; epsilon = 2.19723 per unit of discrete
    """
    seen, belief, measure = _given(channel, prior, metric)
    found = _within_support(seen, belief, measure)
    if found.pair is None:
        return Odds(None, None, 1.0, 1.0, found.value, measure)
    first, second = (int(i) for i in seen.positions(found.pair))
    before = float(belief[first] / belief[second])
    column = seen.outputs.index(found.output)
    log_factor = float(seen.logs[first, column] - seen.logs[second, column])
    after = math.inf if log_factor > LARGEST_BOUND else before * math.exp(log_factor)
    return Odds(found.pair, found.output, before, after, found.value, measure)


def largest_growth(channel: Channel | Mechanism, prior: object = None, metric: Metric | None = None) -> Growth:
    """Return the secret and the output for which ``delta_x / pi_x`` is largest at this prior, with the ball bound.

    ``radius`` is the distance from that secret to the farthest possible one.
    """
    seen, belief, measure = _given(channel, prior, metric)
    possible = np.flatnonzero(belief > 0)
    hyper = seen.push(belief)
    growth = hyper.inners[possible] / belief[possible, None]
    x, y = (int(i) for i in np.unravel_index(int(growth.argmax()), growth.shape))
    row = int(possible[x])
    radius = float(measure.matrix([seen.inputs[i] for i in possible])[x].max())
    epsilon = _within_support(seen, belief, measure).value
    return Growth(
        seen.inputs[row],
        hyper.outputs[y],
        float(belief[row]),
        float(hyper.inners[row, y]),
        radius,
        epsilon,
        measure,
        _ball(epsilon, radius),
    )


def revealing_prior(channel: Channel | Mechanism, metric: Metric | None = None, belief: float = 1e-6) -> Prior:
    """Return the prior of an adversary who knows that the secret is one of the two that the channel distinguishes best,
    and hardly believes in the first of them. That belief can grow by nearly the whole factor ``e^(epsilon d)``.

    As ``belief`` goes to 0 the growth goes to the factor, which is why the ball bound for all priors is the guarantee
    itself.
    """
    if isinstance(belief, bool) or not isinstance(belief, (int, float)) or not 0 < belief < 1:
        raise ParameterError("belief must be a number above 0 and below 1.")
    seen = as_channel(channel)
    found = seen.epsilon(metric)
    if found.pair is None:
        raise ParameterError("the channel tells nothing, so every prior is the posterior; there is nothing to reveal.")
    probabilities = np.zeros(len(seen.inputs))
    probabilities[seen.positions(found.pair)] = belief, 1 - belief
    return Prior(probabilities, seen.inputs)


def _given(channel: Channel | Mechanism, prior: object, metric: Metric | None) -> tuple[Channel, Floats, Metric]:
    seen = as_channel(channel)
    return seen, as_prior(prior, seen.inputs).probabilities, as_metric(metric, Discrete())


def _within_support(channel: Channel, belief: Floats, metric: Metric) -> Audit:
    """The smallest epsilon between the secrets that are possible."""
    possible = [x for x, p in zip(channel.inputs, belief, strict=True) if p > 0]
    return channel.after(lambda x: x, possible).epsilon(metric)


def _ball(epsilon: float, radius: float) -> float:
    if math.isinf(radius):  # whatever epsilon is: nothing is guaranteed between secrets infinitely far apart
        return math.inf
    if radius == 0:
        return 1.0
    if epsilon * radius > LARGEST_BOUND:
        return math.inf
    return float_up(Fraction(exp_bounds(Fraction(epsilon) * Fraction(radius), 80)[1], 1 << 80))
