r"""The programs of finite games: linear for the 0-1 loss, with exponential or power cones for the log and the alpha losses.

Variables are the moved masses ``T[r, k]``, the part of the budget that is left, and the joint law ``J[y, k]`` of
private values and outputs, whose multiplier is the gain of the adversary's best belief. Masses are scaled to a mean of
one: the objectives are homogeneous, so this changes no multiplier. What comes back is raw material: a matrix up to the
solver's accuracy, beliefs and a cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from noisewright.core.arrays import Floats
from noisewright.learned.theory._rows import GameRows, Moves
from noisewright.learned.theory.losses import AdversaryLoss, SquaredLoss
from noisewright.optimality.program.solvers import UnsolvedError, solved

__all__ = ["Raw", "independent", "least_gain", "saturated"]

ACCURACY = 1e-10
SMALL = 4_000
"""Linear programs of at most this size (variables and cells) go to the simplex method, which leaves zeros where they belong."""

FREE = 1e-7
"""A cost of distortion below this is none."""


@dataclass(frozen=True)
class Raw:
    """A matrix that is nearly a mechanism, and the adversary's beliefs and the cost of distortion that go with it."""

    matrix: Floats
    beliefs: Floats
    price: float
    finished: bool = True
    """Whether the solver came to its end."""


@dataclass
class _Linear:
    """A linear program in the form of our solvers; all variables are non-negative."""

    goal: Floats
    rows: Any
    sums: Any
    totals: Floats

    signed: int = 0

    def __post_init__(self) -> None:
        self.signed = len(self.goal)


def least_gain(
    rows: GameRows, budget: float, loss: AdversaryLoss, most: float | None = None, share: float = 1.0
) -> Raw:
    """The mechanism with which an adversary of this loss gains least, within the budget.

    ``most``: her accuracy with the 0-1 loss must not be more than this in addition; for the log loss. ``share``: below
    1 the solver goes only so much of each step, and more of them, which helps near cones of large orders.
    """
    if isinstance(loss, SquaredLoss):
        return _quadratic(rows, budget, loss, share)
    return _linear(rows, budget) if loss.is_zero_one else _conic(rows, budget, loss, most, share)


def _linear(rows: GameRows, budget: float) -> Raw:
    """``t[k] >= J[y, k]``, and the least sum of ``t``; then, of all mechanisms that reach it, one of least distortion."""
    moves, scale, outputs, privates = rows.moves, 1 / rows.mass.mean(), rows.outputs, rows.privates
    n, solver = len(moves.cost), _solver(moves)
    above = sparse.kron(np.ones((privates, 1)), sparse.identity(outputs))
    inequalities = sparse.csr_matrix(sparse.hstack([moves.joints, sparse.csr_matrix((privates * outputs, 1)), -above]))
    totals = sparse.hstack([moves.sums, sparse.csr_matrix((len(moves.totals), 1 + outputs))])

    def program(goal: Floats, limited: Floats, limit: float) -> _Linear:
        """Minimise over T, the slack of the limit, and t: the least goal under the limit."""
        sums = sparse.csr_matrix(sparse.vstack([totals, sparse.csr_matrix(limited[None, :])]))
        return _Linear(goal, inequalities, sums, np.append(moves.totals * scale, limit))

    spending = np.concatenate([moves.cost, [1.0], np.zeros(outputs)])
    guessing = np.concatenate([np.zeros(n), [1.0], np.ones(outputs)])
    rest = np.arange(n + 1 + outputs) == n  # costs nothing
    answer = solved(program(guessing * ~rest, spending, budget * scale), solver, ACCURACY)
    if answer is None:
        raise UnsolvedError("no mechanism keeps to this budget; allow more distortion.")
    beliefs, price = answer.rows.reshape(privates, outputs), float(answer.sums[-1])
    point = np.asarray(answer.point)
    if price < FREE:  # with a cost above zero every best mechanism spends the whole budget
        least = float(point[n + 1 :].sum())
        try:
            cheaper = solved(program(spending * ~rest, guessing, least), solver, ACCURACY)
        except UnsolvedError:
            cheaper = None
        point = point if cheaper is None else np.asarray(cheaper.point)
    return Raw(moves.matrix(point[:n]), beliefs, price)


def _conic(rows: GameRows, budget: float, loss: AdversaryLoss, most: float | None, share: float) -> Raw:
    import clarabel  # type: ignore[import-untyped]

    moves, scale = rows.moves, 1 / rows.mass.mean()
    n = len(moves.cost)
    cells, outputs, privates = rows.privates * rows.outputs, rows.outputs, rows.privates
    # Variables: T, the rest of the budget, J, one number s[k] an output, one number u[y, k] a cell, and t[k] with a limit.
    limits = 0 if most is None else outputs
    starts = np.cumsum([0, n, 1, cells, outputs, cells, limits])
    width = int(starts[-1])

    def block(part: int, matrix: Any) -> Any:
        """A matrix that acts on one part of the variables."""
        before, after = int(starts[part]), width - int(starts[part]) - matrix.shape[1]
        count = matrix.shape[0]
        return sparse.hstack(
            [sparse.csr_matrix((count, before)), sparse.csr_matrix(matrix), sparse.csr_matrix((count, after))]
        )

    each, one = sparse.identity(cells), sparse.identity(outputs)
    over_private = sparse.kron(np.ones((1, privates)), one)
    spread = sparse.kron(np.ones((privates, 1)), one)  # s[k] for every cell
    goal = np.zeros(width)
    if loss.is_log:  # s is the sum of J over private values; J ln(J / s) <= u
        goal[starts[4] : starts[5]] = 1.0
        sums = block(2, over_private) - block(3, one)
        triple = (-block(4, each), block(2, each), block(3, spread))
        cone: Any = clarabel.ExponentialConeT()
    else:  # J <= u^(1/alpha) s^(1 - 1/alpha) and u adds up to s, which is the norm
        goal[starts[3] : starts[4]] = 1.0
        sums = block(4, over_private) - block(3, one)
        triple = (block(4, each), block(3, spread), block(2, each))
        cone = clarabel.PowerConeT(1 / loss.order)
    equal = [
        block(0, moves.sums),
        block(0, moves.cost[None, :]) + block(1, np.ones((1, 1))),
        block(0, moves.joints) - block(2, each),
        sums,
    ]
    totals = np.concatenate([moves.totals * scale, [budget * scale], np.zeros(cells + outputs)])
    unequal, rights = [-block(0, sparse.identity(n)), -block(1, np.ones((1, 1)))], [np.zeros(n + 1)]
    if most is not None:
        unequal += [block(2, each) - block(5, spread), block(5, np.ones((1, outputs)))]
        rights += [np.zeros(cells), np.array([most * scale])]
    # Cones are triples of neighbouring rows: one row of each of the three blocks after the other.
    order = np.arange(3 * cells).reshape(3, cells).T.ravel()
    cones = -sparse.csr_matrix(sparse.vstack(triple))[order]
    matrix = sparse.csc_matrix(sparse.vstack([*equal, *unequal, cones]))
    right = np.concatenate([totals, *rights, np.zeros(3 * cells)])
    kinds = [clarabel.ZeroConeT(len(totals)), clarabel.NonnegativeConeT(sum(len(r) for r in rights)), *[cone] * cells]
    point, dual, finished = _answer(goal, matrix, right, kinds, share)
    first = len(moves.totals) + 1
    gains = dual[first : first + cells].reshape(privates, outputs)
    if loss.is_log:
        beliefs = np.exp(gains - gains.max(axis=0, keepdims=True))
    else:
        beliefs = np.maximum(gains, 0.0) ** (loss.order / (loss.order - 1))
    return Raw(moves.matrix(point[:n]), beliefs, float(dual[first - 1]), finished)


def _quadratic(rows: GameRows, budget: float, loss: SquaredLoss, share: float) -> Raw:
    """The least sum of ``m[k]^2 / s[k]`` for the mass s of an output and its part m of the mean: cones of the second order."""
    import clarabel

    moves, scale, outputs = rows.moves, 1 / rows.mass.mean(), rows.outputs
    prior = _prior(rows)
    values = np.array(loss.values)
    centre = float(prior @ values)
    spread = float(np.sqrt(prior @ (values - centre) ** 2)) or 1.0
    n, one = len(moves.cost), sparse.identity(outputs)
    parts = [
        sparse.csr_matrix(sparse.kron(weights[None, :], one) @ moves.joints)
        for weights in ((values - centre) / spread, np.ones(rows.privates))
    ]
    # Variables: T, the rest of the budget, m, s, and u with u s >= m^2.
    none = sparse.csr_matrix((outputs, outputs))
    equal = [
        sparse.hstack([moves.sums, sparse.csr_matrix((len(moves.totals), 1 + 3 * outputs))]),
        sparse.csr_matrix(np.concatenate([moves.cost, [1.0], np.zeros(3 * outputs)])[None, :]),
        sparse.hstack([parts[0], sparse.csr_matrix((outputs, 1)), -one, none, none]),
        sparse.hstack([parts[1], sparse.csr_matrix((outputs, 1)), none, -one, none]),
    ]
    totals = np.concatenate([moves.totals * scale, [budget * scale], np.zeros(2 * outputs)])
    above = sparse.hstack([-sparse.identity(n + 1), sparse.csr_matrix((n + 1, 3 * outputs))])
    blank = sparse.csr_matrix((outputs, n + 1))
    rowed = [
        sparse.hstack([blank, none, -one, -one]),  # u + s, u - s, 2 m
        sparse.hstack([blank, none, one, -one]),
        sparse.hstack([blank, -2 * one, none, none]),
    ]
    order = np.arange(3 * outputs).reshape(3, outputs).T.ravel()
    cones = sparse.csr_matrix(sparse.vstack(rowed))[order]
    matrix = sparse.csc_matrix(sparse.vstack([*equal, above, cones]))
    right = np.concatenate([totals, np.zeros(n + 1 + 3 * outputs)])
    kinds = [clarabel.ZeroConeT(len(totals)), clarabel.NonnegativeConeT(n + 1)]
    kinds += [clarabel.SecondOrderConeT(3)] * outputs
    goal = np.concatenate([np.zeros(n + 1 + 2 * outputs), np.ones(outputs)])
    point, dual, finished = _answer(goal, matrix, right, kinds, share)
    first = len(moves.totals) + 1
    guesses = centre + spread * dual[first : first + outputs] / 2
    return Raw(moves.matrix(point[:n]), guesses[None, :], spread**2 * float(dual[first - 1]), finished)


def _answer(goal: Floats, matrix: Any, right: Floats, kinds: list[Any], share: float) -> tuple[Floats, Floats, bool]:
    """The point and the multipliers of a conic program, and whether the solver came to its end."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    if share < 1:
        settings.max_step_fraction, settings.max_iter = share, 600
        settings.min_switch_step_length, settings.min_terminate_step_length = 1e-3, 1e-8
    none = sparse.csc_matrix((len(goal), len(goal)))
    found = clarabel.DefaultSolver(none, goal, matrix, right, kinds, settings).solve()
    point, dual = np.array(found.x), np.array(found.z)
    if not np.isfinite(point).all() or not np.isfinite(dual).all() or "Infeasible" in str(found.status):
        raise UnsolvedError(f"the program of this game could not be solved ({found.status}); use fewer values.")
    return point, dual, str(found.status) == "Solved"


def _solver(moves: Moves) -> str:
    return "HiGHS" if len(moves.cost) + moves.joints.shape[0] <= SMALL else "clarabel"


def independent(rows: GameRows) -> tuple[Floats, Floats] | None:
    """The cheapest mechanism that is independent of the private value, and multipliers ``v[y, k]`` of ``J = P(y) q[k]``."""
    moves, scale, cells = rows.moves, 1 / rows.mass.mean(), rows.privates * rows.outputs
    laws = sparse.kron(_prior(rows)[:, None], sparse.identity(rows.outputs))
    sums = sparse.bmat([[moves.sums, None], [moves.joints, -laws]])
    program = _Linear(
        np.concatenate([moves.cost, np.zeros(rows.outputs)]),
        sparse.csr_matrix((0, len(moves.cost) + rows.outputs)),
        sparse.csr_matrix(sums),
        np.concatenate([moves.totals * scale, np.zeros(cells)]),
    )
    answer = solved(program, _solver(moves), ACCURACY)
    if answer is None:
        return None
    point, multipliers = np.asarray(answer.point[: len(moves.cost)]), answer.sums[len(moves.totals) :]
    return moves.matrix(point), multipliers.reshape(rows.privates, rows.outputs)


def saturated(rows: GameRows) -> tuple[Floats, Floats] | None:
    """The cheapest mechanism after which the best guess is still the most likely private value, and multipliers as above."""
    moves, scale, first = rows.moves, 1 / rows.mass.mean(), int(_prior(rows).argmax())
    less = np.delete(np.eye(rows.privates), first, axis=0)
    less[:, first] = -1.0
    unequal = sparse.csr_matrix(sparse.kron(sparse.csr_matrix(less), sparse.identity(rows.outputs)))
    program = _Linear(
        moves.cost,
        sparse.csr_matrix(unequal @ moves.joints),
        sparse.csr_matrix(moves.sums),
        moves.totals * scale,
    )
    answer = solved(program, _solver(moves), ACCURACY)
    if answer is None:
        return None
    multipliers = np.asarray(unequal.T @ np.maximum(answer.rows, 0.0))
    return moves.matrix(np.asarray(answer.point)), multipliers.reshape(rows.privates, rows.outputs)


def _prior(rows: GameRows) -> Floats:
    """Return how likely each private value is."""
    return np.asarray(rows.joint(np.full(rows.cost.shape, 1 / rows.outputs)).sum(axis=1))
