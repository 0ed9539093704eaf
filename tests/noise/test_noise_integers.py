from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noise_support import LEVEL, Scripted, chi_square

from noisewright.exceptions import ParameterError
from noisewright.sampling import random_order, uniform_below


@pytest.mark.parametrize(
    ("bound", "cells"), [(6, 6), (1000, 1000), (3 << 30, 3), (3 << 40, 12), (3 << 62, 3), (3 << 90, 3)]
)
def test_every_value_is_equally_likely(bound: int, cells: int) -> None:
    """Bounds of three quarters of a power of two: a plain remainder would make the first third twice as likely."""
    size = 300_000 if bound <= 1 << 64 else 20_000
    draws = uniform_below(bound, size=size, rng=np.random.default_rng(11))
    cell = np.array([int(d) * cells // bound for d in draws])
    assert chi_square(cell, lambda _: 1 / cells, range(cells)) > LEVEL


def test_an_array_of_bounds_gives_each_its_own_law() -> None:
    bounds = np.array([1, 2, 3, 5, 3 << 61])
    draws = uniform_below(bounds, size=(100_000, 5), rng=np.random.default_rng(12))
    assert draws.dtype == np.int64
    assert (draws[:, 0] == 0).all()
    for column, bound in enumerate([2, 3, 5], start=1):
        assert chi_square(draws[:, column], lambda _, n=bound: 1 / n, range(bound)) > LEVEL
    assert chi_square(draws[:, 4] // (1 << 61), lambda _: 1 / 3, range(3)) > LEVEL


@pytest.mark.parametrize("bound", [3, 6, 7, 1000, 2**31 + 1, 2**32 - 1])
def test_each_outcome_owns_the_same_number_of_words(bound: int) -> None:
    """The words that give k form an interval; its ends are probed, and it must have floor(2**32 / bound) words."""

    def outcome(word: int) -> int | None:
        """None when the word is thrown away: the answer then comes from the second word, which gives bound - 1."""
        bits = Scripted([word, 2**32 - 1])
        result = uniform_below(bound, rng=bits)
        return result if bits.used == 1 else None

    share = 2**32 // bound
    for k in {0, 1, bound // 2, bound - 1}:
        last = ((k + 1) * 2**32 - 1) // bound  # the last word whose product stays below (k + 1) 2**32
        first = last - share + 1
        assert outcome(first) == k
        assert outcome(last) == k
        if first > 0:
            assert outcome(first - 1) != k
        if last < 2**32 - 1:
            assert outcome(last + 1) != k


def test_words_above_the_bound_are_drawn_again() -> None:
    bits = Scripted([2**40 + 1, (1 << 63) | 2**40, 2**41 - 1, 5])
    # 2**40 + 1 values: 41 bits are kept, so 2**40 + 1 and 2**41 - 1 are too large; the second word is cut to 2**40.
    assert uniform_below(2**40 + 1, size=2, rng=bits).tolist() == [5, 2**40]
    assert bits.used == 4


@given(st.integers(1, 2**200), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_one_bound(bound: int, seed: int) -> None:
    draws = uniform_below(bound, size=5, rng=np.random.default_rng(seed))
    assert all(0 <= int(d) < bound for d in draws)
    expected = np.int64 if bound <= 2**63 else np.uint64 if bound <= 2**64 else np.object_
    assert draws.dtype == expected
    one = uniform_below(bound, rng=np.random.default_rng(seed))
    assert type(one) is int
    assert 0 <= one < bound


@given(st.lists(st.integers(1, 2**70), max_size=20), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_many_bounds(bounds: list[int], seed: int) -> None:
    draws = uniform_below(bounds, rng=np.random.default_rng(seed))
    assert draws.shape == (len(bounds),)
    assert all(0 <= int(d) < b for d, b in zip(draws, bounds, strict=True))


def test_shapes_and_edges() -> None:
    assert uniform_below(2**64, size=(2, 3)).shape == (2, 3)
    assert uniform_below(5, size=0).shape == (0,)
    assert uniform_below(1, size=4).tolist() == [0, 0, 0, 0]
    assert uniform_below([2**63, 2**64]).dtype == np.uint64
    assert uniform_below(np.int8(100), size=3).dtype == np.int64
    assert uniform_below(2**64, size=1, rng=Scripted([2**64 - 1])).tolist() == [2**64 - 1]


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        (0, "bound = 0 leaves nothing to draw"),
        (-3, "give a whole number greater than 0"),
        (1.5, "bound must be a whole number, not float"),
        ("6", "bound must be a whole number, not str"),
        ([3, 0], "bound holds a number below 1"),
        (np.array([3, -1]), "bound holds a number below 1"),
        ([2**70, 0], "bound holds a number below 1"),
        ([1.5, 2.0], "bound must hold whole numbers"),
        (np.array([1.5]), "bound must hold whole numbers"),
    ],
)
def test_bad_bounds(bound: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        uniform_below(bound)


def test_bad_sizes() -> None:
    with pytest.raises(ParameterError, match="size = -1 is negative"):
        uniform_below(6, size=-1)
    with pytest.raises(ParameterError, match=r"size = \(2, -1\) is negative"):
        uniform_below([1, 2], size=(2, -1))
    with pytest.raises(ParameterError, match="not a count"):
        uniform_below(6, size=2.5)
    with pytest.raises(ParameterError, match=r"shape \(3,\), which does not fit size \(2,\)"):
        uniform_below([1, 2, 3], size=2)


def test_a_random_order_is_uniform() -> None:
    """Over the 24 orders of four things."""
    rng = np.random.default_rng(3)
    numbers = {order: number for number, order in enumerate(permutations(range(4)))}
    drawn = np.array([numbers[tuple(random_order(4, rng))] for _ in range(4800)])
    assert chi_square(drawn, lambda _: 1 / 24, range(24)) > LEVEL
    assert random_order(0) == []
