"""Mechanisms side by side: coordinates of different kinds, and rows that are no secrets."""

from __future__ import annotations

import numpy as np
import pytest

import noisewright as nw
from noisewright.core.errors import DataError
from noisewright.mechanisms.products import product

BIT = nw.randomised_response([0, 1], epsilon=50)
WORD = nw.randomised_response(["no", "yes"], epsilon=50)


def test_numbers_beside_text_stay_what_they_are() -> None:
    both = product([(BIT, 1), (WORD, 2)])
    secrets = np.array([[0, "no", "yes"], [1, "yes", "yes"]], dtype=object)
    assert both.release(secrets, np.random.default_rng(0)).tolist() == secrets.tolist()


@pytest.mark.parametrize("rows", [[[0], [0, 1]], [[0, 1, 0]], 0, [[[0, 1]], [[0]]]])
def test_rows_of_another_length_are_refused_in_a_sentence(rows: object) -> None:
    with pytest.raises(DataError, match="has 2 coordinates, on the last axis"):
        product([(BIT, 2)]).release(rows)
