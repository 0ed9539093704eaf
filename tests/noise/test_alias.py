"""The alias method: its law by enumeration, by shares and by chi-square (error rate 1e-6 each), borderline words by script."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from noise_support import LEVEL, Scripted, chi_square

from noisewright.sampling.bernoulli_bits import Probability, response_integers
from noisewright.sampling.categorical import Alias, whole_thresholds
from noisewright.sampling.laplace import geometric_plan
from noisewright.sampling.random_bits import bits_from

WORD = 64
FIVES = 0x5555_5555_5555_5555  # a third of 2**64, rounded down


def of(*thresholds: Probability) -> Alias:
    def enclosure(width: int) -> tuple[list[int], list[int]]:
        lows, highs = zip(*(one.bounds(width) for one in thresholds), strict=True)
        return list(lows), list(highs)

    return Alias(enclosure)


@pytest.mark.parametrize("weights", [[1, 2, 3, 4], [0, 5, 0, 0, 1], [10**4, 1], [1] * 1000 + [24], [3] * 4000 + [9000]])
def test_draws_follow_the_law(weights: list[int]) -> None:
    total, sums = sum(weights), np.cumsum(weights).tolist()
    made = of(*(Probability.fraction(Fraction(part, total)) for part in sums[:-1]))
    draws = made.column(1_000_000, bits_from(np.random.default_rng(9)))
    assert not np.isin(draws, [k for k, weight in enumerate(weights) if not weight]).any()
    assert chi_square(draws, lambda k: weights[k] / total, range(len(weights))) > LEVEL


@given(st.lists(st.integers(0, 1 << 12), min_size=1, max_size=20))
def test_all_words_together_have_the_law_exactly(ends: list[int]) -> None:
    """Whole numbers over 2**12: the first 12 bits decide, and so many of all words have each outcome; some may be impossible."""
    ordered = sorted(ends)
    made = Alias(whole_thresholds(ordered, 12))
    for rest in (0, (1 << 52) - 1):
        script = [first << 52 | rest for first in range(1 << 12)]
        counts = np.bincount(made.draw(1 << 12, Scripted(script)), minlength=len(ends) + 1)
        assert counts.tolist() == np.diff([0, *ordered, 1 << 12]).tolist()


@pytest.mark.parametrize("rate", ["1/3000", "1/7", "2"])
@pytest.mark.parametrize("place", [0, -1])
def test_shares_of_columns_add_up_to_irrational_probabilities(rate: str, place: int) -> None:
    """What an outcome has in all columns is its probability, to 50 decimal places, and no column gives more than it has."""
    plan, width = geometric_plan(Fraction(rate)), 180
    enclosure = plan.enclosure(range(len(plan.parts))[place])
    made, columns = Alias(enclosure), 1 << len(enclosure(1)[0]).bit_length()
    low, high = made._shares(width)
    assert all(0 <= least <= most <= min(least + 2, 1 << width) for least, most in zip(low, high, strict=True))
    others = made._outcomes[:columns]
    held = [0] * columns
    for column in range(columns):
        held[column] += low[column]
        held[others[column]] += (1 << width) - low[column]
    lows, highs = enclosure(width)
    truth = np.diff([0, *((a + b) // 2 for a, b in zip(lows, highs, strict=True)), 1 << width]).tolist()
    for wanted, found in zip(truth, held, strict=False):
        assert abs(wanted * columns - found) < 1 << width - 166  # 10**-50
    assert not any(held[len(truth) :])


def test_a_word_on_a_share_is_settled_by_further_bits() -> None:
    """A third against two: the first of two columns is shared 2 to 1, and 2/3 has the digits 1010 and so on without end."""
    made, end = of(Probability.fraction("1/3")), (2 << 63) // 3
    for script, wanted in (
        ([end - 1], 0),
        ([end + 1], 1),
        ([end, FIVES - 1], 0),
        ([end, FIVES + 1], 1),
        ([end, FIVES, FIVES - 1], 0),
        ([end, FIVES, FIVES + 1], 1),
    ):
        bits = Scripted(script)
        assert made.draw(1, bits).tolist() == [wanted]
        assert bits.used == len(script)


@pytest.mark.parametrize("size", [2, 3, 4, 6, 100, 3000])
@pytest.mark.parametrize("epsilon", ["1e-40", "1e-30", "1e-24", "1e-10", "1", "44.3607695558365"])
def test_columns_that_are_all_but_full_give_no_more_than_they_have(size: int, epsilon: str) -> None:
    """Whole numbers over 2**width: shares are exact there, none is below 0, and together they are the law to the last bit."""
    found = response_integers(size, Fraction(epsilon))
    sums = [found.keep + place * found.other for place in range(size - 1)]
    made = Alias(whole_thresholds(sums, found.width))
    columns = len(made._outcomes) // 2
    low, high = made._shares(found.width)
    assert low == high
    held = [0] * columns
    for column, other in enumerate(made._outcomes[:columns].tolist()):
        held[column] += low[column]
        held[other] += (1 << found.width) - low[column]
    law = [found.keep] + [found.other] * (size - 1) + [0] * (columns - size)
    assert held == [columns * part for part in law]
    rest = WORD - columns.bit_length() + 1  # and a word that is not settled further is on the right side of its share
    for column, (end, share) in enumerate(zip(made._ends.tolist(), low, strict=True)):
        own = Fraction(share << rest, 1 << found.width)
        first = end - (column << rest)
        assert (first <= own < first + 2) or (own == 1 << rest and first >= own - 1)


def test_a_word_that_the_bounds_leave_open_is_settled_by_further_bits() -> None:
    """The share of the second column is 1.00065 words: the word 1 belongs to it if zeros follow, and not if ones do."""
    found = response_integers(4, Fraction("44.3607695558365"))
    made = Alias(whole_thresholds([found.keep + place * found.other for place in range(3)], found.width))
    assert 1 < Fraction(made._shares(found.width)[0][1] << 62, 1 << found.width) < Fraction(1001, 1000)
    for more, wanted in ((0, 1), ((1 << 64) - 1, 0)):
        assert made.draw(1, Scripted([(1 << 62) + 1, more])).tolist() == [wanted]


def test_bounds_that_never_tell_are_refused() -> None:
    """Two outcomes of a half each, if they were, but all that is said of them is that they are nearly so."""
    with pytest.raises(ArithmeticError, match="too wide"):
        Alias(lambda width: ([(1 << width - 1) - 1], [(1 << width - 1) + 1]))
