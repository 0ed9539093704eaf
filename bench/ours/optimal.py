"""Our optimal mechanisms: designed, made private, certified, and drawn from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import noisewright as nw
from bench.work import Work
from noisewright.design.mechanism import OptimalMechanism
from noisewright.design.optimal import optimal
from noisewright.design.polytopes.enumeration import extreme_points
from noisewright.design.polytopes.kernel_mechanisms import kernels

__all__ = ["extremes", "huge_line", "kernel_list", "line", "many", "plane", "random_line"]


def line(n: int, epsilon: str, dense: bool = False) -> Work:
    """The best mechanism on a line for the absolute loss and the uniform prior; the answer is its expected loss."""

    def run() -> OptimalMechanism:
        made = optimal(n, epsilon=epsilon, loss="absolute")
        if dense:
            made.channel()
        return made

    return Work(run, 1, lambda made: made.loss_value)


def huge_line(n: int, epsilon: str) -> Work:
    """The same without a matrix: design, expected loss, worst error, certificate and one draw for every secret."""
    secrets = np.arange(n)

    def run() -> tuple[OptimalMechanism, float]:
        made = optimal(n, epsilon=epsilon, loss="absolute")
        made.certificate().verify()
        return made, float(np.abs(made.release(secrets) - secrets).mean())

    return Work(run, 1, lambda found: found[0].error("absolute"))


def random_line(n: int, epsilon: str) -> Work:
    """The linear program of a random loss on a line, with its certificate; the answer is the certified loss."""
    loss = np.random.default_rng(1).random((n, n))
    return Work(lambda: _certified(optimal(n, epsilon=epsilon, loss=loss)), 1, lambda made: made.loss_value)


def plane(n: int, epsilon: str, dilation: float | None) -> Work:
    """The best mechanism on a square grid for the squared Euclidean loss, certified in the Euclidean metric."""
    points = [(i, j) for i in range(n) for j in range(n)]

    def run() -> OptimalMechanism:
        return _certified(
            optimal(points, epsilon=epsilon, loss="squared", metric=nw.metrics.Euclidean(), dilation=dilation)
        )

    return Work(run, 1, lambda made: made.loss_value)


def many(problems: int) -> Work:
    """Random problems of all kinds, each designed and its certificate verified; the answer is how many were proved."""

    def run() -> int:
        return sum(_one(seed) for seed in range(problems))

    return Work(run, problems, float)


def kernel_list(n: int, factor: str) -> Work:
    """All kernels of a line, listed in exact numbers; the answer is how many there are."""
    return Work(lambda: len(kernels(nw.metrics.Line(), range(n), factor=factor)), 1, float)


def extremes(m: int) -> Work:
    """All extreme mechanisms of so many categories, listed one by one; the answer is how many there are."""
    return Work(lambda: sum(1 for _ in extreme_points(m)), 1, float)


def _one(seed: int) -> int:
    rng = np.random.default_rng(seed)
    n, actions = int(rng.integers(2, 9)), int(rng.integers(1, 9))
    metrics: list[nw.metrics.Metric] = [
        nw.metrics.Line(),
        nw.metrics.Line(),
        nw.metrics.Discrete(),
        nw.metrics.Euclidean(),
        nw.metrics.Manhattan(),
    ]
    kind = int(rng.integers(len(metrics)))
    points: list[object] = list(range(n))
    if kind == 1:
        points = [float(v) for v in np.cumsum(rng.uniform(0.05, 3, n))]
    elif kind >= 3:
        points = list(dict.fromkeys((int(a), int(b)) for a, b in rng.integers(0, 12, (n + 2, 2))))
    made = optimal(
        points,  # type: ignore[arg-type]
        epsilon=Fraction(float(rng.choice([1e-6, 1e-3, 0.1, 1.0, 5.0, 50.0]))),
        loss=rng.normal(size=(actions, len(points))),
        outputs=range(actions),
        metric=metrics[kind],
        prior=rng.dirichlet(np.ones(len(points))),
    )
    return int(made.certificate().verify().startswith("epsilon = "))


def _certified(made: OptimalMechanism) -> OptimalMechanism:
    made.certificate()
    return made
