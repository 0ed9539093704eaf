"""Optima of generative adversarial privacy, without any training: the best possible learned privatiser, with proofs.

``FiniteGame(joint).optimum(distortion)`` is a mechanism with a dual certificate; closed forms for two values and Gaussians."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.learned.theory import binary as binary
    from noisewright.learned.theory import budgets as budgets
    from noisewright.learned.theory import estimates as estimates
    from noisewright.learned.theory import gaussians as gaussians
    from noisewright.learned.theory.bounds import DualCertificate as DualCertificate
    from noisewright.learned.theory.budgets import FreeBudget as FreeBudget
    from noisewright.learned.theory.budgets import independence_budget as independence_budget
    from noisewright.learned.theory.distortions import Mixed as Mixed
    from noisewright.learned.theory.distortions import distortion_table as distortion_table
    from noisewright.learned.theory.estimates import Estimate as Estimate
    from noisewright.learned.theory.estimates import accuracy_interval as accuracy_interval
    from noisewright.learned.theory.games import FiniteGame as FiniteGame
    from noisewright.learned.theory.gaussians import shifts as shifts
    from noisewright.learned.theory.gaussians.grids import grid_game as grid_game
    from noisewright.learned.theory.gaussians.mixtures import Mixture as Mixture
    from noisewright.learned.theory.gaussians.mixtures import accuracy_slope as accuracy_slope
    from noisewright.learned.theory.gaussians.mixtures import equal_accuracy as equal_accuracy
    from noisewright.learned.theory.gaussians.mixtures import mixture_accuracy as mixture_accuracy
    from noisewright.learned.theory.gaussians.mixtures import mixture_information as mixture_information
    from noisewright.learned.theory.gaussians.shifts import AffineMechanism as AffineMechanism
    from noisewright.learned.theory.gaussians.vectors import GaussianPair as GaussianPair
    from noisewright.learned.theory.gaussians.vectors import direction_noise as direction_noise
    from noisewright.learned.theory.joint import Joint as Joint
    from noisewright.learned.theory.losses import AdversaryLoss as AdversaryLoss
    from noisewright.learned.theory.losses import SquaredLoss as SquaredLoss
    from noisewright.learned.theory.losses import conditional_entropy as conditional_entropy
    from noisewright.learned.theory.losses import information_bounds as information_bounds
    from noisewright.learned.theory.losses import map_accuracy as map_accuracy
    from noisewright.learned.theory.losses import mutual_information as mutual_information
    from noisewright.learned.theory.mechanism import ContextMechanism as ContextMechanism
else:
    __getattr__, __dir__ = door(__name__)
