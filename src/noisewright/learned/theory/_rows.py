"""A finite game in the form that its programs share: rows that a mechanism is given, columns that it may release.

A row is a public value (``given="x"``) or a pair of a public and a private one (``given="xy"``); those of probability 0 are
left out. ``mass[r]`` is its probability, ``beliefs[r, y]`` how likely each private value is in it, ``cost[r, k]`` the
distortion of an output.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from noisewright.core.arrays import Floats, Indices

__all__ = ["GameRows"]


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
        """How many probabilities a mechanism has."""
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
        """What an adversary who gains ``gains[y, k]`` expects from each row and output, for a unit of mass."""
        return np.asarray(self.beliefs @ gains if self.private is None else gains[self.private])

    # As matrices that act on the moved masses T[r, k], row after row ---------------------------------------------------------

    @cached_property
    def totals(self) -> Any:
        """``sum_k T[r, k]``."""
        return sparse.kron(sparse.identity(len(self.mass)), np.ones((1, self.outputs)), format="csr")

    @cached_property
    def joints(self) -> Any:
        """``sum_r P(y|r) T[r, k]``, all outputs of the first private value first."""
        return sparse.kron(sparse.csr_array(self.beliefs.T), sparse.identity(self.outputs), format="csr")
