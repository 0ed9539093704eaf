r"""Reports that are sets of categories, one bit each: how they are packed, read, checked and counted.

Category ``i`` is bit ``i % 8`` of byte ``i // 8``, so a report over ``k`` categories is ``ceil(k / 8)`` bytes, and the bits
after the last category are 0. A column of reports is an array of bytes with one row each, or a column of Arrow of fixed-size
binary values.

>>> reports = np.array([[0b101, 0b1], [0b001, 0b0]], dtype=np.uint8)
>>> support_counts(reports, 9).tolist()
[2, 0, 1, 0, 0, 0, 0, 0, 1]
>>> read_packed([b"\x05\x01", b"\x01\x02", None], 9)[1].tolist()  # a bit after the last category; no report at all
[True, False, False]
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.errors import DataError, NoChannelError, ParameterError
from noisewright.mechanisms.label_columns import COLUMNS, Form
from noisewright.mechanisms.oracles._report_rows import byte_rows, list_rows, plain_column
from noisewright.mechanisms.oracles.oracle import Support
from noisewright.noise.bits import Rng
from noisewright.noise.packed import packed_coins

__all__ = [
    "LARGEST_SETS",
    "check_room",
    "coin_rows",
    "give_packed",
    "read_packed",
    "set_matrix",
    "set_sizes",
    "support_counts",
    "support_of",
]

Bytes = NDArray[np.uint8]

_WANTED = (
    "reports are rows of bytes, one for each person; give one column of them, a list, or an array with a row for each."
)

MOST_BYTES = 4 << 30
"""Reports of one call may take this much memory; more of them are released batch by batch."""

LARGEST_SETS = 12
"""Categories up to which all sets are listed as the outputs of a channel."""

AT_ONCE = 1 << 22
"""Bytes that are counted at once."""

TILE = 1 << 12
"""Number of bytes unpacked at once: few enough reports that their bits stay in the processor's cache."""


def check_room(reports: int, size: int) -> None:
    """Refuse to make more reports at once than memory holds."""
    if reports * -(-size // 8) > MOST_BYTES:
        raise ParameterError(
            f"{reports} reports over {size} categories would take more than {MOST_BYTES >> 30} gigabytes at once; release the "
            "column in batches, or use local hashing or Hadamard response, whose reports are a few bytes."
        )


def coin_rows(p: Fraction, reports: int, size: int, rng: Rng) -> Bytes:
    """``reports`` rows of ``size`` independent bits with probability ``p``, exactly; the bits after them are 0."""
    width = -(-size // 8)
    words = packed_coins(p, -(-reports * width // 8), rng)
    rows = words.view(np.uint8)[: reports * width].reshape(reports, width)
    if size % 8:
        rows[:, -1] &= np.uint8((1 << size % 8) - 1)
    return rows


def give_packed(rows: Bytes, shape: tuple[int, ...], form: Form) -> Any:
    """Return reports in the requested form: one row of bytes, an array with a row for each value, or a column of Arrow."""
    if form not in COLUMNS:
        return rows.reshape(*shape, rows.shape[1])
    kind = pa.binary(rows.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])


def read_packed(reports: Any, size: int) -> tuple[Bytes, NDArray[np.bool_]]:
    """Rows of bytes, and which of them can be reports over ``size`` categories."""
    width = -(-size // 8)
    rows, there = _rows(reports, width)
    if size % 8:
        there = there & (rows[:, -1] < 1 << size % 8)
    return rows, there


def set_sizes(rows: Bytes) -> NDArray[np.int64]:
    """Return how many categories each report holds."""
    sizes = np.zeros(len(rows), dtype=np.int64)
    words = rows.shape[1] // 8 * 8  # most bytes are counted eight at a time
    step = max(1, AT_ONCE // max(rows.shape[1], 1))
    for start in range(0, len(rows), step):
        part = np.ascontiguousarray(rows[start : start + step])
        found = np.bitwise_count(part[:, words:]).sum(axis=1, dtype=np.int64)
        if words:
            found += np.bitwise_count(part[:, :words].view(np.uint64)).sum(axis=1, dtype=np.int64)
        sizes[start : start + step] = found
    return sizes


def support_counts(rows: Bytes, size: int) -> NDArray[np.int64]:
    """Return how many reports hold each category."""
    counts = np.zeros(rows.shape[1] * 8, dtype=np.int64)
    for left in range(0, rows.shape[1], TILE):
        found = counts[8 * left : 8 * (left + TILE)]
        for start in range(0, len(rows), 255):  # no more, so that a byte holds the sum
            bits = np.unpackbits(rows[start : start + 255, left : left + TILE], axis=1, bitorder="little")
            found += np.add.reduce(bits, axis=0, dtype=np.uint8)
    return counts[:size]


def support_of(rows: Bytes, there: NDArray[np.bool_], size: int) -> Support:
    """The counts over those rows that can be reports, and how many rows cannot."""
    kept = rows if there.all() else rows[there]
    return Support(support_counts(kept, size), len(kept), len(rows) - len(kept))


def set_matrix(size: int) -> tuple[NDArray[np.bool_], list[tuple[int, ...]]]:
    """All sets of a few categories: which category is in which, and the reports that they are."""
    if size > LARGEST_SETS:
        raise NoChannelError(
            f"there are 2^{size} sets of {size} categories; a channel lists those of up to {LARGEST_SETS}; "
            "estimates need no channel."
        )
    numbers = np.arange(1 << size)
    held = (numbers[:, None] >> np.arange(size)) & 1 == 1
    packed = np.packbits(held, axis=1, bitorder="little")
    return held, [tuple(row) for row in packed.tolist()]


def _rows(reports: Any, width: int) -> tuple[Bytes, NDArray[np.bool_]]:
    column = plain_column(reports, _WANTED)
    if isinstance(column, pa.Array):
        found = byte_rows(column, width) or list_rows(column, width)
        if found is None:
            raise DataError(_WANTED)
        return _in_bytes(*found)
    if isinstance(column, np.ndarray):
        rows = column if column.ndim == 2 else column[None, :]
        if rows.shape[1] != width:
            return np.zeros((len(rows), width), dtype=np.uint8), np.zeros(len(rows), dtype=bool)
        return _in_bytes(rows, np.ones(len(rows), dtype=bool))
    listed = [_bytes(report, width) for report in column]
    there = np.array([report is not None for report in listed], dtype=bool)
    joined = b"".join(report if report is not None else bytes(width) for report in listed)
    return np.frombuffer(joined, dtype=np.uint8).reshape(len(listed), width), there


def _in_bytes(rows: NDArray[Any], there: NDArray[np.bool_]) -> tuple[Bytes, NDArray[np.bool_]]:
    """Integers that are bytes, as such."""
    if rows.dtype == np.uint8 or not len(rows):
        return rows.astype(np.uint8, copy=False), there
    return rows.astype(np.uint8), there & (rows.min(axis=1) >= 0) & (rows.max(axis=1) < 256)


def _bytes(report: Any, width: int) -> bytes | None:
    """One report as bytes: given as such, or as a row of integers. Bytes that some other object has in memory are rejected."""
    if isinstance(report, np.ndarray):
        report = report.tolist()
    try:
        found = bytes(report) if isinstance(report, (bytes, bytearray, memoryview, list, tuple)) else None
    except (TypeError, ValueError):
        return None
    return found if found is not None and len(found) == width else None
