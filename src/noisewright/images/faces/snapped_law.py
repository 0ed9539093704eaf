r"""Effect of Laplace noise on one element of a code that is snapped back to its range, in closed forms.

In units of the range, x lies in [0, 1], noise of scale s is added, and values outside the range are clamped:

* the ends have probabilities :math:`\tfrac12 e^{-x/s}` and :math:`\tfrac12 e^{-(1-x)/s}`;
* the mean is :math:`x + \tfrac s2 (e^{-x/s} - e^{-(1-x)/s})`, so it is drawn to the middle;
* the squared error is :math:`g(x) + g(1-x)` with :math:`g(t) = s^2 - e^{-t/s} (s^2 + s t)`.

The lattice of :class:`~noisewright.images.faces.code_space.CodeSpace` is fine enough that these are the numbers of the
sampled law, up to the square of a step.

>>> law = SnappedLaw(scale=1.0)
>>> round(float(law.mean(0.2)), 5), round(float(law.squared_error(0.2)), 5)
(0.3847, 0.20873)
>>> round(float(SnappedLaw(scale=2048 / 200).inside(0.5)), 4)  # 2048 elements at epsilon 200: nearly all end at a border
0.0477
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError

__all__ = ["SnappedLaw"]


@dataclass(frozen=True)
class SnappedLaw:
    """Laplace noise of a scale on an element in [0, 1], snapped; in units of the element's range."""

    scale: float

    def __post_init__(self) -> None:
        if not is_number(self.scale) or not 0 < self.scale < np.inf:
            raise ParameterError("the scale of noise is a finite number above 0.")

    def ends(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """The chances of the low end and of the high end."""
        place = _inside(x)
        return 0.5 * np.exp(-place / self.scale), 0.5 * np.exp(-(1 - place) / self.scale)

    def inside(self, x: ArrayLike) -> Floats:
        """The chance of staying strictly within the range."""
        low, high = self.ends(x)
        return np.asarray(1 - low - high)

    def mean(self, x: ArrayLike) -> Floats:
        """The expected output."""
        low, high = self.ends(x)
        return np.asarray(_inside(x) + self.scale * (low - high))

    def squared_error(self, x: ArrayLike) -> Floats:
        """The expected squared distance of the output from x."""
        place = _inside(x)
        return np.asarray(self._side(place) + self._side(1 - place))

    def _side(self, room: Floats) -> Floats:
        """``s^2 (1 - e^-r (1 + r))`` for a range of r scales; a series where the two terms would cancel."""
        r = room / self.scale
        far = 1 - np.exp(-r) * (1 + r)
        near = r**2 * (1 / 2 - r / 3 + r**2 / 8 - r**3 / 30 + r**4 / 144)
        return np.asarray(self.scale**2 * np.where(r < 0.01, near, far))


def _inside(x: ArrayLike) -> Floats:
    place = np.asarray(x, np.float64)
    if not ((place >= 0) & (place <= 1)).all():
        raise ParameterError("an element is given in units of its range, from 0 to 1; clamp it first.")
    return place
