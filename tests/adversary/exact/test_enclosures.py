"""Enclosures hold the number they stand for, whatever is done with them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.numerics.exact import Enclosure

fractions = st.fractions(min_value=-50, max_value=50, max_denominator=10**6)
positive = st.fractions(min_value=Fraction(1, 10**6), max_value=50, max_denominator=10**6)


def holds(enclosure: Enclosure, value: Fraction) -> bool:
    low, high = enclosure.ends()
    return low <= value <= high


@given(fractions, fractions, positive, st.integers(0, 9), st.sampled_from([8, 24, 64]))
def test_every_operation_keeps_the_number_inside(x, y, z, power, bits):
    a, b, c = (Enclosure.of_fraction(v, bits) for v in (x, y, z))
    for enclosure, value in (
        (a, x),
        (a + b, x + y),
        (a - b, x - y),
        (a * b, x * y),
        (a / c, x / z),
        (1 / c, 1 / z),
        (3 - a, 3 - x),
        (y + a, x + y),
        (y * a, x * y),
        (-a, -x),
        (a**power, x**power),
    ):
        assert holds(enclosure, value)


@given(fractions, fractions)
def test_a_sign_that_is_given_is_right(x, y):
    sign = (Enclosure.of_fraction(x, 30) * Enclosure.of_fraction(y, 30)).sign()
    assert sign is None or sign == (x * y > 0) - (x * y < 0)


def test_a_sign_that_is_not_known_is_not_guessed():
    third = Enclosure.of_fraction(Fraction(1, 3), 40)
    assert (third * 3 - 1).sign() is None
    assert (Enclosure.of_fraction(Fraction(1, 4), 40) * 4 - 1).sign() == 0


@pytest.mark.parametrize("exponent", [Fraction(-1), Fraction(-8), Fraction(1, 3), Fraction(-700), Fraction(-5000)])
def test_powers_of_e_are_tight_relative_to_their_size(exponent):
    low, high = Enclosure.of_exp(exponent, 200).ends()
    assert 0 < low < high
    assert (high - low) / low < Fraction(1, 2**190)
    assert math.isclose(math.log(low.numerator) - math.log(low.denominator), exponent, rel_tol=1e-12)


def test_e_to_many_digits():
    """e^-1 from its decimal digits, which an enclosure of 120 bits must bracket."""
    known = Fraction(3678794411714423215955237701614608674458, 10**40)
    low, high = Enclosure.of_exp(Fraction(-1), 120).ends()
    assert abs((low + high) / 2 - known) < Fraction(1, 10**35)
    with pytest.raises(ZeroDivisionError):
        Enclosure.of_fraction(1, 20) / (Enclosure.of_exp(Fraction(-1), 20) - known)
