"""Solvers of linear programs: clarabel first, HiGHS where it does not finish.

``minimise goal z`` with ``rows z <= 0``, ``sums z = totals`` and ``z >= 0`` for the first ``signed`` variables. What
comes back is raw material: it satisfies the constraints up to the accuracy only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError

__all__ = ["Answer", "LinearProgram", "UnsolvedError", "solved"]


INFEASIBLE = "infeasible"


class LinearProgram(Protocol):
    """Objective to be minimised, and its constraints."""

    goal: Floats
    rows: Any
    sums: Any
    totals: Floats
    signed: int


@dataclass(frozen=True)
class Answer:
    """A point, and the multipliers of the two kinds of constraints (those of ``rows`` are 0 or more)."""

    point: Floats
    rows: Floats
    sums: Floats
    solver: str


class UnsolvedError(ParameterError):
    """A program that is too large for the solvers, or that none of them could finish."""


def solved(program: LinearProgram, solver: str, accuracy: float) -> Answer | None:
    """The answer of the named solver or, if it does not finish, of the other; None if no point satisfies the
    constraints.
    """
    failed = ""
    for run in (_highs,) if solver == "HiGHS" else (_clarabel, _highs):
        found = run(program, accuracy)
        if isinstance(found, Answer):
            return found
        if found == INFEASIBLE:
            return None
        failed = found
    raise UnsolvedError(f"the linear program could not be solved ({failed}); rescale the loss, or use fewer secrets.")


def _clarabel(program: LinearProgram, accuracy: float) -> Answer | str:
    import clarabel  # type: ignore[import-untyped]

    size, start = len(program.goal), len(program.totals)
    blocks = [program.sums, program.rows]
    if program.signed:
        blocks.append(-sparse.identity(size, format="csr")[: program.signed])
    matrix = sparse.csc_matrix(sparse.vstack(blocks))
    right = np.concatenate([program.totals, np.zeros(matrix.shape[0] - start)])
    cones = [clarabel.ZeroConeT(start), clarabel.NonnegativeConeT(matrix.shape[0] - start)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    none = sparse.csc_matrix((size, size))
    found = clarabel.DefaultSolver(none, program.goal, matrix, right, cones, settings).solve()
    status = str(found.status)
    if "PrimalInfeasible" in status:
        return INFEASIBLE
    point, dual = np.array(found.x), np.array(found.z)
    if not np.isfinite(point).all() or ("Solved" not in status and found.r_prim > 1e-5):
        return status
    return Answer(point, dual[start : start + program.rows.shape[0]], dual[:start], "clarabel")


def _highs(program: LinearProgram, accuracy: float) -> Answer | str:
    from scipy.optimize import linprog

    limits = [(0, None)] * program.signed + [(None, None)] * (len(program.goal) - program.signed)
    found = linprog(
        program.goal,
        A_ub=program.rows,
        b_ub=np.zeros(program.rows.shape[0]),
        A_eq=program.sums,
        b_eq=program.totals,
        bounds=limits,
        method="highs",
        options={"primal_feasibility_tolerance": accuracy, "dual_feasibility_tolerance": accuracy},
    )
    if found.status == 2:
        return INFEASIBLE
    if found.x is None:
        return str(found.message)
    return Answer(
        np.asarray(found.x), -np.asarray(found.ineqlin.marginals), -np.asarray(found.eqlin.marginals), "HiGHS"
    )
