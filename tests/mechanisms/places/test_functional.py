"""Curves: the guarantee on grids, calibrated after rounding, and what it costs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from claim_support import record_of
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.mechanisms.spatial.curves import curve


@given(
    st.sampled_from(["sup", "l1"]),
    st.integers(1, 6),
    st.floats(0.01, 50),
    st.lists(st.floats(-1, 1), min_size=6, max_size=6),
    st.lists(st.floats(-100, 100), min_size=6, max_size=6),
    st.sampled_from(["auto", "1", "1/8", "16"]),
)
def test_neighbouring_curves_are_within_the_calibrated_steps(norm, points, sensitivity, move, base, lattice):
    """Rounding included: neighbours never land farther apart than the noise is calibrated for."""
    made = curve(epsilon=1, sensitivity=sensitivity, grid=range(points), norm=norm, lattice=lattice)
    shift = np.array(move[:points]) * sensitivity
    if norm == "l1":
        shift /= max(1.0, float(np.abs(move[:points]).sum()))
    first = np.array(base[:points])
    second = first + shift
    exact = [abs(Fraction(a) - Fraction(b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    apart = max(exact) if norm == "sup" else sum(exact)
    steps = int(np.abs(made.lattice.indices(first) - made.lattice.indices(second)).sum())
    if apart <= Fraction(sensitivity):
        assert steps <= made.steps
    assert Fraction(steps) / made.scale_in_steps <= made.epsilon * max(1, math.ceil(apart / Fraction(sensitivity)))


def test_03_fnd8_every_grid_sees_a_private_vector():
    """Curves of 3 points on a coarse lattice as a finite channel: every sub-grid has the stated loss, and no more.

    A private function is one whose values on every finite grid are private; sub-grids are functions of the full one.
    """
    made = curve(epsilon="3/2", sensitivity=1, grid=[0, 1, 2], norm="sup", within=(0, 2), lattice=1)
    assert made.steps == 3
    whole = made.channel()
    assert nw.audit(made).value == pytest.approx(1.5, rel=1e-9)
    promise = made.guarantee
    distances = promise.metric.matrix(whole.inputs)
    losses = whole.distinguishability()
    assert losses[distances <= 1].max() == pytest.approx(1.5, rel=1e-9)
    for kept in (1, 2):
        for places in itertools.combinations(range(3), kept):
            seen = whole @ nw.Channel.deterministic(lambda y, p=places: tuple(y[i] for i in p), whole.outputs)
            assert seen.distinguishability()[distances <= 1].max() <= 1.5 + 1e-9
            assert seen.distinguishability()[distances <= 1].max() == pytest.approx(0.5 * kept, rel=1e-9)


@pytest.mark.parametrize("norm", ["sup", "l1"])
def test_the_certificate_proves_the_steps(norm):
    made = curve(epsilon="0.3", sensitivity="2.5", grid=np.linspace(0, 1, 50), norm=norm)
    certificate = made.certificate()
    assert certificate.numerics == "exact"
    kind = "largest" if norm == "sup" else "sum"
    words = (
        f"epsilon = 0.3 between neighbours (2/5 * {kind} of 50 differences at most 1), in steps of {made.lattice.step}"
    )
    assert certificate.verify() == words
    assert words.startswith(str(made.guarantee))
    assert made.scale == made.steps * made.lattice.step / Fraction("0.3")
    assert float(made.scale) == pytest.approx(
        2.5 / 0.3 * (50 if norm == "sup" else 1), rel=0.01
    )  # in units of the data
    assert nw.audit(made).value == pytest.approx(0.3, rel=1e-12)
    assert nw.audit(made).value >= 0.3 - 1e-15
    worse = dict(certificate.document)
    worse["proof"] = {**worse["proof"], "scale": str(made.scale_in_steps * Fraction(999, 1000))}
    worse["digest"] = checker.digest(worse)
    with pytest.raises(nw.NoisewrightError, match="too small"):
        nw.Certificate(worse).verify()
    other = "sum" if norm == "sup" else "largest"
    for claim, proof, says in (
        ({"metric": record_of("2/5 * line")}, {}, "says nothing about the metric"),
        ({"metric": record_of("2/5 * manhattan")}, {}, "says nothing about the metric"),
        ({"metric": record_of(f"2/5 * {other} of 50 differences")}, {}, "says nothing about the metric"),
        ({"metric": record_of(f"2/5 * {kind} of 60 differences")}, {}, "says nothing about the metric"),
        ({}, {"coordinates": 40}, "says nothing about the metric"),
        ({}, {"coordinates": 0}, "several numbers need"),
        ({}, {"coordinates": 60}, "too small"),
        ({}, {"norm": "l2"}, "several numbers need"),
        ({"delta": "1/1000"}, {}, "delta above 0"),
        ({"distances": {**certificate.document["claim"]["distances"], "shape": "steps"}}, {}, "several numbers need"),
    ):
        changed = {**certificate.document}
        changed["claim"] = {**changed["claim"], **claim}
        changed["proof"] = {**changed["proof"], **proof}
        changed["digest"] = checker.digest(changed)
        with pytest.raises(nw.NoisewrightError, match=says):
            nw.Certificate(changed).verify()


@pytest.mark.parametrize("norm", ["sup", "l1"])
def test_the_steps_that_are_counted_are_reached(norm):
    """Rounding can bring neighbours exactly as far apart as the noise is made for."""
    made = curve(epsilon=1, sensitivity="3.5", grid=range(4), norm=norm, lattice=1)
    first = np.array([0.49, 0.49, 0.49, 0.49])
    second = first + (np.full(4, 3.5) if norm == "sup" else np.array([0.02, 0.02, 0.02, 3.02]))
    steps = int((made.lattice.indices(second) - made.lattice.indices(first)).sum())
    assert steps == made.steps == (16 if norm == "sup" else 7)


def test_noise_follows_the_norm():
    """Sup: every point carries the whole sensitivity, so noise grows with the grid; l1: it does not."""
    few, many = (curve(epsilon=1, sensitivity=1, grid=range(n)) for n in (5, 50))
    assert many.error() / 50 == pytest.approx(10 * few.error() / 5, rel=0.01)
    few, many = (curve(epsilon=1, sensitivity=1, grid=range(n), norm="l1") for n in (5, 50))
    assert many.error() / 50 == pytest.approx(few.error() / 5, rel=0.01)
    assert many.error() / 50 == pytest.approx(1, rel=0.01)


def test_draws_match_the_stated_error():
    """Mean of 40,000 absolute errors within 6 standard errors; seed fixed."""
    made = curve(epsilon=2, sensitivity=3, grid=range(4))
    truth = np.array([0.25, -1.0, 7.5, 100.0])
    seen = made.release(np.tile(truth, (10_000, 1)), np.random.default_rng(1)) - truth
    errors = np.abs(seen).sum(axis=1)
    assert abs(errors.mean() - made.error()) < 6 * errors.std() / 100 + 4 * float(made.lattice.step)
    squares = (seen**2).sum(axis=1)
    assert abs(squares.mean() - made.error("squared")) < 6 * squares.std() / 100
    noise = seen / float(made.lattice.step)
    assert abs(np.corrcoef(noise.T) - np.eye(4)).max() < 0.06  # independent at each point


def test_range_is_kept_and_functions_interpolate():
    made = curve(epsilon="1/2", sensitivity=1, grid=[0.0, 0.5, 2.0], within=("0.1", "3.3"))
    noisy = made.release(np.tile([0.1, 3.3, 1.0], (500, 1)))
    assert noisy.min() >= 0.1
    assert noisy.max() <= 3.3
    assert len({tuple(row) for row in noisy}) > 100
    line = made.function(noisy[0])
    assert line(0.5) == noisy[0, 1]
    assert float(line(1.25)) == pytest.approx((noisy[0, 1] + noisy[0, 2]) / 2)
    assert line([-1, 3]).tolist() == [noisy[0, 0], noisy[0, 2]]
    with pytest.raises(nw.NoisewrightError, match="outside the declared range"):
        made.release([0.0, 1.0, 1.0])
    clamping = curve(epsilon="1/2", sensitivity=1, grid=[0.0, 0.5, 2.0], within=("0.1", "3.3"), outside="clamp")
    assert clamping.release([-50.0, 1.0, 900.0]).shape == (3,)


@pytest.mark.parametrize(
    "bad", [[1.0, 2.0], 5.0, [[1.0], [2.0]], ["a", "b", "c"], [1.0, math.nan, 2.0], [1.0, math.inf, 2.0]]
)
def test_bad_curves_are_refused(bad):
    for within in (None, (0, 10)):
        with pytest.raises(nw.NoisewrightError) as problem:
            curve(epsilon=1, sensitivity=1, grid=[0, 1, 2], within=within).release(bad)
        assert "nan" not in str(problem.value).split()


def test_bad_losses_and_released_curves_are_refused():
    made = curve(epsilon=1, sensitivity=1, grid=[0, 1, 2])
    with pytest.raises(nw.NoisewrightError, match="no loss called 'zero-one'"):
        made.error("zero-one")
    for bad in ([1.0, 2.0], [[1.0], [2.0, 3.0]], ["a", "b", "c"]):
        with pytest.raises(nw.NoisewrightError, match="has 3 values"):
            made.function(bad)


@pytest.mark.parametrize("grid", [None, "abc", b"abc", 5, [0, None], [[0, 1], [2, 3]], [0, "x"], [10**400]])
def test_a_grid_that_is_none_is_refused(grid):
    with pytest.raises(nw.NoisewrightError, match="grid must be one or more finite numbers in increasing order"):
        curve(epsilon=1, sensitivity=1, grid=grid)
    with pytest.raises(nw.NoisewrightError, match="within must be two numbers"):
        curve(epsilon=1, sensitivity=1, grid=[0], within=5)


def test_columns_that_hide_something_are_refused():
    for within in (None, (0, 10)):
        made = curve(epsilon=1, sensitivity=1, grid=[0, 1, 2], within=within, outside="clamp")
        with pytest.raises(nw.NoisewrightError, match="masked column has missing values"):
            made.release(np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]))
        with pytest.raises(nw.NoisewrightError, match="one number for each of the 3 grid points"):
            made.release([[1.0, 2.0, 3.0], [1.0]])
        with pytest.raises(nw.NoisewrightError, match="wider than 64-bit floats"):
            made.release(np.longdouble([1, 2, 3]))
