r"""The average-case order is not a lattice: two channels with two different least upper bounds.

``X`` is randomised response on three secrets with ``a = 1/4``, and ``Y`` has the posteriors of ``X`` mirrored at the uniform
distribution. Their hulls are two triangles that meet in a hexagon, whose corners are the six orders of ``(1/2, 1/3, 1/6)``.
Those corners can be weighted in many ways so that they average to the uniform distribution. :func:`hexagon` gives two: both
channels may replace X and Y on average, and neither may replace the other. They are equal in the max-case order, where weights
do not matter.

>>> demo = hexagon()
>>> [str(v) for v in demo.posteriors[0]], str(sum(demo.first_weights))
(['1/6', '1/3', '1/2'], '1')
>>> len(demo.first[0]), [str(v) for v in demo.y[0]]
(6, ['0', '1/2', '1/2'])

Reference: Fernandes, *Differential privacy for metric spaces* (2021); McIver, Morgan et al. on the refinement order (2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from noisewright.adversary.families.families import response_family
from noisewright.core.errors import ParameterError
from noisewright.optimality.algebra.elimination import Rows

__all__ = ["Hexagon", "hexagon"]


@dataclass(frozen=True)
class Hexagon:
    """Four channels on three secrets, as fractions: ``x``, ``y``, and two upper bounds of both that are incomparable."""

    x: Rows
    y: Rows
    first: Rows
    second: Rows
    posteriors: Rows
    first_weights: tuple[Fraction, ...]
    second_weights: tuple[Fraction, ...]


def hexagon(share: Fraction = Fraction(23, 50)) -> Hexagon:
    """Return the four channels; ``share`` is the weight of each favoured corner, and the other four split the rest.

    Any share above 1/6 and below 1/2 gives two channels that are incomparable on average.
    """
    if not Fraction(1, 6) < share < Fraction(1, 2):
        raise ParameterError("share must be above 1/6, where all corners weigh the same, and below 1/2.")
    x = response_family.member(decay="1/4", size=3).rows()
    assert x is not None
    y = tuple(tuple(Fraction(2, 3) - value for value in row) for row in x)
    y = tuple(tuple(value / sum(row) for value in row) for row in y)
    corners = tuple(sorted(permutations((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)))))
    third, sixth, half = Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)
    favoured = [{(third, sixth, half), (third, half, sixth)}, {(half, third, sixth), (sixth, third, half)}]
    rest = (1 - 2 * share) / 4
    weights = [tuple(share if corner in chosen else rest for corner in corners) for chosen in favoured]
    made = [
        tuple(tuple(3 * w * corner[s] for w, corner in zip(ws, corners, strict=True)) for s in range(3))
        for ws in weights
    ]
    return Hexagon(x, y, made[0], made[1], corners, weights[0], weights[1])
