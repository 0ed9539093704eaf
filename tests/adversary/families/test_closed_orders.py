"""Closed forms against exact elimination, linear programs and qif; witnesses that are evaluated again."""

from __future__ import annotations

from fractions import Fraction

import family_support as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN
from noisewright.qif.refinement.closed_forms import (
    closed_margin,
    closed_post_processing,
    closed_private,
    closed_refined,
    member_distances,
)
from noisewright.qif.refinement.families import (
    FAMILIES,
    exponential_family,
    from_callable,
    geometric_family,
    over_truncated_family,
    response_family,
)

factors = st.fractions(min_value=Fraction(1, 30), max_value=Fraction(29, 30), max_denominator=30)
sizes = st.integers(2, 6)


def exact_member(name, a, n):
    """A member with fractions: the factor is the weight of an exponential."""
    return FAMILIES[name].member(**({"weight": a} if name == "exponential" else {"decay": a}), size=n)


def rows(draw, n, m):
    weights = draw(st.lists(st.lists(st.integers(0, 6), min_size=m, max_size=m).filter(any), min_size=n, max_size=n))
    return [[Fraction(w, sum(row)) for w in row] for row in weights]


@settings(max_examples=150)
@given(st.data(), st.sampled_from(sorted(FAMILIES)), factors, sizes, st.integers(1, 4))
def test_any_channel_is_decided_as_elimination_decides_it(data, name, a, n, m):
    member = exact_member(name, a, n)
    target = rows(data.draw, n, m)
    if data.draw(st.booleans()):  # a post-processing, so that both answers occur
        target = oracle.product(member.rows(), target)
    solved = oracle.solve(member.rows(), target)
    least = min(min(row) for row in solved)
    found = closed_refined(member, target)
    assert (found.status == EXACT) == (least >= 0)
    assert found.status in (EXACT, FAILS)
    assert closed_margin(member, target).low == least
    assert closed_refined(member, target, "max").status == found.status
    if least >= 0 and found.witness.exact is not None:
        assert [list(row) for row in found.witness.exact] == solved
    if found.status == FAILS:
        confirm(found.witness, member.rows(), target)


@settings(max_examples=120)
@given(st.sampled_from(sorted(FAMILIES)), st.sampled_from(sorted(FAMILIES)), factors, factors, sizes)
def test_pairs_of_members_are_decided_as_elimination_decides_them(first, second, a, b, n):
    one, two = exact_member(first, a, n), exact_member(second, b, n)
    least = min(min(row) for row in oracle.solve(one.rows(), two.rows()))
    found = closed_refined(one, two)
    assert (found.status == EXACT) == (least >= 0)
    if found.status == FAILS:
        confirm(found.witness, one.rows(), two.rows())


def confirm(witness, a, b):
    """The gain is in [0, 1], worth ``before`` after A exactly, and at least ``gap`` more after B."""
    n = len(a)
    assert all(0 <= v <= 1 for row in witness.exact for v in row)

    def worth(channel):
        columns = zip(*channel, strict=True)
        values = [
            max(sum(g * p for g, p in zip(row, column, strict=True)) for row in witness.exact) for column in columns
        ]
        return sum(values) / n

    before = worth(a)
    assert witness.gap > 0
    assert worth(b) - before >= witness.gap
    assert float(before) == pytest.approx(witness.before, rel=1e-15)


@pytest.mark.parametrize("first", sorted(FAMILIES))
@pytest.mark.parametrize("second", sorted(FAMILIES))
def test_irrational_members_agree_with_rational_neighbours(first, second):
    """The least entry hardly changes where e^-epsilon is replaced by the nearest float, taken as a fraction."""
    n = 4
    for one, two in (("0.7", "0.4"), ("2", "1.9"), ("3", "0.5")):
        a, b = FAMILIES[first].member(epsilon=one, size=n), FAMILIES[second].member(epsilon=two, size=n)
        found = closed_margin(a, b)
        near = [exact_member(m.family, Fraction(float(m.base(100).ends()[0])), n) for m in (a, b)]
        least = min(min(row) for row in oracle.solve(near[0].rows(), near[1].rows()))
        assert float(found) == pytest.approx(float(least), abs=1e-12)
        assert found.high - found.low < Fraction(1, 2**180)
        assert (closed_refined(a, b).status == EXACT) == (found.low >= 0)


def test_float_channels_are_decided_within_their_rounding():
    rng = np.random.default_rng(11)
    for _ in range(120):
        n, m = rng.integers(2, 6), rng.integers(2, 5)
        name = sorted(FAMILIES)[rng.integers(3)]
        member = FAMILIES[name].member(epsilon=float(rng.uniform(0.2, 4)), size=int(n))
        target = rng.dirichlet(np.ones(m), n)
        if rng.random() < 0.5:
            target = member.channel().matrix @ rng.dirichlet(np.full(m, 0.3), n)
        missed = oracle.least_miss(member.channel().matrix, target)
        found = closed_refined(member, nw.Channel(target))
        if missed > 1e-7:
            assert found.status == FAILS
            assert found.witness.gap > 0
        else:
            assert found.status == WITHIN
            assert found.residual < 1e-12
            product = member.channel().matrix @ found.witness.channel.matrix
            assert product == pytest.approx(target, abs=1e-12)


def test_qif_agrees_on_float_channels():
    qif = pytest.importorskip("qif")
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(60):
        n = int(rng.integers(3, 6))
        name = sorted(FAMILIES)[rng.integers(3)]
        member = FAMILIES[name].member(epsilon=float(rng.uniform(0.5, 3)), size=n)
        mix = rng.dirichlet(np.ones(n), n)
        target = member.channel().matrix @ mix if rng.random() < 0.5 else rng.dirichlet(np.full(n, 3.0), n)
        margin = float(closed_margin(member, nw.Channel(target)))
        if abs(margin) < 1e-5:
            continue
        theirs = qif.refinement.refined_by(member.channel().matrix, target)
        assert bool(closed_refined(member, nw.Channel(target))) == theirs
        seen.add(theirs)
    assert seen == {True, False}


def test_zeros_in_the_replacement_are_exact():
    member = geometric_family.member(epsilon=1, size=3)
    assert closed_refined(member, [[1, 0], [1, 0], [1, 0]]).status == EXACT
    assert closed_refined(member, [[1, 0], [0, 1], [0, 1]]).status == FAILS
    assert closed_refined(member, [["1/2", "1/2", 0], ["1/2", "1/2", 0], ["1/2", "1/2", 0]]).status == EXACT
    tiny = Fraction(1, 10**400)  # rounds to zero as a float
    assert closed_refined(member, [[1 - tiny, tiny], [1 - 9 * tiny, 9 * tiny], [1 - tiny, tiny]]).status == FAILS
    assert closed_refined(member, [[1 - tiny, tiny], [1 - 2 * tiny, 2 * tiny], [1 - tiny, tiny]]).status == EXACT
    assert closed_refined(response_family.member(epsilon=1, size=3), nw.Channel(np.eye(3))).status == FAILS


def test_a_thousand_secrets():
    n = 1000
    members = [family.member(epsilon=1, size=n) for family in FAMILIES.values()]
    for a in members:
        for b in members:
            status = closed_refined(a, b).status
            assert status == (EXACT if a is b else FAILS)
    half = response_family.member(epsilon="0.5", size=n)
    found = closed_refined(members[0], half)
    assert found.status == EXACT
    assert found.witness.residual < 1e-12


def test_a_no_leak_member_is_replaced_by_constant_channels_only():
    for family in FAMILIES.values():
        flat = family.member(epsilon=0, size=3)
        assert closed_refined(flat, flat).status == EXACT
        assert closed_refined(flat, [["1/3", "2/3"]] * 3).status == EXACT
        assert closed_refined(flat, family.member(epsilon="0.01", size=3)).status == FAILS
        with pytest.raises(ParameterError, match="no inverse"):
            closed_margin(flat, flat)


def test_what_has_no_closed_form_is_left_to_others():
    clamped = over_truncated_family(0, 1).member(epsilon=1, size=3)
    assert closed_refined(clamped, clamped) is None
    mine = from_callable("mine", lambda e: nw.Channel(np.eye(3))).member(epsilon=1)
    assert closed_refined(mine, clamped) is None
    assert closed_private(clamped, clamped) is None
    with pytest.raises(ParameterError, match="'average' and 'max'"):
        closed_refined(geometric_family.member(epsilon=1, size=3), clamped, "privacy")


def test_different_secrets_are_named():
    a = geometric_family.member(epsilon=1, size=3)
    with pytest.raises(ChannelError, match="'z' in the second only"):
        closed_refined(a, response_family.member(epsilon=1, secrets=("z", 1, 2)))
    with pytest.raises(ChannelError, match="same secrets"):
        closed_private(a, response_family.member(epsilon=1, secrets=("z", 1, 2)))


@pytest.mark.parametrize("first", sorted(FAMILIES))
@pytest.mark.parametrize("second", sorted(FAMILIES))
def test_the_privacy_order_agrees_with_the_metrics_of_the_channels(first, second):
    for n in (2, 3, 4, 7):
        for one, two in ((1, 1), (1, "0.5"), (2, "1.9"), ("0.3", 1), (30, 30)):
            a, b = FAMILIES[first].member(epsilon=one, size=n), FAMILIES[second].member(epsilon=two, size=n)
            mine, theirs = (m.channel().distinguishability() for m in (a, b))
            assert member_distances(a) == pytest.approx(mine, rel=1e-9)
            found = closed_private(a, b)
            excess = (theirs - mine)[~np.eye(n, dtype=bool)].max()
            if abs(excess) > 1e-9:
                assert found.status == (FAILS if excess > 0 else EXACT)
            else:
                assert found.status in (EXACT, FAILS)
            if found.status == FAILS:
                pair = [a.inputs.index(x) for x in found.witness.pair]
                assert found.witness.after == pytest.approx(theirs[*pair] / mine[*pair], rel=1e-6)
                assert found.witness.after > found.witness.before == 1
                assert b.channel().epsilon(found.witness.metric).value >= found.witness.after * (1 - 1e-9)


def test_equal_epsilons_are_equal_distances_exactly():
    """At the ends of the line the exponential has exactly the distances of the geometric with the same epsilon."""
    for epsilon in ("0.1", "1", "40"):
        a, b = geometric_family.member(epsilon=epsilon, size=6), exponential_family.member(epsilon=epsilon, size=6)
        assert closed_private(a, b).status == EXACT
        more = geometric_family.member(epsilon=Fraction(epsilon) - Fraction(1, 10**60), size=6)
        assert closed_private(more, b).status == FAILS


def test_post_processing_of_members():
    a, b = response_family.member(decay="1/5", size=4), response_family.member(decay="1/2", size=4)
    made = closed_post_processing(a, b)
    product = oracle.product(a.rows(), made.exact)
    assert tuple(map(tuple, product)) == b.rows()


def test_a_max_case_failure_shows_a_posterior_outside_the_hull():
    """The direction is at most zero after every output of the first, and above it by the gap after one of the second."""
    for first, second in (("geometric", "exponential"), ("response", "geometric"), ("exponential", "response")):
        a, b = exact_member(first, Fraction(1, 3), 5), exact_member(second, Fraction(1, 3), 5)
        found = closed_refined(a, b, "max").witness
        assert all(sum(d * row[y] for d, row in zip(found.direction, a.rows(), strict=True)) <= 0 for y in range(5))
        column = [row[b.outputs.index(found.output)] for row in b.rows()]
        mean = sum(d * p for d, p in zip(found.direction, column, strict=True)) / sum(column)
        assert mean >= found.gap > 0
        assert max(abs(v) for v in found.direction) == 1
        assert found.posterior == pytest.approx([float(p / sum(column)) for p in column])
        assert found.distance == pytest.approx(np.linalg.norm(found.posterior - found.nearest))
    large = [FAMILIES[name].member(epsilon=1, size=250) for name in ("geometric", "response")]
    assert closed_refined(*large, "max").witness.gap > 0


def test_tiny_numbers_and_tiny_epsilons():
    faint, fainter = (geometric_family.member(epsilon=e, size=4) for e in ("1e-9", "5e-10"))
    assert closed_refined(faint, fainter).status == EXACT
    assert closed_refined(fainter, faint).status == FAILS
    assert closed_refined(faint, response_family.member(epsilon="1e-9", size=4)).status == FAILS
    assert closed_refined(faint, response_family.member(epsilon="1e-19", size=4)).status == EXACT
    lost = nw.Channel([[1.0, 5e-324], [1.0, 5e-324], [1.0, 1e-323]])
    assert closed_refined(geometric_family.member(epsilon=1, size=3), lost) is None
    steep = exponential_family.member(epsilon=100, size=8)  # it misses by less than one part in 10^170
    found = closed_refined(geometric_family.member(epsilon=100, size=8), steep)
    assert found.status == FAILS
    assert 0 < found.witness.gap < Fraction(1, 10**150)
    beyond = [family.member(epsilon=5000, size=4) for family in (geometric_family, exponential_family)]
    assert closed_refined(*beyond).status == UNDECIDED  # thousands of digits: said, not guessed
