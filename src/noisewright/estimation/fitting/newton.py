r"""The most likely population to a certified gap, by constrained Newton steps.

At a population ``p`` with ``m = p M`` the log-likelihood has the quadratic model
:math:`-\tfrac12 \sum_j q_j ((xM)_j/m_j - 2)^2 + const`, which
:func:`~noisewright.estimation.fitting._hull.nearest_mixture` maximises over distributions ``x`` on the present support
and the secrets that would raise the likelihood fastest, starting from the support of the round before. A line search
towards ``x`` follows. It stops when the certificate of :mod:`~noisewright.estimation.fitting.likelihood` says that
nothing is left to gain, in 4 to 8 rounds, where the iterative Bayesian update would take a hundred thousand. The result
is sparse: the number of its secrets is at most the number of outputs seen, often far fewer.

Up to a few hundred secrets all take part in every round; beyond, the support and the peaks of the gradient, so that 20,000
secrets are feasible with structured operators.

>>> import numpy as np
>>> from noisewright.estimation.operators.operator import DenseOperator
>>> found = most_likely(np.array([0.9, 0.1]), DenseOperator(np.array([[2, 1], [1, 2]]) / 3))
>>> found.probabilities.tolist(), found.converged
([1.0, 0.0], True)

Reference: Wang, *On fast computation of the non-parametric maximum likelihood estimate of a mixing distribution* (2007).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.estimation.fitting._hull import nearest_mixture, peaks
from noisewright.estimation.fitting.bayesian_update import Fit, check_update, starting_point, stepper
from noisewright.estimation.fitting.likelihood import TracePoint, certificate, check_possible
from noisewright.estimation.operators.operator import Operator

__all__ = ["LARGEST_SUPPORT", "most_likely"]


ALL_SECRETS = 400
"""Up to this many secrets all of them take part in every round."""

NEW_SECRETS = 64
"""Number of peaks of the gradient that join in each round beyond that."""

LARGEST_SUPPORT = 1 << 26
"""Entries of the matrix of a round."""

FIRST_STEPS = 20
"""Steps of the iterative Bayesian update that come first, and show where the mass is."""

LEAST_EXPLAINED = 1e-12
"""The peaks alone are a start where they make every report at least this likely, in relation to the whole population."""


def most_likely(q: Floats, operator: Operator, *, gap: float = 1e-9, iterations: int = 100) -> Fit:
    """The most likely population for shares ``q`` that sum to 1, to a certified ``gap`` per report where floats allow it."""
    check_update(iterations, gap, 0.0)
    check_possible(q, operator)
    seen = np.flatnonzero(q > 0)
    shares, roots = q[seen], np.sqrt(q[seen])
    small = operator.shape[0] <= ALL_SECRETS
    p = stepper(q, operator)(starting_point(operator, None), FIRST_STEPS)
    p = p / p.sum() if small else _peaks_only(p, operator, seen)
    support, joined = peaks(p) & (p > 0), np.arange(len(p))
    matrix: Floats | None = None
    trace: list[TracePoint] = []
    best, (now, g) = p, certificate(p, q, operator)
    found = now
    while True:
        trace.append(TracePoint(len(trace), now.value, now.gap))
        if now.gap < found.gap:
            best, found = p, now
        if found.gap <= gap or len(trace) == iterations:
            break
        if matrix is None or not small:
            joined = joined if small else _joined(p, g)
            matrix = _part(operator, joined, seen)
        part = np.asarray(p[joined])
        part /= part.sum()
        target = _target(part, matrix, roots, support[joined])
        moved = _line_search(part, target, matrix, shares)
        p, support = np.zeros_like(p), np.zeros_like(support)
        p[joined], support[joined] = target if moved is None else moved, target > 0
        now, g = certificate(p, q, operator)
        if moved is None and now.gap >= found.gap:
            break  # neither the likelihood nor its certificate improves in floats: this is as far as they go
    return Fit(best, found, len(trace), found.gap <= gap, tuple(trace))


def _part(operator: Operator, joined: NDArray[np.intp], seen: NDArray[np.intp]) -> Floats:
    """The rows of some secrets and the columns of the outputs that were reported."""
    if len(joined) * len(seen) > LARGEST_SUPPORT:
        raise ParameterError("this most likely population needs too large a matrix; choose method='ibu'.")
    rows = operator.rows(joined)
    return rows if rows.shape[1] == len(seen) else np.asarray(rows[:, seen])


def _target(p: Floats, matrix: Floats, roots: Floats, support: NDArray[np.bool_]) -> Floats:
    """The distribution that maximises the quadratic model; it probably lies on ``support`` or near."""
    m = p @ matrix
    points = matrix * (roots / m)
    points -= 2 * roots
    if points.shape[1] > 2 * len(points):
        points = _narrow(points)
    found = nearest_mixture(points, support)
    if found is None:
        found = _least_squares(points)
    if found is None:  # an update raises the likelihood too
        found = p * (matrix @ (roots**2 / m))
    return np.asarray(found / found.sum())


def _least_squares(points: Floats) -> Floats | None:
    """The same mixture by adding one secret after the other: slower, but no set of secrets is too dependent for it."""
    from scipy.optimize import nnls

    n, width = points.shape
    design = np.vstack([_narrow(points).T if width > n else points.T, np.ones(n)])
    try:
        return np.asarray(nnls(design, np.append(np.zeros(len(design) - 1), 1.0), maxiter=30 * n)[0])
    except RuntimeError:  # it went round in circles, which rounding can make it do
        return None


def _narrow(points: Floats) -> Floats:
    """Return points with the same lengths and angles, in one dimension for each point."""
    return np.asarray(np.linalg.qr(points.T, mode="r")).T


def _line_search(p: Floats, target: Floats, matrix: Floats, shares: Floats) -> Floats | None:
    """The first of the steps 1, 1/2, 1/4, ... towards the target that raises the likelihood by a share of the slope."""
    here, there = p @ matrix, target @ matrix
    slope = float(shares @ (there / here)) - 1
    with np.errstate(divide="ignore"):
        for power in range(40):
            step = 0.5**power
            gain = float(shares @ np.log1p(step * (there - here) / here))
            if gain > 0 and gain >= step * slope / 3:
                return np.asarray((1 - step) * p + step * target)
    return None


def _peaks_only(p: Floats, operator: Operator, seen: NDArray[np.intp]) -> Floats:
    """A population on the peaks of another, which is enough to start from unless it leaves some report all but impossible."""
    kept = np.zeros_like(p)
    highest = _highest(p, p > 0)
    kept[highest] = p[highest]
    kept, p = kept / kept.sum(), p / p.sum()
    explained = operator.forward(kept)[seen] > LEAST_EXPLAINED * operator.forward(p)[seen]
    return kept if explained.all() else p


def _joined(p: Floats, g: Floats) -> NDArray[np.intp]:
    """The support, and the highest peaks of the gradient: secrets that raise the likelihood."""
    return np.union1d(np.flatnonzero(p), _highest(g, g > 1))


def _highest(v: Floats, allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
    found = np.flatnonzero(allowed & peaks(v))
    return found[np.argsort(-v[found], kind="stable")[:NEW_SECRETS]]
