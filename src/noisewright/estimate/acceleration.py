r"""The iterative Bayesian update with strides: the same limit in a fraction of the steps, where Newton steps are out of reach.

Two updates ``p0 -> p1 -> p2`` show where the iteration is going. With :math:`r = p_1 - p_0`, :math:`v = (p_2 - p_1) - r` and a
stride ``s`` of :math:`\|r\|/\|v\|`, the point :math:`p_0 + 2 s r + s^2 v` lies far ahead on the same way. The stride is shortened
until that point has full support, an ordinary update follows, and where that point is less likely than ``p2``, ``p2`` is taken:
the likelihood never falls. What is certified is the result, as everywhere, so a bad stride could cost time but not truth.

>>> import numpy as np
>>> from noisewright.estimate.bayesian_update import bayesian_update
>>> from noisewright.estimate.operators import GeometricOperator
>>> line = GeometricOperator(50, rate=0.1)
>>> q = np.random.default_rng(0).multinomial(1000, line.forward(np.full(50, 0.02))) / 1000
>>> fast, slow = accelerated_update(q, line, iterations=300), bayesian_update(q, line, iterations=3000)
>>> fast.likelihood.value > slow.likelihood.value
True

Reference: Varadhan and Roland, *Simple and globally convergent methods for accelerating the convergence of any EM
algorithm* (2008).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from noisewright.estimate.bayesian_update import TINY, Fit, check_update, starting_point
from noisewright.estimate.likelihood import TracePoint, certify, check_possible, ratios
from noisewright.estimate.operators import Operator

__all__ = ["accelerated_update"]

Floats = NDArray[np.float64]

FIRST_LIMIT, LIMIT_CHANGE = 4.0, 4.0
"""The limit of a stride, and the factor by which it grows when it was reached and shrinks when it led nowhere."""


def accelerated_update(
    q: Floats,
    operator: Operator,
    *,
    start: Floats | None = None,
    iterations: int = 1000,
    gap: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """As :func:`~noisewright.estimate.bayesian_update.bayesian_update`; ``iterations`` counts updates, three for each stride."""
    check_update(iterations, gap, 0.0)
    p = starting_point(operator, start)
    check_possible(q, operator)
    seen = q > 0

    def updated(x: Floats) -> tuple[Floats, float, float]:
        """One update of ``x``, and the likelihood and the certificate of ``x`` itself."""
        m = operator.forward(x)
        g = operator.backward(ratios(q, m))
        moved = x * g
        value = float(q[seen] @ np.log(np.maximum(m[seen], TINY)))
        return np.asarray(moved / moved.sum()), value, float(np.log(g.max()))

    trace: list[TracePoint] = []
    done, converged, longest = 0, False, FIRST_LIMIT
    while True:
        first, value, bound = updated(p)
        trace.append(TracePoint(done, value, max(bound, 0.0)))
        if progress is not None:
            progress(done, iterations)
        if bound <= gap and certify(p, q, operator).gap <= gap:
            converged = True
            break
        if done + 3 > iterations:
            break
        second, _, _ = updated(first)
        ahead, length = _stride(p, first, second, longest)
        done += 2
        if ahead is None:
            p = second
            continue
        following, there, _ = updated(ahead)
        done += 1
        m = operator.forward(second)
        here = float(q[seen] @ np.log(np.maximum(m[seen], TINY)))
        if there >= here:
            p = following
            longest = longest * LIMIT_CHANGE if length == longest else longest
        else:
            p = second
            longest = max(longest / LIMIT_CHANGE, FIRST_LIMIT)
    found = certify(p, q, operator)
    return Fit(p, found, done, converged or found.gap <= gap, tuple(trace))


def _stride(p: Floats, first: Floats, second: Floats, longest: float) -> tuple[Floats | None, float]:
    """A point ahead with full support, and the length of the stride to it; None where ordinary steps go as far."""
    r = first - p
    v = (second - first) - r
    bent = float(np.sqrt((v * v).sum()))
    length = min(float(np.sqrt((r * r).sum())) / bent, longest) if bent > 0 else 1.0
    while length > 1.01:
        ahead = p + 2 * length * r + length * length * v
        if (ahead > 0).all():
            return np.asarray(ahead / ahead.sum()), length
        length = (length + 1) / 2
    return None, 1.0
