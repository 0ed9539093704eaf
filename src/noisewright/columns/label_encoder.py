"""Conversion of a column of values to row numbers of a channel, and of column numbers back to values.

Numbers and strings are looked up in bulk. A value that is not among the labels is refused as a whole column, without saying
which value or where: the message must not become a second output.

An array of any shape gives one of the same shape, and so do nested lists; nothing is flattened. Where labels are tuples,
they are
the last axis of an array.

A column of Arrow gives a column of Arrow: text stays out of Python, and tuples are structs with one field for each part.
Such a
column has one type, so labels of several kinds are refused there. One output may stand for none of the secrets
(:data:`EXTRA`):
where they are not text, it is null in the column.

>>> towns = Labels(["Bonn", "Ulm"])
>>> codes, form = towns.encode(pa.array(["Ulm", "Bonn", "Ulm"]))
>>> codes.tolist(), towns.decode(codes, form).type
([1, 0, 1], DataType(string))
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.columns.arrow import arrow_array, numpy_array, pc
from noisewright.exceptions import DataError, NoChannelError, ParameterError
from noisewright.metrics.base import as_labels
from noisewright.numerics.exact import in_words

__all__ = ["COLUMNS", "EXTRA", "NOT_DECLARED", "Form", "Labels", "check_dense", "counted_labels", "whole_numbers"]


Codes = NDArray[np.intp]

Form = Literal["one", "array", "arrow", "coded"]
"""Form in which values were given and are returned: a single one, numpy's array, or a column of Arrow, of texts also coded."""
COLUMNS = ("arrow", "coded")

NOT_DECLARED = "a value is not one of the declared secrets; map, clamp or drop such values first."

_MISSING = "some values are missing; drop or replace them first."

_OTHER_KIND = "the values are not of the kind of the declared secrets; convert the column first."

_SEVERAL_KINDS = (
    "the labels are of several kinds, and a column of Arrow has one type; give a list, or labels of one kind."
)

_TOO_LARGE = "a value is beyond 2^62 in size, where sums with noise would not be exact; rescale the column."

EXTRA = "*"
"""The output of a mechanism that stands for no secret at all."""

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
            as_labels(self.labels, "labels")  # refuses incomplete text
        self.array = _array(self.labels, self.kind)
        self._index = {label: i for i, label in enumerate(self.labels)} if self.kind in ("string", "other") else {}
        if not self._index:
            self._order = np.argsort(self.array, kind="stable")
            self._sorted = self.array[self._order]
        # Consecutive integers, the most common labels of all, need no search.
        consecutive = self.kind == "integer" and bool((np.diff(self.array) == 1).all())
        self._first = int(self.array[0]) if consecutive else None

    def __len__(self) -> int:
        return len(self.labels)

    def encode(self, values: Any) -> tuple[Codes, Form]:
        """Row numbers of values, and how they were given."""
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            return self._column(values), "coded" if pa.types.is_dictionary(values.type) else "arrow"
        if self.kind == "other" or isinstance(values, str):
            return self._one_by_one(values)
        if self.kind == "string":
            return self._strings(values)
        given = as_array(values)
        if given.dtype.kind not in "iuf" or (self.kind == "integer" and not _all_whole(given)):
            raise DataError(_MISSING if _some_missing(given) else _OTHER_KIND)
        # As Python numbers, which compare exactly where numpy would round integers to floats first.
        if given.size and not (
            self._sorted[0].item() <= given.min().item() and given.max().item() <= self._sorted[-1].item()
        ):
            raise DataError(NOT_DECLARED)  # also when a value is not a number
        if self.kind == "integer":
            given = given.astype(np.int64)
        elif given.dtype.kind in "iu" and any(int(float(v)) != v for v in given[_beyond_floats(given)].tolist()):
            raise DataError(NOT_DECLARED)  # an integer that no float is equal to
        if self._first is not None:
            return np.asarray(given - self._first, dtype=np.intp), _form(given)
        spot = np.minimum(np.searchsorted(self._sorted, given), len(self._sorted) - 1)
        if not np.array_equal(self._sorted[spot], given):
            raise DataError(NOT_DECLARED)
        return np.asarray(self._order[spot], dtype=np.intp), _form(given)

    def decode(self, codes: Codes, form: Form) -> Any:
        """The labels at the given positions: one label, numpy's array, or a column of Arrow, of which texts may be coded."""
        if form == "one":
            return self.labels[int(codes.reshape(()))]
        if form == "array":
            return self.array[codes]
        if form == "coded" and self.kind == "string":  # every label is in the dictionary, whether it was drawn or not
            return pa.DictionaryArray.from_arrays(arrow_array(codes.astype(self._narrow)), self.column)
        if pa.types.is_boolean(self.column.type) and codes.ndim == 1 and not self.column.null_count:
            return arrow_array(numpy_array(self.column).take(codes))
        return pc.call_function("take", [self.column, arrow_array(codes)])

    @cached_property
    def _narrow(self) -> np.dtype[Any]:
        """The fewest bytes that hold every code."""
        return np.min_scalar_type(-len(self.labels))

    @cached_property
    def column(self) -> Any:
        """The labels as a column of Arrow of one type."""
        if self._tuples is not None:
            return self._tuples.column
        kind = self.kind if self.kind != "other" else _column_kind(self.labels[0])
        types = {"boolean": pa.bool_(), "integer": pa.int64(), "number": pa.float64(), "string": pa.string()}
        if kind not in types:
            raise ParameterError("labels for a column of a table are numbers, text, true and false, or tuples of them.")
        alike = [v if kind == self.kind or _column_kind(v) == kind else None for v in self.labels]
        _check_kinds(self.labels, [row for row, v in enumerate(alike) if v is None])
        return arrow_array(alike, types[kind])

    @cached_property
    def _tuples(self) -> _Tuples | None:
        return _Tuples(self.labels) if isinstance(next(iter(self.labels), None), tuple) else None

    def _column(self, column: Any) -> Codes:
        """Row numbers of a column of Arrow."""
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
            column = column.dictionary_decode()  # a null may be among the values, too
        if column.null_count:
            raise DataError(_MISSING)
        if self.kind == "other" and self.column.null_count:  # such a secret could come out, and no loss is known for it
            raise DataError(_SEVERAL_KINDS)
        if self._tuples is not None:
            return self._tuples.encode(column)
        if self.kind in ("integer", "number"):
            if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
                raise DataError(_OTHER_KIND)
            return self.encode(numpy_array(column))[0]
        if pa.types.is_dictionary(column.type):  # what is in the dictionary but not in the column need not be declared
            return self._looked_up(column.dictionary, numpy_array(column.indices))
        if pa.types.is_boolean(column.type):
            return self._looked_up(arrow_array([False, True]), numpy_array(column).view(np.uint8))
        found = self._found(column)
        if found.null_count:
            raise DataError(NOT_DECLARED)
        return np.asarray(numpy_array(found), dtype=np.intp)

    def _looked_up(self, known: Any, places: NDArray[Any]) -> Codes:
        """Row numbers of the values at these places of a short list."""
        found = self._found(known)
        rows = np.array([-1 if place is None else place for place in found.to_pylist()], dtype=np.intp)
        codes = rows.take(places)
        if found.null_count and codes.size and codes.min() < 0:
            raise DataError(NOT_DECLARED)
        return codes

    def _found(self, column: Any) -> Any:
        """The position of each value among the labels, null where it is none of them."""
        known, kind = self.column, column.type
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            column, kind = column.cast(pa.string()), pa.string()
        if kind != known.type:
            raise DataError(_OTHER_KIND)
        return pc.call_function("index_in", [column], pc.SetLookupOptions(known, skip_nulls=True))

    def _strings(self, values: Any) -> tuple[Codes, Form]:
        # Objects rather than numpy's own strings, which lose characters of code 0 at their end.
        given = values if isinstance(values, np.ndarray) else as_array(values, object)
        if given.dtype.kind not in "UO" and given.size:
            raise DataError(_OTHER_KIND)
        try:
            column = pa.array(given.ravel()) if given.size else pa.array([], type=pa.string())
            if not pa.types.is_string(column.type):
                raise DataError(_MISSING if _some_missing(given) else _OTHER_KIND)
            found = pc.index_in(column, value_set=arrow_array(self.labels, pa.string()))
        except pa.ArrowException:
            raise DataError(_MISSING if _some_missing(given) else _OTHER_KIND) from None
        except UnicodeError:  # no label has half of a character
            raise DataError(NOT_DECLARED) from None
        if found.null_count:
            raise DataError(_MISSING if column.null_count else NOT_DECLARED)
        return numpy_array(found).astype(np.intp).reshape(given.shape), _form(given)

    def _one_by_one(self, values: Any) -> tuple[Codes, Form]:
        try:
            return np.array(self._index[values], dtype=np.intp), "one"
        except (KeyError, TypeError):
            pass  # not a single label: a column of them, or nothing that is known
        items, shape = self._items(values)
        try:
            codes = np.array([self._index[_hashable(v)] for v in items], dtype=np.intp)
        except (KeyError, TypeError):
            raise DataError(NOT_DECLARED) from None
        return codes.reshape((-1,) if shape is None else shape), "one" if shape == () else "array"

    def _items(self, values: Any) -> tuple[Iterable[Any], tuple[int, ...] | None]:
        """The labels in an array or in lists, one after the other, and the shape they are in; none for a plain column."""
        if isinstance(values, np.ndarray) and values.ndim > 1 and self._in_rows:
            shape = values.shape[:-1]
            return values.reshape(math.prod(shape), values.shape[-1]), shape
        if isinstance(values, (list, np.ndarray)) and not self._in_rows:
            given = as_array(values, object)
            return given.ravel(), given.shape
        return (values if isinstance(values, Iterable) and not isinstance(values, str) else [values]), None

    @cached_property
    def _in_rows(self) -> bool:
        """Return whether some label has parts, so that a row of an array may be one."""
        return any(isinstance(label, Sequence) and not isinstance(label, (str, bytes)) for label in self.labels)


class _Tuples:
    """Labels that are tuples of one length, place by place, as structs of Arrow."""

    def __init__(self, labels: tuple[Hashable, ...]) -> None:
        self.size = len(labels)
        self.rows = np.array([row for row, label in enumerate(labels) if isinstance(label, tuple)], dtype=np.intp)
        tuples: list[Any] = [label for label in labels if isinstance(label, tuple)]
        _check_kinds(labels, [row for row, label in enumerate(labels) if not isinstance(label, tuple)])
        if len({len(label) for label in tuples}) > 1:
            raise ParameterError("labels for columns of a table must be tuples of one length.")
        self.places = [Labels(dict.fromkeys(place)) for place in zip(*tuples, strict=True)]
        numbers = [{label: code for code, label in enumerate(part.labels)} for part in self.places]
        self.codes = [np.array([n[t[k]] for t in tuples], dtype=np.intp) for k, n in enumerate(numbers)]
        if math.prod(len(part) for part in self.places) >= 1 << 62:
            raise ParameterError("labels for columns of a table are tuples of too many parts; use fewer columns.")
        keys = self._joined(self.codes)
        order = np.argsort(keys, kind="stable")
        self.keys, self.order = keys[order], self.rows[order]

    @property
    def column(self) -> Any:
        if any(part.column.null_count for part in self.places):
            raise DataError(_SEVERAL_KINDS)
        parts = [part.decode(codes, "arrow") for part, codes in zip(self.places, self.codes, strict=True)]
        whole = pa.StructArray.from_arrays(parts, names=[str(place) for place in range(len(parts))])
        spots = np.zeros(self.size, dtype=np.int64)
        spots[self.rows] = np.arange(len(self.rows))
        return whole.take(arrow_array(spots, mask=~np.isin(np.arange(self.size), self.rows)))

    def encode(self, column: Any) -> Codes:
        if not pa.types.is_struct(column.type) or column.type.num_fields != len(self.places):
            raise DataError(_OTHER_KIND)
        fields = zip(self.places, column.flatten(), strict=True)
        wanted = self._joined([part.encode(field)[0] for part, field in fields])
        spot = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        if not np.array_equal(self.keys[spot], wanted):
            raise DataError(NOT_DECLARED)
        return self.order[spot]

    def _joined(self, codes: list[Codes]) -> Codes:
        """One number for the codes of all places."""
        joined = codes[0]
        for code, part in zip(codes[1:], self.places[1:], strict=True):
            joined = joined * len(part) + code
        return joined


def counted_labels(labels: object, what: str) -> tuple[Hashable, ...]:
    """Labels that are given as a list, or as the number of them."""
    if not isinstance(labels, (bool, np.bool_)) and isinstance(labels, numbers.Integral):
        count = int(labels)
        if not 0 <= count <= LARGEST_COUNT:
            shown = in_words(Fraction(count)) if count < -(2**53) else count if count < 0 else "more"
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
    masks = sys.modules.get("numpy.ma")  # without it nothing is masked
    if masks is not None and masks.is_masked(values):
        raise DataError("some values are masked; drop or replace them first.")
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise DataError("the values do not form a column; give a list or an array with rows of one length.") from None


def check_dense(size: int) -> None:
    """Refuse to build a matrix that would fill the memory."""
    if size > LARGEST_CHANNEL:
        raise NoChannelError(f"a dense channel over {size} secrets is too large; {LARGEST_CHANNEL} is the limit.")


def whole_numbers(values: Any) -> tuple[NDArray[np.int64], bool]:
    """Integers as 64-bit integers, and whether a single one was given."""
    given = as_array(values)
    if given.dtype == object and given.size and all(type(v) is int for v in given.ravel()):
        try:
            given = given.astype(np.int64)
        except OverflowError:
            raise DataError(_TOO_LARGE) from None  # integers that fit no type of numpy
    if given.dtype.kind not in "iuf" or not _all_whole(given):
        whole = "the values are not whole numbers; round the column first, on a grid that does not depend on it."
        raise DataError(_MISSING if _some_missing(given) else whole)
    if given.size and not bool((np.abs(given.astype(np.float64)) <= 2.0**62).all()):
        raise DataError(_TOO_LARGE)
    return given.astype(np.int64), given.ndim == 0


def _beyond_floats(given: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where integers are so large that a float may only round them."""
    return np.asarray(
        (given > 2**53) | (given < -(2**53)) if given.dtype.itemsize == 8 else np.zeros(given.shape, dtype=bool)
    )


def _some_missing(given: NDArray[Any]) -> bool:
    """Return whether something is missing, in any of the ways in which numpy and pandas say it."""
    if given.dtype.kind == "f":
        return bool(np.isnan(given).any())
    missing = ("NoneType", "NAType", "NaTType")
    return given.dtype == object and any(
        type(value).__name__ in missing or (isinstance(value, float) and math.isnan(value)) for value in given.ravel()
    )


def _all_whole(given: NDArray[Any]) -> bool:
    return given.dtype.kind in "iu" or bool(np.isfinite(given).all() and (given == np.floor(given)).all())


def _form(given: NDArray[Any]) -> Form:
    return "one" if given.ndim == 0 else "array"


def _common_kind(labels: tuple[Hashable, ...]) -> str:
    kinds = {_kind(label) for label in labels}
    if len(kinds) == 1:
        return kinds.pop()
    # Floats hold integers up to 2^53 only: beyond, two labels could become one.
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


def _check_kinds(labels: tuple[Hashable, ...], others: list[int]) -> None:
    """Refuse labels of other kinds than the first one, except for the extra output."""
    if any(labels[row] != EXTRA for row in others):
        raise DataError(_SEVERAL_KINDS)


def _column_kind(label: Hashable) -> str:
    return "boolean" if isinstance(label, bool) else _kind(label)


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
