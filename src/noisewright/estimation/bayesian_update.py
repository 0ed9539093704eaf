r"""The iterative Bayesian update: expectation-maximisation for the population behind private reports.

From a population with full support, repeat

.. math:: p_i \leftarrow p_i \sum_j q_j \frac{M_{ij}}{(pM)_j} .

Each step keeps the sum, never lowers the likelihood, and the limit is a most likely population. Where matrix inversion
gives a distribution, the limit is that. Stopping early smooths: at the limit a most likely population is often a few
spikes.

It stops when the certified gap (:mod:`~noisewright.estimation.likelihood`) is below ``gap`` or after ``iterations``
steps, whichever is first; the gap is part of the answer either way. With ``smoothing`` each step also mixes neighbours
in the order of the secrets with weights 1, 2, 1; the result is then no longer the most likely one, and its gap says by
how much.

>>> import numpy as np
>>> from noisewright.estimation.operators import DenseOperator
>>> coin = DenseOperator(np.array([[2, 1], [1, 2]]) / 3)
>>> bayesian_update(np.array([0.9, 0.1]), coin, iterations=10).probabilities.round(5).tolist()
[0.99117, 0.00883]

Reference: Agrawal and Aggarwal, *On the design and quantification of privacy preserving data mining algorithms* (2001);
ElSalamouny and Palamidessi, *Generalized iterative Bayesian update* (2020).

With probability ``other + lift`` for the truth and ``other`` for each other value, let ``t = other / lift``. The most likely
population for shares ``q`` of the reports is

.. math:: p_j = \max(0,\; q_j/\lambda - t), \qquad \text{with } \lambda \text{ such that } \sum_j p_j = 1 .

Sorted with the largest share first, :math:`\lambda_k = (q_{(1)} + \dots + q_{(k)}) / (1 + k t)`, and ``k`` is the
largest number with :math:`q_{(k)} > t \lambda_k`. Therefore it takes a sort, where iterations would take tens of
thousands of steps.

>>> import numpy as np
>>> response_mle(np.array([0.9, 0.1]), other=1/3, lift=1/3).tolist()
[1.0, 0.0]
>>> response_mle(np.array([0.6, 0.4]), other=1/3, lift=1/3).round(12).tolist()
[0.8, 0.2]

An update adds :math:`f(y) = \log M(q/m)` to the logarithms ``y`` of a population with the law ``m``; at the limit ``f`` is 0
on
the support. The last few updates show how ``f`` changes with ``y``, and the next stride goes where a linear model of that has
the smallest ``f`` (Anderson's method):

.. math:: y + f - \sum_k \gamma_k (\Delta y_k + \Delta f_k), \qquad
   \gamma = \arg\min \sum_i p_i \bigl(f - \textstyle\sum_k \gamma_k \Delta f_k\bigr)_i^2 .

In logarithms no secret can lose its support, and a limit keeps each from changing too much at once. Where a stride leads to a
less likely population, it is forgotten with all before it, and the ordinary update is taken: the likelihood never falls.
What is
certified is the result, as everywhere, so a bad stride could cost time but not truth.

>>> import numpy as np
>>> from noisewright.estimation.bayesian_update import bayesian_update
>>> from noisewright.estimation.operators import GeometricOperator
>>> line = GeometricOperator(50, rate=0.1)
>>> q = np.random.default_rng(0).multinomial(1000, line.forward(np.full(50, 0.02))) / 1000
>>> fast, slow = accelerated_update(q, line, iterations=100), bayesian_update(q, line, iterations=3000)
>>> fast.likelihood.value > slow.likelihood.value
True

Reference: Walker and Ni, *Anderson acceleration for fixed-point iterations* (2011); Henderson and Varadhan, *Damped Anderson
acceleration with restarts and monotonicity control for accelerating EM and EM-like algorithms* (2019).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, is_whole
from noisewright.estimation.inverses import SINGULAR
from noisewright.estimation.likelihood import TINY, Likelihood, TracePoint, certify, check_possible, ratios
from noisewright.estimation.operators import DenseOperator, Operator
from noisewright.exceptions import ParameterError

__all__ = [
    "Fit",
    "accelerated_update",
    "bayesian_update",
    "bayesian_updates",
    "begun",
    "check_update",
    "ended",
    "reported",
    "response_mle",
    "starting_point",
    "stepper",
]


CHECKED = 64
"""Number of steps between two checks of the stopping rule."""


@dataclass(frozen=True)
class Fit:
    """A population fitted to reports, with its certificate and the way there."""

    probabilities: Floats
    likelihood: Likelihood
    iterations: int
    converged: bool
    """Whether the certified gap is as small as requested."""
    trace: tuple[TracePoint, ...] = ()


def bayesian_update(
    q: Floats,
    operator: Operator,
    *,
    start: Floats | None = None,
    iterations: int = 5000,
    gap: float = 0.0,
    smoothing: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """One problem: shares ``q`` of the outputs that sum to 1, and a ``gap`` (per report) to stop at."""
    p = begun(q, operator, start, iterations, gap, smoothing)
    step = stepper(q, operator, smoothing)
    trace: list[TracePoint] = []
    done, following = 0, 1
    while True:
        m = operator.forward(p)
        bound = float(np.log(operator.backward(ratios(q, m)).max()))
        if done in (0, following, iterations) or bound <= gap:
            seen = q > 0
            value = float(q[seen] @ np.log(np.maximum(m[seen], TINY)))
            trace.append(TracePoint(done, value, max(bound, 0.0)))
            following = max(following + 1, int(following * 1.2)) if done == following else following
            if progress is not None:
                progress(done, iterations)
        if done == iterations or (bound <= gap and certify(p, q, operator).gap <= gap):
            break
        look = min(max(following, done + 1), iterations)
        if gap:  # no certificate is 0
            look = min(look, done - done % CHECKED + CHECKED)
        p = step(p, look - done)
        p /= p.sum()  # rounding only: a step keeps the sum
        done = look
    return ended(p, q, operator, done, gap, trace)


def begun(
    q: Floats, operator: Operator, start: Floats | None, iterations: int, gap: float, smoothing: float = 0.0
) -> Floats:
    """Return the initial state of updates, after validating their arguments."""
    check_update(iterations, gap, smoothing)
    p = starting_point(operator, start)
    check_possible(q, operator)
    return p


def ended(p: Floats, q: Floats, operator: Operator, done: int, gap: float, trace: Iterable[TracePoint]) -> Fit:
    """The population that updates came to, certified."""
    found = certify(p, q, operator)
    return Fit(p, found, done, found.gap <= gap, tuple(trace))


def bayesian_updates(q: Floats, operator: Operator, *, iterations: int, start: Floats | None = None) -> Floats:
    """A batch of problems, one in each row of ``q``, with the same number of steps for all."""
    check_update(iterations, 0.0, 0.0)
    p = np.broadcast_to(starting_point(operator, start), (*q.shape[:-1], operator.shape[0])).copy()
    for _ in range(iterations):
        p *= operator.backward(ratios(q, operator.forward(p)))
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def stepper(q: Floats, operator: Operator, smoothing: float = 0.0) -> Callable[[Floats, int], Floats]:
    """Return a function that takes a population some steps further."""
    if isinstance(operator, DenseOperator) and not smoothing:
        return _dense_stepper(q, operator)

    def step(p: Floats, count: int) -> Floats:
        for _ in range(count):
            p = p * operator.backward(ratios(q, operator.forward(p)))
            if smoothing:
                p = _smoothed(p, smoothing)
        return p

    return step


def _dense_stepper(q: Floats, operator: DenseOperator) -> Callable[[Floats, int], Floats]:
    """Small matrices spend their time between the products, so nothing is allocated and unreported outputs are left out."""
    matrix, transposed, shares = reported(q, operator)
    law, factors = np.empty(len(shares)), np.empty(len(matrix))
    floor = np.full(len(shares), TINY)
    forward, backward, divide, multiply = transposed.dot, matrix.dot, np.divide, np.multiply

    def walk(p: Floats, count: int, floored: bool) -> Floats:
        p = p.copy()
        for _ in range(count):
            forward(p, law)
            if floored:
                np.maximum(law, floor, out=law)
            divide(shares, law, law)
            backward(law, factors)
            multiply(p, factors, p)
        return p

    def step(p: Floats, count: int) -> Floats:
        with np.errstate(all="ignore"):
            found = walk(p, count, floored=False)
        # A law that rounding made 0 shows in the result, and is so rare that it is cheaper to walk again than to look.
        return found if np.isfinite(found).all() else walk(p, count, floored=True)

    return step


def reported(q: Floats, operator: DenseOperator) -> tuple[Floats, Floats, Floats]:
    """The columns of a matrix that were reported, the same transposed, and their shares."""
    seen = q > 0
    if seen.all():
        return operator.matrix, operator.transposed, q
    matrix = np.ascontiguousarray(operator.matrix[:, seen])
    return matrix, np.ascontiguousarray(matrix.T), q[seen]


def starting_point(operator: Operator, start: ArrayLike | None) -> Floats:
    """A starting population with full support: a secret that starts at 0 would stay there."""
    n = operator.shape[0]
    if start is None:
        return np.full(n, 1 / n)
    try:
        given = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape != (n,) or not np.isfinite(given).all() or not (given > 0).all():
        raise ParameterError(f"start must be {n} numbers above 0, one for each secret: a secret at 0 would stay there.")
    return np.asarray(given / given.sum())


def check_update(iterations: int, gap: float, smoothing: float) -> None:
    """Refuse settings that make no sense."""
    if not is_whole(iterations) or iterations < 1:
        raise ParameterError("iterations must be a whole number from 1.")
    if not is_number(gap) or not gap >= 0:
        raise ParameterError("gap must be a number from 0, in log-likelihood.")
    if not is_number(smoothing) or not 0 <= smoothing <= 1:
        raise ParameterError("smoothing must be a number from 0 to 1.")


def _smoothed(p: Floats, weight: float) -> Floats:
    """Mixed with neighbours, 1-2-1, reflected at both ends; keeps the sum."""
    mixed = p / 2
    mixed[1:] += p[:-1] / 4
    mixed[:-1] += p[1:] / 4
    mixed[[0, -1]] += p[[0, -1]] / 4
    return np.asarray((1 - weight) * p + weight * mixed)


# Response -----------------------------------------------------------------------------------------------------------------
#
# The most likely population behind randomised response, in closed form.


def response_mle(q: Floats, *, other: float, lift: float) -> Floats:
    """The most likely population for shares ``q``; further axes in front are a batch."""
    if not lift > 0:
        raise ParameterError(SINGULAR)
    t = other / lift
    falling = -np.sort(-q, axis=-1)
    k = np.arange(1, q.shape[-1] + 1)
    levels = np.cumsum(falling, axis=-1) / (1 + k * t)
    count = (falling > t * levels).sum(axis=-1, keepdims=True)  # true for the first ones, then false
    level = np.take_along_axis(levels, count - 1, axis=-1)
    found = np.maximum(q / level - t, 0.0)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


# Acceleration -------------------------------------------------------------------------------------------------------------
#
# The iterative Bayesian update with strides: the same limit in a fraction of the steps, where Newton steps are out of reach.


MEMORY = 10
"""Number of the last updates that are remembered: more save few steps, and each costs two vectors."""

LONGEST = 3.0
"""The most that a stride changes the logarithm of a probability by."""

LEAST = -700.0
"""The smallest logarithm of a probability: the support stays full in floats."""

RIDGE = 1e-10
"""Added to the linear equations of a stride, in relation to their diagonal: changes of late updates are almost dependent."""


def accelerated_update(
    q: Floats,
    operator: Operator,
    *,
    start: Floats | None = None,
    iterations: int = 1000,
    gap: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Update as :func:`~noisewright.estimation.bayesian_update.bayesian_update`; ``iterations`` counts updates,
    forgotten ones too.
    """
    p = begun(q, operator, start, iterations, gap)
    look, strides = _looker(q, operator), _Strides(len(p))
    y = plain = np.log(p)
    trace: list[TracePoint] = []
    done, last, strode = 0, -math.inf, False
    while True:
        value, g = look(p)
        if strode and not value >= last:
            p, y = _population(plain)
            strides.forget()
            strode = False
            if done == iterations:
                break
            done += 1
            continue
        last, bound = value, math.log(g.max())
        trace.append(TracePoint(done, value, max(bound, 0.0)))
        if progress is not None:
            progress(done, iterations)
        if done == iterations or (bound <= gap and certify(p, q, operator).gap <= gap):
            break
        f = np.log(np.maximum(g, TINY))
        plain = y + f
        ahead = strides.ahead(y, f, np.sqrt(p))
        strode = ahead is not None
        p, y = _population(plain if ahead is None else ahead)
        done += 1
    return ended(p, q, operator, done, gap, trace)


class _Strides:
    """The last updates, and the stride that they suggest."""

    def __init__(self, size: int) -> None:
        self._changes, self._steps = np.empty((MEMORY, size)), np.empty((MEMORY, size))
        self._before: tuple[Floats, Floats] | None = None
        self._count = 0

    def forget(self) -> None:
        self._before, self._count = None, 0

    def ahead(self, y: Floats, f: Floats, weights: Floats) -> Floats | None:
        """The logarithms of a population ahead of ``y``, which an update would change by ``f``; None where nothing is known."""
        from scipy.linalg.lapack import dposv

        if self._before is not None:
            row = self._count % MEMORY
            change = np.subtract(f, self._before[1], out=self._changes[row])
            step = np.subtract(y, self._before[0], out=self._steps[row])
            step += change
            self._count += 1
        self._before = y, f
        known = min(self._count, MEMORY)
        if not known:
            return None
        weighed = self._changes[:known] * weights
        gram = weighed @ weighed.T
        gram.flat[:: known + 1] *= 1 + RIDGE
        _, gamma, failed = dposv(gram, weighed @ (weights * f), lower=True)
        if failed or not math.isfinite(gamma.sum()):
            self.forget()
            return None
        move = f - gamma @ self._steps[:known]
        return np.asarray(y + np.minimum(np.maximum(move, -LONGEST), LONGEST))


def _population(y: Floats) -> tuple[Floats, Floats]:
    """The population with these logarithms, scaled to sum to 1, and its logarithms."""
    y = np.maximum(y, LEAST)
    p = np.exp(y)
    total = float(p.sum())
    return p / total, y - math.log(total)


def _looker(q: Floats, operator: Operator) -> Callable[[Floats], tuple[float, Floats]]:
    """Return a function for the likelihood of a population and the factors of its update; the factors hold until the
    next call.
    """
    if not isinstance(operator, DenseOperator):
        seen = q > 0

        def look(p: Floats) -> tuple[float, Floats]:
            m = operator.forward(p)
            return float(q[seen] @ np.log(np.maximum(m[seen], TINY))), operator.backward(ratios(q, m))

        return look
    matrix, transposed, shares = reported(q, operator)
    law, factors = np.empty(len(shares)), np.empty(len(matrix))

    def look_densely(p: Floats) -> tuple[float, Floats]:
        transposed.dot(p, law)
        np.maximum(law, TINY, out=law)
        value = float(shares @ np.log(law))
        np.divide(shares, law, out=law)
        matrix.dot(law, factors)
        return value, factors

    return look_densely
