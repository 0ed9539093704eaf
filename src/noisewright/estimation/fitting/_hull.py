r"""The mixture of given points that lies nearest the origin, by block pivoting.

For points :math:`a_1, \dots, a_n` it finds the weights ``x`` from 0 that sum to 1 with the least
:math:`\|\sum_i x_i a_i\|`. A Newton step of :mod:`~noisewright.estimation.fitting.newton` needs this many times, with
almost the same answer.

A set of points is tried as the support: with the Gram matrix ``G`` of its points the weights are proportional to the solution
of :math:`(G + 1 1^T) x = 1`. It is right when all of them are positive and no other point lies on the near side, :math:`a_i
\cdot z + \sum x \ge 1` for :math:`z = \sum_i x_i a_i`. All points that break this change sides at once, but of neighbours
outside only the nearest: points in an order, as here, differ little from the next. Where the number of them does not fall for
some time, only the last of them changes sides, which ends for certain. A good first set makes one or two tries enough, and a
poor one about ten. Where rounding, dependent points or a large support leave it undecided the answer is None, and the caller
takes a slower way.

>>> import numpy as np
>>> nearest_mixture(np.array([[3.0, 1.0], [-1.0, 1.0], [0.0, 5.0]]), np.array([True, False, True])).round(12).tolist()
[0.25, 0.75, 0.0]

Reference: Portugal, Judice and Vicente, *A comparison of block pivoting and interior-point algorithms for linear least squares
problems with nonnegative variables* (1994).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats

__all__ = ["nearest_mixture", "peaks"]


LARGEST_SUPPORT = 100
"""Larger systems of equations are not faster than the slower way."""

UNTHREADED = 1 << 18
"""Multiplications in one product of matrices. A larger one may start threads, and wait for them until other work gives way."""

TRIES = 60
"""Maximum number of sets that are tried."""

PATIENCE = 3
"""Maximum number of tries in a row that may fail to lower the number of points on the wrong side."""

NEAR = 1e-12
"""A point this little on the near side is as good as on the border; the scale is 1."""

SOLVED = 1e-6
"""The largest error of a solution that one correction makes good."""


def nearest_mixture(points: Floats, support: NDArray[np.bool_]) -> Floats | None:
    """The weights of the mixture of the rows of ``points`` nearest the origin, from a first ``support``; None where undecided."""
    from scipy.linalg.lapack import dposv

    n, width = points.shape
    support, ones = support.copy(), np.ones(LARGEST_SUPPORT)
    fewest, patience = n + 1, PATIENCE
    for _ in range(TRIES):
        chosen = support.nonzero()[0]
        if not 0 < len(chosen) <= min(width + 1, LARGEST_SUPPORT):  # more than width + 1 points depend on each other
            return None
        part, one = points[chosen], ones[: len(chosen)]
        factor, x, failed = dposv(_gram(part), one, lower=True)
        if failed:
            return None
        short = (1 - one @ x) - points @ (x @ part)
        wrong = short > NEAR
        wrong[chosen] = x < 0
        count = int(np.count_nonzero(wrong))
        if not count:
            return _corrected(n, chosen, x, factor, short[chosen])
        patience = PATIENCE if count < fewest else patience - 1
        fewest = min(fewest, count)
        if patience < 0:
            wrong[: wrong.nonzero()[0][-1]] = False
        else:
            wrong &= support | peaks(short)
        support ^= wrong
    return None


def _gram(part: Floats) -> Floats:
    """``1 + a_i . a_k``."""
    n, width = part.shape
    step = max(UNTHREADED // n**2, 1)
    found = part[:, :step] @ part[:, :step].T
    for start in range(step, width, step):
        found += part[:, start : start + step] @ part[:, start : start + step].T
    found += 1
    return found


def _corrected(n: int, chosen: NDArray[np.intp], x: Floats, factor: Floats, error: Floats) -> Floats | None:
    """Return the weights on all points: the solution with its residual corrected, as Gram matrices lose half of the
    digits.

    Points that depend on each other have many solutions, all as good; then the correction may lead anywhere, and is left out.
    """
    from scipy.linalg.lapack import dpotrs

    if not np.abs(error).max() <= SOLVED:
        return None
    better = x + dpotrs(factor, error, lower=True)[0]
    x = np.maximum(better, 0) if better.min() > -SOLVED else x
    found = np.zeros(n)
    found[chosen] = x / x.sum()
    return found


def peaks(v: Floats) -> NDArray[np.bool_]:
    """Return where a number is at least as high as both of its neighbours.

    >>> peaks(np.array([1.0, 3.0, 2.0, 2.0, 5.0])).tolist()
    [False, True, False, False, True]
    """
    found = np.empty(len(v), dtype=np.bool_)
    found[0] = True
    left, right = v[:-1], v[1:]
    np.greater_equal(right, left, out=found[1:])
    found[:-1] &= left >= right
    return found
