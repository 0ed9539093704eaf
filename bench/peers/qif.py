# mypy: disable-error-code="import-untyped,import-not-found,no-untyped-call,attr-defined"
"""qif: its audit of d-privacy, with its own metrics, which are the fastest that it offers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import qif

from bench.work import Work

__all__ = ["planar_laplace", "smallest_epsilon"]


def smallest_epsilon(n: int, metric: str) -> Work:
    """The smallest epsilon of a dense random channel."""
    matrix = np.random.default_rng(1).random((n, n))
    matrix /= matrix.sum(axis=1, keepdims=True)
    distance = {"euclidean": qif.metric.euclidean, "discrete": qif.metric.discrete}[metric](qif.uint)
    return Work(lambda: qif.measure.d_privacy.smallest_epsilon(matrix, distance), 1, float)


def planar_laplace(epsilon: str, size: int) -> Work:
    """``planar_laplace_sample`` for each point: it gives one draw a call, to be added to the point."""
    rate, sample = float(Fraction(epsilon)), qif.mechanism.geo_ind.planar_laplace_sample
    points = np.random.default_rng(1).uniform(0, 1000, (size, 2))
    pairs = points.tolist()

    def run() -> list[tuple[float, float]]:
        released = []
        for x, y in pairs:
            noise = sample(rate)
            released.append((x + noise.x, y + noise.y))
        return released

    return Work(run, size, lambda out: float(np.linalg.norm(np.array(out) - points, axis=1).mean()))
