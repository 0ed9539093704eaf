r"""The best channel for ``(epsilon, delta)`` and a linear cost: sets of outputs are added as they are violated.

The linear program starts with single outputs and adds, for each pair of secrets, the set of outputs that breaks the
guarantee most, until none does. Its vertex is then a vertex of the whole polytope. The vertex and the dual values are
solved for again in fractions, from the inequalities that hold with equality, and checked; the factor is rational, or
taken just below ``e^epsilon``.

>>> third = Fraction(1, 3)
>>> hamming = [[third * (i != j) for j in range(3)] for i in range(3)]
>>> matrix, value, bound, status, reason = best_with_delta(hamming, Factor.of(factor=2), Fraction(1, 10))
>>> status, value == bound == Fraction(9, 20)  # (m - 1)(1 - delta)/(q + m - 1)
('holds (exact)', True)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from noisewright.core.errors import ParameterError
from noisewright.core.verdict import EXACT, UNDECIDED, WITHIN
from noisewright.optimality.algebra.echelon import Echelon, solve
from noisewright.optimality.algebra.elimination import Rows
from noisewright.optimality.extreme.factor import Factor

__all__ = ["best_with_delta"]

Cut = tuple[int, int, tuple[int, ...]]
"""Rows ``i``, ``k`` and a set ``S`` of outputs: ``A[i,S] - q A[k,S] <= delta``; one row and one output: ``-A[i,j] <= 0``."""

LARGEST = 400
TIGHT = 1e-8


def best_with_delta(
    cost: Sequence[Sequence[Fraction]], factor: Factor, delta: Fraction
) -> tuple[Rows, Fraction, Fraction, str, str]:
    """Channel, its cost, a lower bound of every private channel's cost, status and reason."""
    m, k = len(cost), len(cost[0])
    if m * k > LARGEST:
        raise ParameterError(f"with a delta at most {LARGEST} entries are optimised over, not {m} times {k}.")
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
