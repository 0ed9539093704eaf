r"""Laplace noise on the code of a face, drawn exactly on the lattice of its space and snapped back into the public box.

To every element of the rounded code, discrete Laplace noise of one scale ``t = total / epsilon`` steps is added, and the sum
is clamped to the range. In units of the model that is Laplace noise of scale ``range_i / (w_i epsilon)`` on element i, which
for even weights is ``n range_i / epsilon``.

**Guarantee.** ``epsilon`` per unit of :class:`~noisewright.images.faces.latent_space.LatentMetric`, for all pairs and
exactly: the log-ratio of two codes x and x' is at most ``|x - x'| / t = epsilon d(x, x')``, and it is attained at the
output x. Snapping is post-processing, and the certificate proves the snapped law, element by element. It is about
codes: other inputs of a decoder are in the clear.

The likelihood of a code is as simple at the border as inside: ``P(z | x)`` is ``e^(-|x - z| / t)`` times a factor that
depends on z alone. Therefore the best guess at a code is the nearest one (:mod:`noisewright.images.faces.reidentification`).

>>> from noisewright.images.faces.latent_space import CodeSpace
>>> noisy = NoisyCodes("8", CodeSpace.of([0, 0, 0, 0], [1, 2, 4, 8], steps=64))
>>> noisy.scales.tolist(), noisy.certificate().verify()
([0.5, 1.0, 2.0, 4.0], 'epsilon = 8 per unit of 1/256 * manhattan between two faces, over 4 independent parts')
>>> noisy.guarantee.bound(noisy.space.metric.distance([0, 0, 0, 0], [0.5, 1, 1, 8]))
4.5

In units of the range, x lies in [0, 1], noise of scale s is added, and values outside the range are clamped:

* the ends have probabilities :math:`\tfrac12 e^{-x/s}` and :math:`\tfrac12 e^{-(1-x)/s}`;
* the mean is :math:`x + \tfrac s2 (e^{-x/s} - e^{-(1-x)/s})`, so it is drawn to the middle;
* the squared error is :math:`g(x) + g(1-x)` with :math:`g(t) = s^2 - e^{-t/s} (s^2 + s t)`.

The lattice of :class:`~noisewright.images.faces.latent_space.CodeSpace` is fine enough that these are the numbers of the
sampled law, up to the square of a step.

>>> law = SnappedLaw(scale=1.0)
>>> round(float(law.mean(0.2)), 5), round(float(law.squared_error(0.2)), 5)
(0.3847, 0.20873)
>>> round(float(SnappedLaw(scale=2048 / 200).inside(0.5)), 4)  # 2048 elements at epsilon 200: nearly all end at a border
0.0477

**Guarantee.** ``epsilon`` per unit of distance between the codes of two faces, of which the first ``components``
elements are released and the others are constant (:mod:`noisewright.images.faces.latent_noise`). The model is public,
named by its SHA-256 in the certificate. The same epsilon means something else for every number of components and every
model, so the two are always stated together; :meth:`LatentObfuscator.odds` gives the odds that an epsilon allows at
distances that public faces really have.

Without ``components``, their number is the largest whose noise stays below ``alpha`` standard deviations of each
(:mod:`noisewright.images.faces.latent_space`).

>>> import pathlib, tempfile
>>> from noisewright.images.faces.eigenfaces import train_eigenfaces
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

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, is_whole
from noisewright.base import BaseMechanism
from noisewright.certificates.certificate import Certificate, clear_record
from noisewright.certificates.composition import Part, product_certificate
from noisewright.claims.figures import upward
from noisewright.exceptions import DataError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.images.faces.latent_space import ALPHA, STEPS, CodeSpace, component_count
from noisewright.images.faces.model import FaceModel
from noisewright.images.pictures import Picture
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.numerics.exact import Exact, positive_fraction
from noisewright.resources import Resource, public_keys
from noisewright.sampling.laplace import discrete_laplace
from noisewright.sampling.random_bits import Rng, bits_from

__all__ = ["LatentObfuscator", "NoisyCodes", "SnappedLaw"]


@dataclass(frozen=True)
class NoisyCodes(BaseMechanism):
    """Codes of a space with exact Laplace noise."""

    epsilon: Fraction
    space: CodeSpace
    name = "latent-laplace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_fraction(self.epsilon, "epsilon"))
        if not isinstance(self.space, CodeSpace):
            raise ParameterError("noise on codes needs their space; make one with CodeSpace.of(low, high).")
        discrete_laplace(self.scale, 0)  # refuses a scale whose noise would not fit
        if self.epsilon >= 10**308:
            raise ParameterError("epsilon must be below 1e308; a larger one hides nothing and cannot be certified.")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in steps, the same for all elements."""
        return self.space.total / self.epsilon

    @property
    def scales(self) -> Floats:
        """The scale of the noise on each element, in units of the model."""
        return np.asarray(self.space.ranges / np.array(self.space.steps) * float(self.scale))

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` per unit of the distance of codes."""
        return Guarantee.exactly(self.epsilon, self.space.metric)

    def certificate(
        self,
        rng: np.random.Generator | None = None,
        *,
        name: str | None = None,
        resources: Iterable[Resource] = (),
        clear: Sequence[str] = (),
        measured: Mapping[str, Any] | None = None,
    ) -> Certificate:
        """Return the certificate: the law of every element, and their total loss.

        It includes the public files, the parts in the clear, and measurements on public faces, if any.
        """
        told: dict[str, Any] = {"in_the_clear": [clear_record(one) for one in clear]} if clear else {}
        told |= {} if measured is None else {"measured": dict(measured)}
        parts = [
            Part(geometric(epsilon=1 / self.scale, within=(0, steps)).certificate(rng), count)
            for steps, count in Counter(self.space.steps).items()
        ]
        return product_certificate(
            name or self.name,
            parts,
            metric="manhattan",
            unit=Fraction(self.space.total),
            simulated=rng is not None,
            secret=self.space.metric.secret,
            **told,
            **public_keys(resources),
        )

    def release(self, codes: ArrayLike, rng: Rng = None) -> Floats:
        """Noisy codes, inside the box; one for each that is given."""
        return self.space.codes(self.drawn(self.space.points(codes), rng))

    def drawn(self, points: NDArray[Any], rng: Rng = None) -> NDArray[np.int64]:
        """The same on places of the lattice."""
        noisy = points + discrete_laplace(self.scale, points.shape, rng)
        return np.asarray(np.clip(noisy, 0, np.array(self.space.steps)), np.int64)


# Snapped law --------------------------------------------------------------------------------------------------------------
#
# Effect of Laplace noise on one element of a code that is snapped back to its range, in closed forms.


@dataclass(frozen=True)
class SnappedLaw:
    """Laplace noise of a scale on an element in [0, 1], snapped; in units of the element's range."""

    scale: float

    def __post_init__(self) -> None:
        if not is_number(self.scale) or not 0 < self.scale < np.inf:
            raise ParameterError("the scale of noise is a finite number above 0.")

    def ends(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """The chances of the low end and of the high end."""
        place = _inside(x)
        return 0.5 * np.exp(-place / self.scale), 0.5 * np.exp(-(1 - place) / self.scale)

    def inside(self, x: ArrayLike) -> Floats:
        """The chance of staying strictly within the range."""
        low, high = self.ends(x)
        return np.asarray(1 - low - high)

    def mean(self, x: ArrayLike) -> Floats:
        """The expected output."""
        low, high = self.ends(x)
        return np.asarray(_inside(x) + self.scale * (low - high))

    def squared_error(self, x: ArrayLike) -> Floats:
        """The expected squared distance of the output from x."""
        place = _inside(x)
        return np.asarray(self._side(place) + self._side(1 - place))

    def _side(self, room: Floats) -> Floats:
        """``s^2 (1 - e^-r (1 + r))`` for a range of r scales; a series where the two terms would cancel."""
        r = room / self.scale
        far = 1 - np.exp(-r) * (1 + r)
        near = r**2 * (1 / 2 - r / 3 + r**2 / 8 - r**3 / 30 + r**4 / 144)
        return np.asarray(self.scale**2 * np.where(r < 0.01, near, far))


def _inside(x: ArrayLike) -> Floats:
    place = np.asarray(x, np.float64)
    if not ((place >= 0) & (place <= 1)).all():
        raise ParameterError("an element is given in units of its range, from 0 to 1; clamp it first.")
    return place


# Obfuscator ---------------------------------------------------------------------------------------------------------------
#
# Faces of people who do not exist: a face becomes a code, the code gets exact noise, and the noisy code is decoded.


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
