"""People and their background: the outline of a head, and a head on white, as some models have been shown faces.

The outline of a head shows its hair. Where places are hidden by outlines and not by rectangles, the background next to
a head stays, and the outline is in the clear.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.resizing import recoloured, resized
from noisewright.images.pipeline.detection import Face
from noisewright.images.pipeline.networks import NETWORKS, run
from noisewright.images.pipeline.places import Cover, Place

__all__ = ["IN_THE_CLEAR", "on_white", "outline_of", "person_in"]

IN_THE_CLEAR = "outlines"
MAYBE = 0.1
"""Smallest probability of a person for a pixel hidden with the outline."""
WIDER = 0.04
"""Width by which an outline is enlarged, relative to the width of the place."""


def person_in(frame: Picture) -> Floats:
    """Return how much each pixel of a square picture, of the side that the network takes, belongs to a person: from 0 to 1."""
    side = NETWORKS["people"].side
    (found,) = run("people", recoloured(frame, 3)).values()
    return found.reshape(side, side)


def outline_of(picture: Picture, face: Face, place: Place) -> NDArray[np.bool_]:
    """Return which pixels of a picture are of the person in a place, generously, and of the face in any case."""
    from scipy.ndimage import maximum_filter

    height, width = picture.shape[:2]
    side = NETWORKS["people"].side
    frame = Cover.of([place], height, width).frame(picture, 0, (side, side))
    person = maximum_filter((person_in(frame) > MAYBE).astype(np.uint8), size=2 * round(WIDER * side) + 1) > 0
    rows, columns = place.bounds(height, width)
    y, x = np.mgrid[rows, columns] + 0.5
    across, down = (np.clip((part * side).astype(np.int64), 0, side - 1) for part in place.to_frame(x, y))
    near = np.hypot(x - face.middle[0], y - face.middle[1]) < 0.75 * face.side
    result = np.zeros((height, width), bool)
    result[rows, columns] = person[down, across] | near
    return result


def on_white(frame: Picture, height: int, width: int) -> Picture:
    """The person in a square picture on white, with the given numbers of rows and columns."""
    side = NETWORKS["people"].side
    person = person_in(resized(frame, side, side))[..., None]
    shown = np.asarray(np.rint(resized(frame, side, side) * person + 255 * (1 - person)), np.uint8)
    return resized(shown, height, width)
