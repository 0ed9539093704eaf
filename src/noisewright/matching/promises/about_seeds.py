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
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from noisewright.claims.readings import seed_meaning
from noisewright.claims.record import Condition
from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact
from noisewright.core.guarantee import Guarantee
from noisewright.core.metrics.metric import Metric
from noisewright.matching.hashing.scheme import Scheme, checked_bits, checked_epsilon
from noisewright.matching.promises.accountants import BY_SEED, worst_case
from noisewright.matching.promises.loss_law import checked_delta, checked_distance

__all__ = ["NOTIONS", "SEED_SCOPE", "SeedPromise", "scheme_promise", "seed_promise"]

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

    >>> from noisewright.matching.hashing.scheme import Scheme
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
