"""Explicit fair and uniform responder: facts 34 and 36, and the numbers of fact 31 that concern them."""

import math

import numpy as np
import pytest

import noisewright as nw
from noisewright.mechanisms.categorical.exponential import explicit_fair_channel


def constant(n, a):
    """The parity-correct normaliser."""
    if n % 2 == 0:
        return (1 - a) / (1 + a - 2 * a ** (n / 2 + 1))
    return (1 - a) / (1 + a - a ** ((n + 1) / 2) - a ** ((n + 3) / 2))


@pytest.mark.parametrize("n", [4, 5, 9, 10])
def test_01_fact34_rows_sum_to_one_with_the_parity_correct_constant(n):
    a = math.exp(-0.5)
    places = np.arange(n + 1)
    apart = np.abs(np.subtract.outer(places, places))
    room = np.minimum(places, n - places)[:, None]
    weights = np.where(apart < room, a**apart, a ** np.ceil((apart + room) / 2))
    np.testing.assert_allclose(weights.sum(axis=1) * constant(n, a), 1, rtol=1e-12)
    np.testing.assert_allclose(explicit_fair_channel(0.5, n).matrix, weights * constant(n, a), rtol=1e-12)


def test_01_fact34_the_even_formula_is_wrong_for_odd_n():
    a = math.exp(-0.5)
    even = (1 - a) / (1 + a - 2 * a ** (5 / 2 + 1))
    assert even == pytest.approx(0.312530, abs=1e-6)
    assert constant(5, a) == pytest.approx(0.315263, abs=1e-6)
    assert even / constant(5, a) == pytest.approx(0.991328, abs=1e-6)  # what the rows would sum to


def test_01_fact31_explicit_fair_objective_on_counts():
    matrix = nw.mechanisms.explicit_fair(epsilon="0.5", within=(0, 5)).channel().matrix
    apart = np.abs(np.subtract.outer(range(6), range(6)))
    assert (matrix * apart).sum() == pytest.approx(8.076638, abs=1e-6)
    np.testing.assert_allclose(matrix.diagonal(), 0.315263, atol=1e-6)
    geometric = nw.geometric(epsilon="0.5", within=(0, 5)).channel().matrix
    assert (geometric * apart).sum() == pytest.approx(6.879815, abs=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 25, 60])
@pytest.mark.parametrize("epsilon", ["0.05", "1", "3"])
def test_every_count_is_kept_equally_often_and_the_loss_is_epsilon(n, epsilon):
    mechanism = nw.mechanisms.explicit_fair(epsilon=epsilon, within=(10, 10 + n))
    diagonal = mechanism.channel().matrix.diagonal()
    np.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-9)
    assert nw.audit(mechanism).value == pytest.approx(float(epsilon), rel=1e-6)
    assert mechanism.certificate().verify() == f"epsilon = {epsilon} per unit of line"


def test_01_fact36_uniform_responder():
    """Mean error over all true answers: (n^2 - 1)/(3 n) steps."""
    for points, expected in (([k / 10 for k in range(41)], 1.365854), (range(11), 3.636364)):
        channel = nw.mechanisms.uniform(points).channel()
        apart = np.abs(np.subtract.outer(channel.inputs, channel.outputs))
        assert float((channel.matrix * apart).sum(axis=1).mean()) == pytest.approx(expected, abs=1e-6)


def test_uniform_tells_nothing():
    mechanism = nw.mechanisms.uniform(["red", "green", "blue"])
    assert nw.audit(mechanism).value == 0
    assert mechanism.map(100.0) == 0
    assert mechanism.certificate().verify() == "epsilon = 0 per unit of discrete"
    assert mechanism.error("zero-one") == pytest.approx(2 / 3)
    released = mechanism.release(["red"] * 9000, np.random.default_rng(4))
    counts = np.unique(released, return_counts=True)[1]
    assert np.abs(counts - 3000).max() < 5.5 * math.sqrt(9000 * 2 / 9)  # fails with probability below 1e-6
