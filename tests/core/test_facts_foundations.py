"""The numbered facts on exact auditing with a delta."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from noisewright.channels.channel import Channel
from noisewright.metrics.base import Hamming

close = pytest.approx


def flip(p: float) -> Channel:
    return Channel([[1 - p, p], [p, 1 - p]])


def test_03_f01_binary_flip_needs_no_delta_and_may_flip_less_with_one() -> None:
    assert flip(1 / 3).delta(math.log(2)) <= 2e-16
    assert flip(1 / 3).delta("0.693147180559946") == 0  # just above ln 2
    assert flip(4 / 15).delta(math.log(2)) == close(0.2, abs=1e-15)
    assert flip(0.2667).delta(math.log(2)) < 0.2 < flip(0.2666).delta(math.log(2))


def test_03_f02_asked_twice() -> None:
    twice = flip(1 / 3).compose(flip(1 / 3))
    assert twice.matrix[:, 0] == close([4 / 9, 1 / 9])
    event = twice.worst_event(math.log(2))
    assert event.delta == close(2 / 9, abs=1e-15)
    assert event.delta > 0.2
    assert len(event.outputs) == 1
    p = 0.341641
    assert flip(p).compose(flip(p)).delta(math.log(2)) == close(0.2, abs=1e-6)
    less = flip(p - 1e-5).compose(flip(p - 1e-5))
    assert less.delta(math.log(2)) > 0.2


def product_channel(parent: Channel, n: int) -> Channel:
    """The parent applied to each of n rows on its own."""
    matrix = parent.matrix
    for _ in range(n - 1):
        matrix = np.kron(matrix, parent.matrix)
    databases = list(itertools.product(parent.inputs, repeat=n))
    return Channel(matrix, inputs=databases)


@pytest.mark.parametrize(("m", "n"), [(2, 2), (2, 3), (3, 2)])
def test_03_f03_product_sanitisation_keeps_delta(m: int, n: int) -> None:
    rng = np.random.default_rng(303)
    for _ in range(20):
        parent = Channel(rng.dirichlet(np.ones(m + 1), m))
        whole = product_channel(parent, n)
        for epsilon in (0, 0.3, 1.2):
            assert whole.delta(epsilon, Hamming(), within=1) == close(parent.delta(epsilon), abs=1e-12)
        assert whole.epsilon(Hamming()).value == close(parent.epsilon().value, rel=1e-9)


def test_03_f22_single_outputs_do_not_decide_delta() -> None:
    channel = Channel([[1 / 2, 1 / 2, 0, 0], [1 / 4] * 4])
    assert np.max(channel.matrix[0] - channel.matrix[1]) == 0.25
    event = channel.worst_event(0)
    assert event.delta == 0.5
    assert set(event.outputs) in ({0, 1}, {2, 3})


def test_03_fnd2_delta_is_the_largest_over_all_events() -> None:
    rng = np.random.default_rng(22)
    for _ in range(30):
        channel = Channel(rng.dirichlet(np.ones(5) * 0.5, 3))
        for epsilon in (0.0, 0.4, 1.5):
            best = 0.0
            for size in range(1, 6):
                for event in itertools.combinations(range(5), size):
                    mass = channel.matrix[:, list(event)].sum(axis=1)
                    best = max(best, float((mass[:, None] - math.exp(epsilon) * mass[None, :]).max()))
            assert channel.delta(epsilon) == close(best, abs=1e-14)


def test_03_fnd2_epsilon_at_a_delta_by_hand() -> None:
    channel = Channel([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])
    assert channel.epsilon_at(0.25).value == math.inf  # row 1 has mass 1/2 where row 0 has none
    assert channel.epsilon_at(0.5).value == 0
    one_way = Channel([[0.6, 0.4], [0.3, 0.7]])
    # (0.6 - q 0.3) = 0.1 gives q = 5/3, (0.7 - q 0.4) = 0.1 gives q = 3/2
    assert one_way.epsilon_at("0.1").value == close(math.log(5 / 3), rel=1e-14)
    assert one_way.epsilon_at("0.1").pair == (0, 1)
