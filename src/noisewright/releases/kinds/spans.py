"""Lengths of time, such as ``"7 days"``: how far apart dates and times are that a policy protects.

>>> str(Span(Fraction(7 * 86_400))), Span(Fraction(5_400)).days, str(Span(Fraction(5_400)))
('7 days', None, '90 minutes')
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["UNITS", "Span"]

UNITS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
"""Units of time in seconds, the largest first."""


@dataclass(frozen=True)
class Span:
    """A length of time, such as 7 days."""

    seconds: Fraction

    @property
    def days(self) -> int | None:
        """How many whole days it is, if it is."""
        days = self.seconds / UNITS["day"]
        return days.numerator if days.denominator == 1 else None

    def __str__(self) -> str:
        """In the largest unit of which it is a whole number."""
        unit = next((unit for unit, size in UNITS.items() if (self.seconds / size).denominator == 1), "second")
        size = self.seconds / UNITS[unit]
        return f"{size} {unit}" + ("" if size == 1 else "s")
