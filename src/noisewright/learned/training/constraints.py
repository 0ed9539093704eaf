r"""Constraints that keep a distortion budget in training: a penalty, or an augmented Lagrangian; each for many points
at once.

With ``c = (distortion - D) / D`` (a share of the budget, so that one setting does for all of them) a privatiser minimises

* penalty: :math:`-L + \rho \max(0, c)`, exact as soon as ``rho`` is at least the multiplier of the constraint;
* augmented Lagrangian: :math:`-L + (\max(0, \mu + \rho c)^2 - \mu^2) / 2\rho`, and after an epoch
  :math:`\mu \leftarrow \max(0, \mu + \rho c)` for the mean ``c`` of the epoch. This is the form with a slack variable
  :math:`\delta \ge 0`, :math:`-L + \frac{\rho}{2}(c+\delta)^2 + \mu(c+\delta)`, at its best slack.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from noisewright.learned.training._torch import Tensor, torch
from noisewright.learned.training.settings import Settings

__all__ = ["AugmentedLagrangian", "Constraint", "Penalty", "constraint_of"]


class Constraint(ABC):
    """A cost on the distortion beyond a budget."""

    def __init__(self, points: int, settings: Settings, dtype: Any = None) -> None:
        self.rho, self.growth, self.most = settings.penalty, settings.penalty_growth, settings.most_penalty
        self.multiplier = torch.zeros(points, dtype=dtype)

    @abstractmethod
    def price(self, excess: Tensor) -> Tensor:
        """Return the addition to the loss of each point for an excess, a share of its budget."""

    def after_epoch(self, excess: Tensor) -> None:
        """Learn from the mean excess of an epoch; the cost grows."""
        self.learn(excess)
        self.rho = min(self.most, self.rho * self.growth)

    @abstractmethod
    def learn(self, excess: Tensor) -> None:
        """Update the multiplier."""


class Penalty(Constraint):
    """A linear penalty."""

    def price(self, excess: Tensor) -> Tensor:
        return self.rho * torch.relu(excess)

    def learn(self, excess: Tensor) -> None:
        """Do nothing: a penalty has no multiplier."""


class AugmentedLagrangian(Constraint):
    """Multiplier and quadratic penalty, without the slack."""

    def price(self, excess: Tensor) -> Tensor:
        return (torch.relu(self.multiplier + self.rho * excess) ** 2 - self.multiplier**2) / (2 * self.rho)

    def learn(self, excess: Tensor) -> None:
        self.multiplier = torch.relu(self.multiplier + self.rho * excess)


def constraint_of(settings: Settings, points: int, dtype: Any = None) -> Constraint:
    """The one that the settings name."""
    return (Penalty if settings.method == "penalty" else AugmentedLagrangian)(points, settings, dtype)
