"""Universal optimality: exact tests over all priors, with witnesses, and the search for any mechanism that has it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_support import G3, H3, geometric_channel, lp_optimum, posterior_loss

from noisewright.channels.channel import Channel
from noisewright.design.named_losses import absolute, last_train, parity, pinball, squared, zero_one
from noisewright.design.polytopes.kernel_mechanisms import is_kernel, kernels, kernels_of
from noisewright.design.polytopes.posteriors import PrivatePosteriors
from noisewright.design.polytopes.universal import at_least_as_good, optimal_kernels, universally_optimal
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.categorical.randomised_response import randomised_response
from noisewright.mechanisms.numeric.truncated_laplace import grid_geometric, grid_prior
from noisewright.metrics.base import Discrete, Line

LN2 = math.log(2)
THREE = kernels(Line(), range(3), factor=2)
FOUR = kernels(Line(), range(4), factor=2)
FOLD3, GEOMETRIC3 = THREE


def two_actions(signs: str) -> list[list[int]]:
    """A loss of two actions whose difference has the given signs."""
    values = [{"+": 1, "0": 0, "-": -1}[s] for s in signs]
    return [[max(v, 0) for v in values], [max(-v, 0) for v in values]]


def geometric_of(found):
    n = found.space.size
    return next(k for k in found if k.channel().equivalent(Channel(geometric_channel(n, 0.5).matrix, k.space.points)))


# Sign patterns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signs", ["++-", "+0-", "+--"])
def test_06_fact12_three_points_one_change_of_sign_only_the_geometric(signs):
    found = optimal_kernels(two_actions(signs), THREE)
    assert found.status == "holds (exact)"
    assert found.optimal == (GEOMETRIC3,)


def test_06_fact12_three_points_middle_against_ends_only_the_fold():
    assert optimal_kernels(two_actions("+-+"), THREE).optimal == (FOLD3,)


@pytest.mark.parametrize("signs", ["+-0", "0+-"])
def test_06_fact12_three_points_neighbours_both(signs):
    assert optimal_kernels(two_actions(signs), THREE).optimal == (FOLD3, GEOMETRIC3)


ALONE, WITH_FOUR, WITH_ALL = (
    ["+++-", "++--", "+---", "+00-", "+0--", "++0-"],
    ["++-0", "+--0", "+0-0", "0++-", "0+--", "0+0-"],
    ["+-00", "0+-0", "00+-"],
)


@pytest.mark.parametrize(
    ("signs", "count"), [(s, c) for group, c in ((ALONE, 1), (WITH_FOUR, 4), (WITH_ALL, 11)) for s in group]
)
def test_06_fact12_four_points_one_change_of_sign_the_geometric(signs, count):
    found = optimal_kernels(two_actions(signs), FOUR)
    assert found.status == "holds (exact)"
    assert len(found.optimal) == count
    assert geometric_of(FOUR) in found.optimal


@pytest.mark.parametrize(
    ("signs", "fold"),
    [("++-+", (0, 1, 2, 1)), ("+0-+", (0, 1, 2, 1)), ("+-++", (1, 0, 1, 2)), ("+-0+", (1, 0, 1, 2))],
)
def test_06_fact12_four_points_folds(signs, fold):
    found = optimal_kernels(two_actions(signs), FOUR)
    assert found.status == "holds (exact)"
    folded = Channel(geometric_channel(3, 0.5).matrix[list(fold)])
    assert [k.channel().equivalent(folded) for k in found.optimal] == [True]


@pytest.mark.parametrize("signs", ["+-+0", "0+-+"])
def test_06_fact12_four_points_two_kernels_without_the_geometric(signs):
    found = optimal_kernels(two_actions(signs), FOUR)
    assert len(found.optimal) == 2
    assert geometric_of(FOUR) not in found.optimal


@pytest.mark.parametrize("signs", ["+-+-", "+--+"])
@pytest.mark.parametrize("alpha", ["1/2", "19/20", "9/10", "7/10", "3/10", "1/10", "3/100"])
def test_06_fact12_four_points_none_at_all(signs, alpha):
    found = optimal_kernels(two_actions(signs), kernels(Line(), range(4), factor=1 / Fraction(alpha)))
    assert found.status == "fails (witness)"
    assert not found.optimal
    # The certificate stands on its own: at these priors no kernel is best at all of them.
    beaten = set()
    rivals = kernels(Line(), range(4), factor=1 / Fraction(alpha))
    matrices = [np.array(k.rows, dtype=object) for k in rivals]
    loss = np.array(two_actions(signs), dtype=object)
    for prior in found.priors:
        assert sum(prior) == 1
        losses = [(loss @ (np.array(prior, dtype=object)[:, None] * m)).min(axis=0).sum() for m in matrices]
        beaten |= {k for k, v in enumerate(losses) if v > min(losses)}
    assert beaten == set(range(11))


@pytest.mark.parametrize("alpha", ["9/10", "1/10"])
@pytest.mark.parametrize("signs", ["++-+", "+-++", "++--"])
def test_06_fact12_single_survivors_at_other_budgets(signs, alpha):
    assert len(optimal_kernels(two_actions(signs), kernels(Line(), range(4), factor=1 / Fraction(alpha))).optimal) == 1


@settings(max_examples=20)
@given(st.lists(st.floats(0.01, 100), min_size=4, max_size=4), st.sampled_from(["++--", "+-++", "+--+", "+0-0"]))
def test_06_opt9_only_the_signs_of_a_two_action_loss_count(sizes, signs):
    plain = optimal_kernels(two_actions(signs), FOUR)
    scaled = optimal_kernels((np.array(two_actions(signs)) * np.array(sizes)).tolist(), FOUR)
    assert scaled.optimal == plain.optimal


# Losses on the line ---------------------------------------------------------------------------------------------------


def test_06_fact13_a_loss_for_which_the_fold_is_universally_optimal():
    loss = [[0.7, 0, 0.7], [0.3, 1, 0.3]]
    third = np.full(3, 1 / 3)
    assert posterior_loss(third, FOLD3.channel().matrix, loss) == pytest.approx(0.4)
    assert posterior_loss(third, GEOMETRIC3.channel().matrix, loss) == pytest.approx(0.46667, abs=1e-5)
    assert lp_optimum(Line(), range(3), LN2, third, loss) == pytest.approx(0.4)
    for alpha in ("1/2", "9/10", "1/5", "1/20"):
        found = kernels(Line(), range(3), factor=1 / Fraction(alpha))
        fold = found[0]
        assert universally_optimal(fold, loss, found).status == "holds (exact)"
        assert universally_optimal(fold, parity(3), found).status == "holds (exact)"


def test_06_fact14_parity():
    for n, expected in ((3, 1 / 3), (4, 0.375), (5, 0.383333333)):
        prior, loss = np.full(n, 1 / n), parity(n).matrix
        assert posterior_loss(prior, geometric_channel(n, 0.5).matrix, loss) == pytest.approx(expected)
        assert lp_optimum(Line(), range(n), LN2, prior, loss) == pytest.approx(1 / 3)
    assert optimal_kernels(parity(4), FOUR).status == "fails (witness)"


@settings(max_examples=40)
@given(st.integers(3, 6), st.integers(0, 10**6), st.floats(0.1, 2))
def test_06_fact15_two_actions_that_agree_in_the_middle(n, seed, epsilon):
    rng = np.random.default_rng(seed)
    loss = np.zeros((2, n))
    loss[:, 0], loss[:, 1], loss[:, 2] = rng.normal(size=2), 1, rng.normal(size=2)
    prior = rng.dirichlet(np.ones(n))
    best = lp_optimum(Line(), range(n), epsilon, prior, loss)
    assert posterior_loss(prior, geometric_channel(n, math.exp(-epsilon)).matrix, loss) == pytest.approx(best, abs=1e-7)


def test_06_fact15_unequal_middles_beat_the_geometric_now_and_then():
    rng = np.random.default_rng(15)
    beaten = 0
    for _ in range(100):
        prior, loss, epsilon = rng.dirichlet(np.ones(3)), rng.normal(size=(2, 3)), rng.uniform(0.1, 2)
        gap = posterior_loss(prior, geometric_channel(3, math.exp(-epsilon)).matrix, loss)
        beaten += gap > lp_optimum(Line(), range(3), epsilon, prior, loss) + 1e-7
    assert 1 <= beaten <= 15


@settings(max_examples=30)
@given(st.integers(2, 7), st.integers(0, 10**6), st.booleans())
def test_06_fact16_last_train_and_pinball(n, seed, train):
    rng = np.random.default_rng(seed)
    made = last_train(range(n), rng.uniform(0, n)) if train else pinball(range(n), *rng.uniform(0.1, 3, size=2))
    epsilon, prior = rng.uniform(0.1, 2), rng.dirichlet(np.ones(n))
    best = lp_optimum(Line(), range(n), epsilon, prior, made.matrix)
    found = posterior_loss(prior, geometric_channel(n, math.exp(-epsilon)).matrix, made.matrix)
    assert found == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("made", [absolute, squared, zero_one, lambda x: last_train(x, 2), lambda x: pinball(x, 1, 3)])
def test_06_opt15_the_geometric_is_certified_best_for_losses_that_grow_with_distance(made):
    assert universally_optimal(GEOMETRIC3, made(range(3)), THREE).status == "holds (exact)"
    assert universally_optimal(geometric_of(FOUR), made(range(4)), FOUR).status == "holds (exact)"


def test_06_opt15_on_five_points_too():
    five = kernels(Line(), range(5), factor=2)
    for signs in ("++---", "+++--", "+0000"):
        assert universally_optimal(geometric_of(five), two_actions(signs), five).status == "holds (exact)"
    assert universally_optimal(geometric_of(five), parity(5), five).status == "fails (witness)"


@pytest.mark.parametrize(("n", "expected"), [(8, 0.1879402), (16, 0.1909616)])
def test_06_fact26_no_linear_program_beats_the_grid_geometric(n, expected):
    points, epsilon = [Fraction(k, n) for k in range(n + 1)], 4 * LN2
    prior = grid_prior(lambda v: v, n)
    loss = np.abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1))) / n
    assert posterior_loss(prior, grid_geometric(epsilon, n).matrix, loss) == pytest.approx(expected, abs=5e-8)
    assert lp_optimum(Line(), points, epsilon, prior, loss) == pytest.approx(expected, abs=2e-7)


# The discrete metric --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["1/100", "1/10", "1/2", LN2, 1, 2, 5])
@pytest.mark.parametrize("name", ["zero-one", "absolute", "squared"])
def test_06_fact18_no_mechanism_is_best_for_guessing_one_of_three(epsilon, name):
    found = optimal_kernels(name, kernels(Discrete(), range(3), epsilon=epsilon))
    assert found.status == "fails (witness)"
    assert 1 <= len(found.priors) <= 20


@pytest.mark.parametrize("name", ["zero-one", "absolute"])
def test_06_fact18_nor_one_of_four(name):
    found = optimal_kernels(name, kernels(Discrete(), range(4), factor=2))
    assert found.status == "fails (witness)"
    assert all(isinstance(p, Fraction) for prior in found.priors for p in prior)


@pytest.mark.parametrize("n", [3, 4])
def test_06_opt16_randomised_response_is_beaten_away_from_the_uniform_prior(n):
    space = PrivatePosteriors.of(Discrete(), range(n), epsilon=1)
    found = kernels_of(space)
    response = randomised_response(epsilon=1, categories=n).channel()
    verdict = universally_optimal(response, zero_one(range(n)), found)
    assert verdict.status == "fails (witness)"
    witness = verdict.evidence
    prior = [float(p) for p in witness.prior]
    assert posterior_loss(prior, response.matrix, zero_one(range(n)).matrix) == pytest.approx(float(witness.loss))
    assert posterior_loss(prior, witness.better.channel().matrix, zero_one(range(n)).matrix) == pytest.approx(
        float(witness.less)
    )
    assert float(witness.less) < float(witness.loss)
    uniform = np.full(n, 1 / n)
    best = lp_optimum(Discrete(), range(n), 1, uniform, 1 - np.eye(n))
    assert posterior_loss(uniform, response.matrix, 1 - np.eye(n)) == pytest.approx(best, abs=1e-8)


def test_06_fact20_tall_average_short():
    loss = [[0, 1, 0], [1, 0, 0]]
    uniform = np.full(3, 1 / 3)
    response = [[Fraction(1, 2) if i == j else Fraction(1, 4) for j in range(3)] for i in range(3)]
    K = [["2/3", "1/3"], ["1/3", "2/3"], ["2/3", "1/3"]]
    plain = [np.array([[float(Fraction(v)) for v in row] for row in m]) for m in (response, K)]
    assert posterior_loss(uniform, plain[0], loss) == pytest.approx(1 / 4)
    assert posterior_loss(uniform, plain[1], loss) == pytest.approx(2 / 9)
    assert lp_optimum(Discrete(), range(3), LN2, uniform, loss) == pytest.approx(2 / 9)
    space = kernels(Discrete(), range(3), factor=2)
    assert is_kernel(K, space.space)
    assert universally_optimal(K, loss, space).status == "holds (exact)"
    # T on the first and the last secret: the middle one may side with either.
    for other in ([["2/3", "1/3"], ["2/3", "1/3"], ["1/3", "2/3"]], [["2/3", "1/3"], ["1/3", "2/3"], ["1/3", "2/3"]]):
        assert universally_optimal(other, [[3, 1, 0], [0, 1, 3]], space).status == "holds (exact)"
    assert universally_optimal(response, [[3, 1, 0], [0, 1, 3]], space).status == "fails (witness)"


# The test itself ------------------------------------------------------------------------------------------------------


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_the_verdict_agrees_with_linear_programs(seed, actions):
    rng = np.random.default_rng(seed)
    loss = rng.integers(0, 4, size=(actions, 3)).astype(float)
    for kernel in THREE:
        verdict = universally_optimal(kernel, loss, THREE)
        if verdict:
            assert verdict.status == "holds (exact)"
            for _ in range(10):
                prior = rng.dirichlet(np.full(3, 0.5))
                best = lp_optimum(Line(), range(3), LN2, prior, loss)
                assert posterior_loss(prior, kernel.channel().matrix, loss) <= best + 1e-7
        else:
            prior = [float(p) for p in verdict.evidence.prior]
            best = lp_optimum(Line(), range(3), LN2, prior, loss)
            assert best == pytest.approx(float(verdict.evidence.less), abs=1e-7)
            assert best < float(verdict.evidence.loss)


def test_floats_are_answered_within_tolerance():
    floats = kernels(Line(), range(3), epsilon=LN2)
    geometric = geometric_channel(3, 0.5)
    assert universally_optimal(geometric, absolute(range(3)), floats).status == "holds within tol"
    assert universally_optimal(geometric, parity(3), floats).status == "fails (witness)"
    assert optimal_kernels(absolute(range(3)), floats).status == "holds within tol"


def test_a_mechanism_that_is_no_kernel_is_judged_too():
    worse = [["3/5", "2/5"], ["1/2", "1/2"], ["2/5", "3/5"]]
    assert universally_optimal(worse, absolute(range(3)), THREE).status == "fails (witness)"
    assert universally_optimal(worse, [[1, 1, 1]], THREE).status == "holds (exact)"  # one action: nothing to decide


def test_06_opt9_two_mechanisms_against_each_other():
    assert at_least_as_good(G3, [["1/2", "1/2"]] * 3, absolute(range(3))).status == "holds (exact)"
    verdict = at_least_as_good(G3, H3, parity(3))
    assert verdict.status == "fails (witness)"
    prior = [float(p) for p in verdict.evidence.prior]
    plain = [np.array([[float(Fraction(v)) for v in row] for row in m]) for m in (G3, H3)]
    values = [posterior_loss(prior, m, parity(3).matrix) for m in plain]
    assert values == pytest.approx([float(verdict.evidence.loss), float(verdict.evidence.less)])
    assert values[1] < values[0]
    coarse = Channel(plain[0]) @ Channel([[1, 0], [0.5, 0.5], [0, 1]])
    assert at_least_as_good(Channel(plain[0]), coarse, squared(range(3))).status == "holds within tol"


def test_too_many_ties_are_left_undecided():
    rng = np.random.default_rng(3)
    loss = absolute(range(4), rng.uniform(0, 3, size=70).tolist())
    verdict = universally_optimal(geometric_of(FOUR), loss.matrix, FOUR)
    assert verdict.status == "undecided"
    assert not verdict


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="3 secrets"):
        universally_optimal(geometric_channel(4, 0.5), absolute(range(3)), THREE)
    with pytest.raises(ParameterError, match="sum to 1"):
        universally_optimal([[1, 1], [1, 0], [0, 1]], absolute(range(3)), THREE)
    with pytest.raises(ParameterError, match="transposed"):
        universally_optimal(GEOMETRIC3, np.zeros((3, 2)), THREE)
    with pytest.raises(ParameterError, match="all kernels of a space"):
        universally_optimal(GEOMETRIC3, absolute(range(3)), [GEOMETRIC3])
    with pytest.raises(ParameterError, match="matrix of numbers"):
        at_least_as_good(None, G3, absolute(range(3)))
