"""T, two-output mechanisms, layers and folds, the Hamming cube, and reasoning by restriction."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import geometric_channel, lp_optimum, posterior_loss, refinement_residual

from noisewright.channels.channel import Channel
from noisewright.design.named_losses import absolute, property_loss
from noisewright.design.polytopes.kernel_mechanisms import is_kernel, kernels
from noisewright.design.polytopes.posteriors import PrivatePosteriors
from noisewright.design.polytopes.restriction import (
    is_two_input,
    layered_geometric,
    optimal_by_restriction,
    pair_design,
    property_mechanism,
    restrict,
    two_input,
)
from noisewright.design.polytopes.universal import at_least_as_good, universally_optimal
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.categorical.base import mechanism
from noisewright.metrics.base import Discrete, Hamming, Line, Table
from noisewright.metrics.sensitivity import closure

LN2 = math.log(2)
BITS = ["".join(b) for b in product("01", repeat=3)]
CUBE = layered_geometric(Hamming(), BITS, lambda b: b.count("1"), factor=2)
BITWISE = Channel([[2 ** sum(a == b for a, b in zip(x, y, strict=True)) / 27 for y in BITS] for x in BITS], BITS, BITS)
CHAINS = [
    ["000", a, b, "111"]
    for a in BITS
    for b in BITS
    if a.count("1") == 1 and b.count("1") == 2 and int(a, 2) & int(b, 2)
]


# T --------------------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(0.05, 4))
def test_06_opt14_t_is_best_for_everybody(seed, epsilon):
    rng = np.random.default_rng(seed)
    T = two_input([0, 1], epsilon=epsilon)
    prior, loss = rng.dirichlet([1, 1]), rng.normal(size=(int(rng.integers(1, 6)), 2))
    best = lp_optimum(Line(), [0, 1], epsilon, prior, loss)
    assert posterior_loss(prior, T.matrix, loss) == pytest.approx(best, abs=1e-8)


def test_06_opt14_t_counts_the_distance_and_certifies():
    T = two_input([0, 3], metric=Line(), epsilon="1/3")
    assert T.matrix[0].tolist() == pytest.approx([math.e / (1 + math.e), 1 / (1 + math.e)])
    assert mechanism(T, epsilon="1/3", metric=Line()).certificate().verify() == "epsilon = 0.333334 per unit of line"
    assert T.certify("1/3", Line()).change < 1e-12


# Restriction ----------------------------------------------------------------------------------------------------------


def test_06_fact17_a_mechanism_that_is_t_on_one_pair():
    M = Channel([[2 / 3, 1 / 6, 1 / 6], [1 / 3, 1 / 3, 1 / 3], [1 / 2, 1 / 4, 1 / 4]])
    loss = np.array([[3, 0, 0], [1, 2, 0]], dtype=float)
    for metric in (Line(), Discrete()):
        assert is_two_input(M, (0, 1), metric=metric, factor=2)
        assert not is_two_input(M, (0, 2), metric=metric, factor=2)
        assert not is_two_input(M, (1, 2), metric=metric, factor=2)
        assert optimal_by_restriction(M, loss, metric=metric, factor=2)
        rng = np.random.default_rng(17)
        for _ in range(20):
            prior = rng.dirichlet(np.ones(3))
            best = lp_optimum(metric, range(3), LN2, prior, loss)
            assert posterior_loss(prior, M.matrix, loss) == pytest.approx(best, abs=1e-8)


def test_06_erratum10_the_converse_fails():
    """The geometric is best for guessing 0 or 2, and yet not T for distance 2 there."""
    geometric = geometric_channel(3, 0.5)
    half = np.full(2, 0.5)
    assert posterior_loss(half, restrict(geometric, [0, 2]).matrix, 1 - np.eye(2)) == pytest.approx(0.25)
    assert posterior_loss(half, two_input([0, 2], metric=Line(), factor=2).matrix, 1 - np.eye(2)) == pytest.approx(0.2)
    assert not is_two_input(geometric, (0, 2), metric=Line(), factor=2)
    loss = [[0, 1, 1], [1, 1, 0]]
    assert optimal_by_restriction(geometric, loss, metric=Line(), factor=2).status == "undecided"
    assert universally_optimal(geometric, loss, kernels(Line(), range(3), factor=2))


def test_06_opt13_optimality_is_lifted_from_three_secrets():
    geometric = geometric_channel(5, 0.5)
    loss = absolute([1, 2, 3]).lift(range(5))
    verdict = optimal_by_restriction(geometric, loss, metric=Line(), factor=2)
    assert verdict
    assert "3 secrets only" in verdict.reason
    moved = loss.add([5, 0, 0, 0, -1])  # an amount for each secret changes nothing
    assert optimal_by_restriction(geometric, moved, metric=Line(), factor=2)
    assert optimal_by_restriction(geometric, [[1] * 5, [2] * 5], metric=Line(), factor=2).status == "holds (exact)"


@given(st.integers(0, 10**6))
def test_06_opt13_losses_outside_a_restriction_do_not_count(seed):
    rng = np.random.default_rng(seed)
    channel = Channel(rng.dirichlet(np.ones(4), size=5))
    chosen = sorted(rng.choice(5, size=3, replace=False).tolist())
    loss = np.zeros((3, 5))
    loss[:, chosen] = rng.normal(size=(3, 3))
    prior = rng.dirichlet(np.ones(5))
    part = restrict(channel, chosen)
    assert posterior_loss(prior, channel.matrix, loss) == pytest.approx(
        posterior_loss(prior[chosen], part.matrix, loss[:, chosen])
    )


@pytest.mark.parametrize("factor", [2, "3/2", 10])
def test_06_opt13_pair_design(factor):
    def possible(metric, points):
        return {p for p in combinations(points, 2) if pair_design(metric, points, p, factor=factor)}

    assert possible(Line(), range(5)) == {(i, i + 1) for i in range(4)}
    assert possible(Discrete(), range(4)) == set(combinations(range(4), 2))
    edges = {(a, b) for a, b in combinations(BITS, 2) if sum(x != y for x, y in zip(a, b, strict=True)) == 1}
    assert possible(Hamming(), BITS) == edges


@pytest.mark.parametrize(("side", "feasible"), [("1.2", True), ("1.5", False)])
def test_06_opt13_pair_design_on_triangles(side, feasible):
    long = float(side)
    triangle = Table([[0, 1, long], [1, 0, 1], [long, 1, 0]])
    found = pair_design(triangle, range(3), (0, 2), epsilon=1)
    assert bool(found) == feasible
    if feasible:
        assert found.channel.epsilon(triangle).value <= 1 + 1e-9
        assert is_two_input(found.channel, (0, 2), metric=triangle, epsilon=1)
    else:
        assert found.evidence == 1
        assert found.channel is None


@settings(max_examples=40)
@given(st.lists(st.integers(1, 5), min_size=6, max_size=6), st.sampled_from([0.3, 1.0]))
def test_06_opt13_pair_designs_agree_with_a_linear_program(weights, epsilon):
    """T on a pair is best for guessing which of the two it is, so the program reaches its loss iff a design exists."""
    upper = np.zeros((4, 4))
    upper[np.triu_indices(4, 1)] = weights
    metric = Table(closure(upper + upper.T).distances)
    distance = metric.distances[0, 3]
    found = pair_design(metric, range(4), (0, 3), epsilon=epsilon)
    loss = np.array([[0, 0, 0, 1], [1, 0, 0, 0]], dtype=float)
    best = lp_optimum(metric, range(4), epsilon, [0.5, 0, 0, 0.5], loss)
    assert bool(found) == (best < 1 / (1 + math.exp(epsilon * distance)) + 1e-7)


# Two outputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_06_fact19_the_mechanism_of_the_existence_theorem(n):
    a = Fraction(1, 2)
    k, j = 1 + (n - 1) * a, a + n - 1
    assert k + j == n * (1 + a)
    K = property_mechanism(range(n), {0}, factor=2)
    hyper = K.push()
    assert hyper.outers.tolist() == pytest.approx([float(k / (k + j)), float(j / (k + j))])
    assert hyper.inners[:, 0].tolist() == pytest.approx([float(v / k) for v in [1, *[a] * (n - 1)]])
    assert hyper.inners[:, 1].tolist() == pytest.approx([float(v / j) for v in [a, *[1] * (n - 1)]])
    assert K.matrix[0].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert is_kernel(K, PrivatePosteriors.of(Discrete(), range(n), factor=2))
    for other in range(1, n):
        assert is_two_input(K, (0, other), metric=Discrete(), factor=2)


@settings(max_examples=40)
@given(st.integers(2, 8), st.integers(0, 10**6), st.floats(0.1, 3))
def test_06_opt17_properties_are_answered_best_by_two_outputs(n, seed, epsilon):
    rng = np.random.default_rng(seed)
    inside = rng.permutation(n)[: int(rng.integers(1, n))]
    chosen = set(inside.tolist())
    K = property_mechanism(range(n), chosen, epsilon=epsilon)
    better, worse = rng.uniform(0, 1, size=n), rng.uniform(1, 3, size=n)
    loss = np.array([[better[x] if x in chosen else worse[x] for x in range(n)], [0.0] * n])
    loss[1] = np.where([x in chosen for x in range(n)], worse, better)
    prior = rng.dirichlet(np.ones(n))
    best = lp_optimum(Discrete(), range(n), epsilon, prior, loss)
    assert posterior_loss(prior, K.matrix, loss) == pytest.approx(best, abs=1e-8)


def test_06_opt17_certified_on_three_and_four_secrets():
    for n in (3, 4):
        found = kernels(Discrete(), range(n), factor=2)
        for size in range(1, n):
            K = next(
                k
                for k in found
                if k.channel().equivalent(Channel(property_mechanism(range(n), range(size), factor=2).matrix))
            )
            assert universally_optimal(K, property_loss(range(n), range(size)), found).status == "holds (exact)"


# Layers ---------------------------------------------------------------------------------------------------------------


def test_06_hamming_cube_matrix_and_posteriors():
    expected = {0: (8, 2, 1, 1), 1: (4, 4, 2, 2), 2: (2, 2, 4, 4), 3: (1, 1, 2, 8)}
    for bits, row in zip(BITS, CUBE.matrix, strict=True):
        assert (12 * row).tolist() == pytest.approx(expected[bits.count("1")])
    hyper = CUBE.push()
    assert (32 * hyper.outers).tolist() == pytest.approx([9, 7, 7, 9])
    assert (27 * hyper.inners[:, 0]).tolist() == pytest.approx([8, 4, 4, 2, 4, 2, 2, 1])
    verdict = is_kernel(CUBE, PrivatePosteriors.of(Hamming(), BITS, factor=2))
    assert verdict
    assert verdict.reason.startswith("4 outputs")
    assert mechanism(CUBE, epsilon=LN2, metric=Hamming()).certificate().verify().startswith("epsilon = 0.693")


def test_06_hamming_cube_on_chains_edges_and_layers():
    assert len(CHAINS) == 6
    for chain in CHAINS:
        assert restrict(CUBE, chain).equivalent(Channel(geometric_channel(4, 0.5).matrix, chain))
    edges = [(a, b) for a, b in combinations(BITS, 2) if sum(x != y for x, y in zip(a, b, strict=True)) == 1]
    assert len(edges) == 12
    for pair in edges:
        assert is_two_input(CUBE, pair, metric=Hamming(), factor=2)
    layer = ["100", "010", "001"]
    assert restrict(CUBE, layer).equivalent(Channel.constant(layer))


def test_06_hamming_cube_bitwise_response_is_something_else():
    chain = CHAINS[0]
    bitwise, kernel = restrict(BITWISE, chain), restrict(CUBE, chain)
    assert len(bitwise.push().reduce().outers) == 8
    assert not bitwise.equivalent(kernel)
    assert refinement_residual(CUBE.matrix, BITWISE.matrix) > 0.01
    assert refinement_residual(BITWISE.matrix, CUBE.matrix) > 0.01


def test_06_hamming_cube_losses():
    quarter = np.array([0.25 if b in CHAINS[0] else 0 for b in BITS])
    chain = np.zeros((4, 8))
    for b in CHAINS[0]:
        chain[:, BITS.index(b)] = np.abs(np.arange(4) - b.count("1"))
    ones = np.abs(np.arange(4)[:, None] - np.array([b.count("1") for b in BITS])).astype(float)
    eighth = np.full(8, 1 / 8)
    string = 1 - np.eye(8)
    for prior, loss, kernel, bitwise in (
        (quarter, chain, 17 / 24, 0.81481),
        (eighth, ones, 0.54167, 0.62037),
        (eighth, string, 0.75, 0.70370),
    ):
        assert posterior_loss(prior, CUBE.matrix, loss) == pytest.approx(kernel, abs=1e-5)
        assert posterior_loss(prior, BITWISE.matrix, loss) == pytest.approx(bitwise, abs=1e-5)
        assert lp_optimum(Hamming(), BITS, LN2, prior, loss) == pytest.approx(min(kernel, bitwise), abs=1e-5)


@settings(max_examples=25)
@given(st.integers(3, 7), st.integers(0, 10**6))
def test_06_opt18_distance_from_a_root_gives_a_kernel_of_any_graph(n, seed):
    rng = np.random.default_rng(seed)
    weights = np.full((n, n), np.inf)
    for i in range(1, n):  # a random tree, and some more edges
        weights[i, int(rng.integers(0, i))] = 1
    extra = rng.random((n, n)) < 0.25
    weights[np.tril(extra, -1)] = 1
    graph = closure(np.minimum(weights, weights.T))
    channel = layered_geometric(graph, range(n), root=0, factor=2)
    space = PrivatePosteriors.of(graph, range(n), factor=2)
    assert is_kernel(channel, space)
    assert channel.epsilon(graph).value == pytest.approx(LN2)


def test_06_opt18_folds_of_the_line():
    fold = layered_geometric(Line(), range(4), [0, 1, 2, 1], factor=2)
    assert np.allclose(fold.matrix, geometric_channel(3, 0.5).matrix[[0, 1, 2, 1]])
    found = kernels(Line(), range(4), factor=2)
    assert sum(k.channel().equivalent(fold) for k in found) == 1
    geometric = layered_geometric(Line(), range(4), root=0, factor=2)
    assert np.allclose(geometric.matrix, geometric_channel(4, 0.5).matrix)
    half = layered_geometric(0.5 * Line(), range(0, 8, 2), root=0, factor=2)  # steps count, not units
    assert np.allclose(half.matrix, geometric.matrix)


def test_06_opt18_layers_are_not_best_for_all_questions_about_the_layer():
    """With a prior that is uneven within layers another mechanism answers 'how many ones' better, now and then."""
    rng = np.random.default_rng(18)
    loss = (np.arange(4)[:, None] != np.array([b.count("1") for b in BITS])).astype(float)
    worse = 0
    for _ in range(60):
        prior = rng.dirichlet(np.full(8, 0.5))
        worse += posterior_loss(prior, CUBE.matrix, loss) > lp_optimum(Hamming(), BITS, LN2, prior, loss) + 1e-6
    assert worse >= 1


def test_randomised_response_is_never_t_for_more_than_two():
    for n in (3, 5):
        response = Channel((np.ones((n, n)) + np.eye(n)) / (n + 1))
        for pair in permutations(range(n), 2):
            assert not is_two_input(response, pair, metric=Discrete(), factor=2)
    assert at_least_as_good(
        property_mechanism(range(3), {0}, factor=2), Channel((np.ones((3, 3)) + np.eye(3)) / 4), [[0, 1, 1], [1, 0, 0]]
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: two_input([0, 1, 2], factor=2), "two secrets"),
        (lambda: two_input([0, 1], factor="1/2"), "1 or more"),
        (lambda: two_input([0, 1], epsilon=-1), "0 or more"),
        (lambda: property_mechanism(range(3), set(), factor=2), "not for all"),
        (lambda: property_mechanism(range(3), range(3), factor=2), "not for all"),
        (lambda: layered_geometric(Line(), range(3), [0, 2, 1], factor=2), "would not be private"),
        (lambda: layered_geometric(Line(), range(3), [0, 0, 0], factor=2), "without a gap"),
        (lambda: layered_geometric(Line(), range(4), [0, 1, 1, 0], factor=2), "must connect"),
        (lambda: layered_geometric(Line(), range(3), [0, 1], factor=2), "one for each of the 3 points"),
        (lambda: layered_geometric(Line(), range(3), root=7, factor=2), "as the root"),
        (lambda: layered_geometric(Line(), [0, math.pi, 4], root=0, epsilon=1), "whole multiples"),
        (lambda: pair_design(Line(), range(3), (0, 7), factor=2), "two of the points"),
        (lambda: pair_design(Line(), range(3), 5, factor=2), "must be a list"),
        (lambda: property_mechanism(range(3), 5, factor=2), "set of secrets"),
        (lambda: layered_geometric(Line(), range(3), 5, factor=2), "one for each"),
        (lambda: restrict([[1]], [0]), "wrap a matrix"),
        (lambda: restrict(geometric_channel(3, 0.5), []), "one or more"),
        (lambda: restrict(geometric_channel(3, 0.5), [5]), "not an input"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ParameterError, match=words):
        call()
