"""The staircase mechanism: fact 35, the proof on the discrete law, the best first part, errors in closed form."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranged_support import check_error
from scipy.integrate import quad

import noisewright as nw
from noisewright.exceptions import CertificateError, DataError
from noisewright.mechanisms.numeric.staircase import StaircaseLaw, staircase_density


def law_on(law, far):
    k = np.arange(-far, far + 1)
    return k, law.mass(k.astype(float))


@pytest.mark.parametrize(("epsilon", "size"), [(0.2, 4.991676), (1, 0.959517), (3, 0.234821)])
def test_01_fact35_staircase_mass_and_expected_size(epsilon, size):
    total = 2 * quad(lambda d: staircase_density(d, epsilon=epsilon), 0, 60 / epsilon, limit=2000)[0]
    assert total == pytest.approx(1, abs=1e-6)
    exact = 1 / (2 * math.sinh(epsilon / 2))
    assert exact == pytest.approx(size, abs=1e-6)
    assert nw.mechanisms.staircase(epsilon=epsilon).scale == pytest.approx(exact, rel=1e-6)
    assert exact <= 1 / epsilon
    # The error is against the true number, before rounding: E|noise| and half a step where the noise is 0.
    made = nw.mechanisms.staircase(epsilon=epsilon)
    step = float(made.lattice.step)
    assert made.error() == pytest.approx(made.scale + step / 2 * float(made.law.mass(np.array(0.0))), rel=1e-12)


def test_01_fact35_the_lattice_law_tends_to_the_continuous_one():
    limit, gaps = 2 / (2 * math.sinh(0.75)), []
    for bits in (0, 2, 4, 6):
        mechanism = nw.mechanisms.staircase(epsilon="1.5", sensitivity=2, lattice=2.0**-bits)
        gaps.append(abs(mechanism.error() - limit))
        assert mechanism.law.width == 2 << bits
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-4


@given(st.integers(1, 40), st.integers(1, 40), st.fractions("1/50", 8))
def test_no_shift_by_a_sensitivity_costs_more_than_epsilon(width, first, rate):
    """All shifts up to the width, on the weights themselves: levels differ by at most one, and by one somewhere."""
    first = min(first, width)
    n = np.abs(np.arange(-8 * width, 8 * width + 1))
    level = (n + width - first) // width
    worst = max(int(np.abs(level[s:] - level[:-s]).max()) for s in range(1, width + 1))
    assert worst == 1
    assert StaircaseLaw(rate, width, first).loss(width, Fraction(0)) >= float(rate)


@given(st.integers(1, 60), st.fractions("1/20", 10))
def test_the_first_part_is_the_best_whole_number(width, rate):
    sizes = [float(StaircaseLaw(rate, width, g).sums(np.array(np.inf), "absolute")) for g in range(1, width + 1)]
    best = float(StaircaseLaw.best(rate, width).sums(np.array(np.inf), "absolute"))
    assert best <= min(sizes) * (1 + 1e-12)


@pytest.mark.parametrize("rate", ["0.1", "1", "6"])
@pytest.mark.parametrize(("width", "first"), [(1, 1), (5, 2), (5, 5), (40, 13)])
def test_law_tail_and_sums_against_brute_force(rate, width, first):
    law = StaircaseLaw(Fraction(rate), width, first)
    k, mass = law_on(law, 30_000)
    assert mass.sum() == pytest.approx(1, abs=1e-12)
    tails = mass[k >= 0][::-1].cumsum()[::-1]
    for j in (1, 2, 6, 47, 300):
        assert float(law.tail(np.array(float(j)))) == pytest.approx(tails[j], rel=1e-9, abs=1e-300)
    for room in (0, 1, 2, 5, 13, 14, 200):
        steps = np.arange(1, room + 1)
        for loss, weight in (("absolute", 1), ("squared", 2 * steps - 1)):
            expected = float((weight * tails[1 : room + 1]).sum())
            assert float(law.sums(np.array(float(room)), loss)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_it_beats_laplace_noise_and_the_geometric():
    for epsilon in (0.5, 2, 6):
        staircase, laplace = nw.mechanisms.staircase(epsilon=epsilon), nw.mechanisms.snapped_laplace(epsilon=epsilon)
        assert staircase.error() < laplace.error()
    assert nw.mechanisms.staircase(epsilon=6).error() < 0.4 * nw.mechanisms.snapped_laplace(epsilon=6).error()


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one"])
@pytest.mark.parametrize("within", [(0, 10), [(0, 4), (7, 10)], [(0, 3), (5, 6), (12, 13)]])
def test_error_of_snapped_outputs_equals_the_channel(loss, within):
    mechanism = nw.mechanisms.staircase(epsilon="1.5", sensitivity=3, within=within, lattice=1)
    check_error(mechanism, mechanism.within, loss)


@pytest.mark.parametrize("epsilon", ["0.3", "1.5", "20"])
@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("outside", ["refuse", "keep"])
@pytest.mark.parametrize(
    "within",
    [
        [("0.3", "9.7")],
        [("0.51", "30.5")],
        [("-0.3", 4), ("5.99", "8.01"), ("12.6", "14.4")],
        [(0, "1.5"), ("2.5", 70)],
        [("0.4", "3.6"), ("6.4", "8.6")],
    ],
)
def test_error_with_ends_between_lattice_points(epsilon, loss, outside, within):
    """Beside a gap a number may be rounded to a point that lies in the gap."""
    mechanism = nw.mechanisms.staircase(epsilon=epsilon, sensitivity=3, within=within, lattice=1, outside=outside)
    check_error(mechanism, mechanism.within, loss, clipped=len(within) == 1 and outside == "refuse")


def test_audit_reaches_epsilon_and_not_more():
    mechanism = nw.mechanisms.staircase(epsilon="0.8", sensitivity=4, within=(0, 30), lattice=1)
    assert nw.audit(mechanism).value == pytest.approx(0.8, rel=1e-9)
    assert nw.audit(nw.mechanisms.staircase(epsilon="0.8")).value == pytest.approx(0.8)
    assert mechanism.guarantee.scope == "adjacent"


def test_certificate_is_about_the_law_that_is_drawn():
    mechanism = nw.mechanisms.staircase(epsilon=1, sensitivity="2/3")
    assert (
        mechanism.certificate().verify() == "epsilon = 1 between neighbours (3/2 * line at most 1), in steps of 1/2048"
    )
    document = mechanism.certificate().document
    assert document["proof"]["width"] == mechanism.law.width == math.ceil(Fraction(2, 3) / mechanism.lattice.step)


@pytest.mark.parametrize(("field", "value"), [("width", 900), ("rate", "11/10"), ("first", 0), ("first", 5000)])
def test_a_staircase_that_is_too_steep_is_not_proved(field, value):
    from noisewright.certificates.checker import checker

    document = dict(nw.mechanisms.staircase(epsilon=1).certificate().document)
    document["proof"] = {**document["proof"], field: value}
    document["digest"] = checker.digest(document)
    with pytest.raises(CertificateError, match="too short or too high"):
        nw.Certificate(document).verify()


def test_values_are_rounded_to_the_lattice_and_refused_outside():
    mechanism = nw.mechanisms.staircase(epsilon=2, within=(0, 10), lattice="1/4")
    released = mechanism.release(np.array([0.1, 5.33, 9.9]), np.random.default_rng(1))
    assert (released * 4 == np.floor(released * 4)).all()
    assert type(mechanism.release(3.0)) is float
    for bad in ([10.5], ["x"], [None], [math.nan], [5, -1]):
        with pytest.raises(DataError):
            mechanism.release(bad)
