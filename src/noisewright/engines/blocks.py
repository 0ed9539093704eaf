"""Rows in blocks of a fixed size, counted from the first row of the table, and a look at a block before anything is drawn.

Parquet has dictionaries of its own, and Arrow's are written into them as they are, where plain texts would be looked up
again one by one. Floats and bytes, of which hardly any occurs twice, are not looked up at all.

>>> import io
>>> file, plain = io.BytesIO(), pa.schema([("ward", pa.string())])
>>> rows = ParquetRows(file, plain)
>>> rows.write_batch(pa.record_batch({"ward": pa.array(["north", "north"]).dictionary_encode()}))
>>> rows.close()
>>> pyarrow.parquet.read_table(file).schema == plain
True

Integers, dates and times are cut to the fewest bytes that hold those seen so far; texts of which there are few become
numbers, whose texts stay in memory. Nothing is lost: :meth:`Narrow.widen` gives back the same values and types.

>>> rows = pa.record_batch({"age": [31, 47, None], "ward": ["north", "south", "north"]})
>>> narrow = Narrow(rows.schema)
>>> small = narrow.narrow(rows)
>>> small.schema.types, small.column("ward").to_pylist()
([DataType(int8), DataType(int8)], [0, 1, 0])
>>> narrow.widen(small).equals(rows)
True
"""

from __future__ import annotations

import base64
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from noisewright.columns.arrow import arrow_cast, pc
from noisewright.columns.nested import is_text
from noisewright.exceptions import DataError
from noisewright.planning.column_plan import ColumnPlan

__all__ = ["Narrow", "ParquetRows", "check_block", "in_blocks", "in_pieces", "joined", "through"]


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


# Parquet ------------------------------------------------------------------------------------------------------------------
#
# A Parquet file written batch by batch, in which texts may come with a dictionary, and are plain text to readers all the same.


class ParquetRows:
    """A writer of rows with one schema, which the first of them show; ``schema`` is what readers find."""

    def __init__(self, target: Any, schema: pa.Schema) -> None:
        self._target, self._schema = target, schema
        self._writer: Any = None

    def write_batch(self, rows: pa.RecordBatch) -> None:
        """Append rows."""
        self._opened(rows.schema).write_batch(rows)

    def close(self) -> None:
        """End the file, also one without rows."""
        self._opened(self._schema).close()

    def _opened(self, schema: pa.Schema) -> Any:
        if self._writer is None:
            counted = [one.name for one in self._schema if is_text(one.type) or _whole(one.type)]
            self._writer = pyarrow.parquet.ParquetWriter(
                self._target, schema, compression="snappy", use_dictionary=counted, store_schema=False
            )
            self._writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(self._schema.serialize())})
        return self._writer


def _whole(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_temporal(type_))


# Threads ------------------------------------------------------------------------------------------------------------------
#
# Work on a stream by all cores: in order, and a bounded number of pieces ahead, so that memory does not grow with the
# stream.


S = TypeVar("S")
T = TypeVar("T")


def through(work: Callable[[S, int], T], pieces: Iterable[S], ahead: int | None = None) -> Generator[T]:
    """The results of ``work(piece, number)`` in order, made by all cores, ``ahead`` pieces before the reader.

    >>> list(through(lambda piece, number: piece * number, [5, 6, 7]))
    [0, 6, 14]
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    cores = os.cpu_count() or 1
    waiting: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(cores, thread_name_prefix="noisewright")
    try:
        for number, piece in enumerate(pieces):
            waiting.append(pool.submit(work, piece, number))
            if len(waiting) > (2 * cores if ahead is None else ahead):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


# Narrowing ----------------------------------------------------------------------------------------------------------------
#
# Rows in fewer bytes while they are moved: what is drawn are mostly small numbers and a few labels, in wide types.


LABELS = 127
"""Texts that have a number of one byte."""
SHORT = 64
"""Bytes of a text that has one: rows must not become many times as large when they are widened."""
WIDTHS = {pa.int8(): 127, pa.int16(): 2**15 - 1, pa.int32(): 2**31 - 1}


class Narrow:
    """The columns of one table, of which rows may lack the last ones; ``narrow`` is for one thread, the others for any."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._columns = [_column(field.type) for field in schema]

    def narrow(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows in fewer bytes."""
        return self._made([one.narrow(column) for one, column in zip(self._columns, rows.columns, strict=False)])

    def widen(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows as they were."""
        return self._made([one.widen(column) for one, column in zip(self._columns, rows.columns, strict=False)])

    def joined(self, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
        """Narrow rows as one batch; a column that is not equally narrow in all of them is as wide as it was."""
        if any(batch.schema != batches[0].schema for batch in batches):
            several = [len(set(types)) > 1 for types in zip(*(batch.schema.types for batch in batches), strict=True)]
            batches = [
                self._made(
                    [
                        one.widen(column) if wide else column
                        for one, column, wide in zip(self._columns, batch.columns, several, strict=False)
                    ]
                )
                for batch in batches
            ]
        return joined(batches)

    def size(self, rows: pa.RecordBatch) -> int:
        """The bytes of narrow rows after they are widened, or a few more."""
        return sum(one.size(column) for one, column in zip(self._columns, rows.columns, strict=False))

    def _made(self, columns: list[pa.Array]) -> pa.RecordBatch:
        fields = [
            pa.field(field.name, column.type, field.nullable)
            for field, column in zip(self.schema, columns, strict=False)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


class _AsItIs:
    """A column that stays."""

    def __init__(self, type: pa.DataType) -> None:
        self.type = type

    def narrow(self, column: pa.Array) -> pa.Array:
        return column

    def widen(self, column: pa.Array) -> pa.Array:
        return column

    def size(self, column: pa.Array) -> int:
        return int(column.nbytes)


class _Numbers(_AsItIs):
    """Integers, or values that integers count."""

    def __init__(self, type: pa.DataType) -> None:
        super().__init__(type)
        self.whole = type if pa.types.is_integer(type) else pa.int64() if type.bit_width == 64 else pa.int32()
        self.fitting = [(small, most) for small, most in WIDTHS.items() if small.bit_width < type.bit_width]

    def narrow(self, column: pa.Array) -> pa.Array:
        if not self.fitting:
            return column
        numbers = column.view(self.whole)
        found = pc.call_function("min_max", [numbers]).as_py()
        least, most = found["min"] or 0, found["max"] or 0
        while self.fitting and not -self.fitting[0][1] <= least <= most <= self.fitting[0][1]:
            del self.fitting[0]  # for good: batches are to have one type
        return arrow_cast(numbers, self.fitting[0][0]) if self.fitting else column

    def widen(self, column: pa.Array) -> pa.Array:
        return column if column.type == self.type else arrow_cast(column, self.whole).view(self.type)

    def size(self, column: pa.Array) -> int:
        return len(column) * int(self.type.bit_width) // 8


class _Texts(_AsItIs):
    """Texts, which have numbers as long as they are few and short."""

    def __init__(self, type: pa.DataType) -> None:
        super().__init__(type)
        self.labels, self.longest, self.few = pa.nulls(0, type), 0, True

    def narrow(self, column: pa.Array) -> pa.Array:
        if not self.few:
            return column
        numbers = self._numbers(column)
        if numbers.null_count > column.null_count:
            self._learn(column.filter(pc.call_function("is_null", [numbers])).drop_null().unique())
            numbers = self._numbers(column)
        return arrow_cast(numbers, pa.int8()) if self.few else column

    def widen(self, column: pa.Array) -> pa.Array:
        return column if column.type == self.type else self.labels.take(column)

    def size(self, column: pa.Array) -> int:
        return int(column.nbytes) if column.type == self.type else (self.longest + 4) * len(column)

    def _learn(self, new: pa.Array) -> None:
        longest = pc.call_function("max", [pc.call_function("binary_length", [new])]).as_py()
        self.longest = max(self.longest, longest)
        self.few = len(self.labels) + len(new) <= LABELS and longest <= SHORT
        if self.few:
            self.labels = pa.concat_arrays([self.labels, new])

    def _numbers(self, column: pa.Array) -> pa.Array:
        return pc.call_function("index_in", [column], pc.SetLookupOptions(self.labels))


def _column(type: pa.DataType) -> _AsItIs:
    if pa.types.is_integer(type) or (pa.types.is_temporal(type) and type.bit_width <= 64):
        return _Numbers(type)
    return _Texts(type) if type in (pa.string(), pa.large_string()) else _AsItIs(type)
