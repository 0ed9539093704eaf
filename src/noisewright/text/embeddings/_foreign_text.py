"""Vectors in text, and in the binary form of word2vec: a word, a space, and its numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import IO

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import FileFormatError
from noisewright.files.inputs import bounded_lines
from noisewright.text.embeddings._layout import MOST_DIMENSIONS

__all__ = ["binary", "numbers", "text"]

BYTES, LINES = 1 << 21, 1 << 15
"""Number of bytes and of lines that are parsed together."""
LONGEST_LINE = 1 << 20
LONGEST_WORD = 1000


def text(stream: IO[bytes], dimension: int | None) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    """Lines of a word and its numbers; without a stated dimension, the first line has it."""
    line_number = 1 if dimension is None else 2
    every = bounded_lines(stream, LONGEST_LINE)
    while lines := _block(every):
        words, parts = [], []
        for line in lines:
            bare = line.rstrip()
            if not bare:
                raise FileFormatError(f"line {line_number} is empty; every line has a word and its vector.")
            if dimension is None:
                dimension = bare.count(b" ")
            if not 1 <= dimension <= MOST_DIMENSIONS:
                raise FileFormatError(f"a vector has between 1 and {MOST_DIMENSIONS} numbers, not {dimension}.")
            # A word may hold spaces, and its numbers never do.
            word, *vector = bare.rsplit(b" ", dimension) if bare.count(b" ") > dimension else bare.split(b" ", 1)
            if bare.count(b" ") < dimension:
                raise FileFormatError(
                    f"line {line_number} has a vector of another length than {dimension}; all have the same."
                )
            words.append(word.decode())
            parts.append(b" ".join(vector))
            line_number += 1
        found = numbers(parts, len(parts), dimension or 0)
        if found is None:
            bad = next(i for i, part in enumerate(parts) if numbers([part], 1, dimension or 0) is None)
            raise FileFormatError(
                f"line {line_number - len(parts) + bad} has {dimension} fields after its word that are not all numbers; "
                "repair or remove it."
            )
        yield words, found


def _block(lines: Iterator[bytes]) -> list[bytes]:
    """Return the next lines, up to a number of bytes and of lines."""
    found, size = [], 0
    for line in islice(lines, LINES):
        found.append(line)
        size += len(line)
        if size >= BYTES:
            break
    return found


def numbers(parts: list[bytes], rows: int, columns: int) -> NDArray[np.float32] | None:
    """A matrix from numbers in text with a space between them; None if their number differs."""
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("ignore", DeprecationWarning)  # an unreadable value ends the reading: the count shows it
        try:
            found = np.fromstring(b" ".join(parts), dtype=np.float64, sep=" ")
        except ValueError:
            return None
        return found.astype(np.float32).reshape(rows, columns) if found.size == rows * columns else None


def binary(stream: IO[bytes], dimension: int) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
    """Words, each followed by a space and its numbers in little-endian single precision; word2vec ends each with a newline."""
    if not 1 <= dimension <= MOST_DIMENSIONS:
        raise FileFormatError(f"a vector has between 1 and {MOST_DIMENSIONS} numbers, not {dimension}.")
    width, kept = 4 * dimension, b""
    while True:
        content = kept + stream.read(max(BYTES, 2 * width))
        place, words, parts = 0, [], []
        while (space := content.find(b" ", place)) >= 0 and space + 1 + width <= len(content):
            words.append(content[place:space].lstrip(b"\n").decode())
            parts.append(content[space + 1 : space + 1 + width])
            place = space + 1 + width
        if len(content) - place > LONGEST_WORD + width + 2:
            raise FileFormatError("a word is longer than any word; this is not the binary form of word2vec.")
        if not words:
            if content.strip(b"\n"):
                raise FileFormatError("the file is cut short within a vector; copy it again.")
            return
        yield words, np.frombuffer(b"".join(parts), "<f4").reshape(-1, dimension)
        kept = content[place:]
