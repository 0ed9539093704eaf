r"""The most likely population to a certified gap, by constrained Newton steps.

At a population ``p`` with ``m = p M`` the log-likelihood has the quadratic model :math:`-\tfrac12 \sum_j q_j
((xM)_j/m_j - 2)^2 + const`, which non-negative least squares maximises over distributions ``x`` on the present support
and the secrets that would raise the likelihood fastest. A line search towards ``x`` follows. It stops when the
certificate of :mod:`~noisewright.estimate.likelihood` says that nothing is left to gain, in 4 to 8 rounds, where the
iterative Bayesian update would take a hundred thousand. The result is sparse: at most as many secrets as outputs were
seen, often far fewer.

Up to a few hundred secrets all take part in every round; beyond, the support and the peaks of the gradient, so that 20,000
secrets are feasible with structured operators.

>>> import numpy as np
>>> from noisewright.estimate.operators import DenseOperator
>>> found = most_likely(np.array([0.9, 0.1]), DenseOperator(np.array([[2, 1], [1, 2]]) / 3))
>>> found.probabilities.tolist(), found.converged
([1.0, 0.0], True)

Reference: Wang, *On fast computation of the non-parametric maximum likelihood estimate of a mixing distribution* (2007).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.optimize import nnls

from noisewright.core.errors import ParameterError
from noisewright.estimate.bayesian_update import Fit, bayesian_update, check_update
from noisewright.estimate.likelihood import TracePoint, certify, check_possible, ratios
from noisewright.estimate.operators import Operator

__all__ = ["LARGEST_SUPPORT", "most_likely"]

Floats = NDArray[np.float64]

ALL_SECRETS = 400
"""Up to this many secrets all of them take part in every round."""

NEW_SECRETS = 64
"""So many peaks of the gradient join in each round beyond that."""

LARGEST_SUPPORT = 1 << 26
"""Entries of the matrix of a round."""

FIRST_STEPS = 20
"""Steps of the iterative Bayesian update that come first, and tell where the mass is."""


def most_likely(q: Floats, operator: Operator, *, gap: float = 1e-9, iterations: int = 100) -> Fit:
    """The most likely population for shares ``q`` that sum to 1, to a certified ``gap`` per report where floats allow it."""
    check_update(iterations, gap, 0.0)
    check_possible(q, operator)
    seen = np.flatnonzero(q > 0)
    shares, roots = q[seen], np.sqrt(q[seen])
    p = bayesian_update(q, operator, iterations=FIRST_STEPS).probabilities
    small = operator.shape[0] <= ALL_SECRETS
    if not small:
        p = _peaks_only(p)
    trace: list[TracePoint] = []
    best, found = p, certify(p, q, operator)
    for done in range(iterations):
        m = operator.forward(p)
        g = operator.backward(ratios(q, m))
        now = certify(p, q, operator)
        trace.append(TracePoint(done, now.value, now.gap))
        if now.gap < found.gap or done == 0:
            best, found = p, now
        if found.gap <= gap:
            break
        joined = np.arange(len(p)) if small else _joined(p, g)
        if len(joined) * len(seen) > LARGEST_SUPPORT:
            raise ParameterError("this most likely population needs too large a matrix; choose method='ibu'.")
        matrix = operator.rows(joined)[:, seen]
        target = _target(p[joined], matrix, m[seen], roots)
        moved = _line_search(np.asarray(p[joined]), target, matrix, shares)
        following = np.zeros_like(p)
        following[joined] = target if moved is None else moved
        if moved is None and certify(following, q, operator).gap >= found.gap:
            break  # neither the likelihood nor its certificate improves in floats: this is as far as they go
        p = following
    return Fit(best, found, len(trace), found.gap <= gap, tuple(trace))


def _target(p: Floats, matrix: Floats, m: Floats, roots: Floats) -> Floats:
    """The distribution that maximises the quadratic model."""
    design = (matrix * (roots / m)).T
    right = 2 * roots
    if design.shape[0] > design.shape[1]:  # fewer rows with the same least squares
        turned, triangle = scipy.linalg.qr(design, mode="economic", check_finite=False)
        design, right = np.asarray(triangle, dtype=np.float64), np.asarray(right @ turned, dtype=np.float64)
    heavy = 1e3 * max(1.0, float(np.abs(design).max()))
    design = np.vstack([design, np.full(design.shape[1], heavy)])
    try:
        found, _ = nnls(design, np.append(right, heavy), maxiter=30 * design.shape[1])
    except RuntimeError:  # it went round in circles, which rounding can make it do: an update raises the likelihood too
        found = p * (matrix @ (roots**2 / m))
    return np.asarray(found / found.sum())


def _line_search(p: Floats, target: Floats, matrix: Floats, shares: Floats) -> Floats | None:
    """The first of the steps 1, 1/2, 1/4, ... towards the target that raises the likelihood by a share of the slope."""
    p = p / p.sum()
    here, there = p @ matrix, target @ matrix
    slope = float(shares @ (there / here)) - 1
    with np.errstate(divide="ignore"):
        for power in range(40):
            step = 0.5**power
            gain = float(shares @ np.log1p(step * (there - here) / here))
            if gain > 0 and gain >= step * slope / 3:
                return np.asarray((1 - step) * p + step * target)
    return None


def _peaks_only(p: Floats) -> Floats:
    """A population on the peaks of another, which is enough to start from."""
    kept = np.zeros_like(p)
    peaks = _highest(p, p > 0)
    kept[peaks] = p[peaks]
    return np.asarray(kept / kept.sum())


def _joined(p: Floats, g: Floats) -> NDArray[np.intp]:
    """The support, and the highest peaks of the gradient: secrets that raise the likelihood."""
    return np.union1d(np.flatnonzero(p), _highest(g, g > 1))


def _highest(v: Floats, allowed: NDArray[np.bool_]) -> NDArray[np.intp]:
    edge = np.pad(v, 1, constant_values=-np.inf)
    peaks = np.flatnonzero(allowed & (v >= edge[:-2]) & (v >= edge[2:]))
    return peaks[np.argsort(-v[peaks], kind="stable")[:NEW_SECRETS]]
