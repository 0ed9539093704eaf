r"""Hadamard response as an operator: both products and the inverse are fast Walsh-Hadamard transforms, ``O(K log K)``.

With ``keep`` the probability of the own half of a category's block and ``other`` that of any other half, output ``y`` of block
``j`` has the probability :math:`\frac{2}{b}\left(other + \frac{keep - other}{2} \sum_x p_x (1 + H_{xy})\right)` over the
categories ``x`` of the block. The rows of ``H`` are orthogonal and none is constant, so

.. math:: \hat p_x = \frac{1}{keep - other} \sum_{y \in block(x)} H_{xy} \, q_y

is unbiased, and its variance for ``N`` reports is exactly

.. math:: \frac{1}{N}\left(\frac{2 \, other}{(keep - other)^2} + \frac{P_{block(x)}}{keep - other} - p_x^2\right).

>>> from noisewright.mechanisms.oracles.hadamard import hadamard_response
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

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.estimation.operators.inverses import SINGULAR, WORST_CONDITION, Alone, Inverse
from noisewright.mechanisms.oracles.hadamard import HadamardMechanism

__all__ = ["HadamardInverse", "HadamardOperator", "walsh_hadamard"]


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
