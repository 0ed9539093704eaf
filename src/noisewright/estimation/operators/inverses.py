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
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError

__all__ = [
    "Alone",
    "DenseInverse",
    "GeometricInverse",
    "Inverse",
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
