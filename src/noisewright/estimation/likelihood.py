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
>>> from noisewright.estimation.operators import DenseOperator
>>> coin = DenseOperator(np.array([[2, 1], [1, 2]]) / 3)
>>> found = certify(np.array([1.0, 0.0]), np.array([0.9, 0.1]), coin)
>>> round(found.value, 6), found.gap < 1e-12
(-0.47478, True)
>>> bool(certify(np.array([0.5, 0.5]), np.array([0.9, 0.1]), coin).gap >= -0.47478 - np.log(0.5))
True

A wrong file, a changed setting or respondents who do not follow the rules often give reports that no population explains. For
``N`` reports with shares ``q`` and their law ``m``, the moments of relative entropy are bounded for any number of reports,
:math:`E[e^{\lambda N D(q\|m)}] \le (1-\lambda)^{-d}` with ``d`` one less than the number of outputs, so that for :math:`t > d`

.. math:: P\bigl(N D(q\|m) \ge t\bigr) \le e^{d - t}\, (t/d)^d .

The true population explains the reports no better than the best one does. Therefore, with ``t`` the relative entropy
that is left at the best population, certified from below, this bounds the chance of reports that fit as badly. Several
mechanisms, each with its own reports, multiply these moments, and their ``d`` add up. The bound is never below the
chance, and for many outputs far above it: silence proves nothing.

>>> import numpy as np
>>> coin = np.array([[3, 1], [1, 3]]) / 4                       # nobody's chance of a yes is below 1/4
>>> shares = np.array([0.9, 0.1])
>>> best = np.array([1.0, 0.0]) @ coin
>>> value = float(shares @ np.log(best))
>>> bool(np.exp(log_chance(shares, 1000, value, 0.0, 1)) < 1e-28)
True
>>> misfit(shares, 10, value, 0.0, 1)                           # ten reports may well look like that
()

Reference: Agrawal, *Finite-sample concentration of the multinomial in relative entropy* (2020).

``q M^-1`` has the right mean and sums to 1, but may leave [0, 1]. Where it does not, it is the most likely population.
Repairs make it a distribution at the cost of a bias: ``clip`` cuts off negative entries and rescales, ``project`` takes
the nearest distribution in the Euclidean distance. Either can be far worse than a most likely population.

>>> project(np.array([1.7, -0.7])).tolist(), project(np.array([0.5, 0.3, -0.1])).round(3).tolist()
([1.0, 0.0], [0.6, 0.4, 0.0])

Its variance is exact: report ``j`` counts ``W_ji`` for secret ``i``, so the variance is
:math:`(\sum_j q_j W_{ji}^2 - (qW)_i^2)/N` with the true law ``q`` of the reports; with their shares it is estimated.

Two populations with the same law of reports cannot be distinguished by any number of reports: that happens when the
rows of the mechanism's matrix depend on each other (fewer outputs than secrets, or epsilon = 0). Even when they do not,
the most likely population for *these* reports need not be unique: only the outputs that were seen count. It is unique
when the rows of the secrets that attain the maximum of the gradient are independent on the outputs seen.

>>> import numpy as np
>>> from noisewright.estimation.operators import DenseOperator
>>> thirds = DenseOperator([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3], [0.2, 0.4, 0.4]])
>>> found = identifiability(thirds, np.array([1.0, 0.0, 0.0]), np.array([0.5, 0.5, 0.0]))
>>> found.rank, found.unique
(3, False)
>>> print(found.warnings[0])
another population explains these reports just as well: the outputs seen do not tell 2 secrets apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from noisewright._typing import Floats
from noisewright.estimation.inverses import Inverse, PlanarOperator
from noisewright.estimation.operators import (
    GeometricOperator,
    Operator,
    ProductOperator,
    ResponseOperator,
    StackedOperator,
)
from noisewright.exceptions import DataError

__all__ = [
    "IMPOSSIBLE",
    "TINY",
    "Identifiability",
    "Likelihood",
    "TracePoint",
    "certificate",
    "certify",
    "check_possible",
    "clip",
    "identifiability",
    "invert",
    "linear_estimate",
    "log_chance",
    "misfit",
    "project",
    "rank_of",
    "ratios",
    "rounding",
    "standard_errors",
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


# Misfit -------------------------------------------------------------------------------------------------------------------
#
# Whether reports can come from a mechanism at all: a bound on the probability of such reports, whatever the
# population.


UNLIKELY = 1e-6
"""Reports whose chance is below this are said not to fit."""


def log_chance(q: Floats, total: int, value: float, gap: float, degrees: int) -> float:
    """The logarithm of a bound on the chance of ``total`` reports that fit as badly as shares ``q`` do.

    ``value`` is the mean log-likelihood of a population, and no other one has more than ``gap`` above it.
    """
    seen = q[q > 0]
    left = total * (float(seen @ np.log(seen)) - value - gap)
    rounding = 1e-12 * total  # of the two sums, which nearly cancel where the fit is good
    left -= rounding
    if degrees < 1 or not left > degrees:
        return 0.0
    return min(degrees - left + degrees * math.log(left / degrees), 0.0)


def misfit(q: Floats, total: int, value: float, gap: float, degrees: int) -> tuple[str, ...]:
    """Return a sentence where the reports hardly come from the mechanism; nothing where they may."""
    if not math.isfinite(value) or log_chance(q, total, value, gap, degrees) > math.log(UNLIKELY):
        return ()
    return (
        "no population explains these reports: the chance of any that fit as badly is below one in a million; check that this "
        "is the mechanism that made them, and that it was followed.",
    )


# Inversion ----------------------------------------------------------------------------------------------------------------
#
# Matrix inversion: the unbiased estimate of a population, and two ways back into the distributions.


def invert(q: Floats, operator: Operator) -> Floats:
    """``q M^-1``: unbiased, sums to 1, perhaps negative."""
    return operator.inverse().left(q)


def clip(r: Floats) -> Floats:
    """Return the positive part, rescaled to sum to 1."""
    kept = np.maximum(r, 0.0)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def project(r: Floats) -> Floats:
    """The nearest distribution in the Euclidean distance; further axes in front are a batch."""
    falling = -np.sort(-r, axis=-1)
    k = np.arange(1, r.shape[-1] + 1)
    excess = (np.cumsum(falling, axis=-1) - 1) / k
    count = (falling > excess).sum(axis=-1, keepdims=True)
    found = np.maximum(r - np.take_along_axis(excess, count - 1, axis=-1), 0.0)
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def standard_errors(q: Floats, reports: float, inverse: Inverse) -> Floats:
    """Standard errors of :func:`invert` for every secret."""
    return np.asarray(np.sqrt(np.maximum(inverse.squares(q) - inverse.left(q) ** 2, 0.0) / reports))


def linear_estimate(weights: Floats, q: Floats, reports: float, inverse: Inverse) -> tuple[float, float]:
    """The unbiased estimate of ``sum_x p_x weights_x`` (a mean, a share of some secrets), and its standard error."""
    worth = inverse.centred(inverse.right(weights), q)
    mean = float(q @ worth)
    return mean, math.sqrt(max(float(q @ worth**2) - mean**2, 0.0) / reports)


# Identifiability ----------------------------------------------------------------------------------------------------------
#
# Whether reports can distinguish populations, and whether the most likely population is the only one.


LARGEST_RANK = 1500
"""Secrets or outputs up to which the rank of a matrix is computed."""

TOLERANCE = 1e-11

WEAK = 50.0
"""A noise amplification above this is worth a word."""


@dataclass(frozen=True)
class Identifiability:
    """``rank`` is the rank of the mechanism's matrix, ``unique`` states whether the fitted population is the only best
    one; None: not computed.
    """

    secrets: int
    rank: int | None
    unique: bool | None
    warnings: tuple[str, ...]


def rank_of(operator: Operator) -> int | None:
    """Return the number of independent populations that the reports can distinguish; None where the matrix is too large
    to decide.
    """
    if isinstance(operator, ResponseOperator):
        return operator.size if operator.lift > 1e-12 else 1
    if isinstance(operator, GeometricOperator):
        return operator.size if operator.rate > 1e-12 else 1
    if isinstance(operator, ProductOperator):
        ranks = [rank_of(part) for part in operator.parts]
        return None if None in ranks else int(np.prod([r for r in ranks if r is not None]))
    if isinstance(operator, PlanarOperator) and operator.shape[0] > LARGEST_RANK:
        return None
    if isinstance(operator, StackedOperator) and operator.shape[0] in [rank_of(part) for part in operator.parts]:
        return operator.shape[0]
    if min(operator.shape) > LARGEST_RANK or operator.shape[0] > 4 * LARGEST_RANK:
        return None
    return int(np.linalg.matrix_rank(operator.rows(np.arange(operator.shape[0])), rtol=TOLERANCE))


def identifiability(operator: Operator, q: Floats, p: Floats, gap: float = 1e-9) -> Identifiability:
    """Return whether reports with shares ``q`` determine the population, and whether the fit ``p`` is the only best
    one.
    """
    n = operator.shape[0]
    rank = rank_of(operator)
    warnings: list[str] = []
    if rank is not None and rank < n:
        warnings.append(
            f"the population cannot be told from reports of this mechanism: they fix {rank} of {n} directions, and the "
            "rest of the answer depends on where the estimator started."
        )
    # With every output seen, the law of the reports is fixed, and a full rank leaves one population for it.
    unique = 0 if rank == n and (q > 0).all() else _unique(operator, q, p, gap)
    if unique is not None and unique > 0 and not warnings:
        warnings.append(
            "another population explains these reports just as well: the outputs seen do not tell "
            f"{unique} secrets apart."
        )
    return Identifiability(n, rank, None if unique is None else unique == 0, tuple(warnings))


def _unique(operator: Operator, q: Floats, p: Floats, gap: float) -> int | None:
    """Return the number of secrets that share a best face whose rows depend on each other, 0 if none; None where that
    is too large to decide.
    """
    g = operator.backward(ratios(q, operator.forward(p)))
    face = np.flatnonzero((g >= g.max() - max(10 * gap, 1e-7)) | (p > 1e-9))
    seen = np.flatnonzero(q > 0)
    if len(face) > LARGEST_RANK or len(face) * len(seen) > 1 << 24:
        return None
    rows = operator.rows(face)[:, seen]
    return 0 if int(np.linalg.matrix_rank(rows, rtol=TOLERANCE)) == len(face) else len(face)
