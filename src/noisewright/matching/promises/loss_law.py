r"""The privacy loss as a random variable, with a public seed that both secrets share.

For an output y under the public seed r the loss between x and x' is :math:`L = \ln A_r(x)(y) / A_r(x')(y)`, with r drawn by its
public law and y from :math:`A_r(x)`: the loss of the mechanism that puts out r and y. Where a hash differs between the two
profiles with probability d, and its answer is kept with probability ``keep``, or becomes each other one with ``keep /
e^epsilon``, L is the sum of ``bits`` independent terms:

.. math:: +\epsilon \text{ with } d \cdot keep, \qquad -\epsilon \text{ with } d \cdot keep / e^\epsilon, \qquad 0 \text{ else.}

For bits, keep is :math:`e^\epsilon / (1 + e^\epsilon)`, and the mean is :math:`\epsilon\, bits\, d \tanh(\epsilon / 2)`.

>>> law = LossLaw.of_hashes(0.3, bits=20, epsilon=0.7)
>>> round(law.mean, 5), round(law.tail(4.2), 4)
(1.41278, 0.031)

References: Fernandes, Kawamoto and Murakami, *Locality sensitive hashing with extended differential privacy* (2021); Dwork and
Rothblum, *Concentrated differential privacy* (2016).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact
from noisewright.matching.hashing.scheme import checked_bits, checked_epsilon

__all__ = ["LossLaw", "checked_delta", "checked_distance", "sum_law"]


@dataclass(frozen=True, eq=False)
class LossLaw:
    """The values that a loss takes, in ascending order, and their probabilities under the first secret."""

    values: Floats
    """Of outputs that both secrets can give."""
    weights: Floats
    impossible: float = 0.0
    """The probability of outputs that the second secret never gives: an infinite loss."""

    @classmethod
    def of_hashes(cls, distance: float, *, bits: int, epsilon: Exact, answers: int = 2) -> LossLaw:
        """Build the law of noisy hashes: each differs with probability ``distance``, and has the number ``answers``."""
        d, count, price = checked_distance(distance), checked_bits(bits), float(checked_epsilon(epsilon))
        if not is_whole(answers) or answers < 2:
            raise ParameterError("a hash has 2 answers or more.")
        lie = math.exp(-price)
        keep = 1 / (1 + (answers - 1) * lie)
        one = np.array([d * keep * lie, 1 - d + d * keep * (answers - 2) * lie, d * keep])
        return cls(price * np.arange(-count, count + 1, dtype=np.float64), sum_law(one, count))

    @classmethod
    def between(cls, channel: Channel, first: Hashable, second: Hashable) -> LossLaw:
        """Build the law of the outputs of a finite channel for one secret, compared with another."""
        one, other = channel.row(first), channel.row(second)
        shared = (one > 0) & (other > 0)
        losses = np.log(one[shared]) - np.log(other[shared])
        order = np.argsort(losses)
        return cls(losses[order], one[shared][order], float(one[(one > 0) & (other <= 0)].sum()))

    @property
    def mean(self) -> float:
        """The mean loss; infinite where some output is impossible under the second secret."""
        return math.inf if self.impossible else float(self.values @ self.weights)

    def tail(self, loss: float) -> float:
        """The probability of a loss above this."""
        return float(self.weights[np.searchsorted(self.values, loss, side="right") :].sum()) + self.impossible

    def delta(self, loss: float) -> float:
        r"""The smallest delta for which :math:`A(x)(S) \le e^{loss} A(x')(S) + \delta` for all S."""
        above = slice(int(np.searchsorted(self.values, loss, side="right")), None)
        return float(self.weights[above] @ -np.expm1(loss - self.values[above])) + self.impossible

    def moments(self, s: float) -> float:
        """The logarithm of the mean of ``e^(s (L - mean))``."""
        exponents = s * (self.values - self.mean)
        top = float(exponents.max())
        return top + math.log(float(self.weights @ np.exp(exponents - top)))


def sum_law(one: Floats, count: int) -> Floats:
    """The law of a sum of ``count`` independent terms; sums of positive numbers alone, so that tails stay accurate."""
    result, square = np.ones(1), one
    while True:
        if count & 1:
            result = np.convolve(result, square)
        count >>= 1
        if not count:
            return result
        square = np.convolve(square, square)


def checked_distance(distance: object, name: str = "distance") -> float:
    """A distance that is the probability of another hash, checked."""
    try:
        found = float(distance)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(distance, bool) or not 0 <= found <= 1:
        raise ParameterError(
            f"{name} must be a number from 0 to 1: an angle over pi, or the probability of another hash."
        )
    return found


def checked_delta(delta: object) -> float:
    """A delta of a guarantee about seeds, checked."""
    try:
        found = float(delta)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(delta, bool) or not 0 < found < 1:
        raise ParameterError(
            "delta must be a number above 0 and below 1; what holds without a delta is the price of a bit, for every bit that "
            "differs."
        )
    return found
