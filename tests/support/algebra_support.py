"""Determinants in fractions, for what theory says about them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def determinant(matrix: Sequence[Sequence[int | Fraction]]) -> Fraction:
    """The determinant of a square matrix, by elimination."""
    work = [[Fraction(v) for v in row] for row in matrix]
    product = Fraction(1)
    for j in range(len(work)):
        pivot = next((i for i in range(j, len(work)) if work[i][j]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != j:
            work[j], work[pivot], product = work[pivot], work[j], -product
        product *= work[j][j]
        for i in range(j + 1, len(work)):
            factor = work[i][j] / work[j][j]
            work[i] = [a - factor * b for a, b in zip(work[i], work[j], strict=True)]
    return product
