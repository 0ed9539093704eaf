r"""Metrics between bags and tables. A bag is a collection in which a member may stand several times, such as a text of words.

>>> from noisewright.core.metrics.metric import Line
>>> AddRemove().distance(["a", "a", "b"], ["a", "c"])
3.0
>>> EarthMovers(Line()).distance([0, 10], [11, 0])
0.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noisewright.claims.phrases import base_name
from noisewright.core.arrays import Floats
from noisewright.core.errors import MetricError
from noisewright.core.metrics._points import (
    Point,
    as_sequences,
)
from noisewright.core.metrics.metric import Euclidean, Metric, as_metric

__all__ = ["AddRemove", "EarthMovers", "Neighbours"]


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
