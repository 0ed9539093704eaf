"""Other families of hashes: structured projections, bit sampling and MinHash."""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse, stats

from noisewright.exceptions import DataError, ParameterError
from noisewright.matching import Client, FastProjection, MinHash, Sampling, Scheme, hamming, scheme_promise, unpacked
from noisewright.resources import Seed

SEED = Seed.from_hex("5a" * 32)


@pytest.mark.parametrize(("dimension", "bits"), [(3, 5), (8, 8), (100, 128), (100, 300), (1000, 64)])
def test_fast_projections_are_rounds_of_signs_and_hadamard_matrices(dimension: int, bits: int) -> None:
    hashing = FastProjection(dimension, bits, SEED)
    vectors = np.random.default_rng(1).standard_normal((20, dimension))
    length = hashing.length
    matrix, blocks = linalg.hadamard(length), []
    for signs in hashing.signs.astype(np.float64):
        rows = np.zeros((20, length))
        rows[:, :dimension] = vectors
        for each in signs:
            rows = (rows * each) @ matrix / np.sqrt(length)
        blocks.append(rows >= 0)
    assert (unpacked(hashing.hash(vectors), bits) == np.concatenate(blocks, axis=1)[:, :bits]).all()


def test_fast_projections_differ_about_as_often_as_the_angle_says() -> None:
    """Not a theorem: the share over 40 seeds is within 0.02 of the angle for vectors of ordinary numbers."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal(200)
    y = x + 0.5 * rng.standard_normal(200)
    angle = float(np.arccos(x @ y / np.linalg.norm(x) / np.linalg.norm(y)) / np.pi)
    differ = [
        int(hamming(*FastProjection(200, 256, Seed(number.to_bytes(32, "big"))).hash([x, y]))) for number in range(40)
    ]
    assert np.mean(differ) / 256 == pytest.approx(angle, abs=0.02)
    with pytest.raises(ParameterError, match="no theorem"):
        scheme_promise(Scheme(200, 64, 1, family="fast-projection"), radius=0.1, delta=0.01)


def test_sampled_bits_differ_as_often_as_coordinates_do() -> None:
    """Within limits that a true law leaves with probability 1e-6; and they are the values of the stated coordinates."""
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 2, (2, 50))
    hashing = Sampling(50, 20_000, SEED)
    codes = hashing.hash([x, y])
    assert (unpacked(codes, 20_000) == np.array([x, y])[:, hashing.places]).all()
    law = stats.binom(20_000, float((x != y).mean()))
    assert law.ppf(5e-7) <= int(hamming(*codes)) <= law.isf(5e-7)
    assert (hashing.hash(sparse.csr_array(np.array([x, y]))) == codes).all()


@pytest.mark.parametrize("common", [0, 5, 40])
@pytest.mark.parametrize("answers", [2, 16])
def test_first_items_agree_as_often_as_sets_do(common: int, answers: int) -> None:
    """LSH-19: one bit of the first item differs with (1 - J)/2, one of B answers with (1 - J)(1 - 1/B).

    Within limits that a true law leaves with probability 1e-6, six times.
    """
    one, other = range(60), range(60 - common, 120 - common)
    jaccard = common / (120 - common)
    found = MinHash(20_000, SEED).answers([one, other], answers)
    law = stats.binom(20_000, (1 - jaccard) * (1 - 1 / answers))
    assert law.ppf(5e-7) <= int((found[0] != found[1]).sum()) <= law.isf(5e-7)
    shares = stats.chisquare(np.bincount(found[0], minlength=answers))
    assert shares.pvalue > 1e-6


def test_first_items_are_those_of_the_stated_order() -> None:
    """Against plain integers of Python."""

    def mixed(number: int) -> int:
        number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
        return number ^ number >> 31

    hashing, items = MinHash(20, SEED), [3, 17, 2**40]
    stream = SEED.generator("minhash").bytes(16 * 20)
    wanted = []
    for j in range(20):
        a, b = (int.from_bytes(stream[16 * j + k : 16 * j + k + 8], "little") for k in (0, 8))
        wanted.append(min(mixed((mixed(item ^ a) + b) % 2**64) for item in items) & 1)
    assert unpacked(hashing.hash([items]), 20)[0].tolist() == wanted
    text = int.from_bytes(hashlib.sha256(b"tea").digest()[:8], "little")
    keys = [mixed((mixed(text ^ int(a)) + int(b)) % 2**64) & 1 for a, b in hashing.keys]
    assert unpacked(hashing.hash([{"tea"}]), 20)[0].tolist() == keys
    vector = np.zeros((1, 30))
    vector[0, [3, 17]] = [-2.0, 0.5]
    of_numbers = MinHash(20, SEED, dimension=30)
    assert (of_numbers.hash(vector) == hashing.hash([[3, 17]])).all()
    assert (of_numbers.hash(sparse.csr_array(vector)) == hashing.hash([{17, 3}])).all()


def test_many_sets_are_hashed_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    sets = [rng.integers(0, 1000, rng.integers(1, 40)).tolist() for _ in range(200)]
    hashing = MinHash(37, SEED)
    whole = hashing.hash(sets)
    monkeypatch.setattr("noisewright.matching.hash_functions.MINHASH_AT_ONCE", 64)
    assert (hashing.hash(sets) == whole).all()


def test_empty_sets_are_refused_or_have_one_code() -> None:
    with pytest.raises(DataError, match="empty set has no first item"):
        MinHash(8, SEED).hash([{1}, set()])
    fixed = MinHash(8, SEED, zero="fixed")
    codes = fixed.hash([set(), {1}, set(), set(), {0}, {2}])
    assert (codes[[0, 2, 3, 4]] == codes[0]).all()
    assert (codes[[1, 5]] == MinHash(8, SEED).hash([{1}, {2}])).all()
    vectors = MinHash(8, SEED, dimension=3, zero="fixed").hash(np.zeros((2, 3)))
    assert (vectors == codes[0]).all()


@pytest.mark.parametrize(
    "wrong", ["text", 5, [5], ["text"], [[1.5]], [[-1]], [[2**63]], [[True]], [[None]], [[[1]]], [[b"x"]]]
)
def test_what_is_no_collection_of_items_is_refused_in_a_sentence(wrong: Any) -> None:
    with pytest.raises(DataError, match="collections of items"):
        MinHash(8, SEED).hash(wrong)


@pytest.mark.parametrize("family", ["projection", "fast-projection", "sampling", "minhash"])
def test_every_family_is_a_scheme(family: str) -> None:
    scheme = Scheme(dimension=10, bits=12, epsilon=30, seed=SEED, family=family)
    assert Scheme.from_json(scheme.to_json()) == scheme
    vectors = np.random.default_rng(1).integers(0, 2, (30, 10)).astype(float)
    vectors[:, 0] = 1
    assert (Client(scheme).encode(vectors) == scheme.hash(vectors)).all()
    assert (Client(scheme).encode(vectors[0]) == scheme.hash(vectors)[0]).all()
    with pytest.raises(DataError, match="missing"):
        scheme.hash(np.full((2, 10), np.nan))
    assert len({Scheme(10, 12, 30, SEED, name).fingerprint for name in ("projection", family)}) == 1 + (
        family != "projection"
    )


def test_items_need_no_dimension_and_only_sets_have_items() -> None:
    scheme = Scheme(dimension=None, bits=9, epsilon=30, seed=SEED, family="minhash")
    assert Scheme.from_json(scheme.to_json()) == scheme
    client = Client(scheme)
    for alone, together in itertools.product(
        (["tea", "milk"], {"milk", "tea"}), ([["tea", "milk"]], [{"tea", "milk"}])
    ):
        assert client.encode(alone).shape == (2,)
        assert (client.encode(alone) == client.encode(together)[0]).all()
    with pytest.raises(ParameterError, match="dimension must be a whole number"):
        Scheme(dimension=None, bits=9, epsilon=1)


def test_a_promise_is_in_the_distance_of_the_family() -> None:
    sets = Scheme(dimension=None, bits=64, epsilon=1, family="minhash")
    angle = Scheme(dimension=5, bits=64, epsilon=1)
    one, other = scheme_promise(sets, radius=0.2, delta=1e-6), scheme_promise(angle, radius=0.1, delta=1e-6)
    assert one.loss == other.loss
    assert "within 0.2 (the Jaccard distance of sets)" in one.in_words()
    assert "within 0.1 (the angle between vectors over pi)" in other.in_words()


def test_only_sets_have_more_than_two_answers() -> None:
    with pytest.raises(ParameterError, match="hashes by projection have two answers"):
        Scheme(dimension=5, bits=8, epsilon=1).answers(np.ones((1, 5)), 4)
    found = Scheme(dimension=5, bits=8, epsilon=1, seed=SEED, family="minhash").answers(np.ones((2, 5)), 4)
    assert found.shape == (2, 8)
    assert found.max() < 4
