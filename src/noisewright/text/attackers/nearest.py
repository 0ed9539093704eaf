"""The labels of the nearest known documents, in the embedding itself: by mean vectors, or by the Earth Mover's distance.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> words, vectors = ["army", "navy", "trade", "tariff"], np.array([[1, 0], [1, 0.2], [0, 1], [0.2, 1]])
>>> tiny = write_embedding(pathlib.Path(tempfile.mkdtemp(), "tiny.nwe"), words, vectors)
>>> attacker = NearestDocuments(tiny).fit([["army", "army"], ["trade", "army", "trade"]], ["war", "trade"])
>>> attacker.predict([["navy"], ["tariff", "trade"]])
['war', 'trade']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError, ParameterError
from noisewright.text.attackers.attacker import Document, check_known
from noisewright.text.transport.moving import moved, vector_distances

if TYPE_CHECKING:
    from noisewright.text.embeddings.embedding import Embedding

__all__ = ["NearestDocuments"]


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
