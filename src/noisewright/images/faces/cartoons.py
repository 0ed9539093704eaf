"""Made-up faces, drawn in code: no one's, for examples, tests and first models.

People differ in the shape of the head, colours, hair, eyes, brows, nose and beard; an expression changes the mouth alone. Edges
are smooth: a picture is drawn three times as large.

>>> faces, people = cartoon_faces(5, size=16)
>>> faces.shape, people.tolist()[:6]
((20, 16, 16, 3), [0, 0, 0, 0, 1, 1])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.images.pictures.reading import Picture

__all__ = ["cartoon_faces"]

MOUTHS = (-1.0, -0.5, 0.0, 1.0)
"""Curvature of the mouth for each expression: sad, doubtful, neutral, happy."""
TRAITS, FINER = 12, 3


def cartoon_faces(
    people: int, expressions: int = len(MOUTHS), *, size: int = 24, seed: int = 0
) -> tuple[Picture, NDArray[np.int64]]:
    """``people * expressions`` faces of ``size`` x ``size`` pixels in colour, and whose they are; others for other seeds."""
    if not all(is_whole(number) and number >= 1 for number in (people, expressions, size)) or expressions > len(MOUTHS):
        raise ParameterError(
            f"people and size are whole numbers from 1 on, and there are 1 to {len(MOUTHS)} expressions."
        )
    traits = np.random.default_rng(seed).random((people, TRAITS))
    drawn = [_face(own, bend, size) for own in traits for bend in MOUTHS[:expressions]]
    return np.stack(drawn), np.repeat(np.arange(people), expressions)


def _face(traits: Floats, bend: float, size: int) -> Picture:
    many = size * FINER
    y, x = (np.mgrid[:many, :many] + 0.5) / many
    x = x - 0.5
    picture = np.full((many, many, 3), 250.0)
    wide, long, hair, eyes, gap, nose, brow, beard, skin_tone, red, green, iris = traits.tolist()
    skin = np.array([235 - 110 * skin_tone, 200 - 110 * skin_tone, 170 - 100 * skin_tone])
    tint = np.array([20 + 200 * red, 20 + 140 * green, 20 + 60 * red])
    across, down = 0.26 + 0.12 * wide, 0.3 + 0.12 * long
    head = (x / across) ** 2 + ((y - 0.55) / down) ** 2
    picture[(x / (across + 0.06)) ** 2 + ((y - 0.5 + 0.08 * hair) / (down + 0.03)) ** 2 < 1] = tint
    picture[head < 1] = skin
    picture[(head < 1) & (y < 0.28 + 0.14 * hair)] = tint
    for side in (-1, 1):
        place = side * (0.09 + 0.06 * gap)
        picture[(x - place) ** 2 + (y - 0.48) ** 2 < (0.025 + 0.03 * eyes) ** 2] = 30, 60 * iris, 90
        picture[(abs(x - place) < 0.06) & (abs(y - 0.4 + 0.03 * brow) < 0.012 + 0.02 * brow)] = 0.6 * tint
    picture[(abs(x) < 0.015 + 0.03 * nose) & (abs(y - 0.58) < 0.06)] = 0.8 * skin
    picture[(head < 1) & (y > 0.95 - 0.2 * beard)] = 0.5 * tint + 0.5 * skin
    picture[(abs(x) < 0.1) & (abs(y - 0.74 + bend * (6 * x**2 - 0.03)) < 0.02)] = 150, 30, 40
    return np.asarray(np.rint(picture.reshape(size, FINER, size, FINER, 3).mean((1, 3))), np.uint8)
