"""Queries: questions that the curator answers about the whole table, each at a privacy cost.

:func:`compile_query` turns a query into :class:`~noisewright.queries.statistics.Statistic` objects with noise,
before any data is
seen:

* ``count`` and ``histogram``: one count for each group and bin. Where neighbours have the same rows, their number is public,
  and so is every statistic of kept columns alone: it is answered exactly, at no privacy cost.
* ``sum``: of lattice indices. ``mean``: that sum counted from the middle of the range, and a count (which needs no noise where
  the number of rows is public). ``variance``: the squares as well; it is the mean square of the distance from the mean.
* ``quantile``: one of public candidates, chosen by scores with the exponential mechanism (see
  :mod:`~noisewright.queries.answers`). When the ``r`` rows of a unit come or go, scores change by at most
  ``r max(num, den - num)``, summed over groups, since each row is in one; when they are replaced, by ``r den`` in a single
  group, and by twice the former over several.

The epsilon of a query is what all its statistics together cost one unit, whose rows are all included. It is split evenly among
those with noise, or by ``weights``: sum and count of a mean; squares, sum and count of a variance.

>>> import pyarrow as pa
>>> from noisewright.policy.policy import as_policy
>>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 1}, "queries": [
...     {"name": "mean age", "aggregate": "mean", "column": "age", "within": [0, 110], "epsilon": 1}]})
>>> plan = compile_query(policy.queries[0], 0, {"age": pa.int64()}, policy)
>>> plan.price, [(s.name, s.sensitivity, s.noise.price) for s in plan.statistics]
(Fraction(1, 1), [('sum', Fraction(55, 1), Fraction(1, 2)), ('count', Fraction(1, 1), Fraction(1, 2))])
>>> plan.error_words
'expected absolute error at most about 0.216 for 1,000 rows (216 / rows)'
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from noisewright.claims import phrases
from noisewright.claims.figures import figure
from noisewright.columns.registry import place_in
from noisewright.exceptions import DataError, ParameterError
from noisewright.guarantees import split
from noisewright.policy.policy import Policy, QueryPolicy
from noisewright.queries.answers import QueryPlan, rows_off
from noisewright.queries.filters import Filter, parse_filter
from noisewright.queries.statistics import Measure, Noise, Sensitivity, Statistic, calibrate, sensitivity, squares
from noisewright.queries.values import MOST_CELLS, Cells, Key, Steps, Value, plain_type

__all__ = ["QueryPlan", "compile_query"]


CANDIDATES = 1024
"""A range is cut into this many candidates for a quantile, unless it states otherwise."""

WHOLE_CANDIDATES = 4096
"""Maximum number of integers that are candidates themselves."""

LARGEST_SQUARED = 10**150
"""The square of more than this, and of the noise on top, may be beyond all floats."""

SOME_ROWS = 1000
"""Number of rows for which an error that falls with it is shown, where the number is not public."""

WEIGHTS = {"sum": ("sum",), "mean": ("sum", "count"), "variance": ("squares", "sum", "count")}
"""Statistic of each weight."""


def compile_query(
    query: QueryPolicy,
    position: int,
    types: Mapping[str, pa.DataType],
    policy: Policy,
    rows: int | None = None,
    counts_are_public: bool = True,
) -> QueryPlan:
    """A query for a table with columns of the given types.

    ``rows``: the number of rows, if it is known. It serves error figures; and where it is public (neighbours that replace,
    the unit being the row), range-adherent noise for sums. What is refused begins with the line of the policy.
    """
    try:
        return _Compiler(query, position, types, policy, rows, counts_are_public).plan()
    except (ParameterError, DataError) as problem:
        kind, keys = (ParameterError, problem.keys) if isinstance(problem, FilterError) else (type(problem), ())
        where = policy.line("queries", position, *keys)
        raise kind(f"{where}: query {query.name!r}: {problem}") from None


class FilterError(ParameterError):
    """A condition of a query that cannot be understood."""

    keys = ("where",)
    """Key of it in a query of a policy."""


class _Compiler:
    """One query on its way to a plan."""

    def __init__(
        self,
        query: QueryPolicy,
        position: int,
        types: Mapping[str, pa.DataType],
        policy: Policy,
        rows: int | None,
        counts_are_public: bool = True,
    ) -> None:
        self.query, self.position, self.types, self.policy, self.rows = query, position, types, policy, rows
        self.keys = [Key.of(column, self._type(column), values) for column, values in query.by.items()]
        if query.values is not None:
            self.keys.append(Key.of(str(query.column), self._type(str(query.column)), query.values))
        self.where = None if query.where is None else self._filter(query.where)
        self.groups = math.prod(len(key) for key in self.keys)
        names = [key.column for key in self.keys]
        if len(set(names)) < len(names) or any(query.name + end in names for end in ("", "_low", "_high", "_count")):
            raise ParameterError("a column is grouped by once, and the query has a name of its own.")
        self.same_rows = policy.neighbours == "replace" and (counts_are_public or policy.unit.column is None)
        self.kept = (
            {name for column in policy.columns if column.keep for name in column.names} if counts_are_public else set()
        )
        # Neighbours with the same rows count all of them, whatever these hold, if nothing can leave one out.
        self.always = self.same_rows and self.where is None and not self.keys and query.missing == "refuse"

    def plan(self) -> QueryPlan:
        makers = {"count": self._counts, "histogram": self._counts, "quantile": self._quantile}
        statistics, error, words = makers.get(self.query.aggregate, self._sums)()
        return QueryPlan(self.query, self.position, tuple(statistics), self._protects(statistics), error, words)

    def _counts(self) -> tuple[list[Statistic], float | None, str]:
        value, bins = None, self.query.bins
        cells = None
        if bins is not None:
            value = self._value()
            cells = Cells.equal(value, bins) if isinstance(bins, int) else self._edges(bins)
        (counted,) = self._with_noise([self._statistic("count", 1, 1, value=value, cells=cells)])
        if counted.noise is None:
            return [counted], 0.0, phrases.exact_answer(counted.columns)
        error = counted.noise.error
        each = " in each bin" if self.query.aggregate == "histogram" else self._each
        return [counted], error, f"expected absolute error {figure(error)} rows{each}"

    def _sums(self) -> tuple[list[Statistic], float | None, str]:
        aggregate, value = self.query.aggregate, self._value()
        steps = Steps.of(value)
        if aggregate == "variance" and value.within is not None and max(map(abs, value.within)) > LARGEST_SQUARED:
            raise ParameterError(
                f"within is too wide for a variance, whose squares no float holds; stay between -{LARGEST_SQUARED:.0e} and "
                f"{LARGEST_SQUARED:.0e}, or rescale the column."
            )
        centre = 0 if aggregate == "sum" else steps.middle
        lattice: dict[str, Any] = {"value": value, "steps": steps, "centre": centre}
        parts = [self._statistic("sum", steps.low - centre, steps.high - centre, **lattice)]
        if aggregate == "variance":
            least, most = squares(steps, centre)
            parts.append(self._statistic("squares", least - most // 2, most - most // 2, **lattice))
        if aggregate != "sum":
            parts.append(self._statistic("count", 1, 1, value=value))
        made = self._with_noise(parts)
        return made, *self._sum_error(made, steps)

    def _sum_error(self, made: list[Statistic], steps: Steps) -> tuple[float | None, str]:
        """Exact for a sum; to first order in the noise over the number of rows for a mean and a variance."""
        step = float(steps.step)
        errors = {s.name: s.noise.error if s.noise else 0.0 for s in made}
        if all(s.noise is None for s in made):
            return 0.0, phrases.exact_answer(made[0].columns)
        if self.query.aggregate == "sum":
            error = errors["sum"] * step
            exact = self._value().whole and steps.exponent == 0
            rounding = "" if exact else f", besides rounding each value to steps of {figure(step)}"
            return error, f"expected absolute error {figure(error)}{self._each}{rounding}"
        half = max(steps.high - steps.middle, steps.middle - steps.low)
        if self.query.aggregate == "mean":
            # |d(S/n)| <= |dS|/n + |S/n| |dn|/n, and a mean counted from the middle is at most half the range.
            over = (errors["sum"] + half * errors["count"]) * step
        else:
            # Counted from the middle, a mean square is at most half^2 / 2 from its own middle, and a variance at most half^2.
            over = (errors["squares"] + 2 * half * errors["sum"] + 2.5 * half**2 * errors["count"]) * step**2
        if self.rows and not self.keys and self.where is None:
            error = over / self.rows
            return error, f"expected absolute error at most about {figure(error)}, for {self.rows:,} rows"
        some = f"{figure(over / SOME_ROWS)} for {SOME_ROWS:,} rows{self._each}"
        return None, f"expected absolute error at most about {some} ({figure(over)} / rows)"

    def _quantile(self) -> tuple[list[Statistic], float | None, str]:
        from noisewright.mechanisms.categorical.selection import MOST_CANDIDATES, selection

        query, value = self.query, self._value()
        quantile = query.quantile if query.quantile is not None else Fraction(1, 2)
        if quantile.denominator > 10**6:
            raise ParameterError("quantile must be a fraction with at most six digits, such as 0.25 or 1/3.")
        if query.mechanism not in (None, "selection") or query.delta:
            raise ParameterError("a quantile is chosen by 'selection', without a delta; leave mechanism and delta out.")
        cells = self._candidates(value)
        if not 2 <= len(cells) <= MOST_CANDIDATES:
            raise ParameterError(
                f"a quantile is chosen among 2 to {MOST_CANDIDATES} bins, not {len(cells)}; say bins = 100."
            )
        counted = self._statistic("count", 1, 1, value=value, cells=cells)
        r, one = self.policy.unit.rows, max(quantile.numerator, quantile.denominator - quantile.numerator)
        most = r * one
        if self.policy.neighbours == "replace":
            most = r * quantile.denominator if self.groups == 1 else 2 * r * one
        chooser = selection(cells.middles.tolist(), epsilon=query.epsilon, sensitivity=most)
        bounds = Sensitivity(most, most, counted.bounds.changed)
        rows = rows_off(len(cells), chooser.rate, quantile)
        words = f"the rank of the answer is off by at most {figure(rows)} rows, 95 % of the time{self._each}"
        return [replace(counted, bounds=bounds, noise=Noise(chooser))], None, words

    def _candidates(self, value: Value) -> Cells:
        """The bins that were requested; otherwise all integers of a short range, or 1024 equal cells."""
        bins = self.query.bins
        if bins is None and value.whole and value.within is not None:
            low, high = math.ceil(value.within[0]), math.floor(value.within[1])
            if 1 <= high - low < WHOLE_CANDIDATES:
                return Cells.whole(low, high)
        if bins is None or isinstance(bins, int):
            return Cells.equal(value, CANDIDATES if bins is None else bins)
        return self._edges(bins)

    # Helpers --------------------------------------------------------------------------------------------------------------

    def _statistic(self, measure: Measure, low: int, high: int, cells: Cells | None = None, **more: Any) -> Statistic:
        entries = self.groups * (len(cells) if cells is not None else 1)
        if entries > MOST_CELLS:
            raise ParameterError(
                f"it has {entries} groups and bins together, and {MOST_CELLS} is the limit; declare fewer."
            )
        return Statistic(
            name=measure,
            query=self.query.name,
            measure=measure,
            bounds=Sensitivity(0, 0, 0)
            if self._is_shared(measure, cells)
            else sensitivity(
                low,
                high,
                rows=self.policy.unit.rows,
                neighbours=self.policy.neighbours,
                entries=entries,
                always=self.always and cells is None,
            ),
            cells=cells,
            keys=tuple(self.keys),
            counted=self.query.values is not None,
            where=self.where,
            missing=self.query.missing,
            **more,
        )

    def _is_shared(self, measure: Measure, cells: Cells | None) -> bool:
        """Return whether neighbours share a statistic: they have the same rows, and it reads kept columns alone."""
        looked = {key.column for key in self.keys} | set(() if self.where is None else self.where.columns)
        if self.query.column is not None and (cells is not None or measure != "count" or self.query.missing == "skip"):
            looked.add(self.query.column)
        return self.same_rows and looked <= self.kept and self.query.aggregate != "quantile"

    def _with_noise(self, parts: list[Statistic]) -> list[Statistic]:
        """Every statistic that can change gets its share of the budget."""
        names = [part.name for part in parts if part.bounds.l1]
        if not names:
            return parts
        weights = dict.fromkeys(names, Fraction(1))
        if self.query.weights is not None:
            weights = dict(zip(WEIGHTS[self.query.aggregate], self.query.weights, strict=True))
        budget, delta = self.query.epsilon, self.query.delta
        shares = dict(zip(names, split(budget, [weights[name] for name in names]), strict=True))
        return [
            replace(part, noise=self._noise(part, shares[part.name], delta and delta * shares[part.name] / budget))
            if part.name in shares
            else part
            for part in parts
        ]

    def _noise(self, part: Statistic, epsilon: Fraction, delta: Fraction | None) -> Noise:
        within = None
        if (
            self.always
            and self.rows
            and self.policy.unit.column is None
            and part.measure == "sum"
            and part.steps is not None
        ):
            within = self.rows * (part.steps.low - part.centre), self.rows * (part.steps.high - part.centre)
        return calibrate(
            self.query.mechanism or "geometric",
            epsilon=epsilon,
            delta=delta,
            l1=part.bounds.l1,
            largest=part.bounds.largest,
            changed=part.bounds.changed,
            floor=0 if part.measure == "count" or _never_negative(part) else None,
            within=within,
        )

    def _filter(self, condition: str) -> Filter:
        try:
            return parse_filter(condition, self.types)
        except ParameterError as problem:
            raise FilterError(str(problem)) from None

    def _type(self, column: str) -> pa.DataType:
        if column not in self.types:
            raise DataError(f"there is no column {column!r} in the data; correct the name in the policy, or the data.")
        return self.types[column]

    def _value(self) -> Value:
        column = str(self.query.column)
        kind, within = self._type(column), self.query.within
        if within is not None:
            low, high = (self._number(end, "within", side) for side, end in enumerate(within))
            return Value(column, kind, (low, high))
        return Value(column, kind)

    def _edges(self, edges: Sequence[Any]) -> Cells:
        return Cells(tuple(self._number(edge, "bins", 0) for edge in edges), "edges")

    def _number(self, place: Any, name: str, side: int) -> Fraction:
        """A place on the axis of the column as a number: of days for a date, of seconds for a time."""
        kind = plain_type(self._type(str(self.query.column)))
        return Fraction(place_in(place, kind, f"{name} of the query {self.query.name!r}", side))

    def _protects(self, statistics: Sequence[Statistic]) -> str:
        if all(s.noise is None for s in statistics):
            return phrases.EXACT
        shared = [s for s in statistics if s.noise is None]  # such as the number of rows behind a mean
        same = [name for s in shared for name in s.columns if name in self.kept]
        return phrases.one_unit(self.policy.relation, list(dict.fromkeys(same)))

    @property
    def _each(self) -> str:
        return " in each group" if self.keys else ""


def _never_negative(part: Statistic) -> bool:
    """Return whether a sum adds up nothing below 0."""
    return part.measure == "sum" and part.steps is not None and part.steps.low >= part.centre
