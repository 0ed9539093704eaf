r"""Tables over actions and secrets: the common part of a loss ``L[w, x]`` and a gain ``g[w, x]``.

A table has named rows (actions) and columns (secrets), does not change, and may be kept as a rule whose numbers are built when
something asks for them.

>>> as_matrix([[0, 1], [1, 0]], "loss").tolist()
[[0.0, 1.0], [1.0, 0.0]]
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats, Indices
from noisewright.core.errors import ParameterError
from noisewright.core.labels import as_labels

__all__ = ["ActionTable", "Points", "as_matrix", "named", "tabulated"]

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
