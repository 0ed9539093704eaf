r"""The factor ``q = e^epsilon`` in exact arithmetic: a rational number, or the exponential of one.

Extreme points are built from numbers that do not depend on ``q``; ``q`` enters at the end, in comparisons between
polynomials in it. Where ``epsilon`` is a rational number other than 0 its exponential is transcendental (Lindemann), so
a polynomial with rational coefficients is 0 there only if it is 0 everywhere, and its sign is found by bounds that get
tighter until they settle. Therefore every comparison is decided, and none by a tolerance.

>>> Factor.of(epsilon=1).sign([-2718281828459045235360287471352, 10**30])
1
>>> Factor.of(factor=2).sign([-4, 0, 1])
0
>>> Factor.of(factor="3/2")
Factor(epsilon=None, exact=Fraction(3, 2))

Three forms of one polytope. ``ratio``: ``e^-epsilon A[i,j] <= A[k,j]``, ``m (m-1) k`` rows. ``lifted``: with a number
``w_j`` for each output, ``w_j <= A[i,j]`` and ``e^-epsilon A[i,j] <= w_j``, only ``2 m k`` rows. ``slack``, for
``delta > 0``: with a number ``s`` for each ordered pair and output, ``e^-epsilon (A[i,j] - s) <= A[k,j]`` and ``sum_j
s <= delta``. No coefficient is above 1 in size, whatever epsilon.

>>> local_constraints(4, 4, 0.5, form="ratio").upper.shape, local_constraints(4, 4, 0.5).upper.shape
((48, 16), (32, 20))

Take ``c`` outputs with weights ``v > 0`` and give each of ``m`` secrets a vector ``Y_i`` of zeros and ones, perhaps
with one *loose* entry strictly between, such that ``Y_i . v = 1`` for all of them and the vectors without a loose
entry have rank ``c`` (so that they determine the weights). With ``q = e^epsilon`` and ``V = v_1 + ... + v_c``

.. math:: A = \frac{1}{V + q - 1} \bigl(1 1^T + (q - 1) Y\bigr) \operatorname{diag}(v)

is an extreme point of the local-privacy polytope, and every one is made so. Nothing in ``v`` and ``Y`` depends on
``q``: the extreme points are the same for every ``epsilon > 0``.

>>> point = construct([[1, 0, 0], [0, 1, 0], [0, 0, 1]])  # randomised response
>>> point.matrix(2)[0]
(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
>>> construct([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]]).weights  # two of three
(Fraction(1, 2), Fraction(1, 2), Fraction(1, 2))
>>> loose = construct([[0, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, None, 1]])
>>> loose.pattern[4], loose.loose
((Fraction(0, 1), Fraction(0, 1), Fraction(1, 2), Fraction(1, 1)), ((4, 2),))

Reference: Holohan, Leith and Mason, *Extreme points of the local differential privacy polytope* (2017).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from noisewright._utils.validation import one_of
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import LARGEST_EPSILON
from noisewright.claims.figures import exp_bounds, float_down
from noisewright.exceptions import ParameterError
from noisewright.numerics.exact import Exact, as_fraction, in_words, log_bounds, positive_fraction
from noisewright.numerics.linear_algebra import Echelon, Rows, solve

__all__ = ["Constraints", "ExtremePoint", "Factor", "NoPointError", "construct", "exact_matrix", "local_constraints"]


@dataclass(frozen=True)
class Factor:
    """The largest ratio that two secrets may have at one output: ``exact``, or ``e^epsilon``."""

    epsilon: Fraction | None
    exact: Fraction | None

    @classmethod
    def of(cls, *, epsilon: Exact | None = None, factor: Exact | None = None) -> Factor:
        """Build it from an epsilon, or from the factor ``e^epsilon`` itself as a rational number."""
        if (epsilon is None) == (factor is None):
            raise ParameterError("give either epsilon or factor (which is e^epsilon), not both and not neither.")
        if factor is not None:
            exact = positive_fraction(factor, "factor")
            if exact < 1:
                raise ParameterError(f"factor is e^epsilon, so it must be 1 or more, not {in_words(exact)}.")
            return cls(None, exact)
        budget = as_fraction(epsilon, "epsilon")
        if budget < 0:
            raise ParameterError(f"epsilon must be 0 or more, not {in_words(budget)}.")
        if budget > LARGEST_EPSILON:
            raise ParameterError(f"epsilon must be at most {LARGEST_EPSILON}; a larger one hides nothing.")
        return cls(budget, Fraction(1) if budget == 0 else None)

    @property
    def is_one(self) -> bool:
        """Return whether nothing may be revealed at all (``epsilon = 0``)."""
        return self.exact == 1

    def bounds(self, bits: int) -> tuple[Fraction, Fraction]:
        """Rational numbers below and above the factor, about ``2**-bits`` of it apart."""
        if self.exact is not None:
            return self.exact, self.exact
        assert self.epsilon is not None
        low, high = exp_bounds(self.epsilon, bits)
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    def sign(self, polynomial: Sequence[int | Fraction]) -> int:
        """The sign of ``p[0] + p[1] q + p[2] q^2 + ...``, exactly."""
        if not any(polynomial):
            return 0
        bits = 64
        while True:
            low, high = self.bounds(bits)
            below = sum((c * (low if c > 0 else high) ** k for k, c in enumerate(polynomial)), Fraction(0))
            if below > 0 or (low == high and below == 0):
                return 1 if below > 0 else 0
            above = sum((c * (high if c > 0 else low) ** k for k, c in enumerate(polynomial)), Fraction(0))
            if above < 0:
                return -1
            bits *= 2

    def ratio(self, above: Sequence[Fraction], below: Sequence[Fraction]) -> Fraction:
        """The value of a quotient of two polynomials, exact for a rational factor and to 100 bits or so otherwise."""
        q = self.near
        return _evaluate(above, q) / _evaluate(below, q)

    @property
    def near(self) -> Fraction:
        """The factor itself where it is rational, otherwise a number just below it (by about one part in 2^160)."""
        return self.bounds(160)[0]

    @property
    def budget(self) -> Fraction:
        """The epsilon: exact where it was given, otherwise the float just below the logarithm of the factor."""
        if self.epsilon is not None:
            return self.epsilon
        assert self.exact is not None
        return Fraction(max(0.0, float_down(Fraction(log_bounds(self.exact, 128)[0], 1 << 128))))

    def __float__(self) -> float:
        try:
            return float(self.near)
        except OverflowError:
            return math.inf

    def __str__(self) -> str:
        return f"factor = {self.exact}" if self.epsilon is None else f"epsilon = {in_words(self.epsilon)}"


def _evaluate(polynomial: Sequence[Fraction], q: Fraction) -> Fraction:
    return sum((c * q**k for k, c in enumerate(polynomial)), Fraction(0))


# Constraints --------------------------------------------------------------------------------------------------------------
#
# The inequalities of local privacy as sparse matrices, for a linear program of one's own.


LARGEST = 20_000_000


@dataclass(frozen=True, eq=False)
class Constraints:
    """``upper x <= limits``, ``equal x = totals`` and ``x >= 0``; the first ``entries`` variables are the channel, row by row."""

    entries: int
    upper: Any
    limits: NDArray[np.float64]
    equal: Any
    totals: NDArray[np.float64]


def local_constraints(
    inputs: int, outputs: int, epsilon: float, delta: float = 0.0, form: str = "lifted"
) -> Constraints:
    """The constraints in one of the forms at the head of this module; only ``slack`` takes a delta greater than 0."""
    one_of(form, "form", ("lifted", "ratio", "slack"))
    if delta and form != "slack":
        raise ParameterError(f"form {form!r} is for delta = 0; with a delta above 0 take form='slack'.")
    m, k, t = inputs, outputs, math.exp(-epsilon)
    entries = m * k
    if m * entries > LARGEST:
        raise ParameterError(f"{m} secrets and {k} outputs give too many inequalities; take fewer of either.")
    cell = np.arange(entries).reshape(m, k)
    pairs = np.array(list(permutations(range(m), 2)), dtype=int).reshape(-1, 2)
    if form == "lifted":
        column = entries + np.broadcast_to(np.arange(k), (m, k)).ravel()
        low = [(column, 1.0), (cell.ravel(), -1.0)]
        high = [(cell.ravel(), t), (column, -1.0)]
        width, blocks = entries + k, [low, high]
    else:
        here, there = cell[pairs[:, 0]].ravel(), cell[pairs[:, 1]].ravel()
        width, blocks = entries, [[(here, t), (there, -1.0)]]
        if form == "slack":
            spare = entries + np.arange(len(here))
            width, blocks = entries + len(here), [[(here, t), (there, -1.0), (spare, -t)]]
    upper = _stack(blocks, width)
    limits = np.zeros(upper.shape[0])
    if form == "slack":
        sums = csr_array((np.ones(len(here)), (np.repeat(np.arange(len(pairs)), k), spare)), shape=(len(pairs), width))
        upper = vstack([upper, sums], format="csr")
        limits = np.concatenate([limits, np.full(len(pairs), delta)])
    equal = csr_array((np.ones(entries), (np.repeat(np.arange(m), k), np.arange(entries))), shape=(m, width))
    return Constraints(entries, upper, limits, equal, np.ones(m))


def _stack(blocks: list[list[tuple[NDArray[np.intp], float]]], width: int) -> Any:
    values, rows, columns, start = [], [], [], 0
    for block in blocks:
        count = len(block[0][0])
        for places, value in block:
            values.append(np.full(count, value))
            rows.append(start + np.arange(count))
            columns.append(places)
        start += count
    return csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(start, width))


# Point --------------------------------------------------------------------------------------------------------------------
#
# Extreme channels of local privacy in closed form: weights, and a pattern of zeros and ones.


@dataclass(frozen=True, slots=True)
class ExtremePoint:
    """An extreme channel for every ``epsilon > 0``: weights of the outputs in use, and a pattern for each secret.

    ``ones[i]`` holds the ones of secret ``i`` as bits, bit ``j`` for the ``j``-th output of ``support``; ``free[i]``
    is the place of its loose entry, or -1. Build one with :func:`construct`, which checks it.
    """

    outputs: int
    support: tuple[int, ...]
    weights: tuple[Fraction, ...]
    ones: tuple[int, ...]
    free: tuple[int, ...]

    @property
    def inputs(self) -> int:
        """The number of secrets."""
        return len(self.ones)

    @property
    def loose(self) -> tuple[tuple[int, int], ...]:
        """Secret and output of every loose entry; with one output in use every entry of it is loose."""
        if len(self.support) == 1:
            return tuple((i, self.support[0]) for i in range(self.inputs))
        return tuple((i, self.support[j]) for i, j in enumerate(self.free) if j >= 0)

    @property
    def pattern(self) -> Rows:
        """``Y``: one row for each secret, one column for each output in use."""
        return tuple(tuple(self._entries(i)) for i in range(self.inputs))

    def matrix(self, factor: Exact) -> Rows:
        """The channel for a rational ``factor`` (which is ``e^epsilon``), in exact fractions."""
        q = as_fraction(factor, "factor")
        below = sum(self.weights) + q - 1
        rows = [[Fraction(0)] * self.outputs for _ in range(self.inputs)]
        for i, row in enumerate(rows):
            for j, v, y in zip(self.support, self.weights, self._entries(i), strict=True):
                row[j] = v * (1 + (q - 1) * y) / below
        return tuple(tuple(row) for row in rows)

    def channel(
        self,
        *,
        epsilon: Exact | None = None,
        factor: Exact | None = None,
        inputs: Iterable[Any] | None = None,
        outputs: Iterable[Any] | None = None,
    ) -> Channel:
        """The channel in floats, each entry the nearest float to the true number."""
        exact = self.matrix(Factor.of(epsilon=epsilon, factor=factor).near)
        return Channel(np.array([[float(v) for v in row] for row in exact]), inputs, outputs)

    def value(self, cost: Sequence[Sequence[Fraction]]) -> tuple[list[Fraction], list[Fraction]]:
        """The expected cost ``sum_ij cost[i][j] A[i][j]`` as a quotient of two polynomials of degree 1 in ``q``."""
        plain = extra = Fraction(0)
        for i in range(self.inputs):
            for j, v, y in zip(self.support, self.weights, self._entries(i), strict=True):
                plain += cost[i][j] * v
                if y:
                    extra += cost[i][j] * v * y
        total = sum(self.weights, Fraction(0))
        return [plain - extra, extra], [total - 1, Fraction(1)]

    def _entries(self, i: int) -> Iterator[Fraction]:
        ones, free = self.ones[i], self.free[i]
        for j, v in enumerate(self.weights):
            if j == free:
                taken = sum((w for k, w in enumerate(self.weights) if ones >> k & 1), Fraction(0))
                yield (1 - taken) / v
            else:
                yield Fraction(ones >> j & 1)


class NoPointError(ParameterError):
    """A pattern that no extreme point has."""


def construct(
    pattern: Sequence[Sequence[Any]], *, outputs: int | None = None, support: Sequence[int] | None = None
) -> ExtremePoint:
    """The extreme point of a pattern: one row for each secret, one column for each output in use.

    Entries are 0, 1, or ``None`` for a loose entry, whose value follows from the others (it may be given, and is then
    checked). ``outputs`` is the number of outputs in all (those in use, if left out) and ``support`` says which of
    them are in use.
    """
    rows = _rows(pattern)
    width = len(rows[0])
    count, chosen = _support(width, outputs, support)
    if width > len(rows):
        raise NoPointError(
            f"an extreme point uses at most as many outputs as there are secrets, {len(rows)}, not {width}."
        )
    ones, free = [], []
    for row in rows:
        between = [j for j, y in enumerate(row) if y is None or 0 < y < 1]
        if len(between) > 1:
            raise NoPointError("a row of the pattern may have one loose entry at most, not more.")
        ones.append(sum(1 << j for j, y in enumerate(row) if y == 1))
        free.append(between[0] if between else -1)
    weights = weights_of(ones, free, width)
    point = ExtremePoint(count, chosen, weights, tuple(ones), tuple(free))
    for row, worked_out in zip(rows, point.pattern, strict=True):
        if sum(y * v for y, v in zip(worked_out, weights, strict=True)) != 1:
            raise NoPointError(
                "the ones of some row do not weigh 1 under the weights that the other rows determine; change that row."
            )
        for given, found in zip(row, worked_out, strict=True):
            if given is None and not 0 < found < 1:
                raise NoPointError(
                    "a loose entry would have to be 0 or less, or 1 or more; put 0, 1 or other ones there."
                )
            if given is not None and given != found:
                raise NoPointError(
                    f"a loose entry must be {found} under the weights that the other rows determine; None has it filled in."
                )
    return point


def weights_of(ones: Sequence[int], free: Sequence[int], width: int) -> tuple[Fraction, ...]:
    """The weights that rows without a loose entry determine; refused where they do not, or where one is not greater
    than 0.
    """
    tight = dict.fromkeys(bits for bits, j in zip(ones, free, strict=True) if j < 0)  # each row once
    echelon = Echelon(width)
    basis = [bits for bits in tight if echelon.add([bits >> j & 1 for j in range(width)])]
    if len(basis) < width:
        raise NoPointError(
            f"the rows without a loose entry have rank {len(basis)}, which does not determine {width} weights."
        )
    weights = solve([[bits >> j & 1 for j in range(width)] for bits in basis], [1] * width)
    assert weights is not None
    if min(weights) <= 0:
        raise NoPointError("this pattern would need a weight of 0 or less; leave that output out, or change the rows.")
    return tuple(weights)


def exact_matrix(matrix: Any, what: str = "a channel") -> Rows:
    """Rows of exact numbers; a float counts as the binary fraction that it is."""
    try:
        rows = [list(row) for row in matrix]
    except TypeError:
        raise ParameterError(
            f"{what} must be a matrix of numbers, a list of rows, not {type(matrix).__name__}."
        ) from None
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        raise ParameterError(f"{what} must have rows of one length, and at least one row and one column.")
    return tuple(tuple(as_fraction(v, f"an entry of {what}") for v in row) for row in rows)


def _rows(pattern: Sequence[Sequence[Any]]) -> list[list[Fraction | None]]:
    try:
        rows = [[None if y is None else as_fraction(y, "an entry of the pattern") for y in row] for row in pattern]
    except TypeError:
        raise ParameterError(f"a pattern is a list of rows of 0, 1 and None, not {type(pattern).__name__}.") from None
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        raise ParameterError("a pattern must have rows of one length, and at least one row and one column.")
    if any(y is not None and not 0 <= y <= 1 for row in rows for y in row):
        raise ParameterError("entries of a pattern are 0, 1, or None for a loose one; nothing below 0 or above 1.")
    return rows


def _support(width: int, outputs: int | None, support: Sequence[int] | None) -> tuple[int, tuple[int, ...]]:
    count = width if outputs is None else outputs
    chosen = tuple(range(width)) if support is None else tuple(support)
    if outputs is None and support is not None:
        count = max(chosen, default=0) + 1
    whole = all(isinstance(j, int) and not isinstance(j, bool) for j in (count, *chosen))
    if not whole or list(chosen) != sorted({j for j in chosen if 0 <= j < count}) or len(chosen) != width:
        raise ParameterError(
            f"support must name the {width} outputs of the pattern in increasing order, from 0 to below the number of outputs."
        )
    return count, chosen
