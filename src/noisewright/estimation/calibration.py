r"""Making guarantees for different metrics comparable, within a radius.

Randomised response with ``epsilon`` allows a factor of ``e^epsilon`` between *any* two values. A mechanism for a metric
with ``epsilon'`` per unit allows ``e^(epsilon' r)`` at distance ``r``. They guarantee the same within a radius ``r0``
if ``epsilon' = epsilon / r0``. Outside the radius the metric guarantee is weaker, and both numbers must be reported:

>>> print(comparable(epsilon="0.6931", radius=10, diameter=100))
epsilon = 0.06931 per unit: the same factor of 2 within 10, but up to 1024 over the whole range of 100; ...
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from noisewright.claims.readings import within_and_beyond
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, float_up, positive_fraction, upward

__all__ = ["Comparable", "comparable"]


@dataclass(frozen=True)
class Comparable:
    """Two guarantees that agree within a radius."""

    epsilon: Fraction
    radius: Fraction
    diameter: Fraction
    """The largest distance between two secrets."""

    @property
    def per_unit(self) -> Fraction:
        """The epsilon per unit of distance, exactly."""
        return self.epsilon / self.radius

    @property
    def everywhere(self) -> Fraction:
        """The epsilon per unit that would keep the guarantee over the whole range."""
        return self.epsilon / self.diameter

    @property
    def factor(self) -> float:
        """The largest factor between two secrets within the radius, rounded up."""
        return _exp_up(self.epsilon)

    @property
    def worst_factor(self) -> float:
        """The largest factor between any two secrets, rounded up."""
        return _exp_up(self.per_unit * self.diameter)

    def __str__(self) -> str:
        near, far = _plain(self.radius), _plain(self.diameter)
        return within_and_beyond(self.per_unit, self.factor, near, self.worst_factor, far, self.everywhere)


def comparable(*, epsilon: Exact, radius: Exact, diameter: Exact) -> Comparable:
    """The epsilon per unit of distance that guarantees within ``radius`` what ``epsilon`` guarantees between any two
    values.
    """
    found = Comparable(
        positive_fraction(epsilon, "epsilon"),
        positive_fraction(radius, "radius"),
        positive_fraction(diameter, "diameter"),
    )
    if found.radius > found.diameter:
        raise ParameterError("the radius is larger than the range of the secrets; choose one within it.")
    return found


def _exp_up(exponent: Fraction) -> float:
    value = float_up(exponent)
    return math.inf if value > 709 else math.nextafter(math.exp(value), math.inf)


def _plain(value: Fraction) -> str:
    whole = value.denominator == 1 and value < 10**15
    return str(value) if whole else upward(value)
