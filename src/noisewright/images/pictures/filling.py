"""Holes in pictures, filled smoothly from the surrounding pixels alone.

The picture is halved again and again, each time with the mean of those pixels that are known, until nothing is
missing; on the way back, missing pixels are taken from the smaller picture. A filled hole reveals its position only.

>>> import numpy as np
>>> picture = np.full((5, 5, 1), 9, np.uint8)
>>> hole = np.zeros((5, 5), bool)
>>> hole[2, 2] = True
>>> picture[2, 2] = 200
>>> int(filled(picture, hole).max())
9
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.writing import as_pixels

__all__ = ["filled"]

NOTHING_KNOWN = 127


def filled(picture: Picture, hole: NDArray[np.bool_]) -> Picture:
    """The picture with the pixels of the hole made up from the others; grey where there are no others."""
    known = ~hole
    if not known.any():
        return np.full_like(picture, NOTHING_KNOWN)
    smooth = as_pixels(_smooth(np.where(hole[..., None], 0.0, picture), known.astype(np.float64)[..., None]))
    return np.where(hole[..., None], smooth, picture)


def _smooth(values: Floats, known: Floats) -> Floats:
    """Values of which some are known, with the others made up; ``values`` are zero where ``known`` is."""
    if known.all() or max(values.shape[:2]) == 1:
        return values
    weight = _halved(known)
    small = np.divide(
        _halved(values * known), weight, out=np.zeros((*weight.shape[:2], values.shape[2])), where=weight > 0
    )
    made = _doubled(_smooth(small, (weight > 0).astype(np.float64)), values.shape[:2])
    return np.asarray(np.where(known > 0, values, made))


def _halved(values: Floats) -> Floats:
    """The sums of squares of 2 x 2."""
    high, wide = values.shape[:2]
    even = np.pad(values, ((0, high % 2), (0, wide % 2), (0, 0)))
    return np.asarray(even[::2, ::2] + even[1::2, ::2] + even[::2, 1::2] + even[1::2, 1::2])


def _doubled(values: Floats, size: tuple[int, int]) -> Floats:
    """Twice as large, by linear interpolation."""
    for axis, length in enumerate(size):
        place = np.clip((np.arange(length) + 0.5) / 2 - 0.5, 0, values.shape[axis] - 1)
        low = place.astype(np.int64)
        high = np.minimum(low + 1, values.shape[axis] - 1)
        part = (place - low).reshape([-1 if axis == other else 1 for other in range(3)])
        values = (1 - part) * values.take(low, axis) + part * values.take(high, axis)
    return values
