"""A trial of methods on the faces of a folder, or on made-up ones: who is attacked, by which model, and every row of the table.

Without a model, half of the people count as public: eigenfaces are trained on their faces, and the others are attacked. The
made-up faces are always shared out like that, and who tells a gender learned it from the public half.

>>> trial = Trial.of()
>>> trial.people, trial.model_words
(67, 'eigenfaces of 544 faces of 68 other people')
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from noisewright.core.errors import FileFormatError
from noisewright.files.folders import files_in
from noisewright.images.attackers.on_pictures import LabelledFaces
from noisewright.images.attackers.recogniser import Recogniser
from noisewright.images.attackers.risks import Attribute, FaceAttacks, Risk
from noisewright.images.baselines.adhoc import blurred_picture, boxed, inpainted, noisy_singular_values, pixelised
from noisewright.images.baselines.k_same import k_same_codes
from noisewright.images.faces.eigenfaces import Eigenfaces, train_eigenfaces
from noisewright.images.faces.model import FaceModel
from noisewright.images.faces.obfuscator import LatentObfuscator
from noisewright.images.faces.sprites import PEOPLE, sprite_faces
from noisewright.images.obfuscation import SUFFIXES
from noisewright.images.pictures.reading import Picture, read_picture
from noisewright.images.pictures.regions import Region

__all__ = ["Trial"]

PUBLIC = 68
"""So many of the made-up people are public."""
ASKED = "neutral"
BLUR, BLOCK, SINGULAR = 2.0, 8, 10.0


@dataclass(frozen=True, eq=False)
class Trial:
    """People, a model, and attacks on them; make one with :meth:`of`."""

    source: str
    model: FaceModel
    model_words: str
    attacks: FaceAttacks

    @classmethod
    def of(
        cls,
        folder: str | os.PathLike[str] | None = None,
        model: str | os.PathLike[str] | None = None,
        *,
        copies: int = 10,
        seed: int = 0,
    ) -> Trial:
        """The faces of a folder that has a folder for each person, or made-up ones; the model in a file, or eigenfaces."""
        given = None if model is None else Eigenfaces.at(model)
        words = "" if given is None else f"{given.resource.name}, {len(given.low)} components"
        if folder is None:
            every = sprite_faces()
            public, hidden = every.of(range(PUBLIC)), every.of(range(PUBLIC, PEOPLE))
            asked = hidden.expressions == ASKED
            recogniser = Recogniser().fit(public.pictures, public.genders)
            attributes = {"gender": Attribute(recogniser, hidden.genders[asked])}
            others = LabelledFaces(public.pictures, public.people)
            faces = LabelledFaces(hidden.pictures, hidden.people)
            name = "made-up faces"
        else:
            all_of, attributes, name = _folder(Path(folder)), {}, Path(folder).name
            people = np.unique(all_of.people)
            others = _of(all_of, np.isin(all_of.people, people[: len(people) // 2]))
            faces = all_of if given is not None else _of(all_of, ~np.isin(all_of.people, others.people))
            asked = np.zeros(len(faces.pictures), bool)
            asked[np.unique(np.asarray(faces.people), return_index=True)[1]] = True
        if given is None:
            given = _eigenfaces(others)
            words = f"eigenfaces of {len(others.pictures)} faces of {len(np.unique(others.people))} other people"
        attacks = FaceAttacks(_of(faces, ~asked), _of(faces, asked), attributes, copies, seed=seed)
        return cls(name, given, words, attacks)

    @property
    def people(self) -> int:
        """How many people are attacked."""
        return len(self.attacks.asked.people)

    @property
    def chance(self) -> float:
        """How often a blind guess is right."""
        return 1 / self.people

    @property
    def known(self) -> str:
        """What attackers have, in words."""
        many = len(self.attacks.known.pictures) / self.people
        return f"of whom {many:.3g} faces each are known and one is asked about"

    def noisy(self, epsilon: Fraction, components: int | None = None) -> Risk:
        """Noise on codes."""
        hidden = LatentObfuscator(self.model, epsilon=epsilon, components=components)
        return self.attacks.codes(hidden, f"epsilon {float(epsilon):g}")

    def k_same(self, k: int) -> Risk:
        """Means of the codes of k people or more."""
        return self.attacks.k_same(lambda faces, rng: k_same_codes(self.model, faces, k, rng=rng), f"k-same, k = {k}")

    def adhoc(self) -> list[Risk]:
        """What people do to faces: a blur, blocks, a box, a box that is filled in, noise on singular values."""
        height, width = self.attacks.asked.pictures.shape[1:3]
        middle = Region(round(0.29 * width), round(0.37 * height), round(0.42 * width), round(0.46 * height))
        rng = np.random.default_rng(self.attacks.seed)

        def noisy(faces: Picture) -> Picture:
            return np.stack([noisy_singular_values(face, SINGULAR, rng) for face in faces])

        fixed = self.attacks.fixed
        return [
            fixed(lambda face: blurred_picture(face, BLUR), f"blur of {BLUR:g} pixels"),
            fixed(lambda face: pixelised(face, BLOCK), f"blocks of {BLOCK} pixels"),
            fixed(lambda face: boxed(face, middle), "box"),
            fixed(lambda face: inpainted(face, middle), "box, filled in"),
            fixed(lambda face: inpainted(face, middle, self.model), "box, mean face"),
            self.attacks.drawn(noisy, "singular values"),
        ]


def _of(faces: LabelledFaces, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> LabelledFaces:
    return LabelledFaces(faces.pictures[chosen], np.asarray(faces.people)[chosen])


def _eigenfaces(public: LabelledFaces) -> Eigenfaces:
    with tempfile.TemporaryDirectory() as folder:
        model = train_eigenfaces(Path(folder, "public.nwm"), public.pictures, source="the public half of a trial")
        _ = model.shape  # read, before the file is gone
    return model


def _folder(place: Path) -> LabelledFaces:
    """All faces of a folder, by the folders that they are in."""
    if not place.is_dir():
        raise FileFormatError(f"{place} is no folder; name one that has a folder with faces for each person.")
    files = files_in([place], SUFFIXES, "faces")
    people = [file.parent.relative_to(place).as_posix() for file in files]
    counts = {person: people.count(person) for person in people}
    if len(counts) < 4 or min(counts.values()) < 2:
        raise FileFormatError("a trial needs four people or more, with a folder of two faces or more for each.")
    found = [read_picture(file) for file in files]
    if len({picture.shape for picture in found}) > 1:
        raise FileFormatError("faces have one size, and are all grey or all in colour; align and resize them first.")
    return LabelledFaces(np.stack(found), np.array(people))
