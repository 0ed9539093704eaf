"""Mechanisms for numbers: whole or real, unbounded, in a range, around gaps, with and without a delta."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.mechanisms.numbers.additive import AdditiveMechanism as AdditiveMechanism
    from noisewright.mechanisms.numbers.additive import Within as Within
    from noisewright.mechanisms.numbers.additive import check_scope as check_scope
    from noisewright.mechanisms.numbers.additive import checked as checked
    from noisewright.mechanisms.numbers.additive import choose_lattice as choose_lattice
    from noisewright.mechanisms.numbers.additive import snap as snap
    from noisewright.mechanisms.numbers.approximate import approximate_laplace as approximate_laplace
    from noisewright.mechanisms.numbers.approximate import laplace_delta as laplace_delta
    from noisewright.mechanisms.numbers.approximate import laplace_scale as laplace_scale
    from noisewright.mechanisms.numbers.densities import LaplaceDensity as LaplaceDensity
    from noisewright.mechanisms.numbers.densities import PairDelta as PairDelta
    from noisewright.mechanisms.numbers.densities import PairLoss as PairLoss
    from noisewright.mechanisms.numbers.densities import audit_family as audit_family
    from noisewright.mechanisms.numbers.densities import audit_locations as audit_locations
    from noisewright.mechanisms.numbers.densities import laplace_density as laplace_density
    from noisewright.mechanisms.numbers.densities import pair_delta as pair_delta
    from noisewright.mechanisms.numbers.densities import pair_loss as pair_loss
    from noisewright.mechanisms.numbers.gaussian import GaussianLaw as GaussianLaw
    from noisewright.mechanisms.numbers.gaussian import analytic_delta as analytic_delta
    from noisewright.mechanisms.numbers.gaussian import analytic_sigma as analytic_sigma
    from noisewright.mechanisms.numbers.gaussian import classical_sigma as classical_sigma
    from noisewright.mechanisms.numbers.geometric import GeometricMechanism as GeometricMechanism
    from noisewright.mechanisms.numbers.geometric import check_range as check_range
    from noisewright.mechanisms.numbers.half_line import AsymmetricLaplace as AsymmetricLaplace
    from noisewright.mechanisms.numbers.laplace import LaplaceMechanism as LaplaceMechanism
    from noisewright.mechanisms.numbers.snapped import SnappedMechanism as SnappedMechanism
    from noisewright.mechanisms.numbers.snapped import snapped_laplace as snapped_laplace
    from noisewright.mechanisms.numbers.snapped import unsnapped as unsnapped
    from noisewright.mechanisms.numbers.staircase import StaircaseLaw as StaircaseLaw
    from noisewright.mechanisms.numbers.staircase import staircase_density as staircase_density
    from noisewright.mechanisms.numbers.truncated import ClampedLaplace as ClampedLaplace
    from noisewright.mechanisms.numbers.truncated import LossBounds as LossBounds
    from noisewright.mechanisms.numbers.truncated import binned_laplace as binned_laplace
    from noisewright.mechanisms.numbers.truncated import continuous_loss as continuous_loss
    from noisewright.mechanisms.numbers.truncated import geometric_to_laplace as geometric_to_laplace
    from noisewright.mechanisms.numbers.truncated import grid_geometric as grid_geometric
    from noisewright.mechanisms.numbers.truncated import grid_prior as grid_prior
    from noisewright.mechanisms.numbers.truncated import lift as lift
    from noisewright.mechanisms.numbers.truncated import loss_gap as loss_gap
    from noisewright.mechanisms.numbers.truncated import require_lattice as require_lattice
    from noisewright.mechanisms.numbers.truncated import smooth as smooth
    from noisewright.mechanisms.numbers.truncated import smoothing_density as smoothing_density
    from noisewright.mechanisms.numbers.truncated import truncated_laplace as truncated_laplace
else:
    __getattr__, __dir__ = door(__name__)
