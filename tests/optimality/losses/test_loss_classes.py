"""Which losses are in which class, by the examples of the theory, with evidence that can be checked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.design.loss import Loss
from noisewright.design.named_losses import (
    absolute,
    is_extended,
    is_monotone,
    is_ordered_single_crossing,
    is_pairwise_non_trivial,
    is_strictly_monotone,
    is_trivial,
    last_train,
    parity,
    pinball,
    squared,
    step_loss,
    zero_one,
)
from noisewright.exceptions import ParameterError
from noisewright.guarantees import FAILS, UNDECIDED
from noisewright.metrics.base import Discrete, Line

MIDDLE = Loss([[0, 3 / 4, 1], [1 / 2, 1 / 4, 2 / 3], [3 / 5, 3 / 4, 1 / 3]])
EXTENDED = Loss([[1, 0, 1, 0], [0, 1, 0, 0]])
TRIVIAL = Loss([[0.5, 0.75, 1]] * 2)
STEP = Loss([[0.5, 0.5, 0.5, 0], [1, 1, 1, 0]])


def test_06_loss_classes_of_the_four_examples() -> None:
    assert is_monotone(MIDDLE, Line()).evidence["theta"] == {0: 0, 1: 1, 2: 2}
    assert is_monotone(MIDDLE, Discrete()).status == FAILS
    assert is_extended(EXTENDED, [0, 1, 2])
    assert is_monotone(EXTENDED, Line()).status == FAILS
    assert is_monotone(EXTENDED, Discrete()).status == FAILS
    assert is_trivial(TRIVIAL)
    assert is_monotone(TRIVIAL, Line())
    assert is_monotone(TRIVIAL, Discrete())
    assert is_trivial(STEP)
    assert is_extended(STEP, [0, 1, 2])
    assert is_monotone(STEP, Discrete()).status == FAILS
    assert is_monotone(STEP, Line()).evidence["theta"] == {0: 2, 1: 3}


@pytest.mark.parametrize("n", [3, 5])
def test_06_loss_classes_of_the_gallery(n: int) -> None:
    guess = zero_one(range(n))
    assert is_monotone(guess, Line())
    assert is_monotone(guess, Discrete())
    assert is_strictly_monotone(guess, Discrete())
    assert not is_strictly_monotone(guess, Line())
    for loss in (absolute(range(n)), squared(range(n))):
        assert is_strictly_monotone(loss, Line())
        assert not is_monotone(loss, Discrete())
    for loss in (guess, absolute(range(n)), squared(range(n))):
        assert is_pairwise_non_trivial(loss)


def test_06_fact20_a_loss_that_is_monotone_in_the_discrete_metric() -> None:
    loss = Loss([[3, 1, 0], [0, 1, 3]])
    assert is_monotone(loss, Discrete()).evidence["theta"] == {0: 2, 1: 0}
    assert is_pairwise_non_trivial(loss).evidence["violation"] == (0, 1)


def test_06_fact27_a_step_loss_is_not_monotone() -> None:
    points = [0, 0.25, 0.5, 0.75]
    assert is_monotone(step_loss(points, 2), Line()).status == FAILS


def test_06_erratum12_restriction_can_lose_monotonicity() -> None:
    restricted = absolute([0, 1, 2]).restrict([0, 2])
    assert is_monotone(restricted, Line()).status == FAILS


def test_single_crossing_losses() -> None:
    for loss in (pinball(range(6), 1, 3), last_train(range(6), 4), absolute(range(6)), zero_one(range(5))):
        found = is_ordered_single_crossing(loss)
        assert found
        assert found.evidence["thresholds"] == sorted(found.evidence["thresholds"])
    assert not is_ordered_single_crossing(parity(4))
    assert not is_ordered_single_crossing(Loss([[0, 1, 0], [1, 0, 1]]))


def test_actions_that_nobody_needs_do_not_spoil_the_order() -> None:
    loss = Loss([*absolute(range(4)).matrix, [5, 9, 4, 7], [0, 1, 2, 3]])
    assert is_ordered_single_crossing(loss).evidence["order"] == [0, 1, 2, 3]


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 4))
def test_the_evidence_of_monotone_losses_can_be_checked(seed: int, n: int, actions: int) -> None:
    rng = np.random.default_rng(seed)
    loss = Loss(rng.integers(0, 3, (actions, n)))
    found = is_monotone(loss, Line())
    maps = [found.evidence["theta"][w] for w in range(actions)] if found else None
    for theta in [tuple(m) for m in np.ndindex(*(n,) * actions)] if maps is None else [tuple(maps)]:
        apart = np.abs(np.array(theta)[:, None] - np.arange(n)[None, :])
        breaks = False
        for x in range(n):
            order = np.argsort(apart[:, x])
            losses, distances = loss.matrix[order, x], apart[order, x]
            level = np.diff(distances) == 0
            breaks |= bool((np.diff(losses) < 0).any() or np.diff(losses)[level].any())
        assert breaks is (maps is None)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_a_loss_made_of_a_distance_is_found_monotone(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    theta = rng.integers(0, n, size=3)
    rising = np.cumsum(
        rng.integers(0, 2, (n, n)), axis=1
    )  # one non-decreasing function of the distance for each secret
    loss = Loss([[float(rising[x, abs(t - x)]) for x in range(n)] for t in theta])
    assert is_monotone(loss, Line())


def test_a_search_that_is_too_long_is_given_up() -> None:
    rng = np.random.default_rng(0)
    hard = Loss(np.concatenate([absolute(range(14)).matrix[:, ::-1] // 3, rng.integers(0, 2, (6, 14))]))
    assert is_monotone(hard, Line()).status in (FAILS, UNDECIDED)
    with pytest.raises(ParameterError, match="square"):
        is_monotone(hard, None, distances=np.zeros((2, 2)))
