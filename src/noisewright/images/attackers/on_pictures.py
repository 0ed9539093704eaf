r"""Success rates of attackers who see obfuscated pictures and name the right person.

=============  ===============================================  =====================================================
attack         learns from                                      is asked about
=============  ===============================================  =====================================================
``clean``      clean pictures                                   clean pictures: how well people are told apart at all
``naive``      clean pictures                                   obfuscated ones
``parrot``     pictures that it obfuscated itself               obfuscated ones, with noise that it never saw
``reverse``    pictures that it obfuscated itself               clean ones
``composed``   clean pictures                                   two obfuscated ones of each: scores are added up
=============  ===============================================  =====================================================

The strongest of them is the number to report, and never the naive one alone; next to it belongs the best possible
attacker on codes (:mod:`noisewright.images.attackers.bayes`). Nothing of this is private: the numbers are computed
from the faces themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.images.attackers.recogniser import Recogniser
from noisewright.images.pictures.reading import Picture

__all__ = ["LabelledFaces", "PictureAttackers", "picture_risks"]

Obfuscate = Callable[[Picture], Picture]
"""A mechanism on faces: new faces for old ones, with new noise every time."""


@dataclass(frozen=True, eq=False)
class LabelledFaces:
    """Faces, and whose they are."""

    pictures: Picture
    people: NDArray[Any] | Sequence[Any]

    def __post_init__(self) -> None:
        if self.pictures.ndim != 4 or not len(self.pictures) or len(self.pictures) != len(self.people):
            raise DataError("faces have one size, and every face has the label of its person.")

    def repeated(self, obfuscate: Obfuscate, copies: int) -> LabelledFaces:
        """Return the given number of obfuscated copies of each."""
        noisy = np.concatenate([obfuscate(self.pictures) for _ in range(copies)])
        return LabelledFaces(noisy, np.tile(np.asarray(self.people), copies))


class PictureAttackers:
    """Attackers who know some faces of people, and are asked about others of the same people."""

    def __init__(
        self, known: LabelledFaces, asked: LabelledFaces, recogniser: Callable[[], Recogniser] = Recogniser
    ) -> None:
        self.known, self.asked, self._recogniser = known, asked, recogniser
        self.naive = recogniser().fit(known.pictures, known.people)

    def risks(self, learned: LabelledFaces, first: LabelledFaces, second: LabelledFaces) -> dict[str, float]:
        """The share of right answers of each attack, by obfuscated faces to learn from, and two releases of those asked about."""
        parrot = self._recogniser().fit(learned.pictures, learned.people)
        both = self.naive.scores(first.pictures) + self.naive.scores(second.pictures)
        return {
            "clean": _share(self.naive.predict(self.asked.pictures), self.asked),
            "naive": _share(self.naive.predict(first.pictures), first),
            "parrot": _share(parrot.predict(first.pictures), first),
            "reverse": _share(parrot.predict(self.asked.pictures), self.asked),
            "composed": _share(self.naive.people[both.argmax(1)], first),
        }


def picture_risks(
    known: LabelledFaces,
    asked: LabelledFaces,
    obfuscate: Obfuscate,
    *,
    copies: int = 3,
    recogniser: Callable[[], Recogniser] = Recogniser,
) -> dict[str, float]:
    """The share of right answers of each attack, over ``copies`` obfuscations of the known and of the attacked pictures."""
    if not is_whole(copies) or copies < 1:
        raise ParameterError("copies is a whole number from 1 on.")
    learned = known.repeated(obfuscate, copies)
    first, second = asked.repeated(obfuscate, copies), asked.repeated(obfuscate, copies)
    return PictureAttackers(known, asked, recogniser).risks(learned, first, second)


def _share(found: NDArray[Any], truth: LabelledFaces) -> float:
    return float((found == np.asarray(truth.people)).mean())
