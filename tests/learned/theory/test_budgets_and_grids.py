"""Budgets of independence, the optimum on a grid, Gaussian vectors: formulas against programs, transport and simulation."""

from __future__ import annotations

import math

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisewright.context_aware import FiniteGame, GaussianPair, Joint, Mixture, direction_noise, grid_game
from noisewright.context_aware import gaussian as shifts
from noisewright.context_aware.closed_forms import (
    classes_budget,
    independence_budget,
    line_budget,
    mixture_budget,
    saturation_budget,
    shift_budget,
)
from noisewright.exceptions import ParameterError

LAWS = {
    1: Mixture(py1=0.5, mean0=-3, mean1=3),
    2: Mixture(py1=0.5, mean0=-3, mean1=3, sd0=2),
    3: Mixture(py1=0.75, mean0=-3, mean1=3),
    4: Mixture(py1=0.75, mean0=-3, mean1=3, sd0=2),
}
THREE = Joint([[0.30, 0.05, 0.05], [0.05, 0.20, 0.05], [0.05, 0.05, 0.20]])


def random_law(seed: int, n: int, m: int) -> Joint:
    return Joint(np.random.default_rng(seed).dirichlet(np.ones(n * m)).reshape(n, m))


# Budgets ------------------------------------------------------------------------------------------------------------------


def test_fact_9_independence_costs_more_than_blind_guesses() -> None:
    game = FiniteGame(THREE, given="xy")
    assert independence_budget(game).value == pytest.approx(1 / 3, abs=1e-9)
    assert saturation_budget(game).value == pytest.approx(0.3, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_x_4_two_private_values_cost_a_total_variation(seed: int, n: int) -> None:
    law = random_law(seed, n, 2)
    apart = 0.5 * np.abs(law.probabilities[:, 0] / law.prior[0] - law.probabilities[:, 1] / law.prior[1]).sum()
    found = independence_budget(FiniteGame(law, given="xy"))
    assert found.value == pytest.approx(law.prior.min() * apart, abs=1e-8)
    assert found.bound == pytest.approx(found.value, abs=1e-8)
    joint = FiniteGame(law, given="xy").rows.joint(found.matrix)
    assert joint == pytest.approx(np.outer(joint.sum(axis=1), joint.sum(axis=0)), abs=1e-8)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 3), st.sampled_from(["x", "xy"]))
def test_budgets_are_where_curves_end(seed: int, n: int, m: int, given_: str) -> None:
    """Just below a budget something is left to gain, and at it nothing; blindness costs no more than independence."""
    game = FiniteGame(random_law(seed, n, m), given=given_)
    blind, silent = saturation_budget(game), independence_budget(game)
    assert blind.value <= silent.value + 1e-9
    assert silent.value - silent.bound < 1e-7
    assert blind.value - blind.bound < 1e-7
    assert float(game.optimum(blind.value + 1e-7).accuracy) == pytest.approx(game.joint.prior_accuracy, abs=1e-7)
    if blind.value > 0.02:
        assert game.optimum(0.95 * blind.value).accuracy > game.joint.prior_accuracy + 1e-6
    assert game.optimum(silent.value + 1e-7, "log").information < 1e-6


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_x_4_on_the_line_independence_costs_a_transport(seed: int, n: int) -> None:
    law = random_law(seed, n, 2)
    places = np.sort(np.random.default_rng(seed).normal(size=n)) * 3
    first, second = (law.probabilities[:, y] / law.prior[y] for y in (0, 1))
    apart = float(ot.emd2(first, second / second.sum() * first.sum(), (places[:, None] - places[None, :]) ** 2))
    assert line_budget(law, places) == pytest.approx(law.prior.prod() * apart, rel=1e-6, abs=1e-9)
    on_places = independence_budget(FiniteGame(Joint(law.probabilities, public=places.tolist()), "squared", given="xy"))
    assert on_places.value >= line_budget(law, places) - 1e-9  # outputs between the places are cheaper


@pytest.mark.parametrize("number", LAWS)
def test_x_4_gaussians_on_a_grid(number: int) -> None:
    law = LAWS[number]
    game = grid_game(law, points=161)
    cells = line_budget(game.joint)
    width = float(np.diff(game.joint.public[:2])[0])  # type: ignore[arg-type]
    assert cells == pytest.approx(mixture_budget(law), abs=2 * width**2 + 0.02)
    assert mixture_budget(law) <= shift_budget(law)


def test_x_4_classes_of_one_covariance() -> None:
    assert classes_budget([0.5, 0.5], [-3, 3]) == pytest.approx(9) == pytest.approx(mixture_budget(LAWS[1]))
    assert classes_budget([0.5, 0.3, 0.2], [(2, 0), (-1, 1.7), (-1, -1.7)]) == pytest.approx(3.666, abs=5e-4)


# The grid -----------------------------------------------------------------------------------------------------------------

GRID = {  # budget: given both, given x alone
    1: {1: (0.852, 0.853), 3: (0.718, 0.719), 5: (0.625, 0.626), 7: (0.553, 0.554), 9: (0.500, 0.501)},
    2: {1: (0.802, 0.814), 5: (0.602, 0.615), 9: (0.504, 0.514)},
    3: {1: (0.864, 0.865), 3: (0.752, 0.752), 5: (0.750, 0.750)},
    4: {1: (0.843, 0.851), 3: (0.757, 0.764), 5: (0.750, 0.750)},
}


@pytest.mark.parametrize("number", GRID)
def test_table_5_3_the_optimum_on_a_grid(number: int) -> None:
    games = {given_: grid_game(LAWS[number], points=51, given=given_) for given_ in ("xy", "x")}
    for d, expected in GRID[number].items():
        both, alone = (games[given_].optimum(d) for given_ in ("xy", "x"))
        assert (float(both.accuracy), float(alone.accuracy)) == pytest.approx(expected, abs=2.1e-3), d
        assert max(both.gap, alone.gap) < 1e-7
        assert both.accuracy <= alone.accuracy + 1e-7
        assert both.accuracy <= shifts.class_noise(LAWS[number], d).accuracy + 2e-3


def test_table_5_3_the_least_information_on_a_grid() -> None:
    for given_, expected in (("xy", {1: 0.4285, 5: 0.1098}), ("x", {1: 0.4339, 5: 0.1125})):
        game = grid_game(LAWS[1], points=41, given=given_)
        for d, nats in expected.items():
            made = game.optimum(d, "log")
            assert made.information == pytest.approx(nats, abs=3e-3)
            assert made.gap < 1e-5


def test_3_12_single_records_are_released_as_they_are() -> None:
    game = grid_game(LAWS[1], points=61)
    made = game.optimum(1)
    places = np.array(game.joint.public, dtype=np.float64)
    kept = made.channel().matrix.reshape(61, 2, 61)[np.arange(61), :, np.arange(61)]
    assert (kept * game.joint.probabilities).sum() == pytest.approx(0.70, abs=0.05)
    assert (kept[places >= 2.8, 1] > 1 - 1e-6).all()
    assert made.channel().epsilon().value == math.inf


# Vectors and pairs -----------------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0.01, 20))
def test_fact_33_noise_in_one_direction_is_as_good_as_noise_in_all(seed: int, d: int, budget: float) -> None:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d))
    covariance, delta = root @ root.T + 0.1 * np.eye(d), rng.normal(size=d) * 3
    noise = direction_noise(covariance, delta, distortion=budget)
    everywhere = delta @ np.linalg.solve(covariance + budget * np.eye(d), delta)
    along = delta @ np.linalg.solve(covariance + noise.covariance, delta)
    assert noise.separation**2 == pytest.approx(everywhere, rel=1e-9)
    assert along == pytest.approx(everywhere, rel=1e-9)
    assert np.trace(noise.covariance) == pytest.approx(budget)
    for _ in range(20):  # no other noise of that trace is better
        other = rng.normal(size=(d, d))
        other = other @ other.T
        other *= budget / np.trace(other)
        assert delta @ np.linalg.solve(covariance + other, delta) >= everywhere * (1 - 1e-9)


def test_x_8_in_one_dimension_is_additive_noise() -> None:
    noise = direction_noise([[1.0]], [6.0], distortion=5)
    assert noise.accuracy(py1=0.75) == pytest.approx(shifts.additive_noise(LAWS[3], 5).accuracy)


def test_x_9_pairs_against_simulation() -> None:
    """10^6 simulated records: explained variances within 0.005, about seven standard errors."""
    pair = GaussianPair(sd_x=1.5, sd_y=2, correlation=-0.8)
    rng = np.random.default_rng(2)
    size = 1_000_000
    x = 1.5 * rng.normal(size=size)
    y = 2 * (-0.8 * x / 1.5 + 0.6 * rng.normal(size=size))
    d, v = 0.9, 1.5**2
    noisy = x + math.sqrt(d) * rng.normal(size=size)
    shrunk = (1 - d / v) * x + math.sqrt(d * (1 - d / v)) * rng.normal(size=size)
    assert ((shrunk - x) ** 2).mean() == pytest.approx(d, abs=0.01)
    for release, told in ((noisy, pair.additive(d)), (shrunk, pair.shrunk(d))):
        explained = np.corrcoef(release, y)[0, 1] ** 2
        assert explained == pytest.approx(told.explained, abs=5e-3)
        assert told.mmse == pytest.approx(4 * (1 - told.explained))
        assert told.information == pytest.approx(-0.5 * math.log(1 - told.explained))
    removed = x - pair.removal_slope * y
    assert abs(np.corrcoef(removed, y)[0, 1]) < 5e-3
    assert ((removed - x) ** 2).mean() == pytest.approx(pair.independence_budget, abs=0.01)
    assert pair.shrunk(3).information == 0
    assert GaussianPair(1, 1, 1).additive(0).information == math.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: direction_noise([[1.0, 0], [0, 0]], [1, 1], distortion=1),
        lambda: direction_noise([[1.0]], [1, 1], distortion=1),
        lambda: direction_noise([[1.0]], [1.0], distortion=-1),
        lambda: GaussianPair(0, 1, 0.5),
        lambda: GaussianPair(1, 1, 1.5),
        lambda: GaussianPair(1, 1, 0.5).additive(math.nan),
        lambda: grid_game(LAWS[1], points=2),
        lambda: line_budget(THREE, [0, 1]),
        lambda: line_budget(THREE, [0, 1, math.inf]),
        lambda: classes_budget([0.5, 0.6], [1, 2]),
        lambda: classes_budget([1.0], [1, 2]),
    ],
)
def test_bad_input_gets_one_sentence(call: object) -> None:
    with pytest.raises(ParameterError) as caught:
        call()  # type: ignore[operator]
    assert str(caught.value).endswith(".")
