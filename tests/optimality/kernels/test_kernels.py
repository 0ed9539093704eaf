"""Kernel mechanisms: counts, structure, tests, decomposition and anti-refinement."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from algebra_support import determinant
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import G3, H3, geometric_channel, kernels_by_force, lp_optimum, posterior_loss, refinement_residual
from scipy.optimize import linprog

from noisewright.channels.channel import Channel
from noisewright.design.polytopes.kernel_mechanisms import (
    VertexHyper,
    anti_refine,
    decompose,
    is_kernel,
    is_vertex_mechanism,
    kernel_of,
    kernels,
    kernels_of,
)
from noisewright.design.polytopes.posteriors import PrivatePosteriors
from noisewright.design.polytopes.restriction import restrict
from noisewright.exceptions import GuaranteeError, ParameterError
from noisewright.mechanisms.categorical.randomised_response import randomised_response
from noisewright.mechanisms.numeric.truncated_laplace import binned_laplace, grid_geometric
from noisewright.metrics.base import Discrete, Euclidean, Hamming, Line

of = PrivatePosteriors.of
LN2 = math.log(2)
BITS = ["".join(b) for b in product("01", repeat=3)]


# Counts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 2), (4, 11), (5, 187)])
def test_06_fact3_counts_on_the_line_at_one_half(n, count):
    found = kernels(Line(), range(n), factor=2)
    assert len(found) == count
    assert found.verified


def test_06_fact3_by_size():
    assert kernels(Line(), range(4), factor=2).by_size == {2: 1, 3: 2, 4: 8}
    assert kernels(Line(), range(5), factor=2).by_size == {2: 1, 3: 5, 4: 24, 5: 157}


@pytest.mark.parametrize("budget", [{"epsilon": "1/2"}, {"factor": "10/9"}, {"factor": 10}, {"epsilon": 3}])
def test_06_fact3_up_to_four_points_the_count_does_not_depend_on_epsilon(budget):
    assert [len(kernels(Line(), range(n), **budget)) for n in (2, 3, 4)] == [1, 2, 11]


def test_06_fact3_on_five_points_it_does():
    assert len(kernels(Line(), range(5), epsilon="1/2")) == 218
    # One half is special: the float next to ln 2, whose exponential is not 2, has other kernels.
    assert len(kernels(Line(), range(5), epsilon=LN2)) == 214


@pytest.mark.parametrize(("n", "count"), [(2, 1), (3, 5), (4, 41), (5, 1291)])
@pytest.mark.parametrize("factor", [2, "10/9"])
def test_06_fact4_counts_under_the_discrete_metric(n, count, factor):
    assert len(kernels(Discrete(), range(n), factor=factor)) == count


def test_06_fact4_by_size_and_other_budgets():
    assert kernels(Discrete(), range(5), epsilon=1).by_size == {2: 15, 3: 50, 4: 250, 5: 976}
    assert [len(kernels(Discrete(), range(n), factor=10)) for n in (2, 3, 4)] == [1, 5, 41]


def test_06_fact5_hamming_square_and_generic_points():
    assert len(kernels(Hamming(), ["00", "01", "10", "11"], factor=2)) == 4
    rng = np.random.default_rng(0)
    for n, counts in ((3, {6, 8}), (4, range(200, 800))):
        for _ in range(3):
            found = kernels(Euclidean(), [tuple(v) for v in rng.random((n, 2)).tolist()], epsilon=1)
            assert not found.verified
            assert "unverified" in str(found)
            assert len(found) in counts


@pytest.mark.parametrize(
    ("metric", "points", "budget"),
    [
        (Line(), range(4), {"factor": 2}),
        (Line(), [0, 1, 3, 4], {"epsilon": "2/5"}),
        (Discrete(), range(4), {"epsilon": 1}),
        (Hamming(), ["00", "01", "10", "11"], {"epsilon": "1/2"}),
        (Euclidean(), [(0, 0), (1, 0.2), (0.3, 0.9), (0.8, 0.7)], {"epsilon": 2}),
    ],
)
def test_kernels_are_the_basic_feasible_solutions_found_by_brute_force(metric, points, budget):
    space = of(metric, points, **budget)
    found = kernels_of(space)
    place = {p: k for k, p in enumerate(space.potentials)}
    supports = {tuple(sorted(place[p] for p in kernel.potentials)) for kernel in found}
    assert len(supports) == len(found)
    assert supports == kernels_by_force(space.vertices())


def test_six_points_on_a_line_hold_every_corner_that_a_simplex_method_ends_in():
    space = of(Line(), range(6), factor=2)
    found = kernels_of(space)
    assert found.by_size == {2: 1, 3: 8, 4: 77, 5: 816, 6: 14444}
    supports = {frozenset(kernel.potentials) for kernel in found}
    assert len(supports) == len(found) == 15346
    rng = np.random.default_rng(6)
    for _ in range(40):
        answer = linprog(rng.normal(size=32), A_eq=space.vertices(), b_eq=np.full(6, 1 / 6), method="highs-ds")
        assert frozenset(p for p, a in zip(space.potentials, answer.x, strict=True) if a > 1e-9) in supports


# Structure ------------------------------------------------------------------------------------------------------------


def rows(kernel):
    return [[str(v) for v in row] for row in kernel.rows]


def test_06_fact7_the_two_kernels_of_three_points():
    found = kernels(Line(), range(3), factor=2)
    as_sets = [{tuple(c) for c in zip(*rows(k), strict=True)} for k in found]
    assert {tuple(c) for c in zip(*G3, strict=True)} in as_sets
    assert {tuple(c) for c in zip(*H3, strict=True)} in as_sets
    a, b = (k.channel().matrix for k in found)
    assert refinement_residual(a, b) > 0.1
    assert refinement_residual(b, a) > 0.1


def test_06_fact8_the_five_kernels_of_three_categories():
    space = of(Discrete(), range(3), factor=2)
    found = kernels_of(space)
    high = {tuple(p) for p in permutations((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))}
    low = {tuple(p) for p in permutations((Fraction(1, 5), Fraction(2, 5), Fraction(2, 5)))}

    def posteriors(kernel):
        return {
            tuple(Fraction(v) / sum(column) for v in column): o
            for column, o in zip(zip(*kernel.rows, strict=True), kernel.outers, strict=True)
        }

    forms = [posteriors(k) for k in found]
    assert dict.fromkeys(high, Fraction(1, 3)) in forms
    assert dict.fromkeys(low, Fraction(1, 3)) in forms
    two = [f for f in forms if len(f) == 2]
    assert len(two) == 3
    assert all({f[p] for p in f if p in high} == {Fraction(4, 9)} for f in two)
    assert all({f[p] for p in f if p in low} == {Fraction(5, 9)} for f in two)
    mixed = {**dict.fromkeys(high, Fraction(4, 27)), **dict.fromkeys(low, Fraction(5, 27))}
    matrix = [[3 * o * p[x] for p, o in mixed.items()] for x in range(3)]
    parts = decompose(matrix, space)
    again = dict.fromkeys(mixed, Fraction(0))
    for part in parts:
        for p, o in posteriors(part.kernel).items():
            again[p] += part.share * o
    assert again == mixed
    assert sum(part.share for part in parts) == 1


def test_06_fact9_on_two_points_t_is_the_one_kernel_and_the_best_for_everybody():
    found = kernels(Line(), range(2), factor=2)
    assert [rows(k) for k in found] == [[["2/3", "1/3"], ["1/3", "2/3"]]]
    rng = np.random.default_rng(9)
    for _ in range(60):
        prior, loss = rng.dirichlet([1, 1]), rng.normal(size=(int(rng.integers(2, 5)), 2))
        best = lp_optimum(Line(), range(2), LN2, prior, loss)
        assert posterior_loss(prior, found[0].channel().matrix, loss) == pytest.approx(best, abs=1e-9)
    for n in (3, 4, 5):
        assert len(kernels(Line(), range(n), factor=2)) >= 2


@pytest.mark.parametrize("n", [3, 4, 5])
def test_06_fact10_every_kernel_on_the_line_is_t_on_neighbours(n):
    t = Channel([[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    for kernel in kernels(Line(), range(n), factor=2):
        channel = kernel.channel()
        for i in range(n - 1):
            assert Channel(restrict(channel, [i, i + 1]).matrix).equivalent(t)


def test_06_fact11_no_kernel_refines_another():
    matrices = [k.channel().matrix for k in kernels(Line(), range(4), factor=2)]
    least = min(refinement_residual(a, b) for a, b in permutations(matrices, 2))
    assert least == pytest.approx(1 / 7, abs=1e-6)


def test_06_opt4_no_support_contains_another():
    supports = [set(k.potentials) for k in kernels(Line(), range(5), factor=2)]
    assert not any(a <= b or b <= a for a, b in combinations(supports, 2))


@pytest.mark.parametrize("budget", [{"factor": 2}, {"epsilon": "1/2"}])
def test_kernels_are_private_balanced_and_pass_their_own_test(budget):
    space = of(Line(), range(4), **budget)
    for kernel in kernels_of(space):
        assert kernel.channel().epsilon(Line()).value == pytest.approx(space.rate, rel=1e-9)
        assert is_kernel(kernel.channel(), space).status == "holds within tol"
        again = kernel_of(space, kernel.potentials)
        assert np.allclose(again.channel().matrix, kernel.channel().matrix, atol=1e-12)
        if "factor" in budget:
            assert all(sum(row) == 1 for row in kernel.rows)
            assert is_kernel(kernel, space).status == "holds (exact)"


def test_a_kernel_can_be_certified_and_drawn_from():
    kernel = kernels(Line(), range(3), epsilon="1/2")[0]
    mechanism = kernel.mechanism()
    assert mechanism.certificate().verify() == "epsilon = 0.5 per unit of line"
    assert set(mechanism.release([0, 1, 2] * 50, np.random.default_rng(1)).tolist()) <= {0, 1}


# Tests of channels ----------------------------------------------------------------------------------------------------


def test_06_opt4_a_vertex_mechanism_that_is_no_kernel():
    space = of(Line(), range(3), factor=2)
    both = np.hstack([0.5 * np.array([[float(Fraction(v)) for v in r] for r in m]) for m in (G3, H3)])
    assert is_vertex_mechanism(Channel(both), space)
    verdict = is_kernel(Channel(both), space)
    assert verdict.status == "fails (witness)"
    assert verdict.evidence == 3  # four corners of three dimensions
    average = Channel([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    assert is_vertex_mechanism(average, space).status == "fails (witness)"
    leaky = is_vertex_mechanism(Channel([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]), space)
    assert leaky.status == "fails (witness)"
    assert "more likely" in leaky.reason


@pytest.mark.parametrize("n", [2, 3, 5, 8])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "4"])
def test_06_opt15_the_geometric_is_a_kernel(n, epsilon):
    space = of(Line(), range(n), epsilon=epsilon)
    assert is_kernel(geometric_channel(n, math.exp(-float(Fraction(epsilon)))), space)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_07_apx6_randomised_response_is_a_kernel(n):
    """det R = (1 - a)^(n-1) / k^(n-1) with k = 1 + (n-1) a is not 0."""
    a = Fraction(1, 3)
    k = 1 + (n - 1) * a
    R = [[(1 if i == j else a) / k for j in range(n)] for i in range(n)]
    assert determinant(R) == (1 - a) ** (n - 1) / k ** (n - 1)
    other = [[(3 if i == j else 1) for j in range(n)] for i in range(n)]
    assert determinant(other) == 2 ** (n - 1) * (3 + n - 1)
    assert is_kernel(R, of(Discrete(), range(n), factor=3)).status == "holds (exact)"
    drawn = randomised_response(epsilon=1, categories=n).channel()
    assert is_kernel(drawn, of(Discrete(), range(n), epsilon=1)).status == "holds within tol"


def test_06_opt18_bitwise_randomised_response_is_a_kernel_of_the_cube():
    space = of(Hamming(), BITS, factor=2)
    matrix = [[Fraction(2 ** sum(a == b for a, b in zip(x, y, strict=True)), 27) for y in BITS] for x in BITS]
    assert is_kernel(matrix, space).status == "holds (exact)"


# Decomposition and anti-refinement -------------------------------------------------------------------------------------


def test_07_f29_apx1_eight_vertices_on_four_points():
    """All eight corners of the 4-point line at once: symmetric weights that are uniform on average."""
    space = of(Line(), range(4), factor=2)
    found = kernels_of(space)
    weights = {p: Fraction(0) for p in space.potentials}
    for kernel in found:
        for p, o in zip(kernel.potentials, kernel.outers, strict=True):
            weights[p] += o / len(found)
    hyper = VertexHyper(space, tuple(weights), tuple(weights.values()))
    for mixed, exact in ((hyper, True), (hyper.channel(), False)):
        parts = decompose(mixed, space)
        assert len(parts) <= 8
        assert all(2 <= len(part.kernel) <= 4 for part in parts)
        again = dict.fromkeys(weights, Fraction(0) if exact else 0.0)
        for part in parts:
            assert part.share > 0
            for p, o in zip(part.kernel.potentials, part.kernel.outers, strict=True):
                again[p] += part.share * o if exact else float(part.share) * float(o)
        if exact:
            assert again == weights
        else:
            assert all(abs(again[p] - float(weights[p])) < 1e-12 for p in weights)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from(["1/4", "1", "3"]))
def test_mixes_of_kernels_on_five_points_are_taken_apart_and_put_together(seed, epsilon):
    rng = np.random.default_rng(seed)
    found = KERNELS_5[epsilon]
    chosen = rng.choice(len(found), size=4, replace=False)
    shares = rng.dirichlet(np.ones(4))
    joint = np.hstack([s * found[k].channel().matrix for s, k in zip(shares, chosen, strict=True)])
    mixed = Channel(joint)
    parts = decompose(mixed, found.space)
    again = Channel(np.hstack([float(p.share) * p.kernel.channel().matrix for p in parts]))
    assert again.equivalent(mixed, 1e-8)


KERNELS_5 = {epsilon: kernels(Line(), range(5), epsilon=epsilon) for epsilon in ("1/4", "1", "3")}


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["line", "discrete", "plane"]))
def test_06_opt7_anti_refinement_is_a_better_vertex_mechanism(seed, kind):
    rng = np.random.default_rng(seed)
    points = {"line": range(4), "discrete": range(4), "plane": [(0, 0), (1, 0), (0.2, 0.9), (0.7, 0.7)]}[kind]
    metric = {"line": Line(), "discrete": Discrete(), "plane": Euclidean()}[kind]
    space = of(metric, points, epsilon=1)
    corners = space.vertices()
    mix = rng.dirichlet(np.full(corners.shape[1], 0.5), size=3).T @ rng.dirichlet(np.ones(3), size=5).T
    # Weights that make the mixed posteriors average to the uniform distribution: add what is missing, then rescale.
    posteriors = np.hstack([corners @ mix, corners])
    from scipy.optimize import nnls

    weights, _ = nnls(posteriors, np.full(4, 0.25))
    channel = Channel(4 * posteriors * weights, points, normalise=True)
    better = anti_refine(channel, space)
    assert better.residual < 1e-9
    assert is_vertex_mechanism(better.channel(), space, 1e-7)
    for _ in range(5):
        prior, loss = rng.dirichlet(np.ones(4)), rng.normal(size=(3, 4))
        assert (
            posterior_loss(prior, better.channel().matrix, loss) <= posterior_loss(prior, channel.matrix, loss) + 1e-9
        )


def test_06_opt7_anti_refinement_is_exact_in_fractions():
    space = of(Line(), range(3), factor=2)
    given = [["3/5", "2/5", 0], ["1/2", "1/2", 0], ["2/5", "3/5", 0]]  # the third output never occurs
    found = anti_refine(given, space)
    assert found.residual == 0
    assert all(isinstance(o, Fraction) for o in found.parts.outers)
    assert sum(found.parts.outers) == 1
    averages = [
        sum(
            o * space.weights(p)[x] / sum(space.weights(p))
            for p, o in zip(found.parts.potentials, found.parts.outers, strict=True)
        )
        for x in range(3)
    ]
    assert averages == [Fraction(1, 3)] * 3
    with pytest.raises(GuaranteeError, match="not private"):
        anti_refine([["9/10", "1/10"], ["1/2", "1/2"], ["1/10", "9/10"]], space)


def test_a_kernel_is_its_own_anti_refinement():
    space = of(Line(), range(4), epsilon="1/2")
    for kernel in kernels_of(space):
        assert anti_refine(kernel.channel(), space).channel().equivalent(kernel.channel())


# Geometric and Laplace ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(6, 2), (6, 4), (9, 3)])
def test_07_f29_apx3_rows_of_the_geometric_are_the_geometric(n, k):
    part = restrict(geometric_channel(n, 0.5), range(k))
    columns = part.matrix[:, k - 1 :]
    assert np.allclose(columns / columns.sum(axis=0), (columns / columns.sum(axis=0))[:, :1])  # proportional
    merged = np.hstack([part.matrix[:, : k - 1], columns.sum(axis=1, keepdims=True)])
    assert np.allclose(merged, geometric_channel(k, 0.5).matrix, atol=1e-15)
    assert part.equivalent(Channel(geometric_channel(k, 0.5).matrix, range(k)))


def test_07_f29_apx4_binned_laplace_lies_between_neighbouring_geometric_posteriors():
    n, bins, epsilon = 4, 8, 2.0
    inners = binned_laplace(epsilon, n, bins).push().inners
    corners = grid_geometric(epsilon, n).push().inners
    for posterior in inners.T:
        fits = []
        for i in range(n):
            pair = corners[:, [i, i + 1]]
            mix, *_ = np.linalg.lstsq(pair, posterior)
            if mix.min() > -1e-12:
                fits.append(np.abs(pair @ mix - posterior).max())
        assert min(fits) < 1e-14


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 10.0])
def test_07_apx4_neighbouring_geometric_posteriors_are_close(epsilon):
    for n in (4, 10, 40):
        corners = grid_geometric(epsilon, n).push().inners
        apart = np.abs(np.diff(corners, axis=1)).sum(axis=0).max() / 2
        assert apart <= math.tanh(epsilon / (2 * n)) + 1e-12 <= epsilon / (2 * n) + 1e-12


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["1e-6", "1/1000", "60"])
def test_budgets_near_zero_and_far_beyond_are_counted_too(epsilon):
    found = kernels(Line(), range(4), epsilon=epsilon)
    assert found.by_size == {2: 1, 3: 2, 4: 8}
    for kernel in found:
        assert kernel.channel().epsilon(Line()).value == pytest.approx(float(Fraction(epsilon)), rel=1e-6)
    assert len(kernels(Line(), range(5), epsilon="1e-6")) == len(kernels(Line(), range(5), epsilon="1e-9"))


def test_too_many_kernels_are_refused_with_a_way_out():
    with pytest.raises(ParameterError, match="hides nothing"):
        kernels(Line(), range(4), epsilon=3000)
    with pytest.raises(ParameterError, match="corners"):
        kernels(Line(), range(12), epsilon=1)
    with pytest.raises(ParameterError, match="PrivatePosteriors"):
        is_kernel(G3, Line())
    with pytest.raises(ParameterError, match=r"more than 100 kernel.*nw\.optimal"):
        kernels(Line(), range(5), factor=2, most=100)
    with pytest.raises(ParameterError, match="most is a whole number"):
        kernels(Line(), range(3), factor=2, most=0)
    with pytest.raises(GuaranteeError, match="anti_refine"):
        decompose(Channel([[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]), of(Line(), range(3), factor=2))
    with pytest.raises(ParameterError, match="in the same order"):
        is_kernel(Channel([[0.5, 0.5]] * 3, ["a", "b", "c"]), of(Line(), range(3), factor=2))
    with pytest.raises(ParameterError, match="sum to 1"):
        is_kernel([[1, 1], [1, 0]], of(Line(), range(2), factor=2))
