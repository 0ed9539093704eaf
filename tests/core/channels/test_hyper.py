"""Hyper-distributions: pushing a prior, and getting prior and channel back."""

from __future__ import annotations

import numpy as np
import pytest
from core_support import random_channel, seeds
from hypothesis import given, settings

from noisewright.channels.channel import Channel
from noisewright.channels.hyper import Hyper
from noisewright.channels.hyper import prior_weights as as_prior
from noisewright.exceptions import ChannelError


@given(seeds)
@settings(max_examples=150)
def test_there_and_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    channel = random_channel(seed)
    prior = rng.dirichlet(np.ones(len(channel.inputs))) * 0.9 + 0.1 / len(channel.inputs)
    hyper = channel.push(prior)
    assert hyper.outers.sum() == pytest.approx(1)
    assert hyper.inners.sum(axis=0) == pytest.approx(np.ones(len(hyper.outers)))
    assert hyper.prior == pytest.approx(prior)
    seen = channel.matrix.any(axis=0)
    assert hyper.channel().matrix == pytest.approx(channel.matrix[:, seen], abs=1e-12)
    assert hyper.outputs == tuple(np.flatnonzero(seen).tolist())
    assert hyper.equivalent(hyper.reduce())


@given(seeds)
@settings(max_examples=60)
def test_posteriors_agree_with_bayes(seed: int) -> None:
    channel = random_channel(seed)
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(len(channel.inputs)))
    hyper = channel.push(prior)
    for y, output in enumerate(hyper.outputs):
        joint = prior * channel.matrix[:, channel.outputs.index(output)]
        assert hyper.inners[:, y] == pytest.approx(joint / joint.sum(), abs=1e-12)


def test_outputs_of_a_tiny_probability_count_fully() -> None:
    hyper = Channel([[1 - 1e-300, 3e-310], [1, 1e-310]]).push()
    assert len(hyper.outers) == 2
    assert hyper.inners[:, 1] == pytest.approx([0.75, 0.25], rel=1e-6)


def test_secrets_that_were_left_out_cannot_be_recovered() -> None:
    hyper = Channel([[0.5, 0.5], [0.1, 0.9]], inputs="ab").push([1, 0])
    assert hyper.inners == pytest.approx(np.array([[1, 1], [0, 0]]))
    with pytest.raises(ChannelError, match="secret 'b' has probability 0, so its row"):
        hyper.channel()


def test_hypers_of_different_shape_or_weight_differ() -> None:
    one = Hyper.from_posteriors([0.5, 0.5], [[1, 0], [0, 1]])
    other = Hyper.from_posteriors([1.0], [[0.5, 0.5]])
    heavier = Hyper.from_posteriors([0.25, 0.75], [[1, 0], [0, 1]])
    turned = Hyper.from_posteriors([0.5, 0.5], [[0, 1], [1, 0]])
    assert not one.equivalent(other)
    assert not one.equivalent(heavier)
    assert one.equivalent(turned)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([1.0], r"a prior needs 2 probabilities, one for each secret, not an array of shape \(1,\)"),
        ([[0.5, 0.5]], r"shape \(1, 2\)"),
        ([0.5, 0.6], "a prior must sum to 1, not to 1.1"),
        ([1.5, -0.5], "finite probabilities that are 0 or more"),
        ([np.nan, 1.0], "finite probabilities"),
        (["a", "b"], "these are not numbers"),
    ],
)
def test_priors_that_are_refused(prior: object, message: str) -> None:
    with pytest.raises(ChannelError, match=message):
        Channel([[1.0], [1.0]]).push(prior)  # type: ignore[arg-type]


def test_hypers_that_are_refused() -> None:
    with pytest.raises(ChannelError, match="one weight for each posterior"):
        Hyper.from_posteriors([1.0], [[1, 0], [0, 1]])
    with pytest.raises(ChannelError, match="weights must sum to 1"):
        Hyper.from_posteriors([0.5, 0.6], [[1, 0], [0, 1]])
    with pytest.raises(ChannelError, match="a posterior must sum to 1"):
        Hyper.from_posteriors([0.5, 0.5], [[1, 0.5], [0, 1]])
    with pytest.raises(ChannelError, match="3 secrets were named for posteriors over 2"):
        Hyper.from_posteriors([1.0], [[1, 0]], inputs="abc")


def test_the_uniform_prior_is_the_default() -> None:
    assert as_prior(None, 4).tolist() == [0.25] * 4
