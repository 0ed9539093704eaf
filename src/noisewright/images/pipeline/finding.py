"""Faces to keep: those of people who want to be seen, by boxes or by pictures of them.

A picture of a face to keep is best cut out of the photographs themselves: a face is kept only where it looks **nearly
the same** (a correlation of :data:`ALIKE` or more between the two, upright and in grey). That holds for the same shot
in another size or compression; another photograph of the same person is seldom as near, and is hidden. The same holds
for every doubtful face. No one recognises people here: a network that did would now and then take one person for
another, and show someone who must be hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole, one_of
from noisewright.certificates.certificate import Certificate
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images.base import PictureMechanism, of_all_draws
from noisewright.images.faces.mechanism import PrivateFaces
from noisewright.images.pictures import Inside, Picture, read_picture, recoloured
from noisewright.images.pipeline.detection import (
    IN_THE_CLEAR,
    NETWORKS,
    SMALLEST,
    SURE,
    Face,
    aligned_face,
    aligned_head,
    check_search,
    covered,
    find_faces,
    grown,
    loose_head,
    network,
    on_white,
    outline_of,
    same_face,
    upright,
)
from noisewright.images.pipeline.geometry import MOST_PLACES, Cover, Place
from noisewright.images.pipeline.methods import SIZE, FaceMethod, Method, PixelMethod, Promise, promise_of_each
from noisewright.sampling.random_bits import Bits, Rng, bits_from

__all__ = [
    "ALIKE",
    "CERTAIN",
    "FRAME",
    "Blended",
    "FoundFaces",
    "HiddenPlaces",
    "KeptFaces",
    "NoFace",
    "OwnPlaces",
    "Where",
    "drawn_places",
    "face_to_keep",
    "hidden",
    "in_frames",
    "likeness",
    "places_of",
]


ALIKE = 0.93
"""Correlation far above two people's usual value, and below the value of one shot after compression."""
COMPARED_SIZE, INNER = 48, (slice(12, 42), slice(12, 36))
"""Faces are compared at this size, without hair and background."""


@dataclass(frozen=True, eq=False)
class KeptFaces:
    """Faces that are left as they are: all whose middle is in a box for the file of that name, and all that look like one of
    ``faces`` (see :func:`likeness`)."""

    boxes: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    faces: tuple[Floats, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.boxes or self.faces)

    def keeps(self, picture: Picture, face: Face, source: Path | None) -> bool:
        """Return whether a face of a picture is one of them."""
        boxes = self.boxes.get(source.name, ()) if source is not None else ()
        inside = (place.to_frame(*face.middle) for place in boxes)
        if any(bool(0 <= across < 1 and 0 <= down < 1) for across, down in inside):
            return True
        return bool(self.faces) and max(float(likeness(picture, face) @ known) for known in self.faces) >= ALIKE


def likeness(picture: Picture, face: Face) -> Floats:
    """A face as numbers of mean 0 and length 1: their product with those of another is how alike the two look."""
    inner = aligned_face(picture, face, COMPARED_SIZE)[INNER].mean(axis=2).reshape(-1)
    away = inner - inner.mean()
    length = float(np.linalg.norm(away))
    return np.asarray(away / length if length else away)


# Hiding -------------------------------------------------------------------------------------------------------------------
#
# Faces in photographs, hidden one by one by any mechanism on pictures of one size, and put back where they were.
#
# **Guarantee.** Two photographs with the same hidden places that are alike outside of them: ``epsilon`` for each place
# in which they differ, and so n times ``epsilon`` for all n places (``draws`` of the record). Places share no pixel
# (:class:`~noisewright.images.pipeline.geometry.Cover` merges those that do), and a frame shows, next to the own pixels of
# its place, only pixels that are not hidden: so a hidden pixel is read by one draw, and a person in one place loses
# ``epsilon`` (``touching`` is 1). Who is in several places loses ``epsilon`` for each. There is no guarantee about
# anything else:
#
# * all that lies outside of the places is in the clear, whatever of a head reaches out of its place included;
# * so are the number of the places, where they are, how large and how tilted, which depend on the faces;
# * and so is every face that was not found.
#
# The inside of a place is a function of the sampled picture and of the outside: not one pixel of a face is mixed in.


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
        """The places; a :class:`~noisewright.exceptions.DataError` for a picture that must not be shown."""


@dataclass(frozen=True, eq=False)
class HiddenPlaces(Method):
    """A :class:`~noisewright.images.pipeline.methods.Method` that hides places of pictures; ``made`` makes the mechanism, for
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


# Finding ------------------------------------------------------------------------------------------------------------------
#
# Selection of the hidden places of a picture: faces that a network finds, or boxes and masks of the owner's own.
#
# It fails closed. A picture in which no face is found is refused, unless another choice is made; so is a picture with
# another number of faces than the data owner states, and one without an entry in the data owner's boxes.


NoFace = Literal["refuse", "whole", "keep"]
CERTAIN = 0.75
"""Smallest score that at least one face of a shown picture must have: a false alarm must not stand for a face that was
missed."""
OUTSIDE, WHERE = "outside-places", "places"
"""Codes of the phrase table."""


@dataclass(frozen=True, eq=False)
class FoundFaces:
    """The heads of faces that the detector finds.

    ``no_face`` states the handling of a picture in which no face is found for sure (:data:`CERTAIN`): it is refused,
    hidden as a ``whole``, or kept as it is except for faces that are doubtful; these are hidden like all others.
    ``expect`` refuses pictures in which another number of faces is found. ``margin`` makes places larger or smaller
    than usual. Faces that ``keep`` names are left as they are. With ``aligned``, frames show faces upright, as a model
    wants them. With ``outline``, the person in a place is hidden, and the background next to them stays.
    """

    smallest: float = SMALLEST
    sure: float = SURE
    no_face: NoFace = "refuse"
    expect: int | None = None
    margin: float = 1.0
    aligned: bool = False
    outline: bool = False
    keep: KeptFaces = field(default_factory=KeptFaces)

    def __post_init__(self) -> None:
        check_search(self.smallest, self.sure)
        one_of(self.no_face, "no_face", get_args(NoFace))
        if self.expect is not None and (not is_whole(self.expect) or not 0 <= self.expect <= MOST_PLACES):
            raise ParameterError(
                f"expect is how many faces each picture has: a whole number from 0 to {MOST_PLACES:,}."
            )
        if not 0.5 <= self.margin <= 5:
            raise ParameterError("margin is from 0.5 to 5 times the usual size of a place.")
        network("detector")  # before anything is read

    @cached_property
    def clear(self) -> tuple[str, ...]:
        """Parts in the clear."""
        by = f"{NETWORKS['detector'].file}, sha256 {NETWORKS['detector'].sha256[:12]}..."
        told = [
            OUTSIDE,
            WHERE,
            f"every face that was not found: those of less than {self.smallest:g} pixels were not looked for, and others may "
            f"have been missed (by {by})",
        ]
        if self.outline:
            told.append(IN_THE_CLEAR)
        if self.keep:
            told.append("faces that were kept as they are, on purpose")
        if self.no_face == "keep":
            told.append("pictures in which no face was found, as they are")
        return tuple(told)

    def found(self, picture: Picture, source: Path | None = None) -> list[tuple[Face, Place]]:
        """The faces and the places of their heads; those to keep say so.

        A find that is covered by the place of one that is hidden is hidden with it. One that is covered by the place
        of a face to keep is not: someone may stand close to who wants to be seen.
        """
        faces = find_faces(picture, smallest=self.smallest, sure=self.sure)
        hide: list[tuple[Face, Place]] = []
        keep: list[tuple[Face, Place]] = []
        left = np.ones(len(faces), bool)
        for number, face in enumerate(faces):
            if not left[number] or any(same_face(face, one) for one, _ in keep):
                continue
            turned = upright(picture, face)
            if any(same_face(turned, one) for one, _ in keep):
                continue
            if self.keep.keeps(picture, turned, source):
                keep.append((replace(turned, kept=True), loose_head(turned, self.margin)))
                continue
            same = next((i for i, (_, place) in enumerate(hide) if covered([turned], place)[0]), None)
            if same is not None and (wider := grown(hide[same][1], face)) is not None:
                hide[same] = hide[same][0], wider
            else:
                same = len(hide)
                hide.append((turned, loose_head(turned, self.margin)))
            left &= ~covered(faces, hide[same][1])
        return hide + keep

    def cover(self, picture: Picture, source: Path | None = None) -> Cover:
        """The places of all heads that are not kept."""
        height, width = picture.shape[:2]
        found = self.found(picture, source)
        if self.expect is not None and len(found) != self.expect:
            raise DataError(
                f"{_many(len(found))} found where {self.expect} were expected; look at it with noisewright images find, and give "
                "boxes of your own."
            )
        if not any(face.score >= CERTAIN for face, _ in found):
            if self.no_face == "refuse":
                what = "no face was found for sure" if found else "no face was found"
                raise DataError(
                    f"{what}, so it is not shown; look at it with noisewright images find and give boxes of your own, or choose "
                    "with --no-face."
                )
            if self.no_face == "whole":
                return Cover.of([Place.around(0, 0, width, height)], height, width)
        hide = [(face, place) for face, place in found if not face.kept]
        views = [aligned_head(picture, face) for face, _ in hide] if self.aligned else []
        masks = [outline_of(picture, face, place) for face, place in hide] if self.outline else None
        return Cover.of([place for _, place in hide], height, width, masks, views)


@dataclass(frozen=True, eq=False)
class OwnPlaces:
    """Boxes and masks of the owner's own, by the names of files; a file for which there is nothing is refused."""

    boxes: Mapping[str, Sequence[Place] | None] = field(default_factory=dict)
    """None: no one has said yet whether there is something to hide, so the picture is refused."""
    masks: Path | None = None
    """A folder with a picture for each photograph, of the same name (whatever the suffix): pixels that are not black
    are hidden."""

    @property
    def clear(self) -> tuple[str, ...]:
        """Parts in the clear."""
        shown = any(own is not None and not own for own in self.boxes.values())
        return OUTSIDE, WHERE, *(["pictures for which no box was given, as they are"] if shown else [])

    def cover(self, picture: Picture, source: Path | None = None) -> Cover:
        """The boxes, and each part of the mask that hangs together."""
        height, width = picture.shape[:2]
        name = source.name if source is not None else ""
        mask = self._mask(source, height, width)
        if name not in self.boxes and mask is None:
            raise DataError("there is no box or mask for it, so it is not shown; give one, or an empty list of boxes.")
        if self.boxes.get(name, ()) is None:
            raise DataError(
                "no face was found in it for sure, and nobody has written boxes for it since, so it is not shown; replace "
                "null by its boxes, or by an empty list to show it as it is."
            )
        if mask is not None and not mask.any():
            raise DataError(
                "its mask is black, so nothing would be hidden; mark what is to be hidden, or take it away."
            )
        parts = [] if mask is None else _parts(mask)
        own = list(self.boxes.get(name) or ())
        if any(_beyond(place, height, width) for place in own):
            raise DataError(f"a box lies outside of its picture of {width} x {height} pixels; check the boxes.")
        places = [*own, *(place for place, _ in parts)]
        found = Cover.of(places, height, width, [*[None] * len(own), *(part for _, part in parts)])
        if any(not (Cover.of([place], height, width).hidden).any() for place in own):
            raise DataError("a box is so small that it covers no pixel; make it larger, or take it out.")
        return found

    def _mask(self, source: Path | None, height: int, width: int) -> NDArray[np.bool_] | None:
        if self.masks is None or source is None:
            return None
        found = sorted(path for path in self.masks.iterdir() if path.stem == source.stem and path.is_file())
        if not found:
            return None
        if len(found) > 1:
            raise DataError("there are several masks of its name, and any of them could be meant; keep one.")
        try:
            mask = read_picture(found[0], colours="grey")[:, :, 0] > 0
        except DataError as problem:
            raise DataError(f"its mask {found[0].name}: {problem}") from None
        if mask.shape != (height, width):
            raise DataError(f"its mask is not of its size, which is {width} x {height} pixels; make another.")
        return mask


def face_to_keep(picture: Picture) -> Floats:
    """Return the descriptor of a face from its picture, on which it must be alone; see :class:`KeptFaces`."""
    faces = [face for face, _ in FoundFaces(smallest=8).found(picture) if face.score >= CERTAIN]
    if len(faces) != 1:
        raise DataError(f"a picture of a face to keep shows one face, but {_many(len(faces))} found; cut out one.")
    return likeness(picture, faces[0])


def places_of(document: Any, name: str) -> dict[str, list[Place] | None]:
    """The places in a document such as ``{"photo.jpg": [[x, y, width, height], ...]}``; a fifth number is a tilt in degrees.

    ``null`` in place of the boxes stays None: the hidden places are not yet stated.
    """
    wrong = FileFormatError(
        f'{name} is not a list of boxes, which is written {{"photo.jpg": [[x, y, width, height], ...]}} in pixels.'
    )
    if not isinstance(document, dict):
        raise wrong
    found: dict[str, list[Place] | None] = {}
    for file, boxes in document.items():
        if boxes is None:
            found[file] = None
            continue
        places: list[Place] = []
        if not isinstance(boxes, list) or len(boxes) > MOST_PLACES:
            raise wrong
        for box in boxes:
            if (
                not isinstance(box, list)
                or len(box) not in (4, 5)
                or not all(type(number) in (int, float) and abs(number) < 1e9 for number in box)
                or min(box[2:4]) <= 0
            ):
                raise wrong
            x, y, width, height = box[:4]
            place = Place.around(x, y, width, height)
            places.append(Place(place.x, place.y, width, height, *box[4:]))
        found[file] = places
    return found


def _many(number: int) -> str:
    return "no face was" if not number else "one face was" if number == 1 else f"{number} faces were"


def _beyond(place: Place, height: int, width: int) -> bool:
    rows, columns = place.bounds(height, width)
    return bool(rows.start >= rows.stop or columns.start >= columns.stop)


def _parts(mask: NDArray[np.bool_]) -> list[tuple[Place, NDArray[np.bool_]]]:
    """The parts of a mask that hang together, each with its rectangle."""
    from scipy.ndimage import find_objects, label

    named, many = label(mask, structure=np.ones((3, 3)))
    if many > MOST_PLACES:
        raise DataError(f"its mask has more than {MOST_PLACES:,} parts; draw fewer and larger ones.")
    found = []
    for number, (rows, columns) in enumerate(find_objects(named), start=1):
        place = Place.around(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
        found.append((place, named == number))
    return found
