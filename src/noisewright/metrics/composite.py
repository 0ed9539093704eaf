"""Metrics made of metrics: a multiple, a sum, a maximum, and a product over the places of a tuple.

``2 * d``, ``d + e`` and ``d | e`` write the first three. What is made of extended pseudo-metrics is one again, and its
exact lower bounds are made of theirs.

>>> from noisewright.metrics.base import Discrete, Line
>>> (Line() | 3 * Discrete()).distance(4, 5)
3.0
>>> Product((Line(), Discrete())).distance((3, "red"), (5, "blue"))
3.0

>>> from noisewright.metrics.base import Line
>>> AddRemove().distance(["a", "a", "b"], ["a", "c"])
3.0
>>> EarthMovers(Line()).distance([0, 10], [11, 0])
0.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright.claims.figures import float_down
from noisewright.claims.phrases import base_name
from noisewright.exceptions import MetricError
from noisewright.metrics.base import Euclidean, Line, Metric, as_metric, at_most_largest
from noisewright.metrics.distances import Distances, Point, TableDistances, as_sequences, kind_of
from noisewright.numerics.exact import Exact, as_fraction

__all__ = ["AddRemove", "Differences", "EarthMovers", "Maximum", "Neighbours", "Product", "Scaled", "Sum", "line_in"]


@dataclass(frozen=True)
class Differences(Metric):
    """Distance between curves with ``points`` values: the largest of their differences (``norm="sup"``), or the sum
    (``"l1"``)."""

    points: int
    norm: str

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        return {"base": "largest" if self.norm == "sup" else "sum", "count": self.points}

    def matrix(self, points: Sequence[Any]) -> Floats:
        return self._product.matrix(points)

    def exact(self, points: Sequence[Any]) -> Distances:
        return self._product.exact(points)

    @property
    def _product(self) -> Product:
        return Product((Line(),) * self.points, "max" if self.norm == "sup" else "sum")


@dataclass(frozen=True)
class Scaled(Metric):
    """A metric times a positive number: ``Scaled(d, 2)`` guarantees twice as much loss at the same epsilon."""

    inner: Metric
    factor: Fraction

    def __post_init__(self) -> None:
        as_metric(self.inner)
        object.__setattr__(self, "factor", as_fraction(self.factor, "a metric's factor"))
        if self.factor <= 0:
            shown = str(float(self.factor)) if abs(self.factor) < 10**300 else "a number below -1e300"
            raise MetricError(f"a metric can be scaled by a number above 0 only, not by {shown}.")

    @property
    def name(self) -> str:  # type: ignore[override]
        inner, factor = self.unscaled()
        return f"{factor} * ({inner})" if isinstance(inner, Sum) else f"{factor} * {inner}"

    def matrix(self, points: Sequence[Point]) -> Floats:
        inner = self.inner.matrix(points)
        factor = float_down(self.factor)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(np.isinf(inner), np.inf, at_most_largest(inner * factor))

    def exact(self, points: Sequence[Point]) -> Distances:
        return self.inner.exact(points).scaled(self.factor)

    def diameter(self, points: Sequence[Point]) -> Fraction | None:
        inner = self.inner.diameter(points)
        return None if inner is None else self.factor * inner

    @property
    def unit(self) -> str:
        return self.inner.unit

    @property
    def on_numbers(self) -> bool:
        return self.inner.on_numbers

    @property
    def finite(self) -> bool:  # type: ignore[override]
        return self.inner.finite

    @property
    def step(self) -> Fraction | None:
        return self.inner.step

    def after_rounding(self, distance: Fraction, columns: int) -> Fraction:
        return self.factor * self.inner.after_rounding(distance, columns)

    def unscaled(self) -> tuple[Metric, Fraction]:
        inner, factor = self.inner.unscaled()
        return inner, self.factor * factor

    def record(self) -> dict[str, Any]:
        inner, factor = self.unscaled()
        stated = inner.record()
        return {"called": self.name} if "called" in stated else with_factor(stated, factor)

    @property
    def secret(self) -> Mapping[str, Any] | None:
        return self.inner.secret


@dataclass(frozen=True)
class Sum(Metric):
    """The sum of several metrics on the same points: what composing releases under each of them gives."""

    parts: tuple[Metric, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _parts(self.parts, "a sum"))

    @property
    def name(self) -> str:  # type: ignore[override]
        return " + ".join(str(part) for part in self.parts)

    def matrix(self, points: Sequence[Point]) -> Floats:
        return _summed([part.matrix(points) for part in self.parts])

    def exact(self, points: Sequence[Point]) -> Distances:
        return TableDistances.combine([part.exact(points) for part in self.parts], sum)


@dataclass(frozen=True)
class Maximum(Metric):
    """The pointwise maximum of several metrics on the same points."""

    parts: tuple[Metric, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _parts(self.parts, "a maximum"))

    @property
    def name(self) -> str:  # type: ignore[override]
        return "max(" + ", ".join(str(part) for part in self.parts) + ")"

    def matrix(self, points: Sequence[Point]) -> Floats:
        return np.asarray(np.max([part.matrix(points) for part in self.parts], axis=0))

    def exact(self, points: Sequence[Point]) -> Distances:
        return TableDistances.combine([part.exact(points) for part in self.parts], max)


@dataclass(frozen=True)
class Product(Metric):
    """A metric on tuples from one metric for each place: summed (``"sum"``) or the largest (``"max"``).

    Releasing every place by a mechanism private for that place's metric is private for the ``"sum"``.
    """

    parts: tuple[Metric, ...]
    combine: str = "sum"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _parts(self.parts, "a product"))
        if self.combine not in ("sum", "max"):
            raise MetricError(f"a product metric combines by 'sum' or 'max', not by {self.combine!r}.")

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"product-{self.combine}(" + ", ".join(str(part) for part in self.parts) + ")"

    def _places(self, points: Sequence[Point]) -> list[tuple[Point, ...]]:
        rows = [tuple(p) for p in as_sequences(points, self.name, f"tuples of {len(self.parts)} values")]
        if any(len(row) != len(self.parts) for row in rows):
            raise MetricError(f"the {self.name} metric needs tuples of {len(self.parts)} values.")
        return list(zip(*rows, strict=True))

    def matrix(self, points: Sequence[Point]) -> Floats:
        parts = [part.matrix(place) for part, place in zip(self.parts, self._places(points), strict=True)]
        return _summed(parts) if self.combine == "sum" else np.asarray(np.max(parts, axis=0))

    def exact(self, points: Sequence[Point]) -> Distances:
        parts = [part.exact(place) for part, place in zip(self.parts, self._places(points), strict=True)]
        return TableDistances.combine(parts, sum if self.combine == "sum" else max)


def with_factor(stated: Mapping[str, Any], factor: Fraction) -> dict[str, Any]:
    """Return the record of a metric times a factor."""
    whole = Fraction(stated.get("factor", 1)) * factor
    return {**stated, "factor": str(whole)} if whole != 1 else {k: v for k, v in stated.items() if k != "factor"}


def line_in(unit: Exact) -> Metric:
    """The line counted in this unit: ``d(x, y) = |x - y| / unit``.

    >>> print(line_in(1), line_in("5/2"), sep="; ")
    line; 2/5 * line
    """
    size = as_fraction(unit, "a unit of the line")
    return Line() if size == 1 else Scaled(Line(), 1 / size)


def _summed(parts: Sequence[Floats]) -> Floats:
    """The sum of distances; infinite only where one of them is."""
    with np.errstate(over="ignore"):
        total = np.sum(parts, axis=0)
    return np.where(np.isinf(parts).any(axis=0), np.inf, at_most_largest(total))


def _parts(parts: object, what: str) -> tuple[Metric, ...]:
    """The metrics that another one is made of."""
    if isinstance(parts, Metric) or not isinstance(parts, Iterable):
        raise MetricError(f"{what} of metrics needs a tuple of metrics such as (Line(), Line()), not {kind_of(parts)}.")
    found = tuple(as_metric(part) for part in parts)
    if not found:
        raise MetricError(f"{what} of metrics needs at least one metric.")
    return found


# Bags ---------------------------------------------------------------------------------------------------------------------
#
# Metrics between bags and tables. A bag is a collection in which a member may stand several times, such as a text of words.


@dataclass(frozen=True)
class EarthMovers(Metric):
    """The least mean distance of a matching between two bags of one size, over a ground metric on their members."""

    ground: Metric = field(default_factory=Euclidean)

    def __post_init__(self) -> None:
        as_metric(self.ground)

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"earth-movers({self.ground})"

    def matrix(self, points: Sequence[Point]) -> Floats:
        from scipy.optimize import linear_sum_assignment

        bags = [list(bag) for bag in as_sequences(points, self.name, "bags, each a sequence of members")]
        sizes = {len(bag) for bag in bags}
        if len(sizes) > 1 or 0 in sizes:
            raise MetricError("the earth mover's metric compares bags of one size above zero; pad or split them first.")
        size = sizes.pop()
        ground = self.ground.matrix([member for bag in bags for member in bag])
        result = np.zeros((len(bags), len(bags)))
        for i in range(len(bags)):
            for j in range(i + 1, len(bags)):
                block = ground[i * size : (i + 1) * size, j * size : (j + 1) * size]
                rows, columns = linear_sum_assignment(np.where(np.isinf(block), 1e300, block))
                result[i, j] = result[j, i] = block[rows, columns].sum() / size
        return result


@dataclass(frozen=True)
class AddRemove(Metric):
    """Number of records that must be added or removed to turn one table (a collection of records) into another."""

    name = "records added or removed"
    finite = True

    def matrix(self, points: Sequence[Point]) -> Floats:
        """All distances: the sizes of the symmetric differences of multisets."""
        bags: list[Counter[Point]] = [Counter(table) for table in points]
        return np.array([[float(((a - b) + (b - a)).total()) for b in bags] for a in bags])


@dataclass(frozen=True)
class Neighbours(Metric):
    """Tables of which a record says which two are neighbours: those are one unit apart, and nothing is said of any others.

    ``neighbours`` is the record of the relation, ``columns`` has the protection of each column, and ``same`` are the
    columns that are released without protection, in which neighbours do not differ.

    >>> print(Neighbours({"relation": "same-rows", "unit": None, "rows": 1}))
    two tables with the same number of rows that differ in the values of one row
    """

    neighbours: Mapping[str, Any]
    columns: Sequence[tuple[Mapping[str, Any], Sequence[str]]] = ()
    same: Sequence[str] = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        columns = [[dict(protects), list(names)] for protects, names in self.columns]
        same = {"same": list(self.same)} if self.same else {}
        return {"base": "tables", "neighbours": dict(self.neighbours), "columns": columns, **same}

    def matrix(self, points: Sequence[Point]) -> Floats:
        raise MetricError("which tables are neighbours is stated by a record, and no distances follow from that.")
