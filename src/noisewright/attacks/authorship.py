"""Topic or author of a text by its words: TF-IDF weights and a logistic regression.

Stands in for a supervised classifier of another representation than the mechanism's own: it sees words, not vectors. Needs
scikit-learn (the extra ``text``).

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> words, vectors = ["army", "navy", "trade", "tariff"], np.array([[1, 0], [1, 0.2], [0, 1], [0.2, 1]])
>>> tiny = write_embedding(pathlib.Path(tempfile.mkdtemp(), "tiny.nwe"), words, vectors)
>>> attacker = NearestDocuments(tiny).fit([["army", "army"], ["trade", "army", "trade"]], ["war", "trade"])
>>> attacker.predict([["navy"], ["tariff", "trade"]])
['war', 'trade']

>>> character_ngrams("color", 3), character_ngrams("colour", 3), character_ngrams("an", 3)
(['col', 'olo', 'lor'], ['col', 'olo', 'lou', 'our'], ['an'])

Every round keeps a random share of the most frequent n-grams, and a snippet votes for the author whose known text is most
similar to it in those (cosine). The author with the most votes is the answer, and the share of votes says how sure it is.

>>> known = [["colour", "harbour", "grey"], ["color", "harbor", "gray"]]
>>> attacker = RandomSubspaces(order=3, seed=1).fit(known, ["British", "American"])
>>> attacker.predict([["harbours", "colours"]])
['British']

Reference: Koppel, Schler and Argamon, "Authorship attribution in the wild", Language Resources and Evaluation 45 (2011).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.attacks.base import Document, check_known
from noisewright.exceptions import DataError, MissingPartError, ParameterError
from noisewright.text.earth_mover import moved, vector_distances
from noisewright.text.nearest_words import single_products

if TYPE_CHECKING:
    import scipy.sparse

    from noisewright.text.embedding import Embedding

__all__ = ["LinearWords", "NearestDocuments", "RandomSubspaces", "character_ngrams", "frequent_ngrams", "ngram_counts"]


class LinearWords:
    """Logistic regression on the TF-IDF weights of words."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, documents: Sequence[Document], labels: Sequence[str]) -> Self:
        """Known documents, each by itself."""
        check_known(documents, labels)
        try:
            from sklearn.feature_extraction.text import TfidfVectorizer
            from sklearn.linear_model import LogisticRegression
        except ImportError:
            raise MissingPartError(
                "the linear attacker needs scikit-learn; install noisewright[text], or choose another attacker."
            ) from None
        self._weights: Any = TfidfVectorizer(analyzer=list, sublinear_tf=True)
        self._only = labels[0] if len(set(labels)) == 1 else None
        if self._only is None:
            self._model: Any = LogisticRegression(C=10.0, max_iter=1000, random_state=self.seed)
            with warnings.catch_warnings():  # one known text for each author is as it should be
                warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
                self._model.fit(self._weights.fit_transform([list(d) for d in documents]), list(labels))
        return self

    def predict(self, documents: Sequence[Document]) -> list[str]:
        """The likeliest label of each document."""
        if self._only is not None:
            return [self._only] * len(documents)
        return [str(label) for label in self._model.predict(self._weights.transform([list(d) for d in documents]))]


# Nearest ------------------------------------------------------------------------------------------------------------------
#
# The labels of the nearest known documents, in the embedding itself: by mean vectors, or by the Earth Mover's distance.


class NearestDocuments:
    """The most frequent label among the ``neighbours`` nearest known documents; ties go to the nearest of them.

    ``distance``: between ``"mean"`` vectors, or the ``"earth-movers"`` one, which is slower. Words outside the embedding are
    passed over.
    """

    def __init__(
        self, embedding: Embedding, *, neighbours: int = 1, distance: Literal["mean", "earth-movers"] = "mean"
    ) -> None:
        if isinstance(neighbours, bool) or not isinstance(neighbours, int) or neighbours < 1:
            raise ParameterError("the number of neighbours is a whole number from 1 on.")
        if distance not in ("mean", "earth-movers"):
            raise ParameterError(f"there is no distance {distance!r}; choose mean or earth-movers.")
        self._embedding, self._neighbours, self._distance = embedding, neighbours, distance

    def fit(self, documents: Sequence[Document], labels: Sequence[str]) -> Self:
        """Known documents, each by itself."""
        check_known(documents, labels)
        self._labels = list(labels)
        self._known = [self._rows(document) for document in documents]
        return self

    def predict(self, documents: Sequence[Document]) -> list[str]:
        """The label of most of the nearest known documents."""
        rows = [self._rows(document) for document in documents]
        nearest = np.argsort(self._distances(rows), axis=1, kind="stable")[:, : self._neighbours]
        found = ([self._labels[i] for i in line] for line in nearest)
        return [max(labels, key=Counter(labels).__getitem__) for labels in found]

    def _distances(self, rows: list[NDArray[np.int64]]) -> Floats:
        if self._distance == "mean":
            return vector_distances(
                *([self._embedding.vectors(r).mean(axis=0) for r in some] for some in (rows, self._known))
            )
        return np.array([[moved(self._embedding.distances(r, known)).mean for known in self._known] for r in rows])

    def _rows(self, document: Document) -> NDArray[np.int64]:
        rows = self._embedding.rows(document)
        rows = rows[rows >= 0]
        if not len(rows):
            raise DataError(f"a document has no word of the embedding {self._embedding.name}; leave it out.")
        return rows


# Ngrams -------------------------------------------------------------------------------------------------------------------
#
# Character n-grams: the pieces of words that show style, counted inside words because a bag has no order.


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


# Subspaces ----------------------------------------------------------------------------------------------------------------
#
# Author of a text by style: random subspaces of character n-grams, each voting for the most similar known text.


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
