r"""Extreme channels of local privacy in closed form: weights, and a pattern of zeros and ones.

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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction
from noisewright.optimality.algebra.echelon import Echelon, solve
from noisewright.optimality.algebra.elimination import Rows
from noisewright.optimality.extreme.factor import Factor

__all__ = ["ExtremePoint", "NoPointError", "construct", "exact_matrix"]


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
