r"""Randomised response to a sensitive yes-or-no question: designs, the estimate of a share, and its variance.

The truth is 0 (no) or 1 (yes, the sensitive attribute). A *design* answers 0 truthfully with probability ``p00`` and 1 with
``p11``. With ``D = p00 + p11 - 1`` and a share ``pi`` of ones, a respondent answers yes with probability ``mu = 1 - p00 +
pi D``, so from ``N`` yes answers of ``n`` the share is estimated as

.. math:: \hat\pi = \frac{N/n + p_{00} - 1}{D}, \qquad
          \operatorname{Var}\hat\pi = \frac{\pi(1-\pi)}{n}
             + \frac{\pi p_{11}(1-p_{11}) + (1-\pi) p_{00}(1-p_{00})}{n D^2}.

The first part of the variance belongs to the sample, and is not there when the whole population is asked; the second is
the cost of the randomisation. The estimate is unbiased. It can fall outside ``[0, 1]``; the nearest end is then the
most likely share, and ``clip=True`` gives that, at the cost of a bias.

**Guarantee.** A design is exact (its probabilities are fractions), and :meth:`Design.chances` decides which ``(epsilon,
delta)`` it has. Estimating is post-processing and changes nothing about it.

>>> coins = warner("3/4")                          # the truth with probability 3/4, a lie otherwise
>>> round(coins.estimate(yes=300, respondents=1000), 6), round(coins.variance(0.1, respondents=1000), 6)
(0.1, 0.00084)
>>> coins.chances().smallest_epsilon()
1.0986122886681098
>>> worst = mangat("1/4").worst_variance()         # largest where nobody has the attribute, not at one half
>>> (worst.variance, worst.prevalence)
(3.0, 0.0)

References: Warner (1965); Mangat (1994); Holohan, Leith and Mason, *Optimal differentially private mechanisms for randomised
response* (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from noisewright.core.channels.channel import Channel
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, as_fraction, in_words
from noisewright.mechanisms.categories.chances import Chances

__all__ = [
    "ANSWERS",
    "LEAST_SEPARATION",
    "MOST_RESPONDENTS",
    "Design",
    "Worst",
    "as_prevalence",
    "as_respondents",
    "binary",
    "direct",
    "mangat",
    "warner",
]

ANSWERS = ("no", "yes")

LEAST_SEPARATION = Fraction(1, 1 << 500)
"""Designs that reveal less than this have a variance that no float can hold."""

MOST_RESPONDENTS = 10**12
"""More respondents than there are people: beyond this many, quantiles in floats are not exact any more."""


class Worst(NamedTuple):
    """The largest variance over all prevalences, and the prevalence that has it."""

    variance: float
    prevalence: float


@dataclass(frozen=True)
class Design:
    """A binary randomised response; build it with :func:`binary`, :func:`warner`, :func:`mangat` or :func:`direct`."""

    p00: Fraction
    """The probability that the truth "no" is answered "no"."""
    p11: Fraction
    """The probability that the truth "yes" is answered "yes"."""

    def __post_init__(self) -> None:
        for name, value in (("p00", self.p00), ("p11", self.p11)):
            if not isinstance(value, Fraction) or not 0 <= value <= 1:
                raise ParameterError(f"{name} must be a Fraction between 0 and 1; binary(p00, p11) takes any number.")

    @property
    def separation(self) -> Fraction:
        """``D = p00 + p11 - 1``: how much more likely a yes is under the truth yes; at 0 the answer reveals nothing."""
        return self.p00 + self.p11 - 1

    @property
    def swapped(self) -> Design:
        """Design with yes and no exchanged: its variance at ``pi`` is the variance of this design at ``1 - pi``."""
        return Design(self.p11, self.p00)

    @property
    def relabelled(self) -> Design:
        """The same answers under each other's names, which has the same variance."""
        return Design(1 - self.p00, 1 - self.p11)

    @property
    def discloses(self) -> bool:
        """Return whether some answer is given under one truth only, so that it gives that truth away for certain."""
        return self.chances().discloses()

    def chances(self) -> Chances:
        """Return the exact table of probabilities, with its privacy."""
        rows = ((self.p00, 1 - self.p00), (1 - self.p11, self.p11))
        return Chances.of(rows, ANSWERS, ANSWERS)

    def channel(self) -> Channel:
        """The channel of floats from the truth to the answer."""
        return self.chances().channel()

    def yes(self, prevalence: Exact) -> float:
        """``mu``: the probability that a respondent drawn at random answers yes."""
        return float(1 - self.p00 + as_prevalence(prevalence) * self.separation)

    def estimate(self, yes: int, respondents: int, *, clip: bool = False) -> float:
        """The estimated share of the attribute from the number of yes answers."""
        count, size = _answers(yes, respondents)
        share = (Fraction(count, size) + self.p00 - 1) / self._informative()
        return float(min(max(share, Fraction(0)), Fraction(1)) if clip else share)

    def variance(self, prevalence: Exact, respondents: int = 1, *, whole_population: bool = False) -> float:
        """The variance of the estimate; with ``whole_population`` without the part that sampling has in it."""
        pi, size = as_prevalence(prevalence), as_respondents(respondents)
        lies = pi * self.p11 * (1 - self.p11) + (1 - pi) * self.p00 * (1 - self.p00)
        sampling = Fraction(0) if whole_population else pi * (1 - pi)
        return float((sampling + lies / self._informative() ** 2) / size)

    def worst_variance(self, respondents: int = 1, *, whole_population: bool = False) -> Worst:
        """The largest variance over all prevalences.

        ``1 / (4 n D^2)`` where the prevalence that makes a yes as likely as a no is one that can be, as it is when both
        probabilities are at least 1/2; otherwise, and for a whole population, it is at 0 or at 1.
        """
        size, d = as_respondents(respondents), self._informative()
        middle = (2 * self.p00 - 1) / (2 * d)
        if not whole_population and 0 <= middle <= 1:
            return Worst(float(1 / (4 * size * d**2)), float(middle))
        at_no, at_yes = self.p00 * (1 - self.p00), self.p11 * (1 - self.p11)
        return Worst(float(max(at_no, at_yes) / (size * d**2)), 0.0 if at_no >= at_yes else 1.0)

    def planned_variance(self, prevalence: Exact | None, *, whole_population: bool = False) -> float:
        """The variance for one respondent at a prevalence that is guessed, or the largest one where none is."""
        if prevalence is None:
            return self.worst_variance(whole_population=whole_population).variance
        return self.variance(prevalence, whole_population=whole_population)

    def plug_in_variance(self, yes: int, respondents: int) -> float:
        """The variance of the estimate as estimated from the answers themselves, unbiased: ``n - 1`` in place of ``n``."""
        count, size = _answers(yes, respondents)
        if size < 2:
            raise DataError("a variance is estimated from two or more respondents.")
        share = Fraction(count, size)
        return float(share * (1 - share) / ((size - 1) * self._informative() ** 2))

    def _informative(self) -> Fraction:
        if abs(self.separation) < LEAST_SEPARATION:
            raise ParameterError(
                "p00 + p11 is 1, or as good as, so the answer does not depend on the truth and nothing can be estimated; choose "
                "another design, or a larger epsilon."
            )
        return self.separation

    def __str__(self) -> str:
        return f"p00 = {float(self.p00):.6g}, p11 = {float(self.p11):.6g}"


def binary(p00: Exact, p11: Exact) -> Design:
    """The general binary design: no is answered truthfully with probability ``p00``, yes with ``p11``."""
    return Design(_probability(p00, "p00"), _probability(p11, "p11"))


def warner(truth: Exact) -> Design:
    """Build Warner's design: everyone answers truthfully with the same probability, not 1/2; it and its rest to 1 are
    equivalent.
    """
    return binary(truth, truth)


def mangat(truth: Exact) -> Design:
    """Mangat's design: the truth yes is always answered yes, the truth no is answered no with probability ``truth``.

    A no gives the truth away. It is ``(epsilon, delta)``-private if and only if ``truth <= delta``, whatever epsilon.
    """
    return binary(truth, 1)


def direct() -> Design:
    """The direct question: the truth, always."""
    return binary(1, 1)


def as_prevalence(value: Exact) -> Fraction:
    """A share of the population, exactly."""
    share = as_fraction(value, "prevalence")
    if not 0 <= share <= 1:
        raise ParameterError(f"prevalence is a share of the population, from 0 to 1, not {in_words(share)}.")
    return share


def as_respondents(value: object) -> int:
    """A number of respondents, 1 or more."""
    number = int(value) if is_whole(value) else 0
    if not 1 <= number <= MOST_RESPONDENTS:
        raise ParameterError("the number of respondents must be a whole number, 1 or more, and at most 10^12.")
    return number


def _answers(yes: object, respondents: object) -> tuple[int, int]:
    size = as_respondents(respondents)
    count = -1 if not is_whole(yes) else int(yes)
    if not 0 <= count <= size:
        raise DataError("the number of yes answers must be a whole number from 0 to the number of respondents.")
    return count, size


def _probability(value: Exact, name: str) -> Fraction:
    chance = as_fraction(value, name)
    if not 0 <= chance <= 1:
        raise ParameterError(f"{name} must be a probability between 0 and 1, not {in_words(chance)}.")
    return chance
