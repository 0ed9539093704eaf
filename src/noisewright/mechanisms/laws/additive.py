r"""Laws of additive noise: an integer number of lattice steps, symmetric about 0, more likely the nearer to it.

A law is known by its tail: the expected error and the guarantee for two numbers at some number of steps follow from
it. :class:`LaplaceLaw` is here, the others are next to their mechanisms.

>>> law = LaplaceLaw(Fraction(2))
>>> law.loss(3, Fraction(0)), round(law.loss(3, Fraction(1, 10)), 6)  # 3 steps apart, without and with a delta
(1.5, 1.324869)
>>> round(float(law.mass(np.array(0.0)) + 2 * law.tail(np.array(1.0))), 12)
1.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.exact import exp_bounds, float_up
from noisewright.noise.bits import Rng
from noisewright.noise.laws.geometric import discrete_laplace

__all__ = ["SPREADS", "LaplaceLaw", "Law", "lattice_delta", "smallest_epsilon"]

Indices = NDArray[np.int64]

BITS = 192
"""Bits of the integers that enclose a delta."""

SPREADS = 70
"""Noise beyond this many spreads has probability below 2**-100 for every law here."""


class Law(Protocol):
    """Integer noise that is symmetric about 0 and falls away from it."""

    @property
    def spread(self) -> float:
        """The size of the noise in steps: ``SPREADS`` times as far out nothing is ever seen."""

    @property
    def parameter(self) -> float:
        """The number that names the law, in steps: its scale, its sigma, its mean size."""

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Indices:
        """Independent exact draws."""

    def proof(self) -> Mapping[str, Any]:
        """The law as the certificate states it."""

    def loss(self, steps: int, delta: Fraction) -> float:
        """The smallest epsilon of two numbers ``steps`` apart at this delta; rounded up."""

    def mass(self, k: Floats) -> Floats:
        """``P(k)`` for integers."""

    def tail(self, k: Floats) -> Floats:
        """``P(noise >= k)`` for integers ``k >= 1``."""

    def sums(self, room: Floats, loss: str) -> Floats:
        """``sum of P(noise >= k)`` over ``k = 1..room``, each times ``2k - 1`` for the squared loss; the limit may be
        infinite."""


@dataclass(frozen=True)
class LaplaceLaw:
    """``P(k) = (1 - a)/(1 + a) a^|k|`` with ``a = e^(-1/scale)``."""

    scale: Fraction

    @classmethod
    def of(cls, proof: Mapping[str, Any]) -> LaplaceLaw:
        """The law that :meth:`proof` states."""
        return cls(Fraction(proof["scale"]))

    @property
    def spread(self) -> float:
        return float(self.scale)

    @property
    def parameter(self) -> float:
        return self.spread

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Indices:
        return discrete_laplace(self.scale, shape, rng)

    def proof(self) -> Mapping[str, Any]:
        return {"law": "discrete laplace", "scale": str(self.scale)}

    def loss(self, steps: int, delta: Fraction) -> float:
        if not delta:
            return float_up(steps / self.scale)
        return smallest_epsilon(lambda epsilon: lattice_delta(epsilon, self.scale, steps) <= delta, steps / self.scale)

    def mass(self, k: Floats) -> Floats:
        rate = 1 / float(self.scale)
        return np.asarray(math.tanh(rate / 2) * np.exp(-rate * np.abs(k)))

    def tail(self, k: Floats) -> Floats:
        rate = 1 / float(self.scale)
        return np.asarray(np.exp(-rate * k) / (1 + math.exp(-rate)))

    def sums(self, room: Floats, loss: str) -> Floats:
        rate = 1 / float(self.scale)
        a, q = math.exp(-rate), -math.expm1(-rate)
        bounded = np.minimum(room, 800 * self.spread + 1)  # beyond, nothing is left to add, and inf * 0 is NaN
        cut = np.exp(-rate * bounded)
        plain = a * -np.expm1(-rate * bounded) / q
        if loss == "absolute":
            return np.asarray(plain / (1 + a))
        return np.asarray((2 * (plain / q - bounded * cut * a / q) - plain) / (1 + a))


def lattice_delta(epsilon: Fraction, scale: Fraction, steps: int) -> Fraction:
    """At least the delta of discrete Laplace noise on two integers ``steps`` apart: the closed form, rounded up."""
    start = (steps + epsilon * scale) // 2 + 1
    if start > steps:
        return Fraction(0)
    kept = exp_bounds(-(steps + 1 - start) / scale, BITS)[0] + exp_bounds(epsilon - start / scale, BITS)[0]
    return 1 - Fraction(kept, (1 << BITS) + exp_bounds(-1 / scale, BITS)[1])


def smallest_epsilon(enough: Callable[[Fraction], bool], known: Fraction) -> float:
    """The smallest epsilon that is ``enough``, to 40 bits and rounded up, by halving the interval below a ``known`` one."""
    if enough(Fraction(0)):
        return 0.0
    low, high = Fraction(0), Fraction(float_up(known))
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float_up(high)
