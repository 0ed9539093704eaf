"""Models of faces: it turns pictures into codes and codes into pictures, and its file is public.

Whatever the model (principal components, a network), a mechanism asks no more of it than this. A code is the secret; the
model, its ranges and its spreads are public, and must come from *public* faces: nothing here protects the faces that a model
was trained on. What a model passes around the code, such as a pose or an attribute, it names in ``clear``: a decoded picture
is
a function of the noisy code and of these attributes, and of nothing else of the face.

A small model comes along. It was made of drawn faces of people who never were, so it is there for a first try, for tests and
for
demonstrations: photographs deserve a model of public photographs.

>>> model = shipped_model()
>>> model.shape, len(model.low), len(model.gallery.one_each)
((48, 48, 3), 56, 68)
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.lazy import Addresses
from noisewright.exceptions import DataError, FileFormatError, MissingPartError, ParameterError
from noisewright.images.faces.eigenfaces import Basis, ComponentFaces, Read
from noisewright.images.faces.public_faces import Gallery, PublicFaces
from noisewright.images.pictures import CHANNELS, Picture, as_pixels
from noisewright.io.model_files import kind_of, read_model, write_model
from noisewright.resources import Resource

__all__ = [
    "COMES_ALONG",
    "MODELS",
    "FaceModel",
    "OnnxFaces",
    "as_model",
    "model_folders",
    "onnx_faces",
    "open_model",
    "shipped_model",
]


COMES_ALONG = Path(__file__).parents[1] / "data"
"""The folder of files that come with Noisewright."""
MEMBERS = ("resource", "shape", "low", "high", "spreads", "encode", "decode")

MODELS = Addresses(
    "noisewright.face_models",
    "kind of face model",
    {
        "eigenfaces": "noisewright.images.faces.eigenfaces:Eigenfaces",
        "autoencoder": "noisewright.images.faces.autoencoder:AutoEncoder",
        "identities": "noisewright.images.faces.generators:IdentityGenerator",
        "attgan": "noisewright.images.faces.generators:AttGan",
        "onnx": "noisewright.images.faces.model:OnnxFaces",
        "modules": "noisewright.images.faces.autoencoder:OwnFaces",
    },
)
"""The kinds of models, by what their files call them: each is a class that is made of a :class:`Resource`."""


class FaceModel(Protocol):
    """A public model of faces of one size."""

    @property
    def resource(self) -> Resource:
        """Its file, by name, SHA-256 and size: the fingerprint that certificates state."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and channels of its pictures."""

    @property
    def low(self) -> Floats:
        """The low end of the public range of each element of a code, the most telling element first."""

    @property
    def high(self) -> Floats:
        """The high ends."""

    @property
    def spreads(self) -> Floats:
        """The standard deviation of each element among public faces."""

    @property
    def clear(self) -> tuple[str, ...]:
        """Parts of a face that reach a decoded picture outside its code, in words."""

    @property
    def gallery(self) -> Gallery | None:
        """The codes of some public faces, in the file: an epsilon is measured on them. None if the file has no codes."""

    def encode(self, pictures: Picture, elements: int | None = None) -> Floats:
        """The codes of pictures (several: pictures, rows, columns, channels), one in each row.

        Their first ``elements`` elements, or all: a mechanism that releases few need not have the others computed.
        """

    def keeping(self, *names: str) -> FaceModel:
        """The same model with these attributes of a face passing around its code, in the clear; initially no attribute."""

    def attributes_of(self, pictures: Picture) -> Floats:
        """Return the attributes of each face that pass around its code, one face in each row; rows are empty where
        nothing does."""

    def decode(self, codes: Floats, attributes: Floats | None = None) -> Picture:
        """The pictures of codes; a code may be shorter than the model's, and the elements that it lacks are constant then.

        Without ``attributes`` they are public constants, the same for all faces.
        """


def open_model(path: str | os.PathLike[str] | Resource, *, keep: Sequence[str] = ()) -> FaceModel:
    """The model in a file, whatever its kind, checked; ``keep`` names attributes that pass around the noise."""
    resource = path if isinstance(path, Resource) else Resource.at(path)
    kind = kind_of(resource)
    if kind not in MODELS:
        raise FileFormatError(
            f"{resource.name} is a model of the kind {kind!r}, which is not known here; install what made it."
        )
    model = cast(FaceModel, MODELS.load(kind)(resource))
    _ = model.shape  # reads and checks the file
    return model.keeping(*keep) if keep else model


def model_folders() -> tuple[Path, ...]:
    """Return the folders of the models of faces that come with Noisewright."""
    return (COMES_ALONG,)


def shipped_model() -> FaceModel:
    """The model of drawn faces that comes with Noisewright."""
    return open_model(COMES_ALONG / "drawn-faces.nwm")


def as_model(given: Resource | FaceModel | None) -> FaceModel:
    """The model that was given, as a file or as itself; None is the small one that comes along."""
    if given is None:
        return shipped_model()
    if isinstance(given, Resource):
        return open_model(given)
    anything: Any = given
    if isinstance(anything, type) or not all(hasattr(anything, name) for name in MEMBERS):
        raise ParameterError(
            f"a model of faces is given as open_model(path), or as its Resource, not as {type(anything).__name__}."
        )
    return given


# Onnx model ---------------------------------------------------------------------------------------------------------------
#
# A generator of one's own in two ONNX files: an encoder from a face to numbers, and a decoder from numbers to a face.
#
# The encoder takes one face (1, channels, rows, columns) between 0 and 1 and gives a row of numbers (1, code); the
# decoder takes such a row and gives a face between 0 and 1. Both files go into the model's file as they are, next to the
# principal components, ranges and spreads of public faces, so that one SHA-256 stands for all of it. They are run by
# OpenCV, which the extra ``detection`` brings: an ONNX file is a list of layers and numbers, and no program. Encoder and
# decoder are two networks with nothing between them but the code.


KIND = "onnx"
BASIS = ("mean", "directions", "spreads", "low", "high")
SIZES = ("height", "width", "channels")
NETWORKS = ("encoder", "decoder")


class OnnxFaces(ComponentFaces):
    """Two ONNX networks and the ranges of public faces in a file; make one with :meth:`at` or :func:`onnx_faces`."""

    def encode(self, pictures: Picture, elements: int | None = None) -> Floats:
        """The components of the codes of faces, one face in each row; the first ``elements`` of them, or all."""
        if pictures.dtype != np.uint8 or pictures.shape[1:] != self.shape:
            rows, columns, channels = self.shape
            raise DataError(
                f"faces have {rows} rows, {columns} columns and {channels} channels of eight bits here; align and resize them."
            )
        codes: Floats = self._read.networks.encoded(pictures, len(self.basis.mean))
        return self.basis.forward(codes, elements)

    def decode(self, codes: Floats, attributes: Floats | None = None) -> Picture:
        """The faces with these components; those that are not given are the mean of public faces."""
        drawn: Picture = self._read.networks.decoded(self.basis.backward(np.atleast_2d(codes)), self.shape)
        return drawn

    @cached_property
    def _read(self) -> Read:
        about, arrays = read_model(self.resource, KIND)
        wrong = FileFormatError(f"{self.resource.name} has arrays that make no model of faces; make it again.")
        sizes: list[Any] = [about.get(name) for name in SIZES]
        if set(arrays) != {*BASIS, *NETWORKS, "gallery", "people"} or not all(
            type(size) is int and size > 0 for size in sizes
        ):
            raise wrong
        many = arrays["low"].shape
        shapes = {"mean": arrays["mean"].shape, "directions": (*many, *arrays["mean"].shape)}
        if sizes[2] not in CHANNELS.values() or len(many) != 1 or not many[0] or arrays["mean"].ndim != 1:
            raise wrong
        if any(arrays[name].shape != shapes.get(name, many) or not np.isfinite(arrays[name]).all() for name in BASIS):
            raise wrong
        if not (arrays["low"] < arrays["high"]).all() or not (arrays["spreads"] > 0).all():
            raise wrong
        basis = Basis(**{name: arrays[name] for name in BASIS})
        pair = _Pair(*(arrays[name].tobytes() for name in NETWORKS))
        gallery = Gallery.kept(arrays, basis.low, basis.high)
        if gallery is None:
            raise wrong
        return Read((sizes[0], sizes[1], sizes[2]), basis, gallery, pair)


def onnx_faces(
    path: str | os.PathLike[str],
    encoder: str | os.PathLike[str],
    decoder: str | os.PathLike[str],
    faces: PublicFaces,
) -> OnnxFaces:
    """A model made of two ONNX files, with the ranges of *public* faces, written to a file."""
    files = [Resource.at(file).bytes for file in (encoder, decoder)]
    pair, shape = _Pair(*files), faces.pictures.shape[1:]
    codes = pair.encoded(faces.pictures)
    basis = Basis.fit(codes)
    pair.decoded(codes[:1], (shape[0], shape[1], shape[2]))
    about = {"faces": len(faces.pictures), "source": faces.source, **dict(zip(SIZES, shape, strict=True))}
    about |= {"files": [Path(file).name for file in (encoder, decoder)]}
    arrays: dict[str, NDArray[Any]] = {name: getattr(basis, name) for name in BASIS}
    arrays |= {name: np.frombuffer(file, np.uint8) for name, file in zip(NETWORKS, files, strict=True)}
    arrays |= Gallery.of(basis.forward(codes), faces.people).arrays()
    return OnnxFaces(write_model(path, KIND, about, arrays))


class _Pair:
    """The two networks, one face at a time: exported networks are often made for one."""

    def __init__(self, encoder: bytes, decoder: bytes) -> None:
        self._encoder, self._decoder = (_network(file) for file in (encoder, decoder))
        self._one_at_a_time = threading.Lock()

    def encoded(self, pictures: Picture, length: int | None = None) -> Floats:
        """The codes of faces."""
        inputs = np.ascontiguousarray(pictures.transpose(0, 3, 1, 2), np.float32) / 255
        codes = [self._run(self._encoder, one[None]).ravel() for one in inputs]
        if any(len(code) != (length or len(codes[0])) or not np.isfinite(code).all() for code in codes):
            raise DataError("the encoder gives codes of another length or without finite numbers; look at its file.")
        return np.array(codes, np.float64).reshape(len(codes), -1 if codes else length or 0)

    def decoded(self, codes: Floats, shape: tuple[int, int, int]) -> Picture:
        """The faces of codes."""
        rows, columns, channels = shape
        drawn = [self._run(self._decoder, code[None].astype(np.float32)) for code in codes]
        if any(one.shape != (1, channels, rows, columns) for one in drawn):
            raise DataError("the decoder gives no face of the size that the encoder takes; look at its file.")
        faces = np.array(drawn, np.float64).reshape(-1, channels, rows, columns)
        return as_pixels(np.nan_to_num(faces).transpose(0, 2, 3, 1) * 255)

    def _run(self, network: Any, given: NDArray[np.float32]) -> NDArray[np.float32]:
        with self._one_at_a_time:
            try:
                network.setInput(given)
                return np.array(network.forward(), np.float32)
            except Exception:  # OpenCV has errors of its own, and they quote its input
                raise DataError(
                    "an ONNX network cannot take what it is given; look at the shapes in its file."
                ) from None


def _network(content: bytes) -> Any:
    try:
        import cv2
    except ImportError:
        raise MissingPartError(
            "ONNX files are run by OpenCV; install it with pip install 'noisewright[detection]'."
        ) from None
    try:
        return cv2.dnn.readNetFromONNX(np.frombuffer(content, np.uint8))
    except Exception:  # as above
        raise FileFormatError("a file is no ONNX network that OpenCV can run; export it again.") from None
