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

A uniform number chooses one of ``2**k`` columns of equal width by its first bits. In its column a share belongs to the
column's own outcome, the rest to another outcome, its alias; the shares are such that every outcome has its probability
in all. They follow from the probabilities by sums and differences (Vose's method), so they can be bounded as tightly as
the probabilities are, even if no machine number holds them. A draw compares 64 bits with the lower bound of a share;
the one in about ``2**54`` that falls on it or on the word above, which the bounds leave open, gets more bits
(:func:`~noisewright.sampling.categorical.decide`). Therefore the law is exact, no float decides anything, and the time of a
draw does not depend on its outcome.

>>> from noisewright.sampling.random_bits import bits_from
>>> third = Alias(lambda width: ([(1 << width) // 3], [-(-(1 << width) // 3)]))
>>> bool(abs(third.column(30_000, bits_from(np.random.default_rng(1))).mean() - 2 / 3) < 0.02)
True

Reference: A. J. Walker (1977); M. D. Vose, "A linear algorithm for generating random numbers with a given distribution"
(1991).
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.figures import ceil_div
from noisewright.exceptions import DataError, ParameterError
from noisewright.sampling.random_bits import BLOCK, Bits, Rng, Size, bits_from, draw_blocks

__all__ = ["MOST", "Alias", "Enclosure", "Lookup", "TableSampler", "decide", "whole_thresholds"]


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


# Alias --------------------------------------------------------------------------------------------------------------------
#
# Many draws from one law, each with the same work: a look into a table of columns, and one comparison.


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


# Table --------------------------------------------------------------------------------------------------------------------
#
# Draws from a table of integers: the very table that a certificate was proved about.
#
# Row ``r`` of the table gives outcome ``c`` with probability ``table[r][c] / 2**width``, where every row sums to exactly
# ``2**width``. :meth:`TableSampler.draw` has exactly that law for a whole column of secrets at once: each draw reads one
# 64-bit word against a guide table, the few words that fall on a border are compared in full, and the one in about 2**64
# that still ties reads further words against the thresholds as big integers.
#
# The method is inversion with a guide table (H.-C. Chen and Y. Asau, 1974) on lazily drawn bits (D. Knuth and A. Yao,
# 1976). How long a draw takes depends on the row only through the share of words that fall on a border; this is not a
# constant-time sampler.


class TableSampler:
    """An exact sampler for a table whose rows are probabilities over ``2**width``.

    It holds numbers only, no randomness, so it can be pickled, copied, forked and shared between threads. Memory is the
    table, 8 bytes for each entry, and at most 32 MB for the guide.

    >>> sampler = TableSampler([[3, 1], [0, 4]], width=2)
    >>> sampler.draw([1, 1, 1]).tolist()
    [1, 1, 1]
    >>> draws = sampler.draw(np.zeros(10_000, dtype=int), rng=np.random.default_rng(1))
    >>> bool(0.23 < draws.mean() < 0.27)
    True
    """

    def __init__(self, table: Sequence[Sequence[int]] | NDArray[Any], width: int) -> None:
        """``table``: rows of non-negative integers, each with the sum ``2**width``; ``width``: any positive integer."""
        self.width = _width(width)
        listed = table.tolist() if isinstance(table, np.ndarray) else table
        if not isinstance(listed, Iterable):
            raise ParameterError(f"the table must be a list of rows, not {type(table).__name__}.")
        self._rows = tuple(_row(entries, index) for index, entries in enumerate(listed))
        if not self._rows or not self._rows[0]:
            raise ParameterError("the table is empty; give at least one row with at least one column.")
        self.rows, self.columns = len(self._rows), len(self._rows[0])
        thresholds = np.empty((self.rows, self.columns - 1), dtype=np.uint64)
        for index, entries in enumerate(self._rows):
            thresholds[index] = self._first_words(entries, index)
        self._lookup = Lookup(thresholds)

    def __repr__(self) -> str:
        return f"TableSampler({self.rows} rows, {self.columns} columns, width={self.width})"

    def draw(self, rows: Any, rng: Rng = None) -> Any:
        """One column index for each row index in ``rows``, as int64 in the same shape; an int gives an int.

        Draw ``i`` reads word ``i`` of the source, and ties read the words after those, so a seeded result does not
        depend on the block size.
        """
        secrets = np.asarray(rows)
        self._check(secrets)
        flat = secrets.reshape(-1)
        bits = bits_from(rng)
        result = np.empty(flat.size, dtype=np.int64)
        ties: list[tuple[int, int]] = []
        for start in range(0, flat.size, BLOCK):
            part = flat[start : start + BLOCK].astype(np.int64, copy=False)
            words = bits.words(part.size)
            result[start : start + BLOCK], tied = self._lookup.find(part, words)
            ties.extend((start + int(position), int(words[position])) for position in tied)
        for position, word in ties:
            result[position] = self._settle(int(flat[position]), word, bits)
        return result.reshape(secrets.shape) if secrets.shape else int(result[0])

    def _check(self, secrets: NDArray[Any]) -> None:
        """Refuses the whole column before the first draw, and does not say which value was wrong."""
        if secrets.size == 0:
            return
        if secrets.dtype.kind not in "iu":
            raise DataError(f"row indices must be whole numbers, not {secrets.dtype}; map each value to its row first.")
        if secrets.min() < 0 or secrets.max() >= self.rows:
            raise DataError(
                f"a row index is outside 0 to {self.rows - 1}; map each value to its row, and clamp or drop the others."
            )

    def _settle(self, row: int, word: int, bits: Bits) -> int:
        """The outcome in ``row`` of a uniform number whose first 64 bits are ``word``."""
        thresholds = list(accumulate(self._rows[row]))[:-1]
        return decide(whole_thresholds(thresholds, self.width), word, 64, bits)

    def _first_words(self, entries: tuple[int, ...], index: int) -> list[int]:
        """The thresholds of a row, cut to 64 bits; the last one is 1 and never reached, so it is left out."""
        thresholds = list(accumulate(entries))
        total = 1 << self.width
        if len(thresholds) != self.columns:
            raise ParameterError(
                f"row {index} of the table has {len(thresholds)} columns, but row 0 has {self.columns}; give equal rows."
            )
        if thresholds.pop() != total:
            raise ParameterError(
                f"row {index} of the table does not sum to 2**{self.width}; every row must, so round it to that sum."
            )
        up, down = max(0, 64 - self.width), max(0, self.width - 64)
        # A threshold of 1 (only zeros follow) has no 64-bit word; the largest word stands for it, and the ties on that
        # word are settled on the exact thresholds.
        return [(c << up) >> down if c < total else (1 << 64) - 1 for c in thresholds]


def _width(width: SupportsIndex) -> int:
    try:
        number = operator.index(width)
    except TypeError:
        raise ParameterError(f"width must be a whole number of bits, not {type(width).__name__}.") from None
    if number < 1:
        raise ParameterError(f"width = {number} is too small; give 1 bit or more.")
    return number


def _row(entries: Iterable[SupportsIndex], index: int) -> tuple[int, ...]:
    try:
        row = tuple(map(operator.index, entries))
    except TypeError:
        raise ParameterError(
            f"row {index} of the table is not a list of whole numbers; give integers over 2**width, not floats."
        ) from None
    if row and min(row) < 0:
        raise ParameterError(f"row {index} of the table has a negative entry; give integers of 0 or more.")
    return row
