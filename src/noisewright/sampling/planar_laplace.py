r"""Enclosures of :math:`e^{-E}`, :math:`E = \theta \|k\|_2 - r \|k\|_1 \ge 0`, for pairs of integers k.

Many pairs at once in 64-bit integers (:class:`Radial.table`), one pair to any number of bits (:meth:`Radial.bounds`). A float
guesses the square root of :math:`\|k\|_2^2`; an integer comparison then confirms the guess or flags the pair. The exponential
is a product of three entries of digit tables. All that is cut off is bounded, so no outcome ever rests on a rounded number.

>>> radial = Radial.of(Fraction(1, 10), Fraction(1, 20), 8)
>>> low, high = radial.bounds(3, 4, 40)
>>> low <= math.exp(-(0.5 - 0.35)) * 2**40 <= high
True

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
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.figures import ceil_div, exp_bounds
from noisewright.numerics.exact import Exact, positive_fraction
from noisewright.sampling.categorical import decide
from noisewright.sampling.laplace import GeometricPlan, geometric_block, geometric_plan, laplace_block
from noisewright.sampling.random_bits import Bits, Rng, Size, bits_from, half_words, shape_from

__all__ = ["TABLE", "CellTables", "Radial", "cells", "cells_block", "discrete_planar_laplace"]


TABLE = 31
"""Bits after the point of a probability in a table."""

_COORDINATE = 30  # bits of a coordinate in fixed point
_FRACTION = 54  # bits after the point of the exponent E
_DIGIT = 10  # bits of a digit of E; three digits, the last one in units of 2**-24
_LAST = 24


@dataclass(frozen=True)
class Radial:
    """Enclosures for one theta (``rate``) and r (``slope``), for coordinates below ``2**reach``, where E must be below 64.

    Coordinates are scaled to 30 bits, E is counted in units of ``2**-54``. With ``unit = 2**(reach - 30 + 54)``:
    ``radius_unit <= rate * unit < radius_unit + 1`` and ``sum_unit - 1 < slope * unit <= sum_unit``.
    """

    rate: Fraction
    slope: Fraction
    reach: int
    radius_unit: int
    sum_unit: int

    @classmethod
    def of(cls, rate: Fraction, slope: Fraction, reach: int) -> Radial:
        """The fixed point for these numbers; ``rate * 2**reach`` may be 128 at most, unless only the origin is in reach."""
        unit = Fraction(2) ** (reach - _COORDINATE + _FRACTION) if reach else Fraction(0)
        return cls(rate, slope, reach, math.floor(rate * unit), math.ceil(slope * unit))

    @property
    def cut(self) -> int:
        """Number of low bits of a coordinate that do not fit in 30 bits."""
        return max(0, self.reach - _COORDINATE)

    @property
    def gaps(self) -> tuple[int, int]:
        """Largest excess of length and sum over their values for the cut coordinates, which each lose less than 1."""
        return (2, 2) if self.cut else (0, 0)  # the length loses less than sqrt(2), the sum less than 2

    @property
    def relative_error(self) -> Fraction:
        """``e**-E * 2**31`` is at least ``table * (1 - relative_error)``; it is always below ``table + 5``."""
        root_gap, sum_gap = self.gaps
        # root < 2**30.5 and sum < 2**31 multiply units that are off by less than one; the root itself is off by less than one.
        width = (3 << _COORDINATE) + (root_gap + 1) * (self.radius_unit + 1) + sum_gap * self.sum_unit
        return Fraction(width, 1 << _FRACTION) + Fraction(1, 1 << _LAST)

    def table(self, across: NDArray[np.int64], up: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Lower estimates of ``e**-E * 2**31``, and which of them are void because the float's guess was wrong.

        ``across`` and ``up`` are the absolute coordinates, below ``2**reach``; they are overwritten.
        """
        if self.cut:
            across >>= self.cut
            up >>= self.cut
        else:
            across <<= _COORDINATE - self.reach
            up <<= _COORDINATE - self.reach
        square = across * across
        square += up * up
        root = np.sqrt(square.astype(np.float64)).astype(np.int64)
        exponent = root * self.radius_unit
        if self.sum_unit:
            across += up
            across += self.gaps[1]
            across *= self.sum_unit
            exponent -= across
            np.maximum(exponent, 0, out=exponent)  # E is never negative, whatever the cut bits made of it
        exponent >>= _FRACTION - _LAST
        high, middle, low = digit_tables()
        mask = (1 << _DIGIT) - 1
        product = high.take(exponent >> (2 * _DIGIT), mode="clip")  # never clips: E < 64
        product *= middle.take((exponent >> _DIGIT) & mask)
        product >>= TABLE
        product *= low.take(exponent & mask)
        product >>= TABLE
        # A guess that is too large makes the rest negative, a huge number when read as unsigned; one too small, above 2 root.
        square -= root * root
        root <<= 1
        return product, square.view(np.uint64) > root.view(np.uint64)

    def bounds(self, x: int, y: int, width: int, shift: Fraction = Fraction(0)) -> tuple[int, int]:
        """Integers ``(low, high)`` with ``low <= e**-(E + shift) * 2**width <= high``, a few units apart."""
        square = x * x + y * y
        places = width + 8 + math.ceil(self.rate).bit_length()
        root = math.isqrt(square << (2 * places))
        linear = self.slope * (abs(x) + abs(y)) - shift
        above = root if root * root == square << (2 * places) else root + 1
        least = max(self.rate * Fraction(root, 1 << places) - linear, Fraction(0))
        most = self.rate * Fraction(above, 1 << places) - linear
        return exp_bounds(-most, width)[0], min(exp_bounds(-least, width)[1], 1 << width)


@lru_cache(maxsize=1)
def digit_tables() -> tuple[NDArray[np.int64], ...]:
    """``e**(-digit * 2**-b) * 2**31`` rounded down, for the digits from the highest: b = 4, 14, 24.

    Each entry is low by less than 1; so the product of three, rounded down twice, is low by less than 5.
    """

    return tuple(_powers(_LAST - _DIGIT * place) for place in (2, 1, 0))


def _powers(b: int) -> NDArray[np.int64]:
    """One table: each entry is enclosed by a product with the one before, which is fast; a doubtful one is worked out alone."""
    work, cut = 96, 96 - TABLE
    decay = exp_bounds(Fraction(-1, 1 << b), work)
    low = high = 1 << work
    values = []
    for digit in range(1 << _DIGIT):
        certain = low >> cut == high >> cut
        values.append((low if certain else exp_bounds(Fraction(-digit, 1 << b), work)[0]) >> cut)
        low, high = low * decay[0] >> work, ceil_div(high * decay[1], 1 << work)
    return np.array(values, dtype=np.int64)


# Planar cells -------------------------------------------------------------------------------------------------------------
#
# Planar Laplace noise on fine lattices: choose a square cell, then a point in it, then keep the point or not.


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


# Planar -------------------------------------------------------------------------------------------------------------------
#
# Exact planar Laplace noise on the integer lattice: :math:`P(k) \propto e^{-\theta \|k\|_2}` on pairs of integers.
#
# Both methods are rejection, and how often noise is drawn again depends on theta alone: no data takes part, so the time says
# nothing about any.
#
# *Fine lattices* (theta at most 1/6, as every default lattice): see :mod:`noisewright.sampling.planar_laplace`.
#
# *Coarse lattices, and extremely fine ones.* Two independent discrete Laplace numbers of rate :math:`r \le \theta/\sqrt2`
# have :math:`P(k) \propto e^{-r \|k\|_1}`, and :math:`\|k\|_1 \le \sqrt2 \|k\|_2`, so that keeping a pair with
# probability :math:`e^{-E}`, :math:`E = \theta \|k\|_2 - r \|k\|_1 \ge 0`, leaves exactly the wanted law. About 78 in 100
# pairs are kept. The pair is kept when ``U < e**-E``, U uniform; the first 32 bits of U and enclosures in 64-bit integers
# (:mod:`noisewright.sampling.planar_laplace`) settle all but about one pair in a million. These pairs, and pairs too far out
# for 64 bits, are settled in integers of the necessary number of bits, without end if need be. It does end: E is
# algebraic, and so :math:`e^{-E}` is never a fraction unless E = 0 (Lindemann).
#
# The planar Laplace law for places is due to M. Andrés, N. Bordenabe, K. Chatzikokolakis and C. Palamidessi,
# "Geo-indistinguishability", CCS 2013; they drew it in floats.


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
            result[position] = _settle_point(plan, int(x[position]), int(y[position]), int(words[position]), bits)
    return result


def _settle_point(plan: _Plan, x: int, y: int, word: int, bits: Bits) -> bool:
    """Return whether ``U < e**-E`` when the first 32 bits of U are ``word``; draws more bits only if they are
    needed.
    """

    def enclosure(width: int) -> tuple[tuple[int], tuple[int]]:
        low, high = plan.radial.bounds(x, y, width + 64)
        return (low >> 64,), (ceil_div(high, 1 << 64),)

    return decide(enclosure, word, 32, bits) == 0
