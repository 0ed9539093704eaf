"""Margins of error: constants, sizes of surveys, and how often intervals contain the truth."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import erfinv
from scipy.stats import binom, norm
from scipy.stats import binomtest as binomial_test

from noisewright.exceptions import DataError, ParameterError
from noisewright.surveys.designs import binary, warner
from noisewright.surveys.devices import best_device, instrument
from noisewright.surveys.planning import deviations, margin_of_error, respondents_for, share_interval


def coverage(design, pi, n, method, level):
    """The exact probability that the interval contains the share: a sum over all counts."""
    inside = [
        low <= pi <= high
        for low, high in (
            share_interval(design, k, n, confidence=level, method=method, clip=False) for k in range(n + 1)
        )
    ]
    return float(binom.pmf(np.arange(n + 1), n, design.yes(pi))[np.array(inside)].sum())


def test_03_rr12_constants():
    assert deviations() == pytest.approx(1.959964, abs=5e-7)
    assert deviations(method="chebyshev") == pytest.approx(4.4721, abs=5e-5)
    assert deviations("0.99") == pytest.approx(2.575829, abs=5e-7)
    assert margin_of_error(0.0004) == pytest.approx(0.0392, abs=5e-5)


def test_the_exact_interval_is_the_textbooks():
    design = binary(1, 1)
    for yes, n in ((0, 20), (3, 20), (20, 20), (123, 400)):
        theirs = binomial_test(yes, n).proportion_ci(0.9, method="exact")
        ours = share_interval(design, yes, n, confidence="0.9")
        assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize("pi", [0.0, 0.03, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("level", ["0.8", "0.95"])
def test_exact_and_chebyshev_intervals_cover_at_least_as_often_as_they_say(pi, level):
    for design in (warner("3/4"), binary("0.96", "0.5"), binary("0.2", "0.3")):
        for method in ("exact", "chebyshev"):
            assert coverage(design, pi, 60, method, level) >= float(level) - 1e-9


def test_normal_intervals_cover_about_as_often_as_they_say():
    for pi in (0.05, 0.3, 0.6):
        assert abs(coverage(warner("3/4"), pi, 1000, "normal", "0.95") - 0.95) < 0.006


def test_simulated_surveys_with_cards_cover_the_truth():
    """2000 surveys of 500 people who draw cards: the count of covered ones is within 5 deviations of what theory says, and
    for the exact interval at least the level less 5 deviations: one failure in a million seeds."""
    device = best_device(instrument("11 cards"), epsilon=1, prevalence="0.1")
    design, n, surveys, rng = device.design, 500, 2000, np.random.default_rng(12)
    truths = rng.random((surveys, n)) < 0.1
    answers = device.release(np.where(truths, "yes", "no"), rng) == "yes"
    counts = answers.sum(axis=1)
    spread = 5 * math.sqrt(0.95 * 0.05 / surveys)
    for method in ("exact", "normal"):
        ends = {int(k): share_interval(design, int(k), n, method=method, clip=False) for k in np.unique(counts)}
        covered = np.mean([ends[int(k)][0] <= 0.1 <= ends[int(k)][1] for k in counts])
        assert abs(covered - coverage(design, 0.1, n, method, "0.95")) < spread
        assert covered > 0.95 - spread
    planned = margin_of_error(design.variance("0.1", n))
    estimates = (counts / n + float(design.p00) - 1) / float(design.separation)
    assert abs(np.mean(np.abs(estimates - 0.1) <= planned) - 0.95) < spread + 0.01  # the count is a whole number
    assert np.mean(np.abs(estimates - 0.1) <= margin_of_error(design.variance("0.1", n), method="chebyshev")) > 0.999


def test_clipped_intervals_are_the_part_of_them_that_can_be_true():
    design = warner("3/4")
    for yes in (10, 25, 50, 75, 100):
        low, high = share_interval(design, yes, 100, clip=False)
        assert share_interval(design, yes, 100) == (min(max(low, 0), 1), min(max(high, 0), 1))
    assert share_interval(design, 25, 100, clip=False)[0] < 0 == share_interval(design, 25, 100)[0]
    assert share_interval(design, 75, 100)[1] == 1


@pytest.mark.parametrize("confidence", [2.0**-60, 1e-9, 1e-5, 1.1e-5, 0.5, 0.999999, 1 - 2.0**-53])
def test_deviations_next_to_both_ends_of_the_confidence(confidence):
    """Against the inverse error function, which has all digits there."""
    assert deviations(confidence) == pytest.approx(math.sqrt(2) * erfinv(confidence), rel=1e-9)
    assert deviations(confidence, "chebyshev") >= deviations(confidence)


def test_intervals_for_a_whole_population_have_no_part_from_sampling():
    """The exact law of the count where 12 of 40 have the attribute: a sum of two binomial counts."""
    design, n, holders = warner("3/4"), 40, 12
    law = np.convolve(
        binom.pmf(range(holders + 1), holders, 0.75), binom.pmf(range(n - holders + 1), n - holders, 0.25)
    )
    widths = {}
    for method, whole in (
        ("normal", True),
        ("normal", False),
        ("chebyshev", True),
        ("chebyshev", False),
        ("exact", True),
    ):
        ends = [share_interval(design, k, n, method=method, clip=False, whole_population=whole) for k in range(n + 1)]
        covered = float(law[[low <= holders / n <= high for low, high in ends]].sum())
        assert covered >= (0.93 if method == "normal" else 0.95)
        widths[method, whole] = ends[20][1] - ends[20][0]
    planned = margin_of_error(design.variance("1/2", n, whole_population=True))
    assert widths["normal", True] == pytest.approx(2 * planned)
    assert widths["normal", True] < widths["normal", False]
    assert widths["chebyshev", True] < widths["chebyshev", False]


def test_exact_intervals_of_as_many_as_are_allowed_are_still_exact():
    """The tails at the ends, by scipy's own survival functions: 2.5 % each."""
    n = 10**12
    k = 3 * n // 10
    low, high = share_interval(binary(1, 1), k, n)
    assert 0 < low < 0.3 < high < 1
    assert norm.sf((k - 0.5 - n * low) / math.sqrt(n * low * (1 - low))) == pytest.approx(0.025, rel=1e-4)
    assert norm.cdf((k + 0.5 - n * high) / math.sqrt(n * high * (1 - high))) == pytest.approx(0.025, rel=1e-4)


@pytest.mark.parametrize(("variance", "margin"), [(1.05, "0.03"), (0.25, "0.0001"), (0.0, "0.1"), (1.21, "0.05")])
@pytest.mark.parametrize("method", ["normal", "chebyshev"])
def test_the_number_of_respondents_is_the_smallest_that_does(variance, margin, method):
    n = respondents_for(variance, margin, method=method)
    assert margin_of_error(variance / n, method=method) <= float(margin) * (1 + 1e-9)
    if n > 1:
        assert margin_of_error(variance / (n - 1), method=method) > float(margin)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: deviations(1), ParameterError, "above 0 and below 1"),
        (lambda: deviations(0), ParameterError, "above 0 and below 1"),
        (lambda: deviations(method="exact"), ParameterError, "'normal' or 'chebyshev'"),
        (lambda: margin_of_error(-1.0), ParameterError, "0 or more"),
        (lambda: margin_of_error(math.nan), ParameterError, "0 or more"),
        (lambda: respondents_for(1.0, 0), ParameterError, "target margin"),
        (lambda: respondents_for(1.0, "1e-20"), ParameterError, "more than 1e\\+12"),
        (lambda: respondents_for(1.0, "1e-300"), ParameterError, "more than 1e\\+12"),
        (lambda: respondents_for(1.0, Fraction(1, 10**400)), ParameterError, "more than 1e\\+12"),
        (lambda: respondents_for(math.nan, "0.1"), ParameterError, "0 or more"),
        (lambda: respondents_for("x", "0.1"), ParameterError, "0 or more"),  # type: ignore[arg-type]
        (lambda: margin_of_error(None), ParameterError, "0 or more"),  # type: ignore[arg-type]
        (lambda: share_interval(warner("3/4"), 10**18, 10**19), ParameterError, "at most 10\\^12"),
        (lambda: share_interval(warner("3/4"), 5, 4), DataError, "whole number"),
        (lambda: share_interval(warner("3/4"), 2, 4, method="wald"), ParameterError, "'exact'"),
        (lambda: share_interval(warner("1/2"), 2, 4), ParameterError, "nothing can be estimated"),
    ],
)
def test_bad_input_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
