"""The root of a continuous function between two places where its signs differ, by Chandrupatla's method.

Inverse quadratic interpolation where the last three points say that it is safe, bisection otherwise; usually ten steps
in all. It is the one solver that mechanisms for numbers need, and having it here spares everyone who uses one of them
the half second that loading SciPy's optimisers takes.

>>> abs(root(lambda x: x * x - 2, 0, 2) - math.sqrt(2)) <= 4e-16
True

T. R. Chandrupatla, *A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without using
derivatives*, Advances in Engineering Software 28 (1997).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from noisewright.core.errors import ParameterError

__all__ = ["root"]


def root(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    xtol: float = 0.0,
    rtol: float = 2 * sys.float_info.epsilon,
) -> float:
    """Return where ``function`` changes its sign between ``low`` and ``high``, to within ``xtol + rtol * |root|``."""
    # The bracket is x1..x2, x1 the newest point, and x3 the one that was left out last.
    x1, f1, x2, f2 = float(low), float(function(low)), float(high), float(function(high))
    if f1 == 0 or f2 == 0:
        return x1 if f1 == 0 else x2
    if (f1 > 0) == (f2 > 0) or math.isnan(f1) or math.isnan(f2):
        raise ParameterError("a root needs two ends at which the function has different signs.")
    share = 0.5
    while True:
        x = x1 + share * (x2 - x1)
        f = float(function(x))
        if (f > 0) == (f1 > 0):
            x3, f3, x1, f1 = x1, f1, x, f
        else:
            x3, f3, x2, f2, x1, f1 = x2, f2, x1, f1, x, f
        best, value = (x1, f1) if abs(f1) < abs(f2) else (x2, f2)
        near = (2 * rtol * abs(best) + xtol) / abs(x2 - x1)
        if near > 0.5 or value == 0:
            return best
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        share = 0.5
        if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
            share = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        share = min(1 - near, max(near, share))
