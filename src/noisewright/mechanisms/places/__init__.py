"""Mechanisms for places, vectors and curves: planar noise, the globe, finite grids, and where outputs are put."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.mechanisms.places.curves import CurveMechanism as CurveMechanism
    from noisewright.mechanisms.places.curves import Differences as Differences
    from noisewright.mechanisms.places.curves import curve as curve
    from noisewright.mechanisms.places.geography import GeoLaplace as GeoLaplace
    from noisewright.mechanisms.places.geography import geo_laplace as geo_laplace
    from noisewright.mechanisms.places.metres import EARTH_RADIUS as EARTH_RADIUS
    from noisewright.mechanisms.places.metres import LatticeMetres as LatticeMetres
    from noisewright.mechanisms.places.metres import LocalMetres as LocalMetres
    from noisewright.mechanisms.places.metres import in_degrees as in_degrees
    from noisewright.mechanisms.places.metres import on_map as on_map
    from noisewright.mechanisms.places.metres import wrapped as wrapped
    from noisewright.mechanisms.places.planar import LARGEST_LOSS as LARGEST_LOSS
    from noisewright.mechanisms.places.planar import PlanarLaplace as PlanarLaplace
    from noisewright.mechanisms.places.planar import noise_lattice as noise_lattice
    from noisewright.mechanisms.places.planar import per_unit as per_unit
    from noisewright.mechanisms.places.planar import planar_budget as planar_budget
    from noisewright.mechanisms.places.planar import planar_laplace as planar_laplace
    from noisewright.mechanisms.places.planar import planar_lattice as planar_lattice
    from noisewright.mechanisms.places.planar import planar_moments as planar_moments
    from noisewright.mechanisms.places.planar_geometric import PlanarGeometric as PlanarGeometric
    from noisewright.mechanisms.places.remap import Grid as Grid
    from noisewright.mechanisms.places.remap import Places as Places
    from noisewright.mechanisms.places.remap import Polygon as Polygon
    from noisewright.mechanisms.places.remap import Remap as Remap
    from noisewright.mechanisms.places.remap import as_remap as as_remap
    from noisewright.mechanisms.places.vectors import ProductLaplace as ProductLaplace
    from noisewright.mechanisms.places.vectors import SphericalLaplace as SphericalLaplace
    from noisewright.mechanisms.places.vectors import product_laplace as product_laplace
    from noisewright.mechanisms.places.vectors import spherical_laplace as spherical_laplace
    from noisewright.mechanisms.places.vectors import spherical_noise as spherical_noise
else:
    __getattr__, __dir__ = door(__name__)
