"""The events of :mod:`~noisewright.sampling.bounded_laplace` for every point of a short set of one or two ranges, looked up.

A point has two events, or four where it can leave its range. For each of them two tables hold from where a draw counts, and
how
many points there are to go; and one for each threshold the first 32 bits of its probability, rounded down. A word that is
equal
to these, or the one above it, is in doubt, since the probabilities come from fixed point: such draws are settled elsewhere, by
exact bounds.

>>> halves = PointTables.thresholds([np.array([1 << 61])], np.array([1 << 62]), off=100)  # off by 100 of 2**62
>>> [int(lower[0]) for lower in halves] == [(1 << 31) - 1]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.figures import ceil_div, exp_bounds
from noisewright.exceptions import ParameterError
from noisewright.sampling.bernoulli_bits import Probability, settle
from noisewright.sampling.categorical import decide
from noisewright.sampling.laplace import (
    ONE,
    UNIT_BITS,
    FixedPowers,
    PowerBounds,
    geometric_block,
    geometric_plan,
    laplace_block,
    multiply_high,
)
from noisewright.sampling.random_bits import BLOCK, Bits, Rng, bits_from, half_words

__all__ = ["HalfLineSampler", "PointTables", "RangedSampler"]


BITS = 32
BYTES = 1 << 20
"""Larger tables are not made: a processor would not keep them at hand."""


class PointTables:
    """Tables for the points from ``first`` on, with the :meth:`thresholds` between the events of each.

    ``starts`` and ``rooms`` have a row for each point and a column for each event; the first half of the events goes leftward.
    """

    def __init__(
        self, first: int, lower: list[NDArray[np.uint32]], starts: NDArray[np.int64], rooms: NDArray[np.int64]
    ) -> None:
        self._first, self._lower = first, lower
        self._events = starts.shape[1]
        self._starts, self._rooms = (table.astype(np.uint32).reshape(-1) for table in (starts - first, rooms))

    @staticmethod
    def size(points: int, events: int) -> int:
        """Return the number of bytes of the tables of the given number of points."""
        return 4 * points * (2 * events + events - 1)

    @staticmethod
    def thresholds(sums: Sequence[NDArray[Any]], total: NDArray[Any], off: int) -> list[NDArray[np.uint32]] | None:
        """The first bits of ``sums / total``, each of which is off by at most ``off`` units; None where that is too much."""
        whole, found = total.tolist(), []
        if min(whole) < 8 * off:
            return None
        for part in sums:
            # (s + off) / (t - off) is less than (s + 3 off) / t if off is small compared with t, since s <= t
            pairs = list(zip(part.tolist(), whole, strict=True))
            low = [((s - 3 * off) << BITS) // t for s, t in pairs]
            high = [((s + 3 * off) << BITS) // t for s, t in pairs]
            if max(b - a for a, b in zip(low, high, strict=True)) > 1:
                return None
            found.append(np.array([min(max(a, 0), (1 << BITS) - 1) for a in low], dtype=np.uint32))
        return found

    def events(
        self, i: NDArray[np.int64], words: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
        """Return for points and uniform 32-bit words where tables hold each point, the event there, and which are in
        doubt.
        """
        place = i - self._first
        event: NDArray[Any] = np.zeros(i.size, dtype=np.int8)
        doubt: NDArray[Any] = np.zeros(i.size, dtype=np.bool_)
        for lower in self._lower:
            least = lower.take(place, mode="clip")  # never clips: it only skips a slow check
            event += words > least
            doubt |= words - least <= 1
        return place * self._events, event, np.flatnonzero(doubt)

    def outputs(
        self, place: NDArray[np.int64], event: NDArray[np.int64], number: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Return the ends of draws that go as far as a geometric number states, cut to the available space."""
        left = event < self._events // 2
        place += event
        away = (number % self._rooms.take(place, mode="clip")).view(np.int64)
        # Leftward start - d is start + 1 + ~d.
        away ^= -left.astype(np.int64)
        away += left
        away += self._starts.take(place, mode="clip")
        away += self._first
        return away


# Half line ----------------------------------------------------------------------------------------------------------------
#
# Exact noise on the half-bounded range 0, 1, 2, ... whose rate towards the bound depends on the distance from it.
#
# From ``i`` the output ``j`` has the weight :math:`e^{-\text{tail}\,(j-i)}` where ``j >= i`` and
# :math:`e^{-\text{near}_i (i-j)}` where ``j < i``. The tail is common to all ``i``; the near rates are given for ``i =
# 1, ..., n``
# and stay at the last one beyond. Exactly that law is drawn, with the same work for every ``i``:
#
# * *which side* is one 64-bit word against the enclosed probability of the near side, one for each ``i`` up to where the
#   bound is too far away to matter in 64 bits;
# * *how far* away from the bound is a geometric number, and towards it ``1 + (G mod i)`` with G geometric of rate
#   ``near_i``, whose binary digits are independent coins (see :mod:`noisewright.sampling.laplace`) looked up by ``i``;
# * a word that falls on a threshold, about one in ``2**32``, is settled with further bits and exact bounds.


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


# Ranged -------------------------------------------------------------------------------------------------------------------
#
# Exact Laplace noise that stays inside a set of integers.
#
# Let the feasible set be a union of ranges of integers, the first and the last perhaps endless, and
# :math:`a = e^{-\text{rate}}`. From a feasible ``i`` the output ``j`` has the law
#
# .. math:: P(j \mid i) = a^{|i-j|} / Z(i), \qquad Z(i) = \sum_{j\ \text{feasible}} a^{|i-j|},
#
# exactly, with the same work for every ``i`` and no draw thrown away.
#
# *One range.* Let ``i`` have L points to its left and R to its right in its range, let A be the share of
# :math:`\{j < first\}` that is feasible, weighed by :math:`a^{first-j}`, and B the same beyond the right end. With the common
# factor 1 - a left out, the weights of four events are
#
# ==============  ===========================  =========================================
# stay, leftward  :math:`1 - a^{L+1}`          ``j = i - d``, d = 0, ..., L
# leave leftward  :math:`a^{L+1} A`            ``j`` in a lower range
# stay, rightward :math:`a - a^{R+1}`          ``j = i + 1 + d``, d = 0, ..., R - 1
# leave rightward :math:`a^{R+1} B`            ``j`` in a higher range
# ==============  ===========================  =========================================
#
# *Which event* is one comparison of a 64-bit word with thresholds in integer fixed point (:mod:`noisewright.sampling.laplace`).
# A word within the error bound of a threshold, about one in ``2**56``, is settled with further bits and exact bounds.
# Where a set
# of one or two ranges has few points, and a column more, all that depends on a point is computed once for each, and looked up
# (:mod:`noisewright.sampling.bounded_laplace`).
#
# *How far.* In each case the distance d is geometric, cut to the first M values: :math:`P(d) \propto a^d`. If G is an
# unbounded geometric number then ``G mod M`` has that law exactly, since :math:`\sum_k a^{d + kM} = a^d / (1 - a^M)`.
#
# *Which range*, after leaving: the law of j beyond an end does not depend on i, so ranges are crossed one by one, each
# stopping the walk with a fixed probability that was enclosed beforehand. With at most ``FEW`` ranges every draw makes
# all crossings, needed or not; with more, only draws that left their range go on, and the time of a column shows
# roughly how many
# did and how far, though not which.


FEW = 16
"""Up to this many ranges, every draw does the same work whatever it draws."""

ENDLESS = 1 << 62
"""Stands for the number of points on a side that does not end."""

Range = tuple[int | None, int | None]


class RangedSampler:
    """Draws from ``P(j | i)`` for a column of feasible ``i``; see the head of this module.

    ``ranges``: first and last integer of each range, from low to high, None for an end that is not there.

    >>> sampler = RangedSampler(Fraction(1, 2), [(0, 3), (7, 9)])
    >>> draws = sampler.draw(np.full(1000, 2))
    >>> sorted(set(draws.tolist()) - {0, 1, 2, 3, 7, 8, 9})
    []
    """

    def __init__(self, rate: Fraction, ranges: Sequence[Range]) -> None:
        self.rate, self.ranges = rate, tuple(ranges)
        _check(self.ranges)
        self._plan = geometric_plan(rate)
        self._shares: dict[int, tuple[list[Bound], list[Bound]]] = {}
        self.unbounded = self.ranges == ((None, None),)
        if self.unbounded:
            return
        self._firsts = np.array([-ENDLESS if lo is None else lo for lo, _ in ranges], dtype=np.int64)
        self._lasts = np.array([ENDLESS if hi is None else hi for _, hi in ranges], dtype=np.int64)
        lengths = [1 << 63 if lo is None or hi is None else hi - lo + 1 for lo, hi in ranges]
        self._lengths = np.array(lengths, dtype=np.uint64)
        self._powers = FixedPowers(rate)
        self._ratio = int(self._powers(np.ones(1, dtype=np.uint64))[0])
        self._several = len(self.ranges) > 1
        # Thresholds are sums of at most three terms and the product word * total has at most four, each off by `error` of
        # a power and 4 units of a product with A or B; the rest is rounding.
        self.band = 8 * (self._powers.error + 4) + 8
        self._finite = self.ranges[0][0] is not None and self.ranges[-1][1] is not None
        self._span = int(self._lasts[-1]) - int(self._firsts[0]) + 1
        if self._several:
            left, right = self._beyond(128)
            self._left, self._right = (_words([low for low, _ in side], 128) for side in (left, right))
            stops = [[self._stop(k, side, 128)[0] for k in range(len(self.ranges))] for side in (0, 1)]
            self._stops = np.array([_words(row, 128) for row in stops])

    def draw(self, indices: NDArray[np.int64], components: NDArray[np.intp] | None = None, rng: Rng = None) -> Any:
        """One output for each of ``indices``, which must be feasible; ``components`` are their ranges, if known."""
        bits = bits_from(rng)
        flat = np.ascontiguousarray(indices, dtype=np.int64).reshape(-1)
        which: NDArray[np.intp] | None = None
        tables = self._tables_for(flat.size)
        if not self.unbounded and self._several and tables is None:
            which = self._range_of(flat) if components is None else components
            which = np.ascontiguousarray(which, dtype=np.intp).reshape(-1)
        result = np.empty(flat.size, dtype=np.int64)
        for start in range(0, flat.size, BLOCK):
            part = slice(start, start + BLOCK)
            if self.unbounded:
                result[part] = flat[part] + laplace_block(self._plan, flat[part].size, bits)
            elif tables is not None:
                result[part] = self._looked_up(tables, flat[part], bits)
            elif which is None:
                result[part] = self._inside_one(flat[part], bits)
            else:
                result[part] = self._among_several(flat[part], which[part], bits)
        return result.reshape(np.shape(indices))

    def _looked_up(self, tables: PointTables, i: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        words = half_words(bits, i.size)
        number = geometric_block(self._plan, i.size, bits).view(np.uint64)
        place, event, doubt = tables.events(i, words)
        for spot in doubt:
            settled = self._settle(int(i[spot]), int(self._range_of(i[spot])), int(words[spot]), bits, 32)
            event[spot] = settled if self._several else settled // 2
        return tables.outputs(place, event, number)

    def _inside_one(self, i: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        words = bits.words(i.size)
        number = geometric_block(self._plan, i.size, bits).view(np.uint64)
        left = (i - (self._firsts[0] - 1)).view(np.uint64)  # the points up to i, itself included
        right = (self._lasts[0] - i).view(np.uint64)
        lowered, total = self._computed(i, None)
        beyond = multiply_high(total, words).view(np.int64) - lowered
        go_left = beyond < self.band
        # Within the band on either side; below it the number is negative, and so a huge word.
        doubt = beyond.view(np.uint64) <= 2 * self.band
        if doubt.any():
            for spot in np.flatnonzero(doubt):
                go_left[spot] = self._settle(int(i[spot]), 0, int(words[spot]), bits) < 2
        away = (number % self._room(np.where(go_left, left, right))).view(np.int64)
        # Leftward i - d is i + 1 + ~d, rightward it is i + 1 + d.
        return np.asarray(i + 1 + (away ^ -go_left.astype(np.int64)))

    def _among_several(self, i: NDArray[np.int64], which: NDArray[np.intp], bits: Bits) -> NDArray[np.int64]:
        words = bits.words(i.size)
        number = geometric_block(self._plan, i.size, bits).view(np.uint64)
        *lowered, total, left, right = self._computed(i, which)
        drawn = multiply_high(total, words).view(np.int64)
        event = np.zeros(i.size, dtype=np.uint8)
        doubt = np.zeros(i.size, dtype=np.bool_)
        for threshold in lowered:
            beyond = drawn - threshold
            event += (beyond >= self.band).view(np.uint8)
            doubt |= beyond.view(np.uint64) <= 2 * self.band
        if doubt.any():
            for spot in np.flatnonzero(doubt):
                event[spot] = self._settle(int(i[spot]), int(which[spot]), int(words[spot]), bits)
        go_left, leave = event < 2, (event & 1).astype(np.bool_)
        if len(self.ranges) == 2:  # a point that leaves enters the other one, from its nearer end
            entered = np.where(go_left, self._lasts[0], self._firsts[1])
            length = np.where(go_left, self._lengths[0], self._lengths[1])
        else:
            target = self._cross(which, go_left, leave, bits)
            entered = np.where(go_left, _at(self._lasts, target), _at(self._firsts, target))
            length = _at(self._lengths, target)
        start = np.where(leave, entered, i + ~go_left)
        room = np.where(leave, length, self._room(np.where(go_left, left, right)))
        away = (number % room).view(np.int64)
        # Leftward start - d is start + 1 + ~d.
        return np.asarray(start + go_left + (away ^ -go_left.astype(np.int64)))

    def _cross(
        self, which: NDArray[np.intp], go_left: NDArray[np.bool_], leave: NDArray[np.bool_], bits: Bits
    ) -> NDArray[np.intp]:
        """The range in which each draw ends that leaves its own."""
        step = np.where(go_left, -1, 1)
        target = np.clip(which + step, 0, len(self.ranges) - 1)
        side = (~go_left).astype(np.intp)
        few = len(self.ranges) <= FEW
        active = np.arange(which.size) if few else np.flatnonzero(leave)
        walking = leave[active]
        for _ in range(len(self.ranges) - 2):
            if not few:
                active = active[walking]
                walking = walking[walking]
                if not active.size:
                    break
            words = bits.words(active.size)
            stop = self._stops[side[active], target[active]]
            halted = words < stop
            for spot in np.flatnonzero((words - stop <= 1) & walking):  # bounds may be a word apart
                place = int(active[spot])
                halted[spot] = self._settle_stop(int(target[place]), int(side[place]), int(words[spot]), bits)
            walking &= ~halted
            target[active] += np.where(walking, step[active], 0)
        return target

    # Thresholds ----------------------------------------------------------------------------------------------------

    def _tables_for(self, count: int) -> PointTables | None:
        """Tables of all points, if a column asks for more than there are; its length alone decides, so that seeds do, too."""
        return None if self.unbounded or not self._finite or count < self._span else self._tables

    @cached_property
    def _tables(self) -> PointTables | None:
        """Tables of all points of one or two ranges, if they are few."""
        events = 4 if self._several else 2
        if len(self.ranges) > 2 or PointTables.size(self._span, events) > BYTES:
            return None
        places = np.arange(self._span) + self._firsts[0]
        i = np.minimum(
            places, self._lasts[self._range_of(places)]
        )  # in the gap, for which no one asks, the point before it
        which = self._range_of(i) if self._several else None
        *lowered, total = self._computed(i, which)[:events]
        thresholds = PointTables.thresholds([part + self.band for part in lowered], total, self.band)
        if thresholds is None:
            return None
        first, last = (self._firsts[0], self._lasts[0]) if which is None else (self._firsts[which], self._lasts[which])
        starts, rooms = [i, i + 1], [i - first + 1, last - i]
        if which is not None:  # a point that leaves enters the other range, from its nearer end
            lengths = self._lasts - self._firsts + 1
            starts = [i, np.full_like(i, self._lasts[0]), i + 1, np.full_like(i, self._firsts[1])]
            rooms = [rooms[0], np.full_like(i, lengths[0]), rooms[1], np.full_like(i, lengths[1])]
        room = np.maximum(np.stack(rooms, axis=1), 1)
        return PointTables(int(self._firsts[0]), thresholds, np.stack(starts, axis=1), room)

    def _range_of(self, i: Any) -> NDArray[np.intp]:
        """The number of the range that each point is in."""
        return np.asarray(np.searchsorted(self._firsts, i, side="right") - 1)

    def _computed(self, i: NDArray[np.int64], which: NDArray[np.intp] | None) -> list[NDArray[Any]]:
        """Thresholds of the events but the last, each lower by the band, and the sum of all weights, for every point.

        Among several ranges also the points of its own one up to it, itself included, and those to its right.
        """
        if which is None:
            below = self._powers((i - (self._firsts[0] - 1)).view(np.uint64))
            above = self._powers((self._lasts[0] - i + 1).view(np.uint64))
            leftward = ONE - below.view(np.int64)
            return [leftward - self.band, (leftward + (self._ratio - above.view(np.int64))).view(np.uint64)]
        left = (i - (_at(self._firsts, which) - 1)).view(np.uint64)
        right = (_at(self._lasts, which) - i).view(np.uint64)
        below, above = self._powers(left), self._powers(right + np.uint64(1))
        first = ONE - below.view(np.int64)
        second = first + multiply_high(below, _at(self._left, which)).view(np.int64)
        third = second + (self._ratio - above.view(np.int64))
        total = third + multiply_high(above, _at(self._right, which)).view(np.int64)
        return [first - self.band, second - self.band, third - self.band, total.view(np.uint64), left, right]

    def _room(self, points: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the modulus for the given number of points; on an endless side 2**63, which no geometric number
        reaches.
        """
        room = np.maximum(points, np.uint64(1))
        return room if self._finite else np.where(room >= np.uint64(ENDLESS >> 1), np.uint64(1 << 63), room)

    # Exact bounds --------------------------------------------------------------------------------------------------

    def _settle(self, i: int, k: int, word: int, bits: Bits, width: int = 64) -> int:
        """The event for a uniform number whose first ``width`` bits are ``word``."""
        return decide(lambda wide: self._thresholds(i, k, wide), word, width, bits)

    def _thresholds(self, i: int, k: int, width: int) -> tuple[list[int], list[int]]:
        """Bounds of the probabilities of the first one, two and three events, over ``2**width``."""
        bits = width + UNIT_BITS + 64
        power, one = _bounds(self.rate, bits), 1 << bits
        first, last = self.ranges[k]
        beyond = [side[k] for side in self._beyond(bits)]
        below = (0, 0) if first is None else power(i - first + 1)
        above = (0, 0) if last is None else power(last - i + 1)
        ratio = power(1)
        weights = [
            (one - below[1], one - below[0]),
            _times(below, beyond[0], bits),
            (0, 0) if last == i else (max(0, ratio[0] - above[1]), ratio[1] - above[0]),
            _times(above, beyond[1], bits),
        ]
        low_total, high_total = (sum(w[side] for w in weights) for side in (0, 1))
        lows, highs, low, high = [], [], 0, 0
        for place in range(3):
            low, high = low + weights[place][0], high + weights[place][1]
            if any(w[1] for w in weights[place + 1 :]):
                lows.append((low << width) // high_total)
                highs.append(min(ceil_div(high << width, low_total), 1 << width))
            else:  # nothing follows, so the threshold is exactly one
                lows.append(1 << width)
                highs.append(1 << width)
        return lows, highs

    def _settle_stop(self, k: int, side: int, word: int, bits: Bits) -> bool:
        def enclosure(width: int) -> tuple[list[int], list[int]]:
            low, high = self._stop(k, side, width + 64)
            return [low >> 64], [ceil_div(high, 1 << 64)]

        return decide(enclosure, word, 64, bits) == 0

    def _stop(self, k: int, side: int, bits: int) -> Bound:
        """Bounds of the probability that a walk entering range k from its right (side 0) or left (1) end stops in it."""
        beyond = self._beyond(bits + 64)[side][k]
        first, last = self.ranges[k]
        if beyond == (0, 0) or first is None or last is None:
            return 1 << bits, 1 << bits
        whole = _bounds(self.rate, bits + 64)(last - first + 1)
        one = 1 << (bits + 64)
        stay, go = (one - whole[1], one - whole[0]), _times(whole, beyond, bits + 64)
        return (stay[0] << bits) // (stay[0] + go[1]), ceil_div(stay[1] << bits, stay[1] + go[0])

    def _beyond(self, bits: int) -> tuple[list[Bound], list[Bound]]:
        """Bounds of A and B of every range."""
        if bits not in self._shares:
            mirrored = [(None if hi is None else -hi, None if lo is None else -lo) for lo, hi in reversed(self.ranges)]
            below = _feasible_below(self.rate, self.ranges, bits)
            self._shares[bits] = below, _feasible_below(self.rate, mirrored, bits)[::-1]
        return self._shares[bits]


@lru_cache(maxsize=64)
def _bounds(rate: Fraction, bits: int) -> PowerBounds:
    return PowerBounds(rate, bits)


def _feasible_below(rate: Fraction, ranges: Sequence[Range], bits: int) -> list[Bound]:
    """Return for each range the feasible share below its first point: ``A' = a^(gap-1) ((1 - a^M) + a^M A)`` from A of
    the last.
    """
    power, one = _bounds(rate, bits), 1 << bits
    shares: list[Bound] = [(0, 0)]
    for (first, last), (following, _) in pairwise(ranges):
        assert last is not None
        assert following is not None
        whole = (0, 0) if first is None else power(last - first + 1)
        rest = _times(whole, shares[-1], bits)
        inner = (one - whole[1] + rest[0], min(one - whole[0] + rest[1], one))
        shares.append(_times(power(following - last - 1), inner, bits))
    return shares


def _at(values: NDArray[Any], places: NDArray[np.intp]) -> NDArray[Any]:
    """``values[places]``; the places are in range, and ``clip`` only skips a slow check of that."""
    return values.take(places, mode="clip")


def _times(x: Bound, y: Bound, bits: int) -> Bound:
    return x[0] * y[0] >> bits, ceil_div(x[1] * y[1], 1 << bits)


def _words(values: list[int], bits: int) -> NDArray[np.uint64]:
    """Numbers in [0, 1] as words, rounded down; 1 becomes the largest word."""
    return np.array([min(v >> (bits - 64), (1 << 64) - 1) for v in values], dtype=np.uint64)


def _check(ranges: tuple[Range, ...]) -> None:
    ends = [end for pair in ranges for end in pair]
    inner = ends[1:-1]
    known = [end for end in ends if end is not None]
    if not ranges or any(end is None for end in inner) or any(abs(end) >= ENDLESS // 4 for end in known):
        raise ParameterError("ranges must be given from low to high, with open ends at the outside only.")
    if any(lo is not None and hi is not None and lo > hi for lo, hi in ranges) or any(
        hi is not None and lo is not None and lo - hi < 1 for (_, hi), (lo, _) in pairwise(ranges)
    ):
        raise ParameterError("ranges must be given from low to high, and must not be empty or overlap.")
