"""Impossibility results: every broken promise comes with a correlation that breaks it, checked by hand here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from adversary_support import seeds
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.attacks.correlation import dalenius_vulnerability
from noisewright.attacks.inferential_privacy import (
    check_promise,
    check_secrecy_focussed,
    check_utility_focussed,
    smallest_promise,
)
from noisewright.channels.channel import Channel
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, FAILS, WITHIN
from noisewright.metrics.base import Discrete, Line, Table


def random_channel(rng: np.random.Generator, n: int) -> Channel:
    return Channel(rng.dirichlet(np.full(int(rng.integers(2, 7)), 0.7), n), normalise=True)


def bayes(joint: np.ndarray, matrix: np.ndarray) -> float:
    """The chance to guess the row of a joint distribution from the output, by a plain loop."""
    pushed = joint @ matrix
    return sum(max(pushed[z, y] for z in range(len(pushed))) for y in range(pushed.shape[1]))


# The same property is useful and private -----------------------------------------------------------------------------------


@given(seeds)
def test_05_in5_no_mechanism_keeps_a_promise_below_the_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    channel, prior = random_channel(rng, n), rng.dirichlet(np.ones(n))
    bound = smallest_promise(prior)
    assert bound == pytest.approx((1 - prior.max()) / 2)
    t = bound * rng.random() * 0.999
    verdict = check_promise(channel, t, prior=prior)
    assert verdict.status == FAILS
    found = verdict.evidence
    after = bayes(np.diag(prior), channel.matrix)
    assert found.found == pytest.approx(after, abs=1e-12)
    assert found.correlation.joint == pytest.approx(np.diag(prior))
    if found.measure == "accuracy":
        assert after < 1 - t
    else:
        assert after > prior.max() + t


def test_the_bound_is_reached() -> None:
    """Two states, and a release that is right three times out of four: both halves of the promise hold with t = 1/4."""
    channel = Channel([[0.75, 0.25], [0.25, 0.75]])
    assert smallest_promise([0.5, 0.5]) == 0.25
    assert check_promise(channel, 0.25).status == WITHIN
    assert check_promise(channel, 0.2499).evidence.measure == "accuracy"
    assert check_promise(channel, 0.3).status == EXACT


def test_inference_is_the_half_that_fails_for_a_release_that_tells_all() -> None:
    verdict = check_promise(Channel.identity("abcd"), 0.1, blocks=[{"a", "b"}, {"c", "d"}])
    assert verdict.evidence.measure == "inference"
    assert (verdict.evidence.found, verdict.evidence.promised) == (1.0, 0.6)
    assert "private (rows) and useful (columns)" in str(verdict.evidence)
    assert smallest_promise({"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}, [{"a", "b"}, {"c", "d"}]) == 0.25


@pytest.mark.parametrize("t", [-0.1, 1.1, "11/10"])
def test_a_promise_has_a_probability(t: float) -> None:
    with pytest.raises(ParameterError, match="t must be a number from 0 to 1"):
        check_promise(Channel.identity("ab"), t)


# Noise on what is useful -----------------------------------------------------------------------------------------------------


def test_05_in5_the_instance_of_randomised_response() -> None:
    verdict = check_utility_focussed(nw.randomised_response([0, 1], epsilon=math.log(2)))
    assert verdict.status == FAILS
    assert verdict.evidence.correlation.joint.tolist() == [[0.5, 0], [0, 0.5]]
    assert verdict.evidence.found == pytest.approx(2 / 3, abs=1e-9)
    assert verdict.evidence.promised == 0.5


@given(seeds)
def test_every_release_that_says_something_leaks_some_secret(seed: int) -> None:
    rng = np.random.default_rng(seed)
    channel = random_channel(rng, int(rng.integers(2, 7)))
    verdict = check_utility_focussed(channel)
    assert verdict.status == FAILS
    found = verdict.evidence
    rows = channel.matrix[channel.positions(found.correlation.inputs)]
    assert bayes(found.correlation.joint, rows) == pytest.approx(found.found, abs=1e-12)
    assert found.found > 0.5
    assert dalenius_vulnerability(found.correlation, Channel.constant(channel.inputs)) == 0.5


def test_a_constant_release_leaks_nothing() -> None:
    assert check_utility_focussed(Channel([[0.25, 0.75]] * 3)).status == EXACT


# Noise on what is secret -----------------------------------------------------------------------------------------------------


def confirm(channel: Channel, metric: object, size: int) -> None:
    """The evidence is re-evaluated from scratch: the other mechanism is as private, and strictly more accurate."""
    verdict = check_secrecy_focussed(channel, metric)  # type: ignore[arg-type]
    assert verdict.status == FAILS, verdict
    found = verdict.evidence
    allowed = channel.epsilon(metric).value  # type: ignore[arg-type]
    assert found.instead.epsilon(metric).value <= allowed * (1 + 1e-9) + 1e-12
    assert found.correlation.joint.shape == (2, size)
    here, there = (bayes(found.correlation.joint, c.matrix) for c in (channel, found.instead))
    assert (here, there) == pytest.approx((found.found, found.promised), abs=1e-12)
    assert there > here + 1e-12


@pytest.mark.parametrize("size", [3, 4, 7])
@pytest.mark.parametrize("epsilon", [0.1, math.log(2), 3.0])
def test_05_in5_the_usual_mechanisms_on_three_secrets_or_more(size: int, epsilon: float) -> None:
    points = list(range(size))
    confirm(nw.geometric(epsilon=epsilon, within=(0, size - 1)).channel(), Line(), size)
    confirm(nw.randomised_response(points, epsilon=epsilon).channel(), Discrete(), size)
    confirm(nw.randomised_response(points, epsilon=epsilon).channel(), Line(), size)
    confirm(nw.exponential(points, epsilon=epsilon, metric=Line()).channel(), Line(), size)


@given(seeds, st.integers(3, 6))
def test_05_in5_any_channel_and_any_metric(seed: int, size: int) -> None:
    """Random private channels for random metrics, post-processed ones included: another one is always better somewhere."""
    rng = np.random.default_rng(seed)
    points = rng.random((size, 2))
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    metric = Table(distances, tuple(range(size)))
    mechanism = Channel(np.exp(-rng.uniform(0.1, 2) * distances), normalise=True)
    confirm(mechanism, metric, size)
    processed = mechanism @ Channel(rng.dirichlet(np.ones(4), size), mechanism.outputs, normalise=True)
    confirm(processed, metric, size)


def test_05_in5_a_channel_with_every_extreme_column_is_not_best_either() -> None:
    """Half of the time the geometric, half of the time whether the secret is in the middle."""
    geometric = nw.geometric(epsilon=1, within=(0, 2)).channel()
    a = math.exp(-1)
    middle = np.array([a, 1, a]) / (1 + a)
    mixed = Channel(np.hstack((geometric.matrix / 2, np.column_stack((middle, 1 - middle)) / 2)))
    confirm(mixed, Line(), 3)


@given(seeds)
def test_05_in5_two_secrets_have_a_best_mechanism(seed: int) -> None:
    rng = np.random.default_rng(seed)
    epsilon = float(rng.uniform(0.1, 4))
    best = nw.randomised_response("ab", epsilon=epsilon)
    assert check_secrecy_focussed(best).status == WITHIN
    other = best.channel() @ Channel([[0.9, 0.1], [0.3, 0.7]], "ab")
    three = Channel(np.hstack((other.matrix / 2, best.channel().matrix / 2)), "ab")
    confirm(three, Discrete(), 2)


def test_limits_of_the_check() -> None:
    assert check_secrecy_focussed(Channel.constant("abc")).status == EXACT
    assert check_secrecy_focussed(Channel([[0.5, 0.5]])).status == EXACT
    with pytest.raises(ParameterError, match="no finite epsilon"):
        check_secrecy_focussed(Channel.identity("abc"))
    with pytest.raises(ParameterError, match="finite and greater than 0"):
        check_secrecy_focussed(Channel([[0.5, 0.5], [0.4, 0.6]]), Table([[0, np.inf], [np.inf, 0]], (0, 1)))


def test_large_channels_with_probabilities_too_small_for_a_float() -> None:
    for channel in (
        nw.geometric(epsilon=8, within=(0, 149)).channel(),
        nw.randomised_response(range(60), epsilon=1).channel(),
    ):
        confirm(channel, Line(), len(channel.inputs))


def test_large_evidence_is_not_spelled_out() -> None:
    verdict = check_secrecy_focussed(nw.geometric(epsilon=1, within=(0, 40)), "line")
    assert "(2 by 41; see .correlation)" in str(verdict.evidence)


def test_the_leaking_secret_tells_the_farthest_inputs_apart() -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        matrix = rng.dirichlet(np.full(4, 2.0), size=int(rng.integers(2, 7)))
        pairs = [(matrix[i], matrix[j]) for i in range(len(matrix)) for j in range(i)]
        best = max(np.maximum(first, second).sum() / 2 for first, second in pairs)
        assert check_utility_focussed(Channel(matrix)).evidence.found == pytest.approx(best, abs=1e-12)


def test_inputs_of_a_very_large_channel_are_told_apart_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noisewright.attacks.inferential_privacy.MOST_COMPARED", 0)
    matrix = [[0.5, 0.5], [0.6, 0.4], [0.1, 0.9]]
    found = check_utility_focussed(Channel(matrix)).evidence
    assert found.correlation.inputs == (1, 2)
    assert found.found == pytest.approx(0.75)
