r"""Exact noise on the half-bounded range 0, 1, 2, ... whose rate towards the bound depends on the distance from it.

From ``i`` the output ``j`` has the weight :math:`e^{-\text{tail}\,(j-i)}` where ``j >= i`` and
:math:`e^{-\text{near}_i (i-j)}` where ``j < i``. The tail is common to all ``i``; the near rates are given for ``i = 1, ..., n``
and stay at the last one beyond. Exactly that law is drawn, with the same work for every ``i``:

* *which side* is one 64-bit word against the enclosed probability of the near side, one for each ``i`` up to where the
  bound is too far away to matter in 64 bits;
* *how far* away from the bound is a geometric number, and towards it ``1 + (G mod i)`` with G geometric of rate
  ``near_i``, whose binary digits are independent coins (see :mod:`noisewright.noise.laws.geometric`) looked up by ``i``;
* a word that falls on a threshold, about one in ``2**32``, is settled with further bits and exact bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError
from noisewright.core.exact import ceil_div, exp_bounds
from noisewright.noise._blocks import BLOCK
from noisewright.noise.bits import Bits, Rng, bits_from, half_words
from noisewright.noise.laws.geometric import geometric_block, geometric_plan
from noisewright.noise.probability import Probability, settle
from noisewright.noise.search import decide

__all__ = ["HalfLineSampler"]

Bound = tuple[int, int]


class HalfLineSampler:
    """Draws from the law above; ``near[i - 1]`` is the rate towards the bound from ``i``.

    >>> sampler = HalfLineSampler(Fraction(1, 4), [Fraction(1, 100), Fraction(1, 50)])
    >>> bool((sampler.draw(np.arange(1000)) >= 0).all())
    True
    """

    def __init__(self, tail: Fraction, near: Sequence[Fraction]) -> None:
        if not near or tail <= 0 or min(near) <= 0:
            raise ParameterError("the noise needs a tail rate and at least one near rate, all above 0.")
        self.tail, self.near = tail, tuple(near)
        self._plan = geometric_plan(tail)
        # Row 0 is never used for a distance, but keeps the numbering plain.
        rates = (self.near[0], *self.near)
        digits = 0
        while min(rates) * (1 << digits) < 24:
            digits += 1
        coins = [[Probability.logistic(rate * (1 << t)) for rate in rates] for t in range(digits)]
        coins.append([Probability.exp(rate * (1 << digits)) for rate in rates])
        self._coins = coins
        self._thresholds = np.array([[p.first_word[0] for p in row] for row in coins], dtype=np.uint32)
        # From this i on, the bound changes the near side's probability by less than 2**-64.
        far = len(near) + ceil_div(46 * self.near[-1].denominator, self.near[-1].numerator)
        sides = [self._near_side(i, 128)[0] >> 64 for i in range(far + 1)]
        self._sides = np.array(sides, dtype=np.uint64)

    def draw(self, indices: NDArray[np.int64], rng: Rng = None) -> Any:
        """One output for each of ``indices``, which must be 0 or more."""
        bits = bits_from(rng)
        flat = np.ascontiguousarray(indices, dtype=np.int64).reshape(-1)
        result = np.empty(flat.size, dtype=np.int64)
        for start in range(0, flat.size, BLOCK):
            result[start : start + BLOCK] = self._block(flat[start : start + BLOCK], bits)
        return result.reshape(np.shape(indices))

    def _block(self, i: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        words = bits.words(i.size)
        away = geometric_block(self._plan, i.size, bits)
        limit = self._sides.take(np.minimum(i, self._sides.size - 1))
        towards = words < limit
        # The stored word is at most one unit below the truth, and beyond the table at most one unit off either way.
        doubt = words - limit + np.uint64(1) <= np.uint64(2)
        if doubt.any():
            for spot in np.flatnonzero(doubt):
                towards[spot] = self._settle_side(int(i[spot]), int(words[spot]), bits)
        closer = self._geometric(np.minimum(i, len(self.near)), bits) % np.maximum(i, 1)
        return np.where(towards, i - 1 - closer, i + away)

    def _geometric(self, rows: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Return geometric numbers, each with the rate of its row: digit by digit, then the excess above all digits."""
        digits = len(self._coins) - 1
        result = np.zeros(rows.size, dtype=np.int64)
        for place in range(digits):
            result |= self._flip(place, rows, bits).astype(np.int64) << place
        more = self._flip(digits, rows, bits)
        if more.any():
            for spot in np.flatnonzero(more):
                times = 1
                while self._flip(digits, rows[spot : spot + 1], bits)[0]:
                    times += 1
                result[spot] += times << digits
        return result

    def _flip(self, place: int, rows: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
        words = half_words(bits, rows.size)
        limit = self._thresholds[place].take(rows)
        shown: NDArray[np.bool_] = words < limit
        tied = words - limit <= np.uint32(1)
        if tied.any():
            for spot in np.flatnonzero(tied):
                shown[spot] = settle(self._coins[place][int(rows[spot])], int(words[spot]), bits)
        return shown

    def _settle_side(self, i: int, word: int, bits: Bits) -> bool:
        def enclosure(width: int) -> tuple[list[int], list[int]]:
            low, high = self._near_side(i, width + 64)
            return [low >> 64], [ceil_div(high, 1 << 64)]

        return decide(enclosure, word, 64, bits) == 0

    def _near_side(self, i: int, bits: int) -> Bound:
        """Bounds of the probability of an output below i, over ``2**bits``: near weight ``b (1 - b^i) (1 - a)`` against
        ``1 - b``, with ``a = e^-tail`` and ``b = e^-near_i``."""
        if i == 0:
            return 0, 0
        work = bits + 96
        rate = self.near[min(i, len(self.near)) - 1]
        one, (a_low, a_high), (b_low, b_high) = 1 << work, exp_bounds(-self.tail, work), exp_bounds(-rate, work)
        wall = exp_bounds(-rate * i, work)
        low = b_low * (one - wall[1]) * (one - a_high)
        high = b_high * (one - wall[0]) * (one - a_low)
        far_low, far_high = (one - b_high) << (2 * work), (one - b_low) << (2 * work)
        return (low << bits) // (low + far_high), ceil_div(high << bits, high + far_low)
