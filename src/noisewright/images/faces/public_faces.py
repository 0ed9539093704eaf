"""The codes of some public faces, and whose they are: a model keeps them in its file, so that anyone can measure an
epsilon.

>>> gallery = Gallery.of([[0.0, 1], [0, 2], [5, 5], [6, 6], [7, 7]], [3, 3, 8, 8, 8])
>>> gallery.people.tolist(), gallery.one_each.tolist()
([0, 0, 1, 1, 1], [[0.0, 1.0], [5.0, 5.0]])

>>> from noisewright.images.faces.public_faces import cartoon_faces
>>> pictures, people = cartoon_faces(3, 2, size=16)
>>> PublicFaces(pictures, people, {"expression": ["sad", "doubtful"] * 3}, source="drawn in code")
PublicFaces(6 of 16 x 16 pixels, 3 people, expression)

A folder of them has one folder for each person, or a table ``labels.csv`` with a column ``file``, perhaps ``person``, and a
column for each attribute; see :func:`read_faces`.

People differ in the shape of the head, colours, hair, eyes, brows, nose and beard; an expression changes the mouth alone.
Edges
are smooth: a picture is drawn three times as large.

>>> faces, people = cartoon_faces(5, size=16)
>>> faces.shape, people.tolist()[:6]
((20, 16, 16, 3), [0, 0, 0, 0, 1, 1])

They were drawn at random by the generator facesjs (see ``images/data/NOTICE``): frontal, in one jersey, with nothing
on their heads. People differ in hair, colours, shape and features, an expression changes the mouth alone, and every
other person is a woman. Therefore there are labelled faces for training, attacks and tests where no photographs can be
had.

>>> faces = sprite_faces()
>>> faces.pictures.shape, faces.people[:9].tolist()
((1080, 48, 48, 3), [0, 0, 0, 0, 0, 0, 0, 0, 1])
>>> [str(expression) for expression in faces.expressions[:3]], str(faces.genders[0])
(['neutral', 'smiling', 'laughing'], 'female')
>>> len(faces.of(range(68)).pictures), len(faces.showing("neutral").pictures)
(544, 135)
>>> sprite_landmarks().shape
(135, 32, 2)
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.inputs import read_input
from noisewright._utils.validation import is_whole
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images.pictures import CHANNELS, Colours, Picture, pillow, read_picture
from noisewright.io.atomic import Problem, look_in

__all__ = [
    "EXPRESSIONS",
    "OUTLINES",
    "PEOPLE",
    "SHEET",
    "SIDE",
    "Gallery",
    "PublicFaces",
    "SpriteFaces",
    "cartoon_faces",
    "read_faces",
    "sprite_faces",
    "sprite_landmarks",
]


MOST_PEOPLE, MOST_FACES = 200, 4
"""Maximum number of people in a file, and of faces of each."""
ROUNDED = 2.0**-23
"""Codes are kept in floats of 32 bits, which are off by less than this part."""


@dataclass(frozen=True, eq=False)
class Gallery:
    """Codes of public faces, one in each row, with faces of one person together; make one with :meth:`of`."""

    codes: Floats
    people: NDArray[np.int64]
    """Whose each is, numbered starting at 0."""

    @classmethod
    def of(cls, codes: ArrayLike, people: Sequence[Any] | NDArray[Any] | None = None) -> Gallery:
        """Some of the codes of public faces; without ``people``, each is someone else's."""
        given = np.asarray(codes, np.float64)
        if people is not None and len(people) != len(given):
            raise DataError("every public face has the label of its person, or none has one.")
        who = np.arange(len(given)) if people is None else np.unique(np.asarray(people), return_inverse=True)[1]
        rows = [
            np.flatnonzero(who == person)[:MOST_FACES] for person in range(min(MOST_PEOPLE, who.max(initial=-1) + 1))
        ]
        kept = np.concatenate([np.empty(0, np.int64), *rows])
        return cls(given[kept], np.asarray(who[kept], np.int64))

    @property
    def one_each(self) -> Floats:
        """The first code of everyone."""
        return np.asarray(self.codes[np.unique(self.people, return_index=True)[1]])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays for a model's file."""
        return {"gallery": self.codes.astype("<f4"), "people": self.people.astype("<i8")}

    @classmethod
    def kept(cls, arrays: Mapping[str, NDArray[Any]], low: Floats, high: Floats) -> Gallery | None:
        """Return the gallery of a file; None if it has no valid codes in this public box."""
        codes, people = arrays.get("gallery"), arrays.get("people")
        if codes is None or people is None or codes.shape != (len(people), len(low)) or people.ndim != 1:
            return None
        if not np.isfinite(codes).all() or people.dtype != np.int64:
            return None
        near = ROUNDED * np.maximum(np.abs(low), np.abs(high))
        if (codes < low - near).any() or (codes > high + near).any():
            return None
        return cls(np.asarray(codes, np.float64), np.asarray(people))


# Public faces -------------------------------------------------------------------------------------------------------------
#
# Public faces to learn from: pictures of one size, each with its person and attributes.


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


# Cartoons -----------------------------------------------------------------------------------------------------------------
#
# Made-up faces, drawn in code: no one's, for examples, tests and first models.


MOUTHS = (-1.0, -0.5, 0.0, 1.0)
"""Curvature of the mouth for each expression: sad, doubtful, neutral, happy."""
TRAITS, FINER = 12, 3


def cartoon_faces(
    people: int, expressions: int = len(MOUTHS), *, size: int = 24, seed: int = 0
) -> tuple[Picture, NDArray[np.int64]]:
    """``people * expressions`` faces of ``size`` x ``size`` pixels in colour, and whose they are; others for other seeds."""
    if not all(is_whole(number) and number >= 1 for number in (people, expressions, size)) or expressions > len(MOUTHS):
        raise ParameterError(
            f"people and size are whole numbers from 1 on, and there are 1 to {len(MOUTHS)} expressions."
        )
    traits = np.random.default_rng(seed).random((people, TRAITS))
    drawn = [_face(own, bend, size) for own in traits for bend in MOUTHS[:expressions]]
    return np.stack(drawn), np.repeat(np.arange(people), expressions)


def _face(traits: Floats, bend: float, size: int) -> Picture:
    many = size * FINER
    y, x = (np.mgrid[:many, :many] + 0.5) / many
    x = x - 0.5
    picture = np.full((many, many, 3), 250.0)
    wide, long, hair, eyes, gap, nose, brow, beard, skin_tone, red, green, iris = traits.tolist()
    skin = np.array([235 - 110 * skin_tone, 200 - 110 * skin_tone, 170 - 100 * skin_tone])
    tint = np.array([20 + 200 * red, 20 + 140 * green, 20 + 60 * red])
    across, down = 0.26 + 0.12 * wide, 0.3 + 0.12 * long
    head = (x / across) ** 2 + ((y - 0.55) / down) ** 2
    picture[(x / (across + 0.06)) ** 2 + ((y - 0.5 + 0.08 * hair) / (down + 0.03)) ** 2 < 1] = tint
    picture[head < 1] = skin
    picture[(head < 1) & (y < 0.28 + 0.14 * hair)] = tint
    for side in (-1, 1):
        place = side * (0.09 + 0.06 * gap)
        picture[(x - place) ** 2 + (y - 0.48) ** 2 < (0.025 + 0.03 * eyes) ** 2] = 30, 60 * iris, 90
        picture[(abs(x - place) < 0.06) & (abs(y - 0.4 + 0.03 * brow) < 0.012 + 0.02 * brow)] = 0.6 * tint
    picture[(abs(x) < 0.015 + 0.03 * nose) & (abs(y - 0.58) < 0.06)] = 0.8 * skin
    picture[(head < 1) & (y > 0.95 - 0.2 * beard)] = 0.5 * tint + 0.5 * skin
    picture[(abs(x) < 0.1) & (abs(y - 0.74 + bend * (6 * x**2 - 0.03)) < 0.02)] = 150, 30, 40
    return np.asarray(np.rint(picture.reshape(size, FINER, size, FINER, 3).mean((1, 3))), np.uint8)


# Sprites ------------------------------------------------------------------------------------------------------------------
#
# Made-up faces of 135 people with eight expressions each, from a sheet that comes with the package.


SHEET = Path(__file__).parents[1] / "data" / "sprites.png"
OUTLINES = SHEET.with_name("sprites.json")
FEATURES = ((140, 310), (260, 310), (140, 270), (260, 270), (200, 370), (170, 440), (200, 440), (230, 440))
"""Where eyes, brows, nose and mouth are in every drawing, of which a square is shown."""
LEFT, TOP, WIDE = -50, 60, 500
PEOPLE, SIDE = 135, 48
EXPRESSIONS = ("neutral", "smiling", "laughing", "angry", "surprised", "pouting", "doubtful", "sad")
GENDERS = ("female", "male")


class SpriteFaces(NamedTuple):
    """Faces, and of each whose it is, with which expression, and whether of a woman or a man."""

    pictures: Picture
    people: NDArray[np.int64]
    expressions: NDArray[np.str_]
    genders: NDArray[np.str_]

    def of(self, people: Collection[int]) -> SpriteFaces:
        """The faces of these people alone."""
        return self._where(np.isin(self.people, list(people)))

    def showing(self, *expressions: str) -> SpriteFaces:
        """The faces with one of these expressions alone."""
        return self._where(np.isin(self.expressions, expressions))

    def _where(self, chosen: NDArray[np.bool_]) -> SpriteFaces:
        return SpriteFaces(self.pictures[chosen], self.people[chosen], self.expressions[chosen], self.genders[chosen])


def sprite_faces() -> SpriteFaces:
    """All of them, person by person."""
    many = len(EXPRESSIONS)
    sheet = read_picture(SHEET).reshape(PEOPLE, SIDE, many, SIDE, 3)
    people = np.repeat(np.arange(PEOPLE), many)
    return SpriteFaces(
        np.ascontiguousarray(sheet.transpose(0, 2, 1, 3, 4)).reshape(-1, SIDE, SIDE, 3),
        people,
        np.tile(np.array(EXPRESSIONS), PEOPLE),
        np.array(GENDERS)[people % 2],
    )


def sprite_landmarks() -> Floats:
    """Return for each person coordinates x, y in pixels: 24 around the head, then eyes, brows, nose and mouth; of all
    expressions."""
    around = np.array(json.loads(OUTLINES.read_text(encoding="utf-8")))
    inside = (np.array(FEATURES) - (LEFT, TOP)) * SIDE / WIDE - 0.5
    return np.concatenate([around, np.broadcast_to(inside, (PEOPLE, *inside.shape))], 1)
