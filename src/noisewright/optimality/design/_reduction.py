r"""Reduction of a loss to its relevant part: actions that are never worth taking, and amounts that no mechanism can
change, are left out.

An action that costs at least as much as another one at every secret is never needed, and the cost of the cheapest
action at a secret is paid by every mechanism. Without the two, costs are *regrets*: 0 or more, and 0 for some action at
every secret. Therefore, an answer that must never be given may cost 1e12 without drowning the differences that count.

>>> found = relevant(np.array([[5.0, 6.0], [6.0, 5.0], [1e12, 1e12]]), np.array([0.5, 0.5]))
>>> found.kept.tolist(), found.regret.tolist(), found.paid
([0, 1], [[0.0, 1.0], [1.0, 0.0]], 5.0)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from noisewright.core.arrays import Floats, Indices
from noisewright.optimality.design._closed_forms import Found, Setting
from noisewright.optimality.losses.loss import Loss

__all__ = ["Reduced", "Relevant", "reduced", "relevant"]


MOST_COMPARED = 300_000_000
"""Maximum number of comparisons of numbers for which actions are compared with each other."""


@dataclass(frozen=True)
class Relevant:
    """The actions that are kept, their regrets, and the cost that is paid whatever is done."""

    kept: Indices
    regret: Floats
    paid: float


def relevant(matrix: Floats, prior: Floats, *, drop: bool = True, shift: bool = True) -> Relevant:
    """The part of a loss ``L[w, x]`` that matters at secrets that can occur."""
    occurs = prior > 0
    kept = np.arange(len(matrix))
    if drop and matrix.size * len(matrix) <= MOST_COMPARED:
        columns = matrix[:, occurs]
        kept = np.array([w for w in kept.tolist() if not _dominated(columns, w)], dtype=np.intp)
    least = matrix.min(axis=0) if shift else np.zeros(matrix.shape[1])
    return Relevant(kept, matrix[kept] - least, float(prior @ least))


def _dominated(matrix: Floats, w: int) -> bool:
    """Return whether another action is at least as good everywhere; of several equal ones the first is not."""
    no_worse = (matrix <= matrix[w]).all(axis=1)
    no_worse[w] = False
    if not no_worse.any():
        return False
    equal = (matrix[no_worse] == matrix[w]).all(axis=1)
    return not equal.all() or bool(np.flatnonzero(no_worse)[0] < w)


@dataclass(frozen=True)
class Reduced:
    """A design problem with the relevant part of its loss, and the way back."""

    setting: Setting
    kept: Indices
    actions: int
    paid: float

    def restored(self, found: Found) -> Found:
        """The same mechanism as an answer to the whole problem."""
        gap = found.value - found.bound
        value = found.value + self.paid
        logs = None if found.logs is None else self.widened(found.logs)
        return replace(found, value=value, bound=value - gap, remap=self.kept[found.remap], logs=logs)

    def widened(self, logs: Floats) -> Floats:
        """Log-probabilities with the actions that were left out as impossible outputs."""
        wide = np.full((len(logs), self.actions), -np.inf)
        wide[:, self.kept] = logs
        return wide


def reduced(setting: Setting, *, drop: bool, shift: bool) -> Reduced:
    """The problem without what cannot matter. A shape is about all outputs, so nothing is dropped then; the worst secret is
    about whole costs, so nothing is taken off them then.
    """
    loss = setting.loss
    every = np.arange(len(loss.actions))
    if (
        loss.rule is not None and loss.actions == loss.secrets
    ):  # the truth costs nothing, and nothing else is as good there
        return Reduced(setting, every, len(every), 0.0)
    everywhere = np.ones(len(setting.secrets)) if not shift else setting.prior
    found = relevant(loss.matrix, everywhere, drop=drop, shift=shift)
    if len(found.kept) == len(every) and np.array_equal(found.regret, loss.matrix):
        return Reduced(setting, every, len(every), 0.0)
    actions = tuple(loss.actions[w] for w in found.kept.tolist())
    smaller = Loss(found.regret, actions, loss.secrets, loss.made)
    return Reduced(replace(setting, loss=smaller), found.kept, len(every), found.paid if shift else 0.0)
