"""The private mechanisms as a polytope: extreme points, kernel mechanisms, universality."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.design.polytopes.enumeration import LocalPolytope as LocalPolytope
    from noisewright.design.polytopes.enumeration import count_extreme_points as count_extreme_points
    from noisewright.design.polytopes.enumeration import extreme_points as extreme_points
    from noisewright.design.polytopes.kernel_mechanisms import anti_refine as anti_refine
    from noisewright.design.polytopes.kernel_mechanisms import decompose as decompose
    from noisewright.design.polytopes.kernel_mechanisms import is_kernel as is_kernel
    from noisewright.design.polytopes.kernel_mechanisms import kernels as kernels
    from noisewright.design.polytopes.posteriors import PrivatePosteriors as PrivatePosteriors
    from noisewright.design.polytopes.restriction import layered_geometric as layered_geometric
    from noisewright.design.polytopes.restriction import optimal_by_restriction as optimal_by_restriction
    from noisewright.design.polytopes.restriction import pair_design as pair_design
    from noisewright.design.polytopes.restriction import property_mechanism as property_mechanism
    from noisewright.design.polytopes.restriction import restrict as restrict
    from noisewright.design.polytopes.universal import at_least_as_good as at_least_as_good
    from noisewright.design.polytopes.universal import optimal_kernels as optimal_kernels
    from noisewright.design.polytopes.universal import universally_optimal as universally_optimal
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "LocalPolytope": "enumeration",
            "PrivatePosteriors": "posteriors",
            "anti_refine": "kernel_mechanisms",
            "at_least_as_good": "universal",
            "count_extreme_points": "enumeration",
            "decompose": "kernel_mechanisms",
            "extreme_points": "enumeration",
            "is_kernel": "kernel_mechanisms",
            "kernels": "kernel_mechanisms",
            "layered_geometric": "restriction",
            "optimal_by_restriction": "restriction",
            "optimal_kernels": "universal",
            "pair_design": "restriction",
            "property_mechanism": "restriction",
            "restrict": "restriction",
            "universally_optimal": "universal",
        },
    )
