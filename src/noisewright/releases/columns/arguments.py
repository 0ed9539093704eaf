r"""From the values of a policy to the parameters of a mechanism, for the columns that they are about.

A policy has checked the kinds of all values, and numbers are exact already. What is left depends on the columns:

* a date stands for its day number, a date with a clock for its second, as :mod:`noisewright.releases.kinds.codecs` counts them.
  Where a column of times is given a date, the low end of an interval is the first second of that day and the high end the
  last one;
* labels (``categories``, ``points``) are a list, a number of them, or text such as ``"0..120"``; a list inside is a tuple with
  a part for each column;
* a metric is named by text: ``metric = "line"``, ``metric = "0.5 * euclidean"``;
* a grid is ``{columns = 4, rows = 3, step = 100, origin = [0, 0]}``, a polygon ``{polygon = [[x, y], ...]}``, a list of
  places ``{places = [[x, y], ...]}`` or just the list.

``excluding`` names gaps where nothing may come out. For numbers a gap is open: its two ends are valid. For dates and times
people say which is the *first and the last closed day*, so both are excluded: the gap runs from the day before to the day after.

>>> import datetime
>>> season = ((datetime.date(1970, 1, 11), datetime.date(1970, 1, 20)),)
>>> arguments({"excluding": season, "scope": "metric"}, (pa.date32(),))
{'excluding': ((9, 20),), 'scope': 'metric'}
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from noisewright.core.errors import ParameterError
from noisewright.core.labels import labels_between
from noisewright.core.metrics.metric import Metric, named_metric
from noisewright.core.resource import Resource, Seed
from noisewright.mechanisms.places.remap import Grid, Places, Polygon
from noisewright.releases.kinds.codecs import kind_of
from noisewright.releases.kinds.dates import day_or_second

__all__ = ["arguments", "label"]

INTERVALS = ("within", "excluding")
LABELS = ("categories", "points")


def arguments(given: Mapping[str, Any], columns: Sequence[pa.DataType]) -> dict[str, Any]:
    """The given values as a constructor wants them; ``columns`` are the types of the columns that they are about."""
    return {name: _convert(name, value, columns) for name, value in given.items()}


def label(value: Any, columns: Sequence[pa.DataType]) -> Any:
    """One label as it stands in a column, or a tuple of them for several columns."""
    if isinstance(value, (list, tuple)):
        if len(value) != len(columns):
            raise ParameterError(
                f"a label has {len(value)} parts, but there are {len(columns)} columns; give one for each."
            )
        return tuple(label(part, [column]) for part, column in zip(value, columns, strict=True))
    if len(columns) != 1:
        raise ParameterError(f"a label of {len(columns)} columns is a list with a part for each of them.")
    value = day_or_second(value, columns[0], "a label", 0)
    if isinstance(value, (bool, str, int)):
        return value
    number = float(value)
    return int(number) if kind_of(columns[0]) != "number" and number == math.floor(number) else number


def _convert(name: str, value: Any, columns: Sequence[pa.DataType]) -> Any:
    if isinstance(value, (Resource, Seed)):
        return value
    if name == "metric":
        return value if isinstance(value, Metric) else named_metric(value)
    if isinstance(value, dict):
        return _shape(name, value)
    if name in LABELS:
        return _labels(name, value, columns)
    if name in INTERVALS:
        return _intervals(name, value, columns)
    if isinstance(value, (list, tuple)):
        return tuple(_convert(name, part, columns) for part in value)
    return day_or_second(value, columns[0], name, 0)


def _intervals(name: str, value: Any, columns: Sequence[pa.DataType]) -> Any:
    """One interval, or several; what is none is left to the constructor to refuse."""
    if not isinstance(value, (list, tuple)):
        return value
    if value and all(isinstance(part, (list, tuple)) for part in value):
        return tuple(_intervals(name, part, columns) for part in value)
    sides = (0, *[1] * len(value))
    ends = [day_or_second(end, columns[0], name, side) for side, end in zip(sides, value, strict=False)]
    if name == "excluding" and kind_of(columns[0]) in ("date", "time"):
        ends = [
            end + move if isinstance(end, (int, Fraction)) else end for end, move in zip(ends, (-1, 1), strict=False)
        ]
    return tuple(ends)


def _labels(name: str, value: Any, columns: Sequence[pa.DataType]) -> Any:
    if isinstance(value, str):
        found = labels_between(value, name)
        if found is None:
            raise ParameterError(
                f"{name} must be a list, a number of labels, or text such as '0..120' from a low to a high number."
            )
        return tuple(found)
    return tuple(label(part, columns) for part in value) if isinstance(value, (list, tuple, range)) else value


def _shape(name: str, value: Mapping[str, Any]) -> Grid | Places | Polygon:
    plain = {key: _plain(part) for key, part in value.items()}
    if set(plain) == {"polygon"}:
        return Polygon(plain["polygon"])
    if set(plain) == {"places"}:
        return Places(plain["places"])
    if {"columns", "rows"} <= set(plain) <= {"columns", "rows", "step", "origin"}:
        return Grid(**plain)
    raise ParameterError(
        f"{name} must be a list of places, {{columns, rows, step, origin}}, {{polygon = [...]}} or {{places = [...]}}."
    )


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_plain(part) for part in value)
    return float(value) if isinstance(value, (Decimal, Fraction)) else value
