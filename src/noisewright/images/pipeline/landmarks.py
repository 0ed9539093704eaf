"""Points on a face that was found: 468 of them, by which a face is turned upright, and the place of the whole head.

The network sees the face cut out and upright, by the eyes that the detector found. Points are in pixels of the picture.
"""

from __future__ import annotations

import math

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.images.pictures.reading import Picture
from noisewright.images.pipeline.detection import Face
from noisewright.images.pipeline.networks import NETWORKS, run
from noisewright.images.pipeline.places import Cover, Place

__all__ = ["EYES", "landmarks_of", "square_of", "tilt_of"]

WIDER = 1.5
"""Factor by which the network's square exceeds the detector's box."""
EYES = ((33, 133, 159, 145), (362, 263, 386, 374))
"""The corners and lids of the eye on the left of the picture, and of that on the right."""


def landmarks_of(picture: Picture, face: Face) -> Floats:
    """The points of a face (468, 2)."""
    place, side = square_of(face, WIDER), NETWORKS["landmarks"].side
    colour = np.broadcast_to(picture, (*picture.shape[:2], 3))
    cut = Cover.of([place], *picture.shape[:2]).frame(colour, 0, (side, side))
    outputs = run("landmarks", cut)
    points = next(part for part in outputs.values() if part.size == 468 * 3).reshape(468, 3)
    return np.stack(place.to_picture(points[:, 0] / side, points[:, 1] / side), axis=-1)


def square_of(face: Face, times: float) -> Place:
    """The square around the box of a face, enlarged by a factor, turned as the face is."""
    side = face.side * times
    return Place(*face.middle, side, side, tilt_of(face.points[0], face.points[1]) if face.tilt is None else face.tilt)


def tilt_of(left: Floats, right: Floats) -> float:
    """Return by how many degrees the line between two eyes is turned."""
    return math.degrees(math.atan2(right[1] - left[1], right[0] - left[0]))
