r"""Margins of error: how far an estimated share may be off, and how many respondents a margin needs.

From a variance ``v``, with confidence ``c``:

* ``normal``: ``z sqrt(v)`` with the quantile ``z`` of the normal law (1.96 for 95 %); approximate, good for many respondents;
* ``chebyshev``: ``sqrt(v / (1 - c))`` (4.47 standard deviations for 95 %); true for every law that has this variance.

After the survey :func:`share_interval` turns a count into an interval. ``exact`` (Clopper and Pearson's interval for the
probability of the answer, moved to the scale of the share) contains the true share with probability at least ``c`` whatever
it is, for independent respondents; ``normal`` uses the estimated variance, ``chebyshev`` the largest one there can be. Where
a whole population was asked, both leave out the part that sampling has in it; ``exact`` is then wider than it need be.

>>> from noisewright.estimation.survey.designs import warner
>>> design = warner("3/4")
>>> round(margin_of_error(design.variance("0.1", 1000)), 4), respondents_for(design.variance("0.1"), "0.03")
(0.0568, 3586)
>>> [round(end, 4) for end in share_interval(design, yes=300, respondents=1000)]
[0.0434, 0.1589]

References: Holohan, Leith and Mason (2017); Clopper and Pearson (1934).
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Literal

from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, in_words
from noisewright.estimation.survey.designs import MOST_RESPONDENTS, Design

__all__ = [
    "Method",
    "TooManyError",
    "as_confidence",
    "deviations",
    "margin_of_error",
    "respondents_for",
    "share_interval",
]

Method = Literal["normal", "chebyshev", "exact"]


def deviations(confidence: Exact = "0.95", method: Method = "normal") -> float:
    """The margin of error in standard deviations."""
    confidence = as_confidence(confidence)
    if method == "normal":
        # From the tail, which keeps its digits next to 1; next to 0 the law is flat, and (1 + confidence)/2 would be 1/2.
        return -NormalDist().inv_cdf((1 - confidence) / 2) if confidence > 1e-5 else confidence * math.sqrt(math.pi / 2)
    if method == "chebyshev":
        return 1 / math.sqrt(1 - confidence)
    raise ParameterError(f"a margin from a variance is 'normal' or 'chebyshev', not {method!r}.")


def margin_of_error(variance: float, confidence: Exact = "0.95", method: Method = "normal") -> float:
    """Half the width of the interval around an estimate with this variance."""
    return deviations(confidence, method) * math.sqrt(_as_variance(variance))


class TooManyError(ParameterError):
    """A margin for which no one could ask enough respondents."""


def respondents_for(variance: float, margin: Exact, confidence: Exact = "0.95", method: Method = "normal") -> int:
    """The smallest number of respondents whose margin is at most ``margin``; ``variance`` is that for one respondent."""
    target = as_fraction(margin, "the target margin")
    if not 0 < target < 1:
        raise ParameterError(f"the target margin must be above 0 and below 1, not {in_words(target)}.")
    needed = Fraction(_as_variance(variance)) * (Fraction(deviations(confidence, method)) / target) ** 2
    if needed > MOST_RESPONDENTS:
        raise TooManyError(f"this margin needs more than {MOST_RESPONDENTS:.0e} respondents; choose a larger one.")
    return max(1, math.ceil(needed * (1 - Fraction(1, 10**12))))  # rounding of floats must not cost a respondent


def share_interval(
    design: Design,
    yes: int,
    respondents: int,
    *,
    confidence: Exact = "0.95",
    method: Method = "exact",
    clip: bool = True,
    whole_population: bool = False,
) -> tuple[float, float]:
    """An interval for the share of the attribute, from the number of yes answers; within ``[0, 1]`` unless ``clip=False``."""
    confidence = as_confidence(confidence)
    middle = design.estimate(yes, respondents)
    if method == "exact":
        chances = _clopper_pearson(yes, respondents, confidence)
        base, slope = float(1 - design.p00), float(design.separation)
        ends = sorted((chance - base) / slope for chance in chances)
    elif method in ("normal", "chebyshev"):
        if method == "chebyshev":
            variance = design.worst_variance(respondents, whole_population=whole_population).variance
        elif whole_population:
            variance = design.variance(min(max(middle, 0.0), 1.0), respondents, whole_population=True)
        else:
            variance = design.plug_in_variance(yes, respondents)
        half = margin_of_error(variance, confidence, method)
        ends = [middle - half, middle + half]
    else:
        raise ParameterError(f"an interval is 'exact', 'normal' or 'chebyshev', not {method!r}.")
    return (min(max(ends[0], 0.0), 1.0), min(max(ends[1], 0.0), 1.0)) if clip else (ends[0], ends[1])


def as_confidence(confidence: Exact) -> float:
    """A confidence greater than 0 and below 1."""
    confidence = float(as_fraction(confidence, "confidence"))
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must be above 0 and below 1, such as 0.95, not {confidence:g}.")
    return confidence


def _as_variance(value: object) -> float:
    number = float(value) if is_number(value) else math.nan
    if not 0 <= number < math.inf:
        raise ParameterError("a variance is a finite number that is 0 or more.")
    return number


def _clopper_pearson(successes: int, trials: int, confidence: float) -> tuple[float, float]:
    """All probabilities under which this count, or one farther out on its side, has at least ``(1 - confidence)/2``."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return low, high
