"""One call for a curve: arrays of records and budgets in, the arrays of a privatiser for each budget and the course out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.learned.columns import Codes
from noisewright.learned.training._torch import torch
from noisewright.learned.training.families import Family, NetworkFamily, ShiftFamily, TableFamily
from noisewright.learned.training.networks import BestResponse, NetworkAdversary, TableAdversary
from noisewright.learned.training.records import Records
from noisewright.learned.training.settings import Settings
from noisewright.learned.training.trainer import Course, Live, Progress, Trainer

__all__ = ["Curve", "train_curve"]


@dataclass(frozen=True)
class Curve:
    """The arrays of a privatiser for every point, and how its training went."""

    arrays: tuple[dict[str, NDArray[Any]], ...]
    course: Course


def train_curve(
    family: str,
    numeric: Floats,
    codes: Codes,
    truth: Codes,
    budgets: Sequence[float],
    settings: Settings,
    *,
    categories: tuple[int, ...] = (),
    classes: tuple[int, ...] = (2,),
    given: str = "x",
    weights: Sequence[float] = (),
    steps: Sequence[float] = (),
    held_out: NDArray[np.bool_] | None = None,
    source: Codes | None = None,
    knows: str = "learns",
    progress: Progress | None = None,
    live: Live | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Curve:
    """Train a privatiser for every budget together.

    Arrays are (rows, columns), or (tables, rows, columns) with ``source``, the table of each budget. ``weights`` of
    columns make the distortion, numeric columns first. ``steps``: numbers of a column are changed by multiples of
    this, where it is not 0 (integers stay whole). ``held_out`` marks rows that only the watching adversary is measured
    on. ``knows="law"``: the adversary of a table is the best one, computed, and has nothing to learn.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    dtype = torch.float64 if family == "table" else torch.float32
    whole = Records.of(
        numeric,
        codes,
        truth,
        categories=categories,
        classes=classes,
        points=len(budgets),
        source=source,
        dtype=dtype,
    )
    apart = None if held_out is None else whole.take(torch.as_tensor(np.flatnonzero(held_out)))
    records = whole if held_out is None else whole.take(torch.as_tensor(np.flatnonzero(~held_out)))
    costs = list(weights) or [1.0] * (numeric.shape[-1] + len(categories))
    made: Family
    adversary: Any
    if family == "shifts":
        made = ShiftFamily(records, given, costs[0])
    elif family == "table":
        made = TableFamily(records, given, costs[0] * (1 - np.eye(categories[0])))
    else:
        made = NetworkFamily(records, given, costs, settings.hidden, settings.temperature, generator, steps)
    if family != "table":
        adversary = NetworkAdversary(len(budgets), made.shown, classes, settings.adversary_hidden, generator)
    elif knows == "law":
        adversary = BestResponse(settings.adversary.order)
    else:
        adversary = TableAdversary(len(budgets), made.shown, classes, dtype)
    setup = {
        "family": family,
        "given": given,
        "knows": knows,
        "budgets": [float(budget) for budget in budgets],
        "weights": [float(cost) for cost in costs],
        "steps": [float(step) for step in steps],
        "settings": settings.to_json(),
        "data": _digest(numeric, codes, truth, held_out),
    }
    if not settings.adversary.is_log:
        setup["taught"] = "log"  # a checkpoint of an adversary who learned with another loss is of another training
    trainer = Trainer(made, adversary, records, np.asarray(budgets, np.float64), settings, apart)
    course = trainer.run(progress, live, checkpoint, setup)
    return Curve(tuple(made.arrays(point) for point in range(len(budgets))), course)


def _digest(*arrays: NDArray[Any] | None) -> str:
    """Return a digest of records, so that a checkpoint continues with the same records."""
    found = hashlib.sha256()
    for array in arrays:
        if array is not None:
            found.update(f"{array.shape} {array.dtype}".encode())
            found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()
