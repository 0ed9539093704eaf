r"""The distance that a promise about rounded numbers is about: between the lattice points that they are rounded to.

A mechanism that rounds its input to the nearest point of a lattice treats two numbers of one cell alike, and two numbers on
either side of a border as if they were a whole step apart, however close they are. A loss of ``epsilon`` per unit is then
promised for

.. math:: d(x, x') = |\,\mathrm{round}(x) - \mathrm{round}(x')\,|,

which is less than one step away from ``|x - x'|``, and the name of the metric says so.

>>> near = LatticeLine(Lattice(-2))
>>> str(near)
'line between points of the lattice 2^-2'
>>> near.matrix([0.124, 0.126, 1.0])[0].tolist()
[0.0, 0.25, 1.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.distances import Distances
from noisewright.core.exact import as_fraction
from noisewright.core.guarantee import Scope
from noisewright.core.metric import Line, Metric, Scaled
from noisewright.noise.lattice import Lattice

__all__ = ["LatticeLine", "metric_of"]


@dataclass(frozen=True)
class LatticeLine(Line):
    """``|round(x) - round(x')|``, rounding to the nearest point of ``lattice``, ties upwards."""

    lattice: Lattice

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"line between points of the lattice 2^{self.lattice.exponent}"

    def matrix(self, points: Sequence[Any]) -> NDArray[np.float64]:
        return Line().matrix(self._rounded(points))

    def places(self, points: Sequence[Any]) -> NDArray[np.float64]:
        """The lattice points that the points are rounded to."""
        return Line().places(self._rounded(points))

    def exact(self, points: Sequence[Any]) -> Distances:
        return Line().exact(self._rounded(points))

    def _rounded(self, points: Sequence[Any]) -> list[Fraction]:
        step = self.lattice.step
        return [((as_fraction(point, "a point") / step + Fraction(1, 2)) // 1) * step for point in points]


def metric_of(lattice: Lattice, sensitivity: Fraction, scope: Scope) -> Metric:
    """The metric of a promise about rounded numbers, one unit being one ``sensitivity``.

    Between neighbours it is the plain line: numbers at most one sensitivity apart are covered, because the noise is made for
    the most steps that they can land apart.
    """
    base: Metric = Line() if scope == "adjacent" else LatticeLine(lattice)
    return base if sensitivity == 1 else Scaled(base, 1 / sensitivity)
