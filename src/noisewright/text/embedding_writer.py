"""Making the file of an embedding, from vectors that come in blocks; little more than the words is held in memory.

The step is the smallest power of two for which every rounded vector has a squared norm of at most 2^22 in code units.
It is known when the last vector has come, so the vectors wait in a file without a name next to the one to be written.
Rounding moves a vector by at most ``step * sqrt(dimension) / 2``; how far it really moved them is reported
(:class:`Rounding`).

>>> import numpy as np, pathlib, tempfile
>>> path = pathlib.Path(tempfile.mkdtemp(), "three.nwe")
>>> with EmbeddingWriter(path, dimension=2, licence="CC0-1.0") as writer:
...     writer.add(["up", "down"], np.array([[0, 1], [0, -1]]))
...     writer.add(["left"], np.array([[-1, 0]]))
>>> writer.embedding, writer.rounding.largest
(Embedding('three', 3 words, 2 dimensions, step 2^-11), 0.0)
"""

from __future__ import annotations

import math
import os
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.io.atomic import file_path, whole_file
from noisewright.text.embedding import (
    ALIGN,
    BLOCK,
    EXPONENTS,
    MOST_DIMENSIONS,
    MOST_WORDS,
    NORM_LIMIT,
    Embedding,
    Header,
    key_of,
)

__all__ = ["EmbeddingWriter", "Rounding", "write_embedding"]


LONGEST_WORD = 1000
"""Maximum length of a word in bytes; a longer one shows a file of another kind."""


@dataclass(frozen=True)
class Rounding:
    """Distances by which vectors moved when they were rounded to the step."""

    largest: float
    median: float
    typical_norm: float
    """The median norm of the vectors, to compare with."""
    repeated: int
    """Number of rows with the code vector of an earlier one: no mechanism of this package distinguishes these words."""


def write_embedding(
    path: str | os.PathLike[str],
    words: Sequence[str],
    vectors: ArrayLike,
    *,
    name: str = "",
    licence: str = "",
    source: str = "",
) -> Embedding:
    """Write an embedding from words and a matrix with one row for each, and open it."""
    matrix = np.asanyarray(vectors)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        raise ParameterError("the vectors of an embedding are a matrix of numbers, one row for each word.")
    if len(words) != len(matrix):
        raise ParameterError(f"there are {len(words)} words and {len(matrix)} vectors; give one vector for each word.")
    height = max(1, BLOCK // max(1, matrix.shape[1]))
    with EmbeddingWriter(path, matrix.shape[1], name=name, licence=licence, source=source) as writer:
        for start in range(0, len(words), height):
            writer.add(words[start : start + height], matrix[start : start + height])
    return writer.embedding


class EmbeddingWriter:
    """Takes words and vectors in blocks; the file appears, whole, when its ``with`` block ends well, and else not at all."""

    embedding: Embedding
    """Result of writing, once finished."""
    rounding: Rounding

    def __init__(
        self, path: str | os.PathLike[str], dimension: int, *, name: str = "", licence: str = "", source: str = ""
    ) -> None:
        if not isinstance(dimension, int) or not 1 <= dimension <= MOST_DIMENSIONS:
            raise ParameterError(f"the dimension of an embedding is between 1 and {MOST_DIMENSIONS}, not {dimension}.")
        self.path = file_path(path)
        self.dimension = dimension
        self._said = {"name": name or self.path.stem, "licence": licence, "source": source}
        for key, text in self._said.items():
            if not isinstance(text, str) or not text.isprintable() or len(text) > LONGEST_WORD:
                raise ParameterError(
                    f"the {key} of an embedding is one line of text of at most {LONGEST_WORD} letters."
                )
        self._text, self._starts, self._keys = bytearray(), array("Q", [0]), bytearray()
        self._norm = 0.0
        self._vectors: BinaryIO

    def __enter__(self) -> EmbeddingWriter:
        try:
            # Next to the target, not in the folder for temporary files, which may be memory.
            self._vectors = tempfile.TemporaryFile(dir=self.path.parent)
        except OSError as problem:
            raise FileFormatError(f"{self.path} cannot be written: {problem.strerror}.") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._vectors:
            if kind is None:
                self._write()

    @property
    def size(self) -> int:
        """Return how many words have come."""
        return len(self._starts) - 1

    def add(self, words: Sequence[str], vectors: ArrayLike) -> None:
        """Add words and their vectors, in this order, after those that are there."""
        with np.errstate(over="ignore"):
            block = np.ascontiguousarray(np.asarray(vectors), dtype="<f4")
        if block.shape != (len(words), self.dimension):
            raise FileFormatError(
                f"from word {self.size + 1} on, vectors have another length than {self.dimension}; all have the same."
            )
        bad = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if bad.size:
            raise FileFormatError(
                f"the vector of word {self.size + 1 + int(bad[0])} has a number that is not finite; remove that word."
            )
        for word in words:
            try:
                encoded = word.encode()
            except UnicodeEncodeError:
                encoded = b""
            if not 0 < len(encoded) <= LONGEST_WORD:
                raise FileFormatError(
                    f"word {self.size + 1} is empty, no text, or longer than {LONGEST_WORD} bytes; remove it."
                )
            self._text += encoded
            self._starts.append(len(self._text))
            self._keys += key_of(encoded)
        if self.size > MOST_WORDS or len(self._text) >= 2**32:
            raise FileFormatError(f"an embedding has at most {MOST_WORDS} words; keep the most frequent ones.")
        if len(block):
            self._norm = max(self._norm, float(_lengths(block).max()))
        try:
            self._vectors.write(block.tobytes())
        except OSError as problem:
            raise FileFormatError(f"{self.path} cannot be written: {problem.strerror}.") from None

    # Writing --------------------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        if not self.size:
            raise FileFormatError("there are no words; an embedding has at least one.")
        order = self._sorted_rows()
        exponent = self._exponent()
        numbers = {"words": self.size, "dimension": self.dimension, "exponent": exponent, "text": len(self._text)}
        about: dict[str, Any] = {**self._said, **numbers}
        header = Header(**about)
        parts: list[Any] = [np.frombuffer(self._keys, "<u8")[order], order.astype("<u4")]
        parts += [np.frombuffer(self._starts, np.dtype("Q")).astype("<u4"), self._text]
        with whole_file(self.path) as file:
            file.write(header.encode())
            for part in parts:
                file.write(memoryview(part).cast("B"))
                file.write(bytes(-file.tell() % ALIGN))
            self.rounding = self._round(exponent, file)
        self.embedding = Embedding.at(self.path)

    def _round(self, exponent: int, file: BinaryIO) -> Rounding:
        """Write the codes, and measure what rounding does."""
        moved, norms = [], []
        seen: set[int] = set()
        for block, codes in zip(self._blocks(), self._codes(exponent), strict=True):
            rows = codes.astype("<i2")
            file.write(rows.tobytes())
            moved.append(_lengths(block - np.ldexp(codes, exponent)))
            norms.append(_lengths(block))
            seen.update(map(hash, map(bytes, rows)))
        far, long = np.concatenate(moved), np.concatenate(norms)
        return Rounding(float(far.max()), float(np.median(far)), float(np.median(long)), self.size - len(seen))

    def _sorted_rows(self) -> NDArray[np.int64]:
        """The rows in the order of their keys; no word twice."""
        keys = np.frombuffer(self._keys, "<u8")
        order = np.argsort(keys, kind="stable")
        twice = np.flatnonzero(keys[order][1:] == keys[order][:-1])
        if twice.size:
            row = int(order[twice + 1].min())
            raise FileFormatError(
                f"word {row + 1} is there a second time; every word of an embedding has one vector, so remove one of them."
            )
        return order

    def _exponent(self) -> int:
        """The smallest that keeps rounded vectors within the limit."""
        if not self._norm:
            return 0
        exponent = math.ceil(math.log2(self._norm / math.sqrt(NORM_LIMIT))) - 1
        while exponent < EXPONENTS[0] or not self._fits(exponent):
            exponent += 1
        if exponent not in EXPONENTS:
            raise FileFormatError("the vectors are too long to be rounded to steps of a power of two; scale them down.")
        return exponent

    def _fits(self, exponent: int) -> bool:
        return all(int(np.square(c, dtype=np.float64).sum(axis=1).max()) <= NORM_LIMIT for c in self._codes(exponent))

    def _codes(self, exponent: int) -> Iterator[NDArray[np.float32]]:
        for block in self._blocks():
            yield np.rint(np.ldexp(block, -exponent))

    def _blocks(self) -> Iterator[NDArray[np.float32]]:
        width, place = 4 * self.dimension, 0
        while True:
            self._vectors.seek(place)  # every time: two readers may go side by side
            content = self._vectors.read(max(1, 4 * BLOCK // width) * width)
            if not content:
                return
            place += len(content)
            yield np.frombuffer(content, "<f4").reshape(-1, self.dimension)


def _lengths(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    squares: NDArray[np.float64] = np.square(vectors, dtype=np.float64).sum(axis=1)
    return np.sqrt(squares)
