"""Integers between columns and mechanisms: common code of integers, dates and times.

``per_unit`` is how many of what is stored make one of what a mechanism sees. On the way out a number is rounded, and moved to
the range of the type where it is beyond (an age in 8 bits stays below 128). That looks at the noisy value alone, so it costs
no privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.mechanisms.arrow import arrow_array, numpy_array
from noisewright.releases.kinds.kind import Form, Kind
from noisewright.releases.kinds.rows import restore, take_present

__all__ = ["can_hold_whole", "in_form", "is_number", "nullable", "read_whole", "rounded", "signed_ends", "whole_scalar"]


def read_whole(stored: pa.Array, per_unit: int = 1) -> NDArray[Any]:
    """Stored integers in the unit of a mechanism, fractions of it cut off."""
    values: NDArray[Any] = numpy_array(stored)
    return values // per_unit if per_unit > 1 else values


def in_form(values: NDArray[Any], form: Form) -> Any:
    """Numbers as a mechanism wants them."""
    return values if form == "numpy" else arrow_array(values)


def nullable(values: Any, type_: pa.DataType, write: Callable[[NDArray[Any], pa.DataType], pa.Array]) -> pa.Array:
    """Written numbers, of numpy or of Arrow, where a null of Arrow stays one."""
    if not isinstance(values, pa.Array):
        return write(values, type_)
    mask = numpy_array(values.is_valid()) if values.null_count else None
    return restore(write(numpy_array(take_present(values, mask)), type_), mask)


def rounded(values: NDArray[Any], low: int, high: int) -> NDArray[np.int64]:
    """The nearest integers within two ends."""
    if values.dtype.kind == "f":
        # Floats near 2^63 are multiples of 1024: the last one below it is still a 64-bit integer.
        values = np.clip(np.rint(values), float(low), min(float(high), 2.0**63 - 1024)).astype(np.int64)
    elif low > -(1 << 62) or high < 1 << 62:
        values = np.clip(values, low, high)
    return np.asarray(values, dtype=np.int64)


def signed_ends(bits: int, per_unit: int = 1) -> tuple[int, int]:
    """Return the least and the greatest signed number of this number of bits, in the unit of a mechanism."""
    # One more than the least number: some readers take that one for a missing value.
    most = ((1 << (bits - 1)) - 1) // per_unit
    return -most, most


def can_hold_whole(numbers: Sequence[int | float], ends: tuple[int, int]) -> bool:
    """Return whether all of the numbers are whole and within two ends."""
    return not any(number % 1 for number in numbers) and ends[0] <= min(numbers) and max(numbers) <= ends[1]


def whole_scalar(kind: Kind, value: Any, type_: pa.DataType) -> pa.Scalar:
    """A value of a kind whose values are integers, in the type of a column; refused where it does not fit there."""
    if is_number(value) and kind.can_hold([value], type_):
        return kind.write(np.array([value], dtype=np.int64), kind.output_type(type_))[0]
    raise kind.unfit(type_)


def is_number(value: Any) -> bool:
    """Return whether a value of a policy is a number, which true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
