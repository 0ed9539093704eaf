"""Boxes of the owner's own in a video, by ranges of frames: nothing is looked for, and a frame that no range lists is not shown.

A box stays where it is through its range, and is one face that is followed; anyone who moves gets a box for each range
of frames, and pays for each of them.

>>> own = OwnFrames.of({"1-3": [[10, 10, 20, 20]], "4": []}, "boxes.json")
>>> [len(places) for places in own.in_each(4)]
[1, 1, 1, 0]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisewright.core.errors import DataError, FileFormatError, ParameterError
from noisewright.images.pictures.reading import Picture
from noisewright.images.pipeline.finding import OUTSIDE, WHERE, places_of
from noisewright.images.pipeline.places import Cover, Place

__all__ = ["OwnFrames"]


@dataclass(frozen=True, eq=False)
class OwnFrames:
    """Boxes for ranges of frames, first and last starting at 1; make them with :meth:`of`."""

    ranges: tuple[tuple[int, int, tuple[Place, ...]], ...]
    clear = (OUTSIDE, WHERE)

    @classmethod
    def of(cls, document: Any, name: str) -> OwnFrames:
        """The boxes in a document such as ``{"1-40": [[x, y, width, height], ...], "41": []}``."""
        found = []
        for key, places in places_of(document, name).items():
            part = re.fullmatch(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?", key)
            if part is None or places is None or int(part[2] or part[1]) < int(part[1]):
                raise FileFormatError(
                    f'{name}: boxes of a video are listed by frames, as {{"1-40": [[x, y, width, height], ...], "41": []}}.'
                )
            found.append((int(part[1]), int(part[2] or part[1]), tuple(places)))
        return cls(tuple(found))

    def in_each(self, frames: int) -> list[list[tuple[int, Place]]]:
        """The number and the place of each box in every frame; refused where a frame is not listed."""
        listed: list[list[tuple[int, Place]] | None] = [None] * frames
        number = 0
        for first, last, places in self.ranges:
            if last > frames:
                raise DataError(f"boxes are listed for frame {last:,}, and the video has {frames:,}; correct them.")
            for frame in range(first - 1, last):
                listed[frame] = [*(listed[frame] or []), *enumerate(places, number)]
            number += len(places)
        missing = [frame for frame, own in enumerate(listed, start=1) if own is None]
        if missing:
            raise DataError(
                f"no boxes are listed for {len(missing):,} of {frames:,} frames (frame {missing[0]:,} is the first), so the "
                "video is not shown; list them, with [] for frames to show as they are."
            )
        return [own or [] for own in listed]

    def cover(self, picture: Picture, source: Path | None = None) -> Cover:
        """Raise: a picture has no frames."""
        raise ParameterError("boxes by frames are for videos; a photograph has boxes by its name.")
