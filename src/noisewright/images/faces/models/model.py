"""Models of faces: it turns pictures into codes and codes into pictures, and its file is public.

Whatever the model (principal components, a network), a mechanism asks no more of it than this. A code is the secret; the
model, its ranges and its spreads are public, and must come from *public* faces: nothing here protects the faces that a model
was trained on. What a model passes around the code, such as a pose or an attribute, it names in ``clear``: a decoded picture is
a function of the noisy code and of these attributes, and of nothing else of the face.

A small model comes along. It was made of drawn faces of people who never were, so it is there for a first try, for tests and for
demonstrations: photographs deserve a model of public photographs.

>>> model = shipped_model()
>>> model.shape, len(model.low), len(model.gallery.one_each)
((48, 48, 3), 56, 68)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from noisewright.core.arrays import Floats
from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.core.loading.addresses import Addresses
from noisewright.core.resource import Resource
from noisewright.files.model_file import kind_of
from noisewright.images.faces.models.gallery import Gallery
from noisewright.images.pictures.reading import Picture

__all__ = ["COMES_ALONG", "MODELS", "FaceModel", "as_model", "model_folders", "open_model", "shipped_model"]

COMES_ALONG = Path(__file__).parents[2] / "data"
"""The folder of files that come with Noisewright."""
MEMBERS = ("resource", "shape", "low", "high", "spreads", "encode", "decode")

MODELS = Addresses(
    "noisewright.face_models",
    "kind of face model",
    {
        "eigenfaces": "noisewright.images.faces.models.eigenfaces:Eigenfaces",
        "autoencoder": "noisewright.images.networks.autoencoder:AutoEncoder",
        "identities": "noisewright.images.networks.identity_generator:IdentityGenerator",
        "attgan": "noisewright.images.networks.attgan:AttGan",
        "onnx": "noisewright.images.faces.models.onnx_model:OnnxFaces",
        "modules": "noisewright.images.networks.own:OwnFaces",
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
