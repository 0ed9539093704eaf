r"""Shapes that are equalities, made exact in a certified table where that costs no privacy.

Certification moves a solver's probabilities by a little, and each cell by another little. Two shapes can be had back:

*fair*: if every output is the home of one secret, the amounts ``f(y) = c - T[x_y, y]`` added to every row alike make all the
``T[x, h(x)]`` equal to ``c``. Adding the same amounts to all rows keeps every promise. Rows must sum to a power of two, so ``T``
is counted ``k`` times first; where no whole numbers do that, one unit of the last place is left over.

*symmetric*: the sum of the table and its mirror image is symmetric. The image is private if the mirror keeps all distances.

Every table that comes out was checked again, integer against integer; if the check fails the old table is kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from noisewright.core.certify import CertifiedChannel
from noisewright.core.envelope import Envelope, Integers
from noisewright.optimal import shapes

__all__ = ["settled"]

MORE_BITS = 64
"""By how much the integers of a table that is made fair are longer."""


def settled(certified: CertifiedChannel, wanted: tuple[str, ...]) -> CertifiedChannel:
    """The table with its equalities exact, where that can be done."""
    if "fair" in wanted:
        certified = _proved(certified, *_fair(certified))
    if "symmetric" in wanted:
        certified = _proved(certified, *_symmetric(certified))
    return certified


def _proved(certified: CertifiedChannel, table: Integers, width: int) -> CertifiedChannel:
    bits = certified.precision + width - certified.width
    sound = (table.sum(axis=1) == 1 << width).all() and not (table < 0).any()
    if not sound or Envelope(certified.distances, certified.epsilon, bits).violation(table) is not None:
        return certified
    table.flags.writeable = False
    return replace(certified, table=table, width=width, precision=bits)


def _fair(certified: CertifiedChannel) -> tuple[Integers, int]:
    table, home = certified.table, shapes.homes(certified.inputs, certified.outputs)
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
    first, second = shapes.pairs_of("symmetric", certified.inputs, certified.outputs)
    flat = certified.table.ravel()
    mirrored = flat.copy()
    mirrored[first], mirrored[second] = flat[second], flat[first]
    return (flat + mirrored).reshape(certified.table.shape), certified.width + 1
