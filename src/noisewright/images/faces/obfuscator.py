r"""Faces of people who do not exist: a face becomes a code, the code gets exact noise, and the noisy code is decoded.

**Guarantee.** ``epsilon`` per unit of distance between the codes of two faces, of which the first ``components``
elements are released and the others are constant (:mod:`noisewright.images.faces.noisy_codes`). The model is public,
named by its SHA-256 in the certificate. The same epsilon means something else for every number of components and every
model, so the two are always stated together; :meth:`LatentObfuscator.odds` gives the odds that an epsilon allows at
distances that public faces really have.

Without ``components``, their number is the largest whose noise stays below ``alpha`` standard deviations of each
(:mod:`noisewright.images.faces.counting`).

>>> import pathlib, tempfile
>>> from noisewright.images.faces.models.eigenfaces import train_eigenfaces
>>> public = np.random.default_rng(1).integers(0, 256, (20, 8, 8, 3), dtype=np.uint8)
>>> model = train_eigenfaces(pathlib.Path(tempfile.mkdtemp(), "noise.nwm"), public)
>>> hidden = LatentObfuscator(model, epsilon=20)
>>> hidden
LatentObfuscator(epsilon = 20 for 4 components of 'noise.nwm')
>>> hidden.release(public[0]).shape
(8, 8, 3)
>>> hidden.certificate().verify().partition(";")[0]
'epsilon = 20 per unit of 1/16384 * manhattan between two faces, over 4 independent parts'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, upward
from noisewright.core.guarantee import Guarantee
from noisewright.images.faces.code_space import STEPS, CodeSpace
from noisewright.images.faces.counting import ALPHA, component_count
from noisewright.images.faces.models.model import FaceModel
from noisewright.images.faces.noisy_codes import NoisyCodes
from noisewright.images.pictures.reading import Picture
from noisewright.noise.bits import Rng, bits_from

__all__ = ["LatentObfuscator"]

Points = NDArray[np.int64]
TOGETHER = 64
"""Maximum number of faces that are encoded and decoded together."""


class LatentObfuscator:
    """A public model of faces with exact noise on its codes."""

    name = NoisyCodes.name

    def __init__(
        self,
        model: FaceModel,
        *,
        epsilon: Exact,
        components: int | None = None,
        alpha: float = ALPHA,
        weights: Sequence[float] | Floats | None = None,
        steps: int = STEPS,
    ) -> None:
        most = len(model.low)
        if components is None:
            components = component_count(model.spreads, model.high - model.low, epsilon=epsilon, alpha=alpha)
        if not is_whole(components) or not 1 <= components <= most:
            raise ParameterError(f"components is a whole number from 1 to the {most} elements of the model's codes.")
        self.model, self.components = model, int(components)
        space = CodeSpace.of(model.low[:components], model.high[:components], steps=steps, weights=weights)
        self.codes = NoisyCodes(epsilon, space)  # type: ignore[arg-type]

    # The guarantee
    # --------------------------------------------------------------------------------------------------------

    @property
    def epsilon(self) -> Fraction:
        """The loss between faces whose codes are opposite corners of the public box."""
        return self.codes.epsilon

    @property
    def space(self) -> CodeSpace:
        """The codes that are released, and their metric."""
        return self.codes.space

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` per unit of the distance of codes."""
        return self.codes.guarantee

    def map(self, distance: float) -> float:
        """The largest log-ratio for two faces at this distance."""
        return self.codes.map(distance)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The proof about the codes, the fingerprint of the model, and the attributes that pass around the noise."""
        return self.codes.certificate(rng, resources=[self.model.resource], clear=self.model.clear)

    def in_words(self) -> str:
        """Return the guarantee between any two faces, and its limits, in words."""
        clear = ", ".join(self.model.clear) or "only the declared size of pictures"
        return f"{self.guarantee.in_words(1)} In the clear: {clear}."

    def odds(self, faces: Picture) -> tuple[float, float]:
        """The log-odds that epsilon allows between the closest pair and between a typical (median) pair of *public* faces."""
        points = self._points(self._several(faces))
        if len(points) < 2:
            raise DataError("the distances between faces need two faces or more.")
        apart = self.space.apart(points, points)[np.triu_indices(len(points), 1)]
        return self.map(float(apart.min())), self.map(float(np.median(apart)))

    # Drawing ------------------------------------------------------------------------------------------------------------

    def release(self, faces: Picture, rng: Rng = None, *, attributes: Floats | None = None) -> Picture:
        """One new face for each: a picture, or several with an axis in front.

        ``attributes``, a row for each face, replace the attributes that the model reads off the faces, for those that
        it keeps.
        """
        bits = bits_from(rng)
        return self._decoded(faces, lambda points: self.codes.drawn(points, bits), attributes)

    def clean(self, faces: Picture, *, attributes: Floats | None = None) -> Picture:
        """NO GUARANTEE: faces by the model without noise, for comparison."""
        return self._decoded(faces, lambda points: points, attributes)

    def _decoded(self, faces: Picture, change: Callable[[Points], Points], attributes: Floats | None) -> Picture:
        given = np.asarray(faces)
        several = self._several(given)
        result = [np.empty((0, *self.model.shape), np.uint8)]
        for start in range(0, len(several), TOGETHER):  # a few at a time: codes in floats are much larger than pixels
            some = several[start : start + TOGETHER]
            beside = self.model.attributes_of(some) if attributes is None else attributes[start : start + TOGETHER]
            result.append(self.model.decode(self.space.codes(change(self._points(some))), beside))
        return np.concatenate(result).reshape(given.shape)

    def _several(self, faces: Picture) -> Picture:
        given = np.asarray(faces)
        return given[None] if given.ndim == 3 else given

    def _points(self, faces: Picture) -> Points:
        return self.space.points(self.model.encode(faces, self.components))

    def __repr__(self) -> str:
        name = self.model.resource.name
        return f"LatentObfuscator(epsilon = {upward(self.epsilon)} for {self.components} components of {name!r})"
