r"""Undoing a mechanism: ``W`` with ``M W = 1``, so that ``q W`` is an unbiased estimate of the population.

For a square matrix ``W`` is its inverse. With more outputs than secrets there are many; the one used here is the
least-squares one weighted by the outputs' mean probabilities. With fewer outputs, or rows that depend on each other, no
inverse exists, and the reports do not determine the population.

Several mechanisms in one data set leave one more choice (:class:`StackedInverse`): the weight of a report may be moved
by a constant for each mechanism, if these constants cancel out over all reports. That changes no estimate, only its
apparent variance.

>>> import numpy as np
>>> DenseInverse(np.array([[2, 1], [1, 2]]) / 3).left(np.array([0.9, 0.1])).round(12).tolist()
[1.7, -0.7]

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
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.exceptions import ParameterError

__all__ = [
    "Alone",
    "DenseInverse",
    "GeometricInverse",
    "Inverse",
    "PlanarOperator",
    "ProductInverse",
    "ResponseInverse",
    "StackedInverse",
]


WORST_CONDITION = 1e12
"""Beyond this an inverse of floats is noise: the matrix counts as singular."""

SINGULAR = (
    "this mechanism cannot be inverted: some populations give the same reports (epsilon is 0 or nearly so, or there are fewer "
    "outputs than secrets); choose a larger epsilon, or method='mle' for one of the populations that fit best."
)


class Inverse(Protocol):
    """A right inverse ``W`` of a mechanism's matrix, seen through its products."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of outputs, number of secrets."""

    def left(self, q: Floats) -> Floats:
        """``q W``: the estimate of the population from shares of outputs."""

    def right(self, w: Floats) -> Floats:
        """``W w``: what each output must count for, so that the mean over reports estimates ``sum_x p_x w_x``."""

    def squares(self, q: Floats) -> Floats:
        """``sum_j q_j W_ji^2`` for every secret ``i``, after ``W`` was :meth:`centred`."""

    def centred(self, worth: Floats, q: Floats) -> Floats:
        """Return the weights of outputs, one row for each, moved so that the reports of every mechanism have the same
        mean.
        """

    def extremes(self, q: Floats | None = None) -> tuple[Floats, Floats]:
        """The least and the most that one report counts for each secret, ``min_j W_ji`` and ``max_j W_ji``; with the shares ``q``
        of outputs, after ``W`` was :meth:`centred`."""

    @property
    def amplification(self) -> float:
        r""":math:`\|W\|_\infty`: how much an error of the shares may grow, in the L1 norm."""


class Alone:
    """The inverse of one mechanism, whose reports have one mean."""

    def centred(self, worth: Floats, q: Floats) -> Floats:
        return worth


class DenseInverse(Alone):
    """The inverse of any matrix of full row rank."""

    def __init__(self, matrix: Floats) -> None:
        from scipy.linalg import svd

        n, m = matrix.shape
        if m < n:
            raise ParameterError(SINGULAR)
        used = matrix.sum(axis=0) > 0
        scaled = matrix[:, used] / np.sqrt(matrix[:, used].mean(axis=0))
        left, sizes, right = svd(scaled, full_matrices=False, check_finite=False)
        if sizes.shape[0] < n or sizes[-1] * WORST_CONDITION < sizes[0]:
            raise ParameterError(SINGULAR)
        self.matrix = np.zeros((m, n))
        self.matrix[used] = ((right.T / sizes) @ left.T) / np.sqrt(matrix[:, used].mean(axis=0))[:, None]

    @property
    def shape(self) -> tuple[int, int]:
        outputs, secrets = self.matrix.shape
        return outputs, secrets

    def left(self, q: Floats) -> Floats:
        return np.asarray(q @ self.matrix)

    def right(self, w: Floats) -> Floats:
        return np.asarray(w @ self.matrix.T)

    def squares(self, q: Floats) -> Floats:
        return np.asarray(q @ self.matrix**2)

    def extremes(self, q: Floats | None = None) -> tuple[Floats, Floats]:
        return self.matrix.min(axis=0), self.matrix.max(axis=0)

    @property
    def amplification(self) -> float:
        return float(np.abs(self.matrix).sum(axis=1).max())


class StackedInverse(DenseInverse):
    """The inverse of several mechanisms in one data set; ``cuts`` are the places where the outputs of another one begin.

    The number of reports of each of them is known, so only the variation among the reports of one mechanism makes the
    estimate vary.
    """

    def __init__(self, matrix: Floats, cuts: Sequence[int]) -> None:
        super().__init__(matrix)
        ends = [0, *cuts, matrix.shape[1]]
        self.groups = [slice(*pair) for pair in pairwise(ends)]

    def squares(self, q: Floats) -> Floats:
        return np.asarray(
            sum(
                q[..., group] @ self.matrix[group] ** 2
                - away * (2 * (q[..., group] @ self.matrix[group]) - away * size)
                for group, (away, size) in zip(self.groups, self._away(self.matrix, q), strict=True)
            )
        )

    def extremes(self, q: Floats | None = None) -> tuple[Floats, Floats]:
        if q is None:
            return super().extremes()
        pairs = list(zip(self.groups, self._away(self.matrix, q), strict=True))
        low = np.min([self.matrix[group].min(axis=0) - away for group, (away, _) in pairs], axis=0)
        return low, np.max([self.matrix[group].max(axis=0) - away for group, (away, _) in pairs], axis=0)

    def centred(self, worth: Floats, q: Floats) -> Floats:
        moved = worth.astype(np.float64)
        for group, (away, _) in zip(self.groups, self._away(worth, q), strict=True):
            moved[group] -= away
        return moved

    def _away(self, worth: Floats, q: Floats) -> list[tuple[Floats, Floats]]:
        """Return the distance of the mean of each mechanism's reports from the mean of all reports, and their share of
        all.
        """
        mean = q @ worth
        found = []
        for group in self.groups:
            size = q[..., group].sum(axis=-1, keepdims=worth.ndim > 1)
            found.append((q[..., group] @ worth[group] / size - mean, size))
        return found


class ResponseInverse(Alone):
    """The inverse of a response: ``(1 - other J) / lift``."""

    def __init__(self, size: int, other: float, lift: float) -> None:
        if lift * WORST_CONDITION < 1:
            raise ParameterError(SINGULAR)
        self.size, self.other, self.lift = size, other, lift

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.size

    def left(self, q: Floats) -> Floats:
        return np.asarray((q - self.other * q.sum(axis=-1, keepdims=True)) / self.lift)

    def right(self, w: Floats) -> Floats:
        return self.left(w)

    def squares(self, q: Floats) -> Floats:
        own, others = (1 - self.other) ** 2, self.other**2
        return np.asarray((others * q.sum(axis=-1, keepdims=True) + (own - others) * q) / self.lift**2)

    def extremes(self, q: Floats | None = None) -> tuple[Floats, Floats]:
        return np.full(self.size, -self.other / self.lift), np.full(self.size, (1 - self.other) / self.lift)

    @property
    def amplification(self) -> float:
        return (1 + (self.size - 2) * self.other) / self.lift


class GeometricInverse(Alone):
    """The inverse of a truncated geometric: a tridiagonal matrix, so ``O(n)``."""

    def __init__(self, rate: float, column: Floats) -> None:
        alpha = math.exp(-rate)
        if -math.expm1(-2 * rate) * WORST_CONDITION < 1:
            raise ParameterError(SINGULAR)
        self.column = column
        scale = -math.expm1(-2 * rate)
        self.main = np.full(len(column), (1 + alpha * alpha) / scale)
        self.main[[0, -1]] = 1 / scale
        self.beside = -alpha / scale

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.column), len(self.column)

    def _tridiagonal(self, v: Floats, main: Floats, beside: float) -> Floats:
        found = main * v
        found[..., 1:] += beside * v[..., :-1]
        found[..., :-1] += beside * v[..., 1:]
        return np.asarray(found)

    def left(self, q: Floats) -> Floats:
        return self._tridiagonal(q / self.column, self.main, self.beside)

    def right(self, w: Floats) -> Floats:
        return self._tridiagonal(w, self.main, self.beside) / self.column

    def squares(self, q: Floats) -> Floats:
        return self._tridiagonal(q / self.column**2, self.main**2, self.beside**2)

    def extremes(self, q: Floats | None = None) -> tuple[Floats, Floats]:
        edge = np.pad(self.column, 1, constant_values=np.inf)
        return self.beside / np.minimum(edge[:-2], edge[2:]), self.main / self.column

    @property
    def amplification(self) -> float:
        ones = self._tridiagonal(np.ones_like(self.column), self.main, abs(self.beside))
        return float((ones / self.column).max())


class ProductInverse(Alone):
    """The inverse of independent mechanisms is the inverse of each of them, axis by axis."""

    def __init__(self, parts: Sequence[Inverse]) -> None:
        self.parts = tuple(parts)

    @property
    def shape(self) -> tuple[int, int]:
        return math.prod(part.shape[0] for part in self.parts), math.prod(part.shape[1] for part in self.parts)

    def _apply(self, name: str, v: Floats, side: int) -> Floats:
        grid = v.reshape(*v.shape[:-1], *(part.shape[side] for part in self.parts))
        for axis, part in enumerate(self.parts, start=-len(self.parts)):
            grid = np.moveaxis(getattr(part, name)(np.moveaxis(grid, axis, -1)), -1, axis)
        return grid.reshape(*v.shape[:-1], -1)

    def left(self, q: Floats) -> Floats:
        return self._apply("left", q, 0)

    def right(self, w: Floats) -> Floats:
        return self._apply("right", w, 1)

    def squares(self, q: Floats) -> Floats:
        return self._apply("squares", q, 0)

    def extremes(self, q: Floats | None = None) -> tuple[Floats, Floats]:
        low, high = np.ones(1), np.ones(1)
        for part in self.parts:
            ends = [np.outer(mine, theirs).ravel() for mine in (low, high) for theirs in part.extremes()]
            low, high = np.min(ends, axis=0), np.max(ends, axis=0)
        return low, high

    @property
    def amplification(self) -> float:
        return math.prod(part.amplification for part in self.parts)


# Planar -------------------------------------------------------------------------------------------------------------------
#
# The planar geometric on a whole grid as an operator, by fast Fourier transforms: a million places without a matrix.


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
