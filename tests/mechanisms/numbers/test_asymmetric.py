"""Asymmetric noise on a half line: the facts of the continuous law, the lattice law, its proof and its draws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

import noisewright as nw
from noisewright.certificates.checker import checker, checker_noise
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.numeric.feasible_sets import Feasible
from noisewright.mechanisms.numeric.half_line_laplace import SWITCH, AsymmetricLaw, first_regime, near_rate
from noisewright.mechanisms.numeric.laplace_distribution import TruncatedLaplace

LAW = AsymmetricLaw(Feasible.parse((0, None)), 1.0)


@pytest.mark.parametrize(
    ("s", "k", "z"),
    [
        (0.25, 0.119251, 1.246310),
        (0.5, 0.225632, 1.472827),
        (1, 0.398553, 1.824757),
        (2, 0.617662, 2.148297),
        (3, 0.735716, 2.209686),
        (3.09201, None, 2.209943),
        (5, 0.812247, 2.209943),
        (10, 0.826272, 2.209943),
        (30, 0.826485, 2.209943),
    ],
)
def test_01_fact13_rates_and_normalisers(s, k, z):
    if k is not None:
        assert float(near_rate(s)) == pytest.approx(k, abs=6e-7)
    assert float(LAW.normaliser(s)) == pytest.approx(z, abs=6e-7)


def test_01_fact13_constants_and_series():
    assert pytest.approx(3.0920098, abs=2e-7) == SWITCH
    assert float(LAW.normaliser(SWITCH)) == pytest.approx(2.2099433202, abs=1e-10)
    assert float(near_rate(0.0)) == 0
    assert first_regime(0.99e-4) == pytest.approx(first_regime(1.01e-4) * 0.99 / 1.01, rel=1e-5)
    for s in (0.3, 1.0, 2.5):  # the density at the wall is e^-s
        assert float(LAW.density(0.0, s)) == pytest.approx(math.exp(-s), rel=1e-12)


def log_density(s, y, k):
    z = 1 - np.expm1(-k * s) / k
    return np.where(y >= s, s - y, k * (y - s)) - np.log(z)


def test_01_fact14_metric_loss_on_a_grid():
    """600 locations and 2001 outputs, neighbouring locations: the loss is their distance, in units of epsilon."""
    s = np.linspace(0.01, 12, 600)
    y = np.linspace(0, 20, 2001)
    two = np.array([log_density(v, y, float(near_rate(v))) for v in s])
    slopes = np.abs(np.diff(two, axis=0)) / np.diff(s)[:, None]
    assert slopes.max() <= 1 + 1e-9
    one = np.array([log_density(v, y, first_regime(v)) for v in s])  # the first regime everywhere is not private
    assert (np.abs(np.diff(one, axis=0)) / np.diff(s)[:, None]).max() == pytest.approx(1.01359, abs=2e-5)


ERRORS = {
    0: (0.5, 2.0, 1.9512, 1.6126, 1.2736, 1.0),
    0.5: (0.6967, 1.6811, 1.6356, 1.3231, 1.0187, 0.7577),
    1: (0.8161, 1.5647, 1.5237, 1.2447, 0.9783, 0.7590),
    2: (0.9323, 1.5492, 1.5140, 1.2744, 1.0415, 0.8927),
    5: (0.9966, 1.7860, 1.7507, 1.4975, 1.2238, 1.0786),
    10: (1.0, 1.9662, 1.9214, 1.6025, 1.2717, 1.1137),
    30: (1.0, 2.0, 1.9512, 1.6126, 1.2736, 1.1149),
}


@pytest.mark.parametrize("s", ERRORS)
def test_01_fact15_expected_errors(s):
    """In units of sensitivity / epsilon: snapped Laplace, one scale for the metric promise, for neighbours, asymmetric."""
    snapped, metric, *neighbours, asymmetric = ERRORS[s]
    assert 1 - math.exp(-s) / 2 == pytest.approx(snapped, abs=6e-5)
    half_line = Feasible.parse((0, None))
    assert float(TruncatedLaplace(half_line, 2.0).error(s)) == pytest.approx(metric, abs=6e-5)
    for epsilon, wanted in zip((0.1, 1.0, 3.0), neighbours, strict=True):
        c = epsilon / math.log((1 + math.exp(epsilon)) / 2)
        assert float(TruncatedLaplace(half_line, c).error(s)) == pytest.approx(wanted, abs=6e-5)
    assert float(LAW.error(s)) == pytest.approx(asymmetric, abs=6e-5)


@pytest.mark.parametrize(("within", "sign"), [((0, None), 1), ((None, 3), -1)])
def test_law_agrees_with_quadrature(within, sign):
    law = AsymmetricLaw(Feasible.parse(within), 2.0)
    wall = float(law._wall)
    for away in (0.0, 0.00005, 1.0, 9.0, 40.0):
        mu = wall + sign * away
        pieces = [sorted((wall, mu)), sorted((mu, mu + sign * 90))]

        def integral(weight, pieces=pieces, mu=mu):
            return sum(
                quad(lambda x: weight(x) * float(law.density(x, mu)), a, b, limit=200)[0] for a, b in pieces if a < b
            )

        assert integral(lambda x: 1.0) == pytest.approx(1, abs=1e-8)
        assert float(law.mean(mu)) == pytest.approx(integral(lambda x: x), abs=1e-6)
        mean = float(law.mean(mu))
        assert float(law.variance(mu)) == pytest.approx(integral(lambda x, mean=mean: (x - mean) ** 2), rel=1e-6)
        assert float(law.error(mu)) == pytest.approx(integral(lambda x, mu=mu: abs(x - mu)), rel=1e-6)
        p = np.array([0.001, 0.2, 0.5, 0.9, 0.999])
        found = law.quantile(p, mu)
        assert np.abs(law.cdf(found, mu) - p).max() < 1e-9
        assert (np.diff(found) > 0).all()


# The lattice --------------------------------------------------------------------------------------------------------


def probability(mechanism, i, j):
    """The lattice law from its definition."""
    near = float(mechanism.near[min(max(i, 1), len(mechanism.near)) - 1])
    tail = float(mechanism.tail)
    z = 1 / -math.expm1(-tail) + sum(math.exp(-near * d) for d in range(1, i + 1))
    return (math.exp(-near * (i - j)) if j < i else math.exp(-tail * (j - i))) / z


@settings(max_examples=12)
@given(st.sampled_from(["0.2", "1", "5"]), st.sampled_from([1, "0.7", 4]))
def test_every_pair_and_output_of_the_lattice_law_keeps_the_promise(epsilon, sensitivity):
    mechanism = nw.laplace(epsilon=epsilon, sensitivity=sensitivity, within=(0, None), scope="metric")
    budget = math.log1p(float(mechanism.epsilon * mechanism.lattice.step / mechanism.sensitivity))
    places = [
        0,
        1,
        2,
        3,
        5,
        9,
        30,
        80,
        150,
        151,
        400,
        len(mechanism.near),
        len(mechanism.near) + 1,
        len(mechanism.near) + 60,
    ]
    outputs = [0, 1, 2, 7, 29, 31, 149, 152, 399, 500, 900]
    for i in places:
        for other in (i + 1, i + 13):
            for j in [*outputs, i, i + 1, other]:
                loss = abs(math.log(probability(mechanism, i, j) / probability(mechanism, other, j)))
                assert loss <= budget * (other - i) * (1 + 1e-9)


def test_the_budget_is_used_up_at_the_wall():
    mechanism = nw.laplace(epsilon=1, within=(0, None), scope="metric")
    budget = math.log1p(float(mechanism.lattice.step))
    for i in range(60):
        loss = math.log(probability(mechanism, i, 0) / probability(mechanism, i + 1, 0))
        assert loss == pytest.approx(budget, rel=1e-6)


@settings(max_examples=40)
@given(st.floats(0, 12), st.floats(0, 12), st.sampled_from([0.0, 0.03, 1.0, 5.0, 11.0, 20.0]))
def test_any_two_real_answers_keep_the_promise(x, y, output):
    """Rounding at random makes the law of a real answer an average of two lattice laws."""
    mechanism = nw.laplace(epsilon="1/2", sensitivity=3, within=(0, None), scope="metric")
    step = float(mechanism.lattice.step)
    j = round(output / step)

    def law(value):
        i, share = int(value // step), (value % step) / step
        return (1 - share) * probability(mechanism, i, j) + share * probability(mechanism, i + 1, j)

    assert abs(math.log(law(x) / law(y))) <= abs(x - y) / 6 * (1 + 1e-9) + 1e-12


def test_a_neighbour_across_a_rounding_border_is_not_given_away():
    """Epsilon is tiny, so a lattice step is far longer than the sensitivity: two neighbours must still look alike."""
    mechanism = nw.laplace(epsilon="1/1000", within=(0, None), scope="metric")
    assert mechanism.lattice.step > 10
    step = float(mechanism.lattice.step)
    values = [step * 1.5 - 0.5, step * 1.5 + 0.5]  # the nearest lattice points are different ones
    draws = [mechanism.lattice.indices_at_random(np.full(40_000, v), np.random.default_rng(1)) for v in values]
    assert abs(draws[0].mean() - draws[1].mean()) < 1 / step + 0.02


def test_the_lattice_law_converges_to_the_continuous_one():
    errors = []
    for exponent in (-4, -6, -8):
        mechanism = nw.laplace(epsilon=1, within=(0, None), scope="metric", lattice=Fraction(2) ** exponent)
        rates = [float(mechanism.near[round(s / 2.0**exponent) - 1]) / 2.0**exponent for s in (0.5, 1, 2, 5)]
        errors.append(float(np.abs(np.array(rates) - near_rate([0.5, 1, 2, 5])).max()))
    assert errors[2] < 0.01
    assert errors[0] > 3 * errors[1] > 9 * errors[2]


@pytest.mark.parametrize("within", [(0, None), (None, 5), ("0.3", None)])
def test_draws_stay_feasible_and_follow_the_continuous_law(within):
    """Kolmogorov-Smirnov at an error rate of about 1e-6, with room for the width of a lattice step."""
    mechanism = nw.laplace(epsilon=1, within=within, scope="metric", lattice="1/128")
    wall, sign = (float(mechanism.feasible.low), 1) if within[1] is None else (5.0, -1)
    for away in (0.0, 0.5, 2.0, 7.9, 12.0):
        mu = wall + sign * away
        draws = np.sort(mechanism.release(np.full(20_000, mu), np.random.default_rng(8)))
        assert (sign * (draws - wall) >= 0).all()
        apart = np.abs(mechanism.law.cdf(draws, mu) - (np.arange(draws.size) + 0.5) / draws.size).max()
        assert apart < 2.7 / math.sqrt(draws.size) + 0.01


def test_error_is_that_of_the_law_and_far_below_one_scale_for_both_sides():
    mechanism = nw.laplace(epsilon=1, within=(0, None), scope="metric", lattice="1/256")
    grid = np.linspace(0, 60, 600)
    for loss in ("absolute", "squared"):
        assert mechanism.error(loss) == pytest.approx(float(LAW.error(grid, loss).max()), rel=0.01)
    assert mechanism.error() < 0.6 * nw.laplace(epsilon=1, within=(0, None), scope="metric", shape="symmetric").error()
    a = math.exp(-float(mechanism.tail))
    assert mechanism.error("zero-one") > a / (1 + a)
    with pytest.raises(ParameterError, match="no loss called"):
        mechanism.error("log")


@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("within", [(0, None), ("0.1", None), ("0.24", None), (None, "0.2")])
def test_error_is_that_of_the_worst_real_answer_by_brute_force(within, loss):
    """Answers everywhere, also between the wall and the first lattice point; neither less than the worst nor more."""
    mechanism = nw.laplace(epsilon=2, within=within, scope="metric", lattice="1/4")
    step, power = Fraction(1, 4), 1 if loss == "absolute" else 2
    wall = mechanism.feasible.low if within[1] is None else -mechanism.feasible.high
    first = -(-wall // step)
    places, outputs = np.arange(301)[:, None], np.arange(500)[None, :]
    near = np.array([float(r) for r in (mechanism.near[0], *mechanism.near)])[np.minimum(places, len(mechanism.near))]
    law = np.exp(np.where(outputs < places, -near, -float(mechanism.tail)) * np.abs(outputs - places))
    law /= law.sum(axis=1, keepdims=True)
    worst = 0.0
    for share in np.linspace(0, 1, 401):  # rounded up with this probability
        rows = (1 - share) * law[:-1] + share * law[1:]
        worst = max(worst, float((rows * np.abs(outputs - places[:-1] - share) ** power).sum(axis=1).max()))
    before = np.linspace(0, float(first - wall / step), 101)
    worst = max(worst, *(float(law[0] @ (outputs[0] + t) ** power) for t in before))
    assert worst * (1 - 1e-9) <= mechanism.error(loss) / float(step) ** power <= worst * (1 + 1e-4)


def test_the_checker_refuses_rates_that_break_the_promise():
    mechanism = nw.laplace(epsilon=1, within=(0, None), scope="metric")
    good, distances = mechanism._proof, mechanism._distances
    checker_noise.check_half_line(Fraction(1), distances, good)
    for change in (
        {"tail": str(mechanism.tail * 2)},
        {"near": [str(r * Fraction(101, 100)) for r in mechanism.near]},
        {"near": [*good["near"][:40], str(mechanism.near[39] * Fraction(11, 10)), *good["near"][41:]]},
        {"near": []},
        {"near": ["0"]},
        {"near": good["near"][:20]},  # constant from too close to the wall on: Z still rises fast, but that is private
    ):
        if change == {"near": good["near"][:20]}:
            checker_noise.check_half_line(Fraction(1), distances, {**good, **change})
            continue
        with pytest.raises(checker.NotProved):
            checker_noise.check_half_line(Fraction(1), distances, {**good, **change})
    with pytest.raises(checker.NotProved):
        checker_noise.check_half_line(Fraction(99, 100), distances, good)


def test_what_is_refused():
    with pytest.raises(ParameterError, match="too many rates"):
        nw.laplace(epsilon=1, within=(0, None), scope="metric", lattice=2.0**-14)
    with pytest.raises(ParameterError, match="for a half line"):
        nw.laplace(epsilon=1, within=(0, 5), scope="metric", shape="asymmetric")
    mechanism = nw.laplace(epsilon=1, within=(0, None), scope="metric")
    with pytest.raises(ParameterError, match="infinitely many"):
        mechanism.channel()
    with pytest.raises(DataError, match="outside the declared range"):
        mechanism.release(-1.0)
    clamped = nw.laplace(epsilon=1, within=(0, None), scope="metric", outside="clamp")
    assert clamped.release(-1.0) >= 0
