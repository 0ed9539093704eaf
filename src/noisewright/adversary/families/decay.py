r"""The one number that makes a member of a family: ``a = e^(-epsilon)``, known exactly or to any requested number of
bits.

A decay is given as a fraction (``1/2`` is ``epsilon = ln 2``) or by a rational epsilon. Two of them are compared without
rounding: ``e^(-epsilon)`` for a rational ``epsilon > 0`` is never a fraction (Hermite and Lindemann), so bounds decide.

>>> half, one = Decay.of(decay="1/2"), Decay.of(epsilon=1)
>>> half.compare(one), half.epsilon_up() >= 0.6931471805599453
(1, True)
>>> Decay.of(epsilon="0.1").compare(Decay.of(epsilon=0.1))  # the float 0.1 is a little above one tenth
1
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from noisewright.adversary.exact.enclosures import Enclosure, Number
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, float_down, float_up, log_bounds

__all__ = ["LARGEST_EPSILON", "Decay"]

LARGEST_EPSILON = 10_000
"""Beyond this nothing is hidden, and the probabilities have thousands of digits."""
SMALLEST_EPSILON = Fraction(1, 10**100)
"""Below this, and greater than 0, no feasible number of outputs reveals anything."""


@dataclass(frozen=True)
class Decay:
    """A number greater than 0 and at most 1: ``exact``, or ``e**-rate`` for a fraction ``rate``; one of the two is
    None.
    """

    exact: Fraction | None
    rate: Fraction | None

    @classmethod
    def of(cls, *, epsilon: Exact | None = None, decay: Exact | None = None) -> Decay:
        """The decay of an epsilon of 0 or more, or a fraction greater than 0 and at most 1; give one of the two."""
        if (epsilon is None) == (decay is None):
            raise ParameterError(
                "a member of a family needs either epsilon or decay (e to the minus epsilon), not both."
            )
        if decay is not None:
            value = as_fraction(decay, "decay")
            if not 0 < value <= 1:
                raise ParameterError("decay is e to the minus epsilon: it must be above 0 and at most 1.")
            if value < Fraction(1, 10**4000) or 1 - SMALLEST_EPSILON < value < 1:
                raise ParameterError(f"decay is too near to 0 or 1; epsilon is 0, or from 1e-100 to {LARGEST_EPSILON}.")
            return cls(value, None)
        rate = as_fraction(epsilon, "epsilon")
        if rate != 0 and not SMALLEST_EPSILON <= rate <= LARGEST_EPSILON:
            raise ParameterError(f"epsilon must be 0, or between 1e-100 and {LARGEST_EPSILON}, to compare families.")
        return cls(Fraction(1), None) if rate == 0 else cls(None, rate)

    def number(self, bits: int) -> Number:
        """The decay itself where it is a fraction, otherwise an enclosure; it and one minus it have at least the given
        number of significant bits.
        """
        if self.exact is not None:
            return self.exact
        assert self.rate is not None
        return Enclosure.of_exp(-self.rate, bits + self.fine)

    @property
    def fine(self) -> int:
        """Number of bits that one minus the decay needs beyond the decay: the bits of ``1/epsilon``."""
        return math.ceil(1 / Fraction(-self.log)).bit_length() if self.log else 0

    @property
    def log(self) -> float:
        """The logarithm ``-epsilon`` as the nearest float, or a neighbouring float."""
        if self.rate is not None:
            return -float(self.rate)
        low, high = self._epsilon_ends()
        return -float((low + high) / 2)

    def epsilon_up(self) -> float:
        """The epsilon, rounded up."""
        return float_up(self._epsilon_ends()[1])

    def epsilon_down(self) -> float:
        """The epsilon, rounded down."""
        return max(0.0, float_down(self._epsilon_ends()[0]))

    def compare(self, other: Decay) -> int:
        """-1, 0 or 1 as this decay is below, equal to or above the other, that is: more, equally or less revealing."""
        if self.exact is not None and other.exact is not None:
            return (self.exact > other.exact) - (self.exact < other.exact)
        if self.rate is not None and other.rate is not None:
            return (self.rate < other.rate) - (self.rate > other.rate)
        bits = 64
        while True:  # a fraction and a power of e are different numbers, so enough bits distinguish them
            sign = (Enclosure.of_fraction(0, bits) + self.number(bits) - other.number(bits)).sign()
            if sign is not None:
                return sign
            bits *= 2

    def _epsilon_ends(self) -> tuple[Fraction, Fraction]:
        if self.rate is not None:
            return self.rate, self.rate
        assert self.exact is not None
        if self.exact == 1:
            return Fraction(0), Fraction(0)
        fine = 1 / (1 - self.exact)  # an epsilon near 0 keeps its leading digits
        bits = 128 + math.ceil(fine).bit_length()
        low, high = log_bounds(1 / self.exact, bits)
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)
