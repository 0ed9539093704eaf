"""True and false.

>>> BOOLEAN.read(pa.array([True, False])).tolist(), BOOLEAN.fits(pa.array(["true", "FALSE", None]), pa.bool_())
([True, False], True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from noisewright.mechanisms.arrow import arrow_array, arrow_scalar, numpy_array, pc
from noisewright.releases.kinds.kind import Form, Kind, Speech
from noisewright.releases.kinds.rows import all_true

__all__ = ["BOOLEAN", "Boolean"]


@dataclass(frozen=True)
class Boolean(Kind):
    """Truth values."""

    def holds(self, type_: pa.DataType) -> bool:
        """True/false; also in a dictionary."""
        return bool(pa.types.is_boolean(self.output_type(type_)))

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """The same truth values."""
        return array if form == "arrow" else numpy_array(array)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The same truth values."""
        return self.as_written(values, type_)

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """True or false."""
        if isinstance(value, bool):
            return arrow_scalar(value, self.output_type(type_))
        raise self.unfit(type_)

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every cell is the word true or false, however it is capitalised."""
        return all_true(_among(pc.call_function("ascii_lower", [cells]), ["true", "false", None]))

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is true or false, without quotes."""
        return all_true(_among(cells, ["true", "false", None]))

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """A truth value."""
        return "BOOLEAN"

    def sql_number(self, column: str, type_: pa.DataType, dialect: Speech) -> str | None:
        """1 for true, 0 for false."""
        return f"(CASE WHEN {column} THEN CAST('1.0' AS DOUBLE) ELSE CAST('0.0' AS DOUBLE) END)"


BOOLEAN = Boolean("boolean", "true/false", "true or false", pa.bool_(), chart="categories")


def _among(cells: pa.Array, values: list[str | None]) -> pa.Array:
    return pc.call_function("is_in", [cells], pc.SetLookupOptions(arrow_array(values)))
