"""Filters of queries: a condition on one row, written in plain SQL and meaning the same to every engine.

The sensitivity of a filtered answer rests on one fact: whether a row counts depends on *that row alone*. A condition that
looks at other rows (a subquery, a window), at the position of a row or at chance would break it. Therefore a filter is
read here, word by word, and written again for the engine that runs it: columns of the table, literals, comparisons,
``AND OR NOT IN BETWEEN LIKE IS NULL``, arithmetic, and a few functions.

Every part has a type, and only like is compared with like, so that no engine has to convert a cell and stumble over it:

* integers are exact; a product that could have more than 38 digits is refused;
* all other numbers are of type ``DOUBLE``, and so is whatever is compared or calculated with one;
* text is compared by its bytes; dates are days and timestamps microseconds since 1970, in UTC.

>>> import pyarrow as pa
>>> from noisewright.queries.sql import DUCKDB
>>> types = {"age": pa.int64(), "ward": pa.string()}
>>> print(parse_filter("age >= 18 AND ward NOT IN ('A', 'it''s')", types).sql(DUCKDB))
((CAST("age" AS BIGINT) >= CAST(18 AS BIGINT)) AND (CAST("ward" AS STRING) NOT IN ('A', 'it''s')))
>>> parse_filter("ward > 5", types)
Traceback (most recent call last):
noisewright.exceptions.ParameterError: the filter compares text with a number; compare like with like, and write text in quotes.
>>> parse_filter("age > (SELECT avg(age) FROM t)", types)
Traceback (most recent call last):
noisewright.exceptions.ParameterError: the filter uses SELECT, which is neither a column nor a word that filters may use: a filter looks at one row alone, with its columns, numbers, 'text', DATE '2024-05-01', AND OR NOT IN BETWEEN LIKE IS NULL, and the functions abs, ceil, coalesce, day, floor, length, month, trim, year.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from noisewright.exceptions import ParameterError
from noisewright.queries.sql import (
    DUCKDB,
    Dialect,
    Term,
    absolute,
    alike,
    calculated,
    column_term,
    date_term,
    length_of,
    moment_term,
    negated,
    nothing,
    number_term,
    part_of_date,
    rounded,
    text_term,
    trimmed,
    truth,
    wanted,
)

__all__ = ["Filter", "names_in", "parse_filter"]


T = TypeVar("T")
WORDS = frozenset(["AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS", "NULL", "TRUE", "FALSE"])
LITERALS = frozenset(["DATE", "TIMESTAMP"])
FUNCTIONS = frozenset(["abs", "ceil", "coalesce", "day", "floor", "length", "month", "trim", "year"])
COMPARISONS = frozenset(["=", "<>", "!=", "<", "<=", ">", ">="])

TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")+"|`(?:[^`]|``)+`)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))
    | (?P<word>[^\W\d]\w*)
    | (?P<sign><=|>=|<>|!=|=|<|>|\+|-|\*|/|%|,|\(|\))
    )""",
    re.VERBOSE,
)

LONGEST = 10_000
DEEPEST = 40
"""Brackets, signs and NOTs inside one another."""


@dataclass(frozen=True)
class Filter:
    """A checked condition: its tokens, each of a kind (``text``, ``column``, ``number`` or ``plain``), and the types it
    needs.
    """

    tokens: tuple[tuple[str, str], ...]
    types: tuple[tuple[str, pa.DataType], ...]

    def sql(self, dialect: Dialect) -> str:
        """The condition as that engine writes it."""
        return _Reader(self, dialect).condition()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at."""
        return tuple(name for name, _ in self.types)


def parse_filter(condition: str, types: Mapping[str, pa.DataType]) -> Filter:
    """The condition over columns of these types; expressions that may look beyond its row, or would mix types, are refused."""
    tokens = tuple(_tokens(condition, types))
    named = dict.fromkeys(content for kind, content in tokens if kind == "column")
    found = Filter(tokens, tuple((name, types[name]) for name in named))
    found.sql(DUCKDB)  # reads it to its end
    return found


def names_in(condition: str) -> set[str]:
    r"""The columns that a condition names, whatever the table.

    >>> sorted(names_in("year(visit) >= 2020 AND ward IN ('A', 'B') AND \"not\" = 1"))
    ['not', 'visit', 'ward']
    """
    found = set()
    for match in TOKEN.finditer(condition):
        text = match[match.lastgroup or 0]
        if match.lastgroup == "quoted":
            found.add(_unquoted(text))
        elif match.lastgroup == "word" and _own_word(text, condition[match.end() :].lstrip()[:1]) is None:
            found.add(text)
    return found


def _tokens(condition: str, types: Mapping[str, pa.DataType]) -> list[tuple[str, str]]:
    if not isinstance(condition, str) or not condition.strip() or len(condition) > LONGEST:
        raise ParameterError(f"a filter must be a condition such as age >= 18, of at most {LONGEST} characters.")
    if "--" in condition or "/*" in condition or ";" in condition:
        raise ParameterError("a filter has no comments and no semicolons; write one condition.")
    tokens: list[tuple[str, str]] = []
    place, text = 0, condition.rstrip()
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            raise _unreadable(text[place:])
        place, kind = found.end(), str(found.lastgroup)
        content = found[kind]
        after = text[place:].lstrip()[:1]
        if kind == "text":
            tokens.append(("text", content[1:-1].replace("''", "'")))
        elif kind == "quoted":
            name = _unquoted(content)
            if name not in types:
                raise ParameterError(f"the filter names the column {name!r}, which the table does not have.")
            tokens.append(("column", name))
        elif kind == "word":
            tokens.append(_word(content, after, types))
        else:
            tokens.append(("number" if kind == "number" else "plain", content))
    return tokens


def _word(word: str, after: str, known: Mapping[str, pa.DataType]) -> tuple[str, str]:
    """A keyword, a function before a bracket, the type of a literal before a text, or else a column."""
    own = _own_word(word, after)
    if own is not None:
        return "plain", own
    if word in known and after != "(":
        return "column", word
    raise ParameterError(
        f"the filter uses {word}, which is neither a column nor a word that filters may use: a filter looks at one row alone, "
        "with its columns, numbers, 'text', DATE '2024-05-01', AND OR NOT IN BETWEEN LIKE IS NULL, and the functions "
        f"{', '.join(sorted(FUNCTIONS))}."
    )


def _own_word(word: str, after: str) -> str | None:
    """A word of filters themselves, whatever columns there are, by what comes after it."""
    if word.upper() in WORDS or (after == "'" and word.upper() in LITERALS):
        return word.upper()
    return word.lower() if after == "(" and word.lower() in FUNCTIONS else None


def _unquoted(name: str) -> str:
    return name[1:-1].replace(2 * name[0], name[0])


def _unreadable(rest: str) -> ParameterError:
    shown = rest.strip()[:20] or "its end"
    return ParameterError(f"the filter cannot be read at {shown!r}; write a condition such as age >= 18.")


class _Reader:
    """Reads tokens from left to right, by the usual order of operations, and writes them for one engine."""

    def __init__(self, source: Filter, dialect: Dialect) -> None:
        self.tokens, self.types, self.dialect = source.tokens, dict(source.types), dialect
        self.place = self.depth = 0

    def condition(self) -> str:
        whole = wanted(
            self._any(), "truth", "a filter must be a condition, true or false for each row, as age >= 18 is"
        )
        if self.place < len(self.tokens):
            if self.tokens[self.place] == ("plain", ")"):
                raise _brackets()
            raise self._stuck()
        return whole.sql

    # Conditions -----------------------------------------------------------------------------------------------------------

    def _any(self) -> Term:
        return self._joined("OR", lambda: self._joined("AND", self._not))

    def _joined(self, word: str, part: Callable[[], Term]) -> Term:
        first = part()
        if not self._next(word):
            return first
        parts = [first, part()]
        while self._next(word):
            parts.append(part())
        problem = f"the filter joins by {word} what is no condition; write one such as age >= 18 on both sides"
        return truth(f"({f' {word} '.join(wanted(p, 'truth', problem).sql for p in parts)})")

    def _not(self) -> Term:
        if not self._next("NOT"):
            return self._compared()
        with_depth = self._deeper(self._not)
        return truth(f"(NOT {wanted(with_depth, 'truth', 'NOT stands before a condition, as in NOT age >= 18').sql})")

    def _compared(self) -> Term:
        left = self._sum()
        if self._next("IS"):
            negation = "NOT " if self._next("NOT") else ""
            self._expect("NULL")
            return truth(f"({left.sql} IS {negation}NULL)")
        sign = self._sign(COMPARISONS)
        if sign:
            a, b = alike([left, self._sum()])
            return truth(f"({a.sql} {'<>' if sign == '!=' else sign} {b.sql})")
        negation = "NOT " if self._peek() == ("plain", "NOT") else ""
        if negation:
            self.place += 1
        if self._next("IN"):
            self._expect("(")
            left, *values = alike([left, *self._list()])
            return truth(f"({left.sql} {negation}IN ({', '.join(value.sql for value in values)}))")
        if self._next("BETWEEN"):
            low = self._sum()
            self._expect("AND")
            left, low, high = alike([left, low, self._sum()])
            return truth(f"({negation}({left.sql} >= {low.sql} AND {left.sql} <= {high.sql}))")
        if self._next("LIKE"):
            return self._like(left, negation)
        if negation:
            raise self._stuck()
        return left

    def _like(self, left: Term, negation: str) -> Term:
        kind, pattern = self._peek()
        if kind != "text" or "\\" in pattern:
            raise ParameterError(
                "a filter needs a pattern in quotes after LIKE, without a backslash: engines disagree about what that means."
            )
        self.place += 1
        text = wanted(left, "text", "the filter uses LIKE for what is no text; it compares text with a pattern")
        return truth(f"({text.sql} {negation}LIKE {self.dialect.text(pattern)})")

    # Values ---------------------------------------------------------------------------------------------------------------

    def _sum(self) -> Term:
        left = self._product()
        while sign := self._sign({"+", "-"}):
            left = calculated(left, sign, self._product())
        return left

    def _product(self) -> Term:
        left = self._factor()
        while sign := self._sign({"*", "/", "%"}):
            divisor = self._peek()
            if sign != "*" and (divisor[0] != "number" or not float(divisor[1])):
                raise ParameterError("a filter may divide by a number other than 0 only; multiply both sides instead.")
            left = calculated(left, sign, self._factor())
        return left

    def _factor(self) -> Term:
        if sign := self._sign({"+", "-"}):
            return negated(self._deeper(self._factor), sign)
        if self.place >= len(self.tokens):
            raise self._stuck()
        kind, content = self.tokens[self.place]
        self.place += 1
        if kind == "column":
            return column_term(content, self.types[content], self.dialect)
        if kind == "number":
            return number_term(content)
        if kind == "text":
            return text_term(content, self.dialect)
        if content in ("TRUE", "FALSE"):
            return truth(content)
        if content == "NULL":
            return nothing()
        if content == "(":
            inside = self._deeper(self._any)
            self._expect(")")
            return inside
        if content in LITERALS:
            _, text = self.tokens[self.place]
            self.place += 1
            return date_term(text) if content == "DATE" else moment_term(text)
        if content in FUNCTIONS:
            self.place += 1  # its bracket
            return self._function(content, self._deeper(self._list))
        self.place -= 1
        raise self._stuck()

    def _function(self, name: str, given: list[Term]) -> Term:
        if name == "coalesce":
            parts = alike(given)
            return parts[0].with_sql(f"coalesce({', '.join(part.sql for part in parts)})", max(p.bound for p in parts))
        if len(given) != 1:
            raise ParameterError(f"the filter gives {len(given)} values to {name}, which takes one.")
        (one,) = given
        match name:
            case "abs":
                return absolute(one)
            case "ceil" | "floor":
                return rounded(one, name, self.dialect)
            case "length":
                return length_of(one)
            case "trim":
                return trimmed(one, self.dialect)
            case _:
                return part_of_date(one, name, self.dialect)

    def _list(self) -> list[Term]:
        """Values up to the closing bracket."""
        found = [self._any()]
        while self._next(","):
            found.append(self._any())
        self._expect(")")
        return found

    # Tokens ---------------------------------------------------------------------------------------------------------------

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.place] if self.place < len(self.tokens) else ("end", "")

    def _next(self, content: str) -> bool:
        found = self._peek() == ("plain", content)
        self.place += found
        return found

    def _sign(self, signs: frozenset[str] | set[str]) -> str:
        kind, content = self._peek()
        if kind != "plain" or content not in signs:
            return ""
        self.place += 1
        return content

    def _expect(self, content: str) -> None:
        if not self._next(content):
            raise _brackets() if content == ")" and self._peek()[0] == "end" else self._stuck()

    def _deeper(self, part: Callable[[], T]) -> T:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ParameterError(f"the filter has more than {DEEPEST} brackets inside one another; write it flatter.")
        found = part()
        self.depth -= 1
        return found

    def _stuck(self) -> ParameterError:
        return _unreadable(" ".join(content for _, content in self.tokens[self.place :]))


def _brackets() -> ParameterError:
    return ParameterError("the brackets of the filter do not match; close every bracket that is opened.")
