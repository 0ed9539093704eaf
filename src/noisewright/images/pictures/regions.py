"""Parts of pictures: rectangles and masks. What lies outside stays as it was, in the clear, and so does where they lie.

>>> Region.of("2,1,3,2")
Region(x=2, y=1, width=3, height=2)
>>> import numpy as np
>>> Region.around(np.array([[0, 0, 0], [0, 1, 1]], bool))
Region(x=1, y=1, width=2, height=1)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.images.pictures.reading import Picture

__all__ = ["Inside", "Region", "replaced"]


@dataclass(frozen=True)
class Inside:
    """Parts of a picture: two secrets are alike outside of them, and have the same ones.

    Parameters
    ----------
    part : {"region", "mask", "place", "track"}
        What the parts are.
    count : int
        How many there are.
    draws : int, default 1
        How many times something was drawn for them, in all; each draw has the same loss.
    touching : int, default 1
        How many of these draws the claim for one person is about. Every hidden pixel is read by one draw: so 1 holds for a
        person in one part. Where one person may be in any of the parts, as in a video, it is the number of draws.
    """

    part: Literal["region", "mask", "place", "track"]
    count: int
    draws: int = 1
    touching: int = 1

    def record(self) -> dict[str, Any]:
        """Return the parts as a claim states them."""
        drawn = {"draws": self.draws, "touching": self.touching} if self.draws > 1 else {}
        return {"inside": self.part, "count": self.count, **drawn}


@dataclass(frozen=True)
class Region:
    """A rectangle: its left and upper corner, and how many pixels it is wide and high."""

    x: int
    y: int
    width: int
    height: int

    def __post_init__(self) -> None:
        sides = (self.x, self.y, self.width, self.height)
        if not all(map(is_whole, sides)) or min(self.x, self.y) < 0 or min(self.width, self.height) < 1:
            raise ParameterError(
                "a region is x, y, width and height in whole pixels: its left upper corner, and at least one pixel."
            )

    @classmethod
    def of(cls, given: Any) -> Region:
        """A region as people write it: ``"x,y,width,height"``, or four numbers."""
        if isinstance(given, Region):
            return given
        if isinstance(given, str):
            if not re.fullmatch(r"\s*\d{1,9}(\s*,\s*\d{1,9}){3}\s*", given):
                raise ParameterError(
                    f"a region is written x,y,width,height in pixels, such as 40,30,64,64, not {given!r:.40}."
                )
            given = [int(part) for part in given.split(",")]
        if not isinstance(given, (list, tuple)) or len(given) != 4:
            raise ParameterError("a region is four whole numbers: x, y, width and height.")
        return cls(*given)

    @classmethod
    def around(cls, mask: NDArray[np.bool_]) -> Region:
        """The smallest rectangle that holds all of a mask."""
        rows, columns = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
        if not len(rows):
            raise ParameterError("a mask marks no pixel; mark what is to be obfuscated.")
        return cls(int(columns[0]), int(rows[0]), int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1)

    def inside(self, height: int, width: int) -> Region:
        """The region, if a picture of this size has it."""
        if self.x + self.width > width or self.y + self.height > height:
            raise ParameterError(f"a region ends beyond a picture of {width} x {height} pixels; make it smaller.")
        return self

    def of_picture(self, pictures: NDArray[Any]) -> NDArray[Any]:
        """This part of pictures (..., rows, columns, channels), as a view."""
        return pictures[..., self.y : self.y + self.height, self.x : self.x + self.width, :]


def replaced(picture: Picture, region: Region, drawn: Picture, mask: NDArray[np.bool_] | None = None) -> Picture:
    """The picture with a region put in its place, or with the pixels of it that a mask (of the whole picture) marks."""
    result = picture.copy()
    place = region.of_picture(result)
    if mask is None:
        place[...] = drawn
    else:
        marked = region.of_picture(mask[:, :, None])[:, :, 0]
        place[marked] = drawn[marked]
    return result
