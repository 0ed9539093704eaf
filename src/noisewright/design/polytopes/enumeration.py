"""All extreme points of the local-privacy polytope: one after the other, or counted.

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

A channel from ``m`` secrets to ``k`` outputs is locally private with ``q = e^epsilon`` if ``A[i,j] <= q A[k,j]`` for
all secrets ``i, k`` and outputs ``j`` (and, with a ``delta``, if ``A[i,S] <= q A[k,S] + delta`` for every set ``S``
of outputs). These channels form a polytope. Whatever is linear in the channel, such as the expected loss under a
prior, is best at one of its extreme points.

Let ``w_j`` be the smallest entry of a column. An entry is *loose* if it is neither ``q w_j`` nor ``1/q`` of the
largest one of its column. For ``epsilon > 0``, ``delta = 0`` and two or more outputs in use, a private channel is
extreme exactly if

1. in every column in use the largest entry is ``q`` times the smallest;
2. no row has more than one loose entry;
3. the rows without a loose entry, divided by ``w``, have a rank equal to the number of outputs in use.

With one output in use it is always extreme. :meth:`LocalPolytope.extreme` decides this exactly for exact numbers and
states why; a channel that is not extreme comes with two private channels that it is the middle of.

>>> survey = LocalPolytope(3, factor=2)
>>> str(survey.extreme([["4/7", "1/7", "2/7"], ["3/7", "2/7", "2/7"], ["2/7", "1/7", "4/7"]]))
'fails (witness): the rows without a loose entry have rank 2, but 3 outputs are in use.'
>>> str(survey.extreme(survey.construct([[1, 0, 0], [0, 1, 0], [0, 0, 1]])))
'holds (exact): 3 outputs in use, no loose entries, full rank.'
>>> best = survey.best([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
>>> str(best.value), best.status
('2', 'holds (exact)')

Reference: Holohan, Leith and Mason, *Extreme points of the local differential privacy polytope* (2017).
"""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, permutations
from typing import Any

import numpy as np

from noisewright._utils.validation import as_tolerance
from noisewright.channels.channel import Channel
from noisewright.columns.label_encoder import counted_labels
from noisewright.design.polytopes.criterion import (
    Condition,
    NormalForm,
    is_extreme,
    is_private,
    necessary,
    normal_form,
    tight_rank,
)
from noisewright.design.polytopes.extreme_point import (
    Constraints,
    ExtremePoint,
    Factor,
    construct,
    exact_matrix,
    local_constraints,
)
from noisewright.design.polytopes.optimum import ExtremeOptimum, best_channel
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, Verdict
from noisewright.numerics.exact import Exact, as_fraction, in_words
from noisewright.numerics.linear_algebra import Echelon, Rows, rank

__all__ = ["CornerCounts", "LocalPolytope", "count_extreme_points", "extreme_points", "weight_vectors"]


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


# Polytope -----------------------------------------------------------------------------------------------------------------
#
# The polytope of locally private channels: who is in it, who is a corner of it, and which corner is best.


TOLERANCE = 1e-9
"""Entries of floats that are that close, relatively, count as equal when tight entries are distinguished from loose
ones.
"""


class LocalPolytope:
    """The channels from ``inputs`` to ``outputs`` that are locally private with ``epsilon`` (and ``delta``).

    ``inputs`` and ``outputs`` are labels, or numbers of them; without ``outputs`` they are the inputs. ``factor``
    gives ``e^epsilon`` itself as a rational number: then channels of fractions are decided exactly. With ``epsilon``
    the factor is transcendental, and exact extreme points are
    :class:`~noisewright.design.polytopes.extreme_point.ExtremePoint` objects; channels of floats are decided within
    ``tolerance``.
    """

    def __init__(
        self,
        inputs: Iterable[Hashable] | int,
        outputs: Iterable[Hashable] | int | None = None,
        *,
        epsilon: Exact | None = None,
        factor: Exact | None = None,
        delta: Exact = 0,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.inputs = _names(inputs, "inputs")
        self.outputs = self.inputs if outputs is None else _names(outputs, "outputs")
        self.factor = Factor.of(epsilon=epsilon, factor=factor)
        self.delta = as_fraction(delta, "delta")
        if not 0 <= self.delta <= 1:
            raise ParameterError(f"delta must be between 0 and 1, not {in_words(self.delta)}.")
        self.tolerance = as_tolerance(tolerance)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of secrets, number of outputs."""
        return len(self.inputs), len(self.outputs)

    def contains(self, channel: Channel | ExtremePoint | Sequence[Sequence[Any]]) -> Verdict:
        """Return whether a channel keeps the guarantee; the evidence is the pair of rows and the outputs that break it.

        Fractions, integers and texts such as ``"1/3"`` are exact; with a float among them, or a :class:`Channel`, the
        tolerance counts.
        """
        if isinstance(channel, ExtremePoint):
            return Verdict(EXACT, "it is an extreme point.", self._checked(channel))
        matrix, tolerance = self._read(channel)
        return is_private(matrix, self.factor, self.delta, tolerance)

    def extreme(self, channel: Channel | ExtremePoint | Sequence[Sequence[Any]]) -> Verdict:
        """Return whether a channel is an extreme point.

        The evidence of a yes is the :class:`~noisewright.design.polytopes.extreme_point.ExtremePoint` (for ``delta = 0``).
        The evidence of a no is two private channels whose average it is, or the place where it is not private.
        """
        if isinstance(channel, ExtremePoint):
            point = self._checked(channel)
            if not self.delta and not self.factor.is_one:
                return Verdict(EXACT, _in_words(point), point)
            channel = channel.matrix(self.factor.near)
        matrix, tolerance = self._read(channel)
        return is_extreme(matrix, self.factor, self.delta, tolerance)

    def construct(self, pattern: Sequence[Sequence[Any]], support: Sequence[int] | None = None) -> ExtremePoint:
        """The extreme point of a pattern of 0, 1 and None (loose): one row for each secret, one column for each output in use."""
        self._pure("a pattern makes an extreme point")
        point = construct(pattern, outputs=len(self.outputs), support=support)
        self._same_shape(point.inputs, point.outputs)
        return point

    def points(self, columns: int | None = None) -> Iterator[ExtremePoint]:
        """Every extreme point, each once; ``columns`` restricts to those with this number of outputs in use."""
        self._pure("extreme points are listed")
        return extreme_points(*self.shape, columns=columns)

    def count(self) -> CornerCounts:
        """Return the numbers of extreme points, by the number of outputs in use."""
        self._pure("extreme points are counted")
        return count_extreme_points(*self.shape)

    def best(self, cost: Any) -> ExtremeOptimum:
        """An extreme point with the smallest expected cost ``sum_ij cost[i][j] A[i,j]``, with a proof.

        ``cost[i][j]`` is the prior probability of secret ``i`` times the loss of output ``j`` when it is the truth.
        """
        values = exact_matrix(cost, "the cost")
        if (len(values), len(values[0])) != self.shape:
            raise ParameterError(
                f"the cost needs a row for each of {self.shape[0]} secrets and a column for each of {self.shape[1]} "
                f"outputs, not {len(values)} rows and {len(values[0])} columns; transpose it if it has actions as rows."
            )
        return best_channel(values, self.factor, self.delta, self.inputs, self.outputs)

    def constraints(self, form: str | None = None) -> Constraints:
        """The inequalities as sparse matrices; see :mod:`~noisewright.design.polytopes.extreme_point` for the forms."""
        chosen = form or ("slack" if self.delta else "lifted")
        return local_constraints(*self.shape, float(self.factor.budget), float(self.delta), chosen)

    def normal_form(self, channel: Channel | Sequence[Sequence[Any]]) -> NormalForm:
        """Column minima, tight and loose entries of a private channel."""
        self._pure("the normal form is defined")
        matrix, tolerance = self._read(channel)
        private = is_private(matrix, self.factor, self.delta, tolerance)
        if not private:
            raise ParameterError(f"the normal form is that of a private channel, but {private.reason}")
        return normal_form(matrix, self.factor, tolerance)

    def necessary(self, channel: Channel | Sequence[Sequence[Any]]) -> list[Condition]:
        """Return conditions that every extreme point with ``epsilon > 0`` satisfies, each with the value found; they do
        not suffice.
        """
        if self.factor.is_one:
            raise ParameterError("the conditions are about epsilon above 0; with epsilon = 0 ask extreme().")
        return necessary(self.normal_form(channel))

    def tight_rank(self, channel: Channel | Sequence[Sequence[Any]]) -> int:
        """Return the number of independent constraints that hold with equality: the number of entries exactly at an
        extreme point.
        """
        matrix, tolerance = self._read(channel)
        return tight_rank(matrix, self.factor, self.delta, tolerance)

    def _read(self, channel: Channel | Sequence[Sequence[Any]]) -> tuple[Rows, Fraction]:
        """Exact entries, and the tolerance for comparing them: none for exact numbers."""
        given = channel.matrix if isinstance(channel, Channel) else channel
        matrix = exact_matrix(given)
        self._same_shape(len(matrix), len(matrix[0]))
        floats = (
            given.dtype.kind == "f"
            if isinstance(given, np.ndarray)
            else any(isinstance(v, (float, np.floating)) for row in given for v in row)
        )
        return matrix, Fraction(self.tolerance if floats else 0)

    def _checked(self, point: ExtremePoint) -> ExtremePoint:
        self._same_shape(point.inputs, point.outputs)
        if construct(point.pattern, outputs=point.outputs, support=point.support) != point:
            raise ParameterError("these weights are not those of the pattern; build extreme points with construct().")
        return point

    def _same_shape(self, rows: int, columns: int) -> None:
        if (rows, columns) != self.shape:
            raise ParameterError(
                f"a channel of this polytope has {self.shape[0]} rows and {self.shape[1]} columns, not {rows} and {columns}."
            )

    def _pure(self, what: str) -> None:
        if self.delta:
            raise ParameterError(f"{what} for delta = 0 only; for a delta above 0 see local_vertices.")

    def __repr__(self) -> str:
        extra = f", delta = {in_words(self.delta)}" if self.delta else ""
        return f"LocalPolytope({self.shape[0]} secrets to {self.shape[1]} outputs, {self.factor}{extra})"


def _in_words(point: ExtremePoint) -> str:
    c, loose = len(point.support), sum(j >= 0 for j in point.free)
    return (
        f"{c} output{'s' if c > 1 else ''} in use, {loose or 'no'} loose entr{'y' if loose == 1 else 'ies'}, full rank."
    )


def _names(labels: Iterable[Hashable] | int, what: str) -> tuple[Hashable, ...]:
    names = counted_labels(labels, what)
    if not names or len(set(names)) < len(names):
        raise ParameterError(f"{what} must be one or more labels, all different, or a number of them.")
    return names
