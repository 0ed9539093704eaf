"""Columns in words: what they are called, and between which of their values a promise holds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pyarrow as pa

from noisewright.core.metrics.metric import Metric
from noisewright.mechanisms.places.geography import LocalMetres
from noisewright.releases.columns.fitting import distance_of
from noisewright.releases.columns.prices import base_metric
from noisewright.releases.kinds.codecs import kind_of
from noisewright.releases.kinds.spans import Span
from noisewright.releases.policy.policy import ColumnPolicy

__all__ = ["UNITS", "protects_words", "title_of", "unit_of"]

UNITS = {"date": "day", "time": "second"}

SHOWN = " (whether one is missing is shown)"
"""What is said of a column whose missing values stay missing."""


def title_of(columns: Sequence[str]) -> str:
    """The columns of one part in a message.

    >>> title_of(["age"]), title_of(["lat", "lon"])
    ("column 'age'", "columns 'lat' and 'lon'")
    """
    if len(columns) == 1:
        return f"column {columns[0]!r}"
    return f"columns {', '.join(map(repr, columns[:-1]))} and {columns[-1]!r}"


def protects_words(column: ColumnPolicy, metric: Metric, types: tuple[pa.DataType, ...]) -> str:
    """Between which values of a column the promise holds: "any two values", or "at most 7 days"."""
    shown = SHOWN if column.missing == "keep" else ""
    if column.protect == "any":
        return f"any two values{shown}"
    unit = unit_of(metric, types)
    if isinstance(column.protect, Span):
        return f"at most {column.protect}{shown}"
    size = distance_of(column.protect, types)
    decimal = repr(float(size))
    number = decimal if size.denominator > 1 and Fraction(decimal) == size else str(size)
    plural = "" if size == 1 else "s"
    many = len(types) > 1 and not unit
    words = f"at most {number}" + (f" {unit}{plural}" if unit else "") + (f" ({base_metric(metric)})" if many else "")
    return words + shown


def unit_of(metric: Metric | None, types: tuple[pa.DataType, ...]) -> str:
    """The unit of distances between values, in the singular; empty where they are plain numbers."""
    if metric is not None and isinstance(base_metric(metric), LocalMetres):
        return "metre"
    return UNITS.get(kind_of(types[0]) or "", "") if len(types) == 1 else ""
