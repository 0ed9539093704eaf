"""The mechanism facts of the information-flow specification (ME-1, ME-2, ME-4, ME-5, ME-6), with their numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.mechanisms.categorical.exponential import exponential_channel, realising_channel
from noisewright.metrics.base import Line, Table
from noisewright.metrics.sensitivity import closure


def fractions(rows):
    return np.array([[float(Fraction(v)) for v in row.split()] for row in rows])


def test_05_me1_geometric_is_exactly_tight_for_every_pair():
    """P(y|x) = (1-a)/(1+a) a^|x-y|: inside a wide range every pair of inputs is exactly epsilon |x - x'| apart."""
    a = math.exp(-0.7)
    row = nw.geometric(epsilon=0.7, within=(-60, 60)).channel().row(0)
    expected = (1 - a) / (1 + a) * a ** np.abs(np.arange(-59, 60))
    np.testing.assert_allclose(row[1:-1], expected, rtol=1e-12)


def test_05_me1_unbounded_needs_epsilon_above_zero():
    with pytest.raises(nw.NoisewrightError, match="epsilon must be greater than 0"):
        nw.geometric(epsilon=0)


def test_05_f10_truncated_geometric_with_a_one_half():
    channel = nw.geometric(epsilon=math.log(2), within=(0, 2)).channel()
    np.testing.assert_allclose(channel.matrix, fractions(["2/3 1/6 1/6", "1/3 1/3 1/3", "1/6 1/6 2/3"]), rtol=1e-14)
    assert math.exp(nw.audit(channel, Line()).value) == pytest.approx(2)
    assert math.exp(nw.audit(channel).value) == pytest.approx(4)


@pytest.mark.parametrize("n", [2, 3, 7, 50])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 8])
def test_05_me2_distinguishability_is_epsilon_times_distance(n, epsilon):
    channel = nw.geometric(epsilon=epsilon, within=(0, n - 1)).channel()
    np.testing.assert_allclose(channel.distinguishability(), epsilon * Line().matrix(range(n)), rtol=1e-9, atol=1e-13)


def test_05_me2_tridiagonal_inverse():
    a, n = 0.3, 6
    channel = nw.geometric(epsilon=-math.log(a), within=(0, n - 1)).channel()
    weights = np.array([1 / (1 + a), *[(1 - a) / (1 + a)] * (n - 2), 1 / (1 + a)])
    inverse = (np.diag([1.0, *[1 + a * a] * (n - 2), 1.0]) - a * (np.eye(n, k=1) + np.eye(n, k=-1))) / (1 - a * a)
    np.testing.assert_allclose(np.linalg.inv(channel.matrix / weights), inverse, atol=1e-12)


def test_05_me4_randomised_response_matrix_and_structure():
    """F-26: RR(3, ln 2) has diagonal 1/2 and 1/4 elsewhere; RR(4, ln(12/5)) has 4/9 and 5/27."""
    three = nw.randomised_response(3, epsilon=math.log(2)).channel().matrix
    np.testing.assert_allclose(three, np.eye(3) / 4 + 1 / 4, rtol=1e-14)
    four = nw.randomised_response(4, epsilon=math.log(12 / 5)).channel().matrix
    np.testing.assert_allclose(four, np.eye(4) * (4 / 9 - 5 / 27) + 5 / 27, rtol=1e-14)
    a, n = math.exp(-0.4), 5
    share = (1 - a) / (1 + (n - 1) * a)
    matrix = nw.randomised_response(n, epsilon=0.4).channel().matrix
    np.testing.assert_allclose(matrix, share * np.eye(n) + (1 - share) / n, rtol=1e-13)


def test_05_me4_warner_coin_is_ln_3():
    """Truth with probability 1/2, else a fair coin: truthful with 3/4, so epsilon is ln 3."""
    assert float(nw.randomised_response(["no", "yes"], epsilon=math.log(3)).keep_probability) == pytest.approx(0.75)


def test_05_me4_every_pair_is_epsilon_apart():
    channel = nw.randomised_response(6, epsilon=1.3).channel()
    off = channel.distinguishability()[~np.eye(6, dtype=bool)]
    np.testing.assert_allclose(off, 1.3, rtol=1e-12)
    assert nw.audit(channel, Line()).value == pytest.approx(1.3)


def test_05_f26_exponential_examples():
    three = exponential_channel(range(3), math.log(4), Line())
    np.testing.assert_allclose(three.matrix, fractions(["4/7 2/7 1/7", "1/4 1/2 1/4", "1/7 2/7 4/7"]), rtol=1e-13)
    assert nw.audit(three, Line()).value == pytest.approx(math.log(16 / 7), rel=1e-12)
    four = exponential_channel(range(4), math.log(4), Line())
    np.testing.assert_allclose(four.matrix[0], np.array([8, 4, 2, 1]) / 15, rtol=1e-13)
    np.testing.assert_allclose(four.matrix[1], np.array([2, 4, 2, 1]) / 9, rtol=1e-13)
    assert nw.audit(four, Line()).value == pytest.approx(math.log(12 / 5), rel=1e-12)
    losses = np.exp(four.distinguishability())
    assert losses[0, 2] == pytest.approx(4.8)
    assert losses[1, 2] == pytest.approx(2)


@pytest.mark.parametrize("n", [2, 3, 10, 100])
@pytest.mark.parametrize("nominal", [0.05, 0.7, 2, 9])
def test_05_me5_true_epsilon_closed_form_on_a_line(n, nominal):
    """true epsilon = t/2 + ln(s_1 / s_0), at the boundary pair."""
    b = math.exp(-nominal / 2)
    s = [(1 + b - b ** (x + 1) - b ** (n - x)) / (1 - b) for x in (0, 1)]
    found = nw.audit(exponential_channel(range(n), nominal, Line()), Line())
    assert found.value == pytest.approx(nominal / 2 + math.log(s[1] / s[0]), rel=1e-9)
    assert nominal / 2 <= found.value * (1 + 1e-12)
    assert found.value <= nominal * (1 + 1e-12)


@pytest.mark.parametrize("n", [2, 5, 40])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_05_me5_calibration_reaches_the_requested_epsilon(n, epsilon):
    mechanism = nw.exponential(range(n), epsilon=epsilon)
    found = nw.audit(mechanism).value
    assert found == pytest.approx(float(epsilon), rel=1e-9)
    assert mechanism.certified.epsilon == Fraction(epsilon)
    assert float(epsilon) <= mechanism.parameters["nominal"] <= 2 * float(epsilon)


@settings(max_examples=100)
@given(st.data())
def test_05_me6_realises_any_metric(data):
    """d_C = d exactly for random extended pseudo-metrics, with shares 1/e and 1/2."""
    n = data.draw(st.integers(1, 6))
    entry = st.one_of(st.floats(0, 4), st.just(math.inf), st.just(0.0))
    weights = np.array([[data.draw(entry) for _ in range(n)] for _ in range(n)])
    metric = closure(np.minimum(weights, weights.T))
    share = data.draw(st.sampled_from([1 / math.e, 0.5]))
    channel = realising_channel(range(n), 1.0, metric, share)
    np.testing.assert_allclose(channel.distinguishability(), metric.distances, rtol=1e-9, atol=1e-9)


def test_05_me6_share_above_one_half_fails():
    """The bound on the share is needed: with 0.8, two twins and a near third point are too far apart, so it is refused."""
    distances = np.array([[0, 0, 0.05], [0, 0, 0.05], [0.05, 0.05, 0]])
    rest = 1 - (0.8 / 3 * np.exp(-distances)).sum(axis=1)
    assert math.log(rest[2] / rest[0]) > 0.058
    with pytest.raises(nw.NoisewrightError, match="at most 1/2"):
        nw.mechanisms.metric_realising(range(3), epsilon=1, metric=Table(distances), share=0.8)


def test_05_me6_certified_table_is_exact():
    metric = nw.metrics.Euclidean()
    points = [(0, 0), (0, 1), (2, 1), (5, 5)]
    mechanism = nw.mechanisms.metric_realising(points, epsilon="0.8", metric=metric)
    assert mechanism.certificate().verify() == "epsilon = 0.8 per unit of euclidean"
    np.testing.assert_allclose(mechanism.channel().distinguishability(), 0.8 * metric.matrix(points), rtol=1e-9)
