r"""Angles between vectors and the corresponding Euclidean distances, so that guarantees for one and the other can be
compared.

The angular distance is :math:`d_\theta = \arccos(x \cdot x' / |x||x'|) / \pi`, from 0 to 1; 1/2 is a right angle. Vectors of
length 1 at that angle are :math:`2 \sin(\pi d_\theta / 2)` apart. A mechanism with ``epsilon`` for each unit of Euclidean
distance therefore loses at most ``loss`` between unit vectors at an angle if epsilon is ``loss`` over that;
:func:`euclidean_epsilon`. Such a comparison is at one angle, and for vectors of length 1.

>>> [round(euclidean(angle), 5) for angle in (0.05, 0.25, 0.5)]
[0.15692, 0.76537, 1.41421]
>>> round(angular(euclidean(0.3)), 12)
0.3
>>> angular_distances([[1.0, 0.0]], [[0.0, 2.0], [3.0, 3.0], [-1.0, 0.0]]).round(9).tolist()
[[0.5, 0.25, 1.0]]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, positive_fraction
from noisewright.matching.promises.loss_law import checked_distance

__all__ = ["angular", "angular_distances", "euclidean", "euclidean_epsilon"]


def euclidean(angle: float) -> float:
    """Return how far apart unit vectors at this angular distance are."""
    return 2 * math.sin(math.pi * checked_distance(angle, "an angle") / 2)


def angular(distance: float) -> float:
    """The angular distance of unit vectors that are so far apart."""
    if isinstance(distance, bool) or not 0 <= distance <= 2:
        raise ParameterError("two unit vectors are 0 to 2 apart; give a number between.")
    return 2 * math.asin(distance / 2) / math.pi


def euclidean_epsilon(loss: Exact, angle: float) -> float:
    """The epsilon for each unit of Euclidean distance with which unit vectors at this angle lose at most ``loss``, rounded down.

    >>> round(euclidean_epsilon(5, 0.05), 3)
    31.864
    """
    apart = euclidean(angle)
    if not apart:
        raise ParameterError("vectors at an angle of 0 lose nothing at any epsilon; give the angle of two that differ.")
    return float(positive_fraction(loss, "loss")) / apart * (1 - 2.0**-50)


def angular_distances(one: Any, other: Any) -> Floats:
    """The angular distance of every row of one to every row of the other; accurate to about 1e-8 for very small angles."""
    left, right = _unit(one), _unit(other)
    if left.shape[1] != right.shape[1]:
        raise DataError("angles are between vectors of one length; these have different numbers of coordinates.")
    return np.asarray(np.arccos(np.clip(left @ right.T, -1.0, 1.0)) / np.pi)


def _unit(rows: Any) -> Floats:
    given = np.asarray(rows, dtype=np.float64)
    largest = np.abs(given).max(axis=-1, initial=0.0) if given.ndim == 2 else np.zeros(1)
    if not np.isfinite(largest).all() or not largest.all():
        raise DataError("angles are between rows of finite numbers that are not all 0; leave other rows out.")
    shrunk = given / largest[:, None]
    return np.asarray(shrunk / np.linalg.norm(shrunk, axis=1)[:, None])
