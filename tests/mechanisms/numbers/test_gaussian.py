"""The Gaussian mechanism: exact delta of the discrete law, the smallest sigma, oracles, tampered certificates."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ranged_support import check_error

import noisewright as nw
from noisewright.certificates.checker import checker, checker_noise
from noisewright.claims.figures import exp_bounds
from noisewright.exceptions import CertificateError
from noisewright.mechanisms.numeric.gaussian import GaussianLaw, analytic_delta, analytic_sigma, classical_sigma

SETTINGS = [(1, "1e-5"), ("0.1", "1e-6"), (3, "1e-3"), ("0.5", "0.01")]


def hockey_stick(epsilon, steps, sigma):
    far = int(40 * sigma + 4 * steps + 40)
    k = np.arange(-far, far + 1)
    weights = np.exp(-(k**2) / (2 * sigma**2))
    shifted = np.exp(-((k - steps) ** 2) / (2 * sigma**2))
    return float(np.maximum(shifted - math.exp(epsilon) * weights, 0).sum() / weights.sum())


@settings(max_examples=60)
@given(st.floats(0, 6), st.integers(1, 40), st.floats(0.3, 60))
def test_the_checkers_sum_is_the_hockey_stick_divergence(epsilon, steps, sigma):
    assume(steps <= 20 * sigma)  # beyond, delta is 1 but for e^-50, and the bound is not tight
    exact = hockey_stick(epsilon, steps, sigma)
    bound = float(checker_noise.gaussian_delta(Fraction(epsilon), steps, Fraction(sigma) ** 2, 1))
    assert bound == pytest.approx(exact, rel=1e-9, abs=1e-15)


@settings(max_examples=40)
@given(st.floats(0, 5), st.integers(1, 60), st.floats(5, 60), st.integers(2, 9))
def test_longer_runs_only_round_delta_up(epsilon, steps, sigma, stride):
    fine, coarse = (
        checker_noise.gaussian_delta(Fraction(epsilon), steps, Fraction(sigma) ** 2, s) for s in (1, stride)
    )
    assert coarse >= fine


@given(st.fractions(0, 200))
def test_exponentials_of_the_checker_enclose(exponent):
    low, high = checker_noise.minus_below(exponent, 200), checker_noise.minus_above(exponent, 200)
    tight = exp_bounds(-exponent, 260)
    assert low << 60 <= tight[1]
    assert high << 60 >= tight[0]
    assert high - low <= 3


@pytest.mark.parametrize("steps", [1, 3, 10])
@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_delta_grows_with_the_distance_of_neighbours(epsilon, delta, steps):
    law = nw.mechanisms.gaussian(epsilon=epsilon, delta=delta, sensitivity=steps, lattice=1).law
    found = [checker_noise.gaussian_delta(Fraction(epsilon), s, law.sigma**2, law.stride) for s in range(1, steps + 1)]
    assert found == sorted(found)
    assert found[-1] <= Fraction(delta)


@pytest.mark.parametrize("lattice", ["auto", 1])
@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_sigma_suffices_and_is_the_smallest(epsilon, delta, lattice):
    mechanism = nw.mechanisms.gaussian(epsilon=epsilon, delta=delta, lattice=lattice)
    assert "delta" in mechanism.certificate().verify()
    smaller = mechanism.law.sigma * Fraction(999, 1000)
    needs = checker_noise.gaussian_delta(Fraction(epsilon), mechanism.steps, smaller**2, 1)
    assert needs > Fraction(delta)


@pytest.mark.parametrize(("epsilon", "delta"), [*SETTINGS, (0, "0.1"), (10, "1e-5")])
def test_fine_lattices_reach_the_analytic_gaussian(epsilon, delta):
    limit = 4 * analytic_sigma(float(epsilon), float(delta))
    assert nw.mechanisms.gaussian(epsilon=epsilon, delta=delta, sensitivity=4).scale == pytest.approx(limit, rel=1e-4)
    assert analytic_delta(float(epsilon), limit / 4) == pytest.approx(float(delta), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_diffprivlib_agrees_on_both_sigmas(epsilon, delta):
    """Its continuous one to 1e-6; its discrete one, found with a tolerance, to 1e-5."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from diffprivlib.mechanisms import GaussianAnalytic, GaussianDiscrete

        e, d = float(epsilon), float(delta)
        continuous = GaussianAnalytic(epsilon=e, delta=d, sensitivity=1)._scale
        discrete = GaussianDiscrete(epsilon=e, delta=d, sensitivity=1)._scale
    assert analytic_sigma(e, d) == pytest.approx(continuous, rel=1e-6)
    assert nw.mechanisms.gaussian(epsilon=epsilon, delta=delta, lattice=1).scale == pytest.approx(discrete, rel=1e-5)


def test_opendp_needs_no_less_noise():
    """Its discrete Gaussian goes through concentrated privacy, which is safe and looser."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    for epsilon, delta in SETTINGS:
        sigma = nw.mechanisms.gaussian(epsilon=epsilon, delta=delta, lattice=1).scale
        theirs = dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=sigma)
        needed = dp.c.make_zCDP_to_approxDP(theirs).map(1).epsilon(float(delta))
        assert float(Fraction(epsilon)) <= needed <= 1.5 * float(Fraction(epsilon)) + 0.1


def test_the_classical_formula_wastes_noise():
    for epsilon, delta in ((1.0, 1e-5), (0.5, 0.01)):
        assert classical_sigma(epsilon, delta) > 1.15 * analytic_sigma(epsilon, delta)
    assert analytic_delta(20.0, classical_sigma(20.0, 0.3)) > 0.3  # and is false for large epsilon


def test_epsilon_zero_is_total_variation():
    law = nw.mechanisms.gaussian(epsilon=0, delta="0.1", lattice=1).law
    assert hockey_stick(0.0, 1, float(law.sigma)) == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one"])
def test_error_equals_the_channel_and_the_moments(loss):
    mechanism = nw.mechanisms.gaussian(epsilon=1, delta="0.01", sensitivity=2, within=(0, 20), lattice=1)
    check_error(mechanism, mechanism.within, loss)
    ragged = nw.mechanisms.gaussian(epsilon=1, delta="0.01", within=[("0.26", "7.6"), ("9.9", "11.25")], lattice="1/2")
    check_error(ragged, ragged.within, loss, clipped=False)
    wide = nw.mechanisms.gaussian(epsilon=1, delta="0.01")
    assert wide.error("squared") == pytest.approx(wide.scale**2, rel=1e-6)
    assert wide.error() == pytest.approx(wide.scale * math.sqrt(2 / math.pi), rel=1e-6)


def test_sums_of_a_long_law_are_those_of_a_short_one():
    """Beyond 2^15 steps the sums are integrals; just below they are sums. Both agree where they meet."""
    rooms = np.array([0.0, 100.0, 20_000.0, 60_000.0, np.inf])
    below, above = (GaussianLaw(Fraction(2**15 + shift), Fraction(1)) for shift in (0, 1))
    for loss in ("absolute", "squared"):
        np.testing.assert_allclose(below.sums(rooms, loss), above.sums(rooms, loss), rtol=2e-4)
    np.testing.assert_allclose(below.tail(rooms[1:4]), above.tail(rooms[1:4]), rtol=2e-4)


def test_small_epsilon_is_calibrated_in_runs():
    mechanism = nw.mechanisms.gaussian(epsilon="0.001", delta="1e-6")
    assert mechanism.law.stride > 1
    assert mechanism.scale == pytest.approx(analytic_sigma(0.001, 1e-6), rel=2e-4)
    assert mechanism.scale >= analytic_sigma(0.001, 1e-6)
    mechanism.certificate().verify()


@pytest.mark.parametrize(
    ("place", "field", "value", "message"),
    [
        ("proof", "sigma", "3700", "the noise is too small"),
        ("proof", "sigma", "-1", "too small|malformed"),
        ("proof", "sigma", "10000000000000000", "the stride must be"),
        ("proof", "stride", 0, "the stride must be"),
        ("proof", "law", "gaussian", "unknown law"),
        ("claim", "delta", "1/200000", "the noise is too small"),
        ("claim", "delta", "1", "delta"),
        ("claim", "epsilon", "9/10", "the noise is too small"),
        (
            "claim",
            "distances",
            {"shape": "steps", "distance": "1/1024"},
            "only for the law of noise between neighbours",
        ),
        ("claim", "distances", {"shape": "adjacent", "distance": "1/1200"}, "the noise is too small"),
        ("claim", "distances", {"shape": "adjacent", "distance": "1/100000000"}, "the stride must be"),
        ("claim", "distances", {"shape": "adjacent", "distance": "0"}, "above 0"),
    ],
)
def test_tampered_certificates_are_not_proved(place, field, value, message):
    document = dict(nw.mechanisms.gaussian(epsilon=1, delta="1e-5").certificate().document)
    document[place] = {**document[place], field: value}
    document["digest"] = checker.digest(document)
    with pytest.raises(CertificateError, match=message):
        nw.Certificate(document).verify()
