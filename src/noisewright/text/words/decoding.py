"""The nearest words of vectors: a product with every word, exactly the nearest except for the last bits of floats.

With ``-|y|^2 / 2`` as one more coordinate the largest product belongs to the nearest word. Of words at the same distance the
one in the lowest row is taken. Decoding sees the noisy vector and public words only, so it costs no privacy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.words._tiles import GROUP, Rows, Single, Tiles, on_all_cores

__all__ = ["nearest", "two_nearest"]


def nearest(embedding: Embedding, vectors: NDArray[np.floating]) -> Rows:
    """The row of the word that is nearest to each vector."""
    return _best(embedding, vectors, 1)[0][:, 0]


def two_nearest(embedding: Embedding, vectors: NDArray[np.floating]) -> tuple[Rows, NDArray[np.float64]]:
    """The rows of the two nearest words of each vector, and their distances."""
    rows, scores = _best(embedding, vectors, 2)
    lengths = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)[:, None]
    squares = lengths - 2 * scores.astype(np.float64) * embedding.step**2
    return rows, np.sqrt(np.maximum(squares, 0))


def _best(embedding: Embedding, vectors: NDArray[np.floating], most: int) -> tuple[Rows, Single]:
    """The rows with the largest scores, and these, the largest first."""
    tiles, count = Tiles(embedding), len(vectors)
    rows, scores = np.empty((count, most), np.int64), np.empty((count, most), np.float32)
    for start in range(0, count, GROUP):
        group = slice(start, start + GROUP)
        left = np.ones((len(vectors[group]), embedding.dimension + 1), np.float32)
        left[:, :-1] = vectors[group] / embedding.step

        def work(block: int, left: Single = left) -> tuple[Rows, Single]:
            place = tiles.block(block)
            words = np.empty((place.stop - place.start, embedding.dimension + 1), np.float32)
            words[:, :-1] = embedding.codes[place]
            words[:, -1] = embedding.norms[place] * np.float32(-0.5)
            return _top(left @ words.T, place.start, most)

        found = list(on_all_cores(work, range(tiles.count), len(left) * embedding.size))
        every, values = (np.concatenate(parts, axis=1) for parts in zip(*found, strict=True))
        order = np.argsort(-values, axis=1, kind="stable")[:, :most]  # blocks are in the order of rows
        rows[group], scores[group] = np.take_along_axis(every, order, 1), np.take_along_axis(values, order, 1)
    return rows, scores


def _top(products: Single, first: int, most: int) -> tuple[Rows, Single]:
    rows = np.empty((len(products), most), np.int64)
    scores = np.empty((len(products), most), np.float32)
    everyone = np.arange(len(products))
    for place in range(most):
        rows[:, place] = products.argmax(axis=1)
        scores[:, place] = products[everyone, rows[:, place]]
        if place + 1 < most:
            products[everyone, rows[:, place]] = -np.inf
    return rows + first, scores
