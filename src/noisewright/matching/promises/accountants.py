r"""Privacy loss of noisy hashes: seven accountants, each for two profiles whose hashes differ with probability
``distance`` = d.

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
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, float_up
from noisewright.core.loading.doors import later
from noisewright.matching.hashing.scheme import checked_bits, checked_epsilon
from noisewright.matching.promises.loss_law import LossLaw, checked_delta, checked_distance

__all__ = [
    "BY_SEED",
    "alpha",
    "binomial",
    "chernoff",
    "differing_bits",
    "exact_pxdp",
    "exact_xdp",
    "hoeffding",
    "per_hash",
    "worst_case",
]

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
