r"""A small recogniser of faces: principal components, then linear discriminants with a shrunk covariance.

Pixels are projected on the components in which the faces it learns from differ most; there, the people are Gaussians
with one covariance S, of which a ``shrinkage`` is replaced by a sphere's covariance. The score of a person is their
probability. It is a strong attacker on aligned faces, learns in a second, and needs no network. ``whitened``
components are all of one size first, so that small details count as much as large ones: the weaker attacker where
details are dropped or drowned, as by eigenfaces, and the stronger one on faces that a network draws.

>>> rng = np.random.default_rng(1)
>>> people = rng.integers(0, 200, (5, 6, 6, 1))
>>> seen = np.concatenate([people + rng.integers(0, 50, people.shape) for _ in range(4)]).astype(np.uint8)
>>> recogniser = Recogniser().fit(seen, list("abcde") * 4)
>>> recogniser.predict(people[[3, 0]].astype(np.uint8)).tolist()
['d', 'a']

Reference: Belhumeur, Hespanha and Kriegman, *Eigenfaces vs. Fisherfaces* (1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number, is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.images.faces.models.basis import Basis
from noisewright.images.pictures.reading import Picture

__all__ = ["Recogniser"]


class Recogniser:
    """Learns people from faces, and names those of other faces."""

    people: NDArray[Any]
    """Known people, in the order of the columns of scores."""

    def __init__(self, components: int = 80, shrinkage: float = 0.1, *, whitened: bool = False) -> None:
        if not is_whole(components) or components < 1:
            raise ParameterError("the number of components is a whole number from 1 on.")
        if not is_number(shrinkage) or not 0 < shrinkage <= 1:
            raise ParameterError("shrinkage is a number above 0, and at most 1.")
        self._components, self._shrinkage, self._whitened = components, float(shrinkage), whitened

    def fit(self, faces: Picture, labels: Sequence[Any] | NDArray[Any]) -> Self:
        """Learn from faces whose people are known."""
        self.people, who = np.unique(np.asarray(labels), return_inverse=True)
        if len(faces) != len(who) or len(self.people) < 2:
            raise DataError("a recogniser learns from faces of two people or more, each face with its label.")
        self._basis = Basis.fit(_flat(faces), self._components)
        places = self._places(faces)
        counts = np.bincount(who)
        means = np.stack([np.bincount(who, column) for column in places.T], 1) / counts[:, None]
        away = places - means[who]
        covariance = away.T @ away / len(away)
        # One face each does not show how a face varies: then all directions count as they vary among people.
        sphere = covariance.trace() / len(covariance) or float(places.std(0)[0] ** 2)
        covariance = (1 - self._shrinkage) * covariance + self._shrinkage * sphere * np.eye(len(covariance))
        self._covariance: Floats = covariance
        self._slopes: Floats = np.asarray(np.linalg.solve(covariance, means.T), np.float64)
        self._offsets: Floats = -0.5 * np.einsum("ij,ji->i", means, self._slopes)
        return self

    def scores(self, faces: Picture) -> Floats:
        """The probability of each person (a column) for each face (a row)."""
        self._learned()
        return np.asarray(softmax(self._places(faces) @ self._slopes + self._offsets, axis=1))

    def predict(self, faces: Picture) -> NDArray[Any]:
        """The most likely person for each face."""
        scores = self.scores(faces)
        return np.asarray(self.people[scores.argmax(1)])

    @property
    def linear(self) -> tuple[Floats, Floats]:
        """Slopes (pixels between 0 and 1, people) and offsets of the logarithms of scores, up to what all people share."""
        self._learned()
        slopes = self._basis.directions.T @ self._slopes
        return slopes, self._offsets - self._basis.mean @ slopes

    @property
    def features(self) -> tuple[Floats, Floats]:
        """Slopes and offsets of coordinates in which one person varies as a sphere: the features without the last step."""
        self._learned()
        slopes = np.linalg.solve(np.linalg.cholesky(self._covariance), self._basis.directions).T
        return np.asarray(slopes), np.asarray(-self._basis.mean @ slopes)

    def _learned(self) -> None:
        if not hasattr(self, "_basis"):
            raise ParameterError("the recogniser has learned nothing yet; call fit first.")

    def _places(self, faces: Picture) -> Floats:
        found = self._basis.forward(_flat(faces))
        return found / self._basis.spreads if self._whitened else found


def _flat(faces: Picture) -> Floats:
    given = np.asarray(faces)
    if given.ndim != 4:
        raise DataError("faces have one size: pictures, rows, columns and channels.")
    return given.reshape(len(given), -1) / 255.0
