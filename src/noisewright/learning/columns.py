"""The columns that a privatiser is given: numbers, standardised, and categories, by their place in a list.

Numbers of any type are columns of numbers (whole ones come back whole); text, truth values and labels are categories, and so
is
any column that is named as one. A category is never turned into a number.

>>> table = {"age": [30, 40, 50], "town": ["Ulm", "Bonn", "Ulm"]}
>>> columns = Columns.of(table)
>>> columns.names, columns.categories
(('age', 'town'), (2,))
>>> numeric, codes = columns.encode(table)
>>> numeric.round(2).tolist(), codes.tolist()
([[-1.22], [0.0], [1.22]], [[1], [0], [1]])
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, is_whole
from noisewright.exceptions import DataError, ParameterError

__all__ = ["Category", "Codes", "Columns", "Number", "as_columns", "category_from", "codes_of", "labels_of", "like"]


Codes = NDArray[np.int64]

MOST_CATEGORIES = 200
KINDS = {str, bool, int, float}
"""Types of labels, the same for all of a column."""
LARGEST, SMALLEST = 1e100, 1e-100
"""Larger numbers, and smaller standard deviations, have squares that no float holds."""
MOST_SINGLE, MOST_NUMERALS = 10, 10
"""A few numbers among words are labels; more of them are a column of numbers with odd cells."""
FARTHEST = 1e12
"""Largest accepted distance of a number from the mean, in standard deviations: beyond it there was no training data."""


@dataclass(frozen=True)
class Number:
    """A column of numbers: its standardisation, whether it holds integers, and its public range, if it has one."""

    name: str
    centre: float
    scale: float
    whole: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def step(self) -> float:
        """Released numbers are multiples of it: about a hundredth of a standard deviation, a power of two.

        The last digits of a sum of an old number and a change distinguish both: anyone who knows how many decimals the
        old numbers have finds them again. On a step that is the same for all records there are no such digits.
        """
        return 1.0 if self.whole else 2.0 ** math.floor(math.log2(self.scale / 64))


@dataclass(frozen=True)
class Category:
    """A column of labels."""

    name: str
    labels: tuple[Hashable, ...]


@dataclass(frozen=True)
class Columns:
    """All columns in their order; within a privatiser numbers come first."""

    columns: tuple[Number | Category, ...]

    @classmethod
    def of(
        cls, table: Any, categorical: Sequence[Hashable] | None = None, bounds: Mapping[Any, Any] | None = None
    ) -> Columns:
        """Return the columns of a table; ``categorical`` names columns that hold labels though they look like numbers."""
        given = as_columns(table)
        named = [str(name) for name in categorical or ()]
        for name in [*named, *map(str, bounds or ())]:
            if name not in given:
                raise ParameterError(f"there is no column {name!r}; there are {', '.join(given)}.")
        ranges = {str(name): _range(str(name), pair) for name, pair in (bounds or {}).items()}
        if not given or not len(next(iter(given.values()))):
            raise DataError("the table has no columns or no rows; nothing can be learned from it.")
        found = [_column(name, values, name in named, ranges.get(name)) for name, values in given.items()]
        return cls(tuple(found))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of columns, in their order."""
        return tuple(column.name for column in self.columns)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The columns of numbers."""
        return tuple(column for column in self.columns if isinstance(column, Number))

    @property
    def labels(self) -> tuple[Category, ...]:
        """The columns of labels."""
        return tuple(column for column in self.columns if isinstance(column, Category))

    @property
    def categories(self) -> tuple[int, ...]:
        """Return how many labels each of these has."""
        return tuple(len(column.labels) for column in self.labels)

    def encode(self, table: Any) -> tuple[Floats, Codes]:
        """Standardised numbers (rows, columns) and places of labels (rows, columns)."""
        given = as_columns(table)
        if set(given) != set(self.names):
            raise DataError(
                f"the privatiser was fitted on the columns {', '.join(self.names)}; give these and no others."
            )
        rows = len(next(iter(given.values())))
        numeric = np.empty((rows, len(self.numbers)), order="F")
        codes = np.empty((rows, len(self.categories)), np.int64)
        for place, number in enumerate(self.numbers):
            found = _numbers(number.name, given[number.name], number)
            np.subtract(found, number.centre, out=numeric[:, place])
            numeric[:, place] /= number.scale
        for place, label in enumerate(self.labels):
            codes[:, place] = codes_of(label.name, given[label.name], label.labels)
        return numeric, codes

    def decode(self, table: Any, changes: Floats, codes: Codes) -> Any:
        """The table with changed numbers (in standard deviations) and new labels; an array stays an array."""
        given = as_columns(table)
        out: dict[str, NDArray[Any]] = {}
        for place, number in enumerate(self.numbers):
            old = given[number.name]
            new = changes[:, place] * number.scale
            new += _numbers(number.name, old)
            new *= 1 / number.step  # a power of two: nothing is rounded here
            np.rint(new, out=new)
            new *= number.step
            new += 0.0  # without a signed zero, which would reveal the side
            if number.low is not None and number.high is not None:
                ends = (number.low, number.high)
                np.clip(new, *((math.ceil(ends[0]), math.floor(ends[1])) if number.whole else ends), out=new)
            out[number.name] = _whole(new, old.dtype) if number.whole else new
        for place, label in enumerate(self.labels):
            out[label.name] = _array(label.labels)[codes[:, place]]
        return like(table, {name: out[name] for name in given})

    def costs(self, weights: Mapping[Any, float] | None, units: str) -> list[float]:
        """The weight of each column in the distortion, numbers first and in standard deviations."""
        given = {str(name): value for name, value in (weights or {}).items()}
        for name, value in given.items():
            if name not in self.names:
                raise ParameterError(f"there is no column {name!r} to weigh; there are {', '.join(self.names)}.")
            if not is_number(value) or not 0 < value < np.inf:
                raise ParameterError(f"the weight of {name!r} is a finite number above 0.")
        plain = [number.scale**2 if units == "raw" else 1.0 for number in self.numbers] + [1.0] * len(self.categories)
        names = [*(one.name for one in self.numbers), *(one.name for one in self.labels)]
        return [float(given.get(name, 1.0)) * cost for name, cost in zip(names, plain, strict=True)]

    def to_json(self) -> list[dict[str, Any]]:
        """The columns as plain data."""
        return [
            {"kind": "number", **vars(column)}
            if isinstance(column, Number)
            else {"kind": "category", "name": column.name, "labels": list(column.labels)}
            for column in self.columns
        ]

    @classmethod
    def from_json(cls, data: Any) -> Columns:
        """Build it from plain data; raise any error if invalid."""
        found: list[Number | Category] = []
        for entry in data:
            rest = {name: value for name, value in entry.items() if name != "kind"}
            if entry["kind"] == "number":
                found.append(_checked(Number(**rest)))
            elif entry["kind"] == "category":
                found.append(category_from(rest))
            else:
                raise ValueError("a kind")
        if not found or len({column.name for column in found}) < len(found):
            raise ValueError("columns")
        return cls(tuple(found))


def category_from(data: Any) -> Category:
    """A column of labels from plain data; any error where that is nonsense."""
    name, labels = data["name"], data["labels"]
    kinds = {type(label) for label in labels}
    if set(data) != {"name", "labels"} or type(name) is not str or len(kinds) != 1 or not kinds <= KINDS:
        raise ValueError("labels")
    if not 2 <= len(labels) <= MOST_CATEGORIES or sorted(set(labels)) != labels:
        raise ValueError("labels")
    return Category(name, tuple(labels))


def _checked(number: Number) -> Number:
    """A column of numbers from a file; raise ``ValueError`` if invalid."""
    ends = (number.low, number.high)
    if type(number.name) is not str or type(number.whole) is not bool or (number.low is None) != (number.high is None):
        raise ValueError("a number")
    if not all(is_number(one) for one in (number.centre, number.scale, *(end for end in ends if end is not None))):
        raise ValueError("a number")
    if not abs(number.centre) <= LARGEST or not SMALLEST <= number.scale <= LARGEST:
        raise ValueError("a scale")
    if number.low is not None and number.high is not None:
        low, high = _range(number.name, ends)
        if number.scale > high - low:
            raise ValueError("a scale")
    return number


def as_columns(table: Any) -> dict[str, NDArray[Any]]:
    """The columns of an array, a mapping, or a frame of pandas, Polars or Arrow, by name."""
    if isinstance(table, Mapping):
        found = {str(name): _array(values) for name, values in table.items()}
    elif hasattr(table, "column_names") and hasattr(table, "column"):  # Arrow
        found = {name: _array(_plain(table.column(name)).to_numpy()) for name in table.column_names}
    elif hasattr(table, "columns") and hasattr(table, "__getitem__"):  # pandas, Polars
        found = {str(name): _array(table[name].to_numpy()) for name in table.columns}
    else:
        rows = _array(table)
        if rows.ndim == 1 and rows.dtype.kind in "biuf":
            rows = rows[:, None]
        if rows.ndim != 2:
            raise DataError("records are a table: an array with a row for each, a frame, or columns by name.")
        columns = np.asfortranarray(rows)  # column after column: values that stand apart cost ten times as much
        found = {f"x{place}": _narrow(columns[:, place]) for place in range(columns.shape[1])}
    if any(values.ndim != 1 for values in found.values()) or len({len(values) for values in found.values()}) > 1:
        raise DataError("all columns must be lists of values of one length.")
    return found


def labels_of(name: str, values: NDArray[Any]) -> tuple[Hashable, ...]:
    """The distinct values of a column, in order."""
    _check_present(name, values)
    counts = Counter(map(_label, values.tolist()))
    if len(kinds := {type(label) for label in counts}) != 1 or not kinds <= KINDS:
        raise DataError(
            f"the column {name!r} holds something else than text, numbers or truth values, or mixes them; convert it to text "
            "first."
        )
    found = sorted(counts)  # type: ignore[type-var]
    single = sum(count == 1 for count in counts.values())
    if len(found) > MOST_CATEGORIES or (single > MOST_SINGLE and 2 * single > len(found)):
        raise DataError(
            f"the column {name!r} would be labels, and has more than {MOST_CATEGORIES} different ones, or most of them are of "
            "one row each and would name single records; group them, or leave the column out."
        )
    return tuple(found)


def _label(value: Any) -> Hashable:
    """A label as a file can hold it; None where it cannot."""
    if isinstance(value, str):
        return str(value) if value.isascii() or value.encode("utf-8", "ignore").decode() == value else None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return (int if is_whole(value) else float)(value) if is_number(value) else None


def _check_words(name: str, values: NDArray[Any]) -> None:
    """Refuse numbers that became words because a few cells are none: all of them would be kept as labels."""
    words = [value for value in set(values.tolist()) if isinstance(value, str)]
    numbers = sum(map(_is_numeral, words))
    if len(words) > MOST_NUMERALS and 2 * numbers > len(words):
        raise DataError(
            f"the column {name!r} holds numbers, and cells that are none: correct or drop such rows, or name the column as "
            "categorical if its numbers are labels."
        )


def _is_numeral(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def codes_of(name: str, values: NDArray[Any], labels: tuple[Hashable, ...]) -> Codes:
    """The place of every value among the labels."""
    places = {label: place for place, label in enumerate(labels)}
    _check_present(name, values)
    try:
        distinct, back = np.unique(values, return_inverse=True)
        return np.array([places[label] for label in distinct.tolist()], np.int64)[back]
    except (KeyError, TypeError):
        raise DataError(
            f"the column {name!r} has a value that was not there when the privatiser was fitted; map or drop such rows."
        ) from None


def _column(name: str, values: NDArray[Any], labelled: bool, bounds: tuple[float, float] | None) -> Number | Category:
    if values.dtype.kind in "mM":
        raise DataError(f"the column {name!r} holds dates or times; turn them into numbers, or leave the column out.")
    if not labelled and values.dtype.kind in "iuf":
        numbers = _numbers(name, values)
        if (values == values[0]).all():
            raise DataError(f"the column {name!r} is constant and tells nothing; leave it out.")
        scale = float(numbers.std())
        if not scale > max(SMALLEST, 1e-12 * float(np.abs(numbers).max())):
            raise DataError(
                f"the numbers of the column {name!r} differ by too little for their size, or at all; subtract a public constant "
                "from them, or multiply them by one."
            )
        whole = values.dtype.kind in "iu"
        if bounds is not None and ((numbers < bounds[0]) | (numbers > bounds[1])).any():
            raise DataError(
                f"the column {name!r} has values outside its public range; clamp them, or declare a wider one."
            )
        low, high = bounds or (None, None)
        return Number(name, float(numbers.mean()), scale, whole, low, high)
    if not labelled:
        _check_words(name, values)
    labels = labels_of(name, values)
    if len(labels) < 2:
        raise DataError(f"the column {name!r} is constant and tells nothing; leave it out.")
    return Category(name, labels)


def _numbers(name: str, values: NDArray[Any], fitted: Number | None = None) -> Floats:
    """A column as floats that can be computed with; with ``fitted``, also in the range of the data it was fitted on."""
    if values.dtype.kind not in "iuf":
        raise DataError(f"the column {name!r} must hold numbers.")
    found = np.asarray(values, np.float64)
    low, high = (float(found.min()), float(found.max())) if len(found) else (0.0, 0.0)
    if not (math.isfinite(low) and math.isfinite(high)):  # one missing value makes both ends missing
        raise DataError(f"the column {name!r} has missing or infinite values; fill or drop such rows first.")
    if max(-low, high) > LARGEST:
        raise DataError(f"the column {name!r} has numbers beyond {LARGEST:g}; divide them by a public constant.")
    if fitted and max(fitted.centre - low, high - fitted.centre) / fitted.scale > FARTHEST:
        raise DataError(
            f"the column {name!r} has numbers far beyond all that the privatiser was fitted on; leave such rows out."
        )
    return found


def _check_present(name: str, values: NDArray[Any]) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise DataError(f"the column {name!r} has missing or infinite values; fill or drop such rows first.")
    if values.dtype == object and any(value is None or _is_nan(value) for value in values.tolist()):
        raise DataError(f"the column {name!r} has missing or infinite values; fill or drop such rows first.")


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _range(name: str, pair: Any) -> tuple[float, float]:
    try:
        low, high = (float(value) for value in pair)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ParameterError(f"the range of {name!r} is a pair of numbers, the smaller one first.")
    return low, high


def _array(values: Any) -> NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise DataError("a column has masked cells, under which there are values; fill or drop such rows first.")
    try:
        found = np.asarray(values)
    except ValueError:
        raise DataError("all rows of a table must have as many values as each other.") from None
    if found.dtype.kind in "US":  # labels are Python's strings, whatever their length
        found = found.astype(object)
    return found


def _plain(column: Any) -> Any:
    """A column of Arrow, dictionaries written out."""
    return column.cast(column.type.value_type) if hasattr(column.type, "value_type") else column


def _narrow(column: NDArray[Any]) -> NDArray[Any]:
    """A column of an array of objects with the type of its values."""
    if column.dtype != object:
        return column
    values = column.tolist()
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    return np.array(values) if numbers else column


def _whole(values: Floats, dtype: Any) -> NDArray[Any]:
    """Rounded, and within the range of the column's type."""
    ends = np.iinfo(dtype if np.dtype(dtype).kind in "iu" else np.int64)
    return np.clip(np.rint(values), float(ends.min), float(ends.max) * (1 - 2**-53)).astype(ends.dtype)


def like(table: Any, columns: dict[str, NDArray[Any]]) -> Any:
    """Columns in the form that a table was given in."""
    module = type(table).__module__.partition(".")[0]
    if isinstance(table, Mapping):
        return {name: columns[str(name)] for name in table}
    if module == "pyarrow":
        return type(table).from_pydict({name: columns[name] for name in table.column_names})
    if module == "pandas":
        return type(table)({name: columns[str(name)] for name in table.columns}, index=table.index)
    if module == "polars":
        return type(table)({name: columns[str(name)].tolist() for name in table.columns})
    arrays = list(columns.values())
    same = all(array.dtype.kind in "iuf" for array in arrays)
    found = (
        np.ascontiguousarray(np.stack(arrays).T)
        if same
        else np.stack([array.astype(object) for array in arrays], axis=1)
    )
    return found[:, 0] if np.ndim(table) == 1 else found
