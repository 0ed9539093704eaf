r"""Eigenfaces: the principal components of the pixels of public faces, encoder and decoder at once, without a network.

The code of a face is where it lies along the directions in which public faces differ most; decoding adds the directions up again.
Faces must be aligned and of one size. What comes out looks like a mixture of the public faces, and nothing of a face passes by
its code.

Directions are kept as multiples of 2^-24, so that the sums of products with pixels are exact in floats: a face has the same code
on every machine, alone or among others.

>>> import pathlib, tempfile
>>> public = np.random.default_rng(1).integers(0, 256, (20, 8, 8, 3), dtype=np.uint8)
>>> model = train_eigenfaces(pathlib.Path(tempfile.mkdtemp(), "noise.nwm"), public, components=19)
>>> model
Eigenfaces('noise.nwm', 8 x 8 pixels in colour, 19 components)
>>> bool((abs(model.decode(model.encode(public)).astype(int) - public) <= 1).all())
True

Reference: Turk and Pentland, *Eigenfaces for recognition* (1991).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError, FileFormatError
from noisewright.files.model_file import read_model, write_model
from noisewright.images.faces.models.basis import Basis, ComponentFaces, Read
from noisewright.images.faces.models.gallery import Gallery
from noisewright.images.pictures.reading import CHANNELS, Picture
from noisewright.images.pictures.writing import as_pixels

__all__ = ["Eigenfaces", "train_eigenfaces"]

KIND = "eigenfaces"
MOST_COMPONENTS = 300
PARTS = {"mean": "<f4", "directions": "<f4", "spreads": "<f8", "low": "<f8", "high": "<f8"}
FINEST = 2.0**-24
"""Halves of floats are multiples of this anyway; other directions are rounded to it."""
LONGEST = 1 + 2.0**-10
"""A direction is as long as 1 except for rounding, and none of its entries is longer."""


class Eigenfaces(ComponentFaces):
    """Principal components of faces in a file; make one with :meth:`at` or :func:`train_eigenfaces`."""

    def encode(self, pictures: Picture, elements: int | None = None) -> Floats:
        """The components of faces, one face in each row; the first ``elements`` of them, or all."""
        return _places(_flat(pictures, self.shape), self.basis.directions[:elements]) - self._middle[:elements]

    def decode(self, codes: Floats, attributes: Floats | None = None) -> Picture:
        """The faces with these components; those that are not given are the mean of public faces."""
        given = np.atleast_2d(np.asarray(codes, np.float64))
        if given.shape[1] > self.basis.size:
            raise DataError(f"the model has {self.basis.size} components; give as many or fewer.")
        away = given @ np.asarray(self.basis.directions[: given.shape[1]], np.float64)
        return as_pixels(away + self.basis.mean).reshape(-1, *self.shape)

    @cached_property
    def _middle(self) -> Floats:
        return _middle(self.basis)

    @cached_property
    def _read(self) -> Read:
        about, arrays = read_model(self.resource, KIND)
        wrong = FileFormatError(f"{self.resource.name} has arrays that make no eigenfaces; train it again.")
        sizes: list[Any] = [about.get(key) for key in ("height", "width", "channels")]
        if (
            set(arrays) - {"gallery", "people"} != set(PARTS)
            or not all(type(size) is int and size > 0 for size in sizes)
            or sizes[2] not in CHANNELS.values()
        ):
            raise wrong
        many, pixels = arrays["low"].size, int(np.prod(np.array(sizes, dtype=object)))
        shapes: dict[str, tuple[int, ...]] = {"mean": (pixels,), "directions": (many, pixels)}
        if any(
            arrays[name].shape != shapes.get(name, (many,)) or not np.isfinite(arrays[name]).all() for name in PARTS
        ):
            raise wrong
        if not many or not (arrays["low"] < arrays["high"]).all() or not (arrays["spreads"] > 0).all():
            raise wrong
        if np.abs(arrays["directions"]).max() > LONGEST or not ((arrays["mean"] >= 0) & (arrays["mean"] <= 255)).all():
            raise wrong  # with others some pictures would have no code, which would distinguish them
        gallery = Gallery.kept(arrays, arrays["low"], arrays["high"])
        if gallery is None and len(arrays) > len(PARTS):
            raise wrong
        parts = {name: arrays[name] if arrays[name].itemsize > 2 else arrays[name].astype("<f4") for name in PARTS}
        return Read((sizes[0], sizes[1], sizes[2]), Basis(**parts), gallery)


def train_eigenfaces(
    path: str | os.PathLike[str],
    faces: Picture,
    *,
    people: Sequence[Any] | NDArray[Any] | None = None,
    components: int = MOST_COMPONENTS,
    source: str = "",
    small: bool = False,
) -> Eigenfaces:
    """The components of *public* faces (pictures, rows, columns, channels), written to a file.

    ``people``: whose they are, if someone is there several times; the file keeps the codes of some, so that an epsilon
    can be measured. ``source`` says in words where the faces are from. ``small``: half the file, with directions of
    three digits. Ranges and spreads are those of these faces.
    """
    given = np.asarray(faces)
    if given.ndim != 4 or given.shape[3] not in CHANNELS.values() or not given.size:
        raise DataError("faces to learn from have one size: pictures, rows, columns, and one or three channels.")
    flat = _flat(given, given.shape[1:])
    found = Basis.fit(flat, components)
    directions = (np.rint(found.directions / FINEST) * FINEST).astype("<f2" if small else PARTS["directions"])
    basis = replace(found, mean=found.mean.astype(PARTS["mean"]), directions=directions)
    places = _places(flat, directions) - _middle(basis)
    basis = replace(basis, spreads=places.std(0), low=places.min(0), high=places.max(0))
    about = {"faces": len(given), "source": source}
    about |= dict(zip(("height", "width", "channels"), given.shape[1:], strict=True))
    arrays = {name: getattr(basis, name) for name in PARTS} | Gallery.of(places, people).arrays()
    return Eigenfaces(write_model(path, KIND, about, arrays))


def _places(flat: NDArray[Any], directions: NDArray[Any]) -> Floats:
    """Exact sums: pixels have eight bits and directions 24, so millions of products fit into the 53 of a float."""
    return np.asarray(flat.astype(np.float64) @ np.asarray(directions, np.float64).T)


def _middle(basis: Basis) -> Floats:
    """Return where the mean lies along each direction."""
    mean = np.asarray(basis.mean, np.float64)
    return np.array([float(mean @ np.asarray(row, np.float64)) for row in basis.directions])


def _flat(pictures: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if pictures.dtype != np.uint8 or pictures.ndim != 4 or pictures.shape[1:] != shape:
        raise DataError(
            f"faces have {shape[0]} rows, {shape[1]} columns and {shape[2]} channel{'s' if shape[2] > 1 else ''} of eight bits "
            "here; align and resize them first."
        )
    return pictures.reshape(len(pictures), -1)
