r"""Privacy cost of the perturbation of one value: the privacy loss between two values at most the protected distance apart.

A mechanism's certificate claims an exact ``epsilon`` for each unit of its metric (or between neighbours one unit apart).
Many mechanisms round a value to a public lattice of step h first, and their claim is about lattice points. Therefore
the distance for which the claim is evaluated is the protected one *after rounding* (``Metric.after_rounding``):

==========================================  ===========================================================
claim                                       distance after rounding, for a protected distance p
==========================================  ===========================================================
between neighbours                          p, in whole sensitivities rounded up (it is made for one)
``discrete``                                1
``line`` between lattice points             p, rounded up to whole steps, and a step more next to gaps off the lattice
``euclidean`` between lattice points        p + sqrt(2) h in the plane, p + n h for n columns
``manhattan`` between lattice points        p, rounded up to whole steps, + (n - 1) h
``metres around`` a place, lattice points   1.01 p + 0.000001 + sqrt(2) h
any other metric                            p
==========================================  ===========================================================

The privacy cost is then ``epsilon`` times that distance, exactly. It is held against what the mechanism itself says of
two values that far apart (:meth:`~noisewright.core.mechanism.Mechanism.map`), and the larger counts.

>>> from noisewright.mechanisms.numbers.truncated import truncated_laplace
>>> share = truncated_laplace(epsilon=1, within=(0, 100), sensitivity="0.3", lattice="1/4")
>>> charge(share, Fraction(3, 10))  # two steps of 1/4, in units of 0.3
(Fraction(1, 1), Fraction(5, 3))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from noisewright.core.errors import ParameterError
from noisewright.core.exact import float_down, float_up
from noisewright.core.mechanism import Mechanism, certificate_once
from noisewright.core.metrics.metric import Metric

__all__ = ["charge", "diameter"]


def charge(mechanism: Mechanism, protect: Fraction, columns: int = 1) -> tuple[Fraction, Fraction]:
    """Return the claim for one unit of distance, and the maximum number of units between two values ``protect`` apart.

    Their product bounds the loss between the two values.
    """
    guarantee, claim = mechanism.guarantee, certificate_once(mechanism).epsilon
    metric, factor = guarantee.metric.unscaled()
    if guarantee.scope == "adjacent":
        units = Fraction(math.ceil(protect * factor))
        if guarantee.delta and units > 1:
            raise ParameterError(
                "a promise with a delta is proved for one sensitivity only; protect that distance, or make the sensitivity "
                "larger."
            )
    else:
        units = guarantee.metric.after_rounding(protect, columns)
    if guarantee.radius is not None and units > guarantee.radius:
        most = _number(Fraction(guarantee.radius) / factor)
        if guarantee.scope == "adjacent":
            raise ParameterError(
                "values on two sides of a gap have no values between them, so a promise between neighbours does not reach "
                f"farther than one sensitivity; say protect = {most} or less, make the sensitivity larger, or leave out the gaps."
            )
        raise ParameterError(f"nothing is promised beyond a distance of {most}; say protect = {most} or less.")
    # Mechanisms take exact numbers for floats: a float could be rounded up, and across the end of a lattice step.
    own = mechanism.map(1.0 if metric.uniform else cast("float", protect * factor))
    if math.isinf(own):
        raise ParameterError("nothing is promised at this distance; protect less.")
    # Floats are rounded up, which alone must not make a privacy cost larger than the proved one.
    if claim and Fraction(own) > claim * units * (1 + Fraction(1, 1 << 40)):
        units = Fraction(own) / claim
    return claim, units


def diameter(metric: Metric, points: Sequence[Any]) -> Fraction:
    """Return an upper bound on the distance between two of the points; it is exact on a line."""
    exact = metric.diameter(points)
    if exact is not None:
        return exact
    # Distances in floats have a few rounding errors; 2^-44 of them is more than that.
    largest = float(np.max(metric.matrix(points), initial=0.0))
    if math.isinf(largest):
        raise ParameterError("some points are infinitely far apart, where nothing is promised; say protect = ....")
    return Fraction(float_up(Fraction(largest) * (1 + Fraction(1, 1 << 44))))


def _number(value: Fraction) -> str:
    """A number for a message, exactly where that is short."""
    return str(value) if value.denominator == 1 else f"{float_down(value):.12g}"
