"""The ``--metric`` option: a metric by name, perhaps scaled, or a table of distances from a file."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noisewright.core.metrics.metric import Metric

__all__ = ["METRIC_HELP", "METRIC_NAMES", "check_number", "default_metric", "explain", "parse_metric"]

METRIC_NAMES = (
    "One of line, discrete, euclidean, manhattan, hamming, angular, a multiple such as 0.5*line, or table:FILE.csv."
)
METRIC_HELP = f"Distance between secrets. {METRIC_NAMES}"

_WORDS = {
    "discrete": "any two different secrets are 1 apart",
    "line": "the difference between two numbers",
    "euclidean": "the straight-line distance between points",
    "manhattan": "the sum of the coordinate differences",
    "hamming": "the number of places that differ",
    "angular": "the angle between two vectors, from 0 to 1",
}


def parse_metric(text: str) -> Metric:
    """The metric that an option names."""
    from noisewright.core.metrics.metric import named_metric

    kind, colon, path = text.partition(":")
    if colon and kind.strip() == "table":
        return _table(path.strip())
    check_number(text.rpartition("*")[0], "a metric's factor")
    return named_metric(text)


def default_metric(secrets: Sequence[Hashable]) -> Metric:
    """``line`` where every secret is a finite number, otherwise ``discrete``."""
    from noisewright.core.errors import MetricError
    from noisewright.core.metrics.metric import Discrete, Line

    try:
        Line().places(secrets)
    except MetricError:
        return Discrete()
    return Line()


def explain(metric: Metric) -> str:
    """Describe the measure of the metric in words; empty for a metric that its own name explains."""
    return _WORDS.get(str(metric).rpartition("*")[2].strip(), "")


def check_number(text: str, name: str) -> str:
    """Refuse digits that would take for ever to read as an exact number, and sizes that no float has, before anything else."""
    from noisewright.core.errors import ParameterError

    absurd = len(text) > 1000 or re.search(r"[eE][+-]?[\d_]{4,}", text) is not None
    if not absurd:
        try:
            size = abs(Fraction(text))
            absurd = size >= 10**308 or 0 < size * 10**308 < 1
        except (ValueError, ZeroDivisionError):
            pass  # the reader of the number reports the problem
    if absurd:
        raise ParameterError(f"{name} is far too long, too large or too small a number; write it like 0.5 or 1/2.")
    return text


def _table(path: str) -> Metric:
    import numpy as np

    from noisewright.core.errors import FileFormatError
    from noisewright.core.metrics.metric import Table
    from noisewright.files.channels import load_labelled_csv

    rows, columns, distances = load_labelled_csv(path)
    name = Path(path).name
    if set(rows) != set(columns) or len(rows) != len(columns):
        raise FileFormatError(f"{name}: a table of distances has the same names down its rows as along its top.")
    order = [columns.index(row) for row in rows]
    return Table(np.array(distances)[:, order], tuple(rows), name=f"table {name}")


def exact_or_none(text: str | None, name: str) -> Fraction | None:
    """An optional number, exactly."""
    from noisewright.core.exact import as_fraction

    return None if text is None else as_fraction(check_number(text, name), name)
