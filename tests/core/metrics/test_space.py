"""Closures, essential pairs, and what a query does to distances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_support import random_matrix, random_metric, seeds, shortest_paths
from hypothesis import given, settings

from noisewright.channels.channel import Channel
from noisewright.exceptions import MetricError
from noisewright.metrics.base import Discrete, Line, Table
from noisewright.metrics.sensitivity import closure, essential_pairs, induced_metric, sensitivity


def random_weights(rng: np.random.Generator) -> np.ndarray:
    n = int(rng.integers(1, 7))
    weights = rng.integers(0, 30, (n, n)) / 4.0
    weights[rng.random((n, n)) < 0.3] = np.inf
    return np.minimum(weights, weights.T)


@given(seeds)
@settings(max_examples=100)
def test_closure_is_the_largest_metric_below(seed: int) -> None:
    weights = random_weights(np.random.default_rng(seed))
    closed = closure(weights).distances
    off = ~np.eye(len(weights), dtype=bool)
    assert (closed <= weights)[off].all()
    assert (closed == shortest_paths(weights)).all()
    assert (closure(closed).distances == closed).all()


@given(seeds)
@settings(max_examples=100)
def test_essential_pairs_suffice_for_privacy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    metric = Table(random_metric(rng, n))
    channel = Channel(random_matrix(rng, n, 4))
    losses, distances = channel.distinguishability(), metric.distances
    needed = 0.0
    for i, j in essential_pairs(metric, range(n)):
        if losses[i, j] > 0:
            needed = max(needed, math.inf if distances[i, j] == 0 else losses[i, j] / distances[i, j])
    assert channel.epsilon(metric).value == pytest.approx(needed, rel=1e-9)


def test_essential_pairs_of_a_line_are_neighbours() -> None:
    assert essential_pairs(Line(), [0, 1, 2, 5]) == [(0, 1), (1, 2), (2, 3)]
    assert len(essential_pairs(Discrete(), range(5))) == 10
    twins = Table([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert (0, 1) in essential_pairs(twins, range(3))
    assert essential_pairs(Table([[0, math.inf], [math.inf, 0]]), range(2)) == []


@given(seeds)
@settings(max_examples=100)
def test_asking_first_costs_exactly_the_induced_epsilon(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 8)), int(rng.integers(1, 5))
    metric = Table(random_metric(rng, n))
    query = {x: int(y) for x, y in enumerate(rng.integers(0, k, n))}
    answers = list(dict.fromkeys(query.values()))
    induced = induced_metric(query.__getitem__, range(n), metric)
    assert induced.points == tuple(answers)
    mechanism = Channel(random_matrix(rng, len(answers), 3), inputs=answers)
    asked = mechanism.after(query, range(n)).epsilon(metric).value
    assert asked == pytest.approx(mechanism.epsilon(induced).value, rel=1e-9)


@given(seeds)
@settings(max_examples=60)
def test_sensitivity_is_the_smallest_lipschitz_constant(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    metric = Table(random_metric(rng, n))
    values = {x: float(v) for x, v in enumerate(rng.integers(0, 4, n))}
    delta = sensitivity(values.__getitem__, range(n), metric)
    apart = Line().matrix([values[x] for x in range(n)])
    distances = metric.distances
    if math.isinf(delta):
        assert ((distances == 0) & (apart > 0)).any()
    else:
        near = np.isfinite(distances)
        assert (apart[near] <= delta * distances[near]).all()
        assert delta == 0 or (apart[near] > delta * (1 - 1e-9) * distances[near]).any()


def test_sensitivity_of_secrets_that_must_look_alike() -> None:
    metric = Table([[0, 0], [0, 0]], ("a", "b"))
    assert sensitivity({"a": 0, "b": 1}.__getitem__, "ab", metric) == math.inf
    assert sensitivity({"a": 1, "b": 1}.__getitem__, "ab", metric) == 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[0, 1, 2]], r"square matrix of weights, not one of shape \(1, 3\)"),
        ([[0, -1], [-1, 0]], "weights that are 0 or more"),
        ([[0, math.nan], [math.nan, 0]], "negative or not a number"),
        ([[0, 1], [2, 0]], "not symmetric: 0 to 1"),
    ],
)
def test_weights_that_are_refused(weights: list[list[float]], message: str) -> None:
    with pytest.raises(MetricError, match=message):
        closure(weights)


def test_closure_of_huge_weights() -> None:
    closed = closure([[0, 1.5e308, math.inf], [1.5e308, 0, 1.5e308], [math.inf, 1.5e308, 0]]).distances
    assert closed[0, 1] == 1.5e308
