r"""Statistics: vectors of integers that SQL computes exactly, each with its sensitivity and its noise.

A statistic adds up one integer for every row that counts, for each group and cell: 1 (``count``), the lattice index of a
value (``sum``), or the square of that (``squares``). Rows of one unit are at most ``r``, and one row adds a number ``v`` with
``low <= v <= high`` to at most one entry, so between neighbours the vector changes by

==================  ====================================  ================================  ========================
neighbours          entries together (L1)                 one entry                         entries that change
==================  ====================================  ================================  ========================
add-remove          ``r max(|low|, |high|)``              the same                          ``r``
replace, one entry  ``r (max(high, 0) - min(low, 0))``    the same                          1
... every row in    ``r (high - low)``                    the same                          1
replace, several    ``2 r max(|low|, |high|)``            ``r (max(high,0) - min(low,0))``  ``2 r``
==================  ====================================  ================================  ========================

at most ("every row in": no filter, no groups, nothing skipped, so that a row counts whatever it holds; neighbours that
replace values have the same rows).

>>> sensitivity(0, 100, rows=1, neighbours="add-remove", entries=1, always=False)
Sensitivity(l1=100, largest=100, changed=1)
>>> sensitivity(1, 1, rows=2, neighbours="replace", entries=12, always=False)
Sensitivity(l1=4, largest=2, changed=4)
>>> sensitivity(1, 1, rows=1, neighbours="replace", entries=1, always=True)  # the number of rows is public
Sensitivity(l1=0, largest=0, changed=0)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.errors import DataError
from noisewright.mechanisms.arrow import arrow_scalar, numpy_array, pc
from noisewright.releases.queries.dialects import Dialect
from noisewright.releases.queries.filters import Filter
from noisewright.releases.queries.noise import Noise
from noisewright.releases.queries.values import Cells, Key, Steps, Value, missing

__all__ = ["Measure", "Sensitivity", "Statistic", "sensitivity"]

Measure = Literal["count", "sum", "squares"]
Neighbours = Literal["replace", "add-remove"]


@dataclass(frozen=True)
class Sensitivity:
    """Maximum distance of a statistic between neighbours, in whole steps."""

    l1: int
    largest: int
    changed: int


def sensitivity(low: int, high: int, *, rows: int, neighbours: Neighbours, entries: int, always: bool) -> Sensitivity:
    """The table at the head of this module."""
    size, spread = max(abs(low), abs(high)), max(high, 0) - min(low, 0)
    if neighbours == "add-remove":
        return _bounded(rows * size, rows * size, min(rows, entries))
    if entries == 1:
        spread = high - low if always else spread
        return _bounded(rows * spread, rows * spread, 1)
    return _bounded(2 * rows * size, rows * spread, min(2 * rows, entries))


def _bounded(l1: int, largest: int, changed: int) -> Sensitivity:
    return Sensitivity(l1, largest, changed if l1 else 0)


@dataclass(frozen=True)
class Statistic:
    """One aggregate of a table: its SQL, how to read the result, its sensitivity and its noise (None: exact, at no
    privacy cost).
    """

    name: str
    query: str
    """Name of the query that it belongs to, which messages show."""
    measure: Measure
    bounds: Sensitivity
    noise: Noise | None = None
    value: Value | None = None
    steps: Steps | None = None
    centre: int = 0
    """Subtracted from every index (and half of the largest square from every square) before it is added up."""
    cells: Cells | None = None
    keys: tuple[Key, ...] = ()
    counted: bool = False
    """True if the last key is the column that is counted by its values, and so should have one in every row."""
    where: Filter | None = None
    missing: Literal["refuse", "skip"] = "refuse"

    @property
    def sensitivity(self) -> Fraction:
        """The most by which all entries together change between neighbours, in steps."""
        return Fraction(self.bounds.l1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at, each once."""
        own = [self.value.column] if self.value is not None else []
        filtered = self.where.columns if self.where is not None else ()
        return tuple(dict.fromkeys([*(key.column for key in self.keys), *own, *filtered]))

    @property
    def entries(self) -> int:
        """The length of the vector: groups times cells."""
        return self.groups * (len(self.cells) if self.cells else 1)

    @property
    def groups(self) -> int:
        """The number of groups, 1 without keys."""
        return prod(len(key) for key in self.keys)

    @property
    def shift(self) -> int:
        """Number subtracted from every square: half of the largest, so that squares count from their middle."""
        if self.measure != "squares" or self.steps is None:
            return 0
        return squares(self.steps, self.centre)[1] // 2

    def select(self, relation: str, dialect: Dialect) -> str:
        """The SQL over a relation (what stands after FROM, written by the engine): one row for each group and cell with rows.

        Its columns are ``nw_k0, nw_k1, ...`` for the keys, ``nw_cell`` if there are cells, ``nw_value`` and ``nw_missing``.
        """
        keys = [f"nw_k{place}" for place in range(len(self.keys))]
        inner = [f"{key.sql(dialect)} AS {name}" for key, name in zip(self.keys, keys, strict=True)]
        gone = self._missing(dialect)
        inner.append(f"CASE WHEN {gone} THEN 1 ELSE 0 END AS nw_m")
        if self.value is not None:
            inner.append(f"CASE WHEN {gone} THEN NULL ELSE {self.value.sql(dialect)} END AS nw_x")
        conditions = [key.condition(dialect) for key in self.keys]
        if self.counted:
            conditions[-1] = f"({conditions[-1]} OR {gone})"
        if self.where is not None:
            conditions.append(f"({self.where.sql(dialect)})")
        rows = f"SELECT {', '.join(inner)} FROM {relation}" + (
            f" WHERE {' AND '.join(conditions)}" if conditions else ""
        )
        middle = [*keys, "nw_m", f"CASE WHEN nw_m = 1 THEN NULL ELSE {self._term()} END AS nw_v"]
        groups = list(keys)
        if self.cells is not None:
            middle.append(f"CASE WHEN nw_m = 1 THEN NULL ELSE {self.cells.sql('nw_x')} END AS nw_cell")
            groups.append("nw_cell")
        total = "COUNT(nw_v)" if self.measure == "count" else "COALESCE(SUM(CAST(nw_v AS DECIMAL(18, 0))), 0)"
        outer = [
            *groups,
            f"CAST({total} AS DECIMAL(38, 0)) AS nw_value",
            "CAST(COALESCE(SUM(nw_m), 0) AS BIGINT) AS nw_missing",
        ]
        text = f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(middle)} FROM ({rows}) AS nw_rows) AS nw_terms"
        return text + (f" GROUP BY {', '.join(groups)}" if groups else "")

    def read(self, table: pa.Table) -> NDArray[np.object_]:
        """The vector of integers (groups by cells) from the result of the SQL; entries without rows are 0.

        Refused as a whole where a value is missing and may not be.
        """
        if self.missing == "refuse" and any(table.column("nw_missing").to_pylist()):
            name = self.value.column if self.value is not None else self.keys[-1].column
            raise DataError(
                f'query {self.query!r}: the column {name!r} has missing values; say missing = "skip" to leave such rows out, or '
                "fill them first."
            )
        cells = len(self.cells) if self.cells is not None else 1
        found = np.zeros((self.groups, cells), dtype=object)
        if self.cells is not None:
            table = table.filter(table.column("nw_cell").is_valid())  # missing values, and numbers outside all bins
        if self.counted:
            table = table.filter(pc.equal(table.column("nw_missing"), arrow_scalar(0)))
        place = np.zeros(table.num_rows, dtype=np.int64)
        for number, key in enumerate(self.keys):
            place = place * len(key) + key.places(table.column(f"nw_k{number}"))
        cell = numpy_array(table.column("nw_cell")).astype(np.int64) if self.cells is not None else 0
        found[place, cell] = [int(value) for value in table.column("nw_value").to_pylist()]
        return found

    def _term(self) -> str:
        """Return the contribution of one row."""
        if self.measure == "count" or self.steps is None:
            return "1"
        index = self.steps.sql("nw_x")
        centred = f"({index} - {_signed(self.centre)})" if self.centre else f"({index})"
        if self.measure == "sum":
            return centred
        return f"({centred} * {centred} - {self.shift})"

    def _missing(self, dialect: Dialect) -> str:
        if self.value is not None:
            return self.value.missing(dialect)
        return missing(self.keys[-1].column, self.keys[-1].type, dialect) if self.counted else "FALSE"


def squares(steps: Steps, centre: int) -> tuple[int, int]:
    """The smallest and the largest square of an index counted from ``centre``."""
    low, high = steps.low - centre, steps.high - centre
    ends = low * low, high * high
    return (0 if low <= 0 <= high else min(ends)), max(ends)


def _signed(number: int) -> str:
    return f"({number})" if number < 0 else str(number)
