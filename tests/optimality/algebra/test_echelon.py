"""Linear algebra in fractions, against floats and against itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from algebra_support import determinant
from hypothesis import given
from hypothesis import strategies as st

from noisewright.numerics.linear_algebra import Echelon, Elimination, kernel, rank, shortened, solve, whole_row

small = st.integers(-4, 4)
matrices = st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(small, min_size=n, max_size=n), min_size=n, max_size=n)
)


@given(matrices)
def test_exact_algebra_agrees_with_floats(matrix):
    value = determinant(matrix)
    assert abs(float(value) - np.linalg.det(np.array(matrix, dtype=float))) < 1e-6
    assert rank(matrix) == np.linalg.matrix_rank(np.array(matrix, dtype=float))
    right = list(range(1, len(matrix) + 1))
    found, vector = solve(matrix, right), kernel(matrix)
    assert (found is None) == (value == 0)
    assert (vector is None) == (value != 0)
    if found is not None:
        assert [sum(a * x for a, x in zip(row, found, strict=True)) for row in matrix] == right
    if vector is not None:
        assert any(vector)
        assert not any(sum(a * x for a, x in zip(row, vector, strict=True)) for row in matrix)


@given(matrices)
def test_what_is_orthogonal_has_the_dimension_that_rows_leave(matrix):
    echelon = Echelon(len(matrix))
    for row in matrix:
        echelon.add(row)
    vectors = list(echelon.orthogonal())
    assert len(vectors) == len(matrix) - rank(matrix) == rank(vectors)
    assert all(sum(a * v for a, v in zip(row, vector, strict=True)) == 0 for row in matrix for vector in vectors)


@given(matrices)
def test_both_ways_of_elimination_agree(matrix):
    right = [[i + 1, i * i] for i in range(len(matrix))]
    whole = Elimination(matrix, right)
    assert len(whole.pivots) == rank(matrix)
    echelon = Echelon(len(matrix))
    for row in matrix:
        echelon.add(row)
    assert whole.pivots == sorted(echelon.rows)
    if whole.independent:
        assert [line[0] for line in whole.solution] == solve(matrix, [line[0] for line in right])


def test_rows_are_shortened():
    assert shortened([4, -6, 0]) == [2, -3, 0]
    assert shortened([0, 0]) == [0, 0]
    assert whole_row([Fraction(1, 2), Fraction(-1, 3)]) == [3, -2]
