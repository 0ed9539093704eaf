r"""The axioms of an extended pseudo-metric, checked on a matrix of distances.

Distances are 0 or more, perhaps infinite; 0 from a point to itself; the same there and back; and never longer than a
detour, ``d(x, z) <= d(x, y) + d(y, z)``. The message names the axiom that is broken and the points.

>>> import numpy as np
>>> check_axioms(square_matrix([[0, 1], [1, 0]], "a table metric", "distances"), "ab", 0.0)
>>> check_axioms(np.array([[0, 1, 5], [1, 0, 1], [5, 1, 0]]), "abc", 0.0)
Traceback (most recent call last):
    ...
noisewright.core.errors.MetricError: the triangle inequality fails: 'a' to 'c' is 5, but by way of 'b' it is 2; ...
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import MetricError
from noisewright.core.metrics._points import Point

__all__ = ["check_axioms", "square_matrix", "table_tolerance"]


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
