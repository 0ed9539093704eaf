"""Lines of TOML keys, against a writer that remembers where it wrote and against tomllib for what is there at all."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.policy.diagnostics import locate
from noisewright.policy.fields import Path

BARE = st.text("abcXYZ019_-", min_size=1, max_size=4)
ODD = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=5)
KEYS = st.one_of(BARE, ODD)

SCALARS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.sampled_from(
        ["0.1", "1e-3", "-inf", "true", "2024-02-28", "2024-02-28 07:32:00", "2024-02-28T07:32:00Z", "0xff"]
    ),
    st.sampled_from(['"plain # no comment"', "'C:\\'", '"a \\" b = ["', "''", '""', '"\\u00e9]}"']),
    st.sampled_from(
        ['"""one\n] # two\n"""', "'''\n[[x]]\nk = 1\n'''", '"""a ""quoted"" b"""""', "''''x'''''", '"""\\\n  y"""']
    ),
)
COMMENTS = st.sampled_from(["", "", " # [[no]]", "\t# k = 'v"])


def spelled(key: str, literal: bool) -> str:
    if key and all(c in "abcXYZ019_-" for c in key):
        return key
    return f"'{key}'" if literal and "'" not in key else json.dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")


class Writer:
    """Writes TOML and remembers the line of every path."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.text = ""
        self.lines: dict[Path, int] = {}

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def key(self, taken: set[str]) -> str:
        key = self.draw(KEYS)
        while key in taken:
            key += "0"
        taken.add(key)
        return key

    def put(self, text: str) -> None:
        self.text += text

    def gap(self) -> None:
        self.put(self.draw(st.sampled_from(["", " ", "\n", " # ] } \n\t", "\n\n  "])))

    def value(self, path: Path, depth: int) -> None:
        kind = self.draw(st.sampled_from(["scalar", "scalar", "array", "table"])) if depth < 3 else "scalar"
        if kind == "array":
            self.put("[")
            for index in range(size := self.draw(st.integers(0, 3))):
                self.gap()
                self.lines[(*path, index)] = self.line
                self.value((*path, index), depth + 1)
                self.gap()
                if index < size - 1 or self.draw(st.booleans()):
                    self.put(",")
            self.gap()
            self.put("]")
        elif kind == "table":
            self.put("{ ")
            taken: set[str] = set()
            for index in range(self.draw(st.integers(0, 3))):
                self.put(", " if index else "")
                self.pair(path, taken, depth + 1)
            self.put(" }")
        else:
            self.put(self.draw(SCALARS))

    def pair(self, table: Path, taken: set[str], depth: int) -> None:
        path, words = table, []
        for part in range(self.draw(st.integers(1, 2))):
            key = self.key(taken if part == 0 else set())
            path = (*path, key)
            self.lines[path] = self.line
            words.append(spelled(key, self.draw(st.booleans())))
        self.put(self.draw(st.sampled_from([".", " . "])).join(words) + self.draw(st.sampled_from(["=", " = "])))
        self.value(path, depth)

    def table(self, path: Path, header: str, depth: int) -> None:
        """The keys of a table, then the tables inside it."""
        taken: set[str] = set()
        for _ in range(self.draw(st.integers(0, 3))):
            self.put(self.draw(st.sampled_from(["", "", "\n", "# [comment]\n", "  "])))
            self.pair(path, taken, 0)
            self.put(self.draw(COMMENTS) + self.draw(st.sampled_from(["\n", "\r\n"])))
        for _ in range(self.draw(st.integers(0, 2)) if depth < 3 else 0):
            key = self.key(taken)
            name = header + ("." if header else "") + spelled(key, self.draw(st.booleans()))
            if self.draw(st.booleans()):
                self.lines[(*path, key)] = self.line
                self.put(f"[ {name} ]{self.draw(COMMENTS)}\n")
                self.table((*path, key), name, depth + 1)
                continue
            for index in range(self.draw(st.integers(1, 3))):
                self.lines.setdefault((*path, key), self.line)
                self.lines[(*path, key, index)] = self.line
                self.put(f"[[{name}]]{self.draw(COMMENTS)}\n")
                self.table((*path, key, index), name, depth + 1)


def paths(data: Any, path: Path = ()) -> set[Path]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return {path, *(p for key, value in inner for p in paths(value, (*path, key)))}


@given(st.data())
def test_every_key_is_found_where_it_was_written(data: st.DataObject) -> None:
    writer = Writer(data.draw)
    writer.table((), "", 0)
    read = tomllib.loads(writer.text)
    places = locate(writer.text)
    assert {*places.found, ()} == paths(read)
    assert {path: places.line(path) for path in places.found} == writer.lines


@given(st.text(st.sampled_from("abk=[]{}.,\"'#\n 1\\-T:"), max_size=40))
def test_whatever_tomllib_reads_is_found_whole_and_nothing_else_breaks(text: str) -> None:
    places = locate(text)
    assert all(1 <= line <= text.count("\n") + 1 for line, _ in places.found.values())
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert {*places.found, ()} == paths(read)


TEXT = """\
dataset = "clinic"  # one

[unit]
column = '''
patient'''
rows = 3

[[columns]]
name = "age"
within = [
  # public
  0, 120,
]
[[columns]]
"odd key" = { a.b = 1, c = [
  2] }
[columns.by]
x.y = 1
"""


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("dataset",), (1, 1)),
        (("unit",), (3, 1)),
        (("unit", "column"), (4, 1)),
        (("unit", "rows"), (6, 1)),
        (("columns", 0), (8, 1)),
        (("columns", 0, "within"), (10, 1)),
        (("columns", 0, "within", 1), (12, 6)),
        (("columns", 1), (14, 1)),
        (("columns", 1, "odd key", "a", "b"), (15, 15)),
        (("columns", 1, "odd key", "c", 0), (16, 3)),
        (("columns", 1, "by", "x", "y"), (18, 1)),
        (("columns", 1, "epsilon"), (14, 1)),
        (("columns", 7, "epsilon"), (8, 1)),
        (("budget", "epsilon"), (1, 1)),
        ((), (1, 1)),
    ],
)
def test_places_of_an_example(path: Path, place: tuple[int, int]) -> None:
    assert locate(TEXT).place(path) == place


def test_a_table_named_first_inside_another_is_found_at_its_own_header() -> None:
    places = locate("[a.b]\nx = 1\n[a]\ny = 2\n")
    assert places.line(("a",)) == 3
    assert places.line(("a", "b")) == 1


def test_very_deep_lists_do_not_break_it() -> None:
    assert locate("a = 1\nb = " + "[" * 100_000).line(("b",)) == 2
