"""Snapping: facts 2, 3 and 36 of the range-adherent specification, gaps, the wrapper for any mechanism."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.base import expected_loss
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.numeric.additive import snap


@pytest.mark.parametrize(("epsilon", "sensitivity"), [("0.5", 1), (2, 3)])
def test_01_fact02_laplace_loss_is_epsilon_times_distance(epsilon, sensitivity):
    """Inside a wide range every pair is exactly epsilon d / sensitivity apart."""
    mechanism = nw.mechanisms.snapped_laplace(
        epsilon=epsilon, sensitivity=sensitivity, within=(0, 40), lattice=1, scope="metric"
    )
    found = mechanism.channel().distinguishability()
    apart = np.abs(np.subtract.outer(np.arange(41), np.arange(41)))
    np.testing.assert_allclose(found, float(epsilon) * apart / sensitivity, rtol=1e-9, atol=1e-12)
    assert nw.audit(nw.mechanisms.snapped_laplace(epsilon=epsilon, sensitivity=sensitivity)).value == pytest.approx(
        float(epsilon)
    )


def test_03_bg1_the_scale_is_sensitivity_over_epsilon():
    mechanism = nw.mechanisms.snapped_laplace(epsilon="1/4", sensitivity=2)
    assert mechanism.scale == 8
    assert mechanism.error("squared") == pytest.approx(2 * 8**2, rel=1e-5)  # the variance 2 b^2 of the continuous limit
    assert mechanism.error() == pytest.approx(8, rel=1e-5)


@given(st.integers(0, 6), st.integers(1, 5), st.fractions("1/10", 3))
def test_01_fact03_snapping_a_private_matrix_keeps_its_loss(low, length, epsilon):
    inner = nw.geometric(epsilon=epsilon, within=(0, 12))
    once = nw.mechanisms.snapped(inner, (low, low + length))
    assert nw.audit(once).value <= float(epsilon) * (1 + 1e-9)
    twice = nw.mechanisms.snapped(once, (low, low + length))
    np.testing.assert_array_equal(once.channel().matrix, twice.channel().matrix)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30))
def test_01_fact03_snapping_is_idempotent_and_nearest(values):
    ranges = ((None, -7), (-3, 4), (9, 9 + 2), (20, None))
    points = np.array(values, dtype=np.int64)
    once = snap(points, ranges)
    np.testing.assert_array_equal(snap(once, ranges), once)
    valid = np.array([k for k in range(-60, 61) if k <= -7 or -3 <= k <= 4 or 9 <= k <= 11 or k >= 20])
    np.testing.assert_array_equal(np.abs(once - points), np.abs(valid[None, :] - points[:, None]).min(axis=1))


@pytest.mark.parametrize("make", [nw.mechanisms.snapped_laplace, nw.mechanisms.staircase])
def test_01_fact36_snapping_matrices_are_row_monotone_and_symmetric(make):
    """Theorem 6: probability falls away from the truth among the true answers, and the matrix has a point symmetry."""
    matrix = make(epsilon="0.7", sensitivity=2, within=(0, 10), lattice=1).channel().matrix
    np.testing.assert_allclose(matrix, matrix[::-1, ::-1], rtol=1e-12)
    for y in range(11):
        column = matrix[:, y]
        assert (np.diff(column[: y + 1]) >= -1e-15).all()
        assert (np.diff(column[y:]) <= 1e-15).all()
    assert np.ptp(matrix.diagonal()) > 1e-3  # not fair
    assert matrix[5, 0] > matrix[5, 1]  # and not monotone towards the ends, where probability piles up


@pytest.mark.parametrize(("span", "limit"), [(4, 2.0), (10, 5.0)])
def test_01_fact36_tiny_epsilon_leaves_the_ends(span, limit):
    """As epsilon falls to 0 the snapped Laplace answers one of the two ends: mean error span/2 over all true answers."""
    mechanism = nw.mechanisms.snapped_laplace(epsilon="1e-7", within=(0, span), lattice=1 if span == 10 else "1/8")
    channel = mechanism.channel()
    apart = np.abs(np.subtract.outer(channel.inputs, channel.outputs))
    assert float((channel.matrix * apart).sum(axis=1).mean()) == pytest.approx(limit, abs=1e-4)


def test_gaps_are_never_released_and_cost_nothing():
    mechanism = nw.mechanisms.snapped_laplace(epsilon=1, sensitivity=5, within=[(1, 212), (244, 365)], lattice=1)
    released = mechanism.release(np.full(20_000, 212), np.random.default_rng(2))
    assert not ((released > 212) & (released < 244)).any()
    assert nw.audit(mechanism).value <= 1 + 1e-9


def test_true_values_outside():
    keep = nw.mechanisms.snapped_laplace(epsilon=4, within=[(0, 3), (6, 9)], lattice=1, outside="keep")
    assert set(np.unique(keep.release([4.0] * 1000, np.random.default_rng(1)))) <= {0, 1, 2, 3, 6, 7, 8, 9}
    assert nw.audit(keep.channel(range(-5, 15)), nw.metrics.Line()).value <= 4 * (1 + 1e-9)
    clamp = nw.mechanisms.snapped_laplace(epsilon=8, within=(0, 3), outside="clamp")
    assert 0 <= clamp.release(1e9) <= 3
    with pytest.raises(DataError, match="outside the declared range"):
        nw.mechanisms.snapped_laplace(epsilon=1, within=(0, 3)).release([1.0, 3.5])
    with pytest.raises(ParameterError, match="needs one interval"):
        nw.mechanisms.snapped_laplace(epsilon=1, within=[(0, 1), (2, 3)], outside="clamp")


def test_values_beside_a_gap_are_not_parted_by_rounding():
    """Ends that are no lattice points: the true value is rounded as everywhere, so neighbours stay within their steps."""
    mechanism = nw.mechanisms.snapped_laplace(
        epsilon=1, sensitivity=1, within=[(0, 2.875), (4.125, 9)], lattice=1, outside="refuse"
    )
    assert mechanism._indices(np.array([2.875, 4.125])).tolist() == [3, 4]
    assert not set(mechanism.release([2.875] * 500)) & {3.0, 4.0}


def test_snapping_additive_noise_keeps_its_law():
    inner = nw.mechanisms.staircase(epsilon=1, sensitivity=2, lattice=1)
    outer = nw.mechanisms.snapped(inner, (0, 8))
    direct = nw.mechanisms.staircase(epsilon=1, sensitivity=2, lattice=1, within=(0, 8), outside="keep")
    assert outer == direct
    assert outer.certificate().verify() == "epsilon = 1 between neighbours (1/2 * line at most 1)"


def test_the_wrapper_keeps_promise_certificate_and_kind_of_numbers():
    inner = nw.geometric(epsilon=1)
    wrapped = nw.mechanisms.snapped(inner, (0, None))
    assert wrapped.guarantee == inner.guarantee
    assert wrapped.certificate().verify() == inner.certificate().verify()
    assert wrapped.certificate().document["snapped_to"] == [["0", None]]
    assert type(wrapped.release(3)) is int
    assert wrapped.release([0] * 500, np.random.default_rng(1)).min() == 0
    assert wrapped.map(2.0) == 2.0
    assert wrapped.error() == inner.error()  # an upper bound: one interval brings no output farther from the truth
    gaps = nw.mechanisms.snapped(inner, [(None, 0), (5, None)])
    assert gaps.error("squared") == 4 * inner.error("squared")
    finite = nw.mechanisms.snapped(nw.geometric(epsilon=1, within=(0, 9)), (2, 7))
    assert finite.error() == pytest.approx(expected_loss(finite.channel(), "absolute"))
    with pytest.raises(ParameterError, match="numbers as outputs"):
        nw.mechanisms.snapped(nw.randomised_response(["a", "b"], epsilon=1), (0, 1)).channel()


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_error_of_a_wrapper_counts_against_the_numbers_before_rounding(loss):
    inner = nw.laplace(epsilon=9, sensitivity=1, within=("0.1", "7.9"), lattice=1)
    wrapped, power = nw.mechanisms.snapped(inner, ("1.5", "5.5")), 1 if loss == "absolute" else 2
    channel = wrapped.channel()
    outputs = np.array(channel.outputs)
    worst = max(
        float(channel.matrix[round(min(max(answer, 1), 7)) - 1] @ np.abs(outputs - answer) ** power)
        for answer in np.linspace(0.1, 7.9, 1001)
    )
    assert expected_loss(channel, loss) < worst <= wrapped.error(loss) <= (worst ** (1 / power) + 1) ** power
    assert wrapped.error("zero-one") == 1.0


@pytest.mark.parametrize("scope", ["adjacent", "metric"])
def test_both_scopes_are_proved(scope):
    mechanism = nw.mechanisms.snapped_laplace(epsilon="0.1", sensitivity="0.7", within=(0, 5), scope=scope)
    said = mechanism.certificate().verify()
    assert ("between neighbours" in said) == (scope == "adjacent")
    assert mechanism.guarantee.scope == scope
    assert mechanism.law.scale * mechanism.epsilon == mechanism.steps == math.ceil(0.7 / float(mechanism.lattice.step))
