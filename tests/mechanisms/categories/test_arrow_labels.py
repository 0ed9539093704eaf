"""Columns of Arrow have one type: labels that such a column could not hold are refused, and never come out as null."""

import numpy as np
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.columns.label_encoder import Labels
from noisewright.exceptions import DataError

PLACE = {"0": 0, "1": "x"}

MIXED = {
    "text and a number": (["a", 1], pa.array(["a"] * 1000)),
    "a number and text": ([1, "a"], pa.array([1] * 1000)),
    "three kinds": ([True, 1.5, "x"], pa.array([True] * 1000)),
    "true and a number": ([True, 7], pa.array([True] * 1000)),
    "parts of tuples": ([(0, "x"), (0, 1)], pa.array([PLACE] * 1000)),
    "a star in a tuple": ([(0, 1), (0, "*")], pa.array([{"0": 0, "1": 1}] * 1000)),
    "a tuple and text": ([(0, "x"), "y"], pa.array([PLACE] * 1000)),
    "a star as a secret": ([1, "*"], pa.array([1] * 1000)),
    "too wide a number": ([1, 2**63], pa.array([1] * 1000)),
    "nothing as a label": (["a", None], pa.array(["a"] * 1000)),
}


@pytest.mark.parametrize("name", MIXED)
def test_labels_of_several_kinds_are_refused_in_arrow_and_work_in_lists(name: str) -> None:
    labels, column = MIXED[name]
    mechanism = nw.randomised_response(labels, epsilon=1)
    with pytest.raises(DataError, match="a column of Arrow has one type") as caught:
        mechanism.release(column)
    assert str(caught.value).count(".") == 1
    with pytest.raises(DataError, match="a column of Arrow has one type"):
        nw.mechanisms.uniform(labels).release(column)
    drawn = mechanism.release([labels[0]] * 200, np.random.default_rng(1))
    assert {repr(label) for label in drawn.tolist()} == {repr(label) for label in labels}


@pytest.mark.parametrize(
    "labels",
    [["a", "b"], ["*", "a"], [1, 2, 5], [1, 2.5], [True, False], [(0, "x"), (1, "y")], [(0.5, True), (1, False)]],
)
def test_labels_of_one_kind_come_back_whole(labels: list[object]) -> None:
    held = Labels(labels)
    codes = np.arange(len(labels))
    column = held.decode(codes, "arrow")
    assert column.null_count == 0
    values = [tuple(v.values()) if isinstance(v, dict) else v for v in column.to_pylist()]
    assert values == labels
    assert held.encode(column)[0].tolist() == codes.tolist()


def test_the_output_that_stands_for_no_secret_is_the_only_null() -> None:
    for points, column in (([0, 1], pa.array([0] * 300)), ([(0, "x"), (1, "y")], pa.array([PLACE] * 300))):
        mechanism = nw.mechanisms.metric_realising(points, epsilon=1, metric=nw.metrics.Discrete())
        rng = np.random.default_rng(3)
        drawn = mechanism.release(column, rng).to_pylist()
        again = mechanism.release([points[0]] * 300, np.random.default_rng(3)).tolist()
        assert [v is None for v in drawn] == [v == "*" for v in again]
        assert None in drawn
    with pytest.raises(DataError, match="a column of Arrow has one type"):
        Labels([0, 1, "other"]).decode(np.arange(3), "arrow")
