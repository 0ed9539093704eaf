r"""A face that a model does not know, as a mixture of faces that it knows: least absolute deviations.

Known identities have features X_1, ..., X_m and a new face has features Y, all from one public recogniser. The weights
W minimise :math:`\sum_i |Y_i - \sum_j W_j X_{ji}|`. As a linear program with one row per feature; its dual,

.. math:: \max_v \; Y^\top v \quad \text{subject to} \quad X v = 0, \quad -1 \le v_i \le 1,

has m, and its multipliers are the weights. In a simplex (weights of at least 0 that add up to 1) the condition is
:math:`X_j v \le \lambda` with :math:`Y^\top v - \lambda` to be maximised. The weights are a function of the secret
face, found *before* any noise: the resulting code is clamped to its box and protected as any other code.

>>> identity_weights([[1, 0, 2], [0, 1, 1]], [0.5, 0.25, 1.25]).weights.round(9).tolist()
[0.5, 0.25]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError

__all__ = ["Mixture", "identity_weights"]


@dataclass(frozen=True, eq=False)
class Mixture:
    """The weights of known identities, and how far their mixture is from the new face in all features together."""

    weights: Floats
    deviation: float


def identity_weights(known: ArrayLike, face: ArrayLike, *, simplex: bool = False) -> Mixture:
    """The mixture of ``known`` features (one identity in each row) that is nearest to the features of a ``face``.

    ``simplex`` keeps it between the known faces, where a generator was trained.
    """
    X, Y = np.asarray(known, np.float64), np.asarray(face, np.float64)
    if X.ndim != 2 or not len(X) or Y.shape != X.shape[1:] or not Y.size:
        raise DataError("known features have one row for each identity, and the face has one such row itself.")
    if not np.isfinite(X).all() or not np.isfinite(Y).all():
        raise DataError("features are finite numbers; look at the pictures or the recogniser that they came from.")
    many = len(X)
    if simplex:
        program = linprog(
            np.append(-Y, 1.0),
            A_ub=np.column_stack([X, -np.ones(many)]),
            b_ub=np.zeros(many),
            bounds=[(-1, 1)] * len(Y) + [(None, None)],
            method="highs-ds",
        )
    else:
        program = linprog(-Y, A_eq=X, b_eq=np.zeros(many), bounds=(-1, 1), method="highs-ds")
    if program.status != 0:
        raise DataError("no mixture was found for the features of a face; scale them to the size of 1.")
    weights = -np.asarray((program.ineqlin if simplex else program.eqlin).marginals)
    if simplex:  # the last digits of a solver
        weights = np.maximum(weights, 0)
        weights /= weights.sum()
    return Mixture(weights, float(np.abs(Y - weights @ X).sum()))
