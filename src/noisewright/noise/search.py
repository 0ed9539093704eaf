r"""Search for the outcome that a uniform number falls in, when only its first bits are known.

Let :math:`0 \le c_1 \le \dots \le c_k \le 1` be thresholds and ``U`` uniform on [0, 1). The outcome is the number of
thresholds that are at most ``U``. No one can draw all bits of ``U``, and no one needs to: ``U`` is known to lie in
``[prefix, prefix + 1) / 2**width``, and that settles the outcome unless a threshold lies inside. Two helpers share the
work:

* :class:`Lookup` looks at the first 64 bits of many draws at once, in integer arithmetic, and says which draws are not
  settled (about one in 2**64 for each threshold);
* :func:`decide` settles one of those, drawing 64 more bits at a time for as long as it takes.

Together the outcome has exactly the law ``P(j) = c[j+1] - c[j]``; no precision is ever assumed to be enough. The guide
table is that of Chen and Asau, "On generating random variates from an empirical distribution", AIIE Transactions
(1974); reading the bits of U lazily goes back to Knuth and Yao (1976).

>>> thresholds = np.array([[1 << 62, 1 << 63]], dtype=np.uint64)
>>> Lookup(thresholds).find(None, np.array([5, 1 << 62, (1 << 62) + 1, (1 << 64) - 1], dtype=np.uint64))
(array([0, 1, 1, 2]), array([1]))
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from noisewright.core.exact import ceil_div
from noisewright.noise.bits import Bits

__all__ = ["Enclosure", "Lookup", "decide", "whole_thresholds"]

GUIDE_BYTES = 32 << 20
"""The guide table is kept below this size."""

Enclosure = Callable[[int], tuple[Sequence[int], Sequence[int]]]
"""``enclosure(width)`` gives two non-decreasing lists of integers with ``low[i] <= c[i] * 2**width <= high[i]``."""


def decide(enclosure: Enclosure, prefix: int, width: int, bits: Bits) -> int:
    """The outcome of the uniform number whose first ``width`` bits are ``prefix``, more bits being drawn as needed.

    It ends with probability one, because the interval that is left halves with each bit and moves away from any
    threshold. Exact thresholds (``low == high``) are settled without waiting.
    """
    while True:
        low, high = enclosure(width)
        outcome = bisect_right(high, prefix)
        if outcome == len(low) or low[outcome] > prefix:
            return outcome
        prefix = (prefix << 64) | int(bits.words(1)[0])
        width += 64


def whole_thresholds(thresholds: Sequence[int], own: int) -> Enclosure:
    """The thresholds ``thresholds[i] / 2**own``, exact from that width on.

    >>> whole_thresholds([1, 3], 2)(1), whole_thresholds([1, 3], 2)(3)
    (([0, 1], [1, 2]), ([2, 6], [2, 6]))
    """

    def enclosure(width: int) -> tuple[list[int], list[int]]:
        if width >= own:
            exact = [c << (width - own) for c in thresholds]
            return exact, exact
        unit = 1 << (own - width)
        return [c // unit for c in thresholds], [ceil_div(c, unit) for c in thresholds]

    return enclosure


class Lookup:
    """Outcomes of many draws from their first 64 bits, for one or many rows of thresholds.

    ``low[r, i]`` and ``high[r, i]`` are 64-bit integers with ``low <= floor(c * 2**64) <= high`` (a threshold of 1 is
    written ``2**64 - 1``). A draw is settled when its word is below ``low`` or above ``high`` of every threshold.

    The guide table holds, for each row and each value of a word's leading bits, the outcome where that is already
    certain. Only the few words whose bucket contains a threshold are searched by bisection.
    """

    def __init__(self, low: NDArray[np.uint64], high: NDArray[np.uint64] | None = None) -> None:
        rows, self.thresholds = low.shape
        self._low = np.ascontiguousarray(low).reshape(-1)
        self._high = self._low if high is None else np.ascontiguousarray(high).reshape(-1)
        self._unsure = self.thresholds + 1
        dtype = np.min_scalar_type(self._unsure)
        self._guide_bits = _guide_bits(rows, self.thresholds, dtype.itemsize)
        self._guide = self._make_guide(rows, dtype)

    def find(
        self, rows: NDArray[np.int64] | None, words: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """The outcome of each word in its row (``None``: all in row 0), and the positions that are not settled."""
        index = (words >> np.uint64(64 - self._guide_bits)).view(np.int64)
        if rows is not None:
            index += rows << self._guide_bits
        guess = self._guide.take(index, mode="clip")  # never clips: the index is in range; it only skips a slow check
        outcome: NDArray[np.int64] = guess.astype(np.int64)
        unsure = np.flatnonzero(guess == self._unsure)
        if not unsure.size:
            return outcome, unsure
        found, tied = self._bisect(None if rows is None else rows[unsure], words[unsure])
        outcome[unsure] = found
        return outcome, unsure[tied]

    def _bisect(
        self, rows: NDArray[np.int64] | None, words: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        before_first = -1 if rows is None else rows * self.thresholds - 1
        count = np.zeros(words.size, dtype=np.int64)
        for power in reversed(range(self.thresholds.bit_length())):
            probe = count + (1 << power)
            inside = probe <= self.thresholds
            probe = np.where(inside, probe, 1)
            passed = inside & (self._low[before_first + probe] <= words)
            count += passed.astype(np.int64) << power
        # Thresholds do not decrease, so the last one that was passed is the only one that can be in doubt.
        last = np.maximum(count, 1)
        tied = (count > 0) & (self._high[before_first + last] >= words)
        return count, tied

    def _make_guide(self, rows: int, dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
        buckets = 1 << self._guide_bits
        guide = np.empty((rows, buckets), dtype=dtype)
        step = max(1, (1 << 20) // buckets)
        for start in range(0, rows, step):
            stop = min(start + step, rows)
            low, high = (self._count(ends, start, stop) for ends in (self._low, self._high))
            most = low.cumsum(axis=1)  # passed for sure or perhaps by the end of the bucket
            least = high.cumsum(axis=1) - high  # passed for sure at its beginning
            guide[start:stop] = np.where(most == least, most, self._unsure)
        return guide.reshape(-1)

    def _count(self, ends: NDArray[np.uint64], start: int, stop: int) -> NDArray[np.int64]:
        """Return the number of thresholds that fall in each bucket, for rows ``start`` to ``stop``."""
        rows, k = stop - start, self.thresholds
        part = ends[start * k : stop * k].reshape(rows, k)
        bucket = (part >> np.uint64(64 - self._guide_bits)).astype(np.int64)
        bucket += np.arange(rows, dtype=np.int64)[:, None] << self._guide_bits
        return np.bincount(bucket.reshape(-1), minlength=rows << self._guide_bits).reshape(rows, -1)


def _guide_bits(rows: int, thresholds: int, itemsize: int) -> int:
    """About 32 buckets for each threshold, so that few are searched; fewer where the table would be too large."""
    wanted = min(16, max(8, (32 * thresholds).bit_length()))
    allowed = (GUIDE_BYTES // (rows * itemsize)).bit_length() - 1
    return max(1, min(wanted, allowed))
