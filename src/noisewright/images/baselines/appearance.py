r"""An active appearance model: a face as the shape of its landmarks and its texture on the mean shape. **A negative baseline.**

* *shape*: landmarks, moved, turned and scaled onto their mean (Procrustes), then principal components;
* *texture*: the pixels inside the mesh of landmarks, warped to the mean shape triangle by triangle, then principal components.

The code is both lists of components, and exact noise on it keeps its guarantee **about the code**
(:class:`~noisewright.images.faces.noisy_codes.NoisyCodes`). But the new texture is painted inside the contour of the
face alone: hair, ears, neck and everything around stay as they were, and so do place, size and tilt of the face. They
distinguish people, so a picture that looks changed is recognised as before. Nothing of a picture is guaranteed here.

>>> rng = np.random.default_rng(1)
>>> square = np.array([[4, 4], [4, 20], [20, 4], [20, 20], [12, 12]])
>>> landmarks = square + rng.normal(0, 1, (10, 5, 2))
>>> faces = rng.integers(0, 256, (10, 24, 24, 3), dtype=np.uint8)
>>> model = ActiveAppearance.fit(faces, landmarks)
>>> shown = model.painted(model.encode(faces, landmarks), faces, landmarks)
>>> bool((shown[:, 0] == faces[:, 0]).all()), bool((shown == faces).all())
(True, False)

Reference: Cootes, Edwards and Taylor, *Active appearance models* (2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import distance_transform_edt, map_coordinates
from scipy.spatial import Delaunay

from noisewright.core.arrays import Floats, Indices
from noisewright.core.errors import DataError
from noisewright.images.faces.code_space import CodeSpace
from noisewright.images.faces.models.basis import Basis
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.writing import as_pixels

__all__ = ["ActiveAppearance"]

ROUNDS = 5
"""Number of times that all shapes are aligned to their mean and the mean is computed again."""
SHAPES, TEXTURES = 12, 40


@dataclass(frozen=True, eq=False)
class ActiveAppearance:
    """Shape and texture of aligned faces; make one with :meth:`fit`. Landmarks are places (x, y) in pixels."""

    mean: Floats
    triangles: Indices
    shapes: Basis
    textures: Basis
    size: tuple[int, int, int]

    @classmethod
    def fit(
        cls, faces: Picture, landmarks: ArrayLike, shapes: int = SHAPES, textures: int = TEXTURES
    ) -> ActiveAppearance:
        """Fit to public faces with equally many landmarks; ``shapes`` and textures have a maximum number of components."""
        places = _places(faces, landmarks)
        mean = places[0]
        for _ in range(ROUNDS):
            mean = np.mean([_placed(one, mean)[0] for one in places], 0)
        triangles = np.asarray(Delaunay(mean).simplices, np.intp)
        moved = np.stack([_placed(one, mean)[0] for one in places])
        size = (faces.shape[1], faces.shape[2], faces.shape[3])
        inside = _inside(mean, triangles, size)
        textures_of = np.stack([_warped(f, p, mean, triangles)[inside] for f, p in zip(faces, places, strict=True)])
        return cls(
            mean,
            triangles,
            Basis.fit(moved.reshape(len(moved), -1), shapes),
            Basis.fit(textures_of.reshape(len(faces), -1), textures),
            size,
        )

    @property
    def space(self) -> CodeSpace:
        """The public box of codes: the ranges of the components of shape, then of those of texture."""
        low = np.concatenate([self.shapes.low, self.textures.low])
        return CodeSpace.of(low, np.concatenate([self.shapes.high, self.textures.high]))

    def encode(self, faces: Picture, landmarks: ArrayLike) -> Floats:
        """The codes of faces, one in each row."""
        places = _places(faces, landmarks)
        moved = np.stack([_placed(one, self.mean)[0] for one in places])
        inside = _inside(self.mean, self.triangles, self.size)
        texture = np.stack(
            [_warped(f, p, self.mean, self.triangles)[inside] for f, p in zip(faces, places, strict=True)]
        )
        many = len(faces)
        return np.hstack(
            [self.shapes.forward(moved.reshape(many, -1)), self.textures.forward(texture.reshape(many, -1))]
        )

    def painted(self, codes: ArrayLike, faces: Picture, landmarks: ArrayLike) -> Picture:
        """NO GUARANTEE about pictures: faces with the texture and the shape of codes inside, and as they were outside."""
        given, places = np.atleast_2d(np.asarray(codes, np.float64)), _places(faces, landmarks)
        inside = _inside(self.mean, self.triangles, self.size)
        shapes = self.shapes.backward(given[:, : self.shapes.size]).reshape(len(given), -1, 2)
        textures = self.textures.backward(given[:, self.shapes.size :])
        nearest = distance_transform_edt(~inside, return_distances=False, return_indices=True)
        result, flat = faces.copy(), np.zeros(self.size)
        for place, own in enumerate(places):
            flat[inside] = textures[place].reshape(-1, self.size[2])
            flat = flat[nearest[0], nearest[1]]  # goes on beyond the border, which warping looks across
            there = _placed(own, self.mean)[1](shapes[place])
            new = _inside(there, self.triangles, self.size)
            result[place][new] = as_pixels(_warped(flat, self.mean, there, self.triangles)[new])
        return result


def _placed(shape: Floats, onto: Floats) -> tuple[Floats, Any]:
    """A shape moved, turned and scaled onto another, and the way back for any shape."""
    centre, aim = shape.mean(0), onto.mean(0)
    left, values, right = np.linalg.svd((shape - centre).T @ (onto - aim))
    flip = np.diag([1.0, np.sign(np.linalg.det(left @ right))])
    turn = left @ flip @ right
    scale = float((values * np.diag(flip)).sum() / ((shape - centre) ** 2).sum())
    return scale * (shape - centre) @ turn + aim, lambda other: (other - aim) @ turn.T / scale + centre


def _corners(shape: Floats, triangles: Indices, size: tuple[int, int, int]) -> tuple[NDArray[Any], Floats]:
    """Return for every pixel its triangle in a mesh (-1 outside), and its weights of the three corners."""
    y, x = np.mgrid[: size[0], : size[1]]
    pixels = np.stack([x.ravel(), y.ravel()], 1).astype(float)
    own, weights_of = np.full(len(pixels), -1), np.zeros((len(pixels), 3))
    for number, corners in enumerate(shape[triangles]):
        sides = np.stack([corners[1] - corners[0], corners[2] - corners[0]], 1)
        if abs(np.linalg.det(sides)) < 1e-9:
            continue
        part = np.linalg.solve(sides, (pixels - corners[0]).T).T
        weights = np.column_stack([1 - part.sum(1), part])
        here = (weights >= -1e-9).all(1)
        own[here], weights_of[here] = number, weights[here]
    return own, weights_of


def _inside(shape: Floats, triangles: Indices, size: tuple[int, int, int]) -> NDArray[np.bool_]:
    return np.asarray((_corners(shape, triangles, size)[0] >= 0).reshape(size[:2]))


def _warped(face: NDArray[Any], shape: Floats, onto: Floats, triangles: Indices) -> Floats:
    """The face with its landmarks moved to other places; pixels outside of the mesh are black."""
    size = (face.shape[0], face.shape[1], face.shape[2])
    own, weights = _corners(onto, triangles, size)
    mesh = own >= 0
    source = np.einsum("pk,pkd->pd", weights[mesh], shape[triangles[own[mesh]]])
    result = np.zeros((len(own), size[2]))
    for channel in range(size[2]):
        values = face[:, :, channel].astype(np.float64)
        result[mesh, channel] = map_coordinates(values, [source[:, 1], source[:, 0]], order=1, mode="nearest")
    return result.reshape(size)


def _places(faces: Picture, landmarks: ArrayLike) -> Floats:
    places = np.asarray(landmarks, np.float64)
    if places.ndim != 3 or len(places) != len(faces) or places.shape[1] < 3 or places.shape[2] != 2:
        raise DataError("every face has as many landmarks as the others, three or more, each a place x, y in pixels.")
    return places
