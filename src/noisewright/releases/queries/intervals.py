r"""Error of a noisy number: intervals from the distribution of the noise alone, at no privacy cost.

An integer ``x`` was given, and the noise made ``y`` of it. The interval holds every ``x`` under which neither ``y`` or more
nor ``y`` or less has a probability of at most ``(1 - level) / 2``. Whatever ``x`` is, it is left out with a probability of at
most ``1 - level``. It is about the noise: that people differ from one sample to the next is not in it.

>>> from fractions import Fraction
>>> from noisewright.releases.queries.noise import calibrate
>>> noise = calibrate("geometric", epsilon=Fraction(1), l1=1, largest=1, changed=1, floor=0)
>>> low, high = interval(noise, np.array([[17, 0]], dtype=object))
>>> low.tolist(), high.tolist()
([[14, -3]], [[20, 3]])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from noisewright.core.mechanism import described
from noisewright.releases.queries.noise import Noise

__all__ = ["LEVEL", "interval"]

LEVEL = 0.95
FARTHEST = 1 << 62

Vector = NDArray[np.object_]


def interval(noise: Noise | None, noisy: Vector, level: float = LEVEL) -> tuple[Vector, Vector]:
    """The smallest and the largest integer behind each noisy one, right with the probability ``level`` for each."""
    if noise is None:
        return noisy, noisy
    each = (1 - level) / 2
    if noise.added:
        down, up = _reach(noise, each)
        return noisy - down, noisy + up
    ends = [_behind(noise, int(y), each) for y in noisy.reshape(-1)]
    low, high = (np.array([end[side] for end in ends], dtype=object).reshape(noisy.shape) for side in (0, 1))
    return low, high


@lru_cache(maxsize=64)
def _reach(noise: Noise, each: float) -> tuple[int, int]:
    """Return the distances below and above the observed number at which the true one may lie, where the noise is the
    same for all.
    """
    down = _last(lambda far: _chance(noise, 0, far, "or more") > each, FARTHEST)
    return down, _last(lambda far: _chance(noise, 0, -far, "or less") > each, FARTHEST)


@lru_cache(maxsize=4096)
def _behind(noise: Noise, seen: int, each: float) -> tuple[int, int]:
    """Return the ends of the interval behind one observed number."""
    start, lowest, highest = noise.clamped(seen), noise.clamped(-FARTHEST), noise.clamped(FARTHEST)
    down = _last(lambda far: _chance(noise, start - far, seen, "or more") > each, start - lowest)
    return start - down, start + _last(lambda far: _chance(noise, start + far, seen, "or less") > each, highest - start)


def _chance(noise: Noise, given: int, seen: int, tail: str) -> float:
    """The probability of seeing a number or more, or or less; outputs between integers count for both."""
    below = described(noise.mechanism).below
    assert below is not None  # every mechanism that adds noise to numbers has a law
    place = np.nextafter(seen + 0.5, np.inf) if tail == "or less" else seen - 0.5
    found = float(np.asarray(below([given], [place]))[0, 0])
    return found if tail == "or less" else 1 - found


def _last(holds: Callable[[int], bool], most: int) -> int:
    """The last integer from 0 to ``most`` up to which something holds, which then fails for good."""
    good, step = 0, 1
    while good + step <= most and holds(good + step):
        good, step = good + step, 2 * step
    while step > 1:
        step //= 2
        if good + step <= most and holds(good + step):
            good += step
    return good
