"""Matrices in NumPy's ``.npy`` format, with a list of words in a text file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import FileFormatError
from noisewright.files.arrays import Header, read_header
from noisewright.files.inputs import bounded_lines, check_input, max_memory, open_input

__all__ = ["numpy_matrix"]

NUMBERS = 1 << 20
LONGEST_WORD = 1000
WORD = 100
"""Approximate bytes of memory for a word of the list, however short it is."""
Blocks = Iterator[tuple[list[str], NDArray[np.float32]]]


def numpy_matrix(stream: IO[bytes], words: str | os.PathLike[str], limit: int | None) -> tuple[int, Blocks]:
    """Read a matrix in the format ``.npy``, and a text file with one word on each line."""
    listed = _words(words)
    try:
        header = read_header(stream)
    except ValueError:
        raise FileFormatError(
            "the matrix is not one of numbers in the format .npy of numpy; write it with numpy.save."
        ) from None
    if len(header.shape) != 2 or not header.shape[1] or header.dtype.kind not in "fiu" or header.by_columns:
        raise FileFormatError("the matrix must have one row of numbers for each word, stored row by row.")
    if header.shape[0] != len(listed):
        raise FileFormatError(
            f"the matrix has {header.shape[0]} rows and the list {len(listed)} words; there is one word for each row."
        )
    return len(listed), _rows(stream, header, listed, limit)


def _words(path: str | os.PathLike[str]) -> list[str]:
    try:
        most = max_memory(check_input(path).st_size) // WORD
        listed: list[bytes] = []
        with open_input(path) as file:
            for line in bounded_lines(file, LONGEST_WORD):
                listed.append(line.removesuffix(b"\n").removesuffix(b"\r"))
                if len(listed) > most:
                    raise FileFormatError(f"{os.fspath(path)} has more lines than an embedding has words.")
    except OSError as problem:
        raise FileFormatError(f"{os.fspath(path)} cannot be read: {problem.strerror}.") from None
    if listed:
        listed[0] = listed[0].removeprefix(b"\xef\xbb\xbf")
    return [word.decode() for word in listed]


def _rows(stream: IO[bytes], header: Header, words: list[str], limit: int | None) -> Blocks:
    rows, columns = header.shape
    if columns > NUMBERS:
        raise FileFormatError("the matrix has rows of more numbers than a vector has; check what it is.")
    height = NUMBERS // columns
    for start in range(0, min(rows, limit or rows), height):
        some = words[start : start + height]
        wanted = len(some) * columns * header.dtype.itemsize
        content = stream.read(wanted)
        if len(content) != wanted:
            raise FileFormatError("the matrix is cut short; copy its file again.")
        with np.errstate(over="ignore"):
            yield some, np.frombuffer(content, header.dtype).reshape(-1, columns).astype(np.float32)
