"""Numbered facts about families of mechanisms, their replacements and their lattices."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import family_support as oracle
import numpy as np
import pytest

from noisewright.channels.channel import Channel
from noisewright.guarantees import EXACT, FAILS
from noisewright.metrics.sensitivity import closure
from noisewright.qif.refinement.average_case import average_refined
from noisewright.qif.refinement.closed_forms import (
    closed_margin,
    closed_post_processing,
    closed_private,
    closed_refined,
)
from noisewright.qif.refinement.families import (
    FAMILIES,
    exponential_family,
    geometric_family,
    over_truncated_family,
    response_family,
)
from noisewright.qif.refinement.lattice import hexagon, max_join, max_meet, privacy_join, privacy_meet
from noisewright.qif.refinement.max_case import max_refined
from noisewright.qif.refinement.privacy import privacy_refined
from noisewright.qif.refinement.replacement import may_replace, safe_replacement

G = geometric_family.member(decay="1/2", size=3)
R = response_family.member(decay="1/3", size=3)


def test_05_f21_max_case_join_of_geometric_and_response():
    found = max_join(G, R)
    expected = sorted(
        [
            (18 / 35, 2 / 7, 1 / 5),
            (1 / 5, 2 / 7, 18 / 35),
            (1 / 5, 2 / 5, 2 / 5),
            (1 / 4, 1 / 2, 1 / 4),
            (2 / 5, 2 / 5, 1 / 5),
        ]
    )
    assert found.posteriors == pytest.approx(np.array(expected), abs=1e-12)
    assert found.weights @ found.posteriors == pytest.approx(np.full(3, 1 / 3), abs=1e-12)
    assert found.weights.min() > 0.05
    for member in (G, R):
        assert max_refined(member.channel(), found.channel)
        assert not max_refined(found.channel, member.channel())


def test_05_f22_privacy_join_and_meet():
    join, meet = privacy_join(G, R).metric, privacy_meet(G, R).metric
    assert np.exp(join.distances)[[0, 1, 0], [1, 2, 2]] == pytest.approx([2, 2, 3], abs=1e-12)
    assert np.exp(meet.distances)[[0, 1, 0], [1, 2, 2]] == pytest.approx([3, 3, 4], abs=1e-12)
    repaired = closure(np.minimum([[0, 1, 5], [1, 0, 5], [5, 5, 0]], [[0, 5, 5], [5, 0, 1], [5, 1, 0]]))
    assert repaired.distances.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    realised = privacy_join(G, R).channel()
    assert np.exp(realised.distinguishability())[0].tolist() == pytest.approx([1, 2, 3], abs=1e-12)
    for member in (G, R):
        assert privacy_refined(member.channel(), realised)
        assert privacy_refined(privacy_meet(G, R).channel(), member.channel())


def test_05_f23_the_average_order_is_not_a_lattice():
    demo = hexagon()
    assert demo.y == tuple(tuple(Fraction(v, 2) for v in row) for row in ((0, 1, 1), (1, 0, 1), (1, 1, 0)))
    corners = sorted(permutations((1 / 2, 1 / 3, 1 / 6)))
    assert max_join(demo.x, demo.y).posteriors == pytest.approx(np.array(corners), abs=1e-12)
    for made in (demo.first, demo.second):
        assert all(sum(row) == 1 for row in made)
        for lower in (demo.x, demo.y):
            assert average_refined(lower, made).status == EXACT
    for a, b in ((demo.first, demo.second), (demo.second, demo.first)):
        assert average_refined(a, b).status == FAILS
        assert oracle.least_miss(oracle.floats(a), oracle.floats(b)) == pytest.approx(0.1575, abs=1e-9)
        assert max_refined(a, b)
    assert sorted(demo.first_weights) == sorted(demo.second_weights) == [Fraction(1, 50)] * 4 + [Fraction(23, 50)] * 2


@pytest.mark.parametrize(
    ("n", "low", "high"), [(3, 0, 1), (3, 1, 2), (3, 5, 6), (4, 1, 2), (4, 0, 2), (5, 1, 3), (3, -1, 0)]
)
def test_05_f25_over_truncated_members_refine_in_the_privacy_order_only(n, low, high):
    family = over_truncated_family(low, high)
    for first, second in (("1/4", "1/2"), ("1/2", "3/4"), ("1/10", "1/5")):
        a, b = family.member(decay=first, size=n), family.member(decay=second, size=n)
        assert [may_replace(a, b, order).status for order in ("average", "max")] == [FAILS, FAILS]
        assert may_replace(a, b, "privacy")
        assert may_replace(b, a, "privacy").status == FAILS


def test_05_f25_where_the_claim_is_too_strong():
    single = over_truncated_family(1, 1)
    for order in ("average", "max", "privacy"):
        assert may_replace(single.member(decay="1/2", size=4), single.member(decay="1/4", size=4), order)
    two = over_truncated_family(1, 3)
    found = [
        may_replace(two.member(decay=a, size=2), two.member(decay=b, size=2)).status
        for a, b in (("1/4", "1/2"), ("1/2", "3/4"), ("1/3", "2/3"))
    ]
    assert found == [FAILS, EXACT, EXACT]
    clamped = over_truncated_family(0, 1).member(decay="1/4", size=3)
    nearly_nothing = response_family.member(epsilon="0.001", size=3)
    assert not may_replace(clamped, nearly_nothing)
    missed = oracle.least_miss(clamped.channel().matrix, nearly_nothing.channel().matrix)
    assert missed == pytest.approx(1.7e-4, rel=0.05)


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_05_f27_within_a_family_smaller_epsilon_refines_and_only_that(name):
    grid = [Fraction(k, 20) for k in (1, 3, 6, 10, 14, 17, 19)]
    for n in (2, 3, 4, 6, 9, 12, 30):
        key = "weight" if name == "exponential" else "decay"
        members = [FAMILIES[name].member(**{key: a}, size=n) for a in grid]
        for i, a in enumerate(members):
            for j, b in enumerate(members):
                expected = EXACT if i <= j else FAILS
                assert closed_refined(a, b).status == expected
                assert closed_private(a, b).status == expected


def test_05_f28_across_families_at_equal_epsilon():
    for epsilon in ("0.1", "0.5", "1", "2", "4"):
        two = [family.member(epsilon=epsilon, size=2) for family in FAMILIES.values()]
        assert {may_replace(a, b, o).status for a in two for b in two for o in ("average", "max", "privacy")} == {EXACT}
        for n in (3, 4, 5, 10):
            members = {name: family.member(epsilon=epsilon, size=n) for name, family in FAMILIES.items()}
            holds = {
                (a, b, order)
                for a in members
                for b in members
                for order in ("average", "max", "privacy")
                if a != b and may_replace(members[a], members[b], order)
            }
            more = {("exponential", "response", "privacy")} if n == 3 else set()
            assert holds == {("geometric", "response", "privacy"), ("geometric", "exponential", "privacy")} | more


@pytest.mark.parametrize(
    ("family", "epsilon", "margin"),
    [
        (response_family, 4, -3.2e-4),
        (response_family, 8, -1.1e-7),
        (exponential_family, 4, -1.1e-7),
        (exponential_family, 6, -3.8e-11),
        (exponential_family, 8, -1.3e-14),
    ],
)
def test_05_f29_true_failures_that_floats_miss(family, epsilon, margin):
    a, b = geometric_family.member(epsilon=epsilon, size=5), family.member(epsilon=epsilon, size=5)
    found = closed_margin(a, b)
    assert float(found) == pytest.approx(margin, rel=0.04)
    assert found.low <= found.high < 0
    answer = closed_refined(a, b)
    assert answer.status == FAILS
    assert 0 < answer.witness.gap < Fraction(-margin) * 2
    # The same adversary, evaluated on enclosures of both channels: after A it is worth what it was, after B more.
    (low_a, high_a), (low_b, _) = a.bounds(300), b.bounds(300)
    gain = answer.witness.exact

    def worth(rows):
        return sum(max(sum(g[x] * rows[x][y] for x in range(5)) for g in gain) for y in range(5)) / 5

    assert worth(low_b) - worth(high_a) > 0
    assert worth(low_a) == pytest.approx(float(worth(high_a)), rel=1e-60)
    if epsilon == 8 and family is exponential_family:
        assert oracle.least_miss(a.channel().matrix, b.channel().matrix) < 1e-8  # a float program calls it a refinement


def test_05_f30_margins_and_correlated_secrets():
    tg, rr = geometric_family.member(decay="1/2", size=3), response_family.member(decay="1/2", size=3)
    assert closed_margin(tg, rr).test[0] == Fraction(-1, 16)
    assert closed_margin(rr, tg).test[0] == Fraction(-1, 8)
    joint = [[Fraction(v, 16) for v in row] for row in ((4, 1, 0), (3, 0, 3), (0, 1, 4))]
    assert (oracle.bayes(joint, tg.rows()), oracle.bayes(joint, rr.rows())) == (Fraction(7, 16), Fraction(3, 8))
    joint = [[Fraction(v, 13) for v in row] for row in ((2, 0, 2), (0, 5, 0), (2, 0, 2))]
    assert (oracle.bayes(joint, tg.rows()), oracle.bayes(joint, rr.rows())) == (Fraction(5, 13), Fraction(11, 26))
    for a, b in ((tg, rr), (rr, tg)):
        found = closed_refined(a, b).witness.correlation()
        before, after = (oracle.bayes([list(row) for row in found.joint], m.rows()) for m in (a, b))
        assert after - before >= found.gap > 0


def test_05_f31_every_family_refines_eventually():
    for name, family in FAMILIES.items():
        silent = family.member(epsilon=0, size=5)
        for other in FAMILIES.values():
            for order in ("average", "max", "privacy"):
                assert may_replace(other.member(epsilon="0.01", size=5), silent, order).status == EXACT
        for second in set(FAMILIES) - {name}:
            assert safe_replacement(family.member(epsilon=1, size=5), second).epsilon > 0.1


def test_05_f32_post_processings():
    a, b = response_family.member(decay="1/5", size=4), response_family.member(decay="1/2", size=4)
    keep = [Fraction(1, 1) * (1 - f) / (1 + 3 * f) for f in (Fraction(1, 5), Fraction(1, 2))]
    share = keep[1] / keep[0]
    expected = [[(share if x == y else 0) + (1 - share) / 4 for y in range(4)] for x in range(4)]
    assert [list(row) for row in closed_post_processing(a, b).exact] == expected
    quarter, half = (geometric_family.member(decay=f, size=3) for f in ("1/4", "1/2"))
    made = closed_post_processing(quarter, half)
    words = [["7/9", "1/9", "1/9"], ["7/27", "13/27", "7/27"], ["1/9", "1/9", "7/9"]]
    assert [[str(v) for v in row] for row in made.exact] == words
    assert made.channel.matrix == pytest.approx(
        np.array([[float(Fraction(w)) for w in row] for row in words]), abs=1e-14
    )


def test_rf9_closed_forms():
    for n in (3, 5, 20):
        for epsilon in (0.3, 1.0, 4.0):
            a = math.exp(-epsilon)
            found = safe_replacement(geometric_family.member(epsilon=epsilon, size=n), "response")
            assert found.epsilon == pytest.approx(-math.log(a / (1 - a + a * a)), rel=1e-12)
            back = safe_replacement(response_family.member(epsilon=epsilon, size=n), "geometric").epsilon
            total = sum(math.exp(k * back) for k in range(1, n))
            assert total == pytest.approx(math.exp(epsilon) + n - 2, rel=1e-12)


def test_la2_meet_has_the_posteriors_of_both():
    found = max_meet(G, R)
    assert max_refined(found.channel, G.channel())
    assert max_refined(found.channel, R.channel())
    glued = Channel(np.hstack([G.channel().matrix / 2, R.channel().matrix / 2]))
    assert max_refined(found.channel, glued)
    assert max_refined(glued, found.channel)
    assert len(found.posteriors) == 5  # one of the geometric's three is inside the hull of the response's
