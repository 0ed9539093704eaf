"""Losses with steps, and the algebra of losses: where the geometric mechanism beats the Laplace that refines it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.channels.channel import Channel
from noisewright.design.loss import Loss
from noisewright.design.polytopes.restriction import restrict
from noisewright.design.utility import posterior_loss
from noisewright.mechanisms.numeric.truncated_laplace import binned_laplace, grid_geometric

EPSILON = 4 * math.log(2)


def test_07_f27_apx5_a_finer_geometric_is_worse_for_a_step_loss() -> None:
    two, four = grid_geometric(EPSILON, 2), grid_geometric(EPSILON, 4)
    assert two.matrix == pytest.approx(np.array([[16, 3, 1], [4, 12, 4], [1, 3, 16]]) / 20)
    assert four.matrix[0] == pytest.approx(np.array([16, 4, 2, 1, 1]) / 24)
    assert four.matrix[1] == pytest.approx(np.array([4, 4, 2, 1, 1]) / 12)
    assert four.matrix[2] == pytest.approx(np.array([1, 1, 2, 1, 1]) / 6)
    assert four.matrix[3:] == pytest.approx(four.matrix[1::-1, ::-1])
    guess = "zero-one"
    on_grid = restrict(four, (0.0, 0.5, 1.0))
    assert float(posterior_loss(None, two, guess)) == pytest.approx(4 / 15)
    assert float(posterior_loss(None, on_grid, guess)) == pytest.approx(1 / 3)
    # The Laplace can be binned to anything finer, and stays as bad.
    fine = binned_laplace(EPSILON, 2, 64)
    assert float(posterior_loss(None, fine, guess)) > 4 / 15 + 0.01


def test_07_f28_flooring_breaks_monotonicity() -> None:
    def loss(w: float, x: float) -> float:
        return abs(math.floor(2 * w) / 2 - math.floor(2 * x) / 2)

    assert abs(1 / 4 - 1 / 2) == abs(3 / 4 - 1 / 2)
    assert (loss(1 / 4, 1 / 2), loss(3 / 4, 1 / 2)) == (1 / 2, 0)


@given(st.integers(0, 10**6), st.floats(0, 5), st.floats(0, 5))
def test_07_apx2_scaling_shifting_and_moving_the_prior(seed: int, factor: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    channel, table, prior = Channel(rng.dirichlet(np.ones(4), 3)), rng.random((3, 3)), rng.dirichlet(np.ones(3))

    def value(prior: object, table: np.ndarray) -> float:
        return float(posterior_loss(prior, channel, Loss(table)))

    plain = value(prior, table)
    assert value(prior, factor * table) == pytest.approx(factor * plain, abs=1e-12)
    assert value(prior, table + shift) == pytest.approx(plain + shift, abs=1e-12)
    # Lemma 6.17: a prior is a factor of the loss, and n times the uniform prior takes it.
    assert 3 * value(None, table * prior[None, :]) == pytest.approx(plain, abs=1e-12)


@given(st.integers(0, 10**6))
def test_07_apx2_a_sum_over_pairs_of_actions_is_the_sum_of_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    channel, one, two = Channel(rng.dirichlet(np.ones(4), 3)), rng.random((2, 3)), rng.random((3, 3))
    pairs = np.array([2 * a + 3 * b for a in one for b in two])
    both = [float(posterior_loss(None, channel, Loss(table))) for table in (one, two)]
    assert float(posterior_loss(None, channel, Loss(pairs))) == pytest.approx(2 * both[0] + 3 * both[1], abs=1e-12)
