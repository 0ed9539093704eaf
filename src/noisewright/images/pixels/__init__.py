"""Mechanisms on any picture, without a model: Laplace noise on blocks, and exponential choices of levels and of windows."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.images.pixels.distances import AnyPicture as AnyPicture
    from noisewright.images.pixels.distances import ChangedPixels as ChangedPixels
    from noisewright.images.pixels.distances import ColourSteps as ColourSteps
    from noisewright.images.pixels.exponential import PixelExponential as PixelExponential
    from noisewright.images.pixels.exponential import level_table as level_table
    from noisewright.images.pixels.exponential import pixel_exponential as pixel_exponential
    from noisewright.images.pixels.laplace import PixelLaplace as PixelLaplace
    from noisewright.images.pixels.laplace import pixel_laplace as pixel_laplace
    from noisewright.images.pixels.mechanism import BlockMechanism as BlockMechanism
    from noisewright.images.pixels.window_choice import WindowChoice as WindowChoice
    from noisewright.images.pixels.window_classes import WindowClasses as WindowClasses
    from noisewright.images.pixels.windows import PixelWindows as PixelWindows
    from noisewright.images.pixels.windows import pixel_windows as pixel_windows
else:
    __getattr__, __dir__ = door(__name__)
