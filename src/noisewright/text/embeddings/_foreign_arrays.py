"""Matrices of numpy with a list of words, and what gensim saves of its ``KeyedVectors``."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import FileFormatError

__all__ = ["keyed_vectors", "numpy_matrix"]

NUMBERS = 1 << 21
Blocks = Iterator[tuple[list[str], NDArray[np.float32]]]


def numpy_matrix(stream: IO[bytes], words: Path, limit: int | None) -> tuple[int, Blocks]:
    """A matrix in the format ``.npy``, and a text file with one word on each line."""
    try:
        with words.open("rb") as file:
            listed = file.read().decode("utf-8-sig").split("\n")
    except OSError as problem:
        raise FileFormatError(f"{words} cannot be read: {problem.strerror}.") from None
    listed = [word.removesuffix("\r") for word in listed]
    if listed and not listed[-1]:
        listed.pop()
    return len(listed), _matrix(stream, listed, limit)


def _matrix(stream: IO[bytes], words: list[str], limit: int | None) -> Blocks:
    rows, columns, kind = _shape(stream)
    if rows != len(words):
        raise FileFormatError(
            f"the matrix has {rows} rows and the list {len(words)} words; there is one word for each row."
        )
    height = max(1, NUMBERS // columns)
    for start in range(0, min(rows, limit or rows), height):
        some = words[start : start + height]
        content = stream.read(len(some) * columns * kind.itemsize)
        if len(content) != len(some) * columns * kind.itemsize:
            raise FileFormatError("the matrix is cut short; copy its file again.")
        with np.errstate(over="ignore"):
            yield some, np.frombuffer(content, kind).reshape(-1, columns).astype(np.float32)


def _shape(stream: IO[bytes]) -> tuple[int, int, np.dtype[Any]]:
    """Rows, columns and type of a matrix whose numbers come next in the stream."""
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, kind = read(stream)
    except ValueError:
        raise FileFormatError("the matrix is not in the format .npy of numpy; write it with numpy.save.") from None
    if len(shape) != 2 or not shape[1] or kind.kind not in "fiu" or by_columns:
        raise FileFormatError("the matrix must have one row of numbers for each word, stored row by row.")
    return shape[0], shape[1], kind


# gensim -------------------------------------------------------------------------------------------------------------------


def keyed_vectors(stream: IO[bytes], path: Path | None) -> tuple[int, Blocks]:
    """What ``KeyedVectors.save`` writes: the words, and the matrix inside or, if it is large, in a file of numpy beside it."""
    try:
        state = vars(_Reader(stream).load())
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, IndexError, KeyError, ImportError):
        raise FileFormatError(
            "the file is no saved KeyedVectors of gensim 4; save the vectors again, or in the format of word2vec."
        ) from None
    state = vars(state["wv"]) if isinstance(state.get("wv"), _Saved) else state
    words, matrix = state.get("index_to_key"), state.get("vectors")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise FileFormatError(
            "the file has no list of words as gensim 4 saves it; save the vectors again with gensim 4."
        )
    if isinstance(matrix, np.ndarray):
        if matrix.shape[:1] != (len(words),) or matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
            raise FileFormatError("the matrix in the file does not fit its words; save the vectors again.")
        return len(words), iter([(words, matrix.astype(np.float32))])
    beside = [Path(f"{path}{suffix}.vectors.npy") for suffix in ("", ".wv")] if path else []
    found = next((place for place in beside if place.exists()), None)
    if found is None:
        raise FileFormatError(
            "the vectors are not in the file itself; put the file that ends with .vectors.npy, which gensim saved, beside it."
        )
    return len(words), _beside(found, words)


def _beside(path: Path, words: list[str]) -> Blocks:
    with path.open("rb") as file:
        yield from _matrix(file, words, None)


class _Saved:
    """An object of gensim: what it holds, and nothing that it does."""

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)


class _Reader(pickle.Unpickler):
    """Reads arrays, plain values and objects of gensim as :class:`_Saved`; everything else is refused, so that no code is run."""

    _ARRAYS = frozenset({"_reconstruct", "ndarray", "dtype", "scalar", "_frombuffer"})

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".", maxsplit=1)[0] == "gensim":
            return _Saved
        if name in self._ARRAYS and re.fullmatch(r"numpy(\._?core\.(multiarray|numeric))?", module):
            return super().find_class(module.replace("numpy.core", "numpy._core"), name)
        raise pickle.UnpicklingError
