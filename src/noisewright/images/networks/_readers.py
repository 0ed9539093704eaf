"""Readers of a model: attributes of a face, and features in which people differ. Linear in the pixels, and public.

Attributes that are kept in the clear come from here where their owner does not say them; nothing else uses them. Features are
the coordinates in which public people differ while one person hardly does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.images.attackers.recogniser import Recogniser
from noisewright.images.faces.models.basis import Basis
from noisewright.images.networks.attributes import Attribute
from noisewright.images.pictures.reading import Picture

__all__ = ["Reader", "read_attribute", "reads_attribute", "reads_people"]

COMPONENTS = 100
RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class Reader:
    """Numbers that are linear in the pixels of a face: ``pixels / 255 @ slopes + offsets``."""

    slopes: NDArray[np.float32]
    offsets: NDArray[np.float32]

    def __call__(self, pictures: Picture) -> Floats:
        """The numbers of each face, one face in each row."""
        flat = pictures.reshape(len(pictures), -1).astype(np.float32)
        return np.asarray(flat @ (self.slopes / np.float32(255)) + self.offsets, np.float64)

    @classmethod
    def of(cls, slopes: Floats, offsets: Floats) -> Reader:
        """Return the reader in single precision, as in files."""
        return cls(slopes.astype(np.float32), offsets.astype(np.float32))


def reads_attribute(attribute: Attribute, pictures: Picture, given: Sequence[Any] | NDArray[Any]) -> Reader:
    """A reader of an attribute, learned from public faces: a score for each value, or the number itself."""
    if attribute.values:
        return Reader.of(*Recogniser(COMPONENTS).fit(pictures, attribute.rows(given).argmax(1)).linear)
    flat = pictures.reshape(len(pictures), -1) / 255.0
    basis = Basis.fit(flat, COMPONENTS)
    places, target = basis.forward(flat), attribute.rows(given)
    products = places.T @ places
    products += RIDGE * np.trace(products) / len(products) * np.eye(len(products))
    slopes = basis.directions.T @ np.linalg.solve(products, places.T @ target)
    return Reader.of(slopes, target.mean(0) - basis.mean @ slopes)


def read_attribute(attribute: Attribute, reader: Reader, pictures: Picture) -> Floats:
    """The numbers of an attribute as its reader sees them: one value of a category, or the number."""
    scores = reader(pictures)
    return np.asarray(np.eye(attribute.width)[scores.argmax(1)]) if attribute.values else scores


def reads_people(pictures: Picture, people: Sequence[Any] | NDArray[Any]) -> Reader:
    """Features in which people differ by their distance in units of how much one person varies."""
    return Reader.of(*Recogniser(COMPONENTS).fit(pictures, people).features)
