r"""Estimates of leakage from samples, with intervals: for known records and releases under an unknown law.

* :func:`accuracy_interval`: how often an attacker was right on held-out records, by Clopper and Pearson's interval.
* :func:`plug_in`: mutual information of two columns of labels, less the bias of Miller and Madow; :func:`binned` cuts
  numbers at quantiles first.
* :func:`from_beliefs`: ``H(Y)`` minus the cross-entropy of an attacker's beliefs on *held-out* records, a lower bound
  on the information in expectation, with an interval. On records that the attacker was trained on it states too much.
* :func:`nearest_neighbours`: by distances, for releases of one number or several.
* :func:`mixture_beliefs`: the posterior itself where releases are ``f(x, y)`` plus Gaussian noise: records of each class,
  averaged.

Everything is in nats. None of these is an upper bound: a stronger attacker may find more.

>>> rng = np.random.default_rng(0)
>>> y = rng.integers(0, 2, 20_000)
>>> x = np.where(rng.random(20_000) < 0.25, 1 - y, y)
>>> abs(plug_in(x, y) - 0.130812) < 0.01
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import numeral
from noisewright.learned.theory.joint import Joint, chance
from noisewright.learned.theory.losses import mutual_information

__all__ = [
    "Estimate",
    "accuracy_interval",
    "binned",
    "from_beliefs",
    "mixture_beliefs",
    "nearest_neighbours",
    "plug_in",
]


@dataclass(frozen=True)
class Estimate:
    """A number from samples, and the interval that covers the estimated value with the stated confidence."""

    value: float
    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        return (
            f"{self.value:.4f} (between {self.low:.4f} and {self.high:.4f} with confidence {numeral(self.confidence)})"
        )


def accuracy_interval(right: int, tried: int, confidence: float = 0.95) -> Estimate:
    """Return how often an attacker is right, from how often he was: an exact interval for independent records.

    >>> print(accuracy_interval(1500, 2000))
    0.7500 (between 0.7304 and 0.7688 with confidence 0.95)
    """
    from scipy.special import betaincinv

    level = chance(confidence, "confidence", inside=True)
    if not is_whole(right) or not is_whole(tried) or not 0 <= right <= tried or tried < 1:
        raise ParameterError("right and tried are whole numbers, right is from 0 to tried, and tried is 1 or more.")
    tail = (1 - level) / 2
    low = float(betaincinv(right, tried - right + 1, tail)) if right else 0.0
    high = float(betaincinv(right + 1, tried - right, 1 - tail)) if right < tried else 1.0
    return Estimate(right / tried, low, high, level)


def plug_in(outputs: Any, private: Any) -> float:
    """The information of two columns of labels as counted, less ``(outputs - 1)(private - 1) / 2n``; never below 0."""
    first, second = _column(outputs), _column(private)
    if len(first) != len(second) or not len(first):
        raise DataError("outputs and private values must be two columns of one length, with one record or more.")
    (names, one), (others, two) = (np.unique(column, return_inverse=True) for column in (first, second))
    counts = np.zeros((len(others), len(names)))
    np.add.at(counts, (two, one), 1.0)
    bias = (len(names) - 1) * (len(others) - 1) / (2 * len(first))
    return max(0.0, mutual_information(Joint.from_counts(counts).probabilities) - bias)


def binned(values: Any, private: Any, bins: int = 32) -> float:
    """:func:`plug_in` for numbers, cut at their own quantiles."""
    numbers = _numbers(values)
    if numbers.ndim != 1 or not is_whole(bins) or bins < 2:
        raise ParameterError("binned takes a column of numbers and a number of bins of 2 or more.")
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, int(bins) + 1)[1:-1]))
    return plug_in(np.searchsorted(edges, numbers, side="right"), private)


def from_beliefs(believed: Any, private: Any, confidence: float = 0.95) -> Estimate:
    """``H(Y) - cross-entropy`` from the probability that an attacker gave the truth of each held-out record.

    ``private`` are the true classes, whose entropy is counted. The interval is for the mean of the attacker's gain, by the
    normal law.
    """
    from scipy.special import ndtri

    level, truth, given = chance(confidence, "confidence", inside=True), _column(private), _numbers(believed)
    if given.shape != truth.shape or len(truth) < 2 or (given < 0).any() or (given > 1).any():
        raise DataError(
            "give the probability from 0 to 1 that was stated for the true class of each of two records or more."
        )
    _, place, counts = np.unique(truth, return_inverse=True, return_counts=True)
    with np.errstate(divide="ignore"):
        gains = np.log(given) - np.log(counts / len(truth))[place]
    if np.isinf(gains).any():
        return Estimate(-math.inf, -math.inf, math.inf, level)
    side = float(ndtri(0.5 + level / 2)) * float(gains.std(ddof=1)) / math.sqrt(len(gains))
    return Estimate(float(gains.mean()), float(gains.mean()) - side, float(gains.mean()) + side, level)


def nearest_neighbours(values: Any, private: Any, neighbours: int = 3) -> float:
    """The information between a class and a number (or row of numbers), by distances to neighbours of the same class.

    Reference: Ross, *Mutual information between discrete and continuous data sets* (2014).
    """
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    numbers, truth = _numbers(values), _column(private)
    points = numbers[:, None] if numbers.ndim == 1 else numbers
    if points.ndim != 2 or len(points) != len(truth) or not is_whole(neighbours) or neighbours < 1:
        raise ParameterError("give a number or a row of numbers for each private value, and 1 neighbour or more.")
    _, place, counts = np.unique(truth, return_inverse=True, return_counts=True)
    if counts.min() <= neighbours:
        raise DataError("a class has no more records than neighbours are asked for; merge classes, or ask for fewer.")
    radii = np.empty(len(points))
    for y in range(len(counts)):
        mine = points[place == y]
        distances = np.asarray(cKDTree(mine).query(mine, k=int(neighbours) + 1, p=np.inf)[0])
        radii[place == y] = np.nextafter(distances[:, -1], 0)
    around = np.asarray(cKDTree(points).query_ball_point(points, radii, p=np.inf, return_length=True))
    found = (
        digamma(len(points))
        - digamma(counts)[place].mean()
        + digamma(neighbours)
        - digamma(np.maximum(around, 1)).mean()
    )
    return max(0.0, float(found))


def mixture_beliefs(releases: Any, centres: Any, private: Any, sd: float) -> Floats:
    """The posterior of each release, where record ``i`` of class ``private[i]`` releases ``centres[i]`` plus normal noise.

    A row for each release and a column for each class, in sorted order. Give releases of *other* records than the centres are of.
    """
    from scipy.special import logsumexp

    seen, middles, truth = _numbers(releases), _numbers(centres), _column(private)
    seen, middles = (v[:, None] if v.ndim == 1 else v for v in (seen, middles))
    if len(middles) != len(truth) or seen.shape[1] != middles.shape[1] or not sd > 0:
        raise ParameterError(
            "give a centre for each private value, releases with as many numbers, and a deviation above 0."
        )
    classes, place = np.unique(truth, return_inverse=True)
    logs = np.empty((len(seen), len(classes)))
    for start in range(0, len(seen), 256):
        part = seen[start : start + 256]
        distances = ((part[:, None, :] - middles[None, :, :]) ** 2).sum(axis=2) / (-2 * sd**2)
        for y in range(len(classes)):
            logs[start : start + 256, y] = logsumexp(distances[:, place == y], axis=1)
    return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))


def _column(values: Any) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "biufUS":
        raise DataError("private values and outputs are columns of numbers or texts.")
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise DataError("some values are missing or infinite; drop or replace them first.")
    return column


def _numbers(values: Any) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("the values must be numbers, with rows of one length.") from None
    if not numbers.size or not np.isfinite(numbers).all():
        raise DataError(
            "the values must be finite numbers, and there must be some; drop or replace missing ones first."
        )
    return numbers
