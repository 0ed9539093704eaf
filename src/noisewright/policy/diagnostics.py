r"""Positions of keys in a TOML file, so that an error can name the line.

The standard library reads TOML and forgets where each value stood. This module walks the same text once more and remembers
the place of every key, table and array element, by the path under which it is found in the data that ``tomllib`` returns:

>>> places = locate('dataset = "clinic"\n[[columns]]\nname = "age"\nwithin = [\n  0,\n  120,\n]\n')
>>> places.line(("columns", 0, "name")), places.line(("columns", 0, "within", 1))
(3, 6)

A path that is not in the text, such as that of a key that is missing, is found at the nearest table around it:

>>> places.line(("columns", 0, "epsilon"))
2

The text must be valid TOML, that is, ``tomllib`` has read it; of a text that is not, only the part before the fault is found.

>>> report = Report("clinic.toml", {"budget": {"epsilon": -1}}, locate("[budget]\nepsilon = -1"))
>>> report.sentence(("budget", "epsilon"), "must be greater than 0; write a number such as 0.5")
'clinic.toml, line 2: budget.epsilon = -1 must be greater than 0; write a number such as 0.5.'

>>> age = {"name": "age", "mechanism": "laplace", "within": [PLACEHOLDER, PLACEHOLDER]}
>>> sex = {"name": "sex", "mechanism": "randomised-response", "categories": [PLACEHOLDER]}
>>> for path, missing in unfilled({"columns": [age, sex]}):
...     print(path, missing)
('columns', 0, 'within') the range of 'age', such as within = [0, 120]
('columns', 1, 'categories') the categories of 'sex', such as categories = ['yes', 'no']
"""

from __future__ import annotations

import datetime
import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from noisewright._utils.validation import did_you_mean, meant
from noisewright.exceptions import PolicyError
from noisewright.mechanisms.registry import registry
from noisewright.policy.fields import Path, Problem
from noisewright.policy.parameters import accepts

__all__ = [
    "PLACEHOLDER",
    "Places",
    "Report",
    "all_problems",
    "locate",
    "path_text",
    "problems_of",
    "read_toml",
    "spell",
    "still_to_fill",
    "unfilled",
]


@dataclass(frozen=True)
class Places:
    """Lines and columns, counted from 1, of everything in a TOML text; looked for when a place is first asked for."""

    text: str

    @cached_property
    def found(self) -> Mapping[Path, tuple[int, int]]:
        """The place of every path that is in the text."""
        walk = _Walk(self.text)
        # Findings before a fault are right, and tomllib reports the fault itself.
        with suppress(_NotTomlError, RecursionError, ValueError):
            walk.document()
        return walk.places()

    def line(self, path: Path) -> int:
        """Return the line of ``path``, or of the nearest table or array around it."""
        return self.place(path)[0]

    def place(self, path: Path) -> tuple[int, int]:
        """Return line and column of ``path``, or of the nearest table or array around it."""
        path = tuple(path)
        while path and path not in self.found:
            path = path[:-1]
        return self.found.get(path, (1, 1))


def locate(text: str) -> Places:
    """The place of every key, table and array element of a TOML text."""
    return Places(text)


class _NotTomlError(Exception):
    """The walk met something that valid TOML does not hold."""


_SPACE = r"[ \t]*"
_GAP = r"(?:[ \t\r\n]+|#[^\n]*)*"
_BARE_KEY = r"[A-Za-z0-9_-]+"
_BASIC = r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
_LITERAL = r"'[^'\n]*'"
# A closing delimiter may be followed by up to two more quotes, which belong to the text.
_LONG_BASIC = r'"""(?:[^"\\]+|\\[\s\S]|"{1,2}(?!"))*"{3,5}'
_LONG_LITERAL = r"'''(?:[^']+|'{1,2}(?!'))*'{3,5}"
# A number, a boolean, or a date, which may have a blank before its time.
_PLAIN = r"\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]+|[^\s,\]}#]+"


class _Walk:
    """One pass over a text, from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.offsets: dict[Path, int] = {}
        self.lengths: dict[Path, int] = {}  # how many tables each array of tables has so far

    def places(self) -> dict[Path, tuple[int, int]]:
        """Offsets as lines and columns."""
        starts = [0, *(m.end() for m in re.finditer("\n", self.text))]
        lines = {path: bisect_right(starts, offset) for path, offset in self.offsets.items()}
        return {path: (line, self.offsets[path] - starts[line - 1] + 1) for path, line in lines.items()}

    def document(self) -> None:
        table: Path = ()
        self.take(_GAP)
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                table = self.header("[[", "]]")
            elif self.text.startswith("[", self.at):
                table = self.header("[", "]")
            else:
                self.pair(table)
            self.take(_GAP)

    def header(self, opening: str, closing: str) -> Path:
        """``[a.b]`` or ``[[a.b]]``: the path of the table that the lines below it belong to."""
        start = self.at
        self.at += len(opening)
        keys = self.keys()
        self.expect(closing)
        path: Path = ()
        for depth, key in enumerate(keys, 1):
            path = (*path, key)
            if depth == len(keys) and opening == "[[":
                self.offsets.setdefault(path, start)
                self.lengths[path] = self.lengths.get(path, 0) + 1
            if path in self.lengths:  # inside an array of tables, a name means its last table
                path = (*path, self.lengths[path] - 1)
            self.offsets.setdefault(path, start)
        if opening == "[":
            self.offsets[path] = start  # a table named first by a table inside it is better found at its own header
        return path

    def pair(self, table: Path) -> None:
        """``key = value``, with a dotted key for tables in between."""
        start = self.at
        path = table
        for key in self.keys():
            path = (*path, key)
            self.offsets.setdefault(path, start)
        self.expect("=")
        self.take(_SPACE)
        self.value(path)

    def keys(self) -> list[str]:
        found = [self.key()]
        while self.peek(".", _SPACE):
            found.append(self.key())
        return found

    def key(self) -> str:
        self.take(_SPACE)
        for pattern in (_BASIC, _LITERAL, _BARE_KEY):
            written = re.compile(pattern).match(self.text, self.at)
            if written:
                self.at = written.end()
                return _spelled(written[0])
        raise _NotTomlError

    def value(self, path: Path) -> None:
        if self.text.startswith("[", self.at):
            self.array(path)
        elif self.text.startswith("{", self.at):
            self.inline_table(path)
        else:
            for pattern in (_LONG_BASIC, _LONG_LITERAL, _BASIC, _LITERAL, _PLAIN):
                if self.take(pattern):
                    return
            raise _NotTomlError

    def array(self, path: Path) -> None:
        self.at += 1
        index = 0
        while not self.peek("]", _GAP):
            self.offsets[(*path, index)] = self.at
            self.value((*path, index))
            index += 1
            if not self.peek(",", _GAP):
                self.take(_GAP)
                self.expect("]")
                return

    def inline_table(self, path: Path) -> None:
        self.at += 1
        while not self.peek("}", _GAP):
            self.pair(path)
            if not self.peek(",", _GAP):
                self.take(_GAP)
                self.expect("}")
                return

    def take(self, pattern: str) -> str:
        """Take the match of ``pattern`` here, which is then behind us; empty if it does not match."""
        found = re.compile(pattern).match(self.text, self.at)
        if not found:
            return ""
        self.at = found.end()
        return found[0]

    def peek(self, sign: str, gap: str) -> bool:
        """Return whether ``sign`` comes after a gap; both are then behind us, or else only the gap."""
        self.take(gap)
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def expect(self, sign: str) -> None:
        if not self.peek(sign, _SPACE):
            raise _NotTomlError


def _spelled(key: str) -> str:
    """The name that a key writes; escapes are read by the reader that reads them for the data."""
    if key[0] == "'":
        return key[1:-1]
    if key[0] != '"':
        return key
    return key[1:-1] if "\\" not in key else str(tomllib.loads(f"k={key}")["k"])


# Problems -----------------------------------------------------------------------------------------------------------------
#
# Sentences about problems of a policy: the file, the line, the key, its valid values and a correction.


Keys = Callable[[Path], Sequence[str]]
"""The keys that the table at a path may have."""


@dataclass(frozen=True)
class Report:
    """A policy as it was given, to say where something in it is wrong."""

    name: str
    data: Any
    places: Places | None

    def sentence(self, path: Path, told: str) -> str:
        """One sentence about the key at ``path``, which ``told`` ends."""
        end = "" if told.endswith("?") else "."
        return f"{self.where(path)}: {_subject(self.data, path)} {told}{end}"

    def where(self, path: Path) -> str:
        """The file, and the line where it is known."""
        return self.name if self.places is None else f"{self.name}, line {self.places.line(path)}"

    def error(self, problems: Iterable[Problem]) -> PolicyError:
        """All problems as one error, in the order of the lines."""
        order = self.places.place if self.places is not None else (lambda path: (0, 0))
        told = [self.sentence(path, words) for path, words in sorted(problems, key=lambda p: order(p[0]))]
        return PolicyError(*told)


def problems_of(error: ValidationError, keys: Keys) -> list[Problem]:
    """Return the findings of Pydantic in our words."""
    found: list[Problem] = []
    for detail in error.errors(include_url=False, include_input=False):
        path: Path = tuple(detail["loc"])
        context = detail.get("ctx", {})
        if detail["type"] == "wrong":
            found += [((*path, *inner), told) for inner, told in context["problems"]]
        elif detail["type"] == "extra_forbidden":
            found.append((path, _misplaced(path, keys) or unknown(str(path[-1]), keys(path[:-1]))))
        else:
            found.append((path, _words(detail["type"], path, context, detail["msg"])))
    return found


def _misplaced(path: Path, keys: Keys) -> str | None:
    """Return the message about a key of the policy itself in one of its tables, which in TOML goes on to the next one."""
    if len(path) < 2 or path[-1] not in keys(()):
        return None
    return "belongs to the policy itself; write it at the top of the file, before the first line in square brackets"


def unknown(key: str, known: Sequence[str]) -> str:
    """Return the message about a key that is not known."""
    near = meant(key, known)
    return f"is not a known key; {did_you_mean(key, known) if near is None else f'did you mean {near}?'}"


def _words(kind: str, path: Path, context: dict[str, Any], message: str) -> str:
    last = str(path[-1]) if path else "the policy"
    if kind == "missing":
        return f"is missing; write {_EXAMPLES.get(last, f'{last} = ...')}"
    if kind == "literal_error":
        return f"must be {context['expected']}".replace("'", '"')
    if kind == "tuple_type":
        return f"must be a list of tables; write [[{last}]] with two brackets on each side"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        listed = path and isinstance(path[-1], int)
        header = f"[[{path[0]}]]" if listed else f"[{last}]"
        return f"must be a table; write {header} and its keys on the lines below"
    if kind == "invalid_key":
        return "is a key that is not text; write keys as text"
    return f"is refused: {message[:1].lower()}{message[1:]}"


_EXAMPLES = {
    "dataset": 'dataset = "clinic"',
    "budget": "[budget] and below it epsilon = 3",
    "epsilon": "epsilon = 1",
    "name": 'name = "age"',
    "aggregate": 'aggregate = "count"',
}


def _subject(data: Any, path: Path) -> str:
    """The key, with its value where that is short."""
    if not path:
        return "the policy"
    here: Any = data
    for step in path:
        try:
            here = here[step]
        except (LookupError, TypeError):
            return path_text(path)
    value = show(here)
    return path_text(path) if value is None else f"{path_text(path)} = {value}"


def path_text(path: Path) -> str:
    """``columns[1].epsilon``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            plain = re.fullmatch(r"[A-Za-z0-9_-]+", step)
            text += ("." if text else "") + (step if plain else _quoted(step))
    return text


def show(value: Any) -> str | None:
    """Return a value as it may stand in a sentence; None for a long one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 128 else None
    if isinstance(value, (float, Decimal, datetime.date, datetime.time)):
        return str(value)[:40]
    if isinstance(value, Fraction):
        return spell(value)
    if isinstance(value, (list, tuple)) and 0 < len(value) <= 3:
        parts = [show(part) for part in value if not isinstance(part, (list, tuple))]
        return None if None in parts or len(parts) < len(value) else f"[{', '.join(map(str, parts))}]"
    return "[]" if isinstance(value, (list, tuple)) and not value else None


def _quoted(text: str) -> str:
    shown = text if len(text) <= 40 else text[:40] + "..."
    return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown) + '"'


def spell(value: Fraction) -> str:
    """An exact number as a decimal where it is one of few digits, else as a fraction."""
    if value.numerator.bit_length() > 128 or value.denominator.bit_length() > 128:
        return "a number of very many digits"
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        if Fraction(exact) == value:
            return f"{exact.normalize():f}"
    return str(value)


MOST_DOTS = 64
_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = re.compile(rf"(?<![A-Za-z0-9_-]){_KEY}(?:[ \t]*\.[ \t]*{_KEY}){{{MOST_DOTS + 1}}}")


def read_toml(text: str, name: str) -> tuple[dict[str, Any], Places]:
    """The data of a TOML text, with decimals as they were written, and where everything stands."""
    if deep := _DOTTED.search(text):  # the reader of TOML takes time with the square of its length
        line = text.count("\n", 0, deep.start()) + 1
        raise PolicyError(f"{name}, line {line}: a key has more than {MOST_DOTS} dots; a policy needs three levels.")
    try:
        return tomllib.loads(text, parse_float=_decimal), locate(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(_syntax(str(error), text, name)) from None
    except RecursionError:
        raise PolicyError(f"{name}: lists or tables are nested too deeply; a policy needs three levels.") from None
    except ValueError:  # Python's limit on the digits of an integer
        long = re.search(r"[\d_]{4000}", text)
        line = text.count("\n", 0, long.start() if long else 0) + 1
        raise PolicyError(f"{name}, line {line}: a number has thousands of digits; write a shorter one.") from None


def _decimal(written: str) -> Decimal:
    try:
        return Decimal(written)
    except InvalidOperation:  # an exponent that no computer holds; refused wherever a number is read
        return Decimal("nan")


_SYNTAX = [
    ("Expected '=' after a key", "a key must be followed by an equals sign; write key = value"),
    ("Expected newline or end of document", "something follows a complete value; write one key = value on a line"),
    ("Cannot overwrite a value", "a key is given twice, or a table has the name of a value; write each key once"),
    ("Cannot declare", "a table is given twice; write each [table] once, and [[columns]] for one of many"),
    (
        "Cannot mutate immutable namespace",
        "a table that is complete already is extended; write all its keys in one place",
    ),
    ("Duplicate inline table key", "a key is given twice between braces; write each key once"),
    ("Invalid statement", 'a line must be key = value, [table] or [[columns]]; text values need quotes, such as "age"'),
    ("Invalid initial character for a key", "a key is missing or has a strange character; put such a key in quotes"),
    ("Invalid value", 'a value is missing or not understood; text needs quotes, such as "age"'),
    ("Unterminated string", "a text is not closed; add the missing quote"),
    ("Illegal character '\\n'", "a text is not closed on its line; add the missing quote"),
    ("Unescaped '\\'", "a backslash in a text begins an unknown sign; write two backslashes, or use single quotes"),
    ('Expected "\'"', "a text is not closed; add the missing quote"),
    ("Unclosed array", "a list is not closed; add the missing bracket ]"),
    ("Unclosed inline table", "a table between braces is not closed; add the missing brace }"),
    ("at the end of a table declaration", "the name of a table is not closed; write [name]"),
    ("at the end of an array declaration", "the name of a table is not closed; write [[name]]"),
    ("invalid character", "there is a control character; remove it"),
    ("Illegal character", "there is a control character; remove it"),
    ("Invalid date or datetime", "a date does not exist; write it like 2024-02-28"),
]
"""Messages of the reader of TOML, and ours."""


def _syntax(message: str, text: str, name: str) -> str:
    place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", message)
    line = int(place[1]) if place and place[1] else text.rstrip().count("\n") + 1
    said = message[: place.start()] if place else message
    words = next(
        (ours for theirs, ours in _SYNTAX if theirs in said), f"{said[:1].lower()}{said[1:]}; correct the line"
    )
    return f"{name}, line {line}: this is not TOML: {words}."


Validate = Callable[[Any], Any]

DECIDING = ("keep", "mechanism", "within", "values", "bins")
"""Without one of these keys, another one may only seem to be missing."""


def all_problems(data: dict[str, Any], error: ValidationError, validate: Validate, keys: Keys) -> list[Problem]:
    """Return the problem of ``error``, and the problems next to it."""
    found = problems_of(error, keys)
    fresh, cut = found, set[Path]()
    for _ in range(4):
        owners = {_owner(path) for path, told in fresh if not _absent(told)} - cut
        if not owners:
            break
        cut |= owners
        hidden = {path[:-1] for path in cut if path[-1] in DECIDING}
        fresh = [
            (path, told)
            for path, told in _again(_without(data, cut), validate, keys)
            if not (_absent(told) and path[:-1] in hidden) and _owner(path) not in cut
        ]
        found = [*found, *(problem for problem in fresh if problem not in found)]
    whole = _again(_repaired(_without(data, cut), found), validate, keys)
    told_of = {path for path, _ in found}
    return [*found, *(problem for problem in whole if problem[0] not in told_of and not _absent(problem[1]))]


def _again(data: Any, validate: Validate, keys: Keys) -> list[Problem]:
    try:
        validate(data)
    except ValidationError as error:
        return problems_of(error, keys)
    return []


def _absent(told: str) -> bool:
    return told.startswith("is missing")


def _owner(path: Path) -> Path:
    """The key of a table that a problem belongs to: ``columns[1].within`` for ``columns[1].within[0]``."""
    return path[:3] if len(path) > 1 and isinstance(path[1], int) else path[:2]


def _without(data: Any, cut: set[Path]) -> Any:
    """A copy of nested data without the keys at some paths; elements of lists stay, so that positions do."""
    gone = {path[0] for path in cut if len(path) == 1}

    def rest(step: Any) -> set[Path]:
        return {path[1:] for path in cut if len(path) > 1 and path[0] == step}

    if isinstance(data, dict):
        return {key: _without(value, rest(key)) for key, value in data.items() if key not in gone}
    if isinstance(data, (list, tuple)) and cut:
        return [_without(value, rest(position)) for position, value in enumerate(data)]
    return data


def _repaired(data: dict[str, Any], found: list[Problem]) -> dict[str, Any]:
    """The policy with a harmless part in the place of each part that has a problem."""
    broken = {path[:2] if path[:1] in (("columns",), ("queries",)) else path[:1] for path, _ in found}
    repaired = {"dataset": "any", **{key: value for key, value in data.items() if (key,) not in broken}}
    if ("unit",) in broken:
        repaired["unit"] = {"column": "any"}
    for kind, harmless in (("columns", {"keep": True}), ("queries", {"aggregate": "count", "epsilon": 1})):
        parts = repaired.get(kind, ())
        repaired[kind] = [
            {**harmless, "name": _name(part, position)} if (kind, position) in broken else part
            for position, part in enumerate(parts if isinstance(parts, (list, tuple)) else ())
        ]
    if "budget" not in repaired or any(path[0] == "queries" for path in broken if path):
        repaired["budget"] = {"epsilon": 1e300, "delta": 0.999}
    return repaired


def _name(part: Any, position: int) -> Any:
    """The name of a part that has a problem, which may be that of another part; or one that nothing else has."""
    given = part.get("name") if isinstance(part, dict) else None
    return given if given else f"part {position} of the policy"


# Placeholders -------------------------------------------------------------------------------------------------------------
#
# Places of a starting policy that only its owner can fill in, and the sentence that asks for them.


PLACEHOLDER = "FILL IN"

_WHAT = {"within": "the range", "protect": "the protected distance", "reference": "a public place near all places"}
_PLACEHOLDER_EXAMPLES = {"protect": "protect = 5"}
MOST_NAMED = 2


def unfilled(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Return the places still to be filled in, and their content in words."""
    columns = data.get("columns")
    for place, column in enumerate(columns if isinstance(columns, (list, tuple)) else ()):
        if isinstance(column, Mapping):
            for key, value in column.items():
                if key != "name" and _waits(value):
                    what = _WHAT.get(key, f"the {key}")
                    example = _PLACEHOLDER_EXAMPLES.get(key) or _example(key, column.get("mechanism"))
                    such = example.replace('"', "'")
                    yield ("columns", place, key), f"{what} of {column.get('name')!r}, such as {such}"


def still_to_fill(name: str, places: Places | None, found: list[Problem]) -> PolicyError:
    """One error for all places, with their lines."""

    def line(path: Path) -> str:
        return "" if places is None else f" in line {places.line(path)}"

    (first, words), others = found[0], found[1:]
    rest = [f"{told.partition(', such as')[0]}{line(path)}" for path, told in others[:MOST_NAMED]]
    rest += [f"{len(others) - MOST_NAMED} more"] if len(others) > MOST_NAMED else []
    also = f"; so are {', '.join(rest)}" if len(rest) > 1 else f"; so is {rest[0]}" if rest else ""
    where = name if places is None else f"{name}, line {places.line(first)}"
    return PolicyError(
        f"{where}: still to be filled in: {words}{also}; write what is known without looking at the data in the place of "
        f'every "{PLACEHOLDER}", or remove the column.'
    )


def _example(key: str, mechanism: object) -> str:
    known = isinstance(mechanism, str) and mechanism in registry
    return accepts(str(mechanism)).example(key) if known else f"{key} = ..."


def _waits(value: Any) -> bool:
    values = value[:2] if isinstance(value, (list, tuple)) else (value,)
    return any(isinstance(one, str) and one == PLACEHOLDER for one in values)
