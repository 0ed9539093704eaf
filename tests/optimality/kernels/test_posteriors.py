"""The polytope of private posteriors: counts, corners, membership, exact ties."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_support import corners_by_force

from noisewright.channels.channel import Channel
from noisewright.design.polytopes.posteriors import PrivatePosteriors
from noisewright.exceptions import MetricError, ParameterError
from noisewright.metrics.base import Discrete, Euclidean, Hamming, Line, Table
from noisewright.metrics.sensitivity import closure

of = PrivatePosteriors.of
BITS = {k: ["".join(b) for b in product("01", repeat=k)] for k in (2, 3)}


@pytest.mark.parametrize("n", range(2, 12))
def test_06_opt3_corners_of_the_line_are_all_patterns_of_steps(n):
    space = of(Line(), range(n), epsilon="1/3")
    steps = {tuple(np.diff(p).tolist()) for p in space.potentials}
    assert len(space.potentials) == 2 ** (n - 1)
    assert steps == set(product((-1, 1), repeat=n - 1))


@pytest.mark.parametrize("n", range(2, 9))
def test_06_opt3_corners_of_the_discrete_metric_are_all_proper_sets(n):
    found = set(of(Discrete(), range(n), factor=3).potentials)
    assert found == {p for p in product((0, 1), repeat=n) if 0 < sum(p) < n}


@pytest.mark.parametrize(("n", "count"), [(3, 6), (4, 20), (5, 70), (6, 252)])
def test_06_opt3_generic_metrics_reach_the_bound(n, count):
    points = [tuple(v) for v in np.random.default_rng(n).random((n, 2)).tolist()]
    assert len(of(Euclidean(), points, epsilon=1).potentials) == count == math.comb(2 * n - 2, n - 1)


def test_06_fact5_corners_of_hamming_cubes():
    assert len(of(Hamming(), BITS[2], factor=2).potentials) == 6
    assert len(of(Hamming(), BITS[3], factor=2).potentials) == 38


def test_06_fact6_three_points_on_a_line():
    space = of(Line(), range(3), factor=2)
    assert space.essential == ((0, 1), (1, 2))
    assert space.vertices().T.round(9).tolist() == [
        [0.25, 0.5, 0.25],
        [round(1 / 7, 9), round(2 / 7, 9), round(4 / 7, 9)],
        [0.4, 0.2, 0.4],
        [round(4 / 7, 9), round(2 / 7, 9), round(1 / 7, 9)],
    ]


def test_06_fact2_equivalent_channels_have_one_hyper():
    A = Channel([[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    B = Channel([[2 / 3, 1 / 6, 1 / 12, 1 / 12], [1 / 3, 1 / 3, 1 / 6, 1 / 6]])
    assert A.equivalent(B)
    hyper = B.push().reduce()
    assert hyper.outers.tolist() == pytest.approx([1 / 2, 1 / 2])
    assert hyper.inners.T.tolist() == [pytest.approx([1 / 3, 2 / 3]), pytest.approx([2 / 3, 1 / 3])]
    assert all(of(Line(), range(2), factor=2).is_vertex(p) for p in hyper.inners.T)


def test_07_lemma_b1_more_than_two_points_have_at_least_two_corners_for_each_step():
    for n in range(3, 7):
        assert len(of(Line(), range(n), factor=2).potentials) >= 2 * (n - 1)


@given(st.lists(st.integers(1, 4), min_size=6, max_size=6), st.integers(0, 5))
def test_corners_are_those_of_brute_force(weights, missing):
    upper = np.zeros((4, 4))
    upper[np.triu_indices(4, 1)] = [math.inf if k == missing else w for k, w in enumerate(weights)]
    metric = closure(upper + upper.T)
    space = of(Table(metric.distances), range(4), factor=2)
    found = {tuple(np.round(p, 8).tolist()) for p in space.vertices().T}
    assert found == corners_by_force(space.losses)
    assert all(space.is_vertex(p) for p in space.vertices().T)


@given(st.integers(3, 6), st.data())
def test_splitting_a_private_posterior_gives_two_private_ones_around_it(n, data):
    space = of(Discrete(), range(n), factor=3)
    raw = data.draw(st.lists(st.integers(4, 12), min_size=n, max_size=n))
    posterior = [Fraction(v, sum(raw)) for v in raw]
    assert space.contains(posterior).status == "holds (exact)"
    groups = space.tight_groups(posterior)
    if max(groups) == 0:
        assert space.is_vertex(posterior)
        return
    share, low, high = space.split(posterior, groups)
    assert [(1 - share) * a + share * b for a, b in zip(low, high, strict=True)] == posterior
    for end in (low, high):
        assert sum(end) == 1
        assert space.contains(end)
        assert max(space.tight_groups(end)) < max(groups)


def test_membership_is_exact_for_fractions():
    space = of(Line(), range(2), factor=2)
    assert space.contains(["2/3", "1/3"]).status == "holds (exact)"
    assert space.is_vertex(["2/3", "1/3"]).status == "holds (exact)"
    beyond = space.contains([Fraction(2, 3) + Fraction(1, 10**30), Fraction(1, 3) - Fraction(1, 10**30)])
    assert beyond.status == "fails (witness)"
    assert beyond.evidence == (0, 1)
    # e^(1/2) is irrational: a rational posterior never reaches it, however close it is.
    near = of(Line(), range(2), epsilon="1/2")
    q = Fraction(math.exp(0.5))
    assert near.is_vertex([q / (1 + q), 1 / (1 + q)]).status == "fails (witness)"
    assert near.is_vertex([float(q / (1 + q)), float(1 / (1 + q))]).status == "holds within tol"


def test_a_zero_is_never_private():
    verdict = of(Line(), range(3), epsilon=5).contains([0.5, 0.5, 0.0])
    assert verdict.status == "fails (witness)"
    assert verdict.evidence[1] == 2


def test_exact_spaces_are_told_from_others():
    assert of(Line(), [0, Fraction(1, 2), 2], epsilon=1).steps == ((0, 1, 4), (1, 0, 3), (4, 3, 0))
    assert of(Line(), [0, 0.5, 1], factor=4).base == 2
    assert of(Line(), [0, 0.5, 1], factor=2).steps is None  # the square root of 2 is no rational number
    assert of(Euclidean(), [(0, 0), (3, 4), (6, 8)], epsilon=1).unit == 5
    assert of(Euclidean(), [(0, 0), (1, 1), (1, 0)], epsilon=1).steps is None
    again = pickle.loads(pickle.dumps(of(Line(), range(4), factor=2)))
    assert len(again.potentials) == 8


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: of(Line(), [0], factor=2), "two or more points"),
        (lambda: of(Line(), [0, 1], epsilon=0), "greater than 0"),
        (lambda: of(Line(), [0, 1]), "either epsilon or factor"),
        (lambda: of(Line(), range(30), factor=2).potentials, "nw.optimal"),
        (lambda: of(Line(), range(3), factor=2).contains([0.5, 0.5]), "3 probabilities"),
        (lambda: of(Line(), range(2), factor=2).contains([0.5, 0.6]), "sum to 1"),
        (lambda: of(Line(), range(2), factor=2).contains([math.nan, 0.6]), "sum to 1"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ParameterError, match=words):
        call()


def test_distances_that_tie_nothing_or_everything_are_refused():
    with pytest.raises(MetricError, match="distance 0"):
        of(Table([[0, 0], [0, 0]]), range(2), factor=2)
    with pytest.raises(MetricError, match="infinitely far"):
        of(Table([[0, math.inf], [math.inf, 0]]), range(2), factor=2)
