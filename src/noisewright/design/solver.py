"""Solving for the best private mechanism: by interior points, bounded from below by the dual.

The variables, the constraints and how multipliers become a bound are in :mod:`~noisewright.design.linear_program`. Costs are
shifted and scaled before, so that the solver sees numbers of size 1; if it leaves a gap, the other solver is asked too.

>>> losses = np.log(3) * np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
>>> wrong = (1 - np.eye(3)) / 3
>>> found = solve(losses, wrong, pairs=np.array([[0, 1], [1, 2]]))
>>> round(found.value, 6), found.value - found.bound < 1e-8
(0.333333, True)

*Shapes and a tiny epsilon.* All rows are nearly one row ``q`` then, and the multipliers ``r`` of further rows ``F M <= 0``
in the little program over ``q`` alone are accurate: a bound for the cost ``C + F^T r`` is one for ``C``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from noisewright._typing import Floats, Indices
from noisewright.design.linear_program import TINY_LOSS, Folding, FurtherRows, Objective, SparseProgram, unfolded
from noisewright.exceptions import ParameterError
from noisewright.numerics.polyhedra import UnsolvedError, solved

__all__ = [
    "LARGEST_PROGRAM",
    "LEAST_LOG",
    "InfeasibleError",
    "Solution",
    "blind_bound",
    "check_program",
    "constant_regret",
    "floored",
    "majorant",
    "private_logs",
    "solve",
    "uniform_regret",
]


LARGEST_PROGRAM = 60_000
"""More entries (secrets times actions) than this are not given to the solver."""

MOST_ROWS = 3_000_000
"""More constraints than this are not built."""

DOUBTFUL = 1e-7
"""Relative gap, in terms of the costs, above which the other solver is asked too,"""

MOST_TWICE = 50_000
"""unless there are more constraints than this."""


class InfeasibleError(ParameterError):
    """No mechanism satisfies all constraints."""


@dataclass(frozen=True)
class Solution:
    """A solver's matrix (not private yet), a lower bound of the optimum, and the prior that proves it for
    ``minimax``.
    """

    matrix: Floats
    value: float
    bound: float
    solver: str
    variables: int
    rows: int
    prior: Floats | None = None


def check_program(secrets: int, actions: int, shaped: bool = False) -> None:
    """Refuse a program that would take for ever."""
    if secrets * actions > LARGEST_PROGRAM:
        advice = (
            "use fewer secrets or outputs, or leave the shape out, because every shape needs a program."
            if shaped
            else "use fewer secrets or outputs, or an evenly spaced line with a loss such as 'absolute', which needs no "
            "program; give its points as whole numbers or exact fractions."
        )
        raise UnsolvedError(
            f"a linear program over {secrets} secrets and {actions} actions is too large ({LARGEST_PROGRAM} entries is "
            f"the limit); {advice}"
        )


def solve(
    losses: Floats,
    cost: Floats,
    *,
    pairs: Indices | None,
    objective: Objective = "bayes",
    folding: Folding | None = None,
    further: FurtherRows | None = None,
    solver: str = "clarabel",
    accuracy: float = 1e-10,
) -> Solution:
    """The best mechanism for losses ``D(x, x')`` between secrets and costs ``C[x, w]``; ``pairs=None`` means one loss
    for every pair.

    ``accuracy`` is the target of the solver; the bound is one whatever it reaches.
    """
    n, actions = cost.shape
    check_program(n, actions)
    folding = folding or unfolded(n, actions)
    shift, scale = _scaled(cost, objective, further is not None)
    program = SparseProgram(losses, (cost - shift) / scale, pairs, objective, folding, further)
    if program.rows.shape[0] > MOST_ROWS:
        raise UnsolvedError(
            f"a linear program with {program.rows.shape[0]} constraints is too large ({MOST_ROWS} is the limit); allow "
            "a larger dilation, or use fewer secrets."
        )
    if further is not None and objective == "bayes" and program.nearest < TINY_LOSS:
        priced, alike = _alike(program.cost, further)
        program.least = blind_bound(losses, priced)
        value = float((program.cost @ alike).sum())
        if value - program.least <= DOUBTFUL:
            bound = program.least * scale + float(shift.sum())
            rows = np.tile(alike, (n, 1))
            return Solution(rows, float((cost * rows).sum()), bound, "HiGHS", actions, program.rows.shape[0])
    found = _answer(program, losses, cost, shift, scale, solver, accuracy)
    doubtful = max(DOUBTFUL, 100 * accuracy)
    if solver == "clarabel" and found.value - found.bound > doubtful * scale and program.rows.shape[0] <= MOST_TWICE:
        other = _answer(program, losses, cost, shift, scale, "HiGHS", accuracy)
        best = found if found.value - found.bound <= other.value - other.bound else other
        found = replace(best, bound=max(found.bound, other.bound))
    return found


def _answer(
    program: SparseProgram, losses: Floats, cost: Floats, shift: Floats, scale: float, solver: str, accuracy: float
) -> Solution:
    answer = solved(program, solver, accuracy)
    if answer is None:
        raise InfeasibleError("no private mechanism satisfies all of these constraints; leave one of them out.")
    matrix = program.matrix(answer.point)
    bound, prior = program.bound((answer.rows, answer.sums[program.own :]))
    bayes = program.objective == "bayes"
    constant = float(shift.sum() if bayes else shift.max())
    own = (cost * matrix).sum(axis=1)
    value = float(own.sum() if bayes else own.max())
    weights = 1.0 if bayes else (np.full(len(cost), 1 / len(cost)) if prior is None else prior)[:, None]
    bound = max(max(bound, program.least) * scale + constant, blind_bound(losses, weights * cost))
    return Solution(matrix, value, bound, answer.solver, program.variables, program.rows.shape[0], prior)


def blind_bound(losses: Floats, cost: Floats) -> float:
    """Return a lower bound that is good where next to nothing may be revealed, and free of rounding by one over a tiny
    epsilon.

    A row differs from the row of a fixed secret ``z`` by no more than ``1 - e^-D(x,z)`` in total variation, so a
    mechanism saves at most that much of the range of each secret's costs against the best constant action.
    """
    with np.errstate(invalid="ignore"):
        saved = (np.ptp(cost, axis=1)[:, None] * -np.expm1(-losses)).sum(axis=0).min()
    return float(cost.sum(axis=0).min() - saved)


def _alike(cost: Floats, further: FurtherRows) -> tuple[Floats, Floats]:
    """Return the costs with further constraints weighted by the multipliers of the best mechanism whose rows are all
    alike, and its row.

    A row of infinities stands for none, where the little program is not solved.
    """
    from scipy.optimize import linprog

    n, actions = cost.shape
    blocks: list[Any] = [
        rows for rows in (further.inequalities, further.equalities) if rows is not None and rows.shape[0]
    ]
    alike = sparse.csr_array(sparse.vstack([sparse.identity(actions)] * n))
    kinds = [rows is further.inequalities for rows in blocks]
    merged = [sparse.csr_array(rows) @ alike for rows in blocks]
    unequal: list[Any] = [rows for rows, kind in zip(merged, kinds, strict=True) if kind]
    equal: list[Any] = [rows for rows, kind in zip(merged, kinds, strict=True) if not kind]
    sums: Any = sparse.csr_array(sparse.vstack([*equal, sparse.csr_array(np.ones((1, actions)))]))
    found: Any = linprog(
        cost.sum(axis=0),
        A_ub=unequal[0] if unequal else None,
        b_ub=np.zeros(unequal[0].shape[0]) if unequal else None,
        A_eq=sums,
        b_eq=np.append(np.zeros(sum(rows.shape[0] for rows in equal)), 1.0),
        method="highs",
    )
    if found.x is None:
        return cost, np.full(actions, np.inf)
    priced = cost.ravel().copy()
    if unequal:
        priced += sparse.csr_array(further.inequalities).T @ np.maximum(-found.ineqlin.marginals, 0.0)
    if equal:
        priced += sparse.csr_array(further.equalities).T @ -found.eqlin.marginals[:-1]
    row = np.maximum(found.x, 0.0)
    return np.asarray(priced.reshape(n, actions)), np.asarray(row / row.sum())


def _scaled(cost: Floats, objective: Objective, shaped: bool) -> tuple[Floats, float]:
    """Return the amounts subtracted from each row of the cost, which change no optimum, and the divisor of the rest."""
    low = cost.min(axis=1, keepdims=True) if objective == "bayes" else np.full((len(cost), 1), cost.min())
    level = uniform_regret(cost, objective) if shaped else constant_regret(cost, objective)
    return low, min(float((cost - low).max()), level) or 1.0


def constant_regret(cost: Floats, objective: Objective) -> float:
    """Return the cost of the best constant action beyond the unavoidable cost: no mechanism that is best costs more."""
    if objective == "bayes":
        return float((cost - cost.min(axis=1, keepdims=True)).sum(axis=0).min())
    return float((cost - cost.min()).max(axis=0).min())


def uniform_regret(cost: Floats, objective: Objective) -> float:
    """Return the cost of the uniform response beyond the unavoidable cost. It has every shape, which a constant action
    has not.
    """
    if objective == "bayes":
        return float((cost - cost.min(axis=1, keepdims=True)).mean(axis=1).sum())
    return float((cost - cost.min()).mean(axis=1).max())


# Repair -------------------------------------------------------------------------------------------------------------------
#
# Repair of a solver's answer to a private channel: the smallest private majorant, evened out, then proved in
# integers.
#
# A solver's matrix keeps its constraints up to 1e-9 or so, and a 1e-12 next to a 0 is an infinite loss. Three steps make
# it private without a tolerance (in real numbers; rounding is left to the certificate, which is exact):
#
# 1. ``R[x,w] = max_z e^(-D(x,z)) C[z,w]``, the smallest private matrix above the solver's;
# 2. its rows have sums ``s_x`` that are a little above 1. With ``S = max s``, ``e_x = S - s_x`` and a distribution
#    ``q`` the rows ``R[x] + (e_x + t) q`` all have the sum ``S + t``, and they are private if ``e_x + t`` is, which a
#    large enough ``t`` makes it;
# 3. everything is divided by ``S + t``.
#
# Probabilities below ``e^-1500`` are raised to that, in the whole table alike: it keeps the guarantee, is far below what
# any number shows, and keeps the integers of points that are very far apart short.
#
# What that moves is about as much as the solver was off, divided by the loss between the nearest secrets; certification
# measures and bounds it.


LEAST_LOG = -1500.0
"""Possible outputs are at least this likely, in logarithms."""

NEGLIGIBLE = 1e-13
"""Sums of rows that agree this well are evened out by the certificate alone."""


def private_logs(matrix: Floats, losses: Floats, snap: float = 0.0, *, even: bool = False) -> Floats:
    """Logarithms of a private channel near ``matrix``, where ``losses[x, z]`` is ``epsilon d(x, z)``.

    Entries of at most ``snap`` count as 0 at first; they come back as far as privacy needs them. ``even``: the missing
    mass of a row is shared out among all outputs alike, which breaks no shape.
    """
    clipped = np.where(matrix > snap, matrix, 0.0)
    with np.errstate(divide="ignore"):
        logs = floored(majorant(np.log(clipped), losses))
    raised = np.exp(logs)
    sums = raised.sum(axis=1)
    missing = sums.max() - sums
    if missing.max() <= NEGLIGIBLE:
        return np.asarray(logs - np.log(sums)[:, None])
    extra = missing + _evened(missing, losses)
    shared = np.ones(raised.shape[1]) if even else raised.mean(axis=0)
    with np.errstate(divide="ignore"):
        logs = np.logaddexp(logs, np.log(extra)[:, None] + np.log(shared / shared.sum()))
    return np.asarray(logs - np.log(sums.max() + extra.max() - missing[extra.argmax()]))


def floored(logs: Floats) -> Floats:
    """Return the logarithms with the least one raised to ``LEAST_LOG``; impossible entries stay so."""
    return np.where(np.isneginf(logs), logs, np.maximum(logs, LEAST_LOG))


def majorant(logs: Floats, losses: Floats) -> Floats:
    """The smallest private matrix above the given one, in logarithms; for losses that obey the triangle inequality."""
    raised = logs.copy()
    for z in range(len(logs)):
        near = np.isfinite(losses[:, z])
        raised[near] = np.maximum(raised[near], logs[z] - losses[near, z, None])
    return raised


def _evened(amounts: Floats, losses: Floats) -> float:
    """The smallest ``t`` for which ``amounts + t`` is private: no amount above the allowed factor times another."""
    apart = losses > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = (np.exp(-losses) * amounts[:, None] - amounts[None, :]) / -np.expm1(-losses)
    return float(needed[apart].max(initial=0.0))
