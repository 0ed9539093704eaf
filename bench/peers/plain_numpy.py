"""Plain numpy: inversion in floats, neither exact nor cryptographic, as well as it can be written in a few lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from bench.work import Work

__all__ = ["planar_laplace", "truncated_geometric"]


def truncated_geometric(n: int, size: int) -> Work:
    """Draws from the truncated geometric with epsilon 1 by the faster of two ways to search the rows of its CDF."""
    places = np.arange(n)
    a = np.exp(-1.0)
    matrix = a ** np.abs(places[:, None] - places[None, :]) / (1 + a)
    matrix[:, 1:-1] *= 1 - a
    cumulated = matrix.cumsum(axis=1)
    cumulated[:, -1] = 1.0
    shelves = (cumulated + places[:, None]).reshape(-1)
    rng = np.random.default_rng(1)
    secrets = rng.integers(0, n, size)

    def one_search() -> Any:
        """Row r of the CDF is lifted by r, so that one sorted array holds all rows."""
        return np.searchsorted(shelves, rng.random(size) + secrets, side="right") - n * secrets

    def row_by_row() -> Any:
        """Secrets are sorted, and each run of equal ones is searched in its row."""
        order = np.argsort(secrets.astype(np.min_scalar_type(n)), kind="stable")
        uniform = rng.random(size)
        drawn = np.empty(size, dtype=np.int64)
        ends = np.bincount(secrets, minlength=n).cumsum()
        start = 0
        for row, end in enumerate(ends.tolist()):
            drawn[start:end] = np.searchsorted(cumulated[row], uniform[start:end], side="right")
            start = end
        result = np.empty(size, dtype=np.int64)
        result[order] = drawn
        return result

    fastest = min((one_search, row_by_row), key=_seconds)
    return Work(fastest, size, lambda drawn: float(np.abs(np.minimum(drawn, n - 1) - secrets).mean()))


def planar_laplace(epsilon: str, size: int) -> Work:
    """A Gamma(2) radius and a uniform angle, added to each point."""
    rng, scale = np.random.default_rng(1), 1 / float(Fraction(epsilon))
    points = rng.uniform(0, 1000, (size, 2))

    def run() -> Any:
        radius, angle = rng.gamma(2.0, scale, size), rng.uniform(0.0, 2 * np.pi, size)
        released = np.empty_like(points)
        np.multiply(radius, np.cos(angle), out=released[:, 0])
        np.multiply(radius, np.sin(angle), out=released[:, 1])
        released += points
        return released

    return Work(run, size, lambda out: float(np.linalg.norm(out - points, axis=1).mean()))


def _seconds(run: Callable[[], Any]) -> float:
    best = np.inf
    for _ in range(3):
        started = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - started)
    return float(best)
