r"""Metres between places given in degrees: on a public map around a reference, and between the points of its lattice.

The map is the projection that :mod:`noisewright.mechanisms.spatial.geographic` defines; there it is also shown why distances
on it
are those on the globe to 1 % within :attr:`LocalMetres.reach` of the reference.

>>> paris = LocalMetres(48.8566, 2.3522)
>>> f"{paris.reach / 1000:.1f} km", round(paris.distance((48.8566, 2.3522), (48.8606, 2.3522)), 3)
('54.4 km', 444.78)

A fixed, public projection around a reference place turns degrees into metres north and east of it,

.. math:: y = R\,(\varphi - \varphi_0), \qquad x = R \cos\varphi_0\,(\lambda - \lambda_0),

with angles in radians, R = 6,371,008.8 m (the mean radius of the earth) and the difference of longitudes taken the short
way round, across the date line if need be. Noise is that of :mod:`noisewright.mechanisms.spatial.planar_laplace`; the result
is
turned back
into degrees, over the pole if it went there.

**Guarantee.** Any two places within ``radius`` metres of each other on the globe are indistinguishable up to ``level``.
Within :attr:`GeoLaplace.reach` of the reference distances on the map are those on the globe to 1 %, and places farther away
are refused; floats are off by less than a micrometre, and rounding both places to the lattice of step h brings them at most
:math:`\sqrt2 h` farther apart. The certificate proves ``epsilon = level / (1.01 radius + 0.000001 + sqrt(2) h)`` for each
metre
between lattice points of the map (which the name of the metric says), and from that the level for places that are at most
``1.01 radius + 0.000001`` apart on the map. That those are all places within the radius on the globe is derived here; the
checker
states it, and does not prove it.

*Why 1 %.* A small step has length ``R sqrt(dphi^2 + cos(phi)^2 dlambda^2)`` on the globe, and ``cos(phi_0)`` in place of
``cos(phi)`` in the plane. Where the quotient of the two cosines is between 1/1.01 and 1.01 lengths of curves differ by at
most 1 %, hence shortest ones too, as long as they stay in such latitudes. All places within a great-circle distance D of
the reference have latitudes within D of its own, and shortest ways between them do not leave that cap.

>>> paris = geo_laplace(epsilon="1.4", radius=200, reference=(48.8566, 2.3522))
>>> latitude, longitude = paris.release((48.8606, 2.3376))
>>> f"{paris.reach / 1000:.1f} km"
'54.4 km'
>>> print(paris.in_words())  # doctest: +NORMALIZE_WHITESPACE
Whatever the output, the odds between any two places within 200 m of each other, rounding included, if the map makes at most
202.000001 m of that (stated, not proved here), change by a factor of at most 4.06. A belief of 50 % in one of two such places
can become at most 80.3 %. Half of the released places are within 242 m of the true one, and 95 % within 685 m. Places much
farther apart than 200 m can be told apart.

Reference: Andrés, Bordenabe, Chatzikokolakis and Palamidessi, *Geo-indistinguishability* (2013).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright._utils.validation import guided, one_of
from noisewright.base import (
    EPSILON,
    LATTICE,
    OUTSIDE,
    RADIUS,
    REMAP,
    BaseMechanism,
    Entry,
    MechanismAudit,
    Parameter,
    Takes,
)
from noisewright.certificates.certificate import Certificate
from noisewright.claims.figures import figure, float_up
from noisewright.claims.phrases import base_name
from noisewright.claims.readings import level_meaning
from noisewright.columns.adapters import as_single, in_kind, vectors
from noisewright.exceptions import DataError, MetricError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.feasible_sets import LatticePoints, loss_before_rounding, rounding
from noisewright.mechanisms.spatial.planar_laplace import (
    Grid,
    PlanarLaplace,
    Polygon,
    Remap,
    as_remap,
    per_unit,
    planar_lattice,
)
from noisewright.metrics.base import Euclidean, Metric
from noisewright.metrics.distances import Distances, TableDistances
from noisewright.numerics.exact import Exact, as_fraction, positive_fraction
from noisewright.sampling.lattice import Lattice

__all__ = [
    "EARTH_RADIUS",
    "GeoLaplace",
    "LatticeMetres",
    "LocalMetres",
    "geo_laplace",
    "in_degrees",
    "on_map",
    "wrapped",
]


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


# Geography ----------------------------------------------------------------------------------------------------------------
#
# Planar Laplace noise for places given in degrees of latitude and longitude, with distances in metres.


REFERENCE = Parameter(
    "Public place near which all true places lie: latitude and longitude in degrees.", "reference = [48.85, 2.35]"
)

HALF, MOST = 1.6783469900166612, 4.743864518390577
"""Distances that 50 % and 95 % of all noise of epsilon 1 stay within: ``1 - (1 + r) e^-r`` is 0.5 and 0.95 there."""


@guided
def geo_laplace(
    *,
    epsilon: Annotated[Exact, EPSILON],
    radius: Annotated[Exact, RADIUS],
    reference: Annotated[tuple[Exact, Exact], REFERENCE],
    lattice: Annotated[Exact, LATTICE] = "auto",
    remap: Annotated[Remap | ArrayLike | None, REMAP] = None,
    outside: Annotated[str, OUTSIDE] = "refuse",
) -> GeoLaplace:
    """Planar Laplace noise on latitude and longitude in degrees: arrays with two columns, or one pair.

    ``radius`` is in metres on the globe; any two places within it are indistinguishable up to ``epsilon``. ``reference`` is a
    public (latitude, longitude) near which all true places lie, never computed from them. A place beyond ``reach`` is
    refused, or moved towards the reference along the globe (``outside="clamp"``, which brings no two places farther apart, as
    long as they are on the near half of the globe; others are refused). ``lattice`` is the step in metres, a power of two.
    ``remap``
    sends outputs to the nearest point of a grid, of a list of places or of a polygon, all given in degrees (latitude
    first).

    Latitudes must be within -90 and 90, longitudes within -180 and 180. Longitudes counted from 0 to 360 are refused rather
    than guessed at: subtract 360 from those above 180.
    """
    size, goal = positive_fraction(radius, "radius"), positive_fraction(epsilon, "epsilon")
    one_of(outside, "outside", ("refuse", "clamp"))
    chosen = planar_lattice(per_unit(goal / size), lattice)
    metre = goal / (on_map(size) + rounding(chosen))
    planar_lattice(metre, chosen.step)
    made = GeoLaplace(metre, goal, size, LocalMetres(*_reference(reference)), chosen, as_remap(remap), outside)
    if made.remap is not None:
        _ = made.plane  # refuses places of a remapping that are not on the globe
    return made


@dataclass(frozen=True)
class GeoLaplace(BaseMechanism):
    """Planar Laplace noise on the globe; build it with :func:`geo_laplace`."""

    name = "geo-laplace"
    no_channel = "places on the globe are not finitely many; planar_geometric has a finite grid of them."

    epsilon: Fraction
    level: Fraction
    radius: Fraction
    metric: LocalMetres
    lattice: Lattice
    remap: Remap | None
    outside: str

    @property
    def reach(self) -> float:
        """Return how far from the reference, in metres, true places may lie: there distances are right to 1 %."""
        return self.metric.reach

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for each metre between the lattice points of the map that places are rounded to."""
        return Guarantee.exactly(self.epsilon, LatticeMetres(self.metric, self.lattice, self.outside == "clamp"))

    @cached_property
    def plane(self) -> PlanarLaplace:
        """The mechanism on metres north and east of the reference."""
        return PlanarLaplace(self.epsilon, self.lattice, None if self.remap is None else self.metric.remap(self.remap))

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every place; a (latitude, longitude) pair gives a pair."""
        degrees, single = in_degrees(values)
        metres = self._metres(degrees)
        noisy = PlanarLaplace(self.epsilon, self.lattice).release(metres, rng)
        moved = self.plane.remap
        if moved is None:
            return as_single(self.metric.unproject(noisy), single)
        if isinstance(moved, Polygon) or isinstance(self.remap, Polygon) or self.remap is None:
            return as_single(self.metric.unproject(moved.nearest(noisy)), single)
        places = self.remap.at(moved.codes(noisy))  # public places come out exactly as they were given
        if isinstance(self.remap, Grid):
            places[:, 1] = wrapped(places[:, 1])
        return as_single(places, single)

    def check(self, values: Any) -> None:
        """Refuse what :meth:`release` would refuse."""
        self.lattice.indices(self._metres(in_degrees(values)[0]))

    def map(self, distance: float) -> float:
        """The largest log-ratio for two places this many metres apart on the globe: including distortion of the map
        and rounding.

        The guarantee is about lattice points of the map: ``guarantee.bound`` takes their distance.
        """
        return loss_before_rounding(
            self.guarantee, distance, lambda apart: float_up(self.epsilon * (on_map(apart) + rounding(self.lattice)))
        )

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The law of the noise and the claim it proves: epsilon between lattice points, and the level within the radius."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "steps", "distance": str(self.lattice.step)},
            proof={"kind": "planar", "rate": str(self.plane.rate), "around": list(self.metric.centre)},
            further={"level": self.level, "radius": self.radius, "on_map": on_map(self.radius)},
            outside=self.outside,
        )

    def audit(self) -> MechanismAudit:
        """The loss that is really reached."""
        found = self.plane.audit()
        return MechanismAudit(found.value, self.guarantee.metric, None, None, None, words=found.words)

    @property
    def within_radius(self) -> dict[str, str]:
        """The epsilon within the radius as a claim states it."""
        found = {"level": self.level, "radius": self.radius, "on_map": on_map(self.radius)}
        return {"code": "level", **{name: str(value) for name, value in found.items()}}

    def error(self, loss: str = "absolute", at: tuple[float, float] | None = None) -> float:
        """The expected distance in metres (or its square) between the output and the true place.

        With a remapping other than into a convex polygon, name the true place with ``at``.
        """
        if at is None:
            return self.plane.error(loss)
        metres = self._metres(in_degrees(at)[0])[0].tolist()
        return self.plane.error(loss, at=(metres[0], metres[1]))

    def quantile(self, p: float) -> float:
        """The distance in metres that noise stays within with probability p."""
        return self.plane.quantile(p)

    def reading(self) -> str:
        """Return how far released places are from the true ones; empty where a remapping moves them.

        >>> geo_laplace(epsilon=1, radius=300, reference=(53.45, -2.2)).reading()
        'half within 509 m, 95 % within 1.44 km'
        """
        if self.remap is not None:
            return ""
        half, most = (_metres(length / float(self.epsilon)) for length in (HALF, MOST))
        return f"half within {half}, 95 % within {most}"

    def in_words(self) -> str:
        """Return the guarantee and the expected error in plain words."""
        size = _metres(float(self.radius))
        return (
            f"{level_meaning(self.within_radius)} "
            f"Half of the released places are within {_metres(self.quantile(0.5))} of the true one, and 95 % within "
            f"{_metres(self.quantile(0.95))}. Places much farther apart than {size} can be told apart."
        )

    def _metres(self, degrees: Floats) -> Floats:
        """Metres on the map; points too far away are refused, or moved to where distances on the map are right."""
        if self.outside == "clamp":
            return self.metric.project(self.metric.towards(degrees))
        metres = self.metric.project(degrees)
        if (np.hypot(metres[:, 0], metres[:, 1]) > self.reach).any():
            raise DataError(
                f"a place is farther than {_metres(self.reach)} from the reference, where distances on this map are off by "
                "more than 1 %; choose a nearer public reference, split the data, or clamp with outside='clamp'."
            )
        return metres


def _reference(reference: Any) -> tuple[float, float]:
    try:
        north, east = (as_fraction(c, "the reference") for c in (() if isinstance(reference, str) else reference))
    except (TypeError, ValueError) as problem:
        if isinstance(problem, ParameterError):
            raise
        raise ParameterError("reference must be two numbers: latitude and longitude in degrees.") from None
    if abs(north) > 90 or abs(east) > 180:
        raise ParameterError(
            "reference must be a latitude within -90 and 90 and a longitude within -180 and 180 degrees."
        )
    latitude, longitude = float(north), float(east)
    if LocalMetres(latitude, longitude).reach < 1:
        raise ParameterError("the reference is too near to a pole for this projection; choose one farther away.")
    return latitude, longitude


def _metres(length: float) -> str:
    return (
        f"{figure(length / 1000, rounding='nearest')} km"
        if length >= 1000
        else f"{figure(length, rounding='nearest')} m"
    )


def _rebuilt(certificate: Certificate) -> GeoLaplace:
    """The mechanism behind its certificate; a remapping of its outputs is post-processing that the certificate does
    not state."""
    stated, claim = certificate.document, certificate.document["claim"]
    north, east = stated["proof"]["around"]
    return geo_laplace(
        epsilon=claim["level"],
        radius=claim["radius"],
        reference=(north, east),
        lattice=claim["distances"]["distance"],
        outside=stated["outside"],
    )


ENTRY = Entry(
    "geo-laplace",
    geo_laplace,
    Takes("place", parts=2, budget="radius", lattice=True, unit="metre"),
    summary="places within a radius in metres look alike",
    words="latitude, longitude",
    rebuild=_rebuilt,
)
