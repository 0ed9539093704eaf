r"""Answers: from the exact results of a query's statistics to what is released.

First the noise of each statistic, then what follows from noisy numbers alone, which costs nothing: counts are made 0 or more, a
mean is moved into the range of its values, a variance between 0 and a quarter of the range's square (the largest there is).
Next to each stands an interval that holds the answer without noise 95 % of the time
(:mod:`~noisewright.releases.queries.intervals`), and the noisy count that a mean or a variance paid for.

A quantile has no noise: one of public cells is chosen by scores, and next to it stands by how many rows its rank may be off.
Cell ``i`` is right when the quantile's rank ``q n`` lies among the ranks of its own rows. The score is minus how far it lies
outside of them, in rows times the denominator of
``q = num/den``: with ``below``, ``own`` and ``above`` rows,

.. math:: s_i = -\max(0,\ (den - num)\, below - num\, (own + above),\ num\, above - (den - num)\, (below + own)).

One row more or less changes each argument of the maximum by ``num`` or ``den - num``, so a score by at most the larger of the
two; a row that moves to another cell changes it by at most ``den``.

>>> quantile_scores(np.array([[2, 0, 3, 1]], dtype=object), Fraction(1, 2)).tolist()  # the median of 6 is in the third cell
[[-2, -2, 0, -4]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import DataError
from noisewright.mechanisms.arrow import arrow_array
from noisewright.releases.policy.policy import QueryPolicy
from noisewright.releases.queries.intervals import LEVEL, interval
from noisewright.releases.queries.statistics import Statistic
from noisewright.releases.queries.values import Value

__all__ = ["QueryPlan", "quantile_scores", "query_rng", "rows_off"]

Vector = NDArray[np.object_]


@dataclass(frozen=True)
class QueryPlan:
    """A query that is ready to be asked; build it with :func:`~noisewright.releases.queries.compile.compile_query`."""

    query: QueryPolicy
    position: int
    statistics: tuple[Statistic, ...]
    protects: str
    error: float | None
    """The expected absolute error of an answer (of each, in groups), in its own unit; None where it depends on the data."""
    error_words: str

    @property
    def name(self) -> str:
        """The name of the query, and of the column of its answer."""
        return self.query.name

    @property
    def exact(self) -> bool:
        """True if it has no noise at all, since neighbours have the same answer."""
        return all(s.noise is None for s in self.statistics)

    @property
    def mechanism(self) -> str:
        """The name of the mechanism that draws its noise."""
        usual = "selection" if self.query.aggregate == "quantile" else "geometric"
        return "exact" if self.exact else self.query.mechanism or usual

    @property
    def price(self) -> Fraction:
        """Privacy cost of the answer for one unit, exactly."""
        return sum((s.noise.price for s in self.statistics if s.noise), Fraction(0))

    @property
    def delta(self) -> Fraction:
        """The extra probability of the answer, exactly."""
        return sum((s.noise.delta for s in self.statistics if s.noise), Fraction(0))

    def certificates(self, simulated: bool) -> list[Certificate]:
        """One for each statistic with noise, in their order; each counts ``statistic.noise.times`` times against one unit."""
        return [s.noise.certificate(simulated) for s in self.statistics if s.noise]

    def check(self, tables: Sequence[pa.Table]) -> None:
        """Refuse results that cannot be answered from, such as missing values, before anything is drawn."""
        for statistic, table in zip(self.statistics, tables, strict=True):
            statistic.read(table)

    def answer(self, tables: Sequence[pa.Table], seed: int | None) -> pa.Table:
        """The protected answer from the results of the statistics' SQL: noise, then post-processing of noisy numbers alone."""
        if len(tables) != len(self.statistics):
            raise DataError(f"{self.name}: there must be one result for each of the {len(self.statistics)} statistics.")
        exact = [s.read(table) for s, table in zip(self.statistics, tables, strict=True)]
        if self.query.aggregate == "quantile":
            chosen = self._quantiles(exact[0], query_rng(seed, self.position, 0))
            off = arrow_array(np.full(len(chosen), self._rows_off, dtype=np.int64))
            return self._table({self.name: chosen, f"{self.name}_rank_off": off})
        noisy = {}
        for place, (statistic, vector) in enumerate(zip(self.statistics, exact, strict=True)):
            noise = statistic.noise
            noisy[statistic.name] = (
                vector if noise is None else noise.add(vector, query_rng(seed, self.position, place))
            )
        return self._table(self._columns(noisy, self._ends(noisy)))

    # What follows from noisy numbers ------------------------------------------------------------------------------------

    def _ends(self, noisy: Mapping[str, Vector]) -> dict[str, tuple[Vector, Vector]]:
        """Return intervals for the numbers behind the noisy ones, all of them together right with the probability of
        the level.
        """
        drawn = sum(statistic.noise is not None for statistic in self.statistics)
        level = 1 - (1 - LEVEL) / max(drawn, 1)
        return {s.name: interval(s.noise, noisy[s.name], level) for s in self.statistics}

    def _columns(self, noisy: Mapping[str, Vector], ends: Mapping[str, tuple[Vector, Vector]]) -> dict[str, pa.Array]:
        """The answer with its interval, after the columns of bins for a histogram, and the noisy count where one was
        paid for.
        """
        aggregate, first = self.query.aggregate, self.statistics[0]
        if aggregate in ("count", "histogram"):
            found = self._with_ends(noisy["count"], ends["count"], lambda v: arrow_array(_int64(np.maximum(v, 0))))
            if first.cells is None:
                return found
            edges = np.array([float(edge) for edge in first.cells.edges])
            sides = (np.tile(part, first.groups) for part in (edges[:-1], edges[1:]))
            names = (f"{self.query.column}_from", f"{self.query.column}_to")
            return dict(zip(names, map(self._value.back, sides), strict=True)) | found
        if aggregate == "sum":
            return self._with_ends(noisy["sum"], ends["sum"], self._sum)
        rows = np.maximum(noisy["count"], 1)
        few, many = (np.maximum(end, 1) for end in ends["count"])
        centred = _box(ends["sum"], few, many)
        if aggregate == "mean":
            found = self._with_ends(_over(noisy["sum"], rows), centred, self._mean)
        else:
            squared, spread = _box(ends["squares"], few, many), _over(noisy["squares"], rows)
            nearest, farthest = _squares(centred)
            found = self._with_ends(
                spread - _over(noisy["sum"], rows) ** 2, (squared[0] - farthest, squared[1] - nearest), self._variance
            )
        if self.statistics[-1].noise is None:
            return found
        return found | {f"{self.name}_count": arrow_array(_int64(np.maximum(noisy["count"], 0).reshape(-1)))}

    def _with_ends(
        self, value: NDArray[Any], ends: tuple[NDArray[Any], NDArray[Any]], made: Callable[[NDArray[Any]], pa.Array]
    ) -> dict[str, pa.Array]:
        names = (self.name, f"{self.name}_low", f"{self.name}_high")
        return {name: made(part.reshape(-1)) for name, part in zip(names, (value, *ends), strict=True)}

    def _sum(self, sums: Vector) -> pa.Array:
        """A sum in the unit of the values. One of values on one side of 0 is there, too; noise alone could carry it over."""
        steps = self.statistics[0].steps
        assert steps is not None
        sums = np.maximum(sums, 0) if steps.low >= 0 else np.minimum(sums, 0) if steps.high <= 0 else sums
        if steps.exponent >= 0 and max(abs(steps.low), abs(steps.high)) * steps.step <= 1 << 31:
            return arrow_array(_int64(sums * int(steps.step)))
        return arrow_array(_floats(sums) * float(steps.step))

    def _mean(self, centred: NDArray[Any]) -> pa.Array:
        first, (low, high) = self.statistics[0], self._range
        assert first.steps is not None
        return self._value.back(np.clip((centred + first.centre) * float(first.steps.step), low, high))

    def _variance(self, spread: NDArray[Any]) -> pa.Array:
        second, (low, high) = self.statistics[1], self._range
        assert second.steps is not None
        return arrow_array(np.clip((spread + second.shift) * float(second.steps.step) ** 2, 0.0, (high - low) ** 2 / 4))

    @property
    def _range(self) -> tuple[float, float]:
        low, high = (float(end) for end in self._value.within or (0, 0))
        return low, high

    def _quantiles(self, counts: Vector, rng: np.random.Generator | None) -> pa.Array:
        """The middle of a cell, chosen by the exponential mechanism, for each group."""
        cells, noise = self.statistics[0].cells, self.statistics[0].noise
        assert cells is not None
        assert noise is not None
        scores = quantile_scores(counts, self.query.quantile or Fraction(1, 2))
        chosen = self._value.back(np.asarray(noise.mechanism.release(scores, rng), dtype=np.float64))
        whole = cells.kind == "whole" and pa.types.is_floating(chosen.type)
        return chosen.cast(pa.int64()) if whole else chosen

    @property
    def _rows_off(self) -> int:
        """For a quantile: maximum number of rows by which its rank is off, 95 % of the time."""
        cells, noise = self.statistics[0].cells, self.statistics[0].noise
        assert cells is not None
        assert noise is not None
        chooser: Any = noise.mechanism
        return math.ceil(rows_off(len(cells), chooser.rate, self.query.quantile or Fraction(1, 2)))

    @property
    def _value(self) -> Value:
        value = self.statistics[0].value
        assert value is not None
        return value

    def _table(self, columns: Mapping[str, pa.Array]) -> pa.Table:
        """Return the columns of the answer after its groups' columns."""
        statistic, outer = self.statistics[0], 1
        names, found, inner = [], [], len(columns[self.name]) // statistic.groups
        for key in statistic.keys:
            again = statistic.groups // outer // len(key) * inner
            places = np.tile(np.repeat(np.arange(len(key)), again), outer)
            names.append(key.column)
            found.append(key.array().take(arrow_array(places)))
            outer *= len(key)
        return pa.table([*found, *columns.values()], names=[*names, *columns])


def query_rng(seed: int | None, query: int, statistic: int) -> np.random.Generator | None:
    """The generator of a statistic under a test seed; None, for bits of the operating system, without one."""
    if seed is None:
        return None
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2, query, statistic)))


def quantile_scores(counts: Vector, quantile: Fraction) -> NDArray[np.int64]:
    """The scores of all candidates from the rows in each cell, one line for each group."""
    num, den = quantile.numerator, quantile.denominator
    upto = np.cumsum(counts, axis=1)
    total, below = upto[:, -1:], upto - counts
    outside = np.maximum(den * below - num * total, num * total - den * upto)
    return np.asarray(-np.maximum(outside, 0), dtype=np.int64)


def rows_off(candidates: int, rate: Any, quantile: Fraction) -> float:
    """By how many rows the rank of a quantile that is chosen at a rate is off at most, with a probability of 95 %.

    P(score < -(ln m + t)/rate) <= e^-t for m candidates, and a score is rows times the denominator.
    """
    return (math.log(candidates) + math.log(1 / (1 - LEVEL))) / float(rate) / quantile.denominator


def _over(sums: Vector, rows: Vector) -> NDArray[np.float64]:
    return _floats(sums) / _floats(rows)


def _box(sums: tuple[Vector, Vector], few: Vector, many: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest quotient of a sum between two ends by a number of rows between two others."""
    low, high = sums
    smallest = np.minimum(_over(low, few), _over(low, many))
    return smallest, np.maximum(_over(high, few), _over(high, many))


def _squares(ends: tuple[NDArray[np.float64], NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest and the largest square of a number between two ends."""
    low, high = ends[0] ** 2, ends[1] ** 2
    inside = (ends[0] <= 0) & (ends[1] >= 0)
    return np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high)


def _floats(numbers: Vector) -> NDArray[np.float64]:
    return np.asarray(numbers, dtype=np.float64)


def _int64(numbers: Vector) -> NDArray[np.int64]:
    """Integers as 64-bit ones; noise beyond those, which no one will see, is moved to their ends."""
    return np.asarray(np.clip(numbers, -(2**63), 2**63 - 1), dtype=np.int64)
