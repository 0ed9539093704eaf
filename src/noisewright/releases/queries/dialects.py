"""The two ways SQL is written: DuckDB's and Spark's.

A statistic is one text in both except the few things named here: how identifiers and strings are quoted, and how dates become
numbers. Everything else that statistics use (``CASE``, ``LEAST``, ``GREATEST``, ``FLOOR``, ``CAST``, ``SUM``, ``COUNT``, IEEE
arithmetic on ``DOUBLE``) means the same in both.

>>> DUCKDB.quote("length of stay"), SPARK.quote("length of stay")
('"length of stay"', '`length of stay`')
>>> DUCKDB.text("it's"), SPARK.text("it's")
("'it''s'", "decode(unhex('69742773'), 'UTF-8')")
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from noisewright.core.errors import ParameterError

__all__ = ["DUCKDB", "SPARK", "Dialect", "double"]


@dataclass(frozen=True)
class Dialect:
    """Notation of one engine where others differ."""

    name: str
    mark: str
    days_since_1970: str
    microseconds_since_1970: str

    def quote(self, identifier: str) -> str:
        """An identifier: any text, taken literally."""
        if not identifier or "\0" in identifier:
            raise ParameterError("the name of a column must have at least one character, and none of code 0.")
        return f"{self.mark}{identifier.replace(self.mark, 2 * self.mark)}{self.mark}"

    def text(self, value: str) -> str:
        """A string literal. Spark knows escapes and variables inside quotes, so all but plain text goes as bytes there."""
        if "\0" in value:
            raise ParameterError("a declared value has a character of code 0, which no engine can compare with.")
        if self.name == "spark" and not re.fullmatch(r"[A-Za-z0-9 _.,:+-]*", value):
            return f"decode(unhex('{value.encode().hex().upper()}'), 'UTF-8')"
        return "'" + value.replace("'", "''") + "'"

    def days(self, expression: str) -> str:
        """A date as whole days since 1970-01-01."""
        return self.days_since_1970.format(expression)

    def microseconds(self, expression: str) -> str:
        """A timestamp as microseconds since 1970; the session's time zone must be UTC."""
        return self.microseconds_since_1970.format(expression)


DUCKDB = Dialect("duckdb", '"', "({} - DATE '1970-01-01')", "epoch_us({})")
SPARK = Dialect("spark", "`", "unix_date({})", "unix_micros({})")


def double(value: Fraction | float) -> str:
    """A literal of type DOUBLE: the float nearest to the value, read back exactly by both engines."""
    return f"CAST('{float(value)!r}' AS DOUBLE)"
