"""Exact squared distances between words, tile by tile, on all cores.

With one more coordinate for each squared norm a matrix product is ``|x|^2 + |y|^2 - 2 x.y`` itself. Its partial sums are integers
below 2^24, so single precision has them exactly, in any order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from noisewright.text._threads import single_products
from noisewright.text.embeddings.embedding import Embedding

__all__ = ["Tiles", "cores", "on_all_cores", "strips"]

BLOCKS = 64
"""Approximate number of blocks of the vocabulary."""
LEAST = 256
"""Minimum number of words of a block."""
GROUP = 512
"""Maximum number of words multiplied with a block at once."""
STRIP = 1 << 15
"""Maximum number of values that stay in a core's fast memory while they are processed."""
ALONE = 1 << 20
"""A product of fewer numbers is not worth a second thread."""

Single = NDArray[np.float32]
Rows = NDArray[np.int64]
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Tiles:
    """The words of an embedding in blocks, as factors of products that are squared distances in code units."""

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self.length = max(LEAST, -(-embedding.size // BLOCKS))
        self.count = -(-embedding.size // self.length)

    def block(self, number: int) -> slice:
        """The rows of a block."""
        return slice(number * self.length, min((number + 1) * self.length, self.embedding.size))

    def left(self, rows: Rows | slice) -> Single:
        """One row ``(x, 1, |x|^2)`` for each word."""
        codes = self.embedding.codes[rows]
        result = np.empty((len(codes), codes.shape[1] + 2), np.float32)
        result[:, :-2], result[:, -2], result[:, -1] = codes, 1, self.embedding.norms[rows]
        return result

    def right(self, number: int) -> Single:
        """One row ``(-2 y, |y|^2, 1)`` for each word of a block."""
        result = self.left(self.block(number))
        result[:, :-2] *= -2
        result[:, -2:] = result[:, :-3:-1]
        return result


def strips(rows: int, width: int, numbers: int = STRIP) -> Iterator[slice]:
    """Slices of the rows with about that number of values each."""
    height = max(1, numbers // max(width, 1))
    return (slice(start, min(start + height, rows)) for start in range(0, rows, height))


def cores() -> int:
    """Return the number of cores that may be used."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_all_cores(work: Callable[[_Item], _Result], items: Sequence[_Item], numbers: int) -> Iterable[_Result]:
    """``work`` on every item, in threads where there are many ``numbers`` altogether; the results in their order.

    NumPy lets go of the interpreter inside its loops and products, so threads run side by side, each with products of its own:
    on a busy machine that is much faster than one product on several cores, whose threads wait for each other.
    """
    threads = min(len(items), cores())
    if threads < 2 or numbers < ALONE:
        return [work(item) for item in items]
    with single_products(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))
