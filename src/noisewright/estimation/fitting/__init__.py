"""Fits: inversion, iterative Bayesian update, certified likelihood, and whether any population explains the reports."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.estimation.fitting.acceleration import accelerated_update as accelerated_update
    from noisewright.estimation.fitting.bayesian_update import Fit as Fit
    from noisewright.estimation.fitting.bayesian_update import bayesian_updates as bayesian_updates
    from noisewright.estimation.fitting.bayesian_update import begun as begun
    from noisewright.estimation.fitting.bayesian_update import check_update as check_update
    from noisewright.estimation.fitting.bayesian_update import ended as ended
    from noisewright.estimation.fitting.bayesian_update import reported as reported
    from noisewright.estimation.fitting.bayesian_update import starting_point as starting_point
    from noisewright.estimation.fitting.bayesian_update import stepper as stepper
    from noisewright.estimation.fitting.fit import QUICK as QUICK
    from noisewright.estimation.fitting.fit import Fitting as Fitting
    from noisewright.estimation.fitting.fit import fitted as fitted
    from noisewright.estimation.fitting.fit import refitted as refitted
    from noisewright.estimation.fitting.inversion import clip as clip
    from noisewright.estimation.fitting.inversion import invert as invert
    from noisewright.estimation.fitting.inversion import linear_estimate as linear_estimate
    from noisewright.estimation.fitting.inversion import project as project
    from noisewright.estimation.fitting.inversion import standard_errors as standard_errors
    from noisewright.estimation.fitting.likelihood import IMPOSSIBLE as IMPOSSIBLE
    from noisewright.estimation.fitting.likelihood import TINY as TINY
    from noisewright.estimation.fitting.likelihood import Likelihood as Likelihood
    from noisewright.estimation.fitting.likelihood import TracePoint as TracePoint
    from noisewright.estimation.fitting.likelihood import certificate as certificate
    from noisewright.estimation.fitting.likelihood import certify as certify
    from noisewright.estimation.fitting.likelihood import check_possible as check_possible
    from noisewright.estimation.fitting.likelihood import ratios as ratios
    from noisewright.estimation.fitting.likelihood import rounding as rounding
    from noisewright.estimation.fitting.misfit import log_chance as log_chance
    from noisewright.estimation.fitting.newton import LARGEST_SUPPORT as LARGEST_SUPPORT
    from noisewright.estimation.fitting.newton import most_likely as most_likely
    from noisewright.estimation.fitting.response import response_mle as response_mle
else:
    __getattr__, __dir__ = door(__name__)
