r"""A guarantee about a distance between profiles, with its fine print: it is about the public seed, before that is
drawn.

>>> told = seed_promise(radius=0.05, bits=20, epsilon="0.98892", delta=0.01, accountant="chernoff")
>>> round(told.loss, 3), told.seed_scope
(5.0, 'two profiles that were fixed before the seed was drawn')
>>> print(told.in_words())  # doctest: +NORMALIZE_WHITESPACE
For any two profiles within 0.05 (the probability that a hash differs) that were fixed before the seed was drawn: except for seeds
that are unlucky with probability 0.01, no code is more than e^5 times as likely under one as under the other. Two profiles that
are chosen when the seed is known can be told apart by a factor of e^0.989 for every bit in which their hashes differ, and of
e^19.78 if all do.

The angular distance is :math:`d_\theta = \arccos(x \cdot x' / |x||x'|) / \pi`, from 0 to 1; 1/2 is a right angle. Vectors of
length 1 at that angle are :math:`2 \sin(\pi d_\theta / 2)` apart. A mechanism with ``epsilon`` for each unit of Euclidean
distance therefore loses at most ``loss`` between unit vectors at an angle if epsilon is ``loss`` over that;
:func:`euclidean_epsilon`. Such a comparison is at one angle, and for vectors of length 1.

>>> [round(euclidean(angle), 5) for angle in (0.05, 0.25, 0.5)]
[0.15692, 0.76537, 1.41421]
>>> round(angular(euclidean(0.3)), 12)
0.3
>>> angular_distances([[1.0, 0.0]], [[0.0, 2.0], [3.0, 3.0], [-1.0, 0.0]]).round(9).tolist()
[[0.5, 0.25, 1.0]]

A channel is ``(xi, delta)``-XDP if :math:`A(x)(S) \le e^{\xi(x, x')} A(x')(S) + \delta(x, x')` for all secrets and all sets of
outputs. The smallest delta of a pair is :math:`\sum_y \max(0, P_y - e^\xi Q_y)`. With a public seed, the channel is the one
that
puts out the seed as well.

>>> bit = Channel([[0.75, 0.25], [0.25, 0.75]])
>>> needed_deltas(bit, [[0, 1], [0.5, 0]]).round(4).tolist()
[[0.0, 0.0704], [0.3378, 0.0]]

Someone at angle (or another probability of a different hash) ``near`` from the one who asks, someone else at ``far``,
and ``between`` from each other; all three send noisy codes. For each bit let ``a`` be whether the codes of asker and
neighbour differ, and ``b`` the same for the other one. Hashes are bits, so that the probability that both differ is
(near + far - between) / 2, and the noise of three independent flips follows. The neighbour is put first if its sum of
``a`` is below that of ``b``, and, among equals, half of the time: a law of independent steps -1, 0 and 1, which is
computed exactly.

>>> round(ranked_first(0.1, 0.5, bits=128, epsilon=1), 4), round(ranked_first(0.1, 0.5, bits=16, epsilon=0), 4)
(0.9151, 0.5)

>>> round(price_of_a_bit(5, radius=0.05, bits=20, delta=0.01, accountant="chernoff"), 5)
0.98892
>>> [round(price_of_a_bit(5, radius=0.05, bits=20, delta=0.01, accountant=name), 4) for name in ("binomial", "exact-xdp")]
[1.25, 1.6967]
>>> most_bits(5, radius=0.05, epsilon="0.9889", delta=0.01, accountant="chernoff")
20

*How many bits are best* for an allowed loss? More bits distinguish profiles better, but each must be noisier.
:func:`best_bits` takes the number for which someone ``near`` most likely comes before someone ``far``; see
:mod:`noisewright.matching.guarantees`.

>>> best = best_bits(5, radius=0.05, delta=0.01, near=0.05, far=0.4)
>>> best.bits, round(best.epsilon, 3), round(best.ranked_first, 3)
(8, 2.568, 0.879)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright._utils.validation import one_of
from noisewright.channels.channel import Channel
from noisewright.claims.readings import Condition, seed_meaning
from noisewright.exceptions import DataError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.matching.accountants import (
    BY_SEED,
    SAFE,
    checked_delta,
    checked_distance,
    differing_bits,
    exact_xdp,
    sum_law,
    worst_case,
)
from noisewright.matching.scheme import LARGEST_BITS, Scheme, checked_bits, checked_epsilon
from noisewright.metrics.base import Metric
from noisewright.numerics.exact import Exact, positive_fraction

__all__ = [
    "NOTIONS",
    "SEED_SCOPE",
    "BestBits",
    "SeedPromise",
    "angular",
    "angular_distances",
    "best_bits",
    "euclidean",
    "euclidean_epsilon",
    "most_bits",
    "needed_deltas",
    "price_of_a_bit",
    "ranked_first",
    "scheme_promise",
    "seed_promise",
]


SEED_SCOPE = "two profiles that were fixed before the seed was drawn"
NOTIONS = ("xdp", "pxdp")
BY_SEED_ALONE = ("hoeffding", "chernoff", "binomial")


@dataclass(frozen=True)
class SeedPromise:
    """A loss between two profiles, and how likely it is not to hold."""

    loss: float
    delta: float
    distance: float
    """Between the two, in what ``measure`` says."""
    within: bool
    """Whether it holds for all pairs within that distance, or for those at exactly that distance."""
    accountant: str
    bits: int
    epsilon: Fraction
    """The cost of a bit."""
    measure: str = "the probability that a hash differs"
    seed_scope: str = SEED_SCOPE
    """About whom it is: anyone who knows the seed may choose a pair for which it does not hold."""

    @property
    def about_seeds_alone(self) -> bool:
        """True if delta is the probability of an unlucky seed; otherwise it is one of seed and noise together."""
        return self.accountant in BY_SEED_ALONE

    def guarantee(self, metric: Metric) -> Guarantee:
        """Return it as a guarantee for secrets at most 1 apart in the metric divided by the distance."""
        if not self.within or not self.distance:
            raise ParameterError("a guarantee is for all pairs within a radius above 0; make the promise for a radius.")
        alone = self.about_seeds_alone
        return Guarantee(
            self.loss,
            (1 / Fraction(self.distance)) * metric,
            delta=0.0 if alone else self.delta,
            scope="adjacent",
            radius=1.0,
            seed_failure=self.delta if alone else 0.0,
            conditions=(Condition("pair-before-seed"),),
        )

    def in_words(self) -> str:
        """Return the claim and its fine print."""
        about = "seed" if self.about_seeds_alone else "both" if self.accountant == "exact-pxdp" else "event"
        fields = ("loss", "delta", "distance", "within", "measure", "epsilon", "bits")
        return seed_meaning({"about": about, **{name: getattr(self, name) for name in fields}})


def seed_promise(
    *,
    bits: int,
    epsilon: Exact,
    delta: float,
    radius: float | None = None,
    distance: float | None = None,
    accountant: str = "smallest",
    notion: str = "xdp",
    answers: int = 2,
) -> SeedPromise:
    """Return the guarantee of noisy hashes within a ``radius``, or at exactly a ``distance``.

    ``accountant="smallest"`` takes the smallest loss that is valid: ``notion="xdp"`` for events of seed and code up to delta,
    ``"pxdp"`` for a loss that is exceeded with probability at most delta. ``answers``: how many a hash has.
    """
    if (radius is None) == (distance is None):
        raise ParameterError("say radius for all pairs within it, or distance for pairs at exactly that one.")
    within = radius is not None
    apart = checked_distance(radius, "radius") if within else checked_distance(distance)
    price, count, share = checked_epsilon(epsilon), checked_bits(bits), checked_delta(delta)
    if one_of(accountant, "accountant", (*BY_SEED, "smallest")) == "smallest":
        small = {"xdp": ("exact-xdp",), "pxdp": ("binomial",) if within else ("binomial", "exact-pxdp")}
        names = small[one_of(notion, "notion", NOTIONS)]
    elif accountant == "exact-pxdp" and within:
        raise ParameterError(
            "exact-pxdp may be larger for nearer pairs, so that it holds at one distance alone; say distance, or take binomial."
        )
    else:
        names = (accountant,)
    more = {"answers": answers}
    losses = {
        name: BY_SEED[name](apart, bits=count, epsilon=price, delta=share, **(more if "exact" in name else {}))
        for name in names
    }
    best = min(losses, key=lambda name: losses[name])
    loss = min(losses[best], worst_case(bits=count, epsilon=price))
    return SeedPromise(loss, share, apart, within, best, count, price)


def scheme_promise(
    scheme: Scheme,
    *,
    delta: float,
    radius: float | None = None,
    distance: float | None = None,
    accountant: str = "smallest",
    notion: str = "xdp",
) -> SeedPromise:
    """The same for a scheme, in the distance that its hashes are made for (``scheme.words.distance``).

    >>> from noisewright.matching.scheme import Scheme
    >>> pets = Scheme(dimension=None, bits=64, epsilon=1, family="minhash")
    >>> round(scheme_promise(pets, radius=0.2, delta=1e-6).loss, 2)  # for sets within a Jaccard distance of 0.2
    15.84
    """
    if not scheme.words.exact:
        raise ParameterError(
            f"no theorem says how the bits of {scheme.family} differ, and nothing is promised by distance; use projection, or "
            "the price of every bit that differs."
        )

    def scaled(value: float | None, name: str) -> float | None:
        return None if value is None else float(scheme.words.share) * checked_distance(value, name)

    found = seed_promise(
        bits=scheme.bits,
        epsilon=scheme.epsilon,
        delta=delta,
        radius=scaled(radius, "radius"),
        distance=scaled(distance, "distance"),
        accountant=accountant,
        notion=notion,
    )
    apart = radius if distance is None else distance
    return replace(found, distance=checked_distance(apart), measure=scheme.words.distance)


# Angles -------------------------------------------------------------------------------------------------------------------
#
# Angles between vectors and the corresponding Euclidean distances, so that guarantees for one and the other can be
# compared.


def euclidean(angle: float) -> float:
    """Return how far apart unit vectors at this angular distance are."""
    return 2 * math.sin(math.pi * checked_distance(angle, "an angle") / 2)


def angular(distance: float) -> float:
    """The angular distance of unit vectors that are so far apart."""
    if isinstance(distance, bool) or not 0 <= distance <= 2:
        raise ParameterError("two unit vectors are 0 to 2 apart; give a number between.")
    return 2 * math.asin(distance / 2) / math.pi


def euclidean_epsilon(loss: Exact, angle: float) -> float:
    """The epsilon for each unit of Euclidean distance with which unit vectors at this angle lose at most ``loss``, rounded down.

    >>> round(euclidean_epsilon(5, 0.05), 3)
    31.864
    """
    apart = euclidean(angle)
    if not apart:
        raise ParameterError("vectors at an angle of 0 lose nothing at any epsilon; give the angle of two that differ.")
    return float(positive_fraction(loss, "loss")) / apart * (1 - 2.0**-50)


def angular_distances(one: Any, other: Any) -> Floats:
    """The angular distance of every row of one to every row of the other; accurate to about 1e-8 for very small angles."""
    left, right = _unit(one), _unit(other)
    if left.shape[1] != right.shape[1]:
        raise DataError("angles are between vectors of one length; these have different numbers of coordinates.")
    return np.asarray(np.arccos(np.clip(left @ right.T, -1.0, 1.0)) / np.pi)


def _unit(rows: Any) -> Floats:
    given = np.asarray(rows, dtype=np.float64)
    largest = np.abs(given).max(axis=-1, initial=0.0) if given.ndim == 2 else np.zeros(1)
    if not np.isfinite(largest).all() or not largest.all():
        raise DataError("angles are between rows of finite numbers that are not all 0; leave other rows out.")
    shrunk = given / largest[:, None]
    return np.asarray(shrunk / np.linalg.norm(shrunk, axis=1)[:, None])


# Extended -----------------------------------------------------------------------------------------------------------------
#
# Extended privacy of a finite channel, pair by pair: how much delta is needed where each pair is allowed a loss of its own.


def needed_deltas(channel: Channel, losses: ArrayLike) -> Floats:
    """Return for every ordered pair of secrets (row, column) the smallest delta at the loss that is allowed to it."""
    allowed = np.asarray(losses, dtype=np.float64)
    count = len(channel.inputs)
    if allowed.shape != (count, count) or not (allowed >= 0).all():
        raise ParameterError(f"give a loss from 0 on for every ordered pair of {count} secrets, as a square table.")
    result = np.zeros((count, count))
    with np.errstate(over="ignore", invalid="ignore"):
        for row, (law, factors) in enumerate(zip(channel.matrix, np.exp(allowed), strict=True)):
            others = np.where(channel.matrix > 0, factors[:, None] * channel.matrix, 0.0)  # 0 times infinity is 0
            result[row] = np.maximum(law - others, 0).sum(axis=1)
    return result


# Ranking ------------------------------------------------------------------------------------------------------------------
#
# Probability of finding a neighbour: the probability that a noisy code puts the nearer of two profiles first, in
# closed form.


def ranked_first(near: float, far: float, *, bits: int, epsilon: Exact, between: float | None = None) -> float:
    """The probability that who is ``near`` comes before who is ``far``; ``between`` the two is ``far`` where it is not given."""
    close, away = checked_distance(near, "near"), checked_distance(far, "far")
    third = away if between is None else checked_distance(between, "between")
    if not abs(close - away) - 1e-12 <= third <= min(close + away, 2 - close - away) + 1e-12:
        raise ParameterError(
            "no three profiles are so far apart: between is at least the difference of near and far and at most their sum, and "
            "the three are at most 2 together."
        )
    flip = 1 / (1 + math.exp(float(checked_epsilon(epsilon))))
    both = max(0.0, (close + away - third) / 2)
    hashed = {(1, 1): both, (1, 0): max(0.0, close - both), (0, 1): max(0.0, away - both)}
    hashed[0, 0] = max(0.0, 1 - sum(hashed.values()))
    steps = np.zeros(3)
    for (a, b), chance in hashed.items():
        for flips in itertools.product((0, 1), repeat=3):
            weight = math.prod(flip if flipped else 1 - flip for flipped in flips)
            steps[1 + (a ^ flips[0] ^ flips[1]) - (b ^ flips[0] ^ flips[2])] += chance * weight
    law, middle = sum_law(steps, checked_bits(bits)), bits
    return float(law[:middle].sum() + law[middle] / 2)


# Calibration --------------------------------------------------------------------------------------------------------------
#
# Calibration: from a loss that is allowed at a radius to the cost of a bit and the number of bits, and back.


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
