"""A finite game in the form that its programs share: rows that a mechanism is given, columns that it may release.

A row is a public value (``given="x"``) or a pair of a public and a private one (``given="xy"``); those of probability 0 are
left out. ``mass[r]`` is its probability, ``beliefs[r, y]`` how likely each private value is in it, ``cost[r, k]`` the
distortion of an output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noisewright._typing import Floats, Indices
from noisewright.claims.figures import float_down
from noisewright.context_aware.distributions import AdversaryLoss, SquaredLoss, whole_floats
from noisewright.numerics.polyhedra import UnsolvedError, solved

__all__ = ["DualCertificate", "GameRows", "Moves", "Raw", "independent", "least_gain", "saturated"]


@dataclass(frozen=True, eq=False)
class GameRows:
    """The rows of positive probability."""

    mass: Floats
    cost: Floats
    beliefs: Floats
    private: Indices | None
    """The private value of each row, where a row has one."""
    law: Floats
    """The probabilities themselves: a row's mass where it has one private value, otherwise its masses of all private values."""
    open: NDArray[np.bool_] | None = None
    """The outputs of each row to which programs move mass; None: to all."""

    @classmethod
    def of(cls, probabilities: Floats, distances: Floats, pairs: bool) -> GameRows:
        """The rows of a joint law and a table of distortions."""
        if pairs:
            x, y = np.nonzero(probabilities)
            mass = probabilities[x, y]
            return cls(mass, distances[x], np.eye(probabilities.shape[1])[y], y, mass[:, None])
        x = np.flatnonzero(probabilities.sum(axis=1))
        mass = probabilities[x].sum(axis=1)
        return cls(mass, distances[x], probabilities[x] / mass[:, None], None, probabilities[x])

    @property
    def size(self) -> int:
        """Return how many probabilities a mechanism has."""
        return self.cost.size

    @property
    def outputs(self) -> int:
        return int(self.cost.shape[1])

    @property
    def privates(self) -> int:
        return int(self.beliefs.shape[1])

    @property
    def least(self) -> float:
        """The distortion that no mechanism goes below."""
        return float(self.mass @ self.cost.min(axis=1))

    def joint(self, matrix: Floats) -> Floats:
        """``P(y, k)`` of a mechanism with these rows."""
        moved = self.mass[:, None] * matrix
        if self.private is None:
            return np.asarray(self.beliefs.T @ moved)
        found = np.zeros((self.privates, self.outputs))
        np.add.at(found, self.private, moved)
        return found

    def spent(self, matrix: Floats) -> float:
        """The expected distortion of a mechanism with these rows."""
        return float(self.mass @ (matrix * self.cost).sum(axis=1))

    def worth(self, gains: Floats) -> Floats:
        """Return the expected gain of an adversary with gains ``gains[y, k]`` from each row and output, for a unit of mass."""
        return np.asarray(self.beliefs @ gains if self.private is None else gains[self.private])

    @cached_property
    def moves(self) -> Moves:
        """The variables of the programs."""
        return _pooled(self) if self.pooled else _dense(self)

    @property
    def pooled(self) -> bool:
        """Return whether it matters only that mass changes its place, not where it came from."""
        return self.private is not None and self._own is not None

    @cached_property
    def _own(self) -> Indices | None:
        """The output that costs a row nothing, where each has one and all others cost the same: changing is all that matters."""
        most = float(self.cost.max())
        alike = ((self.cost == 0) | (self.cost == most)).all() and ((self.cost == 0).sum(axis=1) == 1).all()
        return np.asarray(self.cost.argmin(axis=1)) if alike and most > 0 and self.outputs > 2 else None


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves of mass, as non-negative variables: ``sums z = totals``, the joint law ``joints z`` and the distortion
    ``cost z``.

    The joint law has all outputs of the first private value first; ``matrix(z)`` is the mechanism.
    """

    sums: Any
    totals: Floats
    joints: Any
    cost: Floats
    matrix: Callable[[Floats], Floats]


def _dense(rows: GameRows) -> Moves:
    """``T[r, k]``: the mass that goes from a row to an output that is open to it."""
    places = np.arange(rows.size) if rows.open is None else np.flatnonzero(rows.open)
    sums = sparse.kron(sparse.identity(len(rows.mass)), np.ones((1, rows.outputs)), format="csc")
    joints = sparse.kron(sparse.csr_array(rows.beliefs.T), sparse.identity(rows.outputs), format="csc")

    def matrix(z: Floats) -> Floats:
        moved = np.zeros(rows.size)
        moved[places] = z
        return _stochastic(rows, moved.reshape(rows.cost.shape))

    return Moves(sums[:, places], rows.mass, joints[:, places], rows.cost.ravel()[places], matrix)


def _pooled(rows: GameRows) -> Moves:
    """Return variables for mass kept by a row, given away, and given by each private value's pool to each output.

    Where all changes cost the same, the source does not matter, which gives far fewer variables for the same
    mechanisms.
    """
    assert rows.private is not None
    assert rows._own is not None
    count, outputs, private, own = len(rows.mass), rows.outputs, rows.private, rows._own
    cells, each = rows.privates * outputs, np.arange(count)
    kept = sparse.csr_array((np.ones(count), (private * outputs + own, each)), shape=(cells, count))
    pools = sparse.csr_array((np.ones(count), (private, each)), shape=(rows.privates, count))
    given = sparse.kron(sparse.identity(rows.privates), np.ones((1, outputs)), format="csr")
    one, none = sparse.identity(count), sparse.csr_array((rows.privates, count))
    sums = sparse.vstack(
        [sparse.hstack([one, one, sparse.csr_array((count, cells))]), sparse.hstack([none, pools, -given])]
    )
    joints = sparse.hstack([kept, sparse.csr_array((cells, count)), sparse.identity(cells)])
    price = float(rows.cost.max())

    def matrix(z: Floats) -> Floats:
        shares = np.maximum(z[2 * count :], 0.0).reshape(rows.privates, outputs)
        whole = shares.sum(axis=1, keepdims=True)
        shares = np.where(whole > 0, shares / np.where(whole > 0, whole, 1.0), 0.0)
        moved = np.maximum(z[count : 2 * count], 0.0)[:, None] * shares[private]
        moved[each, own] += np.maximum(z[:count], 0.0)
        return _stochastic(rows, moved)

    totals = np.concatenate([rows.mass, np.zeros(rows.privates)])
    cost = np.concatenate([np.zeros(count), np.full(count, price), np.zeros(cells)])
    return Moves(sparse.csr_array(sums), totals, sparse.csr_array(joints), cost, matrix)


def _stochastic(rows: GameRows, moved: Floats) -> Floats:
    """Rows of probabilities from a solver's masses; a row so rare that the solver lost it releases the nearest output."""
    moved = np.maximum(moved, 0.0)
    moved[moved < 1e-9 * moved.sum(axis=1, keepdims=True)] = 0.0  # what an interior point leaves everywhere
    lost = np.flatnonzero(moved.sum(axis=1) <= 0)
    moved[lost, rows.cost[lost].argmin(axis=1)] = 1.0
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


# Programs -----------------------------------------------------------------------------------------------------------------
#
# The programs of finite games: linear for the 0-1 loss, with exponential or power cones for the log and the alpha losses.
#
# Variables are the moved masses ``T[r, k]``, the part of the budget that is left, and the joint law ``J[y, k]`` of
# private values and outputs, whose multiplier is the gain of the adversary's best belief. Masses are scaled to a mean of
# one: the objectives are homogeneous, so this changes no multiplier. What comes back is raw material: a matrix up to the
# solver's accuracy, beliefs and a cost.


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


# Bounds -------------------------------------------------------------------------------------------------------------------
#
# Dual certificates of finite games: an adversary's beliefs and a cost of distortion, which anyone can check.
#
# Fix an adversary who, after output ``k``, believes ``b[., k]`` whatever the mechanism is, and a cost ``lam >= 0``. With
# any mechanism W of expected distortion at most D she gains at least
#
# .. math:: \sum_r \min_k \Bigl( \sum_y P(r, y)\, g(b_{yk}) + \lambda P(r)\, d_{rk} \Bigr) - \lambda D,
#
# where ``g`` is the gain of her loss: her gain with W is an average over k of the terms in brackets, minus a cost for
# distortion that is at most ``lam D``. The best response gains at least as much. Therefore this number bounds the
# optimum from below, however the beliefs were found.
#
# For the 0-1 loss it is computed in integers and is exact; for other losses in floats, less a bound on their rounding.


BITS = 52
ONE = 1 << BITS


@dataclass(frozen=True, eq=False)
class DualCertificate:
    """Beliefs ``b[y, k]`` of an adversary, a multiplier of distortion, and the lower bound of the gain that they prove."""

    beliefs: Floats
    price: float
    objective: float
    exact: bool

    @classmethod
    def best(
        cls, rows: GameRows, budget: Fraction, loss: AdversaryLoss, beliefs: Floats, price: float
    ) -> DualCertificate:
        """The better of two certificates: these beliefs at the best multiplier near the given one, or the prior beliefs."""
        settled = _settled(beliefs, loss)
        worth, limit = rows.worth(loss.gain(settled)), float(budget)

        def value(lam: float) -> float:
            return float(rows.mass @ (worth + lam * rows.cost).min(axis=1)) - lam * limit

        prior = rows.joint(np.full(rows.cost.shape, 1 / rows.outputs)).sum(axis=1, keepdims=True)
        blind = _settled(np.repeat(loss.best_response(prior / prior.sum()), rows.outputs, axis=1), loss)
        found = cls.at(rows, budget, loss, settled, _peak(value, max(price, 0.0)))
        return max(found, cls.at(rows, budget, loss, blind, 0.0), key=lambda shown: shown.objective)

    @classmethod
    def at(
        cls, rows: GameRows, budget: Fraction, loss: AdversaryLoss, beliefs: Floats, price: float
    ) -> DualCertificate:
        """The certificate of exactly these beliefs (0 or more, at most one in sum) at this cost."""
        if loss.is_zero_one:
            return cls(beliefs, price, float_down(_exact(rows, budget, beliefs, price)), True)
        gains = loss.gain(beliefs)
        with np.errstate(invalid="ignore"):
            terms = rows.mass[:, None] * (rows.worth(gains) + price * rows.cost)
            sizes = rows.mass[:, None] * (rows.worth(np.abs(gains)) + price * rows.cost)
        least = math.fsum(terms.min(axis=1)) - price * float(budget)
        slack = (
            (rows.privates + len(rows.mass) + 24) * 2.0**-52 * (float(sizes.max(axis=1).sum()) + price * float(budget))
        )
        return cls(beliefs, price, math.nextafter(least - slack, -math.inf), False)


def _settled(beliefs: Floats, loss: AdversaryLoss) -> Floats:
    """Beliefs as multiples of 2^-52 with a sum of at most one; positive where a logarithm is taken; guesses as they are."""
    if loss.is_squared:
        return np.where(np.isfinite(beliefs), beliefs, 0.0)
    safe = np.where(np.isfinite(beliefs), np.maximum(beliefs, 0.0), 0.0)
    sums = safe.sum(axis=0, keepdims=True)
    safe = np.where(sums > 0, safe / np.where(sums > 0, sums, 1.0), 1 / len(safe))
    if loss.is_log:
        safe = (safe + 1e-13) / (1 + 1e-13 * len(safe))
    return np.asarray(
        np.floor(safe * (ONE - 4 * len(safe))) / ONE if not loss.is_log else safe * (1 - len(safe) * 2.0**-51)
    )


def _exact(rows: GameRows, budget: Fraction, beliefs: Floats, price: float) -> Fraction:
    """The bound for the 0-1 loss, without rounding: masses, beliefs, distortions and multiplier are exact fractions."""
    parts = np.asarray((beliefs * ONE).astype(np.int64).astype(object))
    masses, scale = whole_floats(rows.law)
    worth = masses @ parts if rows.private is None else masses * parts[rows.private]
    costs, finer = whole_floats(rows.cost)
    lam = Fraction(price)
    total = masses.sum(axis=1)
    # worth / (2^scale ONE) + lam total costs / 2^(scale + finer), over one common denominator
    unit = Fraction(1, ONE * lam.denominator << (scale + finer))
    terms = worth * (lam.denominator << finer) + (total[:, None] * costs) * (lam.numerator * ONE)
    whole = Fraction(int(masses.sum()), 1 << scale)  # the probabilities are in proportion to these
    return Fraction(int(terms.min(axis=1).sum())) * unit / whole - lam * budget


def _peak(value: Callable[[float], float], start: float) -> float:
    """Return where a concave function of the multiplier is largest, near a first guess: golden sections of an interval
    that holds the peak."""
    step = max(start, 1e-6) * 1e-3
    low, high = max(0.0, start - step), start + step
    while value(high) > value(start) and step < 1e9:
        step *= 4
        high = start + step
    step = max(start, 1e-6) * 1e-3
    while low > 0 and value(low) > value(start):
        step *= 4
        low = max(0.0, start - step)
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        first, second = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (first, high) if value(first) < value(second) else (low, second)
    return max((low, high, start), key=value)
