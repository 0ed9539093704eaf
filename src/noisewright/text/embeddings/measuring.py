"""Summary of an embedding: lengths of vectors, and distances of words to the nearest other one.

Compare an epsilon per unit of distance with the second. It is measured for a fixed, evenly spread sample of the words,
each against all others, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisewright.text.embeddings.embedding import Embedding

__all__ = ["QUANTILES", "Summary", "summary"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SAMPLE = 1000


@dataclass(frozen=True)
class Summary:
    """Quantiles (``QUANTILES``) of norms and of distances to the nearest other word."""

    norms: tuple[float, ...]
    nearest: tuple[float, ...]
    sample: int
    """Number of words for which nearest distances were measured."""


def summary(embedding: Embedding, sample: int = SAMPLE) -> Summary:
    """Measure an embedding; a second or two for the largest."""
    norms = np.sqrt(embedding.norms.astype(float)) * embedding.step
    rows = np.unique(np.linspace(0, embedding.size - 1, min(sample, embedding.size)).astype(np.int64))
    best = np.full(len(rows), np.inf, np.float32)
    for part in embedding.blocks():
        others = np.arange(part.start, part.stop)
        squares = embedding.squares(rows, others)
        inside = np.flatnonzero((rows >= part.start) & (rows < part.stop))
        squares[inside, rows[inside] - part.start] = np.inf  # not the word itself
        np.minimum(best, squares.min(axis=1), out=best)
    nearest = np.sqrt(best.astype(float)) * embedding.step
    return Summary(_quantiles(norms), _quantiles(nearest[np.isfinite(nearest)]), len(rows))


def _quantiles(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in np.quantile(values, QUANTILES)) if values.size else ()
