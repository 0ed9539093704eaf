"""Training of privatisers against adversaries, for all points of a trade-off curve at once (extra ``learned``, PyTorch).

Losses, constraints, families of privatisers, networks with an axis of points, the game in turns, and its checkpoints."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.learned.training.checkpoints import read_checkpoint as read_checkpoint
    from noisewright.learned.training.checkpoints import write_checkpoint as write_checkpoint
    from noisewright.learned.training.constraints import AugmentedLagrangian as AugmentedLagrangian
    from noisewright.learned.training.constraints import Penalty as Penalty
    from noisewright.learned.training.curves import Curve as Curve
    from noisewright.learned.training.curves import train_curve as train_curve
    from noisewright.learned.training.families import NetworkFamily as NetworkFamily
    from noisewright.learned.training.families import ShiftFamily as ShiftFamily
    from noisewright.learned.training.families import TableFamily as TableFamily
    from noisewright.learned.training.losses import Play as Play
    from noisewright.learned.training.losses import alpha_loss as alpha_loss
    from noisewright.learned.training.losses import expected_losses as expected_losses
    from noisewright.learned.training.networks import BestResponse as BestResponse
    from noisewright.learned.training.networks import NetworkAdversary as NetworkAdversary
    from noisewright.learned.training.networks import TableAdversary as TableAdversary
    from noisewright.learned.training.records import Records as Records
    from noisewright.learned.training.settings import Settings as Settings
    from noisewright.learned.training.steps import Adam as Adam
    from noisewright.learned.training.steps import LineSearch as LineSearch
    from noisewright.learned.training.trainer import Course as Course
    from noisewright.learned.training.trainer import Trainer as Trainer
else:
    __getattr__, __dir__ = door(__name__)
