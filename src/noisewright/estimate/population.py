r"""``nw.estimate``: the population behind private reports.

Reports of a known mechanism are counted, and the population of secrets that explains the counts is estimated:

===============  ======================================================================================================
``method``       what it is
===============  ======================================================================================================
``"inversion"``  unbiased; may be negative before it is projected on the distributions
``"ibu"``        the iterative Bayesian update, stopped early: smooth, and good on ordered secrets
``"mle"``        a most likely population: closed form for randomised response, certified Newton steps for the rest
``"auto"``       ``"mle"`` for categories, ``"ibu"`` for numbers and places, ``"inversion"`` for frequency oracles
===============  ======================================================================================================

Every answer carries a certificate of how far it is from the best likelihood. Estimation only looks at reports that are
private already, so it changes nothing about the promise made to those who gave them.

>>> from noisewright.mechanisms.response import randomised_response
>>> smoker = randomised_response(["no", "yes"], epsilon="1.0986")
>>> found = estimate({"no": 6000, "yes": 4000}, smoker, intervals="asymptotic")
>>> print(found)
estimate of 2 secrets from 10,000 reports (mle, exact closed form)
  secret    share    95 % interval
  no       0.7000   0.6807 to 0.7191
  yes      0.3000   0.2809 to 0.3193
within ... log-likelihood units of the best population (certified)

Numbers, with the mean of the population and its interval:

>>> import numpy as np
>>> from noisewright.mechanisms.geometric import geometric
>>> age = geometric(epsilon="0.1", within=(0, 100))
>>> rng = np.random.default_rng(1)
>>> reports = age.release(rng.binomial(100, 0.3, 20_000), rng)
>>> average = estimate(reports, age).average(range(101))
>>> bool(average.low < 30 < average.high), round(average.standard_error, 1)
(True, 0.1)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.choices import one_of
from noisewright.core.errors import NoisewrightError, ParameterError
from noisewright.core.exact import upward
from noisewright.estimate.acceleration import accelerated_update
from noisewright.estimate.bayesian_update import Fit, bayesian_update, bayesian_updates, check_update, starting_point
from noisewright.estimate.counts import Counts, count_reports
from noisewright.estimate.identifiability import WEAK, identifiability, rank_of
from noisewright.estimate.intervals import asymptotic, bootstrap, check_level
from noisewright.estimate.inversion import invert, project
from noisewright.estimate.likelihood import Likelihood, certify, check_possible, rounding
from noisewright.estimate.models import Model, model_of
from noisewright.estimate.newton import most_likely
from noisewright.estimate.operators import Operator, ResponseOperator, StackedOperator
from noisewright.estimate.oracles import as_oracles, combine
from noisewright.estimate.response_likelihood import response_mle
from noisewright.estimate.result import Estimate
from noisewright.estimate.walsh import HadamardOperator
from noisewright.mechanisms.oracle import Oracle

__all__ = ["estimate"]

Floats = NDArray[np.float64]
Method = Literal["auto", "inversion", "ibu", "mle"]
Intervals = Literal["asymptotic", "bootstrap"]

METHODS = ("auto", "inversion", "ibu", "mle")
QUICK = 1000
"""Secrets and outputs up to which a best population is found beside one that was stopped early, to compare with."""

SHARP = 1e-7
"""A certified gap below this per report is as good as none, so that ties can be told."""


def estimate(
    reports: Any,
    mechanism: Any,
    *,
    method: Method = "auto",
    within: Any = None,
    outside: Literal["refuse", "drop"] = "refuse",
    intervals: Intervals | None = None,
    level: float = 0.95,
    replicates: int = 200,
    seed: int = 0,
    iterations: int | None = None,
    gap: float = 0.1,
    start: ArrayLike | None = None,
    smoothing: float = 0.0,
    accelerate: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Estimate:
    """The population behind ``reports`` of a ``mechanism``.

    ``reports`` is a column (list, array, Arrow), a mapping from outputs to counts, or
    :class:`~noisewright.estimate.counts.Counts`. Where people used different mechanisms, or one with different
    epsilons, give a list of columns and a list of mechanisms. ``mechanism`` is the one that made the reports, its
    channel, its certificate, or :func:`~noisewright.estimate.models.independent` mechanisms for the parts of a report.
    ``within`` is the range of the secrets of noise without bounds.

    ``outside="drop"`` leaves out reports that are no outputs of the mechanism. ``intervals`` adds confidence intervals
    at ``level`` for every secret (``replicates`` and ``seed`` are those of the bootstrap). The iterative Bayesian
    update stops at a certified ``gap`` in log-likelihood units or after ``iterations`` steps; ``start`` is its starting
    population, ``smoothing`` mixes neighbours, and ``accelerate`` takes strides towards the most likely population.
    """
    one_of(method, "method", METHODS)
    check_update(1 if iterations is None else iterations, gap, smoothing)
    check_level(level)
    if intervals is not None:
        one_of(intervals, "intervals", ("asymptotic", "bootstrap"))
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise ParameterError("seed must be a whole number from 0.")
    oracles = as_oracles(mechanism if isinstance(mechanism, list) else [mechanism])
    if oracles is not None:
        if within is not None or start is not None or smoothing or intervals == "bootstrap":
            raise ParameterError("within, start, smoothing and bootstrap intervals are not for counts of support.")
        columns = reports if isinstance(mechanism, list) else [reports]
        return _from_support(columns, oracles, method, outside, intervals, level)
    models = [model_of(one, within) for one in (mechanism if isinstance(mechanism, list) else [mechanism])]
    counts = _counted(reports if isinstance(mechanism, list) else [reports], models, outside)
    total = sum(one.total for one in counts)
    operator = _together(models, counts, total)
    shares = np.concatenate([one.counts for one in counts]) / total
    chosen = _chosen(method, models)
    if (start is not None or smoothing or accelerate) and chosen != "ibu":
        raise ParameterError("start, smoothing and accelerate are for method='ibu'.")
    if smoothing and accelerate:
        raise ParameterError(
            "strides lead to the most likely population, which smoothing does not; choose one of them."
        )
    if intervals is not None and (rank_of(operator) or operator.shape[0]) < operator.shape[0]:
        raise ParameterError(
            "these reports cannot tell the population, so there are no confidence intervals; choose a larger epsilon or more "
            "outputs."
        )
    steps = _steps(operator) if iterations is None else iterations
    prior = None if start is None else starting_point(operator, start)
    unbiased: Floats | None = None
    if chosen == "inversion":
        unbiased = invert(shares, operator)
        fitted = project(unbiased)
        found = certify(fitted, shares, operator)
        fit = Fit(fitted, found, 0, found.gap * total <= gap)
    elif chosen == "mle":
        fit = _most_likely(shares, operator, min(gap / total, 1e-9))
    else:
        limits: dict[str, Any] = {"start": prior, "iterations": steps, "gap": gap / total, "progress": progress}
        if accelerate:
            fit = accelerated_update(shares, operator, **limits)
        else:
            fit = bayesian_update(shares, operator, smoothing=smoothing, **limits)
    if chosen != "mle":
        fit = _sharpened(fit, shares, operator, gap / total)
    low, high = _intervals(
        intervals, shares, total, operator, chosen, fit, prior, level, replicates, seed, smoothing, accelerate
    )
    dropped = sum(one.dropped for one in counts)
    return Estimate(
        secrets=models[0].secrets,
        probabilities=fit.probabilities,
        reports=total,
        dropped=dropped,
        method=chosen,
        likelihood=fit.likelihood.value,
        gap=fit.likelihood.gap,
        iterations=fit.iterations,
        converged=fit.converged,
        warnings=_warnings(operator, shares, fit, chosen, dropped, total) + _bent(intervals, chosen),
        mechanism=", ".join(dict.fromkeys(model.name for model in models)),
        promise="; ".join(dict.fromkeys(m.promise for m in models if m.promise)) or None,
        low=low,
        high=high,
        level=float(level),
        intervals=intervals,
        unbiased=unbiased,
        trace=fit.trace,
        _shares=shares,
        _operator=operator,
    )


def _from_support(
    reports: Any, oracles: list[Oracle], method: str, outside: str, intervals: str | None, level: float
) -> Estimate:
    """Frequency oracles: unbiased shares from counts of support, then projected."""
    if method not in ("auto", "inversion"):
        raise ParameterError(
            f"method={method!r} needs counts of outputs, and reports of {oracles[0].name} are counted by the categories they "
            "support; choose method='inversion', or Hadamard or randomised response."
        )
    found = combine(reports, oracles, outside)
    low, high = (None, None) if intervals is None else found.intervals(level)
    return Estimate(
        secrets=found.secrets,
        probabilities=found.probabilities,
        reports=found.reports,
        dropped=found.dropped,
        method="inversion",
        likelihood=None,
        gap=math.inf,
        iterations=0,
        converged=True,
        warnings=(*_left_out(found.dropped, found.reports), *found.warnings),
        mechanism=", ".join(dict.fromkeys(oracle.name for oracle in oracles)),
        promise="; ".join(dict.fromkeys(str(oracle.guarantee) for oracle in oracles)),
        low=low,
        high=high,
        level=float(level),
        intervals=intervals,
        unbiased=found.unbiased,
    )


def _counted(reports: Any, models: list[Model], outside: str) -> list[Counts]:
    if not models:
        raise ParameterError("estimation needs at least one mechanism.")
    if not isinstance(reports, (list, tuple)) or len(reports) != len(models):
        raise ParameterError(f"a list of {len(models)} mechanisms needs a list of as many columns of reports.")
    return [count_reports(one, model.outputs, outside) for one, model in zip(reports, models, strict=True)]


def _together(models: list[Model], counts: list[Counts], total: int) -> Operator:
    if len(models) == 1:
        return models[0].operator
    first = models[0].secrets
    if any(len(m.secrets) != len(first) or list(m.secrets) != list(first) for m in models[1:]):
        raise ParameterError("mechanisms in one data set must be about the same secrets, in the same order.")
    return StackedOperator([model.operator for model in models], [one.total / total for one in counts])


def _chosen(method: str, models: list[Model]) -> str:
    """Categories get a most likely population; numbers and places, which have neighbours, the smoother one."""
    if method != "auto":
        return method
    if all(isinstance(model.operator, ResponseOperator) for model in models):
        return "mle"
    if all(isinstance(model.operator, HadamardOperator) for model in models):
        return "mle" if max(models[0].operator.shape) <= QUICK else "inversion"
    first: Any = models[0].secrets[0]
    parts = first if isinstance(first, tuple) else (first,)
    return "ibu" if all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in parts) else "mle"


def _steps(operator: Operator) -> int:
    """Enough to tell peaks apart and few enough to stay smooth; fewer where each of them takes long."""
    return 1000 if max(operator.shape) <= 100_000 else 100


def _most_likely(shares: Floats, operator: Operator, gap: float) -> Fit:
    if isinstance(operator, ResponseOperator):
        check_possible(shares, operator)
        found = response_mle(shares, other=operator.other, lift=operator.lift)
        return Fit(found, certify(found, shares, operator), 0, True)
    return most_likely(shares, operator, gap=gap)


def _sharpened(fit: Fit, shares: Floats, operator: Operator, gap: float) -> Fit:
    """The same fit with a sharper certificate, where a best population is quickly found: its likelihood bounds all others."""
    if fit.converged or operator.shape[0] > QUICK or int((shares > 0).sum()) > QUICK:
        return fit
    best = most_likely(shares, operator).likelihood
    mine = fit.likelihood
    sharper = max(best.value + best.gap - mine.value, 0.0) + rounding(mine.value, operator)
    likelihood = Likelihood(mine.value, min(mine.gap, sharper))
    return replace(fit, likelihood=likelihood, converged=likelihood.gap <= gap)


def _intervals(
    kind: str | None,
    shares: Floats,
    total: int,
    operator: Operator,
    method: str,
    fit: Fit,
    start: Floats | None,
    level: float,
    replicates: int,
    seed: int,
    smoothing: float,
    accelerate: bool,
) -> tuple[Floats | None, Floats | None]:
    if kind is None:
        return None, None
    if kind == "asymptotic":
        low, high = asymptotic(shares, total, operator.inverse(), level)
    else:
        again = _estimator(method, operator, fit, start, smoothing, accelerate)
        low, high = bootstrap(shares, total, again, level, replicates, np.random.default_rng(seed))
        low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
    # An interval that leaves its own estimate out would only confuse; a wider one covers no less.
    return np.minimum(low, fit.probabilities), np.maximum(high, fit.probabilities)


def _estimator(
    method: str, operator: Operator, fit: Fit, start: Floats | None, smoothing: float, accelerate: bool
) -> Callable[[Floats], Floats]:
    """The same estimator for a batch of shares."""
    if method == "inversion":
        return operator.inverse().left
    if method == "ibu":
        limits: dict[str, Any] = {"start": start, "iterations": max(fit.iterations, 1)}
        if accelerate:
            return lambda q: np.array([accelerated_update(one, operator, **limits).probabilities for one in q])
        if smoothing:
            limits["smoothing"] = smoothing
            return lambda q: np.array([bayesian_update(one, operator, **limits).probabilities for one in q])
        return lambda q: bayesian_updates(q, operator, **limits)
    if isinstance(operator, ResponseOperator):
        other, lift = operator.other, operator.lift
        return lambda q: response_mle(q, other=other, lift=lift)
    return lambda q: np.array([most_likely(one, operator, gap=1e-7).probabilities for one in q])


def _left_out(dropped: int, total: int) -> tuple[str, ...]:
    if not dropped:
        return ()
    return (
        f"{dropped:,} of {total + dropped:,} reports were left out; the estimate is about the rest, and is biased if "
        "who was left out depends on the secret.",
    )


def _bent(intervals: str | None, method: str) -> tuple[str, ...]:
    if intervals != "bootstrap" or method != "ibu":
        return ()
    return (
        "bootstrap intervals say how much this estimate varies, not how far stopping early bends it; asymptotic ones are about "
        "the truth.",
    )


def _warnings(operator: Operator, q: Floats, fit: Fit, method: str, dropped: int, total: int) -> tuple[str, ...]:
    found = list(_left_out(dropped, total))
    sharp = method != "inversion" and fit.likelihood.gap <= SHARP
    if sharp:
        found += identifiability(operator, q, fit.probabilities, fit.likelihood.gap).warnings
    elif (rank_of(operator) or operator.shape[0]) < operator.shape[0]:
        found += identifiability(operator, q, fit.probabilities).warnings[:1]
    elif method == "ibu" and operator.shape[0] <= QUICK and not (q > 0).all() and int((q > 0).sum()) <= QUICK:
        best = most_likely(q, operator)  # where it is going: not told by where it stopped
        if best.likelihood.gap <= SHARP:
            found += identifiability(operator, q, best.probabilities, best.likelihood.gap).warnings
    if method == "mle" and not fit.converged:
        found.append("floats allow no better certificate here; the gap says how much may be left.")
    if method == "inversion":
        try:
            amplified = operator.inverse().amplification
        except NoisewrightError:
            amplified = 0.0
        if amplified > WEAK:
            found.append(
                f"matrix inversion amplifies the noise of these reports up to {upward(amplified, 3)} times; 'ibu' or 'mle' is "
                "usually far closer."
            )
    return tuple(found)
