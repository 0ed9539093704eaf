"""The linear program against a plain one without any of its devices, its bound, its folding, its spanner and its repair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from noisewright.design.linear_program import FurtherRows, fold, spanner, unfolded
from noisewright.design.solver import InfeasibleError, blind_bound, majorant, private_logs, solve
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import Discrete, Euclidean, Hamming, Line, Manhattan
from noisewright.metrics.sensitivity import essential_pairs

Floats = np.ndarray[Any, Any]


def plain_optimum(losses: Floats, cost: Floats, minimax: bool = False) -> float:
    """The smallest cost by scipy, with a constraint for every pair and no device at all."""
    n, actions = cost.shape
    rows = []
    for x in range(n):
        for z in range(n):
            if x != z and np.isfinite(losses[x, z]):
                for w in range(actions):
                    row = np.zeros(n * actions + minimax)
                    row[x * actions + w] = np.exp(-losses[x, z])
                    row[z * actions + w] -= 1
                    rows.append(row)
    sums = np.kron(np.eye(n), np.ones(actions))
    goal = cost.ravel()
    if minimax:
        goal = np.append(np.zeros(n * actions), 1.0)
        sums = np.pad(sums, ((0, 0), (0, 1)))
        for x in range(n):
            row = np.append(np.zeros(n * actions), -1.0)
            row[x * actions : (x + 1) * actions] = cost[x]
            rows.append(row)
    limits = [(0, None)] * (n * actions) + [(None, None)] * minimax
    # With its usual tolerance of 1e-7 this solver's optimum comes out too low.
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(goal, np.array(rows), np.zeros(len(rows)), sums, np.ones(n), bounds=limits, options=exact)
    assert found.status == 0
    return float(found.fun)


SPACES = {
    "line": (Line(), [0, 1, 2, 3, 5]),
    "discrete": (Discrete(), list("abcde")),
    "plane": (Euclidean(), [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1)]),
    "cube": (Hamming(), [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]),
    "twins": (Manhattan(), [(0, 0), (1, 0), (1, 2)]),
}


def pairs_of(name: str) -> Any:
    metric, points = SPACES[name]
    return None if name == "discrete" else np.array(essential_pairs(metric, points))


@pytest.mark.parametrize("objective", ["bayes", "minimax"])
@pytest.mark.parametrize("epsilon", [1e-3, 0.3, 1.0, 6.0])
@pytest.mark.parametrize("name", list(SPACES))
def test_the_optimum_is_that_of_the_plain_program(name: str, epsilon: float, objective: Any) -> None:
    metric, points = SPACES[name]
    losses = epsilon * metric.matrix(points)
    cost = np.random.default_rng(len(points)).random((len(points), 3))
    found = solve(losses, cost, pairs=pairs_of(name), objective=objective)
    expected = plain_optimum(losses, cost, objective == "minimax")
    assert found.value == pytest.approx(expected, abs=2e-8)
    assert found.bound <= expected + 1e-9
    assert found.bound == pytest.approx(expected, abs=1e-6)
    if objective == "minimax":
        assert found.prior is not None
        assert found.prior.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", list(SPACES))
def test_the_fallback_solver_agrees(name: str) -> None:
    metric, points = SPACES[name]
    losses = 0.7 * metric.matrix(points)
    cost = np.random.default_rng(1).random((len(points), 4))
    usual = solve(losses, cost, pairs=pairs_of(name))
    other = solve(losses, cost, pairs=pairs_of(name), solver="HiGHS")
    assert (usual.solver, other.solver) == ("clarabel", "HiGHS")
    assert other.value == pytest.approx(usual.value, abs=1e-8)
    assert other.bound == pytest.approx(usual.bound, abs=1e-8)


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_any_multipliers_give_a_bound(seed: int) -> None:
    """The bound does not rest on the solver: wrong multipliers only make it weaker."""
    from noisewright.design.linear_program import SparseProgram

    rng = np.random.default_rng(seed)
    n, actions = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    points = list(range(n))
    losses, cost = 0.5 * Line().matrix(points), rng.random((n, actions))
    neighbours = np.array([(i, i + 1) for i in range(n - 1)])
    program = SparseProgram(losses, cost, neighbours, "bayes", unfolded(n, actions), None)
    multipliers = rng.exponential(0.3, program.rows.shape[0]) * rng.integers(0, 2, program.rows.shape[0])
    assert program.bound((multipliers, np.zeros(0)))[0] <= plain_optimum(losses, cost) + 1e-9


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([1e-9, 1e-3, 0.1, 2.0]))
def test_the_bound_for_blind_mechanisms_is_one(seed: int, epsilon: float) -> None:
    rng = np.random.default_rng(seed)
    losses, cost = epsilon * Line().matrix(range(4)), rng.normal(size=(4, 3))
    best = plain_optimum(losses, cost)
    assert blind_bound(losses, cost) <= best + 1e-9
    if epsilon < 1e-6:
        assert blind_bound(losses, cost) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("name", ["line", "plane", "cube"])
@pytest.mark.parametrize("objective", ["bayes", "minimax"])
def test_folding_changes_no_optimum(name: str, objective: Any) -> None:
    metric, points = SPACES[name] if name != "line" else (Line(), list(range(6)))
    if name == "plane":
        points = [(i, j) for i in range(3) for j in range(3)]
    distances = metric.matrix(points)
    cost = distances**2 / len(points)
    folding = fold(distances, cost)
    assert folding.count <= cost.size / 2
    pairs = np.array(essential_pairs(metric, points))
    whole = solve(0.8 * distances, cost, pairs=pairs, objective=objective)
    folded = solve(0.8 * distances, cost, pairs=pairs, objective=objective, folding=folding)
    assert folded.value == pytest.approx(whole.value, abs=1e-8)
    assert folded.bound == pytest.approx(whole.bound, abs=1e-8)
    assert folded.variables < whole.variables


def test_a_lopsided_cost_does_not_fold() -> None:
    points = [(i, j) for i in range(5) for j in range(5)]
    distances = Euclidean().matrix(points)
    rng = np.random.default_rng(0)
    assert fold(distances, distances * rng.random((25, 1))).count == 625


def burnside(points: list[tuple[int, int]], size: int) -> int:
    """How many classes of pairs the symmetries of a square have."""
    last = size - 1
    moves: list[Any] = [
        lambda i, j: (i, j),
        lambda i, j: (last - i, j),
        lambda i, j: (i, last - j),
        lambda i, j: (last - i, last - j),
        lambda i, j: (j, i),
        lambda i, j: (last - j, i),
        lambda i, j: (j, last - i),
        lambda i, j: (last - j, last - i),
    ]
    return sum(sum(move(*p) == p for p in points) ** 2 for move in moves) // 8


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_the_number_of_classes_is_burnsides(size: int) -> None:
    points = [(i, j) for i in range(size) for j in range(size)]
    distances = Euclidean().matrix(points)
    assert fold(distances, distances).count == burnside(points, size)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([1.0, 1.05, 1.3, 2.0]))
def test_a_spanner_has_the_dilation_it_says(seed: int, asked: float) -> None:
    from scipy.sparse.csgraph import shortest_path

    points = np.random.default_rng(seed).random((12, 2))
    distances = Euclidean().matrix([tuple(p) for p in points.tolist()])
    edges, dilation = spanner(distances, asked)
    graph = np.zeros_like(distances)
    graph[edges[:, 0], edges[:, 1]] = distances[edges[:, 0], edges[:, 1]]
    paths = shortest_path(graph, directed=False)
    ratio = (paths + np.eye(12)) / (distances + np.eye(12))
    assert ratio.max() == pytest.approx(max(dilation, 1))
    assert dilation <= asked * (1 + 1e-9)
    assert len(edges) <= 66


def test_a_spanner_of_less_than_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="1 or more"):
        spanner(np.zeros((2, 2)), 0.9)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([1e-6, 1e-2, 1.0, 20.0]), st.sampled_from([0.0, 1e-9, 1e-4]))
def test_repair_makes_any_matrix_private(seed: int, epsilon: float, noise: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    points = np.sort(rng.random(n)) * 3
    losses = epsilon * np.abs(points[:, None] - points[None, :])
    matrix = rng.dirichlet(np.ones(3), n) if noise == 0 else np.full((n, 3), 1 / 3) + noise * rng.normal(size=(n, 3))
    logs = private_logs(matrix, losses)
    assert np.exp(logs).sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert (logs[:, None, :] - logs[None, :, :] <= losses[:, :, None] * (1 + 1e-9) + 1e-12).all()


def test_the_majorant_is_the_smallest_private_matrix_above() -> None:
    losses = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    logs = majorant(np.log(np.array([[1.0], [1e-9], [1e-9]])), losses)
    assert logs.ravel().tolist() == pytest.approx([0, -1, -2])


def test_further_constraints_are_kept() -> None:
    losses = 0.5 * Line().matrix(range(4))
    cost = Line().matrix(range(4)) / 4
    neighbours = np.array([(i, i + 1) for i in range(3)])
    equal = np.zeros((3, 16))
    for x in range(3):
        equal[x, x * 5], equal[x, (x + 1) * 5] = 1, -1
    free = solve(losses, cost, pairs=neighbours)
    fair = solve(losses, cost, pairs=neighbours, further=FurtherRows(equalities=csr_array(equal)))
    assert np.ptp(np.diag(fair.matrix)) < 1e-7
    assert fair.bound > free.value + 1e-3
    capped = np.zeros((1, 16))
    capped[0, 0], capped[0, 1] = 1, -1  # M[0,0] <= M[0,1]
    found = solve(losses, cost, pairs=neighbours, further=FurtherRows(inequalities=csr_array(capped)))
    assert found.matrix[0, 0] <= found.matrix[0, 1] + 1e-8


def test_constraints_that_nothing_satisfies_are_named_so() -> None:
    impossible = csr_array(np.ones((1, 4)))  # all entries together are at most 0
    with pytest.raises(InfeasibleError, match="no private mechanism"):
        solve(
            Line().matrix(range(2)),
            np.ones((2, 2)),
            pairs=np.array([(0, 1)]),
            further=FurtherRows(inequalities=impossible),
        )


def test_programs_beyond_the_limit_are_refused() -> None:
    with pytest.raises(ParameterError, match="too large"):
        solve(np.zeros((300, 300)), np.zeros((300, 300)), pairs=None)
