"""The JSON of ``wink-embeddings``, read in pieces: parsed as a whole it takes nine times its size.

It is one object: some facts, ``"words"`` (a list), and ``"vectors"`` (for each word its numbers, then its norm, then its row).
Words that look like numbers come first among the vectors, as in every object of JavaScript; the row puts them into their place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import FileFormatError
from noisewright.text.embeddings._foreign_text import numbers

__all__ = ["wink"]

BYTES = 1 << 22
MOST_NUMBERS = 1 << 27
"""The numbers of all words are held together, because the file has them in another order: half a gigabyte."""
MOST_ROWS = 1 << 24
"""A row is read in single precision."""
FACTS = 1000
LONGEST_ENTRY = 1 << 20
LONGEST_HEAD = 1 << 24
"""Number of bytes before the vectors: some facts, and the list of words."""
ENTRY = re.compile(rb'[\s,]*("(?:[^"\\]|\\.)*")\s*:\s*\[([^\[\]{}"]*)\]')
BEGIN = re.compile(rb'"vectors"\s*:\s*\{')


def wink(stream: IO[bytes], limit: int | None) -> tuple[int, Iterator[tuple[list[str], NDArray[np.float32]]]]:
    """Return how many words there are, and all of them in the order of their rows."""
    content = b""
    while not (begin := BEGIN.search(content)):
        more = stream.read(BYTES)
        if not more or len(content) > LONGEST_HEAD:
            raise FileFormatError("the JSON has no vectors; it is not that of wink-embeddings.")
        content += more
    size, dimension = (_stated(key, content[:FACTS]) for key in (b"size", b"dimensions"))
    kept = min(size, limit or size)
    if not dimension > 0 or not size > 0 or kept * dimension > MOST_NUMBERS:
        raise FileFormatError("the JSON does not say its size and dimensions, or they are too large to import.")
    return size, _blocks(stream, content[begin.end() :], size, kept, dimension)


def _stated(key: bytes, head: bytes) -> int:
    found = re.search(rb'"%s"\s*:\s*(\d{1,9})\b' % key, head)
    return int(found[1]) if found else 0


def _blocks(
    stream: IO[bytes], content: bytes, size: int, kept: int, dimension: int
) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    words = [""] * kept
    vectors = np.empty((kept, dimension), np.float32)
    seen = 0
    for names, parts in _entries(stream, content):
        found = numbers([part.replace(b",", b" ") for part in parts], len(parts), dimension + 2)
        if found is None:
            raise FileFormatError(f"a vector of the JSON has not {dimension} numbers, its norm and its row.")
        stated = found[:, -1]
        if not ((stated >= 0) & (stated < size)).all():  # false for NaN, too
            raise FileFormatError(f"a vector of the JSON has a row outside of 0 to {size - 1}.")
        rows = stated.astype(np.int64)
        few = rows < kept
        vectors[rows[few]] = found[few, :-2]
        for row, name in zip(rows.tolist(), names, strict=True):
            if row < kept:
                if words[row]:
                    raise FileFormatError(f"two vectors of the JSON have the row {row}.")
                words[row] = _word(name)
        seen += len(names)
    if seen != size or not all(words):
        raise FileFormatError(f"the JSON says {size} words, and has {seen}; it is not whole.")
    yield words, vectors


def _word(name: bytes) -> str:
    try:
        return str(json.loads(name))
    except UnicodeDecodeError:
        raise
    except ValueError:
        raise FileFormatError("a word of the JSON is not spelled as JSON spells text; copy the file again.") from None


def _entries(stream: IO[bytes], content: bytes) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Words, still in JSON, and their numbers with commas, in pieces."""
    while True:
        place, names, parts = 0, [], []
        while found := ENTRY.match(content, place):
            names.append(found[1])
            parts.append(found[2])
            place = found.end()
        if names:
            yield names, parts
        content = content[place:]
        if re.match(rb"\s*\}", content):
            return
        more = stream.read(BYTES)
        if not more or len(content) > LONGEST_ENTRY + BYTES:
            raise FileFormatError("the vectors of the JSON break off; copy the file again.")
        content += more
