"""The bracketing root finder: against SciPy's, on easy and nasty functions, and what it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from noisewright.exceptions import ParameterError
from noisewright.mechanisms.numeric.calibration import root

FUNCTIONS: list[tuple[Callable[[float], float], float, float]] = [
    (lambda x: math.cos(x) - x, 0, 1),
    (lambda x: math.exp(x) - 1e6, 0, 700),
    (lambda x: x**9 - 1e-9, 0, 2),
    (lambda x: math.atan(1e6 * (x - 1 / 3)), -1, 2),
    (lambda x: (x - 0.7) ** 3, 0, 1),
    (lambda x: -1.0 if x < 0.123456789 else 1.0, 0, 1),
    (lambda x: 1 / x - 1e-5, 1, 1e9),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_it_finds_what_brent_finds_within_a_few_more_steps(number: int) -> None:
    function, low, high = FUNCTIONS[number]
    calls = 0

    def counted(x: float) -> float:
        nonlocal calls
        calls += 1
        return function(x)

    found = root(counted, low, high)
    wanted = brentq(function, low, high, xtol=1e-300, rtol=4 * 2.0**-52, maxiter=10_000)
    assert found == pytest.approx(wanted, rel=1e-5 if number == 4 else 1e-14)  # a triple root is flat to 1e-5
    assert calls <= 130


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.integers(0, 3))
def test_the_sign_changes_at_the_root_or_right_beside_it(at: float, left: float, right: float, power: int) -> None:
    low, high = at - left, at + right

    def function(x: float) -> float:
        return math.copysign(abs(x - at) ** (power + 0.5), x - at)

    for sign in (1, -1):
        found = root(lambda x, sign=sign: sign * function(x), low, high)  # type: ignore[misc]
        assert low <= found <= high
        assert abs(found - at) <= 8 * 2.0**-52 * abs(at) + 1e-60


def test_ends_that_are_roots_are_returned() -> None:
    assert root(lambda x: x, 0, 1) == 0
    assert root(lambda x: x - 1, 0, 1) == 1
    assert root(lambda x: 0.0, 2, 3) == 2


def test_two_ends_of_one_sign_are_refused() -> None:
    for function in (lambda x: x + 1, lambda x: -x - 1, lambda x: math.nan):
        with pytest.raises(ParameterError, match="different signs"):
            root(function, 0, 1)
