"""Reading of ``size`` by every sampler, and sampling in blocks.

A block of 2**15 draws keeps all temporaries inside the processor's cache. This is the fastest size, and it keeps memory
constant beyond the output. Seeded draws are the same for the same call, but not for the same total split into other
calls.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError

__all__ = ["BLOCK", "Size", "draw_blocks", "shape_from"]

BLOCK = 1 << 15
"""Draws per block; an even number, so that blocks of half words leave none behind."""

Size = SupportsIndex | tuple[SupportsIndex, ...]
"""Number of draws: an int, or a shape."""


def draw_blocks(size: Size | None, dtype: type[np.generic], block: Callable[[int], NDArray[Any]]) -> Any:
    """``block(n)`` called for at most ``BLOCK`` draws at a time; a Python scalar when ``size`` is None."""
    if size is None:
        return block(1).tolist()[0]
    shape = shape_from(size)
    total = math.prod(shape)
    flat = np.empty(total, dtype=dtype)
    for start in range(0, total, BLOCK):
        stop = min(start + BLOCK, total)
        flat[start:stop] = block(stop - start)
    return flat.reshape(shape)


def shape_from(size: Size) -> tuple[int, ...]:
    """The shape that ``size`` asks for."""
    try:
        shape = tuple(operator.index(n) for n in size) if isinstance(size, tuple) else (operator.index(size),)
    except TypeError:
        raise ParameterError(
            f"size = {size!r} is not a count; give a whole number, a tuple of them, or None for one draw."
        ) from None
    if any(n < 0 for n in shape):
        raise ParameterError(f"size = {size!r} is negative; give 0 or more draws.")
    return shape
