r"""Vectors: lists of numbers, all of one length.

How many numbers a vector has is declared: by the type (a fixed-size list), or by the mechanism (its ``dimension``). It is never
read off the rows; one that is longer or shorter refuses the whole column, without saying which it was. A vector in
which a number is missing is missing.

>>> pairs = pa.array([[1.0, 2.0], [3.0, 4.5]], pa.list_(pa.float32()))
>>> VECTOR.read(pairs, size=2).tolist()
[[1.0, 2.0], [3.0, 4.5]]
>>> VECTOR.write(np.array([[0.5, 1e60]]), pairs.type).type == pairs.type
True
>>> VECTOR.read(pairs, size=3)
Traceback (most recent call last):
noisewright.core.errors.DataError: a vector does not have the declared 3 numbers; correct the data, or the dimension.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError
from noisewright.mechanisms.arrow import arrow_array, numpy_array, pc
from noisewright.releases.kinds.kind import BLOCK_BYTES, Form, Kind, rows_of
from noisewright.releases.kinds.numbers import INTEGER, NUMBER
from noisewright.releases.kinds.rows import Mask

__all__ = ["VECTOR", "Vector"]

FLOAT_BYTES = 8
UNDECLARED = BLOCK_BYTES // 1024
"""Assumed length of a vector whose length is not declared, because it is kept as it is."""


@dataclass(frozen=True)
class Vector(Kind):
    """Rows of numbers."""

    def holds(self, type_: pa.DataType) -> bool:
        """Lists of integers or floats, with or without a fixed size."""
        listed = pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_)
        if not listed or pa.types.is_dictionary(type_.value_type):
            return False
        return bool(pa.types.is_integer(type_.value_type) or pa.types.is_floating(type_.value_type))

    def size(self, type_: pa.DataType) -> int | None:
        """The fixed size of a list; None where its type has none."""
        return int(type_.list_size) if pa.types.is_fixed_size_list(type_) else None

    def in_words(self, type_: pa.DataType) -> str:
        """Describe the number of numbers in each, where the type states it."""
        size = self.size(type_)
        return self.words if size is None else f"vectors of {size} numbers"

    def block_rows(self, type_: pa.DataType, size: int | None = None) -> int:
        """Return the number of rows by the declared length; engines do not agree on a size in the type, so that alone
        does not count.
        """
        return rows_of(UNDECLARED if size is None else FLOAT_BYTES * size)

    def present(self, array: pa.Array) -> Mask | None:
        """Return a mask of the vectors with all numbers."""
        numbers = _numbers(array)
        holed = NUMBER.present(numbers) if pa.types.is_floating(numbers.type) else INTEGER.present(numbers)
        whole = super().present(array)
        if holed is None:
            return whole
        rows = np.repeat(np.arange(len(array)), _lengths(array))
        mask: Mask = np.bincount(rows[~holed], minlength=len(array)) == 0
        return mask if whole is None else mask & whole

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """A row of 64-bit floats for each vector, exactly; in Arrow, fixed-size lists of them."""
        wanted = self.size(array.type) if size is None else size
        if wanted is None:
            raise DataError("how many numbers a vector has is not declared; say dimension = ....")
        if (_lengths(array) != wanted).any():
            raise DataError(
                f"a vector does not have the declared {wanted} numbers; correct the data, or the dimension."
            )
        numbers = _numbers(array)
        try:
            flat = numbers if pa.types.is_floating(numbers.type) else numbers.cast(pa.float64())
        except pa.ArrowException:
            raise DataError("a number of a vector is beyond 2^53; rescale the column.") from None
        rows: Floats = NUMBER.read(flat).reshape(len(array), wanted)
        return rows if form == "numpy" else self.write(rows, pa.list_(pa.float64(), wanted))

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """Round each number to a value that the type can hold, and move it to its range."""
        mask = None
        if isinstance(values, pa.Array):
            if not self.holds(values.type):
                return self.as_written(values, type_)
            mask = None if not values.null_count else values.is_null()
            lengths, flat = _lengths(values), _numbers(values)
            drawn = numpy_array(flat)
        else:
            table = np.asarray(values)
            if table.ndim != 2:
                raise DataError("the mechanism does not give one vector for each; use it on its own, not for a column.")
            lengths, drawn = np.full(len(table), table.shape[1]), table.ravel()
        inner = type_.value_type
        numbers = (NUMBER if pa.types.is_floating(inner) else INTEGER).write(drawn, inner)
        fixed = self.size(type_)
        if fixed is not None:
            if (lengths != fixed).any():
                raise DataError(
                    "the mechanism gives vectors of another length than the column has; convert the column."
                )
            return pa.FixedSizeListArray.from_arrays(numbers, type=type_, mask=mask)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        large = pa.types.is_large_list(type_)
        made = pa.LargeListArray if large else pa.ListArray
        return made.from_arrays(
            arrow_array(offsets, pa.int64() if large else pa.int32()), numbers, type=type_, mask=mask
        )

    def distinct(self, array: pa.Array) -> pa.Array:
        """All of them: vectors hardly ever occur twice."""
        return array


def _numbers(array: pa.Array) -> pa.Array:
    """All numbers of all vectors that are there, one after the other."""
    return array.flatten()


def _lengths(array: pa.Array) -> np.ndarray[Any, Any]:
    """Return the number of numbers in each vector; none where it is missing."""
    found = pc.fill_null(pc.list_value_length(array), 0)
    return np.asarray(numpy_array(found), dtype=np.int64)


VECTOR = Vector("vector", "vectors", "a vector", pa.list_(pa.float64()), typeless=False, labels=False)
