r"""The binary design with the least variance among all with an ``(epsilon, delta)`` guarantee.

For one respondent the information about the share, ``D^2 / (mu (1 - mu))``, is a convex function of ``(p00, p11)``, so the
best private design is a corner of the :mod:`~noisewright.estimation.survey.region`. With ``q = e^epsilon``, ``s = (q +
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

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from noisewright.core.errors import GuaranteeError, ParameterError
from noisewright.core.exact import Exact, in_words
from noisewright.estimation.survey.designs import LEAST_SEPARATION, Design, as_prevalence
from noisewright.estimation.survey.region import Region

__all__ = [
    "Branch",
    "Optimum",
    "asymmetric_threshold",
    "disclosing_threshold",
    "four_answer_variance",
    "optimal_design",
]

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
