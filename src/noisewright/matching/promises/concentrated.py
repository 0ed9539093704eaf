r"""Concentrated guarantees: the mean of the loss, and how fast its tails fall.

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
from dataclasses import dataclass

import numpy as np

from noisewright.core.exact import Exact
from noisewright.core.loading.doors import later
from noisewright.matching.hashing.scheme import checked_bits, checked_epsilon
from noisewright.matching.promises.loss_law import LossLaw, checked_delta, checked_distance

__all__ = ["Concentrated", "concentrated_hashes", "printed_spread", "smallest_spread"]

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
