r"""Faces in videos: found in every frame, followed, and hidden, with samples counted for each face that is followed.

A video is gone through three times, one frame in memory at a time: faces are found and followed
(:mod:`noisewright.images.pipeline.tracks`), drawn, and painted. It fails closed as photographs do, frame by frame: a video with a
frame in which no face is found or held for sure is refused, unless such frames are hidden as a whole or kept.

**Privacy cost of a face.** With ``draw="once"``, a face that is followed is drawn from once, in one frame, and the
result is shown in all its frames: ``epsilon`` for the whole track, however long. With ``draw="every"``, it is drawn
again in every frame, and a track of n frames costs n epsilon. A frame hidden as a whole is drawn for itself. Places
that share a pixel in a frame are one place there (:class:`~noisewright.images.pipeline.places.Cover`) with one draw:
so every hidden pixel is read by one draw at most, and tracks that meet where one of them is drawn once are drawn
together.

**Privacy cost of a person.** A person who comes back after being lost is another track, one face may be found twice,
and nothing here identifies people: any track may be the same person. Therefore the guarantee for one person counts all
draws (``touching`` of the record), and that for all hidden places together is the same number.

In the clear, in addition to photographs: positions of faces in each frame, hence movements; the length of the video.
Sound and metadata do not come out.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.choices import one_of
from noisewright.core.errors import DataError, FileFormatError, ParameterError
from noisewright.files.atomic import write_atomically
from noisewright.images.mechanism import of_all_draws
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.regions import Inside
from noisewright.images.pipeline.detection import Face
from noisewright.images.pipeline.finding import CERTAIN, FoundFaces
from noisewright.images.pipeline.frame_boxes import OwnFrames
from noisewright.images.pipeline.frames import Video, new_video, open_video
from noisewright.images.pipeline.heads import aligned_head
from noisewright.images.pipeline.hiding import HiddenPlaces, drawn_places, hidden
from noisewright.images.pipeline.places import Cover, Place
from noisewright.images.pipeline.tracks import HOLD, check_hold, held, tracks_of
from noisewright.noise.bits import Rng, bits_from

__all__ = ["Draw", "HiddenVideo", "hide_video"]

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
