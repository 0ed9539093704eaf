r"""Points as a metric reads them: numbers, vectors, sequences, or things that are only equal or different.

Anything else is rejected with a :class:`~noisewright.core.errors.MetricError` in the name of the metric. Points may be
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
noisewright.core.errors.MetricError: the line metric needs finite numbers; point 1 of 1, a thing of type str, is not one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.choices import is_number
from noisewright.core.errors import MetricError
from noisewright.core.exact import as_fraction

__all__ = [
    "Point",
    "as_numbers",
    "as_points",
    "as_sequences",
    "as_vectors",
    "codes",
    "kind_of",
    "which",
    "whole_vectors",
]

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
