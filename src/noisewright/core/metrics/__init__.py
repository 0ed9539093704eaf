"""Metrics between secrets: the well-known ones, their algebra, and the spaces in which distances are exact.

An epsilon means nothing without one of these.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.core.metrics.algebra import Maximum as Maximum
    from noisewright.core.metrics.algebra import Product as Product
    from noisewright.core.metrics.algebra import Scaled as Scaled
    from noisewright.core.metrics.algebra import Sum as Sum
    from noisewright.core.metrics.algebra import line_in as line_in
    from noisewright.core.metrics.bags import AddRemove as AddRemove
    from noisewright.core.metrics.bags import EarthMovers as EarthMovers
    from noisewright.core.metrics.bags import Neighbours as Neighbours
    from noisewright.core.metrics.distances import Distances as Distances
    from noisewright.core.metrics.distances import LineDistances as LineDistances
    from noisewright.core.metrics.distances import TableDistances as TableDistances
    from noisewright.core.metrics.distances import UniformDistances as UniformDistances
    from noisewright.core.metrics.metric import Angular as Angular
    from noisewright.core.metrics.metric import Discrete as Discrete
    from noisewright.core.metrics.metric import Euclidean as Euclidean
    from noisewright.core.metrics.metric import Hamming as Hamming
    from noisewright.core.metrics.metric import Line as Line
    from noisewright.core.metrics.metric import Manhattan as Manhattan
    from noisewright.core.metrics.metric import Metric as Metric
    from noisewright.core.metrics.metric import Table as Table
    from noisewright.core.metrics.metric import as_metric as as_metric
    from noisewright.core.metrics.metric import at_most_largest as at_most_largest
    from noisewright.core.metrics.metric import metric_or_none as metric_or_none
    from noisewright.core.metrics.metric import named_metric as named_metric
    from noisewright.core.metrics.sensitivities import deviation_sensitivity as deviation_sensitivity
    from noisewright.core.metrics.sensitivities import mean_sensitivity as mean_sensitivity
    from noisewright.core.metrics.spaces import closure as closure
    from noisewright.core.metrics.spaces import essential_pairs as essential_pairs
    from noisewright.core.metrics.spaces import induced_metric as induced_metric
    from noisewright.core.metrics.spaces import sensitivity as sensitivity
else:
    __getattr__, __dir__ = door(__name__)
