"""What the tests of families share: independent oracles that know nothing of the library's closed forms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

Rows = list[list[Fraction]]


def geometric(a: Fraction, n: int) -> Rows:
    ends, inner = 1 / (1 + a), (1 - a) / (1 + a)
    return [[(ends if y in (0, n - 1) else inner) * a ** abs(x - y) for y in range(n)] for x in range(n)]


def response(a: Fraction, n: int) -> Rows:
    return [[(Fraction(1) if x == y else a) / (1 + (n - 1) * a) for y in range(n)] for x in range(n)]


def exponential(b: Fraction, n: int) -> Rows:
    weights = [[b ** abs(x - y) for y in range(n)] for x in range(n)]
    return [[w / sum(row) for w in row] for row in weights]


def over_truncated(a: Fraction, n: int, low: int, high: int) -> Rows:
    """By summing tails of the two-sided geometric law directly: the mass beyond an end goes to it."""
    rows = []
    for x in range(n):
        row = [(1 - a) / (1 + a) * a ** abs(x - y) for y in range(low, high + 1)]
        # mass at or below k: sum_{j<=k} (1-a)/(1+a) a^|x-j|
        below = a ** (x - low) / (1 + a) if low <= x else 1 - a ** (low - x + 1) / (1 + a)
        above = a ** (high - x) / (1 + a) if high >= x else 1 - a ** (x - high + 1) / (1 + a)
        if low == high:
            row = [Fraction(1)]
        else:
            row[0], row[-1] = below, above
        rows.append(row)
    return rows


def product(a: Rows | tuple, b: Rows | tuple) -> Rows:
    columns = list(zip(*b, strict=True))
    return [[sum(p * q for p, q in zip(row, column, strict=True)) for column in columns] for row in a]


def solve(a: Rows, b: Rows) -> Rows:
    """``A^-1 B`` by Gauss and Jordan in fractions."""
    n = len(a)
    work = [[*a[i], *b[i]] for i in range(n)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if work[r][i] != 0)
        work[i], work[pivot] = work[pivot], work[i]
        work[i] = [v / work[i][i] for v in work[i]]
        for r in range(n):
            if r != i and work[r][i] != 0:
                work[r] = [v - work[r][i] * w for v, w in zip(work[r], work[i], strict=True)]
    return [row[n:] for row in work]


def least_miss(a: np.ndarray, b: np.ndarray) -> float:
    """The smallest sup-norm distance of ``b`` from a post-processing of ``a``, by a linear program."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    n, m = a.shape
    k = b.shape[1]
    kron = sparse.kron(sparse.csr_matrix(a), sparse.eye(k), format="csr")
    one = sparse.csr_matrix(np.ones((n * k, 1)))
    above = sparse.vstack([sparse.hstack([kron, -one]), sparse.hstack([-kron, -one])])
    sums = sparse.hstack([sparse.kron(sparse.eye(m), np.ones((1, k))), sparse.csr_matrix((m, 1))])
    found = linprog(
        np.r_[np.zeros(m * k), 1.0], A_ub=above, b_ub=np.r_[b.ravel(), -b.ravel()], A_eq=sums, b_eq=np.ones(m)
    )
    return float(found.fun)


def floats(rows: Rows | tuple) -> np.ndarray:
    return np.array([[float(v) for v in row] for row in rows])


def bayes(joint: Rows, channel: Rows | tuple) -> Fraction:
    """How likely ``z`` is guessed after the output of a channel on ``x``, for the joint distribution ``joint[z][x]``."""
    outputs = range(len(channel[0]))
    return sum((max(sum(p * channel[x][y] for x, p in enumerate(row)) for row in joint) for y in outputs), Fraction(0))
