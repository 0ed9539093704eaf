"""The place of a whole head, from a face that was found: hair, ears and chin are in it, not the face alone.

Two kinds of places:

* ``loose`` ones, for mechanisms on pixels: a generous rectangle around the head;
* ``aligned`` ones, for a model of faces: a square in which the eyes are always at the same spots (:data:`EYES_AT`), as in the
  public faces that the model was made of. :func:`aligned_face` cuts faces out in the same way, to make a model of them.

The position of a place is visible, so it is rounded coarsely: sides come in steps, and middles on a grid. Rounding is
not part of any guarantee; it limits the information that the place reveals about a face.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noisewright.images.pictures.reading import Picture
from noisewright.images.pipeline.detection import Face
from noisewright.images.pipeline.landmarks import EYES, landmarks_of, tilt_of
from noisewright.images.pipeline.places import Cover, Place

__all__ = ["EYES_AT", "aligned_face", "aligned_head", "covered", "grown", "loose_head", "same_face"]

EYES_AT = ((0.39, 0.5), (0.61, 0.5))
"""Where the eyes are in an aligned square: fractions of the way across and down."""
WIDE, HIGH, UP, AROUND = 1.9, 2.0, 0.25, 2.6
"""A head against the box of the detector: how wide, how high, how far its middle is above; and all around it."""
COVERED, MOST_GROWTH, SHARED = 0.97, 1.6, 0.4


def loose_head(face: Face, margin: float = 1.0) -> Place:
    """A generous rectangle around the head; ``margin`` makes it larger or smaller. One that is large enough whichever way the
    head is turned, where that is not known."""
    if face.tilt is None:
        return _coarse(Place(*face.middle, margin * AROUND * face.side, margin * AROUND * face.side), 4, 16)
    tilt = _near(face.tilt, 15.0)
    angle, (x, y) = math.radians(tilt), face.middle
    x, y = x + UP * face.side * math.sin(angle), y - UP * face.side * math.cos(angle)
    return _coarse(Place(x, y, margin * WIDE * face.side, margin * HIGH * face.side, tilt), 8, 16)


def aligned_head(picture: Picture, face: Face) -> Place:
    """The square in which the eyes are where a model has them."""
    points = landmarks_of(picture, face)
    left, right = (points[list(eye)].mean(axis=0) for eye in EYES)
    (x0, y0), (x1, _) = EYES_AT
    side = math.dist(left, right) / (x1 - x0)
    tilt = _near(tilt_of(left, right), 1.0)
    angle = math.radians(tilt)
    middle = (left + right) / 2
    down = (0.5 - y0) * side
    return _coarse(
        Place(middle[0] - down * math.sin(angle), middle[1] + down * math.cos(angle), side, side, tilt), 24, 96
    )


def aligned_face(picture: Picture, face: Face, size: int) -> Picture:
    """A face cut out of a picture so that its eyes are where a model has them: to make a model of public faces."""
    place = aligned_head(picture, face)
    return Cover.of([place], *picture.shape[:2]).frame(picture, 0, (size, size))


def covered(faces: Sequence[Face], place: Place) -> NDArray[np.bool_]:
    """Return which faces a place covers all over."""
    across, down = (part.reshape(-1) for part in np.meshgrid(np.linspace(0, 1, 12), np.linspace(0, 1, 12)))
    x, y, width, height = (
        np.array([(one.x, one.y, one.width, one.height) for one in faces]).reshape(-1, 4).T[:, :, None]
    )
    a, b = place.to_frame(x + across * width, y + down * height)
    return np.asarray(((a >= 0) & (a < 1) & (b >= 0) & (b < 1)).mean(axis=1) >= COVERED)


def same_face(one: Face, other: Face) -> bool:
    """Return whether two finds are of one face: their common part is a good part of both."""
    wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    shared = max(wide, 0.0) * max(high, 0.0)
    return shared >= SHARED * (one.width * one.height + other.width * other.height - shared)


def grown(place: Place, face: Face) -> Place | None:
    """The place made so large that it covers a face, or None where that is far too large."""
    a, b = place.to_frame(face.x + np.array([0, 1, 0, 1]) * face.width, face.y + np.array([0, 0, 1, 1]) * face.height)
    times = 2 * float(np.maximum(np.abs(a - 0.5), np.abs(b - 0.5)).max()) + 0.01
    if times > MOST_GROWTH:
        return None
    return Place(place.x, place.y, max(1.0, times) * place.width, max(1.0, times) * place.height, place.tilt)


def _coarse(place: Place, steps: int, cells: int) -> Place:
    """Sides rounded up on a geometric scale, the middle to a grid."""
    times = 2 ** (math.ceil(steps * math.log2(place.width)) / steps) / place.width
    width, height = place.width * times, place.height * times
    cell = max(1.0, 2 ** math.floor(math.log2(width)) / cells)
    return Place(_near(place.x, cell), _near(place.y, cell), width, height, place.tilt)


def _near(value: float, step: float) -> float:
    return round(value / step) * step
