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
"""

from __future__ import annotations

import os
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, qr

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.resource import Resource
from noisewright.images.faces.models.gallery import Gallery
from noisewright.images.pictures.reading import Picture

__all__ = ["Basis", "ComponentFaces", "Read"]

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
