"""Faces over the frames of a video: the same face from frame to frame, held where the detector loses it.

A **track** is one face as far as it can be followed: its place in each frame from first to last. Where a face is not found for a
while, its place is moved evenly from where it was lost to where it was found again; and it is held for ``hold`` frames before it
was first found and after it was last found, since a face does not wait for the detector. Places in between are made larger.

Two tracks may be the same person, who left and came back. Nothing here can tell.

>>> seen = [[Place(50, 50, 20, 20)], [], [Place(54, 50, 20, 20)], [], [], []]
>>> (track,) = tracks_of(seen, hold=2)
>>> sorted(track.places), track.places[1].x, track.found
([0, 1, 2, 3, 4], 52.0, (0, 2))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.images.pipeline.places import Place

__all__ = ["HOLD", "Track", "tracks_of"]

HOLD = 12
"""So many frames a face is held."""
NEAR, ALIKE = 0.6, 1.7
"""The same face is at most so many of its widths away in the next frame, and at most so many times as large or small."""
LARGER = 1.25
"""Places that were not found but made up."""


@dataclass(frozen=True)
class Track:
    """One face as far as it can be followed."""

    places: dict[int, Place] = field(default_factory=dict)
    """Where it is, by the number of the frame."""
    found: tuple[int, ...] = ()
    """The frames in which it was found."""


def tracks_of(frames: Sequence[Sequence[Place]], *, hold: int = HOLD) -> list[Track]:
    """The tracks of the places that were found in each frame."""
    if not is_whole(hold) or not 0 <= hold <= 10_000:
        raise ParameterError("hold is a whole number of frames from 0 to 10,000.")
    followed: list[dict[int, Place]] = []
    for number, places in enumerate(frames):
        waiting = [one for one in followed if number - max(one) <= 2 * hold + 1]
        pairs = sorted(
            (_away(one[max(one)], place), i, j) for i, one in enumerate(waiting) for j, place in enumerate(places)
        )
        taken: set[int] = set()
        busy: set[int] = set()
        for away, i, j in pairs:
            if away <= NEAR * (1 + 0.1 * (number - max(waiting[i]) - 1)) and i not in busy and j not in taken:
                busy.add(i)
                taken.add(j)
                waiting[i][number] = places[j]
        followed += [{number: place} for j, place in enumerate(places) if j not in taken]
    return [_held(one, hold, len(frames)) for one in followed]


def _away(one: Place, other: Place) -> float:
    """How far two places are from each other, in widths; never near if one is much larger."""
    times = max(one.width / other.width, other.width / one.width)
    return math.inf if times > ALIKE else math.hypot(one.x - other.x, one.y - other.y) / max(one.width, other.width)


def _held(found: dict[int, Place], hold: int, frames: int) -> Track:
    numbers = sorted(found)
    places = dict(found)
    for before, after in pairwise(numbers):
        for number in range(before + 1, after):
            part = (number - before) / (after - before)
            places[number] = _larger(_mixed(found[before], found[after], part))
    for number in range(max(0, numbers[0] - hold), numbers[0]):
        places[number] = _larger(found[numbers[0]])
    for number in range(numbers[-1] + 1, min(frames, numbers[-1] + hold + 1)):
        places[number] = _larger(found[numbers[-1]])
    return Track(places, tuple(numbers))


def _mixed(one: Place, other: Place, part: float) -> Place:
    turn = (other.tilt - one.tilt + 180) % 360 - 180

    def between(a: float, b: float) -> float:
        return a + (b - a) * part

    return Place(
        between(one.x, other.x),
        between(one.y, other.y),
        between(one.width, other.width),
        between(one.height, other.height),
        one.tilt + part * turn,
    )


def _larger(place: Place) -> Place:
    return Place(place.x, place.y, place.width * LARGER, place.height * LARGER, place.tilt)
