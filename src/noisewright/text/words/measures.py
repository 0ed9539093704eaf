r"""Effect of an epsilon on words: share kept, distance of outputs, and the epsilon for a wanted effect.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> from noisewright.text.words import exact_words
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee", "ship"], np.array([[1, 0], [1, 0.5], [-3, 4]]), licence="CC0-1.0")
>>> round(epsilon_between(tiny, "tea", "coffee"), 6)
2.0
>>> found = measure(exact_words(tiny, epsilon=2), ["tea", "ship"])
>>> round(found.kept, 2), found.warning
(0.86, None)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, upward
from noisewright.noise.bits import Rng
from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.words._tiles import Tiles, on_all_cores
from noisewright.text.words._vocabulary import rows_of
from noisewright.text.words.choice import WordChoice, exact_words
from noisewright.text.words.noisy import NoisyWords, laplace_words

__all__ = ["Measured", "compare_words", "epsilon_between", "measure", "neighbour_distances", "typical_epsilon"]

NEARLY = 0.95
"""An epsilon that keeps more than this share of the words, or less than 1 minus it, deserves a warning."""
DRAWS = 1000
"""Minimum number of draws of words to measure a mechanism whose probabilities have no closed form."""

WordMechanism = WordChoice | NoisyWords


@dataclass(frozen=True)
class Measured:
    """Effect of a mechanism on some words."""

    mechanism: str
    epsilon: float
    kept: float
    """The share of the words that come out as themselves."""
    distance: float
    """The mean distance between a word and its output."""
    draws: int | None
    """Number of draws; None if the probabilities were computed."""

    @property
    def warning(self) -> str | None:
        """A sentence where nearly every word is kept or replaced."""
        share = f"{100 * self.kept:.1f} %"
        if self.kept > NEARLY:
            return f"epsilon = {upward(self.epsilon)} keeps {share} of the words as they are; a smaller one hides more."
        if self.kept < 1 - NEARLY:
            return (
                f"epsilon = {upward(self.epsilon)} keeps {share} of the words; a larger one keeps more of the meaning."
            )
        return None


def measure(mechanism: WordMechanism, words: Iterable[str] | NDArray[np.int64], rng: Rng = None) -> Measured:
    """The share of words kept and the mean distance of outputs, for words with their frequencies, as in a corpus.

    Computed for an exact choice; by draws for noise in floats. Words outside the vocabulary must have been dropped.
    """
    rows, _ = rows_of(mechanism.embedding, words if isinstance(words, np.ndarray) else list(words))
    if not len(rows):
        raise ParameterError("there are no words to measure with; give some of the vocabulary.")
    distinct, counts = np.unique(rows, return_counts=True)
    epsilon = mechanism.guarantee.epsilon
    if isinstance(mechanism, WordChoice):
        kept = float(np.average(mechanism.kept(distinct), weights=counts))
        away = float(np.average(_expected(mechanism, distinct), weights=counts))
        return Measured(mechanism.name, epsilon, kept, away, None)
    given = np.tile(rows, -(-DRAWS // len(rows)))
    released = mechanism.release_rows(given, rng)
    step, codes = mechanism.embedding.step, mechanism.embedding.codes
    apart = np.linalg.norm(codes[given].astype(np.float64) - codes[released], axis=1) * step
    return Measured(mechanism.name, epsilon, float((given == released).mean()), float(apart.mean()), len(given))


def _expected(mechanism: WordChoice, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """The expected distance between each word and its output."""
    groups = [rows[start : start + 64] for start in range(0, len(rows), 64)]

    def work(group: NDArray[np.int64]) -> NDArray[np.float64]:
        squares = mechanism.embedding.squares(group, np.arange(mechanism.embedding.size))
        roots = np.sqrt(squares)
        weights = mechanism.weights.at(squares).astype(np.float64)
        return np.asarray((weights * roots).sum(axis=1) / weights.sum(axis=1) * mechanism.embedding.step)

    found: Any = on_all_cores(work, groups, len(rows) * mechanism.embedding.size)
    return np.concatenate(list(found))


def compare_words(
    embedding: Embedding, words: Sequence[str], epsilons: Iterable[Exact], rng: Rng = None
) -> list[tuple[Measured, Measured]]:
    """The exact choice and noise with decoding on the same words, at the same epsilon for each unit of distance.

    The epsilon of the choice is its true one. The epsilon of the noise is exact for the noisy vector; its reduction by
    decoding is unknown.
    """
    return [
        tuple(measure(make(embedding, epsilon=epsilon), words, rng) for make in (exact_words, laplace_words))  # type: ignore[misc]
        for epsilon in epsilons
    ]


def epsilon_between(embedding: Embedding, first: str, second: str, factor: float = math.e) -> float:
    """The epsilon at which two words are within a ``factor`` of each other, whatever comes out; rounded down."""
    if not factor > 1 or math.isinf(factor):
        raise ParameterError("two words are within a factor above 1 of each other, such as 2.72.")
    rows, _ = rows_of(embedding, [first, second])
    apart = float(embedding.distances(rows[:1], rows[1:])[0, 0])
    if not apart:
        raise ParameterError("these two words have the same vector, so nothing tells them apart at any epsilon.")
    return math.log(factor) / apart * (1 - 2.0**-50)


def neighbour_distances(embedding: Embedding, words: Iterable[str]) -> NDArray[np.float64]:
    """The distance of each word to the nearest other word of the vocabulary that has another vector."""
    rows, _ = rows_of(embedding, list(words))
    distinct, back = np.unique(rows, return_inverse=True)
    tiles, best = Tiles(embedding), np.full(len(distinct), np.inf)
    for start in range(0, len(distinct), 512):
        left = tiles.left(distinct[start : start + 512])

        def work(block: int, left: NDArray[np.float32] = left) -> NDArray[np.float32]:
            squares = left @ tiles.right(block).T
            np.copyto(squares, np.float32(np.inf), where=squares == 0)
            return np.asarray(squares.min(axis=1))

        found = on_all_cores(work, range(tiles.count), len(left) * embedding.size)
        best[start : start + 512] = np.sqrt(np.min(list(found), axis=0).astype(np.float64)) * embedding.step
    return best[back]


def typical_epsilon(embedding: Embedding, words: Iterable[str], factor: float = math.e, quantile: float = 0.5) -> float:
    """The epsilon at which a corpus' typical neighbours (a quantile of nearest distances) are within a factor of each other."""
    if not 0 <= quantile <= 1 or not factor > 1 or math.isinf(factor):
        raise ParameterError("a quantile is from 0 to 1, and a factor above 1.")
    apart = neighbour_distances(embedding, words)
    if not len(apart):
        raise ParameterError("there are no words to measure with; give some of the vocabulary.")
    return math.log(factor) / float(np.quantile(apart, quantile)) * (1 - 2.0**-50)
