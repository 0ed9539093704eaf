"""Noise on the answer or on each datum: what the whole promises and what it is good for."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from adversary_support import random_case, seeds, truncated_geometric
from hypothesis import given

import noisewright as nw
from noisewright.attacks.local_and_central import Local, Oblivious
from noisewright.channels.channel import Channel
from noisewright.design.utility import posterior_loss
from noisewright.exceptions import NoisewrightError
from noisewright.metrics.base import Discrete, Hamming, Line, Manhattan, Table
from noisewright.metrics.sensitivity import closure

close = pytest.approx


def random_metric(rng: np.random.Generator, points: tuple[int, ...]) -> Table:
    weights = rng.uniform(0.2, 2, (len(points), len(points)))
    return closure(np.minimum(weights, weights.T), points)


@given(seeds)
def test_05_mp8_privacy_is_that_of_the_noise_under_the_induced_metric(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_case(seed)
    answers = case.channel.inputs
    secrets = tuple(range(len(answers) + int(rng.integers(0, 4))))
    of = dict(zip(secrets, [*answers, *rng.choice(len(answers), len(secrets) - len(answers))], strict=True))
    workflow = Oblivious({x: int(y) for x, y in of.items()}, case.channel, secrets, random_metric(rng, secrets))
    whole = workflow.epsilon().value
    assert whole == workflow.channel().epsilon(workflow.metric).value
    assert whole == close(workflow.utility_channel().epsilon(workflow.answers_metric()).value, rel=1e-9, abs=1e-12)


@given(seeds)
def test_05_mp8_a_safer_channel_in_the_privacy_order_is_safe_after_every_query(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_case(seed)
    safer = case.channel @ case.after  # post-processing never raises any distinguishability
    secrets = tuple(range(5))
    query = {x: int(rng.integers(len(case.channel.inputs))) for x in secrets}
    workflow = Oblivious(query, case.channel, secrets, random_metric(rng, secrets))
    assert workflow.with_mechanism(safer).epsilon().value <= workflow.epsilon().value * (1 + 1e-9) + 1e-12


def test_05_mp8_utility_is_about_the_answer() -> None:
    bits = tuple(itertools.product((0, 1), repeat=3))
    count = nw.geometric(epsilon="0.7", within=(0, 3))
    workflow = Oblivious(sum, count, bits, Hamming())
    assert workflow.epsilon().value == close(0.7)
    by_hand = posterior_loss([1 / 8, 3 / 8, 3 / 8, 1 / 8], count.channel(), "absolute").value
    assert workflow.utility("absolute").value == close(by_hand)
    skewed = [0.0] * 8
    skewed[0], skewed[7] = 0.5, 0.5
    assert workflow.utility("absolute", skewed).value == close(
        posterior_loss([0.5, 0, 0, 0.5], count.channel(), "absolute").value
    )


def test_answers_that_never_occur_are_left_out() -> None:
    workflow = Oblivious({"a": 0, "b": 2}, truncated_geometric(3, 0.5), ("a", "b"), Discrete())
    assert workflow.utility_channel().inputs == (0, 2)
    assert workflow.epsilon().value == close(2 * math.log(2))


@given(seeds)
def test_05_mp9_local_noise_keeps_the_epsilon_of_one_datum(seed: int) -> None:
    case = random_case(seed, most=3)
    for records in (1, 2, 3):
        local = Local(case.channel, records, metric=Line())
        alone = case.channel.epsilon(Line()).value
        assert local.epsilon().value == alone
        assert local.channel().epsilon(local.data_metric()).value == close(alone, rel=1e-9, abs=1e-12)
        merged = Local(case.channel, records, then=lambda y: y[0], metric=Line())
        assert merged.epsilon().value <= alone * (1 + 1e-9) + 1e-12
        thinned = Local(case.channel, records, then=lambda y: tuple(sorted(y)), metric=Line())
        assert thinned.epsilon().value <= alone * (1 + 1e-9) + 1e-12


def test_05_mp9_a_tally_of_randomised_responses() -> None:
    coin = Channel([[0.75, 0.25], [0.25, 0.75]])
    local = Local(coin, records=2, then=sum)
    rows = [[0.5625, 0.375, 0.0625], [0.1875, 0.625, 0.1875], [0.1875, 0.625, 0.1875], [0.0625, 0.375, 0.5625]]
    assert local.channel().matrix == close(np.array(rows))
    assert (local.channel().inputs, local.channel().outputs) == (((0, 0), (0, 1), (1, 0), (1, 1)), (0, 1, 2))
    assert local.epsilon().value == close(math.log(3))


def test_one_coordinate_each_is_manhattan() -> None:
    channel = truncated_geometric(4, 0.5)
    local = Local(channel, 2, metric=Line())
    assert local.channel().epsilon(Manhattan()).value == close(math.log(2))
    found = local.epsilon()
    assert found.pair is not None
    assert local.data_metric().distance(*found.pair) == 1


REFUSED: list[tuple[Any, str]] = [
    (lambda: Local(truncated_geometric(3, 0.5), 0), "records must be a whole number"),
    (lambda: Local(truncated_geometric(3, 0.5), True), "records must be a whole number"),
    (lambda: Local(truncated_geometric(3, 0.5), 10**400), "records must be a whole number from 1 to 10000"),
    (lambda: Oblivious("sum", truncated_geometric(3, 0.5), (0,), Line()), "a query is a function or a mapping"),  # type: ignore[arg-type]
    (lambda: Oblivious({}, truncated_geometric(3, 0.5), (0,), Line()), "an answer for every secret (KeyError)"),
    (lambda: Oblivious(abs, truncated_geometric(3, 0.5), (), Line()), "one secret or more"),
    (lambda: Local(truncated_geometric(3, 0.5), 20).channel(), "take fewer records"),
    (lambda: Local(truncated_geometric(3, 0.5), 2, then=lambda y: 1 / 0).channel(), "ZeroDivisionError"),
    (lambda: Local(truncated_geometric(3, 0.5), 2, then=lambda y: [1]).channel(), "cannot be a label"),  # type: ignore[arg-type, return-value]
    (lambda: Local(3, 2), "not on int"),  # type: ignore[arg-type]
    (
        lambda: Oblivious(sum, truncated_geometric(2, 0.5), ((1, 1),), Hamming()).channel(),
        "not an input of this channel",
    ),
    (lambda: Oblivious(sum, truncated_geometric(2, 0.5), ((1, 1),), "line"), "a metric must be an object"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_workflows_that_cannot_be_are_refused(make: Any, words: str) -> None:
    with pytest.raises(NoisewrightError) as problem:
        make()
    assert words in str(problem.value)
