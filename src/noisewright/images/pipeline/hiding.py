r"""Faces in photographs, hidden one by one by any mechanism on pictures of one size, and put back where they were.

**Guarantee.** Two photographs with the same hidden places that are alike outside of them: ``epsilon`` for each place
in which they differ, and so n times ``epsilon`` for all n places (``draws`` of the record). Places share no pixel
(:class:`~noisewright.images.pipeline.places.Cover` merges those that do), and a frame shows, next to the own pixels of
its place, only pixels that are not hidden: so a hidden pixel is read by one draw, and a person in one place loses
``epsilon`` (``touching`` is 1). Who is in several places loses ``epsilon`` for each. There is no guarantee about
anything else:

* all that lies outside of the places is in the clear, whatever of a head reaches out of its place included;
* so are the number of the places, where they are, how large and how tilted, which depend on the faces;
* and so is every face that was not found.

The inside of a place is a function of the sampled picture and of the outside: not one pixel of a face is mixed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import ParameterError
from noisewright.images.hidden_faces import PrivateFaces
from noisewright.images.mechanism import PictureMechanism, of_all_draws
from noisewright.images.methods import SIZE, FaceMethod, Method, PixelMethod, Promise, promise_of_each
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.regions import Inside
from noisewright.images.pictures.resizing import recoloured
from noisewright.images.pipeline.networks import NETWORKS
from noisewright.images.pipeline.outlines import on_white
from noisewright.images.pipeline.places import Cover
from noisewright.noise.bits import Bits, Rng, bits_from

__all__ = ["FRAME", "Blended", "HiddenPlaces", "Where", "drawn_places", "hidden", "in_frames"]

Blended = Literal["oval", "white"]
"""Faces that are drawn are seen in an oval, or, if they are on white, as far as they are not white."""
WHITE = 225
"""Brightness from which a pixel is white."""
FRAME = 128
"""Width in pixels of frames in which mechanisms on pixels draw faces."""


class Where(Protocol):
    """Selection of the places of a picture that are hidden."""

    @property
    def clear(self) -> tuple[str, ...]:
        """Parts in the clear because of it, in words."""

    def cover(self, picture: Picture, source: Path | None) -> Cover:
        """The places; a :class:`~noisewright.core.errors.DataError` for a picture that must not be shown."""


@dataclass(frozen=True, eq=False)
class HiddenPlaces(Method):
    """A :class:`~noisewright.images.methods.Method` that hides places of pictures; ``made`` makes the mechanism, for
    pictures of one or of three channels, and ``blended`` states that it draws faces, to be blended in, and not blocks
    of pixels."""

    where: Where
    made: Callable[[int], PictureMechanism]
    blended: Blended | None = None

    def drawn(self, picture: Picture, rng: Rng = None, source: Path | None = None) -> tuple[Picture, int]:
        """The picture with its places hidden."""
        cover = self.where.cover(picture, source)
        drawn = drawn_places(picture, cover, self.made(picture.shape[2]), bits_from(rng), self.blended)
        return hidden(picture, cover, drawn, self.blended), len(drawn)

    def mechanisms(self, height: int, width: int, channels: int) -> tuple[PictureMechanism, ...]:
        """The mechanism of every place, in pictures of every size."""
        made = self.made(channels)
        return (replace(made, clear=(*made.clear, SIZE, *self.where.clear)),)

    def certificate(self, height: int, width: int, channels: int, places: int = 1) -> Certificate:
        """Return the certificate of all places of a picture together, at most ``places``."""
        return of_all_draws(super().certificate(height, width, channels), Inside("place", places, places))

    def promise(self, height: int, width: int, channels: int, places: int = 1) -> Promise:
        """Return the guarantee of all places of a picture together, and of each."""
        return promise_of_each(self.mechanisms(height, width, channels)[0], places, "place")


def in_frames(method: Method, where: Where) -> HiddenPlaces:
    """A method on pictures of any size, or a model of faces, on each place alone."""
    if isinstance(method, FaceMethod) and not method.regions:
        return HiddenPlaces(where, lambda _: method.faces, "white" if _has_white_corners(method.faces) else "oval")
    if not isinstance(method, PixelMethod) or method.regions or method.pixels or "between" in method.options:
        raise ParameterError(
            "places are hidden one by one by a method for whole pictures: leave out regions, masks and pixels."
        )
    made = cache(lambda channels: method.mechanisms(FRAME, FRAME, channels)[0])
    return HiddenPlaces(where, lambda channels: replace(made(channels), clear=()))


def drawn_places(
    picture: Picture,
    cover: Cover,
    mechanism: PictureMechanism,
    bits: Bits,
    blended: Blended | None = None,
    only: Sequence[int] | None = None,
) -> list[Picture]:
    """Return the mechanism's output for each place, or for ``only`` some, in its frame."""
    numbers = range(len(cover.places)) if only is None else only
    height, width, channels = mechanism.shape
    if blended == "white":
        side = NETWORKS["people"].side
        seen = [cover.frame(picture, number, (side, side)) for number in numbers]
        frames = [recoloured(on_white(frame, height, width), channels) for frame in seen]
        return [recoloured(mechanism.drawn(frame, bits), picture.shape[2]) for frame in frames]
    frames = [recoloured(cover.frame(picture, number, (height, width)), channels) for number in numbers]
    return [recoloured(mechanism.drawn(frame, bits), picture.shape[2]) for frame in frames]


def hidden(picture: Picture, cover: Cover, drawn: list[Picture], blended: Blended | None = None) -> Picture:
    """The picture with the output painted over its places; a function of output and outside."""
    result = cover.emptied(picture) if blended is not None else picture.copy()
    for number, frame in enumerate(drawn):
        share = None if blended is None else _oval(*frame.shape[:2]) if blended == "oval" else _not_white(frame)
        cover.paint(result, number, frame, share)
    return result


def _has_white_corners(faces: PrivateFaces) -> bool:
    """Return whether a model was shown faces on white: its mean face has white corners above."""
    low, high = faces.hidden.model.low, faces.hidden.model.high
    mean = faces.hidden.model.decode(np.clip(np.zeros((1, len(low))), low, high))[0]
    return bool(mean[0, [0, -1]].min() >= WHITE)


def _not_white(frame: Picture) -> Floats:
    """Return how much of a face on white is seen: the white that hangs together with the border is not."""
    from scipy.ndimage import gaussian_filter, label

    white = np.pad(frame.min(axis=2) >= WHITE, 1, constant_values=True)
    named, _ = label(white)
    face = (named != named[0, 0])[1:-1, 1:-1]
    return np.asarray(gaussian_filter(face.astype(np.float64), len(face) / 64) * _border(*face.shape))


@lru_cache(maxsize=8)
def _oval(height: int, width: int) -> Floats:
    """Return how much of a face in a frame is seen: all in the middle, nothing at the border."""
    y, x = np.ogrid[:height, :width]
    away = np.hypot((x + 0.5) / width * 2 - 1, (y + 0.5) / height * 2 - 1)
    return np.asarray(np.clip((1 - away) / 0.2, 0, 1))


@lru_cache(maxsize=8)
def _border(height: int, width: int) -> Floats:
    """1, and less and less towards the border of a frame."""
    y, x = (np.minimum(np.arange(many) + 0.5, np.arange(many)[::-1] + 0.5) / many for many in (height, width))
    return np.asarray(np.clip(np.minimum(y[:, None], x[None, :]) / 0.08, 0, 1))
