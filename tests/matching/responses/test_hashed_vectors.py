"""Noisy codes as a mechanism: their exact law, their certificates, and that hashing alone protects nobody."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import linalg, sparse, stats

import noisewright as nw
from noisewright.exceptions import CertificateError, DataError, NoChannelError, NoLossError, ParameterError
from noisewright.matching import Client, LossLaw, Scheme, hamming, hashed_sets, laplace_hash, lshrr, unpacked
from noisewright.mechanisms import product
from noisewright.resources import Seed

SEED = Seed.from_hex("5a" * 32)
TASTE = lshrr(epsilon="0.8", dimension=5, bits=37, seed=SEED)


def test_fact_f20_hashing_alone_is_not_private() -> None:
    """F-20: one bit of three inputs. With a hidden seed an output tells nothing; with a public one beliefs rise by half."""
    inputs = np.array([(0, 1), (1, 0), (1, 1)])
    turns = (np.arange(80_000) + 0.5) / 80_000 * 2 * np.pi  # no turn hits a border
    bits = np.stack([np.cos(turns), np.sin(turns)], axis=1) @ inputs.T >= 0
    patterns = {
        "".join(map(str, row)): count / len(turns)
        for row, count in zip(*np.unique(bits.astype(int), axis=0, return_counts=True), strict=True)
    }
    wanted = {"100": 1 / 8, "011": 1 / 8, "101": 1 / 8, "010": 1 / 8, "111": 1 / 4, "000": 1 / 4}
    assert patterns == pytest.approx(wanted, abs=1e-9)
    assert [sum(p for name, p in patterns.items() if name[place] == "1") for place in range(3)] == pytest.approx(
        [0.5] * 3
    )
    hidden = nw.Channel([[0.5, 0.5]] * 3)
    public = nw.Channel(
        [[p * (name[place] == bit) for name, p in sorted(wanted.items()) for bit in "01"] for place in range(3)]
    )
    uniform = [1 / 3] * 3
    assert nw.leakage(hidden, uniform).multiplicative == pytest.approx(1)
    assert nw.leakage(public, uniform).posterior == pytest.approx(1 / 2)
    assert nw.leakage(public, uniform).multiplicative == pytest.approx(1.5)
    for name, alone in (("100", 0), ("011", 0), ("101", 1), ("010", 1)):
        assert name.count(name[alone]) == 1
    assert (inputs @ [1, -0.5] >= 0).tolist() == [False, True, True]


def test_a_plain_code_tells_who_it_is_of_and_noise_does_not() -> None:
    """An attacker with a list of 1,000 profiles: without noise all codes are recognised, with noise few are.

    At 32 bits for 0.1 each a belief of 1/1000 can become at most e^3.2 / 1000; the limit is exceeded by chance with 1e-6.
    """
    profiles = np.random.default_rng(20).standard_normal((1000, 30))
    scheme = Scheme(dimension=30, bits=32, epsilon="0.1", seed=SEED)
    plain = scheme.hash(profiles)
    assert len(np.unique(plain, axis=0)) == 1000
    sent = Client(scheme).encode(profiles, np.random.default_rng(21))
    guessed = [int(np.argmin(hamming(code, plain))) for code in sent]
    assert np.mean(np.array(guessed) == np.arange(1000)) <= stats.binom.isf(1e-6, 1000, math.exp(3.2) / 1000) / 1000


def test_fact_f21_a_bit_that_differs_costs_epsilon_and_no_more() -> None:
    """F-21: three bits at 0.7, all pairs of codes; the channel of the very integers."""
    bit = lshrr(epsilon="0.7", dimension=2, bits=3, seed=SEED).response
    channel = product([(bit, 3)]).channel()
    codes = list(itertools.product((0, 1), repeat=3))
    losses = channel.directed()
    for i, j in itertools.product(range(8), repeat=2):
        differ = sum(a != b for a, b in zip(codes[i], codes[j], strict=True))
        place = channel.inputs.index(codes[i]), channel.inputs.index(codes[j])
        assert losses[place] == pytest.approx(0.7 * differ, abs=1e-9)


def test_whoever_knows_the_seed_finds_near_vectors_that_differ_in_every_bit() -> None:
    """More numbers than bits: a vector on all borders at once, and two beside it. So only the price of bits holds then."""
    scheme = Scheme(dimension=40, bits=32, epsilon=1, seed=SEED)
    directions = scheme.hashing.directions[:, :32].astype(np.float64)  # type: ignore[attr-defined]
    border = linalg.null_space(directions.T)[:, 0]
    step = np.linalg.lstsq(directions.T, np.ones(32), rcond=None)[0]
    pair = border + 1e-4 * step, border - 1e-4 * step
    assert nw.metrics.Angular().distance(tuple(pair[0]), tuple(pair[1])) < 0.001
    assert int(hamming(*scheme.hash(pair))) == 32
    assert LossLaw.of_hashes(0.001, bits=32, epsilon=1).tail(4) < 1e-6  # for a pair that was fixed before


def test_the_law_of_every_bit() -> None:
    """Counts of each bit over 20,000 releases: limits that a true law leaves with probability 1e-6 in all."""
    vector = np.arange(1.0, 6.0)
    sent = TASTE.release(np.tile(vector, (20_000, 1)), np.random.default_rng(1))
    flips = unpacked(sent ^ TASTE.scheme.hash([vector]), 37)
    law = stats.binom(20_000, float(TASTE.scheme.flip))
    counts = flips.sum(axis=0)
    assert counts.min() >= law.ppf(5e-7 / 37)
    assert counts.max() <= law.isf(5e-7 / 37)


def test_devices_and_releases_draw_one_law_from_one_stream_of_bits() -> None:
    vectors = np.random.default_rng(2).standard_normal((100, 5))
    one = TASTE.release(vectors, np.random.default_rng(3))
    other = Client(TASTE.scheme).encode(vectors, np.random.default_rng(3))
    assert (one == other).all()


def test_columns_of_arrow_and_sparse_matrices_give_the_same_codes() -> None:
    vectors = np.random.default_rng(4).integers(0, 3, (50, 5)).astype(float)
    vectors[:, 0] += 1
    rows = TASTE.release(vectors, np.random.default_rng(5))
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 5)
    for column in (fixed, fixed.cast(pa.list_(pa.float32())), pa.chunked_array([fixed[:20], fixed[20:]])):
        found = TASTE.release(column, np.random.default_rng(5))
        assert found.type == pa.binary(5)
        assert found.to_pylist() == [row.tobytes() for row in rows]
    assert (TASTE.release(sparse.csr_array(vectors), np.random.default_rng(5)) == rows).all()
    assert TASTE.release(vectors[0], np.random.default_rng(5)).shape == (5,)
    assert TASTE.release(fixed[:0]).type == pa.binary(5)


@pytest.mark.parametrize(
    "wrong",
    [
        pa.array([1.0, 2.0]),
        pa.array([[1.0, 2.0]]),
        pa.array([[1.0] * 5, None]),
        pa.array([[1.0, None, 3.0, 4.0, 5.0]]),
        pa.array([["a"] * 5]),
        pa.array([[1.0] * 4, [1.0] * 6]),
        pa.array([[0.0] * 5]),
        [[0.0] * 5],
        [[1.0] * 4],
        [[1.0] * 5, [1.0]],
        [[math.nan] * 5],
        None,
    ],
)
@pytest.mark.parametrize("name", ["lshrr", "hashed-sets", "laplace-hash"])
def test_what_is_no_vector_is_refused_in_a_sentence_without_its_values(wrong: Any, name: str) -> None:
    made: Any = {
        "lshrr": TASTE,
        "hashed-sets": hashed_sets(epsilon=1, dimension=5, hashes=9, seed=SEED),
        "laplace-hash": laplace_hash(epsilon=1, dimension=5, bits=9, seed=SEED),
    }[name]
    zeros = "0.0, 0.0" in str(wrong).replace("\n", "").replace("    ", " ") or wrong == [[0.0] * 5]
    if name == "laplace-hash" and (zeros or (isinstance(wrong, pa.Array) and wrong.to_pylist() == [[0.0] * 5])):
        assert len(made.release(wrong)) == 1  # with noise, no vector is zero
        return
    for call in (made.release, made.check):
        with pytest.raises(DataError) as problem:
            call(wrong)
        assert "\n" not in str(problem.value)
        assert str(problem.value).endswith(".")


def test_vectors_of_zeros_can_have_a_fixed_code() -> None:
    made = lshrr(epsilon=60, dimension=5, bits=37, seed=SEED, zero="fixed")
    codes = made.release([[0.0] * 5, [1.0, 0, 0, 0, 0]])
    assert (codes[0] == codes[1]).all()


@pytest.mark.parametrize(
    "made",
    [
        TASTE,
        lshrr(epsilon=0, dimension=5, bits=8, seed=SEED),
        lshrr(epsilon="1e-6", dimension=5, bits=8, seed=SEED, zero="fixed"),
        lshrr(epsilon=100, dimension=5, bits=1, seed=SEED, family="sampling"),
        hashed_sets(epsilon=2, dimension=5, hashes=9, seed=SEED, answer_bits=4),
        hashed_sets(epsilon=0, dimension=5, hashes=9, seed=SEED, answer_bits=2, zero="fixed"),
    ],
    ids=repr,
)
def test_certificates_are_proved_and_give_the_mechanism_back(made: Any, tmp_path: Path) -> None:
    said = made.certificate().verify()
    assert f"over {made.scheme.bits} independent parts" in said
    assert "between hashes of vectors of 5 numbers" in said
    assert f"the public seed {SEED.hex[:12]}" in said
    nw.save(made.certificate(), tmp_path / "codes.json")
    loaded = nw.load(tmp_path / "codes.json")
    assert loaded == made
    vectors = [[1.0, 0.0, 2.0, 0.0, 0.0]] * 3
    assert (loaded.release(vectors, np.random.default_rng(1)) == made.release(vectors, np.random.default_rng(1))).all()
    assert nw.audit(made).value <= float(made.epsilon) * (1 + 1e-12)
    assert nw.audit(made).value >= float(made.epsilon) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["claim"].update(epsilon="0.79"), "more than the claim"),
        (lambda d: d["proof"]["parts"][0]["proof"].update(size=3), "prove"),
        (lambda d: d["proof"]["parts"][0].update(count=None), "whole number of answers"),
        (lambda d: d["hashing"].update(family="simhash"), "does not know such hashes"),
        (lambda d: d["hashing"].update(zero="drop"), "does not know such hashes"),
        (lambda d: d["hashing"].update(dimension=0), "whole number of answers"),
        (lambda d: d["hashing"].update(dimension=None), "prove"),
        (lambda d: d["hashing"].update(more=1), "state their family"),
        (lambda d: d.pop("hashing"), "state their family"),
        (lambda d: d.pop("seed"), "state their family"),
        (lambda d: d.update(mechanism="codes"), "state their family"),
        (lambda d: d.update(mechanism="geometric"), "does not prove itself"),
        (lambda d: d["claim"].update(metric="discrete"), "prove"),
    ],
)
def test_changed_certificates_are_not_proved(change: Any, words: str) -> None:
    from noisewright.certificates.checker import checker

    document = json.loads(TASTE.certificate().to_json())
    change(document)
    with pytest.raises(CertificateError, match="digest"):
        nw.Certificate(document).verify()
    document["digest"] = checker.digest(document)
    with pytest.raises(CertificateError, match=words):
        nw.Certificate(document).verify()


def test_a_floating_certificate_proves_nothing_and_gives_the_mechanism_back() -> None:
    from noisewright.mechanisms.from_certificate import mechanism_of

    made = laplace_hash(epsilon=3, dimension=5, bits=9, seed=SEED)
    with pytest.raises(CertificateError, match="floating"):
        made.certificate().verify()
    assert mechanism_of(made.certificate()) == made


def test_promises_are_said_with_their_scope() -> None:
    assert "for the seed" not in TASTE.guarantee.in_words()
    words = TASTE.in_words()
    assert "whose hashes differ in at most 1 bit" in words
    assert "fixed before the seed was drawn" in words
    told = TASTE.promise(radius=0.1, delta=0.01, accountant="binomial")
    assert told.seed_scope == "two profiles that were fixed before the seed was drawn"
    assert TASTE.map(3) == TASTE.map(2.5) == pytest.approx(2.4)
    assert TASTE.map(math.inf) == math.inf
    assert TASTE.guarantee.metric.distance((1.0,) * 5, (-1.0,) * 5) == 37
    with pytest.raises(NoChannelError):
        TASTE.channel()
    with pytest.raises(NoLossError):
        TASTE.error()


def test_sets_are_answered_exactly_and_compared_without_bias() -> None:
    """Answers of 2,000 x 20 hashes: a chi-square test at 1e-6; the Jaccard share within five standard errors."""
    made = hashed_sets(epsilon=2, dimension=40, hashes=20, seed=SEED, answer_bits=2)
    one = np.zeros(40)
    one[:20] = 1
    truth = made._unpacked(lshrr_like(made).release(np.tile(one, (1, 1))))[0]
    sent = made._unpacked(made.release(np.tile(one, (2000, 1)), np.random.default_rng(1)))
    shift = (sent.astype(int) - truth) % 4
    keep = float(made.response.keep_probability)
    wanted = np.array([keep, *[(1 - keep) / 3] * 3]) * sent.size
    assert stats.chisquare(np.bincount(shift.ravel(), minlength=4), wanted).pvalue > 1e-6
    other = np.zeros(40)
    other[10:30] = 1
    long = hashed_sets(epsilon=3, dimension=40, hashes=4000, seed=SEED, answer_bits=3)
    codes = long.release([one, other], np.random.default_rng(2))
    assert float(long.jaccard(codes[0], codes[1])[0]) == pytest.approx(1 / 3, abs=5 * 0.02)


def lshrr_like(made: Any) -> Any:
    """The same answers, hardly ever changed."""
    return hashed_sets(epsilon=200, dimension=40, hashes=20, seed=made.seed, answer_bits=made.answer_bits)


def test_the_promise_of_sets_is_by_jaccard_distance() -> None:
    bits = lshrr(epsilon=1, dimension=5, bits=64, seed=SEED, family="minhash")
    sets = hashed_sets(epsilon=1, dimension=5, hashes=64, seed=SEED)
    assert bits.promise(radius=0.3, delta=1e-4).loss == sets.promise(radius=0.3, delta=1e-4).loss
    more = hashed_sets(epsilon=1, dimension=5, hashes=64, seed=SEED, answer_bits=4).promise(distance=0.3, delta=1e-4)
    law = LossLaw.of_hashes(0.3 * 15 / 16, bits=64, epsilon=1, answers=16)
    assert law.delta(more.loss) <= 1e-4
    assert more.measure == "the Jaccard distance of sets"


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_laplace_codes_follow_noisy_vectors(bits: int) -> None:
    """At a large epsilon the plain hash; at a small one nearly fair bits, within limits left with probability 1e-6."""
    vector = np.array([1.0, 2.0, -1.0])
    near = laplace_hash(epsilon=1e6, dimension=3, bits=bits, seed=SEED)
    assert (near.release([vector] * 20) == Scheme(3, bits, 1, SEED).hash([vector])).all()
    far = laplace_hash(epsilon="1e-6", dimension=3, bits=bits, seed=SEED)
    ones = unpacked(far.release(np.tile(vector, (4000, 1)), np.random.default_rng(1)), bits).sum(axis=0)
    law = stats.binom(4000, 0.5)
    assert law.ppf(5e-7 / bits) <= ones.min() <= ones.max() <= law.isf(5e-7 / bits)


def test_bad_parameters_are_refused_in_a_sentence() -> None:
    good: dict[str, Any] = {"epsilon": 1, "dimension": 3, "hashes": 9, "seed": SEED}
    for wrong in (0, 9, 1.5, "2"):
        with pytest.raises(ParameterError, match="answer_bits must be"):
            hashed_sets(**good, answer_bits=wrong)
    with pytest.raises(ParameterError, match="hashes must be"):
        hashed_sets(**{**good, "hashes": 0})
    with pytest.raises(ParameterError, match="dimension must be"):
        lshrr(epsilon=1, dimension=None, bits=9, seed=SEED, family="minhash")  # type: ignore[arg-type]
    silent = hashed_sets(epsilon=0, dimension=3, hashes=8, seed=SEED)
    with pytest.raises(ParameterError, match="say nothing"):
        silent.jaccard(np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.uint8))
    assert Fraction(1, 2) == lshrr(epsilon=0, dimension=3, bits=9, seed=SEED).scheme.flip
