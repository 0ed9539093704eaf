r"""The planar Laplace mechanism: places on a map, private for the straight-line distance.

A point :math:`x` is rounded to a public lattice of step h and released as :math:`x + h k`, with
:math:`P(k) \propto e^{-\theta \|k\|_2}` on pairs of integers and :math:`\theta = \epsilon h`. As the step shrinks this
becomes the density :math:`\frac{\epsilon^2}{2\pi} e^{-\epsilon \|z - x\|}`.

**Guarantee.** ``epsilon`` for each unit of Euclidean distance, exactly, between the lattice points that true points
are rounded to, and the name of the metric says so: the normaliser does not depend on the true point, and
:math:`|\,\|k\| - \|k'\|\,| \le \|k - k'\|`. Rounding moves each point by at most :math:`h/\sqrt2`, so points that were
r apart are at most :math:`r + \sqrt2 h` apart after it, which :meth:`PlanarLaplace.map` counts in. With a ``radius``,
each unit gets :math:`\epsilon / (\text{radius} + \sqrt2 h)`, and the guarantee is about the points themselves: any two
of them within the radius are indistinguishable up to epsilon (geo-indistinguishability). The certificate proves both.
Far-apart places stay distinguishable by design.

>>> cafe = planar_laplace(epsilon="1.4", radius=200)       # metres on a plane
>>> x, y = cafe.release((120.0, -35.5))
>>> round(cafe.error(), 1), round(cafe.quantile(0.95), 1)  # the mean distance from the truth, and the 95 % radius
(286.0, 678.3)
>>> for claim in cafe.certificate().verify().split("; "):
...     print(claim)
epsilon = 0.00699382 per unit of euclidean between points of the lattice 2^-3
level = 1.4 between any two points within 200 of each other, rounding included
>>> round(cafe.map(200), 9)
1.4

Reference: Andrés, Bordenabe, Chatzikokolakis and Palamidessi, *Geo-indistinguishability* (2013).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright.claims.readings import level_meaning
from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import NoLossError, ParameterError
from noisewright.core.exact import Exact, float_up, positive_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.loading.guided import guided
from noisewright.core.loading.parameters import EPSILON, LATTICE, RADIUS, REMAP
from noisewright.core.mechanism import BaseMechanism, Takes
from noisewright.core.metrics.metric import Euclidean
from noisewright.mechanisms.auditing import MechanismAudit
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.laws.lattice_metrics import LatticePoints, loss_before_rounding, rounding
from noisewright.mechanisms.losses import check_loss
from noisewright.mechanisms.places._coordinates import as_single, vectors
from noisewright.mechanisms.places.remap import Polygon, Remap, as_remap
from noisewright.mechanisms.registry import Entry
from noisewright.noise.lattice import LARGEST_INDEX, Lattice
from noisewright.noise.laws.planar import discrete_planar_laplace

__all__ = [
    "LARGEST_LOSS",
    "PlanarLaplace",
    "noise_lattice",
    "per_unit",
    "planar_budget",
    "planar_laplace",
    "planar_lattice",
    "planar_moments",
]

BLOCK = 1 << 14
"""Points that are worked on at a time."""

LARGEST_SCALE = 10**100
LARGEST_LOSS = 10**6
"""A loss for one lattice step above this hides nothing, and is refused."""


@guided
def planar_laplace(
    *,
    epsilon: Annotated[Exact, EPSILON],
    radius: Annotated[Exact | None, RADIUS] = None,
    lattice: Annotated[Exact, LATTICE] = "auto",
    remap: Annotated[Remap | ArrayLike | None, REMAP] = None,
) -> PlanarLaplace:
    """The planar Laplace mechanism on points of a plane: arrays with two columns, or one pair.

    With a ``radius``, ``epsilon`` is kept between any two points within it of each other, rounding included; without one it
    is for each unit of distance between lattice points.
    ``lattice`` is the step, a power of two, or a :class:`~noisewright.noise.Lattice`; by default the step is between 1/1024
    and 1/512 of the noise scale 1/epsilon.
    ``remap`` moves outputs to the nearest point of a :class:`~noisewright.mechanisms.places.remap.Grid`, of a list of public
    places, or of a :class:`~noisewright.mechanisms.places.remap.Polygon`; this is post-processing and keeps the guarantee.
    """
    budget = planar_budget(epsilon, radius)
    chosen = planar_lattice(budget, lattice)
    if radius is None:
        return PlanarLaplace(budget, chosen, as_remap(remap))
    goal, size = positive_fraction(epsilon, "epsilon"), positive_fraction(radius, "radius")
    kept = goal / (size + rounding(chosen))
    return PlanarLaplace(kept, planar_lattice(kept, chosen.step), as_remap(remap), (goal, size))


@dataclass(frozen=True)
class PlanarLaplace(BaseMechanism):
    """Planar Laplace noise on a lattice; build it with :func:`planar_laplace`."""

    name = "planar-laplace"
    no_channel = "a planar Laplace has infinitely many outputs; planar_geometric has a finite grid of them."

    epsilon: Fraction
    lattice: Lattice
    remap: Remap | None = None
    kept: tuple[Fraction, Fraction] | None = None
    """An epsilon and the radius within which it is kept between points before rounding, where these were given."""

    @property
    def rate(self) -> Fraction:
        """Theta, the loss for one step: ``P(k)`` is proportional to ``e^(-rate |k|)``."""
        return self.epsilon * self.lattice.step

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each unit of Euclidean distance between the lattice points that points are rounded to."""
        return Guarantee.exactly(self.epsilon, LatticePoints(Euclidean(), self.lattice))

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every point; a pair gives a pair."""
        given, single = vectors(values, 2)
        noisy = _with_noise(given, self.lattice, self.rate, rng)
        return as_single(noisy if self.remap is None else self.remap.nearest(noisy), single)

    def check(self, values: Any) -> None:
        """Refuse what :meth:`release` would refuse."""
        self.lattice.indices(vectors(values, 2)[0])

    def map(self, distance: float) -> float:
        """The largest log-ratio for two points that are this far apart themselves, before they are rounded.

        The guarantee is about lattice points: ``guarantee.bound`` takes their distance.
        """
        return loss_before_rounding(
            self.guarantee, distance, lambda apart: float_up(self.epsilon * (apart + rounding(self.lattice)))
        )

    def in_words(self) -> str:
        """The guarantee in plain words: for points as they are, with a radius; otherwise for lattice points."""
        if self.within_radius is not None:
            return level_meaning(self.within_radius)
        step = float(self.lattice.step)
        return f"{self.guarantee.in_words()} Rounding may move two points farther apart by up to {1.5 * step:.3g}."

    @property
    def within_radius(self) -> dict[str, str] | None:
        """The epsilon within the radius as a claim states it; None without a radius."""
        if self.kept is None:
            return None
        return {"code": "level", **dict(zip(("level", "radius"), map(str, self.kept), strict=True))}

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The law of the noise and the claim it proves: epsilon between lattice points, and that within the radius."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "steps", "distance": str(self.lattice.step)},
            proof={"kind": "planar", "rate": str(self.rate)},
            further=None if self.kept is None else dict(zip(("level", "radius"), self.kept, strict=True)),
        )

    def audit(self) -> MechanismAudit:
        """The loss that is really reached: on the ray behind either of two points it is ``epsilon`` times their distance."""
        words = "reached for any two lattice points on a row, by outputs behind either of them"
        return MechanismAudit(float_up(self.epsilon), self.guarantee.metric, None, None, None, words=words)

    def error(self, loss: str = "absolute", at: tuple[float, float] | None = None) -> float:
        """The expected distance (or its square) between the output and the true point.

        Without a remapping it is the same for all points of the lattice: close to 2/epsilon, and 6/epsilon^2 squared.
        The number comes from the lattice law, and covers points that are rounded on the way in. Into a convex polygon
        it is an upper bound for true points inside. After other remappings it depends on the point: name it with
        ``at``, and the expectation is computed by quadrature of the continuous law.
        """
        check_loss(loss)
        if at is not None:
            return self._error_at(at, loss)
        if self.remap is not None and not (isinstance(self.remap, Polygon) and self.remap.convex):
            raise NoLossError("the error after this remapping depends on the true point; name one with at=(x, y).")
        if loss == "zero-one":
            return 1.0  # a point that is not on the lattice never comes out
        step = float(self.lattice.step)
        absolute, squared = planar_moments(self.rate)
        return absolute * step if loss == "absolute" else squared * step**2

    def cdf(self, distance: float) -> float:
        """The probability of noise of at most this length, in the limit of fine lattices: ``1 - (1 + eps r) e^(-eps r)``."""
        import scipy

        return float(scipy.special.gammainc(2, max(float(self.epsilon) * distance, 0.0)))

    def quantile(self, p: float) -> float:
        """The length that noise stays within with probability p, in the limit of fine lattices.

        In closed form ``-(W((p - 1)/e) + 1) / epsilon`` with W the lower branch of Lambert's function.
        """
        import scipy

        if not 0 <= p < 1:
            raise ParameterError(f"p must be a probability below 1, not {p}.")
        return float(scipy.special.gammaincinv(2, p)) / float(self.epsilon)

    def density(self, offset: ArrayLike) -> Floats:
        """The density of the continuous limit at the given offsets from the true point."""
        epsilon = float(self.epsilon)
        lengths = np.linalg.norm(np.asarray(offset, dtype=np.float64), axis=-1)
        return np.asarray(epsilon**2 / (2 * math.pi) * np.exp(-epsilon * lengths))

    def _error_at(self, at: tuple[float, float], loss: str) -> float:
        import scipy

        point = vectors(at, 2)[0][0]
        centre = self.lattice.values(self.lattice.indices(point))
        lengths = scipy.special.gammaincinv(2, (np.arange(512) + 0.5) / 512) / float(self.epsilon)
        angles = 2 * math.pi * (np.arange(180) + 0.5) / 180
        rays = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        noisy = centre + (lengths[:, None, None] * rays).reshape(-1, 2)
        moved = noisy if self.remap is None else self.remap.nearest(noisy)
        apart = np.linalg.norm(moved - point, axis=1)
        if loss == "zero-one":
            return float((apart > 0).mean())
        return float(apart.mean() if loss == "absolute" else (apart**2).mean())


def _with_noise(given: Floats, lattice: Lattice, rate: Fraction, rng: np.random.Generator | None) -> Floats:
    """``lattice.values(lattice.indices(given) + noise)``, in blocks that stay in the processor's cache.

    Integer steps are kept in floats, which hold them exactly up to 2^53; scaling by powers of two is exact as well.
    """
    if given.size and not max(given.max(), -given.min()) <= LARGEST_INDEX * float(lattice.step):
        lattice.indices(given)  # refuses the column before anything is drawn
    step, inverse = float(lattice.step), float(1 / lattice.step)
    result = np.empty_like(given)
    for start in range(0, len(given), BLOCK):
        places = given[start : start + BLOCK] * inverse
        whole = np.rint(places)
        places -= whole
        ties = places == 0.5  # halves go up; values whose even neighbour lies above are at -0.5 now
        if ties.any():
            whole += ties
        whole += discrete_planar_laplace(rate, len(whole), rng)
        if max(whole.max(), -whole.min()) > 2 * LARGEST_INDEX:
            lattice.values(whole)  # refuses, with probability below e^-100
        np.multiply(whole, step, out=result[start : start + BLOCK])
    return result


def per_unit(epsilon: Fraction) -> Fraction:
    """An epsilon for each unit of distance, if floats hold the squares of it and of the noise scale."""
    if not Fraction(1, LARGEST_SCALE) <= epsilon <= LARGEST_SCALE:
        raise ParameterError(
            "epsilon for each unit of distance must be from 1e-100 to 1e100; measure distances in another unit."
        )
    return epsilon


def noise_lattice(epsilon: Fraction, lattice: Exact) -> Lattice:
    """The lattice for noise of scale 1/epsilon; one that noise would run out of is refused, and one that it cannot leave."""
    chosen = Lattice.asked(lattice) or Lattice.for_scale(1 / epsilon)
    if epsilon * chosen.step * LARGEST_INDEX < 128:  # noise beyond 2^52 steps then has probability below e^-100
        raise ParameterError("the lattice is too fine for noise of scale 1/epsilon; use a coarser one, or 'auto'.")
    if epsilon * chosen.step > LARGEST_LOSS:
        raise ParameterError("the lattice is too coarse for noise of scale 1/epsilon; use a finer one, or 'auto'.")
    return chosen


def planar_budget(epsilon: Exact, radius: Exact | None) -> Fraction:
    """Epsilon per unit of distance, given as such or within a radius."""
    goal = positive_fraction(epsilon, "epsilon")
    return per_unit(goal if radius is None else goal / positive_fraction(radius, "radius"))


def planar_lattice(epsilon: Fraction, lattice: Exact) -> Lattice:
    """The lattice for planar noise of scale 1/epsilon, if that can be drawn."""
    chosen = noise_lattice(epsilon, lattice)
    discrete_planar_laplace(epsilon * chosen.step, 0)
    return chosen


LATTICE_SUMS = (
    9.033621683100948,
    -7.635387350498225,
    8.293345851896559,
    -9.16839954352947,
    10.069140653952525,
    -10.949731714659416,
    11.79576700699363,
    -12.603200010750546,
)
"""The binomial coefficient of -3/2 over j times the sum of ``|m|^-s`` over all integer pairs but zero, ``s = 3 + 2 j``.

That sum is ``4 zeta(s/2) beta(s/2)`` (Lorenz 1871, Hardy 1919). Loading the functions takes longer than a small release.
"""


@lru_cache(maxsize=256)
def planar_moments(rate: Fraction) -> tuple[float, float]:
    """Bounds of the mean length and the mean squared length of noise of this rate, in steps, for the worst rounding.

    With ``Z = sum e^(-rate |k|)`` the mean length is ``-Z'/Z`` and the mean square ``Z''/Z``. Poisson's summation gives
    ``Z = 2 pi / rate^2 (1 + f)``, ``f = sum over m != 0 of (1 + (2 pi |m| / rate)^2)^(-3/2)``: the lattice differs from the
    plane by about ``rate^3 / 27``. Rounding by a vector v, ``|v|^2 <= 1/2``, adds ``|v|^2`` to the mean square, since noise
    has mean zero; the mean length becomes at most that of ``sqrt(|k|^2 + 1/2)``, since noise is symmetric.
    """
    theta = float(rate)
    if theta >= 0.25:
        size = math.ceil(60 / theta) + 1
        axis = np.arange(-size, size + 1, dtype=np.float64)
        squares = axis[:, None] ** 2 + axis[None, :] ** 2
        weights = np.exp(-theta * np.sqrt(squares))
        weights /= weights.sum()
        return float((weights * np.sqrt(squares + 0.5)).sum()), float((weights * squares).sum()) + 0.5
    f = first = second = 0.0
    for j, coefficient in enumerate(LATTICE_SUMS):
        s = 3 + 2 * j
        term = coefficient * (theta / (2 * math.pi)) ** s
        f, first, second = f + term, first + s * term / theta, second + s * (s - 1) * term / theta**2
    slope = -2 / theta + first / (1 + f)
    curve = 2 / theta**2 + second / (1 + f) - (first / (1 + f)) ** 2
    # sqrt(n + 1/2) <= sqrt(n) + 1/(4 sqrt(n)); the mean of 1/|k| off the origin is below theta, P(0) below theta^2 / 6.
    return -slope + theta / 4 + theta**2 / 8, curve + slope**2 + 0.5


def _rebuilt(certificate: Certificate) -> PlanarLaplace:
    """The mechanism behind its certificate; a remapping of its outputs is post-processing that the certificate does
    not state."""
    claim = certificate.document["claim"]
    epsilon, radius = (claim["level"], claim["radius"]) if "level" in claim else (claim["epsilon"], None)
    return planar_laplace(epsilon=epsilon, radius=radius, lattice=claim["distances"]["distance"])


ENTRY = Entry(
    "planar-laplace",
    planar_laplace,
    Takes("place", parts=2, budget="radius", lattice=True),
    summary="private for the straight-line distance",
    words="points of a plane",
    rebuild=_rebuilt,
)
