"""Max-mean error: facts F-5 to F-8 of the foundations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.design.bounds import finite_bound, general_bound, lower_bound, max_mean_error, smallest_error
from noisewright.exceptions import ParameterError

LN2 = math.log(2)


@pytest.mark.parametrize(("delta", "four", "two"), [(0.0, 0.6, 1 / 3), (0.1, 0.54, 0.3)])
def test_03_f05_discrete_metric_and_two_points(delta, four, two):
    assert smallest_error(range(4), epsilon=LN2, delta=delta, metric=nw.metrics.Discrete()) == pytest.approx(
        four, abs=1e-9
    )
    assert finite_bound(4, 1, epsilon=LN2, delta=delta) == pytest.approx(four)
    assert smallest_error([0, 1], epsilon=LN2, delta=delta) == pytest.approx(two, abs=1e-9)
    assert general_bound(1, epsilon=LN2, delta=delta) == pytest.approx(two)
    assert general_bound(1, epsilon=LN2, delta=delta, sharpened=False) == pytest.approx(two / 2)


def test_03_f05_randomised_response_attains_it():
    channel = nw.randomised_response(4, epsilon=LN2).channel()
    assert max_mean_error(channel, nw.metrics.Discrete()) == pytest.approx(0.6)


def test_03_f06_outputs_outside_break_the_finite_bound():
    distances = np.ones((4, 5)) - np.eye(4, 5)
    distances[:, 4] = 0.5
    found = smallest_error(range(4), epsilon=0, distances=distances)
    assert found == pytest.approx(0.5, abs=1e-9)
    assert finite_bound(4, 1, epsilon=0) == pytest.approx(0.75)
    assert finite_bound(4, 1, epsilon=0, outputs_are_secrets=False) <= found
    triangle = [(0.0, 0.0), (1.0, 0.0), (0.5, math.sqrt(3) / 2)]
    centre = (0.5, math.sqrt(3) / 6)
    with_centre = smallest_error(triangle, epsilon=0, metric=nw.metrics.Euclidean(), outputs=[*triangle, centre])
    assert with_centre == pytest.approx(0.5774, abs=1e-4)
    assert with_centre < finite_bound(3, 1, epsilon=0)
    assert lower_bound(triangle, epsilon=0, metric=nw.metrics.Euclidean(), outputs=[centre]) <= with_centre


def test_03_f07_six_points_on_the_interval():
    points = [k / 5 for k in range(6)]
    found = smallest_error(points, epsilon=LN2)
    assert found == pytest.approx(123 / 340, abs=1e-9)
    assert found == pytest.approx(0.361765, abs=1e-6)
    assert found >= general_bound(1, epsilon=LN2) == pytest.approx(1 / 3)
    finer = smallest_error(points, epsilon=LN2, outputs=[k / 50 for k in range(51)])
    assert finer == pytest.approx(found, abs=1e-9)


def test_03_f08_only_delta_one_allows_the_truth():
    assert smallest_error(range(3), epsilon=1, delta=1.0) == pytest.approx(0, abs=1e-12)
    errors = [smallest_error(range(3), epsilon=1, delta=d) for d in (0.9, 0.99, 0.999)]
    assert errors == sorted(errors, reverse=True)
    for delta, error in zip((0.9, 0.99, 0.999), errors, strict=True):
        assert error >= general_bound(2, epsilon=1, delta=delta) > 0


@settings(max_examples=15)
@given(
    st.lists(st.integers(0, 20), min_size=2, max_size=4, unique=True), st.floats(0.1, 3), st.sampled_from([0.0, 0.2])
)
def test_no_channel_beats_the_bounds(points, epsilon, delta):
    found = smallest_error(points, epsilon=epsilon, delta=delta)
    assert found >= lower_bound(points, epsilon=epsilon, delta=delta) - 1e-9


def test_private_mechanisms_are_above_the_optimum():
    channel = nw.randomised_response(5, epsilon=1).channel()
    assert max_mean_error(channel) >= smallest_error(range(5), epsilon=1) - 1e-9
    assert max_mean_error(nw.geometric(epsilon=1, within=(0, 4)).channel()) == pytest.approx(
        nw.geometric(epsilon=1, within=(0, 4)).error()
    )


def test_refused():
    with pytest.raises(ParameterError, match="too many"):
        smallest_error(range(100), epsilon=1, delta=0.1)
    with pytest.raises(ParameterError, match="epsilon must be"):
        general_bound(1, epsilon=-1)
    with pytest.raises(ParameterError, match="at least one secret"):
        finite_bound(0, 1, epsilon=1)
