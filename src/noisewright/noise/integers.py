r"""Unbiased uniform integers below any bound, however large.

``uniform_below(n)`` has the law :math:`P(k) = 1/n` on ``k = 0, ..., n - 1``, exactly. A remainder of a random word is
biased whenever ``n`` is not a power of two; here words that would cause the bias are thrown away and drawn again. How
often that happens depends on the bound alone.

Small bounds use the multiply-shift of D. Lemire, "Fast random integer generation in an interval", ACM Transactions on
Modeling and Computer Simulation 29 (2019); larger ones the classic mask and reject.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.noise._blocks import BLOCK, Size, draw_blocks, shape_from
from noisewright.noise.bits import Bits, Rng, bits_from, half_words

__all__ = ["random_order", "uniform_below"]


def uniform_below(bound: Any, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent integers, each uniform on ``0, ..., bound - 1``, with no bias at all.

    ``bound`` is a positive int of any size, or an array of them (one bound for each draw; ``size`` is then its shape,
    or one that it broadcasts to). The result is ``int64`` while every bound is at most 2**63, ``uint64`` up to 2**64,
    and an object array of Python ints above. One bound without ``size`` gives a Python int.

    >>> rolls = uniform_below(6, size=1000, rng=np.random.default_rng(1))
    >>> int(rolls.min()), int(rolls.max()), rolls.dtype.name
    (0, 5, 'int64')
    >>> uniform_below(10**40) < 10**40
    True
    >>> bool((uniform_below([1, 2, 3]) < [1, 2, 3]).all())
    True
    """
    bits = bits_from(rng)
    if isinstance(bound, (np.ndarray, list, tuple)):
        return _below_each(bound, size, bits)
    try:
        top = operator.index(bound) - 1
    except TypeError:
        raise ParameterError(
            f"bound must be a whole number, not {type(bound).__name__}; give a positive int."
        ) from None
    if top < 0:
        raise ParameterError(f"bound = {bound} leaves nothing to draw; give a whole number greater than 0.")
    if top < 1 << 32:
        return draw_blocks(size, np.int64, lambda count: _below_small(top + 1, count, bits))
    if top < 1 << 64:
        tops = np.broadcast_to(np.uint64(top), BLOCK)
        return draw_blocks(size, _dtype(top), lambda count: _below_masked(tops[:count], bits))
    return draw_blocks(size, np.object_, lambda count: _below_big([top] * count, bits))


def random_order(count: int, rng: Rng = None) -> list[int]:
    """The numbers ``0, ..., count - 1`` in an order that is uniform among all.

    >>> sorted(random_order(5))
    [0, 1, 2, 3, 4]

    Reference: Fisher and Yates (1938).
    """
    order, bits = list(range(count)), bits_from(rng)
    for last in range(count - 1, 0, -1):
        other = uniform_below(last + 1, rng=bits)
        order[last], order[other] = order[other], order[last]
    return order


def _dtype(top: int) -> type[np.generic]:
    if top < 1 << 63:
        return np.int64
    return np.uint64 if top < 1 << 64 else np.object_


def _below_small(bound: int, count: int, bits: Bits) -> NDArray[np.uint64]:
    """Multiply-shift: the upper half of ``word * bound`` is uniform once the lower half is at least 2**32 mod bound."""
    reject_below = np.uint32((1 << 32) % bound)
    product = half_words(bits, count).astype(np.uint64) * np.uint64(bound)
    result = product >> np.uint64(32)
    if reject_below:
        again = np.flatnonzero(product.astype(np.uint32) < reject_below)
        while again.size:
            product = half_words(bits, again.size).astype(np.uint64) * np.uint64(bound)
            result[again] = product >> np.uint64(32)
            again = again[product.astype(np.uint32) < reject_below]
    return result


def _below_masked(tops: NDArray[np.uint64], bits: Bits) -> NDArray[np.uint64]:
    """A word cut to the length of ``top``, drawn again while it is above: at most two tries on average."""
    mask = tops.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    result = bits.words(tops.size) & mask
    again = np.flatnonzero(result > tops)
    while again.size:
        result[again] = bits.words(again.size) & mask[again]
        again = again[result[again] > tops[again]]
    return result


def _below_big(tops: list[int], bits: Bits) -> NDArray[np.object_]:
    result = np.empty(len(tops), dtype=object)
    for position, top in enumerate(tops):
        length = top.bit_length()
        count = (length + 63) // 64
        while True:
            draw = int.from_bytes(bits.words(count).tobytes(), "little") >> (64 * count - length)
            if draw <= top:
                break
        result[position] = draw
    return result


def _below_each(bounds: Any, size: Size | None, bits: Bits) -> NDArray[Any]:
    tops = _tops(bounds)
    shape = tops.shape if size is None else shape_from(size)
    largest = int(tops.max()) if tops.size else 0
    try:
        flat = np.broadcast_to(tops, shape).reshape(-1)
    except ValueError:
        raise ParameterError(
            f"bound has shape {tops.shape}, which does not fit size {shape}; leave size out to draw one for each."
        ) from None
    result = np.empty(flat.size, dtype=_dtype(largest))
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        result[start : start + BLOCK] = (
            _below_masked(part, bits) if largest < 1 << 64 else _below_big(part.tolist(), bits)
        )
    return result.reshape(shape)


def _tops(bounds: Any) -> NDArray[Any]:
    """Each bound less one: as uint64 where all fit, else as Python ints."""
    # Numpy would turn a list of ints around 2**63 into floats; as objects they stay unchanged.
    given = bounds if isinstance(bounds, np.ndarray) else np.array(bounds, dtype=object)
    if given.dtype.kind in "iu":
        if given.size and given.min() < 1:
            raise ParameterError("bound holds a number below 1, which leaves nothing to draw; give positive ints.")
        return given.astype(np.uint64) - np.uint64(1)
    try:
        tops = [operator.index(bound) - 1 for bound in given.flat]
    except TypeError:
        raise ParameterError("bound must hold whole numbers only; give positive ints.") from None
    if min(tops, default=0) < 0:
        raise ParameterError("bound holds a number below 1, which leaves nothing to draw; give positive ints.")
    return np.array(tops, dtype=np.uint64 if max(tops, default=0) < 1 << 64 else object).reshape(given.shape)
