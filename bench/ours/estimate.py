"""Our frequency oracles and estimators at work: from true values to estimated shares, and from counts to populations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import noisewright as nw
from bench.work import Work
from noisewright.estimation.bayesian_update import Fit, accelerated_update, bayesian_update
from noisewright.estimation.counts import planar_grid
from noisewright.estimation.fitting import most_likely
from noisewright.estimation.operators import DenseOperator, GeometricOperator
from noisewright.mechanisms.spatial.planar_laplace import Grid

__all__ = ["accelerated", "geometric_update", "likely", "oracle", "planar_update", "population", "update"]

Floats = NDArray[np.float64]

ORACLES = {
    "response": nw.randomised_response,
    "unary": nw.mechanisms.unary_encoding,
    "hashing": nw.mechanisms.local_hashing,
    "subset": nw.mechanisms.subset_selection,
    "hadamard": nw.mechanisms.hadamard_response,
}


def oracle(kind: str, categories: int, users: int, epsilon: str) -> Work:
    """Everybody's value made private and all shares estimated; the answer is 1 plus the share of the first fifth."""
    mechanism: Any = ORACLES[kind](categories, epsilon=epsilon)
    values = population(categories, users)
    first = max(categories // 5, 1)

    def run() -> Floats:
        found = nw.estimate(mechanism.release(values), mechanism, method="inversion")
        assert found.unbiased is not None
        return found.unbiased

    return Work(run, users, lambda shares: 1.0 + float(shares[:first].sum()))


def population(categories: int, users: int) -> NDArray[np.int64]:
    """Values of which the first fifth is four times as common as the rest."""
    weights = np.ones(categories)
    weights[: max(categories // 5, 1)] = 4.0
    return np.random.default_rng(1).choice(categories, users, p=weights / weights.sum())


def update(n: int, rate: float, iterations: int) -> Work:
    """Steps of the iterative Bayesian update with its certificate; the answer is the mean log-likelihood, sign turned."""
    shares, matrix = _counts(n, rate)
    operator = DenseOperator(matrix)

    def run() -> Fit:
        return bayesian_update(shares, operator, iterations=iterations)

    return Work(run, 1, lambda found: -found.likelihood.value)


def likely(n: int, rate: float, gap: float) -> Work:
    """A most likely population for the same counts, to a certified gap."""
    shares, matrix = _counts(n, rate)
    operator = DenseOperator(matrix)
    return Work(lambda: most_likely(shares, operator, gap=gap), 1, _reached)


def accelerated(n: int, rate: float, gap: float) -> Work:
    """The iterative Bayesian update with strides on the same counts, to a certified gap."""
    shares, matrix = _counts(n, rate)
    operator = DenseOperator(matrix)
    return Work(lambda: accelerated_update(shares, operator, gap=gap), 1, _reached)


def geometric_update(n: int, iterations: int) -> Work:
    """Steps of the update for the geometric, without a matrix."""
    operator = GeometricOperator(n, 0.01)
    shares = np.random.default_rng(1).dirichlet(np.ones(n))
    return Work(lambda: bayesian_update(shares, operator, iterations=iterations), iterations, _total)


def planar_update(side: int, iterations: int) -> Work:
    """Steps of the update for the planar geometric on a square grid, by fast Fourier transforms."""
    operator = planar_grid(Grid(side, side, step=1), epsilon="1/10").operator
    shares = np.random.default_rng(1).dirichlet(np.ones(side * side))
    return Work(lambda: bayesian_update(shares, operator, iterations=iterations), iterations, _total)


def _counts(n: int, rate: float) -> tuple[Floats, Floats]:
    """Shares of 100,000 reports of a geometric about a bell-shaped population, and its matrix."""
    places = np.arange(n)
    true = np.exp(-(((places - 0.3 * n) / (0.08 * n)) ** 2) / 2)
    matrix = GeometricOperator(n, rate).rows(places)
    return np.random.default_rng(1).multinomial(100_000, true / true.sum() @ matrix) / 100_000, matrix


def _reached(found: Fit) -> float:
    """The mean log-likelihood, sign turned, of a population that is within the gap."""
    if not found.converged:
        raise ValueError("it did not reach the gap")
    return -found.likelihood.value


def _total(found: Fit) -> float:
    return float(found.probabilities.sum())
