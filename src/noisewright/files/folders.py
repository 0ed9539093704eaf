"""Folders of files: those that are read one by one, and those that appear whole or not at all."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from noisewright.core.errors import FileFormatError
from noisewright.files.atomic import hidden_folder, rename_new, sync_folder
from noisewright.files.endings import endings_as_exceptions

__all__ = ["Found", "Problem", "files_in", "look_in", "numbered_name", "own_names", "whole_folder"]

DIGITS = 6
"""Number of digits in names, always the same: the number of files that were given, done or not, stays private."""


Problem = tuple[Path, str]
"""Path that could not be read, and the reason in one sentence."""


@dataclass(frozen=True)
class Found:
    """Files found in the places that were named."""

    files: list[Path]
    problems: list[Problem]
    """Places that could not be examined."""
    others: dict[str, int]
    """Number of files of folders with other endings, by ending."""


def files_in(given: Iterable[str | os.PathLike[str]], suffixes: Sequence[str], what: str) -> list[Path]:
    """The files that :func:`look_in` finds."""
    return look_in(given, suffixes, what).files


def look_in(given: Iterable[str | os.PathLike[str]], suffixes: Sequence[str], what: str) -> Found:
    """The files that are named, and files in the named folders that end with one of the suffixes, sorted by path.

    A file that is found twice, by its folder and by its name or by a link, is one: drawn from twice, it would be hidden less.
    ``what`` is the plural of what is looked for, for messages.
    """
    found: list[Path] = []
    problems: dict[Path, str] = {}
    others: dict[Path, str] = {}
    for place in map(Path, given):
        if os.path.isdir(place):
            found += _in_folder(place, suffixes, problems, others)
        elif os.path.isfile(place):
            found.append(place)
        else:
            raise FileFormatError(f"there is no file or folder {place}; name {what} that are there.")
    if not found and problems:
        path, why = next(iter(problems.items()))
        raise FileFormatError(f"there are no {what} that can be read; {path}: {why}")
    if not found:
        raise FileFormatError(f"there are no {what}: a folder needs files that end with {', '.join(suffixes)}.")
    once: dict[tuple[int, int], Path] = {}
    for path in found:
        about = path.stat()
        once.setdefault((about.st_dev, about.st_ino), path)
    return Found(list(once.values()), list(problems.items()), dict(sorted(Counter(others.values()).items())))


def _in_folder(folder: Path, suffixes: Sequence[str], problems: dict[Path, str], others: dict[Path, str]) -> list[Path]:
    """The files of a folder and of those in it; links to folders are not followed."""
    found = []

    def unread(problem: OSError) -> None:
        if Path(problem.filename) == folder:
            raise FileFormatError(f"the folder {folder} cannot be read: {problem.strerror}.")
        problems[Path(problem.filename)] = f"a folder cannot be read: {problem.strerror}; nothing in it was looked at."

    for top, folders, names in os.walk(folder, onerror=unread):
        others |= {Path(top, name): "links to folders" for name in folders if os.path.islink(os.path.join(top, name))}
        for path in (Path(top, name) for name in names):
            if path.suffix.lower() not in suffixes:
                others[path] = path.suffix.lower() or "no ending"
            elif os.path.isfile(path):
                found.append(path)
            else:
                problems[path] = "there is no file that can be read; a link may lead nowhere."
    return sorted(found)


def own_names(files: Sequence[Path], suffix: str) -> list[str]:
    """The names of files with another suffix, which must differ."""
    names = [file.with_suffix(suffix).name for file in files]
    if len(set(names)) < len(names):
        raise FileFormatError("two files have the same name; leave out --keep-names, or rename one.")
    return names


def numbered_name(stem: str, number: int, suffix: str) -> str:
    """Return a name that contains only its number.

    >>> numbered_name("picture", 7, ".png")
    'picture-000007.png'
    """
    return f"{stem}-{number:0{DIGITS}}{suffix}"


@contextmanager
def whole_folder(target: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder to write into, which becomes the new folder ``target`` at the end, and is gone after any error or ending."""
    folder = Path(target).absolute()
    if os.path.lexists(folder):
        raise FileFormatError(f"{folder} is there already; name a new folder, so that nothing is mixed or overwritten.")
    with endings_as_exceptions():
        try:
            with hidden_folder(folder) as staged:
                yield staged
                staged.chmod(0o755)
                rename_new(staged, folder)
                sync_folder(folder.parent)
        except OSError as problem:
            raise FileFormatError(f"{folder} cannot be written: {problem.strerror}.") from None
