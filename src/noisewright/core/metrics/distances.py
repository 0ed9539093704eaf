"""Exact distances between the secrets of one channel, against which a certificate is proved.

Three shapes cover everything, and each needs only the necessary comparisons:

* ``uniform``: one distance for every pair; a column is private if its largest entry is, against its smallest;
* ``line``: coordinates; distances add up along the line, so neighbours suffice;
* ``table``: every pair on its own; ``None`` stands for an infinite distance, which guarantees nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import MetricError

__all__ = ["Distances", "LineDistances", "TableDistances", "UniformDistances"]

T = TypeVar("T")


class Distances(Protocol):
    """Exact distances between ``size`` points, numbered from 0."""

    @property
    def size(self) -> int:
        """Number of points."""

    def between(self, i: int, j: int) -> Fraction | None:
        """The distance from point i to point j, or None where it is infinite."""

    def pairs(self) -> Iterator[tuple[int, int, Fraction]]:
        """Unordered pairs at finite distance that together imply all others."""

    def scaled(self, factor: Fraction) -> Distances:
        """All distances times ``factor``."""

    def twins(self) -> list[int]:
        """Return for each point the first one at distance 0 from it, which may be itself."""

    def components(self) -> list[int]:
        """Return for each point the first one at a finite distance from it, which may be itself."""

    def merge(self, groups: Sequence[Sequence[int]]) -> Distances:
        """The distances between groups of points, each treated as one: the smallest between their members."""

    def to_json(self) -> dict[str, Any]:
        """The form that a certificate carries."""


@dataclass(frozen=True)
class UniformDistances:
    """One distance for every pair of different points."""

    size: int
    distance: Fraction

    def between(self, i: int, j: int) -> Fraction:
        return Fraction(0) if i == j else self.distance

    def pairs(self) -> Iterator[tuple[int, int, Fraction]]:
        return ((i, j, self.distance) for i in range(self.size) for j in range(i + 1, self.size))

    def scaled(self, factor: Fraction) -> UniformDistances:
        return UniformDistances(self.size, self.distance * factor)

    def twins(self) -> list[int]:
        return list(range(self.size))

    def components(self) -> list[int]:
        return [0] * self.size

    def merge(self, groups: Sequence[Sequence[int]]) -> UniformDistances:
        return UniformDistances(len(groups), self.distance)

    def to_json(self) -> dict[str, Any]:
        return {"shape": "uniform", "distance": str(self.distance)}


@dataclass(frozen=True)
class LineDistances:
    """Points on a line; ``order`` visits them from left to right."""

    places: tuple[Fraction, ...]

    @property
    def size(self) -> int:
        return len(self.places)

    @property
    def order(self) -> list[int]:
        return sorted(range(self.size), key=self.places.__getitem__)

    def between(self, i: int, j: int) -> Fraction:
        return abs(self.places[i] - self.places[j])

    def pairs(self) -> Iterator[tuple[int, int, Fraction]]:
        order = self.order
        return ((i, j, self.between(i, j)) for i, j in pairwise(order))

    def scaled(self, factor: Fraction) -> LineDistances:
        return LineDistances(tuple(p * factor for p in self.places))

    def twins(self) -> list[int]:
        first: dict[Fraction, int] = {}
        return [first.setdefault(p, i) for i, p in enumerate(self.places)]

    def components(self) -> list[int]:
        return [0] * self.size

    def merge(self, groups: Sequence[Sequence[int]]) -> LineDistances:
        return LineDistances(tuple(self.places[group[0]] for group in groups))

    def to_json(self) -> dict[str, Any]:
        return {"shape": "line", "places": [str(p) for p in self.places]}


@dataclass(frozen=True)
class TableDistances:
    """A full table; only the part above the diagonal is kept, row by row."""

    size: int
    upper: tuple[Fraction | None, ...]

    @classmethod
    def of(cls, points: Sequence[T], distance: Callable[[T, T], Fraction]) -> TableDistances:
        """The table of an exact distance function."""
        n = len(points)
        return cls(n, tuple(distance(points[i], points[j]) for i in range(n) for j in range(i + 1, n)))

    @classmethod
    def given(cls, matrix: NDArray[np.float64]) -> TableDistances:
        """Floats that *are* the distances: taken at their exact value."""
        if not (matrix >= 0).all():
            raise MetricError("a metric gave a distance that is negative or not a number; distances are from 0 to inf.")
        return cls(len(matrix), tuple(None if math.isinf(v) else Fraction(v) for v in _above(matrix)))

    @classmethod
    def whole(cls, matrix: NDArray[np.float64]) -> TableDistances:
        """Floats that hold integers."""
        return cls(len(matrix), tuple(Fraction(int(v)) for v in _above(matrix)))

    @classmethod
    def below(cls, matrix: NDArray[np.float64]) -> TableDistances:
        """Floats that were computed with a few rounding errors: lower bounds that certainly hold."""
        return cls.given(matrix * (1 - 2.0**-44))

    @classmethod
    def combine(cls, parts: Sequence[Distances], how: Callable[[Sequence[Fraction]], Fraction | int]) -> TableDistances:
        """Sums or maxima of several exact distances; infinite where one of them is."""
        n = parts[0].size
        rows = []
        for i in range(n):
            for j in range(i + 1, n):
                values = [part.between(i, j) for part in parts]
                finite = [v for v in values if v is not None]
                rows.append(Fraction(how(finite)) if len(finite) == len(values) else None)
        return cls(n, tuple(rows))

    def between(self, i: int, j: int) -> Fraction | None:
        if i == j:
            return Fraction(0)
        i, j = min(i, j), max(i, j)
        return self.upper[i * self.size - i * (i + 1) // 2 + j - i - 1]

    def pairs(self) -> Iterator[tuple[int, int, Fraction]]:
        position = 0
        for i in range(self.size):
            for j in range(i + 1, self.size):
                distance = self.upper[position]
                position += 1
                if distance is not None:
                    yield i, j, distance

    def scaled(self, factor: Fraction) -> TableDistances:
        return TableDistances(self.size, tuple(None if v is None else v * factor for v in self.upper))

    def twins(self) -> list[int]:
        return self._first_such(lambda d: d == 0)

    def components(self) -> list[int]:
        return self._first_such(lambda d: d is not None)

    def merge(self, groups: Sequence[Sequence[int]]) -> TableDistances:
        # Rounding may leave the members of a group at slightly different distances from the rest.
        def apart(one: Sequence[int], other: Sequence[int]) -> Fraction | None:
            known = [d for d in (self.between(i, j) for i in one for j in other) if d is not None]
            return min(known, default=None)

        size = len(groups)
        return TableDistances(size, tuple(apart(groups[i], groups[j]) for i in range(size) for j in range(i + 1, size)))

    def _first_such(self, near: Callable[[Fraction | None], bool]) -> list[int]:
        """Group points along a chain of near ones, named by the first of each group."""
        first = list(range(self.size))
        for i in range(self.size):
            for j in range(i + 1, self.size):
                if first[i] != first[j] and near(self.between(i, j)):
                    low, high = sorted((first[i], first[j]))
                    first = [low if f == high else f for f in first]
        return first

    def to_json(self) -> dict[str, Any]:
        return {"shape": "table", "distances": ["inf" if v is None else str(v) for v in self.upper]}


def _above(matrix: NDArray[np.float64]) -> list[float]:
    rows, columns = np.triu_indices(len(matrix), 1)
    values: list[float] = matrix[rows, columns].tolist()
    return values
