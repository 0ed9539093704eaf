"""The binomial law on the part of its range that carries its mass, and sums of independent ones.

Attacks on counts need the law of how many of ``n`` noisy rows are reported as something: a sum of binomials. For a million rows
its range has a million places and its mass lies within some thousands of them; the rest is left out, with a bound. By
Bernstein's inequality a binomial is farther than ``w`` from its mean with probability at most
``2 exp(-w^2 / (2 (n t (1-t) + w/3)))``; ``w`` is chosen for at most ``2^-64``.

>>> law = binomial(4, 0.5)
>>> law.start, [round(float(p), 4) for p in law.chances]
(0, [0.0625, 0.25, 0.375, 0.25, 0.0625])
>>> total = sum_of([(1_000_000, 0.25), (1000, 0.5)])
>>> len(total.chances) < 10_000, abs(total.mean - 250_500) < 1e-6, total.left_out < 1e-18
(True, True, True)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from noisewright.core.arrays import Floats

__all__ = ["CountLaw", "binomial", "sum_of"]


TAIL_BITS = 64
TAIL = 2.0**-TAIL_BITS
"""Largest mass of one binomial that is left out."""


@dataclass(frozen=True, eq=False)
class CountLaw:
    """``chances[i]`` is the probability of the integer ``start + i``; ``left_out`` bounds the mass elsewhere."""

    start: int
    chances: Floats
    left_out: float

    @property
    def mean(self) -> float:
        """The expected number."""
        return self.start + float(np.arange(len(self.chances)) @ self.chances)


def binomial(size: int, chance: float) -> CountLaw:
    """The number of successes in ``size`` trials with this chance each."""
    if size == 0 or chance <= 0:
        return CountLaw(0, np.ones(1), 0.0)
    if chance >= 1:
        return CountLaw(size, np.ones(1), 0.0)
    mean = size * chance
    log = (TAIL_BITS + 1) * math.log(2)
    width = log / 3 + math.sqrt(log * log / 9 + 2 * log * mean * (1 - chance))
    low, high = max(0, math.floor(mean - width)), min(size, math.ceil(mean + width))
    # Ratios of neighbours, from the likeliest place outwards: no factorial, no large logarithm, and so no cancellation.
    k = np.arange(low, high)
    steps = np.log((size - k) / (k + 1)) + (math.log(chance) - math.log1p(-chance))
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    weights = np.exp(logs - logs.max())
    return CountLaw(low, np.asarray(weights / weights.sum()), 0.0 if (low, high) == (0, size) else TAIL)


def sum_of(parts: Iterable[tuple[int, float]]) -> CountLaw:
    """The sum of independent binomials, each given by its size and its chance; those of equal chance are one.

    Direct convolution: a transform would be faster for wide laws and lose the relative accuracy of their tails. After each step
    the ends that carry at most as much as a binomial may leave out are left out too, so that the width grows as the
    standard deviation does, not as the sum of the widths.
    """
    sizes: dict[float, int] = {}
    for size, chance in parts:
        sizes[chance] = sizes.get(chance, 0) + size
    laws = sorted((binomial(size, chance) for chance, size in sizes.items()), key=lambda law: len(law.chances))
    return reduce(_add, laws, CountLaw(0, np.ones(1), 0.0))


def _add(one: CountLaw, other: CountLaw) -> CountLaw:
    chances = np.convolve(one.chances, other.chances)
    low = int(np.searchsorted(np.cumsum(chances), TAIL))
    high = len(chances) - int(np.searchsorted(np.cumsum(chances[::-1]), TAIL))
    cut = float(chances[:low].sum() + chances[high:].sum())
    return CountLaw(one.start + other.start + low, chances[low:high], one.left_out + other.left_out + cut)
