"""Estimators against independent ones, and what they promise about themselves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import qif
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from noisewright.estimation.bayesian_update import accelerated_update, bayesian_update, bayesian_updates, response_mle
from noisewright.estimation.fitting import most_likely
from noisewright.estimation.inverses import PlanarOperator
from noisewright.estimation.likelihood import (
    certificate,
    certify,
    clip,
    invert,
    linear_estimate,
    project,
    standard_errors,
)
from noisewright.estimation.operators import (
    DenseOperator,
    GeometricOperator,
    ResponseOperator,
    StackedOperator,
    dense_matrix,
)
from noisewright.exceptions import DataError, ParameterError


def problem(seed: int, n: int = 8, m: int = 10, reports: int = 300):
    rng = np.random.default_rng(seed)
    operator = DenseOperator(rng.dirichlet(np.full(m, 0.7), size=n))
    q = rng.multinomial(reports, operator.forward(rng.dirichlet(np.full(n, 0.4)))) / reports
    return operator, q


@pytest.mark.parametrize("seed", range(6))
def test_updates_are_those_of_an_independent_library(seed):
    operator, q = problem(seed)
    for steps in (1, 7, 60):
        theirs, done = qif.channel.iterative_bayesian_update(operator.matrix, q, np.full(8, 1 / 8), 0.0, steps)
        assert done == steps
        assert bayesian_update(q, operator, iterations=steps).probabilities == pytest.approx(
            np.ravel(theirs), abs=1e-13
        )


@pytest.mark.parametrize("seed", range(6))
def test_the_most_likely_population_is_that_of_a_general_optimiser(seed):
    operator, q = problem(seed)
    found = most_likely(q, operator)
    assert found.converged
    assert found.likelihood.gap <= 1e-9

    def lost(p):
        return -float(q @ np.log(np.maximum(p @ operator.matrix, 1e-300)))

    other = minimize(
        lost, np.full(8, 1 / 8), bounds=[(0, 1)] * 8, method="SLSQP", options={"maxiter": 1000, "ftol": 1e-14},
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
    )  # fmt: skip
    assert -other.fun <= found.likelihood.value + found.likelihood.gap
    assert -other.fun == pytest.approx(found.likelihood.value, abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(2, 12), st.integers(1, 400))
def test_certificates_hold_for_any_population_and_any_reports(seed, n, m, reports):
    """No population that anybody finds is better than the certificate of another allows."""
    rng = np.random.default_rng(seed)
    operator = DenseOperator(rng.dirichlet(np.ones(m), size=n))
    q = rng.multinomial(reports, rng.dirichlet(np.ones(m))) / reports
    tried = [rng.dirichlet(np.ones(n)) for _ in range(5)]
    tried += [bayesian_update(q, operator, iterations=50).probabilities, most_likely(q, operator).probabilities]
    found = [certify(p, q, operator) for p in tried]
    best = max(one.value for one in found)
    assert all(best <= one.value + one.gap for one in found)
    assert found[-1].gap < 1e-8


@pytest.mark.parametrize("size", [401, 1500])
def test_many_secrets_are_certified_too(size):
    rng = np.random.default_rng(size)
    operator = GeometricOperator(size, 20 / size)
    users = rng.binomial(size - 1, 0.4, 5000)
    moved = users + rng.geometric(1 - operator.alpha, 5000) - rng.geometric(1 - operator.alpha, 5000)
    q = np.bincount(np.clip(moved, 0, size - 1), minlength=size) / 5000
    found = most_likely(q, operator)
    assert found.likelihood.gap < 1e-9
    assert found.probabilities.sum() == pytest.approx(1)
    assert 0 < (found.probabilities > 0).sum() < 100
    long = bayesian_update(q, operator, iterations=300)
    assert long.likelihood.value < found.likelihood.value + found.likelihood.gap


@pytest.mark.parametrize(("n", "m"), [(60, 20), (150, 150), (420, 60)])
def test_more_secrets_than_a_support_can_hold_are_certified_too(n, m):
    """Supports that depend on each other or are large take the slower way in each round."""
    rng = np.random.default_rng(n)
    operator = DenseOperator(rng.dirichlet(np.ones(m), size=n))
    q = rng.multinomial(100_000, operator.forward(rng.dirichlet(np.ones(n)))) / 100_000
    found = most_likely(q, operator)
    assert found.converged
    assert found.likelihood.gap <= 1e-9
    assert found.iterations < 15
    assert found.likelihood.value > bayesian_update(q, operator, iterations=200).likelihood.value


def test_many_secrets_with_reports_that_only_a_few_of_them_can_give():
    """The peaks of a first guess make some reports impossible here, so it starts from all of it."""
    n = 450
    operator = DenseOperator(0.7 * np.eye(n) + 0.3 * np.roll(np.eye(n), 1, axis=1))
    q = np.random.default_rng(0).multinomial(5000, np.full(n, 1 / n)) / 5000
    found = most_likely(q, operator)
    assert found.converged
    assert found.probabilities.sum() == pytest.approx(1)
    unlimited = float(q[q > 0] @ np.log(q[q > 0]))  # no law is more likely than the shares themselves
    assert unlimited - 0.05 < found.likelihood.value < unlimited


def test_a_certificate_comes_with_the_factors_of_the_next_update():
    operator, q = problem(4)
    p = np.random.default_rng(4).dirichlet(np.ones(8))
    found, factors = certificate(p, q, operator)
    assert found == certify(p, q, operator)
    assert p * factors == pytest.approx(bayesian_update(q, operator, iterations=1, start=p).probabilities, abs=1e-14)
    assert found.gap == pytest.approx(np.log(factors.max()), abs=1e-13)


@given(st.integers(0, 2**32 - 1))
def test_each_update_raises_the_likelihood_and_keeps_the_sum(seed):
    operator, q = problem(seed)
    trace = bayesian_update(q, operator, iterations=40).trace
    values = [point.value for point in trace]
    assert all(later >= earlier - 1e-14 for earlier, later in itertools.pairwise(values))
    assert [point.iteration for point in trace][:3] == [0, 1, 2]
    assert bayesian_update(q, operator, iterations=40).probabilities.sum() == pytest.approx(1, abs=1e-12)


def test_a_batch_is_its_problems():
    operator = GeometricOperator(30, 0.2)
    q = np.random.default_rng(0).dirichlet(np.ones(30), size=4)
    together = bayesian_updates(q, operator, iterations=25)
    for one, shares in zip(together, q, strict=True):
        assert one == pytest.approx(bayesian_update(shares, operator, iterations=25).probabilities, abs=1e-14)


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.floats(0.01, 0.9))
def test_the_closed_form_for_responses_is_certified(seed, size, lift):
    rng = np.random.default_rng(seed)
    other = (1 - lift) / size
    q = rng.multinomial(200, rng.dirichlet(np.full(size, 0.5))) / 200
    found = response_mle(q, other=other, lift=lift)
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    assert certify(found, q, ResponseOperator(size, other, lift)).gap < 1e-11


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=8))
def test_projection_is_the_nearest_distribution(values):
    r = np.array(values)
    found = project(r)
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    rng = np.random.default_rng(0)
    for other in [*rng.dirichlet(np.ones(len(r)), size=20), *np.eye(len(r))]:
        # The angle at the nearest point of a convex set to anything in it is at least a right one.
        assert (r - found) @ (other - found) <= 1e-9


def test_clipping_keeps_what_is_positive():
    assert clip(np.array([0.9, -0.1, 0.3])) == pytest.approx([0.75, 0, 0.25])


def test_inversion_is_a_distribution_where_the_most_likely_population_agrees():
    operator = ResponseOperator(3, 0.2, 0.4)
    q = np.array([0.4, 0.35, 0.25])
    r = invert(q, operator)
    assert (r > 0).all()
    assert response_mle(q, other=0.2, lift=0.4) == pytest.approx(r, abs=1e-14)


def test_standard_errors_are_those_of_many_draws():
    """Standard deviations of 20,000 simulated estimates: each within 4 % (8 standard errors of a standard deviation)."""
    operator, rng = GeometricOperator(5, 0.8), np.random.default_rng(4)
    law = operator.forward(np.array([0.1, 0.3, 0.2, 0.3, 0.1]))
    drawn = operator.inverse().left(rng.multinomial(1000, law, size=20_000) / 1000)
    assert standard_errors(law, 1000, operator.inverse()) == pytest.approx(drawn.std(axis=0), rel=0.04)
    weights = np.arange(5.0)
    mean, error = linear_estimate(weights, law, 1000, operator.inverse())
    assert mean == pytest.approx(2.0)
    assert error == pytest.approx((drawn @ weights).std(), rel=0.04)


def test_groups_are_one_likelihood():
    """The update of a data set with two mechanisms is the sum over the groups, weighted by their counts."""
    rng = np.random.default_rng(9)
    first, second = GeometricOperator(6, 0.3), ResponseOperator(6, 0.1, 0.4)
    counts = rng.integers(1, 50, 6), rng.integers(1, 50, 6)
    total = sum(c.sum() for c in counts)
    stacked = StackedOperator([first, second], [c.sum() / total for c in counts])
    p = rng.dirichlet(np.ones(6))
    by_hand = sum(
        p * (matrix @ (c / (p @ matrix)))
        for c, matrix in zip(counts, (dense_matrix(first), dense_matrix(second)), strict=True)
    )
    found = bayesian_update(np.concatenate(counts) / total, stacked, iterations=1, start=p)
    assert found.probabilities == pytest.approx(by_hand / total, abs=1e-13)


def test_the_plane_is_certified_with_its_rounding():
    operator, rng = PlanarOperator(12, 9, 0.4), np.random.default_rng(2)
    q = rng.multinomial(3000, operator.forward(rng.dirichlet(np.full(108, 0.2)))) / 3000
    best = most_likely(q, DenseOperator(dense_matrix(operator)))
    found = bayesian_update(q, operator, iterations=400)
    assert best.likelihood.value <= found.likelihood.value + found.likelihood.gap
    assert found.likelihood.gap * 3000 < 20


def test_smoothing_mixes_neighbours_and_says_what_it_costs():
    rng = np.random.default_rng(6)
    operator = GeometricOperator(60, 0.1)
    q = rng.multinomial(500, operator.forward(np.full(60, 1 / 60))) / 500
    rough = bayesian_update(q, operator, iterations=2000)
    smooth = bayesian_update(q, operator, iterations=2000, smoothing=0.5)
    wiggles = [np.abs(np.diff(f.probabilities, 2)).sum() for f in (rough, smooth)]
    assert wiggles[1] < wiggles[0] / 3
    assert smooth.probabilities.sum() == pytest.approx(1)
    assert smooth.likelihood.gap > rough.likelihood.gap


def test_it_stops_at_the_certified_gap():
    operator, q = problem(3)
    found = bayesian_update(q, operator, iterations=100_000, gap=1e-4)
    assert found.converged
    assert found.likelihood.gap <= 1e-4
    assert found.iterations < 100_000
    assert not bayesian_update(q, operator, iterations=3, gap=1e-9).converged


def test_impossible_reports_are_refused():
    operator = DenseOperator([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0]])
    for estimator in (bayesian_update, most_likely):
        with pytest.raises(DataError, match="cannot come from this mechanism"):
            estimator(np.array([0.5, 0.3, 0.2]), operator)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"iterations": 0}, "whole number from 1"),
        ({"iterations": 2.5}, "whole number from 1"),
        ({"gap": -1.0}, "from 0"),
        ({"gap": float("nan")}, "from 0"),
        ({"smoothing": 1.5}, "0 to 1"),
        ({"start": np.array([0.0, 1.0])}, "would stay there"),
        ({"start": np.array([1.0])}, "2 numbers"),
        ({"start": np.array([np.nan, 1.0])}, "would stay there"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ParameterError, match=words):
        bayesian_update(np.array([0.5, 0.5]), ResponseOperator(2, 0.25, 0.5), **settings)


@pytest.mark.parametrize(
    "operator", [GeometricOperator(40, 0.15), ResponseOperator(40, 0.015, 0.4), PlanarOperator(8, 5, 0.5)]
)
def test_strides_reach_in_a_few_steps_what_takes_many(operator):
    rng = np.random.default_rng(7)
    q = rng.multinomial(5000, operator.forward(rng.dirichlet(np.full(40, 0.3)))) / 5000
    slow = bayesian_update(q, operator, iterations=3000)
    fast = accelerated_update(q, operator, iterations=1000)
    assert fast.likelihood.value >= slow.likelihood.value - 1e-12
    assert fast.iterations <= 1000
    values = [point.value for point in fast.trace]
    assert all(later >= earlier - 1e-13 for earlier, later in itertools.pairwise(values))
    best = most_likely(q, DenseOperator(dense_matrix(operator))).likelihood
    assert best.value <= fast.likelihood.value + fast.likelihood.gap
    assert fast.probabilities.sum() == pytest.approx(1)


def test_strides_stop_at_the_certified_gap():
    operator, q = problem(3)
    found = accelerated_update(q, operator, iterations=100_000, gap=1e-6)
    assert found.converged
    assert found.likelihood.gap <= 1e-6
    assert found.iterations < 1000
    assert not accelerated_update(q, operator, iterations=3, gap=1e-9).converged


def test_strides_reach_the_gap_of_5000_steps_in_a_tenth_of_them():
    places = np.arange(101)
    operator = DenseOperator(GeometricOperator(101, 0.1).rows(places))
    true = np.exp(-(((places - 30) / 8) ** 2) / 2)
    q = np.random.default_rng(1).multinomial(100_000, operator.forward(true / true.sum())) / 100_000
    slow = bayesian_update(q, operator, iterations=5000)
    fast = accelerated_update(q, operator, iterations=500, gap=slow.likelihood.gap)
    assert fast.converged
    assert fast.likelihood.value >= slow.likelihood.value
    values = [point.value for point in fast.trace]
    assert all(later >= earlier for earlier, later in itertools.pairwise(values))
    assert len(fast.trace) < fast.iterations  # some strides led downhill, and were forgotten


def test_strides_leave_secrets_that_no_report_can_come_from():
    operator = DenseOperator([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0], [0.0, 0.0, 1.0]])
    found = accelerated_update(np.array([0.3, 0.7, 0.0]), operator, iterations=100)
    assert found.probabilities == pytest.approx([1 / 3, 2 / 3, 0], abs=1e-9)
    assert found.likelihood.gap < 1e-9


@given(st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_strides_are_never_less_likely_than_their_first_update(seed, iterations):
    operator, q = problem(seed)
    found = accelerated_update(q, operator, iterations=iterations)
    assert found.iterations == iterations
    first = bayesian_update(q, operator, iterations=1)
    assert found.likelihood.value >= first.likelihood.value - 1e-13
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-12)
    assert most_likely(q, operator).likelihood.value <= found.likelihood.value + found.likelihood.gap
