"""The report of a release: one HTML page with words, charts and proofs."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.report.before import Before as Before
    from noisewright.releases.report.before import mean_before as mean_before
    from noisewright.releases.report.before import shares_below as shares_below
    from noisewright.releases.report.before import table_before as table_before
    from noisewright.releases.report.before import whole_range as whole_range
    from noisewright.releases.report.bins import Bins as Bins
    from noisewright.releases.report.bins import Perturbed as Perturbed
    from noisewright.releases.report.bins import bins_of as bins_of
    from noisewright.releases.report.charts import chart as chart
    from noisewright.releases.report.charts import short as short
    from noisewright.releases.report.charts import spelled as spelled
    from noisewright.releases.report.charts import ticks as ticks
    from noisewright.releases.report.marginals import Marginal as Marginal
    from noisewright.releases.report.marginals import counted as counted
    from noisewright.releases.report.marginals import marginal_of as marginal_of
    from noisewright.releases.report.marginals import marginals_of as marginals_of
    from noisewright.releases.report.page import Made as Made
    from noisewright.releases.report.page import report as report
else:
    __getattr__, __dir__ = door(__name__)
