"""Records for training: numbers, categories and private classes, of one table or of several tables of one length."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.learned.training._torch import Tensor, torch

__all__ = ["Records"]


@dataclass(frozen=True)
class Records:
    """``numeric`` (tables, rows, columns), ``codes`` of categorical columns and ``truth``, the classes of private variables,
    likewise; ``source`` has the table that each point of the curve learns from."""

    numeric: Tensor
    codes: Tensor
    truth: Tensor
    categories: tuple[int, ...]
    classes: tuple[int, ...]
    source: Tensor

    @classmethod
    def of(
        cls,
        numeric: NDArray[Any],
        codes: NDArray[Any],
        truth: NDArray[Any],
        *,
        categories: tuple[int, ...],
        classes: tuple[int, ...],
        points: int = 1,
        source: NDArray[Any] | None = None,
        dtype: Any = None,
    ) -> Records:
        """Records from arrays (rows, columns), or (tables, rows, columns) with ``source``."""
        three = [array[None] if array.ndim == 2 else array for array in (numeric, codes, truth)]
        which = np.zeros(points, np.int64) if source is None else source
        return cls(
            torch.as_tensor(np.array(three[0]), dtype=dtype or torch.float32),
            torch.as_tensor(np.array(three[1]), dtype=torch.int64),
            torch.as_tensor(np.array(three[2]), dtype=torch.int64),
            categories,
            classes,
            torch.as_tensor(which, dtype=torch.int64),
        )

    def __len__(self) -> int:
        return int(self.truth.shape[1])

    @property
    def points(self) -> int:
        """Return how many points of a curve."""
        return len(self.source)

    def take(self, rows: Tensor) -> Records:
        """These rows of every table."""
        return replace(self, **{name: getattr(self, name)[:, rows] for name in ("numeric", "codes", "truth")})

    def by_point(self, tensor: Tensor) -> Tensor:
        """A tensor with an axis of tables as one with an axis of points."""
        if len(tensor) == 1:
            return tensor.expand(self.points, *tensor.shape[1:])
        return tensor.index_select(0, self.source)

    def hot_truth(self) -> Tensor:
        """The classes of all private variables as zeros and ones (tables, rows, all classes)."""
        return hot(self.truth, self.classes, self.numeric.dtype)

    def hot_codes(self) -> Tensor:
        """The categories likewise."""
        return hot(self.codes, self.categories, self.numeric.dtype)

    def class_shares(self) -> list[Tensor]:
        """Return how often each class is there (points, classes), for each private variable."""
        parts = self.hot_truth().to(torch.float64).mean(dim=1).split(self.classes, dim=1)
        return [self.by_point(part).to(self.numeric.dtype) for part in parts]


def hot(codes: Tensor, sizes: tuple[int, ...], dtype: Any) -> Tensor:
    """Columns of codes as zeros and ones, side by side."""
    parts = [torch.nn.functional.one_hot(codes[..., place], size) for place, size in enumerate(sizes)]
    return torch.cat(parts, dim=-1).to(dtype) if parts else torch.zeros(*codes.shape[:-1], 0, dtype=dtype)
