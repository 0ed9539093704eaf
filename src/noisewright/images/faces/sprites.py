"""Made-up faces of 135 people with eight expressions each, from a sheet that comes with the package.

They were drawn at random by the generator facesjs (see ``images/data/NOTICE``): frontal, in one jersey, with nothing
on their heads. People differ in hair, colours, shape and features, an expression changes the mouth alone, and every
other person is a woman. Therefore there are labelled faces for training, attacks and tests where no photographs can be
had.

>>> faces = sprite_faces()
>>> faces.pictures.shape, faces.people[:9].tolist()
((1080, 48, 48, 3), [0, 0, 0, 0, 0, 0, 0, 0, 1])
>>> [str(expression) for expression in faces.expressions[:3]], str(faces.genders[0])
(['neutral', 'smiling', 'laughing'], 'female')
>>> len(faces.of(range(68)).pictures), len(faces.showing("neutral").pictures)
(544, 135)
>>> sprite_landmarks().shape
(135, 32, 2)
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.images.pictures.reading import Picture, read_picture

__all__ = [
    "EXPRESSIONS",
    "OUTLINES",
    "PEOPLE",
    "SHEET",
    "SIDE",
    "SpriteFaces",
    "sprite_faces",
    "sprite_landmarks",
]

SHEET = Path(__file__).parents[1] / "data" / "sprites.png"
OUTLINES = SHEET.with_name("sprites.json")
FEATURES = ((140, 310), (260, 310), (140, 270), (260, 270), (200, 370), (170, 440), (200, 440), (230, 440))
"""Where eyes, brows, nose and mouth are in every drawing, of which a square is shown."""
LEFT, TOP, WIDE = -50, 60, 500
PEOPLE, SIDE = 135, 48
EXPRESSIONS = ("neutral", "smiling", "laughing", "angry", "surprised", "pouting", "doubtful", "sad")
GENDERS = ("female", "male")


class SpriteFaces(NamedTuple):
    """Faces, and of each whose it is, with which expression, and whether of a woman or a man."""

    pictures: Picture
    people: NDArray[np.int64]
    expressions: NDArray[np.str_]
    genders: NDArray[np.str_]

    def of(self, people: Collection[int]) -> SpriteFaces:
        """The faces of these people alone."""
        return self._where(np.isin(self.people, list(people)))

    def showing(self, *expressions: str) -> SpriteFaces:
        """The faces with one of these expressions alone."""
        return self._where(np.isin(self.expressions, expressions))

    def _where(self, chosen: NDArray[np.bool_]) -> SpriteFaces:
        return SpriteFaces(self.pictures[chosen], self.people[chosen], self.expressions[chosen], self.genders[chosen])


def sprite_faces() -> SpriteFaces:
    """All of them, person by person."""
    many = len(EXPRESSIONS)
    sheet = read_picture(SHEET).reshape(PEOPLE, SIDE, many, SIDE, 3)
    people = np.repeat(np.arange(PEOPLE), many)
    return SpriteFaces(
        np.ascontiguousarray(sheet.transpose(0, 2, 1, 3, 4)).reshape(-1, SIDE, SIDE, 3),
        people,
        np.tile(np.array(EXPRESSIONS), PEOPLE),
        np.array(GENDERS)[people % 2],
    )


def sprite_landmarks() -> Floats:
    """Return for each person coordinates x, y in pixels: 24 around the head, then eyes, brows, nose and mouth; of all
    expressions."""
    around = np.array(json.loads(OUTLINES.read_text(encoding="utf-8")))
    inside = (np.array(FEATURES) - (LEFT, TOP)) * SIDE / WIDE - 0.5
    return np.concatenate([around, np.broadcast_to(inside, (PEOPLE, *inside.shape))], 1)
