"""Labels as JSON: there and back without loss."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.metrics.base import decode_label, encode_label

plain = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.fractions()
)
labels = st.recursive(plain, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)


@given(labels)
@settings(max_examples=300)
def test_there_and_back_through_json(label: object) -> None:
    back = decode_label(json.loads(json.dumps(encode_label(label))))  # type: ignore[arg-type]
    assert back == label
    assert type(back) is type(label)
    assert str(back) == str(label)  # 1, 1.0 and True are equal but not the same label


@pytest.mark.parametrize("label", [math.nan, math.inf, (1, -math.inf)])
def test_labels_that_are_not_finite(label: object) -> None:
    with pytest.raises(ParameterError, match="not a finite number cannot be written"):
        encode_label(label)  # type: ignore[arg-type]


def test_labels_of_other_types() -> None:
    with pytest.raises(ParameterError, match="a label of type frozenset cannot be written to a file"):
        encode_label(frozenset())


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"set": []}, "neither a number, a string nor a tuple"),
        ({"tuple": 3}, "neither a number, a string nor a tuple"),
        ({"tuple": [], "fraction": "1"}, "neither a number, a string nor a tuple"),
        ([1, 2], "a label in this file is a list"),
        ({"tuple": [[1]]}, "a label in this file is a list"),
        ({"fraction": "1/0"}, "a fraction that cannot be read"),
        ({"fraction": "x"}, "a fraction that cannot be read"),
        ({"fraction": []}, "a fraction that cannot be read"),
    ],
)
def test_files_that_hold_no_labels(value: object, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        decode_label(value)
