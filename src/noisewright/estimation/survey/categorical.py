r"""Categories: mechanisms ``P(d -> d') ~ e^(u(d, d'))``, the sets that decide their privacy, and k-ary randomised response.

**Hamming utility.** ``u = -k`` times the number of changed rows is, row by row, randomised response: every other one of
``m`` categories with probability ``p = 1/(e^k + m - 1)``. With ``q = e^epsilon`` and ``delta < 1`` it is ``(epsilon,
delta)``-private for the discrete metric if and only if ``(1 - delta)/(q + m - 1) <= p <= min(1/(m-1), (q + delta)/(1 +
(m-1) q))``. The left end lies least often of all private mechanisms
(:func:`noisewright.optimality.extreme.response.optimal_response` draws from it, proved).

**Sufficient sets.** For two neighbouring databases only the outputs that are more likely under the first can break the
guarantee; where the normaliser is the same for both, those with equal utility difference stand or fall together, and
with ``delta = 0`` each such *level* decides for itself. Ties are decided exactly: for rational utilities two sums of
exponentials are equal only if they have the same terms (Lindemann and Weierstrass), so no rounding makes an output more
likely that is not.

>>> low, high = response_range(4, epsilon="0.6931471805599453", delta="0.1")
>>> round(low, 6), round(high, 6)
(0.18, 0.3)
>>> round(hamming_delta(2, epsilon=0, categories=5), 4)
0.561
>>> flat = [[0, -1, -2], [-1, 0, -1], [-2, -1, 0]]          # minus the distance on a line of three
>>> sufficient_set(flat, 0, 2).outputs                       # 1 is as likely under 0 as under 2
(0,)

Reference: Holohan, Leith and Mason, *Differential privacy in metric spaces* (2015).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, exp_bounds, float_down, float_up, log_bounds
from noisewright.estimation.survey.designs import Design, as_respondents, binary
from noisewright.estimation.survey.mangat import as_counts, as_shares
from noisewright.mechanisms.categories.chances import check_promise

__all__ = [
    "ResponseDesign",
    "SufficientSet",
    "hamming_delta",
    "hamming_error",
    "hamming_range",
    "response_range",
    "sufficient_set",
    "utility_channel",
]

Utilities = Sequence[Sequence[Exact]]

LARGEST_SPACE = 10_000
"""Databases beyond this many are not listed in a dense matrix."""

MOST_CATEGORIES = 10**9

BITS = 320
"""Binary digits of powers of e: far more than a float needs, also next to the ends of a range."""


def utility_channel(utilities: ArrayLike) -> Channel:
    """The channel ``P(d -> d') = e^(u(d, d')) / C_d`` of a square matrix of utilities; epsilon is part of ``u``."""
    try:
        given = np.asarray(utilities, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    if given.ndim != 2 or not given.size or not np.isfinite(given).all() or max(given.shape) > LARGEST_SPACE:
        raise ParameterError(f"utilities are a matrix of finite numbers with up to {LARGEST_SPACE} rows and columns.")
    top = given.max(axis=1, keepdims=True)
    logs = given - top - np.log(np.exp(given - top).sum(axis=1, keepdims=True))
    return Channel.from_logs(logs)


# Sufficient sets ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SufficientSet:
    """The outputs that are more likely under the first of two databases, and the levels they fall into."""

    outputs: tuple[int, ...]
    """Events that suffice: if the guarantee holds for every subset of these it holds for every event."""
    levels: tuple[tuple[Fraction, tuple[int, ...]], ...]
    """Each difference ``u(d, x) - u(d', x)``, smallest first, and the outputs that have it."""
    constant: bool
    """Whether the normalisers of the two databases are equal; only then do levels decide, and only for ``delta = 0``."""


def sufficient_set(utilities: Utilities, first: int, second: int) -> SufficientSet:
    """The set for databases ``first`` and ``second``, rows of a matrix of rational utilities; ties are decided exactly."""
    try:
        here, there = ([as_fraction(u, "a utility") for u in utilities[row]] for row in (first, second))
    except (TypeError, IndexError):
        raise ParameterError(
            "utilities are a matrix of numbers, and the databases are two of its rows, from 0."
        ) from None
    if len(here) != len(there) or not here:
        raise ParameterError("utilities are a matrix with rows of one length.")
    outputs = tuple(x for x in range(len(here)) if _larger([here[x] + c for c in there], [there[x] + c for c in here]))
    found: dict[Fraction, list[int]] = {}
    for x in outputs:
        found.setdefault(here[x] - there[x], []).append(x)
    levels = tuple((level, tuple(found[level])) for level in sorted(found))
    return SufficientSet(outputs, levels, Counter(here) == Counter(there))


def _larger(first: list[Fraction], second: list[Fraction]) -> bool:
    """Return whether the sum of ``e^a`` over the first exponents is larger than over the second."""
    left, right = Counter(first), Counter(second)
    left, right = left - right, right - left
    if not left or not right:
        return bool(left)
    bits = 96
    while True:
        sums = [
            [sum(n * exp_bounds(a, bits)[end] for a, n in terms.items()) for end in (0, 1)] for terms in (left, right)
        ]
        if sums[0][0] > sums[1][1]:
            return True
        if sums[0][1] < sums[1][0]:
            return False
        bits *= 2


# Hamming utility and randomised response ----------------------------------------------------------------------------------


def hamming_range(categories: int, *, epsilon: Exact, delta: Exact = 0) -> tuple[float, float]:
    """The rates ``k`` of ``u = -k`` times the Hamming distance that are private: from (perhaps minus infinity) and to.

    Both ends are rounded inwards, so that every rate between them is private.
    """
    m, (budget, extra) = _size(categories), check_promise(epsilon, delta)
    if extra == 0:
        most = abs(float_down(budget))
        return 0.0 - most, most
    q, lost = _factor(budget), 1 - (m - 1) * extra
    low = -math.inf if lost <= 0 else float_up(_over(log_bounds(lost / (q + extra), BITS)[1]))
    high = math.inf if extra == 1 else float_down(_over(log_bounds((q + (m - 1) * extra) / (1 - extra), BITS)[0]))
    return low, high


def hamming_delta(rate: Exact, *, epsilon: Exact, categories: int) -> float:
    """The smallest delta for which the rate ``k`` is private at this epsilon, rounded up; ``k`` may be infinite."""
    m, (budget, _), k = _size(categories), check_promise(epsilon), _as_rate(rate)
    if not isinstance(k, Fraction):
        return 1.0 if k > 0 else float_up(Fraction(1, m - 1))
    gap = abs(k) - budget
    if gap <= 0:
        return 0.0
    # Divided by e^k for a positive rate, so that no power is large.
    least, own = (_over(exp_bounds(-x, BITS)[0]) for x in (gap, abs(k)))
    return min(1.0, float_up((1 - least) / (1 + (m - 1) * own if k > 0 else own + m - 1)))


def hamming_error(rate: Exact, categories: int) -> float:
    """The expected share of changed rows, ``1 / (1 + e^k/(m-1))``."""
    m, k = _size(categories), float(_as_rate(rate))
    small = math.exp(-abs(k))
    return (m - 1) * small / (1 + (m - 1) * small) if k > 0 else (m - 1) / (m - 1 + small)


def response_range(categories: int, *, epsilon: Exact, delta: Exact = 0) -> tuple[float, float]:
    """The probabilities ``p`` of each other category for which randomised response is private.

    Floats, rounded inwards; where only one probability is private (``epsilon = delta = 0``) no float may be left between.
    """
    m, (budget, extra) = _size(categories), check_promise(epsilon, delta)
    q = _factor(budget)
    least = (1 - extra) / (q + m - 1)
    return float_up(least), float_down(min(Fraction(1, m - 1), (q + extra) / (1 + (m - 1) * q)))


@dataclass(frozen=True)
class ResponseDesign:
    """Randomised response over ``categories`` categories that reports each other one with probability ``lie``."""

    categories: int
    lie: Fraction

    def __post_init__(self) -> None:
        lie = as_fraction(self.lie, "lie")
        if not 0 <= lie <= Fraction(1, _size(self.categories) - 1):
            raise ParameterError("the probability of each other category must be from 0 to 1/(m - 1) for m categories.")
        object.__setattr__(self, "lie", lie)

    @property
    def keep(self) -> Fraction:
        """The probability of the truth."""
        return 1 - (self.categories - 1) * self.lie

    @property
    def collapsed(self) -> Design:
        """The design for one category against all others: a binary design, which has the variance of that share."""
        return binary(1 - self.lie, self.keep)

    def estimate(self, counts: ArrayLike) -> Floats:
        """The unbiased estimate of all shares, ``(N_j/n - p)/(1 - m p)``; some may be negative."""
        given = as_counts(counts, self.categories)
        return np.asarray((given / given.sum() - float(self.lie)) / self._slope())

    def covariance(self, shares: ArrayLike, respondents: int = 1) -> Floats:
        """Return the covariance matrix of the estimate: the covariance of a multinomial sample of answers,
        stretched.
        """
        pi, size = as_shares(shares, self.categories), as_respondents(respondents)
        answers = float(self.lie) + self._slope() * pi
        return np.asarray((np.diag(answers) - np.outer(answers, answers)) / (size * self._slope() ** 2))

    def _slope(self) -> float:
        slope = 1 - self.categories * self.lie
        if slope == 0:
            raise ParameterError("every category is reported equally often, so nothing can be estimated.")
        return float(slope)


def _factor(budget: Fraction) -> Fraction:
    """A fraction just below ``e^epsilon``: a design that is private with it is private."""
    return _over(exp_bounds(budget, BITS)[0])


def _over(units: int) -> Fraction:
    return Fraction(units, 1 << BITS)


def _as_rate(rate: object) -> Fraction | float:
    """A rate exactly, or one of the infinities."""
    return rate if isinstance(rate, float) and math.isinf(rate) else as_fraction(rate, "the rate")


def _size(categories: object) -> int:
    number = int(categories) if is_whole(categories) else 0
    if not 2 <= number <= MOST_CATEGORIES:
        raise ParameterError(f"the number of categories must be a whole number, 2 or more, up to {MOST_CATEGORIES}.")
    return number
