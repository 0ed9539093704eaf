r"""Exact staircase noise on the integers: a Laplace law whose slope is gathered in steps.

With ``level(n) = floor((n + width - first) / width)`` for n = 0, 1, 2, ... the law is :math:`P(k) \propto
e^{-\text{rate}\,\cdot\,\text{level}(|k|)}` on all integers: the numbers up to ``first - 1`` weigh most, the next
``width`` on either side weigh :math:`e^{-\text{rate}}` of that, and so on. Two integers at most ``width`` apart differ
by at most one level, so this noise gives ``rate`` differential privacy to an integer query of sensitivity ``width``,
and for the best ``first`` it has the least expected size of all such noise (Q. Geng and P. Viswanath, "The optimal
noise-adding mechanism in differential privacy", IEEE Transactions on Information Theory 62, 2016).

*Sampler.* A size n falls in block b = 0, 1, ... of ``width`` numbers with geometric probability; inside every block the
first part (``first`` numbers) and the rest (``width - first`` numbers, one level lower) weigh ``first : (width - first)
e^-rate``, which is one coin with lazily drawn bits; inside a part all numbers are alike. Then a fair sign. Zero would
come up with both signs, so a negative zero is drawn again; how often depends on the parameters alone, never on data.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, ceil_div, exp_bounds, positive_fraction
from noisewright.noise._blocks import Size, draw_blocks
from noisewright.noise.bits import Bits, Rng, bits_from
from noisewright.noise.integers import uniform_below
from noisewright.noise.laws.geometric import GeometricPlan, geometric_block, geometric_plan
from noisewright.noise.probability import Probability, coins
from noisewright.noise.search import Lookup, decide

__all__ = ["staircase_noise"]

_TOP = (1 << 64) - 1
_HALF = Probability.fraction("1/2")


@overload
def staircase_noise(rate: Exact, width: int, first: int, size: None = None, rng: Rng = None) -> int: ...
@overload
def staircase_noise(rate: Exact, width: int, first: int, size: Size, rng: Rng = None) -> NDArray[np.int64]: ...
def staircase_noise(rate: Exact, width: int, first: int, size: Size | None = None, rng: Rng = None) -> Any:
    """Independent numbers with ``P(k)`` proportional to ``e**(-rate * level(|k|))``, exactly.

    >>> noise = staircase_noise(1, width=10, first=4, size=10_000, rng=np.random.default_rng(1))
    >>> bool(abs(noise.mean()) < 0.6), bool(9.1 < abs(noise).mean() < 10.1)  # 9.59 in closed form
    (True, True)
    """
    bits = bits_from(rng)
    plan = _plan(positive_fraction(rate, "rate"), operator.index(width), operator.index(first))
    return draw_blocks(size, np.int64, lambda count: _block(plan, count, bits))


@dataclass(frozen=True, eq=False)
class _Plan:
    rate: Fraction
    width: int
    first: int
    blocks: GeometricPlan
    lookup: Lookup | None
    """Finds the part of a block; None when every block is its first part."""

    def enclosure(self, bits: int) -> tuple[list[int], list[int]]:
        """Bounds of the probability of the first part, ``first / (first + (width - first) e**-rate)``, over ``2**bits``."""
        work = bits + self.width.bit_length() + 8
        low, high = exp_bounds(-self.rate, work)
        first, rest = self.first << work, self.width - self.first
        return [(first << bits) // (first + rest * high)], [ceil_div(first << bits, first + rest * low)]


@lru_cache(maxsize=64)
def _plan(rate: Fraction, width: int, first: int) -> _Plan:
    if not 1 <= first <= width:
        raise ParameterError(f"a staircase needs 1 <= first <= width, not first = {first} and width = {width}.")
    if (width * 70) > rate * (1 << 62):
        raise ParameterError(
            "the steps of this staircase are so wide that noise may leave 64-bit integers; use a coarser lattice."
        )
    plan = _Plan(rate, width, first, geometric_plan(rate), None)
    if first == width:
        return plan
    low, high = (min(bound[0] >> 64, _TOP) for bound in plan.enclosure(128))
    lookup = Lookup(np.array([[low]], dtype=np.uint64), np.array([[high]], dtype=np.uint64))
    return _Plan(rate, width, first, plan.blocks, lookup)


def _block(plan: _Plan, count: int, bits: Bits) -> NDArray[np.int64]:
    result = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        sizes = _sizes(plan, count - filled, bits)
        negative = coins(_HALF, sizes.size, bits)
        kept = np.where(negative, -sizes, sizes)[~(negative & (sizes == 0))]
        result[filled : filled + kept.size] = kept
        filled += kept.size
    return result


def _sizes(plan: _Plan, count: int, bits: Bits) -> NDArray[np.int64]:
    """Numbers n = 0, 1, ... with weights ``e**(-rate * level(n))``."""
    sizes = geometric_block(plan.blocks, count, bits) * plan.width
    inside: NDArray[np.int64] = uniform_below(plan.first, count, bits)
    if plan.lookup is not None:
        words = bits.words(count)
        part, tied = plan.lookup.find(None, words)
        for position in tied:
            part[position] = decide(plan.enclosure, int(words[position]), 64, bits)
        rest = uniform_below(plan.width - plan.first, count, bits)
        inside = np.where(part == 0, inside, plan.first + rest)
    return sizes + inside
