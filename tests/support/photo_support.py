"""A photograph of a person that everybody has, and the networks that find faces in it (fetched once, with pip)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import skimage

from noisewright.images.pictures import Picture, read_picture
from noisewright.images.pipeline.detection import fetch_networks

EYES = np.array([[203.0, 101.0], [247.0, 103.0]])
"""The pupils of the astronaut, as one sees them."""


def photo(name: str) -> Path:
    """A photograph that comes with scikit-image."""
    return Path(skimage.__path__[0]) / "data" / name


@cache
def astronaut() -> Picture:
    """A woman in a space suit, 512 x 512 pixels; her head is in rows 15 to 185 and columns 155 to 305."""
    fetch_networks()
    picture = read_picture(photo("astronaut.png"))
    picture.setflags(write=False)
    return picture
