r"""The polytope of locally private channels: who is in it, who is a corner of it, and which corner is best.

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

from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.core.channels.channel import Channel
from noisewright.core.choices import as_tolerance
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, in_words
from noisewright.core.verdict import EXACT, Verdict
from noisewright.mechanisms.label_columns import counted_labels
from noisewright.optimality.algebra.elimination import Rows
from noisewright.optimality.extreme.conditions import Condition, NormalForm, necessary, normal_form
from noisewright.optimality.extreme.constraints import Constraints, local_constraints
from noisewright.optimality.extreme.criterion import is_extreme, is_private, tight_rank
from noisewright.optimality.extreme.enumeration import CornerCounts, count_extreme_points, extreme_points
from noisewright.optimality.extreme.factor import Factor
from noisewright.optimality.extreme.optimum import ExtremeOptimum, best_channel
from noisewright.optimality.extreme.point import ExtremePoint, construct, exact_matrix

__all__ = ["LocalPolytope"]

TOLERANCE = 1e-9
"""Entries of floats that are that close, relatively, count as equal when tight entries are distinguished from loose
ones.
"""


class LocalPolytope:
    """The channels from ``inputs`` to ``outputs`` that are locally private with ``epsilon`` (and ``delta``).

    ``inputs`` and ``outputs`` are labels, or numbers of them; without ``outputs`` they are the inputs. ``factor``
    gives ``e^epsilon`` itself as a rational number: then channels of fractions are decided exactly. With ``epsilon``
    the factor is transcendental, and exact extreme points are
    :class:`~noisewright.optimality.extreme.point.ExtremePoint` objects; channels of floats are decided within
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

        The evidence of a yes is the :class:`~noisewright.optimality.extreme.point.ExtremePoint` (for ``delta = 0``).
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
        """The inequalities as sparse matrices; see :mod:`~noisewright.optimality.extreme.constraints` for the forms."""
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
