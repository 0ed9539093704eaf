"""Large grids of places: the same law, steps and certificate as the same places in a list."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw


def listed(grid: nw.mechanisms.Grid) -> list[tuple[float, float]]:
    """The places of a grid, one by one."""
    (across, up), (x, y) = grid.steps, grid.origin
    return [(i * across + x, j * up + y) for i in range(grid.columns) for j in range(grid.rows)]


@pytest.mark.parametrize(
    ("grid", "step"),
    [
        (nw.mechanisms.Grid(300, 300), Fraction(1)),
        (nw.mechanisms.Grid(4, 3, step=100.0, origin=(50.0, -20.0)), Fraction(100)),
        (nw.mechanisms.Grid(7, 9, step=(0.25, 0.75), origin=(-3.5, 1.125)), Fraction(1, 4)),
        (nw.mechanisms.Grid(1, 5, step=6.0), Fraction(6)),
    ],
)
def test_a_grid_is_the_list_of_its_places(grid: nw.mechanisms.Grid, step: Fraction) -> None:
    made, one_by_one = (
        nw.mechanisms.planar_geometric(grid, epsilon="1/7"),
        nw.mechanisms.planar_geometric(listed(grid), epsilon="1/7"),
    )
    assert made == one_by_one
    assert made.step == one_by_one.step == step
    assert np.array_equal(made.offsets, one_by_one.offsets)
    assert made.certificate().to_json() == one_by_one.certificate().to_json()
    assert made.rate == step / 7


@given(
    st.lists(
        st.tuples(st.integers(-500, 500), st.sampled_from([0, 1, 2, 0.5, -1.25, Fraction(3, 8)])),
        min_size=2,
        max_size=40,
        unique=True,
    )
)
def test_offsets_are_whole_steps_without_a_common_divisor(places: list[tuple[int, float]]) -> None:
    made = nw.mechanisms.planar_geometric(places, epsilon=1)
    for place, offset in zip(places, made.offsets.tolist(), strict=True):
        gaps = [Fraction(c) - Fraction(o) for c, o in zip(place, places[0], strict=True)]
        assert [made.step * count for count in offset] == gaps
    assert np.gcd.reduce(made.offsets.ravel()) == 1
