"""Rows of a column: in one piece, those where nothing is missing, and back in their places.

>>> taken = take_present(pa.array([5, None, 7]), mask := np.array([True, False, True]))
>>> restore(taken, mask).to_pylist()
[5, None, 7]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.mechanisms.arrow import arrow_array, pc

__all__ = ["Mask", "all_true", "as_array", "restore", "take_present"]

Mask = NDArray[np.bool_]


def as_array(column: Any) -> pa.Array:
    """A column in one piece; a dictionary of anything but text, or with a null in it, and a view are written out."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_string_view(column.type):  # which Arrow cannot filter
        return column.cast(pa.string())
    if pa.types.is_binary_view(column.type):
        return column.cast(pa.binary())
    if isinstance(column, pa.DictionaryArray):
        kind = column.type.value_type
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        if not text or column.dictionary.null_count:
            return column.dictionary_decode()
    return column


def take_present(array: pa.Array, mask: Mask | None) -> pa.Array:
    """The rows of the mask, none of them missing."""
    return array if mask is None else array.filter(arrow_array(mask))


def restore(array: pa.Array, mask: Mask | None) -> pa.Array:
    """The rows back in their places, null where something was missing."""
    if mask is None:
        return array
    places = np.cumsum(mask) - 1
    return array.take(arrow_array(places, mask=~mask))


def all_true(truths: pa.Array) -> bool:
    """Return whether none of them is false."""
    return pc.call_function("all", [truths]).as_py() is not False
