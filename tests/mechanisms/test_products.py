"""Mechanisms side by side: coordinates of different kinds, and rows that are no secrets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.base import Entry, Takes
from noisewright.exceptions import DataError
from noisewright.mechanisms.composite import ProductMechanism, product
from noisewright.mechanisms.registry import forget, register
from noisewright.numerics import Exact

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


def test_what_is_rounded_apart_is_counted_in() -> None:
    number = nw.laplace(epsilon=1, scope="metric", lattice="1/8")
    three = product([(number, 3)], metric="manhattan")
    assert three.guarantee.metric.name == "manhattan between points of the lattice 2^-3"
    near, far = (0.0625 - 1e-9, 0.0625 - 1e-9, 0.0), (0.0625, 0.0625, 0.875)
    apart = three.guarantee.metric.matrix([near, far])[0, 1]
    assert sum(abs(a - b) for a, b in zip(near, far, strict=True)) < 1 < apart
    assert three.map(1) == 1.25 >= apart
    assert three.map(0) == 0
    assert product([(number, None)], metric="manhattan").map(1) == np.inf


def vectors(*, epsilon: Exact, dimension: int) -> ProductMechanism:
    step = nw.laplace(epsilon=epsilon, scope="metric", lattice="1/8")
    return product([(step, dimension)], metric="manhattan", name="noisy-vectors")


@pytest.mark.parametrize("type_", [pa.list_(pa.float64()), pa.list_(pa.float64(), 3)])
def test_a_release_of_vectors_pays_for_rounding(type_: pa.DataType) -> None:
    register(Entry("noisy-vectors", vectors, Takes("vector", dimension=True), "noise on each number", "vectors"))
    try:
        column = {"name": "v", "mechanism": "noisy-vectors", "dimension": 3, "epsilon": 2, "protect": 1}
        table = pa.table({"v": pa.array([[1, 2, 3]], type_)})
        done = nw.release({"dataset": "d", "budget": {"epsilon": 2}, "columns": [column]}, table, seed=1)
    finally:
        forget("noisy-vectors")
    assert done.data["v"].type == type_
    part = done.certificate.document["parts"][0]
    assert part["distance"] == "5/4"  # 8 steps, and one more for each further number
    assert part["price"] == "2"
    assert part["certificate"]["claim"]["epsilon"] == "8/5"
