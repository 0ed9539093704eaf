"""Topic or author of a text by its words: TF-IDF weights and a logistic regression.

Stands in for a supervised classifier of another representation than the mechanism's own: it sees words, not vectors. Needs
scikit-learn (the extra ``text``).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

from noisewright.core.errors import MissingPartError
from noisewright.text.attackers.attacker import Document, check_known

__all__ = ["LinearWords"]


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
