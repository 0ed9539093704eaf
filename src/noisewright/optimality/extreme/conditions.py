r"""The column normal form of a channel, its loose entries, and what every extreme point must satisfy.

``A = B diag(w)`` with ``w_j`` the smallest entry of column ``j``, so that the columns in use have entries of ``B``
from 1 to ``q = e^epsilon``. An entry is *tight* if its column has a largest entry of ``q w_j`` and it is that, or
``w_j``; otherwise it is *loose*. Entries of a column of zeros are never loose.

>>> form = normal_form([[Fraction(4, 7), Fraction(1, 7), Fraction(2, 7)], [Fraction(3, 7), Fraction(2, 7), Fraction(2, 7)],
...     [Fraction(2, 7), Fraction(1, 7), Fraction(4, 7)]], Factor.of(factor=2))
>>> form.support, form.loose
((0, 1, 2), ((1, 0),))
>>> [str(condition) for condition in necessary(form) if not condition.holds]
['loose entries: 1, at most 0 allowed']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from noisewright.optimality.algebra.echelon import rank
from noisewright.optimality.extreme.factor import Factor

__all__ = ["Condition", "NormalForm", "necessary", "normal_form"]


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
