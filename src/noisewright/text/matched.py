r"""Distance of two documents: the words of one are matched to those of the other, and the distances add up.

*Matched*: the cheapest matching counts, whatever the order of words: for bags of one size N this is N times their Earth Mover's
distance. *Aligned*: the first word is matched to the first, the second to the second, and so on, for outputs that keep the order.
A word without a partner costs the **diameter**, a public number that no distance of two words exceeds: twice the largest norm.
Where the number of words comes out as it is (``sized=False``), documents of different lengths are infinitely far apart.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee", "ship"], np.array([[1, 0], [1, 0.5], [-3, 4]]), licence="CC0-1.0")
>>> bags, lines = MatchedWords(tiny), AlignedWords(tiny)
>>> bags.distance(("tea", "ship"), ("ship", "coffee")), round(lines.distance(("tea", "ship"), ("ship", "coffee")), 3)
(0.5, 10.972)
>>> bags.distance(("tea",), ("tea", "ship")) == diameter_of(tiny) == 10
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.phrases import base_name
from noisewright.core.arrays import Floats
from noisewright.core.errors import MetricError
from noisewright.core.metrics.metric import Metric
from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.transport.moving import moved
from noisewright.text.words.metric import WordDistance

__all__ = ["AlignedWords", "MatchedWords", "diameter_of"]


def diameter_of(embedding: Embedding) -> float:
    """A public number that no distance of two words exceeds: twice the largest norm, rounded up."""
    return 2 * float(np.ceil(np.sqrt(float(embedding.norms.max())))) * embedding.step


@dataclass(frozen=True)
class MatchedWords(Metric):
    """The cost of the cheapest matching of the words of two documents, each a sequence of words of the embedding."""

    embedding: Embedding
    sized: bool = True
    """Whether documents of every length come out as long as each other."""

    @property
    def secret(self) -> dict[str, Any]:
        """Documents, of the same length where that comes out as it is."""
        return {"kind": "document", **({} if self.sized else {"same_length": True})}

    @property
    def finite(self) -> bool:  # type: ignore[override]
        """Return whether every distance is."""
        return self.sized

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        return {**WordDistance(self.embedding).record(), "order": "matched"}

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between documents."""
        bags = [self._rows(point) for point in points]
        result = np.zeros((len(bags), len(bags)))
        for i, first in enumerate(bags):
            for j in range(i + 1, len(bags)):
                comparable = self.sized or len(first) == len(bags[j])
                result[i, j] = result[j, i] = self._cost(first, bags[j]) if comparable else np.inf
        return result

    def _cost(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
        longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
        costs = np.full((len(longer), len(longer)), diameter_of(self.embedding))
        costs[:, : len(shorter)] = self.embedding.distances(longer, shorter)
        return moved(costs).mean * len(longer) if len(longer) else 0.0

    def _rows(self, point: Any) -> NDArray[np.int64]:
        if isinstance(point, str) or not isinstance(point, Sequence) or not all(isinstance(w, str) for w in point):
            raise MetricError("the distance of documents is between sequences of words; split texts into words first.")
        rows = self.embedding.rows(point)
        if (rows < 0).any():
            raise MetricError(f"some words are not in the vocabulary of {self.embedding.name!r}.")
        return rows


@dataclass(frozen=True)
class AlignedWords(MatchedWords):
    """The sum of the distances between the words at the same places of two documents."""

    def record(self) -> dict[str, Any]:
        return {**WordDistance(self.embedding).record(), "order": "aligned"}

    def _cost(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
        both = min(len(first), len(second))
        apart = self.embedding.distances(first[:both], second[:both]).diagonal().sum() if both else 0.0
        return float(apart) + diameter_of(self.embedding) * abs(len(first) - len(second))
