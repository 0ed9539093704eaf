"""Filters of queries: a condition on one row, written in plain SQL.

The sensitivity of a filtered answer rests on one fact: whether a row counts depends on *that row alone*. A condition that
looks at other rows (a subquery, a window), at the position of a row or at chance would break it. So the words of a filter are
checked against what is known to look at one row only: columns of the table, literals, comparisons, ``AND OR NOT IN BETWEEN LIKE
IS NULL``, arithmetic, and a few functions. Names are then quoted in the way of the engine that runs it.

>>> from noisewright.release.dialects import DUCKDB
>>> found = parse_filter("age >= 18 AND ward NOT IN ('A', 'it''s')", ["age", "ward"])
>>> print(found.sql(DUCKDB))
"age" >= 18 AND "ward" NOT IN ( 'A' , 'it''s' )
>>> parse_filter("age > (SELECT avg(age) FROM t)", ["age"])
Traceback (most recent call last):
noisewright.core.errors.ParameterError: the filter uses SELECT, which is neither a column nor a word that filters may use: a \
filter looks at one row alone, with its columns, numbers, 'text', AND OR NOT IN BETWEEN LIKE IS NULL, and the functions abs, \
ceil, coalesce, day, floor, length, lower, month, trim, upper, year.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from noisewright.core.errors import ParameterError
from noisewright.release.dialects import Dialect

__all__ = ["Filter", "parse_filter"]

WORDS = frozenset(["AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS", "NULL", "TRUE", "FALSE"])
LITERALS = frozenset(["DATE", "TIMESTAMP"])
FUNCTIONS = frozenset(["abs", "ceil", "coalesce", "day", "floor", "length", "lower", "month", "trim", "upper", "year"])

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


@dataclass(frozen=True)
class Filter:
    """A checked condition: tokens of a kind (``text``, ``column`` or ``plain``) and their content."""

    tokens: tuple[tuple[str, str], ...]

    def sql(self, dialect: Dialect) -> str:
        """The condition as that engine writes it."""
        write: dict[str, Callable[[str], str]] = {"text": dialect.text, "column": dialect.quote, "plain": str}
        return " ".join(write[kind](content) for kind, content in self.tokens)


def parse_filter(condition: str, columns: Iterable[str]) -> Filter:
    """The condition in tokens; what may look beyond its row is refused."""
    known = set(columns)
    if not isinstance(condition, str) or not condition.strip() or len(condition) > LONGEST:
        raise ParameterError(f"a filter must be a condition such as age >= 18, of at most {LONGEST} characters.")
    if "--" in condition or "/*" in condition or ";" in condition:
        raise ParameterError("a filter has no comments and no semicolons; write one condition.")
    tokens: list[tuple[str, str]] = []
    place, depth = 0, 0
    text = condition.rstrip()
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            shown = text[place:].strip()[:20]
            raise ParameterError(f"the filter cannot be read at {shown!r}; write a condition such as age >= 18.")
        place, kind = found.end(), str(found.lastgroup)
        content = found[kind]
        after = text[place:].lstrip()[:1]
        if kind == "text":
            tokens.append(("text", content[1:-1].replace("''", "'")))
        elif kind == "quoted":
            tokens.append(("column", _column(content[1:-1].replace(2 * content[0], content[0]), known)))
        elif kind == "word":
            tokens.append(_word(content, after, known))
        else:
            depth += {"(": 1, ")": -1}.get(content, 0)
            if depth < 0:
                break
            tokens.append(("plain", content))
    if depth:
        raise ParameterError("the brackets of the filter do not match; close every bracket that is opened.")
    _check_sides(tokens)
    return Filter(tuple(tokens))


def _word(word: str, after: str, known: set[str]) -> tuple[str, str]:
    """A keyword, a function before a bracket, the type of a literal before a text, or else a column."""
    if word.upper() in WORDS:
        return "plain", word.upper()
    if (after == "'" and word.upper() in LITERALS) or (after == "(" and word.lower() in FUNCTIONS):
        return "plain", word.upper() if after == "'" else word.lower()
    if word in known and after != "(":
        return "column", word
    raise ParameterError(
        f"the filter uses {word}, which is neither a column nor a word that filters may use: a filter looks at one row alone, "
        "with its columns, numbers, 'text', AND OR NOT IN BETWEEN LIKE IS NULL, and the functions "
        f"{', '.join(sorted(FUNCTIONS))}."
    )


def _column(name: str, known: set[str]) -> str:
    if name not in known:
        raise ParameterError(f"the filter names the column {name!r}, which the table does not have.")
    return name


def _check_sides(tokens: list[tuple[str, str]]) -> None:
    """What the two engines would not do alike: dividing by something that can be 0, and patterns with a backslash."""
    for (kind, content), (next_kind, after) in zip(tokens, [*tokens[1:], ("end", "")], strict=True):
        if kind != "plain":
            continue
        if content in ("/", "%"):
            number = next_kind == "plain" and bool(re.fullmatch(r"[\d.]+([eE][-+]?\d{1,3})?", after))
            if not number or Fraction(after) == 0:
                raise ParameterError("a filter may divide by a number other than 0 only; multiply both sides instead.")
        if content == "LIKE" and next_kind == "text" and "\\" in after:
            raise ParameterError("a pattern after LIKE may have no backslash: engines disagree about what it means.")
