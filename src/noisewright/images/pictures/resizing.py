"""Pictures in another size, and in colour or grey.

>>> import numpy as np
>>> resized(np.full((4, 6, 3), 9, np.uint8), 8, 3).shape
(8, 3, 3)
>>> recoloured(np.full((4, 6, 1), 9, np.uint8), 3).shape
(4, 6, 3)
"""

from __future__ import annotations

import numpy as np

from noisewright.images.pictures.reading import Picture, pillow

__all__ = ["recoloured", "resized"]


def resized(picture: Picture, height: int, width: int) -> Picture:
    """The same picture with the given numbers of rows and columns: every new pixel is a mean of the old ones around
    its place."""
    channels = picture.shape[2]
    image = pillow("Image").fromarray(np.ascontiguousarray(picture[:, :, 0] if channels == 1 else picture))
    ways, smaller = pillow("Image").Resampling, height <= picture.shape[0] and width <= picture.shape[1]
    changed = image.resize((width, height), resample=ways.BOX if smaller else ways.BILINEAR)
    return np.asarray(changed).reshape(height, width, channels).copy()


def recoloured(picture: Picture, channels: int) -> Picture:
    """The same picture with one channel (grey) or three."""
    if picture.shape[2] == channels:
        return picture
    if channels == 3:
        return np.repeat(picture, 3, axis=2)
    return np.asarray(pillow("Image").fromarray(np.ascontiguousarray(picture)).convert("L"))[:, :, None].copy()
