"""Labels of secrets and outputs as plain JSON values, without loss.

Numbers, strings, booleans and ``None`` stand for themselves; tuples and fractions, which JSON does not have, are wrapped.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

from noisewright.core.errors import FileFormatError, ParameterError

__all__ = ["decode_label", "encode_label"]


def encode_label(label: Hashable) -> Any:
    """A label as a JSON value."""
    if isinstance(label, tuple):
        return {"tuple": [encode_label(part) for part in label]}
    if isinstance(label, Fraction):
        return {"fraction": str(label)}
    if isinstance(label, float) and not math.isfinite(label):
        raise ParameterError("a label that is not a finite number cannot be written to a file.")
    if label is None or isinstance(label, (str, int, float, bool)):
        return label
    raise ParameterError(f"a label of type {type(label).__name__} cannot be written to a file; use numbers or strings.")


def decode_label(value: Any) -> Hashable:
    """The label that :func:`encode_label` wrote."""
    if isinstance(value, dict):
        if list(value) == ["tuple"] and isinstance(value["tuple"], list):
            return tuple(decode_label(part) for part in value["tuple"])
        if list(value) == ["fraction"]:
            try:
                return Fraction(value["fraction"])
            except (TypeError, ValueError, ZeroDivisionError):
                raise FileFormatError("a label in this file is a fraction that cannot be read.") from None
        raise FileFormatError("a label in this file is neither a number, a string nor a tuple of those.")
    if isinstance(value, list):
        raise FileFormatError("a label in this file is a list; labels are numbers, strings or tuples.")
    label: Hashable = value
    return label
