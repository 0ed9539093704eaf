"""Properties of the polytope's tools on random problems, and everything that is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from noisewright.channels.channel import Channel
from noisewright.design.polytopes.enumeration import LocalPolytope, count_extreme_points, extreme_points, weight_vectors
from noisewright.design.polytopes.extreme_point import ExtremePoint, Factor, construct
from noisewright.exceptions import ParameterError
from noisewright.numerics.polyhedra import local_inequalities, local_vertices, vertices

POINTS = list(extreme_points(4)) + list(extreme_points(4, 6, columns=2)) + list(extreme_points(5, 4))[::101]
FORGED = ExtremePoint(2, (0, 1), (Fraction(1), Fraction(2)), (1, 2), (-1, -1))
small = st.integers(-4, 4)
epsilons = st.sampled_from(["1/1000", "0.1", "1", "3", "12", "60"])


@given(st.lists(small, min_size=1, max_size=3), epsilons)
def test_signs_of_polynomials(polynomial, epsilon):
    factor, q = Factor.of(epsilon=epsilon), math.exp(Fraction(epsilon))
    value = sum(c * q**k for k, c in enumerate(polynomial))
    if abs(value) > 1e-6 * sum(abs(c) * q**k for k, c in enumerate(polynomial)):
        assert factor.sign(polynomial) == math.copysign(1, value)
    rational = Factor.of(factor="7/3")
    exact = sum(c * Fraction(7, 3) ** k for k, c in enumerate(polynomial))
    assert rational.sign(polynomial) == (exact > 0) - (exact < 0)


def test_signs_are_decided_below_every_float():
    low = Factor.of(epsilon=1).bounds(400)[0]
    assert Factor.of(epsilon=1).sign([-low, 1]) == 1
    assert Factor.of(epsilon=1).sign([-low - Fraction(1, 1 << 390), 1]) == -1
    assert Factor.of(epsilon=1).sign([0, 0, 0]) == 0


@given(st.sampled_from(POINTS), epsilons)
def test_floats_of_an_extreme_point_are_recognised(point, epsilon):
    polytope = LocalPolytope(point.inputs, point.outputs, epsilon=epsilon)
    channel = point.channel(epsilon=epsilon)
    verdict = polytope.extreme(channel)
    assert verdict.status == "holds within tol"
    assert verdict.evidence == point
    assert channel.epsilon().value <= float(Fraction(epsilon)) + 1e-12
    assert polytope.extreme(point).status == polytope.contains(point).status == "holds (exact)"


@given(st.sampled_from(POINTS), st.sampled_from(["9/8", "2", "1000000"]))
def test_a_point_is_rebuilt_from_its_matrix(point, q):
    polytope = LocalPolytope(point.inputs, point.outputs, factor=q)
    verdict = polytope.extreme(point.matrix(q))
    assert verdict.status == "holds (exact)"
    assert verdict.evidence == point
    assert construct(point.pattern, outputs=point.outputs, support=point.support) == point
    assert all(sum(row) == 1 for row in point.matrix(q))


@given(st.sampled_from(POINTS[:904]), st.permutations(range(4)), st.permutations(range(4)))
def test_rows_and_columns_may_be_permuted(point, rows, columns):
    matrix = point.matrix(2)
    moved = [[matrix[i][j] for j in columns] for i in rows]
    assert LocalPolytope(4, factor=2).extreme(moved).status == "holds (exact)"


@given(st.sampled_from(POINTS[:904]), st.sampled_from(POINTS[:904]))
def test_a_mixture_in_floats_is_no_extreme_point(first, second):
    mixed = (first.channel(factor=3).matrix + second.channel(factor=3).matrix) / 2
    verdict = LocalPolytope(4, factor=3).extreme(Channel(mixed))
    assert bool(verdict) == (first == second)
    if not verdict:
        ends = [np.array(end, dtype=float) for end in (verdict.evidence.first, verdict.evidence.second)]
        assert np.allclose((ends[0] + ends[1]) / 2, mixed, atol=1e-12)
        assert np.abs(ends[0] - ends[1]).max() > 1e-6


@settings(max_examples=60)
@given(
    st.integers(2, 6).flatmap(
        lambda m: st.integers(2, 6).flatmap(
            lambda k: st.lists(st.lists(st.integers(-3, 3), min_size=k, max_size=k), min_size=m, max_size=m)
        )
    ),
    epsilons,
)
def test_the_optimum_of_tied_costs_is_proved(cost, epsilon):
    best = LocalPolytope(len(cost), len(cost[0]), epsilon=epsilon).best(cost)
    assert best.status == "holds (exact)"
    assert best.bound == best.value
    channel = best.channel()
    assert abs((channel.matrix * np.array(cost)).sum() - float(best.value)) < 1e-9
    assert channel.epsilon().value <= float(Fraction(epsilon)) + 1e-9
    assert LocalPolytope(len(cost), len(cost[0]), epsilon=epsilon).extreme(best.point)


@settings(max_examples=25)
@given(st.integers(2, 4), st.integers(2, 4), st.integers(0, 10**6), st.sampled_from(["1/20", "1/3"]))
def test_the_optimum_with_a_delta_agrees_with_another_program(m, k, seed, delta):
    cost = np.random.default_rng(seed).normal(size=(m, k))
    polytope = LocalPolytope(m, k, factor="5/2", delta=delta)
    best = polytope.best(cost)
    assert best.status == "holds (exact)"
    assert polytope.extreme(best.matrix).status == "holds (exact)"
    c = LocalPolytope(m, k, epsilon=math.log(2.5), delta=delta).constraints()
    weights = np.zeros(c.upper.shape[1])
    weights[: c.entries] = cost.ravel()
    other = linprog(weights, c.upper, c.limits, c.equal, c.totals, method="highs")
    assert abs(other.fun - float(best.value)) < 1e-8


def test_an_irrational_factor_with_a_delta_is_not_called_exact():
    best = LocalPolytope(3, epsilon=1, delta="1/10").best([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert best.status == "holds within tol"
    assert best.channel().delta(1) <= 0.1 + 1e-12


def test_the_optimum_is_a_certified_mechanism():
    best = LocalPolytope(["a", "b", "c"], epsilon="0.5").best([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    mechanism = best.mechanism()
    assert mechanism.certificate().verify() == "epsilon = 0.5 per unit of discrete"
    assert abs(mechanism.error("zero-one") - 2 / (math.exp(0.5) + 2)) < 1e-9
    assert set(mechanism.release(["a"] * 50)) <= {"a", "b", "c"}
    assert str(best).startswith("cost 1.64")
    assert LocalPolytope(2, factor=3).best([[0, 1], [1, 0]]).mechanism().guarantee.epsilon <= math.log(3)


def test_epsilon_zero_picks_one_output():
    best = LocalPolytope(3, epsilon=0).best([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert (best.status, best.value, best.point.support) == ("holds (exact)", 2, (1,))


def test_exact_numbers_meet_no_transcendental_factor():
    """A ratio of fractions is never e^epsilon, so such a channel is in the inside of an edge at best."""
    verdict = LocalPolytope(2, epsilon=1).extreme([["3/4", "1/4"], ["1/3", "2/3"]])
    assert verdict.status == "fails (witness)"
    assert LocalPolytope(2, epsilon=1).contains(verdict.evidence.first)
    assert not LocalPolytope(2, epsilon=1).contains([["3/4", "1/4"], ["1/4", "3/4"]])


def test_a_channel_just_off_is_undecided_or_refused():
    polytope = LocalPolytope(3, factor=2)
    point = construct([[1, 0, 0], [0, 1, 0], [0, 0, 1]]).channel(factor=2).matrix
    noisy = point + 1e-6 * np.array([[1, -1, 0], [0, 1, -1], [-1, 0, 1]])
    assert polytope.contains(noisy).status == "fails (witness)"
    inside = point * (1 - 1e-8) + 1e-8 / 3
    assert polytope.extreme(inside).status == "undecided"


def test_everything_survives_pickling():
    polytope = LocalPolytope(3, epsilon="0.5")
    best = polytope.best([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    for thing in (POINTS[500], best, count_extreme_points(3)):
        assert pickle.loads(pickle.dumps(thing)) == thing
    assert repr(pickle.loads(pickle.dumps(polytope))) == "LocalPolytope(3 secrets to 3 outputs, epsilon = 0.5)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LocalPolytope(3), "either epsilon or factor"),
        (lambda: LocalPolytope(3, epsilon=1, factor=2), "not both"),
        (lambda: LocalPolytope(3, epsilon=-1), "epsilon must be 0 or more"),
        (lambda: LocalPolytope(3, epsilon=10**6), "hides nothing"),
        (lambda: LocalPolytope(3, factor="1/2"), "1 or more"),
        (lambda: LocalPolytope(3, epsilon="one"), "not a number"),
        (lambda: LocalPolytope(3, epsilon=1, delta=2), "delta must be between"),
        (lambda: LocalPolytope(3, epsilon=1, tolerance=0), "tolerance must be"),
        (lambda: LocalPolytope(0, epsilon=1), "one or more labels"),
        (lambda: LocalPolytope(["a", "a"], epsilon=1), "all different"),
        (lambda: LocalPolytope(3, epsilon=1).contains([[1, 0], [0, 1]]), "3 rows and 3 columns"),
        (lambda: LocalPolytope(3, epsilon=1).contains(7), "a list of rows, not int"),
        (lambda: LocalPolytope(2, epsilon=1).contains([[1, 0], [1]]), "rows of one length"),
        (lambda: LocalPolytope(2, epsilon=1).contains([[1, "x"], [1, 0]]), "not a number"),
        (lambda: LocalPolytope(2, epsilon=1).contains([[float("nan"), 0], [1, 0]]), "finite number"),
        (lambda: LocalPolytope(2, 3, epsilon=1).best([[0, 1], [1, 0], [2, 2]]), "transpose it"),
        (lambda: LocalPolytope(200, epsilon=1).best(np.zeros((200, 200))), "too many"),
        (lambda: LocalPolytope(30, epsilon=1, delta="0.1").best(np.zeros((30, 30))), "at most 400 entries"),
        (lambda: LocalPolytope(2, epsilon=1, delta="0.1").points(), "local_vertices"),
        (lambda: LocalPolytope(2, epsilon=1, delta="0.1").count(), "local_vertices"),
        (lambda: LocalPolytope(2, epsilon=1, delta="0.1").constraints("lifted"), "form='slack'"),
        (lambda: LocalPolytope(2, epsilon=1).constraints("dense"), "form must be"),
        (lambda: LocalPolytope(2, epsilon=1).normal_form([[1, 0], [0, 1]]), "that of a private channel"),
        (lambda: LocalPolytope(2, epsilon=0).necessary([[1, 0], [1, 0]]), "epsilon above 0"),
        (lambda: LocalPolytope(2, epsilon=0).best([[0, 1], [1, 0]]).mechanism(), "epsilon above 0"),
        (lambda: LocalPolytope(2, epsilon=1).extreme(FORGED), "build extreme points with construct"),
        (lambda: construct([[1, 0], [1]]), "rows of one length"),
        (lambda: construct(5), "not int"),
        (lambda: construct([[1, 2]]), "nothing below 0 or above 1"),
        (lambda: construct([[1, 0]]), "at most as many outputs"),
        (lambda: construct([[1, 0], [1, 0]]), "rank 1"),
        (lambda: construct([[1, 1], [1, 0]]), "weight of 0 or less"),
        (lambda: construct([[1, 0], [0, 1], [1, 1]]), "do not weigh 1"),
        (lambda: construct([[1, 0], [0, 1], [0, None]]), "would have to be"),
        (lambda: construct([[1, 0], [0, 1], [None, None]]), "one loose entry at most"),
        (lambda: construct([[0, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, "1/3", 1]]), "must be 1/2"),
        (lambda: construct([[1, 0], [0, 1]], outputs=3, support=[2, 1]), "increasing order"),
        (lambda: construct([[1, 0], [0, 1]], outputs=1), "increasing order"),
        (lambda: extreme_points(7), "up to 6"),
        (lambda: extreme_points(0), "1 or more"),
        (lambda: extreme_points(3, columns=4), "from 1 to 3"),
        (lambda: count_extreme_points(2.5), "whole number"),
        (lambda: weight_vectors(9), "1 to 6"),
        (lambda: local_vertices(2, factor="1/2"), "1 or more"),
        (lambda: local_vertices(2, factor=2, delta=2), "between 0 and 1"),
        (lambda: local_vertices(2, factor=2, events="pairs"), "events must be"),
        (lambda: local_vertices(2, factor=2, support=[5]), "outputs from 0 to 1"),
        (lambda: local_vertices(2, factor=2, face=[99]), "inequalities from 0"),
        (lambda: local_vertices(0, factor=2), "at least one secret"),
        (lambda: local_inequalities(2, 9, factor=2, delta="0.1"), "at most 8 outputs"),
        (lambda: vertices([[Fraction(1), Fraction(1)]]), "not bounded"),
        (lambda: vertices([]), "at least one inequality"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(call, words):
    with pytest.raises(ParameterError, match=words) as caught:
        call()
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
