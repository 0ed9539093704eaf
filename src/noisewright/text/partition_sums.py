r"""The integer weights of the exact choice of words: :math:`\lfloor 2^k e^{-\min(\beta d, C)} \rfloor`, by levels of distance.

The table is made by the checker's own function, in integers; so the certified law is the sampled law. Cutting the
exponent at C keeps every weight greater than 0, and :math:`e^{-C}` times the size of the vocabulary is below a
thousandth.

>>> table = Weights(Fraction(2), Fraction(9), 40, Fraction(1, 256))
>>> float(table.table[0]) / 2**40 > 0.999, float(table.eta) < 0.001, len(table.table)
(True, True, 18433)
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.certificates.checker import checker_words
from noisewright.certificates.checker.checker import NotProved
from noisewright.exceptions import ParameterError, ResourceError
from noisewright.numerics.exact import in_words
from noisewright.text.embedding import Embedding
from noisewright.text.nearest_words import GROUP, Rows, Single, Tiles, cores, keep, kept, on_all_cores, strips

__all__ = [
    "Remembered",
    "Slope",
    "Weights",
    "all_sums",
    "block_sums",
    "calibrated",
    "free",
    "locate",
    "seconds_for",
    "slopes",
    "slopes_of",
    "telling",
    "true_epsilons",
]


NEGLIGIBLE = 7
"""Words beyond the cap weigh together less than e^-7 of the word itself."""


@dataclass(frozen=True)
class Weights:
    """Weights by level; build them with :meth:`of`."""

    beta: Fraction
    """The exponent for each unit of distance."""
    cap: Fraction
    """The largest exponent."""
    width: int
    """The weight of the word itself is just below ``2**width``."""
    step: Fraction
    """One unit of a code."""

    @classmethod
    def of(cls, embedding: Embedding, beta: Fraction, cap: Fraction | None = None) -> Weights:
        """Weights for the vocabulary of an embedding; ``cap`` is by default where words weigh nothing together."""
        chosen = Fraction(math.ceil(math.log(embedding.size))) + NEGLIGIBLE if cap is None else cap
        made = cls(beta, chosen, 62 - embedding.size.bit_length(), Fraction(embedding.step))
        made.table  # noqa: B018  (refuses what cannot be)
        return made

    @property
    def rate(self) -> Fraction:
        """The exponent for one level."""
        return self.beta * self.step / checker_words.FINE

    @cached_property
    def _made(self) -> tuple[list[int], Fraction]:
        try:
            return _weights(self.rate, self.cap, self.width)
        except NotProved:
            raise ParameterError(
                "epsilon (or the reach) is too large or too small for the distances of this embedding: the exponent would be "
                f"{in_words(self.beta)} for each unit and at most {in_words(self.cap)}; choose another one."
            ) from None

    @cached_property
    def table(self) -> NDArray[np.uint64]:
        """The weights; words beyond the last level have its weight."""
        found = np.array(self._made[0], dtype=np.uint64)
        found.flags.writeable = False
        return found

    @property
    def fingerprint(self) -> str:
        """The SHA-256 that a certificate states."""
        return checker_words.fingerprint(self._made[0])

    @property
    def eta(self) -> Fraction:
        """Largest difference of ``ln W`` from its exponent, rounded up to a short fraction."""
        exact = checker_words.rounding(self.rate, self.cap, self._made[1])
        return Fraction(math.ceil(exact * (1 << 60)), 1 << 60)

    @property
    def bound(self) -> Fraction:
        """The epsilon that holds whatever the vectors are."""
        return 2 * self.beta + 4 * self.eta / self.step

    def levels(self, squares: NDArray[np.float32]) -> NDArray[np.intp]:
        """The levels of squared distances in code units, which are overwritten. IEEE rounds roots and products by 16 alike on
        every machine."""
        np.sqrt(squares, out=squares)
        squares *= np.float32(checker_words.FINE)
        return squares.astype(np.intp)

    def at(self, squares: NDArray[np.float32]) -> NDArray[np.uint64]:
        """The weights for squared distances in code units, which are overwritten."""
        return np.take(self.table, self.levels(squares), mode="clip")


@lru_cache(maxsize=64)
def _weights(rate: Fraction, cap: Fraction, width: int) -> tuple[list[int], Fraction]:
    return checker_words.weights(rate, cap, width)


# Slopes -------------------------------------------------------------------------------------------------------------------
#
# The slope of the log-sums: the smallest number s with :math:`2\eta + |\ln Z(x) - \ln Z(x')| \le s\, d(x, x')` for all pairs.
#
# Pairs are screened in single precision, and those near the largest ratio are computed again in double precision; the result is
# rounded up by more than doubles can be off.


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


# Sums ---------------------------------------------------------------------------------------------------------------------
#
# Sums of weights over blocks of the vocabulary, and words drawn from them: integers throughout.
#
# A draw has a uniform integer below the whole sum of its word's weights. The sums of blocks say in which block it
# falls, and the
# weights of that block alone say at which word. The result depends on the integers only: not on blocks, threads or the order of
# work.


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


# True epsilon -------------------------------------------------------------------------------------------------------------
#
# The true epsilon of the exponential choice of words, :math:`\beta + \mathrm{slope}(\ln Z)`, and the beta for a target.
#
# Two passes over all pairs of words: one adds up the weights of every word, one finds the steepest pair. Both look at
# several betas
# at once, since the matrix product is the dearer part. Nothing in between is rounded towards less privacy: the chosen
# beta is one
# whose own epsilon, with its own rounding, was computed and is within the target.


Progress = Callable[[int, int | None], None]
_TOLD: ContextVar[Progress | None] = ContextVar("told", default=None)
AT_ONCE = 5
"""Maximum number of betas evaluated in one pass."""
PASSES = 3
"""Number of passes after which beta is within (1/2) / 6^3 of the target: a quarter of a percent."""


@contextmanager
def telling(progress: Progress | None) -> Iterator[None]:
    """Report progress of passes over all pairs of words: pairs of blocks done, and their total."""
    token = _TOLD.set(progress)
    try:
        yield
    finally:
        _TOLD.reset(token)


def slopes_of(embedding: Embedding, several: Sequence[Weights], passed: int = 0, passes: int = 1) -> list[Slope]:
    """The slope of the log-sums of each of several tables of weights; ``passed`` of ``passes`` passes were made before."""
    tiles, tell = Tiles(embedding), _TOLD.get()
    each = tiles.count * (tiles.count + 1)  # of both steps
    so_far = passed * each

    def done(more: int) -> None:
        nonlocal so_far
        so_far += more
        if tell is not None:
            tell(so_far, passes * each)

    logs = np.log(all_sums(tiles, several, done=done)[:, :, 0].astype(np.float64))
    return slopes(tiles, logs, [weights.eta for weights in several], done)


def seconds_for(embedding: Embedding) -> float:
    """About how long one table of weights takes on this machine, if it is quiet."""
    return embedding.size**2 / 2 * (10 + embedding.dimension / 20) * 1e-9 / cores()


def true_epsilons(embedding: Embedding, betas: Sequence[Fraction]) -> list[Fraction]:
    """The epsilon of the choice of words for each beta; rounded up."""
    found = slopes_of(embedding, [Weights.of(embedding, beta) for beta in betas])
    return [beta + slope.value for beta, slope in zip(betas, found, strict=True)]


def calibrated(embedding: Embedding, epsilon: Fraction) -> tuple[Weights, Fraction]:
    """Weights whose true epsilon is at most ``epsilon``, nearly the largest, and their slope; kept for the next time."""
    known = _known(embedding, epsilon)
    if known is not None:
        return Weights.of(embedding, known[0]), known[1]
    low, high = free(embedding, epsilon).beta, epsilon
    best: tuple[Weights, Fraction] | None = None
    for number in range(PASSES):
        betas = [_short(low + (high - low) * part / (AT_ONCE + 1)) for part in range(best is not None, AT_ONCE + 1)]
        several = [Weights.of(embedding, beta) for beta in betas]
        for weights, slope in zip(several, slopes_of(embedding, several, number, PASSES), strict=True):
            if weights.beta + slope.value > epsilon:
                high = weights.beta
                break
            low, best = weights.beta, (weights, slope.value)
        if low >= high:
            break
    assert best is not None  # the first beta of all is one that fits whatever the vectors are
    keep({"beta": str(best[0].beta), "slope": str(best[1])}, embedding, "epsilon", epsilon)
    return best


def free(embedding: Embedding, epsilon: Fraction, reach: Fraction | None = None) -> Weights:
    """Weights whose epsilon is within the given one whatever the vectors are: nearly half of it for each unit, up to a reach."""
    beta = epsilon / 2
    for _ in range(4):
        weights = Weights.of(embedding, _short(beta), None if reach is None else _short(beta) * reach)
        if weights.bound <= epsilon:
            return weights
        beta = weights.beta - (weights.bound - epsilon) / 2  # the bound falls by more than twice of that
        if beta <= 0:
            break
    raise ParameterError("epsilon is too small for the steps that this embedding is stored in; choose a larger one.")


def _known(embedding: Embedding, epsilon: Fraction) -> tuple[Fraction, Fraction] | None:
    """The beta and the slope that were kept, if they can belong to this epsilon: a damaged file is computed again."""
    found = kept(embedding, "epsilon", epsilon) or {}
    try:
        beta, slope = Fraction(found["beta"]), Fraction(found["slope"])
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return None
    return (beta, slope) if beta > 0 and slope >= 0 and beta + slope <= epsilon else None


def _short(beta: Fraction) -> Fraction:
    return Fraction(math.floor(beta * (1 << 30)), 1 << 30)
