r"""Likelihood of the reports under a population, and a certificate of how much better any other could explain them.

With the shares ``q`` of the outputs, the mean log-likelihood of a population ``p`` is

.. math:: L(p) = \sum_j q_j \log (pM)_j .

**Certificate.** For *any* positive vector ``m`` and :math:`g = M(q/m)`, every population ``p*`` has

.. math:: L(p^*) \le \sum_j q_j \log m_j + \log \max_i g_i ,

because :math:`\log u \le u/v - 1 + \log v`, and ``m`` may be scaled. With ``m = p M`` the right side is
:math:`L(p) + \log \max_i g_i`: the gap costs nothing, as ``g`` is the factor of the next update. Since ``m`` need not
be exact, rounding of the forward product only enters through ``L(p)``. It is added to the gap with the rounding of the
backward product.

Multiply by the number of reports for log-likelihood units. A gap of 0.1 units is far below the resolution of data. The
change between two iterates is not informative (randomised response can move by less than 1e-4 and still be 10 units
away).

>>> import numpy as np
>>> from noisewright.estimation.operators.operator import DenseOperator
>>> coin = DenseOperator(np.array([[2, 1], [1, 2]]) / 3)
>>> found = certify(np.array([1.0, 0.0]), np.array([0.9, 0.1]), coin)
>>> round(found.value, 6), found.gap < 1e-12
(-0.47478, True)
>>> bool(certify(np.array([0.5, 0.5]), np.array([0.9, 0.1]), coin).gap >= -0.47478 - np.log(0.5))
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError
from noisewright.estimation.operators.operator import Operator

__all__ = [
    "IMPOSSIBLE",
    "TINY",
    "Likelihood",
    "TracePoint",
    "certificate",
    "certify",
    "check_possible",
    "ratios",
    "rounding",
]


UNIT = 2.0**-53
"""The relative rounding of one operation."""

TINY = float(np.finfo(np.float64).tiny)
"""Replacement for a probability that rounding made 0."""

IMPOSSIBLE = (
    "some reports cannot come from this mechanism, whatever the population; check that the file belongs to these reports, or "
    "drop such reports."
)


@dataclass(frozen=True)
class Likelihood:
    """``value`` is the mean log-likelihood; no population has more than ``value + gap``, rounding counted in."""

    value: float
    gap: float


@dataclass(frozen=True)
class TracePoint:
    """State of an iteration: its number, the mean log-likelihood, and the certified gap."""

    iteration: int
    value: float
    gap: float


def certify(p: Floats, q: Floats, operator: Operator) -> Likelihood:
    """The likelihood of a population and its certified gap, for shares ``q`` that sum to 1."""
    return certificate(p, q, operator)[0]


def certificate(p: Floats, q: Floats, operator: Operator) -> tuple[Likelihood, Floats]:
    """The likelihood with its certified gap, and the factors ``g`` that certify it."""
    m = operator.forward(p)
    seen = q > 0
    everything = bool(seen.all())
    weights, mixed = (q, m) if everything else (q[seen], m[seen])
    off, smallest = operator.forward_error(p), float(mixed.min())
    floor = max(off, TINY)
    floored = mixed if smallest >= floor else np.maximum(mixed, floor)
    ratio = weights / floored
    if not everything:
        ratio, here = np.zeros_like(q), ratio
        ratio[seen] = here
    g = operator.backward(ratio)
    reached = float(weights @ np.log(floored))
    if not smallest > off:
        return Likelihood(-math.inf, math.inf), g  # some report is too unlikely under p to differ from impossible
    value = float(weights @ np.log(mixed - off)) if off or floored is not mixed else reached
    above = reached + math.log(float(g.max()) + operator.backward_error(ratio))
    return Likelihood(value, max(above - value, 0.0) + rounding(value, operator)), g


def rounding(value: float, operator: Operator) -> float:
    """Return the error bound of a mean log-likelihood, and of a bound on one: they are sums of positive numbers over
    rows and columns.
    """
    return 4 * UNIT * (sum(operator.shape) + 16) * (1 + abs(value))


def ratios(q: Floats, m: Floats) -> Floats:
    """``q / m``, 0 where nothing was reported; what rounding made 0 counts as the smallest float."""
    return np.asarray(np.divide(q, np.maximum(m, TINY), out=np.zeros_like(q), where=q > 0))


def check_possible(q: Floats, operator: Operator) -> None:
    """Refuse reports that no population could give."""
    n = operator.shape[0]
    uniform = np.full(n, 1 / n)
    law = operator.forward(uniform)
    if not (law[q > 0] > operator.forward_error(uniform)).all():
        raise DataError(IMPOSSIBLE)
