"""Columns in words: between which of their values a promise holds."""

from __future__ import annotations

import json
from fractions import Fraction

from noisewright.core.metrics.metric import Metric
from noisewright.releases.columns.fitting import distance_of
from noisewright.releases.columns.secret import Secret
from noisewright.releases.kinds.spans import Span
from noisewright.releases.policy.policy import ColumnPolicy

__all__ = ["apart", "protects_words"]

SHOWN = " (whether one is missing is shown)"
"""What is said of a column whose missing values stay missing."""


def protects_words(column: ColumnPolicy, metric: Metric, secret: Secret) -> str:
    """Between which values of a column the promise holds: "any two values", or "at most 7 days"."""
    shown = SHOWN if column.missing == "keep" else ""
    if column.other is not None:
        shown += f" (what is not declared counts as {json.dumps(column.other, ensure_ascii=False)})"
    if column.protect == "any":
        return f"any two values{shown}"
    unit = metric.unit or secret.unit
    if isinstance(column.protect, Span):
        return f"at most {column.protect}{shown}"
    size = distance_of(column.protect, secret)
    decimal = repr(float(size))
    number = decimal if size.denominator > 1 and Fraction(decimal) == size else str(size)
    plural = "" if size == 1 else "s"
    many = secret.numbers > 1 and not unit
    words = f"at most {number}" + (f" {unit}{plural}" if unit else "") + (f" ({metric.in_words()})" if many else "")
    return words + shown


def apart(protects: str) -> str:
    """Those words as a whole: between which values of a column the promise is.

    >>> apart("any two values"), apart("at most 7 days (whether one is missing is shown)")
    ('any two values', 'values at most 7 days apart (whether one is missing is shown)')
    """
    words, bracket, more = protects.partition(SHOWN)
    return f"values {words} apart{bracket}{more}" if protects.startswith("at most") else protects
