"""Distance of two words: the Euclidean distance of their vectors in a public embedding.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee"], np.array([[1, 0], [1, 0.5]]), licence="CC0-1.0")
>>> WordDistance(tiny).distance("tea", "coffee")
0.5
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.claims.phrases import base_name
from noisewright.core.arrays import Floats
from noisewright.core.errors import MetricError
from noisewright.core.metrics.metric import Metric
from noisewright.text.embeddings.embedding import Embedding

__all__ = ["WordDistance"]


@dataclass(frozen=True)
class WordDistance(Metric):
    """The distance of two words of an embedding; its name has the first digits of the file's SHA-256."""

    embedding: Embedding

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        return {"base": "words", "file": self.embedding.resource.sha256[:12]}

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between words."""
        if not all(isinstance(point, str) for point in points):
            raise MetricError("the distance of words is between words of an embedding.")
        rows = self.embedding.rows(points)
        if (rows < 0).any():
            raise MetricError(f"some words are not in the vocabulary of {self.embedding.name!r}.")
        return np.asarray(self.embedding.distances(rows, rows))
