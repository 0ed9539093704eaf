"""Orders and their parts: special shapes, witnesses, tolerances, messages, and the programs behind them."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refinement_support import Rows, exponential, floats, geometric, product, random_rows, response, rows, worth

import noisewright as nw
from noisewright.channels.channel import Channel
from noisewright.exceptions import ChannelError, NoisewrightError, ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN
from noisewright.numerics.linear_algebra import Elimination, enclose
from noisewright.numerics.polyhedra import cone, stochastic
from noisewright.qif.refinement.average_case import average_refined, better_test, curtain, curves, earth_move, project
from noisewright.qif.refinement.compare import compare
from noisewright.qif.refinement.exact_channel import distance_to_hull, read
from noisewright.qif.refinement.max_case import max_refined
from noisewright.qif.refinement.privacy import metric_refined, privacy_refined
from noisewright.qif.refinement.reduced_channel import (
    deficiency,
    post_processing,
    quick_post_processing,
    reduce_columns,
    shortfall,
)


@st.composite
def channels(draw: st.DrawFn, rows_: int | None = None, most: int = 5) -> Rows:
    n = rows_ or draw(st.integers(1, 4))
    m = draw(st.integers(1, most))
    return random_rows(np.random.default_rng(draw(st.integers(0, 2**32))), n, m)


# Laws of the orders ----------------------------------------------------------------------------------------------------


@given(channels(), st.integers(0, 2**32), st.integers(1, 4))
def test_post_processing_always_refines_and_comes_back_exactly(a: Rows, seed: int, outputs: int) -> None:
    b = product(a, random_rows(np.random.default_rng(seed), len(a[0]), outputs))
    found = average_refined(a, b)
    assert found.status == EXACT
    assert product(a, found.witness.exact) == b
    assert max_refined(a, b).status == privacy_refined(a, b).status == EXACT


@given(channels())
def test_every_channel_refines_itself_the_identity_and_into_nothing(a: Rows) -> None:
    n = len(a)
    identity = tuple(tuple(Fraction(int(x == y)) for y in range(n)) for x in range(n))
    nothing = ((Fraction(1, 2), Fraction(1, 2)),) * n
    for one, other in ((a, a), (identity, a), (a, nothing)):
        assert average_refined(one, other).status == EXACT
        assert max_refined(one, other).status == EXACT


@given(channels(rows_=3), channels(rows_=3))
def test_failures_are_confirmed_and_turned_into_correlations(a: Rows, b: Rows) -> None:
    found = average_refined(a, b)
    if found.status == FAILS:
        witness = found.witness
        assert worth(witness.exact, b) - worth(witness.exact, a) == witness.gap > 0
        correlation = witness.correlation()
        assert sum(v for row in correlation.joint for v in row) == 1
        values = []
        for c in (a, b):
            joint = product(correlation.joint, c)
            values.append(sum(max(row[y] for row in joint) for y in range(len(c[0]))))
        assert values[1] - values[0] == correlation.gap > 0
        assert [float(v) for v in values] == pytest.approx([correlation.before, correlation.after])
    else:
        assert found.status == EXACT


@given(channels(rows_=2, most=6), channels(rows_=2, most=6))
def test_two_secrets_get_the_answer_of_the_general_method(a: Rows, b: Rows) -> None:
    left, right = reduce_columns(read(a)), reduce_columns(read(b))
    test = better_test(left, right)
    scale = math.lcm(left.total, right.total)
    elimination = Elimination(
        (left.whole * (scale // left.total)).tolist(), (right.whole * (scale // right.total)).tolist()
    )
    if elimination.outside is not None:
        assert test is not None
        return
    assert stochastic(elimination)[0] == (test is None)
    if test is None:
        assert product(a, post_processing(left, right, curtain(left, right)).exact) == b
        ratios, mine, theirs = curves(left, right)
        assert (mine >= theirs - 1e-12).all()
        assert (ratios >= 0).all()


@given(channels(rows_=3), channels(rows_=3))
def test_the_deficiency_lies_between_its_bounds_and_decides(a: Rows, b: Rows) -> None:
    found = deficiency(a, b)
    assert found.value <= found.upper + 1e-15
    assert found.upper - found.value < 1e-7
    assert (found.value > 0) == (average_refined(a, b).status == FAILS)


# Shapes ----------------------------------------------------------------------------------------------------------------


def test_zero_equal_and_single_columns() -> None:
    a = rows("1/2 0 1/4 1/4; 1/4 0 3/8 3/8")
    b = rows("0 1/2 1/2; 0 1/4 3/4")
    found = average_refined(a, b)
    assert found.status == EXACT
    assert product(a, found.witness.exact) == b
    assert all(sum(row) == 1 for row in found.witness.exact)
    assert average_refined(b, a).status == EXACT
    assert average_refined(((Fraction(1),),) * 3, rows("1/2 1/2; 1/2 1/2; 1/2 1/2")).status == EXACT
    assert average_refined(((Fraction(1),),) * 2, rows("1 0; 0 1")).status == FAILS
    assert max_refined(rows("1/3 2/3"), rows("1 0")).status == EXACT


def test_one_secret_never_leaks_also_in_floats() -> None:
    found = compare(Channel([[0.1, 0.9]]), Channel([[0.3, 0.3, 0.4]]), metric="discrete")
    assert {one.status for both in found.orders().values() for one in both} <= {EXACT, WITHIN}
    assert found.average.forward.status == EXACT


def test_rank_deficient_channels_are_refined_by_what_lies_in_their_span_only() -> None:
    otg = rows("4/5 1/5; 1/5 4/5; 1/20 19/20")
    a = Fraction(math.exp(-0.001))
    found = average_refined(otg, response(3, a))
    assert found.status == FAILS
    assert shortfall(otg, response(3, a)) == pytest.approx(1.7e-4, rel=0.05)
    in_floats = average_refined(Channel(floats(otg)), Channel(floats(response(3, a))))
    assert in_floats.status == FAILS
    assert in_floats.witness.gap > 0


def test_max_and_average_agree_where_posteriors_are_independent() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(2, 5))
        b = random_rows(rng, n, 4)
        for a in (geometric(n, Fraction(1, 2)), response(n, Fraction(1, 3)), exponential(n, Fraction(1, 2))):
            assert average_refined(a, b).status == max_refined(a, b).status


def test_programs_are_compared_at_any_size() -> None:
    low = Channel.deterministic(lambda h: h % 50, range(2000))
    lower = Channel.deterministic(lambda h: h % 10, range(2000))
    found = average_refined(low, lower)
    assert found.status == EXACT
    assert found.witness.channel.shape == (50, 10)
    back = average_refined(lower, low)
    assert back.status == FAILS
    assert back.witness.confirm(read(lower), read(low)) == back.witness.gap == Fraction(1, 2000)


def test_large_exact_channels_are_decided_by_enclosures() -> None:
    a, b = geometric(24, Fraction(1, 3)), geometric(24, Fraction(1, 2))
    forward = average_refined(a, b)
    assert forward.status == EXACT
    matrix = floats(a) @ forward.witness.channel.matrix
    assert np.abs(matrix - floats(b)).max() < 1e-13
    backward = average_refined(b, a)
    assert backward.status == FAILS
    merged = tuple(tuple(sum(row[2 * j : 2 * j + 2], Fraction(0)) for j in range(12)) for row in a)
    found = average_refined(a, merged)
    assert found.status == EXACT
    assert product(a, found.witness.exact) == merged


def test_a_failure_of_size_1e_15_among_thirty_secrets_is_found() -> None:
    a = geometric(30, Fraction(1, 3))
    between = [[Fraction(1, 30)] * 30 for _ in range(30)]
    tiny = Fraction(1, 10**15)
    between[7][3] = -tiny
    between[7][4] = Fraction(2, 30) + tiny
    b = product(a, between)
    for order in (average_refined, max_refined):
        found = order(a, b)
        assert found.status == FAILS
        assert 0 < found.witness.gap < 1e-13
    assert average_refined(Channel(floats(a)), Channel(floats(b))).status == WITHIN


# Floats ----------------------------------------------------------------------------------------------------------------


def test_tol_says_what_counts_as_a_refinement_of_floats() -> None:
    a = Channel([[0.7, 0.3], [0.2, 0.8]])
    b = Channel([[0.7 + 1e-6, 0.3 - 1e-6], [0.2, 0.8]])
    strict, loose = average_refined(a, b), average_refined(a, b, tol=1e-5)
    assert strict.status == FAILS
    assert strict.witness.confirm(read(a), read(b)) == strict.witness.gap > 1e-8
    assert loose.status == WITHIN
    assert 1e-7 < loose.residual <= 1e-5
    assert max_refined(a, b).status == FAILS
    assert max_refined(a, b, tol=1e-5).status == WITHIN
    assert privacy_refined(a, b).status == FAILS
    assert privacy_refined(a, b, tol=1e-4).status == WITHIN


def test_rounding_alone_is_never_a_failure() -> None:
    rng = np.random.default_rng(5)
    for _ in range(100):
        n, m, k = (int(v) for v in rng.integers(2, 7, 3))
        a = rng.dirichlet(np.ones(m), n)
        b = a @ rng.dirichlet(np.ones(k), m)
        for tol in (0.0, 1e-8):
            found = average_refined(Channel(a), Channel(b), tol=tol)
            assert found.status in ((WITHIN,) if tol else (WITHIN, UNDECIDED, EXACT))


def test_max_fails_in_floats_with_a_posterior_outside() -> None:
    rng = np.random.default_rng(6)
    a, b = Channel(rng.dirichlet(np.full(8, 4.0), 5)), Channel(rng.dirichlet(np.ones(5), 5))
    witness = max_refined(a, b).witness
    assert witness.gap > 1e-4
    assert witness.nearest.sum() == pytest.approx(1)
    assert np.linalg.norm(witness.posterior - witness.nearest) == pytest.approx(witness.distance)
    length = math.sqrt(sum(float(v) ** 2 for v in witness.direction))
    assert witness.distance >= float(witness.gap) / length - 1e-12


def test_the_nearest_point_of_a_hull() -> None:
    triangle = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    nearest, distance = distance_to_hull(triangle[:, :2], np.array([0.0, 0.0, 1.0]))
    assert nearest == pytest.approx([0.5, 0.5, 0], abs=1e-9)
    assert distance == pytest.approx(math.sqrt(1.5), abs=1e-9)
    assert distance_to_hull(triangle, np.array([0.2, 0.3, 0.5]))[1] < 1e-9


# Programs --------------------------------------------------------------------------------------------------------------


def test_the_exact_program_does_not_depend_on_its_hints() -> None:
    rng = np.random.default_rng(7)
    seen = set()
    for i in range(120):
        a = random_rows(rng, 3, int(rng.integers(4, 8)))
        k = int(rng.integers(2, 5))
        b = product(a, random_rows(rng, len(a[0]), k)) if i % 2 else random_rows(rng, 3, k)
        left, right = reduce_columns(read(a)), reduce_columns(read(b))
        scale = math.lcm(left.total, right.total)
        ints = [(c.whole * (scale // c.total)).tolist() for c in (left, right)]
        found = Elimination(*ints)
        if found.outside is not None:
            continue
        hints = rng.dirichlet(np.ones(len(ints[1][0])), len(ints[0][0]))
        plain, hinted = stochastic(found), stochastic(found, hints)
        assert plain[0] == hinted[0]
        seen.add(plain[0])
        for holds, matrix in (plain, hinted):
            if holds:
                assert product([[Fraction(v) for v in row] for row in ints[0]], matrix) == tuple(map(tuple, ints[1]))
            else:
                gain = [[Fraction(v) for v in row] for row in matrix]
                assert worth(gain, ints[1]) > worth(gain, ints[0])
        for w in range(len(ints[1][0])):
            inside, vector = cone(found, w)
            column = [row[w] for row in ints[1]]
            if inside:
                assert min(vector) >= 0
                assert [sum(u * v for u, v in zip(row, vector, strict=True)) for row in ints[0]] == column
            else:
                along = [
                    sum(h * row[j] for h, row in zip(vector, ints[0], strict=True)) for j in range(len(ints[0][0]))
                ]
                assert max(along) <= 0 < sum(h * v for h, v in zip(vector, column, strict=True))
    assert seen == {True, False}


@given(st.integers(0, 2**32), st.integers(2, 6))
def test_enclosures_contain_the_solution(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    a = np.array(rng.integers(-9, 10, (n, n)).tolist(), dtype=object)
    b = np.array(rng.integers(-9, 10, (n, 2)).tolist(), dtype=object)
    found = enclose(a, b, 96)
    exact = Elimination(a.tolist(), b.tolist())
    if found is None:
        return
    assert exact.independent
    assert found.bound < 2**40
    for row, near in zip(exact.solution, found.scaled.tolist(), strict=True):
        for value, scaled in zip(row, near, strict=True):
            assert abs(value * 2**96 - scaled) <= found.bound
    least = min(v for row in exact.solution for v in row)
    assert not (found.positive and least <= 0)
    assert not (found.negative and least >= 0)


def test_a_singular_matrix_is_not_enclosed() -> None:
    assert enclose(np.array([[1, 2], [2, 4]], dtype=object), np.array([[1], [2]], dtype=object), 64) is None


def test_the_guess_is_a_channel_that_misses_by_no_more_than_it_says() -> None:
    rng = np.random.default_rng(8)
    a = rng.dirichlet(np.ones(7), 4)
    b = a @ rng.dirichlet(np.full(3, 5.0), 7)
    made = quick_post_processing(read(Channel(a)), read(Channel(b)), 1e-9)
    assert made is not None
    assert np.abs(a @ made.channel.matrix - b).max() == made.residual <= 1e-9
    assert quick_post_processing(read(Channel(b)), read(Channel(a)), 1e-9) is None


def test_the_projection_is_nearest_and_its_gap_is_at_least_its_square() -> None:
    rng = np.random.default_rng(9)
    for _ in range(15):
        n, m, k = (int(v) for v in rng.integers(2, 5, 3))
        a, b = Channel(rng.dirichlet(np.ones(m), n)), Channel(rng.dirichlet(np.full(k, 0.4), n))
        found = project(a, b)
        for _ in range(20):
            other = a.matrix @ rng.dirichlet(np.ones(k), m)
            assert np.linalg.norm(other - b.matrix) >= found.distance - 1e-7
        if found.distance > 1e-4:
            assert found.after - found.before >= found.distance**2 / n - 1e-8
            assert found.witness.gap > 0
        else:
            assert average_refined(a, b, tol=1e-3)


# Hypers ----------------------------------------------------------------------------------------------------------------


def test_earth_moves_agree_with_channels_for_any_prior() -> None:
    rng = np.random.default_rng(10)
    for i in range(40):
        n = int(rng.integers(2, 5))
        a = Channel(rng.dirichlet(np.ones(4), n))
        b = a @ Channel(rng.dirichlet(np.ones(3), 4)) if i % 2 else Channel(rng.dirichlet(np.ones(3), n))
        prior = rng.dirichlet(np.ones(n))
        first, second = a.push(prior), b.push(prior)
        found = earth_move(first, second)
        assert bool(found) == bool(average_refined(a, b))
        if found:
            plan = found.witness.plan
            assert plan.sum(axis=1) == pytest.approx(first.outers)
            assert first.inners @ plan == pytest.approx(second.inners * second.outers, abs=1e-8)


def test_hypers_with_different_means_do_not_refine() -> None:
    a = Channel([[0.75, 0.25], [0.25, 0.75]])
    found = earth_move(a.push([0.5, 0.5]), a.push([0.9, 0.1]))
    assert found.status == FAILS
    assert (found.witness.secret, found.witness.before) == (0, 0.5)
    left_out = earth_move(a.push([1.0, 0.0]), a.push([1.0, 0.0]))
    assert left_out.status in (EXACT, WITHIN)


# Privacy ---------------------------------------------------------------------------------------------------------------


def test_privacy_ties_are_decided_in_fractions() -> None:
    a = rows("2/3 1/3; 1/3 2/3")
    above = ((Fraction(2, 3) + Fraction(1, 10**20), Fraction(1, 3) - Fraction(1, 10**20)), a[1])
    assert privacy_refined(a, a).status == EXACT
    assert privacy_refined(a, above).status == FAILS
    assert privacy_refined(above, a).status == EXACT
    assert metric_refined(a, above, "discrete").status == FAILS
    assert metric_refined(above, a, "discrete").status == EXACT


def test_zeros_are_infinite_losses() -> None:
    a, b = rows("1/2 1/2 0; 1/2 1/4 1/4"), rows("1/2 1/2; 1/4 3/4")
    assert privacy_refined(a, b).status == EXACT
    back = privacy_refined(b, a)
    assert back.status == FAILS
    assert math.isinf(back.witness.after)
    assert json.loads(json.dumps(back.witness.to_json()))["after"] == "inf"
    assert metric_refined(a, b, "discrete").status == EXACT


def test_fixed_metrics_compare_ratios_at_different_distances_exactly() -> None:
    """``ln 4`` at distance 2 is ``ln 2`` at distance 1."""
    near, far = rows("2/3 1/3; 1/3 2/3; 1/2 1/2"), rows("1/2 1/2; 4/5 1/5; 1/2 1/2")
    line = nw.metrics.Table(np.array([[0.0, 1, 2], [1, 0, 2], [2, 2, 0]]), (0, 1, 2))
    one = metric_refined(near, far, line)
    assert one.status == FAILS
    assert metric_refined(far, near, line).status == EXACT
    twice = nw.metrics.Table(np.array([[0.0, 2.0], [2.0, 0.0]]), (0, 1))
    assert metric_refined(rows("4/5 1/5; 1/5 4/5"), rows("4/5 1/5; 1/5 4/5"), twice).status == EXACT


# The one call ----------------------------------------------------------------------------------------------------------


def test_mechanisms_members_certificates_and_numbers_are_compared() -> None:
    count, coarse = nw.geometric(epsilon=1, within=(0, 4)), nw.geometric(epsilon="1/2", within=(0, 4))
    found = nw.compare(count, coarse, metric=nw.metrics.Line())
    assert [one.forward.status for one in found.orders().values()] == [EXACT] * 4
    assert [one.backward.status for one in found.orders().values()] == [FAILS] * 4
    best = nw.exponential(range(5), epsilon="1/4", metric=nw.metrics.Line())
    exact = nw.compare(best, best.certificate())
    assert {one.status for both in exact.orders().values() for one in both} == {EXACT}
    assert nw.compare(count, best).average.forward.status == EXACT
    answer = nw.randomised_response(["a", "b"], epsilon=1)
    assert nw.compare(answer, answer.channel()).average.forward.status in (WITHIN, EXACT)
    assert nw.compare([["1/2", "1/2"], [1, 0]], [[0.5, 0.5], [0.5, 0.5]]).average.forward.status == EXACT


def test_the_text_names_both_channels_in_every_direction() -> None:
    found = compare(rows("2/3 1/3; 1/3 2/3"), rows("3/4 1/4; 1/4 3/4"), names=("old.csv", "new.csv"))
    text = str(found)
    assert "old.csv may replace new.csv" in text
    assert "the old one" not in text
    assert "the new one" not in text
    assert found.in_words()[1].startswith("old.csv may replace new.csv against every adversary, on average")
    assert found.in_words()[0] == "new.csv may not replace old.csv under any of these orders."
    data = json.loads(json.dumps(found.to_json()))
    assert data["orders"]["average"]["forward"]["witness"]["kind"] == "gain"
    assert data["orders"]["average"]["forward"]["correlation"]["gap"] > 0
    assert data["orders"]["average"]["backward"]["witness"]["exact"] is not None
    assert data["orders"]["privacy"]["forward"]["witness"]["after"] > 1


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (
            Channel.identity(["x", "y"]),
            Channel.identity(["x", "z"]),
            "'y' in the first only and 'z' in the second only",
        ),
        (Channel.identity([0, 1, 2]), Channel.identity([0, 1]), "2 in the first only"),
        (Channel.identity(["x", "y"]), Channel.identity(["y", "x"]), "different orders"),
        ([["1/2", "1/3"]], [["1/2", "1/2"]], "sums to 0.833333333333, not to exactly 1"),
        ([["3/2", "-1/2"]], [["1/2", "1/2"]], "negative"),
        ([[]], [[1]], "at least one row and one column"),
        ([[1, 0], [1]], [[1]], "rows of one length"),
        (3, [[1]], "not int"),
        ([["a"]], [[1]], "is not a number"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(a: object, b: object, words: str) -> None:
    with pytest.raises(NoisewrightError, match=words) as caught:
        compare(a, b)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("tol", [-1e-9, 1.0, math.nan, True, "1e-8"])
def test_tolerances_that_are_none_are_refused(tol: object) -> None:
    for order in (average_refined, max_refined, compare):
        with pytest.raises(ParameterError, match="tol is the largest entry"):
            order([[1, 0], [0, 1]], [["1/2", "1/2"], ["1/2", "1/2"]], tol=tol)


def test_different_secrets_are_refused_by_every_order() -> None:
    a, b = Channel.identity([0, 1]), Channel.identity([1, 2])
    for order in (average_refined, max_refined, privacy_refined, deficiency, project, shortfall):
        with pytest.raises(ChannelError, match="0 in the first only and 2 in the second only"):
            order(a, b)
    with pytest.raises(ParameterError, match="same secrets"):
        earth_move(a.push(), b.push())
    with pytest.raises(ParameterError, match="two hypers"):
        earth_move(a, b)


def test_probabilities_too_small_for_floats_are_compared_exactly() -> None:
    tiny = Fraction(1, 10**400)
    a = ((1 - tiny, tiny), (1 - 3 * tiny, 3 * tiny))
    b = ((1 - tiny, tiny), (1 - 4 * tiny, 4 * tiny))
    found = compare(a, b, metric="discrete")
    assert {one.forward.status for one in found.orders().values()} == {FAILS}
    assert found.average.forward.witness.gap > 0
    back = compare(b, a, metric="discrete")
    assert back.privacy.forward.status == back.fixed.forward.status == EXACT
    assert back.average.forward.status == EXACT
    assert product(b, back.average.forward.witness.exact) == a


def test_near_secrets_do_not_turn_rounding_into_an_epsilon() -> None:
    """At a distance of 1e-12 a rounding of 1e-16 is an epsilon of 1e-4; ties are decided by the fractions."""
    near = nw.metrics.Table(np.array([[0.0, 1e-12], [1e-12, 0.0]]), (0, 1))
    a = ((Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 3) + Fraction(1, 10**13), Fraction(2, 3) - Fraction(1, 10**13)))
    b = (a[0], (a[1][0] + Fraction(1, 10**18), a[1][1] - Fraction(1, 10**18)))
    assert metric_refined(a, b, near).status == FAILS
    assert metric_refined(b, a, near).status == EXACT


def test_mechanisms_without_a_finite_channel_are_refused() -> None:
    with pytest.raises(NoisewrightError, match="within"):
        compare(nw.geometric(epsilon=1), [[1, 0], [0, 1]])


def test_the_certificate_of_a_frequency_oracle_stands_for_its_whole_channel() -> None:
    page = nw.mechanisms.unary_encoding(["home", "news", "help"], epsilon=1)
    found = read(page.certificate())
    assert len(found.outputs) == 8  # not the four answers of the two bits that its proof is about
    assert np.array_equal(found.floats, page.channel().matrix)
