r"""The slope of the log-sums: the smallest number s with :math:`2\eta + |\ln Z(x) - \ln Z(x')| \le s\, d(x, x')` for all pairs.

Pairs are screened in single precision, and those near the largest ratio are computed again in double precision; the result is
rounded up by more than doubles can be off.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.text.words._tiles import GROUP, Single, Tiles, on_all_cores, strips

__all__ = ["Slope", "slopes"]

UP = 1 + 2.0**-36
"""Logarithms of integers below 2^63, a difference, a root and a quotient are off by some 2^-48 together, eta included."""


@dataclass(frozen=True)
class Slope:
    """The slope, rounded up, and two words that need it."""

    value: Fraction
    pair: tuple[int, int]


def slopes(
    tiles: Tiles, logs: Floats, etas: Sequence[Fraction], done: Callable[[int], None] | None = None
) -> list[Slope]:
    """The slope for each of several tables: ``logs`` has a row for each, with the log-sums of all words. ``done`` is
    called with pairs of blocks."""
    searches = [_Search(row, 2 * float(eta) * UP, tiles.embedding.step) for row, eta in zip(logs, etas, strict=True)]
    size = tiles.embedding.size
    for first in range(tiles.count):
        right, columns = tiles.right(first), tiles.block(first)

        def work(start: int, right: Single = right, columns: slice = columns) -> None:
            squares = tiles.left(slice(start, min(start + GROUP, size))) @ right.T
            for strip in strips(*squares.shape):
                tile = squares[strip]
                np.copyto(tile, np.float32(np.inf), where=tile == 0)  # the same vector has the same weights
                roots = np.sqrt(tile)
                for search in searches:
                    search.look(tile, roots, start + strip.start, columns)

        on_all_cores(work, range(columns.start, size, GROUP), len(right) * size)
        if done is not None:
            done(tiles.count - first)
    return [search.found() for search in searches]


class _Search:
    """The largest ratio for one table, while tiles go by."""

    def __init__(self, logs: Floats, twice: float, step: float) -> None:
        self._logs, self._twice, self._step = logs - logs.mean(), twice, step
        self._short = self._logs.astype(np.float32)
        # A difference in single precision loses at most this; a screened value is never below its exact value.
        self._screen = np.float32(twice + float(np.abs(self._logs).max(initial=0.0)) * 2.0**-21)
        self._best, self._pair = 0.0, (0, 0)
        self._lock = threading.Lock()

    def look(self, squares: Single, roots: Single, row: int, columns: slice) -> None:
        """A tile whose first row is the word ``row``."""
        ratios = np.abs(self._short[row : row + len(squares), None] - self._short[columns])
        ratios += self._screen
        ratios /= roots
        limit = np.float32(self._best * 0.999999)
        if ratios.max(initial=0.0) <= limit:
            return
        rows, places = np.nonzero(ratios > limit)
        apart = np.abs(self._logs[row + rows] - self._logs[columns.start + places])
        exact = (apart + self._twice) / np.sqrt(squares[rows, places].astype(np.float64))
        at = int(exact.argmax())
        with self._lock:
            if exact[at] > self._best:
                self._best, self._pair = float(exact[at]), (row + int(rows[at]), columns.start + int(places[at]))

    def found(self) -> Slope:
        """The slope in units of distance; a step is a power of two."""
        return Slope(Fraction(math.ceil(self._best / self._step * UP * 2**30), 2**30), self._pair)
