"""A tiny model of made-up faces, and other made-up people as files."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from noisewright.images import Eigenfaces, cartoon_faces, train_eigenfaces
from noisewright.images.pictures import png_of

SIZE = 12


def tiny_model() -> Eigenfaces:
    """Of 30 people with two faces each, 12 x 12 pixels in colour."""
    return Eigenfaces.at(_tiny_model())  # anew, since other tests forget where files are


def face_files(many: int, size: int = SIZE, seed: int = 7) -> list[bytes]:
    """PNG files of so many other people."""
    return [png_of(face) for face in cartoon_faces(many, 1, size=size, seed=seed)[0]]


@cache
def _tiny_model() -> Path:
    public, people = cartoon_faces(30, 2, size=SIZE, seed=1)
    path = Path(tempfile.mkdtemp(), "tiny.nwm")
    train_eigenfaces(path, public, people=people, components=20, source="drawn in code")
    return path
