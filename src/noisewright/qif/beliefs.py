r"""Meaning of a privacy guarantee for an adversary's beliefs, for every prior.

For the posterior ``delta`` after any output of a channel that is private for ``epsilon`` times ``d``:

* *odds bound*: ``delta_x / delta_x' <= e^(epsilon d(x,x')) pi_x / pi_x'`` for any two secrets of positive prior probability;
* *ball bound*: if all possible secrets lie within distance ``r`` of ``x``, then ``delta_x <= e^(epsilon r) pi_x``.

Required for **all** priors, each of the two says the same as the guarantee. Checked at **one** prior, the ball bound
proves nothing: at the uniform prior beliefs in one of two secrets cannot even double, however bad the channel is.
:func:`revealing_prior` gives the prior of someone for whom the bound is nearly reached.

>>> from noisewright.channels.channel import Channel
>>> noisy = Channel([[0.9, 0.1], [0.1, 0.9]], inputs=["well", "ill"])
>>> print(largest_growth(noisy))
the belief in well grows 1.8 times, from 0.5 to 0.9, at output 0; any belief within distance 1 grows at most 9 times
>>> print(largest_growth(noisy, revealing_prior(noisy)))
the belief in well grows 8.99993 times, from 1e-06 to 8.99993e-06, at output 0; any belief within distance 1 grows at most 9 times

References: Chatzikokolakis et al., *Broadening the scope of differential privacy using metrics* (2013);
Fernandes, *Differential privacy for metric spaces* (2021).

A channel is *eps-hiding* for a partition A of the secrets (say, authors) at a prior when the multiplicative leakage
about the block is ``L_A <= 1 + eps``, and *Delta-revealing* for a partition T (say, topics) when ``L_T >= 1 + Delta``.
Therefore the best attacker names the right A-block with probability at most ``(1 + eps) V_A(pi)``, and the best reader
the right T-block with ``(1 + Delta) V_T(pi)``. Post-processing keeps the hidden property hidden, and can only lose the
revealed one.

Not everything can be had. If every A-block lies inside a T-block, anyone who knows A knows T, and

.. math:: L_A \;\ge\; L_T \, \frac{V_T(\pi)}{c \, V_A(\pi)}

with the largest number ``c`` of A-blocks of positive probability in one T-block.

When all A-blocks are equally likely the fraction is 1, and a channel reveals at most as much about T as it fails to hide
about A: ``Delta <= eps``. Without equally likely blocks that is false, even if all secrets are:

>>> from noisewright.channels.channel import Channel
>>> topic = Channel.deterministic(lambda x: x in "ab", "abcd")
>>> print(hiding_and_revealing(topic, private=[{"a", "b"}, {"c"}, {"d"}], useful=[{"a", "b"}, {"c", "d"}]))
private: right 0.5 of the time before the output and 0.75 after it, so 0.5-hiding
useful: right 0.5 of the time before the output and 1 after it, so 1-revealing
every private block lies in a useful one, and they are not equally likely: revealing 1 sets no limit to hiding

Two partitions that cross need not conflict:

>>> crossed = hiding_and_revealing(topic, private=[{"a", "c"}, {"b", "d"}], useful=[{"a", "b"}, {"c", "d"}])
>>> crossed.hiding, crossed.revealing
(0.0, 1.0)
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.base import Mechanism
from noisewright.channels.audit import Audit
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import Prior, as_prior
from noisewright.claims.figures import exp_bounds, float_up, numeral, upward
from noisewright.claims.readings import odds_changed, rate
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import Discrete, Metric, as_metric, encode_number
from noisewright.qif.gains import Blocks, Gain, partition
from noisewright.qif.vulnerability import Leakage, as_channel, leakage

__all__ = [
    "Growth",
    "HidingAndRevealing",
    "Nesting",
    "Odds",
    "hiding",
    "hiding_and_revealing",
    "largest_growth",
    "odds_change",
    "revealing",
    "revealing_prior",
]


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

    >>> from noisewright.channels.channel import Channel
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


# Hiding -------------------------------------------------------------------------------------------------------------------
#
# Hiding one property while revealing another: the author of a text, against its topic.


SAME_MASS = 1e-12
"""Blocks whose probabilities differ by no more than this count as equally likely."""


@dataclass(frozen=True)
class Nesting:
    """Position of a private partition within the useful partition that it refines, at a prior.

    ``most`` is the largest number of private blocks of positive probability in one useful block; ``equal`` says whether
    those blocks are all equally likely; ``ratio`` is ``V_T(pi) / (most V_A(pi))``, so that ``L_A >= ratio L_T``.
    """

    most: int
    equal: bool
    ratio: float

    def least_hiding(self, revealing: float) -> float:
        """The smallest eps with which any channel that is ``revealing``-revealing can hide, at this prior."""
        return max(0.0, self.ratio * (1 + revealing) - 1)


@dataclass(frozen=True)
class HidingAndRevealing:
    """Effect of a channel on a private and on a useful partition at one prior; ``nesting`` is None unless every private
    block lies in a useful one.
    """

    private: Leakage
    useful: Leakage
    nesting: Nesting | None

    @property
    def hiding(self) -> float:
        """The smallest eps for which the channel is eps-hiding."""
        return self.private.multiplicative - 1

    @property
    def revealing(self) -> float:
        """The largest Delta for which the channel is Delta-revealing."""
        return self.useful.multiplicative - 1

    def __str__(self) -> str:
        words = "right {:.6g} of the time before the output and {:.6g} after it, so {:.6g}-"
        lines = [
            "private: " + words.format(self.private.prior, self.private.posterior, self.hiding) + "hiding",
            "useful: " + words.format(self.useful.prior, self.useful.posterior, self.revealing) + "revealing",
        ]
        if self.nesting is None:
            lines.append("the private blocks do not lie inside the useful ones, so neither limits the other")
        else:
            likely = "equally likely" if self.nesting.equal else "not equally likely"
            least = self.nesting.least_hiding(self.revealing)
            limit = f"takes hiding no better than {least:.6g}" if least else "sets no limit to hiding"
            lines.append(
                f"every private block lies in a useful one, and they are {likely}: revealing {self.revealing:.6g} {limit}"
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The findings as plain data."""
        nesting = None
        if self.nesting is not None:
            nesting = {
                "most": self.nesting.most,
                "equal": self.nesting.equal,
                "ratio": self.nesting.ratio,
                "least_hiding": self.nesting.least_hiding(self.revealing),
            }
        return {
            "hiding": self.hiding,
            "revealing": self.revealing,
            "private": self.private.to_json(),
            "useful": self.useful.to_json(),
            "nesting": nesting,
        }


def hiding(channel: Channel | Mechanism, private: Blocks | Gain, prior: object = None) -> float:
    """The smallest eps for which the channel hides the block of the secret: ``L_A - 1``, 0 when nothing is learnt about it."""
    seen = as_channel(channel)
    return leakage(seen, prior, _partition(private, seen, "private")).multiplicative - 1


def revealing(channel: Channel | Mechanism, useful: Blocks | Gain, prior: object = None) -> float:
    """The largest Delta for which the channel reveals the block of the secret: ``L_T - 1``."""
    seen = as_channel(channel)
    return leakage(seen, prior, _partition(useful, seen, "useful")).multiplicative - 1


def hiding_and_revealing(
    channel: Channel | Mechanism, private: Blocks | Gain, useful: Blocks | Gain, prior: object = None
) -> HidingAndRevealing:
    """Measure how much of one partition is hidden and of the other revealed, and whether one limits the other;
    ``prior=None`` is the uniform one over the secrets.
    """
    seen = as_channel(channel)
    given = as_prior(prior, seen.inputs)
    authors, topics = _partition(private, seen, "private"), _partition(useful, seen, "useful")
    return HidingAndRevealing(
        leakage(seen, given, authors), leakage(seen, given, topics), _nesting(authors, topics, given)
    )


def _partition(blocks: Blocks | Gain, channel: Channel, what: str) -> Gain:
    if isinstance(blocks, Gain):
        found = blocks.restrict(channel.inputs)
        if found.blocks is not None:
            return found
        ones = (found.matrix == 1).sum(axis=0)
        if not (ones == 1).all() or (found.matrix != 0).sum() != len(channel.inputs):
            raise ParameterError(f"{what} must be a partition: each secret worth 1 in one block and 0 in the others.")
        return found
    return partition(channel.inputs, blocks)


def _block_of(gain: Gain) -> NDArray[np.intp]:
    """The block of each secret; a partition that is held as such needs no matrix."""
    return gain.matrix.argmax(axis=0) if gain.blocks is None else gain.blocks


def _nesting(private: Gain, useful: Gain, prior: Prior) -> Nesting | None:
    possible_secrets = prior.probabilities > 0
    inner, outer = (_block_of(gain)[possible_secrets] for gain in (private, useful))
    home: dict[int, int] = {}
    for a, t in zip(inner.tolist(), outer.tolist(), strict=True):
        if home.setdefault(a, t) != t:
            return None
    mass = private.expected(prior.probabilities[:, None])[:, 0]
    most = int(np.bincount(list(home.values())).max())
    equal = bool(np.ptp(mass[list(home)]) <= SAME_MASS)
    whole = float(useful.expected(prior.probabilities[:, None]).max())
    return Nesting(most, equal, whole / (most * float(mass.max())))
