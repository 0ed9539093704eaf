"""Mangat's design for several categories: estimates, covariances, likelihood, and that it is not private."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from noisewright.exceptions import DataError, ParameterError
from noisewright.surveys.categorical import SuperMangat
from noisewright.surveys.designs import mangat

counts = st.lists(st.integers(0, 200), min_size=3, max_size=6).filter(lambda c: sum(c) > 0)


def design(m: int) -> SuperMangat:
    return SuperMangat(tuple(range(m)))


@given(counts)
def test_03_rr11_the_estimate_inverts_the_channel(given_counts):
    m = len(given_counts)
    found = design(m).estimate(given_counts)
    shares = np.array(given_counts) / sum(given_counts)
    np.testing.assert_allclose(found @ design(m).channel().matrix, shares, atol=1e-12)
    assert found.sum() == pytest.approx(1)


def test_03_rr11_it_solves_the_published_fixed_point():
    given_counts = np.array([40.0, 100.0, 60.0, 55.0])
    m, (n_1, pi) = 4, (40.0, SuperMangat(tuple("abcd")).estimate(given_counts))
    for j in (1, 2, 3):
        rest = sum(given_counts[k] / (m * pi[k] / pi[0] + 1) for k in (1, 2, 3) if k != j)
        assert pi[j] == pytest.approx(pi[0] / m * (given_counts[j] * (m - 1) / (rest + n_1) - 1), rel=1e-12)


def test_03_rr11_covariance_is_that_of_the_inverted_multinomial():
    pi = np.array([0.5, 0.2, 0.25, 0.05])
    matrix = design(4).channel().matrix
    answers = pi @ matrix
    inverse = np.linalg.inv(matrix)
    expected = inverse.T @ (np.diag(answers) - np.outer(answers, answers)) @ inverse
    np.testing.assert_allclose(design(4).covariance(pi, 10), expected / 10, atol=1e-14)


@pytest.mark.parametrize(
    ("m", "harmless", "published", "sensitive"),
    [(2, 1, 1, 1), (3, 2, 2.25, 0.694444), (5, 4, 6.25, 0.49), (8, 7, 16, 0.390625)],
)
def test_03_f38_worst_variances(m, harmless, published, sensitive):
    assert m**2 / 4 == published >= harmless  # attained at a share of m/2, which is none from three categories on
    assert design(m).worst_variances() == pytest.approx((harmless, sensitive), abs=5e-7)
    rng = np.random.default_rng(m)
    some = [np.eye(m)[0], np.array([0.5 + 1 / m, 0.5 - 1 / m] + [0.0] * (m - 2)), *rng.dirichlet(np.ones(m), 500)]
    variances = np.array([np.diag(design(m).covariance(pi)) for pi in some])
    assert variances[:, 0].max() == pytest.approx(harmless)
    assert variances[:, 1].max() == pytest.approx(sensitive, abs=5e-7)


def test_03_f38_two_categories_are_mangat_with_one_half():
    for pi in (0.0, 0.3, 0.8):
        own = design(2).covariance([1 - pi, pi])[1, 1]
        assert own == pytest.approx((1 - pi) * (1 + pi))
        assert own == pytest.approx(mangat("1/2").variance(pi))


@pytest.mark.parametrize(("m", "delta"), [(2, 0.5), (3, 1.0), (5, 1.0)])
def test_03_f39_it_is_not_private(m, delta):
    assert design(m).smallest_delta == delta
    for epsilon in (0, 1, 3):
        assert design(m).channel().delta(epsilon) == pytest.approx(delta)


@pytest.mark.parametrize(("m", "degree"), [(2, 0.125), (3, 0.1765), (5, 0.2632), (10, 0.4167)])
def test_03_f39_degree_of_violation_grows_with_the_number_of_categories(m, degree):
    pi = [0.7, 0.05, *([0.25 / (m - 2)] * (m - 2) if m > 2 else [])]
    if m == 2:
        alone = 0.05 / (0.05 + 0.7 / 2)  # these two shares do not sum to 1, so only the formula can be asked
        assert alone == pytest.approx(degree, abs=5e-5)
        assert design(2).violation([0.7, 0.3], 1) == pytest.approx(0.3 / 0.65)
    else:
        assert design(m).violation(pi, 1) == pytest.approx(degree, abs=5e-5)


@given(counts)
def test_the_likeliest_shares_beat_what_an_optimiser_finds(given_counts):
    m, given_array = len(given_counts), np.array(given_counts, dtype=float)
    matrix = design(m).channel().matrix
    pi = design(m).likeliest(given_counts)
    assert pi.min() >= -1e-15
    assert pi.sum() == pytest.approx(1)

    def likelihood(shares):
        answers = np.maximum(shares @ matrix, 1e-300)
        return float((given_array * np.log(answers))[given_array > 0].sum() / given_array.sum())

    start = np.full(m, 1 / m)
    answer = minimize(
        lambda v: -likelihood(np.exp(v - v.max()) / np.exp(v - v.max()).sum()), np.log(start), method="BFGS"
    )
    assert likelihood(pi) >= -float(answer.fun) - 1e-9
    raw = design(m).estimate(given_counts)
    if raw.min() >= 0:
        np.testing.assert_allclose(pi, raw, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: SuperMangat(("a",)), ParameterError, "two or more"),
        (lambda: SuperMangat(("a", "a")), ParameterError, "all different"),
        (lambda: design(3).estimate([1, 2]), DataError, "3 whole numbers"),
        (lambda: design(3).estimate([1, 2, -1]), DataError, "0 or more"),
        (lambda: design(3).estimate([1, 2, 0.5]), DataError, "whole numbers"),
        (lambda: design(3).estimate(["x", "y", "z"]), DataError, "counts are numbers"),
        (lambda: design(3).estimate([10**400, 1, 2]), DataError, "far too large"),
        (lambda: design(3).estimate(["1", "2", "3"]), DataError, "counts are numbers"),
        (lambda: design(3).estimate([[1], [2, 3]]), DataError, "counts are numbers"),
        (lambda: design(3).estimate([1e308, 1e308, 0]), DataError, "more than 10"),
        (lambda: design(3).covariance([0.5, 0.3, 0.2], 0), ParameterError, "1 or more"),
        (lambda: design(3).worst_variances(-1), ParameterError, "1 or more"),
        (lambda: design(20_000).channel(), ParameterError, "too large"),
        (lambda: design(3).estimate([0, 0, 0]), DataError, "no answers"),
        (lambda: design(3).estimate([float("nan"), 1, 1]), DataError, "whole numbers"),
        (lambda: design(3).covariance([0.5, 0.6, 0.1]), ParameterError, "sum to 1"),
        (lambda: design(3).covariance(["a", 1, 2]), ParameterError, "shares are numbers"),
        (lambda: design(3).violation([1, 0, 0], 0), ParameterError, "sensitive categories"),
        (lambda: design(3).violation([0, 1, 0], 2), ParameterError, "nobody answers"),
    ],
)
def test_bad_input_is_refused(call, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call()
    assert "xyz" not in str(caught.value)
