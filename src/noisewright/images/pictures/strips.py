"""Several pictures side by side, each with a line of text above it.

>>> import numpy as np
>>> small = np.zeros((20, 30, 3), np.uint8)
>>> strip([("before", small), ("after", small)]).shape
(64, 144, 3)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noisewright.images.pictures.reading import Picture, pillow

__all__ = ["strip"]

LINE, GAP, NARROWEST = 16, 8, 56


def strip(pictures: Sequence[tuple[str, Picture]], columns: int = 6) -> Picture:
    """Pictures of one size under their titles, with a maximum number in a row; small ones are made larger, so that
    titles fit."""
    height, width = pictures[0][1].shape[:2]
    times = max(1, -(-NARROWEST // width))
    wide, high = width * times, height * times
    across = min(columns, len(pictures))
    down = -(-len(pictures) // across)
    image = pillow("Image").new("RGB", (across * (wide + GAP) + GAP, down * (high + LINE + GAP)), "white")
    pen = pillow("ImageDraw").Draw(image)
    for place, (title, picture) in enumerate(pictures):
        left, top = place % across * (wide + GAP) + GAP, place // across * (high + LINE + GAP)
        pen.text((left, top + 2), title, fill="#22303c")
        large = np.repeat(np.repeat(np.broadcast_to(picture, (height, width, 3)), times, 0), times, 1)
        image.paste(pillow("Image").fromarray(np.ascontiguousarray(large)), (left, top + LINE))
    return np.asarray(image).copy()
