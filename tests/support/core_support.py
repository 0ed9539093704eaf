"""Independent oracles for the tests of core: decimals with many digits and fractions, and channels made by hand.

Nothing here calls the code under test, except to build a ``Channel`` from a matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from noisewright.channels.channel import Channel

Floats = NDArray[np.float64]
Between = Callable[[int, int], Fraction | None]

seeds = st.integers(0, 2**32 - 1)
"""One number decides an example; the rest is drawn from a numpy generator with that seed."""


# Channels by hand ----------------------------------------------------------------------------------------------


def truncated_geometric(n: int, epsilon: float) -> Channel:
    """The clamped geometric mechanism on 0..n-1, from its closed form."""
    a = math.exp(-epsilon)
    i = np.arange(n)
    ends = np.full(n, (1 - a) / (1 + a))
    ends[[0, -1]] = 1 / (1 + a)
    return Channel(a ** np.abs(i[:, None] - i).astype(float) * ends, normalise=True)


def truncated_geometric_logs(n: int, epsilon: float) -> Floats:
    """Its log-probabilities, which do not underflow."""
    a = math.exp(-epsilon)
    i = np.arange(n)
    ends = np.full(n, math.log1p(-a) - math.log1p(a))
    ends[[0, -1]] = -math.log1p(a)
    return -epsilon * np.abs(i[:, None] - i) + ends


def randomised_response(n: int, epsilon: float) -> Channel:
    weights = np.full((n, n), math.exp(-epsilon))
    np.fill_diagonal(weights, 1.0)
    return Channel(weights, normalise=True)


def random_matrix(rng: np.random.Generator, n: int, m: int) -> Floats:
    """Rows of one of many kinds: plain, close to each other, with very small entries, with zeros, with equal rows."""
    kind = rng.integers(6)
    weights = rng.dirichlet(np.ones(m), size=n)
    if kind == 1:
        weights = rng.dirichlet(np.ones(m)) * np.exp(rng.uniform(-1, 1, (n, m)) * 10.0 ** -rng.integers(0, 12))
    elif kind == 2:
        weights = weights ** rng.integers(2, 40)
    elif kind == 3:
        weights = weights * (rng.random((n, m)) < 0.7)
        weights[np.arange(n), rng.integers(0, m, n)] += 0.1
    elif kind == 4:
        weights = weights[rng.integers(0, n, n)]
    elif kind == 5:
        weights[:, rng.random(m) < 0.3] = 0.0
        weights[:, 0] += 0.05
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def random_channel(seed: int, most: int = 6, n: int | None = None) -> Channel:
    rng = np.random.default_rng(seed)
    return Channel(random_matrix(rng, n or int(rng.integers(1, most + 1)), int(rng.integers(1, most + 1))))


def random_metric(rng: np.random.Generator, n: int) -> Floats:
    """Shortest paths over random weights, some of them zero or infinite."""
    weights = rng.uniform(0.1, 3, (n, n))
    weights[rng.random((n, n)) < 0.1] = 0.0
    weights[rng.random((n, n)) < 0.3] = np.inf
    return shortest_paths(np.minimum(weights, weights.T))


def shortest_paths(weights: Floats) -> Floats:
    """Floyd and Warshall in three plain loops, on fractions, so that no sum is rounded."""
    n = len(weights)
    exact: list[list[Fraction | None]] = [
        [Fraction(0) if i == j else None if math.isinf(w) else Fraction(w) for j, w in enumerate(row)]
        for i, row in enumerate(weights.tolist())
    ]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                first, second, now = exact[i][k], exact[k][j], exact[i][j]
                if first is not None and second is not None and (now is None or first + second < now):
                    exact[i][j] = first + second
    return np.array([[np.inf if d is None else float(d) for d in row] for row in exact])


# The truth, with many digits -----------------------------------------------------------------------------------


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def true_epsilon(matrix: Floats, between: Between, digits: int = 60) -> Decimal:
    """The smallest epsilon of exactly these floats."""
    with localcontext() as context:
        context.prec = digits
        logs = [[None if v == 0 else Decimal(v).ln() for v in row] for row in matrix.tolist()]
        best = Decimal(0)
        for i, first in enumerate(logs):
            for j, second in enumerate(logs):
                distance = between(i, j) if i != j else None
                if distance is None:
                    continue
                for a, b in zip(first, second, strict=True):
                    if a is None or a == b:
                        continue
                    if b is None or distance == 0:
                        return Decimal("Infinity")
                    best = max(best, (a - b) / decimal(distance))
        return best


def true_delta(matrix: Floats, epsilon: Fraction, between: Between, digits: int = 60) -> Decimal:
    """The largest hockey-stick divergence of exactly these floats."""
    with localcontext() as context:
        context.prec = digits
        best = Decimal(0)
        rows = [[Decimal(v) for v in row] for row in matrix.tolist()]
        for i, first in enumerate(rows):
            for j, second in enumerate(rows):
                distance = between(i, j) if i != j else None
                if distance is not None:
                    factor = decimal(epsilon * distance).exp()
                    gaps = (a - factor * b for a, b in zip(first, second, strict=True))
                    best = max(best, sum((gap for gap in gaps if gap > 0), Decimal(0)))
        return best


def euclidean_below(x: Sequence[Any], y: Sequence[Any], digits: int = 80) -> Fraction:
    """The straight-line distance by decimal square root, just below the truth."""
    square = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True))
    with localcontext() as context:
        context.prec = digits
        return Fraction(decimal(Fraction(square)).sqrt()) * (1 - Fraction(1, 10 ** (digits - 4)))


def broken_promise(table: NDArray[np.object_], between: Between, epsilon: Fraction) -> tuple[int, int] | None:
    """The first pair of rows for which ``T[x,y] <= e^(epsilon d) T[x',y]`` could not be confirmed, over all pairs.

    e^(epsilon d) is a decimal exponential with as many digits as the entries could need, taken just below its value.
    """
    largest = max(int(v) for v in table.ravel())
    digits = 40 + int(0.7 * largest.bit_length())
    bits = 4 * digits
    factors: dict[Fraction, int] = {Fraction(0): 1 << bits}
    with localcontext() as context:
        context.prec = digits
        for i in range(len(table)):
            for j in range(len(table)):
                distance = between(i, j) if i != j else None
                if distance is None:
                    continue
                loss = epsilon * distance
                if loss > largest.bit_length():  # e^loss is beyond every ratio of positive entries
                    if ((table[j] == 0) & (table[i] > 0)).any():
                        return i, j
                    continue
                if loss not in factors:
                    factor = Fraction(decimal(loss).exp()) * (1 - Fraction(1, 10 ** (digits - 4)))
                    factors[loss] = (factor.numerator << bits) // factor.denominator
                if ((table[i] << bits) > table[j] * factors[loss]).any():
                    return i, j
    return None
