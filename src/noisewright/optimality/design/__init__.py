"""The best mechanism for a prior and a loss: by a theorem where there is one, by the program otherwise."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.optimality.design.mechanism import OptimalMechanism as OptimalMechanism
else:
    __getattr__, __dir__ = door(__name__)
