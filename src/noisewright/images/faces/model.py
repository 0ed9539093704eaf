"""What a model of faces is: it turns pictures into codes and codes into pictures, and its file is public.

Whatever the model (principal components, a network), a mechanism asks no more of it than this. A code is the secret; the
model, its ranges and its spreads are public, and must come from *public* faces: nothing here protects the faces that a model
was trained on. What a model passes around the code, such as a pose or an attribute, it names in ``clear``."""

from __future__ import annotations

from typing import Protocol

from noisewright.core.arrays import Floats
from noisewright.core.resource import Resource
from noisewright.images.pictures.reading import Picture

__all__ = ["FaceModel"]


class FaceModel(Protocol):
    """A public model of faces of one size."""

    @property
    def resource(self) -> Resource:
        """Its file, by name, SHA-256 and size: the fingerprint that certificates state."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and channels of its pictures."""

    @property
    def low(self) -> Floats:
        """The low end of the public range of each element of a code, the most telling element first."""

    @property
    def high(self) -> Floats:
        """The high ends."""

    @property
    def spreads(self) -> Floats:
        """The standard deviation of each element among public faces."""

    @property
    def clear(self) -> tuple[str, ...]:
        """What of a face gets into a decoded picture beside its code, in words."""

    def encode(self, pictures: Picture, elements: int | None = None) -> Floats:
        """The codes of pictures (several: pictures, rows, columns, channels), one in each row.

        Their first ``elements`` elements, or all: a mechanism that releases few need not have the others computed.
        """

    def decode(self, codes: Floats) -> Picture:
        """The pictures of codes; a code may be shorter than the model's, and the elements that it lacks are constant then."""
