"""Folders of photographs, obfuscated into a folder that appears whole or not at all.

The output consists of pictures as PNG without metadata (unless plain entries of EXIF are requested, see
:mod:`noisewright.images.pictures.metadata`), in random order and under numbers (names of files often reveal the
people), and the certificates for the sizes of pictures in which something was sampled. All files have the same time. A
problem with a single file is reported to the data owner in one sentence, and the rest is done. Pictures stream
through: a few at a time are in memory.
"""

from __future__ import annotations

import glob
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from noisewright.core.choices import is_whole
from noisewright.core.errors import FileFormatError, NoisewrightError, ParameterError
from noisewright.files.atomic import check_free, whole_file
from noisewright.files.folders import Found, look_in, numbered_name, own_names, whole_folder
from noisewright.files.inputs import read_input
from noisewright.images.methods import Method
from noisewright.images.pictures.metadata import IN_THE_CLEAR, kept_metadata
from noisewright.images.pictures.reading import MOST_BYTES, Colours, Picture, read_picture
from noisewright.images.pictures.writing import png_of
from noisewright.noise.integers import random_order

__all__ = ["SUFFIXES", "Obfuscated", "obfuscate_picture", "obfuscate_pictures", "picture_files"]

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
"""Files of a folder that are taken for pictures."""


@dataclass(frozen=True)
class Obfuscated:
    """Result for one file; ``source`` is secret."""

    source: Path
    target: Path | None
    """New file; None if it was not written."""
    problem: str | None = None
    """Problem with the file, in one sentence."""
    size: tuple[int, int, int] | None = None
    """Rows, columns and channels of what came out."""
    thumbnails: tuple[bytes, bytes] | None = None
    """Small pictures before (secret) and after, if requested."""
    places: int = 1
    """Number of its faces or regions sampled for epsilon each; 0 where it came out as it was, without a guarantee."""


Before = Callable[[Sequence[Obfuscated]], None]


def picture_files(given: Sequence[str | os.PathLike[str]]) -> Found:
    """The files that are named, and all pictures in the folders that are named; see :mod:`noisewright.files.folders`."""
    return look_in(given, SUFFIXES, "pictures")


def obfuscate_picture(
    method: Method,
    file: Path,
    target: str | os.PathLike[str],
    *,
    colours: Colours | None = None,
    keep_metadata: bool = False,
    replace: bool = False,
    before: Before | None = None,
) -> Obfuscated:
    """One file through the method, into a PNG file with its certificate next to it: new ones, unless they may
    ``replace`` others.

    Where nothing was drawn, nothing is guaranteed, and no certificate is written. ``before`` is called with the
    result, before it is.
    """
    path = Path(target).absolute()
    for taken in (path, *_certificates_of(path)):  # before the work, not after it
        check_free(taken, replace)
    problem, content, size, small, places = _one((file, colours, method, True, keep_metadata))
    if content is None:
        raise FileFormatError(f"{file.name}: {problem}")
    name, certificate = _certificate(method, size, places, [IN_THE_CLEAR] if keep_metadata else [])
    beside = path.with_name(f"{path.stem}.{name}")
    others = _certificates_of(path)
    for taken in (beside, *others):
        check_free(taken, replace)
    done = Obfuscated(file, path, None, size, small, places)
    if before is not None:
        before([done])
    with ExitStack() as staged:
        for target_of, what in [*([(beside, certificate)] if places else []), (path, content)]:
            file_of = staged.enter_context(whole_file(target_of))
            file_of.write(what)
            file_of.flush()
            os.fsync(file_of.fileno())
        # All is on the disk. The old certificates go, the picture appears, and then its certificate: whenever this
        # ends, none stands next to a picture that it is not about.
        for taken in others:
            taken.unlink(missing_ok=True)
    return done


def obfuscate_pictures(
    method: Method,
    files: Sequence[Path],
    target: str | os.PathLike[str],
    *,
    colours: Colours | None = None,
    keep_names: bool = False,
    keep_metadata: bool = False,
    workers: int = 2,
    thumbnails: int = 0,
    progress: Callable[[int, int | None], None] | None = None,
    before: Before | None = None,
) -> list[Obfuscated]:
    """Every file through the method, into the new folder ``target``; the results in the order of ``files``.

    ``thumbnails``: number of results with small pictures of both sides, for the owner. ``before`` is called with the
    results when all is done and before the folder is there: if it fails, no folder is written. Where not a single file
    can be done, no folder is made, and the problem of the first is the error.
    """
    folder = Path(target).absolute()
    if not is_whole(workers) or not 1 <= workers <= 256:
        raise ParameterError("workers is a whole number from 1 to 256.")
    names = own_names(files, ".png") if keep_names else None
    order = list(range(len(files))) if keep_names else random_order(len(files))
    shown, results = set(range(min(thumbnails, len(files)))), {}
    most: dict[tuple[int, int, int], int] = {}
    done = 0
    with whole_folder(folder) as staged:
        jobs = ((files[place], colours, method, place in shown, keep_metadata) for place in order)
        for place, (wrong, content, size, small, places) in zip(order, _ahead(jobs, workers), strict=True):
            if content is None:
                results[place] = Obfuscated(files[place], None, wrong, places=0)
            else:
                done += 1
                name = names[place] if names else numbered_name("picture", done, ".png")  # in the random order
                (staged / name).write_bytes(content)
                results[place] = Obfuscated(files[place], folder / name, None, size, small, places)
                most |= {size: max(places, most.get(size, 0))} if places else {}
            if progress is not None:
                progress(len(results), len(files))
        if not done:
            raise FileFormatError(f"not one picture could be done; {results[0].source.name}: {results[0].problem}")
        also = [*(["the names of the files"] if keep_names else []), *([IN_THE_CLEAR] if keep_metadata else [])]
        for size in sorted(most):
            name, certificate = _certificate(method, size, most[size], also)
            (staged / name).write_bytes(certificate)
        for path in sorted(staged.iterdir()):
            os.utime(path, (0, 0))
        told = [results[place] for place in range(len(files))]
        if before is not None:
            before(told)
    return told


_Job = tuple[Path, Colours | None, Method, bool, bool]
_Done = tuple[str | None, bytes | None, tuple[int, int, int], tuple[bytes, bytes] | None, int]


def _one(job: _Job) -> _Done:
    """One picture, read and drawn; or why not."""
    path, colours, method, shown, kept = job
    try:
        picture = read_picture(path, colours=colours)
        drawn, places = method.drawn(picture, source=path)
        small = (thumbnail(picture), thumbnail(drawn)) if shown else None
        content = png_of(drawn, kept_metadata(read_input(path, MOST_BYTES)) if kept else b"")
        return None, content, (drawn.shape[0], drawn.shape[1], drawn.shape[2]), small, places
    except NoisewrightError as problem:
        return str(problem), None, (0, 0, 0), None, 0


def _ahead(jobs: Iterator[_Job], workers: int) -> Iterator[_Done]:
    """The results in order, with no more pictures in memory than keep the workers busy."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[_Done]] = deque()
        for job in jobs:
            waiting.append(pool.submit(_one, job))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def thumbnail(picture: Picture, side: int = 160) -> bytes:
    """The bytes of a small PNG of a picture, with a maximum width and height in pixels."""
    step = max(1, -(-max(picture.shape[:2]) // side))
    return png_of(picture[::step, ::step].copy())


def _certificates_of(picture: Path) -> list[Path]:
    """The certificates that stand next to a picture, whatever its size was."""
    found = picture.parent.glob(f"{glob.escape(picture.stem)}.certificate-*.json")
    return [
        path for path in found if re.fullmatch(r"certificate-\d+x\d+(-grey)?\.json", path.name[len(picture.stem) + 1 :])
    ]


def _certificate(
    method: Method, size: tuple[int, int, int], places: int, also: Sequence[str] = ()
) -> tuple[str, bytes]:
    """Return the certificate of pictures of a size with at most ``places`` each, and visible files in ``also``: name,
    content."""
    (height, width, channels), found = size, method.certificate(*size, places=max(places, 1))
    stated = found.with_clear([*found.document.get("in_the_clear", ()), *also])
    return f"certificate-{width}x{height}{'-grey' if channels == 1 else ''}.json", stated.to_json().encode()
