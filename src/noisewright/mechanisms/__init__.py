"""Mechanisms: constructors for numbers, categories and places, the registry of all, audits, and products."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.mechanisms import categorical as categorical
    from noisewright.mechanisms import numeric as numeric
    from noisewright.mechanisms import spatial as spatial
    from noisewright.mechanisms.categorical.exponential import explicit_fair as explicit_fair
    from noisewright.mechanisms.categorical.exponential import exponential as exponential
    from noisewright.mechanisms.categorical.exponential import metric_realising as metric_realising
    from noisewright.mechanisms.categorical.exponential import uniform as uniform
    from noisewright.mechanisms.categorical.frequency_oracle import unary_encoding as unary_encoding
    from noisewright.mechanisms.categorical.local_hashing import local_hashing as local_hashing
    from noisewright.mechanisms.categorical.randomised_response import randomised_response as randomised_response
    from noisewright.mechanisms.categorical.selection import selection as selection
    from noisewright.mechanisms.categorical.subset_selection import hadamard_response as hadamard_response
    from noisewright.mechanisms.categorical.subset_selection import subset_selection as subset_selection
    from noisewright.mechanisms.composite import OutputPerturbation as OutputPerturbation
    from noisewright.mechanisms.composite import product as product
    from noisewright.mechanisms.composite import sanitise as sanitise
    from noisewright.mechanisms.from_certificate import mechanism_of as mechanism_of
    from noisewright.mechanisms.numeric.gaussian import gaussian as gaussian
    from noisewright.mechanisms.numeric.geometric import geometric as geometric
    from noisewright.mechanisms.numeric.laplace import approximate_laplace as approximate_laplace
    from noisewright.mechanisms.numeric.laplace import laplace as laplace
    from noisewright.mechanisms.numeric.staircase import snapped as snapped
    from noisewright.mechanisms.numeric.staircase import snapped_laplace as snapped_laplace
    from noisewright.mechanisms.numeric.staircase import staircase as staircase
    from noisewright.mechanisms.numeric.truncated_laplace import truncated_laplace as truncated_laplace
    from noisewright.mechanisms.registry import build as build
    from noisewright.mechanisms.spatial.curves import curve as curve
    from noisewright.mechanisms.spatial.geographic import geo_laplace as geo_laplace
    from noisewright.mechanisms.spatial.planar_geometric import planar_geometric as planar_geometric
    from noisewright.mechanisms.spatial.planar_laplace import Grid as Grid
    from noisewright.mechanisms.spatial.planar_laplace import Polygon as Polygon
    from noisewright.mechanisms.spatial.planar_laplace import planar_laplace as planar_laplace
    from noisewright.mechanisms.spatial.vectors import product_laplace as product_laplace
    from noisewright.mechanisms.spatial.vectors import spherical_laplace as spherical_laplace
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Grid": "spatial.planar_laplace",
            "OutputPerturbation": "composite",
            "Polygon": "spatial.planar_laplace",
            "approximate_laplace": "numeric.laplace",
            "build": "registry",
            "categorical": "categorical:",
            "curve": "spatial.curves",
            "explicit_fair": "categorical.exponential",
            "exponential": "categorical.exponential",
            "gaussian": "numeric.gaussian",
            "geo_laplace": "spatial.geographic",
            "geometric": "numeric.geometric",
            "hadamard_response": "categorical.subset_selection",
            "laplace": "numeric.laplace",
            "local_hashing": "categorical.local_hashing",
            "mechanism_of": "from_certificate",
            "metric_realising": "categorical.exponential",
            "numeric": "numeric:",
            "planar_geometric": "spatial.planar_geometric",
            "planar_laplace": "spatial.planar_laplace",
            "product": "composite",
            "product_laplace": "spatial.vectors",
            "randomised_response": "categorical.randomised_response",
            "sanitise": "composite",
            "selection": "categorical.selection",
            "snapped": "numeric.staircase",
            "snapped_laplace": "numeric.staircase",
            "spatial": "spatial:",
            "spherical_laplace": "spatial.vectors",
            "staircase": "numeric.staircase",
            "subset_selection": "categorical.subset_selection",
            "truncated_laplace": "numeric.truncated_laplace",
            "unary_encoding": "categorical.frequency_oracle",
            "uniform": "categorical.exponential",
        },
    )
