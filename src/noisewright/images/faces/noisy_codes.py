r"""Laplace noise on the code of a face, drawn exactly on the lattice of its space and snapped back into the public box.

To every element of the rounded code, discrete Laplace noise of one scale ``t = total / epsilon`` steps is added, and the sum
is clamped to the range. In units of the model that is Laplace noise of scale ``range_i / (w_i epsilon)`` on element i, which
for even weights is ``n range_i / epsilon``.

**Guarantee.** ``epsilon`` per unit of :class:`~noisewright.images.faces.code_space.LatentMetric`, for all pairs and
exactly: the log-ratio of two codes x and x' is at most ``|x - x'| / t = epsilon d(x, x')``, and it is attained at the
output x. Snapping is post-processing, and the certificate proves the snapped law, element by element. It is about
codes: other inputs of a decoder are in the clear.

The likelihood of a code is as simple at the border as inside: ``P(z | x)`` is ``e^(-|x - z| / t)`` times a factor that
depends on z alone. Therefore the best guess at a code is the nearest one (:mod:`noisewright.images.attackers.bayes`).

>>> from noisewright.images.faces.code_space import CodeSpace
>>> noisy = NoisyCodes("8", CodeSpace.of([0, 0, 0, 0], [1, 2, 4, 8], steps=64))
>>> noisy.scales.tolist(), noisy.certificate().verify()
([0.5, 1.0, 2.0, 4.0], 'epsilon = 8 per unit of 1/256 * manhattan between two faces, over 4 independent parts')
>>> noisy.guarantee.bound(noisy.space.metric.distance([0, 0, 0, 0], [0.5, 1, 1, 8]))
4.5
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.product import Part, product_certificate
from noisewright.core.certificates.records import clear_record
from noisewright.core.errors import ParameterError
from noisewright.core.exact import positive_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import BaseMechanism
from noisewright.core.resource import Resource, public_keys
from noisewright.images.faces.code_space import CodeSpace
from noisewright.mechanisms.numbers.geometric import geometric
from noisewright.noise.bits import Rng
from noisewright.noise.laws.geometric import discrete_laplace

__all__ = ["NoisyCodes"]


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
