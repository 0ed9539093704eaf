"""Channels read exactly, and exact answers about them: programs in fractions, enclosures of solutions, distances from hulls."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.adversary.exact.channels import Read as Read
    from noisewright.adversary.exact.channels import common_secrets as common_secrets
    from noisewright.adversary.exact.channels import exact_channel as exact_channel
    from noisewright.adversary.exact.channels import read as read
    from noisewright.adversary.exact.channels import whole_columns as whole_columns
    from noisewright.adversary.exact.enclosures import PRECISIONS as PRECISIONS
    from noisewright.adversary.exact.enclosures import Enclosure as Enclosure
    from noisewright.adversary.exact.enclosures import Number as Number
    from noisewright.adversary.exact.enclosures import ends_of as ends_of
    from noisewright.adversary.exact.enclosures import sign_of as sign_of
    from noisewright.adversary.exact.lattices import lattice_for_both as lattice_for_both
    from noisewright.adversary.exact.lattices import lattice_step as lattice_step
    from noisewright.adversary.exact.nearest import distance_to_hull as distance_to_hull
    from noisewright.adversary.exact.nearest import hull_weights as hull_weights
    from noisewright.adversary.exact.program import TooLargeError as TooLargeError
    from noisewright.adversary.exact.program import cone as cone
    from noisewright.adversary.exact.program import stochastic as stochastic
    from noisewright.adversary.exact.solution import Enclosed as Enclosed
    from noisewright.adversary.exact.solution import enclose as enclose
    from noisewright.adversary.exact.solution import short_solution as short_solution
else:
    __getattr__, __dir__ = door(__name__)
