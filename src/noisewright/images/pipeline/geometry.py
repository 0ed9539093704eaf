"""Positions of faces in a picture: rectangles that may be tilted, which of them a pixel belongs to, and the way to
frames and back.

A **place** is a rectangle around a head. It is read in a **frame** of a public size, such as 128 x 128 pixels, however
large the head is: so one mechanism serves all faces, and the same epsilon means the same for each of them. The
mechanism's output is painted back over the whole place. A model of faces wants to see a face upright and near; so a
place may have a **view**, another rectangle that its frame shows, while all of the place is hidden.

A :class:`Cover` states to which place each pixel of a picture belongs. **Rectangles that share a pixel are merged into
one place**, which hides exactly what they hide together: hence no two places share a pixel, and one face that was
found three times is drawn once. A merged place depends on the rectangles alone. The frame of a place is filled from
its own pixels and from pixels that are not hidden at all (it shows a constant grey where other places are): so every
hidden pixel is read by one draw. Pixels that belong to no place come out unchanged.

>>> picture = np.arange(48, dtype=np.uint8).reshape(6, 8, 1)
>>> cover = Cover.of([Place.around(1, 1, 4, 4)], 6, 8)
>>> cover.hidden.sum()
np.int64(16)
>>> cover.frame(picture, 0, (2, 2))[:, :, 0].tolist()
[[14, 16], [30, 32]]
>>> cover.paint(picture, 0, np.zeros((2, 2, 1)))
>>> picture[:3, :, 0].tolist()
[[0, 1, 2, 3, 4, 5, 6, 7], [8, 0, 0, 0, 0, 13, 14, 15], [16, 0, 0, 0, 0, 21, 22, 23]]
>>> both = Cover.of([Place.around(1, 1, 4, 4), Place.around(4, 3, 3, 3), Place.around(7, 0, 1, 1)], 6, 8)
>>> both.members, both.places[0]
(((0, 1), (2,)), Place(x=4.0, y=3.5, width=6.0, height=5.0, tilt=0.0))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright.exceptions import DataError, ParameterError
from noisewright.images.pictures import Picture, as_pixels, filled, pillow

__all__ = ["GREY", "MOST_PLACES", "Cover", "Place", "marked"]


GREY = 127
"""Value of a frame where it has no pixel of its own: beyond the picture, and in other places."""
MOST_PLACES = 1000
SAMPLES = 8
"""Maximum number of samples across each pixel of a frame."""


@dataclass(frozen=True)
class Place:
    """A rectangle by its middle, its sides and its tilt (degrees, clockwise), in pixels of the picture."""

    x: float
    y: float
    width: float
    height: float
    tilt: float = 0.0

    def __post_init__(self) -> None:
        sides = (self.x, self.y, self.width, self.height, self.tilt)
        if not all(map(math.isfinite, sides)) or min(self.width, self.height) <= 0:
            raise ParameterError("a place has a middle, a width and a height above 0, and a tilt: finite numbers.")

    @classmethod
    def around(cls, x: float, y: float, width: float, height: float) -> Place:
        """The place of an upright rectangle, given by its left and upper corner."""
        return cls(x + width / 2, y + height / 2, width, height)

    @property
    def box(self) -> list[float]:
        """Box as data owners write it: left, top, width and height before it is tilted, in pixels, and the tilt."""
        return [
            round(float(value), 1)
            for value in (self.x - self.width / 2, self.y - self.height / 2, self.width, self.height, self.tilt)
        ]

    def to_picture(self, across: ArrayLike, down: ArrayLike) -> tuple[Floats, Floats]:
        """Points of the picture: where fractions of the way across and down the rectangle are."""
        a, b = (
            (np.asarray(part, np.float64) - 0.5) * side for part, side in ((across, self.width), (down, self.height))
        )
        cos, sin = self._turn
        return self.x + cos * a - sin * b, self.y + sin * a + cos * b

    def to_frame(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """The fractions of the way across and down, of points of the picture: both from 0 to below 1 inside."""
        a, b = np.asarray(x, np.float64) - self.x, np.asarray(y, np.float64) - self.y
        cos, sin = self._turn
        return (cos * a + sin * b) / self.width + 0.5, (-sin * a + cos * b) / self.height + 0.5

    def bounds(self, height: int, width: int) -> tuple[slice, slice]:
        """The rows and columns of a picture that hold all of the rectangle that lies in the picture."""
        x, y = self.to_picture([0, 1, 0, 1], [0, 0, 1, 1])
        (left, right), (top, bottom) = ((math.floor(min(ends)), math.ceil(max(ends))) for ends in (x, y))
        return slice(_within(top, height), _within(bottom, height)), slice(_within(left, width), _within(right, width))

    @property
    def _turn(self) -> tuple[float, float]:
        angle = math.radians(self.tilt)
        return math.cos(angle), math.sin(angle)


@dataclass(frozen=True, eq=False)
class Cover:
    """The places of a picture, and which of them each pixel belongs to: its number, or -1 for none."""

    places: tuple[Place, ...]
    owner: NDArray[np.int16]
    views: tuple[Place, ...] = ()
    """Content of the frames; by default the places themselves."""
    members: tuple[tuple[int, ...], ...] = ()
    """The numbers of the given rectangles that each place was made of."""

    @classmethod
    def of(
        cls,
        places: Sequence[Place],
        height: int,
        width: int,
        masks: Sequence[NDArray[np.bool_] | None] | None = None,
        views: Sequence[Place] = (),
    ) -> Cover:
        """Return the cover of a picture of this size, with rectangles that share a pixel merged into one place.

        A mask (of the whole picture) gives the pixels of a rectangle that are hidden. A rectangle that covers all
        others of its group stays the place; otherwise the smallest upright rectangle around them is. The view of a
        group is the view of the rectangle with the most pixels.
        """
        if len(places) > MOST_PLACES:
            raise DataError(f"a picture has at most {MOST_PLACES:,} places to hide; obfuscate the whole of it.")
        owner = np.full((height, width), -1, np.int16)
        group, sizes = np.arange(len(places)), np.zeros(len(places), np.int64)
        for number, (place, mask) in enumerate(zip(places, masks or [None] * len(places), strict=True)):
            rows, columns = place.bounds(height, width)
            across, down = place.to_frame(*_centres(rows, columns))
            hide = (across >= 0) & (across < 1) & (down >= 0) & (down < 1)
            if mask is not None:
                hide &= mask[rows, columns]
            taken = np.unique(owner[rows, columns][hide])
            group[np.isin(group, group[taken[taken >= 0]])] = number
            owner[rows, columns][hide], sizes[number] = number, hide.sum()
        if not len(places):
            return cls((), owner)
        members = tuple(tuple(np.flatnonzero(group == one).tolist()) for one in dict.fromkeys(group.tolist()))
        named = np.empty(len(places) + 1, np.int16)
        for name, own in enumerate(members):
            named[list(own)] = name
        named[-1] = -1
        merged, largest = named[owner], [max(own, key=lambda one: (sizes[one], -one)) for own in members]
        return cls(
            tuple(
                places[most] if len(own) == 1 else _around(merged == name, places[most], int(sizes[most]))
                for name, (own, most) in enumerate(zip(members, largest, strict=True))
            ),
            merged,
            tuple(views[most] for most in largest) if views else (),
            members,
        )

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """The pixels that belong to a place."""
        return np.asarray(self.owner >= 0)

    def frame(self, picture: Picture, number: int, size: tuple[int, int]) -> Picture:
        """Return a place in a frame of the given rows and columns: each pixel is the mean of the pixels it covers."""
        place, (rows, columns) = self._view(number), size
        fine_y, fine_x = (
            _samples(side / many) for side, many in zip((place.height, place.width), (rows, columns), strict=True)
        )
        across, down = np.meshgrid(
            (np.arange(columns * fine_x) + 0.5) / (columns * fine_x), (np.arange(rows * fine_y) + 0.5) / (rows * fine_y)
        )
        x, y = (np.floor(part).astype(np.int64) for part in place.to_picture(across, down))
        inside = (x >= 0) & (x < picture.shape[1]) & (y >= 0) & (y < picture.shape[0])
        x, y = np.where(inside, x, 0), np.where(inside, y, 0)
        whose = self.owner[y, x]
        seen = inside & ((whose == number) | (whose < 0))
        values = np.where(seen[..., None], picture[y, x], np.uint8(GREY)).astype(np.uint32)
        sums = values.reshape(rows, fine_y, columns, fine_x, -1).sum(axis=(1, 3))
        many = fine_x * fine_y
        return np.asarray((sums + many // 2) // many, np.uint8)

    def paint(self, result: Picture, number: int, drawn: NDArray[Any], share: Floats | None = None) -> None:
        """Paint the content of a frame over its place.

        With ``share`` (one number for each pixel of the frame, from 0 to 1), that share of the new content is mixed
        with the old content.
        """
        rows, columns = self.places[number].bounds(*self.owner.shape)
        own = self.owner[rows, columns] == number
        across, down = (part[own] for part in self._view(number).to_frame(*_centres(rows, columns)))
        if share is None:
            high, wide = drawn.shape[:2]
            y, x = (np.clip(part * many, 0, many - 1).astype(np.int64) for part, many in ((down, high), (across, wide)))
            result[rows, columns][own] = drawn[y, x]
            return
        new, much = (_between(np.asarray(part, np.float64), across, down) for part in (drawn, share[..., None]))
        much[(across < 0) | (across >= 1) | (down < 0) | (down >= 1)] = 0
        result[rows, columns][own] = as_pixels(much * new + (1 - much) * result[rows, columns][own])

    def emptied(self, picture: Picture) -> Picture:
        """The picture with all hidden pixels filled from their surroundings."""
        result, hidden = picture.copy(), self.hidden
        result[hidden] = GREY
        for number, place in enumerate(self.places):
            rows, columns = Place(place.x, place.y, 1.5 * place.width, 1.5 * place.height, place.tilt).bounds(
                *hidden.shape
            )
            own = self.owner[rows, columns] == number
            result[rows, columns][own] = filled(picture[rows, columns], hidden[rows, columns])[own]
        return result

    def _view(self, number: int) -> Place:
        return (self.views or self.places)[number]


def _around(hidden: NDArray[np.bool_], largest: Place, pixels: int) -> Place:
    """Return the place of merged rectangles: the largest if it covers all, or the smallest upright rectangle around them."""
    if pixels == int(hidden.sum()):
        return largest
    (rows, columns) = (np.flatnonzero(hidden.any(axis)) for axis in (1, 0))
    x, y = float(columns[0]), float(rows[0])
    return Place.around(x, y, float(columns[-1]) + 1 - x, float(rows[-1]) + 1 - y)


def _between(frame: Floats, across: Floats, down: Floats) -> Floats:
    """The values of a frame at points of it, by bilinear interpolation between the middles of its pixels."""
    high, wide = frame.shape[:2]
    y, x = np.clip(down * high - 0.5, 0, high - 1), np.clip(across * wide - 0.5, 0, wide - 1)
    top, left = np.minimum(y.astype(np.int64), max(high - 2, 0)), np.minimum(x.astype(np.int64), max(wide - 2, 0))
    below, right = np.minimum(top + 1, high - 1), np.minimum(left + 1, wide - 1)
    v, u = (y - top)[:, None], (x - left)[:, None]
    upper = (1 - u) * frame[top, left] + u * frame[top, right]
    lower = (1 - u) * frame[below, left] + u * frame[below, right]
    return np.asarray((1 - v) * upper + v * lower)


def _centres(rows: slice, columns: slice) -> tuple[Floats, Floats]:
    """The middles of pixels."""
    return np.asarray(np.arange(columns.start, columns.stop)[None, :] + 0.5), np.asarray(
        np.arange(rows.start, rows.stop)[:, None] + 0.5
    )


def _samples(pixels: float) -> int:
    """Return the number of samples across a pixel of a frame, from the number of picture pixels it covers."""
    return min(SAMPLES, max(1, math.ceil(pixels)))


def _within(place: int, length: int) -> int:
    return min(max(place, 0), length)


# Marking ------------------------------------------------------------------------------------------------------------------
#
# A picture with places drawn into it, for its owner to look at.


def marked(picture: Picture, places: Sequence[Place]) -> Picture:
    """The picture in colour, with a red line around each place."""
    image = pillow("Image").fromarray(np.ascontiguousarray(np.broadcast_to(picture, (*picture.shape[:2], 3))))
    pen = pillow("ImageDraw").Draw(image)
    thick = max(2, max(picture.shape[:2]) // 120)
    for place in places:
        x, y = place.to_picture([0, 1, 1, 0, 0], [0, 0, 1, 1, 0])
        pen.line([(float(a), float(b)) for a, b in zip(x, y, strict=True)], fill="#e01b24", width=thick)
    return np.asarray(image).copy()
