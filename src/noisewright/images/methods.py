"""Ways to obfuscate a picture that is at hand, whatever its size: what a folder of photographs is put through.

A method turns one picture into another and says what it promises about pictures of that size. The methods on pixels make a
mechanism for each size that comes along, and so the size of every picture is in the clear; so is everything outside of regions,
where there are some. The method on faces takes a picture, or each region, for one face, which comes out in the size of its model,
or in that of the region.

>>> import numpy as np
>>> method = PixelMethod("laplace", Fraction(50), {"block": 8})
>>> method.obfuscated(np.zeros((20, 30, 3), np.uint8)).shape
(20, 30, 3)
>>> [made.certificate().verify().partition(";")[0] for made in method.mechanisms(20, 30, 3)]
['epsilon = 50 per unit of discrete, over 36 independent parts']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError
from noisewright.core.guarantee import split
from noisewright.images.hidden_faces import PrivateFaces
from noisewright.images.mechanism import PictureMechanism
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.regions import Region, replaced
from noisewright.images.pictures.resizing import recoloured, resized
from noisewright.images.pixels.exponential import pixel_exponential
from noisewright.images.pixels.laplace import pixel_laplace
from noisewright.images.pixels.windows import pixel_windows
from noisewright.noise.bits import Rng, bits_from

__all__ = ["PIXELS", "FaceMethod", "Method", "PixelMethod"]

PIXELS: dict[str, Any] = {"laplace": pixel_laplace, "exponential": pixel_exponential, "windows": pixel_windows}
"""The constructors of mechanisms on pixels, by the name of their method."""

SIZE, OUTSIDE = (
    "the size of pictures, and whether they are grey",
    "everything outside of the regions, and where they are",
)


class Method(Protocol):
    """What obfuscates single pictures."""

    @property
    def scope(self) -> str:
        """What a promise is for, in a sentence to begin with; nothing where it is for the whole picture."""

    def obfuscated(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> Picture:
        """The picture that may be shown; a ``NoisewrightError`` for one that cannot be done.

        ``source`` is its file, for methods that are told about each.
        """

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[PictureMechanism, ...]:
        """What pictures of this size are drawn by: their certificates are published with them."""


@dataclass(frozen=True, eq=False)
class PixelMethod:
    """A mechanism on pixels for pictures of any size, or for regions of them.

    ``epsilon`` is for all regions together, in proportion to their sizes, or for each pixel (``between="pixels"`` in the
    options). A ``mask`` marks single pixels; the smallest rectangle around them is drawn, and what is not marked is put back.
    """

    kind: str
    epsilon: Fraction
    options: Mapping[str, Any] = field(default_factory=dict)
    regions: tuple[Region, ...] = ()
    mask: NDArray[np.bool_] | None = None
    scope = ""

    def __post_init__(self) -> None:
        one_of(self.kind, "method", tuple(PIXELS))
        if self.mask is not None and self.regions:
            raise ParameterError("a picture has regions or a mask, not both; draw the regions into the mask.")
        if self.mask is not None:
            object.__setattr__(self, "regions", (Region.around(self.mask),))
        _apart(self.regions)

    def obfuscated(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> Picture:
        """The picture, or its regions, through the mechanism."""
        bits, (height, width, channels) = bits_from(rng), picture.shape
        if self.mask is not None and self.mask.shape != (height, width):
            raise ParameterError(
                f"the mask is made for pictures of {self.mask.shape[1]} x {self.mask.shape[0]} pixels."
            )
        made = self.mechanisms(height, width, channels)
        if not self.regions:
            return made[0].drawn(picture, bits)
        result = picture
        for region, mechanism in zip(self.regions, made, strict=True):
            result = replaced(result, region, mechanism.drawn(region.of_picture(picture), bits), self.mask)
        return result

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[PictureMechanism, ...]:
        """One for the whole picture, or one for each region."""
        return _made(self, height, width, channels)


@dataclass(frozen=True, eq=False)
class FaceMethod:
    """A model of faces, for pictures of one face each, or for regions that are.

    ``epsilon`` of the mechanism is for each face. Whole pictures come out in the size of the model; a region is resized to it and
    back again.
    """

    faces: PrivateFaces
    regions: tuple[Region, ...] = ()
    scope = ""

    def __post_init__(self) -> None:
        _apart(self.regions)

    def obfuscated(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> Picture:
        """A new face for the picture, or for each of its regions."""
        bits, (height, width, channels) = bits_from(rng), picture.shape
        if not self.regions:
            return self.faces.drawn(self.faces.fitted(recoloured(picture, self.faces.shape[2])), bits)
        result = picture
        for region in self.regions:
            part = recoloured(region.inside(height, width).of_picture(picture), self.faces.shape[2])
            drawn = self.faces.drawn(resized(part, *self.faces.shape[:2]), bits)
            result = replaced(result, region, recoloured(resized(drawn, region.height, region.width), channels))
        return result

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[PictureMechanism, ...]:
        """One, whatever comes along: it is the same for every region."""
        around = (SIZE, OUTSIDE) if self.regions else ()
        return (replace(self.faces, clear=(*self.faces.clear, *around)),)


@lru_cache(maxsize=64)
def _made(method: PixelMethod, height: int, width: int, channels: int) -> tuple[PictureMechanism, ...]:
    """By the identity of the method: its mask cannot be compared."""
    options = {**method.options, "colours": "grey" if channels == 1 else "rgb"}
    make = PIXELS[method.kind]
    if not method.regions:
        return (replace(make(epsilon=method.epsilon, width=width, height=height, **options), clear=(SIZE,)),)
    regions = [region.inside(height, width) for region in method.regions]
    shares = split(method.epsilon, [region.width * region.height for region in regions])
    if options.get("between", "pictures") != "pictures":  # a pixel is in one region
        shares = [method.epsilon] * len(regions)
    return tuple(
        replace(make(epsilon=share, width=region.width, height=region.height, **options), clear=(SIZE, OUTSIDE))
        for region, share in zip(regions, shares, strict=True)
    )


def _apart(regions: tuple[Region, ...]) -> None:
    for place, one in enumerate(regions):
        if any(_overlap(one, other) for other in regions[:place]):
            raise ParameterError("two regions overlap, and what they share would be drawn twice; join them.")


def _overlap(one: Region, other: Region) -> bool:
    apart = (
        one.x + one.width <= other.x
        or other.x + other.width <= one.x
        or one.y + one.height <= other.y
        or other.y + other.height <= one.y
    )
    return not apart
