"""Members of families: their matrices, their true epsilon, their enclosures, and the mechanisms that they are."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import family_support as oracle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.qif.refinement.families import (
    FAMILIES,
    Decay,
    as_family,
    as_member,
    exponential_family,
    from_callable,
    geometric_family,
    over_truncated_family,
    response_family,
)

factors = st.fractions(min_value=Fraction(1, 40), max_value=Fraction(39, 40), max_denominator=40)
sizes = st.integers(2, 7)


def test_05_f26_example_matrices():
    three = exponential_family.member(weight="1/2", size=3)
    expected = [["4/7", "2/7", "1/7"], ["1/4", "1/2", "1/4"], ["1/7", "2/7", "4/7"]]
    assert [[str(v) for v in row] for row in three.rows()] == expected
    assert three.decay.exact == Fraction(7, 16)
    four = exponential_family.member(weight="1/2", size=4)
    assert four.rows()[0] == tuple(Fraction(k, 15) for k in (8, 4, 2, 1))
    assert four.rows()[1] == tuple(Fraction(k, 9) for k in (2, 4, 2, 1))
    assert four.decay.exact == Fraction(5, 12)
    alike = response_family.member(decay="5/12", size=4).rows()
    assert (alike[0][0], alike[0][1]) == (Fraction(4, 9), Fraction(5, 27))
    distances = np.exp(four.channel().distinguishability())
    assert distances[0, 2] == pytest.approx(4.8, abs=1e-12)
    assert distances[1, 2] == pytest.approx(2, abs=1e-12)
    coin = response_family.member(decay="1/2", size=3).rows()
    assert (coin[0][0], coin[0][1]) == (Fraction(1, 2), Fraction(1, 4))


@given(factors, sizes)
def test_members_are_the_matrices_of_their_definitions(a, n):
    assert geometric_family.member(decay=a, size=n).rows() == tuple(map(tuple, oracle.geometric(a, n)))
    assert response_family.member(decay=a, size=n).rows() == tuple(map(tuple, oracle.response(a, n)))
    assert exponential_family.member(weight=a, size=n).rows() == tuple(map(tuple, oracle.exponential(a, n)))


@given(factors, sizes, st.integers(-3, 8), st.integers(0, 5))
def test_over_truncated_members_are_clamped_tails(a, n, low, width):
    made = over_truncated_family(low, low + width).member(decay=a, size=n)
    rows = made.rows()
    assert rows == tuple(map(tuple, oracle.over_truncated(a, n, low, low + width)))
    assert all(sum(row) == 1 for row in rows)
    assert made.channel().matrix == pytest.approx(oracle.floats(rows), abs=1e-14)


@pytest.mark.parametrize("family", list(FAMILIES.values()), ids=list(FAMILIES))
@pytest.mark.parametrize("size", [2, 3, 6])
def test_bounds_enclose_and_floats_agree(family, size):
    for given_as in ({"epsilon": "0.3"}, {"epsilon": 5}, {"decay": "2/7"}):
        member = family.member(**given_as, size=size)
        low, high = member.bounds(100)
        floats = member.channel().matrix
        for x in range(size):
            assert sum(low[x]) <= 1 <= sum(high[x])
            for y in range(size):
                assert 0 < low[x][y] <= high[x][y]
                assert high[x][y] - low[x][y] <= low[x][y] / 2**80
                assert floats[x, y] == pytest.approx(float(low[x][y]), rel=1e-13)


@pytest.mark.parametrize("size", [2, 3, 5, 40])
@pytest.mark.parametrize("epsilon", ["0.001", "0.7", "3", "30"])
def test_epsilon_is_the_true_one(size, epsilon):
    for family in FAMILIES.values():
        member = family.member(epsilon=epsilon, size=size)
        audit = member.channel().epsilon(member.metric)
        assert audit.value == pytest.approx(float(epsilon), rel=1e-9)
        assert member.epsilon >= Fraction(epsilon)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=60, max_denominator=1000), st.integers(3, 60))
def test_the_weight_of_an_exponential_solves_its_equation(epsilon, n):
    """e^-epsilon = b s_0 / s_1 at both ends of the enclosure of b, the right way round."""
    member = exponential_family.member(epsilon=epsilon, size=n)
    low, high = member.base(160).ends()
    assert 0 < low < high < 1
    assert (high - low) / low < Fraction(1, 2**150)
    ends = member.decay.number(400).ends()

    def factor(b: Fraction) -> Fraction:
        s0 = (1 - b**n) / (1 - b)
        return b * s0 / (s0 + b - b ** (n - 1))

    assert factor(low) <= ends[1]
    assert factor(high) >= ends[0]


def test_a_thousand_secrets_and_the_extremes():
    big = exponential_family.member(epsilon=1, size=1000)
    assert big.channel().epsilon(nw.metrics.Line()).value == pytest.approx(1, abs=1e-9)
    assert big.rows() is None
    assert geometric_family.member(decay="1/2", size=1000).rows() is None  # a million fractions of a thousand bits
    flat = geometric_family.member(epsilon=0, size=4)
    assert flat.no_leak
    assert flat.rows()[0] == (Fraction(1, 2), 0, 0, Fraction(1, 2))
    for family in (response_family, exponential_family):
        assert family.member(epsilon=0, size=3).rows() == ((Fraction(1, 3),) * 3,) * 3
    steep = exponential_family.member(epsilon=700, size=5).logs()
    assert steep[0, 4] == pytest.approx(-2800, rel=1e-9)


def test_factors_compare_without_rounding():
    one = Decay.of(epsilon=1)
    near = Fraction(1 << 100, 271828182845904523536028747135 * 2**100 // 10**29)
    assert one.compare(Decay.of(decay=near)) in (-1, 1)
    below, above = one.number(400).ends()
    assert one.compare(Decay.of(decay=below)) == 1
    assert one.compare(Decay.of(decay=above)) == -1
    assert one.compare(Decay.of(epsilon="1.0")) == 0
    assert Decay.of(decay=1).compare(Decay.of(epsilon=0)) == 0
    half = Decay.of(decay="1/2")
    assert half.epsilon_down() <= math.log(2) <= half.epsilon_up()
    assert half.epsilon_up() - half.epsilon_down() <= 2.3e-16


def test_mechanisms_are_members_in_the_numbers_they_draw_from():
    count = nw.geometric(epsilon="0.5", within=(3, 7))
    member = as_member(count)
    assert member.inputs == (3, 4, 5, 6, 7)
    assert member.channel().matrix == pytest.approx(count.channel().matrix, abs=1e-15)
    smoker = nw.randomised_response(["never", "ex", "now"], epsilon=1)
    told = as_member(smoker)
    assert told.inputs == ("never", "ex", "now")
    assert told.rows()[0][0] == smoker.keep_probability
    assert told.epsilon <= 1
    assert as_member(nw.geometric(epsilon=1)) is None
    assert as_member(nw.geometric(epsilon=1, within=(0, 3), outside="keep")) is None
    assert as_member("geometric") is None


def test_members_print_epsilon_with_its_metric_and_pickle():
    member = exponential_family.member(epsilon="0.5", size=4)
    assert str(member) == "exponential(epsilon=0.5 per unit of line, size=4)"
    assert str(response_family.member(decay="1/2", size=4)) == "response(epsilon=0.693148 for discrete, size=4)"
    assert pickle.loads(pickle.dumps(member)) == member


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("either epsilon or decay", lambda: geometric_family.member(size=3)),
        ("either epsilon or decay", lambda: geometric_family.member(epsilon=1, decay="1/2", size=3)),
        ("above 0 and at most 1", lambda: response_family.member(decay=2, size=3)),
        ("above 0 and at most 1", lambda: response_family.member(decay=0, size=3)),
        ("between 1e-100 and 10000", lambda: response_family.member(epsilon=-1, size=3)),
        ("between 1e-100 and 10000", lambda: response_family.member(epsilon=1e9, size=3)),
        ("between 1e-100 and", lambda: response_family.member(epsilon="1e-101", size=3)),
        ("too near to 0 or 1", lambda: response_family.member(decay=1 - Fraction(1, 10**200), size=3)),
        ("from 2 to 2000", lambda: geometric_family.member(epsilon=1, size=1)),
        ("from 2 to 2000", lambda: geometric_family.member(epsilon=1)),
        ("from 2 to 2000", lambda: geometric_family.member(epsilon=1, size=10**6)),
        ("2 secrets were named", lambda: geometric_family.member(epsilon=1, size=3, secrets=(1, 2))),
        ("exponential family", lambda: geometric_family.member(weight="1/2", size=3)),
        ("above 0 and at most 1", lambda: exponential_family.member(weight=-1, size=3)),
        ("low to a high", lambda: over_truncated_family(3, 1)),
        ("whole number", lambda: over_truncated_family(0.5, 1)),
        ("no family called 'gauss'", lambda: as_family("gauss")),
        ("not int", lambda: as_family(3)),
        ("function of epsilon", lambda: from_callable("mine", 3)),
    ],
)
def test_what_is_no_member_is_refused(words, make):
    with pytest.raises(ParameterError, match=words):
        make()


def test_a_user_family_must_give_channels_over_the_secrets():
    with pytest.raises(ChannelError, match="not list"):
        from_callable("mine", lambda e: [[1.0]]).member(epsilon=1)
    with pytest.raises(ChannelError, match="other secrets"):
        from_callable("mine", lambda e: nw.Channel([[1.0], [1.0]])).member(epsilon=1, size=3)
