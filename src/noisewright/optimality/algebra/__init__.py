"""Linear algebra in exact numbers: rows that come one by one (``echelon``) and whole systems (``elimination``)."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.optimality.algebra.echelon import Echelon as Echelon
    from noisewright.optimality.algebra.echelon import kernel as kernel
    from noisewright.optimality.algebra.echelon import rank as rank
    from noisewright.optimality.algebra.echelon import shortened as shortened
    from noisewright.optimality.algebra.echelon import solve as solve
    from noisewright.optimality.algebra.echelon import solve_many as solve_many
    from noisewright.optimality.algebra.echelon import whole_row as whole_row
    from noisewright.optimality.algebra.elimination import LARGEST_ELIMINATION as LARGEST_ELIMINATION
    from noisewright.optimality.algebra.elimination import Elimination as Elimination
    from noisewright.optimality.algebra.elimination import Rows as Rows
    from noisewright.optimality.algebra.elimination import Vector as Vector
    from noisewright.optimality.algebra.elimination import elimination_work as elimination_work
else:
    __getattr__, __dir__ = door(__name__)
