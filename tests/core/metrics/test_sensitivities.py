"""Sensitivities of means and deviations, against all small tables there are and against searches among larger ones."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.metrics import deviation_sensitivity, mean_sensitivity

GRID = (0.0, 0.25, 0.5, 0.75, 1.0)


def neighbours_of(size: int, change: str) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of neighbouring tables over a grid: what both have, then the record of each (NaN where there is none)."""
    kept = np.array(list(combinations_with_replacement(GRID, size - (change == "replace"))), dtype=float)
    kept = kept.reshape(len(kept), -1)
    pairs = [(a, b) for a in (GRID if change == "replace" else (math.nan,)) for b in GRID]
    first = np.vstack([np.column_stack([kept, np.full(len(kept), a)]) for a, _ in pairs])
    second = np.vstack([np.column_stack([kept, np.full(len(kept), b)]) for _, b in pairs])
    return first, second


@pytest.mark.parametrize("change", ["replace", "add"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
def test_01_dp2_every_small_table(size, change):
    """No pair of neighbouring tables over a grid is farther apart, and some pair is as far."""
    first, second = neighbours_of(size, change)
    apart = np.abs(np.nanmean(first, axis=1) - np.nanmean(second, axis=1)).max()
    assert apart == pytest.approx(float(mean_sensitivity(0, 1, size=size, neighbours=change)), rel=1e-12)
    for ddof in (0, 1):
        if ddof and size == 1:
            continue
        apart = np.abs(np.nanstd(first, axis=1, ddof=ddof) - np.nanstd(second, axis=1, ddof=ddof)).max()
        told = float(deviation_sensitivity(0, 1, size=size, neighbours=change, ddof=ddof))
        assert apart == pytest.approx(told, rel=1e-12, abs=1e-15)


@given(st.lists(st.integers(-3, 9), min_size=2, max_size=12), st.integers(-3, 9))
def test_01_dp2_no_table_is_farther_in_fractions(records, other):
    """In squares of fractions, so that nothing is rounded: |s - t| <= r is s^2 + t^2 - r^2 <= 2 s t."""

    def squared(values, ddof):
        mean = Fraction(sum(values), len(values))
        return sum((v - mean) ** 2 for v in values) / (len(values) - ddof)

    for change, after in (("replace", [*records[:-1], other]), ("add", [*records, other])):
        told = mean_sensitivity(-3, 9, size=len(records), neighbours=change)
        assert abs(Fraction(sum(after), len(after)) - Fraction(sum(records), len(records))) <= told
        for ddof in (0, 1):
            s, t = squared(records, ddof), squared(after, ddof)
            reach = deviation_sensitivity(-3, 9, size=len(records), neighbours=change, ddof=ddof)
            excess = s + t - reach**2
            assert excess <= 0 or excess**2 <= 4 * s * t


@given(st.integers(1, 10**12), st.sampled_from(["replace", "add"]))
def test_roots_are_rounded_up_and_hardly(size, change):
    larger = size + (change == "add")
    square = Fraction(larger - 1, larger**2)
    told = deviation_sensitivity(0, 1, size=size, neighbours=change)
    assert square <= told**2 <= square * (1 + Fraction(1, 2**62))
    assert deviation_sensitivity("-1/2", 3, size=size, neighbours=change) == Fraction(7, 2) * told


def test_they_are_sensitivities_of_mechanisms():
    noisy = nw.laplace(epsilon=1, sensitivity=mean_sensitivity(0, 120, size=60), within=(0, 120))
    assert noisy.guarantee.reading() == "epsilon 1 between two answers at most 2 apart"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"low": 1, "high": 1}, "low must be below high"),
        ({"size": 0}, "whole number of records, 1 or more"),
        ({"size": True}, "whole number of records"),
        ({"size": 2.5}, "whole number of records"),
        ({"neighbours": "add-remove"}, "neighbours must be 'replace' or 'add', not 'add-remove'"),
        ({"ddof": 2}, "ddof must be 0"),
        ({"size": 1, "ddof": 1}, "size must be 2 or more with ddof=1"),
        ({"high": math.inf}, "high must be a finite number"),
    ],
)
def test_bad_input(given, sentence):
    with pytest.raises(nw.exceptions.ParameterError, match=sentence):
        deviation_sensitivity(**{"low": 0, "high": 1, "size": 5, **given})
