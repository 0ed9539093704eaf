"""Posterior losses, against their definition, and the facts that fix their values."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.channels.channel import Channel
from noisewright.channels.hyper import uniform
from noisewright.design.loss import Loss
from noisewright.design.named_losses import absolute, zero_one
from noisewright.design.utility import face_value_loss, posterior_loss, posterior_losses, prior_loss, secret_losses
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.numeric.geometric import geometric

G2 = Channel(np.array([[16, 3, 1], [4, 12, 4], [1, 3, 16]]) / 20, [0, 0.5, 1], [0, 0.5, 1])
G4 = np.array([[16, 4, 2, 1, 1], [8, 8, 4, 2, 2], [4, 4, 8, 4, 4], [2, 2, 4, 8, 8], [1, 1, 2, 4, 16]]) / 24


def test_06_fact1_loss_of_a_channel() -> None:
    channel = Channel([[3 / 4, 1 / 8, 1 / 8], [2 / 3, 0, 1 / 3], [1 / 4, 1 / 4, 1 / 2]])
    assert posterior_loss(None, channel, [[0, 1, 1], [1, 0, 0]]).value == pytest.approx(1 / 3, abs=1e-12)


def test_06_fact22_bayes_risk_of_coarse_and_fine_geometrics() -> None:
    assert posterior_loss(None, G2, "zero-one").value == pytest.approx(4 / 15, abs=1e-12)
    rows = Channel(G4[[0, 2, 4]], [0, 0.5, 1])
    assert posterior_loss(None, rows, "zero-one").value == pytest.approx(1 / 3, abs=1e-12)


def test_06_fact23_bayes_risk_of_a_lifted_geometric() -> None:
    assert posterior_loss(None, Channel(G4), "zero-one").value == pytest.approx(8 / 15, abs=1e-12)
    third = geometric(epsilon=np.log(2), within=(0, 2)).channel().matrix
    lifted = Channel(third[[0, 0, 1, 1, 2]])
    assert posterior_loss(None, lifted, "zero-one").value == pytest.approx(2 / 3, abs=1e-12)
    assert lifted.epsilon().value < 4 * np.log(2)


def test_01_fact37_bayes_loss_of_the_truncated_geometric() -> None:
    channel = geometric(epsilon=0.5, within=(0, 10)).channel()
    assert posterior_loss(None, channel, "absolute").value == pytest.approx(1.417356, abs=5e-7)


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_the_best_remap_is_the_best_of_all_remaps(seed: int, n: int, outputs: int, actions: int) -> None:
    rng = np.random.default_rng(seed)
    prior, matrix = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(outputs), n)
    loss = Loss(rng.normal(size=(actions, n)))
    found = posterior_loss(prior, Channel(matrix), loss)
    every = [
        sum(prior[x] * matrix[x, y] * loss.matrix[remap[y], x] for x in range(n) for y in range(outputs))
        for remap in product(range(actions), repeat=outputs)
    ]
    assert found.value == pytest.approx(min(every), abs=1e-12)
    assert found.value <= prior_loss(prior, loss).value + 1e-12
    assert float(found) == found.value
    assert [loss.actions[w] for w in found.places] == list(found.remap)


def test_many_priors_at_once_agree_with_one_at_a_time() -> None:
    rng = np.random.default_rng(3)
    channel, loss = Channel(rng.dirichlet(np.ones(5), 4)), Loss(rng.random((3, 4)))
    priors = rng.dirichlet(np.ones(4), 40)
    single = [posterior_loss(p, channel, loss).value for p in priors]
    assert posterior_losses(priors, channel, loss).tolist() == pytest.approx(single, abs=1e-14)


def test_convex_sums_of_channels_are_columns_side_by_side() -> None:
    rng = np.random.default_rng(5)
    one, two = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(2), 4)
    loss, prior = Loss(rng.random((3, 4))), rng.dirichlet(np.ones(4))
    mixed = Channel(np.concatenate([0.3 * one, 0.7 * two], axis=1))
    apart = (
        0.3 * posterior_loss(prior, Channel(one), loss).value + 0.7 * posterior_loss(prior, Channel(two), loss).value
    )
    assert posterior_loss(prior, mixed, loss).value == pytest.approx(apart, abs=1e-12)


def test_face_value_is_the_mean_loss_of_the_secrets() -> None:
    channel = geometric(epsilon=1, within=(0, 3)).channel()
    expected = (channel.matrix * absolute(range(4)).matrix.T).sum(axis=1)
    assert secret_losses(channel, "absolute").tolist() == pytest.approx(expected.tolist())
    assert face_value_loss(None, channel, "absolute") == pytest.approx(expected.mean())
    assert face_value_loss([0, 0, 1, 0], channel, "absolute") == pytest.approx(expected[2])
    assert face_value_loss(None, channel, zero_one(range(4))) >= posterior_loss(None, channel, "zero-one").value


def test_prior_loss_names_the_best_action() -> None:
    found = prior_loss([0.1, 0.2, 0.7], "absolute", (0, 1, 2))
    assert found.remap == (2,)
    assert found.value == pytest.approx(0.4)
    assert prior_loss(uniform("ab"), [[0, 1], [1, 0]]).value == 0.5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: posterior_loss(None, np.eye(2), "zero-one"), "Channel"),
        (lambda: posterior_loss([0.5, 0.4], Channel(np.eye(2)), "zero-one"), "sum to 1"),
        (lambda: posterior_loss(None, Channel(np.eye(2)), [[0, 1, 2]]), "columns for 2 secrets"),
        (lambda: prior_loss(None, "absolute"), "secrets"),
        (lambda: face_value_loss(None, Channel(np.eye(2)), Loss([[0, 1]], ["go"], [0, 1])), "face value"),
    ],
)
def test_bad_questions_are_refused(call: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        call()
