r"""Masses of a prior on [0, 1] in each of many equal cells: known from a distribution function, estimated from a
density.

A distribution function gives the masses themselves, spikes and jumps included. A density can be evaluated at finitely
many points only, so its masses are an estimate: two Gauss rules in each cell, finer and finer where they differ. A
spike that is narrower than the distance of these points is seen only if it is declared and may be overlooked
otherwise.

>>> [float(m) for m in from_cdf(lambda x: x**2, 4).masses], from_cdf(lambda x: x**2, 4).certain
([0.0625, 0.1875, 0.3125, 0.4375], True)
>>> spike = lambda x: 1 + 1e8 * (abs(x - 0.37) < 5e-9)  # half of the prior within 1e-8
>>> [round(float(from_density(spike, 4, told).masses[1]), 3) for told in ((), (0.37,))]
[0.25, 0.625]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError

__all__ = ["CellMasses", "from_cdf", "from_density"]

CLOSE_ENOUGH = 1e-11
"""Pieces in which two rules differ by less than this share of the whole are not cut again."""

MOST_PIECES = 1 << 20
MOST_CUTS = 60
GRADED = 50
"""Number of halvings of the pieces around a declared spike."""


@dataclass(frozen=True)
class CellMasses:
    """The masses of all cells, which add up to 1; how far off they may be all together; and whether that is certain."""

    masses: Floats
    error: float
    certain: bool


def from_cdf(cdf: Callable[[float], float], cells: int) -> CellMasses:
    """The masses of ``(k/n, (k+1)/n]``, the first with 0: exactly, up to the rounding of floats."""
    heights = np.array([float(cdf(k / cells)) for k in range(cells + 1)])
    heights[0] = 0.0  # whatever lies at 0 belongs to the first cell
    risen = np.maximum.accumulate(heights)  # the last digits of a sum may fall
    off = float(np.max(risen - heights)) + abs(1 - float(risen[-1]))
    if not off <= 1e-9:
        raise ParameterError("a distribution function on [0, 1] never falls, is 0 or more, and is 1 at 1.")
    return CellMasses(np.diff(risen) / risen[-1], 2 * cells * (off + 2.0**-52), True)


def from_density(density: Callable[[Floats], ArrayLike], cells: int, spikes: Sequence[float] = ()) -> CellMasses:
    """The masses by quadrature, with an estimate of its error; ``spikes``: where the density jumps or is very high."""
    if not all(is_number(s) and 0 <= s <= 1 for s in spikes):
        raise ParameterError("a spike of the prior is a place in [0, 1].")
    fine = 2.0 ** -np.arange(GRADED) / cells
    cuts = [np.arange(cells + 1) / cells, *(np.concatenate([[s], s - fine, s + fine]) for s in map(float, spikes))]
    edges = np.unique(np.clip(np.concatenate(cuts), 0.0, 1.0))
    low, high = edges[:-1], edges[1:]
    done: list[tuple[Floats, Floats, Floats]] = []
    for _ in range(MOST_CUTS):
        found, error = _rules(density, low, high)
        total = float(found.sum()) + sum(float(mass.sum()) for _, mass, _ in done)
        coarse = (error > CLOSE_ENOUGH * total) & ((high - low) > 2.0**-50)
        done.append((low[~coarse], found[~coarse], error[~coarse]))
        if not coarse.any() or 2 * coarse.sum() > MOST_PIECES:
            done.append((low[coarse], found[coarse], error[coarse]))
            break
        middle = (low[coarse] + high[coarse]) / 2
        low, high = np.concatenate([low[coarse], middle]), np.concatenate([middle, high[coarse]])
    places, masses, errors = (np.concatenate(part) for part in zip(*done, strict=True))
    cell = np.minimum(np.searchsorted(np.arange(cells + 1) / cells, places, side="right") - 1, cells - 1)
    whole = np.bincount(cell, weights=masses, minlength=cells)
    total = math.fsum(whole)
    if not total > 0:
        raise ParameterError("the prior density must be finite, 0 or more, and not 0 everywhere.")
    return CellMasses(whole / total, 2 * float(errors.sum()) / total + cells * 2.0**-52, False)


def _rules(density: Callable[[Floats], ArrayLike], low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The mass of each piece, and how much a second rule differs."""
    found = []
    for points in (15, 7):
        nodes, weights = _gauss(points)
        x = low[:, None] + (high - low)[:, None] * nodes
        heights = np.broadcast_to(np.asarray(density(x.reshape(-1)), dtype=np.float64), x.size).reshape(x.shape)
        if not bool((np.isfinite(heights) & (heights >= 0)).all()):
            raise ParameterError("the prior density must be finite, 0 or more, and not 0 everywhere.")
        found.append((heights @ weights) * (high - low))
    return found[0], np.abs(found[0] - found[1])


@cache
def _gauss(points: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2
