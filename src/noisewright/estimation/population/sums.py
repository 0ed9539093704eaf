r"""Numbers of secrets of a sort: linear estimates whose intervals include the remaining bias, whatever the population.

A secret ``x`` counts ``g(x)`` for a sort, 1 or 0, or something between for a sort without sharp ends. A report ``y`` is made
to count ``w(y)`` instead, with weights that nearly undo the mechanism ``M``: the mean of ``w`` over the reports is then off by

.. math:: \Bigl|\sum_x p_x \bigl((M w)(x) - g(x)\bigr)\Bigr| \le \max_x |(M w)(x) - g(x)| =: b

for every population ``p``, skewed, heaped or all of one value. ``w`` solves a least-squares problem with a ridge, which trades
``b`` for variance and depends on the mechanism and the number of reports alone. Where ``M`` can be undone (categories), ``b`` is
0. The interval is the interval of a mean over reports (:mod:`~noisewright.estimation.population.intervals`), all sorts
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

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.arrays import Floats
from noisewright.estimation.population.intervals import (
    mean_interval,
    needs_tails,
    quantile,
    shared_confidence,
    tail_interval,
)

__all__ = ["Sums", "soft_bars", "sums_of"]

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
