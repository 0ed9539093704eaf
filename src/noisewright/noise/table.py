r"""Draws from a table of integers: the very table that a certificate was proved about.

Row ``r`` of the table gives outcome ``c`` with probability ``table[r][c] / 2**width``, where every row sums to exactly
``2**width``. :meth:`TableSampler.draw` has exactly that law for a whole column of secrets at once: each draw reads one
64-bit word against a guide table, the few words that fall on a border are compared in full, and the one in about 2**64
that still ties reads further words against the thresholds as big integers.

The method is inversion with a guide table (H.-C. Chen and Y. Asau, 1974) on lazily drawn bits (D. Knuth and A. Yao,
1976). How long a draw takes depends on the row only through the share of words that fall on a border; this is not a
constant-time sampler.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError, ParameterError
from noisewright.noise._blocks import BLOCK
from noisewright.noise.bits import Bits, Rng, bits_from
from noisewright.noise.search import Lookup, decide, whole_thresholds

__all__ = ["TableSampler"]


class TableSampler:
    """An exact sampler for a table whose rows are probabilities over ``2**width``.

    It holds numbers only, no randomness, so it can be pickled, copied, forked and shared between threads. Memory is the
    table, 8 bytes for each entry, and at most 32 MB for the guide.

    >>> sampler = TableSampler([[3, 1], [0, 4]], width=2)
    >>> sampler.draw([1, 1, 1]).tolist()
    [1, 1, 1]
    >>> draws = sampler.draw(np.zeros(10_000, dtype=int), rng=np.random.default_rng(1))
    >>> bool(0.23 < draws.mean() < 0.27)
    True
    """

    def __init__(self, table: Sequence[Sequence[int]] | NDArray[Any], width: int) -> None:
        """``table``: rows of non-negative integers, each with the sum ``2**width``; ``width``: any positive integer."""
        self.width = _width(width)
        listed = table.tolist() if isinstance(table, np.ndarray) else table
        if not isinstance(listed, Iterable):
            raise ParameterError(f"the table must be a list of rows, not {type(table).__name__}.")
        self._rows = tuple(_row(entries, index) for index, entries in enumerate(listed))
        if not self._rows or not self._rows[0]:
            raise ParameterError("the table is empty; give at least one row with at least one column.")
        self.rows, self.columns = len(self._rows), len(self._rows[0])
        thresholds = np.empty((self.rows, self.columns - 1), dtype=np.uint64)
        for index, entries in enumerate(self._rows):
            thresholds[index] = self._first_words(entries, index)
        self._lookup = Lookup(thresholds)

    def __repr__(self) -> str:
        return f"TableSampler({self.rows} rows, {self.columns} columns, width={self.width})"

    def draw(self, rows: Any, rng: Rng = None) -> Any:
        """One column index for each row index in ``rows``, as int64 in the same shape; an int gives an int.

        Draw ``i`` reads word ``i`` of the source, and ties read the words after those, so a seeded result does not
        depend on the block size.
        """
        secrets = np.asarray(rows)
        self._check(secrets)
        flat = secrets.reshape(-1)
        bits = bits_from(rng)
        result = np.empty(flat.size, dtype=np.int64)
        ties: list[tuple[int, int]] = []
        for start in range(0, flat.size, BLOCK):
            part = flat[start : start + BLOCK].astype(np.int64, copy=False)
            words = bits.words(part.size)
            result[start : start + BLOCK], tied = self._lookup.find(part, words)
            ties.extend((start + int(position), int(words[position])) for position in tied)
        for position, word in ties:
            result[position] = self._settle(int(flat[position]), word, bits)
        return result.reshape(secrets.shape) if secrets.shape else int(result[0])

    def _check(self, secrets: NDArray[Any]) -> None:
        """Refuses the whole column before the first draw, and does not say which value was wrong."""
        if secrets.size == 0:
            return
        if secrets.dtype.kind not in "iu":
            raise DataError(f"row indices must be whole numbers, not {secrets.dtype}; map each value to its row first.")
        if secrets.min() < 0 or secrets.max() >= self.rows:
            raise DataError(
                f"a row index is outside 0 to {self.rows - 1}; map each value to its row, and clamp or drop the others."
            )

    def _settle(self, row: int, word: int, bits: Bits) -> int:
        """The outcome in ``row`` of a uniform number whose first 64 bits are ``word``."""
        thresholds = list(accumulate(self._rows[row]))[:-1]
        return decide(whole_thresholds(thresholds, self.width), word, 64, bits)

    def _first_words(self, entries: tuple[int, ...], index: int) -> list[int]:
        """The thresholds of a row, cut to 64 bits; the last one is 1 and never reached, so it is left out."""
        thresholds = list(accumulate(entries))
        total = 1 << self.width
        if len(thresholds) != self.columns:
            raise ParameterError(
                f"row {index} of the table has {len(thresholds)} columns, but row 0 has {self.columns}; give equal rows."
            )
        if thresholds.pop() != total:
            raise ParameterError(
                f"row {index} of the table does not sum to 2**{self.width}; every row must, so round it to that sum."
            )
        up, down = max(0, 64 - self.width), max(0, self.width - 64)
        # A threshold of 1 (only zeros follow) has no 64-bit word; the largest word stands for it, and the ties on that
        # word are settled on the exact thresholds.
        return [(c << up) >> down if c < total else (1 << 64) - 1 for c in thresholds]


def _width(width: SupportsIndex) -> int:
    try:
        number = operator.index(width)
    except TypeError:
        raise ParameterError(f"width must be a whole number of bits, not {type(width).__name__}.") from None
    if number < 1:
        raise ParameterError(f"width = {number} is too small; give 1 bit or more.")
    return number


def _row(entries: Iterable[SupportsIndex], index: int) -> tuple[int, ...]:
    try:
        row = tuple(map(operator.index, entries))
    except TypeError:
        raise ParameterError(
            f"row {index} of the table is not a list of whole numbers; give integers over 2**width, not floats."
        ) from None
    if row and min(row) < 0:
        raise ParameterError(f"row {index} of the table has a negative entry; give integers of 0 or more.")
    return row
