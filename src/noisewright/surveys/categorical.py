"""Mangat's idea for several categories, one of them harmless: who has that one answers at random, all others truthfully.

With ``m`` categories, the first of them harmless, ``P(answer 1) = pi_1/m`` and ``P(answer j) = pi_j + pi_1/m``.
Therefore, from counts ``N`` of ``n`` answers ``pi_1 = m N_1/n`` and ``pi_j = (N_j - N_1)/n``: unbiased, and the most
likely population if none of them is negative. Otherwise :meth:`SuperMangat.likeliest` pools the categories that are
rarer than the harmless answer, which is exact.

**Not differentially private.** Two sensitive categories never give the same answer, so for ``m >= 3`` a ``delta`` of 1
is needed, whatever epsilon (1/2 for ``m = 2``, where it is Mangat's design with probability 1/2). What protects
respondents is only that an answer may come from someone harmless: :meth:`SuperMangat.violation` says how likely it does
not.

>>> drugs = SuperMangat(("none", "cannabis", "opioids"))
>>> drugs.estimate([300, 380, 320]).round(3).tolist()
[0.9, 0.08, 0.02]
>>> drugs.likeliest([340, 350, 310]).round(3).tolist()
[0.975, 0.025, 0.0]
>>> drugs.smallest_delta, round(drugs.violation([0.9, 0.08, 0.02], "cannabis"), 3)
(1.0, 0.211)

References: Mangat (1994); Holohan, Leith and Mason (2017).

**Hamming utility.** ``u = -k`` times the number of changed rows is, row by row, randomised response: every other one of
``m`` categories with probability ``p = 1/(e^k + m - 1)``. With ``q = e^epsilon`` and ``delta < 1`` it is ``(epsilon,
delta)``-private for the discrete metric if and only if ``(1 - delta)/(q + m - 1) <= p <= min(1/(m-1), (q + delta)/(1 +
(m-1) q))``. The left end lies least often of all private mechanisms
(:func:`noisewright.design.closed_forms.optimal_response` draws from it, proved).

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
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole
from noisewright.channels.channel import Channel
from noisewright.claims.figures import exp_bounds, float_down, float_up
from noisewright.columns.label_encoder import check_dense
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.categorical.probability_table import check_promise
from noisewright.metrics.base import as_labels
from noisewright.numerics.exact import Exact, as_fraction, log_bounds
from noisewright.surveys.designs import MOST_RESPONDENTS, Design, as_respondents, binary

__all__ = [
    "ResponseDesign",
    "SufficientSet",
    "SuperMangat",
    "as_counts",
    "as_shares",
    "hamming_delta",
    "hamming_error",
    "hamming_range",
    "response_range",
    "sufficient_set",
    "utility_channel",
]


@dataclass(frozen=True)
class SuperMangat:
    """The design over two or more categories, the first of which is harmless."""

    categories: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        names = as_labels(self.categories, "the categories")
        if len(names) < 2 or len(set(names)) < len(names):
            raise ParameterError(
                "categories must be two or more, and all different; the first one is the harmless one."
            )
        object.__setattr__(self, "categories", names)

    @property
    def smallest_delta(self) -> float:
        """The delta that it needs at any epsilon: 1/2 for two categories, 1 for more. It does not satisfy differential
        privacy.
        """
        return 0.5 if len(self.categories) == 2 else 1.0

    def channel(self) -> Channel:
        """A uniform row for the harmless category, the truth for every other."""
        check_dense(len(self.categories))
        matrix = np.eye(len(self.categories))
        matrix[0] = 1 / len(self.categories)
        return Channel(matrix, self.categories, self.categories)

    def estimate(self, counts: ArrayLike) -> Floats:
        """The unbiased estimate of all shares; some may be negative."""
        given = as_counts(counts, len(self.categories))
        shares: Floats = (given - given[0]) / given.sum()
        shares[0] = len(given) * given[0] / given.sum()
        return shares

    def likeliest(self, counts: ArrayLike) -> Floats:
        """The shares under which the counts are likeliest, none of them negative.

        Categories in rising order of their counts join a pool with the harmless answer while they are rarer than its mean.
        """
        given = as_counts(counts, len(self.categories))
        order = 1 + np.argsort(given[1:], kind="stable")
        sums = given[0] + np.concatenate([[0.0], np.cumsum(given[order])])
        means = sums / np.arange(1, len(given) + 1)
        joins = given[order] < means[:-1]
        pooled = len(order) if joins.all() else int(np.argmin(joins))
        answers = given / given.sum()
        answers[[0, *order[:pooled]]] = means[pooled] / given.sum()
        shares: Floats = answers - answers[0]
        shares[0] = len(given) * answers[0]
        return shares

    def covariance(self, shares: ArrayLike, respondents: int = 1) -> Floats:
        """The covariance matrix of the unbiased estimate."""
        pi, size = as_shares(shares, len(self.categories)), as_respondents(respondents)
        m = len(pi)
        matrix = pi[0] / m - np.outer(pi, pi)
        np.fill_diagonal(matrix, 2 * pi[0] / m + pi * (1 - pi))
        matrix[0] = matrix[:, 0] = -pi[0] * (1 + pi)
        matrix[0, 0] = pi[0] * (m - pi[0])
        return np.asarray(matrix / size)

    def worst_variances(self, respondents: int = 1) -> tuple[float, float]:
        """The largest variance of the harmless share, at ``pi_1 = 1``, and of a sensitive one, at ``pi_j = 1/2 - 1/m``."""
        m, size = len(self.categories), as_respondents(respondents)
        return (m - 1) / size, (0.5 + 1 / m) ** 2 / size

    def violation(self, shares: ArrayLike, category: Hashable) -> float:
        """The probability that someone who answers a sensitive category really has it: it grows with their number."""
        pi = as_shares(shares, len(self.categories))
        if category not in self.categories[1:]:
            raise ParameterError("name one of the sensitive categories, all but the first.")
        own = float(pi[self.categories.index(category)])
        by_chance = float(pi[0]) / len(pi)
        if own + by_chance == 0:
            raise ParameterError("nobody answers this category at these shares.")
        return own / (own + by_chance)


def as_counts(counts: ArrayLike, size: int) -> Floats:
    """Counts of answers, one for each category: integers, not all 0."""
    try:
        raw = np.asarray(counts)
    except ValueError:  # lists of several lengths
        raw = np.asarray("")
    if raw.dtype.kind not in "iuf" and raw.size:
        raise DataError("counts are numbers, one for each category, and not far too large.")
    given = raw.astype(np.float64)
    if given.shape != (size,) or not np.isfinite(given).all() or (given < 0).any() or (given % 1 != 0).any():
        raise DataError(f"counts must be {size} whole numbers that are 0 or more, one for each category.")
    if (given > MOST_RESPONDENTS).any() or given.sum() > MOST_RESPONDENTS:
        raise DataError("there are more than 10^12 answers, which nobody has counted; check the counts.")
    if given.sum() == 0:
        raise DataError("there are no answers, so nothing can be estimated.")
    return given


def as_shares(shares: ArrayLike | Sequence[float], size: int) -> Floats:
    """Shares of a population, one for each category; they sum to 1."""
    try:
        given = np.array(shares, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("shares are numbers, one for each category.") from None
    if given.shape != (size,) or not (given >= 0).all() or not abs(given.sum() - 1) < 1e-9:
        raise ParameterError(f"shares must be {size} numbers that are 0 or more and sum to 1.")
    return given


# Categorical --------------------------------------------------------------------------------------------------------------
#
# Categories: mechanisms ``P(d -> d') ~ e^(u(d, d'))``, the sets that decide their privacy, and k-ary randomised response.


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
