r"""The iterative Bayesian update: expectation-maximisation for the population behind private reports.

From a population with full support, repeat

.. math:: p_i \leftarrow p_i \sum_j q_j \frac{M_{ij}}{(pM)_j} .

Each step keeps the sum, never lowers the likelihood, and the limit is a most likely population. Where matrix inversion
gives a distribution, the limit is that. Stopping early smooths: at the limit a most likely population is often a few
spikes.

It stops when the certified gap (:mod:`~noisewright.estimation.fitting.likelihood`) is below ``gap`` or after ``iterations``
steps, whichever is first; the gap is part of the answer either way. With ``smoothing`` each step also mixes neighbours
in the order of the secrets with weights 1, 2, 1; the result is then no longer the most likely one, and its gap says by
how much.

>>> import numpy as np
>>> from noisewright.estimation.operators.operator import DenseOperator
>>> coin = DenseOperator(np.array([[2, 1], [1, 2]]) / 3)
>>> bayesian_update(np.array([0.9, 0.1]), coin, iterations=10).probabilities.round(5).tolist()
[0.99117, 0.00883]

Reference: Agrawal and Aggarwal, *On the design and quantification of privacy preserving data mining algorithms* (2001);
ElSalamouny and Palamidessi, *Generalized iterative Bayesian update* (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number, is_whole
from noisewright.core.errors import ParameterError
from noisewright.estimation.fitting.likelihood import TINY, Likelihood, TracePoint, certify, check_possible, ratios
from noisewright.estimation.operators.operator import DenseOperator, Operator

__all__ = [
    "Fit",
    "bayesian_update",
    "bayesian_updates",
    "begun",
    "check_update",
    "ended",
    "reported",
    "starting_point",
    "stepper",
]


CHECKED = 64
"""Number of steps between two checks of the stopping rule."""


@dataclass(frozen=True)
class Fit:
    """A population fitted to reports, with its certificate and the way there."""

    probabilities: Floats
    likelihood: Likelihood
    iterations: int
    converged: bool
    """Whether the certified gap is as small as requested."""
    trace: tuple[TracePoint, ...] = ()


def bayesian_update(
    q: Floats,
    operator: Operator,
    *,
    start: Floats | None = None,
    iterations: int = 5000,
    gap: float = 0.0,
    smoothing: float = 0.0,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """One problem: shares ``q`` of the outputs that sum to 1, and a ``gap`` (per report) to stop at."""
    p = begun(q, operator, start, iterations, gap, smoothing)
    step = stepper(q, operator, smoothing)
    trace: list[TracePoint] = []
    done, following = 0, 1
    while True:
        m = operator.forward(p)
        bound = float(np.log(operator.backward(ratios(q, m)).max()))
        if done in (0, following, iterations) or bound <= gap:
            seen = q > 0
            value = float(q[seen] @ np.log(np.maximum(m[seen], TINY)))
            trace.append(TracePoint(done, value, max(bound, 0.0)))
            following = max(following + 1, int(following * 1.2)) if done == following else following
            if progress is not None:
                progress(done, iterations)
        if done == iterations or (bound <= gap and certify(p, q, operator).gap <= gap):
            break
        look = min(max(following, done + 1), iterations)
        if gap:  # no certificate is 0
            look = min(look, done - done % CHECKED + CHECKED)
        p = step(p, look - done)
        p /= p.sum()  # rounding only: a step keeps the sum
        done = look
    return ended(p, q, operator, done, gap, trace)


def begun(
    q: Floats, operator: Operator, start: Floats | None, iterations: int, gap: float, smoothing: float = 0.0
) -> Floats:
    """Return the initial state of updates, after validating their arguments."""
    check_update(iterations, gap, smoothing)
    p = starting_point(operator, start)
    check_possible(q, operator)
    return p


def ended(p: Floats, q: Floats, operator: Operator, done: int, gap: float, trace: Iterable[TracePoint]) -> Fit:
    """The population that updates came to, certified."""
    found = certify(p, q, operator)
    return Fit(p, found, done, found.gap <= gap, tuple(trace))


def bayesian_updates(q: Floats, operator: Operator, *, iterations: int, start: Floats | None = None) -> Floats:
    """A batch of problems, one in each row of ``q``, with the same number of steps for all."""
    check_update(iterations, 0.0, 0.0)
    p = np.broadcast_to(starting_point(operator, start), (*q.shape[:-1], operator.shape[0])).copy()
    for _ in range(iterations):
        p *= operator.backward(ratios(q, operator.forward(p)))
    return np.asarray(p / p.sum(axis=-1, keepdims=True))


def stepper(q: Floats, operator: Operator, smoothing: float = 0.0) -> Callable[[Floats, int], Floats]:
    """Return a function that takes a population some steps further."""
    if isinstance(operator, DenseOperator) and not smoothing:
        return _dense_stepper(q, operator)

    def step(p: Floats, count: int) -> Floats:
        for _ in range(count):
            p = p * operator.backward(ratios(q, operator.forward(p)))
            if smoothing:
                p = _smoothed(p, smoothing)
        return p

    return step


def _dense_stepper(q: Floats, operator: DenseOperator) -> Callable[[Floats, int], Floats]:
    """Small matrices spend their time between the products, so nothing is allocated and unreported outputs are left out."""
    matrix, transposed, shares = reported(q, operator)
    law, factors = np.empty(len(shares)), np.empty(len(matrix))
    floor = np.full(len(shares), TINY)
    forward, backward, divide, multiply = transposed.dot, matrix.dot, np.divide, np.multiply

    def walk(p: Floats, count: int, floored: bool) -> Floats:
        p = p.copy()
        for _ in range(count):
            forward(p, law)
            if floored:
                np.maximum(law, floor, out=law)
            divide(shares, law, law)
            backward(law, factors)
            multiply(p, factors, p)
        return p

    def step(p: Floats, count: int) -> Floats:
        with np.errstate(all="ignore"):
            found = walk(p, count, floored=False)
        # A law that rounding made 0 shows in the result, and is so rare that it is cheaper to walk again than to look.
        return found if np.isfinite(found).all() else walk(p, count, floored=True)

    return step


def reported(q: Floats, operator: DenseOperator) -> tuple[Floats, Floats, Floats]:
    """The columns of a matrix that were reported, the same transposed, and their shares."""
    seen = q > 0
    if seen.all():
        return operator.matrix, operator.transposed, q
    matrix = np.ascontiguousarray(operator.matrix[:, seen])
    return matrix, np.ascontiguousarray(matrix.T), q[seen]


def starting_point(operator: Operator, start: ArrayLike | None) -> Floats:
    """A starting population with full support: a secret that starts at 0 would stay there."""
    n = operator.shape[0]
    if start is None:
        return np.full(n, 1 / n)
    try:
        given = np.asarray(start, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape != (n,) or not np.isfinite(given).all() or not (given > 0).all():
        raise ParameterError(f"start must be {n} numbers above 0, one for each secret: a secret at 0 would stay there.")
    return np.asarray(given / given.sum())


def check_update(iterations: int, gap: float, smoothing: float) -> None:
    """Refuse settings that make no sense."""
    if not is_whole(iterations) or iterations < 1:
        raise ParameterError("iterations must be a whole number from 1.")
    if not is_number(gap) or not gap >= 0:
        raise ParameterError("gap must be a number from 0, in log-likelihood.")
    if not is_number(smoothing) or not 0 <= smoothing <= 1:
        raise ParameterError("smoothing must be a number from 0 to 1.")


def _smoothed(p: Floats, weight: float) -> Floats:
    """Mixed with neighbours, 1-2-1, reflected at both ends; keeps the sum."""
    mixed = p / 2
    mixed[1:] += p[:-1] / 4
    mixed[:-1] += p[1:] / 4
    mixed[[0, -1]] += p[[0, -1]] / 4
    return np.asarray((1 - weight) * p + weight * mixed)
