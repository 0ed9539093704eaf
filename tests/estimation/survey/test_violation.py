"""The degree of privacy violation, and Warner against Mangat at equal degrees."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from noisewright.exceptions import ParameterError
from noisewright.surveys.designs import (
    beliefs,
    binary,
    compare_at_violation,
    direct,
    mangat,
    mangat_for,
    violation,
    warner,
    warner_for,
)

inner = st.fractions(Fraction(1, 40), Fraction(39, 40), max_denominator=40)
chances = st.fractions(0, 1, max_denominator=40)


@given(chances, chances, inner)
def test_03_rr8_is_the_larger_posterior_by_bayes_rule(p00, p11, pi):
    design = binary(p00, p11)
    joint_yes, joint_no = pi * p11, pi * (1 - p11)
    all_yes = joint_yes + (1 - pi) * (1 - p00)
    posteriors = [j / t for j, t in ((joint_yes, all_yes), (joint_no, 1 - all_yes)) if t]
    found = violation(design, pi)
    assert found == pytest.approx(float(max(posteriors)), abs=1e-12)
    assert found >= float(pi) - 1e-12
    after_no, after_yes = beliefs(design, pi)
    if design.separation > 0:
        assert found == after_yes
    elif design.separation < 0:
        assert found == after_no
    else:
        assert found == pytest.approx(float(pi))


def test_03_rr8_answers_that_nobody_gives():
    assert beliefs(binary(1, 0), "0.3") == (0.3, None)
    assert beliefs(binary(0, 1), "0.3") == (None, 0.3)
    assert violation(direct(), "0.3") == 1


@given(inner, inner)
def test_03_rr8_calibration_meets_the_degree(alpha, pi):
    assume(alpha > pi)
    for design in (warner_for(alpha, pi), mangat_for(alpha, pi)):
        assert violation(design, pi) == pytest.approx(float(alpha), rel=1e-12)
    assert warner_for(alpha, pi).p00 == warner_for(alpha, pi).p11
    assert mangat_for(alpha, pi).p11 == 1


@given(inner, inner)
def test_03_rr9_mangat_never_loses(alpha, pi):
    assume(alpha > pi)
    found = compare_at_violation(alpha, pi)
    own = pi * (1 - pi)
    by_warner = own * (alpha * (1 - pi) + pi * (pi - alpha)) / (alpha - pi) ** 2
    assert by_warner == own * (1 + alpha * (1 - alpha) / (alpha - pi) ** 2)
    assert found.warner.variance(pi) == pytest.approx(float(by_warner), rel=1e-12)
    assert found.mangat.variance(pi) == pytest.approx(float(own * (1 - pi) / (alpha - pi)), rel=1e-12)
    assert found.ratio == pytest.approx(found.warner.variance(pi) / found.mangat.variance(pi), rel=1e-12)
    assert found.ratio >= 1
    assert found.worst_ratio >= 1 - 1e-12


def test_03_rr9_they_are_equal_at_certainty():
    assert compare_at_violation(1, "0.3").ratio == 1


@pytest.mark.parametrize(
    ("pi", "alpha", "published", "true"),
    [
        ("0.01", "0.02", 2.2349, None),
        ("0.01", "0.05", 1.4207, None),
        ("0.01", "0.11", 1.1701, None),
        ("0.01", "0.2", 1.0824, None),
        ("0.01", "0.5", 1.0203, None),
        ("0.01", "0.9", 1.0022, None),
        ("0.01", "1", 1.0, None),
        ("0.1", "0.11", 3.6062, 9.9281),
        ("0.1", "0.2", 2.0864, None),
        ("0.1", "0.5", 1.2346, None),
        ("0.1", "0.9", 1.0248, None),
        ("0.1", "1", 1.0, None),
        ("0.01", "0.011", 3.6411, 10.9153),
    ],
)
def test_03_f37_ratios_of_worst_variances(pi, alpha, published, true):
    p, a = Fraction(pi), Fraction(alpha)
    assert float((1 + p * (1 - a) / (a * (1 - p))) ** 2) == pytest.approx(published, abs=5.1e-5)
    found = compare_at_violation(alpha, pi)
    # The published form assumes that the variance is largest inside; that needs alpha >= 2 pi / (1 + pi).
    if a >= 2 * p / (1 + p):
        assert found.worst_ratio == pytest.approx(published, abs=5.1e-5)
    else:
        assert found.mangat.p00 < Fraction(1, 2)
        assert found.worst_ratio > published
    if true is not None:
        assert found.worst_ratio == pytest.approx(true, abs=5.1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: warner_for("0.1", "0.1"), "above the prevalence"),
        (lambda: mangat_for("0.05", "0.1"), "above the prevalence"),
        (lambda: warner_for("1.1", "0.1"), "at most 1"),
        (lambda: compare_at_violation(Fraction(1, 10) + Fraction(1, 10**400), "0.1"), "above the prevalence"),
        (lambda: mangat_for("0.5", 0), "above 0 and below 1"),
        (lambda: compare_at_violation(1, 1), "above 0 and below 1"),
        (lambda: violation(warner("0.7"), 2), "from 0 to 1"),
        (lambda: mangat(2), "between 0 and 1"),
    ],
)
def test_bad_degrees_are_refused(call, words):
    with pytest.raises(ParameterError, match=words):
        call()
