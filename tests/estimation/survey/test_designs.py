"""Binary designs: estimates, variances and worst cases, against formulas, derivatives and simulated surveys."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from noisewright.exceptions import DataError, ParameterError
from noisewright.surveys.designs import Design, binary, direct, mangat, warner

chances = st.fractions(0, 1, max_denominator=50)


def reports(design: Design, truths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    yes = np.where(truths, float(design.p11), float(1 - design.p00))
    return rng.random(truths.shape) < yes


def test_03_rr1_the_estimate_inverts_the_expected_answers():
    design = binary("0.8", "0.7")
    assert design.separation == Fraction(1, 2)
    assert design.estimate(yes=350, respondents=1000) == pytest.approx(0.3, abs=1e-15)
    assert design.yes("0.3") == pytest.approx(0.35, abs=1e-15)
    assert design.estimate(yes=100, respondents=1000) == pytest.approx(-0.2)
    assert design.estimate(yes=100, respondents=1000, clip=True) == 0
    assert design.estimate(yes=900, respondents=1000, clip=True) == 1


@given(chances, chances, chances)
def test_03_rr1_three_forms_of_the_variance_and_the_swaps_agree(p00, p11, pi):
    design = binary(p00, p11)
    assume(design.separation != 0)
    d, mu = design.separation, 1 - p00 + pi * design.separation
    forms = (mu * (1 - mu) / d**2, (Fraction(1, 4) - (p00 - Fraction(1, 2) - pi * d) ** 2) / d**2)
    for form in forms:
        assert design.variance(pi) == pytest.approx(float(form), rel=1e-12, abs=1e-15)
    assert design.variance(pi) == design.swapped.variance(1 - pi) == design.relabelled.variance(pi)
    whole = design.variance(pi, whole_population=True)
    assert design.variance(pi) - whole == pytest.approx(float(pi * (1 - pi)), abs=1e-12 * (1 + whole))


@given(chances, chances)
def test_03_rr1_the_worst_prevalence_is_the_worst_of_a_grid(p00, p11):
    design = binary(p00, p11)
    assume(design.separation != 0)
    for whole in (False, True):
        worst = design.worst_variance(whole_population=whole)
        grid = [Fraction(i, 200) for i in range(201)] + [Fraction(worst.prevalence)]
        found = [design.variance(pi, whole_population=whole) for pi in grid]
        assert max(found) == pytest.approx(worst.variance, rel=1e-9)
        assert found[-1] == pytest.approx(worst.variance, rel=1e-9)


def test_03_f35_simulated_surveys_of_a_sample_and_of_everybody():
    """8000 surveys of 500: the variance of a variance is about 2 v^2 / 8000, and six of its deviations are allowed (1e-8)."""
    design, n, surveys, rng = binary("0.8", "0.7"), 500, 8000, np.random.default_rng(35)
    assert design.variance("0.3") == pytest.approx(0.91)
    assert design.variance("0.3", whole_population=True) == pytest.approx(0.70)
    everybody = np.arange(n) < 150
    for fixed, value in ((False, 0.91), (True, 0.70)):
        truths = np.broadcast_to(everybody, (surveys, n)) if fixed else rng.random((surveys, n)) < 0.3
        counts = reports(design, truths, rng).sum(axis=1)
        estimates = (counts / n + float(design.p00) - 1) / float(design.separation)
        assert design.estimate(int(counts[0]), n) == pytest.approx(estimates[0])
        assert abs(estimates.mean() - 0.3) < 6 * math.sqrt(value / n / surveys)
        assert abs(n * estimates.var() - value) < 6 * value * math.sqrt(2 / surveys)


def test_03_rr1_the_plug_in_variance_is_unbiased():
    design, n = binary("0.8", "0.7"), 30
    mu = design.yes("0.3")
    law = [math.comb(n, k) * mu**k * (1 - mu) ** (n - k) for k in range(n + 1)]
    mean = sum(p * design.plug_in_variance(k, n) for k, p in enumerate(law))
    assert mean == pytest.approx(design.variance("0.3", n), rel=1e-12)


@pytest.mark.parametrize("pw", ["0.6", "0.75", "0.9", "0.2"])
def test_03_rr2_warner(pw):
    p, design = float(Fraction(pw)), warner(pw)
    for pi in (0.0, 0.1, 0.5):
        assert design.variance(pi, 7) == pytest.approx((pi * (1 - pi) + p * (1 - p) / (2 * p - 1) ** 2) / 7)
    assert design.worst_variance(7).variance == pytest.approx(1 / (28 * (2 * p - 1) ** 2))
    assert design.variance("0.1") == pytest.approx(warner(1 - Fraction(pw)).variance("0.1"))


def test_03_f40_warner_on_everybody():
    for pw in ("0.6", "0.9"):
        p = float(Fraction(pw))
        for pi in ("0", "0.3", "1"):
            found = warner(pw).variance(pi, whole_population=True)
            assert found == pytest.approx(1 / (4 * (2 * p - 1) ** 2) - 1 / 4)


def test_03_rr10_everybody_asked_leaves_out_the_sampling_and_nothing_else():
    n, pm, pw = 40, Fraction(3, 10), Fraction(4, 5)
    for design in (mangat(pm), warner(pw), binary("0.8", "0.7")):
        for pi in (Fraction(0), Fraction(1, 5), Fraction(9, 10)):
            gap = design.variance(pi, n) - design.variance(pi, n, whole_population=True)
            assert gap == pytest.approx(float(pi * (1 - pi) / n), abs=1e-15)
    assert mangat(pm).worst_variance(n, whole_population=True) == (pytest.approx(0.7 / (0.3 * n)), 0.0)
    assert warner(pw).worst_variance(n, whole_population=True).variance == pytest.approx((1 / (4 * 0.36) - 0.25) / n)
    assert binary("0.8", "0.7").variance("0.3", n, whole_population=True) == pytest.approx(0.7 / n)


def test_03_rr3_mangat():
    for pm in ("0.1", "0.5", "0.9"):
        p, design = float(Fraction(pm)), mangat(pm)
        for pi in (0.0, 0.2, 0.9):
            assert design.variance(pi, 5) == pytest.approx((1 - pi) * (1 - p * (1 - pi)) / (5 * p))
            assert design.variance(pi, 5, whole_population=True) == pytest.approx((1 - pi) * (1 - p) / (5 * p))
        assert design.estimate(40, 100) == pytest.approx(1 - 0.6 / p)


@pytest.mark.parametrize(
    ("pm", "sampled", "formula", "everybody"),
    [
        ("0.1", 9, 25, 9),
        ("0.25", 3, 4, 3),
        ("0.5", 1, 1, 1),
        ("0.6", 0.6944, 0.6944, 0.6667),
        ("0.75", 0.4444, 0.4444, 0.3333),
        ("0.9", 0.3086, 0.3086, 0.1111),
        ("1", 0.25, 0.25, 0),
    ],
)
def test_03_f36_worst_variance_of_mangat(pm, sampled, formula, everybody):
    design = mangat(pm)
    assert design.worst_variance().variance == pytest.approx(sampled, abs=5e-5)
    assert design.worst_variance(whole_population=True).variance == pytest.approx(everybody, abs=5e-5)
    assert 1 / (4 * float(Fraction(pm)) ** 2) == pytest.approx(formula, abs=5e-5)  # right from 1/2 on only


def test_03_f31_derivatives():
    """Central differences of the exact variance against the closed forms; both derivatives are negative above one half."""
    h = Fraction(1, 10**6)
    for p00, p11, pi in (("0.6", "0.7", "0.2"), ("0.9", "0.55", "0.5"), ("0.75", "0.95", "0.8")):
        a, b, share = Fraction(p00), Fraction(p11), Fraction(pi)
        d = a + b - 1
        by11 = (binary(a, b + h).variance(share) - binary(a, b - h).variance(share)) / float(2 * h)
        by00 = (binary(a + h, b).variance(share) - binary(a - h, b).variance(share)) / float(2 * h)
        assert by11 == pytest.approx(float((2 * a * (a - 1) - d * (2 * a - 1) * share) / d**3), rel=1e-6)
        assert by00 == pytest.approx(float((d * (1 - share + 2 * b * share) - 2 * a * b) / d**3), rel=1e-6)
        assert by11 < 0
        assert by00 < 0


def test_the_direct_question_costs_only_the_sample():
    assert direct().variance("0.1", 100) == pytest.approx(0.0009)
    assert direct().variance("0.1", 100, whole_population=True) == 0
    assert direct().discloses
    assert not warner("0.9").discloses


def test_the_channel_is_the_design():
    assert binary("0.8", "0.7").channel().matrix.tolist() == [[0.8, 0.2], [0.3, 0.7]]


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: binary("1.1", "0.5"), ParameterError, "p00 must be a probability"),
        (lambda: binary("0.5", -1), ParameterError, "p11 must be a probability"),
        (lambda: binary("half", 1), ParameterError, "not a number"),
        (lambda: Design(0.5, Fraction(1)), ParameterError, "must be a Fraction"),  # type: ignore[arg-type]
        (lambda: warner("1/2").estimate(1, 2), ParameterError, "nothing can be estimated"),
        (lambda: warner("1/2").variance("0.1"), ParameterError, "nothing can be estimated"),
        (lambda: warner("1/2").worst_variance(), ParameterError, "nothing can be estimated"),
        (lambda: warner("0.7").estimate(3, 2), DataError, "whole number from 0"),
        (lambda: warner("0.7").estimate(1.5, 2), DataError, "whole number from 0"),  # type: ignore[arg-type]
        (lambda: warner("0.7").estimate(True, 2), DataError, "whole number from 0"),
        (lambda: warner("0.7").estimate(0, 0), ParameterError, "1 or more"),
        (lambda: warner("0.7").estimate(1, 10**13), ParameterError, "at most 10"),
        (lambda: warner("0.7").variance("0.1", 10**400), ParameterError, "at most 10"),
        (lambda: warner("0.7").variance("1.5"), ParameterError, "from 0 to 1"),
        (lambda: warner("0.7").plug_in_variance(1, 1), DataError, "two or more"),
    ],
)
def test_bad_designs_and_counts_are_refused_without_showing_data(call, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call()
    assert str(caught.value).endswith(".")
