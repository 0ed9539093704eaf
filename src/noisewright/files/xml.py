"""Read XML as a stream of events, without a tree, in memory that does not grow with the document.

There is no reason for a document type, deep nesting, thousands of different names or endless tags in a table, so such documents
are rejected: entities, names and open tags are what a parser keeps.

>>> import io
>>> [(sign, name) for sign, name, _ in events(io.BytesIO(b"<row><c>1</c></row>"), "a.xlsx")]
[('<', 'row'), ('<', 'c'), ('', '1'), ('>', 'c'), ('>', 'row')]
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO, Any
from xml.parsers import expat

from noisewright.core.errors import DataError

__all__ = ["END", "START", "TEXT", "Event", "events", "text_of"]

START, END, TEXT = "<", ">", ""
Event = tuple[str, str, dict[str, str]]
"""A sign, the local name of an element or a piece of text, and attributes at a start."""
CHUNK = 1 << 16
LONGEST_TAG = 1 << 20
LONGEST_TEXT = 1 << 22
MOST_DEEP = 100
MOST_NAMES = 1000
NOTHING: dict[str, str] = {}


def events(stream: IO[bytes], called: str) -> Iterator[Event]:
    """Yield what is in a document; ``called`` is the name of its file in messages."""
    found: list[Event] = []
    locally: dict[str, str] = {}
    others: set[str] = set()

    def start(name: str, attributes: dict[str, str]) -> None:
        local = locally.get(name)
        if local is None:
            local = locally[name] = name.rpartition("}")[2]
        others.update(attributes)
        found.append((START, local, attributes))

    def refuse(*_: object) -> None:
        raise ValueError("a table has no document type")

    parser: Any = expat.ParserCreate(None, "}", None)  # the last: names are not kept
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: found.append((END, locally[name], NOTHING))
    parser.CharacterDataHandler = lambda text: found.append((TEXT, text, NOTHING))
    parser.StartDoctypeDeclHandler = refuse
    deep = since = 0
    while chunk := stream.read(CHUNK):
        parser.Parse(chunk, False)
        since = 0 if found else since + len(chunk)
        for event in found:
            deep += (event[0] == START) - (event[0] == END)
        if since > LONGEST_TAG or deep > MOST_DEEP or len(locally) + len(others) > MOST_NAMES:
            raise DataError(f"{called} has XML that no spreadsheet writes; save it as CSV.")
        yield from found
        found.clear()
    parser.Parse(b"", True)
    yield from found


def text_of(inside: Iterator[Event], called: str, only: Collection[str] = (), never: Collection[str] = ()) -> str:
    """Read the text up to the end of an element: all of it, or that of elements of some names, which are in no others."""
    pieces: list[str] = []
    size, deep, taken, shut = 0, 1, not only, 0
    for sign, name, _ in inside:
        if sign == TEXT:
            if taken and not shut:
                pieces.append(name)
                size += len(name)
                if size > LONGEST_TEXT:
                    raise DataError(f"{called} has a text of more than {LONGEST_TEXT >> 20} MB; save it as CSV.")
            continue
        if sign == START:
            deep += 1
            taken = taken or name in only
            shut += name in never
        else:
            deep -= 1
            if not deep:
                break
            taken = not only or (taken and name not in only)
            shut -= name in never
    return "".join(pieces)
