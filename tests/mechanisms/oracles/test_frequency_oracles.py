"""Unary encoding, local hashing, subset selection and Hadamard response: integers, laws, certificates and reports."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
from collections import Counter
from collections.abc import Callable
from decimal import Context
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hadamard
from scipy.stats import chisquare

import noisewright as nw
from noisewright.exceptions import CertificateError, DataError, ParameterError, PolicyError
from noisewright.mechanisms.categorical import subset_selection as subset
from noisewright.mechanisms.categorical.frequency_oracle import UnaryMechanism, read_packed, set_sizes, support_counts
from noisewright.mechanisms.categorical.local_hashing import LocalHashingMechanism
from noisewright.mechanisms.categorical.subset_selection import HadamardMechanism, SubsetMechanism

MAKERS: dict[str, Callable[..., Any]] = {
    "unary": nw.mechanisms.unary_encoding,
    "hashing": nw.mechanisms.local_hashing,
    "subset": nw.mechanisms.subset_selection,
    "hadamard": nw.mechanisms.hadamard_response,
}
BUDGETS = st.one_of(
    st.fractions(Fraction(1, 1000), Fraction(12), max_denominator=1000), st.sampled_from([Fraction(40), Fraction(200)])
)


@given(st.sampled_from(sorted(MAKERS)), st.integers(2, 2000), BUDGETS)
@settings(max_examples=60)
def test_the_certificate_is_proved_and_the_audit_is_within_it(kind: str, size: int, epsilon: Fraction) -> None:
    mechanism = MAKERS[kind](size, epsilon=epsilon)
    assert mechanism.certificate().verify().startswith("epsilon = ")
    assert mechanism.certificate().epsilon == epsilon
    need = mechanism.audit().value
    assert need <= math.nextafter(float(epsilon), math.inf) * (1 + 1e-15)
    if epsilon < 40:  # the integers are as close to the promise as forty bits allow
        assert need > float(epsilon) * (1 - 1e-12)


@given(st.sampled_from(["optimised", "symmetric"]), st.fractions(Fraction(1, 100), 10, max_denominator=100))
def test_unary_probabilities_are_the_best_that_are_private(variant: str, epsilon: Fraction) -> None:
    """One unit less for the other bits would break the promise."""
    found = nw.mechanisms.unary_encoding(3, epsilon=epsilon, variant=variant)  # type: ignore[arg-type]
    assert found.private()
    less = found.other - 1
    one = (1 << found.width) - less if variant == "symmetric" else found.one
    assert not dataclasses.replace(found, other=less, one=one).private()


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_probabilities_and_variances_of_the_references(epsilon: float) -> None:
    """Wang et al. 2017, table 1: q(1-q)/(p-q)^2 is 4e/(e-1)^2 optimised, h/(h-1)^2 with h = e^(epsilon/2) symmetric."""
    e, h = math.exp(epsilon), math.exp(epsilon / 2)
    p, q = nw.mechanisms.unary_encoding(10, epsilon=epsilon).support_probabilities
    assert (float(p), float(q)) == pytest.approx((0.5, 1 / (e + 1)), rel=1e-14)
    assert float(q * (1 - q) / (p - q) ** 2) == pytest.approx(4 * e / (e - 1) ** 2, rel=1e-12)
    p, q = nw.mechanisms.unary_encoding(10, epsilon=epsilon, variant="symmetric").support_probabilities
    assert float(q * (1 - q) / (p - q) ** 2) == pytest.approx(h / (h - 1) ** 2, rel=1e-12)
    for g in (2, 5):
        p, q = nw.mechanisms.local_hashing(10, epsilon=epsilon, buckets=g).support_probabilities
        assert float(q * (1 - q) / (p - q) ** 2) == pytest.approx((e - 1 + g) ** 2 / ((e - 1) ** 2 * (g - 1)), rel=1e-8)
    # Ye and Barg 2018: p = d e / (d e + k - d), and the sets hold d categories in all.
    sets = nw.mechanisms.subset_selection(10, epsilon=epsilon, size=3)
    p, q = sets.support_probabilities
    assert float(p) == pytest.approx(3 * e / (3 * e + 7), rel=1e-14)
    assert p + 9 * q == 3


def test_defaults_are_the_best_integers() -> None:
    for epsilon in (0.3, 1.0, 2.0, 4.0):
        chosen = nw.mechanisms.subset_selection(50, epsilon=epsilon)
        worths = {d: nw.mechanisms.subset_selection(50, epsilon=epsilon, size=d).worth() for d in range(1, 50)}
        assert worths[chosen.size] == pytest.approx(min(worths.values()), rel=1e-9)
        hashed = nw.mechanisms.local_hashing(50, epsilon=epsilon)
        values = {}
        for g in range(2, 100):
            p, q = nw.mechanisms.local_hashing(50, epsilon=epsilon, buckets=g).support_probabilities
            values[g] = float(q * (1 - q) / (p - q) ** 2)
        assert hashed.buckets == min(values, key=values.__getitem__)
    # Acharya, Sun and Zhang 2019, section 5: one block in the high-privacy regime, e^epsilon/2 blocks beyond.
    assert [nw.mechanisms.hadamard_response(1000, epsilon=e).blocks for e in ("0.5", "0.7", "1.5", "3")] == [
        1,
        2,
        4,
        16,
    ]


def small(kind: str) -> Any:
    if kind == "hashing":
        return LocalHashingMechanism(tuple("abcde"), nw.randomised_response(3, epsilon=1), prime=7)
    return MAKERS[kind](list("abcdef"), epsilon="3/2")


@pytest.mark.parametrize("kind", ["unary", "hashing", "subset"])
def test_support_probabilities_are_those_of_the_whole_channel(kind: str) -> None:
    """Every output is given to ``support`` alone; the channel's rows add up to p for the truth and to q for all others."""
    mechanism = small(kind)
    channel = mechanism.channel()
    held = np.array([mechanism.support(np.array([output], dtype=np.int64)).counts for output in channel.outputs])
    found = channel.matrix @ held
    p, q = map(float, mechanism.support_probabilities)
    size = len(mechanism.categories)
    np.testing.assert_allclose(found, np.where(np.eye(size) > 0, p, q), rtol=1e-12)


@pytest.mark.parametrize(("prime", "buckets"), [(5, 2), (7, 3), (11, 4), (13, 13)])
def test_any_two_categories_collide_equally_often(prime: int, buckets: int) -> None:
    """All hash functions, counted: the number of collisions is one integer for all pairs."""
    names = tuple(range(min(prime, 6)))
    mechanism = LocalHashingMechanism(names, nw.randomised_response(buckets, epsilon=1), prime=prime)
    a, b = np.meshgrid(np.arange(1, prime), np.arange(prime))
    hashed = [((a * v + b) % prime * buckets) >> prime.bit_length() for v in names]
    counts = {int((hashed[u] == hashed[v]).sum()) for u, v in itertools.combinations(names, 2)}
    assert counts == {int(mechanism.collision * prime * (prime - 1))}


@given(st.integers(2, 500), st.sampled_from([2, 3, 17]), st.sampled_from([3, 300]))
@settings(max_examples=20)
def test_hash_support_is_the_definition(size: int, buckets: int, count: int) -> None:
    """Both ways of counting agree with the hash computed in Python integers."""
    mechanism = nw.mechanisms.local_hashing(size, epsilon=1, buckets=buckets)
    rng = np.random.default_rng(size)
    reports = mechanism.release(rng.integers(0, size, count), rng)
    prime, v = mechanism.prime, size // 2
    expected = 0
    for seed, told in reports.tolist():
        a, b = seed >> 31, seed & (1 << 31) - 1
        assert 0 < a < prime
        assert 0 <= b < prime
        expected += ((a * v + b) % prime) * buckets >> 31 == told
    assert mechanism.support(reports).counts[v] == expected


def test_hadamard_halves_are_rows_of_the_matrix() -> None:
    mechanism = nw.mechanisms.hadamard_response(11, epsilon=2)
    signs = hadamard(mechanism.length)
    own = mechanism.own_halves(np.arange(11))
    for x in range(11):
        block, row = divmod(x, mechanism.length - 1)
        expected = np.zeros(mechanism.outputs, dtype=bool)
        expected[block * mechanism.length : (block + 1) * mechanism.length] = signs[row + 1] > 0
        assert (own[x] == expected).all()


def test_subset_reports_hold_as_many_categories_as_they_say() -> None:
    for size, d in ((9, 1), (9, 8), (1000, 269), (1001, 700)):
        mechanism = nw.mechanisms.subset_selection(size, epsilon=1, size=d)
        rows = mechanism.release(np.arange(size) % size)
        assert (np.bitwise_count(rows).sum(axis=1, dtype=int) == d).all()
        assert read_packed(rows, size)[1].all()


@given(st.integers(1, 40), st.sampled_from([1, 7, 300, 2048, 5000]))
@settings(max_examples=25)
def test_support_counts_are_column_sums(size: int, reports: int) -> None:
    bits = np.random.default_rng(size).random((reports, size)) < 0.3
    rows = np.packbits(bits, axis=1, bitorder="little")
    assert support_counts(rows, size).tolist() == bits.sum(axis=0).tolist()


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_columns_of_arrow_give_reports_of_arrow(kind: str) -> None:
    mechanism = MAKERS[kind](["a", "b", "c"], epsilon=1)
    values = ["a", "c", "c", "b"]
    plain = mechanism.release(values, np.random.default_rng(5))
    column = mechanism.release(pa.array(values), np.random.default_rng(5))
    assert isinstance(column, pa.Array)
    assert len(column) == 4
    if kind == "hadamard":
        assert column.to_pylist() == plain.tolist()
        return
    assert mechanism.support(column).counts.tolist() == mechanism.support(plain).counts.tolist()
    both = pa.chunked_array([column.slice(0, 1), column.slice(1)])
    assert mechanism.support(both).counts.tolist() == mechanism.support(plain).counts.tolist()


def test_what_is_no_report_is_counted_apart() -> None:
    unary = nw.mechanisms.unary_encoding(10, epsilon=1)
    good = unary.release([3, 4])
    assert unary.support(np.array([[255, 255], [1, 0]], dtype=np.uint8)).outside == 1  # bits after the last category
    assert unary.support(np.zeros((3, 5), dtype=np.uint8)).outside == 3
    assert unary.support([*map(bytes, good), None, b"x", "text"]).outside == 3
    assert unary.support(pa.array([bytes(good[0]), None])).outside == 1
    sets = nw.mechanisms.subset_selection(10, epsilon=1, size=2)
    assert sets.support(np.array([[3, 0], [7, 0]], dtype=np.uint8)).outside == 1
    hashing = nw.mechanisms.local_hashing(10, epsilon=1)
    seed, bucket = hashing.release(3)
    pairs = [(seed, bucket), (-1, 0), (seed, 99), (seed, -1), (5, 0)]
    assert hashing.support(pairs).outside == 4
    assert hashing.support((seed, bucket)).reports == 1
    struct = pa.array([{"hash": seed, "bucket": bucket}, {"hash": None, "bucket": 1}])
    assert hashing.support(struct).outside == 1
    for bad in (5, "text", pa.array(["x"]), np.zeros((2, 3), dtype=int), [(1, 2, 3)], [1.5, "a"]):
        with pytest.raises(DataError, match="two whole numbers"):
            hashing.support(bad)
    with pytest.raises(DataError, match="whole numbers; convert"):
        hashing.support(pa.array([{"hash": "x", "bucket": 1}]))
    with pytest.raises(DataError, match="rows of bytes"):
        unary.support(5)


def test_too_many_reports_at_once_are_refused_before_any_draw() -> None:
    values = np.zeros(1_000_000, dtype=np.int64)
    for make in (nw.mechanisms.unary_encoding, nw.mechanisms.subset_selection):
        with pytest.raises(
            ParameterError, match="would take more than 4 gigabytes at once; release the column in batches"
        ):
            make(1_000_000, epsilon=1).release(values)


def test_a_million_categories() -> None:
    unary, sets = (
        nw.mechanisms.unary_encoding(1_000_000, epsilon=1),
        nw.mechanisms.subset_selection(1_000_000, epsilon=1),
    )
    for mechanism in (unary, sets):
        rows = mechanism.release([0, 999_999])
        assert rows.shape == (2, 125_000)
        share = np.bitwise_count(rows).sum() / 2e6
        assert abs(share - 1 / (1 + math.e)) < 0.003  # nine standard deviations
    assert nw.mechanisms.local_hashing(1_000_000, epsilon=1).release([5, 999_999]).shape == (2, 2)
    many = nw.mechanisms.hadamard_response(1_000_000, epsilon=1)
    assert len(many.certificate().to_json()) < 2000
    assert (many.release(np.arange(1000)) < many.outputs).all()


def test_errors_and_channels_that_there_are_not() -> None:
    for kind, make in MAKERS.items():
        mechanism = make(40, epsilon=1)
        with pytest.raises(ParameterError, match="has no absolute loss"):
            mechanism.error()
        if kind != "hadamard":
            with pytest.raises(ParameterError, match=r"sets of 40|hash functions"):
                mechanism.channel()
        assert nw.audit(mechanism).value <= 1.0000001
        assert "40 categories" in repr(mechanism)
        copy = pickle.loads(pickle.dumps(mechanism))
        assert copy == mechanism


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_a_stronger_claim_is_not_proved(kind: str) -> None:
    """The same integers with a smaller epsilon: the checker refuses."""
    mechanism = MAKERS[kind](6, epsilon=1)
    smaller = Fraction(999_999, 1_000_000)
    if isinstance(mechanism, (LocalHashingMechanism, HadamardMechanism)):
        response = dataclasses.replace(mechanism.response, epsilon=smaller)
        forged: Any = dataclasses.replace(mechanism, response=response)
    else:
        assert isinstance(mechanism, (UnaryMechanism, SubsetMechanism))
        forged = dataclasses.replace(mechanism, epsilon=smaller)
    with pytest.raises(CertificateError, match="promise is broken"):
        forged.certificate().verify()


# From the papers' definitions, in exact fractions -----------------------------------------------------------------


def below_exp(epsilon: Fraction) -> Fraction:
    """A fraction below e^epsilon, by less than 10^-480 of it: finer than any integer probability here."""
    context = Context(prec=500)
    power = context.exp(context.divide(epsilon.numerator, epsilon.denominator))
    return Fraction(power) * (1 - Fraction(1, 10**480))


def exact_rows(mechanism: Any) -> list[list[Fraction]]:
    """The channel as the papers define it, from the integers that are drawn from."""
    size = len(mechanism.categories)
    if isinstance(mechanism, UnaryMechanism):
        p, q = Fraction(mechanism.one, 1 << mechanism.width), Fraction(mechanism.other, 1 << mechanism.width)
        chances = [[p if i == x else q for i in range(size)] for x in range(size)]
        reports = list(itertools.product((False, True), repeat=size))
        return [[math.prod(c if b else 1 - c for c, b in zip(row, r, strict=True)) for r in reports] for row in chances]
    if isinstance(mechanism, SubsetMechanism):
        p, d = Fraction(mechanism.inside, 1 << mechanism.width), mechanism.size
        with_it, without = p / math.comb(size - 1, d - 1), (1 - p) / math.comb(size - 1, d)
        sets = list(itertools.combinations(range(size), d))
        return [[with_it if x in held else without for held in sets] for x in range(size)]
    keep, other = mechanism.half_probabilities
    signs, rows = hadamard(mechanism.length), []
    for x in range(size):
        block, row = divmod(x, mechanism.length - 1)
        own = [
            y // mechanism.length == block and signs[row + 1, y % mechanism.length] > 0
            for y in range(mechanism.outputs)
        ]
        rows.append([(keep if mine else other) * 2 / mechanism.length for mine in own])
    return rows


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-3", "7/10", "1", "5", "20", "100", "700"])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_whole_channel_keeps_the_promise_in_exact_fractions(size: int, epsilon: str) -> None:
    """Every row sums to one, and no ratio of two rows is above e^epsilon: all reports, all pairs of secrets."""
    limit = below_exp(Fraction(epsilon))
    made = [
        nw.mechanisms.unary_encoding(size, epsilon=epsilon),
        nw.mechanisms.unary_encoding(size, epsilon=epsilon, variant="symmetric"),
    ]
    made += [nw.mechanisms.subset_selection(size, epsilon=epsilon, size=d) for d in range(1, size)]  # type: ignore[misc]
    for mechanism in [*made, nw.mechanisms.hadamard_response(size, epsilon=epsilon)]:
        rows = exact_rows(mechanism)
        assert [sum(row) for row in rows] == [1] * size
        columns = list(zip(*rows, strict=True))
        assert max(max(column) / min(column) for column in columns) <= limit
        assert len(set(map(tuple, rows))) == size  # and the reports tell the secrets apart
    for buckets in (2, 3):
        response = nw.mechanisms.local_hashing(size, epsilon=epsilon, buckets=buckets).response
        assert response.keep + (buckets - 1) * response.other == 1 << response.width
        assert 1 < Fraction(response.keep, response.other) <= limit


@pytest.mark.parametrize(
    "mechanism",
    [
        nw.mechanisms.unary_encoding(6, epsilon=1),
        nw.mechanisms.unary_encoding(6, epsilon=1, variant="symmetric"),
        *(nw.mechanisms.subset_selection(12, epsilon=1, size=d) for d in (1, 4, 6, 9, 11)),
    ],
    ids=repr,
)
def test_sets_are_drawn_from_the_channel(mechanism: Any) -> None:
    """60 000 reports of two secrets against all sets (chi-square, fixed seed, error rate 1e-6 for each)."""
    size, people = len(mechanism.categories), 60_000
    for x in (0, size - 1):
        reports = mechanism.release(np.full(people, x), np.random.default_rng(x))
        found = Counter(map(tuple, reports.tolist()))
        channel = mechanism.channel()
        expected = people * channel.matrix[x]
        drawn = np.array([found.pop(output, 0) for output in channel.outputs])
        assert not found  # nothing else is drawn
        assert chisquare(drawn, expected * people / expected.sum()).pvalue > 1e-6


@pytest.mark.parametrize("kind", ["hadamard", "hashing"])
def test_numbers_are_drawn_from_the_channel(kind: str) -> None:
    """The same for Hadamard response and for local hashing with a small prime."""
    mechanism, people = small(kind), 100_000
    channel = mechanism.channel()
    for x in (0, len(mechanism.categories) - 1):
        drawn = mechanism.release(np.full(people, mechanism.categories[x]), np.random.default_rng(x))
        found = Counter(map(tuple, drawn.tolist()) if kind == "hashing" else drawn.tolist())
        counts = np.array([found.pop(output, 0) for output in channel.outputs])
        assert not found
        assert chisquare(counts, people * channel.matrix[x]).pvalue > 1e-6


@pytest.mark.parametrize("size", [1, 2, 335, 20_000, 999_665, 999_999])
def test_sets_among_a_million_take_few_rounds(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A category to add is always soon found; with d = 335, taking members away would take thousands of rounds for each."""
    mechanism, rounds = nw.mechanisms.subset_selection(1_000_000, epsilon=1, size=size), 0
    real = subset.uniform_below

    def counting(*arguments: Any) -> Any:
        nonlocal rounds
        rounds += 1
        return real(*arguments)

    monkeypatch.setattr(subset, "uniform_below", counting)
    rows = mechanism.release([0, 17, 999_999], np.random.default_rng(size))
    assert set_sizes(rows).tolist() == [size] * 3
    assert rounds <= 10 + 6 * math.isqrt(min(size, 1_000_000 - size))


@given(st.integers(1, 70), st.integers(0, 9))
def test_set_sizes_are_row_sums(width: int, reports: int) -> None:
    rows = np.random.default_rng(width).integers(0, 256, (reports, width), dtype=np.uint8)
    expected = np.unpackbits(rows, axis=1).sum(axis=1, dtype=int).tolist()
    assert set_sizes(rows).tolist() == expected
    assert set_sizes(np.asfortranarray(rows)).tolist() == expected


@pytest.mark.parametrize("kind", sorted(MAKERS))
@pytest.mark.parametrize("epsilon", [100, 700, 5000])
def test_channels_keep_probabilities_that_floats_do_not(kind: str, epsilon: int) -> None:
    """A report that is too unlikely for a float is still possible: the channel's loss is the audited one, not infinite."""
    if kind == "hashing":  # its channel is not listed
        return
    mechanism = MAKERS[kind](12, epsilon=epsilon)
    assert mechanism.channel().epsilon().value == pytest.approx(mechanism.audit().value, rel=1e-12)


def test_labels_that_equal_whole_numbers_stay_what_they_are() -> None:
    for names in ((0.0, 1.0, 2.0), (False, True), (0, 1, 2)):
        domain = nw.mechanisms.unary_encoding(names, epsilon=1).certificate().document["oracle"]["domain"]
        found = domain if isinstance(domain, list) else list(range(domain))
        assert list(map(repr, found)) == list(map(repr, names))


def test_other_objects_are_not_taken_for_reports() -> None:
    """Numbers of eight bytes in memory, parts of numbers and text are no reports over 64 categories."""
    unary, hashing = nw.mechanisms.unary_encoding(64, epsilon=1), nw.mechanisms.local_hashing(64, epsilon=1)
    assert unary.support([np.float64(1), np.int64(5), 1.5, "12345678", {"a": 1}]).outside == 5
    with pytest.raises(DataError, match="an array with a row for each"):
        unary.support(np.zeros((2, 8, 1), dtype=np.uint8))
    assert unary.support([b"12345678", bytearray(8), memoryview(b"12345678"), [0] * 8, np.zeros(8, int)]).reports == 5
    seed, bucket = hashing.release(3)
    for bad in ([(seed + 0.5, 1.9)], [(str(seed), str(bucket))], [seed, bucket, seed, bucket], [(True, False)]):
        with pytest.raises(DataError, match="two whole numbers"):
            hashing.support(bad)
    assert hashing.support([(seed, bucket), [seed, bucket]]).reports == 2


@pytest.mark.parametrize("name", ["unary-encoding", "local-hashing", "subset-selection", "hadamard-response"])
def test_no_policy_perturbs_a_column_with_an_oracle(name: str) -> None:
    column = {"name": "s", "mechanism": name, "categories": 3, "epsilon": 1}
    policy = {"dataset": "d", "budget": {"epsilon": 5}, "columns": [column]}
    with pytest.raises(PolicyError, match="gives reports to estimate from, not values of the column"):
        nw.release(policy, pa.table({"s": [0, 1, 2]}), seed=1)
