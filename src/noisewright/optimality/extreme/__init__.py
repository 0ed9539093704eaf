"""The polytope of private channels: its constraints, extreme points, and the criterion that tells them."""

from typing import TYPE_CHECKING

from noisewright.core.doors import door

if TYPE_CHECKING:
    from noisewright.optimality.extreme.algebra import Echelon as Echelon
    from noisewright.optimality.extreme.algebra import determinant as determinant
    from noisewright.optimality.extreme.algebra import kernel as kernel
    from noisewright.optimality.extreme.algebra import rank as rank
    from noisewright.optimality.extreme.algebra import solve as solve
    from noisewright.optimality.extreme.algebra import whole_row as whole_row
    from noisewright.optimality.extreme.constraints import Constraints as Constraints
    from noisewright.optimality.extreme.constraints import local_constraints as local_constraints
    from noisewright.optimality.extreme.criterion import Middle as Middle
    from noisewright.optimality.extreme.criterion import Violation as Violation
    from noisewright.optimality.extreme.criterion import is_extreme as is_extreme
    from noisewright.optimality.extreme.criterion import is_private as is_private
    from noisewright.optimality.extreme.criterion import tight_rank as tight_rank
    from noisewright.optimality.extreme.factor import Factor as Factor
    from noisewright.optimality.extreme.form import Condition as Condition
    from noisewright.optimality.extreme.form import NormalForm as NormalForm
    from noisewright.optimality.extreme.form import necessary as necessary
    from noisewright.optimality.extreme.form import normal_form as normal_form
    from noisewright.optimality.extreme.optimum import ExtremeOptimum as ExtremeOptimum
    from noisewright.optimality.extreme.optimum import best_channel as best_channel
    from noisewright.optimality.extreme.patterns import ExtremePoint as ExtremePoint
    from noisewright.optimality.extreme.patterns import Matrix as Matrix
    from noisewright.optimality.extreme.patterns import NoPointError as NoPointError
    from noisewright.optimality.extreme.patterns import construct as construct
    from noisewright.optimality.extreme.patterns import exact_matrix as exact_matrix
    from noisewright.optimality.extreme.points import Counts as Counts
    from noisewright.optimality.extreme.points import count_extreme_points as count_extreme_points
    from noisewright.optimality.extreme.points import extreme_points as extreme_points
    from noisewright.optimality.extreme.points import weight_vectors as weight_vectors
    from noisewright.optimality.extreme.polytope import LocalPolytope as LocalPolytope
    from noisewright.optimality.extreme.response import OptimalResponse as OptimalResponse
    from noisewright.optimality.extreme.response import optimal_response as optimal_response
    from noisewright.optimality.extreme.vertices import local_inequalities as local_inequalities
    from noisewright.optimality.extreme.vertices import local_vertices as local_vertices
else:
    __getattr__, __dir__ = door(__name__)
