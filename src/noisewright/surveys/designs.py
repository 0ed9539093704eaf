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

With ``q = e^epsilon`` a design is ``(epsilon, delta)``-private for the discrete metric if and only if

``p11 <= q (1 - p00) + delta``, ``p00 <= q (1 - p11) + delta``, ``1 - p00 <= q p11 + delta`` and ``1 - p11 <= q p00 + delta``.

For ``epsilon > 0`` and ``0 < delta < 1`` its corners are ``(0, 1)``, ``(delta, 1)``, ``(s, s)``, ``(1, delta)``, ``(1, 0)``
and the same with yes and no renamed, where ``s = (q + delta)/(q + 1)``; for ``delta = 0`` four of them are left, for
``epsilon = 0`` six.

>>> from noisewright.surveys.designs import binary, warner
>>> region = Region.of(epsilon=1, delta="0.1")
>>> region.contains(warner("0.75")), region.contains(warner("0.76"))
(True, False)
>>> [(round(x, 3), round(y, 3)) for x, y in region.corners()[:3]]
[(0.0, 1.0), (0.1, 1.0), (0.758, 0.758)]

Reference: Holohan, Leith and Mason, *Optimal differentially private mechanisms for randomised response* (2017).

Someone who knows the prevalence ``pi`` and sees an answer believes with some probability that the respondent has the
attribute. The *degree of privacy violation* is the larger one of the two beliefs,

.. math:: \alpha = \max\{P(x=1 \mid X=1),\ P(x=1 \mid X=0)\} \ge \pi .

It is a measure after the fact: it depends on the prevalence, and guarantees nothing to those without the attribute. It
does not replace ``epsilon``; with it, designs of different kinds can be compared. At equal degree Mangat's design never
has a larger variance than Warner's.

>>> from noisewright.surveys.designs import warner
>>> round(violation(warner("3/4"), "0.1"), 4)
0.25
>>> comparison = compare_at_violation("0.25", "0.1")
>>> str(comparison.warner.p00), round(comparison.ratio, 6), round(comparison.worst_ratio, 6)
('3/4', 1.555556, 1.777778)

References: Holohan, Leith and Mason (2017); Warner (1965); Mangat (1994).

For one respondent the information about the share, ``D^2 / (mu (1 - mu))``, is a convex function of ``(p00, p11)``, so the
best private design is a corner of the :mod:`~noisewright.surveys.designs`. With ``q = e^epsilon``, ``s = (q +
delta)/(q +
1)``:

* ``delta = 0``: ``(s, s)``, Warner's design with ``q/(q + 1)``, whatever the prevalence;
* all private designs: ``(1, delta)`` if ``min(pi, 1 - pi) < h`` and ``pi <= 1/2``, its swap ``(delta, 1)`` if ``pi > 1/2``,
  else ``(s, s)``, where ``h = delta (q + delta) / (q - 1 + 2 delta)^2``. At the first two an answer gives the truth away
  **for certain** to a share ``delta`` of those it concerns; they are offered only with ``allow_certain_disclosure=True``;
* otherwise, for ``delta < 1/2``, the best with both probabilities 1/2 or more: ``(1 - (1/2 - delta)/q, 1/2)`` if ``min(pi,
  1 - pi) < g`` (swapped for ``pi > 1/2``), else ``(s, s)``, where ``g = ((q - 1)(3 delta - 1) + 3 delta^2) / (q - 1 + 2
  delta)^2``. For ``delta >= 1/2`` the best one would give truths away, and ``(s, s)`` is taken.

**Without a prevalence** the largest variance over all prevalences is made as small as possible. That is ``(s, s)``, unless
certain disclosure is allowed and ``(1 - delta)/delta < 1/(4 (2s - 1)^2)`` with ``delta < 1/2``. Reason: every private
design is a design on the upper edges followed by noise; there the largest variance is ``1/(4 D^2)`` while both
probabilities are at least 1/2, least at ``(s, s)``; beyond, with ``x = p11``, it is ``q^2 x (1-x) / ((q-1) x + delta)^2``,
which rises and then falls, so that only the end ``(1, delta)`` is left.

**Guarantee.** The probabilities are rounded towards privacy, and the design is checked exactly before it is returned.

>>> best = optimal_design(epsilon=1, delta="0.4", prevalence="0.1")
>>> best.branch, str(best.design), round(best.variance, 3)
('asymmetric', 'p00 = 0.963212, p11 = 0.5', 0.355)
>>> best = optimal_design(epsilon=1, delta="0.4", prevalence="0.1", allow_certain_disclosure=True)
>>> best.branch, str(best.design), round(best.variance, 3)
('disclosing', 'p00 = 1, p11 = 0.4', 0.24)

Reference: Holohan, Leith and Mason, *Optimal differentially private mechanisms for randomised response* (2017), for
``delta`` up to 1/2 and probabilities of 1/2 or more; Kairouz, Oh and Viswanath (2015) for the design with four answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from noisewright._utils.validation import is_whole
from noisewright.channels.channel import Channel
from noisewright.claims.figures import exp_bounds
from noisewright.exceptions import DataError, GuaranteeError, ParameterError
from noisewright.mechanisms.categorical.probability_table import Chances, check_promise
from noisewright.numerics.exact import Exact, as_fraction, in_words

__all__ = [
    "ANSWERS",
    "LEAST_SEPARATION",
    "MOST_RESPONDENTS",
    "Branch",
    "Comparison",
    "Design",
    "Optimum",
    "Region",
    "Worst",
    "as_prevalence",
    "as_respondents",
    "asymmetric_threshold",
    "beliefs",
    "binary",
    "compare_at_violation",
    "direct",
    "disclosing_threshold",
    "four_answer_variance",
    "mangat",
    "mangat_for",
    "optimal_design",
    "violation",
    "warner",
    "warner_for",
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


# Region -------------------------------------------------------------------------------------------------------------------
#
# Private binary designs: a polygon in the square of ``(p00, p11)``.


BITS = 64
"""Number of binary digits to which designs are rounded towards privacy; more where epsilon and delta are tiny."""


@dataclass(frozen=True)
class Region:
    """The designs with one guarantee; build it with :meth:`of`."""

    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, *, epsilon: Exact, delta: Exact = 0) -> Region:
        """The region of an epsilon and a delta."""
        return cls(*check_promise(epsilon, delta))

    @property
    def factor(self) -> Fraction:
        """A fraction just below ``e^epsilon``: a design that is private with it is private."""
        precision = 3 * self._bits
        return Fraction(exp_bounds(self.epsilon, precision)[0], 1 << precision)

    def contains(self, design: Design) -> bool:
        """Return whether a design has the guarantee, decided exactly."""
        return design.chances().private(self.epsilon, self.delta)

    def symmetric(self) -> Design:
        """``(s, s)``, rounded down: among designs that treat yes and no alike the one that gives the truth most
        often.
        """
        q = self.factor
        return self._rounded((q + self.delta) / (q + 1), (q + self.delta) / (q + 1))

    def half(self) -> Design:
        """``(1 - (1/2 - delta)/q, 1/2)``, rounded down: the corner of the private designs with both probabilities 1/2 or more.

        For ``delta`` up to 1/2 only; :attr:`Design.swapped` is the other such corner.
        """
        if self.delta > Fraction(1, 2):
            raise ParameterError("this corner is there for delta up to 1/2 only.")
        return self._rounded(1 - (Fraction(1, 2) - self.delta) / self.factor, Fraction(1, 2))

    def disclosing(self) -> Design:
        """``(1, delta)``: a yes is true for certain, and a share ``delta`` of those who could say it do; its swap is Mangat's."""
        return Design(Fraction(1), self.delta)

    def corners(self) -> list[tuple[float, float]]:
        """The corners as points ``(p00, p11)``, from ``(0, 1)`` on, once around."""
        s, d = self._s(), float(self.delta)
        upper = [(0.0, 1.0), (d, 1.0), (s, s), (1.0, d), (1.0, 0.0)]
        around = upper + [(1 - x, 1 - y) for x, y in upper[1:-1]]
        if self.epsilon == 0:  # (s, s) lies on the edge from (delta, 1) to (1, delta)
            around = [around[i] for i in (0, 1, 3, 4, 5, 7)]
        return list(dict.fromkeys(around))

    def edge(self, t: float) -> tuple[float, float]:
        """A point of the edge where ``p11 = q (1 - p00) + delta``: at ``t = 1`` it is ``(s, s)``, at ``t = 0`` ``p11 = 1/2``."""
        if not 0 <= t <= 1:
            raise ParameterError("t must be between 0 and 1, the ends of the edge.")
        p11 = (1 - t) / 2 + self._s() * t
        return 1 - (p11 - float(self.delta)) * math.exp(-float(self.epsilon)), p11

    def _s(self) -> float:
        """``s`` without overflow for a large epsilon."""
        small = math.exp(-float(self.epsilon))
        return (1 + float(self.delta) * small) / (1 + small)

    @property
    def _bits(self) -> int:
        spent = self.epsilon + self.delta
        return BITS + (math.ceil(1 / spent).bit_length() if spent else 0)

    def _rounded(self, p00: Fraction, p11: Fraction) -> Design:
        """Both rounded down: that keeps a design private as long as it still gives the truth more often than not."""
        grid = 1 << self._bits
        return Design(Fraction(math.floor(p00 * grid), grid), Fraction(math.floor(p11 * grid), grid))


# Violation ----------------------------------------------------------------------------------------------------------------
#
# Degree of privacy violation of an answer about one respondent, and designs compared at equal degrees.


def beliefs(design: Design, prevalence: Exact) -> tuple[float | None, float | None]:
    """The probability of the attribute after the answer no, and after yes; None for an answer that no one gives."""
    pi = as_prevalence(prevalence)
    yes = 1 - design.p00 + pi * design.separation
    after_no = float((1 - design.p11) * pi / (1 - yes)) if yes < 1 else None
    after_yes = float(design.p11 * pi / yes) if yes > 0 else None
    return after_no, after_yes


def violation(design: Design, prevalence: Exact) -> float:
    """The degree of privacy violation: after yes if ``p00 + p11 > 1``, after no if it is below, the prevalence if equal."""
    return max(belief for belief in beliefs(design, prevalence) if belief is not None)


def warner_for(degree: Exact, prevalence: Exact) -> Design:
    """Warner's design with a given degree of privacy violation."""
    alpha, pi = _degree(degree, prevalence)
    return warner(alpha * (1 - pi) / (alpha * (1 - pi) + pi * (1 - alpha)))


def mangat_for(degree: Exact, prevalence: Exact) -> Design:
    """Mangat's design with a given degree of privacy violation."""
    alpha, pi = _degree(degree, prevalence)
    return mangat((alpha - pi) / (alpha * (1 - pi)))


@dataclass(frozen=True)
class Comparison:
    """Warner's and Mangat's designs with the same degree of privacy violation at one prevalence."""

    degree: Fraction
    prevalence: Fraction
    warner: Design
    mangat: Design

    @property
    def ratio(self) -> float:
        """Warner's variance over Mangat's, ``1 + pi (1 - alpha) / ((alpha - pi)(1 - pi))``: never below 1."""
        pi, alpha = self.prevalence, self.degree
        return float(1 + pi * (1 - alpha) / ((alpha - pi) * (1 - pi)))

    @property
    def worst_ratio(self) -> float:
        """The ratio of the largest variances over all prevalences, were the designs used at another one."""
        return self.warner.worst_variance().variance / self.mangat.worst_variance().variance


def compare_at_violation(degree: Exact, prevalence: Exact) -> Comparison:
    """Both designs at one degree of privacy violation."""
    alpha, pi = _degree(degree, prevalence)
    return Comparison(alpha, pi, warner_for(alpha, pi), mangat_for(alpha, pi))


def _degree(degree: Exact, prevalence: Exact) -> tuple[Fraction, Fraction]:
    alpha, pi = as_fraction(degree, "degree"), as_prevalence(prevalence)
    if not 0 < pi < 1:
        raise ParameterError("prevalence must be above 0 and below 1 here: otherwise the truth is known beforehand.")
    if not pi * (1 + LEAST_SEPARATION) < alpha <= 1:
        raise ParameterError(
            "the degree of privacy violation must be above the prevalence, which is known beforehand, and at most 1."
        )
    return alpha, pi


# Optimum ------------------------------------------------------------------------------------------------------------------
#
# The binary design with the least variance among all with an ``(epsilon, delta)`` guarantee.


Branch = Literal["symmetric", "asymmetric", "disclosing"]

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Optimum:
    """The best design, which corner of the region it is, and its variance for one respondent."""

    design: Design
    branch: Branch
    region: Region
    prevalence: Fraction | None
    variance: float
    """Variance at the prevalence, or the largest over all prevalences where none was given."""
    why: str


def optimal_design(
    *,
    epsilon: Exact,
    delta: Exact = 0,
    prevalence: Exact | None = None,
    allow_certain_disclosure: bool = False,
    whole_population: bool = False,
) -> Optimum:
    """The private design with the least variance at a prevalence, or with the least largest variance if none is given.

    A prevalence is a guess, from a pilot or a bound: privacy does not depend on it, only how good the design is. Whether a sample
    or the whole population is asked changes the variance, but at a given prevalence not which design is best.
    """
    region = _informative(epsilon, delta)
    share = None if prevalence is None else as_prevalence(prevalence)
    if region.delta == 1:
        raise ParameterError("a delta of 1 promises nothing; give one below 1, or ask directly.")
    branch, why = _branch(region, share, allow_certain_disclosure, whole_population)
    corners = {"symmetric": region.symmetric, "asymmetric": region.half, "disclosing": region.disclosing}
    design = corners[branch]()
    if share is not None and share > HALF:
        design = design.swapped
    if design.separation < LEAST_SEPARATION:
        raise ParameterError(
            f"with epsilon = {in_words(region.epsilon)} and delta = {in_words(region.delta)} an answer tells so little that its "
            "variance fits no float; give a larger epsilon."
        )
    if not region.contains(design):
        raise GuaranteeError("the best design could not be proved private; this is a defect, please report it.")
    variance = design.planned_variance(share, whole_population=whole_population)
    return Optimum(design, branch, region, share, variance, why)


def asymmetric_threshold(epsilon: Exact, delta: Exact) -> float:
    """``g``: with probabilities of 1/2 or more, a prevalence below it (or above 1 less it) calls for an asymmetric design."""
    return _as_float(_g(_informative(epsilon, delta)))


def disclosing_threshold(epsilon: Exact, delta: Exact) -> float:
    """``h``: among all private designs, a prevalence below it (or above 1 less it) calls for one that gives truths away."""
    return _as_float(_h(_informative(epsilon, delta)))


def four_answer_variance(*, epsilon: Exact, delta: Exact, prevalence: Exact) -> float:
    """The variance for one respondent of the design with four answers: reveal with probability ``delta``, else ``(s, s)`` at
    ``delta = 0``. Every design with this guarantee is that one followed by noise, so none has a smaller variance.
    """
    region, pi = _informative(epsilon, delta), as_prevalence(prevalence)
    if not 0 < pi < 1:
        raise ParameterError(
            "prevalence must be above 0 and below 1 here: at the ends a revealed answer has no variance."
        )
    own, q, d = pi * (1 - pi), region.factor, region.delta
    hidden = (1 - d) * (q - 1) ** 2 / (own * (q - 1) ** 2 + q)
    return _as_float(1 / (d / own + hidden))


def _g(region: Region) -> Fraction:
    q, d = region.factor, region.delta
    return ((q - 1) * (3 * d - 1) + 3 * d**2) / (q - 1 + 2 * d) ** 2


def _h(region: Region) -> Fraction:
    q, d = region.factor, region.delta
    return d * (q + d) / (q - 1 + 2 * d) ** 2


def _branch(region: Region, share: Fraction | None, disclosing: bool, whole_population: bool) -> tuple[Branch, str]:
    """Return the best corner, and why; thresholds hold up to the last digits, and at a tie both corners are equally
    good.
    """
    rare = None if share is None else min(share, 1 - share)
    if disclosing and region.delta >= LEAST_SEPARATION:
        if rare is None:
            kinds = (region.disclosing(), region.symmetric())
            first, second = (d.planned_variance(None, whole_population=whole_population) for d in kinds)
            better = first < second
            why = "its largest variance over all prevalences is the least of all private designs"
        else:
            h = _h(region)
            better = rare < h
            why = _every(h) or f"the rarer truth has a share {'below' if better else 'of at least'} {float(h):.4g}"
        return ("disclosing" if better else "symmetric"), why
    if region.delta == 0:
        return "symmetric", "without a delta it is the best for every prevalence"
    if rare is None:
        return "symmetric", "its largest variance over all prevalences is the least of those that give no truth away"
    if region.delta >= HALF:
        return (
            "symmetric",
            "with a delta of 1/2 or more every better one comes as near as one likes to giving truths away",
        )
    g = _g(region)
    why = _every(g) or f"the rarer truth has a share {'below' if rare < g else 'of at least'} {float(g):.4g}"
    return ("asymmetric" if rare < g else "symmetric"), f"{why}, among designs with probabilities of 1/2 or more"


def _every(threshold: Fraction) -> str | None:
    """A threshold that no rarer truth can be on the other side of is not worth reporting."""
    return None if 0 < threshold <= HALF else "with this epsilon and delta it is the best for every prevalence"


def _informative(epsilon: Exact, delta: Exact) -> Region:
    region = Region.of(epsilon=epsilon, delta=delta)
    if region.epsilon == region.delta == 0:
        raise ParameterError("epsilon and delta are both 0, so no answer may tell anything; give one of them above 0.")
    return region


def _as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ParameterError(
            "epsilon and delta are so small that the result fits no float; raise one of them."
        ) from None
