"""Queries: statistics in exact SQL, filters, noise, and the answers."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.queries.answers import QueryPlan as QueryPlan
    from noisewright.releases.queries.answers import quantile_scores as quantile_scores
    from noisewright.releases.queries.answers import query_rng as query_rng
    from noisewright.releases.queries.compile import compile_query as compile_query
    from noisewright.releases.queries.dialects import DUCKDB as DUCKDB
    from noisewright.releases.queries.dialects import SPARK as SPARK
    from noisewright.releases.queries.dialects import Dialect as Dialect
    from noisewright.releases.queries.dialects import double as double
    from noisewright.releases.queries.filters import Filter as Filter
    from noisewright.releases.queries.filters import names_in as names_in
    from noisewright.releases.queries.filters import parse_filter as parse_filter
    from noisewright.releases.queries.intervals import interval as interval
    from noisewright.releases.queries.noise import Noise as Noise
    from noisewright.releases.queries.noise import calibrate as calibrate
    from noisewright.releases.queries.noise import usable as usable
    from noisewright.releases.queries.readable import shown as shown
    from noisewright.releases.queries.statistics import Measure as Measure
    from noisewright.releases.queries.statistics import Sensitivity as Sensitivity
    from noisewright.releases.queries.statistics import Statistic as Statistic
    from noisewright.releases.queries.statistics import sensitivity as sensitivity
    from noisewright.releases.queries.values import MOST_CELLS as MOST_CELLS
    from noisewright.releases.queries.values import Cells as Cells
    from noisewright.releases.queries.values import Key as Key
    from noisewright.releases.queries.values import Steps as Steps
    from noisewright.releases.queries.values import Value as Value
    from noisewright.releases.queries.values import plain_type as plain_type
else:
    __getattr__, __dir__ = door(__name__)
