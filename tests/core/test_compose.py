"""The accountant: exactly the product channel, without building it."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from core_support import random_matrix, randomised_response, seeds, true_epsilon
from hypothesis import given, settings

import noisewright as nw
from noisewright.certificates.composition import Accountant
from noisewright.channels.channel import Channel
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.metrics.base import Discrete, Line, Table


@given(seeds)
@settings(max_examples=120)
def test_exactly_the_loss_of_the_product_and_at_most_the_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    parts = [Channel(random_matrix(rng, n, int(rng.integers(1, 4)))) for _ in range(3)]
    account = Accountant(range(n))
    for part in parts:
        account.add(part)
    product = parts[0].compose(parts[1]).compose(parts[2])
    assert account.distinguishability() == pytest.approx(product.distinguishability(), rel=1e-9, abs=1e-12)
    for metric in (Discrete(), Line()):
        value = account.epsilon(metric).value
        assert value == pytest.approx(product.epsilon(metric).value, rel=1e-9, abs=1e-12)
        assert value <= sum(part.epsilon(metric).value for part in parts) * (1 + 1e-9) + 1e-12


@given(seeds)
@settings(max_examples=80)
def test_never_below_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    weights = 10.0 ** rng.uniform(-250, 0, 3) * (1 + rng.uniform(-1, 1, (n, 3)) * 10.0 ** -rng.integers(1, 14))
    channel = Channel(weights, normalise=True)
    truth = true_epsilon(channel.matrix, lambda i, j: Fraction(1))
    for times in (1, 2, 7):
        reported = Decimal(Accountant(range(n)).add(channel, times).epsilon().value)
        assert times * truth <= reported <= times * truth * (1 + Decimal("1e-13")) + times * Decimal("1e-12")


def test_strictly_below_the_sum_when_worst_outputs_disagree() -> None:
    first, second = Channel([[0.8, 0.2], [0.4, 0.6]]), Channel([[0.6, 0.4], [0.2, 0.8]])
    account = Accountant([0, 1]).add(first).add(second)
    assert account.epsilon().value == pytest.approx(math.log(6))
    assert first.epsilon().value + second.epsilon().value == pytest.approx(math.log(9))
    assert account.epsilon().pair == (0, 1)


def test_guarantees_count_with_all_they_allow() -> None:
    account = Accountant([0, 1, 3]).add(Guarantee(0.5, Line(), delta=0.125), times=2)
    account.add(Guarantee(1.0, Discrete(), seed_failure=0.25))
    assert account.delta == 0.5
    assert account.releases == 3
    assert account.epsilon(Line()).value == pytest.approx(2.0)  # neighbours 0 and 1: 1 from the line, 1 from discrete
    assert account.distinguishability()[0, 2] == pytest.approx(4.0)
    promise = account.guarantee(Line())
    assert (promise.delta, promise.metric) == (0.5, Line())
    assert Fraction(promise.epsilon) >= 2


def test_secrets_some_steps_apart_have_the_larger_delta() -> None:
    """Between neighbours delta is 0.3; between 0 and 2 it is 0.3 (1 + e^0.01), and the true one of the law is 0.510."""
    promise = nw.mechanisms.approximate_laplace(epsilon=0.01, delta=0.3, lattice=1 / 64).guarantee
    near, far = Accountant([0.0, 1.0]).add(promise), Accountant([0.0, 1.0, 2.0]).add(promise)
    assert near.delta == 0.3
    assert far.guarantee(Discrete()).delta == pytest.approx(0.3 * (1 + math.exp(0.01)))
    assert far.guarantee(Discrete()).epsilon == pytest.approx(0.02)
    apart = Table([[0, 1, math.inf], [1, 0, math.inf], [math.inf, math.inf, 0]], (0.0, 1.0, 2.0))
    assert far.add(promise).guarantee(Line()).delta == 1.0
    assert far.epsilon(apart).delta == pytest.approx(0.6)  # a metric that says nothing of 2 asks for less


def test_secrets_too_far_apart_for_a_delta_have_no_promise() -> None:
    promise = Guarantee(0.01, Line(), delta=0.3, scope="adjacent")
    far = Accountant([0.0, 9.0]).add(promise)
    assert far.epsilon().value == math.inf
    with pytest.raises(ParameterError, match="nothing can be promised"):
        far.guarantee()


@given(seeds)
@settings(max_examples=60)
def test_deltas_of_many_pairs_are_added_upwards(seed: int) -> None:
    rng = np.random.default_rng(seed)
    account, truth = Accountant([0.0, 1.0, 2.5]), [[Fraction(0)] * 3 for _ in range(3)]
    for _ in range(4):
        promise = Guarantee(
            rng.uniform(0, 0.1), Line(), rng.uniform(0, 0.01), "adjacent", seed_failure=rng.uniform(0, 0.001)
        )
        times = int(rng.integers(0, 4))
        account.add(promise, times)
        for i, x in enumerate(account.inputs):
            for j, y in enumerate(account.inputs):
                each = Fraction(promise.delta_at(abs(x - y))) + Fraction(promise.seed_failure)  # type: ignore[operator]
                truth[i][j] += times * each
    largest = max(max(row) for row in truth)
    assert largest <= Fraction(account.delta) <= largest * (1 + Fraction(1, 2**50))


def test_small_deltas_are_added_upwards() -> None:
    account = Accountant([0]).add(Guarantee(1.0, Line(), delta=0.1), times=3).add(Guarantee(1.0, Line(), delta=1e-30))
    assert Fraction(account.delta) >= 3 * Fraction(0.1) + Fraction(1e-30)


def test_nothing_and_zero_times() -> None:
    account = Accountant("ab")
    assert account.epsilon().value == 0
    account.add(Channel.identity("ab"), times=0)
    assert account.epsilon().value == 0
    account.add(Channel.identity("ab"))
    assert account.epsilon().value == math.inf
    with pytest.raises(ParameterError, match="nothing can be promised: two secrets"):
        account.guarantee()


def test_pairs_at_infinite_distance_do_not_count() -> None:
    metric = Table([[0, math.inf], [math.inf, 0]])
    assert Accountant([0, 1]).add(Channel.identity([0, 1])).epsilon(metric).value == 0


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="at least one secret"):
        Accountant([])
    for twice in ([1, 1], [1, 1.0], "abca"):
        with pytest.raises(ParameterError, match="must be different from each other"):
            Accountant(twice)
    with pytest.raises(ChannelError, match="the accountant's secrets, in the same order"):
        Accountant([1, 0]).add(randomised_response(2, 1.0))
    with pytest.raises(ParameterError, match="0 or more times, not -1"):
        Accountant([0, 1]).add(randomised_response(2, 1.0), times=-1)
