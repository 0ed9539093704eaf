"""Signs of random projections: the law of a bit, sparse and dense, odd numbers, and the fixed stream of directions."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy import sparse, stats

from noisewright.exceptions import DataError
from noisewright.matching import Projection, hamming, unpacked
from noisewright.matching import hash_functions as projection
from noisewright.resources import Seed

SEED = Seed.from_hex("5a" * 32)


def angle(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.arccos(x @ y / np.linalg.norm(x) / np.linalg.norm(y)) / np.pi)


@pytest.mark.parametrize("dimension", [2, 5, 100])
def test_fact_f19_two_codes_differ_in_a_bit_with_the_probability_of_the_angle(dimension: int) -> None:
    """F-19: a binomial count of bits within limits that a true law leaves with probability 1e-6, three times."""
    rng = np.random.default_rng(dimension)
    x = rng.standard_normal(dimension)
    y = x + 0.6 * rng.standard_normal(dimension)
    bits = 20_000
    differ = int(hamming(*Projection(dimension, bits, SEED).hash([x, y])))
    law = stats.binom(bits, angle(x, y))
    assert law.ppf(5e-7) <= differ <= law.isf(5e-7)


def test_directions_are_normal_and_independent() -> None:
    """A test of Kolmogorov and Smirnov, and correlations of directions; each fails by chance with probability below 1e-6."""
    directions = Projection(500, 64, SEED).directions
    assert stats.kstest(directions.ravel().astype(float), "norm").pvalue > 1e-6
    cosines = np.corrcoef(directions.T) - np.eye(64)
    assert np.abs(cosines).max() * np.sqrt(500) < stats.norm.isf(5e-7 / 2016)


def test_the_stream_of_directions_never_changes() -> None:
    made = Projection(7, 13, SEED).directions
    assert made.shape == (7, 16)
    assert not made[:, 13:].any()
    whole = np.rint(made.astype(np.float64) * 2**20).astype("<i8")
    assert (whole == made.astype(np.float64) * 2**20).all()
    assert hashlib.sha256(np.ascontiguousarray(whole).tobytes()).hexdigest()[:16] == "da3d7561f836e711"
    longer = Projection(9, 20, SEED).directions
    assert (longer[:6, :13] == made[:6, :13]).all()


def test_codes_are_signs_of_products_computed_otherwise() -> None:
    hashing = Projection(50, 37, SEED)
    vectors = np.random.default_rng(3).standard_normal((200, 50))
    wanted = vectors @ hashing.directions[:, :37].astype(np.float64) >= 0
    assert (unpacked(hashing.hash(vectors), 37) == wanted).all()


def test_blocks_sparse_matrices_and_other_types_give_the_same_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    hashing = Projection(40, 24, SEED)
    vectors = np.random.default_rng(4).integers(-3, 4, (100, 40)).astype(np.float64)
    whole = hashing.hash(vectors)
    assert (hashing.hash(vectors.astype(np.int8)) == whole).all()
    assert (hashing.hash(vectors.tolist()) == whole).all()
    assert (hashing.hash(sparse.csr_array(vectors)) == whole).all()
    assert (hashing.hash(sparse.coo_matrix(vectors)) == whole).all()
    monkeypatch.setattr("noisewright.matching.hash_functions.PROJECTIONS_AT_ONCE", 40 * 7)
    assert (hashing.hash(vectors) == whole).all()
    assert (hashing.hash(sparse.csr_array(vectors)) == whole).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-44, 1e-20, 1e36, 1e38, 1e300])
def test_only_the_direction_counts_whatever_the_length(scale: float) -> None:
    hashing = Projection(30, 64, SEED)
    vectors = np.random.default_rng(5).standard_normal((20, 30))
    assert (hashing.hash(vectors * scale) == hashing.hash(vectors)).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([[0.0, 0.0, 0.0]], "zeros has no direction"),
        ([[1.0, np.nan, 0.0]], "missing or infinite"),
        ([[1.0, np.inf, 0.0]], "missing or infinite"),
        ([[1.0, 2.0]], "these have 2"),
        ([[1.0, 2.0, 3.0], [1.0]], "different lengths"),
        ([1.0, 2.0, 3.0], "two dimensions"),
        ([["a", "b", "c"]], "no array of numbers"),
        (sparse.csr_array(np.zeros((1, 3))), "zeros has no direction"),
        (sparse.csr_array(np.array([[np.nan, 0, 0]])), "missing or infinite"),
        (sparse.csr_array(np.ones((1, 4))), "these have 4"),
    ],
)
def test_what_is_no_direction_is_refused_in_a_sentence(wrong: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        Projection(3, 8, SEED).hash(wrong)


def test_zeros_can_have_the_code_of_the_first_axis() -> None:
    hashing = Projection(3, 8, SEED, zero="fixed")
    codes = hashing.hash([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert (codes[0] == codes[1]).all()
    assert (codes[0] != codes[2]).any()


def test_many_empty_rows_of_a_sparse_matrix_are_looked_at_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.zeros((50, 6))
    vectors[::7] = np.arange(1.0, 7.0)
    hashing = Projection(6, 16, SEED, zero="fixed")
    whole = hashing.hash(vectors)
    seen = []
    made = projection.zero_rows
    monkeypatch.setattr(projection, "zero_rows", lambda rows, zero: seen.append(rows.shape[0]) or made(rows, zero))
    monkeypatch.setattr(projection, "PROJECTIONS_AT_ONCE", 6 * 10)
    assert (hashing.hash(sparse.csr_array(vectors)) == whole).all()
    assert max(seen) <= 10
    assert sum(seen) == 42


def test_no_vectors_have_no_codes() -> None:
    assert Projection(3, 9, SEED).hash([]).shape == (0, 2)
