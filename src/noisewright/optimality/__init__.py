"""Optimal mechanisms, and when one is best for everyone: losses, programs, designs, extreme points, kernels, shapes.

``nw.optimal(...)`` is :func:`noisewright.optimality.design.optimal.optimal`.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.optimality import algebra as algebra
    from noisewright.optimality import design as design
    from noisewright.optimality import extreme as extreme
    from noisewright.optimality import kernels as kernels
    from noisewright.optimality import losses as losses
    from noisewright.optimality import program as program
    from noisewright.optimality import shapes as shapes
    from noisewright.optimality.accuracy import delta_for as delta_for
    from noisewright.optimality.accuracy import epsilon_for as epsilon_for
    from noisewright.optimality.design.optimal import optimal as optimal
    from noisewright.optimality.error_bounds import finite_bound as finite_bound
    from noisewright.optimality.error_bounds import general_bound as general_bound
    from noisewright.optimality.error_bounds import lower_bound as lower_bound
    from noisewright.optimality.error_bounds import max_mean_error as max_mean_error
    from noisewright.optimality.error_bounds import smallest_error as smallest_error
    from noisewright.optimality.evaluate import Remapped as Remapped
    from noisewright.optimality.evaluate import face_value_loss as face_value_loss
    from noisewright.optimality.evaluate import posterior_loss as posterior_loss
    from noisewright.optimality.evaluate import posterior_losses as posterior_losses
    from noisewright.optimality.evaluate import prior_loss as prior_loss
    from noisewright.optimality.evaluate import secret_losses as secret_losses
    from noisewright.optimality.losses.loss import Loss as Loss
    from noisewright.optimality.priors import Prior as Prior
    from noisewright.optimality.priors import as_prior as as_prior
    from noisewright.optimality.priors import uniform as uniform
    from noisewright.optimality.program.solve import solve as solve
    from noisewright.optimality.program.spanner import spanner as spanner
    from noisewright.optimality.utility import Concentration as Concentration
    from noisewright.optimality.utility import UtilityRow as UtilityRow
    from noisewright.optimality.utility import UtilityTable as UtilityTable
    from noisewright.optimality.utility import compare_concentration as compare_concentration
    from noisewright.optimality.utility import compare_utility as compare_utility
else:
    __getattr__, __dir__ = door(__name__)
