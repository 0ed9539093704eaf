"""Exact numbers: fractions and directed rounding, linear algebra, polyhedra and linear programs."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.numerics.exact import Exact as Exact
    from noisewright.numerics.linear_algebra import Elimination as Elimination
    from noisewright.numerics.linear_algebra import rank as rank
    from noisewright.numerics.linear_algebra import solve as solve
    from noisewright.numerics.polyhedra import cone as cone
    from noisewright.numerics.polyhedra import local_vertices as local_vertices
    from noisewright.numerics.polyhedra import vertices as vertices
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Elimination": "linear_algebra",
            "Exact": "exact",
            "cone": "polyhedra",
            "local_vertices": "polyhedra",
            "rank": "linear_algebra",
            "solve": "linear_algebra",
            "vertices": "polyhedra",
        },
    )
