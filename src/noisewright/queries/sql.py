"""The two ways SQL is written: DuckDB's and Spark's.

A statistic is one text in both except the few things named here: how identifiers and strings are quoted, and how dates become
numbers. Everything else that statistics use (``CASE``, ``LEAST``, ``GREATEST``, ``FLOOR``, ``CAST``, ``SUM``, ``COUNT``, IEEE
arithmetic on ``DOUBLE``) means the same in both.

>>> DUCKDB.quote("length of stay"), SPARK.quote("length of stay")
('"length of stay"', '`length of stay`')
>>> DUCKDB.text("it's"), SPARK.text("it's")
("'it''s'", "decode(unhex('69742773'), 'UTF-8')")

Integers carry a bound on their size. Up to 64 bits they are ``BIGINT``, beyond that ``DECIMAL(38, 0)``, and what could be
larger still is refused, so no engine can overflow. Everything is cast openly: nothing is left to an engine's own conversions.

>>> import pyarrow as pa
>>> from noisewright.queries.sql import DUCKDB
>>> four = calculated(column_term("n", pa.int64(), DUCKDB), "*", number_term("4"))
>>> four.kind, four.bound == 2**65, four.sql
('integer', True, '(CAST(CAST("n" AS BIGINT) AS DECIMAL(38, 0)) * CAST(CAST(4 AS BIGINT) AS DECIMAL(38, 0)))')
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import pyarrow as pa

from noisewright.exceptions import ParameterError

__all__ = [
    "DUCKDB",
    "SPARK",
    "Dialect",
    "Term",
    "absolute",
    "alike",
    "calculated",
    "column_term",
    "date_term",
    "double",
    "length_of",
    "moment_term",
    "negated",
    "nothing",
    "number_term",
    "part_of_date",
    "rounded",
    "text_term",
    "trimmed",
    "truth",
    "wanted",
]


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


# Terms --------------------------------------------------------------------------------------------------------------------
#
# The typed parts of a filter: a value of one row as SQL, with the facts known before any row is seen.


SqlType = Literal["integer", "double", "text", "date", "moment", "truth", "nothing", "other"]
NAMES: dict[SqlType, str] = {
    "integer": "a number",
    "double": "a number",
    "text": "text",
    "date": "a date",
    "moment": "a timestamp",
    "truth": "a condition",
    "nothing": "NULL",
    "other": "a column of a type that has no literals",
}
DECIMAL = "DECIMAL(38, 0)"
MOST = 10**38
LONG = 1 << 63
DAY = 86_400_000_000
EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Term:
    """A value of one row. ``bound``: no integer, day or microsecond is further from 0; ``literal``: a text in quotes."""

    kind: SqlType
    sql: str
    bound: int = 0
    wide: bool = False
    """True if an integer is written as DECIMAL(38, 0) rather than BIGINT."""
    literal: str | None = None

    def with_sql(self, sql: str, bound: int | None = None) -> Term:
        """Another value of the same kind."""
        return replace(self, sql=sql, bound=self.bound if bound is None else bound, literal=None)


def truth(sql: str) -> Term:
    """A condition."""
    return Term("truth", sql)


def nothing() -> Term:
    """NULL, which is of any kind."""
    return Term("nothing", "NULL")


def text_term(text: str, dialect: Dialect) -> Term:
    """A text in quotes; compared with a date or a timestamp, it is read as one."""
    return Term("text", dialect.text(text), literal=text)


def number_term(digits: str) -> Term:
    """A number: whole where it is written so."""
    if digits.isdecimal():
        number = int(digits[-50:]) if not digits[:-50].strip("0") else MOST
        return _long(str(number), number) if number < LONG else _wide(f"CAST({number} AS {DECIMAL})", number)
    if not math.isfinite(float(digits)):
        raise ParameterError("the filter has a number that is too large; numbers go up to 1e308.")
    return Term("double", double(float(digits)))


def date_term(text: str) -> Term:
    """The date in a text, as days since 1970."""
    try:
        days = (datetime.date.fromisoformat(text.strip()) - EPOCH.date()).days
    except ValueError:
        raise ParameterError(
            f"the filter takes {text!r} for a date, which it is not; write it as DATE '2024-05-01'."
        ) from None
    return Term("date", f"CAST({days} AS BIGINT)", abs(days))


def moment_term(text: str) -> Term:
    """The timestamp in a text, as microseconds since 1970; in UTC, unless it states otherwise."""
    try:
        moment = datetime.datetime.fromisoformat(text.strip())
        if moment.tzinfo is not None:
            moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise ParameterError(
            f"the filter takes {text!r} for a time, which it is not; write it as TIMESTAMP '2024-05-01 12:30:00'."
        ) from None
    micros = (moment - EPOCH) // datetime.timedelta(microseconds=1)
    return Term("moment", f"CAST({micros} AS BIGINT)", abs(micros))


def column_term(name: str, kind: pa.DataType, dialect: Dialect) -> Term:
    """A column, by its type; of an unusual one, only whether it is missing can be asked."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    quoted = dialect.quote(name)
    if pa.types.is_boolean(plain):
        return truth(quoted)
    if pa.types.is_integer(plain):
        bound = _largest(plain)
        return _long(quoted, bound) if bound <= LONG else _wide(f"CAST({quoted} AS {DECIMAL})", bound)
    if pa.types.is_floating(plain):
        return Term("double", f"CAST({quoted} AS DOUBLE)")
    if pa.types.is_decimal(plain):
        if plain.scale == 0 and plain.precision <= 38:
            return _wide(f"CAST({quoted} AS {DECIMAL})", 10**plain.precision - 1)
        return Term(
            "double", f"CAST(CAST({quoted} AS STRING) AS DOUBLE)"
        )  # by its digits: rounded once, to the nearest
    if pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain):
        return Term("text", f"CAST({quoted} AS STRING)")
    if pa.types.is_date32(plain):
        return Term("date", f"CAST({dialect.days(quoted)} AS BIGINT)", 1 << 31)
    if pa.types.is_timestamp(plain):
        return Term("moment", f"CAST({dialect.microseconds(quoted)} AS BIGINT)", LONG - 1)
    return Term("other", quoted)


def wanted(term: Term, kind: SqlType, problem: str) -> Term:
    """The term, if it is of that kind."""
    if term.kind == "nothing":
        return term.with_sql("CAST(NULL AS BOOLEAN)" if kind == "truth" else "CAST(NULL AS STRING)")
    if term.kind != kind:
        raise ParameterError(f"{problem}.")
    return term


def alike(terms: Sequence[Term]) -> list[Term]:
    """Terms that can be compared, all written in one type."""
    kinds = {term.kind for term in terms} - {"nothing"}
    if "other" in kinds:
        raise ParameterError(
            "the filter compares a column of a type that has no literals; ask whether it IS NULL only."
        )
    times = kinds & {"date", "moment"}
    if times and "text" in kinds:
        terms = [_as_time(term, "moment" in times) if term.kind == "text" else term for term in terms]
        kinds = {term.kind for term in terms} - {"nothing"}
    if kinds <= {"integer", "double"} and kinds:
        if "double" in kinds:
            return [_double(term) for term in terms]
        return _long_or_decimal(terms)
    if kinds == {"date", "moment"}:
        return _long_or_decimal([_as_moment(term) for term in terms])
    if len(kinds) > 1:
        first, second = (NAMES[term.kind] for term in _two_kinds(terms))
        raise ParameterError(
            f"the filter compares {first} with {second}; compare like with like, and write text in quotes."
        )
    sql = {"text": "STRING", "truth": "BOOLEAN"}.get(min(kinds, default="truth"), "BIGINT")
    kind: SqlType = next((term.kind for term in terms if term.kind != "nothing"), "truth")
    return [Term(kind, f"CAST(NULL AS {sql})") if term.kind == "nothing" else term for term in terms]


def calculated(left: Term, sign: str, right: Term) -> Term:
    """Arithmetic: exact among integers except division, otherwise of doubles."""
    for term in (left, right):
        _number(term, sign)
    if sign == "/" or "double" in (left.kind, right.kind):
        return Term("double", f"({_double(left).sql} {sign} {_double(right).sql})")
    bounds = {"*": left.bound * right.bound, "%": min(left.bound, right.bound)}
    a, b = _decimal(left), _decimal(right)
    return _wide(f"({a} {sign} {b})", bounds.get(sign, left.bound + right.bound))


def negated(term: Term, sign: str) -> Term:
    """A number with a sign before it."""
    _number(term, sign)
    if sign == "+" or term.kind == "nothing":
        return term
    if term.kind == "double":
        return term.with_sql(f"(- {term.sql})")
    return _wide(f"(- {_decimal(term)})", term.bound)


def absolute(term: Term) -> Term:
    """Its size, without the sign."""
    _number(term, "abs")
    if term.kind == "integer":
        return _wide(f"abs({_decimal(term)})", term.bound)
    return term if term.kind == "nothing" else term.with_sql(f"abs({term.sql})")


def rounded(term: Term, name: str, dialect: Dialect) -> Term:
    """``floor`` and ``ceil``; large doubles are whole already, and are kept from engines that round to 64 bits."""
    _number(term, name)
    if term.kind != "double" or dialect.name == "duckdb":
        return term if term.kind != "double" else term.with_sql(f"{name}({term.sql})")
    large = double(2.0**52)
    return term.with_sql(
        f"(CASE WHEN abs({term.sql}) < {large} THEN CAST({name}({term.sql}) AS DOUBLE) ELSE {term.sql} END)"
    )


def length_of(term: Term) -> Term:
    """The number of characters of a text."""
    text = wanted(term, "text", "the filter asks for the length of what is no text")
    return _long(f"length({text.sql})", 1 << 31)


def trimmed(term: Term, dialect: Dialect) -> Term:
    """A text without spaces at its ends; other white space stays."""
    text = wanted(term, "text", "the filter trims what is no text").sql
    return Term("text", f"trim({text}, ' ')" if dialect.name == "duckdb" else f"trim(BOTH ' ' FROM {text})")


def part_of_date(term: Term, name: str, dialect: Dialect) -> Term:
    """The year, month or day of a date or timestamp, in UTC."""
    if term.kind not in ("date", "moment"):
        raise ParameterError(f"the filter asks for the {name} of what is neither a date nor a timestamp.")
    duck = {"date": "(DATE '1970-01-01' + CAST({} AS INTEGER))", "moment": "make_timestamp({})"}
    spark = {"date": "date_from_unix_date(CAST({} AS INT))", "moment": "timestamp_micros({})"}
    calendar = (duck if dialect.name == "duckdb" else spark)[term.kind].format(term.sql)
    return _long(f"{name}({calendar})", 1 << 31)


# Numbers ------------------------------------------------------------------------------------------------------------------


def _long(sql: str, bound: int) -> Term:
    return Term("integer", f"CAST({sql} AS BIGINT)", bound)


def _wide(sql: str, bound: int) -> Term:
    """An integer of up to 38 digits."""
    if bound >= MOST:
        raise ParameterError(
            "the filter has a whole number that is too large, or could become so: it would have more than 38 digits."
        )
    return Term("integer", sql, bound, wide=True)


def _decimal(term: Term) -> str:
    if term.kind == "nothing":
        return f"CAST(NULL AS {DECIMAL})"
    return term.sql if term.wide else f"CAST({term.sql} AS {DECIMAL})"


def _double(term: Term) -> Term:
    if term.kind == "double":
        return term
    if term.kind == "nothing":
        return Term("double", "CAST(NULL AS DOUBLE)")
    if not term.wide:
        return Term("double", f"CAST({term.sql} AS DOUBLE)")
    return Term("double", f"CAST(CAST({term.sql} AS STRING) AS DOUBLE)")  # by its digits: rounded once, to the nearest


def _long_or_decimal(terms: Sequence[Term]) -> list[Term]:
    """Integers of one type: BIGINT where all of them are."""
    if any(term.wide for term in terms):
        return [Term("integer", _decimal(term), term.bound, wide=True) for term in terms]
    return [Term("integer", "CAST(NULL AS BIGINT)") if term.kind == "nothing" else term for term in terms]


def _largest(kind: pa.DataType) -> int:
    bits = int(kind.bit_width)
    return 1 << (bits - 1) if pa.types.is_signed_integer(kind) else (1 << bits) - 1


def _number(term: Term, sign: str) -> None:
    if term.kind not in ("integer", "double", "nothing"):
        raise ParameterError(f"the filter calculates with {NAMES[term.kind]} ({sign}); calculate with numbers only.")


# Dates --------------------------------------------------------------------------------------------------------------------


def _as_time(term: Term, moments: bool) -> Term:
    if term.literal is None:
        raise ParameterError("the filter compares a column of text with a date; compare like with like.")
    return moment_term(term.literal) if moments else date_term(term.literal)


def _as_moment(term: Term) -> Term:
    """A date as its first microsecond."""
    if term.kind != "date":
        return term
    return Term("moment", f"({_decimal(term)} * CAST({DAY} AS {DECIMAL}))", term.bound * DAY, wide=True)


def _two_kinds(terms: Sequence[Term]) -> tuple[Term, Term]:
    known = [term for term in terms if term.kind != "nothing"]
    return known[0], next(term for term in known if NAMES[term.kind] != NAMES[known[0].kind])
