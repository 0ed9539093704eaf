"""Lengths of time, such as ``"7 days"``: how far apart dates and times are that a policy protects.

>>> str(Span(Fraction(7 * 86_400))), Span(Fraction(5_400)).days, str(Span(Fraction(5_400)))
('7 days', None, '90 minutes')
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["UNITS", "Span", "largest_unit"]

UNITS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
"""Units of time in seconds, the largest first."""


@dataclass(frozen=True)
class Span:
    """A length of time, such as 7 days."""

    seconds: Fraction

    @property
    def days(self) -> int | None:
        """Number of whole days in it, if it is whole."""
        days = self.seconds / UNITS["day"]
        return days.numerator if days.denominator == 1 else None

    def __str__(self) -> str:
        """Format it in the largest unit of which it is an integer."""
        size, unit = largest_unit(self.seconds)
        return f"{size} {unit}" + ("" if size == 1 else "s")


def largest_unit(seconds: Fraction) -> tuple[Fraction, str]:
    """Return a length of time in the largest unit of which it is an integer, and that unit.

    >>> largest_unit(Fraction(7200)), largest_unit(Fraction(3, 2))
    ((Fraction(2, 1), 'hour'), (Fraction(3, 2), 'second'))
    """
    unit = next((unit for unit, size in UNITS.items() if (seconds / size).denominator == 1), "second")
    return seconds / UNITS[unit], unit
