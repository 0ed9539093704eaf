"""The theoretical optimum next to an attack: the least that anyone could be left to guess, at the same distortion.

* Few different records: the finite game of the counted joint law, whose optimum no mechanism with these outputs goes below.
  Where one column holds numbers, numbers between them are outputs, too.
* One column of many numbers: the finite game on a grid.
* Several columns of numbers and two private values: the best additive noise, if the classes were normal with one
  covariance. A mechanism other than additive noise may do better.

The law is counted from the records at hand; the mechanism is given the public columns alone, or both (``given="xy"``:
additive noise is not optimal then, so several columns of numbers have no optimum to show).

>>> vote = ["left"] * 500 + ["right"] * 500
>>> town = ["a"] * 400 + ["b"] * 500 + ["a"] * 100  # 80 % are guessed right from it
>>> print(optimum_beside({"town": town}, vote, 0.1))
74.0 % (the best mechanism of this distortion on the counted joint law)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.core.arrays import Indices
from noisewright.core.errors import ParameterError
from noisewright.learned.evaluation.tables import Columns, classes_of
from noisewright.learned.theory.distortions import Mixed
from noisewright.learned.theory.games import FiniteGame
from noisewright.learned.theory.gaussians.vectors import direction_noise
from noisewright.learned.theory.joint import Joint

__all__ = ["Optimum", "optimum_beside"]

MOST_RECORDS, CELLS = 60, 41
"""Maximum number of different records in a finite game; cells of a grid."""
MOST_PROBABILITIES = 30_000
"""A game of more of them is not solved next to a training."""
RIDGE = 1e-6


@dataclass(frozen=True)
class Optimum:
    """Accuracy of the best guess under the best mechanism, and the class of mechanisms."""

    accuracy: float
    of: str
    distortion: float

    def __str__(self) -> str:
        return f"{100 * self.accuracy:.1f} % ({self.of})"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"accuracy": self.accuracy, "of": self.of, "distortion": self.distortion}


def optimum_beside(
    original: Any,
    private: Any,
    distortion: float,
    *,
    bins: int | None = None,
    given: str = "x",
    weights: Mapping[str, float] | None = None,
) -> Optimum | None:
    """The optimum at a distortion in variances and changed shares, summed over columns; None if it cannot be computed.

    ``given``: inputs of the mechanism, the public columns or both; ``weights``: of columns in the distortion, 1 if not
    named.
    """
    table, (names, classes) = Columns.of(original, "the original"), classes_of(private, bins)
    if len(table) != len(classes):
        raise ParameterError("give a private value for each record.")
    if not np.isfinite(distortion) or distortion < 0:
        return None
    varied = [name for name in table.names if len(np.unique(table.values[name])) > 1]
    if not varied:
        return Optimum(float(np.bincount(classes).max() / len(classes)), "nothing is told by constant columns", 0.0)
    variances = tuple(float(table.values[n].var()) if table.numeric(n) else None for n in varied)
    cost = Mixed(weights=tuple(float((weights or {}).get(name, 1.0)) for name in varied), variances=variances)
    codes = [np.unique(table.values[name], return_inverse=True) for name in varied]
    keys, places = _different([c[1] for c in codes])
    if len(keys) <= MOST_RECORDS:
        records = [tuple(c[0][k].item() for c, k in zip(codes, key, strict=True)) for key in keys]
        law = "counted joint law" + (", of those that release records that there are" if len(varied) > 1 else "")
        outputs = records
        if len(varied) == 1 and variances[0] is not None:  # the best number to release may lie between two others
            between = np.linspace(records[0][0], records[-1][0], 2 * CELLS - 1)
            outputs = [(float(value),) for value in np.unique(np.concatenate([between, [r[0] for r in records]]))]
        return _finite(records, places, classes, cost, float(distortion), given, law, outputs)
    if len(varied) == 1 and table.numeric(varied[0]):
        values = table.values[varied[0]]
        edges = np.linspace(values.min(), values.max(), CELLS + 1)
        cells = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, CELLS - 1)
        used, places = np.unique(cells, return_inverse=True)
        middles = [(float(edges[k] + edges[k + 1]) / 2,) for k in used]
        return _finite(middles, places, classes, cost, float(distortion), given, f"counted law on {CELLS} cells")
    if len(names) == 2 and all(table.numeric(name) for name in varied) and given == "x":
        sizes = [np.sqrt(weight / (v or 1.0)) for weight, v in zip(cost.weights, variances, strict=True)]
        points = np.stack([table.values[n] * size for n, size in zip(varied, sizes, strict=True)], axis=1)
        first, second = (points[classes == y] for y in (0, 1))
        inside = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
        pooled = inside.T @ inside / max(len(points) - 2, 1) + RIDGE * np.eye(len(varied))
        noise = direction_noise(pooled, second.mean(axis=0) - first.mean(axis=0), distortion=float(distortion))
        share = float((classes == 1).mean())
        return Optimum(noise.accuracy(py1=share), "the best plain noise, were both classes normal", float(distortion))
    return None


def _different(codes: list[Indices]) -> tuple[Indices, Indices]:
    """Different rows of these columns, and which of them each row is; where one column has too many values, those of that one."""
    most = max(codes, key=lambda column: int(column.max()))
    if int(most.max()) >= MOST_RECORDS:
        return np.arange(int(most.max()) + 1), most
    keys, places = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    return keys, places.ravel()


def _finite(
    records: list[tuple[Any, ...]],
    places: Indices,
    classes: Indices,
    cost: Mixed,
    distortion: float,
    given: str,
    law: str,
    outputs: list[tuple[Any, ...]] | None = None,
) -> Optimum | None:
    counts = np.zeros((len(records), int(classes.max()) + 1))
    np.add.at(counts, (places, classes), 1.0)
    if counts.size * len(outputs or records) > MOST_PROBABILITIES and given == "xy":
        return None
    best = FiniteGame(Joint.from_counts(counts, records), cost, outputs=outputs, given=given).optimum(distortion)
    return Optimum(float(best.accuracy), f"the best mechanism of this distortion on the {law}", distortion)
