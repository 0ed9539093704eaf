r"""The events of :mod:`~noisewright.noise.laws.ranged` for every point of a short set of one or two ranges, looked up.

A point has two events, or four where it can leave its range. For each of them two tables hold from where a draw counts, and how
many points there are to go; and one for each threshold the first 32 bits of its probability, rounded down. A word that is equal
to these, or the one above it, is in doubt, since the probabilities come from fixed point: such draws are settled elsewhere, by
exact bounds.

>>> halves = PointTables.thresholds([np.array([1 << 61])], np.array([1 << 62]), off=100)  # off by 100 of 2**62
>>> [int(lower[0]) for lower in halves] == [(1 << 31) - 1]
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PointTables"]

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
