r"""A generator of one's own in two ONNX files: an encoder from a face to numbers, and a decoder from numbers to a face.

The encoder takes one face (1, channels, rows, columns) between 0 and 1 and gives a row of numbers (1, code); the
decoder takes such a row and gives a face between 0 and 1. Both files go into the model's file as they are, next to the
principal components, ranges and spreads of public faces, so that one SHA-256 stands for all of it. They are run by
OpenCV, which the extra ``detection`` brings: an ONNX file is a list of layers and numbers, and no program. Encoder and
decoder are two networks with nothing between them but the code.
"""

from __future__ import annotations

import os
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError, FileFormatError, MissingPartError
from noisewright.core.resource import Resource
from noisewright.files.model_file import read_model, write_model
from noisewright.images.faces.models.basis import Basis, ComponentFaces, Read
from noisewright.images.faces.models.gallery import Gallery
from noisewright.images.faces.models.public_faces import PublicFaces
from noisewright.images.pictures.reading import CHANNELS, Picture
from noisewright.images.pictures.writing import as_pixels

__all__ = ["OnnxFaces", "onnx_faces"]

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
