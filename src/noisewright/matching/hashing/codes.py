r"""Codes: the bits of a hash, packed. Bit ``j`` is bit ``j % 8``, the lowest first, of byte ``j // 8``.

Codes of ``bits`` bits are rows of ``ceil(bits / 8)`` bytes; unused bits of the last byte are 0. Their Hamming distance
is the number of bits in which they differ.

>>> codes = packed([[1, 0, 1, 0, 0, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0, 0, 0, 0]])
>>> codes.tolist()
[[5, 1], [4, 0]]
>>> hamming(codes[0], codes[1]).tolist(), hamming_matrix(codes, codes).tolist()
(2, [[0, 2], [2, 0]])
>>> unpacked(codes, 9)[1].tolist()
[0, 0, 1, 0, 0, 0, 0, 0, 0]
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.errors import DataError

__all__ = ["Codes", "as_codes", "code_bytes", "hamming", "hamming_matrix", "packed", "unpacked"]

Codes: TypeAlias = NDArray[np.uint8]
"""Packed bits: a row for each profile."""

AT_ONCE = 1 << 22
"""Bytes of compared codes that are held at once."""


def code_bytes(bits: int) -> int:
    """Return the number of bytes of a code of this length."""
    return -(-bits // 8)


def packed(bits: ArrayLike) -> Codes:
    """Codes of rows of bits; the last axis runs over the bits."""
    return np.packbits(np.asarray(bits).astype(bool), axis=-1, bitorder="little")


def unpacked(codes: Codes, bits: int) -> NDArray[np.uint8]:
    """The first ``bits`` bits of codes, 0 or 1, a column for each."""
    return np.unpackbits(np.ascontiguousarray(codes), axis=-1, count=bits, bitorder="little")


def as_codes(given: Any, bits: int) -> Codes:
    """Return codes of a number of bits, with a row for each; refused where they have another length, or a bit after
    the last one.

    >>> as_codes([b"\x05\x01"], 9).tolist()
    [[5, 1]]
    >>> as_codes(np.zeros((3, 4), np.uint8), 9)
    Traceback (most recent call last):
    noisewright.core.errors.DataError: a code of 9 bits has 2 bytes, not 4; these codes are of another scheme.
    """
    wanted = code_bytes(bits)
    try:
        if isinstance(given, (list, tuple)) and given and all(isinstance(code, (bytes, bytearray)) for code in given):
            given = [np.frombuffer(code, np.uint8) for code in given]
        rows = np.asarray(given)
    except ValueError:  # rows of different lengths
        raise DataError(
            f"a code of {bits} bits has {wanted} bytes, and these have different lengths; give codes of one scheme."
        ) from None
    if not rows.size and rows.ndim < 2:
        rows = np.zeros((0, wanted), np.uint8)
    if rows.dtype != np.uint8 or rows.ndim != 2:
        raise DataError("codes are an array of bytes (uint8) with a row for each; encode() gives them so.")
    if rows.shape[1] != wanted:
        raise DataError(
            f"a code of {bits} bits has {wanted} bytes, not {rows.shape[1]}; these codes are of another scheme."
        )
    if bits % 8 and len(rows) and int(rows[:, -1].max()) >> bits % 8:
        raise DataError(f"a code of {bits} bits has a bit after its last one; these codes are of another scheme.")
    return rows


def hamming(one: Codes, other: Codes) -> NDArray[np.int64]:
    """Return in how many bits codes differ, row by row; a single code is compared with all rows of the other."""
    return np.asarray(np.bitwise_count(np.bitwise_xor(one, other)).sum(axis=-1, dtype=np.int64))


def hamming_matrix(one: Codes, other: Codes) -> NDArray[np.int32]:
    """Return in how many bits every row of one differs from every row of the other."""
    result = np.zeros((len(one), len(other)), np.int32)
    left, right = (_words(codes) for codes in (one, other))
    step = max(1, AT_ONCE // max(8 * len(other), 1))
    for start in range(0, len(one), step):
        part = result[start : start + step]
        for word in range(left.shape[1]):
            part += np.bitwise_count(left[start : start + step, word, None] ^ right[None, :, word])
    return result


def _words(codes: Codes) -> NDArray[np.uint64]:
    """The same bits in whole words, filled up with zeros."""
    width = -(-codes.shape[1] // 8) * 8
    filled = np.zeros((len(codes), width), np.uint8)
    filled[:, : codes.shape[1]] = codes
    return filled.view(np.uint64)
