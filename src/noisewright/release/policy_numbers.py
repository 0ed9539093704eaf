"""Numbers in a policy: exact, as they were written.

``0.1`` in a policy is one tenth, and so are ``"0.1"`` and ``"1/10"``. TOML hands decimals over as they were written
(:class:`decimal.Decimal`); a Python float counts as the decimal that Python prints for it.

>>> number(0.1) == number("1/10") == number(Decimal("0.1")) == Fraction(1, 10)
True
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from noisewright.core.errors import ParameterError
from noisewright.core.exact import LARGEST_SPELLED, as_fraction
from noisewright.release.policy_kinds import Kind, each, listed, plain, wrong

__all__ = [
    "IS_FRACTION",
    "IS_NUMBER",
    "IS_POSITIVE",
    "Chance",
    "Number",
    "Positive",
    "Weights",
    "Whole",
    "number",
    "positive",
    "whole",
]

IS_NUMBER: dict[str, Any] = {
    "anyOf": [
        {"type": "number"},
        {"type": "string", "pattern": r"^\s*[-+]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)\s*$"},
    ]
}

IS_FRACTION = {"type": "string", "pattern": r"^\s*\+?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)\s*$"}

IS_POSITIVE: dict[str, Any] = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, IS_FRACTION]}

IS_CHANCE: dict[str, Any] = {"anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, IS_FRACTION]}


def number(value: Any) -> Fraction:
    """A number, exactly as it was written."""
    value = plain(value)
    if isinstance(value, (float, Decimal)):
        if not _finite(value):
            raise wrong("must be a finite number; write a number such as 0.5")
        if isinstance(value, Decimal) and abs(value.adjusted()) > LARGEST_SPELLED:
            raise wrong('is far too long or too large a number; write it like 0.5 or "1/2"')
        value = repr(float(value)) if isinstance(value, float) else str(value)
    try:
        found = as_fraction(value)
    except ParameterError:
        raise wrong('must be a number; write it like 0.5 or "1/2"') from None
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > LARGEST_SPELLED:
        raise wrong('is far too long or too large a number; write it like 0.5 or "1/2"')
    return found


def positive(value: Any) -> Fraction:
    """A number above 0."""
    found = number(value)
    if found <= 0:
        raise wrong("must be greater than 0; write a number such as 0.5")
    return found


def _chance(value: Any) -> Fraction:
    found = number(value)
    if not 0 <= found < 1:
        raise wrong("must be at least 0 and below 1; write a small number such as 1e-6")
    return found


def whole(value: Any) -> int:
    """A whole number from 1 on."""
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
        raise wrong("must be a whole number from 1 on; write one such as 3")
    return value


def _weights(value: Any) -> tuple[Fraction, ...]:
    return tuple(each(listed(value, "write shares such as [1, 3]"), positive))


def _finite(value: float | Decimal) -> bool:
    return value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)


Number = Annotated[Fraction, Kind(number, IS_NUMBER)]
Positive = Annotated[Fraction, Kind(positive, IS_POSITIVE)]
Chance = Annotated[Fraction, Kind(_chance, IS_CHANCE)]
Whole = Annotated[int, Kind(whole, {"type": "integer", "minimum": 1})]
Weights = Annotated[
    tuple[Fraction, ...], Kind(_weights, {"type": "array", "items": IS_POSITIVE, "minItems": 2, "maxItems": 3})
]
