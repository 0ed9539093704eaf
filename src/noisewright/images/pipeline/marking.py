"""A picture with places drawn into it, for its owner to look at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noisewright.images.pictures.reading import Picture, pillow
from noisewright.images.pipeline.places import Place

__all__ = ["marked"]


def marked(picture: Picture, places: Sequence[Place]) -> Picture:
    """The picture in colour, with a red line around each place."""
    image = pillow("Image").fromarray(np.ascontiguousarray(np.broadcast_to(picture, (*picture.shape[:2], 3))))
    pen = pillow("ImageDraw").Draw(image)
    thick = max(2, max(picture.shape[:2]) // 120)
    for place in places:
        x, y = place.to_picture([0, 1, 1, 0, 0], [0, 0, 1, 1, 0])
        pen.line([(float(a), float(b)) for a, b in zip(x, y, strict=True)], fill="#e01b24", width=thick)
    return np.asarray(image).copy()
