r"""Many draws from one law, each with the same work: a look into a table of columns, and one comparison.

A uniform number chooses one of ``2**k`` columns of equal width by its first bits. In its column a share belongs to the
column's own outcome, the rest to another outcome, its alias; the shares are such that every outcome has its probability
in all. They follow from the probabilities by sums and differences (Vose's method), so they can be bounded as tightly as
the probabilities are, even if no machine number holds them. A draw compares 64 bits with the lower bound of a share;
the one in about ``2**54`` that falls on it or on the word above, which the bounds leave open, gets more bits
(:func:`~noisewright.noise.search.decide`). Therefore the law is exact, no float decides anything, and the time of a
draw does not depend on its outcome.

>>> from noisewright.noise.bits import bits_from
>>> third = Alias(lambda width: ([(1 << width) // 3], [-(-(1 << width) // 3)]))
>>> bool(abs(third.column(30_000, bits_from(np.random.default_rng(1))).mean() - 2 / 3) < 0.02)
True

Reference: A. J. Walker (1977); M. D. Vose, "A linear algorithm for generating random numbers with a given distribution" (1991).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.core.exact import ceil_div
from noisewright.noise._blocks import Size, draw_blocks
from noisewright.noise.bits import Bits
from noisewright.noise.search import Enclosure, decide

__all__ = ["MOST", "Alias"]

MOST = 1 << 12
"""Maximum number of outcomes of a law: with more the tables take too long to make."""

WORD, WIDEST = 64, 1 << 14
"""Bits that a draw is compared by, and the maximum number of bits that are read to distinguish a full column from one
that is nearly full.
"""

OPEN = 2
"""Number of words, from the lower bound of a share on, that the bound does not settle."""


class Alias:
    """Outcome ``j`` is drawn if ``j`` thresholds are at or below a uniform number; ``enclosure`` bounds the thresholds."""

    def __init__(self, enclosure: Enclosure) -> None:
        self._enclosure = enclosure
        self._bits = len(enclosure(1)[0]).bit_length()
        self._given, self._full = self._paired()
        rest = WORD - self._bits
        low, high = self._shares(rest)
        if max(most - least for least, most in zip(low, high, strict=True)) > OPEN:
            raise ArithmeticError("the bounds of the law are too wide to tell the shares of its columns")
        ends = [min((place << rest) + own, (1 << WORD) - 1) for place, own in enumerate(low)]
        self._ends = np.array(ends, dtype=np.uint64)
        own = np.arange(1 << self._bits)
        others = own.copy()
        for small, large in self._given:
            others[small] = large
        self._outcomes = np.concatenate([others, own])
        """The aliases of all columns, then their own outcomes."""

    def column(self, size: Size, bits: Bits) -> NDArray[np.int64]:
        """Return independent outcomes, or an array of this shape, block by block."""
        return np.asarray(draw_blocks(size, np.int64, lambda count: self.draw(count, bits)))

    def draw(self, count: int, bits: Bits) -> NDArray[np.int64]:
        """``count`` independent outcomes."""
        words = bits.words(count)
        place = (words >> np.uint64(WORD - self._bits)).view(np.int64)
        ends = self._ends.take(place)
        found: NDArray[np.int64] = self._outcomes.take(place + ((words < ends) << self._bits))
        tied = words - ends < OPEN  # below the end, this is a huge word
        if tied.any():
            for spot in np.flatnonzero(tied):
                found[spot] = self._settled(int(words[spot]), bits)
        return found

    def _settled(self, word: int, bits: Bits) -> int:
        """The outcome of a uniform number that begins with the word."""
        rest = WORD - self._bits
        place = word >> rest

        def enclosure(width: int) -> tuple[tuple[int], tuple[int]]:
            low, high = self._shares(width)
            return (low[place],), (high[place],)

        own = decide(enclosure, word & (1 << rest) - 1, rest, bits) == 0
        return int(self._outcomes[place + (own << self._bits)])

    # Shares -----------------------------------------------------------------------------------------------------------

    def _paired(self) -> tuple[list[tuple[int, int]], list[int]]:
        """Return which column is filled up to its width from which outcome, in order, and the columns that need
        nothing.
        """
        width = WORD
        while width <= WIDEST:
            low, high, one = self._probabilities(width)
            # Columns that may or may not be full give last: when they alone are left to give, the need is next to
            # nothing.
            small: list[int] = []
            full: list[int] = []
            maybe: list[int] = []
            for place in range(len(low)):
                (small if high[place] < one else full if low[place] >= one else maybe).append(place)
            given = []
            while small and (full or maybe):
                needs, has = small.pop(), (full or maybe).pop()
                given.append((needs, has))
                low[has], high[has] = low[has] - one + low[needs], high[has] - one + high[needs]
                (small if high[has] < one else full if low[has] >= one else maybe).append(has)
            left = [*small, *full, *maybe]
            # All columns together are full, so a single one that is left is so exactly; several are if their bounds say so.
            if len(left) == 1 or all(low[place] == high[place] == one for place in left):
                return given, left
            width *= 2
        raise ArithmeticError("the bounds of the law are too wide to tell which of its columns are full")

    def _shares(self, width: int) -> tuple[list[int], list[int]]:
        """Bounds of the share that each column's own outcome has in it, over ``2**width``."""
        low, high, one = self._probabilities(width)
        for needs, has in self._given:
            low[has], high[has] = low[has] - one + low[needs], high[has] - one + high[needs]
        for place in self._full:
            low[place] = high[place] = one
        unit = one >> width
        return [max(least, 0) // unit for least in low], [min(ceil_div(most, unit), 1 << width) for most in high]

    def _probabilities(self, width: int) -> tuple[list[int], list[int], int]:
        """Return bounds of the probability of every outcome in widths of a column, and the width: fine enough for sums
        of all.
        """
        wide = width + 2 * self._bits + 8
        one, (lows, highs) = 1 << wide, self._enclosure(wide)
        lows, highs = [0, *lows, one], [0, *highs, one]
        pairs = range(len(lows) - 1)
        low = [max(lows[k + 1] - highs[k], 0) << self._bits for k in pairs]
        high = [highs[k + 1] - lows[k] << self._bits for k in pairs]
        nothing = [0] * ((1 << self._bits) - len(low))
        return low + nothing, high + nothing, one
