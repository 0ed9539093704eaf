r"""Audits: the smallest guarantee a finite channel really has, with the worst case as evidence.

All functions work on plain arrays (rows are secrets); :class:`~noisewright.core.channel.Channel` is their usual caller.
What is reported is rounded towards privacy: an epsilon or delta is never below the true one of the given floats.

* ``C`` is private for ``epsilon`` times a metric ``d`` iff ``d_C <= epsilon d``, where
  ``d_C(x, x') = max_y |ln C[x,y] / C[x',y]|`` is the channel's own metric.
* A zero next to a non-zero in one column at a finite distance is an infinite loss; two zeros are no constraint.
* ``delta(epsilon)`` is the largest ``sum_y max(C[x,y] - e^(epsilon d) C[x',y], 0)``: one pass, no subsets of outputs.

References: Chatzikokolakis et al., *Broadening the scope of differential privacy using metrics* (2013), for d-privacy;
Balle and Wang (2018) for the hockey-stick form of delta.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, exp_bounds, float_down, float_up
from noisewright.core.metric import Discrete, Line, Metric, Scaled

__all__ = [
    "Audit",
    "Event",
    "d_leakage",
    "d_vulnerability",
    "directed",
    "distinguishability",
    "epsilon_at",
    "smallest_epsilon",
    "worst_event",
]

Floats = NDArray[np.float64]
Label = Hashable

_IMPOSSIBLE = -1e9
"""Stands for log 0: two of them differ by 0 (no constraint), one against any other differs by more than 1e8."""


@dataclass(frozen=True)
class Audit:
    """The smallest epsilon for one metric (and delta), with the pair of secrets and the output that need it."""

    value: float
    metric: Metric
    pair: tuple[Label, Label] | None
    output: Label | None
    probabilities: tuple[float, float] | None
    delta: float = 0.0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        with_delta = f" with delta = {self.delta:g}" if self.delta else ""
        head = f"epsilon = {self.value:.6g} per unit of {self.metric}{with_delta}"
        if self.pair is None:
            return f"{head}; the output tells nothing"
        text = f"{head}; worst pair {self.pair[0]} and {self.pair[1]}"
        if self.probabilities is None:
            return text
        return f"{text}, output {self.output}: {self.probabilities[0]:.6g} against {self.probabilities[1]:.6g}"

    def to_json(self) -> dict[str, Any]:
        """The audit as plain data."""
        return {
            "epsilon": self.value if math.isfinite(self.value) else "inf",
            "metric": str(self.metric),
            "delta": self.delta,
            "pair": None if self.pair is None else list(self.pair),
            "output": self.output,
            "probabilities": None if self.probabilities is None else list(self.probabilities),
        }


@dataclass(frozen=True)
class Event:
    """The set of outputs whose probability differs most beyond the allowed factor."""

    delta: float
    pair: tuple[Label, Label] | None
    outputs: tuple[Label, ...]
    epsilon: float
    metric: Metric


def distinguishability(logs: Floats) -> Floats:
    """``d_C``: the largest absolute log-ratio for every pair of rows."""
    finite = _finite(logs)
    result = cdist(finite, finite, "chebyshev")
    return np.asarray(np.where(result > 1e8, np.inf, result))


def directed(logs: Floats) -> Floats:
    """``D[x, x'] = max_y ln C[x,y] / C[x',y]``, in one direction only."""
    finite = _finite(logs)
    result = np.array([(row - finite).max(axis=1) for row in finite])
    return np.where(result > 1e8, np.inf, np.maximum(result, 0.0))


def smallest_epsilon(logs: Floats, inputs: Sequence[Label], outputs: Sequence[Label], metric: Metric) -> Audit:
    """The smallest epsilon for a metric: ``max over pairs of d_C / d``.

    Distances on a line add up, so neighbours decide, and under the discrete metric a column's largest and smallest
    entries do: both in one pass over the matrix. Other metrics take every pair.
    """
    base, factor = (metric.inner, float(metric.factor)) if isinstance(metric, Scaled) else (metric, 1.0)
    if isinstance(base, Line):
        ratio, first, second = _along_line(logs, base, inputs)
    elif isinstance(base, Discrete):
        ratio, first, second = _between_extremes(logs)
    else:
        ratio, first, second = _all_pairs(logs, base.matrix(inputs))
    if ratio == 0:
        return Audit(0.0, metric, None, None, None)
    finite = _finite(logs)
    column = int(np.abs(finite[first] - finite[second]).argmax())
    if finite[first, column] < finite[second, column]:
        first, second = second, first
    # Both logarithms, their difference and the quotient are off by at most one unit in the last place each.
    spread = np.abs(finite[[first, second], column]).max() if math.isfinite(ratio) else 0.0
    loss = float(base.matrix([inputs[first], inputs[second]])[0, 1])
    rounded = ratio if math.isinf(ratio) else (ratio * (1 + 2.0**-50) + (2.0**-51 * float(spread)) / loss) / factor
    probabilities = (math.exp(logs[first, column]), math.exp(logs[second, column]))
    return Audit(rounded, metric, (inputs[first], inputs[second]), outputs[column], probabilities)


def worst_event(
    matrix: Floats,
    inputs: Sequence[Label],
    outputs: Sequence[Label],
    epsilon: Exact,
    metric: Metric,
    within: float | None,
) -> Event:
    """The largest hockey-stick divergence, exact up to an upward rounding of a few units in the last place."""
    exact = as_fraction(epsilon, "epsilon")
    if exact < 0:
        raise ParameterError(f"epsilon must be 0 or more, not {float(exact):g}.")
    best, pair = 0.0, (0, 0)
    factors = _factors(exact, metric, inputs, within)
    for x in range(len(matrix)):
        gaps = matrix[x] - factors[x][:, None] * matrix
        deltas = np.where(gaps > 0, gaps, 0.0).sum(axis=1)
        other = int(deltas.argmax())
        if deltas[other] > best:
            best, pair = float(deltas[other]), (x, other)
    if best == 0:
        return Event(0.0, None, (), float_up(exact), metric)
    first, second = pair
    gaps = matrix[first] - factors[first, second] * matrix[second]
    chosen = tuple(y for y, gap in zip(outputs, gaps, strict=True) if gap > 0)
    delta = min(1.0, math.fsum(g for g in gaps if g > 0) * (1 + 2.0**-50))
    return Event(delta, (inputs[first], inputs[second]), chosen, float_up(exact), metric)


def epsilon_at(
    matrix: Floats,
    inputs: Sequence[Label],
    outputs: Sequence[Label],
    delta: Exact,
    metric: Metric,
    within: float | None,
) -> Audit:
    """The smallest epsilon for a given delta: sort the likelihood ratios and find where the mass above runs out."""
    allowed = as_fraction(delta, "delta")
    if not 0 <= allowed <= 1:
        raise ParameterError(f"delta must be between 0 and 1, not {float(allowed):g}.")
    if allowed == 0 and within is None:
        with np.errstate(divide="ignore"):
            return smallest_epsilon(np.log(matrix), inputs, outputs, metric)
    budget = float_down(allowed)
    best, pair = 0.0, None
    distances = metric.matrix(inputs)
    for x in range(len(matrix)):
        needed = _epsilons_for(matrix[x], matrix, budget)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(needed == 0, 0.0, needed / distances[x])
        ratios[np.isinf(distances[x]) | (distances[x] > (np.inf if within is None else within))] = 0.0
        other = int(ratios.argmax())
        if ratios[other] > best:
            best, pair = float(ratios[other]), (inputs[x], inputs[other])
    return Audit(best * (1 + 2.0**-49), metric, pair, None, None, float_up(allowed))


def d_vulnerability(distribution: Floats, metric: Metric, points: Sequence[Label]) -> float:
    """``max ln(p_x / p_x') / d(x, x')``: how peaked a belief is, in units of the metric."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(distribution, dtype=np.float64))
    ratio, _, _ = _all_pairs(logs[:, None], metric.matrix(points))
    return ratio


def d_leakage(matrix: Floats, prior: Floats, metric: Metric, points: Sequence[Label]) -> float:
    """How much the d-vulnerability grows at the worst output, from a prior that leaves no secret out.

    Its largest value over such priors, the *d-capacity*, is reached at the uniform one and is the smallest epsilon.
    """
    if (prior <= 0).any():
        raise ParameterError("d-leakage needs a prior that gives every secret a probability above 0.")
    with np.errstate(divide="ignore"):
        logs = np.log(matrix[:, matrix.any(axis=0)]) + np.log(prior)[:, None]
    ratio, _, _ = _all_pairs(logs, metric.matrix(points))
    return ratio - d_vulnerability(prior, metric, points)


def _finite(logs: Floats) -> Floats:
    return np.where(np.isneginf(logs), _IMPOSSIBLE, logs)


def _along_line(logs: Floats, metric: Line, inputs: Sequence[Label]) -> tuple[float, int, int]:
    if len(logs) < 2:
        return 0.0, 0, 0
    places = metric.places(inputs)
    order = np.argsort(places, kind="stable")
    losses = np.abs(np.diff(_finite(logs)[order], axis=0)).max(axis=1)
    ratios = _quotients(losses, np.diff(places[order]))
    k = int(ratios.argmax())
    return float(ratios[k]), int(order[k]), int(order[k + 1])


def _between_extremes(logs: Floats) -> tuple[float, int, int]:
    finite = _finite(logs)
    losses = finite.max(axis=0) - finite.min(axis=0)
    column = int(losses.argmax())
    loss = float(losses[column])
    return math.inf if loss > 1e8 else loss, int(finite[:, column].argmax()), int(finite[:, column].argmin())


def _all_pairs(logs: Floats, distances: Floats) -> tuple[float, int, int]:
    ratios = _quotients(distinguishability(logs), distances)
    first, second = np.unravel_index(int(ratios.argmax()), ratios.shape)
    return float(ratios[first, second]), int(first), int(second)


def _quotients(losses: Floats, distances: Floats) -> Floats:
    losses = np.where(losses > 1e8, np.inf, losses)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((losses == 0) | np.isinf(distances), 0.0, losses / distances)


def _factors(epsilon: Fraction, metric: Metric, inputs: Sequence[Label], within: float | None) -> Floats:
    """Allowed factors ``e^(epsilon d)``, rounded down; infinite for pairs that are not promised anything."""
    distances = metric.matrix(inputs)
    unit_low = float_down(Fraction(exp_bounds(epsilon, 80)[0], 1 << 80))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.exp(float(epsilon) * distances * (1 - 2.0**-52)) * (1 - 2.0**-50)
        factors = np.where(distances == 1, unit_low, np.where(distances == 0, 1.0, scaled))
    factors[~np.isfinite(factors)] = np.finfo(np.float64).max
    if within is not None:
        factors[distances > within] = np.finfo(np.float64).max
    return factors


def _epsilons_for(row: Floats, others: Floats, delta: float) -> Floats:
    """For every other row ``b``: the smallest epsilon with ``sum max(a - e^epsilon b, 0) <= delta``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(row > 0, np.where(others > 0, row / others, np.inf), 0.0)
    order = np.argsort(-ratios, axis=1, kind="stable")
    sorted_ratios = np.take_along_axis(ratios, order, axis=1)
    above = np.cumsum(row[order], axis=1)
    below = np.cumsum(np.take_along_axis(others, order, axis=1), axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factor = (above - delta) / below
    # The excess is convex and piecewise linear in the factor; the piece that holds the answer is the one with the
    # largest solution, because every other piece lies below the excess.
    stuck = np.where(np.isinf(sorted_ratios), row[order], 0.0).sum(axis=1) > delta
    factor = np.where(below > 0, factor, -np.inf)
    largest = factor.max(axis=1)
    with np.errstate(divide="ignore"):
        result = np.log(np.maximum(largest, 1.0))
    return np.where(stuck, np.inf, result)
