r"""The integers of randomised response: both of its probabilities over one power of two, rounded towards privacy.

The truth comes out with probability ``keep / 2**width``, each of the other ``size - 1`` answers with ``other / 2**width``, and
``keep <= e^epsilon other``, proved in integers. Everything that answers so, a column or a device, takes its integers from here.

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

from noisewright.core.exact import ceil_div, exp_bounds

__all__ = ["ResponseIntegers", "response_integers"]


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
