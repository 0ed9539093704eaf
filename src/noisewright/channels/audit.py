"""Audits: the smallest guarantee a finite channel really has, with the worst case as evidence.

All functions work on plain arrays (rows are secrets); :class:`~noisewright.channels.channel.Channel` is their usual caller.
What is reported is rounded towards privacy: an epsilon or delta is never below the true one of the given floats.

* ``C`` is private for ``epsilon`` times a metric ``d`` iff ``d_C <= epsilon d``, where
  ``d_C(x, x') = max_y |ln C[x,y] / C[x',y]|`` is the channel's own metric.
* A zero next to a non-zero in one column at a finite distance is an infinite loss; two zeros do not constrain.
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

from noisewright._typing import Floats
from noisewright._utils.validation import is_number
from noisewright.claims.figures import exp_bounds, float_down, float_up
from noisewright.claims.readings import needs
from noisewright.exceptions import ParameterError
from noisewright.guarantees import Guarantee, Scope, card
from noisewright.metrics.base import Discrete, Line, Metric, encode_number
from noisewright.metrics.composite import Scaled
from noisewright.numerics.exact import Exact, as_fraction, log_bounds

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


Label = Hashable

_IMPOSSIBLE, _INFINITE = -1e300, 1e299
"""Stand for log 0 and for the loss it causes: two impossible outputs differ by 0 (no constraint), one against any possible
output (whose logarithm is above -1e9, see ``Channel.from_logs``) by more than ``_INFINITE``."""

_LARGEST = np.finfo(np.float64).max
_LARGEST_EXPONENT = 720


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
        return f"{self._head()}; {self.evidence}"

    def _head(self, scope: Scope = "metric") -> str:
        """Return the smallest epsilon and its unit, in exact terms."""
        if math.isinf(self.value):
            return "epsilon = inf"
        return str(Guarantee(self.value, self.metric, self.delta, scope))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: epsilon {self._needs()}; {self._shown()}>"

    def _repr_html_(self) -> str:
        return card("Audit", [("smallest epsilon", self._needs()), ("because", self._shown())])

    def _needs(self, scope: Scope = "metric") -> str:
        """Return the smallest epsilon and its unit, in plain words."""
        if math.isinf(self.value):
            return "infinite"
        return needs(Guarantee(self.value, self.metric, self.delta, scope).record())

    def _shown(self) -> str:
        return self.evidence

    @property
    def evidence(self) -> str:
        """Evidence for the value, in words."""
        if self.pair is None:
            return "the output tells nothing"
        text = f"worst pair {self.pair[0]} and {self.pair[1]}"
        if self.probabilities is None:
            return text
        return f"{text}, output {self.output}: {self.probabilities[0]:.6g} against {self.probabilities[1]:.6g}"

    def to_json(self) -> dict[str, Any]:
        """The audit as plain data."""
        return {
            "epsilon": encode_number(self.value),
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


def distinguishability(given: Floats, exact_logs: bool = False) -> Floats:
    """``d_C``: the largest absolute log-ratio for every pair of rows, rounded up."""
    one_way = directed(given, exact_logs)
    return np.maximum(one_way, one_way.T)


def directed(given: Floats, exact_logs: bool = False) -> Floats:
    """``D[x, x'] = max_y ln C[x,y] / C[x',y]``, in one direction only, rounded up; ``given`` as for the smallest epsilon."""
    numbers = _finite(given) if exact_logs else given
    return np.array([_largest_loss(row, np.minimum(row, numbers), exact_logs) for row in numbers])


def smallest_epsilon(
    given: Floats, inputs: Sequence[Label], outputs: Sequence[Label], metric: Metric, exact_logs: bool = False
) -> Audit:
    """The smallest epsilon for a metric: ``max over pairs of d_C / d``.

    ``given`` are the probabilities, or with ``exact_logs`` their logarithms: the audit takes them as true. Distances on
    a line add up, so neighbours decide, and under the discrete metric a column's largest and smallest entries do: both
    in one pass over the matrix. Other metrics take every pair.
    """
    base, factor = (metric.inner, float_down(metric.factor)) if isinstance(metric, Scaled) else (metric, 1.0)
    numbers = _finite(given) if exact_logs else given
    if isinstance(base, Line):
        ratio, first, second = _along_line(numbers, exact_logs, base, inputs)
    elif isinstance(base, Discrete):
        ratio, first, second = _between_extremes(numbers, exact_logs)
    else:
        ratio, first, second = _all_pairs(numbers, exact_logs, base.matrix(inputs))
    if ratio == 0:
        return Audit(0.0, metric, None, None, None)
    with np.errstate(divide="ignore"):
        logs = numbers[[first, second]] if exact_logs else _finite(np.log(given[[first, second]]))
    losses = np.abs(logs[0] - logs[1])
    # Among outputs that distinguish the pair equally well, except for rounding, the most likely one has the most
    # weight.
    column = int(np.where(losses >= losses.max() * (1 - 1e-12), logs.max(axis=0), -np.inf).argmax())
    if logs[0, column] < logs[1, column]:
        first, second, logs = second, first, logs[::-1]
    # The losses were rounded up; this covers the distance, its factor and the quotients.
    rounded = max(ratio * (1 + 2.0**-50) / factor, 5e-324) if factor else math.inf
    probabilities = (math.exp(logs[0, column]), math.exp(logs[1, column]))
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
        raise ParameterError(f"epsilon must be 0 or more, not {float_up(exact):g}.")
    distances = metric.matrix(inputs)
    deltas = _excesses(matrix, float_down(exact), exact, distances, _promised(distances, within))
    first, second = (int(i) for i in np.unravel_index(int(deltas.argmax()), deltas.shape))
    if deltas[first, second] == 0:
        return Event(0.0, None, (), float_up(exact), metric)
    factors = _factors(float_down(exact), exact, distances)
    chosen = tuple(
        y for y, gap in zip(outputs, _gaps(matrix[first], factors[first], matrix)[second], strict=True) if gap > 0
    )
    # The winner and those so close that rounding might have decided are summed again in fractions, if they are few.
    close = np.argwhere(deltas >= deltas[first, second] * (1 - (matrix.shape[1] + 32) * 2.0**-52)).tolist()
    delta = float(deltas[first, second])
    if len(close) <= 64:
        delta = max(_exact_excess(matrix[i], float(factors[i, j]), matrix[j]) for i, j in close)
    return Event(min(1.0, delta), (inputs[first], inputs[second]), chosen, float_up(exact), metric)


def epsilon_at(
    matrix: Floats,
    inputs: Sequence[Label],
    outputs: Sequence[Label],
    delta: Exact,
    metric: Metric,
    within: float | None,
) -> Audit:
    """The smallest epsilon for a given delta: sort the likelihood ratios and find where the mass above runs out.

    That is done in floats for every pair, and again in fractions for the pairs that rounding might have decided.
    """
    allowed = as_fraction(delta, "delta")
    if not 0 <= allowed <= 1:
        raise ParameterError(f"delta must be between 0 and 1, not {float_up(allowed):g}.")
    if allowed == 1:
        return Audit(0.0, metric, None, None, None, 1.0)
    budget = float_down(allowed)
    distances = metric.matrix(inputs)
    promised = _promised(distances, within)
    needed = np.array([_epsilons_for(row, matrix, budget) for row in matrix])
    ratios = np.where(promised, _quotients(needed, distances), 0.0)
    first, second = (int(i) for i in np.unravel_index(int(ratios.argmax()), ratios.shape))
    best = float(ratios[first, second])
    if math.isfinite(best):
        excesses = _excesses(matrix, best, Fraction(best), distances, promised)
        known: dict[Any, float] = {}
        for i, j in np.argwhere(excesses > budget).tolist():
            columns = tuple(sorted(zip(matrix[i].tolist(), matrix[j].tolist(), strict=True)))
            key = (columns, float(distances[i, j]))
            if key not in known:
                known[key] = _exact_epsilon(columns, allowed, float(distances[i, j]))
            if known[key] > best:
                best, first, second = known[key], i, j
    pair = (inputs[first], inputs[second]) if best else None
    return Audit(best, metric, pair, None, None, float_up(allowed))


def d_vulnerability(distribution: Floats, metric: Metric, points: Sequence[Label]) -> float:
    """``max ln(p_x / p_x') / d(x, x')``: how peaked a belief is, in units of the metric."""
    belief = np.asarray(distribution, dtype=np.float64)
    ratio, _, _ = _all_pairs(belief[:, None], False, metric.matrix(points))
    return ratio


def d_leakage(matrix: Floats, prior: Floats, metric: Metric, points: Sequence[Label]) -> float:
    """Return the growth of the d-vulnerability at the worst output, from a prior that leaves no secret out.

    Its largest value over such priors, the *d-capacity*, is reached at the uniform one and is the smallest epsilon.
    """
    if (prior <= 0).any():
        raise ParameterError("d-leakage needs a prior that gives every secret a probability above 0.")
    ratio, _, _ = _all_pairs(matrix * prior[:, None], False, metric.matrix(points))
    return ratio - d_vulnerability(prior, metric, points)


def _finite(logs: Floats) -> Floats:
    return np.where(np.isneginf(logs), _IMPOSSIBLE, logs)


def _largest_loss(high: Floats, low: Floats, exact_logs: bool) -> Floats:
    """Return for every row the largest ``ln(high / low)``, rounded up, where ``high >= low``."""
    if exact_logs:
        result = (high - low).max(axis=1) * (1 + 2.0**-52)
        return np.asarray(np.where(result > _INFINITE, np.inf, result))
    # ln(1 + (high - low) / low) has a small relative error even where the two are close; log high - log low has not.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        excess = np.where(high > low, (high - low) / low, 0.0).max(axis=1)
        result = np.log1p(excess) * (1 + 2.0**-50)
        for x in np.flatnonzero(np.isinf(result)):  # either impossible, or so small that the quotient overflowed
            top, bottom = np.broadcast_to(high, low.shape)[x], low[x]
            loss = float((_finite(np.log(top)) - _finite(np.log(bottom))).max())
            result[x] = math.inf if loss > _INFINITE else loss * (1 + 2.0**-48)
    return np.asarray(result)


def _along_line(numbers: Floats, exact_logs: bool, metric: Line, inputs: Sequence[Label]) -> tuple[float, int, int]:
    if len(numbers) < 2:
        return 0.0, 0, 0
    steps = list(metric.exact(inputs).pairs())
    left, right = np.array([i for i, _, _ in steps]), np.array([j for _, j, _ in steps])
    distances = np.array([float_down(d) for _, _, d in steps])
    first, second = numbers[left], numbers[right]
    ratios = _quotients(_largest_loss(np.maximum(first, second), np.minimum(first, second), exact_logs), distances)
    k = int(ratios.argmax())
    return float(ratios[k]), int(left[k]), int(right[k])


def _between_extremes(numbers: Floats, exact_logs: bool) -> tuple[float, int, int]:
    losses = _largest_loss(numbers.max(axis=0)[:, None], numbers.min(axis=0)[:, None], exact_logs)
    column = int(losses.argmax())
    return float(losses[column]), int(numbers[:, column].argmax()), int(numbers[:, column].argmin())


def _all_pairs(numbers: Floats, exact_logs: bool, distances: Floats) -> tuple[float, int, int]:
    """Every pair roughly, by one fast pass over logarithms; then those that may be the worst, accurately."""
    from scipy.spatial.distance import cdist

    with np.errstate(divide="ignore"):
        logs = numbers if exact_logs else _finite(np.log(numbers))
    rough = cdist(logs, logs, "chebyshev")
    rough[rough > _INFINITE] = np.inf
    slack = 2.0**-48 * (1 + float(np.abs(logs[logs > _IMPOSSIBLE]).max(initial=0.0)))
    with np.errstate(invalid="ignore"):
        beaten = float(
            np.nan_to_num(_quotients(np.maximum(rough - slack, 0.0), distances), nan=np.inf).max(initial=0.0)
        )
    first, second = np.nonzero(np.triu(_quotients(rough + slack, distances) >= beaten, 1))
    best, pair = 0.0, (0, 0)
    for start in range(0, len(first), 4096):  # ties may be many; rows of pairs are gathered in blocks
        i, j = first[start : start + 4096], second[start : start + 4096]
        one, other = numbers[i], numbers[j]
        losses = _largest_loss(np.maximum(one, other), np.minimum(one, other), exact_logs)
        ratios = _quotients(losses, distances[i, j])
        k = int(ratios.argmax())
        if ratios[k] > best:
            best, pair = float(ratios[k]), (int(i[k]), int(j[k]))
    return best, *pair


def _quotients(losses: Floats, distances: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where((losses == 0) | np.isinf(distances), 0.0, losses / distances)


def _promised(distances: Floats, within: float | None) -> NDArray[np.bool_]:
    """The pairs that are guaranteed anything."""
    if within is not None:
        if not is_number(within):
            raise ParameterError(f"within must be a distance, a number that is 0 or more, not {type(within).__name__}.")
        if not within >= 0:
            raise ParameterError(f"within must be a distance, 0 or more, not {within}; leave it out for every pair.")
        within = math.inf if within == math.inf else float_down(as_fraction(within, "within"))
    return np.isfinite(distances) if within is None else np.isfinite(distances) & (distances <= within)


def _factors(below: float, exact: Fraction, distances: Floats) -> Floats:
    """Allowed factors ``e^(epsilon d)``, rounded down; ``below`` is epsilon as a float, rounded down."""
    # Factors stop at the largest float, e^709.8: a larger exponent would only make a needlessly long integer.
    unit = float_down(Fraction(exp_bounds(min(exact, Fraction(_LARGEST_EXPONENT)), 80)[0], 1 << 80))
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.exp(below * distances * (1 - 2.0**-50)) * (1 - 2.0**-50)
    return np.clip(np.where(distances == 1, unit, scaled), 1.0, _LARGEST)


def _excesses(matrix: Floats, below: float, exact: Fraction, distances: Floats, promised: NDArray[np.bool_]) -> Floats:
    """``sum_y max(C[x,y] - e^(epsilon d) C[x',y], 0)`` for every guaranteed pair, rounded up."""
    factors = _factors(below, exact, distances)
    sums = [np.maximum(_gaps(row, factors[x], matrix), 0.0).sum(axis=1) for x, row in enumerate(matrix)]
    return np.where(promised, np.array(sums) * (1 + (matrix.shape[1] + 16) * 2.0**-53), 0.0)


def _gaps(row: Floats, factors: Floats, others: Floats) -> Floats:
    """``row - factor * other`` with a small *relative* error even where the two almost cancel.

    The rounding error of the product is found by splitting both numbers in halves (Dekker), and taken off as well.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        products = factors[:, None] * others
        high, wide = _half(factors)[:, None], _half(others)
        low, narrow = factors[:, None] - high, others - wide
        errors = low * narrow - (((products - high * wide) - low * wide) - high * narrow)
    # Beyond 2^900 the halves overflow; factors that large are rounded down by more than the product can be rounded up.
    return np.asarray((row - products) - np.where(factors[:, None] < 2.0**900, errors, 0.0))


def _exact_excess(row: Floats, factor: float, other: Floats) -> float:
    """``sum max(row - factor * other, 0)`` in fractions, rounded up."""
    pairs = zip(row.tolist(), other.tolist(), strict=True)
    gaps = (Fraction(a) - Fraction(factor) * Fraction(b) for a, b in pairs if a > 0)
    return float_up(sum((gap for gap in gaps if gap > 0), Fraction(0)))


def _half(values: Floats) -> Floats:
    """The upper 26 bits."""
    with np.errstate(over="ignore", invalid="ignore"):
        shifted = 134217729.0 * values
        return np.asarray(shifted - (shifted - values))


def _exact_epsilon(columns: tuple[tuple[float, float], ...], delta: Fraction, distance: float) -> float:
    """The smallest epsilon for one ordered pair of rows, in fractions, rounded up."""
    pairs = [(Fraction(a), Fraction(b)) for a, b in columns if a > 0]
    pairs.sort(key=lambda pair: pair[1] / pair[0])
    above = below = factor = Fraction(0)
    for a, b in pairs:
        above, below = above + a, below + b
        if above > delta:
            if below == 0:
                return math.inf
            factor = max(factor, (above - delta) / below)
    if factor <= 1:
        return 0.0
    if distance == 0:
        return math.inf
    return float_up(Fraction(log_bounds(factor, 96)[1], 1 << 96) / Fraction(distance))


def _epsilons_for(row: Floats, others: Floats, delta: float) -> Floats:
    """Return for every other row ``b`` the smallest epsilon with ``sum max(a - e^epsilon b, 0) <= delta``."""
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
