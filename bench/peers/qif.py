# mypy: disable-error-code="import-untyped,import-not-found,no-untyped-call,attr-defined"
"""qif: its audit of d-privacy, with its own metrics, which are the fastest that it offers, and its linear programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import qif

from bench.work import Work

__all__ = ["optimal_line", "planar_laplace", "smallest_epsilon"]


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


def optimal_line(n: int, epsilon: str, loss: str) -> Work:
    """The best mechanism on a line at the uniform prior, with the fastest of its solvers; the answer is the expected loss."""
    rate, prior = float(Fraction(epsilon)), np.full(n, 1 / n)
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(np.float64)
    losses = apart if loss == "absolute" else np.random.default_rng(1).random((n, n))
    qif.lp.defaults.solver = "CLP"

    def run() -> np.ndarray:
        return qif.mechanism.d_privacy.min_loss_given_d(
            prior,
            n,
            lambda x, y: rate * abs(x - y),
            lambda x, w: losses[w, x],
            vars="all",
            d_priv_ch=lambda x, y: abs(x - y) > 1,  # implied by the steps between
        )

    return Work(run, 1, lambda found: float((found * losses.T).sum() / n))
