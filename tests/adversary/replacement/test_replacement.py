"""Safe replacement: the answer is safe, and nothing much above it is."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.claims.figures import downward
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.guarantees import EXACT, WITHIN
from noisewright.qif.refinement.families import (
    FAMILIES,
    from_callable,
    geometric_family,
    over_truncated_family,
    response_family,
)
from noisewright.qif.refinement.lattice import hasse
from noisewright.qif.refinement.replacement import ORDERS, may_replace, replacement_table, safe_replacement

names = st.sampled_from(sorted(FAMILIES))


@settings(max_examples=40)
@given(names, names, st.sampled_from(ORDERS), st.integers(2, 8), st.fractions(Fraction(1, 20), 9, max_denominator=50))
def test_the_answer_is_proved_safe_and_the_next_is_not(first, second, order, size, epsilon):
    a = FAMILIES[first].member(epsilon=epsilon, size=size)
    found = safe_replacement(a, second, order=order, accuracy=1e-7)
    assert found.refinement.status == EXACT
    assert may_replace(a, FAMILIES[second].member(epsilon=found.epsilon, size=size), order).status == EXACT
    assert found.epsilon <= epsilon  # whatever the family, neighbours at the end are epsilon apart
    above = Fraction(found.epsilon) + Fraction(1, 10**6)
    assert not may_replace(a, FAMILIES[second].member(epsilon=above, size=size), order)


def test_closed_forms_are_the_largest_floats_that_are_safe():
    for first, second, order in (
        ("geometric", "response", "average"),
        ("response", "geometric", "average"),
        ("exponential", "geometric", "privacy"),
        ("response", "geometric", "privacy"),
    ):
        for epsilon in ("0.01", "0.3", "1", "7", "30"):
            a = FAMILIES[first].member(epsilon=epsilon, size=6)
            found = safe_replacement(a, second, order=order)
            assert found.method == "closed form"
            higher = found.epsilon * (1 + 1e-12)
            assert not may_replace(a, FAMILIES[second].member(epsilon=higher, size=6), order)


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-9", "300"])
def test_very_small_and_very_large_epsilons(epsilon):
    for first in FAMILIES:
        a = FAMILIES[first].member(epsilon=epsilon, size=4)
        for second in FAMILIES:
            for order in ORDERS:
                found = safe_replacement(a, second, order=order)
                assert found.refinement.status == EXACT
                assert 0 < found.epsilon <= Fraction(epsilon)
                if found.epsilon < Fraction(epsilon) * Fraction(999, 1000):
                    above = Fraction(found.epsilon) * Fraction(10**6 + 1, 10**6)
                    assert not may_replace(a, FAMILIES[second].member(epsilon=above, size=4), order)


def test_orders_are_nested():
    for first in FAMILIES:
        for second in FAMILIES:
            a = FAMILIES[first].member(epsilon="1.5", size=4)
            average, worst, private = (safe_replacement(a, second, order=order).epsilon for order in ORDERS)
            assert average == worst <= private


def test_fifty_secrets_and_equal_families():
    a = FAMILIES["exponential"].member(epsilon=1, size=50)
    assert safe_replacement(a, "geometric").epsilon == pytest.approx(0.5563731, abs=1e-6)
    assert safe_replacement(a, "exponential").epsilon == 1.0
    third = response_family.member(decay="1/3", size=4)
    assert safe_replacement(third, "response").epsilon == pytest.approx(math.log(3), abs=1e-15)
    assert safe_replacement(third, "response").epsilon <= math.log(3)


def test_mechanisms_and_channels_can_be_replaced():
    count = nw.geometric(epsilon=1, within=(10, 14))
    found = nw.qif.refinement.safe_replacement(count, "response")
    assert found.epsilon == pytest.approx(0.7353257, abs=1e-6)
    assert found.member.inputs == (10, 11, 12, 13, 14)
    rating = nw.exponential(range(5), epsilon=1)
    near = nw.qif.refinement.safe_replacement(rating, "geometric", accuracy=1e-6)
    assert near.epsilon == pytest.approx(0.587366, abs=1e-4)
    assert near.method == "bisection"
    plain = nw.qif.refinement.safe_replacement(nw.Channel([[0.75, 0.25], [0.25, 0.75]]), "geometric", accuracy=1e-7)
    assert plain.epsilon == pytest.approx(math.log(3), abs=1e-6)
    assert near.unsafe - near.epsilon <= 1e-6


def test_a_user_family_by_a_function():
    def staircase(epsilon: float) -> nw.Channel:
        lie = math.exp(-epsilon)
        return nw.Channel([[1, lie, lie], [lie, 1, lie], [lie, lie, 1]], normalise=True)

    mine = from_callable("mine", staircase)
    a = geometric_family.member(epsilon=2, size=3)
    found = safe_replacement(a, mine, accuracy=1e-8)
    assert found.epsilon == pytest.approx(safe_replacement(a, "response").epsilon, abs=1e-6)
    assert found.refinement.status in (EXACT, WITHIN)
    assert "mine" in str(found)
    back = safe_replacement(mine.member(epsilon=2), "geometric", accuracy=1e-7)
    assert back.epsilon == pytest.approx(
        safe_replacement(response_family.member(epsilon=2, size=3), "geometric").epsilon, abs=1e-5
    )


def test_over_truncated_families():
    clamped = over_truncated_family(0, 1)
    a = geometric_family.member(epsilon=1, size=3)
    assert safe_replacement(a, clamped).epsilon == pytest.approx(1, abs=1e-8)
    lost = safe_replacement(clamped.member(decay="1/4", size=3), "response", accuracy=1e-3)
    assert lost.epsilon < 2e-3  # nothing but a constant channel may replace it
    full = nw.Channel(np.eye(3))
    assert safe_replacement(full, "geometric").epsilon >= 512


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("order must be", lambda a: safe_replacement(a, "response", order="mean")),
        ("no family called", lambda a: safe_replacement(a, "laplace")),
        ("accuracy must be", lambda a: safe_replacement(a, "response", accuracy=0)),
        ("two or more different", lambda a: replacement_table(["geometric"], epsilons=[1])),
        ("two or more different", lambda a: replacement_table(["geometric", "geometric"], epsilons=[1])),
        ("one epsilon or more", lambda a: replacement_table(epsilons=[])),
        ("from 1 to 40", lambda a: hasse({})),
    ],
)
def test_refusals(words, make):
    with pytest.raises(ParameterError, match=words):
        make(geometric_family.member(epsilon=1, size=3))


def test_a_family_over_other_secrets_is_refused():
    mine = from_callable("mine", lambda e: nw.Channel([[1.0], [1.0]], ["a", "b"]))
    with pytest.raises(ChannelError, match="other secrets"):
        safe_replacement(geometric_family.member(epsilon=1, size=2), mine)


def test_the_table_has_every_pair_and_rounds_down():
    table = replacement_table(epsilons=["1/2", 4], size=5)
    assert table.values("geometric", "response") == pytest.approx([0.227336, 3.98186], abs=1e-5)
    assert len(table.pairs) == 6
    data = table.to_json()["replacements"]
    assert len(data) == 12
    assert all(row["metric"] in ("line", "discrete") and row["status"] == EXACT for row in data)
    assert data[0]["at"] == "1/2"
    assert "3.98185" in str(table)
    assert downward(0.999999999) == "0.999999"
    assert downward(0.0) == "0"
    assert downward(2.0**-40) == "9.09494e-13"


def test_hasse_diagrams_hold_the_order():
    things = {f"{n} {e}": FAMILIES[n].member(epsilon=e, size=4) for n in FAMILIES for e in ("0.5", "2")}
    things["same as response 2"] = response_family.member(epsilon=2, size=4)
    things["nothing"] = response_family.member(epsilon=0, size=4)
    for order in ORDERS:
        found = hasse(things, order=order)
        assert ("response 2", "same as response 2") in found.nodes
        for a, safer in things.items():
            for b, other in things.items():
                assert found.above(a, b) == (a == b or bool(may_replace(other, safer, order)))
        assert found.levels[[n[0] for n in found.nodes].index("nothing")] == max(found.levels)
        direct = set(found.edges)
        for a, b in direct:  # an edge is a step with nothing between
            assert not any((a, c) in direct and found.above(b, c) and c != b for c in (n[0] for n in found.nodes))
