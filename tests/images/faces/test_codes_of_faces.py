"""The metric of codes, exact noise on them, and the closed forms of what is drawn.

Statistical tests have fixed seeds, and would fail by chance with a probability below 1e-6 for a seed that was not looked at.
"""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chisquare

from noisewright.exceptions import DataError, ParameterError
from noisewright.images import CodeSpace, NoisyCodes, SnappedLaw, least_error_weights
from noisewright.mechanisms.numeric.geometric import geometric


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def log_chances(noisy: NoisyCodes, point: np.ndarray[Any, Any], output: np.ndarray[Any, Any]) -> float:
    """The logarithm of the probability of an output, from the law of one element and nothing of the code under test."""
    a, total = math.exp(-1 / float(noisy.scale)), 0.0
    for x, z, top in zip(point.tolist(), output.tolist(), noisy.space.steps, strict=True):
        at_end = z in (0, top)
        total += math.log((1 if at_end else 1 - a) / (1 + a)) + abs(x - z) * math.log(a)
    return total


# The metric ---------------------------------------------------------------------------------------------------------------


def test_im_fact_1_scales_distance_and_bound_of_four_elements() -> None:
    space = CodeSpace.of([0] * 4, [1, 2, 4, 8], steps=64)
    noisy = NoisyCodes(Fraction(8), space)
    assert noisy.scales.tolist() == [0.5, 1, 2, 4]
    one, other = [0.0] * 4, [0.5, 1, 1, 8]
    assert space.metric.distance(one, other) == 0.5625
    assert noisy.map(0.5625) == 4.5
    points = space.points([one, other])
    attained = log_chances(noisy, points[0], points[0]) - log_chances(noisy, points[1], points[0])
    assert attained == pytest.approx(4.5, abs=1e-12)


def check_the_loss_of_two_codes(size: int, seed: int, epsilon: str, weighted: bool) -> None:
    """At most epsilon times the distance for any output, and that for the first code itself."""
    random = rng(seed)
    low = random.normal(0, 5, size)
    weights = random.uniform(0.1, 3, size) if weighted else None
    space = CodeSpace.of(low, low + random.uniform(0.01, 9, size), steps=50, weights=weights)
    noisy = NoisyCodes(Fraction(epsilon), space)
    codes = random.normal(0, 8, (3, size))
    x, other, output = space.points(codes)
    allowed = float(noisy.epsilon) * space.metric.distance(codes[0], codes[1])
    loss = log_chances(noisy, x, output) - log_chances(noisy, other, output)
    assert abs(loss) <= allowed + 1e-9
    assert log_chances(noisy, x, x) - log_chances(noisy, other, x) == pytest.approx(allowed, abs=1e-9)
    assert noisy.certificate().epsilon == Fraction(epsilon)
    assert (
        noisy.certificate().verify().startswith(f"epsilon = {float(Fraction(epsilon)):g} per unit of 1/{space.total}")
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(0, 2**32), st.sampled_from(["1/10", "3", "50"]))
def test_im_fact_2_the_loss_is_at_most_epsilon_times_the_distance_and_is_attained(
    size: int, seed: int, epsilon: str
) -> None:
    check_the_loss_of_two_codes(size, seed, epsilon, weighted=False)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(0, 2**32), st.sampled_from(["1/10", "3", "50"]))
def test_im_fact_8_so_it_is_where_elements_have_weights(size: int, seed: int, epsilon: str) -> None:
    check_the_loss_of_two_codes(size, seed, epsilon, weighted=True)


def test_the_law_that_is_drawn_is_the_law_that_is_proved() -> None:
    space = CodeSpace.of([0, 0], [1, 1], steps=6, weights=[1, 2])
    noisy = NoisyCodes(Fraction(4), space)
    assert space.steps == (4, 8)
    draws = noisy.drawn(np.tile([1, 5], (40_000, 1)), rng())
    for element, start in ((0, 1), (1, 5)):
        top = space.steps[element]
        law = geometric(epsilon=1 / noisy.scale, within=(0, top)).channel().matrix[start]
        seen = np.bincount(draws[:, element], minlength=top + 1)
        assert chisquare(seen, law * len(draws)).pvalue > 1e-6
    assert abs(np.corrcoef(draws.T)[0, 1]) < 5 / math.sqrt(len(draws))


def test_im_fact_3_opposite_corners_are_one_apart_and_the_ratio_there_is_that_of_epsilon() -> None:
    space = CodeSpace.of([-3, 0, 5], [1, 1, 5.5], weights=[1, 5, 2])
    noisy = NoisyCodes(Fraction(7), space)
    assert space.metric.distance([-3, 0, 5], [1, 1, 5.5]) == 1
    assert space.metric.largest == 1
    assert noisy.map(1) == 7
    corners = space.points([[-3, 0, 5], [1, 1, 5.5]])
    ratio = log_chances(noisy, corners[0], corners[0]) - log_chances(noisy, corners[1], corners[0])
    assert ratio == pytest.approx(7, abs=1e-9)


def test_im_fact_4_epsilon_200_at_a_distance_of_one_hundredth() -> None:
    noisy = NoisyCodes(Fraction(200), CodeSpace.of([0] * 20, [1] * 20))
    assert math.exp(noisy.map(0.01)) == pytest.approx(7.389, abs=1e-3)
    odds = noisy.guarantee.posterior(0.5, 0.01)
    assert odds / (1 - odds) == pytest.approx(math.exp(2), rel=1e-9)
    assert "within 0.01 (opposite corners" in noisy.guarantee.in_words(Fraction(1, 100))
    assert "any two faces change" in noisy.guarantee.in_words(1)


def test_im_fact_9_codes_beyond_the_box_are_moved_to_its_border() -> None:
    space = CodeSpace.of([0, 0], [1, 2], steps=100)
    assert space.points([[20, -20], [-1e300, 0.5]]).tolist() == [[100, 0], [0, 25]]
    assert space.metric.distance([20, -20], [-20, 20]) == 1  # without the clamp it would be more
    noisy = NoisyCodes(Fraction(3), space)
    released = noisy.release([[20.0, -20.0]] * 200, rng())
    assert ((released >= 0) & (released <= [1, 2])).all()
    random = rng(3)  # twenty times the box away, where distances would be above 1: what is promised holds, and more
    for one, other in 20 * random.normal(size=(200, 2, 2)):
        (x, away), output = space.points([one, other]), random.integers(0, 101, 2)
        apart = float(np.mean(np.abs(one - other) / space.ranges))
        loss = log_chances(noisy, x, output) - log_chances(noisy, away, output)
        assert abs(loss) <= 3 * space.metric.distance(one, other) + 1e-9
        assert space.metric.distance(one, other) <= min(1, apart + 0.01)  # a step of the lattice


def test_weights_are_numbers_of_steps() -> None:
    space = CodeSpace.of([0, 0, 0], [1, 1, 1], steps=100, weights=[1, 2, 3])
    assert space.steps == (50, 100, 150)
    assert space.weights.tolist() == pytest.approx([1 / 6, 1 / 3, 1 / 2])
    noisy = NoisyCodes(Fraction(10), space)
    assert noisy.scales.tolist() == pytest.approx([0.6, 0.3, 0.2])  # range / (weight * epsilon)
    assert sum(part["count"] for part in noisy.certificate().document["proof"]["parts"]) == 3
    assert pickle.loads(pickle.dumps(noisy)) == noisy
    assert noisy.guarantee.compose(noisy.guarantee).epsilon == 20


def test_weights_by_ranges_have_the_least_squared_error() -> None:
    ranges = np.array([1.0, 3, 0.2, 7])

    def error(free: Any) -> float:
        weights = np.exp(free) / np.exp(free).sum()
        return float((2 * (ranges / weights) ** 2).sum())

    best = minimize(error, np.zeros(4), method="BFGS", options={"gtol": 1e-3}).x
    assert (np.exp(best) / np.exp(best).sum()).tolist() == pytest.approx(least_error_weights(ranges).tolist(), rel=1e-3)


# The snapped law ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "epsilon", "inside"), [(2048, 200, 0.0477), (2048, 1000, 0.2166), (512, 300, 0.2540), (20, 200, 0.9933)]
)
def test_im_fact_5_the_chance_of_staying_inside(size: int, epsilon: int, inside: float) -> None:
    assert float(SnappedLaw(size / epsilon).inside(0.5)) == pytest.approx(inside, abs=5e-5)


@pytest.mark.parametrize(("scale", "mean", "error"), [(1.0, 0.38470, 0.20873), (10.24, 0.48574, 0.32355)])
def test_im_fact_5_the_mean_and_error_of_the_snapped_law(scale: float, mean: float, error: float) -> None:
    law = SnappedLaw(scale)
    assert float(law.mean(0.2)) == pytest.approx(mean, abs=1e-5)
    assert float(law.squared_error(0.2)) == pytest.approx(error, abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 400), st.sampled_from([0.02, 0.3, 1.0, 10.24, 500.0]))
def test_im_fact_5_the_law_on_the_lattice_has_the_closed_forms_up_to_a_step(place: int, scale: float) -> None:
    steps = 400
    chances = geometric(epsilon=1 / Fraction(scale * steps), within=(0, steps)).channel().matrix[place]
    outputs, law, x = np.arange(steps + 1) / steps, SnappedLaw(scale), place / steps
    assert float(law.mean(x)) == pytest.approx(float(chances @ outputs), abs=1e-4)
    assert float(law.squared_error(x)) == pytest.approx(float(chances @ (outputs - x) ** 2), abs=1e-4)
    low, high = law.ends(x)
    assert (float(low), float(high)) == pytest.approx((chances[0], chances[-1]), abs=1 / (4 * scale * steps))


def test_the_error_at_a_huge_scale_is_that_of_a_fair_coin() -> None:
    for x in (0.0, 0.2, 1.0):
        assert float(SnappedLaw(1e9).squared_error(x)) == pytest.approx((x**2 + (1 - x) ** 2) / 2, abs=1e-8)


# Bad input ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "more", "message"),
    [
        ([0, 1], [1, 1], {}, "leave out constant elements"),
        ([0], [math.inf], {}, "two finite ends"),
        ([-1.7e308], [1.7e308], {}, "wider than all floats"),
        ([], [], {}, "one element or more"),
        ([0, 0], [1], {}, "one length"),
        ([0], [1], {"steps": 0}, "whole number from 1"),
        ([0, 0], [1, 1], {"weights": [1, 0]}, "weight above 0"),
        ([0, 0], [1, 1], {"weights": [1]}, "weight above 0"),
    ],
)
def test_a_space_that_is_none_is_refused(low: Any, high: Any, more: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        CodeSpace.of(low, high, **more)


def test_codes_that_are_none_are_refused() -> None:
    noisy = NoisyCodes(Fraction(1), CodeSpace.of([0, 0], [1, 1]))
    for codes, message in (([[1, 2, 3]], "2 elements"), ([[math.nan, 0]], "finite"), ([[math.inf, 0]], "finite")):
        with pytest.raises(DataError, match=message):
            noisy.release(codes)
    for epsilon in (0, -1, "1e309", "inf"):
        with pytest.raises(ParameterError, match="epsilon"):
            NoisyCodes(epsilon, noisy.space)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="scale"):
        NoisyCodes(Fraction(1, 10**20), noisy.space)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        SnappedLaw(1.0).mean(1.5)
    with pytest.raises(ParameterError, match="scale of noise"):
        SnappedLaw(0.0)
