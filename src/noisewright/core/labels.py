"""Labels of secrets and outputs as plain JSON values, without loss.

Numbers, strings, booleans and ``None`` stand for themselves; tuples and fractions, which JSON does not have, are wrapped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.core.errors import FileFormatError, NoisewrightError, ParameterError
from noisewright.core.exact import fraction_or_none

__all__ = [
    "MOST_LABELS",
    "as_labels",
    "decode_label",
    "encode_label",
    "encode_number",
    "labels_between",
    "plain_label",
]

MOST_LABELS = 10_000_000
"""A range or a count of labels stops here; no mechanism builds more in memory."""

LONGEST_NUMBER = 6_000
"""Numbers of more bits than this are not written: no reader should have to expand them."""


def as_labels(names: object, what: str, error: type[NoisewrightError] = ParameterError) -> tuple[Hashable, ...]:
    """Labels as a tuple; what cannot be one is refused with ``error``, in whose sentence ``what`` names the parameter."""
    try:
        labels = tuple(plain_label(name) for name in names)  # type: ignore[attr-defined]
    except TypeError:
        if isinstance(names, Iterable) and not (isinstance(names, np.ndarray) and names.ndim == 0):
            raise
        raise error(f"{what} must be a list of numbers, strings or tuples, not {type(names).__name__}.") from None
    try:
        hash(labels)
    except TypeError:
        raise error(f"{what} must be numbers, strings or tuples; a list cannot be a label.") from None
    for label in labels:
        problem = None if type(label) is int else _problem(label)
        if problem:
            raise error(f"{what} must be numbers, strings or tuples; {problem} cannot be a label.")
    return labels


def plain_label(label: Any) -> Any:
    """numpy scalars, also inside tuples, become the Python numbers they stand for: labels print and are written plainly."""
    if isinstance(label, tuple):
        return tuple(plain_label(part) for part in label)
    return label.item() if isinstance(label, np.generic) else label


def labels_between(text: str, name: str) -> range | None:
    """The integers that text such as ``0..120`` means, both ends included; None for other text.

    >>> labels_between("3..5", "points"), labels_between("a, b", "points")
    (range(3, 6), None)
    """
    ends = re.fullmatch(r"\s*(-?\d{1,18})\.\.(-?\d{1,18})\s*", text, re.ASCII)
    if ends is None:
        return None
    low, high = int(ends[1]), int(ends[2])
    if low > high or high - low >= MOST_LABELS:
        raise ParameterError(f"{name} = {text} must go from a low to a high number, over {MOST_LABELS} at most.")
    return range(low, high + 1)


def _problem(label: Hashable) -> str | None:
    """Why something cannot be a label, or None."""
    if isinstance(label, tuple):
        return next((problem for problem in map(_problem, label) if problem), None)
    if isinstance(label, str) and not _is_text(label):
        return "a string with half of a character (a lone surrogate)"
    return "NaN" if isinstance(label, float) and math.isnan(label) else None


def _is_text(text: str) -> bool:
    """Return whether a string can be written as UTF-8."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def encode_label(label: Hashable) -> Any:
    """A label as a JSON value."""
    if isinstance(label, tuple):
        return {"tuple": [encode_label(part) for part in label]}
    if isinstance(label, Fraction):
        if max(label.numerator.bit_length(), label.denominator.bit_length()) > LONGEST_NUMBER:
            raise ParameterError("a label that is a fraction of thousands of digits cannot be written to a file.")
        return {"fraction": str(label)}
    if isinstance(label, str) and not _is_text(label):
        raise ParameterError("a label with half of a character (a lone surrogate) cannot be written to a file.")
    if isinstance(label, int) and label.bit_length() > LONGEST_NUMBER:
        raise ParameterError("a label that is a whole number of thousands of digits cannot be written to a file.")
    if isinstance(label, float) and not math.isfinite(label):
        raise ParameterError("a label that is not a finite number cannot be written to a file.")
    if label is None or isinstance(label, (str, int, float, bool)):
        return label
    raise ParameterError(f"a label of type {type(label).__name__} cannot be written to a file; use numbers or strings.")


def encode_number(value: float) -> float | str:
    """A number as a JSON value: JSON has no infinity, which is written as text.

    >>> encode_number(0.5), encode_number(math.inf)
    (0.5, 'inf')
    """
    return value if math.isfinite(value) else "inf"


def decode_label(value: Any) -> Hashable:
    """The label that :func:`encode_label` wrote."""
    if isinstance(value, dict):
        if list(value) == ["tuple"] and isinstance(value["tuple"], list):
            return tuple(decode_label(part) for part in value["tuple"])
        if list(value) == ["fraction"]:
            number = fraction_or_none(value["fraction"])
            if number is None:
                raise FileFormatError("a label in this file is a fraction that cannot be read.")
            return number
        raise FileFormatError("a label in this file is neither a number, a string nor a tuple of those.")
    if isinstance(value, list):
        raise FileFormatError("a label in this file is a list; labels are numbers, strings or tuples.")
    if isinstance(value, float) and not math.isfinite(value):
        raise FileFormatError("a label in this file is NaN or infinite; labels are finite numbers, strings or tuples.")
    if isinstance(value, str) and not _is_text(value):
        raise FileFormatError(
            "a label in this file has half of a character (a lone surrogate); write it as whole text."
        )
    label: Hashable = value
    return label
