r"""Metres between places given in degrees: on a public map around a reference, and between the points of its lattice.

The map is the projection that :mod:`noisewright.mechanisms.places.geography` defines; there it is also shown why distances on it
are those on the globe to 1 % within :attr:`LocalMetres.reach` of the reference.

>>> paris = LocalMetres(48.8566, 2.3522)
>>> f"{paris.reach / 1000:.1f} km", round(paris.distance((48.8566, 2.3522), (48.8606, 2.3522)), 3)
('54.4 km', 444.78)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.claims.phrases import base_name
from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError, MetricError, ParameterError
from noisewright.core.metrics.distances import Distances, TableDistances
from noisewright.core.metrics.metric import Euclidean, Metric
from noisewright.mechanisms.laws.lattice_metrics import LatticePoints, rounding
from noisewright.mechanisms.places._coordinates import vectors
from noisewright.mechanisms.places.remap import Grid, Remap
from noisewright.noise import Lattice

__all__ = ["EARTH_RADIUS", "LatticeMetres", "LocalMetres", "in_degrees", "on_map", "wrapped"]

EARTH_RADIUS = 6_371_008.8
"""The mean radius of the earth in metres (IUGG)."""

DISTORTION = Fraction(1, 100)
"""Largest relative difference of a projected distance from the distance on the globe, in either direction."""

FLOAT_ERROR = Fraction(1, 10**6)
"""Largest float error in metres for two places together, from degrees and computation."""


@dataclass(frozen=True)
class LocalMetres(Metric):
    """Straight-line distance in metres in the public projection around a reference, between (latitude, longitude) pairs."""

    latitude: float
    longitude: float

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        return {"base": "metres", "around": list(self.centre)}

    @property
    def unit(self) -> str:
        return "metre"

    @property
    def centre(self) -> tuple[str, str]:
        """The latitude and longitude of the reference, as a certificate states them."""
        return f"{self.latitude:.12g}", f"{self.longitude:.12g}"

    @property
    def reach(self) -> float:
        """Return how far from the reference, in projected metres, distances are those on the globe to 1 %."""
        angle, cosine = math.radians(abs(self.latitude)), math.cos(math.radians(self.latitude))
        stretch = 1 + float(DISTORTION)
        poleward = math.acos(cosine / stretch) - angle
        equator = cosine * stretch
        inward = angle - math.acos(equator) if equator < 1 else math.inf
        return EARTH_RADIUS * min(poleward, inward) / stretch

    def project(self, degrees: Floats) -> Floats:
        """Metres north and east of the reference."""
        north = np.radians(degrees[:, 0] - self.latitude) * EARTH_RADIUS
        turn = degrees[:, 1] - self.longitude
        turn = turn - 360 * np.round(turn / 360)  # the short way round; half-way may go either way
        return np.stack([north, np.radians(turn) * self._parallel], axis=-1)

    def unproject(self, metres: Floats) -> Floats:
        """Degrees again: latitudes within -90 and 90, longitudes from -180 to below 180."""
        latitude = self.latitude + np.degrees(metres[:, 0] / EARTH_RADIUS)
        longitude = self.longitude + np.degrees(metres[:, 1] / self._parallel)
        latitude = (latitude + 180) % 360 - 180
        beyond = np.abs(latitude) > 90  # over the pole and down on the other side of the globe
        latitude = np.where(beyond, np.copysign(180.0, latitude) - latitude, latitude)
        longitude = np.where(beyond, longitude + 180, longitude)
        return np.stack([np.clip(latitude, -90, 90), wrapped(longitude)], axis=-1)

    def towards(self, degrees: Floats) -> Floats:
        """The places, those beyond a cap within reach moved to its rim along great circles through the reference.

        In the polar coordinates of the reference a length on the globe is ``R sqrt(da^2 + sin(a)^2 db^2)``, and
        lowering the angle a to the angle of the rim lengthens no curve as long as the sine rises: up to a quarter of
        the way round.
        """
        cap = self.reach / (1 + float(DISTORTION)) / EARTH_RADIUS  # projected lengths up to 1 % more are within reach
        centre, given = _on_sphere(np.array([[self.latitude, self.longitude]])), _on_sphere(degrees)
        along = given @ centre[0]
        across = given - along[:, None] * centre
        sine = np.linalg.norm(across, axis=1)
        far = np.arctan2(sine, along) > cap
        if (along[far] < 0).any():
            raise DataError("a place is on the other half of the globe, seen from the reference; drop such rows first.")
        rim = math.cos(cap) * centre + math.sin(cap) * across / np.maximum(sine, 1e-300)[:, None]
        latitude = np.degrees(np.arctan2(rim[:, 2], np.hypot(rim[:, 0], rim[:, 1])))
        longitude = np.degrees(np.arctan2(rim[:, 1], rim[:, 0]))
        return np.where(far[:, None], np.stack([latitude, longitude], axis=-1), degrees)

    def remap(self, given: Remap) -> Remap:
        """A remapping given in degrees, in metres of this projection."""
        try:
            if not isinstance(given, Grid):
                return given.moved(lambda degrees: self.project(in_degrees(degrees)[0]))
            last = given.origin[0] + (given.columns - 1) * given.steps[0]
            (north, east), _ = self.project(in_degrees([given.origin, (last, given.origin[1])])[0]).tolist()
        except DataError as problem:
            raise ParameterError(f"the remapping is not on the globe: {problem}") from None
        down, across = (math.radians(step) for step in given.steps)
        return Grid(given.columns, given.rows, (down * EARTH_RADIUS, across * self._parallel), (north, east))

    def matrix(self, points: Sequence[Any]) -> Floats:
        import scipy

        try:
            metres = self.project(in_degrees(points)[0])
        except DataError as problem:
            raise MetricError(str(problem)) from None
        return np.asarray(scipy.spatial.distance.cdist(metres, metres))

    def exact(self, points: Sequence[Any]) -> Distances:
        # Degrees in floats are good to 1e-13, a micrometre on the ground at most: subtract it before rounding down.
        return TableDistances.below(np.maximum(self.matrix(points) - 1e-6, 0.0))

    @property
    def _parallel(self) -> float:
        return EARTH_RADIUS * math.cos(math.radians(self.latitude))


@dataclass(frozen=True)
class LatticeMetres(Metric):
    """Straight-line distance in metres between the lattice points of the map that (latitude, longitude) pairs are rounded to.

    With ``clamp`` places beyond reach are moved towards the reference first, as they are before a release.
    """

    plane: LocalMetres
    lattice: Lattice
    clamp: bool = False

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        return {**self.plane.record(), "lattice": self.lattice.exponent}

    @property
    def unit(self) -> str:
        return self.plane.unit

    @property
    def step(self) -> Fraction | None:
        return self.lattice.step

    def after_rounding(self, distance: Fraction, columns: int) -> Fraction:
        """Metres on the globe as metres on the map, and a cell's diagonal more."""
        return on_map(distance) + rounding(self.lattice)

    def matrix(self, points: Sequence[Any]) -> Floats:
        return LatticePoints(Euclidean(), self.lattice).matrix(self._metres(points))

    def exact(self, points: Sequence[Any]) -> Distances:
        return LatticePoints(Euclidean(), self.lattice).exact(self._metres(points))

    def _metres(self, points: Sequence[Any]) -> list[list[float]]:
        try:
            degrees = in_degrees(points)[0]
            metres = self.plane.project(self.plane.towards(degrees) if self.clamp else degrees)
        except DataError as problem:
            raise MetricError(str(problem)) from None
        return [list(map(float, place)) for place in metres]


def on_map(distance: Fraction) -> Fraction:
    """Return how far apart on the map two places within reach can be that are this far apart on the globe."""
    return (1 + DISTORTION) * distance + FLOAT_ERROR


def _on_sphere(degrees: Floats) -> Floats:
    """Places as points of the unit sphere."""
    latitude, longitude = np.radians(degrees.T)
    flat = np.cos(latitude)
    return np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)], axis=-1)


def in_degrees(values: Any) -> tuple[Floats, bool]:
    given, single = vectors(values, 2)
    if (np.abs(given[:, 0]) > 90).any():
        raise DataError("a latitude is outside -90 to 90 degrees; give latitude first, then longitude.")
    if (np.abs(given[:, 1]) > 180).any():
        raise DataError("a longitude is outside -180 to 180 degrees; subtract 360 from those above 180.")
    return given, single


def wrapped(longitude: Floats) -> Floats:
    turned = (longitude + 180) % 360 - 180
    return np.where(turned >= 180, -180.0, turned)  # the remainder may round up to a whole turn
