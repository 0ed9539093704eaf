"""Selection of the hidden places of a picture: faces that a network finds, or boxes and masks of the owner's own.

It fails closed. A picture in which no face is found is refused, unless another choice is made; so is a picture with
another number of faces than the data owner states, and one without an entry in the data owner's boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole, one_of
from noisewright.core.errors import DataError, FileFormatError, ParameterError
from noisewright.images.pictures.reading import Picture, read_picture
from noisewright.images.pipeline.detection import SMALLEST, SURE, Face, check_search, find_faces, upright
from noisewright.images.pipeline.heads import aligned_head, covered, grown, loose_head, same_face
from noisewright.images.pipeline.keeping import KeptFaces, likeness
from noisewright.images.pipeline.networks import NETWORKS, network
from noisewright.images.pipeline.outlines import IN_THE_CLEAR, outline_of
from noisewright.images.pipeline.places import MOST_PLACES, Cover, Place

__all__ = ["CERTAIN", "FoundFaces", "NoFace", "OwnPlaces", "face_to_keep", "places_of"]

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
