"""Caps on leakage: every adversary stays below them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from adversary_support import random_case, seeds, truncated_geometric
from hypothesis import given

import noisewright as nw
from noisewright.channels.channel import Channel
from noisewright.exceptions import NoisewrightError
from noisewright.metrics.base import Discrete, Line, Table
from noisewright.qif.gains import Gain
from noisewright.qif.max_case import leakage_caps, promise_cap, success_cap
from noisewright.qif.vulnerability import leakage, posterior_vulnerability

close = pytest.approx


@pytest.mark.parametrize(
    ("epsilon", "columns", "promise"), [(0.1, 1.1998, 1.4918), (0.5, 1.9797, 7.3891), (1.0, 2.8485, 54.598)]
)
def test_07_f16_columns_cap_far_more_tightly_than_the_promise(epsilon: float, columns: float, promise: float) -> None:
    found = leakage_caps(truncated_geometric(5, math.exp(-epsilon)), Line())
    assert found.columns == close(columns, abs=5e-5)
    assert found.promise == close(promise, rel=1e-4)
    assert found.diameter == 4
    assert found.best == found.columns


@given(seeds)
def test_07_theorem_9_11_no_adversary_passes_the_caps(seed: int) -> None:
    case = random_case(seed)
    for metric in (Discrete(), Line()):
        caps = leakage_caps(case.channel, metric)
        leaked = leakage(case.channel, case.prior, case.gain).multiplicative
        assert leaked <= caps.columns * (1 + 1e-12)
        assert leaked <= caps.promise * (1 + 1e-12)
        assert caps.columns <= caps.promise * (1 + 1e-12)
        assert posterior_vulnerability(case.prior, case.channel, case.gain) <= success_cap(
            caps, case.prior, case.gain
        ) * (1 + 1e-12)


def test_the_promise_is_rounded_up() -> None:
    cap = promise_cap(nw.Guarantee(1.0, Line()), range(5))
    assert Fraction(cap) >= Fraction("54.598150033144239078110261202860878402790737")  # e^4
    assert cap == close(math.exp(4), rel=1e-15)


def test_a_mechanism_is_held_to_its_own_promise() -> None:
    caps = leakage_caps(nw.randomised_response(["a", "b", "c"], epsilon="1/2"))
    assert (caps.epsilon, caps.promise) == close((0.5, math.exp(0.5)))
    assert str(caps.metric) == "discrete"
    assert caps.to_json() == {
        "columns": caps.columns,
        "promise": caps.promise,
        "epsilon": 0.5,
        "metric": "discrete",
        "diameter": 1.0,
    }


def test_what_promises_nothing_caps_nothing_but_its_columns_do() -> None:
    told = leakage_caps(Channel([[1, 0], [0.5, 0.5]]))
    assert (told.epsilon, told.promise, told.best) == (math.inf, math.inf, 1.5)
    assert str(told) == "at most 1.5 times by the columns of the channel; its promise caps nothing"
    assert told.to_json()["promise"] == "inf"
    apart = Table([[0, math.inf], [math.inf, 0]])
    assert leakage_caps(Channel(np.eye(2)), apart).promise == math.inf
    assert promise_cap(nw.Guarantee(1.0, Line()), [0, 10_000]) == math.inf
    assert promise_cap(nw.Guarantee(1.0, Line(), radius=2), [0, 3]) == math.inf
    assert promise_cap(nw.Guarantee(1.0, Line(), scope="adjacent"), [0, 2.5]) == close(math.exp(3))
    assert promise_cap(nw.Guarantee(1.0, Line()), [7]) == 1


def test_success_is_never_above_the_largest_gain() -> None:
    caps = leakage_caps(Channel.identity("ab"))
    assert success_cap(caps, [0.9, 0.1]) == 1
    assert success_cap(caps, [0.9, 0.1], [[0, 3]]) == close(0.6)
    assert success_cap(caps, [1, 0], [[0, 3]]) == 0
    assert success_cap(leakage_caps(Channel.constant("ab")), [0.9, 0.1]) == 0.9


def test_what_caps_need_is_said() -> None:
    caps = leakage_caps(Channel.identity("ab"))
    with pytest.raises(NoisewrightError, match="0 or more everywhere"):
        success_cap(caps, None, Gain([[1, -1]]))
    with pytest.raises(NoisewrightError, match="not a function of beliefs"):
        success_cap(caps, None, max)
    with pytest.raises(NoisewrightError, match="follows from leakage_caps"):
        success_cap(1.5, None)  # type: ignore[arg-type]
    with pytest.raises(NoisewrightError, match="caps no leakage"):
        promise_cap(nw.Guarantee(1.0, Line(), delta=1e-6), range(3))
    with pytest.raises(NoisewrightError, match="not from float"):
        promise_cap(1.0, range(3))  # type: ignore[arg-type]


def test_a_cap_on_guessing_one_of_many_secrets_needs_no_matrix() -> None:
    channel = Channel(np.random.default_rng(3).dirichlet(np.ones(3), 6_000))
    assert success_cap(leakage_caps(channel), None) == pytest.approx(channel.matrix.max(axis=0).sum() / 6_000)
