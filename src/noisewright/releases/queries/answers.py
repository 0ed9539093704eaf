r"""Answers: from the exact results of a query's statistics to what is released.

First the noise of each statistic, then what follows from noisy numbers alone, which costs nothing: counts are made 0 or more, a
mean is moved into the range of its values, a variance between 0 and a quarter of the range's square (the largest there is).

A quantile has no noise: one of public cells is chosen by scores. Cell ``i`` is right when the quantile's rank ``q n`` lies
among the ranks of its own rows. The score is minus how far it lies outside of them, in rows times the denominator of
``q = num/den``: with ``below``, ``own`` and ``above`` rows,

.. math:: s_i = -\max(0,\ (den - num)\, below - num\, (own + above),\ num\, above - (den - num)\, (below + own)).

One row more or less changes each argument of the maximum by ``num`` or ``den - num``, so a score by at most the larger of the
two; a row that moves to another cell changes it by at most ``den``.

>>> quantile_scores(np.array([[2, 0, 3, 1]], dtype=object), Fraction(1, 2)).tolist()  # the median of 6 is in the third cell
[[-2, -2, 0, -4]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import DataError
from noisewright.mechanisms.arrow import arrow_array
from noisewright.releases.policy.policy import QueryPolicy
from noisewright.releases.queries.statistics import Statistic
from noisewright.releases.queries.values import Value

__all__ = ["QueryPlan", "quantile_scores", "query_rng"]

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
    def price(self) -> Fraction:
        """What the answer costs one unit, exactly."""
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
        """The protected answer from the results of the statistics' SQL: noise, then what follows from noisy numbers alone."""
        if len(tables) != len(self.statistics):
            raise DataError(f"{self.name}: there must be one result for each of the {len(self.statistics)} statistics.")
        exact = [s.read(table) for s, table in zip(self.statistics, tables, strict=True)]
        if self.query.aggregate == "quantile":
            return self._table([self._quantiles(exact[0], query_rng(seed, self.position, 0))])
        noisy = {}
        for place, (statistic, vector) in enumerate(zip(self.statistics, exact, strict=True)):
            noise = statistic.noise
            noisy[statistic.name] = (
                vector if noise is None else noise.add(vector, query_rng(seed, self.position, place))
            )
        return self._table(self._columns(noisy))

    # What follows from noisy numbers ------------------------------------------------------------------------------------

    def _columns(self, noisy: Mapping[str, Vector]) -> list[pa.Array]:
        """The answer column, after the columns of bins for a histogram."""
        counts = np.maximum(noisy["count"], 0) if "count" in noisy else None
        aggregate, first = self.query.aggregate, self.statistics[0]
        if aggregate in ("count", "histogram"):
            assert counts is not None
            found = arrow_array(_int64(counts.reshape(-1)))
            if first.cells is None:
                return [found]
            edges = np.array([float(edge) for edge in first.cells.edges])
            ends = (np.tile(part, first.groups) for part in (edges[:-1], edges[1:]))
            return [*(self._value.back(part) for part in ends), found]
        steps = first.steps
        assert steps is not None
        sums = noisy["sum"].reshape(-1)
        if aggregate == "sum":
            # A sum of values on one side of 0 is there, too; noise alone could carry it to the other.
            sums = np.maximum(sums, 0) if steps.low >= 0 else np.minimum(sums, 0) if steps.high <= 0 else sums
            if steps.exponent >= 0 and max(abs(steps.low), abs(steps.high)) * steps.step <= 1 << 31:
                return [arrow_array(_int64(sums * int(steps.step)))]
            return [arrow_array(_floats(sums) * float(steps.step))]
        assert counts is not None
        rows = _floats(np.maximum(counts.reshape(-1), 1))
        low, high = (float(end) for end in self._value.within or (0, 0))
        centred = _floats(sums) / rows
        if aggregate == "mean":
            means = (centred + first.centre) * float(steps.step)
            return [self._value.back(np.clip(means, low, high))]
        second = self.statistics[1]
        squared = _floats(noisy["squares"].reshape(-1)) / rows + second.shift
        spread = (squared - centred**2) * float(steps.step) ** 2
        return [arrow_array(np.clip(spread, 0.0, (high - low) ** 2 / 4))]

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
    def _value(self) -> Value:
        value = self.statistics[0].value
        assert value is not None
        return value

    def _table(self, columns: list[pa.Array]) -> pa.Table:
        """The columns of the answer after those of its groups."""
        statistic = self.statistics[0]
        names, found, inner = [], [], statistic.entries // statistic.groups if len(columns) > 1 else 1
        outer = 1
        for key in statistic.keys:
            again = statistic.groups // outer // len(key) * inner
            places = np.tile(np.repeat(np.arange(len(key)), again), outer)
            names.append(key.column)
            found.append(key.array().take(arrow_array(places)))
            outer *= len(key)
        if len(columns) > 1:
            names += [f"{self.query.column}_from", f"{self.query.column}_to"]
        return pa.table([*found, *columns], names=[*names, self.name])


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


def _floats(numbers: Vector) -> NDArray[np.float64]:
    return np.asarray(numbers, dtype=np.float64)


def _int64(numbers: Vector) -> NDArray[np.int64]:
    """Whole numbers as 64-bit ones; noise beyond those, which nobody will see, is moved to their ends."""
    return np.asarray(np.clip(numbers, -(2**63), 2**63 - 1), dtype=np.int64)
