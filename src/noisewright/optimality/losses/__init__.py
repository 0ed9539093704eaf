"""Losses, the costs of a wrong answer: their algebra, a gallery, and the classes that theorems are about."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.optimality.losses.classes import is_extended as is_extended
    from noisewright.optimality.losses.classes import is_monotone as is_monotone
    from noisewright.optimality.losses.classes import is_ordered_single_crossing as is_ordered_single_crossing
    from noisewright.optimality.losses.classes import is_pairwise_non_trivial as is_pairwise_non_trivial
    from noisewright.optimality.losses.classes import is_strictly_monotone as is_strictly_monotone
    from noisewright.optimality.losses.classes import is_trivial as is_trivial
    from noisewright.optimality.losses.gallery import NAMES as NAMES
    from noisewright.optimality.losses.gallery import absolute as absolute
    from noisewright.optimality.losses.gallery import as_loss as as_loss
    from noisewright.optimality.losses.gallery import from_callable as from_callable
    from noisewright.optimality.losses.gallery import last_train as last_train
    from noisewright.optimality.losses.gallery import parity as parity
    from noisewright.optimality.losses.gallery import pinball as pinball
    from noisewright.optimality.losses.gallery import property_loss as property_loss
    from noisewright.optimality.losses.gallery import squared as squared
    from noisewright.optimality.losses.gallery import step_loss as step_loss
    from noisewright.optimality.losses.gallery import zero_one as zero_one
    from noisewright.optimality.losses.loss import Displacement as Displacement
    from noisewright.optimality.losses.loss import Loss as Loss
    from noisewright.optimality.losses.loss import Made as Made
    from noisewright.optimality.losses.table import ActionTable as ActionTable
    from noisewright.optimality.losses.table import Points as Points
    from noisewright.optimality.losses.table import as_matrix as as_matrix
    from noisewright.optimality.losses.table import named as named
    from noisewright.optimality.losses.table import tabulated as tabulated
else:
    __getattr__, __dir__ = door(__name__)
