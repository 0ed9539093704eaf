"""Rows that stand out, and rows that two tables have in common: k-anonymity and the linkage attack.

*Quasi-identifiers* are columns that identify no one alone but name someone together, such as postcode, date of birth
and sex. A table is **k-anonymous** in them if every combination that occurs is that of ``k`` rows or more. A **linkage
attack** joins it with a table of known people on those columns: where a combination belongs to one row of each, the two
rows are taken for the same person.

>>> released = {"post": ["A1", "A1", "B2"], "born": [1970, 1970, 1980], "illness": ["flu", "none", "cancer"]}
>>> print(anonymity(released, ["post", "born"]))
k = 1: 2 combinations of post, born among 3 rows; 1 row has one of its own.
>>> known = {"name": ["Ann", "Bob"], "post": ["B2", "A1"], "born": [1980, 1970]}
>>> print(link(released, known, ["post", "born"]))
1 row is linked to one known row: its post, born occur once in each; 2 more rows agree with some known row.
>>> link(released, known, ["post", "born"]).pairs.tolist()
[[2, 0]]

k-anonymity is not a privacy guarantee: rows that agree in everything known may agree in the secret, too. Two releases
of one table that are both k-anonymous need not be so together. References: Sweeney, *k-anonymity* (2002); Dwork and
Roth (2014), chapter 1.

They hide values from a glance and guarantee nothing; they are here to be attacked, and to be compared with.

>>> import numpy as np
>>> ages = np.array([23, 25, 31, 34, 40, 58])
>>> rank_swapped(ages, window=2, rng=np.random.default_rng(1)).tolist()
[25, 23, 40, 58, 31, 34]
>>> rounded(ages, base=10).tolist()
[20, 20, 30, 30, 40, 60]

Reference: Willenborg and de Waal, *Elements of Statistical Disclosure Control* (2001).

A table of counts is published with the totals of its rows and columns, and small cells are left out to protect someone.
The totals still bind them: each suppressed cell lies between the least and the greatest number that it can have while
all rows and columns add up and no cell is negative. A cell whose two bounds are one number is **disclosed**.

>>> table = SuppressedTable([[20, None, 3, 25], [None, None, 9, 30], [8, 5, 2, 15], [40, 16, 14, 70]])
>>> for cell in table.bounds():
...     print(cell)
row 0, column 1: 2, disclosed
row 1, column 0: 12, disclosed
row 1, column 1: 9, disclosed

The last row and the last column are the totals, and may have gaps as well. Bounds are linear programs over a network:
every cell is in one equation of a row and one of a column, with opposite signs once some equations are turned around.
Therefore, if the published numbers are whole, cells and multipliers at an optimum are integers too: the solution of the
solver is rounded, and then proved in integers. Other numbers are counted in the unit in which all of them are whole.

Reference: Willenborg and de Waal, *Elements of Statistical Disclosure Control* (2001), chapter 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from noisewright._utils.validation import is_whole
from noisewright.attacks.correlation import arrow_column
from noisewright.exceptions import DataError, ParameterError
from noisewright.numerics.exact import Exact, as_fraction, positive_fraction, whole_or_fraction
from noisewright.sampling.random_bits import Rng, uniform_below

__all__ = ["Anonymity", "CellBounds", "Linked", "SuppressedTable", "anonymity", "link", "rank_swapped", "rounded"]


ROW = "row of "
"""Before the names of columns that hold the numbers of rows; it keeps them apart from columns of the tables."""


@dataclass(frozen=True)
class Anonymity:
    """Numbers of rows that share each combination of some columns. A missing value is a value like any other."""

    columns: tuple[str, ...]
    rows: int
    sizes: NDArray[np.int64] = field(repr=False)
    """Number of rows with each combination that occurs, in rising order."""

    @property
    def k(self) -> int:
        """The largest ``k`` for which the table is k-anonymous."""
        return int(self.sizes[0])

    def rows_below(self, k: int) -> int:
        """Return the number of rows that share their combination with fewer than ``k - 1`` others; unique rows for
        ``k = 2``.
        """
        return int(self.sizes[self.sizes < k].sum())

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
            "combinations": len(self.sizes),
            "k": self.k,
            "rows_alone": self.rows_below(2),
        }

    def __str__(self) -> str:
        names, alone = ", ".join(self.columns), self.rows_below(2)
        many = f"{len(self.sizes)} {'combination' if len(self.sizes) == 1 else 'combinations'}"
        own = f"{alone} {'row has' if alone == 1 else 'rows have'} one of {'its' if alone == 1 else 'their'} own"
        return f"k = {self.k}: {many} of {names} among {self.rows} rows; {own}."


@dataclass(frozen=True)
class Linked:
    """Result of a join of two tables on some columns."""

    columns: tuple[str, ...]
    rows: int
    pairs: NDArray[np.int64] = field(repr=False)
    """The numbers of two rows, of the released and of the known table, whose combination occurs once in each."""
    possible: int
    """Numbers of rows of the released table that agree with some known row, for the released rows of the pairs."""
    left_out: int
    """Number of rows of either table that miss a value in one of the columns, and agree with nothing."""

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data, without the pairs."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
            "linked": len(self.pairs),
            "possible": self.possible,
            "left_out": self.left_out,
        }

    def __str__(self) -> str:
        count, more = len(self.pairs), self.possible - len(self.pairs)
        linked = (
            "1 row is linked to one known row: its"
            if count == 1
            else f"{count} rows are linked to one known row each: their"
        )
        also = f"{more} more {'row agrees' if more == 1 else 'rows agree'} with some known row"
        return f"{linked} {', '.join(self.columns)} occur once in each; {also}."


def anonymity(table: Any, columns: Sequence[str]) -> Anonymity:
    """Return how far rows are alike in these columns; ``table`` is an Arrow table, a pandas or Polars frame, or a
    mapping of columns.
    """
    read = _read(table, columns)
    sizes = read.group_by(read.schema.names, use_threads=False).aggregate([([], "count_all")])
    return Anonymity(tuple(read.schema.names), read.num_rows, np.sort(sizes.column("count_all").to_numpy()))


def link(released: Any, known: Any, on: Sequence[str]) -> Linked:
    """Join two tables on the columns ``on``, which both have, and find the rows that can belong to one person only."""
    first, second = _read(released, on), _read(known, on)
    names = first.schema.names
    second = second.cast(pa.schema([_common(first, second, name) for name in names]))
    first = first.cast(second.schema)
    whole = [table.filter(_complete(table)) for table in (_numbered(first, 0), _numbered(second, 1))]
    left_out = first.num_rows + second.num_rows - sum(table.num_rows for table in whole)
    one, other = (
        table.group_by(names, use_threads=False).aggregate([(f"{ROW}{i}", "min"), ([], "count_all")])
        for i, table in enumerate(whole)
    )
    joined = one.join(other.rename_columns([*names, "row", "count"]), names, join_type="inner", use_threads=False)
    here, there = joined.column("count_all").to_numpy(), joined.column("count").to_numpy()
    alone = (here == 1) & (there == 1)
    pairs = np.column_stack([joined.column(name).to_numpy()[alone] for name in (f"{ROW}0_min", "row")])
    return Linked(tuple(names), first.num_rows, pairs[np.argsort(pairs[:, 0])], int(here.sum()), left_out)


def _read(table: Any, columns: Sequence[str]) -> pa.Table:
    """Columns of a table, as Arrow holds them."""
    if isinstance(columns, str) or not columns or not all(isinstance(name, str) for name in columns):
        raise ParameterError("name the columns in a list, one or more, such as ['postcode', 'born', 'sex'].")
    if len(set(columns)) < len(columns):
        raise ParameterError("a column is named twice; name each once.")
    found = [arrow_column(table, name) for name in columns]
    if len({len(column) for column in found}) > 1:
        raise DataError("the columns differ in length; a table has one value for each row in each.")
    if not len(found[0]):
        raise DataError("the table has no rows, so there is nothing to attack.")
    plain = [column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column for column in found]
    return pa.table(plain, names=list(columns))


def _common(first: pa.Table, second: pa.Table, name: str) -> pa.Field:
    """Return one type for both: numbers are compared as numbers, and other values only with their own type."""
    kinds = first.schema.field(name).type, second.schema.field(name).type
    numbers = [pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds]
    text = [pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in kinds]
    if kinds[0] == kinds[1]:
        return pa.field(name, kinds[0])
    if all(text):
        return pa.field(name, pa.large_string())
    if all(numbers):
        return pa.field(name, pa.int64() if all(pa.types.is_integer(kind) for kind in kinds) else pa.float64())
    raise DataError(
        f"the column {name!r} is of another kind in each table, {kinds[0]} and {kinds[1]}; give both one kind."
    )


def _numbered(table: pa.Table, which: int) -> pa.Table:
    return table.append_column(f"{ROW}{which}", pa.array(np.arange(table.num_rows)))


def _complete(table: pa.Table) -> Any:
    absent = [pc.is_null(c, nan_is_null=pa.types.is_floating(c.type)) for c in table.columns]
    found = absent[0]
    for other in absent[1:]:
        found = pc.or_(found, other)
    return pc.invert(found)


# Masking ------------------------------------------------------------------------------------------------------------------
#
# Classical maskings of a column: rank swapping and rounding.


def rank_swapped(values: ArrayLike, *, window: int, rng: Rng = None) -> NDArray[Any]:
    """Swap every value with one whose rank is at most ``window`` away, drawn among those not swapped yet.

    A column keeps its values, and so its mean and its quantiles; every value stays near its original row.
    """
    if not is_whole(window) or window < 1:
        raise ParameterError("window must be a whole number of ranks, 1 or more.")
    given = _numbers(values)
    order = np.argsort(given, kind="stable")
    swapped, waiting = given.copy(), np.ones(len(given), dtype=bool)
    for first in range(len(order)):
        near = first + 1 + np.flatnonzero(waiting[first + 1 : first + 1 + window])
        if waiting[first] and len(near):
            second = near[int(uniform_below(len(near), rng=rng))]
            here, there = order[first], order[second]
            swapped[here], swapped[there] = given[there], given[here]
            waiting[second] = False
    return swapped


def rounded(values: ArrayLike, *, base: Exact) -> NDArray[Any]:
    """The nearest multiple of ``base``; of two that are as near, the one with an even multiple, which has no drift."""
    step = positive_fraction(base, "base")
    given = _numbers(values)
    if given.dtype.kind in "iu" and step.denominator == 1:
        size = int(step)
        below, rest = np.divmod(given, size)
        up = (2 * rest > size) | ((2 * rest == size) & (below % 2 == 1))
        return np.asarray((below + up) * size)
    return np.asarray(np.round(given / float(step)) * float(step))


def _numbers(values: ArrayLike) -> NDArray[Any]:
    given = np.asarray(values)
    if given.ndim != 1 or given.dtype.kind not in "iuf" or not np.isfinite(given.astype(float)).all():
        raise DataError("a column to be masked is a list of numbers, none of them missing or infinite.")
    return given


# Suppression --------------------------------------------------------------------------------------------------------------
#
# Cells that were left out of a table with totals: between which numbers each of them must lie.


MOST_CELLS = 1_000
"""Suppressed cells, each of which takes two linear programs."""
LARGEST = 10**12
"""Largest count in the smallest unit: floats of the solver must distinguish neighbouring integers."""
INFEASIBLE, UNBOUNDED = 2, 3
CONTRADICTION = (
    "the published numbers contradict each other: some row or column cannot add up to its total; check the table."
)


@dataclass(frozen=True)
class CellBounds:
    """The least and the greatest number that a suppressed cell can have; ``row`` and ``column`` count from 0."""

    row: int
    column: int
    low: int | Fraction
    high: int | Fraction | None
    """None where the totals that are left put no end to it."""

    @property
    def disclosed(self) -> bool:
        """Return whether the published numbers determine it."""
        return self.low == self.high

    def __str__(self) -> str:
        if self.disclosed:
            return f"row {self.row}, column {self.column}: {self.low}, disclosed"
        between = f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}"
        return f"row {self.row}, column {self.column}: {between}"


@dataclass(frozen=True)
class SuppressedTable:
    """Rows of exact numbers that are 0 or more, None for a suppressed cell; the last row and the last column are totals."""

    rows: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        try:
            rows = tuple(
                tuple(None if v is None else as_fraction(v, "a published cell") for v in row) for row in self.rows
            )
        except TypeError:
            raise ParameterError("a table is a list of rows of numbers, with None for a suppressed cell.") from None
        if len(rows) < 2 or len({len(row) for row in rows}) > 1 or len(rows[0]) < 2:
            raise ParameterError("a table has rows of one length, two or more, and the last row and column are totals.")
        if any(v is not None and v < 0 for row in rows for v in row):
            raise DataError("a published cell is negative; tables of counts and amounts have none.")
        object.__setattr__(self, "rows", rows)
        if len(self.suppressed) > MOST_CELLS:
            raise ParameterError(f"{len(self.suppressed)} cells are suppressed; {MOST_CELLS} are looked at, at most.")

    @cached_property
    def suppressed(self) -> tuple[tuple[int, int], ...]:
        """Row and column of every suppressed cell, totals among them."""
        return tuple((i, j) for i, row in enumerate(self.rows) for j, v in enumerate(row) if v is None)

    def bounds(self) -> tuple[CellBounds, ...]:
        """The bounds of every suppressed cell; an error where the published numbers contradict each other."""
        left, right = self._system
        if right[~left.any(axis=1)].any():
            raise DataError(CONTRADICTION)
        found = []
        for place, (i, j) in enumerate(self.suppressed):
            low, high = self._end(place, 1), self._end(place, -1)
            assert low is not None  # no cell is negative
            found.append(CellBounds(i, j, low, high))
        return tuple(found)

    def _end(self, place: int, sign: int) -> int | Fraction | None:
        """The least value of a suppressed cell, with -1 the greatest; None if it has no end."""
        from scipy.optimize import linprog

        left, right = self._system
        cost = np.zeros(len(self.suppressed), dtype=np.int64)
        cost[place] = sign
        found = linprog(cost, A_eq=left, b_eq=right, bounds=(0, None), method="highs")
        if found.status == INFEASIBLE:
            raise DataError(CONTRADICTION)
        if found.status == UNBOUNDED:
            return None
        if found.x is not None:
            cells, prices = (np.rint(v).astype(np.int64) for v in (found.x, found.eqlin.marginals))
            can_be = (left @ cells == right).all() and (cells >= 0).all()
            cannot_be_beyond = (cost >= prices @ left).all() and prices @ right == cost @ cells
            if can_be and cannot_be_beyond:
                return whole_or_fraction(Fraction(int(cells[place]), self._unit))
        raise DataError("the solver did not find the bounds of a cell; round the published numbers.")

    @cached_property
    def _unit(self) -> int:
        """Number of parts of 1 in which all published numbers are integers."""
        return lcm(*(Fraction(v).denominator for row in self.rows for v in row if v is not None))

    @cached_property
    def _system(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """One equation for each row and each column: the suppressed cells that it counts, and the total left for
        them.
        """
        height, width = len(self.rows), len(self.rows[0])
        known = np.array([[0 if v is None else int(v * self._unit) for v in row] for row in self.rows], dtype=object)
        if known.max() > LARGEST:
            raise DataError(
                "a published cell is too large, or has too many digits, to be bounded exactly; round the table."
            )
        signs = [np.array([*[1] * (size - 1), -1]) for size in (width, height)]
        right = np.concatenate([-(known @ signs[0]), -(signs[1] @ known)]).astype(np.int64)
        left = np.zeros((height + width, len(self.suppressed)), dtype=np.int64)
        for place, (i, j) in enumerate(self.suppressed):
            left[i, place], left[height + j, place] = signs[0][j], signs[1][i]
        return left, right
