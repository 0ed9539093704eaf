"""Videos as streams of frames: read one at a time, and written without sound or metadata.

Only the pictures are read. Files are identified by their first bytes, never as lists of other files or addresses.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.core.errors import DataError, FileFormatError
from noisewright.files.atomic import hidden_folder, rename_new
from noisewright.files.endings import endings_as_exceptions
from noisewright.files.inputs import open_input
from noisewright.images.pictures.reading import MOST_PIXELS, Picture
from noisewright.images.pipeline.networks import vision

__all__ = ["CODECS", "MOST_FRAMES", "VIDEOS", "Video", "new_video", "open_video"]

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
