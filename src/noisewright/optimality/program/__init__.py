"""The linear program of optimal privacy: solving it, repairing the answer into a private channel, and a bound on the
remaining gap.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.optimality.program.folding import Folding as Folding
    from noisewright.optimality.program.folding import fold as fold
    from noisewright.optimality.program.folding import unfolded as unfolded
    from noisewright.optimality.program.repair import LEAST_LOG as LEAST_LOG
    from noisewright.optimality.program.repair import floored as floored
    from noisewright.optimality.program.repair import majorant as majorant
    from noisewright.optimality.program.repair import private_logs as private_logs
    from noisewright.optimality.program.solve import LARGEST_PROGRAM as LARGEST_PROGRAM
    from noisewright.optimality.program.solve import InfeasibleError as InfeasibleError
    from noisewright.optimality.program.solve import Solution as Solution
    from noisewright.optimality.program.solve import blind_bound as blind_bound
    from noisewright.optimality.program.solve import check_program as check_program
    from noisewright.optimality.program.solve import constant_regret as constant_regret
    from noisewright.optimality.program.solve import uniform_regret as uniform_regret
    from noisewright.optimality.program.solvers import Answer as Answer
    from noisewright.optimality.program.solvers import LinearProgram as LinearProgram
    from noisewright.optimality.program.solvers import UnsolvedError as UnsolvedError
    from noisewright.optimality.program.solvers import solved as solved
    from noisewright.optimality.program.sparse import TINY_LOSS as TINY_LOSS
    from noisewright.optimality.program.sparse import FurtherRows as FurtherRows
    from noisewright.optimality.program.sparse import Objective as Objective
    from noisewright.optimality.program.sparse import SparseProgram as SparseProgram
else:
    __getattr__, __dir__ = door(__name__)
