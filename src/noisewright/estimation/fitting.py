r"""The mixture of given points that lies nearest the origin, by block pivoting.

For points :math:`a_1, \dots, a_n` it finds the weights ``x`` from 0 that sum to 1 with the least
:math:`\|\sum_i x_i a_i\|`. A Newton step of :mod:`~noisewright.estimation.fitting` needs this many times, with
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

At a population ``p`` with ``m = p M`` the log-likelihood has the quadratic model
:math:`-\tfrac12 \sum_j q_j ((xM)_j/m_j - 2)^2 + const`, which
:func:`~noisewright.estimation.fitting.nearest_mixture` maximises over distributions ``x`` on the present support
and the secrets that would raise the likelihood fastest, starting from the support of the round before. A line search
towards ``x`` follows. It stops when the certificate of :mod:`~noisewright.estimation.likelihood` says that
nothing is left to gain, in 4 to 8 rounds, where the iterative Bayesian update would take a hundred thousand. The result
is sparse: the number of its secrets is at most the number of outputs seen, often far fewer.

Up to a few hundred secrets all take part in every round; beyond, the support and the peaks of the gradient, so that 20,000
secrets are feasible with structured operators.

>>> import numpy as np
>>> from noisewright.estimation.operators import DenseOperator
>>> found = most_likely(np.array([0.9, 0.1]), DenseOperator(np.array([[2, 1], [1, 2]]) / 3))
>>> found.probabilities.tolist(), found.converged
([1.0, 0.0], True)

Reference: Wang, *On fast computation of the non-parametric maximum likelihood estimate of a mixing distribution* (2007).

>>> from noisewright.estimation.operators import ResponseOperator
>>> coin = Fitting("ibu", ResponseOperator(2, other=0.25, lift=0.5), gap=1e-6, steps=100)
>>> shares = np.array([0.4, 0.6])
>>> once = fitted(coin, shares)
>>> once.converged, once.probabilities.round(2).tolist()
(True, [0.3, 0.7])
>>> refitted(coin, once.iterations)(np.array([shares, shares[::-1]])).round(2).tolist()
[[0.3, 0.7], [0.7, 0.3]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.estimation.bayesian_update import (
    Fit,
    accelerated_update,
    bayesian_update,
    bayesian_updates,
    check_update,
    response_mle,
    starting_point,
    stepper,
)
from noisewright.estimation.likelihood import (
    Likelihood,
    TracePoint,
    certificate,
    certify,
    check_possible,
    invert,
    project,
    rounding,
)
from noisewright.estimation.operators import Operator, ResponseOperator
from noisewright.exceptions import ParameterError

__all__ = ["LARGEST_SUPPORT", "QUICK", "Fitting", "fitted", "most_likely", "nearest_mixture", "peaks", "refitted"]


LARGEST_HULL = 100
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
    support, ones = support.copy(), np.ones(LARGEST_HULL)
    fewest, patience = n + 1, PATIENCE
    for _ in range(TRIES):
        chosen = support.nonzero()[0]
        if not 0 < len(chosen) <= min(width + 1, LARGEST_HULL):  # more than width + 1 points depend on each other
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


# Newton -------------------------------------------------------------------------------------------------------------------
#
# The most likely population to a certified gap, by constrained Newton steps.


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


# Fit ----------------------------------------------------------------------------------------------------------------------
#
# One estimator with its settings, run on shares of outputs: once with its certificate, or on many draws at a time.


QUICK = 1000
"""Maximum number of secrets and outputs for which a best population is found to compare with one that was stopped
early.
"""

FINEST = 1e-9
"""A most likely population is certified to this gap for each report, or to the one asked for where that is smaller."""


@dataclass(frozen=True, eq=False)
class Fitting:
    """Method of fitting a population: ``"inversion"``, ``"mle"`` or ``"ibu"``, and the settings of the update."""

    method: str
    operator: Operator
    gap: float
    """The certified gap for each report at which an update may stop."""
    steps: int
    """The most steps of an update."""
    start: Floats | None = None
    smoothing: float = 0.0
    accelerate: bool = False


def fitted(
    how: Fitting,
    shares: Floats,
    *,
    unbiased: Floats | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """The population for these shares, with its certificate; ``unbiased`` is what inversion gives, where it is known already."""
    check_possible(shares, how.operator)
    if how.method == "mle":
        return _most_likely(how, shares)
    if how.method == "inversion":
        found = project(invert(shares, how.operator) if unbiased is None else unbiased)
        likelihood = certify(found, shares, how.operator)
        return _sharpened(Fit(found, likelihood, 0, likelihood.gap <= how.gap), how, shares)
    return _sharpened(_updated(how, shares, how.steps, gap=how.gap, progress=progress), how, shares)


def refitted(how: Fitting, steps: int) -> Callable[[Floats], Floats]:
    """The same estimator for a batch of shares, after as many steps; inversion stays unbiased, and is not projected."""
    if how.method == "inversion":
        return how.operator.inverse().left
    if how.method == "mle":
        if isinstance(how.operator, ResponseOperator):
            other, lift = how.operator.other, how.operator.lift
            return lambda q: response_mle(q, other=other, lift=lift)
        return lambda q: np.array([most_likely(one, how.operator, gap=1e-7).probabilities for one in q])
    count = max(steps, 1)
    if how.accelerate or how.smoothing:
        return lambda q: np.array([_updated(how, one, count).probabilities for one in q])
    return lambda q: bayesian_updates(q, how.operator, start=how.start, iterations=count)


def _updated(how: Fitting, shares: Floats, steps: int, **limits: Any) -> Fit:
    if how.accelerate:
        return accelerated_update(shares, how.operator, start=how.start, iterations=steps, **limits)
    return bayesian_update(shares, how.operator, start=how.start, iterations=steps, smoothing=how.smoothing, **limits)


def _most_likely(how: Fitting, shares: Floats) -> Fit:
    if isinstance(how.operator, ResponseOperator):
        found = response_mle(shares, other=how.operator.other, lift=how.operator.lift)
        return Fit(found, certify(found, shares, how.operator), 0, True)
    return most_likely(shares, how.operator, gap=min(how.gap, FINEST))


def _sharpened(fit: Fit, how: Fitting, shares: Floats) -> Fit:
    """The same fit with a sharper certificate, where a best population is quickly found: its likelihood bounds all others."""
    if fit.converged or how.operator.shape[0] > QUICK or int((shares > 0).sum()) > QUICK:
        return fit
    best = most_likely(shares, how.operator).likelihood
    mine = fit.likelihood
    sharper = max(best.value + best.gap - mine.value, 0.0) + rounding(mine.value, how.operator)
    likelihood = Likelihood(mine.value, min(mine.gap, sharper))
    return replace(fit, likelihood=likelihood, converged=likelihood.gap <= how.gap)
