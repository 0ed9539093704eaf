"""Response categories: a range of outputs cut into intervals, laws of noise as channels onto them, and adjacent answers.

A *category* is a half-open interval ``[low, high)``; categories are disjoint, may leave gaps between them, and each
stands for its midpoint. A law of noise becomes a channel by integrating it over the categories (:func:`discretise`).
With ``snap=True`` the first category reaches down to minus infinity and the last one up to infinity: the channel of
noise that is moved to the nearest valid output afterwards.

**Guarantee.** Snapping is post-processing: the channel has the guarantee of the noise, whatever the categories. Without
snapping a law that lives on the range that they tile keeps its guarantee as well. Entries are floats here; certify the
channel before anything is drawn.

The *answers* of a query and the pairs of them that are adjacent, because two neighbouring databases can have them, make
a metric: the number of steps from neighbour to neighbour (:class:`Answers`). A guarantee between neighbours is exactly
a guarantee in that metric.

>>> mean = Answers.of_mean(10, 4)  # ten records from 0 to 4, one of them replaced: the mean moves by up to 0.4
>>> len(mean.points), mean.metric.distance(0, Fraction(4, 10)), mean.metric.distance(0, Fraction(1, 2))
(41, 1.0, 2.0)
>>> noise = discretise(laplace_law(0.4 / 0.5), mean.points, mean.categories(), snap=True)
>>> round(noise.epsilon(mean.metric).value, 9)
0.5

Reference: Geng and Viswanath, *The optimal noise-adding mechanism in differential privacy* (2016), for the staircase.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.numeric.feasible_sets import Feasible
from noisewright.mechanisms.numeric.laplace_distribution import TruncatedLaplace
from noisewright.metrics.base import Metric, Table, as_labels, as_metric
from noisewright.metrics.composite import line_in
from noisewright.metrics.sensitivity import closure
from noisewright.numerics.exact import Exact, as_fraction, positive_fraction

__all__ = [
    "Answers",
    "Categories",
    "ContinuousNoise",
    "NoShapeError",
    "StaircaseNoise",
    "Validity",
    "discretise",
    "exact_number",
    "laplace_law",
    "truncated_laplace_law",
    "validate",
]


Number = int | Fraction


class NoShapeError(ParameterError):
    """A shape that makes no sense for these secrets and outputs."""


def exact_number(label: object) -> Fraction:
    """The number that a label stands for; a float counts as the simple fraction that it is the rounding of, such as 1/3."""
    if isinstance(label, float) and math.isfinite(label):
        simple = Fraction(label).limit_denominator(100_000)
        # Arbitrary numbers are about 1e-10 from such a fraction; only a number meant as one is this near.
        return simple if abs(float(simple) - label) <= 1e-14 * max(1.0, abs(label)) else Fraction(label)
    return as_fraction(label, "a point")


@dataclass(frozen=True)
class Categories:
    """Disjoint half-open intervals ``[low, high)`` in rising order, each standing for its midpoint."""

    lows: tuple[Fraction, ...]
    highs: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        lows, highs = (tuple(exact_number(v) for v in ends) for ends in (self.lows, self.highs))
        if not lows or len(lows) != len(highs):
            raise ParameterError(
                "categories need one lower and one upper end each, and there must be one or more of them."
            )
        if any(low >= high for low, high in zip(lows, highs, strict=True)):
            raise ParameterError("each category must have its lower end below its upper end.")
        if any(high > low for high, low in zip(highs[:-1], lows[1:], strict=True)):
            raise ParameterError("categories must be disjoint and in rising order; two of them overlap.")
        object.__setattr__(self, "lows", lows)
        object.__setattr__(self, "highs", highs)

    @classmethod
    def tiling(cls, low: Exact, high: Exact, count: int) -> Categories:
        """``count`` categories of one width that tile the range from ``low`` to ``high``."""
        start, end = exact_number(_given(low)), exact_number(_given(high))
        if isinstance(count, bool) or not isinstance(count, numbers.Integral) or count < 1:
            raise ParameterError("the number of categories must be a whole number, 1 or more.")
        if not start < end:
            raise ParameterError("a range is tiled from a low end to a higher one.")
        edges = [start + (end - start) * i / int(count) for i in range(int(count) + 1)]
        return cls(tuple(edges[:-1]), tuple(edges[1:]))

    @classmethod
    def centred(cls, points: Iterable[Hashable], width: Exact | None = None) -> Categories:
        """One category about each point; ``width`` defaults to the smallest spacing, so that even points tile their range."""
        middles = sorted(exact_number(p) for p in as_labels(points, "the midpoints of categories"))
        spacing = min((b - a for a, b in pairwise(middles)), default=Fraction(1))
        half = (spacing if width is None else positive_fraction(_given(width), "the width of a category")) / 2
        return cls(tuple(p - half for p in middles), tuple(p + half for p in middles))

    @property
    def midpoints(self) -> tuple[Fraction, ...]:
        """Values that the categories stand for."""
        return tuple((low + high) / 2 for low, high in zip(self.lows, self.highs, strict=True))

    @property
    def labels(self) -> tuple[Number, ...]:
        """The midpoints as labels of outputs: integers and exact fractions."""
        return tuple(_plain(p) for p in self.midpoints)

    @property
    def span(self) -> tuple[Fraction, Fraction]:
        """The lowest and the highest end."""
        return self.lows[0], self.highs[-1]

    def index(self, values: Iterable[Hashable]) -> NDArray[np.intp]:
        """Return for each number the category that contains it, -1 for none; the last category contains its upper end
        as well.
        """
        places = np.array([exact_number(v) for v in values], dtype=object)
        lows, highs = np.array(self.lows, dtype=object), np.array(self.highs, dtype=object)
        found = np.searchsorted(lows, places, side="right") - 1
        inside = (found >= 0) & ((places < highs[found]) | (places == highs[-1]))
        return np.where(inside.astype(bool), found, -1)

    def __len__(self) -> int:
        return len(self.lows)


# Laws of noise, as channels onto categories ------------------------------------------------------------------------------


class ContinuousNoise(Protocol):
    """Continuous noise about a true answer: ``P(output <= x)``, broadcast over both arguments."""

    def cdf(self, x: ArrayLike, mu: ArrayLike, /) -> Floats:
        """The probability of an output of at most ``x``."""


def laplace_law(scale: float) -> TruncatedLaplace:
    """Laplace noise on the whole line."""
    return TruncatedLaplace(Feasible.parse((None, None)), _scale(scale))


def truncated_laplace_law(scale: float, within: tuple[Exact, Exact]) -> TruncatedLaplace:
    """Laplace noise cut to a range and normalised; for the metric guarantee its scale is twice
    ``sensitivity / epsilon``.
    """
    return TruncatedLaplace(Feasible.parse(within), _scale(scale))


def _scale(scale: object) -> float:
    number = isinstance(scale, numbers.Real) and not isinstance(scale, bool)
    if not number or not 0 < scale < 1e150:  # type: ignore[operator]
        raise ParameterError("the scale of Laplace noise must be a number above 0 and below 1e150.")
    return float(scale)  # type: ignore[arg-type]


@dataclass(frozen=True)
class StaircaseNoise:
    r"""Staircase noise in the continuum: density ``y = sinh(epsilon/2)/D`` up to ``D / (1 + e^(epsilon/2))`` from the
    truth, where ``D`` is the sensitivity; from there it falls by the factor ``e^-epsilon`` once in each ``D``.

    >>> noise = StaircaseNoise(1.0)
    >>> round(float(noise.cdf(0.0, 0.0)), 12), round(noise.mean_size, 6)
    (0.5, 0.959517)
    """

    epsilon: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("epsilon", self.epsilon), ("sensitivity", self.sensitivity)):
            object.__setattr__(self, name, float(positive_fraction(value, name)))
        if self.epsilon > 600:
            raise ParameterError(
                "epsilon of a staircase density must be at most 600: the steps are too high for floats."
            )

    @property
    def mean_size(self) -> float:
        """The expected size of the noise, ``D / (2 sinh(epsilon/2))``: never above Laplace's ``D / epsilon``."""
        return self.sensitivity / (2 * math.sinh(self.epsilon / 2))

    def cdf(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """The probability of an output of at most ``x``."""
        apart = np.asarray(x, dtype=np.float64) - np.asarray(mu, dtype=np.float64)
        beyond = self._beyond(np.abs(apart))
        return np.asarray(np.where(apart < 0, beyond, 1 - beyond))

    def tail(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """The probability of an output above ``x``, without the rounding of ``1 - cdf``."""
        return self.cdf(-np.asarray(x, dtype=np.float64), -np.asarray(mu, dtype=np.float64))

    def _beyond(self, distance: Floats) -> Floats:
        """The probability on one side of the truth, farther from it than ``distance``."""
        level = np.floor(distance / self.sensitivity)
        rest = distance - level * self.sensitivity
        first = self.sensitivity / (1 + math.exp(self.epsilon / 2))
        q = math.exp(-self.epsilon)
        passed = np.minimum(rest, first) + q * np.maximum(rest - first, 0.0)
        return np.asarray(
            np.exp(-self.epsilon * level) * (0.5 - math.sinh(self.epsilon / 2) / self.sensitivity * passed)
        )


def discretise(
    law: ContinuousNoise, secrets: Iterable[Hashable], categories: Categories, *, snap: bool = False
) -> Channel:
    """The channel from true answers to categories: the probability of each under the law about each true answer."""
    names = as_labels(secrets, "secrets")
    if not isinstance(categories, Categories):
        raise ParameterError(f"outputs are given as Categories, not as {type(categories).__name__}.")
    if not callable(getattr(law, "cdf", None)):
        raise ParameterError(f"a law of noise has a method cdf(x, truth), which {type(law).__name__} has not.")
    if (categories.index(names) < 0).any():
        raise ParameterError("every true answer must lie in a category; widen the categories, or add some.")
    mu = np.array([float(exact_number(x)) for x in names])[:, None]
    lows, highs = (np.array([float(v) for v in ends])[None, :] for ends in (categories.lows, categories.highs))
    below = [np.asarray(law.cdf(at, mu), dtype=np.float64) for at in (lows, highs)]
    tail = _tail(law)
    above = [tail(at, mu) for at in (lows, highs)]
    if snap:  # the ends take the mass beyond them; noise that falls into a gap goes to the nearer category
        edge = (highs[:, :-1] + lows[:, 1:]) / 2
        below = [
            np.pad(law.cdf(edge, mu), ((0, 0), pad), constant_values=end) for pad, end in (((1, 0), 0), ((0, 1), 1))
        ]
        above = [np.pad(tail(edge, mu), ((0, 0), pad), constant_values=end) for pad, end in (((1, 0), 1), ((0, 1), 0))]
        lows = np.pad(edge, ((0, 0), (1, 0)), constant_values=-np.inf)
    masses = np.where(lows >= mu, above[0] - above[1], below[1] - below[0])
    if not snap and masses.sum(axis=1).min() < 1 - 1e-9:
        raise ParameterError(
            "the categories leave out part of what the law can give; use snap=True, or a law that lives on their range."
        )
    return Channel(np.maximum(masses, 0.0), names, categories.labels)


def _tail(law: ContinuousNoise) -> Any:
    """``P(output > x)``: from the mirror image of the law where it has one, so that small probabilities keep their digits."""
    own = getattr(law, "tail", None)
    if callable(own):
        return own
    if isinstance(law, TruncatedLaplace):
        turned = tuple(
            (None if high is None else -high, None if low is None else -low)
            for low, high in reversed(law.feasible.components)
        )
        mirror = TruncatedLaplace(Feasible(turned), law.scale)
        return lambda x, mu: mirror.cdf(-np.asarray(x), -np.asarray(mu))
    return lambda x, mu: 1 - np.asarray(law.cdf(x, mu), dtype=np.float64)


# Who is adjacent to whom -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answers:
    """The possible true answers of a query, and how far apart two adjacent ones can be."""

    points: tuple[Number, ...]
    reach: Fraction
    """The sensitivity: answers at most this far apart are adjacent. All of them are, not only the nearest."""

    def __post_init__(self) -> None:
        places = [exact_number(p) for p in as_labels(self.points, "the answers of a query")]
        if not places or any(b <= a for a, b in pairwise(places)):
            raise ParameterError("the answers of a query are one or more numbers in rising order.")
        object.__setattr__(self, "points", tuple(_plain(p) for p in places))
        object.__setattr__(self, "reach", positive_fraction(self.reach, "the reach of adjacent answers"))

    @classmethod
    def of_count(cls, size: int) -> Answers:
        """A count over ``size`` records: 0 to ``size``, one more or less between neighbours."""
        return cls(tuple(range(_size(size) + 1)), Fraction(1))

    @classmethod
    def of_mean(cls, size: int, highest: int) -> Answers:
        """The mean of ``size`` integers from 0 to ``highest``; neighbours differ in one number, which can be
        anything.
        """
        records, most = _size(size), _size(highest)
        return cls(tuple(Fraction(j, records) for j in range(most * records + 1)), Fraction(most, records))

    @cached_property
    def adjacent(self) -> NDArray[np.bool_]:
        """The relation: true for two different answers at most ``reach`` apart."""
        places = np.array([exact_number(p) for p in self.points], dtype=object)
        apart = np.abs(places[:, None] - places[None, :])
        return np.asarray((apart <= self.reach) & (apart > 0), dtype=bool)

    @cached_property
    def metric(self) -> Metric:
        """The number of steps from neighbour to neighbour: ``epsilon`` in this metric is ``epsilon`` between neighbours.

        Losses add up along a chain of neighbours, so a guarantee for adjacent answers is the same as one for all pairs
        in this metric.
        """
        spaces = {exact_number(b) - exact_number(a) for a, b in pairwise(self.points)}
        if spaces == {self.reach}:
            return self.line
        steps = closure(np.where(self.adjacent, 1.0, np.inf), self.points)
        return Table(steps.distances, self.points, name="steps between neighbours")

    @property
    def line(self) -> Metric:
        """The distance of two answers in units of the reach: a stronger guarantee, with less loss for nearer
        answers.
        """
        return line_in(self.reach)

    def categories(self, width: Exact | None = None) -> Categories:
        """One category about each answer; they cover half a width more than the answers on either side."""
        return Categories.centred(self.points, width)


@dataclass(frozen=True)
class Validity:
    """Violations by a matrix that should be a private channel: errors of row sums, the most negative entry, the largest
    loss.
    """

    sum_error: float
    most_negative: float
    loss: float
    """The largest log-ratio between adjacent secrets, infinite if a zero meets a number above zero."""
    pair: tuple[int, int] | None
    """The rows of the worst pair, the more likely first."""
    output: int | None

    def ok(self, epsilon: float, tolerance: float = 1e-9) -> bool:
        """Return whether the matrix is a channel with this loss between adjacent secrets, up to a tolerance."""
        return bool(
            self.sum_error <= tolerance and self.most_negative >= -tolerance and self.loss <= epsilon * (1 + tolerance)
        )


def validate(matrix: ArrayLike | Channel, adjacent: ArrayLike | Metric) -> Validity:
    """Measure a matrix that may not be a channel: rows are secrets; ``adjacent`` is a relation or a metric.

    With a metric the loss of a pair is divided by its distance. Negative entries count as 0 in the loss.
    """
    given = matrix.matrix if isinstance(matrix, Channel) else np.asarray(matrix, dtype=np.float64)
    if given.ndim != 2 or not given.size or not np.isfinite(given).all():
        raise ParameterError(
            "a mechanism matrix has a row of finite numbers for each secret and a column for each output."
        )
    if isinstance(adjacent, Metric):
        points = matrix.inputs if isinstance(matrix, Channel) else tuple(range(len(given)))
        distances = as_metric(adjacent).matrix(points)
    else:
        relation = np.asarray(adjacent, dtype=bool)
        distances = np.where(relation | relation.T, 1.0, np.inf) if relation.ndim == 2 else np.zeros(0)
    if distances.shape != (len(given), len(given)):
        raise ParameterError("the adjacency must be a square relation over the secrets, the rows of the matrix.")
    i, j = np.nonzero(np.isfinite(distances) & ~np.eye(len(given), dtype=bool))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.maximum(given, 0.0))
    worst, where = 0.0, None
    for start in range(0, len(i), block := max(1, 4_000_000 // given.shape[1])):
        first, second = i[start : start + block], j[start : start + block]
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = (logs[first] - logs[second]) / distances[first, second][:, None]
        losses = np.where(np.isnan(losses), 0.0, losses)  # two zeros, or equal secrets at distance 0
        k, y = np.unravel_index(int(losses.argmax()), losses.shape)
        if losses[k, y] > worst:
            worst, where = float(losses[k, y]), (int(first[k]), int(second[k]), int(y))
    return Validity(
        float(np.abs(given.sum(axis=1) - 1).max()),
        min(0.0, float(given.min())),
        worst,
        None if where is None else where[:2],
        None if where is None else where[2],
    )


def _given(value: Exact) -> object:
    """A number as it was meant: text is exact."""
    return as_fraction(value) if isinstance(value, str) else value


def _plain(number: Fraction) -> Number:
    return int(number) if number.denominator == 1 else number


def _size(size: Any) -> int:
    if isinstance(size, bool) or not isinstance(size, numbers.Integral) or size < 1:
        raise ParameterError("a query is over a whole number of records, 1 or more.")
    return int(size)
