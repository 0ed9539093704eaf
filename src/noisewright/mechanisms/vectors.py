"""Columns of coordinate vectors: one row a secret. A bad column is refused as a whole, without showing a coordinate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError

__all__ = ["Floats", "as_single", "vectors"]

Floats = NDArray[np.float64]


def vectors(values: Any, dimension: int) -> tuple[Floats, bool]:
    """The coordinates as an array with ``dimension`` columns, and whether a single vector was given."""
    try:
        given = np.asarray(values)
    except ValueError:  # rows of different lengths
        given = np.empty((0, 0), dtype=object)
    if given.shape in ((0,), (0, dimension)):
        return np.empty((0, dimension)), False
    single = given.shape == (dimension,)
    if not single and (given.ndim != 2 or given.shape[1] != dimension):
        raise DataError(
            f"the values must be rows of {dimension} coordinates each; give an array with {dimension} columns."
        )
    if given.dtype.kind not in "iuf":
        raise DataError("the coordinates are not numbers; convert the columns first.")
    floats = given.astype(np.float64, copy=False).reshape(-1, dimension)
    if not np.isfinite(floats).all():
        raise DataError("a coordinate is missing or infinite; drop or repair such rows first.")
    return floats, single


def as_single(rows: NDArray[Any], single: bool) -> Any:
    """The rows, or the only one of them as a tuple."""
    return tuple(rows[0].tolist()) if single else rows
