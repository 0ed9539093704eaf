"""Pictures as grids of blocks: their sums, which are integers, and back to pixels.

A picture whose sides are not a multiple of the block has smaller blocks at its right and lower edges. Sums need no
care there: a changed pixel changes one sum by as much as the pixel itself, whatever the size of its block.

>>> import numpy as np
>>> picture = np.arange(12, dtype=np.uint8).reshape(1, 3, 4, 1)
>>> grid = Blocks(height=3, width=4, size=2)
>>> grid.sums(picture)[0, :, :, 0].tolist(), grid.areas.tolist()
([[10, 18], [17, 21]], [[4, 4], [2, 2]])
>>> grid.painted(grid.sums(picture) / grid.areas[:, :, None])[0, :, :, 0].tolist()[0]
[2.5, 2.5, 4.5, 4.5]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.images.pictures.reading import Picture

__all__ = ["Blocks"]


@dataclass(frozen=True)
class Blocks:
    """The blocks of pictures of one size."""

    height: int
    width: int
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return how many rows and columns of blocks there are."""
        return -(-self.height // self.size), -(-self.width // self.size)

    @property
    def count(self) -> int:
        """Return how many blocks there are, in each channel."""
        return self.shape[0] * self.shape[1]

    @property
    def areas(self) -> NDArray[np.int64]:
        """Return how many pixels each block has."""
        high, wide = (
            np.minimum(self.size, side - self.size * np.arange(many))
            for side, many in zip((self.height, self.width), self.shape, strict=True)
        )
        return np.asarray(np.outer(high, wide), np.int64)

    def sums(self, pictures: Picture) -> NDArray[Any]:
        """The sum of every block as an integer, for pictures (pictures, rows, columns, channels)."""
        if self.size == 1:
            return pictures
        rows, columns = (np.arange(0, side, self.size) for side in (self.height, self.width))
        halfway = np.add.reduceat(pictures, rows, axis=1, dtype=np.uint32)  # long rows first: they are added up fastest
        return np.asarray(np.add.reduceat(halfway, columns, axis=2, dtype=np.int64))

    def painted(self, values: NDArray[Any]) -> NDArray[Any]:
        """Every block filled with its value."""
        if self.size == 1:
            return values
        tall = np.repeat(values, self.size, axis=1)[:, : self.height]
        return np.repeat(tall, self.size, axis=2)[:, :, : self.width]
