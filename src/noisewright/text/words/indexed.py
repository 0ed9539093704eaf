"""Nearest words by an index, for large vocabularies: vectors in four bits for each pair of coordinates, the best again in full.

Decoding sees the noisy vector and public words only, so a word that is not quite the nearest costs no privacy: the
guarantee is the same, and the law of the output is a little different. ``make bench`` has the share of words that
agree with the nearest one, and the time. Needs faiss (the extra ``text``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import MissingPartError
from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.words._tiles import Rows, cores

__all__ = ["WordIndex"]

LOOKED_AT = 128
"""Number of candidate words compared exactly for each vector."""
TRAINED_ON = 20_000
TOGETHER = 64
"""Number of words compared approximately at a time: faster than the 32 that faiss takes."""
BLOCK = 1 << 14
SEED = 1


class WordIndex:
    """The words of an embedding by product quantisation (faiss)."""

    def __init__(self, embedding: Embedding, looked_at: int = LOOKED_AT) -> None:
        try:
            import faiss
        except ImportError:
            raise MissingPartError(
                "an index of words needs faiss; install noisewright[text], or use decoding='exact'."
            ) from None
        faiss.omp_set_num_threads(cores())
        parts = embedding.dimension // 2 if embedding.dimension % 2 == 0 else embedding.dimension
        library: Any = faiss  # its types do not cover a factory's result
        self._index = library.index_factory(embedding.dimension, f"PQ{parts}x4fs_{TOGETHER},Refine(SQfp16)")
        sample = np.random.default_rng(SEED).permutation(embedding.size)[:TRAINED_ON]
        self._index.train(embedding.vectors(sample))
        for start in range(0, embedding.size, BLOCK):
            self._index.add(embedding.vectors(np.arange(start, min(start + BLOCK, embedding.size))))
        self._index.k_factor = float(min(looked_at, embedding.size))

    def nearest(self, vectors: NDArray[np.floating]) -> Rows:
        """The row of a word that is nearest to each vector, or nearly."""
        return np.asarray(self._index.search(np.ascontiguousarray(vectors, np.float32), 1)[1][:, 0], np.int64)
