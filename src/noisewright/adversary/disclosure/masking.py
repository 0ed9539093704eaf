"""Classical maskings of a column: rank swapping and rounding.

They hide values from a glance and guarantee nothing; they are here to be attacked, and to be compared with.

>>> import numpy as np
>>> ages = np.array([23, 25, 31, 34, 40, 58])
>>> rank_swapped(ages, window=2, rng=np.random.default_rng(1)).tolist()
[25, 23, 40, 58, 31, 34]
>>> rounded(ages, base=10).tolist()
[20, 20, 30, 30, 40, 60]

Reference: Willenborg and de Waal, *Elements of Statistical Disclosure Control* (2001).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, positive_fraction
from noisewright.noise.bits import Rng
from noisewright.noise.integers import uniform_below

__all__ = ["rank_swapped", "rounded"]


def rank_swapped(values: ArrayLike, *, window: int, rng: Rng = None) -> NDArray[Any]:
    """Swap every value with one whose rank is at most ``window`` away, drawn among those not swapped yet.

    A column keeps its values, and so its mean and its quantiles; every value stays near its original row.
    """
    if not is_whole(window) or window < 1:
        raise ParameterError("window must be a whole number of ranks, 1 or more.")
    given = _numbers(values)
    order = np.argsort(given, kind="stable")
    swapped, waiting = given.copy(), np.ones(len(given), dtype=bool)
    for first in range(len(order)):
        near = first + 1 + np.flatnonzero(waiting[first + 1 : first + 1 + window])
        if waiting[first] and len(near):
            second = near[int(uniform_below(len(near), rng=rng))]
            here, there = order[first], order[second]
            swapped[here], swapped[there] = given[there], given[here]
            waiting[second] = False
    return swapped


def rounded(values: ArrayLike, *, base: Exact) -> NDArray[Any]:
    """The nearest multiple of ``base``; of two that are as near, the one with an even multiple, which has no drift."""
    step = positive_fraction(base, "base")
    given = _numbers(values)
    if given.dtype.kind in "iu" and step.denominator == 1:
        size = int(step)
        below, rest = np.divmod(given, size)
        up = (2 * rest > size) | ((2 * rest == size) & (below % 2 == 1))
        return np.asarray((below + up) * size)
    return np.asarray(np.round(given / float(step)) * float(step))


def _numbers(values: ArrayLike) -> NDArray[Any]:
    given = np.asarray(values)
    if given.ndim != 1 or given.dtype.kind not in "iuf" or not np.isfinite(given.astype(float)).all():
        raise DataError("a column to be masked is a list of numbers, none of them missing or infinite.")
    return given
