"""Synthetic faces made in code: people differ in shape, colours and features; expressions change the mouth alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.images.pictures.reading import Picture

SIZE = 24
MOUTHS = (-1.0, -0.6, 0.0, 1.0)


def cartoon_faces(people: int, expressions: int = len(MOUTHS), seed: int = 0) -> tuple[Picture, NDArray[np.int64]]:
    """``people * expressions`` faces of 24 x 24 pixels in colour, and whose they are."""
    rng = np.random.default_rng(seed)
    drawn = [_face(traits, mood) for traits in rng.random((people, 12)) for mood in range(expressions)]
    return np.stack(drawn), np.repeat(np.arange(people), expressions)


def _face(traits: NDArray[np.float64], mood: int) -> Picture:
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) / SIZE
    x = x - 0.5
    picture = np.full((SIZE, SIZE, 3), 250.0)

    def paint(where: NDArray[np.bool_], colour: NDArray[np.float64]) -> None:
        picture[where] = colour

    wide, long, hair, eyes, gap, nose, brow, beard = traits[:8]
    skin = np.array([235 - 110 * traits[8], 200 - 110 * traits[8], 170 - 100 * traits[8]])
    tint = np.array([20 + 200 * traits[9], 20 + 140 * traits[10], 20 + 60 * traits[9]])
    across, down = 0.26 + 0.12 * wide, 0.3 + 0.12 * long
    head = (x / across) ** 2 + ((y - 0.55) / down) ** 2
    paint((x / (across + 0.06)) ** 2 + ((y - 0.5 + 0.08 * hair) / (down + 0.03)) ** 2 < 1, tint)
    paint(head < 1, skin)
    paint((head < 1) & (y < 0.28 + 0.14 * hair), tint)
    for side in (-1, 1):
        place = side * (0.09 + 0.06 * gap)
        paint((x - place) ** 2 + (y - 0.48) ** 2 < (0.025 + 0.03 * eyes) ** 2, np.array([30, 60 * traits[11], 90.0]))
        paint((abs(x - place) < 0.06) & (abs(y - 0.4 + 0.03 * brow) < 0.012 + 0.02 * brow), 0.6 * tint)
    paint((abs(x) < 0.015 + 0.03 * nose) & (abs(y - 0.58) < 0.06), 0.8 * skin)
    paint((head < 1) & (y > 0.95 - 0.2 * beard), 0.5 * tint + 0.5 * skin)
    paint((abs(x) < 0.1) & (abs(y - 0.72 + MOUTHS[mood] * (9 * x**2 - 0.03)) < 0.025), np.array([150, 30, 40.0]))
    return np.clip(picture, 0, 255).astype(np.uint8)
