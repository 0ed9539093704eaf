r"""Destinations of released points: to a public grid, to a list of public places, or into a public polygon.

A remapping looks at the noisy point and at public geometry only. It is post-processing, so it keeps every guarantee,
whatever the shapes are.

>>> Grid(3, 2, step=10).nearest([(4, 99), (26, -3)]).tolist()
[[0.0, 10.0], [20.0, 0.0]]
>>> Polygon([(0, 0), (4, 0), (4, 4), (0, 4)]).nearest([(1, 1), (6, 2), (9, 9)]).tolist()
[[1.0, 1.0], [4.0, 2.0], [4.0, 4.0]]

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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import guided, is_whole
from noisewright.base import EPSILON, LATTICE, RADIUS, REMAP, BaseMechanism, Entry, MechanismAudit, Takes, check_loss
from noisewright.certificates.certificate import Certificate
from noisewright.claims.figures import float_up
from noisewright.claims.readings import level_meaning
from noisewright.columns.adapters import as_single, in_kind, vectors
from noisewright.exceptions import NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.feasible_sets import LatticePoints, loss_before_rounding, rounding
from noisewright.metrics.base import Euclidean
from noisewright.numerics.exact import Exact, as_fraction, positive_fraction
from noisewright.sampling.lattice import LARGEST_INDEX, Lattice
from noisewright.sampling.planar_laplace import discrete_planar_laplace

__all__ = [
    "LARGEST_LOSS",
    "Grid",
    "Places",
    "PlanarLaplace",
    "Polygon",
    "Remap",
    "as_remap",
    "noise_lattice",
    "per_unit",
    "planar_budget",
    "planar_laplace",
    "planar_lattice",
    "planar_moments",
]


CHUNK = 1 << 14
"""Points are worked through in pieces of this size, so that memory stays constant."""


@dataclass(frozen=True)
class Grid:
    """``columns * rows`` points: ``origin + (i * step, j * step)``, i below ``columns`` and j below ``rows``.

    ``step`` is one number, or one for each axis. A point half-way between two goes to the larger coordinate.
    """

    columns: int
    rows: int
    step: float | tuple[float, float] = 1.0
    origin: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        for name, count in (("columns", self.columns), ("rows", self.rows)):
            if not is_whole(count):
                raise ParameterError(
                    f"a grid needs a whole number of {name}, not a thing of type {type(count).__name__}."
                )
            if not 1 <= count <= 1 << 31:
                raise ParameterError(f"a grid needs 1 to 2^31 {name}, not {'less' if count < 1 else 'more'}.")
            object.__setattr__(self, name, int(count))
        steps = _pair(self.step if isinstance(self.step, tuple) else (self.step, self.step), "the step of a grid")
        if min(steps) <= 0:
            raise ParameterError("the step of a grid must be greater than 0.")
        object.__setattr__(self, "step", steps[0] if steps[0] == steps[1] else steps)
        object.__setattr__(self, "origin", _pair(self.origin, "the origin of a grid"))

    @property
    def steps(self) -> tuple[float, float]:
        """The step along each axis."""
        return self.step if isinstance(self.step, tuple) else (self.step, self.step)

    def codes(self, points: ArrayLike) -> NDArray[np.int64]:
        """The number ``i * rows + j`` of the nearest grid point."""
        given = np.asarray(points, dtype=np.float64)
        axes = [
            np.clip(np.floor((given[:, a] - self.origin[a]) / self.steps[a] + 0.5), 0, count - 1).astype(np.int64)
            for a, count in enumerate((self.columns, self.rows))
        ]
        return axes[0] * self.rows + axes[1]

    def at(self, codes: NDArray[np.int64]) -> Floats:
        """The grid points with these numbers."""
        places = np.stack(np.divmod(codes, self.rows), axis=-1)
        return np.asarray(places * np.array(self.steps) + np.array(self.origin))

    def nearest(self, points: ArrayLike) -> Floats:
        """The nearest grid point of each point."""
        return self.at(self.codes(points))


@dataclass(frozen=True)
class Places:
    """A list of public places. Where two are equally near, a fixed rule that depends on the list alone chooses."""

    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", _pairs(self.points, "the public places"))

    @cached_property
    def _tree(self) -> Any:
        import scipy

        return scipy.spatial.KDTree(np.array(self.points))

    def codes(self, points: ArrayLike) -> NDArray[np.int64]:
        """The position in the list of the nearest place."""
        given = np.asarray(points, dtype=np.float64)
        return np.asarray(self._tree.query(given)[1] if len(given) else np.empty(0), dtype=np.int64)

    def at(self, codes: NDArray[np.int64]) -> Floats:
        """The places at these positions."""
        return np.array(self.points).take(codes, axis=0)

    def nearest(self, points: ArrayLike) -> Floats:
        """The nearest place of each point."""
        return self.at(self.codes(points))

    def moved(self, move: Callable[[Floats], Floats]) -> Places:
        """The places under a map of the plane."""
        return Places(tuple(map(tuple, move(np.array(self.points)).tolist())))


@dataclass(frozen=True)
class Polygon:
    """The region inside a closed chain of vertices (the last joins the first): any shape, convex or not.

    Points inside stay where they are; points outside go to the nearest point of the border. Where the chain crosses
    itself, a point is inside if a ray from it crosses the chain an odd number of times.
    """

    vertices: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        chain = _pairs(self.vertices, "the vertices of a polygon")
        corners = np.array(chain)
        following = np.roll(corners, -1, axis=0)
        if len(chain) < 3 or not np.ptp(corners, axis=0).all():
            raise ParameterError("a polygon needs at least 3 vertices that are not on one line along an axis.")
        lengths = np.hypot(*(following - corners).T)
        if not lengths.all():
            raise ParameterError(
                "two vertices that follow each other in a polygon are the same; name each corner once."
            )
        turns = corners - corners[0]
        if not np.abs(turns[:, 0] * (following - corners)[:, 1] - turns[:, 1] * (following - corners)[:, 0]).any():
            raise ParameterError("all vertices of the polygon are on one line; it has no inside.")
        object.__setattr__(self, "vertices", chain)

    @property
    def convex(self) -> bool:
        """True if the polygon has no dents; moving points into it then never takes two of them farther apart."""
        corners = np.array(self.vertices)
        sides = np.roll(corners, -1, axis=0) - corners
        after = np.roll(sides, -1, axis=0)
        turns = sides[:, 0] * after[:, 1] - sides[:, 1] * after[:, 0]
        angles = np.arctan2(turns, (sides * after).sum(axis=1))
        return bool((turns >= 0).all() or (turns <= 0).all()) and abs(abs(angles.sum()) - 2 * math.pi) < 1e-6

    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Return whether each point is inside; on the border it may be either, within the rounding of floats."""
        x, y = np.asarray(points, dtype=np.float64).T
        inside = np.zeros(x.shape, dtype=np.bool_)
        for (ax, ay), (bx, by) in self._edges():
            if ay != by:
                inside ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) * ((bx - ax) / (by - ay)))
        return inside

    def nearest(self, points: ArrayLike) -> Floats:
        """The nearest point of the region for each point."""
        result = np.array(points, dtype=np.float64)
        for start in range(0, len(result), CHUNK):
            part = result[start : start + CHUNK]
            outside = np.flatnonzero(~self.contains(part))
            if outside.size:
                part[outside] = self._on_border(part.take(outside, axis=0))
        return result

    def moved(self, move: Callable[[Floats], Floats]) -> Polygon:
        """The polygon whose vertices are moved by a map of the plane."""
        return Polygon(tuple(map(tuple, move(np.array(self.vertices)).tolist())))

    def _on_border(self, points: Floats) -> Floats:
        best, found = np.full(len(points), np.inf), np.empty_like(points)
        for a, b in self._edges():
            corner, side = np.array(a), np.subtract(b, a)
            share = np.clip((points - corner) @ side / (side @ side), 0.0, 1.0)
            foot = corner + share[:, None] * side
            apart = ((points - foot) ** 2).sum(axis=1)
            nearer = apart < best
            best[nearer], found[nearer] = apart[nearer], foot[nearer]
        return found

    def _edges(self) -> Iterable[tuple[tuple[float, float], tuple[float, float]]]:
        return zip(self.vertices, (*self.vertices[1:], self.vertices[0]), strict=True)


Remap = Grid | Places | Polygon
"""Union of the types of a remapping."""


def as_remap(given: Any) -> Remap | None:
    """A remapping as it was given; a plain list or array of points stands for public places."""
    if given is None or isinstance(given, (Grid, Places, Polygon)):
        return given
    return Places(given)


def _pairs(given: Any, what: str) -> tuple[tuple[float, float], ...]:
    try:
        listed = np.asarray([tuple(p) for p in given])
        points = listed.astype(np.float64) if listed.dtype.kind in "iufO" else np.empty(0)
    except (TypeError, ValueError, OverflowError):
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise ParameterError(f"{what} must be pairs of finite numbers, at least one.")
    return tuple((float(x), float(y)) for x, y in points)


def _pair(given: Any, what: str) -> tuple[float, float]:
    try:
        x, y = (float(as_fraction(c)) for c in (() if isinstance(given, str) else given))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{what} must be two finite numbers.") from None
    return x, y


# Planar -------------------------------------------------------------------------------------------------------------------
#
# The planar Laplace mechanism: places on a map, private for the straight-line distance.


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
    ``lattice`` is the step, a power of two, or a :class:`~noisewright.sampling.Lattice`; by default the step is between 1/1024
    and 1/512 of the noise scale 1/epsilon.
    ``remap`` moves outputs to the nearest point of a :class:`~noisewright.mechanisms.spatial.planar_laplace.Grid`, of a list
    of public
    places, or of a :class:`~noisewright.mechanisms.spatial.planar_laplace.Polygon`; this is post-processing and keeps the
    guarantee.
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
