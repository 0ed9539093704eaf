r"""Metrics: how far apart two secrets are, and so how different their outputs may look.

A metric here is an *extended pseudo-metric*: symmetric, zero from a point to itself, satisfying the triangle
inequality, with values in ``[0, inf]``. Two different points may be at distance 0 (they must then be treated alike) or
at distance ``inf`` (nothing is promised for that pair).

>>> Line().distance(3, 5)
2.0
>>> (0.5 * Line() + Discrete()).distance(3, 5)
2.0
>>> Euclidean().matrix([(0, 0), (3, 4)]).tolist()
[[0.0, 5.0], [5.0, 0.0]]

Every metric also gives *exact lower bounds* of its distances (:meth:`Metric.exact`): a certificate is proved against
those, so that rounding in a square root can only cost accuracy, never privacy.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.distances import Distances, LineDistances, TableDistances, UniformDistances
from noisewright.core.errors import MetricError
from noisewright.core.exact import Exact, as_fraction, float_down
from noisewright.core.labels import as_labels, plain_label

__all__ = [
    "Angular",
    "Discrete",
    "EarthMovers",
    "Euclidean",
    "Hamming",
    "Line",
    "Manhattan",
    "Maximum",
    "Metric",
    "Product",
    "Scaled",
    "Sum",
    "Table",
    "as_metric",
    "named_metric",
]

Floats = NDArray[np.float64]
Point = Any
"""What a metric measures between: a number, a coordinate tuple, a vector, a bag of words, a label."""

LARGEST_TOLERANCE = 0.01
"""The largest relative slack in the axioms of a table: more would not be rounding."""


class Metric:
    """The common surface of all metrics. A new one gives ``name`` and ``matrix``; the rest follows."""

    name: str

    def matrix(self, points: Sequence[Point]) -> Floats:
        """All distances between ``points``, as a square array."""
        raise TypeError(f"{type(self).__name__} must define matrix(points).")

    def distance(self, x: Point, y: Point) -> float:
        """The distance between two points."""
        return float(self.matrix([x, y])[0, 1])

    def exact(self, points: Sequence[Point]) -> Distances:
        """Exact distances, or exact rational lower bounds where the distance itself is irrational."""
        return TableDistances.below(self.matrix(points))

    def __mul__(self, factor: Exact) -> Metric:
        return Scaled(self, as_fraction(factor, "a metric's factor"))

    __rmul__ = __mul__

    def __add__(self, other: Metric) -> Metric:
        return Sum((self, other))

    def __radd__(self, other: object) -> Metric:
        raise MetricError(f"a metric can be added to another metric only, not to {_article(other)}.")

    def __or__(self, other: Metric) -> Metric:
        """The pointwise maximum of two metrics."""
        return Maximum((self, other))

    def __ror__(self, other: object) -> Metric:
        raise MetricError(f"a maximum is taken of metrics only, not of {_article(other)}.")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Discrete(Metric):
    """``d(x, y) = 1`` for every two different points: the metric of ordinary (local) differential privacy."""

    name = "discrete"

    def matrix(self, points: Sequence[Point]) -> Floats:
        index = _codes(points)
        return np.asarray(index[:, None] != index[None, :], dtype=np.float64)

    def exact(self, points: Sequence[Point]) -> Distances:
        if len(set(_codes(points).tolist())) < len(points):
            return TableDistances.below(self.matrix(points))
        return UniformDistances(len(points), Fraction(1))


@dataclass(frozen=True)
class Line(Metric):
    """``d(x, y) = |x - y|`` on numbers, evenly spaced or not."""

    name = "line"

    def matrix(self, points: Sequence[Point]) -> Floats:
        numbers = _numbers(points, self.name)
        places = np.array([float(c) for c in numbers])
        if all(Fraction(p) == c for p, c in zip(places.tolist(), numbers, strict=True)):
            with np.errstate(over="ignore"):
                return _at_most_largest(np.abs(places[:, None] - places[None, :]))
        # Numbers that floats only round (thirds, integers above 2^53): their differences are taken exactly.
        common = math.lcm(*(c.denominator for c in numbers))
        whole = np.array([int(c * common) for c in numbers], dtype=object)
        return np.asarray(np.abs(whole[:, None] - whole[None, :]) / common, dtype=np.float64)

    def places(self, points: Sequence[Point]) -> Floats:
        """The points as numbers."""
        return np.array([float(c) for c in _numbers(points, self.name)])

    def exact(self, points: Sequence[Point]) -> Distances:
        return LineDistances(_numbers(points, self.name))


@dataclass(frozen=True)
class Euclidean(Metric):
    """The straight-line distance between coordinate vectors."""

    name = "euclidean"

    def matrix(self, points: Sequence[Point]) -> Floats:
        from scipy.spatial.distance import cdist

        vectors = _vectors(points, self.name)
        # Squares of very large or very small coordinates leave the range of floats: bring them back by a power of two.
        power = int(np.frexp(np.abs(vectors).max(initial=0.0))[1])
        power = power if abs(power) > 400 else 0
        with np.errstate(over="ignore"):
            shrunk = np.ldexp(vectors, -power)
            return _at_most_largest(np.ldexp(cdist(shrunk, shrunk, "euclidean"), power))

    def exact(self, points: Sequence[Point]) -> Distances:
        vectors, over = _whole_vectors(points, self.name)
        return TableDistances.of(
            vectors, lambda x, y: _root(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)), over)
        )


@dataclass(frozen=True)
class Manhattan(Metric):
    """The sum of coordinate differences; also the metric of one mechanism applied to every coordinate."""

    name = "manhattan"

    def matrix(self, points: Sequence[Point]) -> Floats:
        from scipy.spatial.distance import cdist

        vectors = _vectors(points, self.name)
        return _at_most_largest(cdist(vectors, vectors, "cityblock"))

    def exact(self, points: Sequence[Point]) -> Distances:
        vectors, over = _whole_vectors(points, self.name)
        return TableDistances.of(
            vectors, lambda x, y: Fraction(sum(abs(a - b) for a, b in zip(x, y, strict=True)), over)
        )


@dataclass(frozen=True)
class Hamming(Metric):
    """The number of places in which two sequences of one length differ: records of a table, bits of a hash."""

    name = "hamming"

    def matrix(self, points: Sequence[Point]) -> Floats:
        rows = [tuple(p) for p in _listed(points, self.name, "sequences of one length")]
        if len({len(row) for row in rows}) > 1:
            raise MetricError("the hamming metric needs sequences of one length; these have several lengths.")
        codes = np.array([_codes(column) for column in zip(*rows, strict=True)]).reshape(-1, len(rows)).T
        return np.asarray((codes[:, None, :] != codes[None, :, :]).sum(-1), dtype=np.float64)

    def exact(self, points: Sequence[Point]) -> Distances:
        return TableDistances.whole(self.matrix(points))


@dataclass(frozen=True)
class Angular(Metric):
    r"""The angle between two vectors over pi, in [0, 1]; lengths do not matter, zero vectors are refused."""

    name = "angular"

    def matrix(self, points: Sequence[Point]) -> Floats:
        from scipy.spatial.distance import cdist

        vectors = _vectors(points, self.name)
        largest = np.abs(vectors).max(axis=1, initial=0.0)
        if np.any(largest == 0):
            raise MetricError(
                f"the angular metric needs vectors that are not zero; point {_first(largest == 0)} is zero."
            )
        shrunk = np.ldexp(vectors, -np.frexp(largest)[1][:, None])  # so that squares stay within the range of floats
        unit = shrunk / np.linalg.norm(shrunk, axis=1)[:, None]
        # Kahan's formula: accurate for small and for nearly opposite angles, where arccos of a product is not.
        apart, along = cdist(unit, unit), cdist(unit, -unit)
        angles = 2 * np.arctan2(apart, along) / np.pi
        same = (vectors[:, None, :] == vectors[None, :, :]).all(-1)
        return np.asarray(np.where(same, 0.0, angles))

    def exact(self, points: Sequence[Point]) -> Distances:
        # Rounding unit vectors moves an angle by a few units of 2**-53, absolutely: subtract that before rounding down.
        return TableDistances.below(np.maximum(self.matrix(points) - 2.0**-48, 0.0))


@dataclass(frozen=True)
class EarthMovers(Metric):
    """The least mean distance of a matching between two bags of one size, over a ground metric on their members."""

    ground: Metric = Euclidean()

    def __post_init__(self) -> None:
        as_metric(self.ground)

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"earth-movers({self.ground})"

    def matrix(self, points: Sequence[Point]) -> Floats:
        from scipy.optimize import linear_sum_assignment

        bags = [list(bag) for bag in _listed(points, self.name, "bags, each a sequence of members")]
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


@dataclass(frozen=True, eq=False)
class Table(Metric):
    """Any extended pseudo-metric on finitely many points, given as a square matrix.

    The axioms are checked; an error names the one that is broken and the points. ``tolerance`` is the relative slack
    allowed in symmetry and in the triangle inequality, for distances that were themselves computed in floats.
    """

    distances: Floats
    points: tuple[Point, ...] = ()
    name: str = "table"
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        matrix = square_matrix(self.distances, "a table metric", "distances")
        points = _table_points(self.points) or tuple(range(len(matrix)))
        check_axioms(matrix, points, _slack(self.tolerance))
        matrix = np.minimum(matrix, matrix.T)
        matrix.flags.writeable = False
        object.__setattr__(self, "distances", matrix)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "_index", {point: i for i, point in enumerate(points)})
        if len(self._index) < len(points):  # type: ignore[attr-defined]
            raise MetricError("the points of a table metric must be different from each other.")

    def matrix(self, points: Sequence[Point]) -> Floats:
        index: dict[Point, int] = self._index  # type: ignore[attr-defined]
        points = [plain_label(p) for p in _iterable(points, self.name)]
        try:
            missing = [p for p in points if p not in index]
        except TypeError:
            raise MetricError(
                "this table metric has points that are numbers, strings or tuples; a list is not one."
            ) from None
        if missing:
            known = ", ".join(repr(p) for p in self.points[:5]) + (", ..." if len(self.points) > 5 else "")
            raise MetricError(f"this table metric has no point {missing[0]!r}; it knows {known}.")
        rows = [index[p] for p in points]
        return np.asarray(self.distances[np.ix_(rows, rows)])

    def exact(self, points: Sequence[Point]) -> Distances:
        return TableDistances.given(self.matrix(points))


@dataclass(frozen=True)
class Scaled(Metric):
    """A metric times a positive number: ``Scaled(d, 2)`` promises twice as much loss at the same epsilon."""

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
        short = self.factor.denominator < 10**6 and self.factor < 10**300
        exact = str(self.factor) if short else repr(float_down(self.factor))
        return f"{exact} * {self.inner}"

    def matrix(self, points: Sequence[Point]) -> Floats:
        inner = self.inner.matrix(points)
        factor = float_down(self.factor)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(np.isinf(inner), np.inf, _at_most_largest(inner * factor))

    def exact(self, points: Sequence[Point]) -> Distances:
        return self.inner.exact(points).scaled(self.factor)


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
        rows = [tuple(p) for p in _listed(points, self.name, f"tuples of {len(self.parts)} values")]
        if any(len(row) != len(self.parts) for row in rows):
            raise MetricError(f"the {self.name} metric needs tuples of {len(self.parts)} values.")
        return list(zip(*rows, strict=True))

    def matrix(self, points: Sequence[Point]) -> Floats:
        parts = [part.matrix(place) for part, place in zip(self.parts, self._places(points), strict=True)]
        return _summed(parts) if self.combine == "sum" else np.asarray(np.max(parts, axis=0))

    def exact(self, points: Sequence[Point]) -> Distances:
        parts = [part.exact(place) for part, place in zip(self.parts, self._places(points), strict=True)]
        return TableDistances.combine(parts, sum if self.combine == "sum" else max)


def as_metric(metric: object, default: Metric | None = None) -> Metric:
    """A metric, or the default for None; anything else is refused with what to write instead."""
    if isinstance(metric, Metric):
        return metric
    if metric is None and default is not None:
        return default
    raise MetricError(f"a metric must be an object such as Line() or Discrete(), not {_article(metric)}.")


def named_metric(name: str) -> Metric:
    """The metric of a plain name, perhaps scaled: ``"line"``, ``"discrete"``, ``"0.5 * euclidean"``."""
    if not isinstance(name, str):
        raise MetricError(f"the name of a metric is a string such as 'line', not {_article(name)}.")
    factor, _, base = name.rpartition("*")
    simple = {m.name: m for m in (Discrete(), Line(), Euclidean(), Manhattan(), Hamming(), Angular())}
    metric = simple.get(base.strip())
    if metric is None:
        raise MetricError(f"there is no metric called {base.strip()!r}; choose one of {', '.join(simple)}.")
    return metric if not factor.strip() else metric * as_fraction(factor.strip(), "a metric's factor")


def square_matrix(values: object, what: str, entries: str) -> Floats:
    """A square matrix of floats, as a copy; what is none is refused in the name of ``what``."""
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


def check_axioms(matrix: Floats, points: Sequence[Point], tolerance: float) -> None:
    """Raise a :class:`MetricError` that names the broken axiom and the points, or return nothing."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise MetricError(f"a table metric needs a square matrix of distances, not one of shape {matrix.shape}.")
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
        i = _first(np.diag(matrix) != 0)
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


def _numbers(points: Sequence[Point], name: str) -> tuple[Fraction, ...]:
    for p in _iterable(points, name):
        if isinstance(p, bool) or not isinstance(p, (numbers.Real, Fraction)) or not _within_floats(p):
            raise MetricError(f"the {name} metric needs finite numbers as points; {str(p)[:40]!r} is not one.")
    return tuple(as_fraction(p) for p in points)


def _within_floats(number: numbers.Real | Fraction) -> bool:
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


def _at_most_largest(distances: Floats) -> Floats:
    """Distances beyond the largest float count as that one: an infinite distance would promise nothing."""
    return np.asarray(np.minimum(distances, np.finfo(np.float64).max))


def _summed(parts: Sequence[Floats]) -> Floats:
    """The sum of distances; infinite only where one of them is."""
    with np.errstate(over="ignore"):
        total = np.sum(parts, axis=0)
    return np.where(np.isinf(parts).any(axis=0), np.inf, _at_most_largest(total))


def _vectors(points: Sequence[Point], name: str) -> Floats:
    try:
        given = [np.atleast_1d(np.asarray(p)) for p in _iterable(points, name)]
        if any(v.dtype.kind not in "biufO" for v in given):
            raise TypeError
        vectors = np.array([v.astype(np.float64) for v in given], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise MetricError(f"the {name} metric needs points that are number vectors of one length.") from None
    if vectors.ndim != 2 or not np.isfinite(vectors).all():
        raise MetricError(f"the {name} metric needs points that are finite number vectors of one length.")
    return vectors


def _exact_vectors(points: Sequence[Point], name: str) -> list[tuple[Fraction, ...]]:
    _vectors(points, name)
    rows = [(p,) if not isinstance(p, Iterable) or _is_scalar(p) else p for p in points]
    return [tuple(as_fraction(c) for c in row) for row in rows]


def _whole_vectors(points: Sequence[Point], name: str) -> tuple[list[tuple[int, ...]], int]:
    """The exact coordinates as whole numbers over one denominator."""
    exact = _exact_vectors(points, name)
    over = math.lcm(*(c.denominator for row in exact for c in row))
    return [tuple(int(c * over) for c in row) for row in exact], over


@lru_cache(maxsize=1 << 16)
def _root(square: int, over: int) -> Fraction:
    """``sqrt(square) / over``, exact where it is rational and rounded down at 80 bits where it is not."""
    root = math.isqrt(square)
    if root * root == square:
        return Fraction(root, over)
    shift = 80 + max(0, over.bit_length() - root.bit_length())
    return Fraction(math.isqrt(square << (2 * shift)), over << shift)


def _codes(points: Sequence[Point]) -> NDArray[np.intp]:
    """Small integers that are equal exactly where the points are."""
    seen: dict[Point, int] = {}
    points = list(_iterable(points, "discrete"))
    try:
        return np.array([seen.setdefault(p, len(seen)) for p in points], dtype=np.intp)
    except TypeError:
        seen = {}
        return np.array([seen.setdefault(repr(p), len(seen)) for p in points], dtype=np.intp)


def _listed(points: Sequence[Point], name: str, wanted: str) -> list[Iterable[Point]]:
    for p in _iterable(points, name):
        if not isinstance(p, Iterable) or _is_scalar(p):
            raise MetricError(f"the {name} metric needs {wanted}; {p!r} is not.")
    return list(points)


def _is_scalar(thing: object) -> bool:
    """Whether this is a numpy array of no dimension, which says that it can be iterated over but cannot."""
    return isinstance(thing, np.ndarray) and not thing.ndim


def _iterable(points: Sequence[Point], name: str) -> Sequence[Point]:
    if not isinstance(points, Iterable) or _is_scalar(points):
        raise MetricError(f"the {name} metric measures between a list of points, not {_article(points)}.")
    return points


def _parts(parts: object, what: str) -> tuple[Metric, ...]:
    """The metrics that another one is made of."""
    if isinstance(parts, Metric) or not isinstance(parts, Iterable):
        raise MetricError(
            f"{what} of metrics needs a tuple of metrics such as (Line(), Line()), not {_article(parts)}."
        )
    found = tuple(as_metric(part) for part in parts)
    if not found:
        raise MetricError(f"{what} of metrics needs at least one metric.")
    return found


def _table_points(points: object) -> tuple[Point, ...]:
    return as_labels(points, "the points of a table metric", MetricError)


def _slack(tolerance: object) -> float:
    """The tolerance of a table: large enough for rounding, too small to hide distances that are no metric."""
    number = isinstance(tolerance, (int, float, np.number, Fraction)) and not isinstance(tolerance, bool)
    if not number or not 0 <= float(tolerance) <= LARGEST_TOLERANCE:  # type: ignore[arg-type]
        raise MetricError(f"the tolerance of a table metric must be a number from 0 to {LARGEST_TOLERANCE}.")
    return float(tolerance)  # type: ignore[arg-type]


def _article(thing: object) -> str:
    """The kind of a thing, for a message."""
    return "nothing (None)" if thing is None else f"a thing of type {type(thing).__name__}"


def _first(mask: NDArray[np.bool_]) -> int:
    return int(np.argmax(mask))
