"""Ways to obfuscate a picture that is at hand, whatever its size: methods for a folder of photographs.

A method turns one picture into another and states its guarantee for pictures of that size. The methods on pixels make
a mechanism for each size that comes along, and so the size of every picture is in the clear; so is everything outside
of regions, if regions are given. The method on faces takes a picture, or each region, for one face, which comes out in
the size of its model, or in the size of the region.

>>> import numpy as np
>>> method = PixelMethod("laplace", Fraction(50), {"block": 8})
>>> method.obfuscated(np.zeros((20, 30, 3), np.uint8)).shape
(20, 30, 3)
>>> method.certificate(20, 30, 3).verify().partition(";")[0]
'epsilon = 50 per unit of discrete between two pictures of one size, over 36 independent parts'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.choices import is_whole, one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact
from noisewright.core.guarantee import Guarantee, split
from noisewright.images.faces.code_space import LatentMetric
from noisewright.images.hidden_faces import PrivateFaces, measured_in_words
from noisewright.images.mechanism import PictureMechanism, of_all_draws
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.regions import Inside, Region, replaced
from noisewright.images.pictures.resizing import recoloured, resized
from noisewright.images.pixels.distances import AnyPicture, ChangedPixels
from noisewright.images.pixels.exponential import pixel_exponential
from noisewright.images.pixels.laplace import pixel_laplace
from noisewright.images.pixels.mechanism import BlockMechanism, whole_certificate
from noisewright.images.pixels.windows import pixel_windows
from noisewright.noise.bits import Rng, bits_from

__all__ = ["PIXELS", "FaceMethod", "Method", "PixelMethod", "Promise", "promise_of_each"]

PIXELS: dict[str, Any] = {"laplace": pixel_laplace, "exponential": pixel_exponential, "windows": pixel_windows}
"""The constructors of mechanisms on pixels, by the name of their method."""

SIZE, OUTSIDE = (
    "the size of pictures, and whether they are grey",
    "everything outside of the regions, and where they are",
)


@dataclass(frozen=True)
class Promise:
    """Guarantee for a whole picture, whatever its parts."""

    guarantee: Guarantee
    alone: str
    """The same in words, for two pictures as far apart as any."""
    clear: str
    """Limits of the guarantee, in a sentence."""
    each: Guarantee | None = None
    """Where faces or places are drawn for epsilon each: the guarantee about one of them."""
    measured: Mapping[str, Any] | None = None
    """The meaning of epsilon on public faces, as a record, if it was measured."""

    @property
    def words(self) -> str:
        """All of it in words."""
        return " ".join([self.unmeasured, *measured_in_words(self.measured)])

    @property
    def unmeasured(self) -> str:
        """The guarantee and its limits, without measurements."""
        return f"{self.alone} {self.clear}"


class Method(Protocol):
    """Method that obfuscates single pictures."""

    def drawn(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> tuple[Picture, int]:
        """The picture that may be shown, and how many faces or regions of it were drawn for epsilon each (1 for the whole).

        A ``NoisewrightError`` for one that cannot be done. ``source`` is its file, for methods that need it.
        """

    def obfuscated(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> Picture:
        """The picture that may be shown."""
        return self.drawn(picture, rng, source)[0]

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[PictureMechanism, ...]:
        """Return the mechanisms for pictures of this size."""

    def certificate(self, height: int, width: int, channels: int, places: int = 1) -> Certificate:
        """Return the certificate of pictures of this size, with at most ``places`` drawn places in each."""
        return self.mechanisms(height, width, channels)[0].certificate()

    def promise(self, height: int, width: int, channels: int, places: int = 1) -> Promise:
        """Return the guarantee for a whole picture of this size, with at most ``places`` sampled places."""


@dataclass(frozen=True, eq=False)
class PixelMethod(Method):
    """A mechanism on pixels for pictures of any size, or for regions of them.

    ``epsilon`` is between any two pictures, and regions, which lie apart, share it in proportion to their sizes: their
    losses add up to it. With ``pixels`` it is between pictures that differ in at most that number of sampled pixels,
    wherever these lie. A ``mask`` marks single pixels; the smallest rectangle around them is drawn, and the rest is
    put back.
    """

    kind: str
    epsilon: Fraction
    options: Mapping[str, Any] = field(default_factory=dict)
    regions: tuple[Region, ...] = ()
    mask: NDArray[np.bool_] | None = None
    pixels: int | None = None

    def __post_init__(self) -> None:
        one_of(self.kind, "method", tuple(PIXELS))
        if self.pixels is not None and (not is_whole(self.pixels) or self.pixels < 1):
            raise ParameterError("pixels is a whole number from 1: in so many of them two pictures may differ.")
        if self.mask is not None and self.regions:
            raise ParameterError("a picture has regions or a mask, not both; draw the regions into the mask.")
        if self.mask is not None:
            object.__setattr__(self, "regions", (Region.around(self.mask),))
        _apart(self.regions)
        side, least = self.options.get("block", 16), {"between": "pixels", "colours": "grey"}
        # For a small picture and epsilon = 1: errors in the options are raised once, before any picture.
        PIXELS[self.kind](epsilon=1, width=side, height=side, **{**self.options, **least})

    def drawn(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> tuple[Picture, int]:
        """The picture, or its regions, through the mechanism."""
        bits, (height, width, channels) = bits_from(rng), picture.shape
        if self.mask is not None and self.mask.shape != (height, width):
            raise ParameterError(
                f"the mask is made for pictures of {self.mask.shape[1]} x {self.mask.shape[0]} pixels."
            )
        made = self.mechanisms(height, width, channels)
        if not self.regions:
            return made[0].drawn(picture, bits), 1
        result = picture
        for region, mechanism in zip(self.regions, made, strict=True):
            result = replaced(result, region, mechanism.drawn(region.of_picture(picture), bits), self.mask)
        return result, 1

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[BlockMechanism, ...]:
        """One for the whole picture, or one for each region."""
        return _made(self, height, width, channels)

    def certificate(self, height: int, width: int, channels: int, places: int = 1) -> Certificate:
        """Return the certificate of everything sampled in a picture of this size, for any number of regions."""
        return whole_certificate(self.mechanisms(height, width, channels), inside=self.inside)

    def promise(self, height: int, width: int, channels: int, places: int = 1) -> Promise:
        """Return the guarantee of all regions together."""
        made = self.mechanisms(height, width, channels)
        found = made[0].guarantee
        if self.regions and isinstance(found.metric, ChangedPixels):
            found = replace(found, metric=replace(found.metric, inside=self.inside))
        elif self.regions and made[0].between == "pictures":
            found = Guarantee.exactly(sum((one.epsilon for one in made), Fraction(0)), AnyPicture(self.inside))
        return Promise(found, found.in_words(self.pixels or 1), made[0].clear_in_words())

    @property
    def inside(self) -> Inside | None:
        """Outside of what two pictures are alike, if only a part of them is drawn; regions share epsilon by their sizes."""
        if not self.regions:
            return None
        return Inside("region" if self.mask is None else "mask", len(self.regions))


@dataclass(frozen=True, eq=False)
class FaceMethod(Method):
    """A model of faces, for pictures of one face each, or for regions that are.

    ``epsilon`` of the mechanism is for each face. Whole pictures come out in the size of the model; a region is resized to it and
    back again.
    """

    faces: PrivateFaces
    regions: tuple[Region, ...] = ()

    def __post_init__(self) -> None:
        _apart(self.regions)

    def drawn(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> tuple[Picture, int]:
        """A new face for the picture, or for each of its regions."""
        bits, (height, width, channels) = bits_from(rng), picture.shape
        if not self.regions:
            return self.faces.drawn(self.faces.fitted(recoloured(picture, self.faces.shape[2])), bits), 1
        result = picture
        for region in self.regions:
            part = recoloured(region.inside(height, width).of_picture(picture), self.faces.shape[2])
            drawn = self.faces.drawn(resized(part, *self.faces.shape[:2]), bits)
            result = replaced(result, region, recoloured(resized(drawn, region.height, region.width), channels))
        return result, len(self.regions)

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[PictureMechanism, ...]:
        """One, whatever comes along: it is the same for every region."""
        return (replace(self.faces, clear=(*self.faces.clear, *([SIZE, OUTSIDE] if self.regions else []))),)

    def certificate(self, height: int, width: int, channels: int, places: int = 1) -> Certificate:
        """Return the certificate of all regions together: per unit of the distance of codes, and their distances add up."""
        found, many = super().certificate(height, width, channels), len(self.regions)
        return found if not many else of_all_draws(found, Inside("region", many, many))

    def promise(self, height: int, width: int, channels: int, places: int = 1) -> Promise:
        """Return the guarantee for all regions together and for each, or for the whole picture if it has none."""
        if not self.regions:
            made = self.mechanisms(height, width, channels)[0]
            found = made.guarantee
            return Promise(found, found.in_words(), made.clear_in_words(), None, made.measured)
        return promise_of_each(self.mechanisms(height, width, channels)[0], places, "region")


def promise_of_each(made: PictureMechanism, many: int, part: Literal["region", "place"]) -> Promise:
    """Return the guarantee if at most ``places`` faces or places of a picture are sampled with epsilon each.

    Losses add up, and no two contents of one are farther apart than 1.
    """
    each, inside = made.guarantee, Inside(part, many, many)
    if isinstance(each.metric, AnyPicture):  # of the frame that a place is seen in
        found, farthest = Guarantee.exactly(many * each.stated("epsilon"), AnyPicture(inside)), 1
        each = replace(each, metric=AnyPicture(Inside(part, 1)))
    else:
        assert isinstance(each.metric, LatentMetric)
        found, farthest = replace(each, metric=replace(each.metric, inside=inside)), many
        each = replace(each, metric=replace(each.metric, inside=Inside(part, 1)))
    return Promise(found, found.in_words(farthest), made.clear_in_words(), each, made.measured)


@lru_cache(maxsize=64)
def _made(method: PixelMethod, height: int, width: int, channels: int) -> tuple[BlockMechanism, ...]:
    """Return the mechanism, cached by the identity of the method: its mask cannot be compared."""
    options = {**method.options, "colours": "grey" if channels == 1 else "rgb"}
    make, epsilon = PIXELS[method.kind], method.epsilon
    regions = [region.inside(height, width) for region in method.regions]
    areas: list[Exact] = [region.width * region.height for region in regions]
    if method.pixels is not None:
        inside = sum(region.width * region.height for region in regions)
        there = height * width if not regions else inside if method.mask is None else int(method.mask.sum())
        if method.pixels > there:
            raise ParameterError(
                f"epsilon cannot be for {method.pixels:,} pixels where {there:,} are drawn; choose fewer, or leave the number "
                "out: then it is between any two pictures."
            )
        options["between"], epsilon = "pixels", epsilon / method.pixels
    if not regions:
        return (replace(make(epsilon=epsilon, width=width, height=height, **options), clear=(SIZE,)),)
    shares = split(epsilon, areas)
    if options.get("between", "pictures") != "pictures":  # a pixel is in one region
        shares = [epsilon] * len(regions)
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
