"""From a column of values to row numbers of a channel, and from column numbers back to values.

Numbers and strings are looked up in bulk. A value that is not among the labels is refused as a whole column, without saying
which value or where: the message must not become a second output.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.core.errors import DataError, ParameterError

__all__ = ["Labels", "check_dense", "whole_numbers"]

Codes = NDArray[np.intp]

_NOT_DECLARED = "a value is not one of the declared secrets; map, clamp or drop such values first."

LARGEST_CHANNEL = 5000
"""More secrets than this get no dense matrix; releasing does not need one."""


class Labels:
    """An ordered set of labels: numbers, strings, or anything hashable (slower)."""

    def __init__(self, labels: Iterable[Hashable]) -> None:
        self.labels = tuple(labels)
        kinds = {_kind(label) for label in self.labels}
        self.kind = kinds.pop() if len(kinds) == 1 else "number" if kinds <= {"integer", "number"} else "other"
        self.array = _array(self.labels, self.kind)
        self._index = {label: i for i, label in enumerate(self.labels)} if self.kind in ("string", "other") else {}
        if not self._index:
            self._order = np.argsort(self.array, kind="stable")
            self._sorted = self.array[self._order]
        # Consecutive whole numbers, the most common labels of all, need no search.
        consecutive = self.kind == "integer" and bool((np.diff(self.array) == 1).all())
        self._first = int(self.array[0]) if consecutive else None

    def __len__(self) -> int:
        return len(self.labels)

    def encode(self, values: Any) -> tuple[Codes, bool]:
        """Row numbers of values, and whether a single value was given."""
        if self.kind == "other" or isinstance(values, str):
            return self._one_by_one(values)
        if self.kind == "string":
            return self._strings(values)
        given = np.asarray(values)
        if given.dtype.kind not in "iuf" or (self.kind == "integer" and not _all_whole(given)):
            raise DataError("the values are not of the kind of the declared secrets; convert the column first.")
        if given.size and not (self._sorted[0] <= given.min() and given.max() <= self._sorted[-1]):
            raise DataError(_NOT_DECLARED)  # also when a value is not a number
        if self._first is not None:
            return np.asarray(given - self._first, dtype=np.intp), given.ndim == 0
        spot = np.minimum(np.searchsorted(self._sorted, given), len(self._sorted) - 1)
        if not np.array_equal(self._sorted[spot], given):
            raise DataError(_NOT_DECLARED)
        return np.asarray(self._order[spot], dtype=np.intp), given.ndim == 0

    def decode(self, codes: Codes, single: bool) -> Any:
        """The labels at the given positions, as an array, or as one label."""
        if single:
            return self.labels[int(codes.reshape(()))]
        return self.array[codes]

    def _strings(self, values: Any) -> tuple[Codes, bool]:
        given = np.asarray(values)
        if given.dtype.kind not in "UO" and given.size:
            raise DataError("the values are not of the kind of the declared secrets; convert the column first.")
        try:
            found = pc.index_in(
                pa.array(given.ravel(), type=pa.string()), value_set=pa.array(self.labels, type=pa.string())
            )
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            raise DataError(
                "the values are not of the kind of the declared secrets; convert the column first."
            ) from None
        if found.null_count:
            raise DataError(_NOT_DECLARED)
        return found.to_numpy().astype(np.intp).reshape(given.shape), given.ndim == 0

    def _one_by_one(self, values: Any) -> tuple[Codes, bool]:
        if isinstance(values, Hashable) and values in self._index:
            return np.array(self._index[values], dtype=np.intp), True
        items = values if isinstance(values, Iterable) and not isinstance(values, str) else [values]
        try:
            return np.array([self._index[_hashable(v)] for v in items], dtype=np.intp), False
        except (KeyError, TypeError):
            raise DataError(_NOT_DECLARED) from None


def check_dense(size: int) -> None:
    """Refuse to build a matrix that would fill the memory."""
    if size > LARGEST_CHANNEL:
        raise ParameterError(f"a dense channel over {size} secrets is too large; {LARGEST_CHANNEL} is the limit.")


def whole_numbers(values: Any) -> tuple[NDArray[np.int64], bool]:
    """Whole numbers as 64-bit integers, and whether a single one was given."""
    given = np.asarray(values)
    if given.dtype.kind not in "iuf" or not _all_whole(given):
        raise DataError(
            "the values are not whole numbers; round the column first, on a grid that does not depend on it."
        )
    if given.size and not bool((np.abs(given.astype(np.float64)) <= 2.0**62).all()):
        raise DataError("a value is beyond 2^62 in size, where sums with noise would not be exact; rescale the column.")
    return given.astype(np.int64), given.ndim == 0


def _all_whole(given: NDArray[Any]) -> bool:
    return given.dtype.kind in "iu" or bool(np.isfinite(given).all() and (given == np.floor(given)).all())


def _kind(label: Hashable) -> str:
    if isinstance(label, bool):
        return "other"
    if isinstance(label, int):
        return "integer" if abs(label) < 2**62 else "other"
    if isinstance(label, float):
        return "number"
    return "string" if isinstance(label, str) else "other"


def _array(labels: tuple[Hashable, ...], kind: str) -> NDArray[Any]:
    types: dict[str, Any] = {"integer": np.int64, "number": np.float64, "string": np.str_}
    if kind in types:
        return np.array(labels, dtype=types[kind])
    result = np.empty(len(labels), dtype=object)
    result[:] = labels
    return result


def _hashable(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, list):
        return tuple(value)
    hashable: Hashable = value.item() if isinstance(value, np.generic) else value
    return hashable
