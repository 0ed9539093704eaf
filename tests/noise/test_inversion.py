"""Inversion by sixteen bits: the law by chi-square (error rate 1e-6 each), and borderline words by script."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noise_support import LEVEL, Scripted, chi_square

from noisewright.noise.bits import bits_from, quarter_words
from noisewright.noise.inversion import Inversion
from noisewright.noise.probability import Probability
from noisewright.noise.search import whole_thresholds

HIGH = (1 << 64) - 1


def of(*thresholds: Probability) -> Inversion:
    def enclosure(width: int) -> tuple[list[int], list[int]]:
        lows, highs = zip(*(one.bounds(width) for one in thresholds), strict=True)
        return list(lows), list(highs)

    return Inversion(enclosure)


@pytest.mark.parametrize("weights", [[1, 2, 3, 4], [0, 5, 0, 0, 1], [10**4, 1], [1] * 1000, [3] * 4000 + [9000]])
def test_draws_follow_the_law(weights: list[int]) -> None:
    total, sums = sum(weights), np.cumsum(weights).tolist()
    made = of(*(Probability.fraction(Fraction(part, total)) for part in sums[:-1]))
    draws = made.column(1_000_000, bits_from(np.random.default_rng(9)))
    assert not np.isin(draws, [k for k, weight in enumerate(weights) if not weight]).any()
    assert chi_square(draws, lambda k: weights[k] / total, range(len(weights))) > LEVEL


def test_a_word_on_a_threshold_is_settled_by_further_bits() -> None:
    """The threshold 1/3 is 0x5555 and so on without end: 0 below it, 1 above."""
    made, fives = of(Probability.fraction("1/3")), 0x5555_5555_5555_5555
    first, rest = fives >> 48, (fives & (1 << 48) - 1) << 16
    for script, wanted in (
        ([first - 1], 0),
        ([first + 1], 1),
        ([first, rest - (1 << 16)], 0),
        ([first, rest + (1 << 16)], 1),
        ([first, rest, fives - 1], 0),
        ([first, rest, fives + 1], 1),
        ([first, rest, fives, fives, fives - 1], 0),
        ([first, rest, fives, fives, fives + 1], 1),
    ):
        bits = Scripted(script)
        assert made.draw(1, bits).tolist() == [wanted]
        assert bits.used == len(script)


@given(st.lists(st.integers(0, 1 << 20), min_size=1, max_size=40), st.integers(0, HIGH))
def test_every_word_agrees_with_exact_thresholds(ends: list[int], word: int) -> None:
    """Also where thresholds are equal, 0 or 1, and on the very words of thresholds."""
    ordered = sorted(ends)
    made = Inversion(whole_thresholds(ordered, 20))
    for number in (
        word,
        *(min(end << 44, HIGH) for end in ordered[:3]),
        *(max((end << 44) - 1, 0) for end in ordered[:3]),
    ):
        script = Scripted([number >> 48, (number & (1 << 48) - 1) << 16], filler=HIGH)
        assert made.draw(1, script).tolist() == [sum(end << 44 <= number for end in ordered)]


def test_quarters_are_all_bits_of_a_word() -> None:
    bits = Scripted([0x0123_4567_89AB_CDEF, 0])
    assert sorted(quarter_words(bits, 5).tolist()) == sorted([0, 0x0123, 0x4567, 0x89AB, 0xCDEF])
    assert bits.used == 2
