r"""The refinement of A that is nearest to B, and the gain that points from it to B.

The refinements of A, ``{A R : R a channel}``, are a compact convex set. Let ``B*`` be the point of it nearest to B in the
Euclidean norm. If it is B, then B refines A; otherwise ``G = B - B*``, read as a gain ``g(w, x) = G[x, w]``, prefers B at
the uniform prior:

    ``V_g[u > A] = <B*, G> / n``  and  ``V_g[u > B] - V_g[u > A] >= ||G||^2 / n > 0``.

The gain is signed; ``witness`` has it shifted for each secret and scaled to ``[0, 1]``, with its exact gap. Prefer
:func:`~noisewright.adversary.orders.deficiency.deficiency` for reporting: its gain is the one with the largest gap.

>>> a = [["3/4", 0, "1/4", 0], ["3/4", "1/4", 0, 0], [0, "1/4", "1/4", "1/2"]]
>>> b = [["1/2", 0, "1/2"], ["1/2", "1/2", 0], [0, "1/2", "1/2"]]
>>> found = project(a, b)
>>> ((8 * found.gain).round(9) + 0.0).tolist()
[[0.0, -1.0, 1.0], [0.0, 1.0, -1.0], [0.0, 0.0, 0.0]]
>>> round(48 * found.before, 9), round(24 * found.after, 9)
(1.0, 1.0)

Reference: McIver, Morgan, Smith, Espinoza and Meinicke (2014), for the separating gain.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from noisewright.adversary.exact.channels import common_secrets, read
from noisewright.adversary.orders._directions import rounding_slack
from noisewright.adversary.orders.average import average_refined
from noisewright.adversary.witness import GainWitness, PostProcessing, gain_witness
from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError

__all__ = ["Projection", "project"]

ACCURACY = 1e-13
MOST_POLISHED = 1_500
"""The active set is solved again where it has no more unknowns than this."""


@dataclass(frozen=True, eq=False)
class Projection:
    """``nearest`` is ``B* = A R``, ``between`` is R, ``gain[x, w]`` is ``B - B*`` and ``distance`` its Euclidean norm.

    ``before`` and ``after`` are the vulnerabilities of A and B under the signed gain. ``witness`` is None where its
    exact gap is not beyond the possible effect of rounding: then B is a refinement as far as floats can distinguish.
    """

    nearest: Floats
    between: Floats
    gain: Floats
    distance: float
    before: float
    after: float
    witness: GainWitness | None


def project(a: Any, b: Any) -> Projection:
    """The Euclidean projection of ``b`` on the refinements of ``a``."""
    first, second = read(a), read(b)
    common_secrets(first, second)
    left, right = first.floats, second.floats
    between = _polished(left, right, _solve(left, right))
    known = average_refined(first, second).witness
    if isinstance(known, PostProcessing):  # where B refines A, the solver gets only near to it
        between = min(between, known.channel.matrix, key=lambda one: float(np.linalg.norm(left @ one - right)))
    nearest = left @ between
    gain = right - nearest
    worth = [float((gain.T @ matrix).max(axis=0).sum()) / len(left) for matrix in (left, right)]
    witness = None
    if np.abs(gain).max() > 1e-12:
        rows = [[Fraction(v) for v in row] for row in gain.T.tolist()]
        witness = gain_witness(rows, second.outputs, first, second)
        if witness.gap <= rounding_slack(first, second):
            witness = None
    return Projection(nearest, between, gain, float(np.linalg.norm(gain)), worth[0], worth[1], witness)


def _solve(a: Floats, b: Floats) -> Floats:
    """``min ||A R - B||^2`` over channels R, by an interior-point method."""
    import clarabel  # type: ignore[import-untyped]

    (n, m), k = a.shape, b.shape[1]
    unknowns, apart = m * k, n * k
    goal = sparse.block_diag([sparse.csc_matrix((unknowns, unknowns)), sparse.identity(apart)], format="csc")
    product = sparse.kron(sparse.csr_matrix(a), sparse.identity(k))
    sums = sparse.kron(sparse.identity(m), np.ones((1, k)))
    rest = sparse.csr_matrix((m + unknowns, apart))
    matrix = sparse.hstack(
        [sparse.vstack([product, sums, -sparse.identity(unknowns)]), sparse.vstack([-sparse.identity(apart), rest])],
        format="csc",
    )
    right = np.concatenate([b.ravel(), np.ones(m), np.zeros(unknowns)])
    cones = [clarabel.ZeroConeT(apart + m), clarabel.NonnegativeConeT(unknowns)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ACCURACY
    found = clarabel.DefaultSolver(goal, np.zeros(unknowns + apart), matrix, right, cones, settings).solve()
    point = np.array(found.x)[:unknowns].reshape(m, k)
    if not np.isfinite(point).all():
        raise ParameterError(f"the projection could not be computed ({found.status}); use channels with fewer outputs.")
    point = np.clip(point, 0.0, None)
    return np.asarray(point / point.sum(axis=1, keepdims=True))


def _polished(a: Floats, b: Floats, between: Floats) -> Floats:
    """The least-squares problem solved once more on the entries that are not zero, where that is no worse and stays a channel."""
    (n, m), k = a.shape, b.shape[1]
    used = np.argwhere(between > 1e-7)
    if len(used) > MOST_POLISHED:
        return between
    design = np.zeros((n * k, len(used)))
    sums = np.zeros((m, len(used)))
    for column, (y, w) in enumerate(used.tolist()):
        design[w::k, column] = a[:, y]
        sums[y, column] = 1.0
    system = np.block([[design.T @ design, sums.T], [sums, np.zeros((m, m))]])
    solution = np.linalg.lstsq(system, np.r_[design.T @ b.ravel(), np.ones(m)], rcond=None)[0]
    polished = np.zeros_like(between)
    polished[used[:, 0], used[:, 1]] = solution[: len(used)]
    if polished.min() < 0 or np.abs(polished.sum(axis=1) - 1).max() > 1e-12:
        return between
    better = np.linalg.norm(a @ polished - b) <= np.linalg.norm(a @ between - b) + 1e-15
    return polished if better else between
