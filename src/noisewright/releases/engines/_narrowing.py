"""Rows in fewer bytes while they are moved: what is drawn are mostly small numbers and a few labels, in wide types.

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

import pyarrow as pa

from noisewright.mechanisms.arrow import arrow_cast, pc
from noisewright.releases.engines._cutting import joined

__all__ = ["Narrow"]

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
