r"""Numbers: whole ones, and floats.

==============================  =========================================================  ==============================
column                          what a mechanism sees                                      what comes out
==============================  =========================================================  ==============================
integers, 8 to 64 bits     the same integers                                     the same type
decimals without places         the same integers                                     the same type
floats, 16 to 64 bits           64-bit floats                                              the same type
==============================  =========================================================  ==============================

Nothing is rounded on the way in. Decimals with places are of no kind, since no float holds most of them: two rounded values
could be farther apart than the values were, and the guarantee would not cover them. NaN counts as missing, like null.

>>> INTEGER.write(np.array([127.6, -3.2]), pa.int8()).to_pylist(), NUMBER.present(pa.array([0.5, float("nan")])).tolist()
([127, -3], [True, False])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.errors import DataError
from noisewright.mechanisms.arrow import arrow_array, arrow_cast, arrow_scalar, numpy_array, pc
from noisewright.releases.kinds._whole import (
    can_hold_whole,
    in_form,
    is_number,
    nullable,
    read_whole,
    rounded,
    signed_ends,
    whole_scalar,
)
from noisewright.releases.kinds.kind import Form, Kind, Speech
from noisewright.releases.kinds.rows import Mask, all_true

__all__ = ["INTEGER", "NUMBER", "Integer", "Number"]

LONGEST_WHOLE = 18
"""Digits of an integer that a float keeps, whatever they are; a longer one is a code."""


@dataclass(frozen=True)
class Integer(Kind):
    """Integers."""

    def holds(self, type_: pa.DataType) -> bool:
        """Integers of any width, and decimals without places; also in a dictionary."""
        plain = self.output_type(type_)
        return bool(pa.types.is_integer(plain) or (pa.types.is_decimal(plain) and plain.scale == 0))

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """The same integers."""
        if pa.types.is_decimal(array.type):
            try:
                array = array.cast(pa.int64())
            except pa.ArrowException:
                raise DataError("a value is beyond 64 bits; rescale the column.") from None
        return in_form(read_whole(array), form)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """Rounded, and moved to the range of the type."""
        return nullable(values, type_, self._written)

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """An integer that the type can hold."""
        return whole_scalar(self, value, type_)

    def can_hold(self, numbers: Sequence[int | float], type_: pa.DataType) -> bool:
        """Return whether they are whole and within the range of the type."""
        return can_hold_whole(numbers, _ends(self.output_type(type_)))

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every cell is an integer in its plain form: ``007`` is a code, not a number."""
        try:
            values = arrow_cast(cells, type_)
        except pa.ArrowInvalid:
            return False
        return all_true(pc.call_function("equal", [arrow_cast(values, pa.string()), cells]))

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is an integer, without quotes."""
        return all_true(pc.invert(pc.starts_with(cells, '"'))) and self.fits(cells, type_)

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """A type that holds all of its values."""
        if pa.types.is_uint64(type_):
            return "UBIGINT" if dialect == "duckdb" else "DECIMAL(20, 0)"
        if pa.types.is_decimal(type_):
            wide = "VARCHAR" if dialect == "duckdb" else "STRING"
            return f"DECIMAL({type_.precision}, {type_.scale})" if type_.precision <= 38 else wide
        return "BIGINT"

    def sql_number(self, column: str, type_: pa.DataType, dialect: Speech) -> str | None:
        """The number itself; a decimal by way of its digits, since engines divide decimals in different ways."""
        return (
            f"CAST(CAST({column} AS STRING) AS DOUBLE)" if pa.types.is_decimal(type_) else f"CAST({column} AS DOUBLE)"
        )

    def _written(self, values: NDArray[Any], type_: pa.DataType) -> pa.Array:
        whole = rounded(values, *_ends(type_))
        if pa.types.is_decimal(type_):
            return arrow_array(whole).cast(pa.decimal128(19, 0)).cast(type_)
        return arrow_array(whole.astype(type_.to_pandas_dtype(), copy=False), type=type_)


@dataclass(frozen=True)
class Number(Kind):
    """Numbers with a point."""

    def holds(self, type_: pa.DataType) -> bool:
        """Floats of any width; also in a dictionary."""
        return bool(pa.types.is_floating(self.output_type(type_)))

    def present(self, array: pa.Array) -> Mask | None:
        """Return a mask of the numbers: NaN is not a number."""
        mask: Mask = ~np.isnan(numpy_array(array))  # a null becomes NaN
        return None if mask.all() else mask

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """64-bit floats, exactly."""
        return in_form(numpy_array(array).astype(np.float64, copy=False), form)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """Rounded to the width of the type; never infinite."""
        return nullable(values, type_, self._written)

    def distinct(self, array: pa.Array) -> pa.Array:
        """All of them: floats hardly ever occur twice."""
        return array

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """A number that the type can hold."""
        if is_number(value) and self.can_hold([value], type_):
            return self.write(np.array([value], dtype=np.float64), self.output_type(type_))[0]
        raise self.unfit(type_)

    def can_hold(self, numbers: Sequence[int | float], type_: pa.DataType) -> bool:
        """Return whether they are within the range of the type."""
        most = float(np.finfo(self.output_type(type_).to_pandas_dtype()).max)
        return -most <= min(numbers) and max(numbers) <= most

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every cell is a number, none with a superfluous 0, and none a long code that would lose digits."""
        try:
            arrow_cast(cells, type_)
        except pa.ArrowInvalid:
            return False
        padded = pc.and_(pc.starts_with(cells, "0"), pc.greater(pc.binary_length(cells), arrow_scalar(1)))
        long = pc.greater(pc.binary_length(cells), arrow_scalar(LONGEST_WHOLE))
        if pc.any(long).as_py() and pc.any(pc.match_substring_regex(cells.filter(long), r"^[-+]?\d+$")).as_py():
            return False
        return all_true(pc.or_(pc.invert(padded), pc.starts_with(cells, "0.")))

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is a number, without quotes."""
        return all_true(pc.invert(pc.starts_with(cells, '"'))) and self.fits(cells, type_)

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """The widest float."""
        return "DOUBLE"

    def sql_number(self, column: str, type_: pa.DataType, dialect: Speech) -> str | None:
        """The number itself."""
        return f"CAST({column} AS DOUBLE)"

    def _written(self, values: NDArray[Any], type_: pa.DataType) -> pa.Array:
        wanted = np.dtype(type_.to_pandas_dtype())
        if wanted.itemsize < 8:
            limit = float(np.finfo(wanted).max)
            values = np.clip(values, -limit, limit)
        return arrow_array(values.astype(wanted, copy=False), type=type_)


def _ends(type_: pa.DataType) -> tuple[int, int]:
    """The least and the greatest integer that a type can hold, within 64 bits."""
    if pa.types.is_decimal(type_):
        most = min(10**type_.precision - 1, (1 << 63) - 1)
        return -most, most
    if pa.types.is_unsigned_integer(type_):
        return 0, min((1 << type_.bit_width) - 1, (1 << 63) - 1)
    return signed_ends(type_.bit_width)


INTEGER = Integer(
    "integer",
    "whole numbers",
    "a whole number",
    pa.int64(),
    wider="number",
    castable=frozenset({"number"}),
    numeric=True,
    whole=True,
    coordinate=True,
    nearest=Fraction(1),
    chart="numbers",
)
NUMBER = Number(
    "number",
    "numbers",
    "a number",
    pa.float64(),
    castable=frozenset({"integer"}),
    numeric=True,
    coordinate=True,
    chart="numbers",
)
