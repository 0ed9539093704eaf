"""Surveys and estimation: designs of randomised response, plans for surveys, and populations estimated from private reports.

``nw.estimate(...)`` is :func:`noisewright.estimation.population.estimate.estimate`, ``nw.survey(...)`` is
:func:`noisewright.estimation.survey.plan.survey`. Everything here is post-processing of reports: it never changes a guarantee.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.estimation import fitting as fitting
    from noisewright.estimation import operators as operators
    from noisewright.estimation import population as population
    from noisewright.estimation import survey as survey
    from noisewright.estimation.calibration import Comparable as Comparable
    from noisewright.estimation.calibration import comparable as comparable
    from noisewright.estimation.fitting.bayesian_update import bayesian_update as bayesian_update
    from noisewright.estimation.fitting.misfit import misfit as misfit
    from noisewright.estimation.population.estimate import estimate as estimate
    from noisewright.estimation.population.identifiability import identifiability as identifiability
    from noisewright.estimation.survey.designs import mangat as mangat
    from noisewright.estimation.survey.violation import violation as violation
    from noisewright.estimation.transport import kantorovich as kantorovich
    from noisewright.estimation.transport import total_variation as total_variation
else:
    __getattr__, __dir__ = door(__name__)
