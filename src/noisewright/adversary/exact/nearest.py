r"""The point of a hull that is nearest to another point: how far outside a belief is.

>>> import numpy as np
>>> nearest, distance = distance_to_hull(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([0.0, 0.0, 1.0]))
>>> nearest.round(9).tolist(), round(distance**2, 9)
([0.5, 0.5, 0.0], 1.5)

Reference: Lawson and Hanson, *Solving least squares problems* (1974), for non-negative least squares.
"""

from __future__ import annotations

import numpy as np

from noisewright.core.arrays import Floats

__all__ = ["distance_to_hull", "hull_weights"]


def distance_to_hull(points: Floats, target: Floats) -> tuple[Floats, float]:
    """The point of the hull of the columns of ``points`` that is nearest to ``target``, and how far it is.

    Non-negative least squares with a heavy row for the sum of the weights, then the active set solved again without it.
    """
    weights = hull_weights(points, target)
    nearest = points @ weights
    return nearest, float(np.linalg.norm(target - nearest))


def hull_weights(points: Floats, target: Floats) -> Floats:
    """The weights of the columns of ``points`` in the nearest point: 0 or more, and of sum one."""
    heavy = 1e3
    weights = _nnls(np.vstack([points, np.full(points.shape[1], heavy)]), np.r_[target, heavy])
    weights = weights / weights.sum()
    used = np.flatnonzero(weights > 1e-9)
    base, rest = points[:, used[0]], points[:, used[1:]] - points[:, used[:1]]
    if len(used) > 1:
        moved = np.linalg.lstsq(rest, target - base, rcond=None)[0]
        polished = np.r_[1 - moved.sum(), moved]
        if (polished >= 0).all():
            better = np.zeros_like(weights)
            better[used] = polished
            if np.linalg.norm(points @ better - target) <= np.linalg.norm(points @ weights - target):
                return np.asarray(better)
    return np.asarray(weights)


def _nnls(matrix: Floats, target: Floats) -> Floats:
    from scipy.optimize import lsq_linear, nnls

    try:
        return np.asarray(nnls(matrix, target)[0])
    except RuntimeError:  # too many iterations
        return np.asarray(np.clip(lsq_linear(matrix, target, bounds=(0, np.inf)).x, 0.0, None))
