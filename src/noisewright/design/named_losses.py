"""The gallery of losses, and how a loss is given: by name, as a matrix, as a function, or as a :class:`Loss`.

>>> absolute(range(3)).matrix.tolist()
[[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
>>> property_loss(["a", "b", "c"], {"b"}).matrix.tolist()
[[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
>>> as_loss("pinball:1,3", range(3)).matrix[0].tolist()
[0.0, 3.0, 6.0]

On numbers, ``absolute``, ``squared``, ``zero_one``, ``pinball`` and ``last_train`` carry their rule in addition to the
matrix, which is built only when something asks for it: a hundred thousand secrets are fine.

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

>>> from noisewright.metrics.base import Discrete, Line
>>> from noisewright.design.named_losses import absolute
>>> is_monotone(absolute(range(3)), Line()).status, is_monotone(absolute(range(3)), Discrete()).status
('holds (exact)', 'fails (witness)')
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright.columns.label_encoder import counted_labels
from noisewright.design.loss import Displacement, Loss, Made, Points, tabulated
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN, Verdict
from noisewright.metrics.base import Metric, as_labels, as_metric
from noisewright.numerics.exact import Exact, as_fraction

__all__ = [
    "NAMES",
    "Loss",
    "absolute",
    "as_loss",
    "from_callable",
    "is_extended",
    "is_monotone",
    "is_ordered_single_crossing",
    "is_pairwise_non_trivial",
    "is_strictly_monotone",
    "is_trivial",
    "last_train",
    "parity",
    "pinball",
    "property_loss",
    "squared",
    "step_loss",
    "zero_one",
]


NAMES = ("absolute", "squared", "zero-one", "parity", "pinball:A,B", "last-train:C", "step:N")
"""The losses that can be named in text."""

LARGEST_COST = 10**150


def absolute(points: Points, actions: Points | None = None) -> Loss:
    """``|w - x|`` on numbers; the straight-line distance between points of a plane or a space."""
    return _distance_loss("absolute", points, actions, Displacement((0.0, 1.0, 0.0), (0.0, 1.0, 0.0)), 1)


def squared(points: Points, actions: Points | None = None) -> Loss:
    """``(w - x)^2`` on numbers; the squared straight-line distance between points of a plane or a space."""
    return _distance_loss("squared", points, actions, Displacement((0.0, 0.0, 1.0), (0.0, 0.0, 1.0)), 2)


def zero_one(points: Points, actions: Points | None = None) -> Loss:
    """0 for a right guess and 1 for a wrong one: Bayes risk."""
    secrets, choices = _both(points, actions)
    made = Made("zero-one loss")
    if _are_numbers(secrets) and _are_numbers(choices):
        return Loss(None, choices, secrets, made, rule=Displacement((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
    Loss.check_size(len(choices), len(secrets))
    code = {label: i for i, label in enumerate(dict.fromkeys((*secrets, *choices)))}
    x, w = (np.array([code[label] for label in labels]) for labels in (secrets, choices))
    return Loss((w[:, None] != x[None, :]).astype(np.float64), choices, secrets, made)


def pinball(points: Points, a: Exact, b: Exact, actions: Points | None = None) -> Loss:
    """``a (w - x)`` for a guess that is too high, ``b (x - w)`` for one too low: the best guess is the ``b/(a+b)``
    quantile.
    """
    low, high = (_cost(v, n) for v, n in ((a, "the price a"), (b, "the price b")))
    rule = Displacement((0.0, low, 0.0), (0.0, high, 0.0))
    return _ruled(Made(f"pinball loss {low:g}, {high:g}", (low, high)), points, actions, rule)


def last_train(points: Points, cost: Exact, actions: Points | None = None) -> Loss:
    """Arrive at ``w`` for a train that leaves at ``x``: ``x - w`` of waiting, or ``cost`` for being late (``w >
    x``).
    """
    price = _cost(cost, "the cost of a missed train")
    return _ruled(
        Made(f"last-train loss {price:g}", (price,)), points, actions, Displacement((price, 0.0, 0.0), (0.0, 1.0, 0.0))
    )


def property_loss(points: Points, chosen: Collection[Hashable] | Callable[[Any], bool]) -> Loss:
    """Guess whether the secret is ``"in"`` a set or ``"out"`` of it; a wrong guess costs 1."""
    secrets = as_labels(points, "secrets")
    if not callable(chosen) and (isinstance(chosen, (str, bytes)) or not isinstance(chosen, Collection)):
        raise ParameterError(f"a property is a set of secrets or a function of one, not {type(chosen).__name__}.")
    inside = np.array([bool(chosen(x)) if callable(chosen) else x in chosen for x in secrets], dtype=np.float64)
    return Loss([1 - inside, inside], ("in", "out"), secrets, Made("property loss"))


def parity(points: Points | int) -> Loss:
    """Guess whether an integer is ``"even"`` or ``"odd"``; a wrong guess costs 1."""
    secrets: tuple[Any, ...] = counted_labels(points, "the secrets of a parity loss")
    if not all(isinstance(x, numbers.Real) and _whole(x) for x in secrets):
        raise ParameterError("the parity loss needs secrets that are whole numbers.")
    odd = np.array([int(x) % 2 for x in secrets], dtype=np.float64)
    return Loss([odd, 1 - odd], ("even", "odd"), secrets, Made("parity loss"))


def _whole(x: numbers.Real) -> bool:
    return x.denominator == 1 if isinstance(x, numbers.Rational) else float(x).is_integer()


def step_loss(points: Points, steps: int, actions: Points | None = None) -> Loss:
    """``|w - floor(steps x) / steps|``: only the cell that a number lies in counts."""
    secrets, choices = _both(points, actions)
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ParameterError("a step loss has a whole number of steps per unit, 1 or more.")
    if not (_are_numbers(secrets) and _are_numbers(choices)):
        raise ParameterError("a step loss needs secrets and actions that are numbers.")
    Loss.check_size(len(choices), len(secrets))
    cells = np.array([float(math.floor(as_fraction(x) * steps) / steps) for x in secrets])
    guesses = np.array([float(w) for w in choices])  # type: ignore[arg-type]
    return Loss(np.abs(guesses[:, None] - cells[None, :]), choices, secrets, Made(f"step loss {steps}", (steps,)))


def from_callable(function: Callable[[Any, Any], float], actions: Points, secrets: Points) -> Loss:
    """``function(action, secret)`` for all actions and secrets."""
    choices, names = as_labels(actions, "actions"), as_labels(secrets, "secrets")
    Loss.check_size(len(choices), len(names))
    values = tabulated(function, choices, names, "loss")
    return Loss(values, choices, names, Made(f"the function {getattr(function, '__name__', 'given')}"))


def as_loss(loss: object, secrets: Sequence[Hashable], actions: Points | None = None) -> Loss:
    """The loss that a name, an array, a function of (action, secret) or a :class:`Loss` stands for, over these
    secrets.
    """
    names = as_labels(secrets, "secrets")
    if isinstance(loss, Loss):
        return _fitted(loss, names, actions)
    if isinstance(loss, str):
        return _named(loss, names, actions)
    if callable(loss):
        return from_callable(loss, names if actions is None else actions, names)
    if loss is None:
        raise ParameterError(
            f"a loss is needed: a name ({', '.join(NAMES)}), a matrix, a function of action and secret, or a Loss."
        )
    made = Loss(loss, actions)  # type: ignore[arg-type]
    if made.shape[1] != len(names):
        turned = made.shape[0] == len(names)
        hint = (
            "It looks transposed: give one row for each action and one column for each secret."
            if turned
            else "Give one column for each secret."
        )
        raise ParameterError(f"the loss has {made.shape[1]} columns for {len(names)} secrets. {hint}")
    if actions is None and made.shape[0] == len(names):
        return Loss(made.matrix, names, names)  # one action for each secret: the guesses are the secrets
    return Loss(made.matrix, made.actions, names)


def _fitted(loss: Loss, secrets: tuple[Hashable, ...], actions: Points | None) -> Loss:
    if actions is not None and as_labels(actions, "outputs") != loss.actions:
        raise ParameterError("a Loss brings its own actions; leave outputs out, or name exactly those actions.")
    if not loss.labelled and len(loss.secrets) == len(secrets):
        return Loss(loss.matrix, loss.actions, secrets, loss.made, rule=loss.rule)
    if set(loss.secrets) >= set(secrets):
        return loss.restrict(secrets)
    turned = " It looks transposed: its actions are the secrets." if set(loss.actions) >= set(secrets) else ""
    raise ParameterError(f"the loss does not know all of the {len(secrets)} secrets; its own are in .secrets.{turned}")


def _named(text: str, secrets: tuple[Hashable, ...], actions: Points | None) -> Loss:
    name, _, rest = text.strip().replace("_", "-").partition(":")
    plain: dict[str, Callable[..., Loss]] = {"absolute": absolute, "squared": squared, "zero-one": zero_one}
    if name in plain and not rest:
        return plain[name](secrets, actions)
    if name == "parity" and not rest:
        found = parity(secrets)
        if actions is not None and as_labels(actions, "outputs") != found.actions:
            raise ParameterError("the parity loss has the outputs 'even' and 'odd'; leave outputs out.")
        return found
    numbers_given = [as_fraction(part, f"a parameter of the {name} loss") for part in rest.split(",")] if rest else []
    if name == "pinball" and len(numbers_given) == 2:
        return pinball(secrets, numbers_given[0], numbers_given[1], actions)
    if name == "last-train" and len(numbers_given) == 1:
        return last_train(secrets, numbers_given[0], actions)
    if name == "step" and len(numbers_given) == 1 and numbers_given[0].denominator == 1:
        return step_loss(secrets, int(numbers_given[0]), actions)
    raise ParameterError(f"there is no loss called {text[:40]!r}; choose one of {', '.join(NAMES)}.")


def _distance_loss(name: str, points: Points, actions: Points | None, rule: Displacement, power: int) -> Loss:
    secrets, choices = _both(points, actions)
    if _are_numbers(secrets) and _are_numbers(choices):
        return Loss(None, choices, secrets, Made(f"{name} loss"), rule=rule)
    from scipy.spatial.distance import cdist

    Loss.check_size(len(choices), len(secrets))
    try:
        x, w = (np.array([np.asarray(p, dtype=np.float64).ravel() for p in labels]) for labels in (secrets, choices))
        if (
            x.ndim != 2
            or w.ndim != 2
            or x.shape[1] != w.shape[1]
            or any(isinstance(p, str) for p in (*secrets, *choices))
        ):
            raise ValueError
    except (TypeError, ValueError):
        raise ParameterError(
            f"the {name} loss needs secrets and actions that are numbers or points of one dimension; use 'zero-one'."
        ) from None
    return Loss(cdist(w, x, "euclidean" if power == 1 else "sqeuclidean"), choices, secrets, Made(f"{name} loss"))


def _ruled(made: Made, points: Points, actions: Points | None, rule: Displacement) -> Loss:
    secrets, choices = _both(points, actions)
    if not (_are_numbers(secrets) and _are_numbers(choices)):
        raise ParameterError(f"the {made.what.split()[0]} loss needs secrets and actions that are numbers.")
    return Loss(None, choices, secrets, made, rule=rule)


def _both(points: Points, actions: Points | None) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
    secrets = as_labels(points, "secrets")
    choices = secrets if actions is None else as_labels(actions, "actions")
    if not secrets or not choices:
        raise ParameterError("a loss needs at least one secret and one action.")
    if len(set(secrets)) < len(secrets) or len(set(choices)) < len(choices):
        raise ParameterError("the secrets and the actions of a loss must be different from each other.")
    return secrets, choices


def _are_numbers(labels: Sequence[Hashable]) -> bool:
    kinds = {type(x) for x in labels}
    if kinds == {int}:
        return True
    if not all(issubclass(kind, numbers.Real) and kind is not bool for kind in kinds):
        return False
    return all(math.isfinite(float(x)) for x in labels)  # type: ignore[arg-type]


def _cost(value: object, what: str) -> float:
    given = as_fraction(value, what)
    if given > LARGEST_COST:
        raise ParameterError(f"{what} of a loss must be below 1e150; rescale it.")
    number = float(given)
    if number < 0:
        raise ParameterError(f"{what} of a loss must be 0 or more.")
    return number


# Classes ------------------------------------------------------------------------------------------------------------------
#
# Classes of losses for which theory says which mechanism is best, each decided with evidence.


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
