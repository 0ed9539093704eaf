# mypy: disable-error-code="import-untyped,import-not-found,no-untyped-call,attr-defined"
"""qif: its audit of d-privacy, with its own metrics, which are the fastest that it offers, and its linear programs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import qif

from bench.work import Work

__all__ = ["bayesian_update", "optimal_line", "planar_laplace", "refinement", "smallest_epsilon"]


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


def refinement(n: int, pairs: int, which: str) -> Work:
    """Average-case refinement of the same random pairs as ours, by its fastest method; the answer is how many refine."""
    rng = np.random.default_rng(1)
    given = []
    for i in range(pairs):
        a, b = (rng.random((n, n)) for _ in range(2))
        a, b = (m / m.sum(axis=1, keepdims=True) for m in (a, b))
        refines = which == "refining" or (which == "both outcomes" and i % 2 == 0)
        given.append((a, a @ b if refines else b))
    decide = qif.refinement.refined_by
    return Work(lambda: sum(bool(decide(a, b)) for a, b in given), pairs, lambda held: 1.0 + held)


def bayesian_update(n: int, rate: float, iterations: int, gap: float = 0.0) -> Work:
    """Steps of the iterative Bayesian update on the same counts as ours; the answer is the mean log-likelihood, sign turned.

    ``gap`` is what our side is asked for, and these steps must not have gone further.
    """
    places, a = np.arange(n), np.exp(-rate)
    ends = np.full(n, (1 - a) / (1 + a))
    ends[[0, -1]] = 1 / (1 + a)
    matrix = a ** np.abs(places[:, None] - places) * ends
    true = np.exp(-(((places - 0.3 * n) / (0.08 * n)) ** 2) / 2)
    shares = np.random.default_rng(1).multinomial(100_000, true / true.sum() @ matrix) / 100_000
    start = np.full(n, 1 / n)

    def run() -> np.ndarray:
        return qif.channel.iterative_bayesian_update(matrix, shares, start, 0.0, iterations)[0]

    def answer(found: np.ndarray) -> float:
        law = np.ravel(found) @ matrix
        if np.log((matrix @ (shares / law)).max()) < gap:
            raise ValueError("it went further than the gap")
        return -float(shares @ np.log(law))

    return Work(run, 1, answer)
