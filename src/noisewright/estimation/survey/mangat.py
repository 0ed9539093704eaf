r"""Mangat's idea for several categories, one of them harmless: who has that one answers at random, all others truthfully.

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
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.labels import as_labels
from noisewright.estimation.survey.designs import MOST_RESPONDENTS, as_respondents
from noisewright.mechanisms.label_columns import check_dense

__all__ = ["SuperMangat", "as_counts", "as_shares"]


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
