"""Text files and folders of them, in a fixed order."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from noisewright.core.errors import DataError, FileFormatError
from noisewright.files.folders import files_in
from noisewright.files.inputs import read_input

__all__ = ["text_files", "text_of"]

LARGEST_TEXT = 1 << 26
"""Maximum size of one document in bytes."""


def text_files(given: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The files that are named, and all ``.txt`` files in the folders that are named; see :mod:`noisewright.files.folders`."""
    return files_in(given, (".txt",), "texts")


def text_of(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8; a file that is none, or that holds no text, is refused without showing any of it."""
    try:
        content = read_input(path, LARGEST_TEXT)
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
