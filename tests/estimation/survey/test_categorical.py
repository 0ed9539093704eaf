"""Categories: Hamming utilities, k-ary response, and the sets of outputs that decide privacy."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import chain, combinations, product

import numpy as np
import pytest

from noisewright.channels.channel import Channel, product_channel
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.categorical.probability_table import Chances
from noisewright.surveys.categorical import (
    ResponseDesign,
    hamming_delta,
    hamming_error,
    hamming_range,
    response_range,
    sufficient_set,
    utility_channel,
)


def hamming(size: int, rows: int, rate: float) -> tuple[list[tuple[int, ...]], np.ndarray]:
    databases = list(product(range(size), repeat=rows))
    apart = np.array([[sum(a != b for a, b in zip(x, y, strict=True)) for y in databases] for x in databases])
    return databases, -rate * apart


def every_event(matrices: np.ndarray, q: float) -> np.ndarray:
    """The smallest delta of each matrix, over all sets of outputs."""
    outputs = range(matrices.shape[-1])
    events = chain.from_iterable(combinations(outputs, k) for k in range(1, len(outputs) + 1))
    sums = np.array([matrices[..., list(event)].sum(axis=-1) for event in events])
    return (sums[..., :, None] - q * sums[..., None, :]).max(axis=(0, -1, -2))


def test_03_cat1_separable_utilities_are_products():
    _, utilities = hamming(3, 2, 0.7)
    whole = utility_channel(utilities).matrix
    parent = utility_channel(hamming(3, 1, 0.7)[1])
    np.testing.assert_allclose(whole, product_channel(parent, 2).matrix, atol=1e-15)
    np.testing.assert_allclose(utility_channel(np.array([[0.0, -2000.0], [-2000.0, 0.0]])).logs[0, 1], -2000)


def test_03_f9_numbers():
    design = ResponseDesign(5, Fraction(1, 10))
    assert design.keep == Fraction(3, 5)
    low, high = hamming_range(5, epsilon=str(math.log(6)))
    assert high == pytest.approx(math.log(6))
    assert low == pytest.approx(-math.log(6))
    np.testing.assert_allclose(utility_channel(hamming(5, 1, math.log(6))[1]).matrix[0], [0.6, 0.1, 0.1, 0.1, 0.1])
    assert utility_channel(hamming(5, 1, math.log(6))[1]).epsilon().value == pytest.approx(1.791759, abs=5e-7)


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0, 0.3, 1.2])
def test_03_f10_the_private_range_is_that_of_every_event(m, epsilon):
    q = math.exp(epsilon)
    for delta in (0, 0.1, 0.4, 0.7):
        low, high = response_range(m, epsilon=epsilon, delta=delta)
        rates = hamming_range(m, epsilon=epsilon, delta=delta)
        if delta < 1 / (m - 1):
            ends = math.log((1 - (m - 1) * delta) / (q + delta)), math.log((q + (m - 1) * delta) / (1 - delta))
            assert rates == pytest.approx(ends, abs=1e-9)
        else:
            assert rates[0] == -math.inf
        p = np.linspace(0, 1 / (m - 1), 401)
        matrices = np.where(np.eye(m, dtype=bool), (1 - (m - 1) * p)[:, None, None], p[:, None, None])
        sure = np.minimum(np.abs(p - low), np.abs(p - high)) > 1e-9
        np.testing.assert_array_equal(
            (every_event(matrices, q) <= delta + 1e-12)[sure], ((low <= p) & (p <= high))[sure]
        )
        assert sure.sum() >= 399


@pytest.mark.parametrize(
    ("epsilon", "m", "deltas"),
    [
        (0, 2, [0.9951, 0.9640, 0.7616, 0.4621, 0, 0.4621, 0.7616, 0.9640, 0.9951]),
        (2, 2, [0.9793, 0.8491, 0, 0, 0, 0, 0, 0.8491, 0.9793]),
        (0, 5, [0.2492, 0.2443, 0.2091, 0.1447, 0, 0.2558, 0.5610, 0.9147, 0.9877]),
    ],
)
def test_03_f11_smallest_deltas(epsilon, m, deltas):
    for rate, delta in zip((-6, -4, -2, -1, 0, 1, 2, 4, 6), deltas, strict=True):
        assert hamming_delta(rate, epsilon=epsilon, categories=m) == pytest.approx(delta, abs=5.1e-5)
        assert utility_channel(hamming(m, 1, rate)[1]).delta(epsilon) == pytest.approx(delta, abs=5.1e-5)
    assert hamming_delta(1e6, epsilon=epsilon, categories=m) == 1


def test_03_f12_sufficient_sets_without_rounding_ties():
    """Databases of two rows from {0, 1, 2}, utility minus the l1 distance: ties are ties."""
    databases = list(product(range(3), repeat=2))
    utilities = [[-sum(abs(a - b) for a, b in zip(x, y, strict=True)) for y in databases] for x in databases]
    near = [
        (i, j)
        for i, x in enumerate(databases)
        for j, y in enumerate(databases)
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    ]
    assert len(near) == 36
    assert 2 ** len(databases) - 2 == 510  # events that are neither empty nor everything
    assert len(near) * 510 == 18_360
    sets = {pair: sufficient_set(utilities, *pair) for pair in near}
    sizes = Counter(len(found.outputs) for found in sets.values())
    assert sizes == {3: 24, 6: 12}
    assert sum(2**size - 1 for found in sets.values() for size in [len(found.outputs)]) == 924
    place = {d: i for i, d in enumerate(databases)}
    first = sets[place[(0, 1)], place[(2, 1)]]
    assert [databases[x] for x in first.outputs] == [(0, 0), (0, 1), (0, 2)]
    assert first.constant
    assert len(sets[place[(1, 1)], place[(2, 1)]].outputs) == 6
    assert not sets[place[(1, 1)], place[(2, 1)]].constant


def test_03_f13_two_blocks():
    """Four values in two blocks: 0 to itself, 1 within a block, 2 to the other one; two rows."""
    letters = "ABYZ"
    block = {"A": 0, "B": 0, "Y": 1, "Z": 1}
    one = [[0 if a == b else -1 if block[a] == block[b] else -2 for b in letters] for a in letters]
    assert sum(math.exp(u) for u in one[0]) == pytest.approx(1.638550, abs=5e-7)
    databases = list(product(letters, repeat=2))
    distance = {(a, b): -one[i][j] for i, a in enumerate(letters) for j, b in enumerate(letters)}
    utilities = [[-sum(distance[a, b] for a, b in zip(x, y, strict=True)) for y in databases] for x in databases]
    assert sum(math.exp(u) for u in utilities[0]) == pytest.approx(1.638550**2, abs=5e-6)
    place = {d: i for i, d in enumerate(databases)}
    found = sufficient_set(utilities, place[("A", "Z")], place[("A", "B")])
    assert {databases[x] for x in found.outputs} == {(x, y) for x in letters for y in "YZ"}
    assert [(int(level), {databases[x][1] for x in outputs}) for level, outputs in found.levels] == [
        (1, {"Y"}),
        (2, {"Z"}),
    ]
    assert found.constant
    assert utility_channel(one).epsilon().value == pytest.approx(2)


def test_03_cat2_hamming_has_one_level_and_the_set_decides():
    databases, utilities = hamming(3, 2, 1.0)
    channel = utility_channel(utilities)
    found = sufficient_set(utilities.tolist(), 0, 1)
    assert len(found.levels) == 1
    q = math.exp(0.4)
    outputs = list(found.outputs)
    excess = channel.matrix[0, outputs].sum() - q * channel.matrix[1, outputs].sum()
    assert excess == pytest.approx(float(np.maximum(channel.matrix[0] - q * channel.matrix[1], 0).sum()))
    assert len(databases) == 9


def test_03_f14_normaliser_and_error():
    rate, m, n = 0.7, 3, 3
    _, utilities = hamming(m, n, rate)
    assert np.exp(utilities).sum(axis=1) == pytest.approx((1 + (m - 1) * math.exp(-rate)) ** n)
    assert hamming_error(rate, m) == pytest.approx(0.498287, abs=5e-7)
    matrix = utility_channel(utilities).matrix
    assert (matrix[0] * -utilities[0] / rate).sum() / n == pytest.approx(hamming_error(rate, m))


@pytest.mark.parametrize("epsilon", ["0", "1e-300", "0.3", "30", "750", "10000"])
def test_03_cat3_without_delta_a_rate_is_private_up_to_epsilon_whatever_its_size(epsilon):
    """Also where e^epsilon or e^-epsilon fits no float."""
    size = float(epsilon)
    assert hamming_range(3, epsilon=epsilon) == pytest.approx((-size, size), rel=1e-15)
    assert hamming_delta(epsilon, epsilon=epsilon, categories=3) == 0
    assert hamming_delta(-Fraction(epsilon), epsilon=epsilon, categories=3) == 0
    assert hamming_delta(Fraction(epsilon) + 50, epsilon=epsilon, categories=3) == pytest.approx(1)
    assert hamming_delta(-Fraction(epsilon) - 50, epsilon=epsilon, categories=3) == pytest.approx(0.5)
    low, _ = response_range(3, epsilon=epsilon)
    if size >= 30:
        assert 0 < low < 1e-12
        assert hamming_error(size, 3) <= 2 * low


@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0.1"), ("2", "0.01"), ("800", "0.3"), ("0", "1e-9")])
@pytest.mark.parametrize("m", [2, 3, 7])
def test_03_cat4_the_ends_of_the_range_are_private_exactly(m, epsilon, delta):
    for lie in response_range(m, epsilon=epsilon, delta=delta):
        p = Fraction(lie)
        rows = [[1 - (m - 1) * p if x == y else p for y in range(m)] for x in range(m)]
        assert Chances.of(rows, range(m), range(m)).private(epsilon, delta)
    if epsilon != "800":  # whose least probability is below all floats
        p = Fraction(response_range(m, epsilon=epsilon, delta=delta)[0]) * (1 - Fraction(1, 2**50))
        rows = [[1 - (m - 1) * p if x == y else p for y in range(m)] for x in range(m)]
        assert not Chances.of(rows, range(m), range(m)).private(epsilon, delta)
    for rate in hamming_range(m, epsilon=epsilon, delta=delta):
        if math.isfinite(rate):
            assert hamming_delta(rate, epsilon=epsilon, categories=m) <= float(Fraction(delta))
            assert hamming_delta(rate * (1 + 1e-6), epsilon=epsilon, categories=m) > float(Fraction(delta))


def test_03_cat3_infinite_rates_are_the_limits():
    assert hamming_delta(math.inf, epsilon=5000, categories=4) == 1
    assert hamming_delta(-math.inf, epsilon=5000, categories=5) == 0.25
    assert (hamming_error(math.inf, 4), hamming_error(-math.inf, 4)) == (0, 1)
    assert hamming_range(3, epsilon=1, delta=1) == (-math.inf, math.inf)


def test_03_cat3_range_of_errors():
    for m, epsilon, delta in ((3, 0.5, 0.1), (4, 1.0, 0.6)):
        q = math.exp(epsilon)
        low, high = hamming_range(m, epsilon=epsilon, delta=delta)
        assert hamming_error(high, m) == pytest.approx((1 - delta) / (1 + q / (m - 1)))
        assert hamming_error(max(low, -700), m) == pytest.approx(min(1, (q + delta) / (q + 1 / (m - 1))))


def test_03_cat4_estimates_and_covariances():
    design, pi = ResponseDesign(4, Fraction(3, 20)), np.array([0.4, 0.3, 0.2, 0.1])
    matrix = np.full((4, 4), 0.15)
    np.fill_diagonal(matrix, 0.55)
    answers = pi @ matrix
    np.testing.assert_allclose(design.estimate(np.round(answers * 1000)), pi, atol=1e-12)
    inverse = np.linalg.inv(matrix)
    expected = inverse.T @ (np.diag(answers) - np.outer(answers, answers)) @ inverse
    np.testing.assert_allclose(design.covariance(pi, 50), expected / 50, atol=1e-14)
    for j, share in enumerate(("0.4", "0.3", "0.2", "0.1")):
        assert design.collapsed.variance(share, 50) == pytest.approx(design.covariance(pi, 50)[j, j])
    assert Channel(matrix).epsilon().value == pytest.approx(math.log(0.55 / 0.15))


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: response_range(1, epsilon=1), ParameterError, "2 or more"),
        (lambda: hamming_range(True, epsilon=1), ParameterError, "2 or more"),
        (lambda: ResponseDesign(3, Fraction(2, 3)), ParameterError, "1/\\(m - 1\\)"),
        (lambda: ResponseDesign(2, Fraction(1, 2)).estimate([1, 1]), ParameterError, "nothing can be estimated"),
        (lambda: ResponseDesign(3, Fraction(1, 5)).estimate([1, 1]), DataError, "3 whole numbers"),
        (lambda: utility_channel([[0, math.inf]]), ParameterError, "finite"),
        (lambda: utility_channel([["a", "b"]]), ParameterError, "finite"),
        (lambda: utility_channel([[1, 2], [3]]), ParameterError, "finite"),
        (lambda: hamming_delta(math.nan, epsilon=1, categories=3), ParameterError, "the rate must be a finite"),
        (lambda: hamming_error(math.nan, 3), ParameterError, "the rate must be a finite"),
        (lambda: hamming_error("x", 3), ParameterError, "the rate = 'x' is not a number"),
        (lambda: response_range(10**400, epsilon=1), ParameterError, "2 or more, up to"),
        (lambda: ResponseDesign(3, Fraction(1, 5)).covariance([0.2, 0.3, 0.5], 0), ParameterError, "1 or more"),
        (lambda: sufficient_set([[0, 1], [1, 0]], 0, 5), ParameterError, "two of its rows"),
        (lambda: sufficient_set([1, 2], 0, 1), ParameterError, "two of its rows"),
        (lambda: sufficient_set([[0, 1], [1]], 0, 1), ParameterError, "one length"),
        (lambda: sufficient_set([["x", 1], [1, 0]], 0, 1), ParameterError, "not a number"),
    ],
)
def test_bad_input_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
