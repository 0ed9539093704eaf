"""Independent libraries agree: qif on channels and metrics, opendp on randomised response."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_support import random_matrix, randomised_response

from noisewright.channels.channel import Channel
from noisewright.metrics.base import Discrete, Line, Table

qif = pytest.importorskip("qif")


def positive_channels(count: int, seed: int) -> list[Channel]:
    rng = np.random.default_rng(seed)
    return [Channel(rng.dirichlet(np.ones(int(rng.integers(1, 6))), int(rng.integers(2, 6)))) for _ in range(count)]


def test_qif_agrees_on_the_smallest_epsilon() -> None:
    rng = np.random.default_rng(1)
    for channel in positive_channels(200, 1):
        n = len(channel.inputs)
        assert channel.epsilon().value == pytest.approx(
            qif.measure.d_privacy.smallest_epsilon(channel.matrix, lambda i, j: float(i != j)), rel=1e-6, abs=1e-6
        )
        assert channel.epsilon(Line()).value == pytest.approx(
            qif.measure.d_privacy.smallest_epsilon(channel.matrix, lambda i, j: float(abs(i - j))), rel=1e-6, abs=1e-6
        )
        points = rng.uniform(0, 5, (n, 2))
        distances = np.linalg.norm(points[:, None] - points, axis=-1)
        assert channel.epsilon(Table(distances)).value == pytest.approx(
            qif.measure.d_privacy.smallest_epsilon(channel.matrix, lambda i, j, d=distances: float(d[i, j])),
            rel=1e-6,
            abs=1e-6,
        )


def test_qif_agrees_on_whether_a_channel_is_private() -> None:
    for channel in positive_channels(100, 2):
        epsilon = channel.epsilon(Line()).value
        for factor, private in ((1.001, True), (0.999, False)):
            if epsilon > 1e-3:
                scaled = epsilon * factor
                assert (
                    qif.measure.d_privacy.is_private(channel.matrix, lambda i, j, s=scaled: s * abs(i - j)) == private
                )


def test_qif_agrees_on_posteriors_and_outers() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        n, m = int(rng.integers(2, 6)), int(rng.integers(1, 6))
        channel = Channel(random_matrix(rng, n, m))
        prior = rng.dirichlet(np.ones(n))
        hyper = channel.push(prior)
        for y, output in enumerate(hyper.outputs):
            column = channel.outputs.index(output)
            assert hyper.outers[y] == pytest.approx(float(prior @ channel.matrix[:, column]), abs=1e-15)
            assert hyper.inners[:, y] == pytest.approx(qif.channel.posterior(channel.matrix, prior, column), abs=1e-9)


def test_qif_agrees_on_bayes_vulnerability_of_the_joint() -> None:
    rng = np.random.default_rng(4)
    for channel in positive_channels(100, 4):
        prior = rng.dirichlet(np.ones(len(channel.inputs)))
        ours = channel.push(prior).joint().max(axis=0).sum()
        assert ours == pytest.approx(qif.measure.bayes_vuln.posterior(prior, channel.matrix), rel=1e-9)


def test_qif_agrees_on_equivalence_after_reduction() -> None:
    for channel in positive_channels(100, 5):
        doubled = Channel(np.c_[channel.matrix / 2, channel.matrix / 2])
        reduced = qif.channel.reduced(doubled.matrix)
        assert doubled.reduce().shape == reduced.shape
        assert Channel(reduced, normalise=True).equivalent(channel, 1e-6)


def test_qif_agrees_on_the_distance_of_rows() -> None:
    between = qif.metric.mult_total_variation()
    for channel in positive_channels(100, 6):
        own = channel.distinguishability()
        for i in range(len(own)):
            for j in range(len(own)):
                # qif's is the same largest log-ratio, in its own implementation
                assert own[i, j] == pytest.approx(between(channel.matrix[i], channel.matrix[j]), rel=1e-6, abs=1e-9)


def test_opendp_agrees_on_randomised_response() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    for n in (2, 3, 10):
        for epsilon in (0.1, 1.0, 4.0):
            channel = randomised_response(n, epsilon)
            keep = float(channel.matrix[0, 0])
            theirs = dp.m.make_randomized_response(list(range(n)), prob=keep).map(1)
            assert channel.epsilon(Discrete()).value == pytest.approx(theirs, rel=1e-9)
    for p in (0.6, 0.75, 0.99):
        theirs = dp.m.make_randomized_response_bool(p).map(1)
        ours = Channel([[p, 1 - p], [1 - p, p]]).epsilon().value
        assert ours == pytest.approx(theirs, rel=1e-9)
        assert math.exp(ours) == pytest.approx(p / (1 - p))
