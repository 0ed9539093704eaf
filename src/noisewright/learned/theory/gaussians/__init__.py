"""Gaussian classes, vectors and pairs: closed forms and families of mechanisms, and the true optimum on a grid.

``Mixture`` is two classes on a line; ``shifts`` has the best mechanism of each family; ``grid_game`` assumes none."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.learned.theory.gaussians import shifts as shifts
    from noisewright.learned.theory.gaussians.grids import grid_game as grid_game
    from noisewright.learned.theory.gaussians.mixtures import Mixture as Mixture
    from noisewright.learned.theory.gaussians.mixtures import accuracy_slope as accuracy_slope
    from noisewright.learned.theory.gaussians.mixtures import equal_accuracy as equal_accuracy
    from noisewright.learned.theory.gaussians.mixtures import mixture_accuracy as mixture_accuracy
    from noisewright.learned.theory.gaussians.mixtures import mixture_information as mixture_information
    from noisewright.learned.theory.gaussians.vectors import GaussianPair as GaussianPair
    from noisewright.learned.theory.gaussians.vectors import direction_noise as direction_noise
else:
    __getattr__, __dir__ = door(__name__)
