r"""Many coins with one exact probability, sixty-four to a word: one bit of the result is one coin.

A coin shows 1 when ``U < p``, with ``U`` uniform on [0, 1). The bits of ``U`` and of ``p`` are compared from the first
one on, for 64 coins at once: where they differ the coin is settled, and half of the coins are with each bit. Words whose
coins are all settled are left alone, so a coin takes about an eighth of a word of random bits, and no float takes part.
A probability over a power of two ends the comparison exactly; any other is compared for as long as it takes.

>>> coins = packed_coins(Fraction(1, 4), 10_000, rng=np.random.default_rng(1))
>>> bool(abs(np.bitwise_count(coins).mean() / 64 - 0.25) < 0.005)
True

Reading the bits of ``U`` lazily is due to D. Knuth and A. Yao (1976).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.noise._blocks import BLOCK
from noisewright.noise.bits import Bits, Rng, bits_from

__all__ = ["packed_coins"]

ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
DENSE_ROUNDS = 6
"""Before this many bits, hardly a word of 64 coins is settled as a whole."""


def packed_coins(p: Fraction, words: int, rng: Rng = None) -> NDArray[np.uint64]:
    """``words`` words of 64 independent bits, each 1 with probability ``p`` exactly."""
    if not 0 <= p <= 1:
        raise ParameterError(f"probability = {p} is not a probability; give a number from 0 to 1.")
    if words < 0:
        raise ParameterError(f"words = {words} is negative; give 0 or more.")
    bits = bits_from(rng)
    result = np.zeros(words, dtype=np.uint64)
    if p == 1:
        result[:] = ALL
        return result
    for start in range(0, words, BLOCK):
        _fill(result[start : start + BLOCK], p, bits)
    return result


def _fill(result: NDArray[np.uint64], p: Fraction, bits: Bits) -> None:
    """Set the bits of ``result``, which is zero: a coin that is never settled has ``U >= p``, and stays 0."""
    open_ = np.full(result.size, ALL)
    spots: NDArray[np.intp] | None = None
    rest, done = p, 0
    while rest and open_.size:
        rest, done = 2 * rest, done + 1
        words = bits.words(open_.size)
        if rest >= 1:  # the bit of p is 1: a bit 0 of U settles that U < p
            rest -= 1
            won = open_ & ~words
            if spots is None:
                result |= won
            else:
                result[spots] |= won
            open_ &= words
        else:  # it is 0: a bit 1 of U settles that U > p
            open_ &= ~words
        if done >= DENSE_ROUNDS:
            left = np.flatnonzero(open_)
            if 4 * left.size < 3 * open_.size:
                spots = left if spots is None else spots[left]
                open_ = open_[left]
