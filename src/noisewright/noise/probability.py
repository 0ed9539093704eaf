r"""Coins with an exact probability, even one that no machine number can hold, such as :math:`e^{-1/3}`.

A coin shows True when ``U < p``, with ``U`` uniform on [0, 1). The first 32 bits of ``U`` settle that for all but about
one draw in 2**32; the others get more bits of ``U`` and tighter bounds of ``p`` until they are settled, without end if
need be. Therefore the law is exact: no precision is chosen, and no float takes part.

The lazy comparison is due to D. Knuth and A. Yao (1976); coins for :math:`e^{-x}` in privacy are from C. Canonne,
G. Kamath and T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, ceil_div, exp_bounds
from noisewright.noise._blocks import Size, draw_blocks
from noisewright.noise.bits import Bits, Rng, bits_from, half_words
from noisewright.noise.search import decide

__all__ = ["Probability", "bernoulli", "bernoulli_exp", "coins", "settle"]


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
