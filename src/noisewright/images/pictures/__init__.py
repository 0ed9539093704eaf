"""Pictures as arrays of pixels: read within limits, written without metadata, cut into blocks and windows, compared."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.images.pictures.blocks import Blocks as Blocks
    from noisewright.images.pictures.filling import filled as filled
    from noisewright.images.pictures.metadata import kept_metadata as kept_metadata
    from noisewright.images.pictures.reading import Picture as Picture
    from noisewright.images.pictures.reading import read_picture as read_picture
    from noisewright.images.pictures.regions import Region as Region
    from noisewright.images.pictures.regions import replaced as replaced
    from noisewright.images.pictures.resizing import recoloured as recoloured
    from noisewright.images.pictures.resizing import resized as resized
    from noisewright.images.pictures.similarity import blurred as blurred
    from noisewright.images.pictures.similarity import mse as mse
    from noisewright.images.pictures.similarity import ssim as ssim
    from noisewright.images.pictures.similarity import window_ssim as window_ssim
    from noisewright.images.pictures.strips import strip as strip
    from noisewright.images.pictures.windows import Windows as Windows
    from noisewright.images.pictures.writing import as_pixels as as_pixels
    from noisewright.images.pictures.writing import chunks_of as chunks_of
    from noisewright.images.pictures.writing import png_of as png_of
else:
    __getattr__, __dir__ = door(__name__)
