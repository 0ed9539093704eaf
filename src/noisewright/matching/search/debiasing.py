r"""Distance of two profiles from two noisy codes, without the bias of the flips, with an interval.

A bit of the hash differs between two profiles with a chance :math:`d` that is their distance (the angle over pi, for random
projections). Each side flips its bit with a chance :math:`f`, so exactly one of them does with :math:`c = 2f(1 - f)`, and the
bits that were sent differ with

.. math:: p = c + d (1 - 2c), \qquad 1 - 2c = (1 - 2f)^2 .

Over the public seed and the flips, the number of bits that differ is binomial with this chance, for a pair of profiles
that was fixed before the seed was drawn. Therefore the unbiased estimate is :math:`(h/\kappa - c)/(1 - 2c)`, and
Clopper and Pearson's interval for :math:`p`, which is exact, becomes one for :math:`d` that covers at least as often
as it states.

A neighbour that a search returned was chosen *because* its code looks near. ``among`` is the number of codes it was
chosen from; the error probability is divided by that number (Bonferroni), and the interval then holds for all of them
at once.

>>> found = debiased(40, bits=128, flip=0.1)
>>> round(float(found.distance), 3), round(float(found.low), 3), round(float(found.high), 3)
(0.207, 0.084, 0.344)
>>> float(debiased(40, bits=128, flip=0.1, among=1000).high.round(3))
0.49
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.estimation.population.intervals import shared_confidence, tail_interval

__all__ = ["Debiased", "check_flip", "debiased", "differing"]


@dataclass(frozen=True)
class Debiased:
    """Distances that were estimated from codes, and the ends of their intervals, all from 0 to 1."""

    distance: Floats
    """The estimate, cut to [0, 1]."""
    low: Floats
    high: Floats
    unbiased: Floats
    """The estimate before it was cut: its mean is the distance."""
    confidence: float


def differing(distance: ArrayLike, flip: float, *, one_sided: bool = False) -> Floats:
    """The chance that a bit differs between the codes of two profiles at this distance.

    ``one_sided``: only one of the two codes is noisy, as when someone compares an own profile with the codes of
    others.

    >>> [float(p.round(4)) for p in differing([0, 0.25, 1], 0.1)]
    [0.18, 0.34, 0.82]
    """
    apart = np.asarray(distance, dtype=np.float64)
    if not np.all((apart >= 0) & (apart <= 1)):
        raise ParameterError("distances between profiles are numbers from 0 to 1.")
    one = _only_one(flip, one_sided)
    return np.asarray(one + apart * (1 - 2 * one))


def debiased(
    differ: ArrayLike,
    *,
    bits: int,
    flip: float,
    confidence: float = 0.95,
    among: int = 1,
    one_sided: bool = False,
    share: float = 1.0,
) -> Debiased:
    """Distances of profiles whose codes of ``bits`` bits ``differ`` in the given number of them.

    ``share``: a hash differs with this chance times the distance; 1/2 for one bit of MinHash and the Jaccard distance.
    """
    count = np.asarray(differ, dtype=np.float64)
    if not is_whole(bits) or bits < 1:
        raise ParameterError("a code has 1 bit or more, as a whole number.")
    if not is_whole(among) or among < 1:
        raise ParameterError("a neighbour is chosen among 1 code or more, as a whole number.")
    if not np.all((count >= 0) & (count <= bits) & (count == np.floor(count))):
        raise ParameterError(f"codes of {bits} bits differ in 0 to {bits} of them.")
    one = _only_one(flip, one_sided)
    seen = count / bits
    low, high = tail_interval(seen, (0.0, 1.0), bits, shared_confidence(confidence, among), either=True)
    lower, middle, upper = ((part - one) / (1 - 2 * one) / share for part in (low, seen, high))
    cut = (np.asarray(np.clip(part, 0, 1)) for part in (middle, lower, upper))
    distance, below, above = cut
    return Debiased(distance, below, above, np.asarray(middle), float(confidence))


def check_flip(flip: float) -> float:
    """A chance of a flip below one half; at one half codes say nothing."""
    if not 0 <= flip < 0.5:
        raise ParameterError(
            f"bits are flipped with a chance from 0 to below 1/2, not {flip}; a larger epsilon flips fewer."
        )
    return float(flip)


def _only_one(flip: float, one_sided: bool) -> float:
    """The chance that exactly one of two bits was flipped."""
    f = check_flip(flip)
    return f if one_sided else 2 * f * (1 - f)
