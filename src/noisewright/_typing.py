"""Names for the arrays that everyone passes around."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Indices", "Integers"]


Floats = NDArray[np.float64]
Integers = NDArray[np.object_]
"""Integers of any size."""
Indices = NDArray[np.intp]
"""Places in another array."""
