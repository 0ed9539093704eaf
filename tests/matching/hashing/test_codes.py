"""Packed bits: their layout, their distances, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from noisewright.exceptions import DataError
from noisewright.matching import as_codes, code_bytes, hamming, hamming_matrix, packed, unpacked

BITS = st.integers(1, 140).flatmap(lambda bits: arrays.arrays(np.uint8, (5, bits), elements=st.integers(0, 1)))


@given(BITS)
def test_bit_j_is_bit_j_modulo_8_lowest_first_of_byte_j_over_8(bits: np.ndarray) -> None:
    codes = packed(bits)
    assert codes.shape == (5, code_bytes(bits.shape[1]))
    for row in range(5):
        for j in range(bits.shape[1]):
            assert codes[row, j // 8] >> (j % 8) & 1 == bits[row, j]
    assert (unpacked(codes, bits.shape[1]) == bits).all()
    assert as_codes(codes, bits.shape[1]) is not None


@given(BITS)
def test_distances_are_those_of_the_bits(bits: np.ndarray) -> None:
    codes, wanted = packed(bits), (bits[:, None, :] != bits[None, :, :]).sum(axis=2)
    assert (hamming_matrix(codes, codes) == wanted).all()
    assert (hamming(codes[0], codes) == wanted[0]).all()


def test_many_codes_are_compared_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.random.default_rng(1).integers(0, 256, (300, 5), np.uint8)
    whole = hamming_matrix(codes, codes)
    monkeypatch.setattr("noisewright.matching.hash_functions.CODES_AT_ONCE", 8 * 300 * 7)
    assert (hamming_matrix(codes, codes) == whole).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.zeros((3, 4), np.uint8), "2 bytes, not 4"),
        (np.zeros((3, 2), np.int64), "array of bytes"),
        (np.zeros(2, np.uint8), "array of bytes"),
        (np.full((3, 2), 255, np.uint8), "after its last one"),
        ([b"\x01", b"\x01\x00"], "different lengths"),
        ("text", "array of bytes"),
    ],
)
def test_codes_of_another_scheme_are_refused_in_a_sentence(wrong: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        as_codes(wrong, 9)
