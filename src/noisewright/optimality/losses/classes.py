r"""Classes of losses for which theory says which mechanism is best, each decided with evidence.

* *trivial*: one action is at least as good as every other at every secret. Any mechanism is then optimal.
* *extended* on ``X0``: every action costs 0 outside ``X0``.
* *monotone* in a metric ``d``: there are ``theta: W -> X`` and ``f`` with ``L[w,x] = f(d(theta(w), x), x)``, ``f``
  non-decreasing in its first argument. On an evenly spaced line the truncated geometric is optimal for these,
  whatever the prior.
* *strictly monotone*: ``theta`` is a bijection and ``f`` increases strictly.
* *pairwise non-trivial*: not trivial on any two secrets. Under the discrete metric no mechanism is then best for all
  priors.
* *ordered single-crossing*: actions can be ordered so that consecutive differences ``L[w',x] - L[w,x]`` are ``>= 0``
  up to a threshold in ``x`` and ``<= 0`` after it, with thresholds that do not go down. It holds for pinball and
  last-train losses.

>>> from noisewright.core.metrics.metric import Discrete, Line
>>> from noisewright.optimality.losses.gallery import absolute
>>> is_monotone(absolute(range(3)), Line()).status, is_monotone(absolute(range(3)), Discrete()).status
('holds (exact)', 'fails (witness)')
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cmp_to_key
from itertools import pairwise

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.errors import ParameterError
from noisewright.core.labels import as_labels
from noisewright.core.metrics.metric import Metric, as_metric
from noisewright.core.verdict import EXACT, FAILS, UNDECIDED, WITHIN, Verdict
from noisewright.optimality.losses.loss import Loss

__all__ = [
    "is_extended",
    "is_monotone",
    "is_ordered_single_crossing",
    "is_pairwise_non_trivial",
    "is_strictly_monotone",
    "is_trivial",
]


MOST_COMPARED = 500
"""Maximum number of actions among which those that no one needs are looked for."""

MOST_STEPS = 200_000
"""The search for theta gives up after this many choices."""


def is_trivial(loss: Loss) -> Verdict:
    """Return whether one action is pointwise at least as good as every other one."""
    _check(loss)
    best = loss.matrix.min(axis=0)
    winners = np.flatnonzero((loss.matrix <= best).all(axis=1))
    if len(winners):
        action = loss.actions[int(winners[0])]
        return Verdict(
            EXACT, f"action {action!r} is at least as good as any other at every secret.", {"action": action}
        )
    return Verdict(FAILS, "no action is at least as good as all others at every secret.")


def is_extended(loss: Loss, secrets: Iterable[Hashable]) -> Verdict:
    """Return whether every action costs 0 at every secret outside ``secrets``."""
    _check(loss)
    inside = set(as_labels(secrets, "secrets"))
    for place, x in enumerate(loss.secrets):
        if x not in inside and loss.matrix[:, place].any():
            action = loss.actions[int(np.flatnonzero(loss.matrix[:, place])[0])]
            return Verdict(FAILS, f"action {action!r} costs something at secret {x!r}.", {"violation": (action, x)})
    return Verdict(EXACT, f"all losses outside the {len(inside)} secrets are 0.")


def is_pairwise_non_trivial(loss: Loss) -> Verdict:
    """Return whether no two secrets have an action that is best for both."""
    _check(loss)
    best = loss.matrix <= loss.matrix.min(axis=0)
    shared = best.T.astype(np.int64) @ best.astype(np.int64)
    pairs = np.argwhere(np.triu(shared > 0, 1))
    if len(pairs):
        pair = tuple(loss.secrets[int(i)] for i in pairs[0])
        return Verdict(FAILS, f"one action is best for both {pair[0]!r} and {pair[1]!r}.", {"violation": pair})
    return Verdict(EXACT, "no action is best for two secrets.")


def is_monotone(loss: Loss, metric: Metric | None, *, distances: Floats | None = None) -> Verdict:
    """Return whether the loss is a non-decreasing function of the distance from some ``theta(w)`` to the secret.

    ``theta`` is searched for by backtracking, the actions that are secrets being tried at themselves first. It maps
    into the secrets of the loss; ``distances`` replaces the metric by a matrix over them.
    """
    return _search(loss, metric, distances, strict=False)


def is_strictly_monotone(loss: Loss, metric: Metric | None, *, distances: Floats | None = None) -> Verdict:
    """Decide as :func:`is_monotone`, with ``theta`` a bijection and a strictly increasing function."""
    _check(loss)
    if len(loss.actions) != len(loss.secrets):
        return Verdict(FAILS, "there must be as many actions as secrets.")
    return _search(loss, metric, distances, strict=True)


def is_ordered_single_crossing(loss: Loss) -> Verdict:
    """Return whether the actions can be ordered so that consecutive differences cross zero once, downwards, at
    thresholds that rise.

    The secrets count in the order in which they are given. Actions that are nowhere better than another one are left
    out: no one needs them. Among the others, two fix their order by the sign of their difference at the first secret
    where it is not 0.
    """
    _check(loss)
    matrix = loss.matrix
    needed = (
        [w for w in range(len(matrix)) if not _dominated(matrix, w)]
        if len(matrix) <= MOST_COMPARED
        else range(len(matrix))
    )

    def earlier(w: int, v: int) -> int:
        apart = np.flatnonzero(matrix[v] != matrix[w])
        return 0 if not len(apart) else (-1 if matrix[v, apart[0]] > matrix[w, apart[0]] else 1)

    order = sorted(needed, key=cmp_to_key(earlier))
    thresholds: list[int] = []
    for w, v in pairwise(order):
        change = matrix[v] - matrix[w]
        up, down = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
        first, last = (int(down[0]) if len(down) else len(change)), (int(up[-1]) if len(up) else -1)
        names = loss.actions[w], loss.actions[v]
        if last > first:
            spot = loss.secrets[first], loss.secrets[last]
            return Verdict(
                FAILS,
                f"between actions {names[0]!r} and {names[1]!r} the better one changes back.",
                {"violation": (*names, *spot)},
            )
        # Any threshold in (last, first] will do; the smallest that does not go down is taken.
        threshold = max(last + 1, thresholds[-1] if thresholds else 0)
        if threshold > first:
            return Verdict(
                FAILS, f"the thresholds of consecutive actions go down at {names[1]!r}.", {"violation": names}
            )
        thresholds.append(threshold)
    return Verdict(
        EXACT,
        "consecutive actions cross once, at rising thresholds.",
        {"order": [loss.actions[w] for w in order], "thresholds": thresholds},
    )


def _dominated(matrix: Floats, w: int) -> bool:
    """Return whether another action is at least as good everywhere; of several equal ones the first is not."""
    at_least = (matrix <= matrix[w]).all(axis=1)
    equal = (matrix == matrix[w]).all(axis=1)
    return bool((at_least & ~equal).any() or equal[:w].any())


def _check(loss: object) -> None:
    if not isinstance(loss, Loss):
        raise ParameterError(
            f"the class of a Loss is asked for, not of {type(loss).__name__}; make one with as_loss(loss, secrets)."
        )


def _search(loss: Loss, metric: Metric | None, distances: Floats | None, strict: bool) -> Verdict:
    _check(loss)
    try:
        apart = as_metric(metric).matrix(loss.secrets) if distances is None else np.asarray(distances, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            "the distances of a monotone loss are a square matrix of numbers over its secrets."
        ) from None
    if apart.shape != (len(loss.secrets),) * 2:
        raise ParameterError("the distances of a monotone loss are a square matrix over its secrets.")
    matrix = loss.matrix
    given, apart = apart, np.round(apart, 12)
    place = {x: i for i, x in enumerate(loss.secrets)}
    # The nearest secret is where an action costs least above its column's minimum; that and the action's own name come first.
    regret = matrix - matrix.min(axis=0)
    choices = [
        sorted(range(len(apart)), key=lambda x, w=w, name=name: (x != place.get(name, -1), regret[w, x]))  # type: ignore[misc]
        for w, name in enumerate(loss.actions)
    ]

    def fits(w: int, at: int, v: int, other: int) -> bool:
        nearer, farther = apart[at] < apart[other], apart[at] > apart[other]
        less, more = matrix[w] < matrix[v], matrix[w] > matrix[v]
        if strict:
            return bool((less == nearer).all() and (more == farther).all())
        return not bool((less & ~nearer).any() or (more & ~farther).any())

    theta: list[int] = []
    tried = [0]
    steps = 0
    while len(theta) < len(matrix):
        w = len(theta)
        if tried[w] >= len(choices[w]):
            if not theta:
                kind = "strictly monotone" if strict else "monotone"
                return Verdict(
                    FAILS, f"no choice of a nearest secret for each action makes the loss {kind} in the distance."
                )
            theta.pop()
            tried.pop()
            continue
        steps += 1
        if steps > MOST_STEPS // max(1, len(matrix) // 50):
            return Verdict(UNDECIDED, "the search for a nearest secret of each action was given up.")
        at = choices[w][tried[w]]
        tried[w] += 1
        if (strict and at in theta) or not all(fits(w, at, v, other) for v, other in enumerate(theta)):
            continue
        theta.append(at)
        tried.append(0)
    names = {loss.actions[w]: loss.secrets[x] for w, x in enumerate(theta)}
    status = EXACT if np.array_equal(given, apart) else WITHIN
    return Verdict(status, "the loss rises with the distance from a secret of each action.", {"theta": names})
