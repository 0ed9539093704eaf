"""Mechanisms that theory proves best: their values by the facts of the theory, and against the linear program."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import as_prior
from noisewright.design.closed_forms import CONJECTURE, PRICES, THEOREM, Setting, best_known
from noisewright.design.geometric import LineKernel, Moments, monotone_remap
from noisewright.design.loss import Loss
from noisewright.design.named_losses import (
    absolute,
    as_loss,
    last_train,
    parity,
    pinball,
    property_loss,
    squared,
    zero_one,
)
from noisewright.design.solver import solve
from noisewright.design.utility import posterior_loss
from noisewright.metrics.base import Discrete, Euclidean, Hamming, Line, Metric
from noisewright.metrics.sensitivity import essential_pairs

LN2 = float(np.log(2))
CUBE = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
WEIGHTS = Channel(np.array([[[8, 2, 1, 1], [4, 4, 2, 2], [2, 2, 4, 4], [1, 1, 2, 8]][sum(x)] for x in CUBE]) / 12, CUBE)
RR = Channel(
    [[np.prod([(1 + (a == b)) / 3 for a, b in zip(x, y, strict=True)]) for y in CUBE] for x in CUBE], CUBE, CUBE
)


def setting(points: Any, epsilon: float, loss: object, metric: Metric, prior: object = None) -> Setting:
    names = tuple(points)
    beliefs = as_prior(prior, names).probabilities
    return Setting(names, metric, metric.exact(names), Fraction(epsilon), beliefs, as_loss(loss, names))


def program(points: Any, epsilon: float, loss: object, metric: Metric, prior: object = None) -> float:
    """The optimum by the linear program, whose bound is within 1e-7 of its value."""
    names = list(points)
    cost = as_prior(prior, names).probabilities[:, None] * as_loss(loss, names).matrix.T
    pairs = None if isinstance(metric, Discrete) else np.array(essential_pairs(metric, names))
    found = solve(epsilon * metric.matrix(names), cost, pairs=pairs)
    assert found.value - found.bound < 1e-7 * max(1.0, np.abs(cost).max())
    return found.bound


def geometric_loss(n: int, epsilon: float, loss: object, prior: object = None) -> float:
    return posterior_loss(prior, nw.geometric(epsilon=epsilon, within=(0, n - 1)).channel(), loss).value


# The line --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [absolute, squared, zero_one])
@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 3.0])
def test_06_opt15_the_geometric_is_best_for_monotone_losses_at_any_prior(make: Any, n: int, epsilon: float) -> None:
    prior = np.random.default_rng(n).dirichlet(np.full(n, 0.4))
    found = best_known(setting(range(n), epsilon, make(range(n)), Line(), prior))
    assert found is not None
    assert found.status == THEOREM
    assert found.value == pytest.approx(program(range(n), epsilon, make(range(n)), Line(), prior), abs=1e-7)
    assert found.value == pytest.approx(geometric_loss(n, epsilon, make(range(n)), prior), abs=1e-12)


def test_06_fact13_a_folded_question_beats_the_geometric() -> None:
    loss = Loss([[0.7, 0, 0.7], [0.3, 1, 0.3]])
    assert geometric_loss(3, LN2, loss) == pytest.approx(0.46667, abs=1e-5)
    assert program(range(3), LN2, loss, Line()) == pytest.approx(0.4, abs=1e-8)
    assert best_known(setting(range(3), LN2, loss, Line())) is None
    assert nw.optimal(3, epsilon=LN2, loss=loss).loss_value == pytest.approx(0.4, abs=1e-8)


@pytest.mark.parametrize(("n", "value"), [(3, 1 / 3), (4, 0.375), (5, 0.38333)])
def test_06_fact14_parity(n: int, value: float) -> None:
    assert geometric_loss(n, LN2, parity(n)) == pytest.approx(value, abs=1e-5)
    made = nw.optimal(n, epsilon=LN2, loss="parity")
    assert made.loss_value == pytest.approx(1 / 3, abs=1e-8)
    assert made.gap < 1e-8


def test_06_fact15_losses_with_a_constant_middle() -> None:
    rng = np.random.default_rng(15)
    for n in (3, 4, 6):
        for _ in range(15):
            a, b, c, d = rng.normal(size=4)
            rest = np.zeros(n - 3)
            loss = Loss([[a, 1, b, *rest], [c, 1, d, *rest]])
            found = best_known(setting(range(n), rng.uniform(0.1, 2), loss, Line(), rng.dirichlet(np.ones(n))))
            assert found is not None
            assert found.name in ("truncated geometric", "constant answer")


def test_06_fact15_the_geometric_is_refused_exactly_where_it_is_beaten() -> None:
    rng = np.random.default_rng(16)
    refused = 0
    for _ in range(60):
        loss, prior = Loss(rng.normal(size=(2, 3))), rng.dirichlet(np.ones(3))
        problem = setting(range(3), 0.8, loss, Line(), prior)
        beaten = geometric_loss(3, 0.8, loss, prior) - program(range(3), 0.8, loss, Line(), prior) > 1e-6
        assert (best_known(problem) is None) is bool(beaten)
        refused += beaten
    assert 0 < refused < 30


@pytest.mark.parametrize("make", [lambda n: last_train(range(n), n / 2), lambda n: pinball(range(n), 1, 3)])
@pytest.mark.parametrize("n", [3, 5, 7])
def test_06_fact16_last_trains_and_quantiles(make: Any, n: int) -> None:
    prior = np.random.default_rng(n).dirichlet(np.ones(n))
    found = best_known(setting(range(n), 0.6, make(n), Line(), prior))
    assert found is not None
    assert found.status == PRICES
    assert 0 <= found.value - found.bound < 1e-9
    assert found.value == pytest.approx(program(range(n), 0.6, make(n), Line(), prior), abs=1e-7)


def test_06_fact17_a_mechanism_that_is_t_on_the_pair_that_matters() -> None:
    channel = Channel(np.array([[4, 1, 1], [2, 2, 2], [3, 1.5, 1.5]]) / 6)
    loss = Loss([[3, 0, 0], [1, 2, 0]])
    rng = np.random.default_rng(17)
    for metric in (Line(), Discrete()):
        for prior in rng.dirichlet(np.ones(3), 10):
            best = program(range(3), LN2, loss, metric, prior)
            assert posterior_loss(prior, channel, loss).value == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize(("n", "value"), [(8, 0.1879402), (16, 0.1909616)])
def test_06_fact26_the_grid_geometric_is_the_optimum_of_its_grid(n: int, value: float) -> None:
    points = [Fraction(k, n) for k in range(n + 1)]
    prior = [1 / n] * n + [0.0]
    made = nw.optimal(points, epsilon=4 * LN2, loss="absolute", prior=prior)
    assert made.path == "closed form: truncated geometric"
    assert made.loss_value == pytest.approx(value, abs=5e-8)
    assert program(points, 4 * LN2, absolute(points), Line(), prior) == pytest.approx(value, abs=5e-7)


def test_01_fact32_the_optimum_of_counts_is_the_geometrics_bayes_loss() -> None:
    absolute_loss = nw.optimal(6, epsilon=0.5, loss="absolute")
    assert 6 * absolute_loss.loss_value == pytest.approx(6.363223, abs=5e-7)
    assert nw.optimal(6, epsilon=0.5, loss="squared").loss_value == pytest.approx(1.979521, abs=5e-7)
    weights = [0.3, 0.25, 0.2, 0.15, 0.07, 0.03]
    weighted = nw.optimal(6, epsilon=0.5, loss="absolute", prior=weights)
    assert weighted.loss_value == pytest.approx(0.929356, abs=5e-7)
    assert float(absolute_loss.secret_losses() @ weights) == pytest.approx(1.062159, abs=5e-7)


def test_01_fact36_a_tiny_budget_gives_the_central_answer() -> None:
    made = nw.optimal(11, epsilon="1e-9", loss="absolute")
    assert set(made.remap) == {5}
    assert made.loss_value == pytest.approx(2.727273, abs=5e-7)


def test_an_uneven_line_has_a_geometric_too() -> None:
    points, prior = [0, 1, 3, 7, 7.5], [0.1, 0.3, 0.2, 0.2, 0.2]
    found = best_known(setting(points, 0.4, "absolute", Line(), prior))
    assert found is not None
    assert found.name == "truncated geometric of uneven steps"
    assert found.value == pytest.approx(program(points, 0.4, "absolute", Line(), prior), abs=1e-7)


def test_without_a_proof_the_geometric_is_called_conjectured() -> None:
    made = nw.optimal(20_000, epsilon="0.01", loss="pinball:1,3")
    assert made.status == CONJECTURE
    assert made.gap == np.inf
    assert "is known to have a smaller" in made.in_words()


# Linear time against matrices --------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(2, 30),
    st.sampled_from([1e-6, 0.05, 0.7, 4.0, 50.0]),
    st.sampled_from(["absolute", "squared", "zero-one", "pinball:1,3", "last-train:2.5"]),
)
def test_the_remap_in_linear_time_is_that_of_the_matrix(seed: int, n: int, epsilon: float, name: str) -> None:
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.full(n, rng.choice([0.1, 1.0])))
    loss = as_loss(name, range(n))
    kernel = LineKernel.of(np.arange(n, dtype=np.float64), epsilon)
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    costs = (loss.matrix * prior) @ np.exp(-epsilon * apart)
    assert loss.rule is not None
    places, found = monotone_remap(Moments(prior, epsilon), loss.rule)
    assert found == pytest.approx(costs.min(axis=0), rel=1e-9, abs=1e-11)
    assert costs[places, np.arange(n)] == pytest.approx(costs.min(axis=0), rel=1e-9, abs=1e-11)
    assert kernel.remap(prior, loss.matrix)[1] == pytest.approx(costs.min(axis=0), rel=1e-9, abs=1e-13)
    assert np.exp(-epsilon * apart) @ kernel.weights == pytest.approx(1, abs=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 4), st.booleans())
def test_the_dual_test_is_exact(seed: int, n: int, actions: int, uniform: bool) -> None:
    """It accepts the geometric or randomised response where the linear program cannot beat it, and only there."""
    rng = np.random.default_rng(seed)
    loss, prior = Loss(rng.normal(size=(actions, n))), rng.dirichlet(np.ones(n))
    points = [float(v) for v in np.cumsum(rng.uniform(0.3, 2, n))] if not uniform else list(range(n))
    metric: Metric = Discrete() if uniform else Line()
    best = program(points, 0.9, Loss(loss.matrix, None, points), metric, prior)
    found = best_known(setting(points, 0.9, Loss(loss.matrix, None, points), metric, prior))
    if found is not None:
        assert found.value == pytest.approx(best, abs=1e-7)
        assert found.bound <= best + 1e-7
    else:
        names = range(n)
        source = (
            nw.randomised_response(n, epsilon=Fraction(0.9)).channel().matrix
            if uniform
            else np.exp(LineKernel.of(np.array(points), 0.9).merged(np.arange(n), n))
        )
        assert posterior_loss(prior, Channel(source, names), loss).value > best + 1e-9


# One distance for all ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 4, 5, 10])
@pytest.mark.parametrize("epsilon", [0.5, LN2, 2.0])
def test_06_opt16_randomised_response_is_best_for_guessing_at_the_uniform_prior(n: int, epsilon: float) -> None:
    made = nw.optimal(n, epsilon=epsilon, loss="zero-one", metric=Discrete())
    assert made.path == "closed form: randomised response"
    assert made.status == THEOREM
    assert made.loss_value == pytest.approx(program(range(n), epsilon, "zero-one", Discrete()), abs=1e-8)


def test_06_fact20_tall_average_short() -> None:
    loss = Loss([[0, 1, 0], [1, 0, 0]])
    response = nw.randomised_response(3, epsilon=LN2).channel()
    assert posterior_loss(None, response, loss).value == pytest.approx(1 / 4, abs=1e-9)
    made = nw.optimal(3, epsilon=LN2, loss=loss, metric=Discrete())
    assert made.path == "closed form: two-output response"
    assert made.loss_value == pytest.approx(2 / 9, abs=1e-12)
    assert program(range(3), LN2, loss, Discrete()) == pytest.approx(2 / 9, abs=1e-8)


def test_06_fact19_one_secret_against_the_rest() -> None:
    a = np.exp(-0.8)
    made = nw.optimal(4, epsilon=0.8, loss=property_loss(range(4), {0}), metric=Discrete(), prior=[0.4, 0.2, 0.2, 0.2])
    expected = np.array([[1, a], [a, 1], [a, 1], [a, 1]]) / (1 + a)
    assert made.channel().matrix == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(3, 7), st.sampled_from([0.1, LN2, 3.0]))
def test_06_opt17_two_outputs_are_best_for_two_actions(seed: int, n: int, epsilon: float) -> None:
    rng = np.random.default_rng(seed)
    loss, prior = Loss(rng.normal(size=(2, n))), rng.dirichlet(np.ones(n))
    found = best_known(setting(range(n), epsilon, loss, Discrete(), prior))
    assert found is not None
    assert found.name in ("two-output response", "constant answer")
    assert found.value == pytest.approx(program(range(n), epsilon, loss, Discrete(), prior), abs=1e-7)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.05, LN2, 4.0]))
def test_06_opt14_two_secrets(seed: int, actions: int, epsilon: float) -> None:
    rng = np.random.default_rng(seed)
    loss, prior, points = (
        Loss(rng.normal(size=(actions, 2)), None, [(0, 0), (1, 1)]),
        rng.dirichlet([1, 1]),
        [(0, 0), (1, 1)],
    )
    found = best_known(setting(points, epsilon, loss, Euclidean(), prior))
    assert found is not None
    assert found.value == pytest.approx(program(points, epsilon, loss, Euclidean(), prior), abs=1e-7)


# The cube ----------------------------------------------------------------------------------------------------------------


def test_06_hamming_cube_layers_are_best_on_a_chain() -> None:
    chain = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)]
    loss = Loss(np.abs(np.subtract.outer(range(4), range(4))), range(4), chain).lift(CUBE)
    prior = dict.fromkeys(chain, 0.25)
    found = best_known(setting(CUBE, LN2, loss, Hamming(), prior))
    assert found is not None
    assert found.name == "layered geometric"
    assert found.value == pytest.approx(17 / 24, abs=1e-12)
    assert found.value == pytest.approx(program(CUBE, LN2, loss, Hamming(), prior), abs=1e-7)
    weights = as_prior(prior, CUBE)
    assert posterior_loss(weights, WEIGHTS, loss).value == pytest.approx(17 / 24, abs=1e-12)
    assert posterior_loss(weights, RR, loss).value == pytest.approx(0.81481, abs=1e-5)
    made = nw.optimal(CUBE, epsilon=LN2, loss=loss, metric=Hamming(), prior=prior)
    assert made.certificate().verify().startswith("epsilon = 0.693148 per unit of hamming")


def test_06_hamming_cube_guessing_the_weight_and_the_string() -> None:
    """The weight is guessed at the price of the absolute difference, the string at the price of a mistake."""
    weight = Loss([[float(abs(sum(x) - w)) for x in CUBE] for w in range(4)], range(4), CUBE)
    assert posterior_loss(None, WEIGHTS, weight).value == pytest.approx(0.54167, abs=1e-5)
    assert posterior_loss(None, RR, weight).value == pytest.approx(0.62037, abs=1e-5)
    assert nw.optimal(CUBE, epsilon=LN2, loss=weight, metric=Hamming()).loss_value == pytest.approx(0.5416667, abs=1e-7)
    string = zero_one(CUBE)
    assert posterior_loss(None, WEIGHTS, string).value == pytest.approx(0.75, abs=1e-12)
    best = nw.optimal(CUBE, epsilon=LN2, loss=string, metric=Hamming())
    assert best.loss_value == pytest.approx(posterior_loss(None, RR, string).value, abs=1e-8)
    assert best.loss_value == pytest.approx(0.70370, abs=1e-5)


def test_a_chain_is_not_taken_where_the_rest_is_in_the_way() -> None:
    """On the ends of three points two secrets alone would allow more: the middle one must be hidden too."""
    loss = zero_one([0, 2]).lift([0, 1, 2])
    made = nw.optimal(3, epsilon=LN2, loss=loss)
    assert made.loss_value == pytest.approx(program(range(3), LN2, loss, Line()), abs=1e-8)
    assert made.loss_value * 3 / 2 == pytest.approx(0.25, abs=1e-8)


def test_a_loss_with_one_best_action_needs_no_output() -> None:
    made = nw.optimal(4, epsilon=1, loss=[[0, 1, 2, 3], [1, 1, 2, 4]])
    assert made.path == "closed form: constant answer"
    assert made.loss_value == 1.5
    assert set(made.release([0, 1, 2, 3]).tolist()) == {0}
