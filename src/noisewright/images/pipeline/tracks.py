"""Faces over the frames of a video: the same face from frame to frame, held where the detector loses it.

A **track** is one face as far as it can be followed: its place in each frame from first to last. Where a face is not found for a
while, its place is moved evenly from where it was lost to where it was found again; and it is held for ``hold`` frames before it
was first found and after it was last found, since a face does not wait for the detector. Places in between are made larger.

Two tracks may be the same person, who left and came back. This module cannot detect it.

>>> seen = [[Place(50, 50, 20, 20)], [], [Place(54, 50, 20, 20)], [], [], []]
>>> (track,) = tracks_of(seen, hold=2)
>>> sorted(track.places), track.places[1].x, track.found
([0, 1, 2, 3, 4], 52.0, {0: 0, 2: 0})
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.images.pipeline.places import Place

__all__ = ["HOLD", "Track", "check_hold", "held", "tracks_of"]

HOLD = 12
"""Maximum number of frames that a face is held."""
NEAR, ALIKE = 0.6, 1.7
"""Largest distance of one face between frames in its widths, and largest ratio of its sizes."""
PATIENCE = 0.1
"""Additional distance in widths for each frame in which the face was not found."""
LARGER = 1.25
"""Factor by which interpolated places are enlarged."""


@dataclass(frozen=True)
class Track:
    """One face as far as it can be followed."""

    places: dict[int, Place]
    """Where it is, by the number of the frame."""
    found: dict[int, int]
    """Which of the places of a frame it is, in the frames in which it was found."""


def check_hold(hold: int) -> None:
    """Refuse an invalid number of frames."""
    if not is_whole(hold) or not 0 <= hold <= 10_000:
        raise ParameterError("hold is a whole number of frames from 0 to 10,000.")


def tracks_of(frames: Sequence[Sequence[Place]], *, hold: int = HOLD) -> list[Track]:
    """The tracks of the places that were found in each frame; every place is in one."""
    check_hold(hold)
    followed: list[dict[int, int]] = []
    waiting: list[dict[int, int]] = []
    for number, places in enumerate(frames):
        waiting = [one for one in waiting if number - max(one) <= 2 * hold + 1]
        last = [(max(one), frames[max(one)][one[max(one)]]) for one in waiting]
        pairs = sorted(
            (_away(known, place) - PATIENCE * (number - when - 1), i, j)
            for i, (when, known) in enumerate(last)
            for j, place in enumerate(places)
        )
        busy: set[int] = set()
        taken: set[int] = set()
        for away, i, j in pairs:
            if away <= NEAR and i not in busy and j not in taken:
                busy.add(i)
                taken.add(j)
                waiting[i][number] = j
        new = [{number: j} for j in range(len(places)) if j not in taken]
        waiting += new
        followed += new
    return [
        Track(held({number: frames[number][j] for number, j in one.items()}, hold, len(frames)), one)
        for one in followed
    ]


def held(found: Mapping[int, Place], hold: int, frames: int, larger: float = LARGER) -> dict[int, Place]:
    """Places by frame, with those made up that are missing in between, before and after."""
    numbers = sorted(found)
    places = dict(found)
    for before, after in pairwise(numbers):
        for number in range(before + 1, after):
            part = (number - before) / (after - before)
            places[number] = _times(_mixed(found[before], found[after], part), larger)
    for number in range(max(0, numbers[0] - hold), numbers[0]):
        places[number] = _times(found[numbers[0]], larger)
    for number in range(numbers[-1] + 1, min(frames, numbers[-1] + hold + 1)):
        places[number] = _times(found[numbers[-1]], larger)
    return places


def _away(one: Place, other: Place) -> float:
    """Return how far two places are from each other, in widths; never near if one is much larger."""
    times = max(one.width / other.width, other.width / one.width)
    return math.inf if times > ALIKE else math.hypot(one.x - other.x, one.y - other.y) / max(one.width, other.width)


def _mixed(one: Place, other: Place, part: float) -> Place:
    turn = (other.tilt - one.tilt + 180) % 360 - 180
    x, y, width, height = (
        a + (b - a) * part
        for a, b in (
            (one.x, other.x),
            (one.y, other.y),
            (one.width, other.width),
            (one.height, other.height),
        )
    )
    return Place(x, y, width, height, one.tilt + part * turn)


def _times(place: Place, larger: float) -> Place:
    return Place(place.x, place.y, place.width * larger, place.height * larger, place.tilt)
