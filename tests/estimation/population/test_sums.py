"""Linear sums with intervals that count bias: exact where a channel can be undone, honest where it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.estimation.frequencies import soft_bars, sums_of
from noisewright.estimation.operators import ResponseOperator
from noisewright.estimation.result import asymptotic


@pytest.mark.parametrize("size", [2, 3, 10])
def test_for_a_response_it_is_the_interval_of_the_inverse(size: int) -> None:
    response = ResponseOperator(size, other=0.5 / size, lift=0.5)
    counts = np.arange(50, 50 + size) * 3
    found = sums_of(response.rows(np.arange(size)), np.eye(size), counts)
    each = 1 - 0.05 / (1 if size == 2 else size)
    low, high = asymptotic(counts / counts.sum(), int(counts.sum()), response.inverse(), each)
    assert found.bias.max() < 1e-10
    assert found.low == pytest.approx(low, abs=1e-8)
    assert found.high == pytest.approx(high, abs=1e-8)


def test_what_cannot_be_told_apart_is_left_open() -> None:
    """Two secrets with the same chances, counted for different sorts: the bias alone fills the interval."""
    channel = np.array([[0.7, 0.3], [0.7, 0.3], [0.1, 0.9]])
    found = sums_of(channel, np.eye(3), np.array([70_000, 30_000]))
    assert (found.high - found.low)[:2].min() > 0.95
    assert found.low[2] == 0
    assert found.high[2] < 0.02
    assert found.bias[0] == pytest.approx(0.5, abs=0.01)


@given(
    st.lists(st.floats(-50, 150), min_size=1, max_size=20),
    st.lists(st.integers(0, 100), min_size=2, max_size=8, unique=True).map(sorted),
    st.floats(0.01, 1),
)
def test_the_bars_of_a_place_sum_to_one(places: list[float], edges: list[int], share: float) -> None:
    blend = share * float(np.diff(edges).min())
    found = soft_bars(places, edges, blend)
    assert found.sum(axis=1) == pytest.approx(1)
    assert found.min() >= -1e-12
    bar = np.searchsorted(edges[1:-1], places, side="right")
    for k, place in enumerate(places):
        if all(abs(place - edge) > blend / 2 for edge in edges[1:-1]):
            assert found[k, bar[k]] == pytest.approx(1)
