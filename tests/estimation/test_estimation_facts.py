"""The numbered facts about estimation: inversion, the iterative Bayesian update, certificates, identifiability, calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest

import noisewright as nw
from noisewright.estimation.bayesian_update import bayesian_update, response_mle
from noisewright.estimation.comparison import comparable
from noisewright.estimation.counts import model_of
from noisewright.estimation.fitting import most_likely
from noisewright.estimation.likelihood import certify, identifiability, invert
from noisewright.estimation.operators import DenseOperator, GeometricOperator, ResponseOperator

COIN = DenseOperator(np.array([[2, 1], [1, 2]]) / 3)
SKEWED = np.array([0.9, 0.1])
LN2 = math.log(2)


def geometric_101():
    return GeometricOperator(101, LN2 / 10)


def response_101():
    return ResponseOperator(101, other=0.5 / 51, lift=0.5 / 51)


def test_06_f28_inversion_leaves_the_distributions():
    assert invert(SKEWED, COIN) == pytest.approx([1.7, -0.7], abs=1e-12)


def test_06_f28_the_most_likely_population_is_at_the_corner():
    assert response_mle(SKEWED, other=1 / 3, lift=1 / 3).tolist() == [1.0, 0.0]
    assert most_likely(SKEWED, COIN).probabilities == pytest.approx([1, 0], abs=1e-12)


def test_06_f28_updates_from_the_uniform_population():
    assert bayesian_update(SKEWED, COIN, iterations=10).probabilities == pytest.approx([0.99117, 0.00883], abs=5e-6)
    second = bayesian_update(SKEWED, COIN, iterations=100).probabilities[1]
    assert 1e-20 < second < 1e-18


@pytest.mark.parametrize("operator", [GeometricOperator(6, 0.7), ResponseOperator(6, 0.1, 0.4)])
def test_06_f29_an_exact_law_gives_the_population_back(operator):
    p = np.array([0.1, 0.2, 0.3, 0.15, 0.05, 0.2])
    q = operator.forward(p)
    assert invert(q, operator) == pytest.approx(p, abs=1e-13)
    assert bayesian_update(q, operator, iterations=20_000).probabilities == pytest.approx(p, abs=1e-12)
    assert most_likely(q, operator).probabilities == pytest.approx(p, abs=1e-6)


def test_06_f30_probabilities_of_both_mechanisms():
    line, response = geometric_101().rows(np.array([50]))[0], response_101().rows(np.array([50]))[0]
    assert response[[50, 0]] == pytest.approx([0.019608, 0.009804], abs=5e-7)
    assert line[50] == pytest.approx(math.tanh(LN2 / 20), abs=1e-15)
    assert line[[50, 40, 0, 100, 1]] == pytest.approx([0.034643, 0.017322, 0.016166, 0.016166, 0.001160], abs=6e-7)
    rows = geometric_101().rows(np.arange(101))
    assert (rows[50] / rows[40]).max() == pytest.approx(2)
    assert (rows[0] / rows[100]).max() == pytest.approx(1024)


def test_06_f30_the_mechanisms_that_are_released_have_these_operators():
    line = nw.geometric(epsilon=LN2 / 10, within=(0, 100))
    assert model_of(line).operator.rows(np.arange(101)) == pytest.approx(line.channel().matrix, abs=1e-15)
    response = nw.randomised_response(101, epsilon=LN2)
    assert model_of(response).operator.rows(np.arange(101)) == pytest.approx(response.channel().matrix, abs=1e-15)


THIRDS = DenseOperator([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3], [0.2, 0.4, 0.4]])


def test_06_f31_the_limit_depends_on_the_start_although_the_matrix_is_invertible():
    assert np.linalg.det(THIRDS.matrix) == pytest.approx(-0.03)
    q = np.array([1.0, 0.0, 0.0])
    uniform = bayesian_update(q, THIRDS, iterations=200).probabilities
    other = bayesian_update(q, THIRDS, iterations=200, start=np.array([0.2, 0.6, 0.2])).probabilities
    assert uniform == pytest.approx([0.5, 0.5, 0], abs=1e-12)
    assert other == pytest.approx([0.25, 0.75, 0], abs=1e-12)
    assert certify(uniform, q, THIRDS).value == pytest.approx(certify(other, q, THIRDS).value, abs=1e-14)


def test_06_f31_is_found_out():
    found = identifiability(THIRDS, np.array([1.0, 0.0, 0.0]), np.array([0.5, 0.5, 0.0]))
    assert (found.rank, found.unique) == (3, False)
    assert "2 secrets" in found.warnings[0]
    seen = THIRDS.forward(np.array([0.3, 0.3, 0.4]))
    assert identifiability(THIRDS, seen, np.array([0.3, 0.3, 0.4])).unique is True


def hamming_kernel():
    """Bits through the geometric on their number of ones: eight secrets, four outputs."""
    ones = np.array([bin(x).count("1") for x in range(8)])
    return DenseOperator(GeometricOperator(4, LN2).rows(ones)), ones


def test_06_f32_fewer_outputs_than_secrets():
    kernel, ones = hamming_kernel()
    p = np.array([0.3, 0.02, 0.1, 0.08, 0.05, 0.15, 0.1, 0.2])
    q = kernel.forward(p)
    first = bayesian_update(q, kernel, iterations=20_000).probabilities
    start = np.array([1, 8, 1, 1, 1, 8, 1, 1.0])
    second = bayesian_update(q, kernel, iterations=20_000, start=start).probabilities
    assert np.abs(first - second).sum() > 0.3
    assert kernel.forward(first) == pytest.approx(kernel.forward(second), abs=1e-9)
    truth = np.bincount(ones, p)
    for found in (first, second):
        assert np.bincount(ones, found) == pytest.approx(truth, abs=1e-6)
    told = identifiability(kernel, q, first)
    assert told.rank == 4
    assert "4 of 8 directions" in told.warnings[0]


def test_06_f33_the_certificate_bounds_the_gap_at_every_iterate():
    rng = np.random.default_rng(3)
    for operator in (geometric_101(), response_101()):
        q = rng.multinomial(2000, operator.forward(rng.dirichlet(np.ones(101)))) / 2000
        best = most_likely(q, operator).likelihood
        gaps = []
        p = np.full(101, 1 / 101)
        for _ in range(300):
            now = certify(p, q, operator)
            assert now.value + now.gap >= best.value
            gaps.append(now.gap)
            p = bayesian_update(q, operator, iterations=1, start=np.maximum(p, 1e-290)).probabilities
        assert gaps[-1] < gaps[0]
        assert best.gap < 1e-9


def test_06_est2_noise_amplification():
    assert geometric_101().inverse().amplification == pytest.approx(833, abs=0.5)
    assert response_101().inverse().amplification == pytest.approx(201, abs=1e-9)


def test_06_est4_agrees_with_a_long_iteration():
    rng = np.random.default_rng(8)
    operator = ResponseOperator(12, 0.05, 0.4)
    q = rng.multinomial(500, operator.forward(rng.dirichlet(np.full(12, 0.3)))) / 500
    closed = response_mle(q, other=0.05, lift=0.4)
    assert (closed == 0).any()
    assert certify(closed, q, operator).gap < 1e-13
    assert bayesian_update(q, operator, iterations=200_000, gap=1e-12).probabilities == pytest.approx(closed, abs=1e-5)


def test_06_est7_small_changes_do_not_mean_that_it_has_converged():
    """Randomised response moves by less than 1e-4 a step while the certified gap is still units of log-likelihood."""
    rng = np.random.default_rng(1)
    operator, reports = response_101(), 100_000
    users = rng.binomial(100, 0.5, reports)
    released = nw.randomised_response(101, epsilon=LN2).release(users, rng)
    q = np.bincount(released, minlength=101) / reports
    early = bayesian_update(q, operator, iterations=4000)
    after = bayesian_update(q, operator, iterations=1, start=np.maximum(early.probabilities, 1e-290))
    assert np.abs(after.probabilities - early.probabilities).max() < 1e-4
    assert early.likelihood.gap * reports > 1
    best = response_mle(q, other=operator.other, lift=operator.lift)
    assert (certify(best, q, operator).value - early.likelihood.value) * reports > 1


def test_06_est9_radius():
    found = comparable(epsilon=LN2, radius=10, diameter=100)
    assert float(found.per_unit) == pytest.approx(LN2 / 10, rel=1e-12)
    assert found.factor == pytest.approx(2)
    assert found.worst_factor == pytest.approx(1024)
    assert float(found.everywhere) == pytest.approx(LN2 / 100, rel=1e-12)
    with pytest.raises(nw.NoisewrightError, match="larger than the range"):
        comparable(epsilon=1, radius=11, diameter=10)
