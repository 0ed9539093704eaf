"""Mechanisms that are best for a loss: linear programs, closed forms, bounds and shapes."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.design import polytopes as polytopes
    from noisewright.design.bounds import delta_for as delta_for
    from noisewright.design.bounds import epsilon_for as epsilon_for
    from noisewright.design.bounds import lower_bound as lower_bound
    from noisewright.design.bounds import max_mean_error as max_mean_error
    from noisewright.design.bounds import smallest_error as smallest_error
    from noisewright.design.closed_forms import optimal_response as optimal_response
    from noisewright.design.named_losses import absolute as absolute
    from noisewright.design.named_losses import parity as parity
    from noisewright.design.named_losses import property_loss as property_loss
    from noisewright.design.response_categories import Answers as Answers
    from noisewright.design.response_categories import discretise as discretise
    from noisewright.design.response_categories import laplace_law as laplace_law
    from noisewright.design.response_categories import validate as validate
    from noisewright.design.shapes import check_shape as check_shape
    from noisewright.design.shapes import shapes_of as shapes_of
    from noisewright.design.solver import private_logs as private_logs
    from noisewright.design.solver import solve as solve
    from noisewright.design.utility import compare_concentration as compare_concentration
    from noisewright.design.utility import compare_utility as compare_utility
    from noisewright.design.utility import posterior_loss as posterior_loss
    from noisewright.design.utility import posterior_losses as posterior_losses
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Answers": "response_categories",
            "absolute": "named_losses",
            "check_shape": "shapes",
            "compare_concentration": "utility",
            "compare_utility": "utility",
            "delta_for": "bounds",
            "discretise": "response_categories",
            "epsilon_for": "bounds",
            "laplace_law": "response_categories",
            "lower_bound": "bounds",
            "max_mean_error": "bounds",
            "optimal_response": "closed_forms",
            "parity": "named_losses",
            "polytopes": "polytopes:",
            "posterior_loss": "utility",
            "posterior_losses": "utility",
            "private_logs": "solver",
            "property_loss": "named_losses",
            "shapes_of": "shapes",
            "smallest_error": "bounds",
            "solve": "solver",
            "validate": "response_categories",
        },
    )
