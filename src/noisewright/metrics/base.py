"""Labels of secrets and outputs as plain JSON values, without loss.

Numbers, strings, booleans and ``None`` stand for themselves; tuples and fractions, which JSON does not have, are wrapped.

A metric here is an *extended pseudo-metric*: symmetric, zero from a point to itself, satisfying the triangle
inequality, with values in ``[0, inf]``. Two different points may be at distance 0 (they must then be treated alike) or
at distance ``inf`` (nothing is guaranteed for that pair).

>>> Line().distance(3, 5)
2.0
>>> (0.5 * Line() + Discrete()).distance(3, 5)
2.0
>>> Euclidean().matrix([(0, 0), (3, 4)]).tolist()
[[0.0, 5.0], [5.0, 0.0]]

Every metric also gives *exact lower bounds* of its distances (:meth:`Metric.exact`): a certificate is proved against
those, so that rounding in a square root can only cost accuracy, never privacy.

Metrics made of others are in :mod:`~noisewright.metrics.composite`; how points are read, in
:mod:`~noisewright.metrics.distances`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from noisewright._typing import Floats
from noisewright.exceptions import FileFormatError, MetricError, NoisewrightError, ParameterError
from noisewright.metrics.distances import (
    Distances,
    LineDistances,
    Point,
    TableDistances,
    UniformDistances,
    as_numbers,
    as_points,
    as_sequences,
    as_vectors,
    check_axioms,
    codes,
    kind_of,
    square_matrix,
    table_tolerance,
    which,
    whole_vectors,
)
from noisewright.numerics.exact import Exact, as_fraction, fraction_or_none

__all__ = [
    "MOST_LABELS",
    "Angular",
    "Discrete",
    "Euclidean",
    "Hamming",
    "Line",
    "Manhattan",
    "Metric",
    "Table",
    "as_labels",
    "as_metric",
    "at_most_largest",
    "decode_label",
    "encode_label",
    "encode_number",
    "labels_between",
    "metric_or_none",
    "named_metric",
    "plain_label",
]


MOST_LABELS = 10_000_000
"""A range or a count of labels stops here; no mechanism builds more in memory."""

LONGEST_NUMBER = 6_000
"""Numbers of more bits than this are not written: no reader should have to expand them."""


def as_labels(names: object, what: str, error: type[NoisewrightError] = ParameterError) -> tuple[Hashable, ...]:
    """Labels as a tuple; what cannot be one is refused with ``error``, in whose sentence ``what`` names the parameter."""
    try:
        labels = tuple(plain_label(name) for name in names)  # type: ignore[attr-defined]
    except TypeError:
        if isinstance(names, Iterable) and not (isinstance(names, np.ndarray) and names.ndim == 0):
            raise
        raise error(f"{what} must be a list of numbers, strings or tuples, not {type(names).__name__}.") from None
    try:
        hash(labels)
    except TypeError:
        raise error(f"{what} must be numbers, strings or tuples; a list cannot be a label.") from None
    for label in labels:
        problem = None if type(label) is int else _problem(label)
        if problem:
            raise error(f"{what} must be numbers, strings or tuples; {problem} cannot be a label.")
    return labels


def plain_label(label: Any) -> Any:
    """numpy scalars, also inside tuples, become the Python numbers they stand for: labels print and are written plainly."""
    if isinstance(label, tuple):
        return tuple(plain_label(part) for part in label)
    return label.item() if isinstance(label, np.generic) else label


def labels_between(text: str, name: str) -> range | None:
    """The integers that text such as ``0..120`` means, both ends included; None for other text.

    >>> labels_between("3..5", "points"), labels_between("a, b", "points")
    (range(3, 6), None)
    """
    ends = re.fullmatch(r"\s*(-?\d{1,18})\.\.(-?\d{1,18})\s*", text, re.ASCII)
    if ends is None:
        return None
    low, high = int(ends[1]), int(ends[2])
    if low > high or high - low >= MOST_LABELS:
        raise ParameterError(f"{name} = {text} must go from a low to a high number, over {MOST_LABELS} at most.")
    return range(low, high + 1)


def _problem(label: Hashable) -> str | None:
    """Why something cannot be a label, or None."""
    if isinstance(label, tuple):
        return next((problem for problem in map(_problem, label) if problem), None)
    if isinstance(label, str) and not _is_text(label):
        return "a string with half of a character (a lone surrogate)"
    return "NaN" if isinstance(label, float) and math.isnan(label) else None


def _is_text(text: str) -> bool:
    """Return whether a string can be written as UTF-8."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def encode_label(label: Hashable) -> Any:
    """A label as a JSON value."""
    if isinstance(label, tuple):
        return {"tuple": [encode_label(part) for part in label]}
    if isinstance(label, Fraction):
        if max(label.numerator.bit_length(), label.denominator.bit_length()) > LONGEST_NUMBER:
            raise ParameterError("a label that is a fraction of thousands of digits cannot be written to a file.")
        return {"fraction": str(label)}
    if isinstance(label, str) and not _is_text(label):
        raise ParameterError("a label with half of a character (a lone surrogate) cannot be written to a file.")
    if isinstance(label, int) and label.bit_length() > LONGEST_NUMBER:
        raise ParameterError("a label that is a whole number of thousands of digits cannot be written to a file.")
    if isinstance(label, float) and not math.isfinite(label):
        raise ParameterError("a label that is not a finite number cannot be written to a file.")
    if label is None or isinstance(label, (str, int, float, bool)):
        return label
    raise ParameterError(f"a label of type {type(label).__name__} cannot be written to a file; use numbers or strings.")


def encode_number(value: float) -> float | str:
    """A number as a JSON value: JSON has no infinity, which is written as text.

    >>> encode_number(0.5), encode_number(math.inf)
    (0.5, 'inf')
    """
    return value if math.isfinite(value) else "inf"


def decode_label(value: Any) -> Hashable:
    """The label that :func:`encode_label` wrote."""
    if isinstance(value, dict):
        if list(value) == ["tuple"] and isinstance(value["tuple"], list):
            return tuple(decode_label(part) for part in value["tuple"])
        if list(value) == ["fraction"]:
            number = fraction_or_none(value["fraction"])
            if number is None:
                raise FileFormatError("a label in this file is a fraction that cannot be read.")
            return number
        raise FileFormatError("a label in this file is neither a number, a string nor a tuple of those.")
    if isinstance(value, list):
        raise FileFormatError("a label in this file is a list; labels are numbers, strings or tuples.")
    if isinstance(value, float) and not math.isfinite(value):
        raise FileFormatError("a label in this file is NaN or infinite; labels are finite numbers, strings or tuples.")
    if isinstance(value, str) and not _is_text(value):
        raise FileFormatError(
            "a label in this file has half of a character (a lone surrogate); write it as whole text."
        )
    label: Hashable = value
    return label


# Metric -------------------------------------------------------------------------------------------------------------------
#
# Metrics: how far apart two secrets are, and so how different their outputs may look.


class Metric:
    """The common surface of all metrics. A new one gives ``name`` and ``matrix``; the rest follows."""

    name: str
    uniform: ClassVar[bool] = False
    """Whether every two different points are one unit apart."""
    finite: ClassVar[bool] = False
    """Whether no two points are infinitely far apart, so that a guarantee in this metric is one about every pair."""

    def matrix(self, points: Sequence[Point]) -> Floats:
        """All distances between ``points``, as a square array."""
        raise TypeError(f"{type(self).__name__} must define matrix(points).")

    def distance(self, x: Point, y: Point) -> float:
        """The distance between two points."""
        return float(self.matrix([x, y])[0, 1])

    def exact(self, points: Sequence[Point]) -> Distances:
        """Exact distances, or exact rational lower bounds where the distance itself is irrational."""
        return TableDistances.below(self.matrix(points))

    def diameter(self, points: Sequence[Point]) -> Fraction | None:
        """The largest distance between two of the points, where it is known exactly without all distances."""
        return None

    @property
    def largest(self) -> Fraction | None:
        """The largest distance between any two secrets, where that is public and they are not listed; None: no one
        says.
        """
        return None

    @property
    def unit(self) -> str:
        """The unit of distances in the singular, such as "metre"; empty where they are in the unit of the secrets themselves."""
        return ""

    @property
    def on_numbers(self) -> bool:
        """Return whether a distance is the difference of two numbers, whatever a guarantee scales and rounds."""
        return False

    @property
    def step(self) -> Fraction | None:
        """The step of the lattice that secrets are rounded to before they are compared; None where they are not."""
        return None

    def after_rounding(self, distance: Fraction, columns: int) -> Fraction:
        """Return an upper bound on the distance of two secrets after rounding, given their number of coordinates and
        their ``distance`` before it.

        >>> Discrete().after_rounding(Fraction(5), 1), (2 * Line()).after_rounding(Fraction(5), 1)
        (Fraction(1, 1), Fraction(10, 1))
        """
        return distance

    def unscaled(self) -> tuple[Metric, Fraction]:
        """The metric without its factors, and their product."""
        return self, Fraction(1)

    def record(self) -> dict[str, Any]:
        """Return the metric as a certificate states it: by its base and parameters, or only by its name.

        >>> (Line() * "1/5").record(), Angular().record()
        ({'base': 'line', 'factor': '1/5'}, {'called': 'angular'})
        """
        return {"called": self.name}

    @property
    def secret(self) -> Mapping[str, Any] | None:
        """The kind of its points, as a record of claims: a ``kind`` of the phrase table with parameters; None for any secrets."""
        return None

    def __mul__(self, factor: Exact) -> Metric:
        from noisewright.metrics.composite import Scaled

        return Scaled(self, as_fraction(factor, "a metric's factor"))

    __rmul__ = __mul__

    def __add__(self, other: Metric) -> Metric:
        from noisewright.metrics.composite import Sum

        return Sum((self, other))

    def __radd__(self, other: object) -> Metric:
        raise MetricError(f"a metric can be added to another metric only, not to {kind_of(other)}.")

    def __or__(self, other: Metric) -> Metric:
        """The pointwise maximum of two metrics."""
        from noisewright.metrics.composite import Maximum

        return Maximum((self, other))

    def __ror__(self, other: object) -> Metric:
        raise MetricError(f"a maximum is taken of metrics only, not of {kind_of(other)}.")

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Discrete(Metric):
    """``d(x, y) = 1`` for every two different points: the metric of ordinary (local) differential privacy."""

    name = "discrete"
    finite = True
    uniform = True

    def record(self) -> dict[str, Any]:
        return {"base": "discrete"}

    def diameter(self, points: Sequence[Point]) -> Fraction | None:
        return Fraction(1)

    def after_rounding(self, distance: Fraction, columns: int) -> Fraction:
        return Fraction(1)

    def matrix(self, points: Sequence[Point]) -> Floats:
        index = codes(points)
        return np.asarray(index[:, None] != index[None, :], dtype=np.float64)

    def exact(self, points: Sequence[Point]) -> Distances:
        if len(set(codes(points).tolist())) < len(points):
            return TableDistances.below(self.matrix(points))
        return UniformDistances(len(points), Fraction(1))


@dataclass(frozen=True)
class Line(Metric):
    """``d(x, y) = |x - y|`` on numbers, evenly spaced or not."""

    name = "line"
    finite = True

    def record(self) -> dict[str, Any]:
        return {"base": "line"}

    @property
    def on_numbers(self) -> bool:
        return True

    def diameter(self, points: Sequence[Point]) -> Fraction | None:
        places = [Fraction(p) for p in points]
        return max(places) - min(places)

    def matrix(self, points: Sequence[Point]) -> Floats:
        numbers = as_numbers(points, self.name)
        places = np.array([float(c) for c in numbers])
        if all(Fraction(p) == c for p, c in zip(places.tolist(), numbers, strict=True)):
            with np.errstate(over="ignore"):
                return at_most_largest(np.abs(places[:, None] - places[None, :]))
        # Numbers that floats only round (thirds, integers above 2^53): their differences are taken exactly.
        common = math.lcm(*(c.denominator for c in numbers))
        whole = np.array([int(c * common) for c in numbers], dtype=object)
        return np.asarray(np.abs(whole[:, None] - whole[None, :]) / common, dtype=np.float64)

    def places(self, points: Sequence[Point]) -> Floats:
        """The points as numbers."""
        return np.array([float(c) for c in as_numbers(points, self.name)])

    def exact(self, points: Sequence[Point]) -> Distances:
        return LineDistances(as_numbers(points, self.name))


@dataclass(frozen=True)
class Euclidean(Metric):
    """The straight-line distance between coordinate vectors."""

    name = "euclidean"
    finite = True

    def record(self) -> dict[str, Any]:
        return {"base": "euclidean"}

    def matrix(self, points: Sequence[Point]) -> Floats:
        from scipy.spatial.distance import cdist

        vectors = as_vectors(points, self.name)
        # Squares of very large or very small coordinates leave the range of floats: bring them back by a power of two.
        power = int(np.frexp(np.abs(vectors).max(initial=0.0))[1])
        power = power if abs(power) > 400 else 0
        with np.errstate(over="ignore"):
            shrunk = np.ldexp(vectors, -power)
            return at_most_largest(np.ldexp(cdist(shrunk, shrunk, "euclidean"), power))

    def exact(self, points: Sequence[Point]) -> Distances:
        vectors, over = whole_vectors(points, self.name)
        return TableDistances.of(
            vectors, lambda x, y: _root(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)), over)
        )


@dataclass(frozen=True)
class Manhattan(Metric):
    """The sum of coordinate differences; also the metric of one mechanism applied to every coordinate."""

    name = "manhattan"
    finite = True

    def record(self) -> dict[str, Any]:
        return {"base": "manhattan"}

    def matrix(self, points: Sequence[Point]) -> Floats:
        from scipy.spatial.distance import cdist

        vectors = as_vectors(points, self.name)
        return at_most_largest(cdist(vectors, vectors, "cityblock"))

    def exact(self, points: Sequence[Point]) -> Distances:
        vectors, over = whole_vectors(points, self.name)
        return TableDistances.of(
            vectors, lambda x, y: Fraction(sum(abs(a - b) for a, b in zip(x, y, strict=True)), over)
        )


@dataclass(frozen=True)
class Hamming(Metric):
    """The number of places in which two sequences of one length differ: records of a table, bits of a hash."""

    name = "hamming"
    finite = True

    def record(self) -> dict[str, Any]:
        return {"base": "hamming"}

    def matrix(self, points: Sequence[Point]) -> Floats:
        rows = [tuple(p) for p in as_sequences(points, self.name, "sequences of one length")]
        if len({len(row) for row in rows}) > 1:
            raise MetricError("the hamming metric needs sequences of one length; these have several lengths.")
        index = np.array([codes(column) for column in zip(*rows, strict=True)]).reshape(-1, len(rows)).T
        return np.asarray((index[:, None, :] != index[None, :, :]).sum(-1), dtype=np.float64)

    def exact(self, points: Sequence[Point]) -> Distances:
        return TableDistances.whole(self.matrix(points))


@dataclass(frozen=True)
class Angular(Metric):
    r"""The angle between two vectors over pi, in [0, 1]; lengths do not matter, zero vectors are refused."""

    name = "angular"
    finite = True

    def matrix(self, points: Sequence[Point]) -> Floats:
        from scipy.spatial.distance import cdist

        vectors = as_vectors(points, self.name)
        largest = np.abs(vectors).max(axis=1, initial=0.0)
        if np.any(largest == 0):
            raise MetricError(
                "the angular metric needs vectors that are not zero, for zero has no direction; leave it out."
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
        points = as_labels(self.points, "the points of a table metric", MetricError) or tuple(range(len(matrix)))
        check_axioms(matrix, points, table_tolerance(self.tolerance))
        matrix = np.minimum(matrix, matrix.T)
        matrix.flags.writeable = False
        object.__setattr__(self, "distances", matrix)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "_index", {point: i for i, point in enumerate(points)})
        if len(self._index) < len(points):  # type: ignore[attr-defined]
            raise MetricError("the points of a table metric must be different from each other.")

    def matrix(self, points: Sequence[Point]) -> Floats:
        index: dict[Point, int] = self._index  # type: ignore[attr-defined]
        points = [plain_label(p) for p in as_points(points, self.name)]
        try:
            missing = [place for place, p in enumerate(points) if p not in index]
        except TypeError:
            raise MetricError(
                "this table metric has points that are numbers, strings or tuples; a list is not one."
            ) from None
        if missing:
            known = ", ".join(repr(p) for p in self.points[:5]) + (", ..." if len(self.points) > 5 else "")
            raise MetricError(f"this table metric knows {known}; {which(points, missing[0])} is none of them.")
        rows = [index[p] for p in points]
        return np.asarray(self.distances[np.ix_(rows, rows)])

    def exact(self, points: Sequence[Point]) -> Distances:
        return TableDistances.given(self.matrix(points))


def as_metric(metric: object, default: Metric | None = None) -> Metric:
    """A metric, or the default for None; anything else is refused with what to write instead."""
    if isinstance(metric, Metric):
        return metric
    if metric is None and default is not None:
        return default
    raise MetricError(f"a metric must be an object such as Line() or Discrete(), not {kind_of(metric)}.")


def named_metric(name: str) -> Metric:
    """The metric of a plain name, perhaps scaled: ``"line"``, ``"discrete"``, ``"0.5 * euclidean"``."""
    if not isinstance(name, str):
        raise MetricError(f"the name of a metric is a string such as 'line', not {kind_of(name)}.")
    factor, base = _factor_and_base(name)
    if base not in _NAMED:
        raise MetricError(f"there is no metric called {base!r}; choose one of {', '.join(_NAMED)}.")
    return _NAMED[base] if not factor else _NAMED[base] * as_fraction(factor, "a metric's factor")


def metric_or_none(name: str) -> Metric | None:
    """The metric of a plain name, or None where that does not name one: for who asks rather than refuses.

    >>> str(metric_or_none("1/2 * line")), metric_or_none("metres around here")
    ('1/2 * line', None)
    """
    factor, base = _factor_and_base(name)
    scale = fraction_or_none(factor or 1)
    return None if base not in _NAMED or scale is None or scale <= 0 else named_metric(name)


def _factor_and_base(name: str) -> tuple[str, str]:
    factor, _, base = name.rpartition("*")
    return factor.strip(), base.strip()


_NAMED: dict[str, Metric] = {m.name: m for m in (Discrete(), Line(), Euclidean(), Manhattan(), Hamming(), Angular())}


def at_most_largest(distances: Floats) -> Floats:
    """Distances beyond the largest float count as that one: an infinite distance would guarantee nothing."""
    return np.asarray(np.minimum(distances, np.finfo(np.float64).max))


@lru_cache(maxsize=1 << 16)
def _root(square: int, over: int) -> Fraction:
    """``sqrt(square) / over``, exact where it is rational and rounded down at 80 bits where it is not."""
    root = math.isqrt(square)
    if root * root == square:
        return Fraction(root, over)
    shift = 80 + max(0, over.bit_length() - root.bit_length())
    return Fraction(math.isqrt(square << (2 * shift)), over << shift)
