r"""Noise for vectors: spherical Laplace for the Euclidean distance (floating), product Laplace for the Manhattan one (exact).

*Spherical.* The density at offset v is :math:`c_n e^{-\epsilon \|v\|_2}`,
:math:`c_n = \epsilon^n \Gamma(n/2) / (2 \pi^{n/2} \Gamma(n))`: a length with a Gamma(n, 1/epsilon) law times a uniform
direction. Mean length n/epsilon; each coordinate has variance (n + 1)/epsilon^2. In high dimension the length hardly varies
and the direction is almost at right angles to any fixed one.

**Guarantee.** ``epsilon`` for each unit of Euclidean distance, for real numbers. The draw is made in floats from
cryptographic bits, and nothing is proved about its last bits: the certificate states ``floating``. In the plane
:func:`~noisewright.mechanisms.spatial.planar_laplace.planar_laplace` is exact.

*Product.* Independent discrete Laplace noise on a lattice for each coordinate. **Guarantee.** ``epsilon`` for each unit of
Manhattan distance, exactly, between the lattice points that vectors are rounded to, and the name of the metric says so.
Vectors
that were d apart are at most ``step (ceil(d / step) + n - 1)`` apart after rounding, which ``map`` counts in. Use it where
neighbours differ in few coordinates; for the Euclidean distance it is not calibrated (a pair at Euclidean distance 1 can be
sqrt(n) apart).

>>> word = spherical_laplace(epsilon=10, dimension=300)
>>> word.release([0.0] * 300, np.random.default_rng(1))[0] != 0, word.error()
(True, 30.0)
>>> word.certificate().numerics
'floating'
>>> tally = product_laplace(epsilon=1, dimension=3)
>>> tally.certificate().verify()
'epsilon = 1 per unit of manhattan between points of the lattice 2^-10'

References: Chatzikokolakis, Andrés, Bordenabe and Palamidessi, *Broadening the scope of differential privacy using metrics*
(2013); Fernandes, Dras and McIver, *Generalised differential privacy for text document processing* (2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole
from noisewright.base import DIMENSION, EPSILON, LATTICE, BaseMechanism, Entry, MechanismAudit, Takes, check_loss
from noisewright.certificates.certificate import Certificate
from noisewright.claims.figures import float_up
from noisewright.columns.adapters import as_single, in_kind, vectors
from noisewright.exceptions import ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.feasible_sets import LatticePoints, loss_before_rounding
from noisewright.mechanisms.spatial.planar_laplace import noise_lattice, per_unit
from noisewright.metrics.base import Euclidean, Manhattan
from noisewright.numerics.exact import Exact, positive_fraction
from noisewright.sampling.laplace import discrete_laplace
from noisewright.sampling.lattice import Lattice
from noisewright.sampling.random_bits import Bits, Rng, bits_from

__all__ = ["ProductLaplace", "SphericalLaplace", "product_laplace", "spherical_laplace", "spherical_noise"]


LARGEST_DIMENSION = 1 << 20
CHUNK_WORDS = 1 << 20


def spherical_laplace(*, epsilon: Annotated[Exact, EPSILON], dimension: Annotated[int, DIMENSION]) -> SphericalLaplace:
    """The n-dimensional Laplace mechanism on vectors of ``dimension`` coordinates."""
    return SphericalLaplace(per_unit(positive_fraction(epsilon, "epsilon")), _dimension(dimension))


def product_laplace(
    *,
    epsilon: Annotated[Exact, EPSILON],
    dimension: Annotated[int, DIMENSION],
    lattice: Annotated[Exact, LATTICE] = "auto",
) -> ProductLaplace:
    """Independent lattice Laplace noise of scale 1/epsilon on each of ``dimension`` coordinates.

    ``lattice`` is the step, a power of two, or a :class:`~noisewright.sampling.Lattice`; by default the step is between 1/1024
    and 1/512 of the scale.
    """
    budget, size = per_unit(positive_fraction(epsilon, "epsilon")), _dimension(dimension)
    chosen = noise_lattice(budget, lattice)
    discrete_laplace(1 / (budget * chosen.step), 0)
    return ProductLaplace(budget, size, chosen)


@dataclass(frozen=True)
class SphericalLaplace(BaseMechanism):
    """Spherical Laplace noise in floats; build it with :func:`spherical_laplace`."""

    name = "spherical-laplace"
    no_channel = "spherical Laplace noise has infinitely many outputs; there is no finite channel."

    epsilon: Fraction
    dimension: int

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each unit of Euclidean distance (of real numbers)."""
        return Guarantee.exactly(self.epsilon, Euclidean())

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One draw for every vector, in float64; a single vector gives a tuple."""
        given, single = vectors(values, self.dimension)
        return as_single(given + spherical_noise(self.epsilon, self.dimension, len(given), rng), single)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The claim, marked as floating: it cites a theorem and proves nothing about the draw."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "space", "dimension": self.dimension},
            proof={"kind": "theorem", "density": "c exp(-epsilon |v|)", "by": "triangle inequality"},
            numerics="floating",
        )

    def audit(self) -> MechanismAudit:
        """The loss of the density, reached on the ray behind either of two vectors."""
        words = (
            "of the density over real numbers, reached on the ray behind either vector; the float draw is not proved"
        )
        return MechanismAudit(float_up(self.epsilon), self.guarantee.metric, None, None, None, words=words)

    def error(self, loss: str = "absolute") -> float:
        """The expected length of the noise, n/epsilon, or of its square, n(n + 1)/epsilon^2."""
        check_loss(loss)
        n, epsilon = self.dimension, float(self.epsilon)
        return {"absolute": n / epsilon, "squared": n * (n + 1) / epsilon**2, "zero-one": 1.0}[loss]

    @property
    def constant(self) -> float:
        """``c_n``, the density at the true vector; it may overflow to ``inf`` or underflow to 0 in high dimension."""
        return float(np.exp(self.log_density(np.zeros(self.dimension))))

    def log_density(self, offset: ArrayLike) -> Floats:
        """The logarithm of the density at the given offsets from the true vector."""
        n, epsilon = self.dimension, float(self.epsilon)
        constant = (
            n * math.log(epsilon)
            + scipy.special.gammaln(n / 2)
            - math.log(2)
            - n / 2 * math.log(math.pi)
            - scipy.special.gammaln(n)
        )
        return np.asarray(constant - epsilon * np.linalg.norm(np.asarray(offset, dtype=np.float64), axis=-1))

    def cdf(self, length: float) -> float:
        """The probability of noise of at most this length."""
        return float(scipy.special.gammainc(self.dimension, max(float(self.epsilon) * length, 0.0)))

    def quantile(self, p: float) -> float:
        """The length that noise stays within with probability p."""
        if not 0 <= p < 1:
            raise ParameterError(f"p must be a probability below 1, not {p}.")
        return float(scipy.special.gammaincinv(self.dimension, p)) / float(self.epsilon)


@dataclass(frozen=True)
class ProductLaplace(BaseMechanism):
    """Independent discrete Laplace noise on each coordinate; build it with :func:`product_laplace`."""

    name = "product-laplace"
    no_channel = "product Laplace noise has infinitely many outputs; there is no finite channel."

    epsilon: Fraction
    dimension: int
    lattice: Lattice

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on each coordinate."""
        return 1 / self.epsilon

    @property
    def steps(self) -> Fraction:
        """The scale in lattice steps: ``P(k)`` is proportional to ``e^(-|k|/steps)``."""
        return self.scale / self.lattice.step

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each unit of Manhattan distance between the lattice points that vectors are rounded to."""
        return Guarantee.exactly(self.epsilon, LatticePoints(Manhattan(), self.lattice))

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every vector; a single vector gives a tuple."""
        given, single = vectors(values, self.dimension)
        indices = self.lattice.indices(given)
        return as_single(self.lattice.values(indices + discrete_laplace(self.steps, indices.shape, rng)), single)

    def map(self, distance: float) -> float:
        """The largest log-ratio for two vectors that are this far apart themselves, before they are rounded.

        The guarantee is about lattice points: ``guarantee.bound`` takes their distance.
        """

        def loss(apart: Fraction) -> float:
            # Differences of coordinates are rounded up to whole steps at most, and n numbers so by less than n together.
            steps = self.lattice.steps(apart) + self.dimension - 1
            return float_up(self.epsilon * self.lattice.step * steps)

        return loss_before_rounding(self.guarantee, distance, loss)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The law of the noise on each coordinate; losses of coordinates add up, and so does the Manhattan distance."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "steps", "distance": str(self.lattice.step)},
            proof={"kind": "law", "law": "discrete laplace", "scale": str(self.steps), "coordinates": self.dimension},
        )

    def error(self, loss: str = "absolute") -> float:
        """Bounds of the expected Euclidean length of the noise and of its square, rounding included.

        The square is exact except for rounding, at most a quarter of a step squared for each coordinate. The length is
        at most the root of the square, which it approaches in high dimension; for one coordinate it is computed as it
        is.
        """
        check_loss(loss)
        if loss == "zero-one":
            return 1.0
        step, rate = float(self.lattice.step), float(1 / self.steps)
        a = math.exp(-rate)
        square = self.dimension * (2 * a / math.expm1(-rate) ** 2 + 0.25) * step**2
        if loss == "squared":
            return square
        # With rounding by v, E|Z + v| <= E|Z| + |v| P(Z = 0), since noise is symmetric; |v| is at most half a step.
        mean = 2 * a / ((1 + a) * -math.expm1(-rate)) + 0.5 * -math.expm1(-rate) / (1 + a)
        return mean * step if self.dimension == 1 else math.sqrt(square)


def spherical_noise(epsilon: Exact, dimension: int, count: int, rng: Rng = None) -> Floats:
    """``count`` vectors of spherical Laplace noise, in floats made from the library's random bits.

    Directions are normal vectors (inverse CDF of uniform numbers with 53 bits) brought to length one; lengths are the inverse
    CDF of the Gamma law.
    """
    bits, scale = bits_from(rng), 1 / float(epsilon if not isinstance(epsilon, str) else Fraction(epsilon))
    result = np.empty((count, dimension))
    chunk = max(1, CHUNK_WORDS // dimension)
    for start in range(0, count, chunk):
        part = result[start : start + chunk]
        part[:] = _directions(len(part), dimension, bits)
        part *= (scipy.special.gammaincinv(dimension, _uniform(len(part), bits)) * scale)[:, None]
    return result


def _directions(count: int, dimension: int, bits: Bits) -> Floats:
    rows = scipy.special.ndtri(_uniform(count * dimension, bits)).reshape(count, dimension)
    lengths = np.linalg.norm(rows, axis=1)
    while not lengths.all():  # a zero vector has no direction; draw it again
        lost = np.flatnonzero(lengths == 0)
        rows[lost] = scipy.special.ndtri(_uniform(lost.size * dimension, bits)).reshape(lost.size, dimension)
        lengths = np.linalg.norm(rows, axis=1)
    return np.asarray(rows / lengths[:, None])


def _uniform(count: int, bits: Bits) -> Floats:
    """Odd multiples of 2^-54 between 0 and 1: never 0 or 1, where inverse CDFs are infinite."""
    words: NDArray[np.uint64] = bits.words(count) >> np.uint64(11)
    # 2 w + 1 has 54 bits, one more than a float keeps above 1/2; there it is rounded to the nearest even one.
    return np.minimum((words.astype(np.float64) + 0.5) * 2.0**-53, 1 - 2.0**-53)


def _dimension(dimension: Any) -> int:
    if not is_whole(dimension):
        raise ParameterError(f"dimension must be a whole number, not {type(dimension).__name__}.")
    if not 1 <= dimension <= LARGEST_DIMENSION:
        raise ParameterError(
            f"dimension must be from 1 to {LARGEST_DIMENSION}, not {'less' if dimension < 1 else 'more'}."
        )
    return int(dimension)


def _rebuilt_spherical(certificate: Certificate) -> SphericalLaplace:
    """The mechanism behind its certificate, which states its parameters and proves nothing."""
    dimension = certificate.document["claim"]["distances"]["dimension"]
    return spherical_laplace(epsilon=certificate.epsilon, dimension=dimension)


def _rebuilt_product(certificate: Certificate) -> ProductLaplace:
    """The mechanism behind its certificate."""
    stated = certificate.document
    return product_laplace(
        epsilon=certificate.epsilon,
        dimension=stated["proof"]["coordinates"],
        lattice=stated["claim"]["distances"]["distance"],
    )


SPHERICAL = Entry(
    "spherical-laplace",
    spherical_laplace,
    Takes("vector", parts=None, dimension=True),
    summary="Euclidean noise in n dimensions, in floats",
    words="vectors",
    rebuild=_rebuilt_spherical,
)


PRODUCT = Entry(
    "product-laplace",
    product_laplace,
    Takes("vector", parts=None, lattice=True, dimension=True),
    summary="exact noise on each coordinate, for the Manhattan metric",
    words="vectors",
    rebuild=_rebuilt_product,
)
