"""Fresh attackers: classifiers of scikit-learn that learn from released records whose private values they know.

They are independent of the making and training of the release. Each states a probability for every private value; its
confidence (a temperature) is learned from records that it was not fitted to, so that one too sure of itself does not
hide its knowledge.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats, Indices
from noisewright.core.errors import MissingPartError, ParameterError

__all__ = ["ATTACKERS", "Fitted", "chosen_attackers", "cross_entropy"]

MOST_PAIRS = 24
"""Maximum number of principal components of which products of pairs are formed."""
DOUBT = 1e-3
"""The share of a belief that is left to how frequent the values are; no one is surer than that."""
TEMPERATURES = np.geomspace(0.1, 2.0, 27)


def _quadratic(width: int, seed: int) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import FeatureUnion, make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    products: list[Any] = [PolynomialFeatures(2, include_bias=False)]
    if width > MOST_PAIRS:
        products.insert(0, PCA(MOST_PAIRS, random_state=seed))
    features = FeatureUnion([("all", "passthrough"), ("pairs", make_pipeline(*products))])
    return make_pipeline(StandardScaler(), features, StandardScaler(), LogisticRegression(C=0.3, max_iter=200))


def _boosting(width: int, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=300, learning_rate=0.1, max_leaf_nodes=15, early_stopping=True, n_iter_no_change=15, random_state=seed
    )


def _forest(width: int, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(200, min_samples_leaf=3, random_state=seed)


def _neighbours(width: int, seed: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), KNeighborsClassifier(25, weights="distance"))


def _network(width: int, seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = MLPClassifier(
        (256, 256), alpha=1e-3, max_iter=60, early_stopping=True, n_iter_no_change=8, batch_size=256, random_state=seed
    )
    return make_pipeline(StandardScaler(), network)


ATTACKERS: dict[str, Callable[[int, int], Any]] = {
    "quadratic logistic": _quadratic,
    "gradient boosting": _boosting,
    "random forest": _forest,
    "nearest neighbours": _neighbours,
    "network": _network,
}
"""Constructor of each, from the number of columns and a seed."""


def chosen_attackers(names: Iterable[str] | None) -> dict[str, Callable[[int, int], Any]]:
    """The attackers of these names; all, if none are named."""
    if names is None:
        return dict(ATTACKERS)
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in ATTACKERS:
            raise ParameterError(f"there is no attacker {name!r:.60}; choose among {', '.join(ATTACKERS)}.")
    if not wanted:
        raise ParameterError(f"name one attacker or more: {', '.join(ATTACKERS)}.")
    return {name: ATTACKERS[name] for name in dict.fromkeys(wanted)}


class Fitted:
    """An attacker that has learned; ``prior`` is how frequent each private value is."""

    def __init__(
        self, make: Callable[[int, int], Any], seed: int, matrix: Floats, classes: Indices, prior: Floats
    ) -> None:
        try:
            import sklearn  # noqa: F401
        except ImportError:
            raise MissingPartError(
                "attackers need scikit-learn; install noisewright[attackers], which brings it."
            ) from None
        self.prior, self.temperature = prior, 1.0
        self._model = make(matrix.shape[1], seed)
        with warnings.catch_warnings(), _alone():
            warnings.simplefilter("ignore")  # an attacker that stops early is a weaker one, and the others are there
            self._model.fit(matrix, classes)

    def settle(self, matrix: Floats, classes: Indices) -> None:
        """Learn how sure to be, from records that it was not fitted to."""
        stated = self._stated(matrix)
        self.temperature = float(
            min(TEMPERATURES, key=lambda t: cross_entropy(_tempered(stated, t, self.prior), classes).mean())
        )

    def beliefs(self, matrix: Floats) -> Floats:
        """A probability for every private value, a row for each record."""
        return _tempered(self._stated(matrix), self.temperature, self.prior)

    def _stated(self, matrix: Floats) -> Floats:
        found = np.zeros((len(matrix), len(self.prior)))
        with _alone():
            found[:, self._model.classes_] = self._model.predict_proba(matrix)
        return found


def cross_entropy(beliefs: Floats, classes: Indices) -> Floats:
    """Return the cross-entropy of each record, in nats."""
    return np.asarray(-np.log(beliefs[np.arange(len(classes)), classes]))


def _alone() -> Any:
    """One thread: on small tables threads mostly wait for each other, and on a busy machine for long."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def _tempered(stated: Floats, temperature: float, prior: Floats) -> Floats:
    powers = stated**temperature
    sums = powers.sum(axis=1, keepdims=True)
    found = np.where(sums > 0, powers / np.where(sums > 0, sums, 1.0), prior)
    return np.asarray((1 - DOUBT) * found + DOUBT * prior)
