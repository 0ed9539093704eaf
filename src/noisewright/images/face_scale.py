r"""Meaning of an epsilon for faces, measured on the public faces of a model instead of assumed.

An epsilon on codes is meaningful only with its metric: it is for opposite corners of a public box, and people are
nearer to each other than that. Therefore a model keeps the codes of some of its public faces
(:mod:`~noisewright.images.faces.models.gallery`), and for a mechanism they give

* how far apart two people are, typically (the median) and at the closest, and two faces of one person;
* the odds that epsilon allows at these distances, :math:`e^{\epsilon d}`;
* how often the best possible attacker names the right one of these people, who sees one release and knows all of their
  codes; and what epsilon alone allows anyone (:func:`~noisewright.images.attackers.bayes.gallery_risk`).

All of it is about public faces, and is published with the guarantee. Other people may be closer, or farther apart.

>>> from noisewright.images.faces import LatentObfuscator, shipped_model
>>> found = measured_on_public_faces(LatentObfuscator(shipped_model(), epsilon=50))
>>> found.people, found.closest < found.typical, found.chance < found.best <= found.bound
(68, True, True)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.claims.phrases import measured_parts
from noisewright.core.certificates.checker import checker_version1
from noisewright.core.exact import upward
from noisewright.images.attackers.bayes import BayesAttacker
from noisewright.images.faces.obfuscator import LatentObfuscator

__all__ = ["FaceScale", "measured_on_public_faces"]

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
