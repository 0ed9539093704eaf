"""One way to train any kind of model of faces.

>>> import pathlib, tempfile
>>> from noisewright.images.faces import PublicFaces, cartoon_faces
>>> faces = PublicFaces(*cartoon_faces(4, 2, size=16))
>>> train_model("eigenfaces", pathlib.Path(tempfile.mkdtemp(), "tiny.nwm"), faces, code=3)
Eigenfaces('tiny.nwm', 16 x 16 pixels in colour, 3 components)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError
from noisewright.core.loading.signatures import parameters_of
from noisewright.images.faces.models.eigenfaces import Eigenfaces, train_eigenfaces
from noisewright.images.faces.models.model import FaceModel
from noisewright.images.faces.models.public_faces import PublicFaces

__all__ = ["KINDS", "train_model"]

NETWORKS = {"autoencoder": "train_autoencoder", "identities": "train_identities", "attgan": "train_attgan"}
KINDS = ("eigenfaces", *NETWORKS)
"""The kinds of models that can be trained."""


def train_model(
    kind: str,
    path: str | os.PathLike[str],
    faces: PublicFaces,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Any,
) -> FaceModel:
    """A model of this kind from *public* faces, written to a file; the options belong to its own trainer.

    ``code`` is the length of codes for all of them but attgan, whose ``scale`` says it. Networks need PyTorch, and go on from a
    checkpoint where there is one.
    """
    name = NETWORKS.get(one_of(kind, "model", KINDS))
    make: Any = _eigenfaces if name is None else getattr(import_module("noisewright.images.networks"), name)
    for option in options:
        if option not in parameters_of(make):
            raise ParameterError(f"{option} is not an option of the model {kind}; leave it out.")
    return make(path, faces, progress=progress, **options)  # type: ignore[no-any-return]


def _eigenfaces(
    path: str | os.PathLike[str], faces: PublicFaces, *, code: int = 300, progress: object = None
) -> Eigenfaces:
    return train_eigenfaces(path, faces.pictures, people=faces.people, components=code, source=faces.source)
