"""Lower bounds of the max-mean error of private mechanisms, and the exact optimum of small cases.

The *max-mean error* of a channel is ``E = max over x of the expected distance between its output and x``. For every
``(epsilon, delta)``-private channel (any two secrets), with ``q = e^epsilon``:

* :func:`general_bound`: ``E >= diam (1 - delta) / (1 + q)``, whatever the outputs, attained by two points. The two
  farthest secrets have errors that add up to ``diam`` times the overlap of their output laws, and privacy forces an
  overlap. (The older form of this bound is half as large: ``sharpened=False``.)
* :func:`finite_bound`: ``E >= k (m - 1)(1 - delta) / (m - 1 + q)`` for ``m`` secrets at distance ``k`` or more, *if all
  outputs are secrets too*; with other outputs only half of it, because balls around the secrets may then overlap.
  Attained by randomised response for the discrete metric.

>>> round(general_bound(1, epsilon=math.log(2)), 6), round(finite_bound(4, 1, epsilon=math.log(2)), 6)
(0.333333, 0.6)

:func:`smallest_error` solves the linear program for given secrets and outputs. It is a bound on the possible; it is not
a mechanism.

Reference: Holohan, Leith and Mason, *Differential privacy in metric spaces* (2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import scipy

from noisewright._typing import Floats
from noisewright._utils.validation import is_number
from noisewright.base import check_loss
from noisewright.channels.channel import Channel
from noisewright.claims.figures import upward
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.registry import build, registry
from noisewright.metrics.base import Line, Metric

__all__ = [
    "delta_for",
    "epsilon_for",
    "finite_bound",
    "general_bound",
    "lower_bound",
    "max_mean_error",
    "smallest_error",
]


LARGEST = 60_000
"""Variables of the linear program, beyond which it would take minutes."""


def max_mean_error(channel: Channel, metric: Metric | None = None) -> float:
    """The largest expected distance between a secret and its output."""
    distances = _between(channel.inputs, channel.outputs, metric or Line())
    return float((channel.matrix * distances).sum(axis=1).max())


def general_bound(diameter: float, *, epsilon: float, delta: float = 0.0, sharpened: bool = True) -> float:
    """The lower bound for any secrets, any outputs: ``diameter (1 - delta)/(1 + e^epsilon)``, or half of it."""
    _check(epsilon, delta)
    share = 1 / (1 + math.exp(min(epsilon, 700.0)))
    return diameter * (1 - delta) * share * (1.0 if sharpened else 0.5)


def finite_bound(
    m: int, closest: float, *, epsilon: float, delta: float = 0.0, outputs_are_secrets: bool = True
) -> float:
    """The lower bound for ``m`` secrets at distance ``closest`` or more: half of it if an output need not be a secret."""
    _check(epsilon, delta)
    if m < 1:
        raise ParameterError(f"there must be at least one secret, not {m}.")
    share = (m - 1) / (m - 1 + math.exp(min(epsilon, 700.0)))
    return closest * share * (1 - delta) * (1.0 if outputs_are_secrets else 0.5)


def lower_bound(
    secrets: Sequence[Any],
    *,
    epsilon: float,
    delta: float = 0.0,
    metric: Metric | None = None,
    outputs: Sequence[Any] | None = None,
) -> float:
    """The larger of the two bounds for these secrets; ``outputs`` default to the secrets."""
    points = list(secrets)
    distances = _between(points, points, metric or Line())
    apart = distances[~np.eye(len(points), dtype=bool)]
    inside = outputs is None or all(y in points for y in outputs)
    general = general_bound(float(distances.max()), epsilon=epsilon, delta=delta)
    if not apart.size:
        return general
    finite = finite_bound(len(points), float(apart.min()), epsilon=epsilon, delta=delta, outputs_are_secrets=inside)
    return max(general, finite)


def smallest_error(
    secrets: Sequence[Any],
    *,
    epsilon: float,
    delta: float = 0.0,
    metric: Metric | None = None,
    outputs: Sequence[Any] | None = None,
    distances: Floats | None = None,
) -> float:
    """The least max-mean error of all ``(epsilon, delta)``-private channels, by linear programming.

    ``distances`` (secrets by outputs) replaces the metric where outputs are not points of it.
    """
    _check(epsilon, delta)
    points = list(secrets)
    cost = (
        _between(points, points if outputs is None else list(outputs), metric or Line())
        if distances is None
        else distances
    )
    n, k = cost.shape
    entries, slacks = n * k, n * (n - 1) * k if delta > 0 else 0
    if entries + slacks > LARGEST:
        raise ParameterError(f"{n} secrets and {k} outputs are too many for the linear program; take fewer points.")
    total = entries + slacks + 1  # the last unknown is the largest error
    private, allowed = _privacy(n, k, epsilon, delta, total)
    each = np.repeat(np.arange(n), k)
    errors = scipy.sparse.coo_array((cost.ravel(), (each, np.arange(entries))), shape=(n, total)).tolil()
    errors[:, total - 1] = -1.0
    constraints: Any = scipy.sparse.vstack([private, scipy.sparse.csr_array(errors)]).tocsr()
    sums: Any = scipy.sparse.coo_array((np.ones(entries), (each, np.arange(entries))), shape=(n, total)).tocsr()
    goal = np.zeros(total)
    goal[-1] = 1.0
    found = scipy.optimize.linprog(
        goal,
        A_ub=constraints,
        b_ub=np.concatenate([allowed, np.zeros(n)]),
        A_eq=sums,
        b_eq=np.ones(n),
        bounds=(0, None),
        method="highs",
    )
    if found.status != 0 or found.fun is None:
        raise ParameterError(f"the linear program was not solved: {found.message}")
    return float(found.fun)


def _privacy(n: int, k: int, epsilon: float, delta: float, total: int) -> tuple[Any, Floats]:
    """The guarantee as rows over ``total`` unknowns: the entries of the channel, and with a delta what each pair is
    over by.
    """
    pairs, entries = n * (n - 1), n * k
    first, second = np.nonzero(~np.eye(n, dtype=bool))
    row = np.arange(pairs * k)
    column = np.tile(np.arange(k), pairs)
    # t a[i,y] - a[j,y] <= t s[i,j,y] with t = e^-epsilon, so that no coefficient is large.
    t = math.exp(-epsilon)
    parts = [
        (row, np.repeat(first, k) * k + column, np.full(pairs * k, t)),
        (row, np.repeat(second, k) * k + column, np.full(pairs * k, -1.0)),
    ]
    if delta > 0:
        parts.append((row, entries + row, np.full(pairs * k, -t)))
    rows, columns, values = (np.concatenate(p) for p in zip(*parts, strict=True))
    limits: list[Any] = [scipy.sparse.coo_array((values, (rows, columns)), shape=(pairs * k, total)).tocsr()]
    bounds = [np.zeros(pairs * k)]
    if delta > 0:
        over = scipy.sparse.coo_array((np.ones(pairs * k), (row // k, entries + row)), shape=(pairs, total))
        limits.append(over.tocsr())
        bounds.append(np.full(pairs, delta))
    return scipy.sparse.vstack(limits).tocsr(), np.concatenate(bounds)


def _check(epsilon: float, delta: float) -> None:
    if not epsilon >= 0 or not 0 <= delta <= 1:
        raise ParameterError(f"epsilon must be 0 or more and delta from 0 to 1, not {epsilon} and {delta}.")


def _between(secrets: Sequence[Any], outputs: Sequence[Any], metric: Metric) -> Floats:
    both = metric.matrix([*secrets, *outputs])
    return np.asarray(both[: len(secrets), len(secrets) :])


# Accuracy -----------------------------------------------------------------------------------------------------------------
#
# The other way round: from the error that someone can live with to the epsilon, or the delta, that it takes.


EPSILONS = (Fraction(1, 10_000), Fraction(1000))
DELTAS = (Fraction(1, 10**15), Fraction(1, 10))
CLOSE = Fraction(101, 100)


def epsilon_for(name: str, error: float, loss: str = "absolute", **parameters: Any) -> Fraction:
    """The smallest epsilon, to about a hundredth, at which a mechanism's expected loss is at most ``error``.

    The loss is the loss of an output taken at face value, for the secret where it is largest. The number has three
    digits, so that a person can say it.

    >>> epsilon = epsilon_for("geometric", 2.0)
    >>> float(epsilon), build("geometric", epsilon=epsilon).error() <= 2
    (0.484, True)
    """
    if name in registry and not registry[name].takes.priced:
        raise ParameterError(f"{name} has no epsilon to choose.")
    return _smallest(name, "epsilon", EPSILONS, error, loss, parameters)


def delta_for(name: str, error: float, loss: str = "absolute", **parameters: Any) -> Fraction:
    """The smallest delta, to about a hundredth, at which a mechanism of this epsilon has at most this expected loss.

    >>> delta = delta_for("gaussian", 4.0, epsilon=1)
    >>> float(delta), build("gaussian", epsilon=1, delta=delta).error() <= 4
    (1.63e-08, True)
    """
    if name in registry and not registry[name].takes.delta:
        raise ParameterError(f"{name} has no delta to choose.")
    return _smallest(name, "delta", DELTAS, error, loss, parameters)


def _smallest(
    name: str, word: str, ends: tuple[Fraction, Fraction], error: float, loss: str, parameters: dict[str, Any]
) -> Fraction:
    """The smallest value of a parameter, between two ends, at which the error is that small."""
    check_loss(loss)
    if not is_number(error) or not error > 0:
        raise ParameterError("an error that can be lived with is a number above 0.")

    def good(value: Fraction) -> bool:
        return build(name, **{word: value}, **parameters).error(loss) <= error

    low, high = ends
    if good(low):
        return low
    if not good(high):
        raise ParameterError(
            f"no {word} up to {upward(high)} makes this error of {name} that small; allow more, or choose a finer lattice."
        )
    while high > CLOSE * low:
        middle = _said(Fraction(float(low * high) ** 0.5))
        if not low < middle < high:
            break
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _said(value: Fraction) -> Fraction:
    """The number in three digits, rounded up."""
    least = Context(prec=3, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(least)
