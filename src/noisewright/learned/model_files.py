"""Trained privatisers in files of arrays and JSON, never a program; a file is one curve or one point of it.

``privatiser`` is a :class:`~noisewright.learned.privatiser.GAPPrivatiser`, which stands above.
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from noisewright.core.choices import is_number, is_whole
from noisewright.core.errors import FileFormatError, NoisewrightError
from noisewright.core.resource import Resource
from noisewright.files.model_file import SUFFIX, read_model, write_model
from noisewright.learned.columns import Columns, category_from
from noisewright.learned.drawing import drawer_of
from noisewright.learned.evaluation.optima import Optimum
from noisewright.learned.measuring import Point

__all__ = ["KEEP", "KIND", "VERSION", "check_suffix", "read_privatiser", "write_privatiser"]

KIND = "privatiser"
VERSION = 3
KEEP = (
    "Keep the file: it tells about the records that it was trained on (labels, means, deviations, weights), and no promise "
    "covers it. Nor does one cover its digest and what was measured, which a certificate states. Hand them out only where all "
    "of these records may be told about."
)
"""Warning about the file of a privatiser, shown wherever one is written or used."""

LARGEST = 1e6
"""No training comes to weights beyond this; with them numbers would come out that are none."""


def write_privatiser(privatiser: Any, path: str | os.PathLike[str]) -> Resource:
    """Write a fitted privatiser; the file appears whole or not at all."""
    about = {
        "version": VERSION,
        "parameters": _plain(privatiser.get_params()),
        "columns": privatiser.columns_.to_json(),
        "private": [{"name": one.name, "labels": list(one.labels)} for one in privatiser.private_],
        "family": privatiser.family_,
        "settings": privatiser.settings_.to_json(),
        "rows": privatiser.rows_,
        "costs": [float(cost) for cost in privatiser.costs_],
        "points": [_plain(asdict(point)) for point in privatiser.points_],
    }
    arrays = {
        f"{place}.{name}": array for place, point in enumerate(privatiser.arrays_) for name, array in point.items()
    }
    return write_model(path, KIND, about, arrays)


def read_privatiser(made: Any, resource: Resource) -> None:
    """Fill a privatiser from a file; one sentence where the file is of another version or makes no sense."""
    from noisewright.learned.training.settings import Settings

    about, arrays = read_model(resource, KIND)
    if about.get("version") != VERSION:
        raise FileFormatError(
            f"{resource.name} is a privatiser of another version of Noisewright; train it again, or use that version."
        )
    try:
        made.set_params(**about["parameters"])
        made.columns_ = Columns.from_json(about["columns"])
        made.private_ = tuple(category_from(one) for one in about["private"])
        made.family_, made.rows_ = str(about["family"]), about["rows"]
        if not is_whole(made.rows_) or made.rows_ < 1 or not made.private_:
            raise ValueError("rows")
        made.settings_ = Settings(**about["settings"])
        made.costs_ = [float(cost) for cost in about["costs"]]
        made.points_ = tuple(_point(entry) for entry in about["points"])
        made.arrays_ = tuple(
            {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{place}.")}
            for place in range(len(made.points_))
        )
        classes = tuple(len(one.labels) for one in made.private_)
        numbers, categories = len(made.columns_.numbers), made.columns_.categories
        if made.given not in ("x", "xy") or not made.points_ or len(made.costs_) != len(made.columns_.names):
            raise ValueError("parameters")
        if not all(0 < cost < math.inf for cost in made.costs_) or any(
            len(p.prior) != len(classes) for p in made.points_
        ):
            raise ValueError("costs")
        if any(sorted(name for name, _ in p.by_column) != sorted(made.columns_.names) for p in made.points_):
            raise ValueError("columns")
        for own in made.arrays_:
            if any(not np.abs(array).max(initial=0.0) <= LARGEST for array in own.values()):
                raise ValueError("weights")
            drawer_of(made.family_, own, numbers, categories, classes, made.given)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError, NoisewrightError):
        raise FileFormatError(
            f"{resource.name} is no privatiser that can be used; train it again or copy it once more."
        ) from None
    made.n_features_in_ = len(made.columns_.names)


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Privatisers are in files named ``*.nwm``."""
    if not os.fspath(path).endswith(SUFFIX):
        raise FileFormatError(f"a privatiser is kept in a file whose name ends with {SUFFIX}.")


def _point(entry: dict[str, Any]) -> Point:
    """A point from a file; raise ``ValueError`` if its numbers are invalid."""
    if set(entry) != {field.name for field in fields(Point)}:
        raise ValueError("a point")
    read: dict[str, Any] = {name: _tuples(one) for name, one in entry.items()}
    read["optimum"] = tuple(None if one is None else Optimum(**one) for one in entry["optimum"])
    made = Point(**read)
    known = [one for one in made.optimum if one is not None]
    shares = [*made.accuracy, *made.prior, *(end for pair in made.accuracy_between for end in pair)]
    shares += [one.accuracy for one in known]
    amounts = [made.distortion, made.spent, *made.spent_between, made.loss, made.prior_loss]
    amounts += [*(spent for _, spent in made.by_column), *(one.distortion for one in known)]
    nats = [*made.told, *(end for pair in made.told_between for end in pair)]
    counts = (made.held_out, made.epochs, *made.judged)
    by_variable = (
        *(made.accuracy, made.accuracy_between, made.best, made.judged, made.prior),
        *(made.told, made.told_between, made.optimum),
    )
    lengths = {len(one) for one in by_variable}
    if not all(is_number(one) and 0 <= one <= 1 for one in shares) or len(lengths) != 1:
        raise ValueError("a point")
    if not all(is_number(one) and 0 <= one < math.inf for one in amounts) or made.distortion <= 0:
        raise ValueError("a point")
    if not all(is_number(one) and math.isfinite(one) for one in nats):
        raise ValueError("a point")
    inside = [(made.spent, made.spent_between), *zip(made.accuracy, made.accuracy_between, strict=True)]
    inside += zip(made.told, made.told_between, strict=True)
    if not all(len(ends) == 2 and ends[0] <= value <= ends[1] for value, ends in inside):
        raise ValueError("a point")
    if not all(is_whole(one) and one >= 1 for one in counts) or type(made.rested) is not bool:
        raise ValueError("a point")
    names = (*made.best, *made.tried, *(one.of for one in known))
    if not made.tried or not all(type(name) is str and 0 < len(name) <= 100 for name in names):
        raise ValueError("a point")
    return made


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Return plain data for JSON: NumPy's numbers and tuples as Python's numbers and lists; names of columns as text."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value
