r"""A basis of principal components: codes along the directions in which public faces differ most.

With the mean :math:`\mu` and the orthonormal directions V (rows here) of public codes, in the order of their variance,

.. math:: t = V (z - \mu), \qquad z \approx V^\top t + \mu,

and the way back is exact if all directions are kept. A component that is dropped is released as a constant, its public mean
0, which is perfectly private; the others keep their public standard deviations (``spreads``) and ranges. Components along
which public faces do not differ at all are left out.

>>> import numpy as np
>>> public = np.array([[0, 0, 5], [4, 2, 5], [2, 1, 5.0]])  # they differ along (2, 1, 0) alone
>>> basis = Basis.fit(public)
>>> basis.size, basis.low.round(3).tolist(), basis.high.round(3).tolist()
(1, [-2.236], [2.236])
>>> basis.backward(basis.forward(public)).round(6).tolist() == public.tolist()
True

The code of a face is where it lies along the directions in which public faces differ most; decoding adds the directions up
again.
Faces must be aligned and of one size. What comes out looks like a mixture of the public faces, and nothing of a face passes by
its code.

Directions are kept as multiples of 2^-24, so that the sums of products with pixels are exact in floats: a face has the same
code
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
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, qr

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images.faces.public_faces import Gallery
from noisewright.images.pictures import CHANNELS, Picture, as_pixels
from noisewright.io.model_files import read_model, write_model
from noisewright.resources import Resource

__all__ = ["Basis", "ComponentFaces", "Eigenfaces", "Read", "train_eigenfaces"]


NEGLIGIBLE = 1e-6
"""A component whose spread is below this part of the largest is hardly more than rounding, and is left out."""


@dataclass(frozen=True, eq=False)
class Basis:
    """The mean, directions (rows), spreads and ranges of principal components; make one with :meth:`fit`."""

    mean: Floats
    directions: Floats
    spreads: Floats
    low: Floats
    high: Floats

    @classmethod
    def fit(cls, codes: ArrayLike, components: int | None = None) -> Basis:
        """The components of public codes, one in each row; the first ``components`` of them, or all."""
        given = np.asarray(codes, np.float64)
        if given.ndim != 2 or len(given) < 2 or not np.isfinite(given).all():
            raise DataError("a basis is fitted to two public codes or more, one in each row, of finite numbers.")
        if components is not None and (not is_whole(components) or components < 1):
            raise ParameterError("the number of components is a whole number from 1 on.")
        mean = given.mean(0)
        directions = _directions(given - mean, components)
        places = (given - mean) @ directions.T
        return cls(mean, directions, places.std(0), places.min(0), places.max(0))

    @property
    def size(self) -> int:
        """Return how many components there are."""
        return len(self.directions)

    @property
    def ranges(self) -> Floats:
        """The public range of each component."""
        return self.high - self.low

    def forward(self, codes: ArrayLike, components: int | None = None) -> Floats:
        """The components of codes; the first ``components`` of them, or all. In the precision of the directions."""
        away = np.asarray(codes, self.directions.dtype) - self.mean
        return np.asarray(away @ self.directions[:components].T, np.float64)

    def backward(self, components: ArrayLike) -> Floats:
        """The codes with these components; those that are not given are 0, their public mean."""
        given = np.asarray(components, self.directions.dtype)
        if given.shape[-1] > self.size:
            raise DataError(f"the basis has {self.size} components; give as many or fewer.")
        return np.asarray(given @ self.directions[: given.shape[-1]] + self.mean, np.float64)


def _directions(away: Floats, components: int | None) -> Floats:
    """Orthonormal rows along which these differ, the largest variance first: from products of the shorter side, which is fast."""
    tall = len(away) > away.shape[1]
    products = away.T @ away if tall else away @ away.T
    size = len(products)
    first = max(0, size - (components or size))
    values, vectors = eigh(products, subset_by_index=[first, size - 1])
    kept = values[::-1] > NEGLIGIBLE**2 * values[-1]
    if not values[-1] > 0:
        raise DataError("the public codes are all the same; a basis needs codes that differ.")
    columns = vectors[:, ::-1][:, kept]
    found = qr(columns if tall else away.T @ columns, mode="economic")[0].T
    # Either sign is a direction: the one whose largest entry is positive is the same on every machine.
    signs = np.sign(found[np.arange(len(found)), np.abs(found).argmax(1)])
    return np.asarray(found * signs[:, None])


class Read(NamedTuple):
    """Content of a file of such a model."""

    shape: tuple[int, int, int]
    basis: Basis
    gallery: Gallery | None
    networks: Any = None


class ComponentFaces:
    """A model in a file whose codes are principal components and all of a face; a subclass reads, encodes and decodes."""

    clear: ClassVar[tuple[str, ...]] = ()

    def __init__(self, resource: Resource) -> None:
        if not isinstance(resource, Resource):
            name = type(self).__name__
            raise ParameterError(f"{name} are read from a path with {name}.at, or from a Resource.")
        self.resource = resource

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Self:
        """The model in a file, checked."""
        found = cls(Resource.at(path))
        _ = found._read
        return found

    @property
    @abstractmethod
    def _read(self) -> Read:
        """Content of the file, checked."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and channels of its pictures."""
        return self._read.shape

    @property
    def basis(self) -> Basis:
        """The components."""
        return self._read.basis

    @property
    def low(self) -> Floats:
        """The low end of each component among public faces."""
        return self.basis.low

    @property
    def high(self) -> Floats:
        """The high ends."""
        return self.basis.high

    @property
    def spreads(self) -> Floats:
        """The standard deviations of components among public faces."""
        return self.basis.spreads

    @property
    def gallery(self) -> Gallery | None:
        """The codes of some of the public faces that it was made of."""
        return self._read.gallery

    def keeping(self, *names: str) -> Self:
        """There are no attributes: all of a face is in its code."""
        if names:
            raise ParameterError(
                f"{type(self).__name__} know no attributes that could be kept; train a network on labelled faces."
            )
        return self

    def attributes_of(self, pictures: Picture) -> Floats:
        """Nothing passes around the code."""
        return np.empty((len(pictures), 0))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.resource,)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__reduce__() == self.__reduce__()

    def __hash__(self) -> int:
        return hash(self.resource)

    def __repr__(self) -> str:
        height, width, channels = self.shape
        size = f"{width} x {height} pixels in {'grey' if channels == 1 else 'colour'}"
        return f"{type(self).__name__}({self.resource.name!r}, {size}, {self.basis.size} components)"


# Eigenfaces ---------------------------------------------------------------------------------------------------------------
#
# Eigenfaces: the principal components of the pixels of public faces, encoder and decoder at once, without a network.


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
