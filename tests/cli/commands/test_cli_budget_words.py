"""What a plan and a release say about a budget: the cost rounded up, what is left rounded down, and the delta of both."""

from __future__ import annotations

from fractions import Fraction

import pytest

from noisewright.releases.plan import left_over

POLICY = """
dataset = "shop"
budget = { epsilon = 2, delta = 1e-5 }
[[queries]]
name = "spent"
aggregate = "sum"
column = "euros"
within = [0, 100]
mechanism = "gaussian"
epsilon = "1/3"
delta = 3e-6
"""


@pytest.fixture
def shop(tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "sales.csv").write_text("euros\n3\n40\n")
    return tmp_path


def test_plan_and_release_say_the_same_total_with_its_delta(call, shop):
    given = [shop / "policy.toml", shop / "sales.csv", "--ledger", shop / "ledger.sqlite"]
    before = call("plan", *given).words
    made = call("release", *given, "-o", shop / "out").words
    after = call("plan", *given)
    for page in (before, made, after.words):
        assert "Total epsilon = 0.333334, delta = 3e-6 Between" in page
    assert "Budget epsilon 2 and delta 0.00001 for 'shop', nothing spent yet: this release fits" in before
    assert "Budget epsilon 1.66666 of 2, delta 7e-6 of 0.00001 left" in made
    assert (
        "Budget epsilon 2 and delta 0.00001 for 'shop', 1.66666 and delta 7e-6 left: this release fits" in after.words
    )
    budget = call("plan", *given, "--json").json["budget"]
    assert Fraction(str(budget["left_epsilon"])) <= Fraction(5, 3)
    assert budget["left_delta"] == 7e-6


@pytest.mark.parametrize("left", [Fraction(9, 10), Fraction(5, 3), Fraction(2, 3), Fraction(0), Fraction(7, 10**6)])
def test_what_is_left_can_be_asked_for(left):
    shown = Fraction(str(left_over(left)))
    assert shown <= left
    assert left - shown <= left / 10**15
