r"""Frequencies from reports that support categories: unary encoding, local hashing, subset selection.

A report supports the truth with probability ``p`` and every other category with probability ``q``, both exact fractions of the
mechanism. With ``C_v`` the number of ``N`` reports that support ``v``,

.. math:: \hat f_v = \frac{C_v / N - q}{p - q}

is unbiased. Its variance is exact too. For ``N`` people drawn from a population with share ``f`` of a category it is
:math:`\pi (1 - \pi) / (N (p - q)^2)` with :math:`\pi = f p + (1 - f) q`; for a fixed group of people with that share, whose
coins alone are random, it is :math:`(f p (1-p) + (1-f) q (1-q)) / (N (p - q)^2)`. Both are ``q (1-q) / (N (p-q)^2)`` at
``f = 0``, the figure by which oracles are usually compared. Randomised response has the same formulas, with ``p`` the
probability
of the truth and ``q`` that of any other category; that of Hadamard response is in :mod:`noisewright.estimation.operators`.

>>> from noisewright.mechanisms.categorical.frequency_oracle import unary_encoding
>>> page = unary_encoding(["home", "news", "help"], epsilon=1)
>>> rng = np.random.default_rng(1)
>>> tally = SupportTally(page)
>>> for _ in range(10):  # batch by batch; only counts are kept
...     tally.add(page.release(rng.choice(["home", "news", "help"], 10_000, p=[0.6, 0.3, 0.1]), rng))
>>> shares(tally.result(), page).round(2).tolist()
[0.6, 0.28, 0.11]
>>> round(float(np.sqrt(variance(0.6, 100_000, page))), 4)
0.0067

References: Wang, Blocki, Li and Jha (2017); Ye and Barg (2018).

A secret ``x`` counts ``g(x)`` for a sort, 1 or 0, or something between for a sort without sharp ends. A report ``y`` is made
to count ``w(y)`` instead, with weights that nearly undo the mechanism ``M``: the mean of ``w`` over the reports is then off by

.. math:: \Bigl|\sum_x p_x \bigl((M w)(x) - g(x)\bigr)\Bigr| \le \max_x |(M w)(x) - g(x)| =: b

for every population ``p``, skewed, heaped or all of one value. ``w`` solves a least-squares problem with a ridge, which trades
``b`` for variance and depends on the mechanism and the number of reports alone. Where ``M`` can be undone (categories),
``b`` is
0. The interval is the interval of a mean over reports (:mod:`~noisewright.estimation.result`), all sorts
together, and ``b`` longer at either end. Given the secrets, reports are independent and not alike, which makes their
mean vary less than the interval allows for: it covers for the very table that was reported, and for a population that
it was drawn from.

Sharp ends cost most: noise hides whether a secret is just below an end or just above it, and no honest interval is
short. :func:`soft_bars` gives sorts that blend into each other at their ends.

>>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
>>> found = sums_of(coin, np.eye(2), np.array([400, 600]))
>>> found.estimate.round(3).tolist(), found.low.round(3).tolist(), found.high.round(3).tolist()
([0.3, 0.7], [0.24, 0.639], [0.361, 0.76])

Reference: Armstrong and Kolesar, *Optimal inference in a class of regression models* (2018), on intervals that count bias.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole, one_of
from noisewright.certificates.certificate import Certificate
from noisewright.claims.figures import upward
from noisewright.estimation.inverses import WORST_CONDITION
from noisewright.estimation.likelihood import project
from noisewright.estimation.result import mean_interval, needs_tails, quantile, shared_confidence, tail_interval
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.categorical.frequency_oracle import Oracle, Support, rare_variance
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism
from noisewright.mechanisms.categorical.subset_selection import HadamardMechanism
from noisewright.mechanisms.from_certificate import oracle_of

__all__ = ["Combined", "Sums", "SupportTally", "as_oracles", "combine", "shares", "soft_bars", "sums_of", "variance"]


Population = Literal["sampled", "fixed"]

ROUNDING = 1e-9
"""A share of a block is a sum of floats."""

HARDLY = 0.5
"""Standard error from which a 95 % interval covers all possible shares."""


def as_oracles(things: Sequence[object]) -> list[Oracle] | None:
    """The oracles whose reports are counted by support, from mechanisms or their certificates; None if any is of another kind."""
    read = (oracle_of(thing) if isinstance(thing, Certificate) else thing for thing in things)
    found = [thing for thing in read if not isinstance(thing, type) and isinstance(thing, Oracle)]
    return found if found and len(found) == len(things) else None


def shares(support: Support, oracle: Oracle) -> Floats:
    """The unbiased estimate of every category's share; it may be negative, and need not sum to 1."""
    if not support.reports:
        raise DataError("there are no reports to estimate from.")
    _, q, lift = _probabilities(oracle)
    return np.asarray((support.counts / support.reports - q) / lift)


def variance(
    share: ArrayLike,
    reports: int,
    oracle: Oracle | ResponseMechanism | HadamardMechanism,
    *,
    population: Population = "sampled",
    block: ArrayLike | None = None,
) -> Floats:
    """The exact variance of the unbiased estimate for a category with this true ``share``, before it is projected.

    ``population="sampled"``: people are drawn from a population with that share. ``"fixed"``: it is the share among the people
    who report, and only their coins are random.

    For Hadamard response it also depends on ``block``, the share of all categories in the category's block, itself
    included: a common category in the same block adds noise. Without it, all others are taken to be equally common, and
    the block to be full.
    """
    one_of(population, "population", ("sampled", "fixed"))
    if not is_whole(reports) or reports < 1:
        raise ParameterError("a variance needs the number of reports, a whole number from 1.")
    f = np.asarray(share, dtype=np.float64)
    if not ((f >= 0) & (f <= 1)).all():
        raise ParameterError("a share is a number from 0 to 1.")
    p, q, lift = _probabilities(oracle)
    if isinstance(oracle, HadamardMechanism):
        mass = _block_share(f, block, oracle)
        second = (
            mass * (p + q) + (1 - mass) * 2 * q
        ) / lift**2  # of the summand of one report, which is 0 or 1/lift in size
        return np.asarray((second - (f if population == "fixed" else f**2)) / int(reports))
    if block is not None:
        raise ParameterError("only Hadamard response has blocks; leave block out.")
    if population == "fixed":
        spread = f * (p * (1 - p)) + (1 - f) * (q * (1 - q))
    else:
        held = f * p + (1 - f) * q
        spread = held * (1 - held)
    return np.asarray(spread / (lift**2 * int(reports)))


class SupportTally:
    """Counts of support that grow batch by batch."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self._found = Support(np.zeros(len(oracle.categories), dtype=np.int64), 0)

    def add(self, reports: Any) -> None:
        """Count a batch of reports, or add the counts of one."""
        counted = self._checked(reports) if isinstance(reports, Support) else self.oracle.support(reports)
        self._found = self._found + counted

    def result(self, outside: str = "refuse") -> Support:
        """Return the counts; raise an error if some are not reports of this mechanism, unless they should be
        dropped.
        """
        one_of(outside, "outside", ("refuse", "drop"))
        found = self._found
        if not found.reports and not found.outside:
            raise DataError("there are no reports to estimate from.")
        if found.outside and (outside == "refuse" or not found.reports):
            count, name, size = found.reports + found.outside, self.oracle.name, len(self.oracle.categories)
            advice = (
                "check that it is the one that made them, or drop such reports (outside: drop)."
                if found.reports
                else f"check that they were made by {name} over the same {size} categories."
            )
            raise DataError(f"{found.outside} of {count} reports are not reports of this mechanism; {advice}")
        return found

    def _checked(self, counted: Support) -> Support:
        size, counts = len(self.oracle.categories), np.asarray(counted.counts)
        if counts.shape != (size,):
            raise ParameterError(f"there are {counts.size} counts for {size} categories.")
        if (
            counts.dtype.kind not in "iu"
            or (counts < 0).any()
            or (counts > counted.reports).any()
            or counted.outside < 0
        ):
            raise DataError("counts of support must be whole numbers from 0 to the number of reports.")
        return counted


@dataclass(frozen=True, eq=False)
class Combined:
    """Shares of all categories from the reports of one or several oracles, with their standard errors."""

    secrets: Sequence[Hashable]
    unbiased: Floats
    standard_errors: Floats
    reports: int
    dropped: int
    groups: Sequence[tuple[float, Support, Oracle]]
    """Counts of each oracle, and its weight in the average."""

    @property
    def probabilities(self) -> Floats:
        """The nearest distribution."""
        return project(self.unbiased)

    @property
    def alike(self) -> float:
        """Number of the reports with most weight that would vary as much as all of them do: the others may hardly
        matter.
        """
        counts = [
            (support.reports, weight / support.reports / _probabilities(o)[2]) for weight, support, o in self.groups
        ]
        most = max(each for _, each in counts)
        return sum(number * (each / most) ** 2 for number, each in counts)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for a reader of the shares alone."""
        worst = float(self.standard_errors.max())
        if worst < HARDLY:
            return ()
        return (
            f"these reports tell hardly anything: the standard error of a share is up to {upward(worst, 3)}; ask more people, or "
            "choose a larger epsilon.",
        )

    def intervals(self, confidence: float) -> tuple[Floats, Floats]:
        """Confidence intervals of every category alone, cut to [0, 1].

        They are Agresti and Coull's, who add a few reports of either kind: where all reports are alike, the variance that they
        suggest is 0, and the true one is not.
        """
        more = quantile(confidence) ** 2
        centre, spread = np.zeros(len(self.secrets)), np.zeros(len(self.secrets))
        for weight, support, oracle in self.groups:
            _, q, lift = _probabilities(oracle)
            size = support.reports + more
            held = (support.counts + more / 2) / size
            centre += weight * (held - q) / lift
            spread += (weight / lift) ** 2 * held * (1 - held) / size
        wide = np.sqrt(more * spread)
        low, high = np.clip(centre - wide, 0, 1), np.clip(centre + wide, 0, 1)
        return np.minimum(low, self.probabilities), np.maximum(high, self.probabilities)


def combine(reports: Sequence[Any], oracles: Sequence[Oracle], outside: str = "refuse") -> Combined:
    """The shares behind the reports of several oracles over the same categories.

    Each gives an unbiased estimate. They are averaged with weights in proportion to their precision for a rare
    category, which do not depend on the reports, so the average is unbiased too.
    """
    if not oracles or len(reports) != len(oracles):
        raise ParameterError(f"a list of {len(oracles)} mechanisms needs a list of as many columns of reports.")
    names = oracles[0].categories
    if any(oracle.categories != names for oracle in oracles[1:]):
        raise ParameterError("mechanisms in one data set must be about the same secrets, in the same order.")
    counted = [_counted(one, oracle, outside) for one, oracle in zip(reports, oracles, strict=True)]
    precise = [_precision(s.reports, o) for s, o in zip(counted, oracles, strict=True)]
    weights = [float(one / sum(precise)) for one in precise]
    found = [shares(support, oracle) for support, oracle in zip(counted, oracles, strict=True)]
    mean = np.asarray(sum(w * one for w, one in zip(weights, found, strict=True)))
    likely = np.clip(mean, 0, 1)
    spread = sum(w**2 * variance(likely, s.reports, o) for w, s, o in zip(weights, counted, oracles, strict=True))
    total, dropped = sum(s.reports for s in counted), sum(s.outside for s in counted)
    groups = list(zip(weights, counted, oracles, strict=True))
    return Combined(names, mean, np.sqrt(spread), total, dropped, groups)


def _probabilities(oracle: Oracle | ResponseMechanism | HadamardMechanism) -> tuple[float, float, float]:
    """``p``, ``q`` and their difference, which is taken in fractions: for a small epsilon they are nearly the same."""
    if isinstance(oracle, HadamardMechanism):
        p, q = oracle.half_probabilities
    elif isinstance(oracle, ResponseMechanism):  # a report supports the category that it is
        p, q = oracle.keep_probability, Fraction(oracle.other, 1 << oracle.width)
    else:
        p, q = oracle.support_probabilities
    if (p - q) * int(WORST_CONDITION) < 1:
        raise ParameterError(
            "these reports tell nearly nothing: the truth is hardly supported more often than any other category; choose a "
            "larger epsilon."
        )
    return float(p), float(q), float(p - q)


def _block_share(share: Floats, block: ArrayLike | None, oracle: HadamardMechanism) -> Floats:
    if block is None:
        size = len(oracle.categories)
        return np.asarray(share + (1 - share) * (min(oracle.length - 1, size) - 1) / (size - 1))
    mass = np.asarray(block, dtype=np.float64)
    if not ((mass >= share - ROUNDING) & (mass <= 1 + ROUNDING)).all():
        raise ParameterError("the share of a block is a number from the category's own share to 1.")
    return mass


def _counted(reports: Any, oracle: Oracle, outside: str) -> Support:
    tally = SupportTally(oracle)
    tally.add(reports)
    return tally.result(outside)


def _precision(reports: int, oracle: Oracle) -> Fraction:
    """One over the variance for a rare category; in fractions, as for a large epsilon the variance is 0 in floats."""
    return reports / rare_variance(*oracle.support_probabilities)


# Sums ---------------------------------------------------------------------------------------------------------------------
#
# Numbers of secrets of a sort: linear estimates whose intervals include the remaining bias, whatever the population.


RIDGES = np.logspace(0, -15, 16)
"""The ridges that are tried, as shares of the largest squared singular value."""

WEARY = 3.0
"""Multiple of its size at which bias counts in the choice of a ridge: an estimate should be right, not only its
interval.
"""


@dataclass(frozen=True)
class Sums:
    """Means over all secrets of what each counts for, with both ends of their intervals; ``bias``: at most this is left of it."""

    estimate: Floats
    low: Floats
    high: Floats
    bias: Floats


def sums_of(
    channel: Floats,
    worth: Floats,
    counts: NDArray[np.int64],
    *,
    confidence: float = 0.95,
    among: int | None = None,
    ordered: bool = False,
) -> Sums:
    """Return the average weight of secrets, from counts of reports; all intervals hold at once with the ``confidence``.

    ``channel`` and ``worth`` have a row for each secret: the probabilities of its reports, and its weight in each sum.
    ``among``: of how many sorts these were chosen by looking at the reports. ``ordered``: rows are points on a line,
    and points between two of them are secrets as well; the curvature of the remaining bias bounds it there.
    """
    reports = int(counts.sum())
    shares = counts / reports
    sorts = worth.shape[1]
    each = shared_confidence(confidence, among or (1 if sorts == 2 else sorts))
    weights, bias = _weights(channel, worth, quantile(each) / np.sqrt(reports), ordered)
    extremes = weights.min(axis=0), weights.max(axis=0)
    either = bool((np.minimum(weights - extremes[0], extremes[1] - weights) <= 1e-9).all())
    mean = shares @ weights
    if needs_tails(reports, each, False):
        low, high = tail_interval(mean, extremes, reports, each, either=either)
    else:
        low, high = mean_interval(mean, shares @ weights**2, extremes, reports, each)
    ends = worth.min(axis=0), worth.max(axis=0)
    return Sums(np.clip(mean, *ends), np.clip(low - bias, *ends), np.clip(high + bias, *ends), bias)


def _weights(channel: Floats, worth: Floats, reach: float, ordered: bool) -> tuple[Floats, Floats]:
    """Return weights of reports for each sum, and their remaining bias: by the ridge that makes the interval
    shortest.
    """
    usual = channel.mean(axis=0)
    # Reports that are rare among all secrets may be frequent in one table: they get no large weights either.
    scale = np.sqrt(usual + usual.mean() / 10)
    left, values, right = np.linalg.svd(channel / scale, full_matrices=False)
    seen = left.T @ worth
    best: tuple[Floats, Floats, Floats] | None = None
    for ridge in RIDGES * values[0] ** 2:
        found = (right.T @ ((values / (values**2 + ridge))[:, None] * seen)) / scale[:, None]
        bias = _bias(channel @ found - worth, ordered)
        spread = usual @ found**2 - (usual @ found) ** 2 + reach**2 * (found**2).max(axis=0)
        length = reach * np.sqrt(np.maximum(spread, 0.0)) + WEARY * bias
        if best is None:
            best = found, bias, length
        else:
            better = length < best[2]
            best = (
                np.where(better, found, best[0]),
                np.where(better, bias, best[1]),
                np.where(better, length, best[2]),
            )
    assert best is not None
    return best[0], best[1]


def _bias(left: Floats, ordered: bool) -> Floats:
    """The most that is left of bias at the rows and, if they are places on a line, between them."""
    most = np.abs(left).max(axis=0)
    if ordered and len(left) > 2:
        most = most + np.abs(left[2:] - 2 * left[1:-1] + left[:-2]).max(axis=0) / 2
    return np.asarray(most)


def soft_bars(places: ArrayLike, edges: ArrayLike, blend: float) -> Floats:
    """Return the weight of a secret at each point in each bar: 1 inside, and near an edge partly in the neighbouring
    bar.

    ``blend`` is the width around each inner edge over which one bar passes into the next, as a cosine does; the outermost bars
    hold everything beyond. The bars of a place sum to 1.

    >>> soft_bars([4.0, 9.0, 10.0, 30.0], [0, 10, 20], blend=4).round(3).tolist()
    [[1.0, 0.0], [0.854, 0.146], [0.5, 0.5], [0.0, 1.0]]
    """
    inner, at = np.asarray(edges, dtype=np.float64)[1:-1], np.asarray(places, dtype=np.float64).reshape(-1, 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        away = np.where(at == inner, 0.0, (at - inner) / blend)
    above = (1 + np.sin(np.pi * np.clip(away, -0.5, 0.5))) / 2
    steps = np.pad(above, ((0, 0), (1, 1)), constant_values=((0, 0), (1.0, 0.0)))
    return np.asarray(steps[:, :-1] - steps[:, 1:])
