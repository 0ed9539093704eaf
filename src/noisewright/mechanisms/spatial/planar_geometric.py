r"""The planar geometric mechanism: finitely many public places on a lattice, private for the straight-line distance.

The true place is moved by an integer number of lattice steps k, :math:`P(k) \propto e^{-\theta\|k\|_2}`, and the
result goes to the nearest of the places. On a full grid that clamps each coordinate. The step is the greatest distance
of which all coordinate differences are multiples, and :math:`\theta = \epsilon \cdot \text{step}`.

**Guarantee.** ``epsilon`` for each unit of Euclidean distance, exactly, for all pairs of places: no rounding is needed, and
going to the nearest place is post-processing.

>>> town = planar_geometric(Grid(4, 3, step=100), epsilon="1/100")
>>> town.release([(0, 0), (300, 200)]).shape, town.channel().matrix.shape
((2, 2), (12, 12))
>>> 0.0099 < town.channel().epsilon(Euclidean()).value <= 0.010001
True
>>> town.certificate().verify()
'epsilon = 0.01 per unit of euclidean, between points in steps of 100'

Reference: Andrés, Bordenabe, Chatzikokolakis and Palamidessi, *Geo-indistinguishability* (2013), section 5.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import fields_alone, guided
from noisewright.base import EPSILON, POINTS, RADIUS, BaseMechanism, Entry, Takes, expected_loss
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_up
from noisewright.columns.adapters import as_single, in_kind, vectors
from noisewright.columns.label_encoder import LARGEST_COUNT, check_dense
from noisewright.exceptions import DataError, NoChannelError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.spatial.planar_laplace import LARGEST_LOSS, Grid, Places, planar_budget
from noisewright.metrics.base import Euclidean
from noisewright.numerics.exact import Exact, as_fraction
from noisewright.sampling.planar_laplace import discrete_planar_laplace

__all__ = ["PlanarGeometric", "planar_geometric"]


LARGEST_WINDOW = 1 << 24
"""A channel sums the law over this many lattice points at most."""


@guided
def planar_geometric(
    points: Annotated[Iterable[Hashable] | Grid, POINTS],
    *,
    epsilon: Annotated[Exact, EPSILON],
    radius: Annotated[Exact | None, RADIUS] = None,
) -> PlanarGeometric:
    """The planar geometric mechanism over ``points`` (a grid, or pairs of numbers), which are secrets and outputs alike.

    ``epsilon`` is kept within a ``radius``, or for each unit of distance without one. Coordinates are exact: floats
    count as the binary fractions they are, so use integers or multiples of a power of two where the step matters.
    """
    budget = planar_budget(epsilon, radius)
    if isinstance(points, Grid) and points.columns * points.rows > LARGEST_COUNT:
        raise ParameterError(f"a planar geometric takes grids of at most {LARGEST_COUNT} points; choose a coarser one.")
    try:
        named = _places_of(points) if isinstance(points, Grid) else tuple(_place(point) for point in points)
    except TypeError:
        raise ParameterError(
            f"points must be a grid, or a list of pairs of numbers, not a thing of type {type(points).__name__}."
        ) from None
    if len(named) < 2 or len(set(named)) < len(named):
        raise ParameterError("a planar geometric needs at least 2 points, all different.")
    made = PlanarGeometric(named, budget)
    if np.abs(made.offsets).max() > 1 << 40 or 64 / made.rate > 1 << 50:
        raise ParameterError(
            "the coordinates have no common step of a useful size; round them to multiples of one public step."
        )
    if made.rate > LARGEST_LOSS:
        raise ParameterError(
            "epsilon is so large that noise never leaves a place, which hides nothing; choose a smaller one."
        )
    discrete_planar_laplace(made.rate, 0)
    return made


@dataclass(frozen=True)
class PlanarGeometric(BaseMechanism):
    """Planar geometric noise on finitely many places; build it with :func:`planar_geometric`."""

    name = "planar-geometric"

    points: tuple[tuple[int | float, int | float], ...]
    epsilon: Fraction

    @cached_property
    def step(self) -> Fraction:
        """The greatest step of which all differences of coordinates are multiples."""
        gaps = [gap for axis, _ in self._gaps for gap in axis]
        common = math.lcm(*(gap.denominator for gap in gaps))
        return Fraction(math.gcd(*(int(gap * common) for gap in gaps)), common)

    @property
    def rate(self) -> Fraction:
        """Theta, the loss for one step."""
        return self.epsilon * self.step

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Steps of the places from the first one, as integers."""
        return np.stack(
            [np.array([int(gap / self.step) for gap in axis])[whose] for axis, whose in self._gaps], axis=-1
        )

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each unit of Euclidean distance."""
        return Guarantee.exactly(self.epsilon, Euclidean())

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every place; a pair gives a pair."""
        given, single = vectors(values, 2)
        codes = self._encode(given)
        moved = self.offsets.take(codes, axis=0) + discrete_planar_laplace(self.rate, len(codes), rng)
        return as_single(self._array.take(self._nearest(moved), axis=0), single)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The law of the noise and the claim it proves."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "steps", "distance": str(self.step)},
            proof={"kind": "planar", "rate": str(self.rate)},
        )

    def error(self, loss: str = "absolute") -> float:
        """The expected loss for the place where it is largest."""
        return expected_loss(self.channel(), loss)

    def channel(self) -> Channel:
        """The law summed over all lattice points that go to each place."""
        return self._channel

    @cached_property
    def _channel(self) -> Channel:
        """Sums in floats over a window; weights outside are less than e^-50 and are left out."""
        check_dense(len(self.points))
        theta = float(self.rate)
        margin = math.ceil(60 / theta) + 1
        low, high = self.offsets.min(axis=0) - margin, self.offsets.max(axis=0) + margin
        wide, tall = (high - low + 1).tolist()
        if wide * tall > LARGEST_WINDOW:
            raise NoChannelError(
                "this planar geometric has too fine a step for a dense channel; use coarser places or a larger epsilon."
            )
        x, y = np.meshgrid(np.arange(wide), np.arange(tall), indexing="ij")
        cells = np.stack([x.ravel(), y.ravel()], axis=-1) + low
        nearest = self._nearest(cells)
        rows = []
        for place in self.offsets:
            lengths = np.sqrt(((cells - place) ** 2).sum(axis=1))
            weights = np.exp(-theta * lengths)
            # Smallest first, so that the far columns keep their relative accuracy.
            order = np.argsort(weights, kind="stable") if len(cells) < 1 << 16 else slice(None)
            rows.append(np.bincount(nearest[order], weights[order], minlength=len(self.points)))
        return Channel(np.array(rows), self.points, self.points, normalise=True)

    @cached_property
    def _array(self) -> NDArray[Any]:
        return np.array(self.points)

    @cached_property
    def _gaps(self) -> list[tuple[list[Fraction], NDArray[np.int64]]]:
        """Distances of coordinates from the first place on each axis, and the index of each place.

        Many places share a coordinate, and exact fractions are slow: a grid of n by n has n of them on an axis.
        """
        found = []
        for axis, origin in zip(self._array.T, self.points[0], strict=True):
            coordinates, whose = np.unique(axis, return_inverse=True)
            found.append(([as_fraction(c) - as_fraction(origin) for c in coordinates.tolist()], whose))
        return found

    @cached_property
    def _axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Sorted coordinates of both axes, the places as sorted pairs of their positions, and whose they are."""
        xs, i = np.unique(self._array[:, 0], return_inverse=True)
        ys, j = np.unique(self._array[:, 1], return_inverse=True)
        keys = i * len(ys) + j
        order = np.argsort(keys)
        return xs.astype(np.float64), ys.astype(np.float64), keys[order], order

    def _encode(self, given: NDArray[np.float64]) -> NDArray[np.int64]:
        xs, ys, keys, order = self._axes
        i = np.minimum(np.searchsorted(xs, given[:, 0]), len(xs) - 1)
        j = np.minimum(np.searchsorted(ys, given[:, 1]), len(ys) - 1)
        wanted = i * len(ys) + j
        spot = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        known = (xs[i] == given[:, 0]) & (ys[j] == given[:, 1]) & (keys[spot] == wanted)
        if not known.all():
            raise DataError("a point is not one of the declared places; move or drop such points first.")
        return order[spot]

    @cached_property
    def _finder(self) -> tuple[Grid | Places, NDArray[np.int64]]:
        """The places as a remapping in whole steps, and the number of the place behind each of its codes."""
        low, high = self.offsets.min(axis=0), self.offsets.max(axis=0)
        columns, rows = (high - low + 1).tolist()
        if columns * rows == len(self.points):
            grid = Grid(columns, rows, origin=(float(low[0]), float(low[1])))
            return grid, np.argsort(grid.codes(self.offsets))
        places = Places(tuple((float(x), float(y)) for x, y in self.offsets))
        return places, np.arange(len(self.points))

    def _nearest(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        finder, numbers = self._finder
        return numbers[finder.codes(cells)]

    __getstate__ = fields_alone


def _places_of(grid: Grid) -> tuple[tuple[int | float, int | float], ...]:
    """The points of a grid in the order of their numbers."""
    across, up = grid.at(np.arange(grid.columns) * grid.rows)[:, 0], grid.at(np.arange(grid.rows))[:, 1]
    return tuple(product([_plain(c) for c in across.tolist()], [_plain(c) for c in up.tolist()]))


def _place(point: Any) -> tuple[int | float, int | float]:
    """A point as a pair of plain numbers."""
    pair: Any = None if isinstance(point, str) else point
    try:
        x, y = pair
    except (TypeError, ValueError):
        raise ParameterError("the points of a planar geometric must be pairs of numbers.") from None
    return _plain(x), _plain(y)


def _plain(coordinate: Any) -> int | float:
    """A coordinate as a plain number that equals it exactly."""
    value = as_fraction(coordinate, "a coordinate")
    if value.denominator == 1 and abs(value) <= 1 << 53:
        return int(value)
    number = float_up(value)
    if math.isinf(number) or Fraction(number) != value:
        raise ParameterError("a coordinate is not an exact float; use whole numbers or multiples of a power of two.")
    return number


ENTRY = Entry(
    "planar-geometric",
    planar_geometric,
    Takes("place", parts=2, budget="radius", secrets="points"),
    summary="planar noise on a finite grid or list of places",
    words="public places",
)
