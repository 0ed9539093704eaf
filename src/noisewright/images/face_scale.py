r"""What an epsilon means for faces, measured on the public faces of a model instead of assumed.

An epsilon on codes says nothing by itself: it is for opposite corners of a public box, and people are nearer to each other than
that. So a model keeps the codes of some of its public faces (:mod:`~noisewright.images.faces.models.gallery`), and for a
mechanism they tell

* how far apart two people are, typically (the median) and at the closest, and two faces of one person;
* the odds that epsilon allows at these distances, :math:`e^{\epsilon d}`;
* how often the best possible attacker names the right one of these people, who sees one release and knows all of their codes;
  and what epsilon alone allows anybody (:func:`~noisewright.images.attackers.bayes.gallery_risk`).

All of it is about public faces, and is published with the promise. Other people may be closer, or farther apart.

>>> from noisewright.images.faces import LatentObfuscator, shipped_model
>>> found = measured_on_public_faces(LatentObfuscator(shipped_model(), epsilon=50))
>>> found.people, found.closest < found.typical, found.chance < found.best <= found.bound
(68, True, True)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noisewright.core.exact import upward
from noisewright.core.guarantee import factor_in_words
from noisewright.images.attackers.bayes import BayesAttacker
from noisewright.images.faces.obfuscator import LatentObfuscator

__all__ = ["FaceScale", "measured_on_public_faces"]

DRAWS, TOLERANCE = 4000, 0.04
"""About so many faces are drawn to see how often the best attacker is right; two such shares differ by less than this."""
ATTACK = "the best attacker on one release names"


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
    """The median distance between two faces of one person; None where nobody is there twice."""
    best: float
    """How often the best attacker on one release is right about these people."""
    bound: float
    """How often epsilon allows anybody to be right about them."""

    @property
    def chance(self) -> float:
        """How often a blind guess is right."""
        return 1 / self.people

    def in_words(self) -> tuple[str, ...]:
        """Half sentences for a certificate, a plan and a person."""
        rows = [("two typical people", self.typical), ("the closest two", self.closest)]
        rows += [] if self.faces is None else [("two faces of one", self.faces)]
        odds = [
            f"{who}: {apart:.3f} apart, odds change by up to {factor_in_words(self.epsilon * apart)}"
            for who, apart in rows
        ]
        attack = f"{ATTACK} {_percent(self.best)} of them (chance: {_percent(self.chance)})"
        many = f"{self.components} component{'s' if self.components > 1 else ''}"
        return (f"{self.people} public people, {many}", *odds, attack)

    def says(self, told: Sequence[str]) -> bool:
        """Whether this is what somebody else measured: the same distances and odds, and a rate within what draws differ by."""
        *own, attack = self.in_words()
        rates = [re.match(rf"{ATTACK} ([0-9]{{1,3}}(?:\.[0-9]+)?) %", text) for text in (attack, *told[-1:])]
        known = [float(rate[1]) for rate in rates if rate is not None]
        return own == list(told[:-1]) and len(known) == 2 and abs(known[0] - known[1]) <= 100 * TOLERANCE


def measured_on_public_faces(hidden: LatentObfuscator) -> FaceScale | None:
    """The scale of a mechanism on the public faces of its model; None where the file keeps none of two people or more."""
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
        attacker.success(copies, np.random.default_rng(0)),  # a simulation that anybody can repeat
        attacker.bound,
    )


def _percent(share: float) -> str:
    return f"{upward(100 * share, 2)} %"
