r"""Many draws from one law by inversion: sixteen random bits for each, and more only where these do not settle it.

A table says for every 16-bit word which outcome each uniform number has that begins with it; words that begin numbers of several
outcomes, at most one in 2**16 for each threshold, are made longer: by 48 bits for all of them at once, and then one by one for
as long as it takes (:func:`~noisewright.noise.search.decide`). So the law is exact, and nothing is decided by a float.

>>> third = Inversion(lambda width: ([(1 << width) // 3], [-(-(1 << width) // 3)]))
>>> from noisewright.noise.bits import bits_from
>>> bool(abs(third.draw(30_000, bits_from(np.random.default_rng(1))).mean() - 2 / 3) < 0.02)
True
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.noise._blocks import Size, draw_blocks
from noisewright.noise.bits import Bits, quarter_words
from noisewright.noise.search import Enclosure, decide

__all__ = ["Inversion"]

MOST = 1 << 12
"""With more thresholds than this, too many words would not be settled at first."""

_UNSURE = (1 << 16) - 1
_REST = np.uint64(48)
_LAST = (1 << 64) - 1


class Inversion:
    """Outcome ``j`` is drawn if ``j`` thresholds are at or below a uniform number; ``enclosure`` bounds the thresholds."""

    def __init__(self, enclosure: Enclosure) -> None:
        self._enclosure = enclosure
        # A threshold of 1 has no 64-bit word; the largest stands for it, and is settled by the exact bounds.
        self._low, self._high = (np.array([min(end, _LAST) for end in ends], dtype=np.uint64) for ends in enclosure(64))
        first = np.arange(1 << 16, dtype=np.uint64) << _REST
        passed = np.searchsorted(self._high, first, side="left")
        perhaps = np.searchsorted(self._low, first | np.uint64((1 << 48) - 1), side="right")
        self._guide = np.where(passed == perhaps, passed, _UNSURE).astype(np.uint16)

    def column(self, size: Size, bits: Bits) -> NDArray[np.int64]:
        """As many independent outcomes, or an array of this shape, block by block."""
        return np.asarray(draw_blocks(size, np.int64, lambda count: self.draw(count, bits)))

    def draw(self, count: int, bits: Bits) -> NDArray[np.uint16]:
        """``count`` independent outcomes."""
        words = quarter_words(bits, count)
        found = self._guide.take(words)
        unsure = np.flatnonzero(found == _UNSURE)
        if unsure.size:
            longer = (words[unsure].astype(np.uint64) << _REST) | (bits.words(unsure.size) >> np.uint64(16))
            found[unsure] = self._settled(longer, bits)
        return found

    def _settled(self, words: NDArray[np.uint64], bits: Bits) -> NDArray[np.intp]:
        """The outcomes of uniform numbers that begin with these words."""
        outcome = np.searchsorted(self._low, words, side="right")
        # Bounds do not decrease, so if any threshold is in doubt, the last one that was perhaps passed is.
        doubt = (outcome > 0) & (self._high[np.maximum(outcome, 1) - 1] >= words)
        for position in np.flatnonzero(doubt):
            outcome[position] = decide(self._enclosure, int(words[position]), 64, bits)
        return outcome
