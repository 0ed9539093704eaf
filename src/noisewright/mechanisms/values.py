"""From a column of values to row numbers of a channel, and from column numbers back to values.

Numbers and strings are looked up in bulk. A value that is not among the labels is refused as a whole column, without saying
which value or where: the message must not become a second output.
"""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.core.errors import DataError, ParameterError
from noisewright.core.labels import as_labels

__all__ = ["Labels", "check_dense", "counted_labels", "whole_numbers"]

Codes = NDArray[np.intp]

_NOT_DECLARED = "a value is not one of the declared secrets; map, clamp or drop such values first."

_OTHER_KIND = "the values are not of the kind of the declared secrets; convert the column first."

_TOO_LARGE = "a value is beyond 2^62 in size, where sums with noise would not be exact; rescale the column."

LARGEST_COUNT = 10_000_000
"""More labels than this are not built in memory."""

LARGEST_CHANNEL = 5000
"""More secrets than this get no dense matrix; releasing does not need one."""


class Labels:
    """An ordered set of labels: numbers, strings, or anything hashable (slower)."""

    def __init__(self, labels: Iterable[Hashable]) -> None:
        self.labels = tuple(labels)
        self.kind = _common_kind(self.labels)
        if self.kind == "string":
            as_labels(self.labels, "labels")  # refuses what is not whole text
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
        given = as_array(values)
        if given.dtype.kind not in "iuf" or (self.kind == "integer" and not _all_whole(given)):
            raise DataError(_OTHER_KIND)
        # As Python numbers, which compare exactly where numpy would round whole numbers to floats first.
        if given.size and not (
            self._sorted[0].item() <= given.min().item() and given.max().item() <= self._sorted[-1].item()
        ):
            raise DataError(_NOT_DECLARED)  # also when a value is not a number
        if self.kind == "integer":
            given = given.astype(np.int64)
        elif given.dtype.kind in "iu" and any(int(float(v)) != v for v in given[_beyond_floats(given)].tolist()):
            raise DataError(_NOT_DECLARED)  # a whole number that no float is equal to
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
        # Objects rather than numpy's own strings, which lose characters of code 0 at their end.
        given = values if isinstance(values, np.ndarray) else as_array(values, object)
        if given.dtype.kind not in "UO" and given.size:
            raise DataError(_OTHER_KIND)
        try:
            column = pa.array(given.ravel()) if given.size else pa.array([], type=pa.string())
            if not pa.types.is_string(column.type):
                raise DataError(_OTHER_KIND)
            found = pc.index_in(column, value_set=pa.array(self.labels, type=pa.string()))
        except pa.ArrowException:
            raise DataError(_OTHER_KIND) from None
        except UnicodeError:  # no label has half of a character
            raise DataError(_NOT_DECLARED) from None
        if found.null_count:
            raise DataError(_NOT_DECLARED)
        return found.to_numpy().astype(np.intp).reshape(given.shape), given.ndim == 0

    def _one_by_one(self, values: Any) -> tuple[Codes, bool]:
        try:
            return np.array(self._index[values], dtype=np.intp), True
        except (KeyError, TypeError):
            pass  # not a single label: a column of them, or nothing that is known
        items = values if isinstance(values, Iterable) and not isinstance(values, str) else [values]
        try:
            return np.array([self._index[_hashable(v)] for v in items], dtype=np.intp), False
        except (KeyError, TypeError):
            raise DataError(_NOT_DECLARED) from None


def counted_labels(labels: object, what: str) -> tuple[Hashable, ...]:
    """Labels that are given as a list, or as the number of them."""
    if not isinstance(labels, (bool, np.bool_)) and isinstance(labels, numbers.Integral):
        count = int(labels)
        if not 0 <= count <= LARGEST_COUNT:
            shown = count if count < 0 else "more"
            raise ParameterError(f"{what} are a list, or the number of them up to {LARGEST_COUNT}, not {shown}.")
        return tuple(range(count))
    if not isinstance(labels, Iterable) or (isinstance(labels, np.ndarray) and not labels.ndim):
        raise ParameterError(f"{what} are a list, or the number of them, not {type(labels).__name__}.")
    names = as_labels(islice(labels, LARGEST_COUNT + 1), what)
    if len(names) > LARGEST_COUNT:
        raise ParameterError(f"{what} are too many; {LARGEST_COUNT} is the limit.")
    return names


def as_array(values: Any, dtype: Any = None) -> NDArray[Any]:
    """A column as an array; rows of several lengths and masked values are refused."""
    if np.ma.is_masked(values):
        raise DataError("some values are masked; drop or replace them first.")
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise DataError("the values do not form a column; give a list or an array with rows of one length.") from None


def check_dense(size: int) -> None:
    """Refuse to build a matrix that would fill the memory."""
    if size > LARGEST_CHANNEL:
        raise ParameterError(f"a dense channel over {size} secrets is too large; {LARGEST_CHANNEL} is the limit.")


def whole_numbers(values: Any) -> tuple[NDArray[np.int64], bool]:
    """Whole numbers as 64-bit integers, and whether a single one was given."""
    given = as_array(values)
    if given.dtype == object and given.size and all(type(v) is int for v in given.ravel()):
        raise DataError(_TOO_LARGE)  # whole numbers that fit no type of numpy
    if given.dtype.kind not in "iuf" or not _all_whole(given):
        raise DataError(
            "the values are not whole numbers; round the column first, on a grid that does not depend on it."
        )
    if given.size and not bool((np.abs(given.astype(np.float64)) <= 2.0**62).all()):
        raise DataError(_TOO_LARGE)
    return given.astype(np.int64), given.ndim == 0


def _beyond_floats(given: NDArray[Any]) -> NDArray[np.bool_]:
    """Where whole numbers are so large that a float may only round them."""
    return np.asarray(
        (given > 2**53) | (given < -(2**53)) if given.dtype.itemsize == 8 else np.zeros(given.shape, dtype=bool)
    )


def _all_whole(given: NDArray[Any]) -> bool:
    return given.dtype.kind in "iu" or bool(np.isfinite(given).all() and (given == np.floor(given)).all())


def _common_kind(labels: tuple[Hashable, ...]) -> str:
    kinds = {_kind(label) for label in labels}
    if len(kinds) == 1:
        return kinds.pop()
    # Floats hold whole numbers up to 2^53 only: beyond, two labels could become one.
    if kinds == {"integer", "number"} and all(isinstance(v, float) or abs(v) <= 2**53 for v in labels):  # type: ignore[arg-type]
        return "number"
    return "other"


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
    # numpy's strings lose characters of code 0 at their end.
    if kind in types and not any(isinstance(label, str) and label.endswith("\0") for label in labels):
        return np.array(labels, dtype=types[kind])
    result = np.empty(len(labels), dtype=object)
    for place, label in enumerate(labels):
        result[place] = label
    return result


def _hashable(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, list):
        return tuple(value)
    hashable: Hashable = value.item() if isinstance(value, np.generic) else value
    return hashable
