r"""A promise about a distance between profiles, with its fine print: it is about the public seed, before that is drawn.

>>> told = seed_promise(radius=0.05, bits=20, epsilon="0.98892", delta=0.01, accountant="chernoff")
>>> round(told.loss, 3), told.seed_scope
(5.0, 'two profiles that were fixed before the seed was drawn')
>>> print(told.in_words())  # doctest: +NORMALIZE_WHITESPACE
For any two profiles within 0.05 that were fixed before the seed was drawn: but for seeds that are unlucky with probability 0.01,
no code is more than e^5 times as likely under one as under the other. Of two that are chosen when the seed is known it says
nothing: they are told apart by at most e^0.98892 for every bit in which their hashes differ, and by e^19.7784 if all do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, downward, upward
from noisewright.core.guarantee import Guarantee
from noisewright.core.metrics.metric import Metric
from noisewright.matching.hashing.scheme import checked_bits, checked_epsilon
from noisewright.matching.promises.accountants import BY_SEED, worst_case
from noisewright.matching.promises.loss_law import checked_delta, checked_distance

__all__ = ["NOTIONS", "SEED_SCOPE", "SeedPromise", "seed_promise"]

SEED_SCOPE = "two profiles that were fixed before the seed was drawn"
NOTIONS = ("xdp", "pxdp")
BY_SEED_ALONE = ("hoeffding", "chernoff", "binomial")


@dataclass(frozen=True)
class SeedPromise:
    """A loss between two profiles, and how likely it is not to hold."""

    loss: float
    delta: float
    distance: float
    """The probability that a hash of the two differs; for projections the angle between them over pi."""
    within: bool
    """Whether it holds for all pairs within that distance, or for those at exactly that distance."""
    accountant: str
    bits: int
    epsilon: Fraction
    """The price of a bit."""
    seed_scope: str = SEED_SCOPE
    """About whom it is: whoever knows the seed may choose a pair for which it does not hold."""

    @property
    def about_seeds_alone(self) -> bool:
        """Whether delta is the probability of an unlucky seed; otherwise it is one of seed and noise together."""
        return self.accountant in BY_SEED_ALONE

    def guarantee(self, metric: Metric) -> Guarantee:
        """The same in the words of the house, for secrets at most 1 apart in the metric divided by the distance."""
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
        )

    def in_words(self) -> str:
        """The promise and its fine print."""
        where = "within" if self.within else "at exactly"
        if self.about_seeds_alone:
            holds = f"but for seeds that are unlucky with probability {upward(self.delta)}, no code is more than"
            end = ""
        elif self.accountant == "exact-pxdp":
            holds = (
                f"but with probability {upward(self.delta)} over seed and noise, the code that is sent is no more than"
            )
            end = ""
        else:
            holds = "no event of seed and code is more than"
            end = f", plus {upward(self.delta)}"
        return (
            f"For any two profiles {where} {downward(self.distance)} that were fixed before the seed was drawn: {holds} "
            f"e^{upward(self.loss)} times as likely under one as under the other{end}. Of two that are chosen when the seed is "
            f"known it says nothing: they are told apart by at most e^{upward(self.epsilon)} for every bit in which their hashes "
            f"differ, and by e^{upward(self.epsilon * self.bits)} if all do."
        )


def seed_promise(
    *,
    bits: int,
    epsilon: Exact,
    delta: float,
    radius: float | None = None,
    distance: float | None = None,
    accountant: str = "smallest",
    notion: str = "xdp",
) -> SeedPromise:
    """What noisy hashes promise within a ``radius``, or at exactly a ``distance``.

    ``accountant="smallest"`` takes the smallest loss that is valid: ``notion="xdp"`` for events of seed and code up to delta,
    ``"pxdp"`` for a loss that is exceeded with probability at most delta.
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
    losses = {name: BY_SEED[name](apart, bits=count, epsilon=price, delta=share) for name in names}
    best = min(losses, key=lambda name: losses[name])
    loss = min(losses[best], worst_case(bits=count, epsilon=price))
    return SeedPromise(loss, share, apart, within, best, count, price)
