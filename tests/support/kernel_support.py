"""Independent ways to the same answers, for the tests of kernels: linear programs and brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, eye_array, kron, vstack

from noisewright.channels.channel import Channel
from noisewright.metrics.base import Metric

G3 = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
H3 = [["2/3", "1/3"], ["1/3", "2/3"], ["2/3", "1/3"]]


def geometric_channel(n: int, alpha: float) -> Channel:
    """The truncated geometric from its formula."""
    x = np.arange(n)
    c = np.full(n, (1 - alpha) / (1 + alpha))
    c[[0, -1]] = 1 / (1 + alpha)
    return Channel(c * alpha ** np.abs(x[:, None] - x[None, :]))


def posterior_loss(prior, matrix, loss) -> float:
    """The expected loss with the best remap, from its definition."""
    return float((np.asarray(loss) @ (np.asarray(prior)[:, None] * np.asarray(matrix))).min(axis=0).sum())


def lp_optimum(metric: Metric, points, epsilon: float, prior, loss) -> float:
    """The least expected loss of any private channel with one output for each action: the plain linear program."""
    loss, prior = np.asarray(loss, dtype=float), np.asarray(prior, dtype=float)
    n, m = loss.shape[1], loss.shape[0]
    distances = metric.matrix(points)
    ordered = [(i, j) for i in range(n) for j in range(n) if i != j]
    rows = np.repeat(np.arange(len(ordered)), 2)
    columns = np.array([k for pair in ordered for k in pair])
    values = np.array([v for i, j in ordered for v in (np.exp(-epsilon * distances[i, j]), -1.0)])
    private = coo_array((values, (rows, columns)), shape=(len(ordered), n))
    bounds = kron(eye_array(m), private)  # one block for each output
    sums = kron(np.ones((1, m)), eye_array(n))
    answer = linprog(
        (loss * prior).ravel(),
        A_ub=bounds.tocsr(),
        b_ub=np.zeros(bounds.shape[0]),
        A_eq=vstack([sums]).tocsr(),
        b_eq=np.ones(n),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert answer.status == 0
    return float(answer.fun)


def refinement_residual(first, second) -> float:
    """The least sum of absolute differences between ``first @ R`` and ``second`` over all post-processings ``R``."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    n, p = a.shape
    q = b.shape[1]
    product = kron(eye_array(q), a)  # columns of R one below the other
    slack = eye_array(n * q)
    from scipy.sparse import hstack

    equal = hstack([product, slack, -slack])
    sums = hstack([kron(np.ones((1, q)), eye_array(p)), coo_array((p, 2 * n * q))])
    answer = linprog(
        np.r_[np.zeros(p * q), np.ones(2 * n * q)],
        A_eq=vstack([equal, sums]).tocsr(),
        b_eq=np.r_[b.T.ravel(), np.ones(p)],
        method="highs",
    )
    return float(answer.fun)


def corners_by_force(losses: np.ndarray) -> set[tuple[float, ...]]:
    """All corners of the private posteriors: every set of n - 1 equations that has one private solution."""
    n = len(losses)
    ordered = [(i, j) for i in range(n) for j in range(n) if i != j]
    found = set()
    for chosen in combinations(ordered, n - 1):
        matrix = np.zeros((n, n))
        for row, (i, j) in enumerate(chosen):
            matrix[row, i], matrix[row, j] = 1, -np.exp(losses[i, j])
        matrix[-1] = 1
        if abs(np.linalg.det(matrix)) < 1e-9:
            continue
        p = np.linalg.solve(matrix, np.eye(n)[-1])
        if (p > 0).all() and all(p[i] <= np.exp(losses[i, j]) * p[j] * (1 + 1e-9) for i, j in ordered):
            found.add(tuple(np.round(p, 8).tolist()))
    return found


def kernels_by_force(vertices: np.ndarray) -> set[tuple[int, ...]]:
    """Supports of all basic feasible solutions of ``V a = uniform``, by solving every square system."""
    n, count = vertices.shape
    found = set()
    for chosen in combinations(range(count), n):
        square = vertices[:, chosen]
        if np.linalg.matrix_rank(square, tol=1e-10) < n:
            continue
        a = np.linalg.solve(square, np.full(n, 1 / n))
        if a.min() > -1e-10:
            found.add(tuple(k for k, v in zip(chosen, a, strict=True) if v > 1e-10))
    return found
