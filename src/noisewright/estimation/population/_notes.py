"""Notes for the reader of an estimate, in one sentence each.

>>> print(*left_out(2, 98))
2 of 100 reports were left out; the estimate is about the rest, and is biased if who was left out depends on the secret.
>>> print(*without_reports([120, 0], ["geometric", "randomised-response"]))
there are no reports of mechanism 2 (randomised-response); the estimate is from the others.
"""

from __future__ import annotations

from collections.abc import Sequence

from noisewright.core.arrays import Floats
from noisewright.core.errors import NoisewrightError
from noisewright.core.exact import upward
from noisewright.estimation.fitting.bayesian_update import Fit
from noisewright.estimation.fitting.fit import QUICK, Fitting
from noisewright.estimation.fitting.newton import most_likely
from noisewright.estimation.population.identifiability import WEAK, identifiability, rank_of

__all__ = ["about_the_fit", "bent", "left_out", "without_reports"]


SHARP = 1e-7
"""A certified gap below this per report is as good as none, so that ties can be recognised."""


def without_reports(reports: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
    """Return the note that some of several mechanisms, in the order in which they were given, have no reports."""
    empty = [f"mechanism {place + 1} ({name})" for place, name in enumerate(names) if not reports[place]]
    return (f"there are no reports of {', '.join(empty)}; the estimate is from the others.",) if empty else ()


def left_out(dropped: int, total: int) -> tuple[str, ...]:
    """Return the note that some reports do not count."""
    if not dropped:
        return ()
    return (
        f"{dropped:,} of {total + dropped:,} reports were left out; the estimate is about the rest, and is biased if "
        "who was left out depends on the secret.",
    )


def bent(intervals: str | None, method: str) -> tuple[str, ...]:
    """Return the note that a bootstrap does not see a bias."""
    if intervals != "bootstrap" or method != "ibu":
        return ()
    return (
        "bootstrap intervals say how much this estimate varies, not how far stopping early bends it; asymptotic ones are about "
        "the truth.",
    )


def about_the_fit(how: Fitting, q: Floats, fit: Fit) -> list[str]:
    """Return whether other populations fit as well, and the effect of floats or noise on this one."""
    operator, found = how.operator, list[str]()
    sharp = how.method != "inversion" and fit.likelihood.gap <= SHARP
    if sharp:
        found += identifiability(operator, q, fit.probabilities, fit.likelihood.gap).warnings
    elif (rank_of(operator) or operator.shape[0]) < operator.shape[0]:
        found += identifiability(operator, q, fit.probabilities).warnings[:1]
    elif how.method == "ibu" and operator.shape[0] <= QUICK and not (q > 0).all() and int((q > 0).sum()) <= QUICK:
        best = most_likely(q, operator)  # the direction of the iteration: not visible from where it stopped
        if best.likelihood.gap <= SHARP:
            found += identifiability(operator, q, best.probabilities, best.likelihood.gap).warnings
    if how.method == "mle" and not fit.converged:
        found.append("floats allow no better certificate here; the gap says how much may be left.")
    if how.method == "inversion":
        try:
            amplified = operator.inverse().amplification
        except NoisewrightError:
            amplified = 0.0
        if amplified > WEAK:
            found.append(
                f"matrix inversion amplifies the noise of these reports up to {upward(amplified, 3)} times; 'ibu' or 'mle' is "
                "usually far closer."
            )
    return found
