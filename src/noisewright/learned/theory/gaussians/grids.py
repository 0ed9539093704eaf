r"""The true optimum for a number on the line, on a grid: no family of mechanisms is assumed.

A mixture is cut into cells of a public grid and the finite game is solved with squared distortion. This shows how far
the Gaussian families of :mod:`~noisewright.learned.theory.gaussians.shifts` are from the optimum, and the best that a
learned mechanism may reach.

>>> law = Mixture(py1=0.5, mean0=-3, mean1=3)
>>> best = grid_game(law, points=31).optimum(1)
>>> from noisewright.learned.theory.gaussians.shifts import class_noise
>>> round(float(best.accuracy), 2), round(class_noise(law, 1).accuracy, 2)
(0.85, 0.97)
"""

from __future__ import annotations

import numpy as np

from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.learned.theory.games import FiniteGame
from noisewright.learned.theory.gaussians.mixtures import Mixture
from noisewright.learned.theory.joint import Joint

__all__ = ["grid_game"]

WIDE = 4.0
"""The grid reaches this many of the larger standard deviations beyond the means."""


def grid_game(law: Mixture, *, points: int = 61, given: str = "xy") -> FiniteGame:
    """The finite game of a mixture on an even grid: a value counts for the nearest point, the tails for its ends."""
    from scipy.special import ndtr

    if not is_whole(points) or not 3 <= points <= 400:
        raise ParameterError("a grid has 3 to 400 points; 31 to 81 are enough for three digits.")
    reach = WIDE * max(law.sd0, law.sd1)
    places = np.linspace(min(law.mean0, law.mean1) - reach, max(law.mean0, law.mean1) + reach, points)
    edges = np.concatenate([[-np.inf], (places[1:] + places[:-1]) / 2, [np.inf]])
    columns = [
        share * np.diff(ndtr((edges - mean) / sd))
        for share, mean, sd in ((1 - law.py1, law.mean0, law.sd0), (law.py1, law.mean1, law.sd1))
    ]
    return FiniteGame(Joint(np.stack(columns, axis=1), public=places.tolist()), "squared", given=given)
