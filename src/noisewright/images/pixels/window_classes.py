r"""Windows over a few levels by their levels: windows with the same levels, in any order, are one class.

The mean and the variance of a window depend on its class alone, and so is the best SSIM that any of its windows can
have with a given one: SSIM grows with the covariance, and that is greatest where both are in the same order. Therefore
a bound of the weights of a class is found from one window, and proposals need not be uniform.

>>> classes = WindowClasses.of(cells=4, levels=3)
>>> len(classes.counts), len(classes.codes), classes.codes[classes.starts[1] :][:4].tolist()
(15, 81, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats

__all__ = ["WindowClasses", "class_count", "every_window", "level_values"]


def level_values(levels: int) -> Floats:
    """The value of each level."""
    return np.rint(np.linspace(0, 255, levels))


def every_window(cells: int, levels: int) -> NDArray[np.uint8]:
    """All windows, as numbers of levels."""
    number = np.arange(levels**cells)
    return np.stack([(number // levels**place % levels).astype(np.uint8) for place in range(cells)], 1)


def class_count(cells: int, levels: int) -> int:
    """Return how many classes there are."""
    return math.comb(cells + levels - 1, cells)


@dataclass(frozen=True, eq=False)
class WindowClasses:
    """All windows, with windows of one class together; make it with :meth:`of`."""

    codes: NDArray[np.uint8]
    counts: NDArray[np.int64]
    """Number of windows in each class,"""
    starts: NDArray[np.int64]
    """and the place of its first."""
    sorted: Floats
    """The values of each class, the smallest first."""

    @classmethod
    @lru_cache(maxsize=4)
    def of(cls, cells: int, levels: int) -> WindowClasses:
        """The classes of windows with the given number of cells."""
        every = every_window(cells, levels)
        kinds, which, counts = np.unique(np.sort(every, 1), axis=0, return_inverse=True, return_counts=True)
        codes = every[np.argsort(which.reshape(-1), kind="stable")]
        return cls(codes, counts.astype(np.int64), np.cumsum(counts) - counts, level_values(levels)[kinds])
