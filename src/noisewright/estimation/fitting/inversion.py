r"""Matrix inversion: the unbiased estimate of a population, and two ways back into the distributions.

``q M^-1`` has the right mean and sums to 1, but may leave [0, 1]. Where it does not, it is the most likely population.
Repairs make it a distribution at the cost of a bias: ``clip`` cuts off negative entries and rescales, ``project`` takes
the nearest distribution in the Euclidean distance. Either can be far worse than a most likely population.

>>> project(np.array([1.7, -0.7])).tolist(), project(np.array([0.5, 0.3, -0.1])).round(3).tolist()
([1.0, 0.0], [0.6, 0.4, 0.0])

Its variance is exact: report ``j`` counts ``W_ji`` for secret ``i``, so the variance is
:math:`(\sum_j q_j W_{ji}^2 - (qW)_i^2)/N` with the true law ``q`` of the reports; with their shares it is estimated.
"""

from __future__ import annotations

import math

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.estimation.operators.inverses import Inverse
from noisewright.estimation.operators.operator import Operator

__all__ = ["clip", "invert", "linear_estimate", "project", "standard_errors"]


def invert(q: Floats, operator: Operator) -> Floats:
    """``q M^-1``: unbiased, sums to 1, perhaps negative."""
    return operator.inverse().left(q)


def clip(r: Floats) -> Floats:
    """Return the positive part, rescaled to sum to 1."""
    kept = np.maximum(r, 0.0)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def project(r: Floats) -> Floats:
    """The nearest distribution in the Euclidean distance; further axes in front are a batch."""
    falling = -np.sort(-r, axis=-1)
    k = np.arange(1, r.shape[-1] + 1)
    excess = (np.cumsum(falling, axis=-1) - 1) / k
    count = (falling > excess).sum(axis=-1, keepdims=True)
    found = np.maximum(r - np.take_along_axis(excess, count - 1, axis=-1), 0.0)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def standard_errors(q: Floats, reports: float, inverse: Inverse) -> Floats:
    """Standard errors of :func:`invert` for every secret."""
    return np.asarray(np.sqrt(np.maximum(inverse.squares(q) - inverse.left(q) ** 2, 0.0) / reports))


def linear_estimate(weights: Floats, q: Floats, reports: float, inverse: Inverse) -> tuple[float, float]:
    """The unbiased estimate of ``sum_x p_x weights_x`` (a mean, a share of some secrets), and its standard error."""
    worth = inverse.centred(inverse.right(weights), q)
    mean = float(q @ worth)
    return mean, math.sqrt(max(float(q @ worth**2) - mean**2, 0.0) / reports)
