"""Words in and out of a word mechanism: one word or many, as text or as rows of the embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError, ParameterError
from noisewright.core.resource import Resource
from noisewright.text.embeddings.embedding import Embedding

__all__ = ["as_embedding", "rows_of", "spelled"]


def as_embedding(given: Resource | Embedding, limit: int | None) -> Embedding:
    """The embedding that was given, as a file or as itself; with a ``limit``, its first words."""
    if not isinstance(given, (Embedding, Resource)):
        raise ParameterError(
            f"an embedding is given as Embedding.at(path), or as its Resource, not as {type(given).__name__}."
        )
    found = given if isinstance(given, Embedding) else Embedding(given)
    kept = found if limit is None else found.first(limit)
    if kept.size < 2:
        raise ParameterError("a vocabulary of one word hides nothing; keep at least 2 words.")
    return kept


def rows_of(embedding: Embedding, values: Any) -> tuple[NDArray[np.int64], tuple[int, ...] | None]:
    """The rows of words, in one dimension, and the shape that was given; None for a single word."""
    single = isinstance(values, (str, int, np.integer))
    given = np.asarray([values] if single else values, dtype=None if isinstance(values, np.ndarray) else object)
    flat = given.reshape(-1)
    if all(isinstance(value, str) for value in flat):
        rows = embedding.rows(flat.tolist())
    elif all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in flat):
        rows = flat.astype(np.int64)
    else:
        raise DataError(f"words of {embedding.name!r} are given as text, or as whole numbers of its rows.")
    if len(rows) and not (rows.min() >= 0 and rows.max() < embedding.size):
        raise DataError(f"a word is not in the vocabulary of {embedding.name!r}; drop or replace such words first.")
    return rows, None if single else given.shape


def spelled(embedding: Embedding, rows: NDArray[np.int64], shape: tuple[int, ...] | None) -> Any:
    """The words of rows, in the shape that was given."""
    words = embedding.words(rows)
    if shape is None:
        return words[0]
    result = np.empty(len(words), object)
    result[:] = words
    return result.reshape(shape)
