"""Surveys and estimation: designs of randomised response, plans for surveys, and populations estimated from private reports.

``nw.estimate(...)`` is :func:`noisewright.estimate.population.estimate`, ``nw.survey(...)`` is
:func:`noisewright.estimate.survey.survey`. Everything here is post-processing of reports: it never changes a guarantee.
"""

from noisewright.core.rooms import make_callable

make_callable(__name__, "noisewright.estimate.population", "estimate")
