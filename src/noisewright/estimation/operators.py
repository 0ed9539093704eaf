r"""Action of a mechanism on a population, without its matrix: forward ``p -> p M``, backward ``r -> M r``.

Every estimator here is written in these two products and, for the linear one, in an inverse. A matrix gives them in
``O(n m)``; structure gives them faster, and makes a million secrets possible:

==========================  ===========================================================================  ==============
operator                    what it is                                                                   a product costs
==========================  ===========================================================================  ==============
:class:`DenseOperator`      any matrix                                                                   ``O(n m)``
:class:`ResponseOperator`   one probability on the diagonal, one off it                                  ``O(n)``
:class:`GeometricOperator`  the truncated geometric: two recursions, from the left and from the right    ``O(n)``
:class:`ProductOperator`    independent mechanisms, one for each part of a report, axis by axis          sum of theirs
:class:`StackedOperator`    several mechanisms in one data set, each with its share of the reports       sum of theirs
:class:`~noisewright.estimation.inverses.PlanarOperator`  the planar geometric on a grid, by FFT             ``O(n
log n)``
==========================  ===========================================================================  ==============

Vectors may have further axes in front: a batch of problems is one call.

>>> import numpy as np
>>> line = GeometricOperator(1_000_000, rate=0.1)
>>> one = np.zeros(1_000_000)
>>> one[500_000] = 1.0
>>> bool(abs(line.forward(one).sum() - 1) < 1e-12)
True

With ``keep`` the probability of the own half of a category's block and ``other`` that of any other half, output ``y`` of block
``j`` has the probability :math:`\frac{2}{b}\left(other + \frac{keep - other}{2} \sum_x p_x (1 + H_{xy})\right)` over the
categories ``x`` of the block. The rows of ``H`` are orthogonal and none is constant, so

.. math:: \hat p_x = \frac{1}{keep - other} \sum_{y \in block(x)} H_{xy} \, q_y

is unbiased, and its variance for ``N`` reports is exactly

.. math:: \frac{1}{N}\left(\frac{2 \, other}{(keep - other)^2} + \frac{P_{block(x)}}{keep - other} - p_x^2\right).

>>> from noisewright.mechanisms.categorical.subset_selection import hadamard_response
>>> page = HadamardOperator(hadamard_response(1_000_000, epsilon=1))
>>> shares = np.zeros(1_000_000)
>>> shares[[5, 700_000]] = 0.25, 0.75
>>> found = page.inverse().left(page.forward(shares))
>>> found[[5, 6, 700_000]].round(9).tolist()
[0.25, 0.0, 0.75]

Reference: Acharya, Sun and Zhang (2019).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright.estimation.inverses import (
    SINGULAR,
    WORST_CONDITION,
    Alone,
    DenseInverse,
    GeometricInverse,
    Inverse,
    ProductInverse,
    ResponseInverse,
    StackedInverse,
)
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.categorical.subset_selection import HadamardMechanism

__all__ = [
    "DenseOperator",
    "GeometricOperator",
    "HadamardInverse",
    "HadamardOperator",
    "Operator",
    "ProductOperator",
    "ResponseOperator",
    "StackedOperator",
    "dense_matrix",
    "walsh_hadamard",
]


LARGEST_DENSE = 1 << 26
"""Entries of a matrix that is built for an operator: half a gigabyte."""

NO_INVERSE = "matrix inversion needs a dense matrix here, and this one would be too large; choose method='ibu'."


class Operator(Protocol):
    """A row-stochastic matrix ``M``, seen through its products."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of secrets, number of outputs."""

    @property
    def positive(self) -> bool:
        """Return whether products only add positive numbers, so that each entry is right in relation to itself."""

    def forward_error(self, p: Floats) -> float:
        """An additional absolute error of each entry of ``forward(p)``; 0 where ``positive``."""

    def backward_error(self, r: Floats) -> float:
        """An additional absolute error of each entry of ``backward(r)``; 0 where ``positive``."""

    def forward(self, p: Floats) -> Floats:
        """``p M``: the law of the reports of a population ``p``."""

    def backward(self, r: Floats) -> Floats:
        """``M r``: the expectation of ``r`` over the reports of each secret."""

    def rows(self, secrets: NDArray[np.intp]) -> Floats:
        """Some rows of the matrix."""

    def inverse(self) -> Inverse:
        """Return the inverse of ``forward``; raise an error where none exists."""


def dense_matrix(operator: Operator) -> Floats:
    """The whole matrix of an operator, where it fits."""
    n, m = operator.shape
    if n * m > LARGEST_DENSE:
        raise ParameterError(f"a matrix of {n} by {m} is too large to be built; choose method='ibu'.")
    return operator.rows(np.arange(n))


class _Positive:
    """Operators that add positive numbers only."""

    positive = True

    def forward_error(self, p: Floats) -> float:
        return 0.0

    def backward_error(self, r: Floats) -> float:
        return 0.0


class DenseOperator(_Positive):
    """Any row-stochastic matrix."""

    def __init__(self, matrix: ArrayLike) -> None:
        self.matrix: Floats = np.ascontiguousarray(matrix, dtype=np.float64)
        if self.matrix.ndim != 2 or not self.matrix.size:
            raise ParameterError("an operator needs a matrix with a row for each secret and a column for each output.")
        if not (self.matrix >= 0).all() or not np.allclose(self.matrix.sum(axis=1), 1, rtol=0, atol=1e-9):
            raise ParameterError("the rows of an operator's matrix must be probabilities that sum to 1.")
        self.transposed = np.ascontiguousarray(self.matrix.T)

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.matrix.shape
        return n, m

    def forward(self, p: Floats) -> Floats:
        return np.asarray(p @ self.matrix)

    def backward(self, r: Floats) -> Floats:
        return np.asarray(r @ self.transposed)

    def rows(self, secrets: NDArray[np.intp]) -> Floats:
        return self.matrix[secrets]

    def inverse(self) -> Inverse:
        return DenseInverse(self.matrix)


class ResponseOperator(_Positive):
    """``size`` secrets: the truth with probability ``other + lift``, each other value with ``other``."""

    def __init__(self, size: int, other: float, lift: float) -> None:
        if size < 2 or not 0 <= other <= 1 or not 0 <= lift <= 1 or abs(size * other + lift - 1) > 1e-9:
            raise ParameterError("a response needs 2 or more secrets and probabilities with size * other + lift = 1.")
        self.size, self.other, self.lift = size, other, lift

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.size

    def forward(self, p: Floats) -> Floats:
        return np.asarray(self.other * p.sum(axis=-1, keepdims=True) + self.lift * p)

    def backward(self, r: Floats) -> Floats:
        return self.forward(r)  # the matrix is symmetric

    def rows(self, secrets: NDArray[np.intp]) -> Floats:
        found = np.full((len(secrets), self.size), self.other)
        found[np.arange(len(secrets)), secrets] += self.lift
        return found

    def inverse(self) -> Inverse:
        return ResponseInverse(self.size, self.other, self.lift)


class GeometricOperator(_Positive):
    r"""The truncated geometric on ``0 .. size-1``: :math:`M_{ij} = \alpha^{|i-j|} c_j` with :math:`\alpha = e^{-rate}`.

    ``c_j`` is ``(1-a)/(1+a)`` inside and ``1/(1+a)`` at both ends. Only positive numbers are added, so every entry of a
    product is right to a few units of the last place.
    """

    def __init__(self, size: int, rate: float) -> None:
        if size < 2 or not rate > 0:
            raise ParameterError("a geometric operator needs 2 or more secrets and a rate above 0.")
        self.size, self.rate = size, float(rate)
        self.alpha = math.exp(-self.rate)
        self.column = np.full(size, -math.expm1(-self.rate) / (1 + self.alpha))
        self.column[[0, -1]] = 1 / (1 + self.alpha)

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.size

    def forward(self, p: Floats) -> Floats:
        return self.column * self._decay(p)

    def backward(self, r: Floats) -> Floats:
        return self._decay(self.column * r)

    def _decay(self, v: Floats) -> Floats:
        """Return ``sum_j alpha^|i-j| v_j``: the sum from the left with the entry itself, and the sum from the right."""
        from scipy.signal import lfilter  # takes a second to load

        kernel = ([1.0], [1.0, -self.alpha])
        summed: Floats = np.asarray(lfilter(*kernel, v, axis=-1))
        right = lfilter(*kernel, v[..., :0:-1], axis=-1)[..., ::-1]
        summed[..., :-1] += self.alpha * right
        return summed

    def rows(self, secrets: NDArray[np.intp]) -> Floats:
        away = np.abs(np.asarray(secrets)[:, None] - np.arange(self.size)[None, :])
        return np.asarray(np.exp(-self.rate * away) * self.column)

    def inverse(self) -> Inverse:
        return GeometricInverse(self.rate, self.column)


class ProductOperator(_Positive):
    """Independent mechanisms, one for each part of a secret; secrets and outputs are numbered row by row."""

    def __init__(self, parts: Sequence[Operator]) -> None:
        if len(parts) < 2:
            raise ParameterError("a product needs 2 or more operators, one for each part of a report.")
        if not all(part.positive for part in parts):
            raise ParameterError(
                "a planar geometric cannot be one part of a product; give its places as secrets alone."
            )
        self.parts = tuple(parts)

    @property
    def shape(self) -> tuple[int, int]:
        return math.prod(p.shape[0] for p in self.parts), math.prod(p.shape[1] for p in self.parts)

    def forward(self, p: Floats) -> Floats:
        grid = p.reshape(*p.shape[:-1], *(part.shape[0] for part in self.parts))
        for axis, part in enumerate(self.parts, start=-len(self.parts)):
            grid = np.moveaxis(part.forward(np.moveaxis(grid, axis, -1)), -1, axis)
        return grid.reshape(*p.shape[:-1], -1)

    def backward(self, r: Floats) -> Floats:
        grid = r.reshape(*r.shape[:-1], *(part.shape[1] for part in self.parts))
        for axis, part in enumerate(self.parts, start=-len(self.parts)):
            grid = np.moveaxis(part.backward(np.moveaxis(grid, axis, -1)), -1, axis)
        return grid.reshape(*r.shape[:-1], -1)

    def rows(self, secrets: NDArray[np.intp]) -> Floats:
        places = np.unravel_index(secrets, [part.shape[0] for part in self.parts])
        found = np.ones((len(secrets), 1))
        for part, place in zip(self.parts, places, strict=True):
            found = (found[:, :, None] * part.rows(place)[:, None, :]).reshape(len(secrets), -1)
        return found

    def inverse(self) -> Inverse:
        return ProductInverse([part.inverse() for part in self.parts])


class StackedOperator:
    """Several mechanisms in one data set: the outputs side by side, each mechanism with its share of the reports.

    The likelihood, the update and the certificate of this operator belong to the whole data set: the step of the
    iterative Bayesian update is the sum over the groups, weighted by their counts.
    """

    def __init__(self, parts: Sequence[Operator], shares: ArrayLike) -> None:
        self.parts = tuple(parts)
        self.shares: Floats = np.asarray(shares, dtype=np.float64)
        if len({part.shape[0] for part in self.parts}) != 1:
            raise ParameterError("mechanisms in one data set must be about the same secrets.")
        if self.shares.shape != (len(self.parts),) or (self.shares < 0).any() or abs(self.shares.sum() - 1) > 1e-9:
            raise ParameterError("each mechanism needs a share of the reports, and the shares must sum to 1.")
        self.cuts: list[int] = np.cumsum([part.shape[1] for part in self.parts])[:-1].tolist()

    @property
    def shape(self) -> tuple[int, int]:
        return self.parts[0].shape[0], sum(part.shape[1] for part in self.parts)

    @property
    def positive(self) -> bool:
        return all(part.positive for part in self.parts)

    def forward_error(self, p: Floats) -> float:
        return max(part.forward_error(p) for part in self.parts)

    def backward_error(self, r: Floats) -> float:
        pieces = np.split(r, self.cuts, axis=-1)
        return sum(part.backward_error(v) for part, v in zip(self.parts, pieces, strict=True))

    def forward(self, p: Floats) -> Floats:
        found = [share * part.forward(p) for part, share in zip(self.parts, self.shares, strict=True)]
        return np.concatenate(found, axis=-1)

    def backward(self, r: Floats) -> Floats:
        pieces = np.split(r, self.cuts, axis=-1)
        found = [s * part.backward(v) for part, s, v in zip(self.parts, self.shares, pieces, strict=True)]
        return np.asarray(sum(found[1:], found[0]))

    def rows(self, secrets: NDArray[np.intp]) -> Floats:
        found = [share * part.rows(secrets) for part, share in zip(self.parts, self.shares, strict=True)]
        return np.concatenate(found, axis=1)

    def inverse(self) -> Inverse:
        n, m = self.shape
        if n * m > LARGEST_DENSE or n > 3000:
            raise ParameterError(NO_INVERSE)
        return StackedInverse(dense_matrix(self), self.cuts)


# Walsh --------------------------------------------------------------------------------------------------------------------
#
# Hadamard response as an operator: both products and the inverse are fast Walsh-Hadamard transforms, ``O(K log K)``.


def walsh_hadamard(values: Floats) -> Floats:
    """``H v`` along the last axis, whose length is a power of two.

    >>> walsh_hadamard(np.array([1.0, 0.0, 2.0, 0.0])).tolist()
    [3.0, 3.0, -1.0, -1.0]
    """
    found = np.array(values, dtype=np.float64)
    shape, step = found.shape, 1
    while step < shape[-1]:
        pairs = found.reshape(*shape[:-1], -1, 2, step)
        first, second = pairs[..., 0, :] + pairs[..., 1, :], pairs[..., 0, :] - pairs[..., 1, :]
        pairs[..., 0, :], pairs[..., 1, :] = first, second
        step *= 2
    return found


class HadamardOperator:
    """A Hadamard response, seen through its products."""

    positive = False

    def __init__(self, mechanism: HadamardMechanism) -> None:
        self.mechanism = mechanism
        self.size, self.blocks, self.length = len(mechanism.categories), mechanism.blocks, mechanism.length
        keep, other = mechanism.half_probabilities
        self.other, self.lift = float(other), float(keep - other)

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.blocks * self.length

    def forward(self, p: Floats) -> Floats:
        rows = self.by_block(p)
        mass = rows.sum(axis=-1, keepdims=True)
        signs = walsh_hadamard(rows)
        everyone = p.sum(axis=-1)[..., None, None]
        found = (2 * self.other * everyone + self.lift * np.maximum(mass + signs, 0.0)) / self.length
        return np.asarray(found.reshape(*p.shape[:-1], -1))

    def backward(self, r: Floats) -> Floats:
        blocks = r.reshape(*r.shape[:-1], self.blocks, self.length)
        mass = blocks.sum(axis=-1, keepdims=True)
        everything = r.sum(axis=-1)[..., None, None]
        found = (2 * self.other * everything + self.lift * np.maximum(mass + walsh_hadamard(blocks), 0.0)) / self.length
        return self.of_categories(found)

    def forward_error(self, p: Floats) -> float:
        """Each of the ``log2 b`` steps rounds sums of at most the whole mass."""
        rounding = 2.0**-52 * (math.log2(self.length) + 4)
        return rounding * 4 * float(np.abs(p).sum(axis=-1).max()) * self.lift / self.length

    def backward_error(self, r: Floats) -> float:
        return self.forward_error(r)

    def rows(self, secrets: NDArray[np.intp]) -> Floats:
        own = self.mechanism.own_halves(np.asarray(secrets))
        return np.where(own, self.other + self.lift, self.other) * 2 / self.length

    def inverse(self) -> Inverse:
        return HadamardInverse(self)

    def by_block(self, p: Floats) -> Floats:
        """Return numbers for the categories, at their rows of their blocks; row 0 belongs to no category."""
        room = np.zeros((*p.shape[:-1], self.blocks * (self.length - 1)))
        room[..., : self.size] = p
        found = np.zeros((*p.shape[:-1], self.blocks, self.length))
        found[..., 1:] = room.reshape(*p.shape[:-1], self.blocks, self.length - 1)
        return found

    def of_categories(self, blocks: Floats) -> Floats:
        """The numbers of the categories' rows."""
        return np.asarray(blocks[..., 1:].reshape(*blocks.shape[:-2], -1)[..., : self.size])


class HadamardInverse(Alone):
    """``W[y, x] = H[x, y] / (keep - other)`` within the block of ``x``, and 0 outside."""

    def __init__(self, operator: HadamardOperator) -> None:
        if operator.lift * WORST_CONDITION < 1:
            raise ParameterError(SINGULAR)
        self._operator = operator

    @property
    def shape(self) -> tuple[int, int]:
        secrets, outputs = self._operator.shape
        return outputs, secrets

    def left(self, q: Floats) -> Floats:
        one = self._operator
        blocks = q.reshape(*q.shape[:-1], one.blocks, one.length)
        return one.of_categories(walsh_hadamard(blocks)) / one.lift

    def right(self, w: Floats) -> Floats:
        one = self._operator
        return np.asarray(walsh_hadamard(one.by_block(w)).reshape(*w.shape[:-1], -1) / one.lift)

    def squares(self, q: Floats) -> Floats:
        one = self._operator
        mass = q.reshape(*q.shape[:-1], one.blocks, one.length).sum(axis=-1, keepdims=True)
        return one.of_categories(np.broadcast_to(mass, (*mass.shape[:-1], one.length))) / one.lift**2

    def extremes(self, q: Floats | None = None) -> tuple[Floats, Floats]:
        most = np.full(self._operator.size, 1 / self._operator.lift)
        return -most, most

    @property
    def amplification(self) -> float:
        return min(self._operator.length - 1, self._operator.size) / self._operator.lift
