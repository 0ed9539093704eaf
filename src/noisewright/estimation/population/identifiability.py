r"""Whether reports can distinguish populations, and whether the most likely population is the only one.

Two populations with the same law of reports cannot be distinguished by any number of reports: that happens when the
rows of the mechanism's matrix depend on each other (fewer outputs than secrets, or epsilon = 0). Even when they do not,
the most likely population for *these* reports need not be unique: only the outputs that were seen count. It is unique
when the rows of the secrets that attain the maximum of the gradient are independent on the outputs seen.

>>> import numpy as np
>>> from noisewright.estimation.operators.operator import DenseOperator
>>> thirds = DenseOperator([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3], [0.2, 0.4, 0.4]])
>>> found = identifiability(thirds, np.array([1.0, 0.0, 0.0]), np.array([0.5, 0.5, 0.0]))
>>> found.rank, found.unique
(3, False)
>>> print(found.warnings[0])
another population explains these reports just as well: the outputs seen do not tell 2 secrets apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.estimation.fitting.likelihood import ratios
from noisewright.estimation.operators.operator import (
    GeometricOperator,
    Operator,
    ProductOperator,
    ResponseOperator,
    StackedOperator,
)
from noisewright.estimation.operators.planar import PlanarOperator

__all__ = ["Identifiability", "identifiability", "rank_of"]


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
