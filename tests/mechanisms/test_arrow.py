"""Arrays between NumPy, lists and Arrow are those that pyarrow itself makes, without the packages that it would load."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.columns.arrow import arrow_array, arrow_scalar, numpy_array

LISTS = [
    ([], None),
    ([], pa.string()),
    ([None, None], pa.int64()),
    (["a", None, "é", ""], None),
    (["a", "b"], pa.large_string()),
    ([True, None, False], None),
    ([True, False], pa.bool_()),
    ([1, None, -3], None),
    ([1, 2], pa.int8()),
    ([1, 2], pa.float64()),
    ([2**63 - 1], None),
    ([1.5, None, float("nan")], None),
    ([1.0, 2.0, None], pa.date32()),
    ([1.5, 700.9], pa.date32()),
    ([datetime.date(2024, 2, 29), None], pa.date32()),
    ([datetime.datetime(2024, 2, 29, 12)], pa.timestamp("s")),
]


@pytest.mark.parametrize(("values", "kind"), LISTS)
def test_lists_give_what_pyarrow_gives(values, kind):
    found, wanted = arrow_array(values, kind), pa.array(values, type=kind)
    found.validate(full=True)
    assert found.type == wanted.type
    assert str(found) == str(wanted)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64", "U3"])
@given(seed=st.integers(0, 99), count=st.integers(0, 40))
def test_arrays_give_what_pyarrow_gives_with_and_without_a_mask(dtype, seed, count):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2 if dtype == "bool" else 100, count).astype(dtype)
    for mask in (None, rng.random(count) < 0.3):
        if dtype == "U3" and mask is not None:
            continue
        found, wanted = arrow_array(values, mask=mask), pa.array(values, mask=mask)
        found.validate(full=True)
        assert found.equals(wanted)
        part = found[count // 3 :]
        np.testing.assert_array_equal(numpy_array(part), part.to_numpy(zero_copy_only=False))


def test_chunks_and_scalars():
    chunks = pa.chunked_array([[1, None], [3]])
    np.testing.assert_array_equal(numpy_array(chunks), [1.0, np.nan, 3.0])
    assert arrow_scalar(7, pa.int16()) == pa.scalar(7, pa.int16())
    with pytest.raises(pa.ArrowInvalid):
        arrow_array(np.array([300]), pa.int8())
