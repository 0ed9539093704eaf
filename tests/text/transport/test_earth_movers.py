"""The Earth Mover's distance between bags of words, lifting to bags, and how far noise moves a bag."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import gammainc

from noisewright.channels.channel import Channel
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms import geometric
from noisewright.mechanisms.spatial.vectors import spherical_noise
from noisewright.metrics.base import Euclidean, Line, Manhattan
from noisewright.text import (
    Embedding,
    audit_lifted,
    earth_movers,
    hit_radius,
    hit_rate,
    import_embedding,
    lift,
    lower_bound,
    vector_distances,
)


def by_program(costs: np.ndarray) -> float:
    """The transport problem itself, as a linear program."""
    rows, columns = costs.shape
    sums = np.zeros((rows + columns, rows * columns))
    for i in range(rows):
        sums[i, i * columns : (i + 1) * columns] = 1
    for j in range(columns):
        sums[rows + j, j::columns] = 1
    right = np.concatenate([np.full(rows, 1 / rows), np.full(columns, 1 / columns)])
    return float(linprog(costs.ravel(), A_eq=sums, b_eq=right, method="highs").fun)


def test_07_f01_multipliers_of_two_short_bags() -> None:
    assert math.exp(2.816 * 4 / 16) == pytest.approx(2.0218, abs=5e-5)
    assert math.exp(2.816 * 4 / 32) == pytest.approx(1.4219, abs=5e-5)
    # Four words on a line, each moved by 2.816: the whole matching costs 4 times the distance, and is not multiplied again.
    moved = earth_movers([[0.0], [10], [20], [30]], [[2.816], [12.816], [22.816], [32.816]])
    assert moved.total == pytest.approx(4 * 2.816)
    assert math.exp(moved.total / 16) == pytest.approx(2.0218, abs=5e-5)


BAGS = ["president greet press chicago", "chief speaks media illinois", "chef breaks cooking record"]
"""Of which the first two say nearly the same; published distances are in word2vec with 300 dimensions, ours in GloVe with 100."""
PUBLISHED, GLOVE = (2.816, 4.121, 3.941), (5.136, 6.780, 6.739)
FIXTURE = Path(__file__).parents[2] / "fixtures" / "glove" / "bags.vec"


def test_07_f02_f03_distances_of_three_bags_of_words(tmp_path: Path) -> None:
    vectors = {word: list(map(float, rest)) for word, *rest in map(str.split, FIXTURE.read_text().splitlines()[1:])}
    import_embedding(FIXTURE, tmp_path / "bags.nwe")
    rounded = Embedding.at(tmp_path / "bags.nwe")
    bags = [bag.split() for bag in BAGS]
    pairs = [(bags[0], bags[1]), (bags[0], bags[2]), (bags[1], bags[2])]
    found = [earth_movers([vectors[w] for w in a], [vectors[w] for w in b]) for a, b in pairs]
    assert [moved.mean for moved in found] == pytest.approx(GLOVE, abs=5e-4)
    assert [earth_movers(a, b, embedding=rounded).mean for a, b in pairs] == pytest.approx(GLOVE, abs=5e-3)
    # A quarter flows from president to chief, greet to speaks, press to media and chicago to illinois, as published.
    assert found[0].flow.tolist() == [[place, place] for place in range(4)]
    assert found[0].mass.tolist() == [0.25] * 4
    for distances in (
        PUBLISHED,
        [moved.mean for moved in found],
    ):  # the second and third are nearer than the first and third
        assert distances[0] < distances[2] < distances[1]


@pytest.mark.parametrize("seed", range(50))
def test_07_f04_the_program_agrees_with_the_assignment(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, dimension = int(rng.integers(1, 8)), int(rng.integers(1, 6))
    a, b = rng.normal(size=(2, size, dimension))
    found = earth_movers(a, b)
    assert found.mean == pytest.approx(by_program(vector_distances(a, b)), abs=1e-9)
    assert found.total == pytest.approx(size * found.mean, abs=1e-12)
    costs = np.linalg.norm(a[found.flow[:, 0]] - b[found.flow[:, 1]], axis=1)
    assert costs.sum() == pytest.approx(found.total, abs=1e-9)
    assert sorted(found.flow[:, 0]) == sorted(found.flow[:, 1]) == list(range(size))


@pytest.mark.parametrize("seed", range(10))
def test_bags_of_different_sizes_are_compared_but_have_no_total(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(3, 2)), rng.normal(size=(5, 2))
    found = earth_movers(a, b)
    assert found.total is None
    assert found.mean == pytest.approx(by_program(vector_distances(a, b)), abs=1e-9)
    assert found.mass.sum() == pytest.approx(1)


def test_07_f06_a_doubled_bag_is_at_distance_0_and_still_told_apart() -> None:
    found = earth_movers([[1.0, 2.0]], [[1.0, 2.0], [1.0, 2.0]])
    assert found.mean == 0
    assert found.total is None  # so no promise can be multiplied with it
    word = geometric(epsilon=1, within=(0, 2)).channel()
    assert {len(bag) for bag in lift(word, 1).outputs} != {len(bag) for bag in lift(word, 2).outputs}


@given(st.integers(0, 10**6))
def test_lower_bounds_are_below(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)) + rng.normal()
    assert lower_bound(a, b) <= earth_movers(a, b).mean + 1e-12


@given(st.integers(0, 10**6))
def test_07_lemma_9_3_a_larger_metric_gives_a_larger_distance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = ([tuple(v) for v in rng.normal(size=(3, 2))] for _ in range(2))
    best = {}
    for metric in (Euclidean(), Manhattan()):
        costs = metric.matrix([*a, *b])[:3, 3:]
        best[metric.name] = min(sum(costs[i, j] for i, j in enumerate(order)) for order in permutations(range(3)))
    assert best["euclidean"] <= best["manhattan"] + 1e-12
    assert earth_movers(a, b).total == pytest.approx(best["euclidean"])


def test_members_that_nearly_coincide_are_compared_by_their_difference() -> None:
    far = 1e8
    assert vector_distances([[far, 0.0]], [[far, 1e-3]])[0, 0] == pytest.approx(1e-3, rel=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_07_f05_the_promise_of_lifting_holds_and_is_reached(size: int) -> None:
    word = geometric(epsilon=0.8, within=(0, 3)).channel()
    found = audit_lifted(word, size, epsilon=0.8)
    assert found.holds
    assert found.tightness == pytest.approx(1.0, abs=1e-6)


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_07_theorem_9_2_no_channel_breaks_it(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    word = Channel(rng.dirichlet(np.full(3, 0.7), size=3) * 0.9 + 0.1 / 3)
    epsilon = word.epsilon(metric=Line()).value
    assert audit_lifted(word, size, epsilon=epsilon).holds


def test_a_claim_that_is_too_small_is_not_held() -> None:
    word = geometric(epsilon=0.8, within=(0, 3)).channel()
    assert not audit_lifted(word, 2, epsilon=0.79).holds


def test_lifting_is_the_sum_over_the_orders_of_an_output() -> None:
    rng = np.random.default_rng(1)
    word = Channel(rng.dirichlet(np.ones(3), size=3))
    lifted = lift(word, 3)
    for i, bag in enumerate(lifted.inputs):
        for j, out in enumerate(lifted.outputs):
            chance = sum(
                math.prod(word.matrix[x, y] for x, y in zip(bag, order, strict=True))
                for order in set(permutations(out))
            )
            assert lifted.matrix[i, j] == pytest.approx(chance, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "size", "epsilon", "radius", "right", "printed"),
    [(1, 2, 1, 0.15, 0.0369, 0.2592), (2, 2, 1, 0.3, 0.0034, 0.1219)],
)
def test_07_f12_f13_hit_rates_and_the_false_printed_ones(
    n: int, size: int, epsilon: float, radius: float, right: float, printed: float
) -> None:
    assert hit_rate(n, size, epsilon=epsilon, radius=radius) == pytest.approx(right, abs=5e-5)
    a = epsilon * size * radius
    assert a <= n / math.e  # where the printed bound is claimed
    assert float(gammainc(n, a)) == pytest.approx(printed, abs=5e-5)
    # Coinciding vectors reach the bound; 40,000 bags, four standard errors: wrong once in 15,000 seeds.
    noise = spherical_noise(epsilon, n, 40_000 * size, np.random.default_rng(7))
    lengths = np.linalg.norm(noise, axis=1).reshape(-1, size)
    hits = float((lengths.mean(axis=1) <= radius).mean())
    assert abs(hits - right) < 4 * math.sqrt(right * (1 - right) / 40_000)
    assert hits < printed / 2


def test_07_f14_for_one_vector_both_bounds_are_one() -> None:
    for n in (1, 2, 50):
        assert hit_rate(n, 1, epsilon=2, radius=0.1) == pytest.approx(float(gammainc(n, 0.2)), rel=1e-12)


def test_07_txt9_the_informative_radii() -> None:
    found = [hit_radius(300, 100, epsilon=10, chance=p) for p in (0.05, 0.5, 0.95)]
    assert found == pytest.approx([29.72, 30.00, 30.29], abs=0.006)
    assert hit_rate(300, 1, epsilon=1, radius=300 / math.e) < 1e-45


@pytest.mark.parametrize(
    "bad", [[], [[]], "words", [[math.nan]], [[math.inf, 1.0]], [1.0, 2.0], [["a"]], [[1.0], [1.0, 2.0]]]
)
def test_what_is_no_bag_of_vectors_is_refused(bad: Any) -> None:
    with pytest.raises(DataError, match="vectors"):
        earth_movers(bad, [[1.0]])


def test_vectors_of_two_dimensions_are_refused() -> None:
    with pytest.raises(DataError, match="2 coordinates, those of the other 3"):
        earth_movers([[1.0, 2.0]], [[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("size", [0, -1, True, 1.5])
def test_sizes_that_are_none_are_refused(size: Any) -> None:
    with pytest.raises(ParameterError, match="whole number from 1 on"):
        lift(geometric(epsilon=1, within=(0, 2)).channel(), size)
    with pytest.raises(ParameterError, match="whole number from 1 on"):
        hit_rate(2, size, epsilon=1, radius=1)


def test_too_many_bags_are_refused() -> None:
    with pytest.raises(ParameterError, match="more than 3000 bags"):
        lift(geometric(epsilon=1, within=(0, 40)).channel(), 3)
