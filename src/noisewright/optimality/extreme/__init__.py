"""Extreme points of local privacy: the polytope, one corner (``point``), all of them (``enumeration``), how one is
recognised (``criterion``, ``conditions``), the best one for a cost (``optimum``), and the corners of any polytope from
its inequalities (``double_description``).
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.optimality.extreme.conditions import Condition as Condition
    from noisewright.optimality.extreme.conditions import NormalForm as NormalForm
    from noisewright.optimality.extreme.conditions import necessary as necessary
    from noisewright.optimality.extreme.conditions import normal_form as normal_form
    from noisewright.optimality.extreme.constraints import Constraints as Constraints
    from noisewright.optimality.extreme.constraints import local_constraints as local_constraints
    from noisewright.optimality.extreme.criterion import Breach as Breach
    from noisewright.optimality.extreme.criterion import Middle as Middle
    from noisewright.optimality.extreme.criterion import is_extreme as is_extreme
    from noisewright.optimality.extreme.criterion import is_private as is_private
    from noisewright.optimality.extreme.criterion import tight_rank as tight_rank
    from noisewright.optimality.extreme.double_description import local_inequalities as local_inequalities
    from noisewright.optimality.extreme.double_description import local_vertices as local_vertices
    from noisewright.optimality.extreme.double_description import vertices as vertices
    from noisewright.optimality.extreme.enumeration import CornerCounts as CornerCounts
    from noisewright.optimality.extreme.enumeration import count_extreme_points as count_extreme_points
    from noisewright.optimality.extreme.enumeration import extreme_points as extreme_points
    from noisewright.optimality.extreme.enumeration import weight_vectors as weight_vectors
    from noisewright.optimality.extreme.factor import Factor as Factor
    from noisewright.optimality.extreme.optimum import ExtremeOptimum as ExtremeOptimum
    from noisewright.optimality.extreme.optimum import best_channel as best_channel
    from noisewright.optimality.extreme.point import ExtremePoint as ExtremePoint
    from noisewright.optimality.extreme.point import NoPointError as NoPointError
    from noisewright.optimality.extreme.point import construct as construct
    from noisewright.optimality.extreme.point import exact_matrix as exact_matrix
    from noisewright.optimality.extreme.polytope import LocalPolytope as LocalPolytope
    from noisewright.optimality.extreme.response import OptimalResponse as OptimalResponse
    from noisewright.optimality.extreme.response import optimal_response as optimal_response
else:
    __getattr__, __dir__ = door(__name__)
