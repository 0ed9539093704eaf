"""The population behind private reports: counts, models, mixtures, estimates and their intervals."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.estimation.population.counts import Counts as Counts
    from noisewright.estimation.population.counts import LabelOutputs as LabelOutputs
    from noisewright.estimation.population.counts import Outputs as Outputs
    from noisewright.estimation.population.counts import PartOutputs as PartOutputs
    from noisewright.estimation.population.counts import Tally as Tally
    from noisewright.estimation.population.counts import WholeNumbers as WholeNumbers
    from noisewright.estimation.population.counts import count_reports as count_reports
    from noisewright.estimation.population.identifiability import Identifiability as Identifiability
    from noisewright.estimation.population.identifiability import rank_of as rank_of
    from noisewright.estimation.population.intervals import asymptotic as asymptotic
    from noisewright.estimation.population.intervals import bootstrap as bootstrap
    from noisewright.estimation.population.intervals import mean_interval as mean_interval
    from noisewright.estimation.population.intervals import needs_tails as needs_tails
    from noisewright.estimation.population.intervals import quantile as quantile
    from noisewright.estimation.population.intervals import shared_confidence as shared_confidence
    from noisewright.estimation.population.intervals import tail_interval as tail_interval
    from noisewright.estimation.population.mixture import Mixture as Mixture
    from noisewright.estimation.population.mixture import Part as Part
    from noisewright.estimation.population.models import Model as Model
    from noisewright.estimation.population.models import independent as independent
    from noisewright.estimation.population.models import model_of as model_of
    from noisewright.estimation.population.models import models_of as models_of
    from noisewright.estimation.population.models import planar_grid as planar_grid
    from noisewright.estimation.population.models import same_secrets as same_secrets
    from noisewright.estimation.population.oracles import Combined as Combined
    from noisewright.estimation.population.oracles import SupportTally as SupportTally
    from noisewright.estimation.population.oracles import as_oracles as as_oracles
    from noisewright.estimation.population.oracles import combine as combine
    from noisewright.estimation.population.oracles import shares as shares
    from noisewright.estimation.population.oracles import variance as variance
    from noisewright.estimation.population.result import Average as Average
    from noisewright.estimation.population.result import Estimate as Estimate
    from noisewright.estimation.population.result import short_name as short_name
    from noisewright.estimation.population.sums import Sums as Sums
    from noisewright.estimation.population.sums import soft_bars as soft_bars
    from noisewright.estimation.population.sums import sums_of as sums_of
else:
    __getattr__, __dir__ = door(__name__)
