"""Fresh attackers: classifiers of scikit-learn that learn from released records whose private values they know.

They are independent of the making and training of the release. Each states a probability for every private value; its
confidence (a temperature) is learned from records that it was not fitted to, so that one too sure of itself does not
hide its knowledge.

>>> table = Columns.of({"age": [20, 30, 40], "sex": ["f", "m", "f"]})
>>> table
Columns(3 rows: age, sex)
>>> Encoder(table).matrix(table).shape
(3, 2)

A number's is the mean squared difference in variances of the original column (of a constant one, in its own units), a word's
the share of records in which it changed. The sum over columns is the distortion of the mixed kind with weight 1 each.

>>> before = {"height": [1.0, 2.0, 3.0, 4.0], "town": ["a", "a", "b", "b"]}
>>> after = {"height": [1.0, 2.0, 3.0, 5.0], "town": ["a", "b", "b", "b"]}
>>> print(distortion_of(before, after))
0.45 (height 0.2, town 0.25)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats, Indices
from noisewright.exceptions import DataError, MissingPartError, ParameterError

__all__ = [
    "ATTACKERS",
    "Columns",
    "Distortion",
    "Encoder",
    "Fitted",
    "chosen_attackers",
    "classes_of",
    "cross_entropy",
    "distortion_of",
    "unrelated",
]


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


# Tables -------------------------------------------------------------------------------------------------------------------
#
# Tables as attackers take them: named columns of numbers or of words, and the matrix that they become.


MOST_WORDS = 200
"""A column of words with more different ones than this is a name or a text, and useless to attackers on tables."""
FEWEST = 10
"""A private value that fewer records have cannot be learned, held out and counted."""
MOST_CLASSES = 50


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of one length by name: floats for numbers, texts for words."""

    values: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, table: Any, what: str = "the table") -> Columns:
        """A matrix (a column for each number), a mapping of columns, or an Arrow table or data frame."""
        if isinstance(table, Columns):
            return table
        if not isinstance(table, Mapping) and hasattr(table, "__arrow_c_stream__"):
            import pyarrow as pa

            arrow = pa.table(table)
            table = {name: _arrow(arrow.column(name), name, what) for name in arrow.column_names}
        if not isinstance(table, Mapping):
            try:
                matrix = np.asarray(table)
            except ValueError:
                raise DataError(f"{what} is a matrix with rows of one length, or named columns.") from None
            if matrix.ndim == 1:
                matrix = matrix[:, None]
            if matrix.ndim != 2 or not matrix.size:
                raise DataError(f"{what} is a matrix with a row for each record, or named columns, and not empty.")
            table = {str(number): matrix[:, number] for number in range(matrix.shape[1])}
        found = {str(name): _column(column, str(name), what) for name, column in table.items()}
        if not found or len({len(column) for column in found.values()}) != 1:
            raise DataError(f"{what} needs one column or more, all of one length.")
        return cls(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self.values)

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + (", ..." if len(self.names) > 6 else "")
        return f"Columns({len(self)} rows: {shown})"

    def numeric(self, name: str) -> bool:
        """Return whether a column holds numbers."""
        return self.values[name].dtype.kind == "f"

    def only(self, names: Sequence[str]) -> Columns:
        """These columns."""
        return Columns({name: self.values[name] for name in names})

    def rows(self, places: Indices) -> Columns:
        """These rows."""
        return Columns({name: column[places] for name, column in self.values.items()})


class Encoder:
    """Numbers as they are, words as a column of zeros and ones for each; made from the tables that will be seen."""

    def __init__(self, *tables: Columns) -> None:
        first = tables[0]
        for other in tables[1:]:
            if set(other.names) != set(first.names) or any(other.numeric(n) != first.numeric(n) for n in first.names):
                raise DataError("all draws of a release must have the same columns, of the same kinds.")
        self.words: dict[str, NDArray[Any] | None] = {}
        for name in first.names:
            if first.numeric(name):
                self.words[name] = None
                continue
            known = np.unique(np.concatenate([table.values[name] for table in tables]))
            if len(known) > MOST_WORDS:
                raise DataError(
                    f"the column {name!r} has more than {MOST_WORDS} different words; leave it out, or group its values."
                )
            self.words[name] = known

    def matrix(self, table: Columns) -> Floats:
        """A row of numbers for each record."""
        parts = []
        for name, known in self.words.items():
            column = table.values[name]
            # of two words one column says which
            parts.append(
                column[:, None] if known is None else (column[:, None] == known[None, 1 if len(known) == 2 else 0 :])
            )
        return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts], axis=1)


def classes_of(private: Any, bins: int | None = None) -> tuple[list[str], Indices]:
    """The names of the private values, and the number of each record's; ``bins``: numbers cut at their quantiles."""
    column = np.asarray(private)
    if column.ndim != 1 or not len(column):
        raise DataError("private values are one column, with a value for each record.")
    column = _column(column, "private", "the private values")
    if column.dtype.kind == "f":
        if bins is not None:
            edges = np.unique(np.quantile(column, np.linspace(0, 1, bins + 1)[1:-1]))
            column = np.searchsorted(edges, column, side="right").astype(np.float64)
        elif len(np.unique(column)) > MOST_CLASSES:
            raise DataError("the private values are numbers with many values; cut them into ranges (bins=4).")
    names, places, counts = np.unique(column, return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise DataError("all records have one private value, so there is nothing to find out; choose another column.")
    if len(names) > MOST_CLASSES:
        raise DataError(f"there are more than {MOST_CLASSES} different private values; group them first.")
    if counts.min() < FEWEST:
        raise DataError(
            f"a private value that fewer than {FEWEST} records have cannot be learned and tested; group rare values, or leave "
            "such records out."
        )
    return [_spelled(name) for name in names.tolist()], np.asarray(places)


def _spelled(name: Any) -> str:
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _arrow(column: Any, name: str, what: str) -> NDArray[Any]:
    if column.null_count:
        raise _missing(name, what)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _column(values: Any, name: str, what: str) -> NDArray[Any]:
    """A column as floats or as texts; other or missing values are refused."""
    column = np.asarray(values)
    if isinstance(values, (list, tuple)) and column.dtype.kind in "US":
        column = np.array(values, dtype=object)  # numbers among texts would have become texts
    if column.ndim != 1:
        raise DataError(f"{what}: the column {name!r} must be one value for each record.")
    if column.dtype.kind == "O":
        kinds = {type(value) for value in column.tolist()}
        if type(None) in kinds or any(isinstance(v, float) and math.isnan(v) for v in column.tolist()):
            raise _missing(name, what)
        if kinds <= {str}:
            column = column.astype(str)
        elif not any(issubclass(kind, str) for kind in kinds):
            try:
                column = column.astype(np.float64)
            except (TypeError, ValueError):
                column = column.astype(str)
        else:
            raise DataError(f"{what}: the column {name!r} mixes numbers and text; make it one of them.")
    if column.dtype.kind in "mM":
        raise DataError(f"{what}: the column {name!r} holds dates; give them as numbers, or leave the column out.")
    if column.dtype.kind in "US":
        return np.asarray(column.astype(str))
    if column.dtype.kind not in "biuf":
        raise DataError(f"{what}: the column {name!r} must hold numbers or words.")
    numbers = column.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise _missing(name, what)
    return np.asarray(numbers)


def _missing(name: str, what: str) -> DataError:
    return DataError(
        f"{what}: the column {name!r} has missing or infinite values; drop such rows, or replace them first."
    )


# Changes ------------------------------------------------------------------------------------------------------------------
#
# Distortion by a release, for each column and for all together.


MOST_SHOWN = 6


@dataclass(frozen=True)
class Distortion:
    """By column, in variances or shares of changed records; ``squared`` is the plain sum of squares of the numbers."""

    columns: Mapping[str, float]
    squared: float

    @property
    def total(self) -> float:
        """The sum over columns."""
        return float(sum(self.columns.values()))

    def __str__(self) -> str:
        most = sorted(self.columns, key=lambda name: -self.columns[name])[:MOST_SHOWN]
        shown = ", ".join(f"{name} {self.columns[name]:.3g}" for name in self.columns if name in most)
        more = len(self.columns) - len(most)
        return f"{self.total:.4g} ({shown}{f', and {more} smaller' if more else ''})"


def distortion_of(original: Any, released: Any) -> Distortion:
    """Return how far a release is from the original, for the columns that both have."""
    before, after = Columns.of(original, "the original"), Columns.of(released, "the release")
    if len(before) != len(after):
        raise DataError("the release and the original have other numbers of rows; give the table that was released.")
    found, squared = {}, 0.0
    for name in (n for n in before.names if n in after.names):
        one, two = before.values[name], after.values[name]
        if before.numeric(name) != after.numeric(name):
            raise DataError(f"the column {name!r} holds numbers in one table and words in the other; give both alike.")
        if before.numeric(name):
            moved = float(np.mean((one - two) ** 2))
            squared += moved
            found[name] = moved / (float(one.var()) or 1.0)
        else:
            found[name] = float(np.mean(one != two))
    return Distortion(found, squared)


def unrelated(original: Columns, released: Columns) -> bool:
    """Return whether no column of a release goes with its own column in the original: rows in another order, or
    nothing left.

    By correlation for numbers, by agreement for words, at four standard errors.
    """
    shared = [n for n in released.names if n in original.names and released.numeric(n) == original.numeric(n)]
    rows, tried = len(original), False
    for name in shared:
        one, two = original.values[name], released.values[name]
        if len(np.unique(one)) < 2 or len(np.unique(two)) < 2:
            continue
        tried = True
        if original.numeric(name):
            seen, chance = abs(float(np.corrcoef(one, two)[0, 1])), 0.0
            error = 1 / np.sqrt(rows)
        else:
            words = np.unique(np.concatenate([one, two]))
            chance = float(sum(np.mean(one == word) * np.mean(two == word) for word in words))
            seen, error = float(np.mean(one == two)), np.sqrt(max(chance * (1 - chance), 1e-12) / rows)
            seen, chance = abs(seen - chance), 0.0
        if seen > chance + 4 * error:
            return False
    return tried
