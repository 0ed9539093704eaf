"""An epsilon or a delta in words is never below the number that it stands for."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.base import MechanismAudit
from noisewright.mechanisms.numeric.privacy_loss import PairDelta, PairLoss
from noisewright.metrics.base import Line

HIDDEN = 1 - Fraction(1, 10**12)
"""Less than this share of a float is not shown: the excess of the float 0.1 over one tenth."""

POSITIVE = st.floats(1e-9, 1e6)


def said(text: str, name: str) -> Fraction:
    found = re.search(rf"\b{name}(?: =)? ([0-9.e-]+)", text)
    assert found is not None, text
    return Fraction(found[1])


@given(POSITIVE, st.floats(1e-12, 0.999), st.sampled_from(["metric", "adjacent"]))
def test_an_audit_of_a_mechanism_says_no_less_than_it_found(epsilon, delta, scope):
    text = str(MechanismAudit(epsilon, Line(), None, None, None, delta, scope=scope))
    assert said(text, "epsilon") >= Fraction(epsilon) * HIDDEN
    assert said(text, "delta") >= Fraction(delta) * HIDDEN


@given(POSITIVE, POSITIVE)
def test_losses_and_deltas_of_two_densities_are_rounded_up(value, epsilon):
    assert said(str(PairLoss(value, (0.0, 1.0), 0.0)), "loss") >= Fraction(value) * HIDDEN
    text = str(PairDelta(value, epsilon, (0.0, 1.0), (), 0.0))
    assert said(text, "delta") >= Fraction(value) * HIDDEN
    assert said(text, "epsilon") >= Fraction(epsilon) * HIDDEN


@pytest.mark.parametrize("epsilon", ["1/3", "2/3", "0.12345649"])
def test_noise_without_bounds_says_the_loss_of_a_step_rounded_up(epsilon):
    text = str(nw.audit(nw.geometric(epsilon=epsilon)))
    assert said(text, "epsilon") >= Fraction(epsilon)
    assert said(text, "scale") >= Fraction(epsilon)


def test_a_third_and_an_audit_of_it_read_alike():
    mechanism = nw.geometric(epsilon="1/3")
    assert str(mechanism.guarantee) == "epsilon = 0.333334 per unit of line"
    assert str(nw.audit(mechanism)).startswith("epsilon = 0.333334 per unit of line; ")
