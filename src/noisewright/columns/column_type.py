"""Lengths of time, such as ``"7 days"``: how far apart dates and times are that a policy protects.

>>> str(Span(Fraction(7 * 86_400))), Span(Fraction(5_400)).days, str(Span(Fraction(5_400)))
('7 days', None, '90 minutes')

A kind answers, for every part of a release, what that part would otherwise have to guess from an Arrow type: which types it
holds, how files without types write it, how a column is read for a mechanism and written back, what is missing, how values
of a
policy stand in it, how it is charted and aggregated, and how many rows of it make a block.

The words of a policy are the names of kinds: ``types = { visit = "date" }``. A package adds one with an entry point of
the group ``noisewright.kinds`` that leads to an instance of a subclass; :func:`noisewright.testing.check_kind` tells
whether it keeps these guarantees:

* a value that is read and written back is the same, up to what its type cannot hold;
* what is missing stays missing, and nothing else becomes it;
* nothing about a column (its output's type, its blocks) follows from the values in it;
* no message shows a value.

>>> from noisewright.columns.registry import kind_of
>>> day = kind_of(pa.date32())
>>> day.name, day.words, day.unit, day.read(pa.array([7], pa.int32()).view(pa.date32())).tolist()
('date', 'dates', 'day', [7])
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa

from noisewright.columns.arrow import Mask, all_true, arrow_array, arrow_cast, numpy_array, pc
from noisewright.exceptions import DataError, ParameterError

__all__ = [
    "BLOCK",
    "BLOCK_BYTES",
    "UNITS",
    "Chart",
    "Form",
    "Kind",
    "Span",
    "Speech",
    "largest_unit",
    "not_a_date",
    "rows_of",
]


UNITS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
"""Units of time in seconds, the largest first."""


@dataclass(frozen=True)
class Span:
    """A length of time, such as 7 days."""

    seconds: Fraction

    @property
    def days(self) -> int | None:
        """Number of whole days in it, if it is whole."""
        days = self.seconds / UNITS["day"]
        return days.numerator if days.denominator == 1 else None

    def __str__(self) -> str:
        """Format it in the largest unit of which it is an integer."""
        size, unit = largest_unit(self.seconds)
        return f"{size} {unit}" + ("" if size == 1 else "s")


def largest_unit(seconds: Fraction) -> tuple[Fraction, str]:
    """Return a length of time in the largest unit of which it is an integer, and that unit.

    >>> largest_unit(Fraction(7200)), largest_unit(Fraction(3, 2))
    ((Fraction(2, 1), 'hour'), (Fraction(3, 2), 'second'))
    """
    unit = next((unit for unit, size in UNITS.items() if (seconds / size).denominator == 1), "second")
    return seconds / UNITS[unit], unit


# Kind ---------------------------------------------------------------------------------------------------------------------
#
# Type of the content of a column: :class:`Kind`, the extension point between the columns of a table and the values of
# a mechanism.


BLOCK = 65_536
"""The most rows of a block, whatever they hold."""

BLOCK_BYTES = 8 << 20
"""Maximum number of bytes for the values of a block: a kind of large values has blocks of fewer rows."""

Form = Literal["numpy", "arrow"]
Chart = Literal["categories", "numbers", "dates"]


class Speech(Protocol):
    """Needs of a release from a dialect of SQL."""

    @property
    def name(self) -> str:
        """Name of the dialect."""

    def days(self, column: str) -> str:
        """A date as days since 1970."""

    def microseconds(self, column: str) -> str:
        """A time as microseconds since 1970."""


@dataclass(frozen=True)
class Kind:
    """The base of all kinds. A new one gives ``holds``, ``read`` and ``write``; the rest has a plain answer here."""

    name: str
    """The word of a policy."""
    words: str
    """Name of the content of such a column, in a message: "integers"."""
    one: str
    """Name of one value, in a message: "an integer"."""
    plain: pa.DataType
    """The plain Arrow type, in which values are put that have no type of their own."""
    typeless: bool = True
    """True if files without types (CSV, JSON lines) can write it, as text that is cast to the plain type."""
    wider: str = "text"
    """The kind that someone may have meant instead, where a value does not fit."""
    castable: frozenset[str] = frozenset()
    """The kinds that can be put into this one, if every value allows it."""
    numeric: bool = False
    """True if a value is a number on a line, perhaps of a unit; mechanisms for numbers take it."""
    whole: bool = False
    """True if such a number is whole."""
    coordinate: bool = False
    """True if a value can be a coordinate of a point."""
    labels: bool = True
    """True if values can be listed in a policy, and so be categories."""
    calendar: bool = False
    """True if values are days or moments: people name the first and the last of them."""
    unit: str = ""
    """The unit of numeric values, in the singular."""
    nearest: Fraction | None = None
    """The least distance between two different values; None where none exists."""
    chart: Chart | None = None
    """Form in which a report shows it, or not at all."""
    files: bool = False
    """True if a value is a file of its own, so that the owner of a table is given the row of one that cannot be taken."""

    # Types ------------------------------------------------------------------------------------------------------------

    def holds(self, type_: pa.DataType) -> bool:
        """Return whether a column of this Arrow type can be of this kind."""
        raise TypeError(f"{type(self).__name__} must define holds(type_).")

    def output_type(self, type_: pa.DataType) -> pa.DataType:
        """The type of a released column: its own; a dictionary becomes its values."""
        return type_.value_type if pa.types.is_dictionary(type_) else type_

    def size(self, type_: pa.DataType) -> int | None:
        """Return the number of numbers in one value by its type; None where that is not known, 1 for a kind of single
        values.
        """
        return 1

    def in_words(self, type_: pa.DataType) -> str:
        """Describe a column of this type, for a message."""
        return self.words

    def block_rows(self, type_: pa.DataType, size: int | None = None) -> int:
        """The most rows of a block, by the type and the declared ``size`` of a value alone: all engines cut alike."""
        return BLOCK

    def under(self, folder: str) -> Kind:
        """The same kind for cells that name files below a folder; refused where cells name none."""
        raise ParameterError(
            f"folder = ... is for columns of files, such as pictures, not for {self.words}; leave it out."
        )

    # Columns ----------------------------------------------------------------------------------------------------------

    def named(self, array: pa.Array) -> list[Path | None] | None:
        """The files that the cells name, None for a cell that names none; None where cells are values themselves."""
        return None

    def present(self, array: pa.Array) -> Mask | None:
        """Return a mask of the non-missing values; None where that is everywhere."""
        return numpy_array(array.is_valid()) if array.null_count else None

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """A column without missing values as a mechanism is given it; ``size`` is that of one value, where it is declared."""
        raise TypeError(f"{type(self).__name__} must define read(array, form, size).")

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """Outputs of a mechanism, numpy's or Arrow's, as a column of the given type; a null stays one."""
        raise TypeError(f"{type(self).__name__} must define write(values, type_).")

    def distinct(self, array: pa.Array) -> pa.Array:
        """Every value once, where that is quick to find; otherwise the column as it is."""
        try:
            return pc.unique(array)
        except pa.ArrowNotImplementedError:  # structs and lists, which Arrow does not compare
            return array

    # Values of a policy -------------------------------------------------------------------------------------------------

    def place(self, value: Any, type_: pa.DataType, name: str, side: int = 0) -> Any:
        """A value of a policy as a mechanism sees it; ``side`` is 1 for the upper end of a range. Dates are for dates only."""
        return not_a_date(value, name, self.in_words(type_))

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """A value, as a mechanism sees it, in the type of a column; refused where it does not fit there."""
        raise self.unfit(type_)

    def can_hold(self, numbers: Sequence[int | float], type_: pa.DataType) -> bool:
        """Return whether a column of this type can hold all of the numbers, floats of fewer bits rounded."""
        return False

    def distance(self, protect: Fraction | Span) -> Fraction:
        """A protected distance in the unit of the values."""
        if isinstance(protect, Span):
            raise ParameterError(f'protect = "{protect}" is for dates and times, not for {self.words}; write a number.')
        return Fraction(protect)

    def after_reading(self, distance: Fraction) -> Fraction:
        """Return the maximum distance, once they are read, of two values at most ``distance`` apart."""
        return distance

    # Text ---------------------------------------------------------------------------------------------------------------

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every cell of text that is not missing is a plain form of a value of this type."""
        if not self.typeless:
            return False
        try:
            arrow_cast(cells, type_)
        except pa.ArrowException:
            return False
        return True

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value that is not missing, as JSON writes it, is of this type; most are text there."""
        quoted = pc.and_(pc.starts_with(cells, '"'), pc.ends_with(cells, '"'))
        return all_true(quoted) and self.fits(pc.utf8_trim(cells, '"'), type_)

    # SQL ----------------------------------------------------------------------------------------------------------------

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """Return a dialect's name for a type that holds all values; None where it has none, so nothing can be computed."""
        return None

    def sql_number(self, column: str, type_: pa.DataType, dialect: Speech) -> str | None:
        """A value as a number of type DOUBLE, in SQL; None for a kind that cannot be added up."""
        return None

    # Messages -------------------------------------------------------------------------------------------------------------

    def unfit(self, type_: pa.DataType) -> ParameterError:
        """The error of a value to fill in that the column cannot hold."""
        return ParameterError(
            f"a value to fill in is not one of {self.in_words(type_)} that the column can hold; choose another."
        )

    def as_written(self, values: Any, type_: pa.DataType) -> pa.Array:
        """Outputs that are values of the type already; anything else is refused."""
        column = values if isinstance(values, pa.Array) else arrow_array(values, type=type_)
        if column.type != type_:
            raise DataError(
                "the outputs of the mechanism are of another kind than the column; convert the column first."
            )
        return column

    def __str__(self) -> str:
        return self.name


def not_a_date(value: Any, name: str, words: str) -> Any:
    """The value, for a column that is in ``words`` and holds no dates; ``name`` is the key of the policy."""
    if isinstance(value, (datetime.date, datetime.time)):
        what = "a time of day" if isinstance(value, datetime.time) else "a date"
        raise ParameterError(f"{name} has {what}, but the column is {words}; write it as in the column.")
    return value


def rows_of(each: int) -> int:
    """Return the number of rows in a block, given the bytes of a row.

    >>> rows_of(8), rows_of(8 * 300), rows_of(10**9)
    (65536, 3495, 1)
    """
    return max(1, min(BLOCK, BLOCK_BYTES // max(1, each)))
