"""A finite game in the form that its programs share: rows that a mechanism is given, columns that it may release.

A row is a public value (``given="x"``) or a pair of a public and a private one (``given="xy"``); those of probability 0 are
left out. ``mass[r]`` is its probability, ``beliefs[r, y]`` how likely each private value is in it, ``cost[r, k]`` the
distortion of an output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noisewright.core.arrays import Floats, Indices

__all__ = ["GameRows", "Moves"]


@dataclass(frozen=True, eq=False)
class GameRows:
    """The rows of positive probability."""

    mass: Floats
    cost: Floats
    beliefs: Floats
    private: Indices | None
    """The private value of each row, where a row has one."""
    law: Floats
    """The probabilities themselves: a row's mass where it has one private value, otherwise its masses of all private values."""
    open: NDArray[np.bool_] | None = None
    """The outputs of each row to which programs move mass; None: to all."""

    @classmethod
    def of(cls, probabilities: Floats, distances: Floats, pairs: bool) -> GameRows:
        """The rows of a joint law and a table of distortions."""
        if pairs:
            x, y = np.nonzero(probabilities)
            mass = probabilities[x, y]
            return cls(mass, distances[x], np.eye(probabilities.shape[1])[y], y, mass[:, None])
        x = np.flatnonzero(probabilities.sum(axis=1))
        mass = probabilities[x].sum(axis=1)
        return cls(mass, distances[x], probabilities[x] / mass[:, None], None, probabilities[x])

    @property
    def size(self) -> int:
        """Return how many probabilities a mechanism has."""
        return self.cost.size

    @property
    def outputs(self) -> int:
        return int(self.cost.shape[1])

    @property
    def privates(self) -> int:
        return int(self.beliefs.shape[1])

    @property
    def least(self) -> float:
        """The distortion that no mechanism goes below."""
        return float(self.mass @ self.cost.min(axis=1))

    def joint(self, matrix: Floats) -> Floats:
        """``P(y, k)`` of a mechanism with these rows."""
        moved = self.mass[:, None] * matrix
        if self.private is None:
            return np.asarray(self.beliefs.T @ moved)
        found = np.zeros((self.privates, self.outputs))
        np.add.at(found, self.private, moved)
        return found

    def spent(self, matrix: Floats) -> float:
        """The expected distortion of a mechanism with these rows."""
        return float(self.mass @ (matrix * self.cost).sum(axis=1))

    def worth(self, gains: Floats) -> Floats:
        """Return the expected gain of an adversary with gains ``gains[y, k]`` from each row and output, for a unit of mass."""
        return np.asarray(self.beliefs @ gains if self.private is None else gains[self.private])

    @cached_property
    def moves(self) -> Moves:
        """The variables of the programs."""
        return _pooled(self) if self.pooled else _dense(self)

    @property
    def pooled(self) -> bool:
        """Return whether it matters only that mass changes its place, not where it came from."""
        return self.private is not None and self._own is not None

    @cached_property
    def _own(self) -> Indices | None:
        """The output that costs a row nothing, where each has one and all others cost the same: changing is all that matters."""
        most = float(self.cost.max())
        alike = ((self.cost == 0) | (self.cost == most)).all() and ((self.cost == 0).sum(axis=1) == 1).all()
        return np.asarray(self.cost.argmin(axis=1)) if alike and most > 0 and self.outputs > 2 else None


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves of mass, as non-negative variables: ``sums z = totals``, the joint law ``joints z`` and the distortion
    ``cost z``.

    The joint law has all outputs of the first private value first; ``matrix(z)`` is the mechanism.
    """

    sums: Any
    totals: Floats
    joints: Any
    cost: Floats
    matrix: Callable[[Floats], Floats]


def _dense(rows: GameRows) -> Moves:
    """``T[r, k]``: the mass that goes from a row to an output that is open to it."""
    places = np.arange(rows.size) if rows.open is None else np.flatnonzero(rows.open)
    sums = sparse.kron(sparse.identity(len(rows.mass)), np.ones((1, rows.outputs)), format="csc")
    joints = sparse.kron(sparse.csr_array(rows.beliefs.T), sparse.identity(rows.outputs), format="csc")

    def matrix(z: Floats) -> Floats:
        moved = np.zeros(rows.size)
        moved[places] = z
        return _stochastic(rows, moved.reshape(rows.cost.shape))

    return Moves(sums[:, places], rows.mass, joints[:, places], rows.cost.ravel()[places], matrix)


def _pooled(rows: GameRows) -> Moves:
    """Return variables for mass kept by a row, given away, and given by each private value's pool to each output.

    Where all changes cost the same, the source does not matter, which gives far fewer variables for the same
    mechanisms.
    """
    assert rows.private is not None
    assert rows._own is not None
    count, outputs, private, own = len(rows.mass), rows.outputs, rows.private, rows._own
    cells, each = rows.privates * outputs, np.arange(count)
    kept = sparse.csr_array((np.ones(count), (private * outputs + own, each)), shape=(cells, count))
    pools = sparse.csr_array((np.ones(count), (private, each)), shape=(rows.privates, count))
    given = sparse.kron(sparse.identity(rows.privates), np.ones((1, outputs)), format="csr")
    one, none = sparse.identity(count), sparse.csr_array((rows.privates, count))
    sums = sparse.vstack(
        [sparse.hstack([one, one, sparse.csr_array((count, cells))]), sparse.hstack([none, pools, -given])]
    )
    joints = sparse.hstack([kept, sparse.csr_array((cells, count)), sparse.identity(cells)])
    price = float(rows.cost.max())

    def matrix(z: Floats) -> Floats:
        shares = np.maximum(z[2 * count :], 0.0).reshape(rows.privates, outputs)
        whole = shares.sum(axis=1, keepdims=True)
        shares = np.where(whole > 0, shares / np.where(whole > 0, whole, 1.0), 0.0)
        moved = np.maximum(z[count : 2 * count], 0.0)[:, None] * shares[private]
        moved[each, own] += np.maximum(z[:count], 0.0)
        return _stochastic(rows, moved)

    totals = np.concatenate([rows.mass, np.zeros(rows.privates)])
    cost = np.concatenate([np.zeros(count), np.full(count, price), np.zeros(cells)])
    return Moves(sparse.csr_array(sums), totals, sparse.csr_array(joints), cost, matrix)


def _stochastic(rows: GameRows, moved: Floats) -> Floats:
    """Rows of probabilities from a solver's masses; a row so rare that the solver lost it releases the nearest output."""
    moved = np.maximum(moved, 0.0)
    moved[moved < 1e-9 * moved.sum(axis=1, keepdims=True)] = 0.0  # what an interior point leaves everywhere
    lost = np.flatnonzero(moved.sum(axis=1) <= 0)
    moved[lost, rows.cost[lost].argmin(axis=1)] = 1.0
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))
