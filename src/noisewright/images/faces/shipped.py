"""The small model of faces that comes along.

It has 48 x 48 pixels and was made of drawn faces of people who never were, so it is there for a first try, for tests and for
demonstrations: photographs deserve a model of public photographs.

>>> model = shipped_model()
>>> model.shape, len(model.low), len(model.gallery.one_each)
((48, 48, 3), 56, 68)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from noisewright.core.errors import ParameterError
from noisewright.core.resource import Resource
from noisewright.images.faces.model import FaceModel, open_model

__all__ = ["COMES_ALONG", "as_model", "shipped_model"]

COMES_ALONG = Path(__file__).parents[1] / "data"
"""The folder of files that come with Noisewright."""
MEMBERS = ("resource", "shape", "low", "high", "spreads", "encode", "decode")


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
