r"""Distance of a noisy bag of vectors from the true one: a probability that holds for every bag.

Each of N vectors in n dimensions gets noise whose length is Gamma(n, 1/epsilon). Members stay matched to themselves, so the Earth
Mover's distance is at most the mean length, and a sum of N such lengths is Gamma(nN, 1/epsilon). For every radius

.. math:: \Pr[E(b, \mathit{out}) \le \Delta] \;\ge\; P(nN, \epsilon N \Delta) = 1 - e^{-a} \sum_{i < nN} a^i / i!,
   \quad a = \epsilon N \Delta,

with the regularised incomplete gamma function P, and with equality where all vectors of the bag coincide. The radius
has no condition. (A printed version sums to n - 1 in place of nN - 1, which is false for more than one vector: it
guarantees 0.26 where the probability is 0.037.)

The bound is about vectors. After decoding to the nearest word the distance is usually far smaller.

>>> round(hit_rate(1, 2, epsilon=1, radius=0.15), 4)
0.0369
>>> round(hit_radius(300, 100, epsilon=10, chance=0.5), 2)
30.0
"""

from __future__ import annotations

import math

from noisewright.core.errors import ParameterError

__all__ = ["hit_radius", "hit_rate"]


def hit_rate(dimension: int, size: int, *, epsilon: float, radius: float) -> float:
    """A probability with which a noisy bag of ``size`` vectors lies within ``radius`` of the true one."""
    from scipy.special import gammainc

    shape = _shape(dimension, size, epsilon)
    if not radius >= 0:
        raise ParameterError("a radius is a number from 0 on.")
    return float(gammainc(shape, float(epsilon) * size * float(radius)))


def hit_radius(dimension: int, size: int, *, epsilon: float, chance: float) -> float:
    """The radius within which a noisy bag lies at least with probability ``chance``, by :func:`hit_rate`."""
    from scipy.special import gammaincinv

    shape = _shape(dimension, size, epsilon)
    if not 0 <= chance < 1:
        raise ParameterError("a chance is a number from 0 on and below 1.")
    return float(gammaincinv(shape, float(chance))) / (float(epsilon) * size)


def _shape(dimension: int, size: int, epsilon: float) -> int:
    for name, count in (("dimension", dimension), ("size", size)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ParameterError(f"the {name} is a whole number from 1 on.")
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise ParameterError("epsilon is a finite number above 0, for each unit of distance.")
    return dimension * size
