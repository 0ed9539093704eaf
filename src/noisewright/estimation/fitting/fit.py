r"""One estimator with its settings, run on shares of outputs: once with its certificate, or on many draws at a time.

>>> from noisewright.estimation.operators.operator import ResponseOperator
>>> coin = Fitting("ibu", ResponseOperator(2, other=0.25, lift=0.5), gap=1e-6, steps=100)
>>> shares = np.array([0.4, 0.6])
>>> once = fitted(coin, shares)
>>> once.converged, once.probabilities.round(2).tolist()
(True, [0.3, 0.7])
>>> refitted(coin, once.iterations)(np.array([shares, shares[::-1]])).round(2).tolist()
[[0.3, 0.7], [0.7, 0.3]]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.estimation.fitting.acceleration import accelerated_update
from noisewright.estimation.fitting.bayesian_update import Fit, bayesian_update, bayesian_updates
from noisewright.estimation.fitting.inversion import invert, project
from noisewright.estimation.fitting.likelihood import Likelihood, certify, check_possible, rounding
from noisewright.estimation.fitting.newton import most_likely
from noisewright.estimation.fitting.response import response_mle
from noisewright.estimation.operators.operator import Operator, ResponseOperator

__all__ = ["QUICK", "Fitting", "fitted", "refitted"]


QUICK = 1000
"""Maximum number of secrets and outputs for which a best population is found to compare with one that was stopped
early.
"""

FINEST = 1e-9
"""A most likely population is certified to this gap for each report, or to the one asked for where that is smaller."""


@dataclass(frozen=True, eq=False)
class Fitting:
    """Method of fitting a population: ``"inversion"``, ``"mle"`` or ``"ibu"``, and the settings of the update."""

    method: str
    operator: Operator
    gap: float
    """The certified gap for each report at which an update may stop."""
    steps: int
    """The most steps of an update."""
    start: Floats | None = None
    smoothing: float = 0.0
    accelerate: bool = False


def fitted(
    how: Fitting,
    shares: Floats,
    *,
    unbiased: Floats | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """The population for these shares, with its certificate; ``unbiased`` is what inversion gives, where it is known already."""
    check_possible(shares, how.operator)
    if how.method == "mle":
        return _most_likely(how, shares)
    if how.method == "inversion":
        found = project(invert(shares, how.operator) if unbiased is None else unbiased)
        likelihood = certify(found, shares, how.operator)
        return _sharpened(Fit(found, likelihood, 0, likelihood.gap <= how.gap), how, shares)
    return _sharpened(_updated(how, shares, how.steps, gap=how.gap, progress=progress), how, shares)


def refitted(how: Fitting, steps: int) -> Callable[[Floats], Floats]:
    """The same estimator for a batch of shares, after as many steps; inversion stays unbiased, and is not projected."""
    if how.method == "inversion":
        return how.operator.inverse().left
    if how.method == "mle":
        if isinstance(how.operator, ResponseOperator):
            other, lift = how.operator.other, how.operator.lift
            return lambda q: response_mle(q, other=other, lift=lift)
        return lambda q: np.array([most_likely(one, how.operator, gap=1e-7).probabilities for one in q])
    count = max(steps, 1)
    if how.accelerate or how.smoothing:
        return lambda q: np.array([_updated(how, one, count).probabilities for one in q])
    return lambda q: bayesian_updates(q, how.operator, start=how.start, iterations=count)


def _updated(how: Fitting, shares: Floats, steps: int, **limits: Any) -> Fit:
    if how.accelerate:
        return accelerated_update(shares, how.operator, start=how.start, iterations=steps, **limits)
    return bayesian_update(shares, how.operator, start=how.start, iterations=steps, smoothing=how.smoothing, **limits)


def _most_likely(how: Fitting, shares: Floats) -> Fit:
    if isinstance(how.operator, ResponseOperator):
        found = response_mle(shares, other=how.operator.other, lift=how.operator.lift)
        return Fit(found, certify(found, shares, how.operator), 0, True)
    return most_likely(shares, how.operator, gap=min(how.gap, FINEST))


def _sharpened(fit: Fit, how: Fitting, shares: Floats) -> Fit:
    """The same fit with a sharper certificate, where a best population is quickly found: its likelihood bounds all others."""
    if fit.converged or how.operator.shape[0] > QUICK or int((shares > 0).sum()) > QUICK:
        return fit
    best = most_likely(shares, how.operator).likelihood
    mine = fit.likelihood
    sharper = max(best.value + best.gap - mine.value, 0.0) + rounding(mine.value, how.operator)
    likelihood = Likelihood(mine.value, min(mine.gap, sharper))
    return replace(fit, likelihood=likelihood, converged=likelihood.gap <= how.gap)
