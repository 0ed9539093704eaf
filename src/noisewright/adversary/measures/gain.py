r"""Gains as matrices ``g[w, x]`` (actions by secrets): the type, and the changes that keep the order of channels.

>>> guess = Gain([[1, 0, 0], [0, 1, 0], [0, 0, 1]], secrets="abc")
>>> guess
Gain(custom: 3 actions by 3 secrets)
>>> guess.restrict("ca").matrix.tolist()
[[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats, Indices
from noisewright.core.errors import ParameterError
from noisewright.core.labels import as_labels
from noisewright.optimality.losses.table import ActionTable, Points, as_matrix, named

__all__ = ["Gain", "gain_labels", "make_gain"]


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
