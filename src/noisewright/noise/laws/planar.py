r"""Exact planar Laplace noise on the integer lattice: :math:`P(k) \propto e^{-\theta \|k\|_2}` on pairs of integers.

Both methods are rejection, and how often noise is drawn again depends on theta alone: no data takes part, so the time says
nothing about any.

*Fine lattices* (theta at most 1/6, as every default lattice): see :mod:`noisewright.noise.laws._planar_cells`.

*Coarse lattices, and extremely fine ones.* Two independent discrete Laplace numbers of rate :math:`r \le \theta/\sqrt2`
have :math:`P(k) \propto e^{-r \|k\|_1}`, and :math:`\|k\|_1 \le \sqrt2 \|k\|_2`, so that keeping a pair with
probability :math:`e^{-E}`, :math:`E = \theta \|k\|_2 - r \|k\|_1 \ge 0`, leaves exactly the wanted law. About 78 in 100
pairs are kept. The pair is kept when ``U < e**-E``, U uniform; the first 32 bits of U and enclosures in 64-bit integers
(:mod:`noisewright.noise.laws._radial`) settle all but about one pair in a million. These pairs, and pairs too far out
for 64 bits, are settled in integers of the necessary number of bits, without end if need be. It does end: E is
algebraic, and so :math:`e^{-E}` is never a fraction unless E = 0 (Lindemann).

The planar Laplace law for places is due to M. Andrés, N. Bordenabe, K. Chatzikokolakis and C. Palamidessi,
"Geo-indistinguishability", CCS 2013; they drew it in floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from noisewright.core.exact import Exact, ceil_div, positive_fraction
from noisewright.noise._blocks import Size, shape_from
from noisewright.noise.bits import Bits, Rng, bits_from, half_words
from noisewright.noise.laws._planar_cells import CellTables, cells, cells_block
from noisewright.noise.laws._radial import Radial
from noisewright.noise.laws.geometric import GeometricPlan, geometric_plan, laplace_block
from noisewright.noise.search import decide

__all__ = ["discrete_planar_laplace"]

BLOCK = 1 << 14
"""Points per block: the dozen arrays at work then fit in the processor's cache."""

BELOW_ROOT_HALF = Fraction(408, 577)
"""A fraction below 1/sqrt(2), by two parts in a million: 2 * 408**2 = 577**2 - 1."""


@overload
def discrete_planar_laplace(rate: Exact, size: None = None, rng: Rng = None) -> tuple[int, int]: ...
@overload
def discrete_planar_laplace(rate: Exact, size: Size, rng: Rng = None) -> NDArray[np.int64]: ...
def discrete_planar_laplace(rate: Exact, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent pairs of integers with ``P(k)`` proportional to ``e**(-rate * |k|)``, ``|k|`` the length, exactly.

    The result has the shape ``size`` with a last axis of 2; without ``size`` it is one pair.

    >>> noise = discrete_planar_laplace("1/10", size=10_000, rng=np.random.default_rng(1))
    >>> noise.shape, bool(19.4 < np.hypot(*noise.T).mean() < 20.6)  # the mean length is close to 2 / rate
    ((10000, 2), True)
    """
    bits = bits_from(rng)
    plan = _plan(positive_fraction(rate, "rate"))
    if size is None:
        pair = np.empty((1, 2), dtype=np.int64)
        _fill(pair, plan, bits)
        x, y = pair[0].tolist()
        return x, y
    shape = shape_from(size)
    flat = np.empty((math.prod(shape), 2), dtype=np.int64)
    for start in range(0, len(flat), BLOCK):
        stop = min(start + BLOCK, len(flat))
        _fill(flat[start:stop], plan, bits)
    return flat.reshape(*shape, 2)


@dataclass(frozen=True)
class _Plan:
    """Proposals of rate ``radial.slope`` on each axis, and the enclosures that decide about them."""

    radial: Radial
    proposal: GeometricPlan
    slack: int
    cells: CellTables | None


@lru_cache(maxsize=64)
def _plan(rate: Fraction) -> _Plan:
    slope = rate * BELOW_ROOT_HALF
    proposal = geometric_plan(slope)  # refuses a rate so small that noise would leave 64-bit integers
    reach = 0
    while rate * (1 << reach) <= 64:
        reach += 1
    # Now rate * 2**reach is in (64, 128], and E < 54; or reach is 0, and the origin is the only point within reach.
    radial = Radial.of(rate, slope, reach)
    return _Plan(radial, proposal, math.ceil(radial.relative_error * (1 << 32)) + 1, cells(rate, slope))


def _fill(result: NDArray[np.int64], plan: _Plan, bits: Bits) -> None:
    """Points for every row: proposals in blocks, until enough of them were kept."""
    filled = 0
    while filled < len(result):
        missing = len(result) - filled
        if plan.cells is not None:
            # The number is such that one block is nearly always enough: a second, small one costs as much as thousands
            # of points.
            kept = cells_block(plan.cells, int(1.015 * missing / plan.cells.kept) + 16, bits)[:missing]
        else:
            kept = _product_block(plan, missing + (missing * 9) // 32 + 8, bits)[:missing]
        result[filled : filled + len(kept)] = kept
        filled += len(kept)


def _product_block(plan: _Plan, count: int, bits: Bits) -> NDArray[np.int64]:
    """Return at least 0 and at most ``count`` points from ``count`` proposals, as rows."""
    pairs = laplace_block(plan.proposal, 2 * count, bits).reshape(2, count)
    return pairs.take(np.flatnonzero(_accepted(plan, pairs[0], pairs[1], bits)), axis=1).T


def _accepted(plan: _Plan, x: NDArray[np.int64], y: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    """Coins with ``P(True) = e**-E``, one for each pair."""
    across, up = np.abs(x), np.abs(y)
    far = np.flatnonzero((across | up) >> plan.radial.reach)  # beyond e**-45: never seen, but not forgotten
    if far.size:
        across[far] = up[far] = 0
    estimate, doubtful = plan.radial.table(across, up)
    words = half_words(bits, x.size)
    gap = words - 2 * estimate  # signed, 64 bits; e**-E * 2**32 is between 2 * estimate - slack and 2 * estimate + 10
    result = gap < -plan.slack
    doubtful |= (gap < 10) & ~result
    if far.size:
        doubtful[far] = True
    if doubtful.any():
        for position in np.flatnonzero(doubtful):
            result[position] = _settle(plan, int(x[position]), int(y[position]), int(words[position]), bits)
    return result


def _settle(plan: _Plan, x: int, y: int, word: int, bits: Bits) -> bool:
    """Return whether ``U < e**-E`` when the first 32 bits of U are ``word``; draws more bits only if they are
    needed.
    """

    def enclosure(width: int) -> tuple[tuple[int], tuple[int]]:
        low, high = plan.radial.bounds(x, y, width + 64)
        return (low >> 64,), (ceil_div(high, 1 << 64),)

    return decide(enclosure, word, 32, bits) == 0
