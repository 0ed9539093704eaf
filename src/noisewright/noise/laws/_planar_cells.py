r"""Planar Laplace noise on fine lattices: choose a square cell, then a point in it, then keep the point or not.

Each coordinate is written ``k = k'`` or ``k = -1 - k'`` with ``k' >= 0``, and ``k' = i 2**b + u`` with ``u < 2**b``.
The cell (i, j) is proposed with an integer weight :math:`w_{ij} \ge c\, e^{-g\|(i,j)\|}`, :math:`g = \theta 2^b`, from
an alias table; the low bits and the signs are fair; and the point is kept with probability
:math:`c\, e^{-\theta\|k\|} / w_{ij} \le 1`. Every point then comes out with probability
:math:`c\, 2^{-32} 4^{-b-1} e^{-\theta\|k\|}`. The weights are integers of our own choosing and need not be near
anything: therefore the table is exact.

Most points are kept whatever their low bits are, because the word drawn for the decision is below the least probability
in the cell. The others are compared in 64-bit integers, and the few in a million that this does not settle with the
necessary number of bits. Points outside the 127 x 127 cells have a weight of their own (below 1e-6) and are drawn one
by one: one coordinate is at least R = 127 * 2**b, and a geometric number has no memory.

The alias table belongs to A. Walker, "An efficient method for generating discrete random variables with general
distributions", ACM Transactions on Mathematical Software (1977). Nothing here depends on data, so neither does the
time.

>>> plan = cells(Fraction(1, 1000), Fraction(7, 10_000))
>>> plan is not None and 0.5 < plan.kept <= 1  # the share of proposals that are kept
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.exact import ceil_div, exp_bounds
from noisewright.noise.bits import Bits, half_words
from noisewright.noise.laws._radial import TABLE, Radial
from noisewright.noise.laws.geometric import geometric_block, geometric_plan
from noisewright.noise.search import decide

__all__ = ["CellTables", "cells", "cells_block"]

SIDE = 127
"""Cells along each axis. A code is ``i * 128 + j``, so codes with i or j = 127 are free for other outcomes."""

CODES = 1 << 14
TAIL = CODES - 1
NOTHING = CODES - 2
_COLUMN = 18  # a word has 14 bits for the column of the alias table and 18 to choose within it


@dataclass(frozen=True)
class CellTables:
    """The tables for one rate. Weights are units of ``2**-32``; they sum to ``2**32`` with those of TAIL and NOTHING."""

    low_bits: int
    radial: Radial
    constant: int
    """c."""
    weights: NDArray[np.int64]
    surely: NDArray[np.uint32]
    """Below this word a point of the cell is kept wherever it lies; 0 for TAIL and NOTHING."""
    threshold: NDArray[np.uint32]
    alias: NDArray[np.int32]
    slope: Fraction
    """r, the rate of the geometric numbers of the tail."""

    @property
    def kept(self) -> float:
        """About which share of proposals is kept, ``c 2**-32 4**-(b + 1)`` times ``sum e**(-theta |k|)``, 2 pi / theta**2."""
        return self.constant * 2.0**-33 * math.pi / float(self.radial.rate * (1 << self.low_bits)) ** 2

    @property
    def border(self) -> int:
        """R: the table covers coordinates with ``k' < R``."""
        return SIDE << self.low_bits


@lru_cache(maxsize=32)
def cells(rate: Fraction, slope: Fraction) -> CellTables | None:
    """The tables for ``rate``; None where the lattice is too coarse for cells, or so fine that low bits fill two words."""
    low_bits = 0
    while rate * (1 << low_bits) * 6 <= 1:
        low_bits += 1
    if not 1 <= low_bits <= 31:
        return None
    radial = Radial.of(rate, Fraction(0), low_bits + 7)  # theta * 2**reach <= 128/3, and E <= 61
    corner = np.arange(SIDE + 1, dtype=np.int64)
    i, j = (part.ravel() for part in np.meshgrid(corner, corner, indexing="ij"))
    estimate, void = radial.table(i << low_bits, j << low_bits)
    assert not void.any()  # in fixed point the corners are the same for every rate, and floats miss no root among them
    upper = [int(v) + 5 for v in estimate]
    inner = (i < SIDE) & (j < SIDE)
    share, border = exp_bounds(-slope, 160)[1], SIDE << low_bits
    # The tail needs w >= 2 c 4**-b e**(-r R) / (1 - e**-r)**2; this is that number over c.
    tail = Fraction(2 * exp_bounds(-slope * border, 160)[1] << 160, ((1 << 160) - share) ** 2 << (2 * low_bits))
    total = sum(u for u, inside in zip(upper, inner.tolist(), strict=True) if inside)
    spare = CODES + 2  # what rounding up may cost
    constant = int(((1 << 32) - spare) / (Fraction(total, 1 << TABLE) + tail))
    weights = [
        ceil_div(constant * u, 1 << TABLE) if inside else 0 for u, inside in zip(upper, inner.tolist(), strict=True)
    ]
    weights[TAIL] = ceil_div(constant * tail.numerator, tail.denominator)
    weights[NOTHING] = (1 << 32) - sum(weights)
    threshold, alias = _alias(weights)
    every = np.array(weights, dtype=np.int64)
    # The least probability in a cell is at its outer corner, which is the inner corner of the cell one up and one across.
    least = np.zeros(CODES, dtype=np.int64)
    least[inner] = _below(estimate)[np.flatnonzero(inner) + 129]
    surely = np.minimum(2 * constant * least // np.maximum(every, 1), (1 << 32) - 1).astype(np.uint32)
    return CellTables(low_bits, radial, constant, every, surely, threshold, alias, slope)


def cells_block(plan: CellTables, count: int, bits: Bits) -> NDArray[np.int64]:
    """Return at least 0 and at most ``count`` points from ``count`` proposals, as rows."""
    words = half_words(bits, count)
    column = (words >> np.uint32(_COLUMN)).view(np.int32)
    within = words & np.uint32((1 << _COLUMN) - 1)
    code = np.where(within < plan.threshold.take(column), column, plan.alias.take(column))
    b = plan.low_bits
    # Low bits and signs of both coordinates come from one word; int32 is enough for them on all but the finest lattices.
    low: NDArray[Any] = half_words(bits, count).view(np.int32) if 2 * b + 2 <= 32 else bits.words(count).view(np.int64)
    points = np.empty((count, 2), dtype=np.int64)
    for axis, cell in enumerate((code >> 7, code & 127)):
        place = cell.astype(low.dtype, copy=False) << b
        place |= (low >> (axis * b)) & ((1 << b) - 1)
        place ^= -((low >> (2 * b + axis)) & 1)  # the complement of k' is -1 - k'
        points[:, axis] = place
    decision = half_words(bits, count)
    kept = decision < plan.surely.take(code)
    unsure = np.flatnonzero(~kept)
    kept[unsure] = _compare(plan, points, unsure, code.take(unsure), decision.take(unsure), bits)
    return points.take(np.flatnonzero(kept), axis=0)  # many times faster than a mask on rows


def _compare(
    plan: CellTables,
    points: NDArray[np.int64],
    rows: NDArray[np.intp],
    code: NDArray[np.int32],
    words: NDArray[np.uint32],
    bits: Bits,
) -> NDArray[np.bool_]:
    """Return whether ``U < c e**(-theta |k|) / w`` for each of the rows; a point of the tail is put in its place."""
    outer = code >= NOTHING
    across, up = np.abs(points.take(rows, axis=0)).T.copy()
    if outer.any():
        across[outer] = up[outer] = 0
    estimate, void = plan.radial.table(across, up)
    weight = plan.weights.take(code)
    have = words * weight  # compared with 2 c e**-E 2**31, all below 2**62
    result = have + weight <= _below(estimate) * (2 * plan.constant)
    doubt = ~result & (have < (estimate + 5) * (2 * plan.constant))
    doubt |= void
    doubt |= outer
    for position in np.flatnonzero(doubt):
        row, word = rows[position], int(words[position])
        if code[position] == NOTHING:
            result[position] = False
        elif code[position] == TAIL:
            result[position], points[row] = _beyond(plan, word, bits)
        else:
            x, y = points[row].tolist()
            ratio = Fraction(plan.constant, int(weight[position]))
            result[position] = _settle(plan, (x, y), ratio, word, bits)
    return result


def _beyond(plan: CellTables, word: int, bits: Bits) -> tuple[bool, tuple[int, int]]:
    """A proposal outside the cells: ``R + G`` along one axis and ``G`` along the other, G geometric with rate r.

    The axis and the signs are fair, so a pair k' is proposed with probability ``w / 2**32 / 8 (1 - a)**2 a**(|k'|_1 - R)``,
    ``a = e**-r``; where both coordinates are beyond R only the first axis counts.
    """
    coin = int(bits.words(1)[0])
    far, near = geometric_block(geometric_plan(plan.slope), 2, bits).tolist()
    far += plan.border
    if coin & 1 and near >= plan.border:
        return False, (0, 0)
    place = (near, far) if coin & 1 else (far, near)
    x, y = (~c if coin >> (1 + axis) & 1 else c for axis, c in enumerate(place))
    # Kept with 2 c 4**-b e**-(theta |k| - r |k'|_1 + r R) / (w (1 - a)**2), so that it comes out like any other point.
    ratio = Fraction(2 * plan.constant, int(plan.weights[TAIL]) << (2 * plan.low_bits))
    shift = plan.slope * (plan.border - far - near)
    return _settle(plan, (x, y), ratio, word, bits, shift, tail=True), (x, y)


def _settle(
    plan: CellTables,
    point: tuple[int, int],
    ratio: Fraction,
    word: int,
    bits: Bits,
    shift: Fraction = Fraction(0),
    tail: bool = False,
) -> bool:
    """Return whether ``U < ratio * e**-(theta |k| + shift)``, for the tail divided by ``(1 - e**-r)**2``.

    It ends with probability one: by Lindemann and Weierstrass no such number is a binary fraction, unless k = 0, where it
    is a fixed fraction that the bits of U leave behind.
    """

    def enclosure(width: int) -> tuple[tuple[int], tuple[int]]:
        work = width + 64
        low, high = plan.radial.bounds(*point, work, shift)
        least, most = ratio * Fraction(low, 1 << work), ratio * Fraction(high, 1 << work)
        if tail:
            # Numbers near 1 are subtracted from 1: twice the bits leave enough of them.
            below, above = (Fraction(e, 1 << (2 * work)) for e in exp_bounds(-plan.slope, 2 * work))
            least, most = least / (1 - below) ** 2, most / (1 - above) ** 2
        return (math.floor(least * (1 << width)),), (min(math.ceil(most * (1 << width)), 1 << width),)

    return decide(enclosure, word, 32, bits) == 0


def _below(estimate: NDArray[np.int64]) -> NDArray[np.int64]:
    """Lower bounds of ``e**-E * 2**31``: the relative error of :class:`Radial` is below ``2**-21`` here."""
    return np.asarray(np.maximum(estimate - (estimate >> 21) - 1, 0))


def _alias(weights: list[int]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """Columns of ``2**18`` units each: the first ``threshold`` units are the column's own code, the rest is ``alias``."""
    full = 1 << _COLUMN
    left, alias = list(weights), list(range(CODES))
    small = [code for code, weight in enumerate(weights) if weight < full]
    large = [code for code, weight in enumerate(weights) if weight >= full]
    while small and large:
        code, donor = small.pop(), large[-1]
        alias[code] = donor
        left[donor] -= full - left[code]
        if left[donor] < full:
            small.append(large.pop())
    for code in (*small, *large):  # the rest have exactly a full column, since all weights sum to CODES columns
        left[code] = full
    return np.array(left, dtype=np.uint32), np.array(alias, dtype=np.int32)
