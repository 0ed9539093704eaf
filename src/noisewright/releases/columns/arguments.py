r"""From the values of a policy to the parameters of a mechanism, for the columns that they are about.

A policy has checked the kinds of all values, and numbers are exact already. The rest depends on the columns:

* a date stands for its day number, a date with a clock for its second, as :mod:`noisewright.releases.kinds.dates` counts them;
* labels (the parameter that lists the secrets) are a list, a number of them, or text such as ``"0..120"``; a list inside is a
  tuple with a part for each column;
* a metric is named by text: ``metric = "line"``, ``metric = "0.5 * euclidean"``;
* a grid is ``{columns = 4, rows = 3, step = 100, origin = [0, 0]}``, a polygon ``{polygon = [[x, y], ...]}``, a list of
  places ``{places = [[x, y], ...]}`` or just the list.

``excluding`` names gaps where nothing may come out. For numbers a gap is open: its two ends are valid. For dates and times
people say which is the *first and the last closed day*, so both are excluded: the gap runs from the day before to the
day after.

>>> import datetime
>>> import pyarrow as pa
>>> from noisewright.mechanisms.registry import registry
>>> from noisewright.releases.columns.secret import secret_of
>>> season = ((datetime.date(1970, 1, 11), datetime.date(1970, 1, 20)),)
>>> arguments({"excluding": season, "scope": "metric"}, secret_of(("day",), (pa.date32(),), registry["laplace"]))
{'excluding': ((9, 20),), 'scope': 'metric'}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright.core.errors import ParameterError
from noisewright.core.labels import labels_between
from noisewright.core.metrics.metric import Metric, named_metric
from noisewright.core.resource import Resource
from noisewright.core.seed import Seed
from noisewright.releases.columns.secret import Secret

if TYPE_CHECKING:
    from noisewright.mechanisms.places.remap import Grid, Places, Polygon

__all__ = ["arguments", "label"]

INTERVALS = ("within", "excluding")
"""The declared range of the secrets, and the gaps in it."""


def arguments(given: Mapping[str, Any], secret: Secret) -> dict[str, Any]:
    """The given values as a constructor wants them, for the columns that they are about."""
    return {name: _convert(name, value, secret) for name, value in given.items()}


def label(value: Any, secret: Secret) -> Any:
    """One label as it stands in a column, or a tuple of them for several columns."""
    columns = len(secret.types)
    if isinstance(value, (list, tuple)):
        if len(value) != columns:
            raise ParameterError(f"a label has {len(value)} parts, but there are {columns} columns; give one for each.")
        return tuple(_part(part, secret, place) for place, part in enumerate(value))
    if columns != 1:
        raise ParameterError(f"a label of {columns} columns is a list with a part for each of them.")
    return _part(value, secret, 0)


def _part(value: Any, secret: Secret, place: int) -> Any:
    """Return the value in one column for a label, or for a part of one."""
    if isinstance(value, (list, tuple)):
        inner = tuple(_part(part, secret, place) for part in value)
        if len(inner) == 1:
            return inner
        raise ParameterError(f"a label has {len(inner)} parts, but there are 1 columns; give one for each.")
    kind = secret.kinds[place]
    value = kind.place(value, secret.types[place], "a label")
    if isinstance(value, (bool, str, int)):
        return value
    number, fractions = float(value), kind.numeric and not kind.whole
    return int(number) if not fractions and number == math.floor(number) else number


def _convert(name: str, value: Any, secret: Secret) -> Any:
    if isinstance(value, (Resource, Seed)):
        return value
    if name == "metric" and secret.takes.metric:
        return value if isinstance(value, Metric) else named_metric(value)
    if isinstance(value, dict):
        return _shape(name, value)
    if name == secret.takes.secrets:
        return _labels(name, value, secret)
    if name in INTERVALS:
        return _intervals(name, value, secret)
    if isinstance(value, (list, tuple)):
        return tuple(_convert(name, part, secret) for part in value)
    return secret.kinds[0].place(value, secret.types[0], name)


def _intervals(name: str, value: Any, secret: Secret) -> Any:
    """Return one interval, or several; any other value is left to the constructor to refuse."""
    if not isinstance(value, (list, tuple)):
        return value
    if value and all(isinstance(part, (list, tuple)) for part in value):
        return tuple(_intervals(name, part, secret) for part in value)
    kind, sides = secret.kinds[0], (0, *[1] * len(value))
    ends = [kind.place(end, secret.types[0], name, side) for side, end in zip(sides, value, strict=False)]
    if name == "excluding" and kind.calendar:
        ends = [
            end + move if isinstance(end, (int, Fraction)) else end for end, move in zip(ends, (-1, 1), strict=False)
        ]
    return tuple(ends)


def _labels(name: str, value: Any, secret: Secret) -> Any:
    if isinstance(value, str):
        found = labels_between(value, name)
        if found is None:
            raise ParameterError(
                f"{name} must be a list, a number of labels, or text such as '0..120' from a low to a high number."
            )
        return tuple(found)
    return tuple(label(part, secret) for part in value) if isinstance(value, (list, tuple, range)) else value


def _shape(name: str, value: Mapping[str, Any]) -> Grid | Places | Polygon:
    from noisewright.mechanisms.places.remap import Grid, Places, Polygon

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
