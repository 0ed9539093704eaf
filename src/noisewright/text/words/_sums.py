"""Sums of weights over blocks of the vocabulary, and words drawn from them: integers throughout.

A draw has a uniform integer below the whole sum of its word's weights. The sums of blocks say in which block it falls, and the
weights of that block alone say at which word. The result depends on the integers only: not on blocks, threads or the order of
work.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ResourceError
from noisewright.text.words._tiles import GROUP, Rows, Tiles, on_all_cores, strips
from noisewright.text.words.weights import Weights

__all__ = ["Remembered", "all_sums", "block_sums", "locate"]

RUN = 64
"""Number of words of a block that are searched in one run."""

MOST = 1 << 16
"""Approximate number of words whose sums are cached: 32 MB."""

Whole = NDArray[np.uint64]


def block_sums(tiles: Tiles, weights: Weights, rows: Rows) -> Whole:
    """The sum of the weights of each block, for each of some words."""
    result = np.empty((len(rows), tiles.count), np.uint64)
    for start in range(0, len(rows), GROUP):
        group = slice(start, start + GROUP)
        left = tiles.left(rows[group])

        def work(block: int, left: NDArray[np.float32] = left, group: slice = group) -> None:
            squares, target = left @ tiles.right(block).T, result[group, block]
            for strip in strips(*squares.shape):
                weights.at(squares[strip]).sum(axis=1, out=target[strip])

        on_all_cores(work, range(tiles.count), len(left) * tiles.embedding.size)
    return result


def all_sums(
    tiles: Tiles, several: Sequence[Weights], by_block: bool = False, done: Callable[[int], None] | None = None
) -> Whole:
    """The sums of all words for several tables of weights, (tables, words, blocks); without ``by_block`` whole sums,
    in one column. Every pair of words is visited once, since distances are symmetric. ``done`` is called with pairs of
    blocks."""
    size = tiles.embedding.size
    result = np.zeros((len(several), size, tiles.count if by_block else 1), np.uint64)
    for first in range(tiles.count):
        right, columns = tiles.right(first), tiles.block(first)
        groups = [
            (block, slice(start, min(start + GROUP, tiles.block(block).stop)))
            for block in range(first, tiles.count)
            for start in range(tiles.block(block).start, tiles.block(block).stop, GROUP)
        ]

        def work(
            group: tuple[int, slice], right: NDArray[np.float32] = right, place: int = first if by_block else 0
        ) -> Whole:
            squares = tiles.left(group[1]) @ right.T
            across = result[:, group[1], place]
            down = np.zeros((len(several), len(right)), np.uint64)
            for strip in strips(*squares.shape):
                levels = several[0].levels(squares[strip])
                for number, weights in enumerate(several):
                    found = np.take(weights.table, levels, mode="clip")
                    across[number, strip] += found.sum(axis=1)
                    down[number] += found.sum(axis=0)
            return down

        for (block, _), down in zip(groups, on_all_cores(work, groups, len(right) * size), strict=True):
            if block > first:
                result[:, columns, block if by_block else 0] += down
        if done is not None:
            done(tiles.count - first)
    return result


def locate(tiles: Tiles, weights: Weights, sums: Whole, rows: Rows, words: Rows, below: Whole) -> Rows:
    """The output of each draw: the first row at which the weights of a word, added up, exceed a number.

    Draw ``i`` has the word ``rows[words[i]]``, whose sums are ``sums[words[i]]``, and the number ``below[i]``.
    """
    ends = np.cumsum(sums, axis=1, dtype=np.uint64)
    blocks = np.empty(len(below), np.int64)
    for strip in strips(len(below), tiles.count, 1 << 20):
        blocks[strip] = (ends[words[strip]] <= below[strip, None]).sum(axis=1)
    rest = below - (ends[words, blocks] - sums[words, blocks])
    result = np.empty(len(below), np.int64)
    order = np.argsort(blocks, kind="stable")
    borders = np.searchsorted(blocks[order], np.arange(tiles.count + 1))

    def work(block: int) -> None:
        draws, right = order[borders[block] : borders[block + 1]], tiles.right(block)
        draws = draws[np.argsort(words[draws], kind="stable")]
        needed, which = np.unique(words[draws], return_inverse=True)
        for start in range(0, len(needed), GROUP):
            mine = needed[start : start + GROUP]
            found = weights.at(tiles.left(rows[mine]) @ right.T)
            if (found.sum(axis=1) != sums[mine, block]).any():
                raise ResourceError("the kept sums of weights are not those of this embedding; delete their folder.")
            here = slice(*np.searchsorted(which, [start, start + GROUP]).tolist())
            result[draws[here]] = tiles.block(block).start + _search(found, which[here] - start, rest[draws[here]])

    occupied = np.flatnonzero(np.diff(borders)).tolist()
    on_all_cores(work, occupied, len(occupied) * tiles.length * tiles.embedding.dimension)
    return result


class Remembered:
    """The sums of words that occurred, so that words of one document after another are multiplied once."""

    def __init__(self, size: int, blocks: int) -> None:
        self._places = np.full(size, -1, np.int64)
        self._sums = np.empty((0, blocks), np.uint64)
        self._lock = threading.Lock()

    def of(self, rows: Rows, compute: Callable[[Rows], Whole]) -> Whole:
        """The sums of each word; ``compute`` gives those of words that are new."""
        with self._lock:
            new = np.unique(rows[self._places[rows] < 0])
            if len(new):
                full = len(self._sums) + len(new) > MOST
                new = np.unique(rows) if full else new  # begin again, with all requested tables
                found = compute(new)
                if full:
                    self._places[:] = -1
                    self._sums = self._sums[:0]
                first = len(self._sums)
                self._sums = np.concatenate([self._sums, found])
                self._places[new] = first + np.arange(len(new))
            return self._sums[self._places[rows]]


def _search(weights: Whole, words: Rows, below: Whole) -> Rows:
    """The first place at which the weights of a row, added up, exceed a number: first among runs of words, then in the run."""
    runs = -(-weights.shape[1] // RUN)
    padded = np.zeros((len(weights), runs * RUN), np.uint64)
    padded[:, : weights.shape[1]] = weights
    cut = padded.reshape(len(weights), runs, RUN)
    ends = np.cumsum(cut.sum(axis=2), axis=1, dtype=np.uint64)
    result = np.empty(len(below), np.int64)
    for strip in strips(len(below), max(runs, RUN), 1 << 18):
        mine, number = words[strip], below[strip]
        run = (ends[mine] <= number[:, None]).sum(axis=1)
        inside = cut[mine, run]
        number = number - (ends[mine, run] - inside.sum(axis=1))
        result[strip] = run * RUN + (np.cumsum(inside, axis=1, dtype=np.uint64) <= number[:, None]).sum(axis=1)
    return result
