"""How much a number in floats may miss a bound and still count as on it."""

from __future__ import annotations

import numbers

from noisewright.core.errors import ParameterError

__all__ = ["as_tolerance"]

LARGEST = 1e-3
"""A larger tolerance would hide what it is asked about."""


def as_tolerance(tolerance: object) -> float:
    """A tolerance, checked.

    >>> as_tolerance(1e-9)
    1e-09
    """
    number = isinstance(tolerance, numbers.Real) and not isinstance(tolerance, bool)
    if not number or not 0 < tolerance <= LARGEST:  # type: ignore[operator]
        raise ParameterError("tolerance must be a number above 0 and at most 0.001.")
    return float(tolerance)  # type: ignore[arg-type]
