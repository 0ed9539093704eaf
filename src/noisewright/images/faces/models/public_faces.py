"""Public faces to learn from: pictures of one size, each with its person and attributes.

>>> from noisewright.images.faces.cartoons import cartoon_faces
>>> pictures, people = cartoon_faces(3, 2, size=16)
>>> PublicFaces(pictures, people, {"expression": ["sad", "doubtful"] * 3}, source="drawn in code")
PublicFaces(6 of 16 x 16 pixels, 3 people, expression)

A folder of them has one folder for each person, or a table ``labels.csv`` with a column ``file``, perhaps ``person``, and a
column for each attribute; see :func:`read_faces`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, FileFormatError, ParameterError
from noisewright.files.folders import Problem, look_in
from noisewright.files.inputs import read_input
from noisewright.images.pictures.reading import CHANNELS, Colours, Picture, pillow, read_picture

__all__ = ["PublicFaces", "read_faces"]

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
TABLE = "labels.csv"
LARGEST_TABLE = 1 << 26
FILE, PERSON = "file", "person"
Labels = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class PublicFaces:
    """Pictures (pictures, rows, columns, channels), whose they are, and a list of values for each attribute."""

    pictures: Picture
    people: Labels | None = None
    attributes: Mapping[str, Labels] = field(default_factory=dict)
    source: str = ""
    """Where they are from, in words."""
    problems: tuple[Problem, ...] = ()
    """The files and folders that could not be read, and why: nothing was learned from them."""

    def __post_init__(self) -> None:
        shape = np.shape(self.pictures)
        if len(shape) != 4 or shape[3] not in CHANNELS.values() or not all(shape) or self.pictures.dtype != np.uint8:
            raise DataError("faces to learn from have one size: pictures, rows, columns, and one or three channels.")
        columns = [*([] if self.people is None else [self.people]), *self.attributes.values()]
        if any(len(column) != shape[0] for column in columns):
            raise DataError("every face to learn from has one person and one value of each attribute.")

    @property
    def digest(self) -> str:
        """The SHA-256 of everything that is learned from."""
        found = hashlib.sha256(np.ascontiguousarray(self.pictures).tobytes())
        told = {name: [str(value) for value in values] for name, values in self.attributes.items()}
        people = None if self.people is None else [str(person) for person in self.people]
        found.update(json.dumps([self.pictures.shape, people, told], sort_keys=True).encode())
        return found.hexdigest()

    def __repr__(self) -> str:
        many, height, width, _ = self.pictures.shape
        people = "" if self.people is None else f", {len(np.unique(np.asarray(self.people)))} people"
        attributes = "".join(f", {name}" for name in sorted(self.attributes))
        return f"PublicFaces({many} of {width} x {height} pixels{people}{attributes})"


def read_faces(
    folder: str | os.PathLike[str],
    *,
    size: int,
    colours: Colours = "rgb",
    progress: Callable[[int, int | None], None] | None = None,
) -> PublicFaces:
    """All faces in a folder, the square in the middle of each resized to ``size`` x ``size`` pixels.

    People are the folders that pictures lie in, or a column of ``labels.csv``. A picture that cannot be read is left out and
    listed in ``problems``; it is an error if none can be read.
    """
    if not is_whole(size) or not 1 <= size <= 1024:
        raise ParameterError("the size of faces is a whole number of pixels from 1 to 1024.")
    place = Path(folder)
    if not place.is_dir():
        raise FileFormatError(f"there is no folder {place}; name a folder with public faces.")
    there = look_in([place], SUFFIXES, "faces")
    names = [path.relative_to(place).as_posix() for path in there.files]
    table = _table(place / TABLE, names)
    pictures = np.empty((len(names), size, size, CHANNELS[colours]), np.uint8)
    problems = list(there.problems)
    read: list[int] = []
    for number, path in enumerate(there.files):
        try:
            pictures[len(read)] = square(read_picture(path, colours=colours), size)
            read.append(number)
        except DataError as problem:
            problems.append((path, str(problem)))
        if progress is not None:
            progress(number + 1, len(names))
    if not read:
        raise DataError(f"not one face could be read; {problems[0][0].name}: {problems[0][1]}")
    folders = [name.rpartition("/")[0] for name in names]
    people = table.pop(PERSON, folders if all(folders) else None)
    return PublicFaces(
        pictures[: len(read)],
        None if people is None else [people[number] for number in read],
        {name: [values[number] for number in read] for name, values in table.items()},
        source=place.absolute().name,
        problems=tuple(problems),
    )


def square(picture: Picture, size: int) -> Picture:
    """The largest square in the middle of a picture, ``size`` x ``size`` pixels large."""
    height, width, channels = picture.shape
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    cut = picture[top : top + side, left : left + side]
    image = pillow("Image")
    small = image.fromarray(cut[:, :, 0] if channels == 1 else cut).resize((size, size), image.Resampling.LANCZOS)
    return np.asarray(small, np.uint8).reshape(size, size, channels)


def _table(path: Path, names: Sequence[str]) -> dict[str, list[Any]]:
    """The columns of a table of labels, in the order of the files; none where there is no table."""
    if not path.exists():
        return {}
    try:
        text = read_input(path, LARGEST_TABLE).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error):
        raise FileFormatError(f"{path.name} is no table in UTF-8 with commas; write it anew.") from None
    if not rows or FILE not in rows[0] or any(None in row or None in row.values() for row in rows):
        raise FileFormatError(
            f"{path.name} has a column {FILE!r} with paths from its folder, and a value in every column."
        )
    known = {row[FILE]: row for row in rows}
    missing = sum(name not in known for name in names)
    if missing or len(known) < len(rows):
        raise FileFormatError(
            f"{path.name} has one row for each face; {missing} of the faces have none, or a file is listed twice."
        )
    found = {name: [known[file][name] for file in names] for name in rows[0] if name != FILE}
    return {name: values if name == PERSON else _numbers(values) for name, values in found.items()}


def _numbers(values: list[str]) -> list[Any]:
    """Floats where all of them have a decimal point, as angles do; else the texts themselves, which are categories."""
    try:
        return [float(value) for value in values] if all("." in value for value in values) else values
    except ValueError:
        return values
