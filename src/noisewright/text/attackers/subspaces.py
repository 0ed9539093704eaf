"""Author of a text by style: random subspaces of character n-grams, each voting for the most similar known text.

Every round keeps a random share of the most frequent n-grams, and a snippet votes for the author whose known text is most
similar to it in those (cosine). The author with the most votes is the answer, and the share of votes says how sure it is.

>>> known = [["colour", "harbour", "grey"], ["color", "harbor", "gray"]]
>>> attacker = RandomSubspaces(order=3, seed=1).fit(known, ["British", "American"])
>>> attacker.predict([["harbours", "colours"]])
['British']

Reference: Koppel, Schler and Argamon, "Authorship attribution in the wild", Language Resources and Evaluation 45 (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.text._threads import single_products
from noisewright.text.attackers.attacker import Document, check_known
from noisewright.text.attackers.ngrams import frequent_ngrams, ngram_counts

__all__ = ["RandomSubspaces"]


class RandomSubspaces:
    """``order``-grams of characters, the ``features`` most frequent ones; ``rounds`` votes, each with a ``share`` of them."""

    def __init__(
        self, *, order: int = 4, features: int = 10_000, rounds: int = 100, share: float = 0.4, seed: int = 0
    ) -> None:
        if min(order, features, rounds) < 1 or not 0 < share <= 1:
            raise ParameterError("order, features and rounds are whole numbers from 1 on, and share lies in (0, 1].")
        self.order, self.features, self.rounds, self.share, self.seed = order, features, rounds, share, seed

    def fit(self, documents: Sequence[Document], labels: Sequence[str]) -> Self:
        """Learn from known texts; texts of one author are joined."""
        check_known(documents, labels)
        self._authors = sorted(set(labels))
        joined = [
            [w for d, a in zip(documents, labels, strict=True) if a == author for w in d] for author in self._authors
        ]
        self._pieces = frequent_ngrams(joined, self.order, self.features)
        self._known = _by_piece(joined, self._pieces, self.order)
        return self

    def predict(self, documents: Sequence[Document]) -> list[str]:
        """The author with the most votes for each text; among equal ones the first in alphabetical order."""
        return [self._authors[number] for number in self.votes(documents).argmax(axis=1)]

    def votes(self, documents: Sequence[Document]) -> Floats:
        """The share of votes for each author (columns, in alphabetical order) from each text."""
        unknown, squares = _by_piece(documents, self._pieces, self.order), self._known**2
        rng = np.random.default_rng(self.seed)
        kept = max(1, round(self.share * len(self._pieces)))
        votes = np.zeros((len(documents), len(self._authors)))
        every = np.arange(len(documents))
        with single_products():  # many small ones
            for _ in range(self.rounds):
                some = np.sort(rng.choice(len(self._pieces), kept, replace=False))
                lengths = np.sqrt(squares[some].sum(axis=0))  # a text's own length is the same for all authors
                similar = unknown[some].T @ self._known[some] / np.where(lengths > 0, lengths, 1)
                votes[every, similar.argmax(axis=1)] += 1
        return votes / self.rounds


def _by_piece(documents: Sequence[Document], pieces: Sequence[str], order: int) -> Floats:
    """Counts with a row for each piece, so that the pieces of a round lie together; integers, and their products are exact."""
    return np.ascontiguousarray(ngram_counts(documents, pieces, order).toarray().T)
