r"""Exact discrete Laplace noise for outputs that are clamped afterwards: one word for each draw.

Let a value lie in ``0, ..., reach`` and let value + noise be clamped to the same range. Noise beyond ``reach`` on
either side then does the same as noise of exactly that size, so only :math:`2\,\text{reach} + 1` outcomes are
distinguished. Their thresholds

.. math:: P(K \le k) = \begin{cases} a^{-k} / (1 + a) & k < 0 \\ 1 - a^{k+1} / (1 + a) & k \ge 0 \end{cases} \qquad a = e^{-1/t}

are compared with 64 bits of a uniform number, and with more where those do not settle it
(:mod:`noisewright.noise.search`). Therefore the clamped output has exactly the law that noise of any size would give
it, at the cost of a look-up.

>>> noise = ClampedLaplace(Fraction(2), reach=3)
>>> sorted(set(noise.draw(1000, np.random.default_rng(1)).tolist()))
[-3, -2, -1, 0, 1, 2, 3]
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from noisewright.core.exact import ceil_div
from noisewright.noise._blocks import BLOCK
from noisewright.noise.bits import Bits, Rng, bits_from
from noisewright.noise.laws._powers import PowerBounds
from noisewright.noise.search import Lookup, decide

__all__ = ["ClampedLaplace"]


class ClampedLaplace:
    """Noise of scale t on integers, clamped to ``-reach, ..., reach``: outcomes beyond are put on the ends."""

    def __init__(self, scale: Fraction, reach: int) -> None:
        self.rate, self.reach = 1 / scale, reach
        low, high = self._enclosure(64)
        ends = [np.array([min(c, (1 << 64) - 1) for c in side], np.uint64)[None, :] for side in (low, high)]
        self._lookup = Lookup(*ends)

    def draw(self, count: int, rng: Rng = None) -> NDArray[np.int32]:
        """``count`` draws."""
        bits = bits_from(rng)
        result = np.empty(count, np.int32)
        for start in range(0, count, BLOCK):
            result[start : start + BLOCK] = self.block(min(BLOCK, count - start), bits)
        return result

    def block(self, count: int, bits: Bits) -> NDArray[np.int64]:
        """The same for a block that fits into the processor's cache."""
        words = bits.words(count)
        found, tied = self._lookup.find(None, words)
        for place in tied:
            found[place] = decide(self._enclosure, int(words[place]), 64, bits)
        found -= self.reach
        return found

    def _enclosure(self, width: int) -> tuple[list[int], list[int]]:
        """Integers below and above each threshold times ``2**width``, for k = -reach, ..., reach - 1."""
        bits = width + 32
        power, one = PowerBounds(self.rate, bits), 1 << bits
        over_low, over_high = (one + end for end in power(1))
        tails = []  # bounds of a^n / (1 + a) for n = 1, ..., reach
        for n in range(1, self.reach + 1):
            below, above = power(n)
            tails.append(((below << bits) // over_high, ceil_div(above << bits, over_low)))
        lows = [low >> 32 for low, _ in reversed(tails)] + [(one - high) >> 32 for _, high in tails]
        highs = [ceil_div(high, 1 << 32) for _, high in reversed(tails)]
        return lows, highs + [ceil_div(one - low, 1 << 32) for low, _ in tails]
