"""Gains as matrices ``g[w, x]`` (actions by secrets): the type, and the changes that keep the order of channels.

>>> guess = Gain([[1, 0, 0], [0, 1, 0], [0, 0, 1]], secrets="abc")
>>> guess
Gain(custom: 3 actions by 3 secrets)
>>> guess.restrict("ca").matrix.tolist()
[[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]

A gain ``g[w, x]`` says what acting ``w`` is worth to an adversary when the secret is ``x``; together with a prior it *is*
the adversary. The usual ones:

============  ===============================  ====================================================================
identity      guess the secret in one try      actions are the secrets; 1 if the guess is right, otherwise 0
partition     guess the block of the secret    actions are the blocks; 1 if the secret is in the block
property      guess whether it has a property  the partition into ``in`` and ``out``
metric        guess near the secret            ``1 - d(w, x) / d_max``; guesses may be other points
custom        anything else                    a matrix, a function ``g(action, secret)``, or a loss turned round
============  ===============================  ====================================================================

>>> salaries = [10, 20, 60, 100]
>>> property_gain(salaries, {60, 100}).matrix.tolist()
[[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]]
>>> as_gain("metric:line", [0, 1, 2]).matrix.tolist()
[[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]

Adding a constant ``k(x)`` for each secret adds ``sum_x pi_x k(x)`` to the vulnerability of the prior and of every channel
alike, so signed gains compare channels as well as their :meth:`Gain.shifted` form does. Ratios do not survive it:
multiplicative leakage needs gains of 0 or more.

Reference: Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi, Smith, *The science of quantitative information flow* (2020).
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats, Indices
from noisewright.design.loss import ActionTable, Loss, Points, as_matrix, named, tabulated
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import Metric, as_labels, as_metric, labels_between, named_metric
from noisewright.numerics.exact import as_fraction

__all__ = [
    "NAMES",
    "Gain",
    "as_gain",
    "from_callable",
    "from_loss",
    "gain_labels",
    "identity",
    "is_belief_function",
    "make_gain",
    "metric_gain",
    "partition",
    "property_gain",
    "to_loss",
]


class Gain(ActionTable):
    """A gain ``g[w, x]`` over named actions and secrets; immutable.

    Identity and partition gains are held as the block of each secret: their matrix is built only when something asks
    for it, and their vulnerabilities need no matrix product.
    """

    __slots__ = ("_blocks", "name")

    kind = "gain"

    _blocks: Indices | None
    name: str

    def __init__(
        self, matrix: ArrayLike, actions: Points | None = None, secrets: Points | None = None, name: str = "custom"
    ) -> None:
        values = as_matrix(matrix, "gain")
        self._set(
            _matrix=values,
            _blocks=None,
            actions=_names(actions, values.shape[0], "actions", "rows"),
            secrets=_names(secrets, values.shape[1], "secrets", "columns"),
            labelled=secrets is not None,
            name=str(name),
        )

    def _built(self) -> Floats:
        assert self._blocks is not None
        return np.asarray(np.arange(len(self.actions))[:, None] == self._blocks[None, :], dtype=np.float64)

    @property
    def signed(self) -> bool:
        """Return whether some action at some secret is worth less than nothing."""
        return self._blocks is None and bool((self.matrix < 0).any())

    @property
    def blocks(self) -> Indices | None:
        """The place of each secret's action, for an identity or a partition; None for every other gain."""
        return self._blocks

    def expected(self, joint: Floats) -> Floats:
        """``sum_x g[w, x] J[x, y]`` for every action and output: one matrix product, or sums over blocks."""
        if self._blocks is None:
            return np.asarray(self.matrix @ joint)
        if np.array_equal(self._blocks, np.arange(len(self.actions))):
            return joint  # guessing the secret itself
        order = np.argsort(self._blocks, kind="stable")
        starts = np.searchsorted(self._blocks[order], np.arange(len(self.actions)))
        return np.asarray(np.add.reduceat(joint[order], starts, axis=0))

    def shifted(self) -> Gain:
        """Return the least non-negative gain that orders all channels as this one does: the value of the worst action
        is subtracted at each secret.

        >>> Gain([[1, -1], [0, 2]]).shifted().matrix.tolist()
        [[1.0, 0.0], [0.0, 3.0]]
        """
        return self._derived(self.matrix - self.matrix.min(axis=0), f"{self.name}, shifted")

    def scaled(self) -> Gain:
        """The same in ``[0, 1]``: divided by its largest value, after :meth:`shifted` if it is signed."""
        base = self.shifted() if self.signed else self
        largest = float(base.matrix.max())
        if largest in (0.0, 1.0):
            return base
        return self._derived(base.matrix / largest, f"{base.name}, scaled")

    def restrict(self, secrets: Points) -> Gain:
        """Only the given secrets, in that order; actions stay, also those that no secret is left for."""
        names = as_labels(secrets, "secrets")
        if names == self.secrets:
            return self
        columns = self._columns(names)
        if self._blocks is not None and len(names) == len(self.secrets):
            return make_gain(None, self._blocks[columns], self.actions, names, True, self.name)
        return make_gain(self.matrix[:, columns], None, self.actions, names, True, self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        blocks = self._blocks
        matrix = np.array(self._matrix) if blocks is None else None
        return make_gain, (matrix, blocks, self.actions, self.secrets, self.labelled, self.name)

    def __repr__(self) -> str:
        return f"Gain({self.name}: {len(self.actions)} actions by {len(self.secrets)} secrets)"

    def _derived(self, matrix: Floats, name: str) -> Gain:
        return make_gain(matrix, None, self.actions, self.secrets, self.labelled, name)


def make_gain(
    matrix: Floats | None,
    blocks: Indices | None,
    actions: tuple[Hashable, ...],
    secrets: tuple[Hashable, ...],
    labelled: bool,
    name: str,
) -> Gain:
    """A gain from parts that are checked already: a matrix, or the block of each secret."""
    made = Gain.__new__(Gain)
    values = None if matrix is None else np.array(matrix, dtype=np.float64)
    if values is not None:
        values.flags.writeable = False
    made._set(_matrix=values, _blocks=blocks, actions=actions, secrets=secrets, labelled=labelled, name=name)
    return made


def gain_labels(names: Points, what: str = "secrets") -> tuple[Hashable, ...]:
    """The labels of secrets or actions: one or more, each once."""
    labels = named(names, what, "gain")
    if not labels:
        raise ParameterError("a gain needs at least one secret and one action.")
    return labels


def _names(names: Points | None, count: int, what: str, which: str) -> tuple[Hashable, ...]:
    if names is None:
        return tuple(range(count))
    labels = gain_labels(names, what)
    if len(labels) != count:
        raise ParameterError(f"{len(labels)} {what} were named for {count} {which} of a gain; name each once.")
    return labels


# Gallery ------------------------------------------------------------------------------------------------------------------
#
# Gains: what an adversary is after.


Blocks = Mapping[Any, Hashable] | Callable[[Any], Hashable] | Iterable[Collection[Hashable]]

NAMES = ("identity", "property:A,B", "metric:NAME")
"""The gains that can be named in text."""


def identity(secrets: Points) -> Gain:
    """1 for the right guess of the secret, otherwise 0: its vulnerability is the Bayes vulnerability."""
    names = gain_labels(secrets)
    return make_gain(None, np.arange(len(names), dtype=np.intp), names, names, True, "identity")


def partition(secrets: Points, blocks: Blocks) -> Gain:
    """1 for naming the block of the secret. ``blocks`` is a mapping or a function from secrets to the names of their
    blocks, or a list of sets; every secret is in exactly one block, and no block is empty.

    >>> partition("abcd", [{"a", "c"}, {"b", "d"}]).matrix.tolist()
    [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    """
    names = gain_labels(secrets)
    actions: tuple[Hashable, ...]
    if isinstance(blocks, Mapping) or callable(blocks):
        of = _block_names(names, blocks)
        actions = tuple(dict.fromkeys(of))
        place = {block: i for i, block in enumerate(actions)}
        numbers = [place[block] for block in of]
    else:
        numbers = _blocks_of_sets(names, blocks)
        actions = tuple(range(max(numbers) + 1))
    return make_gain(None, np.array(numbers, dtype=np.intp), actions, names, True, "partition")


def property_gain(secrets: Points, chosen: Collection[Hashable] | Callable[[Any], bool]) -> Gain:
    """1 for a right guess of whether the secret is ``"in"`` the chosen set or ``"out"`` of it."""
    names = gain_labels(secrets)
    if not callable(chosen):
        wanted = as_labels(chosen, "the secrets with the property")
        unknown = [x for x in wanted if x not in set(names)]
        if unknown:
            raise ParameterError(f"a property is a set of secrets; {unknown[0]!r} is not one of these {len(names)}.")
        members = frozenset(wanted)
        inside = np.array([x in members for x in names])
    else:
        inside = np.array([bool(answer) for answer in _answers(chosen, names, "a property")])
    if inside.all() or not inside.any():
        raise ParameterError(
            "a property that all secrets have, or none, leaves a block empty; choose one that tells some of them apart."
        )
    return make_gain(None, np.where(inside, 0, 1).astype(np.intp), ("in", "out"), names, True, "property")


def metric_gain(secrets: Points, metric: Metric | str, actions: Points | None = None) -> Gain:
    """``1 - d(w, x) / d_max``, where ``d_max`` is the largest distance between an action and a secret.

    Actions default to the secrets. Points between them may serve an adversary better:

    >>> corners = [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> metric_gain(corners, "euclidean", [*corners, (0.5, 0.5)]).matrix[4].tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    names = gain_labels(secrets)
    choices = names if actions is None else gain_labels(actions, "actions")
    measure = named_metric(metric) if isinstance(metric, str) else as_metric(metric)
    points = tuple(dict.fromkeys((*names, *choices)))
    Gain.check_size(len(points), len(points))
    place = {point: i for i, point in enumerate(points)}
    rows, columns = ([place[p] for p in labels] for labels in (choices, names))
    distances = measure.matrix(points)[np.ix_(rows, columns)]
    largest = float(distances.max())
    if not np.isfinite(largest):
        raise ParameterError("a metric gain needs finite distances; some action is infinitely far from some secret.")
    values = 1 - distances / largest if largest else np.ones_like(distances)
    return make_gain(values, None, choices, names, True, f"metric {measure}")


def from_callable(function: Callable[[Any, Any], float], actions: Points, secrets: Points) -> Gain:
    """``function(action, secret)`` for all actions and secrets."""
    choices, names = gain_labels(actions, "actions"), gain_labels(secrets)
    Gain.check_size(len(choices), len(names))
    values = tabulated(function, choices, names, "gain")
    return Gain(values, choices, names, f"the function {getattr(function, '__name__', 'given')}")


def from_loss(loss: Loss, bound: float | None = None) -> Gain:
    """``g = B - l``, for which ``V_g = B - U_l``; ``B`` is the largest loss unless another bound is given.

    >>> from noisewright.design.named_losses import absolute
    >>> from_loss(absolute([0, 1, 2])).matrix.tolist()
    [[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]]
    """
    if not isinstance(loss, Loss):
        raise ParameterError(f"a gain is made from a Loss, not from {type(loss).__name__}.")
    top = float(loss.matrix.max()) if bound is None else _bound(bound, "the bound of a loss")
    made = Gain(top - loss.matrix, loss.actions, loss.secrets, f"{top:g} minus {loss.made}")
    object.__setattr__(made, "labelled", loss.labelled)
    return made


def to_loss(gain: Gain, bound: float | None = None) -> Loss:
    """``l = B - g``, for which ``U_l = B - V_g``; ``B`` is the largest gain unless another bound is given."""
    if not isinstance(gain, Gain):
        raise ParameterError(f"a loss is made from a Gain, not from {type(gain).__name__}.")
    top = float(gain.matrix.max()) if bound is None else _bound(bound, "the bound of a gain")
    return Loss(top - gain.matrix, gain.actions, gain.secrets if gain.labelled else None)


def as_gain(gain: object, secrets: Sequence[Hashable]) -> Gain:
    """The gain over these secrets that a name, a matrix, a function of (action, secret), a loss, a metric or a
    :class:`Gain` stands for.

    Text is ``identity``, ``property:a,b`` (the secrets that have it; ``property:3..7`` for a range of integers) or
    ``metric:line``.
    """
    names = gain_labels(secrets)
    if isinstance(gain, Gain):
        return _fitted(gain, names)
    if isinstance(gain, str):
        return _named(gain, names)
    if isinstance(gain, Loss):
        return _fitted(from_loss(gain), names)
    if isinstance(gain, Metric):
        return metric_gain(names, gain)
    if callable(gain):
        return from_callable(gain, names, names)
    if gain is None:
        raise ParameterError(
            f"a gain is needed: a name ({', '.join(NAMES)}), a matrix, a function of action and secret, or a Gain."
        )
    made = Gain(gain)  # type: ignore[arg-type]
    if made.shape == (len(names), len(names)):
        return make_gain(made.matrix, None, names, names, True, made.name)  # as many actions: they are guesses
    return _fitted(made, names)


def is_belief_function(gain: object) -> TypeGuard[Callable[[Floats], float]]:
    """Return whether this is a function of one argument, a vulnerability ``V(belief)`` itself, and not
    ``g(action, secret)``.
    """
    if isinstance(gain, (Gain, Loss, Metric, str)) or not callable(gain):
        return False
    try:
        parameters = inspect.signature(gain).parameters.values()
    except (TypeError, ValueError):  # some built-in functions do not say; sum and max take a belief
        return True
    needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    return len(needed) == 1


# Helpers -----------------------------------------------------------------------------------------------------------------


def _bound(bound: object, what: str) -> float:
    number = as_fraction(bound, what)
    if abs(number) > 10**150:
        raise ParameterError(f"{what} must be below 1e150 in size; rescale it.")
    return float(number)


def _fitted(gain: Gain, secrets: tuple[Hashable, ...]) -> Gain:
    if gain.secrets == secrets:
        return gain
    if not gain.labelled:
        if len(gain.secrets) == len(secrets):
            return make_gain(gain._matrix, gain._blocks, gain.actions, secrets, True, gain.name)
        turned = " It looks transposed: give one row for each action." if len(gain.actions) == len(secrets) else ""
        raise ParameterError(
            f"the gain has {len(gain.secrets)} columns for {len(secrets)} secrets; give one for each.{turned}"
        )
    if set(gain.secrets) >= set(secrets):
        return gain.restrict(secrets)
    missing = _places_of([x not in set(gain.secrets) for x in secrets])
    raise ParameterError(f"the gain has no column for {missing}; give one for each secret, named as it is.")


def _named(text: str, secrets: tuple[Hashable, ...]) -> Gain:
    kind, colon, rest = text.strip().partition(":")
    if kind == "identity" and not colon:
        return identity(secrets)
    if kind == "metric" and rest:
        return metric_gain(secrets, rest)
    if kind == "property" and rest:
        return property_gain(secrets, _members(rest, secrets))
    raise ParameterError(f"there is no gain called {text[:40]!r}; choose one of {', '.join(NAMES)}.")


def _members(text: str, secrets: tuple[Hashable, ...]) -> list[Hashable]:
    """Return the secrets that text names: by their own names, separated by commas, or as a range of integers.

    A name with a comma stands alone, or in double quotes.
    """
    spelled = {str(x): x for x in secrets}
    if text.strip() in spelled:
        return [spelled[text.strip()]]
    between = labels_between(text, "property")
    if between is not None:
        found: list[Hashable] = [x for x in secrets if isinstance(x, (int, float)) and between[0] <= x <= between[-1]]
        return found
    parts = [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]
    unknown = [part for part in parts if part not in spelled]
    if unknown:
        raise ParameterError(
            f"property: {unknown[0][:40]!r} is not one of the {len(secrets)} secrets; spell each as the channel does."
        )
    return [spelled[part] for part in parts]


def _block_names(secrets: tuple[Hashable, ...], blocks: Any) -> tuple[Hashable, ...]:
    if isinstance(blocks, Mapping):
        _all_in_blocks([x in blocks for x in secrets])
        return as_labels([blocks[x] for x in secrets], "the blocks of a partition")
    return as_labels(_answers(blocks, secrets, "a partition"), "the blocks of a partition")


def _blocks_of_sets(secrets: tuple[Hashable, ...], blocks: Iterable[Collection[Hashable]]) -> list[int]:
    """The number of the set that each secret is in."""
    if isinstance(blocks, (str, bytes, np.ndarray)) or not isinstance(blocks, Iterable):
        raise ParameterError(
            "a partition is a mapping from secrets to blocks, a function of the secret, or a list of sets of secrets, "
            f"not {type(blocks).__name__}."
        )
    sets = [as_labels(block, "a block of a partition") for block in blocks]
    if not sets or not all(sets):
        raise ParameterError("a partition has one block or more, and none is empty; leave empty ones out.")
    known = set(secrets)
    of: dict[Hashable, int] = {}
    for number, block in enumerate(sets):
        for x in dict.fromkeys(block):
            if x not in known:
                raise ParameterError(f"block {number} of the partition holds {x!r}, which is not one of the secrets.")
            if x in of:
                raise ParameterError(
                    f"a secret is in one block of a partition; {x!r} is in blocks {of[x]} and {number}."
                )
            of[x] = number
    _all_in_blocks([x in of for x in secrets])
    return [of[x] for x in secrets]


def _all_in_blocks(inside: list[bool]) -> None:
    if not all(inside):
        missing = _places_of([not there for there in inside])
        raise ParameterError(f"a partition has a block for every secret; there is none for {missing}.")


def _places_of(missing: list[bool]) -> str:
    """Return the positions of missing secrets: secrets may be values of someone's table, which no message repeats."""
    first = (
        f"the {'first of them is the ' if sum(missing) > 1 else ''}one at place {missing.index(True)}, counted from 0"
    )
    return f"{sum(missing)} of the {len(missing)} secrets ({first})"


def _answers(function: Callable[[Any], Any], secrets: tuple[Hashable, ...], what: str) -> list[Any]:
    try:
        return [function(x) for x in secrets]
    except Exception as problem:  # whatever someone else's function raises
        raise ParameterError(f"{what} must have an answer for every secret ({type(problem).__name__}).") from None
