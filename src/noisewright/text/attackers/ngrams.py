"""Character n-grams: the pieces of words that show style, counted inside words because a bag has no order.

>>> character_ngrams("color", 3), character_ngrams("colour", 3), character_ngrams("an", 3)
(['col', 'olo', 'lor'], ['col', 'olo', 'lou', 'our'], ['an'])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from noisewright.core.errors import ParameterError

if TYPE_CHECKING:
    import scipy.sparse

    from noisewright.text.attackers.attacker import Document

__all__ = ["character_ngrams", "frequent_ngrams", "ngram_counts"]


def character_ngrams(word: str, order: int) -> list[str]:
    """All pieces of ``order`` characters that follow each other in a word; a shorter word is its own only piece."""
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ParameterError("the order of n-grams is a whole number from 1 on.")
    return [word[start : start + order] for start in range(max(1, len(word) - order + 1))]


def frequent_ngrams(documents: Sequence[Document], order: int, most: int) -> list[str]:
    """The most frequent pieces of all documents together; among equally frequent ones the first in alphabetical order."""
    counts: Counter[str] = Counter()
    for word, times in Counter(word for document in documents for word in document).items():
        for piece in character_ngrams(word, order):
            counts[piece] += times
    return sorted(counts, key=lambda piece: (-counts[piece], piece))[:most]


def ngram_counts(documents: Sequence[Document], pieces: Sequence[str], order: int) -> scipy.sparse.csr_matrix:
    """Return how often each piece occurs in each document: a sparse matrix, documents by pieces."""
    import scipy.sparse

    place = {piece: number for number, piece in enumerate(pieces)}
    words = sorted({word for document in documents for word in document})
    number = {word: row for row, word in enumerate(words)}
    found = [
        (row, place[piece])
        for row, word in enumerate(words)
        for piece in character_ngrams(word, order)
        if piece in place
    ]
    rows, columns = zip(*found, strict=True) if found else ((), ())
    of_words = scipy.sparse.csr_matrix((np.ones(len(found)), (rows, columns)), shape=(len(words), len(pieces)))
    uses = [(row, number[word], times) for row, d in enumerate(documents) for word, times in Counter(d).items()]
    rows, columns, times = zip(*uses, strict=True)
    in_documents = scipy.sparse.csr_matrix(
        (np.array(times, float), (rows, columns)), shape=(len(documents), len(words))
    )
    return scipy.sparse.csr_matrix(in_documents @ of_words)
