"""Text: values of a set (``text``), and free text (``document``); since both have one type, a policy or a mechanism says which.

>>> TEXT.read(pa.array(["yes", "no"])).tolist(), TEXT.output_type(pa.dictionary(pa.int8(), pa.large_string()))
(['yes', 'no'], DataType(string))
>>> DOCUMENT.holds(pa.string()), DOCUMENT.labels
(True, False)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from noisewright.mechanisms.arrow import arrow_scalar, numpy_array, pc
from noisewright.releases.kinds.kind import Form, Kind, rows_of
from noisewright.releases.kinds.rows import all_true

__all__ = ["DOCUMENT", "TEXT", "Document", "Text", "is_text", "plain_text"]

DOCUMENT_BYTES = 2048
"""Assumed size of a document when rows are cut into blocks."""


@dataclass(frozen=True)
class Text(Kind):
    """Text, also with a dictionary; the output is plain utf8."""

    def holds(self, type_: pa.DataType) -> bool:
        """Text of any width; also in a dictionary."""
        return is_text(type_.value_type if pa.types.is_dictionary(type_) else type_)

    def output_type(self, type_: pa.DataType) -> pa.DataType:
        """Plain utf8."""
        return pa.string()

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """The text itself; in Arrow also with its dictionary."""
        return array if form == "arrow" else numpy_array(plain_text(array))

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The text itself, also with its dictionary."""
        if isinstance(values, pa.DictionaryArray) and values.type.value_type == type_:
            return values
        return self.as_written(plain_text(values) if isinstance(values, pa.Array) else values, type_)

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """A text."""
        if isinstance(value, str):
            return arrow_scalar(value, pa.string())
        raise self.unfit(type_)

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Every cell is text."""
        return True

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is in quotes."""
        return all_true(pc.starts_with(cells, '"'))

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """Text of any length."""
        return "VARCHAR" if dialect == "duckdb" else "STRING"


@dataclass(frozen=True)
class Document(Kind):
    """Free text: pages, messages, answers to open questions."""

    def holds(self, type_: pa.DataType) -> bool:
        """Text of any width; also in a dictionary."""
        return TEXT.holds(type_)

    def output_type(self, type_: pa.DataType) -> pa.DataType:
        """Plain utf8."""
        return pa.string()

    def block_rows(self, type_: pa.DataType, size: int | None = None) -> int:
        """Few: a document is long."""
        return rows_of(DOCUMENT_BYTES)

    def read(self, array: pa.Array, form: Form = "numpy", size: int | None = None) -> Any:
        """Plain utf8."""
        plain = plain_text(array)
        return plain if form == "arrow" else numpy_array(plain)

    def write(self, values: Any, type_: pa.DataType) -> pa.Array:
        """The text itself."""
        return self.as_written(plain_text(values) if isinstance(values, pa.Array) else values, type_)

    def distinct(self, array: pa.Array) -> pa.Array:
        """All of them: hardly one occurs twice."""
        return array

    def scalar(self, value: Any, type_: pa.DataType) -> pa.Scalar:
        """A text."""
        return TEXT.scalar(value, type_)

    def fits(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Every cell is text."""
        return True

    def fits_json(self, cells: pa.Array, type_: pa.DataType) -> bool:
        """Return whether every value is in quotes."""
        return TEXT.fits_json(cells, type_)

    def sql_type(self, type_: pa.DataType, dialect: str = "duckdb") -> str | None:
        """Text of any length."""
        return TEXT.sql_type(type_, dialect)


def is_text(type_: pa.DataType) -> bool:
    """Return whether an Arrow type is one of text."""
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))


def plain_text(array: pa.Array) -> pa.Array:
    """A column of text as plain utf8; any other column as it is, written out."""
    if isinstance(array, pa.DictionaryArray):
        array = array.dictionary_decode()
    return array.cast(pa.string()) if is_text(array.type) and array.type != pa.string() else array


TEXT = Text(
    "text",
    "text",
    "text",
    pa.string(),
    wider="integer",
    castable=frozenset({"integer", "number", "date"}),
    chart="categories",
)
DOCUMENT = Document("document", "documents", "text", pa.string(), castable=TEXT.castable, labels=False)
