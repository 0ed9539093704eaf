"""Enclosures of e^x and ln x, and directed rounding, against decimals with a hundred digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from core_support import decimal
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noisewright.certificates.checker.checker import exp_below
from noisewright.claims.figures import ceil_div, exp_bounds, figure, float_down, float_up, percent
from noisewright.exceptions import ParameterError
from noisewright.numerics.exact import as_fraction, log_bounds, positive_fraction

exponents = st.one_of(
    st.fractions(-60, 60),
    st.floats(-50, 50).map(Fraction),
    st.integers(-300, 300).map(lambda k: Fraction(10) ** -abs(k) * (k or 1)),
)
bits = st.sampled_from([8, 32, 64, 128, 200])


@given(exponents, bits)
@example(Fraction(0), 64)
@example(Fraction(700), 64)
@example(Fraction(1, 10**300), 64)
@settings(max_examples=300)
def test_exponential_is_enclosed(exponent: Fraction, precision: int) -> None:
    low, high = exp_bounds(exponent, precision)
    with localcontext() as context:
        context.prec = 400
        truth = decimal(exponent).exp() * 2**precision
        assert low <= truth <= high
        assert high - low <= max(Decimal(3), truth * Decimal(2) ** -(precision - 2))


@given(st.one_of(st.fractions(0, 200), st.floats(1e-300, 150).map(Fraction)), st.sampled_from([16, 64, 180, 300]))
@settings(max_examples=300)
def test_the_checkers_exponential_is_below_and_close(exponent: Fraction, precision: int) -> None:
    below = exp_below(exponent, precision)
    with localcontext() as context:
        context.prec = 250
        truth = decimal(exponent).exp() * 2**precision
        assert below <= truth
        if exponent <= precision:
            assert truth - below <= truth * Decimal(2) ** -(precision - 8)


def test_the_checkers_exponential_of_a_huge_number_is_still_below() -> None:
    with localcontext() as context:
        context.prec = 100
        assert exp_below(Fraction(10**9), 64) <= Decimal(64).exp() * 2**64
    assert exp_below(Fraction(0), 64) == 1 << 64


@given(st.one_of(st.fractions(Fraction(1, 10**30), 10**30), st.floats(1e-300, 1e300).map(Fraction)), bits)
@example(Fraction(1), 64)
@example(Fraction(2**52 + 1, 2**52), 64)
@settings(max_examples=300)
def test_logarithm_is_enclosed(value: Fraction, precision: int) -> None:
    low, high = log_bounds(value, precision)
    with localcontext() as context:
        context.prec = 200
        truth = decimal(value).ln() * 2**precision
        assert low <= truth <= high
    assert high - low <= 64


@given(st.fractions())
@example(Fraction(1, 3))
@example(Fraction(10) ** 400)
@example(Fraction(-1, 10**400))
@settings(max_examples=200)
def test_directed_rounding_encloses_as_tightly_as_floats_can(value: Fraction) -> None:
    low, high = float_down(value), float_up(value)
    assert math.isinf(low) or Fraction(low) <= value
    assert math.isinf(high) or Fraction(high) >= value
    assert low == high or math.nextafter(low, math.inf) == high


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (0.1, Fraction(0.1)),
        (3, Fraction(3)),
        (np.int64(3), Fraction(3)),
        (np.float32(0.5), Fraction(1, 2)),
        (Fraction(2, 7), Fraction(2, 7)),
    ],
)
def test_numbers_are_taken_exactly(given_value: object, expected: Fraction) -> None:
    assert as_fraction(given_value) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("abc", "epsilon = 'abc' is not a number; write it like 0.5 or 1/2"),
        ("1/0", "epsilon = '1/0' is not a number"),
        (math.nan, "epsilon must be a finite number, not nan"),
        (-math.inf, "epsilon must be a finite number, not -inf"),
        (True, "epsilon must be a number, not bool"),
        (None, "epsilon must be a number, not NoneType"),
        ([1], "epsilon must be a number, not list"),
        (0, "epsilon must be greater than 0, not 0"),
        (-0.5, "epsilon must be greater than 0, not -0.5"),
        ("-1/2", "epsilon must be greater than 0, not -1/2"),
    ],
)
def test_numbers_that_are_refused(value: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        positive_fraction(value, "epsilon")


def test_logarithm_needs_a_positive_number() -> None:
    with pytest.raises(ParameterError, match="needs a number greater than 0"):
        log_bounds(Fraction(0), 64)


def test_ceil_div() -> None:
    assert [ceil_div(a, 3) for a in (-3, -1, 0, 1, 3, 4)] == [-1, 0, 0, 1, 1, 2]


# Figures for people -------------------------------------------------------------------------------------------------------


@given(st.fractions(Fraction(1, 10**6), 10**14), st.integers(2, 6))
def test_figures_are_near_and_on_the_right_side(value: Fraction, digits: int) -> None:
    """In d digits a number is off by less than one part in 10^(d - 1), and on the side that was asked for; no powers of ten."""
    words = {"million": 10**6, "billion": 10**9, "trillion": 10**12}
    for rounding in ("up", "nearest", "down"):
        text = figure(value, digits, rounding)
        number, _, word = text.partition(" ")
        shown = Fraction(number.replace(",", "")) * words.get(word, 1)
        assert "e" not in number
        slack = value / 10**11
        assert rounding != "up" or shown >= value - slack
        assert rounding != "down" or shown <= value + slack
        assert abs(shown - value) <= value / 10 ** (digits - 1) + slack


@given(st.floats(0, 1))
def test_a_percentage_is_never_less_and_never_certain(share: float) -> None:
    text = percent(share)
    if share < 1:
        assert text != "100 %"
    if not text.startswith("practically"):
        assert len(text.removesuffix(" %").replace(".", "").lstrip("0")) <= 4 or share < 1e-8
        assert Fraction(text.removesuffix(" %")) >= 100 * Fraction(share) * (1 - Fraction(1, 10**11))
    else:
        assert share > 0.9999
