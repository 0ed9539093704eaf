"""Videos as streams of frames: read one at a time, and written without sound or metadata.

Only the pictures are read. Files are identified by their first bytes, never as lists of other files or addresses.

A **track** is one face as far as it can be followed: its place in each frame from first to last. Where a face is not found
for a
while, its place is moved evenly from where it was lost to where it was found again; and it is held for ``hold`` frames
before it
was first found and after it was last found, since a face does not wait for the detector. Places in between are made larger.

Two tracks may be the same person, who left and came back. This module cannot detect it.

>>> seen = [[Place(50, 50, 20, 20)], [], [Place(54, 50, 20, 20)], [], [], []]
>>> (track,) = tracks_of(seen, hold=2)
>>> sorted(track.places), track.places[1].x, track.found
([0, 1, 2, 3, 4], 52.0, {0: 0, 2: 0})

A box stays where it is through its range, and is one face that is followed; anyone who moves gets a box for each range
of frames, and pays for each of them.

>>> own = OwnFrames.of({"1-3": [[10, 10, 20, 20]], "4": []}, "boxes.json")
>>> [len(places) for places in own.in_each(4)]
[1, 1, 1, 0]
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from noisewright._utils.inputs import open_input
from noisewright._utils.validation import is_whole, one_of
from noisewright.certificates.certificate import Certificate
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images.base import of_all_draws
from noisewright.images.pictures import MOST_PIXELS, Inside, Picture
from noisewright.images.pipeline.detection import Face, aligned_head, vision
from noisewright.images.pipeline.finding import (
    CERTAIN,
    OUTSIDE,
    WHERE,
    FoundFaces,
    HiddenPlaces,
    drawn_places,
    hidden,
    places_of,
)
from noisewright.images.pipeline.geometry import Cover, Place
from noisewright.io.atomic import endings_as_exceptions, hidden_folder, rename_new, write_atomically
from noisewright.sampling.random_bits import Rng, bits_from

__all__ = [
    "CODECS",
    "HOLD",
    "MOST_FRAMES",
    "VIDEOS",
    "Draw",
    "HiddenVideo",
    "OwnFrames",
    "Track",
    "Video",
    "check_hold",
    "held",
    "hide_video",
    "new_video",
    "open_video",
    "tracks_of",
]


VIDEOS = (".mp4", ".mov", ".m4v", ".avi", ".mkv", ".webm")
"""Files that are taken for videos."""
CODECS = {".mp4": "mp4v", ".avi": "MJPG"}
"""Output formats and their codecs."""
MOST_FRAMES = 1_000_000
USUAL_RATE = 25.0
MATROSKA = b"\x1a\x45\xdf\xa3"
"""First bytes of files of MKV and WebM."""


@dataclass(frozen=True)
class Video:
    """A video in a file."""

    path: Path
    width: int
    height: int
    rate: float
    """Frames a second."""
    least: int = 1
    """A file that gives fewer frames is damaged: it states its number of frames itself."""

    def frames(self) -> Iterator[Picture]:
        """Its frames in colour, one after another; as often as one likes."""
        cv2 = vision()
        source = _capture(self.path)
        try:
            for number in range(MOST_FRAMES):
                there, frame = source.read()
                if not there and number < self.least:
                    raise DataError(
                        f"a video is damaged or cut short: {number:,} of its {self.least:,} frames can be read; save it again."
                    )
                if not there:
                    return
                if frame.shape != (self.height, self.width, 3):
                    raise DataError("the frames of a video are not all of one size; save it again.")
                yield np.ascontiguousarray(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB))
            raise DataError(f"a video has more than {MOST_FRAMES:,} frames; cut it into pieces.")
        finally:
            source.release()


def open_video(path: Path) -> Video:
    """A video whose first frame can be read."""
    try:
        with open_input(path) as file:
            begin = file.read(12)
    except OSError as problem:
        raise DataError(f"a video cannot be read: {problem.strerror or 'no such file'}.") from None
    if not _is_video(begin):
        raise DataError("a file is no video of a known format; give MP4, MOV, AVI, MKV or WebM.")
    cv2, source = vision(), _capture(path)
    try:
        if source.get(cv2.CAP_PROP_FRAME_WIDTH) * source.get(cv2.CAP_PROP_FRAME_HEIGHT) > MOST_PIXELS:
            raise DataError(f"the frames of a video have more than {MOST_PIXELS:,} pixels; make it smaller.")
        there, frame = source.read()
        rate, many = float(source.get(cv2.CAP_PROP_FPS)), float(source.get(cv2.CAP_PROP_FRAME_COUNT))
    finally:
        source.release()
    if not there or frame is None or frame.ndim != 3:
        raise DataError("a video is damaged, cut short or coded in a way that is not known; save it again.")
    height, width = frame.shape[:2]
    if height * width > MOST_PIXELS:
        raise DataError(f"the frames of a video have more than {MOST_PIXELS:,} pixels; make it smaller.")
    if begin[:4] == MATROSKA:
        many -= 1  # it states how long it is, from which their number is rounded
    least = int(min(max(many, 1), MOST_FRAMES))
    return Video(path, width, height, rate if 0 < rate <= 1000 else USUAL_RATE, least)


@contextmanager
def new_video(target: str | os.PathLike[str], like: Video) -> Iterator[Any]:
    """A function that writes one frame after another into a new file, which appears whole or not at all."""
    path, cv2 = Path(target).absolute(), vision()
    codec = CODECS.get(path.suffix.lower())
    if codec is None:
        raise FileFormatError(f"a video is written to a file that ends with {' or '.join(CODECS)}.")
    if os.path.lexists(path):
        raise FileFormatError(f"{path} is there already; name a new file, so that nothing is overwritten.")
    if not path.parent.is_dir():
        raise FileFormatError(f"{path} cannot be written: there is no folder {path.parent}.")
    with (
        endings_as_exceptions(),
        hidden_folder(path) as folder,
    ):
        staged = folder / f"video{path.suffix.lower()}"
        size = (like.width, like.height)
        writer = cv2.VideoWriter(str(staged), cv2.VideoWriter_fourcc(*codec), like.rate, size)
        if not writer.isOpened():
            raise FileFormatError(
                f"{path} cannot be written: OpenCV has no coder for {codec} here; try another ending."
            )
        written = 0

        def write(frame: Picture) -> None:
            nonlocal written
            writer.write(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
            written += 1

        try:
            yield write
        finally:
            writer.release()
        _check_written(staged, path, written)
        try:
            rename_new(staged, path)
        except OSError as problem:
            raise FileFormatError(f"{path} cannot be written: {problem.strerror}.") from None


def _check_written(staged: Path, path: Path, frames: int) -> None:
    """Refuse what cannot be read again: the coder does not say when a disk is full."""
    try:
        there = sum(1 for _ in open_video(staged).frames())
    except DataError:
        there = 0
    with open_input(staged) as file:
        begin = file.read(8)
    stated = (
        8 + int.from_bytes(begin[4:], "little") if begin[:4] == b"RIFF" else 0
    )  # the last frame may be there in part
    if there != frames or staged.stat().st_size < stated:
        raise FileFormatError(f"{path} cannot be written: not all of its frames are in the file; is the disk full?")


def _capture(path: Path) -> Any:
    """The file as OpenCV reads it: by FFmpeg, which gets a whole path, so that nothing in it is a pattern or an address."""
    cv2 = vision()
    return cv2.VideoCapture(str(path.absolute()), cv2.CAP_FFMPEG)


def _is_video(begin: bytes) -> bool:
    boxes = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
    avi = begin[:4] == b"RIFF" and begin[8:12] == b"AVI "
    return begin[4:8] in boxes or avi or begin[:4] == MATROSKA


# Tracks -------------------------------------------------------------------------------------------------------------------
#
# Faces over the frames of a video: the same face from frame to frame, held where the detector loses it.


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


# Frame boxes --------------------------------------------------------------------------------------------------------------
#
# Boxes of the owner's own in a video, by ranges of frames: nothing is looked for, and a frame that no range lists is not shown.


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


# Videos -------------------------------------------------------------------------------------------------------------------
#
# Faces in videos: found in every frame, followed, and hidden, with samples counted for each face that is followed.
#
# A video is gone through three times, one frame in memory at a time: faces are found and followed
# (:mod:`noisewright.images.pipeline.video`), drawn, and painted. It fails closed as photographs do, frame by frame: a
# video with a
# frame in which no face is found or held for sure is refused, unless such frames are hidden as a whole or kept.
#
# **Privacy cost of a face.** With ``draw="once"``, a face that is followed is drawn from once, in one frame, and the
# result is shown in all its frames: ``epsilon`` for the whole track, however long. With ``draw="every"``, it is drawn
# again in every frame, and a track of n frames costs n epsilon. A frame hidden as a whole is drawn for itself. Places
# that share a pixel in a frame are one place there (:class:`~noisewright.images.pipeline.geometry.Cover`) with one draw:
# so every hidden pixel is read by one draw at most, and tracks that meet where one of them is drawn once are drawn
# together.
#
# **Privacy cost of a person.** A person who comes back after being lost is another track, one face may be found twice,
# and nothing here identifies people: any track may be the same person. Therefore the guarantee for one person counts all
# draws (``touching`` of the record), and that for all hidden places together is the same number.
#
# In the clear, in addition to photographs: positions of faces in each frame, hence movements; the length of the video.
# Sound and metadata do not come out.


Draw = Literal["once", "every"]
MOVES = "motion"
"""A code of the phrase table: where faces are in every frame, and how long the video is."""
WHOLE = -1
"""Instead of the number of a track: the whole frame."""
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class HiddenVideo:
    """Result for a video."""

    target: Path
    frames: int
    tracks: int
    """Number of faces that were followed and hidden."""
    draws: int
    """Number of draws, over all tracks; at most as many show one person, who may be any of the tracks."""
    longest: int
    """Number of draws that can show a person who is one track alone: draws of its places, and all whole frames."""
    whole: int
    """Number of frames that were drawn as a whole."""
    certificate: Certificate | None
    """About all draws together; None where nothing was drawn, and nothing is guaranteed."""


@dataclass(frozen=True)
class _Hide:
    """Something to hide in a frame: a face that is followed, by the number of its track."""

    track: int
    place: Place
    view: Place


def hide_video(
    method: HiddenPlaces,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    draw: Draw = "once",
    hold: int = HOLD,
    progress: Progress | None = None,
    rng: Rng = None,
) -> HiddenVideo:
    """Hide the faces of a video in a new file, with its certificate next to it if something was drawn."""
    one_of(draw, "draw", get_args(Draw))
    check_hold(hold)
    where = method.where
    if isinstance(where, FoundFaces) and (where.expect is not None or where.outline):
        raise ParameterError("in videos, faces that are found are hidden by rectangles: leave out expect and outline.")
    if not isinstance(where, (FoundFaces, OwnFrames)):
        raise ParameterError("in videos, faces are found, or boxes are listed by frames; there are no masks.")
    path = Path(target).absolute()
    beside = path.with_name(f"{path.stem}.certificate.json")
    if os.path.lexists(beside):
        raise FileFormatError(f"{beside} is there already; name a new file, so that nothing is overwritten.")
    video, bits = open_video(Path(source)), bits_from(rng)
    drawn, read = 0, Counter[int]()
    with new_video(target, video) as write:
        plan = (
            _own_plan(video, where, progress) if isinstance(where, OwnFrames) else _plan(video, where, hold, progress)
        )
        held_draws: dict[int, Picture] = {}
        if draw == "once":
            held_draws, drawn = _drawn_once(video, plan, method, bits, read)
        parts = 0
        for number, picture in _as_planned(video, plan):
            cover = _cover(plan[number], video)
            tracks = [[plan[number][i].track for i in own] for own in cover.members]
            new = [place for place, own in enumerate(tracks) if own[0] not in held_draws]
            fresh = iter(drawn_places(picture, cover, method.made(3), bits, method.blended, new))
            drawn, parts = drawn + len(new), parts + len(tracks)
            read.update(track for place in new for track in tracks[place])
            shown = [next(fresh) if place in new else held_draws[own[0]] for place, own in enumerate(tracks)]
            write(hidden(picture, cover, shown, method.blended))
            if progress is not None:
                progress(len(plan) + number + 1, 2 * len(plan))
        made = method.mechanisms(video.height, video.width, 3)[0].certificate(
            rng if isinstance(rng, np.random.Generator) else None
        )
        followed = len({one.track for hide in plan for one in hide} - {WHOLE})
        whole = read.pop(WHOLE, 0)
        inside = Inside("place", parts, drawn, drawn) if whole else Inside("track", followed, drawn, drawn)
        made = made.with_clear([*made.document["in_the_clear"], MOVES])
        certificate = of_all_draws(made, inside) if drawn else None
    try:
        if certificate is not None:
            write_atomically(beside, certificate.to_json().encode())
    except BaseException:
        path.unlink(missing_ok=True)  # it was made here, and is not shown without its certificate
        raise
    longest = whole + max(read.values(), default=0)
    return HiddenVideo(path, len(plan), followed, drawn, longest, whole, certificate)


def _plan(video: Video, where: FoundFaces, hold: int, progress: Progress | None) -> list[list[_Hide]]:
    """Return the hidden places of each frame; refuse if a frame must not be shown."""
    faces: list[list[Face]] = []
    places: list[list[Place]] = []
    views: list[list[Place]] = []
    for number, picture in enumerate(video.frames()):
        found = where.found(picture, video.path)
        faces.append([face for face, _ in found])
        places.append([place for _, place in found])
        views.append([aligned_head(picture, face) if where.aligned else place for face, place in found])
        if progress is not None:
            progress(number + 1, None)
    plan: list[list[_Hide]] = [[] for _ in faces]
    sure = np.zeros(len(faces), bool)
    for name, track in enumerate(tracks_of(places, hold=hold)):
        seen = [faces[number][j] for number, j in track.found.items()]
        if any(face.score >= CERTAIN for face in seen):
            sure[list(track.places)] = True
        if all(face.kept for face in seen):
            continue  # one frame in doubt, and the whole of it is hidden
        own = held({number: views[number][j] for number, j in track.found.items()}, hold, len(faces), 1.0)
        for number, place in track.places.items():
            plan[number].append(_Hide(name, place, own[number] if where.aligned else place))
    if not sure.all() and where.no_face == "refuse":
        raise DataError(
            f"in {int((~sure).sum()):,} of {len(sure):,} frames (frame {int(np.argmin(sure)) + 1:,} is the first) no face was "
            "found for sure, so the video is not shown; hold faces for longer, or choose with --no-face."
        )
    if where.no_face == "whole":
        whole = Place.around(0, 0, video.width, video.height)
        plan = [hide if there else [_Hide(WHOLE, whole, whole)] for hide, there in zip(plan, sure, strict=True)]
    return plan


def _own_plan(video: Video, where: OwnFrames, progress: Progress | None) -> list[list[_Hide]]:
    """Return the hidden places of each frame by boxes of the owner's own."""
    frames = 0
    for frames, _ in enumerate(video.frames(), start=1):
        if progress is not None:
            progress(frames, None)
    listed = where.in_each(frames)
    for place in {place for own in listed for _, place in own}:
        if not Cover.of([place], video.height, video.width).hidden.any():
            raise DataError(
                f"a box covers no pixel of frames of {video.width} x {video.height} pixels; check the boxes."
            )
    return [[_Hide(number, place, place) for number, place in own] for own in listed]


def _drawn_once(
    video: Video, plan: list[list[_Hide]], method: HiddenPlaces, bits: Any, read: Counter[int]
) -> tuple[dict[int, Picture], int]:
    """Return the output for each track, and the number of draws; ``read`` counts the draws that read each track.

    A track is drawn in the middle of the frames in which it is hidden: it is surely there. Tracks that are one place with it
    in that frame share its draw, unless they have one.
    """
    frames: dict[int, list[int]] = {}
    for number, hide in enumerate(plan):
        for one in hide:
            frames.setdefault(one.track, []).append(number)
    frames.pop(WHOLE, None)
    key: dict[int, int] = {}
    for name, numbers in frames.items():
        if name not in key:
            number = numbers[len(numbers) // 2]
            together = next(own for own in _tracks(plan[number], video) if name in own)
            key |= {one: number for one in together if one not in key}
    result: dict[int, Picture] = {}
    draws = 0
    for number, picture in _as_planned(video, plan):
        tracks = _tracks(plan[number], video) if number in key.values() else []
        new = [place for place, own in enumerate(tracks) if any(key.get(one) == number for one in own)]
        if new:
            drawn = drawn_places(picture, _cover(plan[number], video), method.made(3), bits, method.blended, new)
            for place, face in zip(new, drawn, strict=True):
                result |= {one: face for one in tracks[place] if key.get(one) == number}
                read.update(tracks[place])
            draws += len(new)
    return result, draws


def _as_planned(video: Video, plan: list[list[_Hide]]) -> Iterator[tuple[int, Picture]]:
    """Yield the frames again; refuse another number of frames."""
    changed = DataError("a video changed while it was read; try again when nothing writes to it.")
    number = -1
    for number, picture in enumerate(video.frames()):
        if number >= len(plan):
            raise changed
        yield number, picture
    if number + 1 != len(plan):
        raise changed


def _tracks(hide: list[_Hide], video: Video) -> list[list[int]]:
    """Return the tracks of each place of a frame."""
    return [[hide[i].track for i in own] for own in _cover(hide, video).members]


def _cover(hide: list[_Hide], video: Video) -> Cover:
    return Cover.of([one.place for one in hide], video.height, video.width, views=[one.view for one in hide])
