"""Distances between secrets, and how far a query moves along them."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.metrics.base import Angular as Angular
    from noisewright.metrics.base import Discrete as Discrete
    from noisewright.metrics.base import Euclidean as Euclidean
    from noisewright.metrics.base import Hamming as Hamming
    from noisewright.metrics.base import Line as Line
    from noisewright.metrics.base import Manhattan as Manhattan
    from noisewright.metrics.base import Metric as Metric
    from noisewright.metrics.base import Table as Table
    from noisewright.metrics.composite import EarthMovers as EarthMovers
    from noisewright.metrics.composite import Product as Product
    from noisewright.metrics.composite import Scaled as Scaled
    from noisewright.metrics.sensitivity import deviation_sensitivity as deviation_sensitivity
    from noisewright.metrics.sensitivity import mean_sensitivity as mean_sensitivity
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Angular": "base",
            "Discrete": "base",
            "EarthMovers": "composite",
            "Euclidean": "base",
            "Hamming": "base",
            "Line": "base",
            "Manhattan": "base",
            "Metric": "base",
            "Product": "composite",
            "Scaled": "composite",
            "Table": "base",
            "deviation_sensitivity": "sensitivity",
            "mean_sensitivity": "sensitivity",
        },
    )
