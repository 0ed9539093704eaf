"""The true answer that fares worst: which answers are rounded to a lattice point, and a search over all of them.

A mechanism on a lattice treats all answers alike that it rounds to the same point, but its error counts against the answer
itself. The answers of a point form a *cell*: half a step to either side, and at the ends of an interval whatever the interval
holds. Absolute and squared losses are convex in the answer, so the worst one of a cell is at an end of it:

>>> from noisewright.mechanisms.laws.feasible import Feasible
>>> cells = RoundingCells.of(Feasible.parse(("0.25", "3.5")), Lattice(0), clipped=True)
>>> int(cells.firsts[0]), int(cells.lasts[0]), float(cells.lowest[0]), float(cells.highest[0])
(1, 3, -0.75, 0.5)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.exact import ceil_div
from noisewright.mechanisms.laws.feasible import Feasible
from noisewright.noise.lattice import Lattice

__all__ = ["RoundingCells", "worst_answer"]

Places = NDArray[np.int64]

Losses = Callable[[Places, Places, Floats, Floats], Floats]
"""From intervals, lattice points in them, and the ends of their cells to the expected losses of the worse ends."""

PROBES = 257
"""Points that are evaluated in each stretch before the search looks closer."""


@dataclass(frozen=True)
class RoundingCells:
    """First and last cell for each interval of true answers: the lattice points, infinite where the interval is open,
    and how far the lowest and the highest answer are from them, in steps."""

    firsts: Floats
    lasts: Floats
    lowest: Floats
    highest: Floats

    @classmethod
    def of(cls, answers: Feasible, lattice: Lattice, *, clipped: bool) -> RoundingCells:
        """The cells of rounding to the nearest point, ties upwards; ``clipped``: to the nearest one inside the interval."""

        numbers, up, unit = answers.against(lattice)
        points, offsets = [], []
        for place, number in enumerate(numbers):
            outwards = 1 if place % 2 else -1
            if number is None:
                points.append(outwards * math.inf)
                offsets.append(outwards * 0.5)
                continue
            scaled = number << up
            if not clipped:
                point = (2 * scaled + unit) // (2 * unit)
            else:
                point = scaled // unit if outwards > 0 else ceil_div(scaled, unit)
            points.append(point)
            offsets.append((scaled - point * unit) / unit)
        at, away = np.array(points, dtype=np.float64).reshape(-1, 2), np.array(offsets).reshape(-1, 2)
        return cls(at[:, 0], at[:, 1], away[:, 0], away[:, 1])

    def ends(self, k: Places, places: Places) -> tuple[Floats, Floats]:
        """The lowest and the highest answer of each cell, from its point, in steps."""
        low = np.where(places == self.firsts[k], self.lowest[k], -0.5)
        high = np.where(places == self.lasts[k], self.highest[k], 0.5)
        return low, high


def worst_answer(cells: RoundingCells, spread: float, losses: Losses) -> float:
    """The largest loss of any true answer.

    ``spread``: the noise in steps; an end of the set is forgotten 70 spreads away from it, so open ends are followed
    that far. Losses vary smoothly from one point to the next except at the ends of an interval, so the search looks at
    all ends, at evenly spread places next to them and in between, and then closer and closer around the worst.
    """
    far = np.ceil(70 * spread) + 2
    first = np.where(np.isinf(cells.firsts), np.where(np.isinf(cells.lasts), 0.0, cells.lasts - far), cells.firsts)
    last = np.where(np.isinf(cells.lasts), np.where(np.isinf(cells.firsts), 0.0, cells.firsts + far), cells.lasts)
    length, beside = last - first, np.minimum(last - first, far)
    ways = np.linspace(0, 1, max(3, min(PROBES, 100_000 // first.size)))[None, :]
    stretches = (first[:, None] + length[:, None] * ways, first[:, None] + beside[:, None] * ways,
                 last[:, None] - beside[:, None] * ways)  # fmt: skip
    places = np.sort(np.rint(np.concatenate(stretches, axis=1)).clip(first[:, None], last[:, None])).astype(np.int64)
    which = np.broadcast_to(np.arange(first.size)[:, None], places.shape)
    found = 0.0
    while True:
        at, rank = places.reshape(-1), which.reshape(-1)
        values = losses(rank, at, *cells.ends(rank, at))
        k, spot = (int(v) for v in np.unravel_index(int(np.argmax(values)), places.shape))
        found = max(found, float(values.max()))
        row = places[k]
        low, high = int(row[row < row[spot]].max(initial=row[spot])), int(row[row > row[spot]].min(initial=row[spot]))
        if high - low <= 2:
            return found
        places = np.unique(np.rint(np.linspace(low, high, PROBES)).astype(np.int64))[None, :]
        which = np.full(places.shape, which[k, spot])
