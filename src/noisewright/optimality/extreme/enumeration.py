r"""All extreme points of the local-privacy polytope: one after the other, or counted.

The weights come first. They solve ``M v = 1`` for a nonsingular 0/1 matrix ``M``, so by Cramer's rule ``v_j = a_j / N``
with ``1 <= a_j <= N`` and ``N`` no larger than the largest determinant of a 0/1 matrix of that size (1, 1, 2, 3, 5, 9
for sizes 1 to 6). Therefore a short search over sorted integers finds all of them, and permuting a weight vector gives
the rest. For each, ``T`` are the sets of outputs of weight 1 and ``L`` the sets that become so by a fraction of one
more output; the extreme points are the sequences over ``T`` and ``L`` whose members of ``T`` have full rank. They are
walked with a machine whose states are the subspaces spanned so far, and counted by a recursion over those states.

Nothing depends on epsilon, as long as it is positive.

>>> [count_extreme_points(m).total for m in (2, 3, 4, 5)]
[4, 33, 904, 164825]
>>> count_extreme_points(5).loose
14400
>>> sum(1 for _ in extreme_points(4))
904
>>> next(extreme_points(3, columns=3)).ones  # one bit for each output: randomised response
(1, 2, 4)
"""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, permutations

from noisewright.core.errors import ParameterError
from noisewright.optimality.algebra.echelon import Echelon, rank
from noisewright.optimality.extreme.point import ExtremePoint

__all__ = ["CornerCounts", "count_extreme_points", "extreme_points", "weight_vectors"]

LARGEST_DETERMINANT = {1: 1, 2: 1, 3: 2, 4: 3, 5: 5, 6: 9}
"""Largest determinants of 0/1 matrices, by size (Hadamard's maximal determinant problem)."""

MOST_COLUMNS = max(LARGEST_DETERMINANT)


@dataclass(frozen=True)
class CornerCounts:
    """Numbers of extreme points: ``tight[c]`` and ``with_loose[c]`` for ``c`` outputs in use.

    With one output in use all its entries are loose in the sense of the definition; those points are counted as tight
    here.
    """

    inputs: int
    outputs: int
    tight: dict[int, int]
    with_loose: dict[int, int]

    @property
    def by_columns(self) -> dict[int, int]:
        """The number of extreme points for each number of outputs in use."""
        return {c: self.tight[c] + self.with_loose[c] for c in self.tight}

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.by_columns.values())

    @property
    def loose(self) -> int:
        """Those with a loose entry in a row of two or more outputs in use."""
        return sum(self.with_loose.values())


def count_extreme_points(inputs: int, outputs: int | None = None) -> CornerCounts:
    """Count the extreme points for ``inputs`` secrets and ``outputs`` outputs (as many, if left out), for any epsilon > 0."""
    m, k = _sizes(inputs, outputs)
    tight, with_loose = {}, {}
    for c in range(1, min(m, k) + 1):
        every = exact = 0
        for weights, copies in _classes(c):
            machine = _machine(weights)
            spanning = machine.spanning(m)
            exact += copies * spanning[m]
            every += copies * sum(
                math.comb(m, r) * spanning[r] * len(machine.loose) ** (m - r) for r in range(c, m + 1)
            )
        tight[c] = math.comb(k, c) * exact
        with_loose[c] = math.comb(k, c) * (every - exact)
    return CornerCounts(m, k, tight, with_loose)


def extreme_points(inputs: int, outputs: int | None = None, *, columns: int | None = None) -> Iterator[ExtremePoint]:
    """Every extreme point for ``inputs`` secrets and ``outputs`` outputs (as many, if left out), each once.

    ``columns`` restricts to those with this number of outputs in use. There are 164,825 for 5 and about 1.6e8 for 6
    secrets, so the answer is an iterator.
    """
    m, k = _sizes(inputs, outputs)
    most = min(m, k)
    if columns is not None and (
        isinstance(columns, bool) or not isinstance(columns, numbers.Integral) or not 1 <= columns <= most
    ):
        raise ParameterError(f"columns must be a whole number from 1 to {most}, the most outputs that can be in use.")
    return _points(m, k, range(1, most + 1) if columns is None else [int(columns)])


def _points(m: int, k: int, sizes: range | list[int]) -> Iterator[ExtremePoint]:
    for c in sizes:
        supports = list(combinations(range(k), c))
        for weights in weight_vectors(c):
            for ones, free in _machine(weights).sequences(m):
                for support in supports:
                    yield ExtremePoint(k, support, weights, ones, free)


def weight_vectors(columns: int) -> list[tuple[Fraction, ...]]:
    """Return all weight vectors of extreme points with this number of outputs in use.

    >>> weight_vectors(3)
    [(Fraction(1, 1), Fraction(1, 1), Fraction(1, 1)), (Fraction(1, 2), Fraction(1, 2), Fraction(1, 2))]
    >>> [len(weight_vectors(c)) for c in (1, 2, 3, 4, 5, 6)]
    [1, 1, 2, 11, 169, 7334]
    """
    if columns not in LARGEST_DETERMINANT:
        raise ParameterError(f"weights are known for 1 to {MOST_COLUMNS} outputs in use, not for {columns!r:.20}.")
    return [v for weights, _ in _classes(columns) for v in sorted(set(permutations(weights)))]


@cache
def _classes(c: int) -> list[tuple[tuple[Fraction, ...], int]]:
    """Sorted weight vectors for ``c`` outputs, each with the number of its permutations."""
    found = []
    for below in range(1, LARGEST_DETERMINANT[c] + 1):
        for parts in combinations_with_replacement(range(1, below + 1), c):
            if math.gcd(below, *parts) > 1:
                continue
            sets = [s for s in range(1, 1 << c) if sum(a for j, a in enumerate(parts) if s >> j & 1) == below]
            if len(sets) >= c and rank([[s >> j & 1 for j in range(c)] for s in sets]) == c:
                copies = math.factorial(c) // math.prod(math.factorial(n) for n in Counter(parts).values())
                found.append((tuple(Fraction(a, below) for a in parts), copies))
    return found


@lru_cache(maxsize=256)
def _machine(weights: tuple[Fraction, ...]) -> _Machine:
    return _Machine(weights)


class _Machine:
    """Rows that a weight vector allows, and the subspaces that its tight rows span.

    A state is the set of all tight rows inside a subspace, as bits; ``step`` gives the state after one more row.
    """

    def __init__(self, weights: tuple[Fraction, ...]) -> None:
        c = len(weights)
        self.columns = c
        sums = [sum((v for j, v in enumerate(weights) if s >> j & 1), Fraction(0)) for s in range(1 << c)]
        self.tight = [s for s in range(1 << c) if sums[s] == 1]
        self.loose = [
            (s, j) for s in range(1 << c) for j in range(c) if not s >> j & 1 and sums[s] < 1 < sums[s] + weights[j]
        ]
        self._vectors = [[s >> j & 1 for j in range(c)] for s in self.tight]
        self._steps: dict[int, list[int]] = {}
        self._ranks = {0: 0}

    def steps(self, state: int) -> list[int]:
        """The states after one more tight row, for each of them."""
        if state not in self._steps:
            inside = Echelon(self.columns)
            for t, vector in enumerate(self._vectors):
                if state >> t & 1:
                    inside.add(vector)
            after = []
            for t, vector in enumerate(self._vectors):
                if state >> t & 1:
                    after.append(state)
                    continue
                known = next((s for s in after if s >> t & 1 and s != state), None)
                after.append(self._closure(inside, vector) if known is None else known)
            self._steps[state] = after
        return self._steps[state]

    def _closure(self, inside: Echelon, vector: list[int]) -> int:
        larger = Echelon(self.columns)
        larger.rows = dict(inside.rows)
        larger.add(vector)
        state = sum(1 << t for t, other in enumerate(self._vectors) if not any(larger.reduce(other)))
        self._ranks[state] = len(larger)
        return state

    def spanning(self, length: int) -> list[int]:
        """Return for each length up to this one the number of sequences of tight rows with full rank."""
        counts = {0: 1}
        found = []
        for _ in range(length + 1):
            found.append(sum(n for state, n in counts.items() if self._ranks[state] == self.columns))
            after: Counter[int] = Counter()
            for state, n in counts.items():
                for following in self.steps(state):
                    after[following] += n
            counts = dict(after)
        return found

    def sequences(self, length: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Every sequence of rows of that length whose tight rows have full rank: their ones, and their loose places."""
        rows = [(s, -1) for s in self.tight] + self.loose
        ones, free = [0] * length, [-1] * length

        def extend(place: int, state: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
            if place == length:
                yield tuple(ones), tuple(free)
                return
            room = length - place - 1
            for (bits, j), following in zip(rows, [*self.steps(state), *[state] * len(self.loose)], strict=True):
                if self.columns - self._ranks[following] <= room:
                    ones[place], free[place] = bits, j
                    yield from extend(place + 1, following)

        return extend(0, 0)


def _sizes(inputs: int, outputs: int | None) -> tuple[int, int]:
    m, k = inputs, inputs if outputs is None else outputs
    for name, size in (("inputs", m), ("outputs", k)):
        if isinstance(size, bool) or not isinstance(size, numbers.Integral) or size < 1:
            raise ParameterError(f"{name} must be a whole number that is 1 or more, not {size!r:.20}.")
    if min(m, k) > MOST_COLUMNS:
        raise ParameterError(
            f"extreme points are listed and counted for up to {MOST_COLUMNS} secrets or up to {MOST_COLUMNS} outputs, "
            f"not for {m} and {k}; restrict one of them."
        )
    return int(m), int(k)
