"""The column normal form of a channel, its loose entries, and what every extreme point must satisfy.

``A = B diag(w)`` with ``w_j`` the smallest entry of column ``j``, so that the columns in use have entries of ``B``
from 1 to ``q = e^epsilon``. An entry is *tight* if its column has a largest entry of ``q w_j`` and it is that, or
``w_j``; otherwise it is *loose*. Entries of a column of zeros are never loose.

>>> form = normal_form([[Fraction(4, 7), Fraction(1, 7), Fraction(2, 7)], [Fraction(3, 7), Fraction(2, 7), Fraction(2, 7)],
...     [Fraction(2, 7), Fraction(1, 7), Fraction(4, 7)]], Factor.of(factor=2))
>>> form.support, form.loose
((0, 1, 2), ((1, 0),))
>>> [str(condition) for condition in necessary(form) if not condition.holds]
['loose entries: 1, at most 0 allowed']

For ``delta = 0`` the test is the complete criterion at the head of :mod:`~noisewright.design.polytopes.enumeration`. Its
reason: in a column whose largest entry is ``q`` times the smallest, the inequalities that hold with equality leave one
freedom, the scale of the column, and one more for each loose entry. The channel is extreme exactly if no combination of
those freedoms keeps all row sums. For ``delta > 0`` the test is the definition: the number of independent inequalities
that hold with equality is the number of entries.

>>> half = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 2), Fraction(1, 2)]]
>>> verdict = is_extreme(half, Factor.of(factor=3), Fraction(0), Fraction(0))
>>> verdict.status, [str(row) for row in verdict.evidence.first[0]]
('fails (witness)', ['3/4', '1/4'])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations

from noisewright.design.polytopes.extreme_point import Factor, NoPointError, construct
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN, Verdict
from noisewright.numerics.linear_algebra import Rows, kernel, rank

__all__ = [
    "Breach",
    "Condition",
    "Middle",
    "NormalForm",
    "is_extreme",
    "is_private",
    "necessary",
    "normal_form",
    "tight_rank",
]


@dataclass(frozen=True)
class Condition:
    """One condition that an extreme point satisfies: its subject, the value found, the allowed value."""

    name: str
    holds: bool
    found: int
    allowed: str

    def __str__(self) -> str:
        return f"{self.name}: {self.found}, {self.allowed} allowed"


@dataclass(frozen=True, eq=False)
class NormalForm:
    """``A = B diag(w)``; ``pattern[i][n]`` is 0 or 1 for a tight entry and None for a loose one, over the outputs in use."""

    matrix: Sequence[Sequence[Fraction]]
    factor: Factor
    support: tuple[int, ...]
    minima: tuple[Fraction, ...]
    attained: tuple[bool, ...]
    pattern: tuple[tuple[int | None, ...], ...]

    @cached_property
    def loose(self) -> tuple[tuple[int, int], ...]:
        """Row and column of every loose entry."""
        return tuple(
            (i, j) for i, row in enumerate(self.pattern) for j, y in zip(self.support, row, strict=True) if y is None
        )

    @cached_property
    def scaled(self) -> tuple[tuple[Fraction, ...], ...]:
        """``B`` over the outputs in use, for a private channel: tight entries are 1 or ``q``, without their rounding."""
        q = self.factor.near
        return tuple(
            tuple(
                row[j] / w if y is None else q if y else Fraction(1)
                for j, w, y in zip(self.support, self.minima, kinds, strict=True)
            )
            for row, kinds in zip(self.matrix, self.pattern, strict=True)
        )

    @cached_property
    def tight_rows(self) -> tuple[tuple[int, ...], ...]:
        """The patterns of the rows without a loose entry."""
        return tuple(tuple(y for y in row if y is not None) for row in self.pattern if None not in row)


def normal_form(matrix: Sequence[Sequence[Fraction]], factor: Factor, tolerance: Fraction = Fraction(0)) -> NormalForm:
    """The normal form of a private channel; ``tolerance`` is relative, and 0 for exact numbers."""
    q = factor.near
    # A ratio of rational numbers is never a transcendental factor.
    decidable = tolerance > 0 or factor.exact is not None

    def same(a: Fraction, b: Fraction) -> bool:
        return decidable and abs(a - b) <= tolerance * max(a, b)

    columns = list(zip(*matrix, strict=True))
    support = tuple(j for j, column in enumerate(columns) if max(column) > 0)
    minima = tuple(min(columns[j]) for j in support)
    attained = tuple(same(max(columns[j]), q * w) for j, w in zip(support, minima, strict=True))

    def entry(a: Fraction, w: Fraction, reached: bool) -> int | None:
        if not reached:
            return None
        return 0 if same(a, w) else 1 if same(a, q * w) else None

    pattern = tuple(
        tuple(entry(row[j], w, hit) for j, w, hit in zip(support, minima, attained, strict=True)) for row in matrix
    )
    return NormalForm(matrix, factor, support, minima, attained, pattern)


def necessary(form: NormalForm) -> list[Condition]:
    """Conditions that every extreme point for ``epsilon > 0`` satisfies; they do not suffice.

    With one output in use there is nothing to check but the rank.
    """
    m, c = len(form.matrix), len(form.support)
    found = rank(form.scaled)
    conditions = [Condition("rank", found == c, found, f"exactly {c}")]
    if c < 2:
        return conditions
    in_row = max(sum(y is None for y in row) for row in form.pattern)
    short = sum(not hit for hit in form.attained)
    flat = sum(len(set(column)) == 1 for column in zip(*form.scaled, strict=True))
    level = sum(len(set(row)) == 1 for row in form.scaled)
    return [
        *conditions,
        Condition("columns in use that are constant", flat == 0, flat, "at most 0"),
        Condition("columns in use whose largest entry is not q times the smallest", short == 0, short, "at most 0"),
        Condition("loose entries", len(form.loose) <= m - c, len(form.loose), f"at most {m - c}"),
        Condition("loose entries in one row", in_row <= 1, in_row, "at most 1"),
        Condition("rows that are the same multiple of every column's smallest entry", level == 0, level, "at most 0"),
    ]


# Criterion ----------------------------------------------------------------------------------------------------------------
#
# Is a channel private, and is it an extreme point? Exact for exact numbers, with a witness where the answer is no.


AnyRows = Sequence[Sequence[Fraction]]

ROUNDED = Fraction(1, 10**9)
"""Rows of floats may miss a sum of one by this much."""


@dataclass(frozen=True)
class Breach:
    """Violation of the guarantee by a channel: rows ``first`` and ``second``, and the outputs that are too likely under
    the first.
    """

    first: int
    second: int
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Middle:
    """Two different private channels whose average is the one that was asked about."""

    first: Rows
    second: Rows


def is_private(matrix: AnyRows, factor: Factor, delta: Fraction, tolerance: Fraction) -> Verdict:
    """Return whether a matrix is a channel with ``A[i,S] <= q A[k,S] + delta`` for all rows and all sets of outputs."""
    for i, row in enumerate(matrix):
        if min(row) < 0:
            return Verdict(FAILS, f"row {i} has a negative entry.", Breach(i, i, (row.index(min(row)),)))
        if abs(sum(row, Fraction(-1))) > (max(tolerance, ROUNDED) if tolerance else 0):
            return Verdict(FAILS, f"row {i} does not sum to 1.", Breach(i, i, tuple(range(len(row)))))
    found = _event_breach(matrix, factor, delta, tolerance) if delta else _ratio_breach(matrix, factor, tolerance)
    if found is not None:
        names = ", ".join(map(str, found.outputs))
        what = f"output {names} is" if len(found.outputs) == 1 else f"outputs {names} together are"
        return Verdict(FAILS, f"{what} too likely in row {found.first}, compared with row {found.second}.", found)
    return Verdict(WITHIN if tolerance else EXACT, "every pair of rows is within the promise.")


def _ratio_breach(matrix: AnyRows, factor: Factor, tolerance: Fraction) -> Breach | None:
    for j, column in enumerate(zip(*matrix, strict=True)):
        high, low = max(column), min(column)
        if factor.sign([high * (1 - tolerance), -low]) > 0:
            return Breach(column.index(high), column.index(low), (j,))
    return None


def _event_breach(matrix: AnyRows, factor: Factor, delta: Fraction, tolerance: Fraction) -> Breach | None:
    for i, k in permutations(range(len(matrix)), 2):
        event = [j for j, (a, b) in enumerate(zip(matrix[i], matrix[k], strict=True)) if factor.sign([a, -b]) > 0]
        here, there = (sum((matrix[x][j] for j in event), Fraction(0)) for x in (i, k))
        if factor.sign([here - delta - tolerance, -there]) > 0:
            return Breach(i, k, tuple(event))
    return None


def is_extreme(matrix: AnyRows, factor: Factor, delta: Fraction, tolerance: Fraction) -> Verdict:
    """Return whether a channel is an extreme point; see
    :meth:`noisewright.design.polytopes.enumeration.LocalPolytope.extreme`.
    """
    private = is_private(matrix, factor, delta, tolerance)
    if not private:
        return Verdict(FAILS, f"it is not in the polytope: {private.reason}", private.evidence)
    if delta > 0:
        return _by_definition(matrix, factor, delta, tolerance)
    form = normal_form(matrix, factor, tolerance)
    problem = _problem(form)
    if problem is None:
        return _corner(form, tolerance)
    return _middle(matrix, _freedom(form), factor, delta, tolerance, problem)


def _problem(form: NormalForm) -> str | None:
    """Return which part of the criterion fails, in words, or None."""
    c = len(form.support)
    if c == 1:
        return None
    if form.factor.is_one:
        return f"with epsilon = 0 an extreme point uses one output, not {c}."
    short = [j for j, hit in zip(form.support, form.attained, strict=True) if not hit]
    if short:
        return f"in column {short[0]} the largest entry is not e^epsilon times the smallest."
    for i, row in enumerate(form.pattern):
        if sum(y is None for y in row) > 1:
            return f"row {i} has more than one loose entry."
    found = rank(set(form.tight_rows)) if form.tight_rows else 0
    if found < c:
        return f"the rows without a loose entry have rank {found}, but {c} outputs are in use."
    return None


def _corner(form: NormalForm, tolerance: Fraction) -> Verdict:
    """The verdict for a channel that meets the criterion, with the extreme point that it is (or is within rounding of)."""
    c, k = len(form.support), len(form.matrix[0])
    if c == 1:
        point = construct([[1]] * len(form.matrix), outputs=k, support=form.support)
    else:
        try:
            point = construct(form.pattern, outputs=k, support=form.support)
        except NoPointError:  # within the tolerance of a pattern that no channel has
            return Verdict(UNDECIDED, "it is close to a pattern that no extreme point has; give exact numbers.")
    loose = len(form.loose) if c > 1 else 0
    words = (
        f"{c} output{'s' if c > 1 else ''} in use, {loose or 'no'} loose entr{'y' if loose == 1 else 'ies'}, full rank."
    )
    if not tolerance:
        return Verdict(EXACT, words, point)
    if _apart(form.matrix, point.matrix(form.factor.near)) > 100 * tolerance:
        return Verdict(UNDECIDED, "its pattern is that of an extreme point some way off; give exact numbers.", point)
    return Verdict(WITHIN, words, point)


def _apart(one: AnyRows, other: AnyRows) -> Fraction:
    return max(abs(a - b) for r, s in zip(one, other, strict=True) for a, b in zip(r, s, strict=True))


def _freedom(form: NormalForm) -> list[list[Fraction]] | None:
    """A direction with zero row sums that moves no tight entry off its bound."""
    m, k, q = len(form.matrix), len(form.matrix[0]), form.factor.near
    scales = [n for n, hit in enumerate(form.attained) if hit]
    units = [(i, n) for i, row in enumerate(form.pattern) for n, y in enumerate(row) if y is None]
    rows: list[list[Fraction]] = []
    for i in range(m):
        row = [_level(form.pattern[i][n], q) for n in scales]
        rows.append(row + [Fraction(i == x) for x, _ in units])
    vector = kernel(rows)
    if vector is None:
        return None
    direction = [[Fraction(0)] * k for _ in range(m)]
    for n, amount in zip(scales, vector, strict=False):
        for i in range(m):
            direction[i][form.support[n]] = amount * _level(form.pattern[i][n], q)
    for (i, n), amount in zip(units, vector[len(scales) :], strict=True):
        direction[i][form.support[n]] = amount
    return direction


def _level(y: int | None, q: Fraction) -> Fraction:
    """Return the gain of a tight entry when the scale of its column grows; nothing for a loose one."""
    return Fraction(0) if y is None else q if y else Fraction(1)


def _by_definition(matrix: AnyRows, factor: Factor, delta: Fraction, tolerance: Fraction) -> Verdict:
    rows = _tight_rows(matrix, factor, delta, tolerance)
    wanted = len(matrix) * len(matrix[0])
    found = rank(rows)
    if found == wanted:
        return Verdict(WITHIN if tolerance else EXACT, f"{wanted} independent inequalities hold with equality.")
    vector = kernel(rows, wanted)
    k = len(matrix[0])
    direction = None if vector is None else [vector[i * k : (i + 1) * k] for i in range(len(matrix))]
    problem = f"only {found} independent inequalities hold with equality, not {wanted}."
    return _middle(matrix, direction, factor, delta, tolerance, problem)


def tight_rank(matrix: AnyRows, factor: Factor, delta: Fraction, tolerance: Fraction) -> int:
    """Return the number of independent equalities and inequalities that hold with equality: the number of entries, at
    an extreme point.
    """
    return rank(_tight_rows(matrix, factor, delta, tolerance))


def _tight_rows(matrix: AnyRows, factor: Factor, delta: Fraction, tolerance: Fraction) -> list[list[Fraction]]:
    m, k, q = len(matrix), len(matrix[0]), factor.near
    rational = factor.exact is not None or tolerance > 0
    rows = [[Fraction(n // k == i) for n in range(m * k)] for i in range(m)]
    rows += [
        [Fraction(n == i * k + j) for n in range(m * k)]
        for i in range(m)
        for j in range(k)
        if matrix[i][j] <= tolerance
    ]
    for i, other in permutations(range(m), 2):
        gaps = [a - q * b for a, b in zip(matrix[i], matrix[other], strict=True)]
        above = [j for j, gap in enumerate(gaps) if gap > tolerance]
        if not rational or abs(sum((gaps[j] for j in above), Fraction(0)) - delta) > tolerance:
            continue
        level = [[j] for j, gap in enumerate(gaps) if abs(gap) <= tolerance]
        for event in [above, *level] if above else level:
            row = [Fraction(0)] * (m * k)
            for j in event:
                row[i * k + j], row[other * k + j] = Fraction(1), -q
            rows.append(row)
    return rows


def _middle(
    matrix: AnyRows,
    direction: list[list[Fraction]] | None,
    factor: Factor,
    delta: Fraction,
    tolerance: Fraction,
    problem: str,
) -> Verdict:
    """The verdict for a channel that can move both ways along a direction: as far as it stays private."""
    if direction is None:
        return Verdict(UNDECIDED, problem)
    longest = max(abs(v) for row in direction for v in row)
    step = 1 / longest
    while step * longest > max(1000 * tolerance, Fraction(1, 1 << 200)):
        ends = [
            tuple(
                tuple(a + sign * step * e for a, e in zip(r, s, strict=True))
                for r, s in zip(matrix, direction, strict=True)
            )
            for sign in (-1, 1)
        ]
        if all(is_private(end, factor, delta, tolerance) for end in ends):
            return Verdict(FAILS, problem, Middle(*ends))
        step /= 2
    return Verdict(UNDECIDED, f"{problem} The room to move is below what floats can tell; give exact numbers.")
