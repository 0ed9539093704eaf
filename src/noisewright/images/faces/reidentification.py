r"""The best possible attacker on noisy codes, and what epsilon allows any attacker of a gallery.

A decoded face is a function of its noisy code, so no one who sees the face can do better than someone who sees the
code itself. For a known gallery of candidates the likelihood of candidate x given a noisy code z is ``e^(-|x - z| /
t)`` times what all candidates share, at the border of the box as well as inside
(:mod:`noisewright.images.faces.latent_noise`). Therefore the attacker with the highest chance names the candidate
nearest to what was released; for several releases, the candidate with the least sum of distances. An attack on
pictures that does worse than this has not shown that a face is safe.

Before anything is drawn, the guarantee alone says that the belief in candidate i, all being equally likely, is at most
:math:`1 / \sum_j e^{-\varepsilon d(x_i, x_j)}` (:func:`gallery_risk`).

>>> from noisewright.images import CodeSpace, NoisyCodes
>>> noisy = NoisyCodes(200, CodeSpace.of([0, 0], [1, 1]))
>>> attacker = BayesAttacker(noisy, [[0.1, 0.2], [0.8, 0.4], [0.5, 0.9]])
>>> attacker.guesses(noisy.release([[0.5, 0.9], [0.1, 0.2]], np.random.default_rng(1))).tolist()
[2, 0]
>>> attacker.success(100, np.random.default_rng(1)) <= attacker.bound
True

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

An epsilon on codes is meaningful only with its metric: it is for opposite corners of a public box, and people are
nearer to each other than that. Therefore a model keeps the codes of some of its public faces
(:mod:`~noisewright.images.faces.public_faces`), and for a mechanism they give

* how far apart two people are, typically (the median) and at the closest, and two faces of one person;
* the odds that epsilon allows at these distances, :math:`e^{\epsilon d}`;
* how often the best possible attacker names the right one of these people, who sees one release and knows all of their
  codes; and what epsilon alone allows anyone (:func:`~noisewright.images.faces.reidentification.gallery_risk`).

All of it is about public faces, and is published with the guarantee. Other people may be closer, or farther apart.

>>> from noisewright.images import LatentObfuscator, shipped_model
>>> found = measured_on_public_faces(LatentObfuscator(shipped_model(), epsilon=50))
>>> found.people, found.closest < found.typical, found.chance < found.best <= found.bound
(68, True, True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax

from noisewright._typing import Floats, Indices
from noisewright._utils.validation import is_number, is_whole
from noisewright.certificates.checker import checker_version1
from noisewright.claims.figures import upward
from noisewright.claims.phrases import measured_parts
from noisewright.exceptions import DataError, ParameterError
from noisewright.images.faces.eigenfaces import Basis
from noisewright.images.faces.latent_noise import LatentObfuscator, NoisyCodes
from noisewright.images.pictures import Picture
from noisewright.numerics.exact import Exact, positive_fraction

__all__ = ["BayesAttacker", "FaceScale", "Recogniser", "gallery_risk", "measured_on_public_faces"]


TOGETHER = 256
"""Approximate number of noisy codes drawn at once."""


class BayesAttacker:
    """Knows the mechanism, the codes of a gallery, and that all its people are equally likely."""

    def __init__(self, mechanism: NoisyCodes, gallery: ArrayLike) -> None:
        self.mechanism = mechanism
        self.gallery = np.atleast_2d(mechanism.space.points(gallery))
        if len(self.gallery) < 2:
            raise DataError("a gallery has two people or more, with one code for each.")

    @property
    def bound(self) -> float:
        """Largest success probability that the guarantee allows any attacker on one release."""
        return gallery_risk(self.mechanism.space.apart(self.gallery, self.gallery), self.mechanism.epsilon)

    def beliefs(self, *releases: ArrayLike) -> Floats:
        """Return the posterior of each candidate (a column) after noisy codes (a row each), one list of rows for each
        release."""
        return np.asarray(softmax(-self._losses(*releases), axis=1))

    def guesses(self, *releases: ArrayLike) -> Indices:
        """The place of the most likely candidate for each row."""
        return np.asarray(self._losses(*releases).argmin(1))

    def success(self, copies: int, rng: np.random.Generator | None = None, *, releases: int = 1) -> float:
        """The share of right guesses when every person of the gallery is released ``releases`` times, ``copies`` times over."""
        if not all(is_whole(number) and number >= 1 for number in (copies, releases)):
            raise ParameterError("copies and releases are whole numbers from 1 on.")
        space, people, right = self.mechanism.space, len(self.gallery), 0
        together = max(1, TOGETHER // people)
        for start in range(0, copies, together):
            times = min(together, copies - start)
            asked = np.tile(self.gallery, (times, 1))
            drawn = [space.codes(self.mechanism.drawn(asked, rng)) for _ in range(releases)]
            right += int((self.guesses(*drawn) == np.tile(np.arange(people), times)).sum())
        return right / (copies * people)

    def _losses(self, *releases: ArrayLike) -> Floats:
        """Minus the logarithm of the likelihood of each candidate, up to a common term."""
        if not releases:
            raise DataError("an attacker needs one release or more.")
        space = self.mechanism.space
        apart = [space.apart(np.atleast_2d(space.points(codes)), self.gallery) for codes in releases]
        if len({len(rows) for rows in apart}) > 1:
            raise DataError("several releases are of the same people: each has a row for each of them.")
        return np.asarray(sum(apart) * float(self.mechanism.epsilon))


def gallery_risk(distances: ArrayLike, epsilon: Exact) -> float:
    """The largest belief that ``epsilon`` allows in any candidate, by the distances between all of them; a uniform prior.

    No attacker names the right candidate more often. For m releases, m times epsilon.

    >>> round(gallery_risk([[0, 0.1], [0.1, 0]], 10), 4)  # 1 / (1 + 1/e)
    0.7311
    """
    apart = np.asarray(distances, np.float64)
    if apart.ndim != 2 or apart.shape[0] != apart.shape[1] or not apart.size or not (apart >= 0).all():
        raise DataError("the distances between candidates are a square of numbers from 0 on.")
    return float(np.exp(-logsumexp(-float(positive_fraction(epsilon, "epsilon")) * apart, axis=1)).max())


# Recogniser ---------------------------------------------------------------------------------------------------------------
#
# A small recogniser of faces: principal components, then linear discriminants with a shrunk covariance.


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


# Face scale ---------------------------------------------------------------------------------------------------------------
#
# Meaning of an epsilon for faces, measured on the public faces of a model instead of assumed.


DRAWS, TOLERANCE = 4000, 0.04
"""Approximate number of faces drawn to estimate the best attacker's success; two such rates differ by less than this."""


@dataclass(frozen=True)
class FaceScale:
    """Distances between public faces, and what an epsilon allows at them."""

    epsilon: float
    people: int
    components: int
    closest: float
    """The distance between the two people who are closest."""
    typical: float
    """The median distance between two people."""
    faces: float | None
    """The median distance between two faces of one person; None where no one is there twice."""
    best: float
    """Success rate of the best attacker on one release for these people."""
    bound: float
    """Success rate that epsilon allows anyone for these people."""

    @property
    def chance(self) -> float:
        """Return how often a blind guess is right."""
        return 1 / self.people

    def record(self, source: str) -> dict[str, Any]:
        """Return the measurement as a certificate states it; ``source`` names the model, and so whose faces these are."""
        pairs = {"typical": self.typical, "closest": self.closest, "same": self.faces}
        return {
            "people": self.people,
            "components": self.components,
            **{name: self._pair(apart) for name, apart in pairs.items() if apart is not None},
            "best": upward(100 * self.best, 2),
            "chance": upward(100 * self.chance, 2),
            "source": source,
        }

    def _pair(self, apart: float) -> dict[str, str]:
        return {"apart": f"{apart:.3f}", "loss": upward(self.epsilon * apart, 6)}

    def says(self, stated: Mapping[str, Any]) -> bool:
        """Return whether someone else measured the same distances and losses, and a rate within sampling error."""
        own = self.record(str(stated.get("source", "")))
        if "texts" in stated:  # as certificates of version 1 have it
            rate = checker_version1.rate_of(stated)
            alike = [*measured_parts(own)[1:-1]] == list(stated["texts"][1:-1])
            return alike and rate is not None and self._near(rate)
        same = {name: value for name, value in own.items() if name != "best"}
        return same == {name: value for name, value in stated.items() if name != "best"} and self._near(stated["best"])

    def _near(self, rate: str) -> bool:
        return abs(float(rate) / 100 - self.best) <= TOLERANCE


def measured_on_public_faces(hidden: LatentObfuscator) -> FaceScale | None:
    """The scale of a mechanism on the public faces of its model; None if the file keeps fewer than two people."""
    gallery = getattr(hidden.model, "gallery", None)
    if gallery is None or len(one_each := gallery.one_each[:, : hidden.components]) < 2:
        return None
    attacker, space = BayesAttacker(hidden.codes, one_each), hidden.space
    apart = space.apart(attacker.gallery, attacker.gallery)[np.triu_indices(len(one_each), 1)]
    points, same = space.points(gallery.codes[:, : hidden.components]), []
    for person in np.unique(gallery.people):
        own = points[gallery.people == person]
        same.append(space.apart(own, own)[np.triu_indices(len(own), 1)])
    within = np.concatenate(same)
    copies = -(-DRAWS // len(one_each))
    return FaceScale(
        float(hidden.epsilon),
        len(one_each),
        hidden.components,
        float(apart.min()),
        float(np.median(apart)),
        float(np.median(within)) if len(within) else None,
        attacker.success(copies, np.random.default_rng(0)),  # a simulation that anyone can repeat
        attacker.bound,
    )
