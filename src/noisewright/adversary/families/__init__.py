"""Families of mechanisms (geometric, response, ...) whose comparisons have closed forms."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.adversary.families.closed_privacy import CLOSED as CLOSED
    from noisewright.adversary.families.closed_privacy import closed_private as closed_private
    from noisewright.adversary.families.closed_privacy import closeness as closeness
    from noisewright.adversary.families.closed_privacy import member_distances as member_distances
    from noisewright.adversary.families.closed_refinement import Margin as Margin
    from noisewright.adversary.families.closed_refinement import closed_margin as closed_margin
    from noisewright.adversary.families.closed_refinement import closed_post_processing as closed_post_processing
    from noisewright.adversary.families.closed_refinement import closed_refined as closed_refined
    from noisewright.adversary.families.decay import LARGEST_EPSILON as LARGEST_EPSILON
    from noisewright.adversary.families.decay import Decay as Decay
    from noisewright.adversary.families.families import FAMILIES as FAMILIES
    from noisewright.adversary.families.families import Family as Family
    from noisewright.adversary.families.families import as_family as as_family
    from noisewright.adversary.families.families import as_member as as_member
    from noisewright.adversary.families.families import exponential_family as exponential_family
    from noisewright.adversary.families.families import from_callable as from_callable
    from noisewright.adversary.families.families import geometric_family as geometric_family
    from noisewright.adversary.families.families import over_truncated_family as over_truncated_family
    from noisewright.adversary.families.families import response_family as response_family
    from noisewright.adversary.families.member import EXPONENTIAL as EXPONENTIAL
    from noisewright.adversary.families.member import GEOMETRIC as GEOMETRIC
    from noisewright.adversary.families.member import OVER_TRUNCATED as OVER_TRUNCATED
    from noisewright.adversary.families.member import RESPONSE as RESPONSE
    from noisewright.adversary.families.member import Member as Member
    from noisewright.adversary.families.member import as_exact as as_exact
    from noisewright.adversary.families.neighbours import through_neighbours as through_neighbours
else:
    __getattr__, __dir__ = door(__name__)
