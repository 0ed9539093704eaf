"""Pictures into files that hold pixels and nothing else: no EXIF, no comment, no profile, no time.

>>> import numpy as np
>>> content = png_of(np.zeros((2, 2, 3), np.uint8))
>>> chunks_of(content)
['IHDR', 'IDAT', 'IEND']
"""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError, ParameterError
from noisewright.images.pictures.reading import Picture, pillow

__all__ = ["FAST", "as_pixels", "chunks_of", "png_of"]

FAST = 1
"""Compression level of PNG: noise does not become smaller by trying harder."""


def as_pixels(values: NDArray[np.floating]) -> Picture:
    """Numbers as pixels: rounded, and within 0 and 255."""
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def png_of(picture: Picture, exif: bytes = b"") -> bytes:
    """The bytes of a PNG file with these pixels: a function of them alone, and of a block of EXIF where one is given."""
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] not in (1, 3):
        raise ParameterError("a picture to write has rows, columns and one or three channels of eight bits.")
    image = pillow("Image").fromarray(picture[:, :, 0] if picture.shape[2] == 1 else picture)
    held = io.BytesIO()
    image.save(held, format="PNG", compress_level=FAST, **({"exif": exif} if exif else {}))
    return held.getvalue()


def chunks_of(content: bytes) -> list[str]:
    """The names of the chunks of a PNG file, repeated ones once: it shows content other than pixels."""
    if content[:8] != b"\x89PNG\r\n\x1a\n":
        raise DataError("these bytes are no PNG file.")
    names: list[str] = []
    place = 8
    while place < len(content):
        length, name = int.from_bytes(content[place : place + 4], "big"), content[place + 4 : place + 8].decode("ascii")
        if not names or names[-1] != name:
            names.append(name)
        place += length + 12
    return names
