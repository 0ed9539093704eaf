r"""Shapes made exact in a certified table, where that costs no privacy and next to no accuracy.

Certification moves a solver's probabilities by a little, and each cell by another little. The shapes can be had back:

*fair*: if every output is the home of one secret, the amounts ``f(y) = c - T[x_y, y]`` added to every row alike make
all the ``T[x, h(x)]`` equal to ``c``. Adding the same amounts to all rows keeps every guarantee. Rows must sum to a
power of two, so ``T`` is counted ``k`` times first; where no integers do that, one unit of the last place is left over.

*symmetric*: the sum of the table and its mirror image is symmetric. The image is private if the mirror keeps all distances.

*the rest*: if the outputs are the secrets, some private tables satisfy all the inequalities strictly. With
``s_x = sum_y |x - y|`` over ranks, ``G[x, y] = -|x - y| + (s_x - s_y) / n + sum s / n^2`` has rows that sum to 0, a
constant diagonal, and falls from it along rows and columns (without an order: ``n`` times the identity, minus 1).
Therefore ``1/n + t G`` is one for a small ``t``, and the least share of it that mends every inequality is mixed in; no
equality is lost.

At a small epsilon the table itself is made in another way first, see :func:`evened`.

Every table that comes out was checked again, integer against integer; if the check fails the old table is kept.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.channels.certified import CertifiedChannel
from noisewright.core.channels.envelope import Envelope, Integers
from noisewright.optimality.shapes._cells import EQUAL, homes, pairs_of, ranks

__all__ = ["evened", "mended", "settled"]


FLOAT_BITS = 128
"""Probabilities in floats are counted in units of 2 to the power of minus this."""

MORE_BITS = 64
"""Number of bits by which the integers of a table that is made fair, or mixed with another, are longer."""


def evened(certified: CertifiedChannel, matrix: Floats) -> CertifiedChannel:
    """Return another table of the same mechanism, from its probabilities in floats: the missing mass of rows is made up
    for in all outputs alike.

    A certificate rescales columns instead, which moves less, but at a small epsilon by unlike amounts for outputs that are
    nearly alike, and so breaks shapes.
    """
    n = matrix.shape[1]
    if any(d == 0 for _, _, d in certified.distances.pairs()):
        return certified
    weights: Integers = np.array(
        [[int(v) << MORE_BITS for v in row] for row in np.ldexp(matrix, FLOAT_BITS).tolist()], dtype=object
    )
    envelope = Envelope(certified.distances, certified.epsilon, certified.precision)
    raised = envelope.majorant(weights)
    smallest, one = envelope.smallest_factor(), 1 << envelope.bits
    base = -(-(2 * smallest + one) // (smallest - one))  # corrects the rounding of divisions
    lacking = [int(v) for v in raised.sum(axis=1).max() - raised.sum(axis=1)]
    extra = np.array(lacking, dtype=object) + envelope.growth(lacking) + n * base
    rows = n * raised + extra[:, None]
    width = int(rows[0].sum()).bit_length() + MORE_BITS
    times, left = divmod(1 << width, int(rows[0].sum()))
    share = np.array([left // n + (y < left % n) for y in range(n)], dtype=object)
    return _proved(certified, times * rows + share, width)


def settled(certified: CertifiedChannel, wanted: tuple[str, ...]) -> CertifiedChannel:
    """The table with its equalities exact, where that can be done."""
    if "fair" in wanted:
        certified = _proved(certified, *_fair(certified))
    if "symmetric" in wanted:
        certified = _proved(certified, *_symmetric(certified))
    return certified


def mended(certified: CertifiedChannel, wanted: tuple[str, ...]) -> CertifiedChannel:
    """Return the table with its inequalities exact too, where that can be done; the caller judges the cost."""
    return _proved(certified, *_mixed(certified, wanted))


def _proved(certified: CertifiedChannel, table: Integers, width: int) -> CertifiedChannel:
    bits = certified.precision + width - certified.width
    sound = (table.sum(axis=1) == 1 << width).all() and not (table < 0).any()
    if not sound or Envelope(certified.distances, certified.epsilon, bits).violation(table) is not None:
        return certified
    table.flags.writeable = False
    return replace(certified, table=table, width=width, precision=bits)


def _fair(certified: CertifiedChannel) -> tuple[Integers, int]:
    table, home = certified.table, homes(certified.inputs, certified.outputs)
    count = table.shape[1]
    if len(home) != count or len(set(home.tolist())) < count:  # an output without a secret of its own, or with several
        return table, certified.width
    own = np.empty(count, dtype=object)
    own[home] = table[np.arange(count), home]
    missing = max(own) - own
    width = certified.width + MORE_BITS + count.bit_length()
    row = (1 << certified.width) + sum(missing)
    # k (2^width + sum f) + count u = 2^width': the largest k for which u is whole, if there is one.
    most = (1 << width) // row
    times = next((k for k in range(most, max(0, most - count), -1) if ((1 << width) - k * row) % count == 0), most)
    each, left = divmod((1 << width) - times * row, count)
    extra = times * missing + each
    extra[:left] += 1
    return times * table + extra, width


def _symmetric(certified: CertifiedChannel) -> tuple[Integers, int]:
    first, second = pairs_of("symmetric", certified.inputs, certified.outputs)
    flat = certified.table.ravel()
    mirrored = flat.copy()
    mirrored[first], mirrored[second] = flat[second], flat[first]
    return (flat + mirrored).reshape(certified.table.shape), certified.width + 1


def _mixed(certified: CertifiedChannel, wanted: tuple[str, ...]) -> tuple[Integers, int]:
    """``(2^b - n c) T + c (2^width + G)`` with the least ``c`` that leaves no inequality broken."""
    table, width = certified.table, certified.width
    room = _room(certified)
    if room is None:
        return table, width
    n, share = len(table), 0
    flat, free = table.ravel(), room.ravel()
    for name in wanted:
        if name in EQUAL:
            continue
        low, high = pairs_of(name, certified.inputs, certified.outputs)
        weak = name == "weakly-honest"
        over = (1 << width) - n * flat[high] if weak else flat[low] - flat[high]
        gain = n * free[high] if weak else free[high] - free[low]
        for missed, mended in zip(over.tolist(), gain.tolist(), strict=True):
            if missed > 0:
                share = max(share, -((-missed << MORE_BITS) // (n * missed + mended)))
    if not 0 < share * n <= 1 << MORE_BITS:
        return table, width
    return ((1 << MORE_BITS) - n * share) * table + share * ((1 << width) + room), width + MORE_BITS


def _room(certified: CertifiedChannel) -> Integers | None:
    """Return the table ``G``, as large as keeps ``2^width + G`` private with some slack; None if outputs are not the
    secrets.
    """
    inputs, n = certified.inputs, len(certified.inputs)
    home = homes(inputs, certified.outputs) if set(inputs) == set(certified.outputs) else np.zeros(0)
    if len(set(home.tolist())) < n or len(certified.outputs) != n:
        return None
    order = ranks(inputs)
    if order is None:
        whole = -np.ones((n, n), dtype=np.int64)
        whole[np.arange(n), home] += n
    else:
        apart = np.abs(np.subtract.outer(order, order))
        sums = apart.sum(axis=1)
        whole = np.empty_like(apart)
        whole[:, home] = sums.sum() - n * n * apart + n * (sums[:, None] - sums)
    nearest = min((d for _, _, d in certified.distances.pairs()), default=Fraction(0))
    times = int(min(Fraction(1), certified.epsilon * nearest) * (1 << certified.width)) // (
        3 * int(np.abs(whole).max())
    )
    return whole.astype(object) * times if times else None
