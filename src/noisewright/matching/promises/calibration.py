r"""Calibration: from a loss that is allowed at a radius to the cost of a bit and the number of bits, and back.

>>> round(price_of_a_bit(5, radius=0.05, bits=20, delta=0.01, accountant="chernoff"), 5)
0.98892
>>> [round(price_of_a_bit(5, radius=0.05, bits=20, delta=0.01, accountant=name), 4) for name in ("binomial", "exact-xdp")]
[1.25, 1.6967]
>>> most_bits(5, radius=0.05, epsilon="0.9889", delta=0.01, accountant="chernoff")
20

*How many bits are best* for an allowed loss? More bits distinguish profiles better, but each must be noisier.
:func:`best_bits` takes the number for which someone ``near`` most likely comes before someone ``far``; see
:mod:`noisewright.matching.promises.ranking`.

>>> best = best_bits(5, radius=0.05, delta=0.01, near=0.05, far=0.4)
>>> best.bits, round(best.epsilon, 3), round(best.ranked_first, 3)
(8, 2.568, 0.879)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, positive_fraction
from noisewright.matching.hashing.scheme import LARGEST_BITS, checked_bits, checked_epsilon
from noisewright.matching.promises.accountants import BY_SEED, SAFE, differing_bits, exact_xdp, worst_case
from noisewright.matching.promises.loss_law import checked_delta, checked_distance
from noisewright.matching.promises.ranking import ranked_first

__all__ = ["BestBits", "best_bits", "most_bits", "price_of_a_bit"]

ACCOUNTANTS = ("exact-xdp", "binomial", "chernoff", "hoeffding", "worst-case")
LARGEST_PRICE = 50.0
"""A bit at this cost is never flipped in practice."""
USUAL = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)


@dataclass(frozen=True)
class BestBits:
    """Number of bits at a privacy loss of each, and the probability that they put the nearer of two first."""

    bits: int
    epsilon: float
    """The cost of a bit."""
    ranked_first: float
    loss: float
    radius: float
    delta: float
    accountant: str


def price_of_a_bit(loss: Exact, *, radius: float, bits: int, delta: float, accountant: str = "exact-xdp") -> float:
    """The largest epsilon of a bit, rounded down, with which pairs within the radius lose at most ``loss`` except for delta."""
    allowed, apart, count = (
        float(positive_fraction(loss, "loss")),
        checked_distance(radius, "radius"),
        checked_bits(bits),
    )
    share = checked_delta(delta)
    if one_of(accountant, "accountant", ACCOUNTANTS) == "worst-case":
        return _down(allowed / count)
    if accountant != "exact-xdp":
        most = differing_bits(accountant, apart, bits=count, delta=share)
        return _capped(_down(allowed / most) if most else math.inf)
    low, high = _down(allowed / count), LARGEST_PRICE  # the worst case always holds
    if low >= high or exact_xdp(apart, bits=count, epsilon=high, delta=share) <= allowed:
        return _capped(math.inf)
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        within = exact_xdp(apart, bits=count, epsilon=middle, delta=share) <= allowed
        low, high = (middle, high) if within else (low, middle)
    return low


def most_bits(loss: Exact, *, radius: float, epsilon: Exact, delta: float, accountant: str = "exact-xdp") -> int:
    """The largest number of bits at this loss of a bit with which pairs within the radius lose at most ``loss`` except
    for delta."""
    allowed, price = float(positive_fraction(loss, "loss")), checked_epsilon(epsilon)
    one_of(accountant, "accountant", ACCOUNTANTS)

    def holds(bits: int) -> bool:
        if accountant == "worst-case":
            return worst_case(bits=bits, epsilon=price) <= allowed
        return BY_SEED[accountant](radius, bits=bits, epsilon=price, delta=delta) <= allowed

    low, high = 0, 1
    while high <= LARGEST_BITS and holds(high):
        low, high = high, 2 * high
    high = min(high, LARGEST_BITS + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    if not low:
        raise ParameterError(
            "not even one bit at this price keeps the promise; choose a smaller epsilon or a larger loss."
        )
    return low


def best_bits(
    loss: Exact,
    *,
    radius: float,
    delta: float,
    near: float,
    far: float,
    between: float | None = None,
    choices: Iterable[int] = USUAL,
    accountant: str = "exact-xdp",
) -> BestBits:
    """Return the number of bits, among some, that most often ranks a profile ``near`` before one ``far``, for an
    allowed loss."""
    found = None
    for bits in choices:
        price = price_of_a_bit(loss, radius=radius, bits=bits, delta=delta, accountant=accountant)
        odds = ranked_first(near, far, bits=bits, epsilon=price, between=between)
        if found is None or odds > found.ranked_first:
            allowed = float(positive_fraction(loss, "loss"))
            found = BestBits(bits, price, odds, allowed, float(radius), float(delta), accountant)
    if found is None:
        raise ParameterError("give some numbers of bits to choose from.")
    return found


def _down(price: float) -> float:
    return price * (1 - SAFE)


def _capped(price: float) -> float:
    if price > LARGEST_PRICE:
        raise ParameterError(
            "with so few bits, delta alone covers every pair within the radius, and any epsilon would do, which protects nobody "
            "who is looked at closely; choose a smaller delta, a larger radius or more bits."
        )
    return price
