r"""The factor ``q = e^epsilon`` in exact arithmetic: a rational number, or the exponential of one.

Extreme points are built from numbers that do not depend on ``q``; ``q`` enters at the end, in comparisons between
polynomials in it. Where ``epsilon`` is a rational number other than 0 its exponential is transcendental (Lindemann), so
a polynomial with rational coefficients is 0 there only if it is 0 everywhere, and its sign is found by bounds that get
tighter until they settle. Therefore every comparison is decided, and none by a tolerance.

>>> Factor.of(epsilon=1).sign([-2718281828459045235360287471352, 10**30])
1
>>> Factor.of(factor=2).sign([-4, 0, 1])
0
>>> Factor.of(factor="3/2")
Factor(epsilon=None, exact=Fraction(3, 2))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from noisewright.core.channels.certified import LARGEST_EPSILON
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, exp_bounds, float_down, in_words, log_bounds, positive_fraction

__all__ = ["Factor"]


@dataclass(frozen=True)
class Factor:
    """The largest ratio that two secrets may have at one output: ``exact``, or ``e^epsilon``."""

    epsilon: Fraction | None
    exact: Fraction | None

    @classmethod
    def of(cls, *, epsilon: Exact | None = None, factor: Exact | None = None) -> Factor:
        """Build it from an epsilon, or from the factor ``e^epsilon`` itself as a rational number."""
        if (epsilon is None) == (factor is None):
            raise ParameterError("give either epsilon or factor (which is e^epsilon), not both and not neither.")
        if factor is not None:
            exact = positive_fraction(factor, "factor")
            if exact < 1:
                raise ParameterError(f"factor is e^epsilon, so it must be 1 or more, not {in_words(exact)}.")
            return cls(None, exact)
        budget = as_fraction(epsilon, "epsilon")
        if budget < 0:
            raise ParameterError(f"epsilon must be 0 or more, not {in_words(budget)}.")
        if budget > LARGEST_EPSILON:
            raise ParameterError(f"epsilon must be at most {LARGEST_EPSILON}; a larger one hides nothing.")
        return cls(budget, Fraction(1) if budget == 0 else None)

    @property
    def is_one(self) -> bool:
        """Return whether nothing may be revealed at all (``epsilon = 0``)."""
        return self.exact == 1

    def bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        """Rational numbers below and above the factor, about ``2**-bits`` of it apart."""
        if self.exact is not None:
            return self.exact, self.exact
        assert self.epsilon is not None
        low, high = exp_bounds(self.epsilon, bits)
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    def sign(self, polynomial: Sequence[int | Fraction]) -> int:
        """The sign of ``p[0] + p[1] q + p[2] q^2 + ...``, exactly."""
        if not any(polynomial):
            return 0
        bits = 64
        while True:
            low, high = self.bounds(bits)
            below = sum((c * (low if c > 0 else high) ** k for k, c in enumerate(polynomial)), Fraction(0))
            if below > 0 or (low == high and below == 0):
                return 1 if below > 0 else 0
            above = sum((c * (high if c > 0 else low) ** k for k, c in enumerate(polynomial)), Fraction(0))
            if above < 0:
                return -1
            bits *= 2

    def ratio(self, above: Sequence[Fraction], below: Sequence[Fraction]) -> Fraction:
        """The value of a quotient of two polynomials, exact for a rational factor and to 100 bits or so otherwise."""
        q = self.near
        return _evaluate(above, q) / _evaluate(below, q)

    @property
    def near(self) -> Fraction:
        """The factor itself where it is rational, otherwise a number just below it (by about one part in 2^160)."""
        return self.bounds(160)[0]

    @property
    def budget(self) -> Fraction:
        """The epsilon: exact where it was given, otherwise the float just below the logarithm of the factor."""
        if self.epsilon is not None:
            return self.epsilon
        assert self.exact is not None
        return Fraction(max(0.0, float_down(Fraction(log_bounds(self.exact, 128)[0], 1 << 128))))

    def __float__(self) -> float:
        try:
            return float(self.near)
        except OverflowError:
            return math.inf

    def __str__(self) -> str:
        return f"factor = {self.exact}" if self.epsilon is None else f"epsilon = {in_words(self.epsilon)}"


def _evaluate(polynomial: Sequence[Fraction], q: Fraction) -> Fraction:
    return sum((c * q**k for k, c in enumerate(polynomial)), Fraction(0))
