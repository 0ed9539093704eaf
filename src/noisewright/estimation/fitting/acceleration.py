r"""The iterative Bayesian update with strides: the same limit in a fraction of the steps, where Newton steps are out of reach.

An update adds :math:`f(y) = \log M(q/m)` to the logarithms ``y`` of a population with the law ``m``; at the limit ``f`` is 0 on
the support. The last few updates show how ``f`` changes with ``y``, and the next stride goes where a linear model of that has
the smallest ``f`` (Anderson's method):

.. math:: y + f - \sum_k \gamma_k (\Delta y_k + \Delta f_k), \qquad
   \gamma = \arg\min \sum_i p_i \bigl(f - \textstyle\sum_k \gamma_k \Delta f_k\bigr)_i^2 .

In logarithms no secret can lose its support, and a limit keeps each from changing too much at once. Where a stride leads to a
less likely population, it is forgotten with all before it, and the ordinary update is taken: the likelihood never falls. What is
certified is the result, as everywhere, so a bad stride could cost time but not truth.

>>> import numpy as np
>>> from noisewright.estimation.fitting.bayesian_update import bayesian_update
>>> from noisewright.estimation.operators.operator import GeometricOperator
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
from collections.abc import Callable

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.estimation.fitting.bayesian_update import Fit, begun, ended, reported
from noisewright.estimation.fitting.likelihood import TINY, TracePoint, certify, ratios
from noisewright.estimation.operators.operator import DenseOperator, Operator

__all__ = ["accelerated_update"]


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
    """Update as :func:`~noisewright.estimation.fitting.bayesian_update.bayesian_update`; ``iterations`` counts updates,
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
