"""Columns of coordinate vectors: one row a secret. A bad column is refused as a whole, without showing a coordinate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError

__all__ = ["Floats", "as_numbers", "as_single", "vectors"]


def as_numbers(values: Any) -> NDArray[Any]:
    """The values as an array; rows of different lengths give an empty one of objects, and a masked array is refused."""
    masked = np.ma.isMaskedArray(values) or (
        isinstance(values, (list, tuple)) and any(np.ma.isMaskedArray(row) for row in values)
    )
    if masked:
        raise DataError("a masked column has missing values; fill or drop them first.")
    try:
        return np.asarray(values)
    except (TypeError, ValueError):  # rows of different lengths
        return np.empty((0, 0), dtype=object)


def vectors(values: Any, dimension: int) -> tuple[Floats, bool]:
    """The coordinates as an array with ``dimension`` columns, and whether a single vector was given."""
    given = as_numbers(values)
    if given.shape in ((0,), (0, dimension)):
        return np.empty((0, dimension)), False
    single = given.shape == (dimension,)
    if not single and (given.ndim != 2 or given.shape[1] != dimension):
        raise DataError(
            f"the values must be rows of {dimension} coordinates each; give an array with {dimension} columns."
        )
    if given.dtype.kind not in "iuf":
        raise DataError("the coordinates are not numbers; convert the columns first.")
    # Wider numbers would be rounded to floats first, and rounding twice can move two points farther apart than one step.
    wide = given.dtype.kind in "iu" and max(abs(int(given.min())), abs(int(given.max()))) > 1 << 53
    if wide or given.dtype.itemsize > 8:
        raise DataError("the coordinates are wider than 64-bit floats or beyond 2^53; convert the columns first.")
    floats = given.astype(np.float64, copy=False).reshape(-1, dimension)
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(floats.sum())  # finite unless a coordinate is not, or the sum overflows: the cheap question first
    if not math.isfinite(total) and not np.isfinite(floats).all():
        raise DataError("a coordinate is missing or infinite; drop or repair such rows first.")
    return floats, single


def as_single(rows: NDArray[Any], single: bool) -> Any:
    """The rows, or the only one of them as a tuple."""
    return tuple(rows[0].tolist()) if single else rows
