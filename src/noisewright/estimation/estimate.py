"""Notes for the reader of an estimate, in one sentence each.

>>> print(*left_out(2, 98))
2 of 100 reports were left out; the estimate is about the rest, and is biased if who was left out depends on the secret.
>>> print(*without_reports([120, 0], ["geometric", "randomised-response"]))
there are no reports of mechanism 2 (randomised-response); the estimate is from the others.

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
private already, so it changes nothing about the guarantee made to those who gave them.

>>> from noisewright.mechanisms.categorical.randomised_response import randomised_response
>>> smoker = randomised_response(["no", "yes"], epsilon="1.0986")
>>> found = estimate({"no": 6000, "yes": 4000}, smoker, intervals="asymptotic")
>>> print(found)
estimate of 2 secrets from 10,000 reports (mle, exact closed form)
  secret    share    95 % interval
  no       0.7000   0.6807 to 0.7191
  yes      0.3000   0.2809 to 0.3193
intervals: asymptotic, each for one secret alone
within ... log-likelihood units of the best population (certified)

Numbers, with the mean of the population and its interval:

>>> import numpy as np
>>> from noisewright.mechanisms.numeric.geometric import geometric
>>> age = geometric(epsilon="0.1", within=(0, 100))
>>> rng = np.random.default_rng(1)
>>> reports = age.release(rng.binomial(100, 0.3, 20_000), rng)
>>> average = estimate(reports, age).average(range(101))
>>> bool(average.low < 30 < average.high), round(average.standard_error, 1)
(True, 0.1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright._utils.validation import guided, is_whole, one_of
from noisewright.claims.figures import upward
from noisewright.estimation.bayesian_update import Fit, check_update, starting_point
from noisewright.estimation.counts import Counts, Model, count_reports, models_of, same_secrets
from noisewright.estimation.fitting import QUICK, Fitting, fitted, most_likely, refitted
from noisewright.estimation.frequencies import Combined, as_oracles, combine
from noisewright.estimation.frequencies import shares as shares_of
from noisewright.estimation.likelihood import WEAK, identifiability, invert, misfit, rank_of
from noisewright.estimation.operators import HadamardOperator, Operator, ResponseOperator, StackedOperator
from noisewright.estimation.result import Estimate, asymptotic, bootstrap, needs_tails, shared_confidence, tail_interval
from noisewright.exceptions import DataError, NoisewrightError, ParameterError
from noisewright.mechanisms.categorical.frequency_oracle import Oracle, Support
from noisewright.numerics.exact import Exact, as_confidence

__all__ = ["about_the_fit", "bent", "estimate", "left_out", "without_reports"]


SHARP = 1e-7
"""A certified gap below this per report is as good as none, so that ties can be recognised."""


def without_reports(reports: Sequence[int], names: Sequence[str]) -> tuple[str, ...]:
    """Return the note that some of several mechanisms, in the order in which they were given, have no reports."""
    empty = [f"mechanism {place + 1} ({name})" for place, name in enumerate(names) if not reports[place]]
    return (f"there are no reports of {', '.join(empty)}; the estimate is from the others.",) if empty else ()


def left_out(dropped: int, total: int) -> tuple[str, ...]:
    """Return the note that some reports do not count."""
    if not dropped:
        return ()
    return (
        f"{dropped:,} of {total + dropped:,} reports were left out; the estimate is about the rest, and is biased if "
        "who was left out depends on the secret.",
    )


def bent(intervals: str | None, method: str) -> tuple[str, ...]:
    """Return the note that a bootstrap does not see a bias."""
    if intervals != "bootstrap" or method != "ibu":
        return ()
    return (
        "bootstrap intervals say how much this estimate varies, not how far stopping early bends it; asymptotic ones are about "
        "the truth.",
    )


def about_the_fit(how: Fitting, q: Floats, fit: Fit) -> list[str]:
    """Return whether other populations fit as well, and the effect of floats or noise on this one."""
    operator, found = how.operator, list[str]()
    sharp = how.method != "inversion" and fit.likelihood.gap <= SHARP
    if sharp:
        found += identifiability(operator, q, fit.probabilities, fit.likelihood.gap).warnings
    elif (rank_of(operator) or operator.shape[0]) < operator.shape[0]:
        found += identifiability(operator, q, fit.probabilities).warnings[:1]
    elif how.method == "ibu" and operator.shape[0] <= QUICK and not (q > 0).all() and int((q > 0).sum()) <= QUICK:
        best = most_likely(q, operator)  # the direction of the iteration: not visible from where it stopped
        if best.likelihood.gap <= SHARP:
            found += identifiability(operator, q, best.probabilities, best.likelihood.gap).warnings
    if how.method == "mle" and not fit.converged:
        found.append("floats allow no better certificate here; the gap says how much may be left.")
    if how.method == "inversion":
        try:
            amplified = operator.inverse().amplification
        except NoisewrightError:
            amplified = 0.0
        if amplified > WEAK:
            found.append(
                f"matrix inversion amplifies the noise of these reports up to {upward(amplified, 3)} times; 'ibu' or 'mle' is "
                "usually far closer."
            )
    return found


# Estimate -----------------------------------------------------------------------------------------------------------------
#
# ``nw.estimate``: the population behind private reports.


Method = Literal["auto", "inversion", "ibu", "mle"]
Intervals = Literal["asymptotic", "bootstrap"]
Ends = tuple[Floats | None, Floats | None]

METHODS = ("auto", "inversion", "ibu", "mle")


@guided
def estimate(
    reports: Any,
    mechanism: Any,
    *,
    method: Method = "auto",
    within: Any = None,
    outside: Literal["refuse", "drop"] = "refuse",
    intervals: Intervals | None = None,
    confidence: Exact = 0.95,
    joint: bool = False,
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

    ``reports`` is a column (list, array, Arrow, pandas, polars, an iterator), a mapping from outputs to counts, or
    :class:`~noisewright.estimation.counts.Counts`. Where people used different mechanisms, or one with different
    epsilons, give a list of columns and a list of mechanisms. ``mechanism`` is the one that made the reports, its
    channel, its certificate, or :func:`~noisewright.estimation.counts.independent` mechanisms for the parts of a
    report.
    ``within`` is the range of the secrets of noise without bounds.

    ``outside="drop"`` leaves out reports that are not outputs of the mechanism. ``intervals`` adds confidence intervals
    at ``confidence``, for every secret alone, or with ``joint`` for all of them at the same time (``replicates`` and
    ``seed`` belong to the bootstrap). The iterative Bayesian update stops at a certified ``gap`` in log-likelihood
    units or after ``iterations`` steps; ``start`` is its starting population, ``smoothing`` mixes neighbours, and
    ``accelerate`` takes strides towards the most likely population.
    """
    one_of(method, "method", METHODS)
    update = _Update(iterations, gap, start, smoothing, accelerate)
    wanted = _Wanted(intervals, as_confidence(confidence), joint, replicates, seed)
    columns, mechanisms = _paired(reports, mechanism)
    oracles = as_oracles(mechanisms)
    if oracles is not None:
        if within is not None or update.is_steered or intervals == "bootstrap":
            raise ParameterError(
                "within, start, smoothing, accelerate and bootstrap intervals are not for counts of support."
            )
        return _from_support(columns, oracles, method, outside, wanted)
    counted = _counted(columns, models_of(mechanisms, within), outside)
    return _from_counts(counted, update.fitting(_chosen(method, counted.models), counted), wanted, progress)


def _paired(reports: Any, mechanism: Any) -> tuple[Sequence[Any], list[Any]]:
    """Columns of reports and the mechanisms that made them, one of each or as many of the ones as of the others."""
    several = isinstance(mechanism, (list, tuple))
    mechanisms, columns = (list(mechanism), reports) if several else ([mechanism], [reports])
    if not mechanisms:
        raise ParameterError("estimation needs at least one mechanism.")
    if not isinstance(columns, (list, tuple)) or len(columns) != len(mechanisms):
        raise ParameterError(f"a list of {len(mechanisms)} mechanisms needs a list of as many columns of reports.")
    return columns, mechanisms


# What is asked for -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wanted:
    """The confidence intervals that are wanted, if any."""

    kind: Intervals | None
    confidence: float
    joint: bool
    replicates: int
    seed: int

    def __post_init__(self) -> None:
        if not isinstance(self.joint, bool):
            raise ParameterError("joint must be True or False: whether intervals hold for all secrets together.")
        if self.kind is None:
            if self.joint:
                raise ParameterError("joint is about intervals; add intervals='asymptotic' or 'bootstrap'.")
            return
        one_of(self.kind, "intervals", ("asymptotic", "bootstrap"))
        if not is_whole(self.seed) or self.seed < 0:
            raise ParameterError("seed must be a whole number from 0.")


@dataclass(frozen=True)
class _Update:
    """Start, steps and stopping rule of the iterative Bayesian update."""

    iterations: int | None
    gap: float
    start: ArrayLike | None
    smoothing: float
    accelerate: bool

    def __post_init__(self) -> None:
        check_update(1 if self.iterations is None else self.iterations, self.gap, self.smoothing)

    @property
    def is_steered(self) -> bool:
        """Return whether something was said that is about this method alone."""
        return self.start is not None or bool(self.smoothing or self.accelerate)

    def fitting(self, method: str, counted: _Counted) -> Fitting:
        """Return the settings for fitting the population to these counts."""
        if self.is_steered and method != "ibu":
            raise ParameterError("start, smoothing and accelerate are for method='ibu'.")
        if self.smoothing and self.accelerate:
            raise ParameterError(
                "strides lead to the most likely population, which smoothing does not; choose one of them."
            )
        return Fitting(
            method,
            counted.operator,
            gap=self.gap / counted.total,
            steps=_steps(counted.operator) if self.iterations is None else self.iterations,
            start=None if self.start is None else starting_point(counted.operator, self.start),
            smoothing=self.smoothing,
            accelerate=self.accelerate,
        )


# Frequency oracles ---------------------------------------------------------------------------------------------------


def _from_support(
    reports: Sequence[Any], oracles: list[Oracle], method: str, outside: str, wanted: _Wanted
) -> Estimate:
    """Unbiased shares from counts of support, then projected."""
    if method not in ("auto", "inversion"):
        raise ParameterError(
            f"method={method!r} needs counts of outputs, and reports of {oracles[0].name} are counted by the categories they "
            "support; choose method='inversion', or Hadamard or randomised response."
        )
    same_secrets([oracle.categories for oracle in oracles])
    groups = [r if isinstance(r, Support) else o.support(r) for r, o in zip(reports, oracles, strict=True)]
    sizes = [one.reports + one.outside for one in groups]
    used, notes = _used(sizes), without_reports(sizes, [oracle.name for oracle in oracles])
    oracles = [oracles[i] for i in used]
    found = combine([groups[i] for i in used], oracles, outside)
    low, high = _support_intervals(wanted, found)
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
        warnings=(*left_out(found.dropped, found.reports), *notes, *found.warnings),
        mechanism=", ".join(dict.fromkeys(oracle.name for oracle in oracles)),
        promise="; ".join(dict.fromkeys(str(oracle.guarantee) for oracle in oracles)),
        low=low,
        high=high,
        confidence=wanted.confidence,
        intervals=wanted.kind,
        joint=wanted.joint,
        unbiased=found.unbiased,
    )


def _support_intervals(wanted: _Wanted, found: Combined) -> Ends:
    if wanted.kind is None:
        return None, None
    if not wanted.joint:
        return found.intervals(wanted.confidence)
    confidence, several = shared_confidence(wanted.confidence, len(found.secrets)), len(found.groups)
    if not needs_tails(found.reports if several == 1 else int(found.alike), confidence, several == 1):
        return found.intervals(confidence)
    each = shared_confidence(confidence, several)  # of one mechanism; where all of these hold, so does their average
    low, high = np.zeros(len(found.secrets)), np.zeros(len(found.secrets))
    for weight, support, oracle in found.groups:
        p, q = oracle.support_probabilities
        extremes = -float(q / (p - q)), float((1 - q) / (p - q))
        ends = tail_interval(shares_of(support, oracle), extremes, support.reports, each, either=True)
        low, high = low + weight * ends[0], high + weight * ends[1]
    return _holding(found.probabilities, low, high)


# Counts of outputs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Counted:
    """The reports of one or several mechanisms, counted by outputs: ``shares`` of all reports, and the operator behind them."""

    models: list[Model]
    operator: Operator
    shares: Floats
    total: int
    dropped: int
    notes: tuple[str, ...]


def _counted(columns: Sequence[Any], models: Sequence[Model], outside: str) -> _Counted:
    groups = [
        count_reports(one, model.outputs, outside, empty=len(models) > 1)
        for one, model in zip(columns, models, strict=True)
    ]
    sizes = [one.total for one in groups]
    used, notes = _used(sizes), without_reports(sizes, [model.name for model in models])
    models, counts = [models[i] for i in used], [groups[i] for i in used]
    total = sum(one.total for one in counts)
    return _Counted(
        models,
        _together(models, counts, total),
        shares=np.concatenate([one.counts for one in counts]) / total,
        total=total,
        dropped=sum(one.dropped for one in groups),
        notes=tuple(notes),
    )


def _from_counts(
    counted: _Counted, how: Fitting, wanted: _Wanted, progress: Callable[[int, int], None] | None
) -> Estimate:
    """The population that is fitted to counts of outputs."""
    models, operator, shares, total = counted.models, counted.operator, counted.shares, counted.total
    if wanted.kind is not None and (rank_of(operator) or operator.shape[0]) < operator.shape[0]:
        raise ParameterError(
            "these reports cannot tell the population, so there are no confidence intervals; choose a larger epsilon or more "
            "outputs."
        )
    unbiased = invert(shares, operator) if how.method == "inversion" else None
    fit = fitted(how, shares, unbiased=unbiased, progress=progress)
    low, high = _intervals(wanted, how, shares, total, fit)
    return Estimate(
        secrets=models[0].secrets,
        probabilities=fit.probabilities,
        reports=total,
        dropped=counted.dropped,
        method=how.method,
        likelihood=fit.likelihood.value,
        gap=fit.likelihood.gap,
        iterations=fit.iterations,
        converged=fit.converged,
        warnings=(
            *misfit(shares, total, fit.likelihood.value, fit.likelihood.gap, len(shares) - len(models)),
            *left_out(counted.dropped, total),
            *counted.notes,
            *about_the_fit(how, shares, fit),
            *bent(wanted.kind, how.method),
        ),
        mechanism=", ".join(dict.fromkeys(model.name for model in models)),
        promise=_promise(models),
        low=low,
        high=high,
        confidence=wanted.confidence,
        intervals=wanted.kind,
        joint=wanted.joint,
        unbiased=unbiased,
        trace=fit.trace,
        _shares=shares,
        _operator=operator,
    )


def _used(reports: Sequence[int]) -> list[int]:
    """Return which of several mechanisms have reports."""
    found = [place for place, count in enumerate(reports) if count]
    if not found:
        raise DataError("there are no reports to estimate from.")
    return found


def _together(models: Sequence[Model], counts: Sequence[Counts], total: int) -> Operator:
    if len(models) == 1:
        return models[0].operator
    return StackedOperator([model.operator for model in models], [one.total / total for one in counts])


def _promise(models: Sequence[Model]) -> str | None:
    """Return the guarantee of each report; where it is known of some mechanisms only, state that it is not known of the
    others.
    """
    if not any(model.promise for model in models):
        return None
    return "; ".join(dict.fromkeys(model.promise or "no promise known" for model in models))


def _chosen(method: str, models: Sequence[Model]) -> str:
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
    """Return a number large enough to distinguish peaks and small enough to stay smooth; smaller where each of them
    takes long.
    """
    return 1000 if max(operator.shape) <= 100_000 else 100


def _intervals(wanted: _Wanted, how: Fitting, shares: Floats, total: int, fit: Fit) -> Ends:
    if wanted.kind is None:
        return None, None
    if wanted.kind == "asymptotic":
        low, high = asymptotic(shares, total, how.operator.inverse(), wanted.confidence, joint=wanted.joint)
    else:
        again, rng = refitted(how, fit.iterations), np.random.default_rng(wanted.seed)
        cuts = how.operator.cuts if isinstance(how.operator, StackedOperator) else ()
        low, high = bootstrap(
            shares, total, again, wanted.confidence, wanted.replicates, rng, joint=wanted.joint, cuts=cuts
        )
    return _holding(fit.probabilities, low, high)


def _holding(probabilities: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Intervals within [0, 1]. One that leaves its own estimate out would only confuse; a wider one covers no less."""
    return np.minimum(np.clip(low, 0, 1), probabilities), np.maximum(np.clip(high, 0, 1), probabilities)
