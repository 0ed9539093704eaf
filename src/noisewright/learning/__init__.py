"""Privatisers that are learned from data, and private classifiers."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.learning.networks import Adam as Adam
    from noisewright.learning.networks import BestResponse as BestResponse
    from noisewright.learning.networks import LineSearch as LineSearch
    from noisewright.learning.networks import NetworkAdversary as NetworkAdversary
    from noisewright.learning.networks import ShiftFamily as ShiftFamily
    from noisewright.learning.networks import TableAdversary as TableAdversary
    from noisewright.learning.objectives import AugmentedLagrangian as AugmentedLagrangian
    from noisewright.learning.objectives import Penalty as Penalty
    from noisewright.learning.objectives import Play as Play
    from noisewright.learning.objectives import Records as Records
    from noisewright.learning.objectives import Settings as Settings
    from noisewright.learning.objectives import alpha_loss as alpha_loss
    from noisewright.learning.objectives import expected_losses as expected_losses
    from noisewright.learning.policy_mechanism import changed_columns as changed_columns
    from noisewright.learning.privatiser import GAPPrivatiser as GAPPrivatiser
    from noisewright.learning.trainer import Course as Course
    from noisewright.learning.trainer import Curve as Curve
    from noisewright.learning.trainer import Trainer as Trainer
    from noisewright.learning.trainer import train_curve as train_curve
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Adam": "networks",
            "AugmentedLagrangian": "objectives",
            "BestResponse": "networks",
            "Course": "trainer",
            "Curve": "trainer",
            "GAPPrivatiser": "privatiser",
            "LineSearch": "networks",
            "NetworkAdversary": "networks",
            "Penalty": "objectives",
            "Play": "objectives",
            "Records": "objectives",
            "Settings": "objectives",
            "ShiftFamily": "networks",
            "TableAdversary": "networks",
            "Trainer": "trainer",
            "alpha_loss": "objectives",
            "changed_columns": "policy_mechanism",
            "expected_losses": "objectives",
            "train_curve": "trainer",
        },
    )
