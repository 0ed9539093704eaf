"""Input formats of vectors and output formats of codes: arrays of NumPy, or columns of Arrow."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pyarrow as pa

from noisewright.core.errors import DataError
from noisewright.matching.hashing.codes import Codes
from noisewright.mechanisms.arrow import pc

__all__ = ["give_codes", "read_vectors"]

Form = Literal["one", "rows", "arrow"]


def read_vectors(values: Any, dimension: int | None) -> tuple[Any, Form]:
    """Vectors with a row for each, and how their codes are wanted: one alone, as rows of bytes, or as a column of Arrow."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        numbers = column.flatten() if hasattr(column, "flatten") and pa.types.is_nested(column.type) else None
        if numbers is None or column.null_count or numbers.null_count or not _are_numbers(numbers.type):
            raise DataError(f"a column of vectors holds lists of {dimension} numbers each, none of them missing.")
        lengths = pc.list_value_length(column)
        if len(column) and pc.min_max(lengths).as_py() != {"min": dimension, "max": dimension}:
            raise DataError(f"a column of vectors holds lists of {dimension} numbers each, and these have others.")
        return numbers.to_numpy(zero_copy_only=False).reshape(len(column), dimension or 0), "arrow"
    if hasattr(values, "tocsr"):
        return values, "rows"
    try:
        given = np.asarray(values)
    except ValueError:
        return values, "rows"  # rows of different lengths, which are refused
    return (given[None, :], "one") if given.ndim == 1 and given.size else (values, "rows")


def give_codes(codes: Codes, form: Form) -> Any:
    """One code, an array with a row of bytes for each, or a column of fixed-size binary values."""
    if form == "one":
        return codes[0]
    if form == "rows":
        return codes
    kind = pa.binary(codes.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(codes), [None, pa.py_buffer(np.ascontiguousarray(codes))])


def _are_numbers(type_: pa.DataType) -> bool:
    return bool(pa.types.is_floating(type_) or pa.types.is_integer(type_))
