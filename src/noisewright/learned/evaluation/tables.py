"""Tables as attackers take them: named columns of numbers or of words, and the matrix that they become.

>>> table = Columns.of({"age": [20, 30, 40], "sex": ["f", "m", "f"]})
>>> table
Columns(3 rows: age, sex)
>>> Encoder(table).matrix(table).shape
(3, 2)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats, Indices
from noisewright.core.errors import DataError

__all__ = ["Columns", "Encoder", "classes_of"]

MOST_WORDS = 200
"""A column of words with more different ones than this is a name or a text, and useless to attackers on tables."""
FEWEST = 10
"""A private value that fewer records have cannot be learned, held out and counted."""
MOST_CLASSES = 50


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of one length by name: floats for numbers, texts for words."""

    values: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, table: Any, what: str = "the table") -> Columns:
        """A matrix (a column for each number), a mapping of columns, or an Arrow table or data frame."""
        if isinstance(table, Columns):
            return table
        if not isinstance(table, Mapping) and hasattr(table, "__arrow_c_stream__"):
            import pyarrow as pa

            arrow = pa.table(table)
            table = {name: _arrow(arrow.column(name), name, what) for name in arrow.column_names}
        if not isinstance(table, Mapping):
            try:
                matrix = np.asarray(table)
            except ValueError:
                raise DataError(f"{what} is a matrix with rows of one length, or named columns.") from None
            if matrix.ndim == 1:
                matrix = matrix[:, None]
            if matrix.ndim != 2 or not matrix.size:
                raise DataError(f"{what} is a matrix with a row for each record, or named columns, and not empty.")
            table = {str(number): matrix[:, number] for number in range(matrix.shape[1])}
        found = {str(name): _column(column, str(name), what) for name, column in table.items()}
        if not found or len({len(column) for column in found.values()}) != 1:
            raise DataError(f"{what} needs one column or more, all of one length.")
        return cls(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self.values)

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + (", ..." if len(self.names) > 6 else "")
        return f"Columns({len(self)} rows: {shown})"

    def numeric(self, name: str) -> bool:
        """Return whether a column holds numbers."""
        return self.values[name].dtype.kind == "f"

    def only(self, names: Sequence[str]) -> Columns:
        """These columns."""
        return Columns({name: self.values[name] for name in names})

    def rows(self, places: Indices) -> Columns:
        """These rows."""
        return Columns({name: column[places] for name, column in self.values.items()})


class Encoder:
    """Numbers as they are, words as a column of zeros and ones for each; made from the tables that will be seen."""

    def __init__(self, *tables: Columns) -> None:
        first = tables[0]
        for other in tables[1:]:
            if set(other.names) != set(first.names) or any(other.numeric(n) != first.numeric(n) for n in first.names):
                raise DataError("all draws of a release must have the same columns, of the same kinds.")
        self.words: dict[str, NDArray[Any] | None] = {}
        for name in first.names:
            if first.numeric(name):
                self.words[name] = None
                continue
            known = np.unique(np.concatenate([table.values[name] for table in tables]))
            if len(known) > MOST_WORDS:
                raise DataError(
                    f"the column {name!r} has more than {MOST_WORDS} different words; leave it out, or group its values."
                )
            self.words[name] = known

    def matrix(self, table: Columns) -> Floats:
        """A row of numbers for each record."""
        parts = []
        for name, known in self.words.items():
            column = table.values[name]
            # of two words one column says which
            parts.append(
                column[:, None] if known is None else (column[:, None] == known[None, 1 if len(known) == 2 else 0 :])
            )
        return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts], axis=1)


def classes_of(private: Any, bins: int | None = None) -> tuple[list[str], Indices]:
    """The names of the private values, and the number of each record's; ``bins``: numbers cut at their quantiles."""
    column = np.asarray(private)
    if column.ndim != 1 or not len(column):
        raise DataError("private values are one column, with a value for each record.")
    column = _column(column, "private", "the private values")
    if column.dtype.kind == "f":
        if bins is not None:
            edges = np.unique(np.quantile(column, np.linspace(0, 1, bins + 1)[1:-1]))
            column = np.searchsorted(edges, column, side="right").astype(np.float64)
        elif len(np.unique(column)) > MOST_CLASSES:
            raise DataError("the private values are numbers with many values; cut them into ranges (bins=4).")
    names, places, counts = np.unique(column, return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise DataError("all records have one private value, so there is nothing to find out; choose another column.")
    if len(names) > MOST_CLASSES:
        raise DataError(f"there are more than {MOST_CLASSES} different private values; group them first.")
    if counts.min() < FEWEST:
        raise DataError(
            f"a private value that fewer than {FEWEST} records have cannot be learned and tested; group rare values, or leave "
            "such records out."
        )
    return [_spelled(name) for name in names.tolist()], np.asarray(places)


def _spelled(name: Any) -> str:
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _arrow(column: Any, name: str, what: str) -> NDArray[Any]:
    if column.null_count:
        raise _missing(name, what)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _column(values: Any, name: str, what: str) -> NDArray[Any]:
    """A column as floats or as texts; other or missing values are refused."""
    column = np.asarray(values)
    if isinstance(values, (list, tuple)) and column.dtype.kind in "US":
        column = np.array(values, dtype=object)  # numbers among texts would have become texts
    if column.ndim != 1:
        raise DataError(f"{what}: the column {name!r} must be one value for each record.")
    if column.dtype.kind == "O":
        kinds = {type(value) for value in column.tolist()}
        if type(None) in kinds or any(isinstance(v, float) and math.isnan(v) for v in column.tolist()):
            raise _missing(name, what)
        if kinds <= {str}:
            column = column.astype(str)
        elif not any(issubclass(kind, str) for kind in kinds):
            try:
                column = column.astype(np.float64)
            except (TypeError, ValueError):
                column = column.astype(str)
        else:
            raise DataError(f"{what}: the column {name!r} mixes numbers and text; make it one of them.")
    if column.dtype.kind in "mM":
        raise DataError(f"{what}: the column {name!r} holds dates; give them as numbers, or leave the column out.")
    if column.dtype.kind in "US":
        return np.asarray(column.astype(str))
    if column.dtype.kind not in "biuf":
        raise DataError(f"{what}: the column {name!r} must hold numbers or words.")
    numbers = column.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise _missing(name, what)
    return np.asarray(numbers)


def _missing(name: str, what: str) -> DataError:
    return DataError(
        f"{what}: the column {name!r} has missing or infinite values; drop such rows, or replace them first."
    )
