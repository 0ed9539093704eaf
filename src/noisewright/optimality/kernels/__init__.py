"""Kernels of private posteriors, universal optimality, and their properties that survive when a domain is
restricted.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.optimality.kernels.decomposition import AntiRefinement as AntiRefinement
    from noisewright.optimality.kernels.decomposition import Given as Given
    from noisewright.optimality.kernels.decomposition import KernelPart as KernelPart
    from noisewright.optimality.kernels.decomposition import VertexHyper as VertexHyper
    from noisewright.optimality.kernels.decomposition import anti_refine as anti_refine
    from noisewright.optimality.kernels.decomposition import check_private as check_private
    from noisewright.optimality.kernels.decomposition import decompose as decompose
    from noisewright.optimality.kernels.decomposition import is_kernel as is_kernel
    from noisewright.optimality.kernels.decomposition import is_vertex_mechanism as is_vertex_mechanism
    from noisewright.optimality.kernels.decomposition import vertex_hyper as vertex_hyper
    from noisewright.optimality.kernels.kernel_list import Kernel as Kernel
    from noisewright.optimality.kernels.kernel_list import Kernels as Kernels
    from noisewright.optimality.kernels.kernel_list import kernel_of as kernel_of
    from noisewright.optimality.kernels.kernel_list import kernels as kernels
    from noisewright.optimality.kernels.kernel_list import kernels_of as kernels_of
    from noisewright.optimality.kernels.posteriors import LARGEST_STEPS as LARGEST_STEPS
    from noisewright.optimality.kernels.posteriors import MOST_VERTICES as MOST_VERTICES
    from noisewright.optimality.kernels.posteriors import PrivatePosteriors as PrivatePosteriors
    from noisewright.optimality.kernels.restriction import PairDesign as PairDesign
    from noisewright.optimality.kernels.restriction import is_two_input as is_two_input
    from noisewright.optimality.kernels.restriction import layered_geometric as layered_geometric
    from noisewright.optimality.kernels.restriction import optimal_by_restriction as optimal_by_restriction
    from noisewright.optimality.kernels.restriction import pair_design as pair_design
    from noisewright.optimality.kernels.restriction import property_mechanism as property_mechanism
    from noisewright.optimality.kernels.restriction import restrict as restrict
    from noisewright.optimality.kernels.restriction import two_input as two_input
    from noisewright.optimality.kernels.universal import Existence as Existence
    from noisewright.optimality.kernels.universal import Witness as Witness
    from noisewright.optimality.kernels.universal import at_least_as_good as at_least_as_good
    from noisewright.optimality.kernels.universal import optimal_kernels as optimal_kernels
    from noisewright.optimality.kernels.universal import universally_optimal as universally_optimal
else:
    __getattr__, __dir__ = door(__name__)
