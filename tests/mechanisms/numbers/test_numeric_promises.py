"""What numeric mechanisms promise about real numbers, and what their certificates rest on: cases that went wrong once."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.certificates.checker import checker, checker_noise
from noisewright.claims.figures import float_up
from noisewright.exceptions import CertificateError, DataError, ParameterError
from noisewright.mechanisms.numeric.additive import lattice_delta
from noisewright.mechanisms.numeric.laplace_distribution import LatticeLaw
from noisewright.sampling.lattice import Lattice

NUMERIC = {
    "laplace": lambda **more: nw.laplace(epsilon=1, **more),
    "asymmetric": lambda **more: nw.laplace(epsilon=1, within=(0, None), scope="metric", **more),
    "snapped": lambda **more: nw.mechanisms.snapped_laplace(epsilon=1, **more),
    "staircase": lambda **more: nw.mechanisms.staircase(epsilon=1, **more),
    "gaussian": lambda **more: nw.mechanisms.gaussian(epsilon=1, delta="0.01", **more),
    "approximate": lambda **more: nw.mechanisms.approximate_laplace(epsilon=1, delta="0.01", **more),
    "truncated": lambda **more: nw.mechanisms.truncated_laplace(epsilon=1, **{"within": (0, 9), **more}),
}


# Far gaps and large epsilons ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 1, "excluding": ((0, 450),), "scope": "metric"},
        {"epsilon": 15, "within": (1, 365), "excluding": [(213, 244)], "scope": "metric"},
        {"epsilon": 1, "sensitivity": 100, "within": (0, None), "excluding": [(1000, 60000)], "scope": "metric"},
        {"epsilon": 1, "excluding": [(0, 10**6)], "scope": "metric"},
        {"epsilon": 1, "excluding": [(0, 10**6)]},
        {"epsilon": 10, "sensitivity": 3, "within": (-5, None), "excluding": [(0, 300_000)], "scope": "metric"},
    ],
)
def test_far_gaps_are_calibrated_and_proved(parameters):
    mechanism = nw.laplace(**parameters)
    assert "epsilon = " in mechanism.certificate().verify()
    unit = float(mechanism.sensitivity / mechanism.epsilon)
    assert unit <= float(mechanism.scale) <= 2 * unit
    assert nw.audit(mechanism).value == pytest.approx(float(mechanism.epsilon), rel=1e-9)


@pytest.mark.parametrize("scope", ["adjacent", "metric"])
@pytest.mark.parametrize("epsilon", [219, 220, 300, 700, 10**6])
def test_large_epsilons_on_an_interval(epsilon, scope):
    mechanism = nw.laplace(epsilon=epsilon, within=(0, 1), scope=scope)
    assert mechanism.certificate().verify().startswith(f"epsilon = {epsilon} ")
    assert 1 / epsilon <= float(mechanism.scale) * (1 + 1e-9) <= 2.001 / epsilon
    assert 0 <= mechanism.release(0.5, np.random.default_rng(1)) <= 1


def test_a_steeper_rate_over_a_far_gap_is_still_refused():
    document = dict(nw.laplace(epsilon=1, excluding=((0, 450),), scope="metric").certificate().document)
    document["proof"] = {**document["proof"], "rate": str(Fraction(document["proof"]["rate"]) * Fraction(1001, 1000))}
    with pytest.raises(checker.NotProved, match="the promise is broken"):
        checker.check({**document, "digest": checker.digest(document)})


@pytest.mark.parametrize("absurd", ["1e400", 1e300, 2 * 10**6])
@pytest.mark.parametrize("make", [nw.laplace, nw.mechanisms.snapped_laplace, nw.mechanisms.staircase])
def test_an_epsilon_that_promises_nothing_is_refused_in_its_own_name(make, absurd):
    with pytest.raises(ParameterError, match="epsilon must be at most 1000000"):
        make(epsilon=absurd)


# Audits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1, 1), ("0.3", 7), (5, "1/3")])
def test_the_audit_of_asymmetric_noise_is_about_real_answers(epsilon, sensitivity):
    """Slopes of ln P along a step, from the law itself at all its outputs; real answers are mixtures of two points."""
    mechanism = nw.laplace(epsilon=epsilon, sensitivity=sensitivity, within=(0, None), scope="metric")
    tail, near, count = float(mechanism.tail), [float(r) for r in mechanism.near], 60
    law = np.array([[_weight(tail, near, i, j) for j in range(4000)] for i in range(count)])
    law /= law.sum(axis=1, keepdims=True)
    ratios = law[1:, : 2 * count] / law[:-1, : 2 * count]
    steepest = float(np.maximum(ratios, 1 / ratios).max() - 1) / float(mechanism.lattice.step / mechanism.sensitivity)
    found = nw.audit(mechanism).value
    assert steepest * (1 - 1e-6) <= found <= float(mechanism.epsilon) * (1 + 1e-9)
    assert found >= 0.999999 * float(mechanism.epsilon)  # lattice points alone would say about 0.985 of it
    x, y = 0.5, 0.5 - 1e-9  # two answers just beside a lattice point: nothing is lost by being so close
    step = 1.0
    here, there = ((1 - t) * law[0] + t * law[1] for t in (x / step, y / step))
    assert np.abs(np.log(here[:100] / there[:100])).max() / 1e-9 <= steepest * float(
        mechanism.lattice.step / mechanism.sensitivity
    ) * (1 + 1e-4)


def _weight(tail, near, i, j):
    return math.exp(-tail * (j - i)) if j >= i else math.exp(-near[min(i, len(near)) - 1] * (i - j))


def test_the_audit_of_approximate_laplace_solves_for_epsilon():
    source = nw.mechanisms.approximate_laplace(epsilon=1, delta="0.1", rule="source")
    found = nw.audit(source).value
    assert found == pytest.approx(0.8946, abs=1e-4)  # 1/scale + 2 ln(1 - delta) in the limit
    assert lattice_delta(Fraction(found), source.law.scale, source.steps) <= Fraction(1, 10)
    assert lattice_delta(Fraction(found) * (1 - Fraction(1, 10**9)), source.law.scale, source.steps) > Fraction(1, 10)
    exact = nw.audit(nw.mechanisms.approximate_laplace(epsilon=1, delta="0.1")).value
    assert exact == pytest.approx(1, rel=1e-9)
    assert exact <= 1


def test_the_audit_of_the_gaussian_solves_for_epsilon():
    made = nw.mechanisms.gaussian(epsilon=1, delta="0.001")
    assert nw.audit(made).value == pytest.approx(1, rel=1e-6)
    # The same noise at a larger delta has a smaller epsilon, which the checker's own sum confirms.
    found = made.law.loss(made.steps, Fraction(1, 100))
    assert 0.5 < found < 0.9
    assert checker_noise.gaussian_delta(Fraction(found), made.steps, made.law.sigma**2, made.law.stride) <= Fraction(
        1, 100
    )
    lower = Fraction(found) * (1 - Fraction(1, 10**6))
    assert checker_noise.gaussian_delta(lower, made.steps, made.law.sigma**2, made.law.stride) > Fraction(1, 100)


# Columns ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outside", ["refuse", "clamp"])
@pytest.mark.parametrize("name", NUMERIC)
def test_wide_masked_ragged_and_missing_values_are_refused_first(name, outside):
    mechanism = NUMERIC[name](outside=outside, **({} if name in ("asymmetric", "truncated") else {"within": (0, 9)}))
    wide = np.array([np.longdouble(1) + np.longdouble(2) ** -60])
    if wide.dtype.itemsize > 8:
        with pytest.raises(DataError, match="wider than 64-bit floats"):
            mechanism.release(wide)
    with pytest.raises(DataError, match="wider than 64-bit floats"):
        mechanism.release(np.array([2**53 + 1]))
    for masked in (np.ma.array([1.0, 2.0], mask=[0, 1]), [np.ma.array([1.0], mask=[1]), np.ma.array([2.0])]):
        with pytest.raises(DataError, match="a masked column has missing values; fill or drop them first"):
            mechanism.release(masked)
    with pytest.raises(DataError, match="rows of one length"):
        mechanism.release([[1.0, 2.0], [3.0]])
    with pytest.raises(DataError, match="must be finite numbers"):
        mechanism.release([1.0, math.nan])
    assert mechanism.release(np.ma.array([1.0, 2.0])).shape == (2,)


@pytest.mark.parametrize("name", [n for n in NUMERIC if n not in ("asymmetric", "truncated")])
def test_missing_values_without_a_range_are_not_told_to_widen_it(name):
    with pytest.raises(DataError, match="must be finite numbers") as caught:
        NUMERIC[name]().release([math.nan])
    assert "range" not in str(caught.value)


@pytest.mark.parametrize("name", [n for n in NUMERIC if n != "asymmetric"])
def test_a_range_means_the_floats_that_are_written_the_same(name):
    assert 0 <= NUMERIC[name](within=("0", "0.9")).release(0.9) <= 0.9
    with pytest.raises(DataError, match="outside"):
        NUMERIC[name](within=("0", "0.9")).release(math.nextafter(0.9, 1))


@pytest.mark.parametrize("name", NUMERIC)
def test_a_lattice_is_given_by_its_step_or_as_itself(name):
    steps = [NUMERIC[name](lattice=given).lattice for given in (Lattice(-3), "1/8", 0.125)]
    assert steps == [Lattice(-3)] * 3


# What a certificate rests on ------------------------------------------------------------------------------------------


def test_the_metric_of_rounded_numbers_says_so():
    for mechanism in (nw.laplace(epsilon=1, scope="metric"), nw.mechanisms.truncated_laplace(epsilon=1, within=(0, 1))):
        name = f"line between points of the lattice 2^{mechanism.lattice.exponent}"
        assert str(mechanism.guarantee.metric) == name
        assert mechanism.certificate().verify() == f"epsilon = 1 per unit of {name}"
        step = float(mechanism.lattice.step)
        # Two numbers a hair apart on either side of a cell's border are a whole step apart for this promise.
        apart = mechanism.guarantee.metric.matrix([step / 2 - 1e-12, step / 2])[0, 1]
        assert apart == step
        assert mechanism.guarantee.bound(apart) == step
        assert mechanism.map(1e-12) == mechanism.map(step) == step  # of the numbers themselves: rounding is counted in
    assert str(nw.laplace(epsilon=1).guarantee.metric) == "line"


SETS = [None, (0, 10), [(0, 2.875), (4.125, 6.1), (6.9, 10)], [(0, 2.875), (4.125, 10)]]


@pytest.mark.parametrize("sensitivity", ["1", "1/3", "2.3"])
@pytest.mark.parametrize("within", SETS)
@settings(max_examples=25)
@given(x=st.floats(0, 10), y=st.floats(0, 10))
def test_map_covers_real_answers_after_rounding(sensitivity, within, x, y):
    for make in (nw.laplace, nw.mechanisms.snapped_laplace):
        mechanism = make(epsilon=1, sensitivity=sensitivity, within=within, scope="metric", lattice="1/2")
        inside = [within] if isinstance(within, tuple) else within or [(0, 10)]
        if not all(any(low <= v <= high for low, high in inside) for v in (x, y)):
            continue
        if make is nw.laplace:
            (i, j), which = mechanism.inner.place(np.array([x, y]), mechanism.lattice, mechanism.inputs, "refuse")
            law, (k, m) = LatticeLaw(float(mechanism.rate), mechanism.ranges), (0, 0) if which is None else which
            pairs = (np.array([v]) for v in (k, i, m, j))
            loss = float(mechanism.rate) * abs(int(j) - int(i)) + abs(float(law.log_ratio(*pairs)[0]))
        else:
            i, j = mechanism._indices(np.array([x, y])).tolist()
            loss = mechanism.law.loss(abs(i - j), Fraction(0))
        apart = abs(Fraction(x) - Fraction(y)) / Fraction(sensitivity)
        assert loss <= mechanism.map(float_up(apart)) * (1 + 1e-12)


@pytest.mark.parametrize("sensitivity", ["1", "1/3", "2.3"])
@pytest.mark.parametrize("within", SETS)
def test_map_of_nothing_of_one_sensitivity_and_of_a_hair(sensitivity, within):
    for make in (nw.laplace, nw.mechanisms.snapped_laplace):
        mechanism = make(epsilon="0.7", sensitivity=sensitivity, within=within, scope="metric", lattice="1/2")
        assert mechanism.map(0) == 0
        assert mechanism.map(1) == float_up(Fraction("0.7"))  # noise is made for the steps of it
        reach = math.ceil(2 * Fraction(sensitivity))
        beside = make is nw.laplace and isinstance(within, list)  # rounding stays on its side of a gap, one step more
        assert mechanism.map(1e-9) == pytest.approx(0.7 * (1 + beside) / (reach + beside), rel=1e-12)
        assert mechanism.map(math.inf) == math.inf
        with pytest.raises(ParameterError, match="a distance is 0 or more"):
            mechanism.map(math.nan)


def test_answers_beside_a_gap_land_a_step_farther_apart():
    """2.875 stays below the gap (on 2.5) and 3.125 above (on 3.5): a quarter apart, and two steps after rounding."""
    mechanism = nw.laplace(epsilon=1, within=[(0, 2.875), (3.125, 10)], scope="metric", lattice="1/2")
    (i, j), _ = mechanism.inner.place(np.array([2.875, 3.125]), mechanism.lattice, mechanism.inputs, "refuse")
    assert j - i == 2
    assert mechanism.map(0.25) == pytest.approx(2 / 3)
    channel = mechanism.channel()
    low, high = (channel.row(value) for value in (2.5, 3.5))
    assert 0.3 < np.abs(np.log(low / high)).max() <= mechanism.map(0.25)


def test_a_metric_that_names_another_lattice_is_not_proved():
    document = dict(nw.laplace(epsilon=1, scope="metric").certificate().document)
    document["claim"] = {**document["claim"], "metric": {"base": "line", "lattice": -20}}
    with pytest.raises(checker.NotProved, match="not the one that the noise is on"):
        checker.check({**document, "digest": checker.digest(document)})


def test_certificates_carry_the_ends_and_one_step():
    for name, make in NUMERIC.items():
        document = make().certificate().document
        assert Fraction(document["step"]) == make().lattice.step, name
        assert "lattice" not in document
    document = nw.laplace(epsilon=1, within=(0, 100), margin="0.3").certificate().document
    assert document["within"] == [["0", "100"]]
    assert [float(Fraction(end)) for end in document["answers"][0]] == [0.3, 99.7]


def test_the_sentence_says_which_answers_are_covered():
    assert nw.laplace(epsilon=1, within=(0, 100), margin=5).certificate().verify().endswith("for answers from 5 to 95")
    assert "answers" not in nw.laplace(epsilon=1, within=(0, 100)).certificate().verify()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["proof"].update(reach=d["proof"]["reach"] - 1), "neighbours beside a gap may be farther apart"),
        (lambda d: d["within"][0].__setitem__(0, "-1"), "the ranges are not the lattice points"),
        (lambda d: d["answers"][1].__setitem__(1, "9"), "the inputs are not the lattice points"),
        (lambda d: d.update(step="1/2"), "the step of the lattice is not the one"),
        (lambda d: d.update(step="0"), "the step of the lattice is not the one"),
    ],
)
def test_ranges_and_reach_must_follow_from_the_ends(change, message):
    import json

    mechanism = nw.laplace(epsilon=1, within=[(0, "1.3"), (3, 8)])
    assert mechanism.reach == mechanism.lattice.steps(1) + 1
    document = json.loads(mechanism.certificate().to_json())
    change(document)
    with pytest.raises(checker.NotProved, match=message):
        checker.check({**document, "digest": checker.digest(document)})
    with pytest.raises(CertificateError):
        nw.Certificate.from_document({**document, "digest": checker.digest(document)}).verify()


# Errors -------------------------------------------------------------------------------------------------------------


def test_the_error_of_asymmetric_noise_is_that_of_real_answers():
    """Against a brute-force mixture of the two points around each answer."""
    mechanism = nw.laplace(epsilon=1, within=(0, None), scope="metric", lattice="1/4")
    tail, near = float(mechanism.tail), [float(r) for r in mechanism.near]
    law = np.array([[_weight(tail, near, i, j) for j in range(900)] for i in range(120)])
    law /= law.sum(axis=1, keepdims=True)
    outputs = np.arange(900.0)
    for loss, power in (("absolute", 1), ("squared", 2)):
        worst = max(
            float(((1 - t) * law[i] + t * law[i + 1]) @ np.abs(outputs - i - t) ** power)
            for i in range(118)
            for t in np.linspace(0, 1, 41)
        )
        assert mechanism.error(loss) == pytest.approx(worst * 0.25**power, rel=1e-3)
        assert mechanism.error(loss) >= worst * 0.25**power * (1 - 1e-9)
    assert mechanism.error("zero-one") == 1.0
