"""Tables over actions and secrets: the common part of a loss ``L[w, x]`` and a gain ``g[w, x]``.

A table has named rows (actions) and columns (secrets), does not change, and may be kept as a rule whose numbers are built when
something asks for them.

>>> as_matrix([[0, 1], [1, 0]], "loss").tolist()
[[0.0, 1.0], [1.0, 0.0]]

A loss gives the cost of the action ``w`` when the secret is ``x``; smaller is better and any real number is allowed.
The operations below change the expected loss of *every* channel in the same known way. Therefore the best channel for
one loss is best for all losses made of it (``U_l`` is the expected loss after the best remap of the outputs;
``a, b >= 0``):

=====================  ===========================================  ====================================
``loss * a``           ``a L[w,x]``                                 ``U = a U_l``
``loss + a, - a``      ``L[w,x] + a``                               ``U = U_l + a``
``loss.add(q)``        ``L[w,x] + q[x]``                            ``U = U_l + sum_x pi_x q_x``
``l.combine(k,a,b)``   ``a L[w,x] + b K[v,x]`` for pairs (w, v)     ``U = a U_l + b U_k``
``loss.weighted(pi)``  ``pi_x L[w,x]``                              ``U_l at pi = n U at the uniform prior``
``loss.restrict(X)``   the columns of ``X``                         secrets that never occur left out
``loss.lift(X)``       zero columns for the new secrets             secrets that cost nothing added
=====================  ===========================================  ====================================

>>> guess = Loss([[0, 1, 2], [1, 0, 1], [2, 1, 0]], actions=[0, 1, 2], secrets=[0, 1, 2])
>>> print((guess * 3 + 1).made)
a matrix of 3 actions by 3 secrets, times 3, plus 1
>>> (guess * 3 + 1).matrix[0].tolist()
[1.0, 4.0, 7.0]
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats, Indices
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import as_labels

__all__ = ["ActionTable", "Displacement", "Loss", "Made", "Points", "as_matrix", "named", "tabulated"]


Points = Iterable[Hashable]
"""Names of secrets, or of actions."""

LARGEST_TABLE = 25_000_000
"""A table with more entries than this is not built."""


class ActionTable:
    """Numbers ``[w, x]`` over named actions and secrets; immutable.

    A kind of table states its name (``kind``), the alternative to one that is too large (``instead``), and how its
    numbers are built where they are not kept (``_built``).
    """

    __slots__ = ("_matrix", "actions", "labelled", "secrets")

    kind: ClassVar[str]
    instead: ClassVar[str] = ""

    _matrix: Floats | None
    actions: tuple[Hashable, ...]
    secrets: tuple[Hashable, ...]
    labelled: bool

    @property
    def matrix(self) -> Floats:
        """The numbers, one row for each action and one column for each secret; read-only."""
        if self._matrix is None:
            self.check_size(*self.shape)
            values = self._built()
            values.flags.writeable = False
            object.__setattr__(self, "_matrix", values)
        found: Floats = self._matrix  # type: ignore[assignment]
        return found

    @property
    def shape(self) -> tuple[int, int]:
        """Number of actions, number of secrets."""
        return len(self.actions), len(self.secrets)

    @classmethod
    def check_size(cls, actions: int, secrets: int) -> None:
        """Refuse to build a matrix that would fill the memory."""
        if actions * secrets > LARGEST_TABLE:
            raise ParameterError(
                f"a {cls.kind} matrix of {actions} actions by {secrets} secrets is too large ({LARGEST_TABLE} entries is the "
                f"limit){cls.instead}."
            )

    def _built(self) -> Floats:
        """The numbers of a table that does not keep them."""
        raise TypeError(f"{type(self).__name__} must keep its numbers, or define _built().")

    def _set(self, **parts: Any) -> None:
        for part, value in parts.items():
            object.__setattr__(self, part, value)

    def _columns(self, names: tuple[Hashable, ...]) -> Indices:
        """The columns of some of the secrets."""
        place = {x: i for i, x in enumerate(self.secrets)}
        if not names or len(set(names)) < len(names) or any(x not in place for x in names):
            raise ParameterError(
                f"a {self.kind} is restricted to some of its own secrets, each named once; see .secrets."
            )
        return np.array([place[x] for x in names], dtype=np.intp)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change; build a new one.")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, type(self))
            and self.actions == other.actions
            and self.secrets == other.secrets
            and self._equals(other)
        )

    def _equals(self, other: ActionTable) -> bool:
        """Return whether the numbers are the same."""
        return bool(np.array_equal(self.matrix, other.matrix))

    def __hash__(self) -> int:
        return hash((self.actions, self.secrets))


def as_matrix(matrix: ArrayLike, what: str) -> Floats:
    """The numbers of a loss or a gain (``what``), one row for each action, checked; they cannot be changed."""
    try:
        given = np.asarray(matrix)
        if given.dtype.kind not in "biufO":
            raise TypeError
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"a {what} needs a matrix of numbers with rows of one length, one row for each action."
        ) from None
    if values.ndim != 2 or 0 in values.shape:
        raise ParameterError(
            f"a {what} needs one row for each action and one column for each secret, not shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ParameterError(f"a {what} needs finite numbers; one is NaN or infinite.")
    if np.abs(values).max() > 1e150:
        raise ParameterError(f"a {what} needs numbers below 1e150 in size; rescale it.")
    values.flags.writeable = False
    return values


def named(names: Iterable[Hashable], what: str, of: str) -> tuple[Hashable, ...]:
    """The labels of actions or secrets (``what``) of a loss or a gain (``of``): each once."""
    labels = as_labels(names, what)
    if len(set(labels)) < len(labels):
        raise ParameterError(f"the {what} of a {of} must be different from each other.")
    return labels


def tabulated(
    function: Callable[[Any, Any], float], actions: Sequence[Hashable], secrets: Sequence[Hashable], what: str
) -> list[list[float]]:
    """``function(action, secret)`` for all actions and secrets: the numbers of a loss or a gain (``what``)."""
    try:
        return [[float(function(w, x)) for x in secrets] for w in actions]
    except Exception as problem:  # whatever someone else's function raises
        raise ParameterError(
            f"the {what} function must give a number for every action and secret ({type(problem).__name__})."
        ) from None


# Loss ---------------------------------------------------------------------------------------------------------------------
#
# Losses as matrices ``L[w, x]`` (actions by secrets), their algebra, and how each was made.


@dataclass(frozen=True)
class Made:
    """Origin of a loss: the name of a gallery loss or of an operation, its numbers, and the losses it was made from."""

    what: str
    details: tuple[Any, ...] = ()
    of: tuple[Made, ...] = ()

    def __str__(self) -> str:
        if not self.of:
            return self.what
        if self.what == "combined":
            return f"{self.details[0]:g} times ({self.of[0]}) and {self.details[1]:g} times ({self.of[1]}) together"
        return f"{self.of[0]}, {self.what}"

    @property
    def root(self) -> Made:
        """The loss that everything started from, through operations that keep the optimum for every prior."""
        return self.of[0].root if len(self.of) == 1 else self


@dataclass(frozen=True)
class Displacement:
    """A loss that depends on how far the action is from the secret: polynomials ``p0 + p1 d + p2 d^2``, and 0 where
    ``w = x``.

    ``below`` is for secrets below the action (``d = w - x``), ``above`` for secrets above it (``d = x - w``).
    Coefficients are 0 or more, so both rise with the distance.
    """

    below: tuple[float, float, float]
    above: tuple[float, float, float]

    @property
    def symmetric(self) -> bool:
        """Return whether only the size of the displacement counts: such losses are monotone in the line metric."""
        return self.below == self.above

    def scaled(self, factor: float) -> Displacement:
        """All losses times ``factor``."""
        low, high = (tuple(factor * c for c in part) for part in (self.below, self.above))
        return Displacement((low[0], low[1], low[2]), (high[0], high[1], high[2]))

    def matrix(self, actions: Floats, secrets: Floats) -> Floats:
        """The loss matrix for numbers."""
        apart = secrets[None, :] - actions[:, None]
        size = np.abs(apart)
        sides = [p[0] + size * (p[1] + size * p[2]) for p in (self.below, self.above)]
        return np.asarray(np.where(apart < 0, sides[0], np.where(apart > 0, sides[1], 0.0)))


class Loss(ActionTable):
    """A loss ``L[w, x]`` over named actions and secrets; immutable. See the head of this module for the algebra."""

    __slots__ = ("made", "rule")

    kind = "loss"
    instead = "; name a loss such as 'absolute', which needs no matrix on a line"

    made: Made
    rule: Displacement | None

    def __init__(
        self,
        matrix: ArrayLike | None,
        actions: Iterable[Hashable] | None = None,
        secrets: Iterable[Hashable] | None = None,
        made: Made | None = None,
        *,
        rule: Displacement | None = None,
    ) -> None:
        if matrix is None:
            if rule is None or actions is None or secrets is None:
                raise ParameterError("a loss needs a matrix of numbers, one row for each action.")
            values, shape = None, None
        else:
            values = as_matrix(matrix, "loss")
            shape = (values.shape[0], values.shape[1])
        if (
            matrix is None and isinstance(actions, tuple) and isinstance(secrets, tuple)
        ):  # from the gallery, checked there
            names_w, names_x = actions, secrets
        else:
            names_w = _names(actions, shape and shape[0], "actions", "rows", shape)
            names_x = _names(secrets, shape and shape[1], "secrets", "columns", shape)
        described = made or Made(f"a matrix of {len(names_w)} actions by {len(names_x)} secrets")
        self._set(
            _matrix=values,
            actions=names_w,
            secrets=names_x,
            labelled=secrets is not None,
            made=described,
            rule=rule,
        )

    def _built(self) -> Floats:
        assert self.rule is not None
        return self.rule.matrix(_floats(self.actions), _floats(self.secrets))

    # The algebra -------------------------------------------------------------------------------------------------------

    def __mul__(self, factor: float) -> Loss:
        number = _number(factor, "a loss is scaled by")
        if number < 0:
            raise ParameterError(
                "a loss is scaled by a number that is 0 or more; a negative one would make the worst the best."
            )
        rule = self.rule.scaled(number) if self.rule is not None else None
        made = Made(f"times {number:g}", (number,), (self.made,))
        if self._matrix is None:
            return Loss(None, self.actions, self.secrets, made, rule=rule)
        return Loss(self.matrix * number, self.actions, self._secrets(), made, rule=rule)

    __rmul__ = __mul__

    def __add__(self, amount: float) -> Loss:
        number = _number(amount, "a loss is shifted by")
        what = f"plus {number:g}" if number >= 0 else f"minus {-number:g}"
        return self._derived(self.matrix + number, Made(what, (number,), (self.made,)))

    __radd__ = __add__

    def __sub__(self, amount: float) -> Loss:
        return self + (-_number(amount, "a loss is shifted by"))

    def add(self, amounts: ArrayLike) -> Loss:
        """Add an amount for each secret, whatever the action: regret is such a loss."""
        return self._derived(
            self.matrix + self._per_secret(amounts, "amounts"), Made("plus an amount for each secret", (), (self.made,))
        )

    def weighted(self, prior: ArrayLike) -> Loss:
        """Weigh the secrets: the loss at a prior is the number of secrets times this one at the uniform prior."""
        weights = self._per_secret(getattr(prior, "probabilities", prior), "weights")
        if (weights < 0).any():
            raise ParameterError("the weights of secrets are 0 or more; one is negative.")
        return self._derived(self.matrix * weights, Made("weighted by secret", (), (self.made,)))

    def combine(self, other: Loss, a: float = 1.0, b: float = 1.0) -> Loss:
        """Two tasks at once: an action is a pair, and its loss ``a`` times the first plus ``b`` times the second."""
        if not isinstance(other, Loss):
            raise ParameterError(f"a loss is combined with another Loss, not with {type(other).__name__}.")
        if self.secrets != other.secrets:
            raise ParameterError(
                "two losses are combined over the same secrets in the same order; restrict or lift one first."
            )
        one, two = _number(a, "a loss is scaled by"), _number(b, "a loss is scaled by")
        if min(one, two) < 0:
            raise ParameterError("losses are combined with factors that are 0 or more.")
        self.check_size(len(self.actions) * len(other.actions), len(self.secrets))
        both = one * self.matrix[:, None, :] + two * other.matrix[None, :, :]
        pairs = [(w, v) for w in self.actions for v in other.actions]
        return Loss(
            both.reshape(len(pairs), -1), pairs, self._secrets(), Made("combined", (one, two), (self.made, other.made))
        )

    def restrict(self, secrets: Iterable[Hashable]) -> Loss:
        """Only the given secrets, in that order."""
        names = as_labels(secrets, "secrets")
        if names == self.secrets:
            return self
        columns = self._columns(names)
        made = Made(f"for {len(names)} of {len(self.secrets)} secrets", (names,), (self.made,))
        if self._matrix is None:
            return Loss(None, self.actions, names, made, rule=self.rule)
        return Loss(self.matrix[:, columns], self.actions, names, made, rule=self.rule)

    def lift(self, secrets: Iterable[Hashable]) -> Loss:
        """More secrets, at which every action costs nothing."""
        names = as_labels(secrets, "secrets")
        place = {x: i for i, x in enumerate(names)}
        if not set(self.secrets) <= set(place) or len(place) < len(names):
            raise ParameterError("a loss is lifted to secrets that hold all of its own, each named once; see .secrets.")
        self.check_size(len(self.actions), len(names))
        wide = np.zeros((len(self.actions), len(names)))
        wide[:, [place[x] for x in self.secrets]] = self.matrix
        return Loss(wide, self.actions, names, Made(f"lifted to {len(names)} secrets", (), (self.made,)))

    # Helpers -------------------------------------------------------------------------------------------------------------

    def _derived(self, matrix: Floats, made: Made) -> Loss:
        return Loss(matrix, self.actions, self._secrets(), made)

    def _secrets(self) -> tuple[Hashable, ...] | None:
        return self.secrets if self.labelled else None

    def _per_secret(self, amounts: ArrayLike, what: str) -> Floats:
        try:
            values = np.asarray(amounts, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.zeros(0)
        if values.shape != (len(self.secrets),) or not np.isfinite(values).all():
            raise ParameterError(f"{what} are {len(self.secrets)} finite numbers, one for each secret of this loss.")
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._matrix, self.actions, self.secrets, self.labelled, self.made, self.rule)

    def _equals(self, other: ActionTable) -> bool:
        if isinstance(other, Loss) and self._matrix is None and other._matrix is None:
            return self.rule == other.rule
        return super()._equals(other)

    def __repr__(self) -> str:
        return f"Loss({self.made}: {len(self.actions)} actions by {len(self.secrets)} secrets)"


def _restore(
    matrix: Floats | None,
    actions: tuple[Hashable, ...],
    secrets: tuple[Hashable, ...],
    labelled: bool,
    made: Made,
    rule: Displacement | None,
) -> Loss:
    if matrix is None:
        return Loss(None, actions, secrets, made, rule=rule)
    return Loss(matrix, actions, secrets if labelled else None, made, rule=rule)


def _names(
    names: Iterable[Hashable] | None, count: int | None, what: str, which: str, shape: tuple[int, int] | None
) -> tuple[Hashable, ...]:
    if names is None:
        return tuple(range(count or 0))
    labels = named(names, what, "loss")
    if count is not None and len(labels) != count:
        turned = ""
        if shape is not None and len(labels) == shape[0 if which == "columns" else 1]:
            turned = " It looks transposed: rows are actions and columns are secrets."
        raise ParameterError(f"{len(labels)} {what} were named for {count} {which} of a loss.{turned}")
    return labels


def _floats(labels: Sequence[Hashable]) -> Floats:
    return np.array([float(x) for x in labels])  # type: ignore[arg-type]


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterError(f"{what} a finite number, not {type(value).__name__}.")
    try:
        number = float(value)
    except OverflowError:
        raise ParameterError(f"{what} a number below 1e150 in size.") from None
    if not np.isfinite(number):
        raise ParameterError(f"{what} a finite number, not {number}.")
    return number
