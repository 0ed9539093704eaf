"""What epsilon means for beliefs: odds, balls, and the prior that shows it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from adversary_support import random_case, seeds, truncated_geometric
from hypothesis import given

import noisewright as nw
from noisewright.channels.channel import Channel
from noisewright.exceptions import NoisewrightError
from noisewright.metrics.base import Discrete, Euclidean, Line, Table
from noisewright.qif.beliefs import largest_growth, odds_change, revealing_prior

close = pytest.approx
NOISY = Channel([[0.9, 0.1], [0.1, 0.9]], inputs=["well", "ill"])


@given(seeds)
def test_05_mp6_the_odds_bound_holds_at_every_prior(seed: int) -> None:
    case = random_case(seed)
    metric = Line()
    epsilon = case.channel.epsilon(metric).value
    hyper = case.channel.push(case.prior)
    possible = np.flatnonzero(case.prior > 0)
    for x in possible:
        for z in possible:
            allowed = math.exp(min(700, epsilon * abs(int(x) - int(z)))) * case.prior[x] / case.prior[z]
            assert (hyper.inners[x] <= allowed * hyper.inners[z] * (1 + 1e-9) + 1e-300).all() or math.isinf(epsilon)
    change = odds_change(case.channel, case.prior, metric)
    assert change.epsilon <= epsilon
    if change.pair is not None and math.isfinite(change.epsilon):
        distance = abs(change.pair[0] - change.pair[1])  # type: ignore[operator]
        assert math.log(change.factor) == close(change.epsilon * distance, rel=1e-6, abs=1e-9)


@given(seeds)
def test_05_mp6_the_ball_bound_holds_at_every_prior(seed: int) -> None:
    case = random_case(seed)
    for metric in (Discrete(), Line()):
        growth = largest_growth(case.channel, case.prior, metric)
        assert growth.factor <= growth.bound * (1 + 1e-12)
        inners = case.channel.push(case.prior).inners
        possible = case.prior > 0
        assert growth.factor == close((inners[possible] / case.prior[possible, None]).max())


@given(seeds)
def test_05_mp6_two_point_priors_reach_the_ball_bound(seed: int) -> None:
    case = random_case(seed)
    found = case.channel.epsilon(Line())
    if found.pair is None or math.isinf(found.value):
        return
    prior = revealing_prior(case.channel, Line(), belief=1e-9)
    growth = largest_growth(case.channel, prior, Line())
    factor = math.exp(found.value * growth.radius)
    if factor < 1e6:
        assert growth.factor == close(factor, rel=1e-2)
        assert growth.bound == close(factor)


def test_05_mp10_a_level_within_a_radius_is_a_factor_for_who_knows_the_ball() -> None:
    grid = [(x, y) for x in (0.0, 100.0, 200.0) for y in (0.0, 100.0)]
    promise = nw.Guarantee.geo(epsilon=math.log(4), radius=200)
    distances = Euclidean().matrix(grid)
    channel = Channel(np.exp(-promise.epsilon / 2 * distances), grid, normalise=True)  # the exponential mechanism
    assert channel.epsilon(Euclidean()).value <= promise.epsilon
    near = {
        (0.0, 0.0): 0.25,
        (0.0, 100.0): 0.25,
        (100.0, 0.0): 0.25,
        (100.0, 100.0): 0.25,
    }  # all within 200 of each other
    growth = largest_growth(channel, near, Euclidean())
    assert growth.radius == close(100 * math.sqrt(2))
    assert growth.factor <= growth.bound <= 4 * (1 + 1e-12)
    assert promise.posterior(0.25, 200) >= growth.after


def test_growth_and_odds_are_told() -> None:
    assert str(largest_growth(NOISY, {"well": 0.2, "ill": 0.8})) == (
        "the belief in well grows 3.46154 times, from 0.2 to 0.692308, at output 0; any belief within distance 1 grows at "
        "most 9 times"
    )
    assert largest_growth(NOISY).to_json() == {
        "secret": "well",
        "output": 0,
        "before": 0.5,
        "after": 0.9,
        "factor": close(1.8),
        "radius": 1.0,
        "epsilon": close(math.log(9)),
        "metric": "discrete",
        "bound": close(9),
    }
    told = Channel([[1, 0], [0.5, 0.5]])
    assert largest_growth(told).to_json()["bound"] == "inf"
    assert "without limit" in str(largest_growth(told))
    change = odds_change(told)
    assert (change.pair, change.output, change.after, change.factor) == ((1, 0), 1, math.inf, math.inf)
    nothing = odds_change(Channel.constant("ab"))
    assert (nothing.pair, nothing.epsilon, nothing.factor) == (None, 0, 1)
    assert "no odds change" in str(nothing)


def test_only_possible_secrets_count() -> None:
    geometric = truncated_geometric(3, 0.5)
    sure = largest_growth(geometric, [0, 1, 0], Line())
    assert (sure.factor, sure.radius, sure.bound) == (1, 0, 1)
    apart = Table([[0, math.inf], [math.inf, 0]])
    assert largest_growth(Channel(np.eye(2)), None, apart).bound == math.inf


@pytest.mark.parametrize("belief", [0, 1, -0.1, float("nan"), True, "0.5"])
def test_a_belief_that_is_none_is_refused(belief: Any) -> None:
    with pytest.raises(NoisewrightError, match="above 0 and below 1"):
        revealing_prior(NOISY, belief=belief)


def test_a_channel_that_tells_nothing_reveals_nothing() -> None:
    with pytest.raises(NoisewrightError, match="nothing to reveal"):
        revealing_prior(Channel.constant("ab"))
