r"""Test of whether a model can draw a picture, by the part it leaves out. For data owners alone.

A model of drawn faces makes a drawn face of every photograph, and measurements on its public faces then hold less for
such photographs. Therefore the part that the model leaves out of a picture (the root of the mean squared difference
between the picture and its picture by the model without noise) is compared with a limit: how different a public person
in the model's file is from the one who is most like them, the median over these people. A new face of the same kind
stays below it: at most 36 of a limit of 40 for the shipped model and drawn faces that it never saw, and 35 of 45 for
eigenfaces of 60 photographs and 40 others. Photographs in the shipped model are above it: 61 to 145, and 40 for a
small blurred head on a plain ground.

The difference depends on the picture. It is in no output, and a refusal is for the owner of the pictures.

>>> import numpy as np
>>> from noisewright.images.faces import shipped_model, sprite_faces
>>> model, others = shipped_model(), sprite_faces().of(range(68, 135)).pictures
>>> round(float(left_out(model, others).max())), round(most_left_out(model))
(36, 40)
>>> grass = np.random.default_rng(1).integers(0, 90, (1, 48, 48, 3), dtype=np.uint8)
>>> bool(left_out(model, grass)[0] > most_left_out(model))
True
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform

from noisewright.core.arrays import Floats
from noisewright.images.faces.models.model import FaceModel
from noisewright.images.pictures.reading import Picture

__all__ = ["left_out", "most_left_out"]


def left_out(model: FaceModel, pictures: Picture) -> Floats:
    """Return how much of each of several pictures the model cannot draw, in steps of colour."""
    drawn = model.decode(model.encode(pictures), model.attributes_of(pictures))
    away = _flat(drawn) - _flat(pictures)
    return np.asarray(np.sqrt(np.mean(away**2, axis=1)))


def most_left_out(model: FaceModel) -> float | None:
    """Return the limit of a model, from the public people in its file alone; None if it keeps fewer than two."""
    gallery = getattr(model, "gallery", None)
    if gallery is None or len(codes := gallery.one_each) < 2:
        return None
    people = _flat(model.decode(codes))
    apart = squareform(pdist(people)) / np.sqrt(people.shape[1])
    np.fill_diagonal(apart, np.inf)
    return float(np.median(apart.min(axis=1)))


def _flat(pictures: Picture) -> Floats:
    return np.asarray(pictures, np.float64).reshape(len(pictures), -1)
