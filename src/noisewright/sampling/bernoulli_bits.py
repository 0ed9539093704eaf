"""Coins with an exact probability, even one that no machine number can hold, such as :math:`e^{-1/3}`.

A coin shows True when ``U < p``, with ``U`` uniform on [0, 1). The first 32 bits of ``U`` settle that for all but about
one draw in 2**32; the others get more bits of ``U`` and tighter bounds of ``p`` until they are settled, without end if
need be. Therefore the law is exact: no precision is chosen, and no float takes part.

The lazy comparison is due to D. Knuth and A. Yao (1976); coins for :math:`e^{-x}` in privacy are from C. Canonne,
G. Kamath and T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020.

A coin shows 1 when ``U < p``, with ``U`` uniform on [0, 1). The bits of ``U`` and of ``p`` are compared from the first
one on, for 64 coins at once: where they differ the coin is settled, and half of the coins are with each bit. Words whose
coins are all settled are left alone, so a coin takes about an eighth of a word of random bits, and no float takes part.
A probability over a power of two ends the comparison exactly; any other is compared for as long as it takes.

>>> coins = packed_coins(Fraction(1, 4), 10_000, rng=np.random.default_rng(1))
>>> bool(abs(np.bitwise_count(coins).mean() / 64 - 0.25) < 0.005)
True

Reading the bits of ``U`` lazily is due to D. Knuth and A. Yao (1976).

The truth comes out with probability ``keep / 2**width``, each of the other ``size - 1`` answers with ``other / 2**width``, and
``keep <= e^epsilon other``, proved in integers. Everything that answers so, a column or a device, takes its integers from
here.

>>> found = response_integers(2, Fraction(1))
>>> round(found.other / 2**found.width, 6), found.keep + found.other == 2**found.width
(0.268941, True)
>>> response_integers(2, Fraction(0)).flip  # fair coins
Fraction(1, 2)

Reference: Warner (1965); Kairouz, Oh and Viswanath, *Extremal mechanisms for local differential privacy* (2014).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.figures import ceil_div, exp_bounds
from noisewright.exceptions import ParameterError
from noisewright.numerics.exact import Exact, as_fraction
from noisewright.sampling.categorical import decide
from noisewright.sampling.random_bits import BLOCK, Bits, Rng, Size, bits_from, draw_blocks, half_words

__all__ = [
    "Probability",
    "ResponseIntegers",
    "bernoulli",
    "bernoulli_exp",
    "coins",
    "packed_coins",
    "response_integers",
    "settle",
]


@dataclass(frozen=True)
class Probability:
    r"""A real number in [0, 1], known by bounds that can be made as tight as one likes.

    Make one with :meth:`fraction` (a rational number), :meth:`exp` (:math:`e^{-x}`) or :meth:`logistic`
    (:math:`1/(1 + e^x)`).

    >>> Probability.fraction("1/3").bounds(4)
    (5, 6)
    >>> low, high = Probability.exp(1).bounds(64)
    >>> low / 2**64 <= 0.36787944117144233 <= high / 2**64, high - low <= 2
    (True, True)
    """

    law: Literal["fraction", "exp", "logistic"]
    argument: Fraction

    def __post_init__(self) -> None:
        if self.law == "fraction" and not 0 <= self.argument <= 1:
            raise ParameterError(f"probability = {self.argument} is not a probability; give a number from 0 to 1.")
        if self.law == "exp" and self.argument < 0:
            raise ParameterError(f"exponent = {self.argument} would give a probability above 1; give 0 or more.")

    @classmethod
    def fraction(cls, value: Exact) -> Probability:
        """The rational number ``value``, taken exactly."""
        return cls("fraction", as_fraction(value, "probability"))

    @classmethod
    def exp(cls, exponent: Exact) -> Probability:
        """The number ``e**-exponent``, for an exponent of 0 or more."""
        return cls("exp", as_fraction(exponent, "exponent"))

    @classmethod
    def logistic(cls, exponent: Exact) -> Probability:
        """The number ``1 / (1 + e**exponent)``, for any exponent."""
        return cls("logistic", as_fraction(exponent, "exponent"))

    def bounds(self, bits: int) -> tuple[int, int]:
        """Integers ``(low, high)`` with ``low <= p * 2**bits <= high``, at most three apart."""
        x, one = self.argument, 1 << bits
        if self.law == "fraction":
            return (x.numerator << bits) // x.denominator, ceil_div(x.numerator << bits, x.denominator)
        if self.law == "exp":
            # Beyond this exponent the number is below one unit, and its exponential would not fit in memory.
            return (0, 1) if x >= bits + 1 else _inside(exp_bounds(-x, bits), one)
        if x < 0:
            low, high = Probability("logistic", -x).bounds(bits)
            return one - high, one - low
        if x >= bits + 1:
            return 0, 1
        low, high = exp_bounds(x, bits + 2)
        four = one << 2
        return (one * four) // (four + high), ceil_div(one * four, four + low)

    @cached_property
    def first_word(self) -> tuple[int, int]:
        """Bounds of ``p * 2**32``: equal when it is an integer, otherwise one apart (two in freak cases)."""
        low, high = self.bounds(96)
        return low >> 64, ceil_div(high, 1 << 64)


@overload
def bernoulli(p: Probability | Exact, size: None = None, rng: Rng = None) -> bool: ...
@overload
def bernoulli(p: Probability | Exact, size: Size, rng: Rng = None) -> NDArray[np.bool_]: ...
def bernoulli(p: Probability | Exact, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent coins with ``P(True) = p``, exactly; ``p`` is a number from 0 to 1 or a :class:`Probability`.

    >>> bernoulli(1), bernoulli(0)
    (True, False)
    >>> bool(abs(bernoulli("1/3", size=30_000, rng=np.random.default_rng(1)).mean() - 1 / 3) < 0.02)
    True
    """
    bits = bits_from(rng)
    probability = p if isinstance(p, Probability) else Probability.fraction(p)
    return draw_blocks(size, np.bool_, lambda count: coins(probability, count, bits))


@overload
def bernoulli_exp(exponent: Exact, size: None = None, rng: Rng = None) -> bool: ...
@overload
def bernoulli_exp(exponent: Exact, size: Size, rng: Rng = None) -> NDArray[np.bool_]: ...
def bernoulli_exp(exponent: Exact, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent coins with ``P(True) = e**-exponent``, exactly, for a rational exponent of 0 or more.

    >>> bernoulli_exp(0), bernoulli_exp(10**9)
    (True, False)
    """
    bits = bits_from(rng)
    probability = Probability.exp(exponent)
    return draw_blocks(size, np.bool_, lambda count: coins(probability, count, bits))


def coins(p: Probability, count: int, bits: Bits) -> NDArray[np.bool_]:
    """``count`` coins at once: one half word each, and more only for those that it does not settle."""
    low, high = p.first_word
    if low == high and low in (0, 1 << 32):
        return np.full(count, low > 0)
    words = half_words(bits, count)
    result = words < np.uint32(low)
    tied = words == np.uint32(low) if high == low + 1 else (words >= low) & (words < high)
    if tied.any():
        for position in np.flatnonzero(tied):
            result[position] = settle(p, int(words[position]), bits)
    return result


def settle(p: Probability, word: int, bits: Bits) -> bool:
    """Return whether ``U < p``, when the first 32 bits of ``U`` are ``word``; draws more bits only if they are
    needed.
    """

    def enclosure(width: int) -> tuple[tuple[int], tuple[int]]:
        low, high = p.bounds(width + 64)  # tight when rounded to this width, so that no bit is drawn in vain
        return (low >> 64,), (ceil_div(high, 1 << 64),)

    return decide(enclosure, word, 32, bits) == 0


def _inside(bounds: tuple[int, int], one: int) -> tuple[int, int]:
    return bounds[0], min(bounds[1], one)


# Packed -------------------------------------------------------------------------------------------------------------------
#
# Many coins with one exact probability, sixty-four to a word: one bit of the result is one coin.


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


# Response -----------------------------------------------------------------------------------------------------------------
#
# The integers of randomised response: both of its probabilities over one power of two, rounded towards privacy.


@dataclass(frozen=True)
class ResponseIntegers:
    """The probabilities of a response among ``size`` answers."""

    size: int
    width: int
    """Probabilities are integers over two to this power."""
    precision: int
    """Number of bits after the point of e^epsilon that prove the claim."""
    keep: int
    """The truth's."""
    other: int
    """Each other answer's."""

    @property
    def flip(self) -> Fraction:
        """The probability of each other answer; of a bit, that it is flipped."""
        return Fraction(self.other, 1 << self.width)


def response_integers(size: int, epsilon: Fraction) -> ResponseIntegers:
    """Return the integers for ``epsilon``, which is at least 0; at 0 each of ``size`` answers, a power of two then, is
    equally likely.
    """
    if not epsilon:
        width = (size - 1).bit_length()
        return ResponseIntegers(size, width, width + 64, 1, 1)
    # The smaller probability is about e^-epsilon / k. Forty significant bits of it are kept. A small epsilon needs more
    # bits to distinguish e^epsilon from 1, so that the truth stays the more likely answer.
    fine = ceil_div(epsilon.denominator, epsilon.numerator).bit_length()
    width = 64 + 2 * size.bit_length() + math.ceil(epsilon * 3 / 2) + fine
    precision = width + 64
    factor = exp_bounds(min(epsilon, Fraction(precision)), precision)[0]
    other = ceil_div(1 << (width + precision), factor + ((size - 1) << precision))
    return ResponseIntegers(size, width, precision, (1 << width) - (size - 1) * other, other)
