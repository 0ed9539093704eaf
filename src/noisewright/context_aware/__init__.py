"""Mechanisms for a known distribution: the game between a mechanism and an adversary."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.context_aware.distributions import AdversaryLoss as AdversaryLoss
    from noisewright.context_aware.distributions import Joint as Joint
    from noisewright.context_aware.distributions import Mixed as Mixed
    from noisewright.context_aware.distributions import SquaredLoss as SquaredLoss
    from noisewright.context_aware.distributions import accuracy_interval as accuracy_interval
    from noisewright.context_aware.distributions import conditional_entropy as conditional_entropy
    from noisewright.context_aware.distributions import distortion_table as distortion_table
    from noisewright.context_aware.distributions import information_bounds as information_bounds
    from noisewright.context_aware.distributions import map_accuracy as map_accuracy
    from noisewright.context_aware.distributions import mutual_information as mutual_information
    from noisewright.context_aware.games import FiniteGame as FiniteGame
    from noisewright.context_aware.gaussian import GaussianPair as GaussianPair
    from noisewright.context_aware.gaussian import Mixture as Mixture
    from noisewright.context_aware.gaussian import accuracy_slope as accuracy_slope
    from noisewright.context_aware.gaussian import direction_noise as direction_noise
    from noisewright.context_aware.gaussian import equal_accuracy as equal_accuracy
    from noisewright.context_aware.gaussian import grid_game as grid_game
    from noisewright.context_aware.gaussian import mixture_accuracy as mixture_accuracy
    from noisewright.context_aware.gaussian import mixture_information as mixture_information
    from noisewright.context_aware.programs import DualCertificate as DualCertificate
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "AdversaryLoss": "distributions",
            "DualCertificate": "programs",
            "FiniteGame": "games",
            "GaussianPair": "gaussian",
            "Joint": "distributions",
            "Mixed": "distributions",
            "Mixture": "gaussian",
            "SquaredLoss": "distributions",
            "accuracy_interval": "distributions",
            "accuracy_slope": "gaussian",
            "conditional_entropy": "distributions",
            "direction_noise": "gaussian",
            "distortion_table": "distributions",
            "equal_accuracy": "gaussian",
            "grid_game": "gaussian",
            "information_bounds": "distributions",
            "map_accuracy": "distributions",
            "mixture_accuracy": "gaussian",
            "mixture_information": "gaussian",
            "mutual_information": "distributions",
        },
    )
