"""Exact distances between the secrets of one channel, against which a certificate is proved.

Three shapes cover everything, and each needs only the necessary comparisons:

* ``uniform``: one distance for every pair; a column is private if its largest entry is, against its smallest;
* ``line``: coordinates; distances add up along the line, so neighbours suffice;
* ``table``: every pair on its own; ``None`` stands for an infinite distance, which guarantees nothing.

Anything else is rejected with a :class:`~noisewright.exceptions.MetricError` in the name of the metric. Points may be
values of someone's table. Therefore the message gives the position and the type of the point, never its value.
Coordinates are read twice: as floats, for a matrix of distances, and exactly, for the bounds that a certificate is
proved against.

>>> as_numbers([0, 0.5], "line")
(Fraction(0, 1), Fraction(1, 2))
>>> whole_vectors([(0, 0), (0.5, 1)], "euclidean")
([(0, 0), (1, 2)], 2)
>>> codes(["red", "blue", "red"]).tolist()
[0, 1, 0]
>>> as_numbers(["red"], "line")
Traceback (most recent call last):
    ...
noisewright.exceptions.MetricError: the line metric needs finite numbers; point 1 of 1, a thing of type str, is not one.

Distances are 0 or more, perhaps infinite; 0 from a point to itself; the same there and back; and never longer than a
detour, ``d(x, z) <= d(x, y) + d(y, z)``. The message names the axiom that is broken and the points.

>>> import numpy as np
>>> check_axioms(square_matrix([[0, 1], [1, 0]], "a table metric", "distances"), "ab", 0.0)
>>> check_axioms(np.array([[0, 1, 5], [1, 0, 1], [5, 1, 0]]), "abc", 0.0)
Traceback (most recent call last):
    ...
noisewright.exceptions.MetricError: the triangle inequality fails: 'a' to 'c' is 5, but by way of 'b' it is 2; ...
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_number
from noisewright.exceptions import MetricError
from noisewright.numerics.exact import as_fraction

__all__ = [
    "Distances",
    "LineDistances",
    "Point",
    "TableDistances",
    "UniformDistances",
    "as_numbers",
    "as_points",
    "as_sequences",
    "as_vectors",
    "check_axioms",
    "codes",
    "kind_of",
    "square_matrix",
    "table_tolerance",
    "which",
    "whole_vectors",
]


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


# Points -------------------------------------------------------------------------------------------------------------------
#
# Points as a metric reads them: numbers, vectors, sequences, or things that are only equal or different.


Point = Any
"""Input of a metric: a number, a coordinate tuple, a vector, a bag of words, a label."""


def as_points(points: Sequence[Point], name: str) -> Sequence[Point]:
    """The points, if they can be gone through at all."""
    if not isinstance(points, Iterable) or _is_scalar(points):
        raise MetricError(f"the {name} metric measures between a list of points, not {kind_of(points)}.")
    return points


def as_numbers(points: Sequence[Point], name: str) -> tuple[Fraction, ...]:
    """Points that are finite numbers, exactly."""
    points = list(as_points(points, name))
    for place, p in enumerate(points):
        if not is_number(p) or not _within_floats(p):
            raise MetricError(f"the {name} metric needs finite numbers; {which(points, place)} is not one.")
    return tuple(as_fraction(p) for p in points)


def as_vectors(points: Sequence[Point], name: str) -> NDArray[np.float64]:
    """Points that are number vectors of one length, a number counting as a vector of one; a row each."""
    try:
        given = [np.atleast_1d(np.asarray(p)) for p in as_points(points, name)]
        if any(v.dtype.kind not in "biufO" for v in given):
            raise TypeError
        vectors = np.array([v.astype(np.float64) for v in given], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise MetricError(f"the {name} metric needs points that are number vectors of one length.") from None
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise MetricError(f"the {name} metric needs points that are finite number vectors of one length.")
    return vectors


def whole_vectors(points: Sequence[Point], name: str) -> tuple[list[tuple[int, ...]], int]:
    """The exact coordinates of vectors as integers over one denominator."""
    as_vectors(points, name)
    rows = [(p,) if not isinstance(p, Iterable) or _is_scalar(p) else p for p in points]
    exact = [tuple(as_fraction(c) for c in row) for row in rows]
    over = math.lcm(*(c.denominator for row in exact for c in row))
    return [tuple(int(c * over) for c in row) for row in exact], over


def as_sequences(points: Sequence[Point], name: str, wanted: str) -> list[Iterable[Point]]:
    """Points that have members themselves; ``wanted`` says what of, for the message."""
    points = list(as_points(points, name))
    for place, p in enumerate(points):
        if not isinstance(p, Iterable) or _is_scalar(p):
            raise MetricError(f"the {name} metric needs {wanted}; {which(points, place)} is not.")
    return points


def codes(points: Sequence[Point]) -> NDArray[np.intp]:
    """Small integers that are equal exactly where the points are."""
    seen: dict[Point, int] = {}
    points = list(as_points(points, "discrete"))
    try:
        return np.array([seen.setdefault(p, len(seen)) for p in points], dtype=np.intp)
    except TypeError:
        seen = {}
        return np.array([seen.setdefault(repr(p), len(seen)) for p in points], dtype=np.intp)


def which(points: Sequence[Point], place: int) -> str:
    """A point for a message: where it stands and of what type it is, not its value, which may be data."""
    return f"point {place + 1} of {len(points)}, {kind_of(points[place])},"


def kind_of(thing: object) -> str:
    """The kind of a thing, for a message."""
    return "nothing (None)" if thing is None else f"a thing of type {type(thing).__name__}"


def _within_floats(number: float | Fraction) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _is_scalar(thing: object) -> bool:
    """Return whether this is a numpy array of no dimension, which claims to be iterable but cannot be iterated over."""
    return isinstance(thing, np.ndarray) and not thing.ndim


# Axioms -------------------------------------------------------------------------------------------------------------------
#
# The axioms of an extended pseudo-metric, checked on a matrix of distances.


LARGEST_TOLERANCE = 0.01
"""The largest relative slack in the axioms of a table: more would not be rounding."""


def check_axioms(matrix: Floats, points: Sequence[Point], tolerance: float) -> None:
    """Reject a square matrix that does not satisfy the axioms of a metric on these points; ``tolerance`` is relative,
    for symmetry and detours.
    """
    if len(points) != len(matrix):
        raise MetricError(f"{len(points)} points were named for a table metric of {len(matrix)}; name each once.")
    if np.isnan(matrix).any():
        i, j = np.argwhere(np.isnan(matrix))[0]
        raise MetricError(
            f"the distance from {points[i]!r} to {points[j]!r} is not a number; use inf for 'no promise'."
        )
    if (matrix < 0).any():
        i, j = np.argwhere(matrix < 0)[0]
        raise MetricError(f"the distance from {points[i]!r} to {points[j]!r} is negative; distances are 0 or more.")
    if np.diag(matrix).any():
        i = np.flatnonzero(np.diag(matrix))[0]
        raise MetricError(f"the distance from {points[i]!r} to itself is {matrix[i, i]:g}; it must be 0.")
    with np.errstate(invalid="ignore"):
        uneven = ~np.isclose(matrix, matrix.T, rtol=tolerance, atol=0.0)
    if uneven.any():
        i, j = np.argwhere(uneven)[0]
        raise MetricError(
            f"distances are not symmetric: {points[i]!r} to {points[j]!r} is {matrix[i, j]:g}, "
            f"but back it is {matrix[j, i]:g}."
        )
    for k in range(len(matrix)):
        with np.errstate(over="ignore"):
            detour = matrix[:, k, None] + matrix[None, k, :]
            broken = matrix > detour * (1 + tolerance)
        if broken.any():
            i, j = np.argwhere(broken)[0]
            raise MetricError(
                f"the triangle inequality fails: {points[i]!r} to {points[j]!r} is {matrix[i, j]:g}, but by way of "
                f"{points[k]!r} it is {detour[i, j]:g}; closure() gives the largest metric below these distances."
            )


def square_matrix(values: object, what: str, entries: str) -> Floats:
    """Return a square matrix of floats, as a copy; anything else is rejected in the name of ``what``."""
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO" or any(
            isinstance(v, (str, bytes)) for v in given.ravel() if given.dtype == object
        ):
            raise TypeError
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise MetricError(f"{what} needs a square matrix of {entries}, each a number or inf.") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise MetricError(f"{what} needs a square matrix of {entries}, not one of shape {matrix.shape}.")
    return matrix


def table_tolerance(tolerance: object) -> float:
    """Return the tolerance of a table: large enough for rounding, too small to hide distances that violate the
    axioms.
    """
    if not is_number(tolerance) or not 0 <= tolerance <= LARGEST_TOLERANCE:
        raise MetricError(f"the tolerance of a table metric must be a number from 0 to {LARGEST_TOLERANCE}.")
    return float(tolerance)
