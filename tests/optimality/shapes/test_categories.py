"""Response categories, laws of noise as channels, adjacency, and the linear programs of counting and mean queries."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from noisewright.channels.channel import Channel
from noisewright.design.optimal import optimal
from noisewright.design.response_categories import (
    Answers,
    Categories,
    StaircaseNoise,
    discretise,
    exact_number,
    laplace_law,
    truncated_laplace_law,
    validate,
)
from noisewright.design.utility import face_value_loss, posterior_loss, secret_losses
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.categorical.exponential import explicit_fair, explicit_fair_channel
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.mechanisms.numeric.privacy_loss import laplace_density
from noisewright.mechanisms.numeric.staircase import staircase_density
from noisewright.metrics.base import Line

VARIANT_2 = ("monotone", "symmetric", "fair")
A = math.exp(-0.5)


def face(channel: Channel, loss: str = "absolute") -> float:
    return face_value_loss(None, channel, loss)


def bayes(channel: Channel, loss: str = "absolute") -> float:
    return posterior_loss(None, channel, loss).value


# Categories ------------------------------------------------------------------------------------------------------------


def test_categories_tile_or_surround_points():
    tiles = Categories.tiling(0, 4, 5)
    assert tiles.midpoints == tuple(Fraction(4 * (2 * i + 1), 10) for i in range(5))
    assert tiles.span == (0, 4)
    around = Categories.centred([0, 0.1, 0.2])
    assert around.labels == (0, Fraction(1, 10), Fraction(1, 5))
    assert around.span == (Fraction(-1, 20), Fraction(1, 4))
    assert Categories.centred([3, 1], "1/2").lows == (Fraction(3, 4), Fraction(11, 4))  # with a gap between them


def test_categories_are_half_open():
    tiles = Categories.tiling(0, 1, 4)
    assert tiles.index([0, 0.25, 0.2499, 0.5, 1, 1.0001, -0.1]).tolist() == [0, 1, 0, 2, 3, -1, -1]
    gaps = Categories.centred([0, 1], "1/2")
    assert gaps.index([0, 0.25, 0.5, 0.75]).tolist() == [0, -1, -1, 1]


def test_floats_count_as_the_fractions_they_round():
    assert [exact_number(v) for v in (0.1, 1 / 3, 0.1 + 0.2, 7.0, -2.5)] == [
        Fraction(1, 10),
        Fraction(1, 3),
        Fraction(3, 10),
        7,
        Fraction(-5, 2),
    ]
    assert exact_number(math.pi) == Fraction(math.pi)


@given(st.floats(0.05, 5), st.floats(0.1, 3), st.integers(1, 12), st.integers(0, 20))
def test_masses_agree_with_quadrature_and_with_the_exact_densities(epsilon, width, count, place):
    """Laplace against the closed-form auditor's masses; staircase against numerical integration of its density."""
    tiles = Categories.tiling(0, Fraction(width), count)
    exact = tiles.span[1] * place / 20
    truth = float(exact)
    law = laplace_density(truth, scale=1 / epsilon)
    ends = [(float(lo), float(hi)) for lo, hi in zip(tiles.lows, tiles.highs, strict=True)]
    ends[0], ends[-1] = (-math.inf, ends[0][1]), (ends[-1][0], math.inf)
    if count == 1:
        ends = [(-math.inf, math.inf)]
    found = discretise(laplace_law(1 / epsilon), [exact], tiles, snap=True).matrix[0]
    assert found == pytest.approx([law.mass(*pair) for pair in ends], rel=1e-9, abs=1e-300)
    cut = laplace_density(truth, scale=2 / epsilon, within=(0, float(tiles.span[1])))
    inside = [(float(lo), float(hi)) for lo, hi in zip(tiles.lows, tiles.highs, strict=True)]
    found = discretise(truncated_laplace_law(2 / epsilon, tiles.span), [exact], tiles).matrix[0]
    assert found == pytest.approx([cut.mass(*pair) for pair in inside], rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.2, 1, 3])
def test_01_fact35_the_staircase(epsilon):
    """Unit mass and E|noise| = D/(2 sinh(eps/2)), never above Laplace's D/eps; the density is the law's derivative."""
    noise = StaircaseNoise(epsilon, 2.0)
    assert noise.mean_size == pytest.approx(2 * {0.2: 4.991676, 1: 0.959517, 3: 0.234821}[epsilon], abs=2e-6)
    assert noise.mean_size <= 2 / epsilon
    assert noise.cdf([-1e4, 0, 1e4], 0) == pytest.approx([0, 0.5, 1], abs=1e-15)
    for low, high in ((0, 0.3), (-1.7, 0.2), (1.9, 2.4), (3, 9)):
        jumps = [k * 2 + s for k in range(-6, 6) for s in (0, 2 / (1 + math.exp(epsilon / 2)))]
        breaks = [b for v in jumps for b in (v, -v) if low < b < high]
        mass = integrate.quad(
            lambda d: staircase_density(d, epsilon=epsilon, sensitivity=2.0), low, high, points=breaks, limit=200
        )[0]
        assert float(noise.cdf(high, 0) - noise.cdf(low, 0)) == pytest.approx(mass, abs=1e-9)
    sizes = np.linspace(0, 400, 4_000_001)
    tail = noise.tail(sizes, 0.0)
    assert 2 * integrate.trapezoid(tail, sizes) == pytest.approx(noise.mean_size, rel=1e-3)


def test_small_probabilities_keep_their_digits_on_both_sides():
    """Differences of a cdf near one would lose them, and with them the promise."""
    points = range(80)
    channel = discretise(laplace_law(1.0), points, Categories.centred(points), snap=True)
    assert channel.matrix == pytest.approx(channel.matrix[::-1, ::-1], rel=1e-12)
    assert channel.epsilon(Line()).value == pytest.approx(1, abs=1e-9)
    far = discretise(StaircaseNoise(1.0), points, Categories.centred(points), snap=True)
    assert far.epsilon(Line()).value == pytest.approx(1, abs=1e-9)


def test_01_me4_what_normalised_laplace_noise_really_loses():
    mean = Answers.of_mean(10, 4)
    tiles = mean.categories()
    for epsilon, loss in {0.05: 0.0453, 0.1: 0.0898, 0.2: 0.1762, 0.5: 0.4179, 1: 0.7659, 2: 1.3404}.items():
        channel = discretise(truncated_laplace_law(2 * 0.4 / epsilon, tiles.span), mean.points, tiles)
        assert channel.epsilon(mean.metric).value == pytest.approx(loss, abs=5e-5)


def test_01_mm4_snapping_keeps_the_promise_whatever_the_categories():
    """Theorem 5, also with gaps between the categories and with uneven ones."""
    for tiles in (Categories.tiling(0, 5, 3), Categories.centred([0, 1, 4.5], 1), Categories.tiling(-3, 9, 17)):
        points = [p for p in range(6) if tiles.index([p])[0] >= 0]
        channel = discretise(laplace_law(1 / 0.7), points, tiles, snap=True)
        assert channel.epsilon(Line()).value <= 0.7 + 1e-12


# Adjacency -------------------------------------------------------------------------------------------------------------


@given(st.integers(1, 6), st.integers(1, 5))
def test_a_promise_between_neighbours_is_one_in_the_metric_of_steps(size, highest):
    mean = Answers.of_mean(size, highest)
    steps = mean.metric.matrix(mean.points)
    j = np.arange(highest * size + 1)
    assert np.array_equal(steps, np.ceil(np.abs(j[:, None] - j[None, :]) / highest))
    assert np.array_equal(mean.adjacent, steps == 1)
    law = StaircaseNoise(0.8, float(mean.reach))
    channel = discretise(law, mean.points, mean.categories(), snap=True)
    measured = validate(channel, mean.adjacent)
    assert channel.epsilon(mean.metric).value == pytest.approx(measured.loss, rel=1e-9)
    assert measured.loss <= 0.8 + 1e-12


def test_counts_are_on_the_line():
    count = Answers.of_count(7)
    assert count.points == tuple(range(8))
    assert isinstance(count.metric, Line)
    assert Answers.of_mean(5, 1).metric.distance(0, Fraction(2, 5)) == 2


def test_the_validator_measures_what_is_wrong():
    good = validate([[0.6, 0.4], [0.4, 0.6]], [[0, 1], [1, 0]])
    assert (good.sum_error, good.most_negative, good.pair, good.output) == (0, 0, (0, 1), 0)
    assert good.loss == pytest.approx(math.log(1.5))
    assert good.ok(0.41)
    assert not good.ok(0.4)
    bad = validate([[0.6, 0.5], [1.0, -1e-9]], [[0, 1], [0, 0]])
    assert bad.sum_error == pytest.approx(0.1)
    assert bad.most_negative == -1e-9
    assert math.isinf(bad.loss)
    assert (bad.pair, bad.output) == ((0, 1), 1)
    assert validate([[0.5, 0.5, 0], [0.5, 0.5, 0]], [[0, 1], [1, 0]]).loss == 0  # two zeros are no constraint
    assert validate([[0.9, 0.1], [0.1, 0.9]], np.zeros((2, 2))).loss == 0  # nobody is adjacent


# Facts about matrices and linear programs --------------------------------------------------------------------------------


TABLE_1 = """0 0 0 0 0 0
0.771 0.622 0.378 0.229 0.139 0.084
0.090 0.149 0.245 0.149 0.090 0.055
0.055 0.090 0.149 0.245 0.149 0.090
0.084 0.139 0.229 0.378 0.622 0.771
0 0 0 0 0 0"""
TABLE_2 = """0.315 0.191 0.116 0.070 0.043 0.026
0.315 0.315 0.191 0.116 0.070 0.043
0.231 0.265 0.315 0.191 0.116 0.070
0.070 0.116 0.191 0.315 0.265 0.231
0.043 0.070 0.116 0.191 0.315 0.315
0.026 0.043 0.070 0.116 0.191 0.315"""


def printed(text: str) -> np.ndarray:
    """A printed table, whose rows are outputs, as a channel, whose rows are secrets."""
    return np.array([[float(v) for v in line.split()] for line in text.splitlines()]).T


@pytest.fixture(scope="module")
def variant_1():
    """The program itself, not the closed form that counts have: a metric that no theorem is about."""
    count = Answers.of_count(5)
    return optimal(count.points, epsilon="0.5", loss=np.abs(np.subtract.outer(range(6), range(6))) * 1.0)


@pytest.fixture(scope="module")
def variant_2():
    return optimal(6, epsilon="0.5", loss="absolute", shape=VARIANT_2)


def test_01_fact30_variant_1_on_counts(variant_1):
    """The printed 0.091 is a slip for 0.090, as the sum of its column shows."""
    closed = optimal(6, epsilon="0.5", loss="absolute")
    for made in (variant_1, closed):
        matrix = made.channel().matrix
        assert np.abs(matrix - printed(TABLE_1)).max() <= 5.1e-4
        assert 6 * made.loss_value == pytest.approx(6.363223, abs=1e-6)
        assert matrix[0, 1] == pytest.approx(1 / (1 + A) + A * (1 - A) / (1 + A), abs=1e-6)
        assert matrix[1, 1] == pytest.approx(1 / (1 + A), abs=1e-6)
        assert matrix[2, 1] == pytest.approx(A / (1 + A), abs=1e-6)
        assert matrix[2, 2] == pytest.approx((1 - A) / (1 + A), abs=1e-6)
    noisy = geometric(epsilon="0.5", within=(0, 5)).channel().matrix
    merged = np.zeros((6, 6))
    merged[:, 1:5] = noisy[:, 1:5]
    merged[:, 1] += noisy[:, 0]
    merged[:, 4] += noisy[:, 5]
    assert np.abs(variant_1.channel().matrix - merged).max() < 1e-6


def test_01_fact31_variant_2_on_counts(variant_2):
    assert np.abs(variant_2.channel().matrix - printed(TABLE_2)).max() <= 5.1e-4
    assert 6 * variant_2.loss_value == pytest.approx(6.828620, abs=1e-6)
    assert variant_2.channel().matrix.diagonal() == pytest.approx([0.315263] * 6, abs=1e-6)
    assert 6 * face(geometric(epsilon="0.5", within=(0, 5)).channel()) == pytest.approx(6.879815, abs=1e-6)
    assert 6 * face(explicit_fair_channel(0.5, 5)) == pytest.approx(8.076638, abs=1e-6)


def test_01_fact32_the_geometric_remapped_is_as_good(variant_1):
    noisy = geometric(epsilon="0.5", within=(0, 5)).channel()
    assert 6 * bayes(noisy) == pytest.approx(6.363223, abs=1e-6)
    best = optimal(6, epsilon="0.5", loss=np.subtract.outer(range(6), range(6)) ** 2.0)
    assert best.loss_value == pytest.approx(1.979521, abs=1e-6)
    assert best.loss_value == pytest.approx(bayes(noisy, "squared"), abs=1e-7)
    assert variant_1.certificate().verify() == "epsilon = 0.5 per unit of line"


def test_01_fact33_minimax(variant_1):
    made = optimal(6, epsilon="0.5", loss="absolute", objective="minimax")
    worst = secret_losses(made.channel(), "absolute").max()
    assert worst == pytest.approx(made.loss_value, abs=1e-9)
    assert secret_losses(variant_1.channel(), "absolute").max() == pytest.approx(1.4521, abs=5e-5)
    noisy = geometric(epsilon="0.5", within=(0, 5))
    assert noisy.error("absolute") == pytest.approx(1.351951, abs=1e-6)
    assert worst < 1.351951 - 0.01


@pytest.mark.parametrize("n", [4, 5, 9, 10])
def test_01_fact34_the_explicit_fair_mechanism(n):
    matrix = explicit_fair(epsilon="0.5", within=(0, n)).channel().matrix
    power = [n / 2 + 1] * 2 if n % 2 == 0 else [(n + 1) / 2, (n + 3) / 2]
    y = (1 - A) / (1 + A - sum(A**p for p in power))
    assert matrix.diagonal() == pytest.approx([y] * (n + 1), abs=1e-9)
    assert matrix.sum(axis=1) == pytest.approx([1] * (n + 1))
    if n == 5:
        even = (1 - A) / (1 + A - 2 * A ** (n / 2 + 1))
        assert (y, even) == pytest.approx((0.315263, 0.312530), abs=1e-6)
        assert even / y == pytest.approx(0.991328, abs=1e-6)  # what the rows would sum to


def test_01_fact36_errors_that_tell_nothing():
    mean, count = Answers.of_mean(10, 4), Answers.of_count(10)
    for answers, blind, central, ends in ((mean, 1.365854, 1.024390, 2), (count, 3.636364, 2.727273, 5)):
        n = len(answers.points)
        uniform = Channel(np.full((n, n), 1 / n), answers.points, answers.points)
        assert face(uniform) == pytest.approx(blind, abs=1e-6)
        steady = optimal(answers.points, epsilon="1e-6", loss="absolute", metric=answers.metric)
        assert steady.loss_value == pytest.approx(central, abs=1e-5)
        noise = discretise(laplace_law(float(answers.reach) * 1e6), answers.points, answers.categories(), snap=True)
        assert face(noise) == pytest.approx(ends, abs=1e-4)


def test_01_fact37_the_bayes_loss_of_the_geometric():
    assert bayes(geometric(epsilon="0.5", within=(0, 10)).channel()) == pytest.approx(1.417356, abs=1e-6)


@pytest.mark.parametrize(("query", "epsilon"), [("mean", "0.2"), ("mean", "0.5"), ("count", "0.2"), ("count", "0.5")])
def test_01_fact38_remapping_variant_1_is_useless(query, epsilon):
    answers = Answers.of_mean(4, 4) if query == "mean" else Answers.of_count(10)
    made = optimal(answers.points, epsilon=epsilon, loss="absolute", metric=answers.metric)
    assert bayes(made.channel()) == pytest.approx(face(made.channel()), abs=1e-7)


@pytest.mark.parametrize(("query", "epsilon"), [("mean", "0.2"), ("mean", "0.5"), ("count", "0.2"), ("count", "0.5")])
def test_01_fact39_categories_outside_the_range_change_nothing(query, epsilon):
    answers = Answers.of_mean(4, 4) if query == "mean" else Answers.of_count(6)
    step = exact_number(answers.points[1])
    n = len(answers.points)
    wide = [step * j for j in range(-(n // 3), n + n // 3)]
    plain = optimal(answers.points, epsilon=epsilon, loss="absolute", metric=answers.metric)
    more = optimal(answers.points, epsilon=epsilon, loss="absolute", metric=answers.metric, outputs=wide)
    assert more.loss_value == pytest.approx(plain.loss_value, abs=1e-7)


def test_01_lp3_prior_weights():
    weights = [0.3, 0.25, 0.2, 0.15, 0.07, 0.03]
    made = optimal(6, epsilon="0.5", loss=np.abs(np.subtract.outer(range(6), range(6))) * 1.0, prior=weights)
    noisy = geometric(epsilon="0.5", within=(0, 5)).channel()
    assert made.loss_value == pytest.approx(0.929356, abs=1e-6)
    assert posterior_loss(weights, noisy, "absolute").value == pytest.approx(0.929356, abs=1e-6)
    unaware = optimal(6, epsilon="0.5", loss="absolute").channel()
    assert face_value_loss(weights, unaware, "absolute") == pytest.approx(1.062159, abs=1e-6)


def test_01_lp1_the_metric_version_costs_one_per_cent():
    mean = Answers.of_mean(5, 4)
    loose = optimal(mean.points, epsilon="0.5", loss="absolute", metric=mean.metric)
    tight = optimal(mean.points, epsilon="0.5", loss=np.abs(np.subtract.outer(*[[float(p) for p in mean.points]] * 2)),
                    metric=mean.line)  # fmt: skip
    assert loose.loss_value == pytest.approx(0.8138, abs=5e-5)
    assert tight.loss_value == pytest.approx(0.8219, abs=5e-5)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: Categories((0, 1), (2, 3)), "disjoint and in rising order; two of them overlap"),
        (lambda: Categories((1,), (1,)), "lower end below its upper end"),
        (lambda: Categories((), ()), "one lower and one upper end each"),
        (lambda: Categories.tiling(1, 0, 3), "from a low end to a higher one"),
        (lambda: Categories.tiling(0, 1, 0), "whole number, 1 or more"),
        (lambda: Categories.centred([0, 1], 0), "the width of a category must be greater than 0"),
        (lambda: Categories.centred([0, 1], 2), "two of them overlap"),
        (lambda: discretise(laplace_law(1), [0, 9], Categories.tiling(0, 4, 4), snap=True), "must lie in a category"),
        (
            lambda: discretise(laplace_law(1), [0], Categories.tiling(0, 4, 4)),
            "leave out part of what the law can give",
        ),
        (lambda: discretise(object(), [0], Categories.tiling(0, 4, 4)), "a method cdf"),
        (lambda: discretise(laplace_law(1), [0], [0, 1]), "given as Categories, not as list"),
        (lambda: StaircaseNoise(0), "epsilon must be greater than 0"),
        (lambda: StaircaseNoise(1, -1), "sensitivity must be greater than 0"),
        (lambda: StaircaseNoise(1e6), "at most 600"),
        (lambda: Answers((0, 0), Fraction(1)), "numbers in rising order"),
        (lambda: Answers((0, 1), Fraction(0)), "greater than 0"),
        (lambda: Answers.of_mean(0, 4), "whole number of records"),
        (lambda: Answers.of_count(2.5), "whole number of records"),
        (lambda: validate([[1.0]], [[0, 1], [1, 0]]), "square relation over the secrets"),
        (lambda: validate([[math.nan]], [[0]]), "a row of finite numbers"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(attempt, words):
    with pytest.raises(ParameterError, match=words):
        attempt()
