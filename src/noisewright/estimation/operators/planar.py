r"""The planar geometric on a whole grid as an operator, by fast Fourier transforms: a million places without a matrix.

A place is moved by a lattice vector ``k`` with :math:`P(k) \propto e^{-\theta\|k\|}` and each coordinate is then
clamped to the grid. Outputs inside get a convolution. An output on a side also gets everything beyond it: a convolution
along the side, of half-line sums of the law; a corner gets quarter-plane sums. Therefore the whole law is there:
cutting it off at the border would bias every estimate near it.

>>> import numpy as np
>>> town = PlanarOperator(4, 3, rate=1.0)
>>> bool(np.allclose(town.forward(np.eye(12)), town.rows(np.arange(12)), atol=1e-15))
True

A transform is off by rounding in proportion to the largest numbers, not to each: :meth:`PlanarOperator.forward_error`
bounds it, and certificates count it in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.estimation.operators.inverses import DenseInverse, Inverse

__all__ = ["PlanarOperator"]


FARTHEST = 46.0
"""The law is summed as far as ``e^-46`` of its greatest weight, about 1e-20."""

LARGEST_SUM = 1 << 28
"""Lattice points of a quarter plane that are summed at most."""

LARGEST_INVERSE = 3000
"""Places of a grid that is inverted as a matrix."""

CHUNK = 1 << 22


class PlanarOperator:
    """``columns * height`` places, numbered ``i * height + j``; ``rate`` is theta, the loss for one step of the grid."""

    positive = False

    def __init__(self, columns: int, height: int, rate: float) -> None:
        from scipy import fft

        if columns < 2 or height < 2 or not rate > 0:
            raise ParameterError("a planar operator needs a grid of at least 2 by 2 places and a rate above 0.")
        self.columns, self.height, self.rate = columns, height, float(rate)
        reach = max(math.ceil(FARTHEST / self.rate) + 1, columns, height)
        if reach * reach > LARGEST_SUM:
            raise ParameterError(
                "this planar geometric moves places by thousands of steps; use a coarser grid or a larger epsilon."
            )
        self._plain, self._across, self._along, self._corner = _quarter(columns, height, self.rate, reach)
        self._wide = fft.next_fast_len(2 * columns - 1, real=True)
        self._tall = fft.next_fast_len(2 * height - 1, real=True)
        self._plain_f = fft.rfft2(_wrapped(_wrapped(self._plain, self._wide, 0), self._tall, 1))
        self._across_f = fft.rfft(_wrapped(self._across, self._tall, 1), axis=1)
        self._along_f = fft.rfft(_wrapped(self._along, self._wide, 0), axis=0)

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns * self.height, self.columns * self.height

    def forward(self, p: Floats) -> Floats:
        from scipy import fft

        grid = p.reshape(*p.shape[:-1], self.columns, self.height)
        found = self._convolved(grid)
        lines = fft.rfft(grid, self._tall, axis=-1)
        for side, seen in ((0, lines), (-1, lines[..., ::-1, :])):  # distances count from the side
            sums = fft.irfft((seen * self._across_f).sum(axis=-2), self._tall)
            found[..., side, :] = sums[..., : self.height]
        lines = fft.rfft(grid, self._wide, axis=-2)
        for side, seen in ((0, lines), (-1, lines[..., ::-1])):
            sums = fft.irfft((seen * self._along_f).sum(axis=-1), self._wide)
            found[..., side] = sums[..., : self.columns]
        for i, j, weights in self._corners():
            found[..., i, j] = (grid * weights).sum(axis=(-2, -1))
        return np.maximum(found, 0.0).reshape(p.shape)

    def backward(self, r: Floats) -> Floats:
        from scipy import fft

        grid = r.reshape(*r.shape[:-1], self.columns, self.height)
        inside = np.zeros_like(grid)
        inside[..., 1:-1, 1:-1] = grid[..., 1:-1, 1:-1]
        found = self._convolved(inside)
        for side in (0, -1):
            line = np.zeros_like(grid[..., 0, :])
            line[..., 1:-1] = grid[..., side, 1:-1]
            seen = fft.rfft(line, self._tall)[..., None, :] * self._across_f
            sums = fft.irfft(seen, self._tall)[..., : self.height]
            found += sums if side == 0 else sums[..., ::-1, :]
            line = np.zeros_like(grid[..., 0])
            line[..., 1:-1] = grid[..., 1:-1, side]
            seen = fft.rfft(line, self._wide)[..., :, None] * self._along_f
            sums = fft.irfft(seen, self._wide, axis=-2)[..., : self.columns, :]
            found += sums if side == 0 else sums[..., ::-1]
        for i, j, weights in self._corners():
            found += grid[..., i, j, None, None] * weights
        return np.maximum(found, 0.0).reshape(r.shape)

    def forward_error(self, p: Floats) -> float:
        """Return the error bound of each entry of ``forward(p)``: transforms keep the Euclidean norm up to rounding."""
        unit = 8 * 2.0**-53 * math.log2(self._wide * self._tall)
        spread = float(np.sqrt(4 * (self._plain**2).sum() + 4 * (self._across**2).sum() + 4 * (self._along**2).sum()))
        norms = float(np.sqrt((p * p).sum(axis=-1)).max()), float(np.abs(p).sum(axis=-1).max())
        return unit * (4 * norms[0] + norms[1] * min(spread, 1.0))

    def backward_error(self, r: Floats) -> float:
        """Return the error bound of each entry of ``backward(r)``."""
        return self.forward_error(r)

    def rows(self, secrets: NDArray[np.intp]) -> Floats:
        i, j = np.divmod(np.asarray(secrets), self.height)
        wide = np.abs(i[:, None] - np.arange(self.columns)[None, :])
        tall = np.abs(j[:, None] - np.arange(self.height)[None, :])
        found = self._plain[wide[:, :, None], tall[:, None, :]]
        for side in (0, -1):
            found[:, side, :] = self._across[wide[:, side, None], tall]
            found[:, :, side] = self._along[wide, tall[:, side, None]]
        for a in (0, -1):
            for b in (0, -1):
                found[:, a, b] = self._corner[wide[:, a], tall[:, b]]
        return np.asarray(found.reshape(len(found), -1))

    def inverse(self) -> Inverse:
        if self.columns * self.height > LARGEST_INVERSE:
            raise ParameterError(
                f"a planar mechanism is inverted as a matrix, on grids of at most {LARGEST_INVERSE} places; choose method='ibu'."
            )
        return DenseInverse(self.rows(np.arange(self.columns * self.height)))

    def _convolved(self, grid: Floats) -> Floats:
        from scipy import fft

        transformed = fft.rfft2(grid, (self._wide, self._tall)) * self._plain_f
        whole = fft.irfft2(transformed, (self._wide, self._tall))
        return np.array(whole[..., : self.columns, : self.height])

    def _corners(self) -> Iterator[tuple[int, int, Floats]]:
        yield 0, 0, self._corner
        yield -1, 0, self._corner[::-1]
        yield 0, -1, self._corner[:, ::-1]
        yield -1, -1, self._corner[::-1, ::-1]


def _quarter(columns: int, height: int, rate: float, reach: int) -> tuple[Floats, Floats, Floats, Floats]:
    """The law at ``(a, b)``, and its sums beyond ``a``, beyond ``b`` and beyond both, for offsets within the grid."""
    plain, along = np.empty((reach, height)), np.empty((reach, height))
    far = np.arange(reach, dtype=np.float64)
    step = max(1, CHUNK // reach)
    for start in range(0, reach, step):
        block = far[start : start + step, None]
        weights = np.exp(-rate * np.sqrt(block**2 + far[None, :] ** 2))
        plain[start : start + step] = weights[:, :height]
        along[start : start + step] = _beyond(weights, 1)[:, :height]
    across, corner = _beyond(plain, 0), _beyond(along, 0)
    total = 4 * corner[1, 1] + 2 * across[1, 0] + 2 * along[0, 1] + plain[0, 0]
    first, second, third, fourth = (np.ascontiguousarray(t[:columns] / total) for t in (plain, across, along, corner))
    return first, second, third, fourth


def _beyond(table: Floats, axis: int) -> Floats:
    """Return sums of the entries at a position or beyond it, smallest first."""
    return np.flip(np.cumsum(np.flip(table, axis), axis=axis), axis)


def _wrapped(table: Floats, size: int, axis: int) -> Floats:
    """A table of offsets 0, 1, 2, ... laid out for a cyclic convolution that is symmetric along an axis."""
    count = table.shape[axis]
    widths = [(0, 0)] * table.ndim
    widths[axis] = (0, size - (2 * count - 1))
    padded = np.pad(table, widths)
    mirrored = np.flip(np.take(table, range(1, count), axis=axis), axis)
    return np.concatenate([padded, mirrored], axis=axis)
