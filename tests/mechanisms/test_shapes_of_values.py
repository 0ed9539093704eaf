"""Shapes: an array of values gives reports in the same shape, for every registered mechanism, and nothing is flattened."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_conformance import CASES

import noisewright as nw
from noisewright.columns.label_encoder import Labels, whole_numbers
from noisewright.design.closed_forms import optimal_response
from noisewright.exceptions import DataError
from noisewright.mechanisms.registry import registry

SHAPES = [(2, 3), (6, 1), (1, 2, 3)]
ONE_COLUMN = ("planar-laplace", "planar-geometric", "geo-laplace", "spherical-laplace", "product-laplace")
ONE_COLUMN += ("lshrr", "hashed-sets", "laplace-hash")
"""Mechanisms that take rows of coordinates: one vector, or an array with a row for each."""


def six(secrets: Any) -> list[Any]:
    chosen = list(secrets)
    return [chosen[place % len(chosen)] for place in range(6)]


def as_labels(values: list[Any]) -> np.ndarray[Any, Any]:
    """An array with one element for each value, but for vectors, whose last axis are their parts."""
    if len({isinstance(value, tuple) for value in values}) == 1:
        return np.array(values)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def test_every_registered_mechanism_is_tried() -> None:
    tried = {make().name for make, *_ in CASES.values()}
    assert set(registry) <= tried


@pytest.mark.parametrize("name", CASES)
def test_an_array_gives_reports_in_its_shape(name: str) -> None:
    """Under one seed they are the reports of the plain column too, one after the other; or the array is refused."""
    make, secrets, *_ = CASES[name]
    mechanism, values = make(), six(secrets)
    flat = np.asarray(mechanism.release(values, np.random.default_rng(1)))
    column = as_labels(values)
    for shape in SHAPES:
        array = column.reshape(shape + column.shape[1:])
        if mechanism.name in ONE_COLUMN or name == "randomised-response, mixed labels":
            sentence = "must be rows of" if mechanism.name in ONE_COLUMN else "not one of the declared secrets"
            with pytest.raises(DataError, match=sentence):
                mechanism.release(array, np.random.default_rng(1))
            continue
        found = np.asarray(mechanism.release(array, np.random.default_rng(1)))
        assert found.shape == shape + flat.shape[1:]
        assert (found.reshape(flat.shape) == flat).all()
        assert np.asarray(mechanism.release(array[:0])).shape == (0, *found.shape[1:])


@pytest.mark.parametrize(
    "labels",
    [
        [True, False],
        [None, "x", 2.5],
        ["a", "b"],
        [1, 5, 9],
        [0.5, 2.0],
        [b"x", b"y"],
        [frozenset({1}), frozenset()],
        [2**70, 5],
    ],
    ids=lambda labels: type(labels[0]).__name__,
)
def test_nested_lists_and_arrays_are_numbered_in_their_shape(labels: list[Any]) -> None:
    known = Labels(labels)
    values = [[labels[0], labels[-1], labels[0]], [labels[-1], labels[-1], labels[0]]]
    last = len(labels) - 1
    array = np.empty((2, 3), dtype=object)
    array[:] = values
    for given in (values, array if known.kind in ("other", "string") else array.astype(float)):
        codes, form = known.encode(given)
        assert codes.tolist() == [[0, last, 0], [last, last, 0]]
        assert form == "array"
    assert known.encode(labels[-1])[1] == "one"


def test_an_array_without_axes_is_one_value() -> None:
    codes, form = Labels([False, True]).encode(np.array(True))
    assert (codes.tolist(), form) == (1, "one")
    assert nw.randomised_response([False, True], epsilon=700).release(np.array(True)) is True  # a lie has chance e^-700


def test_labels_that_are_tuples_are_the_last_axis() -> None:
    places = Labels([(0, 0), (0, 1), (2, 2)])
    rows = np.array([[(0, 1), (2, 2)], [(0, 0), (0, 1)]])
    assert rows.shape == (2, 2, 2)
    assert places.encode(rows)[0].tolist() == [[1, 2], [0, 1]]
    assert places.encode(rows[0])[0].tolist() == [1, 2]
    assert places.encode((0, 1))[1] == "one"
    assert places.encode(np.zeros((0, 4, 2)))[0].shape == (0, 4)
    for wrong in (np.zeros((3, 3)), np.zeros((3, 0)), [[(0, 1), (2, 2)]]):
        with pytest.raises(DataError, match="not one of the declared secrets"):
            places.encode(wrong)


def test_whole_numbers_of_a_column_of_objects() -> None:
    """Small ones are taken as they are; only those beyond the limit are refused for their size."""
    found, single = whole_numbers(np.array([[1, -2], [3, 2**62]], dtype=object))
    assert found.tolist() == [[1, -2], [3, 2**62]]
    assert found.dtype == np.int64
    assert not single
    for wide in (2**62 + 2**10, -(2**63), 2**63, 2**70):
        with pytest.raises(DataError, match="beyond 2\\^62"):
            whole_numbers(np.array([0, wide], dtype=object))
    with pytest.raises(DataError, match="not whole numbers"):
        whole_numbers(np.array([1, 0.5], dtype=object))


def test_optimal_response_keeps_shapes_too() -> None:
    answer = optimal_response([True, False, None], epsilon=1, delta="1/10")
    assert answer.release(np.array([[True, False], [False, False]])).shape == (2, 2)
    assert answer.release([[True], [None]]).shape == (2, 1)
    assert nw.mechanism(nw.Channel([[0.7, 0.3], [0.4, 0.6]])).release([[0, 1], [1, 1]]).shape == (2, 2)
