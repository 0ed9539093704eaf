"""Text files and folders of them, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from noisewright.core.errors import DataError, FileFormatError

__all__ = ["text_files", "text_of"]


def text_files(given: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The files that are named, and all ``.txt`` files in the folders that are named, sorted by path within each folder.

    A file that is found twice, by its folder and by its name or by a link, is one: drawn from twice, it would be hidden less.
    """
    found: list[Path] = []
    for place in map(Path, given):
        if place.is_dir():
            found += sorted(path for path in place.rglob("*") if path.suffix.lower() == ".txt" and path.is_file())
        elif place.is_file():
            found.append(place)
        else:
            raise FileFormatError(f"there is no file or folder {place}; name texts that are there.")
    if not found:
        raise FileFormatError("there are no texts: a folder needs files that end with .txt.")
    once: dict[tuple[int, int], Path] = {}
    for path in found:
        about = path.stat()
        once.setdefault((about.st_dev, about.st_ino), path)
    return list(once.values())


def text_of(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8; a file that is none, or that holds no text, is refused without showing any of it."""
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise FileFormatError(f"{os.fspath(path)} cannot be read: {problem.strerror}.") from None
    if b"\0" in content:
        raise DataError(f"{os.fspath(path)} is a binary file; name text in UTF-8.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{os.fspath(path)} is not UTF-8; convert it first, for example with iconv.") from None
    if not text.strip():
        raise DataError(f"{os.fspath(path)} is empty; leave it out.")
    return text
