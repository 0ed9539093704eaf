"""Faces to keep: those of people who want to be seen, by boxes or by pictures of them.

A picture of a face to keep is best cut out of the photographs themselves: a face is kept only where it looks **nearly
the same** (a correlation of :data:`ALIKE` or more between the two, upright and in grey). That holds for the same shot
in another size or compression; another photograph of the same person is seldom as near, and is hidden. The same holds
for every doubtful face. No one recognises people here: a network that did would now and then take one person for
another, and show someone who must be hidden.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.images.pictures.reading import Picture
from noisewright.images.pipeline.detection import Face
from noisewright.images.pipeline.heads import aligned_face
from noisewright.images.pipeline.places import Place

__all__ = ["ALIKE", "KeptFaces", "likeness"]

ALIKE = 0.93
"""Correlation far above two people's usual value, and below the value of one shot after compression."""
SIZE, INNER = 48, (slice(12, 42), slice(12, 36))
"""Faces are compared at this size, without hair and background."""


@dataclass(frozen=True, eq=False)
class KeptFaces:
    """Faces that are left as they are: all whose middle is in a box for the file of that name, and all that look like one of
    ``faces`` (see :func:`likeness`)."""

    boxes: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    faces: tuple[Floats, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.boxes or self.faces)

    def keeps(self, picture: Picture, face: Face, source: Path | None) -> bool:
        """Return whether a face of a picture is one of them."""
        boxes = self.boxes.get(source.name, ()) if source is not None else ()
        inside = (place.to_frame(*face.middle) for place in boxes)
        if any(bool(0 <= across < 1 and 0 <= down < 1) for across, down in inside):
            return True
        return bool(self.faces) and max(float(likeness(picture, face) @ known) for known in self.faces) >= ALIKE


def likeness(picture: Picture, face: Face) -> Floats:
    """A face as numbers of mean 0 and length 1: their product with those of another is how alike the two look."""
    inner = aligned_face(picture, face, SIZE)[INNER].mean(axis=2).reshape(-1)
    away = inner - inner.mean()
    length = float(np.linalg.norm(away))
    return np.asarray(away / length if length else away)
