r"""Ad hoc methods on pictures, **without any guarantee**: a blur, a box, a box filled in, pixelisation, noisy singular
values.

They are here to be compared with and attacked. Nothing here is a mechanism, samples privately or has a certificate.

* *blur*, *pixelise*: deterministic, so a list of candidate pictures identifies the true one at once;
* *box*: perfect inside the box, and does not cover the parts next to it (hair, clothes, the place);
* *in-painting*: a box that is filled in smoothly from its surroundings, or with the mean face of a model: it looks
  better than a box, reveals as little of the inside, and as much of everything next to it;
* *noisy singular values*: noise on the singular values of the pixel matrix, as has been published; singular vectors, and with
  them nearly all of the picture, stay as they are.

>>> import numpy as np
>>> photo = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
>>> pixelised(photo, 2)[:, :, 0].tolist()
[[8, 8, 14, 14], [8, 8, 14, 14], [32, 32, 38, 38], [32, 32, 38, 38]]
>>> boxed(photo, Region(1, 1, 2, 2))[1, :, 0].tolist()
[12, 0, 0, 21]
"""

from __future__ import annotations

import numpy as np

from noisewright.core.errors import ParameterError
from noisewright.images.faces.models.model import FaceModel
from noisewright.images.pictures.blocks import Blocks
from noisewright.images.pictures.filling import filled
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.regions import Region, replaced
from noisewright.images.pictures.similarity import blurred
from noisewright.images.pictures.writing import as_pixels

__all__ = ["blurred_picture", "boxed", "inpainted", "noisy_singular_values", "pixelised"]


def blurred_picture(picture: Picture, sigma: float) -> Picture:
    """NO GUARANTEE: the picture under a Gaussian of the given number of pixels."""
    return as_pixels(blurred(picture, sigma))


def pixelised(picture: Picture, block: int) -> Picture:
    """NO GUARANTEE: every block in its mean colour."""
    blocks = Blocks(picture.shape[0], picture.shape[1], block)
    return as_pixels(blocks.painted(blocks.sums(picture[None]) / blocks.areas[None, :, :, None])[0])


def boxed(picture: Picture, region: Region, value: int = 0) -> Picture:
    """NO GUARANTEE about anything outside: a rectangle in one colour."""
    region.inside(*picture.shape[:2])
    return replaced(picture, region, np.full((region.height, region.width, picture.shape[2]), value, np.uint8))


def inpainted(picture: Picture, region: Region, model: FaceModel | None = None) -> Picture:
    """NO GUARANTEE about anything outside: a rectangle filled in from its border, or with the mean face of a model."""
    region.inside(*picture.shape[:2])
    if model is not None:
        return replaced(picture, region, region.of_picture(model.decode(np.zeros((1, 0)))[0]))
    hole = np.zeros(picture.shape[:2], bool)
    hole[region.y : region.y + region.height, region.x : region.x + region.width] = True
    return filled(picture, hole)


def noisy_singular_values(picture: Picture, epsilon: float, rng: np.random.Generator | None = None) -> Picture:
    """NO GUARANTEE: float Laplace noise of scale 255 / epsilon on the singular values of each channel."""
    if not epsilon > 0:
        raise ParameterError("epsilon must be greater than 0.")
    source = np.random.default_rng() if rng is None else rng
    channels = []
    for channel in np.moveaxis(picture.astype(np.float64), -1, 0):
        left, values, right = np.linalg.svd(channel, full_matrices=False)
        channels.append((left * (values + source.laplace(0, 255 / epsilon, len(values)))) @ right)
    return as_pixels(np.stack(channels, -1))
