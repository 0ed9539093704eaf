"""Windows of p x p cells: the part of a grid that whole windows cover, and the remainder at its right and lower edges.

>>> import numpy as np
>>> grid = Windows(rows=3, columns=5, size=2)
>>> grid.count, grid.left_over
(2, 7)
>>> cells = np.arange(15).reshape(3, 5, 1)
>>> grid.cut(cells).tolist()
[[0, 1, 5, 6], [2, 3, 7, 8]]
>>> bool((grid.put(np.zeros_like(cells), grid.cut(cells))[:2, :4] == cells[:2, :4]).all())
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Windows"]


@dataclass(frozen=True)
class Windows:
    """Windows side by side on a grid of cells; each channel has its own."""

    rows: int
    columns: int
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many rows and columns of windows there are."""
        return self.rows // self.size, self.columns // self.size

    @property
    def count(self) -> int:
        """Return how many windows there are, in each channel."""
        return self.shape[0] * self.shape[1]

    @property
    def left_over(self) -> int:
        """Return how many cells no window covers, in each channel."""
        return self.rows * self.columns - self.count * self.size**2

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Mask of the cells that are in a window."""
        found = np.zeros((self.rows, self.columns), np.bool_)
        found[: self.shape[0] * self.size, : self.shape[1] * self.size] = True
        return found

    def cut(self, cells: NDArray[Any]) -> NDArray[Any]:
        """The windows of cells (rows, columns, channels), one in each row, channel after channel."""
        (high, wide), p = self.shape, self.size
        inside = cells[: high * p, : wide * p].reshape(high, p, wide, p, cells.shape[2])
        return inside.transpose(4, 0, 2, 1, 3).reshape(-1, p * p)

    def put(self, cells: NDArray[Any], windows: NDArray[Any]) -> NDArray[Any]:
        """The cells with these windows in their places."""
        (high, wide), p = self.shape, self.size
        result, channels = cells.copy(), cells.shape[2]
        laid = windows.reshape(channels, high, wide, p, p).transpose(1, 3, 2, 4, 0)
        result[: high * p, : wide * p] = laid.reshape(high * p, wide * p, channels)
        return result
