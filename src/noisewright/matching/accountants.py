r"""The privacy loss as a random variable, with a public seed that both secrets share.

For an output y under the public seed r the loss between x and x' is :math:`L = \ln A_r(x)(y) / A_r(x')(y)`, with r drawn by
its
public law and y from :math:`A_r(x)`: the loss of the mechanism that puts out r and y. Where a hash differs between the two
profiles with probability d, and its answer is kept with probability ``keep``, or becomes each other one with ``keep /
e^epsilon``, L is the sum of ``bits`` independent terms:

.. math:: +\epsilon \text{ with } d \cdot keep, \qquad -\epsilon \text{ with } d \cdot keep / e^\epsilon, \qquad 0 \text{
else.}

For bits, keep is :math:`e^\epsilon / (1 + e^\epsilon)`, and the mean is :math:`\epsilon\, bits\, d \tanh(\epsilon / 2)`.

>>> law = LossLaw.of_hashes(0.3, bits=20, epsilon=0.7)
>>> round(law.mean, 5), round(law.tail(4.2), 4)
(1.41278, 0.031)

References: Fernandes, Kawamoto and Murakami, *Locality sensitive hashing with extended differential privacy* (2021); Dwork and
Rothblum, *Concentrated differential privacy* (2016).

==================  ======================================================================  ==============  ================
accountant          loss                                                                    holds           as d grows
==================  ======================================================================  ==============  ================
``worst-case``      bits epsilon                                                            always          the same
``per-hash``        epsilon times the bits that differ                                      for this seed   not about d
``hoeffding``       epsilon (bits d + sqrt(bits ln(1/delta) / 2))                           by delta        grows
``chernoff``        epsilon bits (d + alpha), delta = exp(-bits KL(d + alpha || d))         by delta        grows
``binomial``        epsilon z, the smallest z with Pr[Bin(bits, d) > z] <= delta            by delta        grows
``exact-pxdp``      the smallest loss l >= 0 with Pr[L > l] <= delta                        by delta        **may fall**
``exact-xdp``       the smallest l with Pr[y in S] <= e^l Pr'[y in S] + delta for all S     by delta        grows
==================  ======================================================================  ==============  ================

Every loss is at most the loss of the worst case. The first two hold for a seed that is known; the others are about
**two profiles that were fixed before the seed was drawn**. For the middle three delta is the probability of an unlucky
seed, and for the last two of seed and noise together. Where a loss grows with d, the loss at a radius covers all pairs
within it; that of ``exact-pxdp`` does not, and is refused for a radius.

>>> at = {"bits": 20, "epsilon": 0.989, "delta": 0.01}
>>> [round(loss(0.05, **at), 3) for loss in (hoeffding, chernoff, exact_pxdp, exact_xdp)]
[7.7, 5.0, 2.967, 2.639]
>>> worst_case(bits=20, epsilon="0.5"), per_hash(3, bits=20, epsilon="0.5")
(10.0, 1.5)

Losses are rounded up by more than the floats on the way to them are off.

Reference: Fernandes, Kawamoto and Murakami, *Locality sensitive hashing with extended differential privacy* (2021): the first
four. The others use the law of the loss itself.

A centred variable Z is *tau-subgaussian* if :math:`E e^{sZ} \le e^{s^2 \tau^2 / 2}` for all s. A mechanism is ``(mu, tau,
d)``-CXDP if the loss between x and x', over seed and noise, has mean at most ``mu d(x, x')`` and is tau-subgaussian around it;
with neighbours in place of distances it is ``(mu, tau)``-CDP. The implications go one way:

* CXDP gives PXDP: the loss exceeds :math:`\mu d + \tau \sqrt{2 \ln(1/\delta)}` with probability at most delta;
* PXDP gives XDP with the same loss and delta, also if the seed is put out.

**Noisy hashes** of ``bits`` bits at ``epsilon`` each are :math:`(\epsilon\, bits \tanh(\epsilon/2),\ \epsilon \sqrt{bits},\
d)`-CXDP. *Proof.* The loss is a sum of independent terms, one for each bit, between -epsilon and epsilon with mean
:math:`\epsilon d \tanh(\epsilon/2)`; by Hoeffding's lemma each is epsilon-subgaussian, and squares add up.

The theorem as printed has :math:`\tau = \epsilon\, bits / 2`. Its proof bounds epsilon times the number of bits that differ,
which is not the loss, and it is **false for 1, 2 and 3 bits**: at d = 1 and a small epsilon the loss of one bit is subgaussian
for epsilon and for nothing less. From 5 bits on the corrected tau is smaller as well.

>>> promise = concentrated_hashes(bits=20, epsilon=0.7)
>>> round(promise.mean * 0.3, 5), round(promise.spread, 4), round(promise.loss(0.3, delta=0.01), 3)
(1.41278, 3.1305, 10.913)
>>> one = LossLaw.of_hashes(1.0, bits=1, epsilon="0.001")
>>> smallest_spread(one) > printed_spread(bits=1, epsilon="0.001")  # the counterexample
True

References: Fernandes, Kawamoto and Murakami, *Locality sensitive hashing with extended differential privacy* (2021); Dwork and
Rothblum, *Concentrated differential privacy* (2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.lazy import later
from noisewright._utils.validation import is_whole
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_up
from noisewright.exceptions import ParameterError
from noisewright.matching.scheme import checked_bits, checked_epsilon
from noisewright.numerics.exact import Exact

__all__ = [
    "BY_SEED",
    "Concentrated",
    "LossLaw",
    "alpha",
    "binomial",
    "checked_delta",
    "checked_distance",
    "chernoff",
    "concentrated_hashes",
    "differing_bits",
    "exact_pxdp",
    "exact_xdp",
    "hoeffding",
    "per_hash",
    "printed_spread",
    "smallest_spread",
    "sum_law",
    "worst_case",
]


@dataclass(frozen=True, eq=False)
class LossLaw:
    """The values that a loss takes, in ascending order, and their probabilities under the first secret."""

    values: Floats
    """Of outputs that both secrets can give."""
    weights: Floats
    impossible: float = 0.0
    """The probability of outputs that the second secret never gives: an infinite loss."""

    @classmethod
    def of_hashes(cls, distance: float, *, bits: int, epsilon: Exact, answers: int = 2) -> LossLaw:
        """Build the law of noisy hashes: each differs with probability ``distance``, and has the number ``answers``."""
        d, count, price = checked_distance(distance), checked_bits(bits), float(checked_epsilon(epsilon))
        if not is_whole(answers) or answers < 2:
            raise ParameterError("a hash has 2 answers or more.")
        lie = math.exp(-price)
        keep = 1 / (1 + (answers - 1) * lie)
        one = np.array([d * keep * lie, 1 - d + d * keep * (answers - 2) * lie, d * keep])
        return cls(price * np.arange(-count, count + 1, dtype=np.float64), sum_law(one, count))

    @classmethod
    def between(cls, channel: Channel, first: Hashable, second: Hashable) -> LossLaw:
        """Build the law of the outputs of a finite channel for one secret, compared with another."""
        one, other = channel.row(first), channel.row(second)
        shared = (one > 0) & (other > 0)
        losses = np.log(one[shared]) - np.log(other[shared])
        order = np.argsort(losses)
        return cls(losses[order], one[shared][order], float(one[(one > 0) & (other <= 0)].sum()))

    @property
    def mean(self) -> float:
        """The mean loss; infinite where some output is impossible under the second secret."""
        return math.inf if self.impossible else float(self.values @ self.weights)

    def tail(self, loss: float) -> float:
        """The probability of a loss above this."""
        return float(self.weights[np.searchsorted(self.values, loss, side="right") :].sum()) + self.impossible

    def delta(self, loss: float) -> float:
        r"""The smallest delta for which :math:`A(x)(S) \le e^{loss} A(x')(S) + \delta` for all S."""
        above = slice(int(np.searchsorted(self.values, loss, side="right")), None)
        return float(self.weights[above] @ -np.expm1(loss - self.values[above])) + self.impossible

    def moments(self, s: float) -> float:
        """The logarithm of the mean of ``e^(s (L - mean))``."""
        exponents = s * (self.values - self.mean)
        top = float(exponents.max())
        return top + math.log(float(self.weights @ np.exp(exponents - top)))


def sum_law(one: Floats, count: int) -> Floats:
    """The law of a sum of ``count`` independent terms; sums of positive numbers alone, so that tails stay accurate."""
    result, square = np.ones(1), one
    while True:
        if count & 1:
            result = np.convolve(result, square)
        count >>= 1
        if not count:
            return result
        square = np.convolve(square, square)


def checked_distance(distance: object, name: str = "distance") -> float:
    """A distance that is the probability of another hash, checked."""
    try:
        found = float(distance)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(distance, bool) or not 0 <= found <= 1:
        raise ParameterError(
            f"{name} must be a number from 0 to 1: an angle over pi, or the probability of another hash."
        )
    return found


def checked_delta(delta: object) -> float:
    """A delta of a guarantee about seeds, checked."""
    try:
        found = float(delta)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(delta, bool) or not 0 < found < 1:
        raise ParameterError(
            "delta must be a number above 0 and below 1; what holds without a delta is the price of a bit, for every bit that "
            "differs."
        )
    return found


# Accountants --------------------------------------------------------------------------------------------------------------
#
# Privacy loss of noisy hashes: seven accountants, each for two profiles whose hashes differ with probability
# ``distance`` = d.


special = later("scipy.special")
stats = later("scipy.stats")

SAFE = 1e-9
"""Deltas are met with this share of them to spare, and losses are rounded up by it: floats on the way are off by less."""


def worst_case(*, bits: int, epsilon: Exact) -> float:
    """The loss between any two profiles, whatever the seed: all bits differ."""
    return float_up(checked_bits(bits) * checked_epsilon(epsilon))


def per_hash(differing: int, *, bits: int, epsilon: Exact) -> float:
    """The loss between two profiles whose hashes differ in a number of bits, which anyone can count once the seed is known."""
    count = checked_bits(bits)
    if not is_whole(differing) or not 0 <= differing <= count:
        raise ParameterError(f"two hashes of {count} bits differ in 0 to {count} of them; give a whole number.")
    return float_up(int(differing) * checked_epsilon(epsilon))


def hoeffding(distance: float, *, bits: int, epsilon: Exact, delta: float) -> float:
    """Return the loss by Hoeffding's bound of the number of differing bits."""
    return _priced(differing_bits("hoeffding", distance, bits=bits, delta=delta), bits, epsilon)


def chernoff(distance: float, *, bits: int, epsilon: Exact, delta: float) -> float:
    """Return the loss by Chernoff's bound with the divergence of Kullback and Leibler."""
    return _priced(differing_bits("chernoff", distance, bits=bits, delta=delta), bits, epsilon)


def binomial(distance: float, *, bits: int, epsilon: Exact, delta: float) -> float:
    """Return the loss by the law of the number of bits that differ, which is binomial."""
    return _priced(differing_bits("binomial", distance, bits=bits, delta=delta), bits, epsilon)


def exact_pxdp(distance: float, *, bits: int, epsilon: Exact, delta: float, answers: int = 2) -> float:
    """The smallest loss that is exceeded with probability at most ``delta``, for **exactly this distance**."""
    limit = checked_delta(delta) * (1 - SAFE)
    law = LossLaw.of_hashes(distance, bits=bits, epsilon=epsilon, answers=answers)
    above = np.append(np.cumsum(law.weights[::-1])[::-1][1:], 0.0)  # the probability of a loss above each value
    found = max(0.0, float(law.values[np.argmax(above <= limit)]))
    return min(found * (1 + 2.0**-50), worst_case(bits=bits, epsilon=epsilon))


def exact_xdp(distance: float, *, bits: int, epsilon: Exact, delta: float, answers: int = 2) -> float:
    """The smallest loss for which ``delta`` is enough between the laws of seed and code."""
    limit = checked_delta(delta) * (1 - SAFE)
    law = LossLaw.of_hashes(distance, bits=bits, epsilon=epsilon, answers=answers)
    # The worst events are the events of a loss of at least some value: P(event) <= e^loss Q(event) + delta for each of
    # them, and Q has the weights of P in the opposite order.
    p, q = (np.cumsum(part)[::-1] for part in (law.weights[::-1], law.weights))
    asked = p > limit
    with np.errstate(divide="ignore", over="ignore"):  # what is too small for a float counts as 0
        found = float(np.log((p[asked] - limit) / q[asked]).max(initial=-math.inf))
    found += bits * 2.0**-50  # sums of floats: what their logarithm is off by does not shrink with it
    return min(max(found, 0.0) * (1 + SAFE), worst_case(bits=bits, epsilon=epsilon))


BY_SEED: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        "hoeffding": hoeffding,
        "chernoff": chernoff,
        "binomial": binomial,
        "exact-pxdp": exact_pxdp,
        "exact-xdp": exact_xdp,
    }
)
"""Those that take a distance and a delta."""


def differing_bits(accountant: str, distance: float, *, bits: int, delta: float) -> float:
    """Return by one of the middle three how many bits two hashes differ in at most, except with probability ``delta``
    over the seed."""
    d, count, limit = checked_distance(distance), checked_bits(bits), checked_delta(delta) * (1 - SAFE)
    if d == 0:
        return 0.0
    if accountant == "hoeffding":
        found = count * d + math.sqrt(count * -math.log(limit) / 2)
    elif accountant == "chernoff":
        found = count * (d + alpha(d, bits=count, delta=limit))
    else:
        found = float(stats.binom.isf(limit, count, d))
        while found > 0 and stats.binom.sf(found - 1, count, d) <= limit:  # quantiles of floats may be one off
            found -= 1
        while stats.binom.sf(found, count, d) > limit:
            found += 1
        return min(found, float(count))
    return min(found * (1 + SAFE), float(count))


def alpha(distance: float, *, bits: int, delta: float) -> float:
    r"""The root of :math:`KL(d + \alpha || d) = \ln(1/\delta) / bits` in (0, 1 - d), rounded up; 1 - d if no root
    exists.

    >>> [round(alpha(d, bits=20, delta=0.01), 5) for d in (0.05, 0.4, 0, 1)]
    [0.2028, 0.33475, 0.0, 0.0]
    """
    d, wanted = checked_distance(distance), -math.log(checked_delta(delta)) / checked_bits(bits)
    if d in (0.0, 1.0):
        return 0.0
    if -math.log(d) <= wanted:
        return 1 - d
    low, high = 0.0, 1 - d
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        a = d + middle
        divergence = float(special.rel_entr(a, d) + special.rel_entr(1 - a, 1 - d))
        low, high = (middle, high) if divergence < wanted else (low, middle)
    return high


def _priced(differing: float, bits: int, epsilon: Exact) -> float:
    most = min(Fraction(differing), Fraction(checked_bits(bits)))
    return float_up(most * checked_epsilon(epsilon))


# Concentrated -------------------------------------------------------------------------------------------------------------
#
# Concentrated guarantees: the mean of the loss, and how fast its tails fall.


optimize = later("scipy.optimize")


@dataclass(frozen=True)
class Concentrated:
    """``(mu, tau, d)``-CXDP."""

    mean: float
    """mu: the mean loss for each unit of distance."""
    spread: float
    """tau: the loss is so subgaussian around its mean."""

    def loss(self, distance: float, *, delta: float) -> float:
        """The loss that is exceeded with probability at most ``delta``; it grows with the distance."""
        apart, more = checked_distance(distance), math.sqrt(-2 * math.log(checked_delta(delta)))
        return (self.mean * apart + self.spread * more) * (1 + 2.0**-48)


def concentrated_hashes(*, bits: int, epsilon: Exact) -> Concentrated:
    """Return the guarantee of noisy hashes of any number of bits."""
    count, price = checked_bits(bits), float(checked_epsilon(epsilon))
    return Concentrated(price * count * math.tanh(price / 2), price * math.sqrt(count))


def printed_spread(*, bits: int, epsilon: Exact) -> float:
    """The tau of the theorem as printed, which is **refuted** for fewer than 4 bits; to study it, not to guarantee it."""
    return float(checked_epsilon(epsilon)) * checked_bits(bits) / 2


def smallest_spread(law: LossLaw) -> float:
    r"""The smallest tau for which a loss is subgaussian: the largest :math:`\sqrt{2 \ln E e^{s(L - EL)}} / |s|`, numerically."""
    width = float(law.values[-1] - law.values[0])
    if math.isinf(law.mean) or not width:
        return math.inf if width else 0.0

    def below(log_s: float, sign: float) -> float:
        s = sign * math.exp(log_s)
        return -2 * law.moments(s) / s**2

    found = 0.0
    for sign in (1.0, -1.0):
        grid = np.linspace(math.log(1e-3 / width), math.log(1e3 / width), 200)
        at = int(np.argmin([below(place, sign) for place in grid]))
        ends = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        best = optimize.minimize_scalar(below, bounds=ends, args=(sign,), method="bounded")
        found = max(found, -float(best.fun))
    return math.sqrt(found)
