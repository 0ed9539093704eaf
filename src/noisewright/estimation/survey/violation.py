r"""Degree of privacy violation of an answer about one respondent, and designs compared at equal degrees.

Someone who knows the prevalence ``pi`` and sees an answer believes with some probability that the respondent has the
attribute. The *degree of privacy violation* is the larger one of the two beliefs,

.. math:: \alpha = \max\{P(x=1 \mid X=1),\ P(x=1 \mid X=0)\} \ge \pi .

It is a measure after the fact: it depends on the prevalence, and guarantees nothing to those without the attribute. It
does not replace ``epsilon``; with it, designs of different kinds can be compared. At equal degree Mangat's design never
has a larger variance than Warner's.

>>> from noisewright.estimation.survey.designs import warner
>>> round(violation(warner("3/4"), "0.1"), 4)
0.25
>>> comparison = compare_at_violation("0.25", "0.1")
>>> str(comparison.warner.p00), round(comparison.ratio, 6), round(comparison.worst_ratio, 6)
('3/4', 1.555556, 1.777778)

References: Holohan, Leith and Mason (2017); Warner (1965); Mangat (1994).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction
from noisewright.estimation.survey.designs import LEAST_SEPARATION, Design, as_prevalence, mangat, warner

__all__ = ["Comparison", "beliefs", "compare_at_violation", "mangat_for", "violation", "warner_for"]


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
