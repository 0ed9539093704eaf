r"""Destinations of released points: to a public grid, to a list of public places, or into a public polygon.

A remapping looks at the noisy point and at public geometry only. It is post-processing, so it keeps every guarantee,
whatever the shapes are.

>>> Grid(3, 2, step=10).nearest([(4, 99), (26, -3)]).tolist()
[[0.0, 10.0], [20.0, 0.0]]
>>> Polygon([(0, 0), (4, 0), (4, 4), (0, 4)]).nearest([(1, 1), (6, 2), (9, 9)]).tolist()
[[1.0, 1.0], [4.0, 2.0], [4.0, 4.0]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.core.exact import as_fraction

__all__ = ["Grid", "Places", "Polygon", "Remap", "as_remap"]

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
