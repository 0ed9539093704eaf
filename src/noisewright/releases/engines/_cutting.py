"""Rows in blocks of a fixed size, counted from the first row of the table, and a look at a block before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from noisewright.core.errors import DataError
from noisewright.releases.columns.plan import ColumnPlan

__all__ = ["check_block", "in_blocks", "in_pieces", "joined"]

KEPT = 16 << 20


def in_blocks(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of exactly ``size`` rows, the last one smaller.

    >>> [block.num_rows for block in in_blocks(pa.table({"x": range(10)}).to_batches(max_chunksize=3), 4)]
    [4, 4, 2]
    """
    _keep_freed_memory()
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        rest = batch
        while rows + rest.num_rows >= size:
            part = rest.slice(0, size - rows)
            rest = rest.slice(part.num_rows)
            yield joined([*waiting, part])
            waiting, rows = [], 0
        if rest.num_rows:
            waiting.append(rest)
            rows += rest.num_rows
    if waiting:
        yield joined(waiting)


def in_pieces(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The same rows in batches of at most ``size`` rows, none of them copied, each with the number of rows before it.

    >>> [(start, piece.num_rows) for start, piece in in_pieces(pa.table({"x": range(10)}).to_batches(max_chunksize=7), 4)]
    [(0, 4), (4, 3), (7, 3)]
    """
    _keep_freed_memory()
    before = 0
    for batch in batches:
        for start in range(0, batch.num_rows, size):
            piece = batch.slice(start, size)
            yield before, piece
            before += piece.num_rows


def joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Several batches as one; dictionaries are made the same."""
    if len(batches) == 1:
        return batches[0]
    whole = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks().to_batches()
    return whole[0] if whole else batches[0]


def _keep_freed_memory() -> None:
    """Have the C library keep what is freed, up to twice this much, instead of handing it back for every block.

    It learns from the largest piece that was ever freed. Without it a release spends a quarter of its time on getting the same
    pages again; where memory is managed differently, this costs a microsecond and does nothing.
    """
    np.empty(KEPT, dtype=np.uint8)


def check_block(plans: Sequence[ColumnPlan], block: pa.RecordBatch, start: int | None = None) -> None:
    """Refuse a value that a mechanism would refuse, so that a release is refused before it draws or spends.

    Whether a value is taken depends on the value alone, so it is enough to try each value of a block once. ``start``: how many
    rows of the table lie before the block, if that is known; the error then names the row of a bad file.
    """
    for plan in plans:
        arrays = [block.column(name) for name in plan.names]
        if plan.secret is None or len(arrays) > 1:
            plan.check(arrays)
            continue
        kind = plan.secret.kinds[0]
        try:
            plan.check([kind.distinct(arrays[0])])
        except DataError as problem:
            if start is None or not kind.files:
                raise
            row = start + _first_refused(plan, arrays[0]) + 1
            raise DataError(f"{problem} The first one is in row {row:,} of the table.") from None


def _first_refused(plan: ColumnPlan, column: pa.Array) -> int:
    """The place of the first value that is refused, of a column with such a value."""
    first, last = 0, len(column) - 1
    while first < last:
        middle = (first + last) // 2
        try:
            plan.check([column.slice(first, middle + 1 - first)])
            first = middle + 1
        except DataError:
            last = middle
    return first
