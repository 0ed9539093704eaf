"""The tables and figures about families of mechanisms, against their reported numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from experiments import d_vulnerability_shape, family_tables, noise_shapes, replacement_thresholds


def test_05_ex1_noise_shapes():
    geometric, response = noise_shapes.members().values()
    assert geometric.rows()[50][50] == Fraction(1, 26)
    assert geometric.rows()[50][40] == Fraction(1, 26) * Fraction(25, 27) ** 10
    assert (response.rows()[50][50], response.rows()[50][7]) == (Fraction(1, 51), Fraction(1, 102))
    rows = noise_shapes.run()
    assert len(rows) == 6
    assert all(row.agrees for row in rows)
    lines = noise_shapes.figure().axes[0].lines
    assert [max(line.get_ydata()) for line in lines] == pytest.approx([1 / 26, 1 / 51])


def test_05_ex2_shape_of_d_vulnerability():
    assert all(row.agrees for row in d_vulnerability_shape.run())
    assert d_vulnerability_shape.value((1.0, 0.0, 0.0)) == math.inf
    above, not_convex = d_vulnerability_shape.quasi_convexity(200)
    assert above == 0
    assert not_convex > 0
    assert d_vulnerability_shape.figure().axes[0].get_title().startswith("ln(max p / min p)")


@pytest.mark.parametrize("epsilon", list(replacement_thresholds.REPORTED))
def test_05_ex3_thresholds_to_all_printed_digits(epsilon):
    row = replacement_thresholds.run(epsilon)
    assert row.agrees
    assert replacement_thresholds.printed(row), row
    assert row.found[1] < float(epsilon)  # printed as 5.00000, and strictly below


@pytest.mark.parametrize("epsilon", list(replacement_thresholds.PRIVACY_REPORTED))
def test_05_ex3_thresholds_of_the_privacy_order(epsilon):
    row = replacement_thresholds.run(epsilon, "privacy")
    assert row.agrees
    assert replacement_thresholds.printed(row), row


@pytest.mark.parametrize("size", [2, 3, 4])
def test_05_ex4_family_tables(size):
    rows = family_tables.run(size)
    assert len(rows) == (6 if size == 2 else 16)
    for row in rows:
        assert row.found == row.reported, row
