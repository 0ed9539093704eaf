"""Small embeddings for tests of words: clusters of vectors, two words with one vector among them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from noisewright.text import Embedding, write_embedding


def written(vectors: np.ndarray, name: str = "made") -> Embedding:
    """The vectors under the words w0, w1, ..."""
    path = Path(tempfile.mkdtemp(), f"{name}.nwe")
    return write_embedding(path, [f"w{i}" for i in range(len(vectors))], vectors, licence="CC0-1.0")


def clusters(size: int = 60, dimension: int = 4, seed: int = 3) -> Embedding:
    """Words around a few centres, as words of a topic are; w5 and w6 have the same vector."""
    return Embedding.at(_clusters(size, dimension, seed))  # anew, since other tests forget where files are


@cache
def _clusters(size: int, dimension: int, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, dimension)) * 2
    vectors = centres[rng.integers(0, 8, size)] + rng.normal(size=(size, dimension)) * 0.7
    vectors[5] = vectors[6]
    place = written(vectors, "clusters").resource.place()
    assert place is not None
    return place


def squares(embedding: Embedding) -> np.ndarray:
    """Squared distances in code units, by Python's own integers."""
    codes = embedding.codes.astype(object)
    return np.array([[int(((x - y) ** 2).sum()) for y in codes] for x in codes], dtype=object)
