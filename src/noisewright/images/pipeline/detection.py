"""Faces in a picture: the network sees a small square, so it is shown the whole picture and then ever smaller parts of it.

The network was made for faces that fill a good part of the square. A face in a crowd is found because squares of half
the side, a quarter and so on are searched, each overlapping the next by half, down to those in which the ``smallest``
face is large.

No network can guarantee that all faces were found. Certificates state that faces may be missed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.images.pictures.reading import Picture
from noisewright.images.pipeline.networks import NETWORKS, run, vision
from noisewright.images.pipeline.places import Cover, Place

__all__ = ["SMALLEST", "SURE", "Face", "check_search", "find_faces", "squares", "upright"]

SMALLEST = 32
"""Smallest width in pixels of a face that is searched for."""
SURE = 0.5
"""Smallest score of a counted face, from 0 to 1."""
LARGE = 6
"""Largest ratio of the side of a square to the side of a large face in it."""
POINTS = 6
"""Right eye, left eye, tip of the nose, mouth, right ear, left ear."""


@dataclass(frozen=True, eq=False)
class Face:
    """A face that was found, in pixels of the picture."""

    x: float
    y: float
    width: float
    height: float
    points: Floats
    """Where the eyes (that on the left of the picture first), the nose, the mouth and the ears are."""
    score: float
    """Score of the network, from 0 to 1."""
    tilt: float | None = None
    """Rotation of the face in degrees clockwise, if known."""
    kept: bool = False
    """Whether it is one to keep."""

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of its box."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def side(self) -> float:
        """The longer side of its box."""
        return max(self.width, self.height)


def check_search(smallest: float, sure: float) -> None:
    """Refuse what cannot be searched for."""
    if not is_number(smallest) or not 8 <= smallest <= 10_000:
        raise ParameterError("the smallest face to look for is from 8 to 10,000 pixels across.")
    if not is_number(sure) or not 0 < sure < 1:
        raise ParameterError("how sure the detector must be is a number between 0 and 1, such as 0.5.")


def find_faces(picture: Picture, *, smallest: float = SMALLEST, sure: float = SURE) -> list[Face]:
    """All faces that the network finds, the surest first; one face may be found several times, in squares that overlap."""
    check_search(smallest, sure)
    colour = np.ascontiguousarray(np.broadcast_to(picture, (*picture.shape[:2], 3)))
    found: list[Face] = []
    for x, y, side in squares(picture.shape[0], picture.shape[1], smallest):
        found += _in_square(colour, x, y, side, sure)
    return sorted(found, key=lambda face: -face.score)


def upright(picture: Picture, face: Face) -> Face:
    """The face as it looks upright: it is turned by quarters, and taken the way in which the network is surest of it.

    The network finds faces that are turned, too, but it does not see how they are. A face that is found in no way as
    one in the middle stays as it is, and no one knows how it is turned.
    """
    colour = np.broadcast_to(picture, (*picture.shape[:2], 3))
    small, best, surest = NETWORKS["detector"].side, face, 0.0
    for quarter in (0, 90, 180, 270):
        place = Place(*face.middle, 2 * face.side, 2 * face.side, quarter)
        cut = Cover.of([place], *picture.shape[:2]).frame(colour, 0, (small, small))
        for x, y, w, h, points, score in _decoded(run("detector", cut), SURE):
            a, b = x + w / 2, y + h / 2
            if score > surest and max(abs(a - 0.5), abs(b - 0.5)) < 0.2 and 0.25 < max(w, h) < 0.8:
                (middle_x, middle_y), side = place.to_picture(a, b), max(w, h) * place.width
                on = np.stack(place.to_picture(points[:, 0], points[:, 1]), axis=-1)
                turn = math.degrees(math.atan2(on[1, 1] - on[0, 1], on[1, 0] - on[0, 0]))
                left, top = float(middle_x) - side / 2, float(middle_y) - side / 2
                best, surest = Face(left, top, side, side, on, max(score, face.score), turn), score
    return best


def squares(height: int, width: int, smallest: float) -> Iterator[tuple[int, int, int]]:
    """The squares to look at, by their left upper corner and their side: the whole picture first.

    >>> list(squares(100, 200, 32))
    [(0, -50, 200)]
    >>> [side for _, _, side in squares(300, 400, 32)]
    [400, 200, 200, 200, 200, 200, 200]
    """
    side = max(height, width)
    yield (width - side) // 2, (height - side) // 2, side
    while side > LARGE * smallest * math.sqrt(2):
        side = math.ceil(side / 2)
        for y in _starts(height, side):
            for x in _starts(width, side):
                yield x, y, side


def _starts(length: int, side: int) -> list[int]:
    """Return where squares begin that cover a length, each overlapping the next by half or more."""
    if side >= length:
        return [(length - side) // 2]
    many = math.ceil((length - side) / (side / 2)) + 1
    return [round(place) for place in np.linspace(0, length - side, many)]


def _in_square(picture: Picture, x: int, y: int, side: int, sure: float) -> list[Face]:
    """The faces in a square of the picture, which may reach beyond it."""
    cut = picture[max(y, 0) : y + side, max(x, 0) : x + side]
    above, left = max(-y, 0), max(-x, 0)
    square = np.pad(cut, ((above, side - above - cut.shape[0]), (left, side - left - cut.shape[1]), (0, 0)))
    cv2, small = vision(), NETWORKS["detector"].side
    scaled = cv2.resize(square, (small, small), interpolation=cv2.INTER_AREA if side > small else cv2.INTER_LINEAR)
    return [
        Face(x + a * side, y + b * side, w * side, h * side, np.array([x, y]) + points * side, score)
        for a, b, w, h, points, score in _decoded(run("detector", scaled), sure)
    ]


def _decoded(outputs: dict[str, Floats], sure: float) -> Iterator[tuple[float, float, float, float, Floats, float]]:
    """Boxes and points in units of the square, for outputs (squares x 16 numbers, and a score for each)."""
    raw = next(part for part in outputs.values() if part.shape[-1] == 4 + 2 * POINTS).reshape(-1, 4 + 2 * POINTS)
    logits = next(part for part in outputs.values() if part.shape[-1] == 1).reshape(-1)
    scores = 1 / (1 + np.exp(-np.clip(logits, -100, 100)))
    small, anchors = NETWORKS["detector"].side, _anchors()
    for number in np.flatnonzero(scores >= sure):
        middle = raw[number, :2] / small + anchors[number]
        w, h = raw[number, 2:4] / small
        if w > 0 and h > 0:
            points = raw[number, 4:].reshape(POINTS, 2) / small + anchors[number]
            yield middle[0] - w / 2, middle[1] - h / 2, w, h, points, float(scores[number])


@cache
def _anchors() -> Floats:
    """The points that boxes are relative to: two for each cell of 16 x 16, and six for each of 8 x 8."""
    found = []
    for cells, each in ((16, 2), (8, 6)):
        middles = (np.arange(cells) + 0.5) / cells
        x, y = np.meshgrid(middles, middles)
        found.append(np.repeat(np.stack([x, y], -1).reshape(-1, 2), each, axis=0))
    return np.concatenate(found)
