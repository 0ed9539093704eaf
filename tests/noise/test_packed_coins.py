"""Coins packed in words: exact on every pattern of bits, and of the right share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from noisewright.exceptions import ParameterError
from noisewright.sampling.bernoulli_bits import packed_coins


class AllPrefixes:
    """A source for one word of 64 coins: coin ``i`` reads the bits of the number ``i``, the highest of six first."""

    for_release = False
    label = "test"

    def __init__(self) -> None:
        self.round = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        place = 5 - self.round
        self.round += 1
        word = sum(((coin >> place) & 1) << coin for coin in range(64)) if place >= 0 else 0
        return np.full(count, word, dtype=np.uint64)


@given(st.integers(0, 64))
def test_all_prefixes_of_six_bits_give_the_exact_share(numerator: int) -> None:
    """With every six-bit U once, exactly the coins with U < p are 1: the comparison is right for every pattern."""
    word = int(packed_coins(Fraction(numerator, 64), 1, AllPrefixes())[0])
    assert word == (1 << numerator) - 1


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 1000), Fraction(999, 1000), Fraction(5, 1 << 20)])
def test_share_of_ones(p: Fraction) -> None:
    """Fixed seed; a right sampler fails with probability below 1e-6 (five standard deviations)."""
    words = 40_000
    found = int(np.bitwise_count(packed_coins(p, words, np.random.default_rng(3))).sum())
    spread = float(64 * words * p * (1 - p)) ** 0.5
    assert abs(found - float(64 * words * p)) < 5 * spread


def test_neighbouring_bits_are_independent() -> None:
    """Pairs of neighbouring coins are both 1 with probability p squared (five standard deviations)."""
    words = packed_coins(Fraction(1, 4), 40_000, np.random.default_rng(4))
    both = int(np.bitwise_count(words & (words >> np.uint64(1))).sum())
    expected = 63 * 40_000 / 16
    assert abs(both - expected) < 5 * (expected * 1.5) ** 0.5


def test_ends_and_refusals() -> None:
    assert packed_coins(Fraction(0), 3).tolist() == [0, 0, 0]
    assert packed_coins(Fraction(1), 2).tolist() == [(1 << 64) - 1] * 2
    assert packed_coins(Fraction(1, 2), 0).size == 0
    with pytest.raises(ParameterError, match="not a probability"):
        packed_coins(Fraction(3, 2), 1)
    with pytest.raises(ParameterError, match="negative"):
        packed_coins(Fraction(1, 2), -1)


def test_blocks_do_not_repeat() -> None:
    words = packed_coins(Fraction(1, 2), 100_000)
    assert len(np.unique(words)) == words.size
