r"""The gallery of losses, and how a loss is given: by name, as a matrix, as a function, or as a :class:`Loss`.

>>> absolute(range(3)).matrix.tolist()
[[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
>>> property_loss(["a", "b", "c"], {"b"}).matrix.tolist()
[[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
>>> as_loss("pinball:1,3", range(3)).matrix[0].tolist()
[0.0, 3.0, 6.0]

On numbers, ``absolute``, ``squared``, ``zero_one``, ``pinball`` and ``last_train`` carry their rule in addition to the
matrix, which is built only when something asks for it: a hundred thousand secrets are fine.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import numpy as np

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction
from noisewright.core.labels import as_labels
from noisewright.mechanisms.label_columns import counted_labels
from noisewright.optimality.losses.loss import Displacement, Loss, Made
from noisewright.optimality.losses.table import Points, tabulated

__all__ = [
    "NAMES",
    "Loss",
    "absolute",
    "as_loss",
    "from_callable",
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
