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
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Path", "Places", "locate"]

Path = tuple[str | int, ...]
"""Keys and positions in arrays, from the outside in: ``("columns", 2, "epsilon")``."""


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
