"""Random adversaries and channels for the tests of leakage; nothing here calls the code under test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from noisewright.channels.channel import Channel

Floats = NDArray[np.float64]

seeds = st.integers(0, 2**32 - 1)
"""One number decides an example; the rest is drawn from a numpy generator with that seed."""


@dataclass(frozen=True)
class Case:
    """A channel, a prior, a gain matrix with entries in [0, 1], and a channel that post-processes the outputs."""

    channel: Channel
    prior: Floats
    gain: Floats
    after: Channel


def random_case(seed: int, *, most: int = 6) -> Case:
    """Some rows and priors have zeros, some gains have equal rows; sizes differ."""
    rng = np.random.default_rng(seed)
    n, m, w, k = (int(rng.integers(low, most + 1)) for low in (2, 1, 1, 1))
    matrix = rng.dirichlet(np.ones(m), n)
    if rng.random() < 0.3:
        matrix = np.where(rng.random((n, m)) < 0.4, 0.0, matrix)
        matrix[:, 0] += matrix.sum(axis=1) == 0
    prior = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 10.0])))
    if rng.random() < 0.3:
        prior = np.where(rng.random(n) < 0.4, 0.0, prior)
        prior[0] += prior.sum() == 0
    gain = rng.random((w, n)) if rng.random() < 0.7 else rng.integers(0, 2, (w, n)).astype(float)
    return Case(
        Channel(matrix, normalise=True),
        prior / prior.sum(),
        gain,
        Channel(rng.dirichlet(np.ones(k), m), outputs=[f"out {i}" for i in range(k)]),
    )


def cases(count: int, seed: int) -> Iterator[Case]:
    """Many of them."""
    for number in range(count):
        yield random_case(seed * 1_000_003 + number)


def by_hand(prior: Floats, matrix: Floats, gain: Floats) -> float:
    """The posterior vulnerability from its definition: posteriors, then the best action for each, in plain loops."""
    total = 0.0
    for y in range(matrix.shape[1]):
        outer = sum(prior[x] * matrix[x, y] for x in range(len(prior)))
        if outer == 0:
            continue
        posterior = [prior[x] * matrix[x, y] / outer for x in range(len(prior))]
        total += outer * max(sum(p * g for p, g in zip(posterior, row, strict=True)) for row in gain)
    return total


def truncated_geometric(n: int, a: float) -> Channel:
    """The clamped geometric mechanism on 0..n-1, from its closed form."""
    i = np.arange(n)
    ends = np.full(n, (1 - a) / (1 + a))
    ends[[0, -1]] = 1 / (1 + a)
    return Channel(a ** np.abs(i[:, None] - i).astype(float) * ends, normalise=True)
