"""Names for the arrays that everybody passes around."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Indices", "Integers"]

Floats = NDArray[np.float64]
Integers = NDArray[np.object_]
"""Whole numbers of any size."""
Indices = NDArray[np.intp]
"""Places in another array."""
