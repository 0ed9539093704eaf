r"""Answers as people read them: groups, value, 95 % interval and the noisy count, with as many digits as the noise leaves.

>>> import pyarrow as pa
>>> answer = pa.table({"ward": ["n"], "age": [44.19387], "age_low": [43.1], "age_high": [45.4], "age_count": [812]})
>>> shown(answer, "age", most=5)
(['ward', 'age', '95 % interval', 'noisy count'], [['n', '44.2', '43.1 to 45.4', '812']])
>>> shown(pa.table({"age_from": [0, 18], "age_to": [18, 65], "ages": [309, 16591]}), "ages", most=1)
(['age', 'ages'], [['0 to 18', '309']])

An integer ``x`` was given, and the noise made ``y`` of it. The interval holds every ``x`` under which neither ``y`` or more
nor ``y`` or less has a probability of at most ``(1 - level) / 2``. Whatever ``x`` is, it is left out with a probability of at
most ``1 - level``. It is about the noise: that people differ from one sample to the next is not in it.

>>> from fractions import Fraction
>>> from noisewright.queries.statistics import calibrate
>>> noise = calibrate("geometric", epsilon=Fraction(1), l1=1, largest=1, changed=1, floor=0)
>>> low, high = interval(noise, np.array([[17, 0]], dtype=object))
>>> low.tolist(), high.tolist()
([[14, -3]], [[20, 3]])

First the noise of each statistic, then what follows from noisy numbers alone, which costs nothing: counts are made 0 or
more, a
mean is moved into the range of its values, a variance between 0 and a quarter of the range's square (the largest there is).
Next to each stands an interval that holds the answer without noise 95 % of the time
(:mod:`~noisewright.queries.answers`), and the noisy count that a mean or a variance paid for.

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
from datetime import datetime, time
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.base import described
from noisewright.certificates.certificate import Certificate
from noisewright.columns.arrow import arrow_array
from noisewright.exceptions import DataError
from noisewright.policy.policy import QueryPolicy
from noisewright.queries.statistics import Noise, Statistic
from noisewright.queries.values import Value

__all__ = ["LEVEL", "QueryPlan", "error_beside", "interval", "quantile_scores", "query_rng", "rows_off", "shown"]


OPENINGS = ("expected absolute error ", "expected error ", "expected ")


def shown(table: pa.Table, name: str, most: int) -> tuple[list[str], list[list[str]]]:
    """The head and the first ``most`` rows of an answer called ``name``."""
    low, high, count, off = (f"{name}_{end}" for end in ("low", "high", "count", "rank_off"))
    known, counted, ranked = (column in table.column_names for column in (low, count, off))
    others = [column for column in table.column_names if column not in (name, low, high, count, off)]
    groups = _groups(others)
    head = [*groups, name, *(["95 % interval"] if known else []), *(["noisy count"] if counted else [])]
    head += ["its rank is off by"] if ranked else []
    rows = []
    for row in table.slice(0, most).to_pylist():
        digits = _decimals(row[low], row[high]) if known else None
        cells = [" to ".join(_cell(row[end], None) for end in ends) for ends in groups.values()]
        cells.append(_cell(row[name], digits))
        cells += [f"{_cell(row[low], digits)} to {_cell(row[high], digits)}"] if known else []
        cells += [_cell(row[count], None)] if counted else []
        rows.append([*cells, *([f"at most {row[off]:,} rows, 95 % of the time"] if ranked else [])])
    return head, rows


def _groups(columns: list[str]) -> dict[str, tuple[str, ...]]:
    """The columns that distinguish groups, by what heads them: the two ends of a bin stand in one."""
    found: dict[str, tuple[str, ...]] = {}
    for column in columns:
        whole = column.removesuffix("_from")
        if whole != column and f"{whole}_to" in columns and whole not in columns:
            found[whole] = (column, f"{whole}_to")
        elif not any(column in ends for ends in found.values()):
            found[column] = (column,)
    return found


def error_beside(words: str | None) -> str:
    """The expected error of a part in words that stand next to a heading which states that it is one.

    >>> error_beside("expected error at most 2.5"), error_beside("wrong at most 5 % of the time"), error_beside(None)
    ('at most 2.5', 'wrong at most 5 % of the time', 'depends on the data')
    """
    said = words or "depends on the data"
    return next((said.removeprefix(opening) for opening in OPENINGS if said.startswith(opening)), said)


def _decimals(low: Any, high: Any) -> int | None:
    """Return the number of decimals that gives the width of an interval two digits; None if it is not a number, or certain."""
    if not isinstance(low, float) or not isinstance(high, float) or high <= low:
        return None
    return max(0, 1 - math.floor(math.log10(high - low)))


def _cell(value: Any, decimals: int | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.6g}" if decimals is None else f"{value:,.{decimals}f}"
    if isinstance(value, datetime) and value.time() == time():
        return str(value.date())
    return "missing" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


# Intervals ----------------------------------------------------------------------------------------------------------------
#
# Error of a noisy number: intervals from the distribution of the noise alone, at no privacy cost.


LEVEL = 0.95
FARTHEST = 1 << 62

Vector = NDArray[np.object_]


def interval(noise: Noise | None, noisy: Vector, level: float = LEVEL) -> tuple[Vector, Vector]:
    """The smallest and the largest integer behind each noisy one, right with the probability ``level`` for each."""
    if noise is None:
        return noisy, noisy
    each = (1 - level) / 2
    if noise.added:
        down, up = _reach(noise, each)
        return noisy - down, noisy + up
    ends = [_behind(noise, int(y), each) for y in noisy.reshape(-1)]
    low, high = (np.array([end[side] for end in ends], dtype=object).reshape(noisy.shape) for side in (0, 1))
    return low, high


@lru_cache(maxsize=64)
def _reach(noise: Noise, each: float) -> tuple[int, int]:
    """Return the distances below and above the observed number at which the true one may lie, where the noise is the
    same for all.
    """
    down = _last(lambda far: _chance(noise, 0, far, "or more") > each, FARTHEST)
    return down, _last(lambda far: _chance(noise, 0, -far, "or less") > each, FARTHEST)


@lru_cache(maxsize=4096)
def _behind(noise: Noise, seen: int, each: float) -> tuple[int, int]:
    """Return the ends of the interval behind one observed number."""
    start, lowest, highest = noise.clamped(seen), noise.clamped(-FARTHEST), noise.clamped(FARTHEST)
    down = _last(lambda far: _chance(noise, start - far, seen, "or more") > each, start - lowest)
    return start - down, start + _last(lambda far: _chance(noise, start + far, seen, "or less") > each, highest - start)


def _chance(noise: Noise, given: int, seen: int, tail: str) -> float:
    """The probability of seeing a number or more, or or less; outputs between integers count for both."""
    below = described(noise.mechanism).below
    assert below is not None  # every mechanism that adds noise to numbers has a law
    place = np.nextafter(seen + 0.5, np.inf) if tail == "or less" else seen - 0.5
    found = float(np.asarray(below([given], [place]))[0, 0])
    return found if tail == "or less" else 1 - found


def _last(holds: Callable[[int], bool], most: int) -> int:
    """The last integer from 0 to ``most`` up to which something holds, which then fails for good."""
    good, step = 0, 1
    while good + step <= most and holds(good + step):
        good, step = good + step, 2 * step
    while step > 1:
        step //= 2
        if good + step <= most and holds(good + step):
            good += step
    return good


# Answers ------------------------------------------------------------------------------------------------------------------
#
# Answers: from the exact results of a query's statistics to what is released.


@dataclass(frozen=True)
class QueryPlan:
    """A query that is ready to be asked; build it with :func:`~noisewright.queries.compile.compile_query`."""

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
