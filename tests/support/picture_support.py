"""Pictures made in code: small ones as files, and a drawing with edges, shades and texture; and a disk with little room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from noisewright.images.pictures import Picture, png_of


def small_picture(seed: int, width: int = 8, height: int = 6, channels: int = 3) -> bytes:
    """The bytes of a PNG file of random pixels."""
    return png_of(np.random.default_rng(seed).integers(0, 256, (height, width, channels), dtype=np.uint8))


def drawing(width: int = 96, height: int = 64) -> Picture:
    """A sunny hill: a sky with a shade, a disc, a slope with stripes."""
    y, x = np.mgrid[:height, :width].astype(float)
    y, x = y / height, x / width
    sky = np.stack([90 + 90 * y, 140 + 70 * y, 230 - 30 * y], -1)
    sun = ((x - 0.72) ** 2 * (width / height) ** 2 + (y - 0.3) ** 2 < 0.03)[..., None]
    hill = (y > 0.75 - 0.25 * np.sin(2.6 * x + 0.4))[..., None]
    grass = np.stack([60 + 30 * np.sin(40 * x), 130 + 40 * np.sin(40 * x + 12 * y), 50 + 20 * x], -1)
    return np.clip(np.where(hill, grass, np.where(sun, [250, 220, 90], sky)), 0, 255).astype(np.uint8)


@contextmanager
def full_disk(free: int) -> Iterator[None]:
    """No file becomes larger than so many bytes: the system refuses to write on, as where a disk is full."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
