"""Laplace noise with delta: fact F-4 of the foundations, and the lattice version of it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.exceptions import CertificateError, ParameterError
from noisewright.mechanisms.numeric.additive import lattice_delta
from noisewright.mechanisms.numeric.laplace import laplace_delta, laplace_scale

FACTS = [
    (1, 0.1, 1, 0.904682, 0.051317, 0.825954),
    (0.5, 0.05, 3, 5.441749, 0.025321, 4.978538),
    (0, 0.2, 1, 4.481420, 0.105573, 2.240710),
]


@pytest.mark.parametrize(("epsilon", "delta", "diameter", "source", "true", "exact"), FACTS)
def test_03_f04_source_scale_true_delta_and_exact_scale(epsilon, delta, diameter, source, true, exact):
    b = laplace_scale(epsilon=epsilon, delta=delta, sensitivity=diameter, rule="source")
    assert b == pytest.approx(source, abs=1e-6)
    assert laplace_delta(epsilon=epsilon, scale=b, sensitivity=diameter) == pytest.approx(true, abs=1e-6)
    best = laplace_scale(epsilon=epsilon, delta=delta, sensitivity=diameter)
    assert best == pytest.approx(exact, abs=1e-6)
    assert laplace_delta(epsilon=epsilon, scale=best, sensitivity=diameter) == pytest.approx(delta, abs=1e-12)


@pytest.mark.parametrize(("epsilon", "delta", "diameter", "source", "true", "exact"), FACTS)
def test_03_f04_the_lattice_scale_tends_to_the_exact_one(epsilon, delta, diameter, source, true, exact):
    del true
    fine = nw.mechanisms.approximate_laplace(epsilon=epsilon, delta=delta, sensitivity=diameter)
    assert fine.scale == pytest.approx(exact, rel=1e-5)
    old = nw.mechanisms.approximate_laplace(epsilon=epsilon, delta=delta, sensitivity=diameter, rule="source")
    assert old.scale == pytest.approx(source, rel=1e-5)
    for mechanism in (fine, old):
        assert "delta" in mechanism.certificate().verify()


def brute_delta(epsilon, scale, steps):
    k = np.arange(-int(60 * scale + 2 * steps) - 5, int(60 * scale + 3 * steps) + 6)
    first, second = np.exp(-np.abs(k - steps) / scale), np.exp(-np.abs(k) / scale)
    return float(np.maximum(first - np.exp(epsilon) * second, 0).sum() * np.tanh(1 / (2 * scale)))


@settings(max_examples=80)
@given(st.floats(0, 4), st.floats(0.2, 40), st.integers(1, 30))
def test_closed_form_is_the_hockey_stick_divergence(epsilon, scale, steps):
    found = lattice_delta(Fraction(epsilon), Fraction(scale), steps)
    assert float(found) == pytest.approx(brute_delta(epsilon, scale, steps), abs=1e-12)


@settings(max_examples=40)
@given(st.floats(0, 3), st.floats(0.5, 30), st.integers(2, 12))
def test_delta_grows_with_distance_and_falls_with_scale(epsilon, scale, steps):
    at = [lattice_delta(Fraction(epsilon), Fraction(scale), s) for s in range(1, steps + 1)]
    assert at == sorted(at)
    wider = [lattice_delta(Fraction(epsilon), Fraction(scale) * f, steps) for f in (1, Fraction(11, 10), 2)]
    assert wider == sorted(wider, reverse=True)


@settings(max_examples=40)
@given(st.fractions(0, 3), st.fractions("1/1000", "9/10"), st.integers(1, 9))
def test_the_scale_suffices_and_is_the_smallest(epsilon, delta, steps):
    mechanism = nw.mechanisms.approximate_laplace(epsilon=epsilon, delta=delta, sensitivity=steps, lattice=1)
    mechanism.certificate().verify()
    assert lattice_delta(epsilon, mechanism.law.scale, steps) <= delta
    assert lattice_delta(epsilon, mechanism.law.scale * (1 - Fraction(1, 2**30)), steps) > delta
    source = nw.mechanisms.approximate_laplace(
        epsilon=epsilon, delta=delta, sensitivity=steps, lattice=1, rule="source"
    )
    source.certificate().verify()
    assert source.law.scale >= mechanism.law.scale


def test_channel_needs_exactly_delta():
    mechanism = nw.mechanisms.approximate_laplace(epsilon="0.5", delta="0.05", sensitivity=4, within=(0, 80), lattice=1)
    need = mechanism.channel().delta("0.5", mechanism.guarantee.metric, 1.0)
    assert need == pytest.approx(0.05, abs=1e-10)
    assert nw.audit(mechanism).value == pytest.approx(0.5, abs=1e-6)
    assert nw.audit(nw.mechanisms.approximate_laplace(epsilon="0.5", delta="0.05")).value == pytest.approx(
        0.5, rel=1e-9
    )


def test_delta_saves_noise():
    assert (
        nw.mechanisms.approximate_laplace(epsilon=1, delta="0.1").error()
        < nw.mechanisms.snapped_laplace(epsilon=1).error()
    )


def test_refused():
    with pytest.raises(ParameterError, match="not both 0"):
        laplace_scale(epsilon=0, delta=0)
    with pytest.raises(ParameterError, match="rule must be"):
        laplace_scale(epsilon=1, delta=0.1, rule="best")


@pytest.mark.parametrize(("field", "value"), [("scale", "840"), ("scale", "-3")])
def test_too_little_noise_is_not_proved(field, value):
    document = dict(nw.mechanisms.approximate_laplace(epsilon=1, delta="0.1").certificate().document)
    document["proof"] = {**document["proof"], field: value}
    document["digest"] = checker.digest(document)
    with pytest.raises(CertificateError, match=r"too small|malformed"):
        nw.Certificate(document).verify()
