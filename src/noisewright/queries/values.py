"""Values that a query reads from one row: a number on a public lattice, a cell of a public grid, a declared key. All as SQL.

Numbers are clamped to the declared range and put on a lattice whose step is a power of two chosen from the range (about
``range / 2^20``, never finer than 1 for integers and dates): ``floor(clamp(x) / step + 1/2)``. Dividing by a power of two
is exact and the rest is IEEE arithmetic, so DuckDB and Spark agree on every bit, and a second clamp on the integers makes the
range of indices certain whatever the floats did. From there on everything is integers, and sums do not depend on order.

>>> import pyarrow as pa
>>> from noisewright.queries.sql import DUCKDB
>>> age = Value("age", pa.int64(), (Fraction(0), Fraction(110)))
>>> Steps.of(age)
Steps(exponent=0, low=0, high=110)
>>> print(Cells.equal(age, 11).sql(age.sql(DUCKDB))[:40])
LEAST(GREATEST(CAST(FLOOR((LEAST(GREATES
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.columns.arrow import arrow_array, arrow_scalar, numpy_array, pc
from noisewright.columns.registry import kind_of
from noisewright.columns.scalars import INTEGER
from noisewright.exceptions import DataError, ParameterError
from noisewright.queries.sql import DUCKDB, Dialect, double

__all__ = ["MOST_CELLS", "Cells", "Key", "Steps", "Value", "plain_type"]


MOST_CELLS = 1 << 20
"""A query has at most this many numbers as its answer: groups times cells."""

RESOLUTION = 20
"""A range is cut into about 2**20 steps."""

LARGEST = 1 << 50
"""Indices stay below this, so that every step of the way is an exact float."""

WIDEST = 10**300
"""Ends of a range stay below this, so that the sum of many values is still a float."""

NANOSECONDS_REACH = 9_223_372_036
"""The seconds on both sides of 1970 that a timestamp in nanoseconds can hold."""


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values, where a column holds numbers of a dictionary instead."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


@dataclass(frozen=True)
class Value:
    """A column as numbers of type DOUBLE: whole days for dates, seconds for timestamps, 0 and 1 for booleans."""

    column: str
    type: pa.DataType
    within: tuple[Fraction, Fraction] | None = None

    def __post_init__(self) -> None:
        kind = plain_type(self.type)
        if self._number("x", DUCKDB) is None:
            raise ParameterError(
                f"the column {self.column!r} holds {kind}, and this query needs numbers, dates, timestamps or booleans."
            )
        if self.within is not None and not self.within[0] < self.within[1]:
            raise ParameterError(f"within must be two numbers for {self.column!r}, the lower one first.")
        if self.within is not None and any(abs(end) >= WIDEST for end in self.within):
            raise ParameterError(
                f"within is too wide for {self.column!r}, whose answers no float would hold; stay between "
                f"-{float(WIDEST):.0e} and {float(WIDEST):.0e}, or rescale the column."
            )

    @property
    def whole(self) -> bool:
        """True if all values are integers."""
        kind = plain_type(self.type)
        return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind))

    def sql(self, dialect: Dialect) -> str:
        """The number, clamped to the range if there is one; not for rows where it is missing."""
        found = self._number(dialect.quote(self.column), dialect) or ""
        if self.within is None:
            return found
        return f"LEAST(GREATEST({found}, {double(self.within[0])}), {double(self.within[1])})"

    def _number(self, name: str, dialect: Dialect) -> str | None:
        """The number before it is clamped, as its kind writes it; None for a kind that cannot be added up."""
        plain = plain_type(self.type)
        if pa.types.is_decimal(plain):  # with places or without: a sum may round it, a released row may not
            return INTEGER.sql_number(name, plain, dialect)
        kind = kind_of(plain)
        return None if kind is None else kind.sql_number(name, plain, dialect)

    def missing(self, dialect: Dialect) -> str:
        """Return whether the value is missing: null, or not a number."""
        return missing(self.column, self.type, dialect)

    def back(self, numbers: NDArray[np.float64]) -> pa.Array:
        """Numbers as values of the column again, where it holds dates or timestamps; otherwise as floats."""
        kind = plain_type(self.type)
        if pa.types.is_date32(kind):
            return arrow_array(np.rint(numbers).astype(np.int32)).cast(kind)
        if pa.types.is_timestamp(kind):
            if kind.unit == "ns":  # which reach from 1677 to 2262 only
                numbers = np.clip(numbers, -NANOSECONDS_REACH, NANOSECONDS_REACH)
            moments = arrow_array(np.rint(numbers * 1e6).astype(np.int64)).cast(pa.timestamp("us"))
            return moments.cast(pa.timestamp(kind.unit), safe=False).cast(pa.int64()).cast(kind)
        return arrow_array(numbers)


def missing(column: str, kind: pa.DataType, dialect: Dialect) -> str:
    """Return whether a value of any type is missing."""
    name = dialect.quote(column)
    if pa.types.is_floating(plain_type(kind)):
        return f"({name} IS NULL OR isnan({name}))"
    return f"({name} IS NULL)"


@dataclass(frozen=True)
class Steps:
    """A range as integers ``low, ..., high`` of lattice steps ``2**exponent``."""

    exponent: int
    low: int
    high: int

    @classmethod
    def of(cls, value: Value) -> Steps:
        """The lattice for a value with a range; chosen from the range alone."""
        if value.within is None:
            raise ParameterError(f"say the range of {value.column!r}, for example within = [0, 100].")
        low, high = (float(end) for end in value.within)
        needed = max((high - low) / 2**RESOLUTION, max(abs(low), abs(high)) / LARGEST)
        exponent = math.frexp(needed)[1]  # the smallest power of two above the required number
        if value.whole:
            exponent = max(exponent, 0)
        ends = [math.floor(math.ldexp(end, -exponent) + 0.5) for end in (low, high)]
        if not needed > 0 or exponent < -1000 or ends[0] >= ends[1]:
            raise ParameterError(
                f"the range of {value.column!r} is narrower than one step of {2.0**exponent:g}; widen it."
            )
        return cls(exponent, *ends)

    @property
    def step(self) -> Fraction:
        """The size of one step."""
        return Fraction(2) ** self.exponent

    @property
    def middle(self) -> int:
        """The index in the middle of the range; numbers counted from there have half the sensitivity."""
        return (self.low + self.high) // 2

    def sql(self, number: str) -> str:
        """The index of a clamped number, as BIGINT; certainly from ``low`` to ``high``."""
        nearest = f"FLOOR({number} / {double(self.step)} + {double(0.5)})"
        return f"LEAST(GREATEST(CAST({nearest} AS BIGINT), {self.low}), {self.high})"


@dataclass(frozen=True)
class Cells:
    """A public grid: cell ``i`` holds numbers from ``edges[i]`` up to but not including ``edges[i + 1]``; the last one both.

    ``kind="equal"``: cells of one width over a range; ``"whole"``: one cell for each integer; ``"edges"``: as listed, and a
    number outside all of them is in none.
    """

    edges: tuple[Fraction, ...]
    kind: Literal["equal", "whole", "edges"]

    def __post_init__(self) -> None:
        if len(self.edges) < 2 or any(float(a) >= float(b) for a, b in pairwise(self.edges)):
            raise ParameterError("bins must be at least two edges in increasing order, or the number of bins.")
        if len(self.edges) > MOST_CELLS or (self.kind == "edges" and len(self.edges) > 4097):
            raise ParameterError(
                "so many bins are more than a query can have: 4096 by their edges, 2^20 by their number."
            )

    @classmethod
    def equal(cls, value: Value, count: int) -> Cells:
        """Return cells of one width over the range of a value."""
        if value.within is None:
            raise ParameterError(
                f"say the range of {value.column!r}, for example within = [0, 100], to cut it into bins."
            )
        if not 1 <= count <= MOST_CELLS - 1:
            raise ParameterError(f"bins must be from 1 to {MOST_CELLS - 1}, not {count}.")
        low, high = value.within
        return cls(tuple(low + (high - low) * i / count for i in range(count + 1)), "equal")

    @classmethod
    def whole(cls, low: int, high: int) -> Cells:
        """One cell for each integer from ``low`` to ``high``."""
        return cls(tuple(Fraction(2 * i - 1, 2) for i in range(low, high + 2)), "whole")

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def middles(self) -> NDArray[np.float64]:
        """The middle of each cell."""
        return np.array([float((a + b) / 2) for a, b in pairwise(self.edges)])

    def sql(self, number: str) -> str:
        """The cell of a number, as BIGINT, or NULL."""
        if self.kind == "edges":
            first, last = double(self.edges[0]), double(self.edges[-1])
            return f"(CASE WHEN {number} < {first} OR {number} > {last} THEN NULL ELSE {self._search(number)} END)"
        low, high = float(self.edges[0]), float(self.edges[-1])
        place = f"({number} - {double(low)})"
        if self.kind == "equal":
            place += f" * {double(len(self))} / {double(high - low)}"
        return f"LEAST(GREATEST(CAST(FLOOR({place}) AS BIGINT), 0), {len(self) - 1})"

    def _search(self, number: str) -> str:
        """Bisection over the inner edges."""
        edges = [float(edge) for edge in self.edges]

        def between(first: int, last: int) -> str:
            if first == last:
                return f"CAST({first} AS BIGINT)"
            middle = (first + last + 1) // 2
            below, above = between(first, middle - 1), between(middle, last)
            return f"CASE WHEN {number} < {double(edges[middle])} THEN {below} ELSE {above} END"

        return between(0, len(self) - 1)


@dataclass(frozen=True)
class Key:
    """A column with declared public values; rows with other values, or none, belong to no group."""

    column: str
    type: pa.DataType
    values: tuple[Any, ...]

    @classmethod
    def of(cls, column: str, kind: pa.DataType, values: tuple[Any, ...]) -> Key:
        """A key whose values fit the column; dates may be written as text, 2024-05-01."""
        plain, given = plain_type(kind), tuple(values)
        if not given or len(set(given)) < len(given) or len({str(v) for v in given}) < len(given):
            raise ParameterError(f"the values of {column!r} must be a list of different values.")
        wanted: tuple[type, ...]
        if pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain):
            wanted, words = (str,), "text"
        elif pa.types.is_boolean(plain):
            wanted, words = (bool,), "true and false"
        elif pa.types.is_integer(plain):
            wanted, words = (int,), "whole numbers"
        elif pa.types.is_floating(plain):
            wanted, words = (int, float), "numbers"
        elif pa.types.is_date32(plain):
            wanted, words = (str, datetime.date), "dates"
        else:
            raise ParameterError(f"the column {column!r} holds {plain}, which cannot be counted by its values.")
        if pa.types.is_dictionary(kind) and wanted != (str,):
            raise ParameterError(f"the column {column!r} holds {kind}; convert it to {plain} first.")
        fits = all(isinstance(v, wanted) and (isinstance(v, bool) == (wanted == (bool,))) for v in given)
        try:
            if not fits:
                raise TypeError
            if words == "dates":
                given = tuple(datetime.date.fromisoformat(str(v)) for v in given)
            arrow_array(given, plain)
        except (TypeError, ValueError, OverflowError, pa.ArrowException):
            raise ParameterError(f"the values of {column!r} must be {words}, as the column holds {plain}.") from None
        if any(isinstance(v, float) and not math.isfinite(v) for v in given):
            raise ParameterError(f"the values of {column!r} must be finite numbers.")
        return cls(column, kind, given)

    def __len__(self) -> int:
        return len(self.values)

    def sql(self, dialect: Dialect) -> str:
        """The value; one from a dictionary as the text that it stands for."""
        name = dialect.quote(self.column)
        if pa.types.is_floating(self.type):  # one zero, and one width
            return f"(CASE WHEN {name} = 0 THEN {double(0)} ELSE CAST({name} AS DOUBLE) END)"
        return f"CAST({name} AS STRING)" if pa.types.is_dictionary(self.type) else name

    def condition(self, dialect: Dialect) -> str:
        """Return whether a row has one of the values."""
        return f"{self.sql(dialect)} IN ({', '.join(self._literal(v, dialect) for v in self.values)})"

    def places(self, column: pa.ChunkedArray | pa.Array) -> NDArray[np.int64]:
        """The position of each value in the list."""
        try:
            found = pc.index_in(column.cast(plain_type(self.type)), value_set=self.array())
        except pa.ArrowException:
            raise DataError(f"the engine returned values of {self.column!r} of another type.") from None
        if found.null_count:
            raise DataError(f"the engine returned values of {self.column!r} that were not asked for.")
        return np.asarray(numpy_array(found), dtype=np.int64)

    def array(self) -> pa.Array:
        """The values in the type of the column."""
        values = [v or 0.0 for v in self.values] if pa.types.is_floating(self.type) else self.values
        return arrow_array(values, plain_type(self.type))

    def _literal(self, value: Any, dialect: Dialect) -> str:
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return dialect.text(value)
        if isinstance(value, datetime.date):
            return f"DATE '{value.isoformat()}'"
        if pa.types.is_floating(self.type):  # the number that the column holds for it, which may have fewer digits
            return double(arrow_scalar(float(value), self.type).as_py())
        return str(value)
