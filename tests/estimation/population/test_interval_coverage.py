"""Confidence intervals cover as often as they say.

Each test simulates ``TRIALS`` data sets with a fixed seed and counts how often an interval holds the truth. A rate of 95 % has a
standard error of 1.1 % over 400 trials; rates must lie within 4.5 of them, which a right interval misses with a probability
below 1e-5 for each rate looked at (about 50 here).
"""

from __future__ import annotations

import numpy as np
import pytest

import noisewright as nw
from noisewright.estimation.bayesian_update import response_mle
from noisewright.estimation.operators import GeometricOperator, ResponseOperator, StackedOperator
from noisewright.estimation.result import asymptotic, bootstrap
from noisewright.exceptions import ParameterError

TRIALS = 400


def allowed(level: float) -> float:
    return 4.5 * float(np.sqrt(level * (1 - level) / TRIALS))


def rates(operator, p, reports, level, interval, seed):
    rng = np.random.default_rng(seed)
    law = operator.forward(p)
    covered = np.zeros(len(p))
    for _ in range(TRIALS):
        low, high = interval(rng.multinomial(reports, law) / reports, level, rng)
        covered += (low <= p) & (p <= high)
    return covered / TRIALS


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(
    ("operator", "p", "reports"),
    [
        (ResponseOperator(4, 0.15, 0.4), [0.4, 0.3, 0.2, 0.1], 3000),
        (GeometricOperator(6, 0.7), [0.05, 0.25, 0.3, 0.2, 0.15, 0.05], 20_000),
        (
            StackedOperator([ResponseOperator(3, 0.2, 0.4), ResponseOperator(3, 0.1, 0.7)], [0.3, 0.7]),
            [0.5, 0.3, 0.2],
            3000,
        ),
    ],
    ids=["response", "geometric", "two mechanisms"],
)
def test_asymptotic_intervals_cover(operator, p, reports, level):
    inverse = operator.inverse()
    found = rates(operator, np.array(p), reports, level, lambda q, at, _: asymptotic(q, reports, inverse, at), 11)
    assert found == pytest.approx(np.full(len(p), level), abs=allowed(level))


def test_asymptotic_intervals_cover_at_the_boundary():
    """Nobody holds the third secret; half of the unbiased estimates are negative, and the interval still holds 0."""
    operator = ResponseOperator(3, 0.2, 0.4)
    found = rates(
        operator, np.array([0.7, 0.3, 0.0]), 2000, 0.95, lambda q, at, _: asymptotic(q, 2000, operator.inverse(), at), 5
    )
    assert found[:2] == pytest.approx([0.95, 0.95], abs=allowed(0.95))
    assert found[2] >= 0.95 - allowed(0.95)


def test_bootstrap_intervals_cover_inside_the_simplex():
    operator, reports = ResponseOperator(4, 0.15, 0.4), 3000

    def again(q):
        return response_mle(q, other=operator.other, lift=operator.lift)

    def interval(q, level, rng):
        return bootstrap(q, reports, again, level, 200, rng)

    found = rates(operator, np.array([0.4, 0.3, 0.2, 0.1]), reports, 0.9, interval, 3)
    # 200 replicates put the ends at quantiles that are themselves off by about 1.5 %: one more point either way.
    assert found == pytest.approx(np.full(4, 0.9), abs=allowed(0.9) + 0.01)


def test_means_cover():
    """The mean of 40 numbers through the geometric, by ``average`` of the whole estimator."""
    mechanism = nw.geometric(epsilon="0.3", within=(0, 39))
    rng = np.random.default_rng(21)
    truth = rng.dirichlet(np.ones(40))
    covered = 0
    for _ in range(TRIALS):
        reports = mechanism.release(rng.choice(40, 500, p=truth), rng)
        found = nw.estimate(reports, mechanism, iterations=1).average(np.arange(40))
        covered += found.low <= truth @ np.arange(40) <= found.high
    assert covered / TRIALS == pytest.approx(0.95, abs=allowed(0.95))


def test_an_interval_that_is_too_narrow_would_be_found_out():
    operator = ResponseOperator(4, 0.15, 0.4)
    narrow = rates(
        operator,
        np.array([0.4, 0.3, 0.2, 0.1]),
        3000,
        0.95,
        lambda q, _, __: asymptotic(q, 3000, operator.inverse(), 0.85),
        11,
    )
    assert (np.abs(narrow - 0.95) > allowed(0.95)).all()


def test_settings_are_checked():
    q, operator = np.array([0.5, 0.5]), ResponseOperator(2, 0.25, 0.5)
    rng = np.random.default_rng(0)
    for level in (0, 1, 1.5, float("nan"), True):
        with pytest.raises(ParameterError, match="confidence must be"):
            asymptotic(q, 10, operator.inverse(), level)
    with pytest.raises(ParameterError, match="20 or more"):
        bootstrap(q, 10, lambda s: s, 0.95, 5, rng)
    with pytest.raises(ParameterError, match="memory"):
        bootstrap(np.full(2_000_000, 5e-7), 10, lambda s: s, 0.95, 200, rng)
