"""A trial of methods on the faces of a folder, or on made-up ones: who is attacked, by which model, and every row of the table.

Without a model, half of the people count as public: eigenfaces are trained on their faces, and the others are
attacked. The made-up faces are always shared out like that. Recognisers of attributes, such as genders, learned them
from the public half.

>>> trial = Trial.of()
>>> trial.people, trial.model_words
(67, 'eigenfaces of 544 faces of 68 other people')
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.core.choices import one_of
from noisewright.core.errors import DataError, FileFormatError
from noisewright.files.folders import Problem
from noisewright.files.scratch import scratch_folder
from noisewright.images.attackers.on_pictures import LabelledFaces
from noisewright.images.attackers.recogniser import Recogniser
from noisewright.images.attackers.risks import Attribute, FaceAttacks, Risk
from noisewright.images.baselines.adhoc import blurred_picture, boxed, inpainted, noisy_singular_values, pixelised
from noisewright.images.baselines.k_same import k_same_codes
from noisewright.images.faces.models.eigenfaces import Eigenfaces, train_eigenfaces
from noisewright.images.faces.models.model import FaceModel, open_model
from noisewright.images.faces.models.public_faces import PublicFaces, read_faces
from noisewright.images.faces.obfuscator import LatentObfuscator
from noisewright.images.faces.sprites import SIDE, sprite_faces
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.regions import Region
from noisewright.images.pixels.exponential import pixel_exponential
from noisewright.images.pixels.laplace import pixel_laplace
from noisewright.images.pixels.windows import pixel_windows

__all__ = ["PIXELS", "Trial"]

ASKED = "neutral"
BLUR, BLOCK, SINGULAR = 2.0, 8, 1.0
PIXELS: dict[str, Any] = {"laplace": pixel_laplace, "exponential": pixel_exponential, "windows": pixel_windows}


@dataclass(frozen=True, eq=False)
class Trial:
    """People, a model, and attacks on them; make one with :meth:`of`."""

    source: str
    model: FaceModel
    model_words: str
    attacks: FaceAttacks
    problems: tuple[Problem, ...] = ()
    """The files that could not be read, and why: they are not in the trial."""

    @classmethod
    def of(
        cls,
        folder: str | os.PathLike[str] | None = None,
        model: str | os.PathLike[str] | None = None,
        *,
        size: int = SIDE,
        copies: int = 10,
        seed: int = 0,
    ) -> Trial:
        """The faces of a folder (:func:`~noisewright.images.faces.read_faces`), or made-up ones; a model's file, or eigenfaces.

        ``size`` is how large the faces of a folder are made where there is no model.
        """
        given = None if model is None else open_model(model)
        faces = _made_up() if folder is None else _folder(Path(folder), given, size)
        people = np.asarray(faces.people)
        names = np.unique(people)
        public = np.isin(people, names[: len(names) // 2 + (folder is None)])
        hidden = np.full(len(people), True) if given is not None and folder is not None else ~public
        asked = np.zeros(len(people), bool)
        asked[np.unique(people, return_index=True)[1]] = True
        asked &= hidden
        attributes = {}
        for name, values in faces.attributes.items() if (public & ~hidden).any() else ():
            told = np.asarray(values)
            if told.dtype.kind != "f" and len(np.unique(told[public])) > 1:
                attributes[name] = Attribute(Recogniser().fit(faces.pictures[public], told[public]), told[asked])
        words = "" if given is None else f"{given.resource.name}, {len(given.low)} elements"
        if given is None:
            given = _eigenfaces(faces.pictures[public])
            words = f"eigenfaces of {public.sum()} faces of {len(np.unique(people[public]))} other people"
        known, one = (LabelledFaces(faces.pictures[some], people[some]) for some in (hidden & ~asked, asked))
        return cls(faces.source, given, words, FaceAttacks(known, one, attributes, copies, seed=seed), faces.problems)

    @property
    def people(self) -> int:
        """Return how many people are attacked."""
        return len(self.attacks.asked.people)

    @property
    def chance(self) -> float:
        """Return how often a blind guess is right."""
        return 1 / self.people

    @property
    def known(self) -> str:
        """Knowledge of attackers, in words."""
        many = len(self.attacks.known.pictures) / self.people
        return f"of whom {many:.3g} faces each are known and one is asked about"

    def noisy(self, epsilon: Fraction, components: int | None = None) -> Risk:
        """Noise on codes."""
        hidden = LatentObfuscator(self.model, epsilon=epsilon, components=components)
        return self.attacks.codes(hidden, f"epsilon {float(epsilon):g}")

    def pixels(self, kind: str, epsilon: Fraction, block: int = BLOCK) -> Risk:
        """A mechanism on blocks of pixels with this side, or as large as faces are."""
        height, width, channels = self.attacks.asked.pictures.shape[1:]
        one_of(kind, "kind", tuple(PIXELS))
        made = PIXELS[kind](
            epsilon=epsilon,
            width=width,
            height=height,
            block=min(block, height, width),
            colours="grey" if channels == 1 else "rgb",
        )
        return self.attacks.pixels(made, f"{kind}, {float(epsilon):g}")

    def k_same(self, k: int) -> Risk:
        """Means of the codes of k people or more."""
        return self.attacks.k_same(lambda faces, rng: k_same_codes(self.model, faces, k, rng=rng), f"k-same, k = {k}")

    def adhoc(self) -> list[Risk]:
        """Ad hoc methods on faces: a blur, blocks, a box, a box that is filled in, noise on singular values."""
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


def _made_up() -> PublicFaces:
    """The made-up faces, of everyone the one that is asked about first."""
    found = sprite_faces()
    first = np.lexsort((found.expressions != ASKED, found.people))
    return PublicFaces(
        found.pictures[first], found.people[first], {"gender": found.genders[first]}, source="made-up faces"
    )


def _folder(place: Path, model: FaceModel | None, size: int) -> PublicFaces:
    if model is None:
        faces = read_faces(place, size=size)
    else:
        height, width, channels = model.shape
        if height != width:
            raise DataError("faces of a folder are made square, and the model is of others; give another model.")
        faces = read_faces(place, size=height, colours="grey" if channels == 1 else "rgb")
    if faces.people is None:
        raise FileFormatError("a trial needs to know whose faces are whose: put them into a folder for each person.")
    _, counts = np.unique(np.asarray(faces.people), return_counts=True)
    if len(counts) < 4 or counts.min() < 2:
        unread = "".join(f" {path.name}: {why}" for path, why in faces.problems[:1])
        raise FileFormatError(f"a trial needs four people or more, with two faces or more of each.{unread}")
    return faces


def _eigenfaces(public: Picture) -> Eigenfaces:
    with scratch_folder() as folder:
        model = train_eigenfaces(Path(folder, "public.nwm"), public, source="the public half of a trial")
        _ = model.shape  # read, before the file is gone
    return model
