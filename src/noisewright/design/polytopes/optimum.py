"""The best channel for ``(epsilon, delta)`` and a linear cost: sets of outputs are added as they are violated.

The linear program starts with single outputs and adds, for each pair of secrets, the set of outputs that breaks the
guarantee most, until none does. Its vertex is then a vertex of the whole polytope. The vertex and the dual values are
solved for again in fractions, from the inequalities that hold with equality, and checked; the factor is rational, or
taken just below ``e^epsilon``.

>>> third = Fraction(1, 3)
>>> hamming = [[third * (i != j) for j in range(3)] for i in range(3)]
>>> matrix, value, bound, status, reason = best_with_delta(hamming, Factor.of(factor=2), Fraction(1, 10))
>>> status, value == bound == Fraction(9, 20)  # (m - 1)(1 - delta)/(q + m - 1)
('holds (exact)', True)

Every private channel is ``A[i,j] = (v_j + (q-1) x_ij) / (V + q - 1)`` with ``0 <= x_ij <= v_j``, ``sum_j x_ij = 1``
and ``V = sum_j v_j``: a polyhedron that does not depend on ``q = e^epsilon``, so that no epsilon makes it
ill-conditioned. The expected cost is a quotient there, and is made smallest by Dinkelbach's iteration, one linear
program after another; the weights and the pattern of each answer are recovered exactly.

**Proof.** Numbers ``u_i``, one for each secret, with sum ``z`` and
``(q - 1) sum_i max(u_i - C[i,j], 0) <= sum_i C[i,j] - z`` for every output ``j`` show that no private channel costs
less than ``z``. They are solved for exactly, as polynomials in ``q``, from the inequalities that hold with equality,
and compared with the cost of the extreme point exactly. If both agree the status is ``holds (exact)``; otherwise
``bound`` is the proved bound.

>>> cost = [[Fraction(abs(i - j), 10) for j in range(10)] for i in range(10)]
>>> best = best_channel(cost, Factor.of(factor=2))
>>> best.status, str(best.value), best.point.support
('holds (exact)', '34/15', (3, 6))

Reference: Dinkelbach, *On nonlinear fractional programming* (1967).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, kron

from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.claims.figures import upward
from noisewright.design.polytopes.extreme_point import ExtremePoint, Factor, NoPointError, construct
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, UNDECIDED, WITHIN
from noisewright.mechanisms.categorical.base import FiniteMechanism, mechanism
from noisewright.numerics.linear_algebra import Echelon, Rows, solve, solve_many

__all__ = ["ExtremeOptimum", "best_channel", "best_with_delta"]


Cut = tuple[int, int, tuple[int, ...]]
"""Rows ``i``, ``k`` and a set ``S`` of outputs: ``A[i,S] - q A[k,S] <= delta``; one row and one output: ``-A[i,j] <= 0``."""

LARGEST_CUT = 400
TIGHT = 1e-8


def best_with_delta(
    cost: Sequence[Sequence[Fraction]], factor: Factor, delta: Fraction
) -> tuple[Rows, Fraction, Fraction, str, str]:
    """Channel, its cost, a lower bound of every private channel's cost, status and reason."""
    m, k = len(cost), len(cost[0])
    if m * k > LARGEST_CUT:
        raise ParameterError(f"with a delta at most {LARGEST_CUT} entries are optimised over, not {m} times {k}.")
    q = Fraction(factor.bounds(64)[0])
    lows = [min(row) for row in cost]
    scale = max(max(row) - low for row, low in zip(cost, lows, strict=True)) or Fraction(1)
    plain = np.array([[float((v - low) / scale) for v in row] for row, low in zip(cost, lows, strict=True)])
    found, cuts, duals = _solve(plain, float(q), float(delta))
    vertex = _vertex(found, cuts, duals, q, delta)
    if vertex is None:  # what is always private, and as honest about it
        totals = [sum(column, Fraction(0)) for column in zip(*cost, strict=True)]
        best = totals.index(min(totals))
        constant = tuple(tuple(Fraction(j == best) for j in range(k)) for _ in range(m))
        return (
            constant,
            totals[best],
            sum(lows, Fraction(0)),
            UNDECIDED,
            "no exact vertex was found; one output for all.",
        )
    value = sum((c * a for r, s in zip(cost, vertex, strict=True) for c, a in zip(r, s, strict=True)), Fraction(0))
    if _exact_bound(cost, duals, q, delta) != value:
        return vertex, value, sum(lows, Fraction(0)), UNDECIDED, "an extreme point; that it is the best was not proved."
    if factor.exact is None:
        return vertex, value, value, WITHIN, "an extreme point, proved best at a rational factor just below e^epsilon."
    return (
        vertex,
        value,
        value,
        EXACT,
        "an extreme point; multipliers of sets of outputs prove that no channel costs less.",
    )


def _solve(
    plain: NDArray[np.float64], q: float, delta: float
) -> tuple[NDArray[np.float64], list[Cut], dict[Cut, float]]:
    """The optimum in floats, the cuts in force, and their multipliers."""
    m, k = plain.shape
    cuts: list[Cut] = [(i, other, (j,)) for i, other in permutations(range(m), 2) for j in range(k)]
    equal = np.kron(np.eye(m), np.ones((1, k)))
    known = set(cuts)
    while True:
        upper = np.zeros((len(cuts), m, k))
        for row, (i, other, event) in zip(upper, cuts, strict=True):
            row[i, event], row[other, event] = 1 / q, -1.0  # coefficients of at most one
        found = linprog(
            plain.ravel(),
            upper.reshape(len(cuts), -1),
            np.full(len(cuts), delta / q),
            equal,
            np.ones(m),
            bounds=(0, None),
            method="highs-ds",
        )
        if found.x is None or found.status != 0:
            raise ParameterError("the solver did not finish; scale the cost, or change epsilon or delta a little.")
        matrix = found.x.reshape(m, k)
        excess = matrix[:, None, :] - q * matrix[None, :, :]
        news = []
        for i, other in permutations(range(m), 2):
            event = tuple(np.flatnonzero(excess[i, other] > 0).tolist())
            if excess[i, other][list(event)].sum() > delta + 1e-10 and (i, other, event) not in known:
                news.append((i, other, event))
        if not news:
            break
        cuts += news
        known.update(news)
    slack = np.asarray(found.ineqlin.residual) * q
    active = [cut for cut, gap in zip(cuts, slack.tolist(), strict=True) if gap < TIGHT]
    duals = {cut: -y for cut, y in zip(cuts, found.ineqlin.marginals.tolist(), strict=True) if -y > TIGHT}
    for (i, j), a in np.ndenumerate(matrix):
        if a < TIGHT:
            active.append((i, i, (j,)))
    for (i, j), y in np.ndenumerate(np.asarray(found.lower.marginals).reshape(m, k)):
        if y > TIGHT:
            duals[i, i, (j,)] = float(y)
    return matrix, active, duals


def _row(cut: Cut, m: int, k: int, q: Fraction) -> list[Fraction]:
    i, other, event = cut
    row = [Fraction(0)] * (m * k)
    for j in event:
        row[i * k + j] = Fraction(-1) if i == other else Fraction(1)
        if i != other:
            row[other * k + j] = -q
    return row


def _vertex(
    matrix: NDArray[np.float64], active: list[Cut], duals: dict[Cut, float], q: Fraction, delta: Fraction
) -> Rows | None:
    """The vertex at which the active cuts hold with equality, exactly; None where they do not determine a private channel."""
    m, k = matrix.shape
    rows: list[list[Fraction]] = [[Fraction(n // k == i) for n in range(m * k)] for i in range(m)]
    right = [Fraction(1)] * m
    echelon = Echelon(m * k)
    for row in rows:
        echelon.add(row)
    for cut in sorted(active, key=lambda cut: -duals.get(cut, 0.0)):
        row = _row(cut, m, k, q)
        if len(echelon) < m * k and echelon.add(row):
            rows.append(row)
            right.append(Fraction(0) if cut[0] == cut[1] else delta)
    solved = solve(rows, right)
    if solved is None or min(solved) < 0:
        return None
    vertex = tuple(tuple(solved[i * k : (i + 1) * k]) for i in range(m))
    for a, b in permutations(vertex, 2):
        if sum((max(x - q * y, Fraction(0)) for x, y in zip(a, b, strict=True)), Fraction(0)) > delta:
            return None
    return vertex


def _exact_bound(
    cost: Sequence[Sequence[Fraction]], duals: dict[Cut, float], q: Fraction, delta: Fraction
) -> Fraction | None:
    """Return ``sum u - delta sum y`` for exact multipliers with ``cost = u - sum y cut`` and ``y >= 0``; None where no
    such multipliers exist.
    """
    m, k = len(cost), len(cost[0])
    cuts = list(duals)
    columns = [[Fraction(n // k == i) for n in range(m * k)] for i in range(m)]
    columns += [[-v for v in _row(cut, m, k, q)] for cut in cuts]
    solved = solve([list(line) for line in zip(*columns, strict=True)], [v for row in cost for v in row])
    if solved is None or any(y < 0 for y in solved[m:]):
        return None
    failures = sum((y for cut, y in zip(cuts, solved[m:], strict=True) if cut[0] != cut[1]), Fraction(0))
    return sum(solved[:m], Fraction(0)) - delta * failures


# Optimum ------------------------------------------------------------------------------------------------------------------
#
# The best locally private channel for a linear cost: floats propose an extreme point, exact arithmetic proves it.


Cost = Sequence[Sequence[Fraction]]
Polynomial = list[Fraction]

LARGEST = 10_000
"""More entries than this are not optimised over."""

SNAP = 1e-6
"""The solver's weights and entries are that exact; the numbers that they approximate are then solved for in
fractions.
"""

NEAR = Fraction(1, 10**9)
"""A gap below this, relative to the range of the cost, is called a matter of rounding."""


@dataclass(frozen=True)
class ExtremeOptimum:
    """The best channel found and the proved facts about it.

    ``value`` is its cost and ``bound`` a proved lower bound for every private channel, both exact for a rational
    factor (otherwise taken at a factor just below ``e^epsilon``, to one part in 2^150). With the status ``holds
    (exact)`` they are equal whatever the digits.
    """

    factor: Factor
    delta: Fraction
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    point: ExtremePoint | None
    matrix: Rows
    value: Fraction
    bound: Fraction
    status: str
    reason: str

    @property
    def gap(self) -> Fraction:
        """Largest possible improvement by some other channel: 0 where the optimum is proved."""
        return self.value - self.bound

    def channel(self) -> Channel:
        """The channel in floats."""
        return Channel(np.array([[float(v) for v in row] for row in self.matrix]), self.inputs, self.outputs)

    def mechanism(self) -> FiniteMechanism:
        """The channel as a mechanism that draws from a certified integer table; for ``delta = 0``."""
        if self.delta or self.factor.is_one:
            raise ParameterError("a certified table needs epsilon above 0 and delta = 0; use channel() instead.")
        return mechanism(self.channel(), epsilon=self.factor.budget, name="extreme-optimum")

    def __str__(self) -> str:
        return f"cost {float(self.value):.6g} ({self.status}): {self.reason}"


@dataclass(frozen=True)
class Prices:
    """A dual price for each secret, as a solver gave them, and the unit in which they are exact to a few parts in a
    million.
    """

    values: list[Fraction]
    unit: Fraction


def best_channel(
    cost: Cost,
    factor: Factor,
    delta: Fraction = Fraction(0),
    inputs: tuple[Hashable, ...] | None = None,
    outputs: tuple[Hashable, ...] | None = None,
) -> ExtremeOptimum:
    """The channel with the smallest ``sum_ij cost[i][j] A[i,j]``; see the head of this module."""
    m, k = len(cost), len(cost[0])
    if m * k > LARGEST:
        raise ParameterError(f"{m} secrets and {k} outputs are too many; at most {LARGEST} entries, or a closed form.")
    names = tuple(range(m)) if inputs is None else inputs, tuple(range(k)) if outputs is None else outputs
    if delta:
        matrix, value, bound, status, reason = best_with_delta(cost, factor, delta)
        return ExtremeOptimum(factor, delta, *names, None, matrix, value, bound, status, reason)
    point, offers = _search(cost, factor)
    above, below = point.value(cost)
    value = factor.ratio(above, below)
    c = len(point.support)
    words = f"an extreme point with {c} output{'s' if c > 1 else ''} in use"
    if any(_proved(cost, point, offer, factor) for offer in offers):
        bound, status, reason = value, EXACT, f"{words}; prices for the secrets prove that none costs less."
    else:
        bound = max(_bound(cost, offer.values, factor) for offer in offers)
        spread = max(max(row) - min(row) for row in cost) * m
        status = WITHIN if value - bound <= NEAR * spread else UNDECIDED
        reason = f"{words}; no channel is better by more than {upward(value - bound, 3)}."
    return ExtremeOptimum(factor, delta, *names, point, point.matrix(factor.near), value, bound, status, reason)


def _search(cost: Cost, factor: Factor) -> tuple[ExtremePoint, list[Prices]]:
    """Return the best extreme point found, and the multipliers of the secrets: dual values of the last linear
    programs.
    """
    m, k = len(cost), len(cost[0])
    totals = [sum(column, Fraction(0)) for column in zip(*cost, strict=True)]
    start = totals.index(min(totals))
    point = construct([[1]] * m, outputs=k, support=[start])
    lows = [min(row) for row in cost]
    scale = max(max(row) - low for row, low in zip(cost, lows, strict=True))
    offers = [Prices([row[start] for row in cost], scale)]
    if factor.is_one or scale == 0:
        return point, offers
    rate = 1 / (factor.near - 1)
    plain = np.array([[float((v - low) / scale) for v in row] for row, low in zip(cost, lows, strict=True)])
    cheapest = np.array([[v == low for v in row] for row, low in zip(cost, lows, strict=True)])
    program = _Program(m, k)
    # With a large factor the weights hardly count: they settle ties among the cheapest outputs of every secret.
    for ties in (False, True) if rate < Fraction(1, 1000) else (False,):
        for _ in range(50):
            goal = float((factor.ratio(*point.value(cost)) - sum(lows)) / scale)
            slope = np.maximum(plain.sum(axis=0) - goal, 0.0)
            if ties:
                answer = program.solve(np.zeros((m, k)), slope / (slope.max() or 1.0), cheapest)
                unit = scale * rate * Fraction(float(slope.max() or 1.0))
            else:
                larger = max(1.0, float(rate))  # coefficients of at most about one
                answer = program.solve(plain / larger, slope * (float(rate) / larger))
                unit = scale * Fraction(larger)
            if answer is None:
                break
            weights, entries, duals = answer
            prices = [low + unit * Fraction(u) for low, u in zip(lows, duals.tolist(), strict=True)]
            found = _recover(weights, entries)
            if found is None or not _cheaper(found, point, cost, factor):
                offers.append(Prices(prices, unit if ties else scale))
                break
            point = found
    return point, offers


class _Program:
    """The linear program over ``x`` and ``v``: entries below their column's weight, rows that sum to one."""

    def __init__(self, m: int, k: int) -> None:
        self.shape = m, k
        weights = kron(np.ones((m, 1)), _identity(k), format="csr")
        self.upper = hstack([_identity(m * k), -weights], format="csr")
        self.equal = hstack([kron(_identity(m), np.ones((1, k)), format="csr"), csr_array((m, k))], format="csr")

    def solve(
        self, entries: Floats, weights: Floats, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[Floats, Floats, Floats] | None:
        """Weights, entries and dual values for the costs of entries and weights; None where the solver gives up."""
        m, k = self.shape
        highest = np.full(m * k + k, np.inf)
        if allowed is not None:
            highest[: m * k][~allowed.ravel()] = 0.0
        found = linprog(
            np.concatenate([entries.ravel(), weights]),
            self.upper,
            np.zeros(m * k),
            self.equal,
            np.ones(m),
            bounds=[(0.0, high) for high in highest.tolist()],
            method="highs-ds",
        )
        if found.x is None or found.status != 0:
            return None
        return found.x[m * k :], found.x[: m * k].reshape(m, k), np.asarray(found.eqlin.marginals)


def _identity(n: int) -> csr_array:
    return csr_array((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, n))


def _recover(weights: Floats, entries: Floats) -> ExtremePoint | None:
    """The extreme point that a vertex in floats stands for, solved for exactly; None where it is none."""
    support = np.flatnonzero(weights > SNAP).tolist()
    pattern = []
    for row in entries:
        shares = [float(row[j] / weights[j]) for j in support]
        pattern.append([0 if y < SNAP else 1 if y > 1 - SNAP else None for y in shares])
    try:
        return construct(pattern, outputs=len(weights), support=support)
    except NoPointError:
        return None


def _cheaper(one: ExtremePoint, other: ExtremePoint, cost: Cost, factor: Factor) -> bool:
    a, b = one.value(cost)
    c, d = other.value(cost)
    return factor.sign(_minus(_times(a, d), _times(c, b))) < 0


def _proved(cost: Cost, point: ExtremePoint, offer: Prices, factor: Factor) -> bool:
    """Return whether exact multipliers prove that no private channel costs less than this one."""
    m, k = len(cost), len(cost[0])
    if len(point.support) == 1 or factor.is_one:
        j = point.support[0]
        solved = [[row[j], Fraction(0), Fraction(0)] for row in cost]
    else:
        found = _exact_prices(cost, point, offer, factor)
        if found is None:
            return False
        solved = found
    totals = [sum(column, Fraction(0)) for column in zip(*cost, strict=True)]
    if factor.is_one:
        return min(totals) == totals[point.support[0]]
    above, below = point.value(cost)
    rise = _times([Fraction(-1), Fraction(1)], below)  # (q - 1) (V + q - 1): everything is multiplied by it
    base = []
    for fixed, level, target in solved:
        line = _times([level - fixed, fixed], below)
        base.append([a + target * b for a, b in zip(line, [*above, Fraction(0)], strict=True)])
    total = [sum(column, Fraction(0)) for column in zip(*base, strict=True)]
    if factor.sign(_minus(total, _times([Fraction(-1), Fraction(1)], above))) != 0:
        return False
    for j in range(k):
        room = [totals[j] * b - a for a, b in zip(above, below, strict=True)] + [Fraction(0)]
        for i in range(m):
            over = [p - cost[i][j] * r for p, r in zip(base[i], rise, strict=True)]
            if factor.sign(over) > 0:
                room = _minus(room, over)
        if factor.sign(room) < 0:
            return False
    return True


def _exact_prices(cost: Cost, point: ExtremePoint, offer: Prices, factor: Factor) -> list[list[Fraction]] | None:
    """Return multipliers ``u_i = a + b/(q-1) + c z/(q-1)`` as triples ``(a, b, c)``, from the equations that must hold.

    An output in use has no slack: the multipliers of its ones exceed its costs by ``(sum_i C[i,j] - z)/(q - 1)`` in
    all. A loose entry costs exactly the multiplier of its secret. Where that leaves freedom, the solver's multipliers
    show which other equations are tight.
    """
    m, c = len(cost), len(point.support)
    fixed = {i: cost[i][point.support[j]] for i, j in enumerate(point.free) if j >= 0}
    free = [i for i in range(m) if i not in fixed]
    equations = [
        _column(cost, j, [i for i in range(m) if point.ones[i] >> n & 1], fixed, free)
        for n, j in enumerate(point.support)
    ]
    if len(free) > c:
        equations += _near_equations(cost, point, offer, factor, fixed, free)
    echelon, chosen = Echelon(len(free)), []
    for row in equations:
        if len(echelon) < len(free) and echelon.add(row[: len(free)]):
            chosen.append(row)
    solved = solve_many([row[: len(free)] for row in chosen], [row[len(free) :] for row in chosen])
    if solved is None:
        return None
    triples = dict(zip(free, solved, strict=True))
    return [triples[i] if i in triples else [fixed[i], Fraction(0), Fraction(0)] for i in range(m)]


def _near_equations(
    cost: Cost, point: ExtremePoint, offer: Prices, factor: Factor, fixed: dict[int, Fraction], free: list[int]
) -> list[list[Fraction]]:
    """Return the equations that are tight by the solver's multipliers, in addition to the outputs in use: the closest
    first.
    """
    m, k, prices = len(cost), len(cost[0]), offer.values
    spare = factor.ratio(*point.value(cost))
    found: list[tuple[Fraction, list[Fraction]]] = []
    for i in free:
        j = min(range(k), key=lambda j: abs(prices[i] - cost[i][j]))
        unit = [Fraction(i == x) for x in free]
        found.append((abs(prices[i] - cost[i][j]), [*unit, cost[i][j], Fraction(0), Fraction(0)]))
    for j in set(range(k)) - set(point.support):
        ones = [i for i in range(m) if prices[i] - cost[i][j] > offer.unit / 10**7]
        over = sum((prices[i] - cost[i][j] for i in ones), Fraction(0))
        room = (sum((row[j] for row in cost), Fraction(0)) - spare) / (factor.near - 1)
        found.append((abs(room - over), _column(cost, j, ones, fixed, free)))
    near = [(gap, row) for gap, row in found if gap <= offer.unit / 10**6]
    return [row for _, row in sorted(near, key=lambda pair: pair[0])]


def _column(cost: Cost, j: int, ones: list[int], fixed: dict[int, Fraction], free: list[int]) -> list[Fraction]:
    """Return the equation of an output without slack: coefficients of the free multipliers, then its three right-hand
    sides.
    """
    total = sum((row[j] for row in cost), Fraction(0))
    known = sum((cost[i][j] - fixed.get(i, Fraction(0)) for i in ones), Fraction(0))
    return [*(Fraction(i in ones) for i in free), known, total, Fraction(-1)]


def _bound(cost: Cost, prices: list[Fraction], factor: Factor) -> Fraction:
    """Return a lower bound for every private channel from any multipliers: lowered together until no output is without
    slack.
    """
    q = factor.bounds(160)[1]
    total = sum(prices, Fraction(0))
    short = Fraction(0)
    for j in range(len(cost[0])):
        over = sum((max(u - row[j], Fraction(0)) for u, row in zip(prices, cost, strict=True)), Fraction(0))
        room = sum((row[j] for row in cost), Fraction(0)) - total - (q - 1) * over
        short = max(short, -room)
    return total - short


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    product = [Fraction(0)] * (len(a) + len(b) - 1)
    for n, x in enumerate(a):
        for o, y in enumerate(b):
            product[n + o] += x * y
    return product


def _minus(a: Polynomial, b: Polynomial) -> Polynomial:
    return [x - y for x, y in zip(a, b, strict=True)]
