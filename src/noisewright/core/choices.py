"""Parameters that are one of a few words."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

from noisewright.core.errors import ParameterError

__all__ = ["as_slack", "as_tolerance", "one_of"]


def one_of(value: object, name: str, allowed: Sequence[str]) -> str:
    """The value, if it is one of the allowed words; ``name`` is the parameter's, for the message.

    >>> one_of("clamp", "outside", ("refuse", "clamp"))
    'clamp'
    >>> one_of(3, "outside", ("refuse", "clamp"))
    Traceback (most recent call last):
    noisewright.core.errors.ParameterError: outside must be 'refuse' or 'clamp', not a thing of type int.
    """
    if isinstance(value, str):  # first of all: an array would be compared entry by entry
        if value in allowed:
            return value
        shown = repr(value) if len(value) <= 40 else f"{value[:40]!r}..."
    else:
        shown = "None" if value is None else f"a thing of type {type(value).__name__}"
    words = [repr(word) for word in allowed]
    raise ParameterError(f"{name} must be {', '.join(words[:-1])} or {words[-1]}, not {shown}.")


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


def as_slack(slack: object, refusal: str) -> float:
    """How far something may be off, from 0 (not at all) to below 1; anything else is refused in these words.

    >>> as_slack(0, "the slack is a number from 0 to below 1.")
    0.0
    """
    number = isinstance(slack, numbers.Real) and not isinstance(slack, bool)
    if not number or not 0 <= slack < 1:  # type: ignore[operator]
        raise ParameterError(refusal)
    return float(slack)  # type: ignore[arg-type]
