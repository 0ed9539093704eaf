"""The Laplace mechanism: which calibration it picks, what it draws, promises, certifies and refuses."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranged_support import check_error, range_sets

import noisewright as nw
from noisewright.exceptions import CertificateError, DataError, ParameterError
from noisewright.mechanisms.numeric.half_line_laplace import AsymmetricLaplace
from noisewright.mechanisms.numeric.laplace import LaplaceMechanism
from noisewright.sampling.lattice import Lattice


def test_01_fact03_snapping_keeps_the_loss_and_is_idempotent():
    noisy = nw.geometric(epsilon="0.5", within=(0, 9)).channel()
    valid = [0, 1, 2, 6, 7, 9]
    nearest = [min(valid, key=lambda v, y=y: (abs(v - y), v)) for y in range(10)]
    snap = nw.Channel(np.eye(10)[nearest], range(10), range(10))
    assert (noisy @ snap).epsilon(nw.metrics.Line()).value <= 0.5 * (1 + 1e-9)
    assert np.array_equal((snap @ snap).matrix, snap.matrix)


@pytest.mark.parametrize(
    ("parameters", "kind", "factor"),
    [
        ({}, LaplaceMechanism, 1.0),
        ({"scope": "metric"}, LaplaceMechanism, 1.0),
        ({"excluding": [(0, 1)], "scope": "metric"}, LaplaceMechanism, 1.353482),
        ({"excluding": [(0, 1)]}, LaplaceMechanism, 1.238391),
        ({"within": (0, None), "scope": "metric"}, AsymmetricLaplace, 1 / (32 * math.log1p(1 / 32))),
        ({"within": (0, None), "scope": "metric", "shape": "symmetric"}, LaplaceMechanism, 2.0),
        ({"within": (0, None), "scope": "metric", "margin": 1}, LaplaceMechanism, 1.302017),
        ({"within": (0, None)}, LaplaceMechanism, 1.612605),
        ({"within": (0, 5)}, LaplaceMechanism, 1.588938),
        ({"within": (0, 5), "scope": "metric"}, LaplaceMechanism, 2.0),
        ({"within": [(0, 1), (2, 3)]}, LaplaceMechanism, 1.230765),
    ],
)
def test_the_calibration_fits_the_set_and_the_promise(parameters, kind, factor):
    mechanism = nw.laplace(epsilon=1, **parameters)
    assert isinstance(mechanism, kind)
    assert float(mechanism.scale) == pytest.approx(factor, rel=2e-3)
    assert mechanism.guarantee.scope == parameters.get("scope", "adjacent")
    assert mechanism.reason
    words = mechanism.certificate().verify()
    assert words.startswith("epsilon = 1 ")
    assert ("between neighbours" in words) == (mechanism.guarantee.scope == "adjacent")


def test_unbounded_noise_is_exactly_the_discrete_laplace_law():
    mechanism = nw.laplace(epsilon="1/2", sensitivity=3)
    assert mechanism.scale == 6
    assert mechanism.lattice.step == Fraction(1, 512)
    draws = mechanism.release(np.full(40_000, 2.5), np.random.default_rng(1)) - 2.5
    assert abs(draws.mean()) < 6 * 6 * math.sqrt(2 / 40_000)
    assert np.abs(draws).mean() == pytest.approx(6, rel=0.03)
    assert np.array_equal(draws * 512, np.round(draws * 512))


@pytest.mark.parametrize(
    "within", [(0, 100), (0, None), (None, 3), [(0, 1), (2, 3)], [(None, 0), (1, 2), (5, None)], ("0.1", "0.9")]
)
def test_outputs_lie_in_the_set_and_follow_the_continuous_law(within):
    """Kolmogorov-Smirnov against the continuous limit, at an error rate of about 1e-6 and the lattice's own distance."""
    mechanism = nw.laplace(epsilon=2, within=within, shape="symmetric")
    law = mechanism.law
    lows = [-math.inf if lo is None else float(lo) for lo, _ in mechanism.feasible.components]
    highs = [math.inf if hi is None else float(hi) for _, hi in mechanism.feasible.components]
    for mu in {e for e in (*lows, *highs) if math.isfinite(e)}:
        draws = np.sort(mechanism.release(np.full(20_000, mu), np.random.default_rng(2)))
        k = np.searchsorted(lows, draws, side="right") - 1
        assert (draws >= np.array(lows)[k]).all()
        assert (draws <= np.array(highs)[k]).all()
        apart = np.abs(law.cdf(draws, mu) - (np.arange(draws.size) + 0.5) / draws.size).max()
        assert apart < 2.7 / math.sqrt(draws.size) + 2e-3


@settings(max_examples=25)
@given(
    st.sampled_from(["0.3", "1", "4"]),
    st.sampled_from([1, "0.7", 3]),
    st.sampled_from(["metric", "adjacent"]),
    st.sampled_from([((0, 6), ()), ((0, 6), ((2, 3),)), (((0, 1), ("2.1", "3.9"), (5, 6)), ())]),
    st.sampled_from([0, "1/2"]),
)
def test_the_channel_keeps_the_promise_between_real_neighbours(epsilon, sensitivity, scope, region, margin):
    within, excluding = region
    mechanism = nw.laplace(
        epsilon=epsilon,
        sensitivity=sensitivity,
        scope=scope,
        within=within,
        excluding=excluding,
        margin=margin,
        lattice="1/8",
    )
    channel = mechanism.channel()
    bound = float(Fraction(epsilon))
    assert channel.epsilon(nw.metrics.Discrete()).value <= 2 * 6 / float(mechanism.scale) + 1e-9
    if scope == "metric":
        assert channel.epsilon(mechanism.guarantee.metric).value <= bound * (1 + 1e-9)
    else:
        losses = channel.distinguishability()
        places = np.array(channel.inputs)
        near = np.abs(places[:, None] - places[None, :]) <= float(Fraction(sensitivity))
        assert losses[near].max() <= bound * (1 + 1e-9)
        assert losses[near].max() >= 0.6 * bound  # real neighbours are fewer steps apart than rounding allows for
    mechanism.certificate().verify()


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"within": (0, 6)},
        {"within": [(0, 1), (3, 6)]},
        {"within": (0, 6), "scope": "metric", "margin": 1},
        {"within": ("0.3", "5.7")},
        {"within": ("0.01", "5.99"), "scope": "metric"},
        {"within": [("-0.3", "1.01"), ("1.4", 3), (40, "41.99")]},
        {"within": (0, 60), "margin": "0.7", "scope": "metric", "sensitivity": "0.3"},
    ],
)
def test_error_is_that_of_the_worst_real_answer(parameters, loss):
    mechanism = nw.laplace(epsilon=1, lattice="1/8", **parameters)
    check_error(mechanism, mechanism.inner, loss)


@settings(max_examples=25)
@given(
    range_sets(most=4, open_ends=False),
    st.sampled_from(["0.05", "0.5", "3"]),
    st.integers(-7, 7),
    st.integers(1, 60),
    st.sampled_from(["absolute", "squared"]),
)
def test_error_is_found_for_any_intervals(ranges, epsilon, shift, stretch, loss):
    """Intervals of few and of many lattice points, with ends between them."""
    within = [(Fraction(lo * stretch) + Fraction(shift, 16), hi * stretch - Fraction(shift, 20)) for lo, hi in ranges]
    mechanism = nw.laplace(epsilon=epsilon, within=within, lattice="1/2", sensitivity=2)
    check_error(mechanism, mechanism.inner, loss)


@pytest.mark.parametrize("scope", ["metric", "adjacent"])
@pytest.mark.parametrize("within", [(0, None), None, (0, 100), [(None, 0), (3, None)]])
def test_error_of_a_fine_lattice_is_that_of_the_continuous_law(within, scope):
    mechanism = nw.laplace(epsilon=1, within=within, scope=scope, shape="symmetric")
    components = mechanism.feasible.components
    grid = np.concatenate(
        [
            np.linspace(
                float(hi or 0) - 60 if lo is None else float(lo), float(lo or 0) + 60 if hi is None else float(hi), 4001
            )
            for lo, hi in components
        ]
    )
    for loss in ("absolute", "squared"):
        assert mechanism.error(loss) == pytest.approx(float(mechanism.law.error(grid, loss).max()), rel=3e-3)


def test_unknown_losses_and_channels_without_end_are_refused():
    mechanism = nw.laplace(epsilon=1, within=(0, None))
    with pytest.raises(ParameterError, match="no loss called"):
        mechanism.error("log")
    with pytest.raises(ParameterError, match="infinitely many"):
        mechanism.channel()
    with pytest.raises(ParameterError, match="too large"):
        nw.laplace(epsilon=1, within=(0, 100)).channel()


def test_clamping_only_where_it_brings_no_two_answers_apart():
    clamped = nw.laplace(epsilon=1, within=(0, 4), outside="clamp")
    assert 0 <= clamped.release(1e300) <= 4
    with pytest.raises(ParameterError, match="break the sensitivity"):
        nw.laplace(epsilon=1, excluding=[(0, 1)], outside="clamp")
    with_margin = nw.laplace(epsilon=1, within=(0, 4), outside="clamp", margin=1)
    same = [with_margin.release(np.full(50, v), np.random.default_rng(1)).tolist() for v in (0.0, 1.0)]
    assert same[0] == same[1]  # an answer closer to the wall than the margin counts as one at the margin


@pytest.mark.parametrize("value", [-0.001, 100.001, math.nan, math.inf])
def test_an_answer_outside_is_refused_and_not_shown(value):
    with pytest.raises(DataError) as problem:
        nw.laplace(epsilon=1, within=(0, 100)).release([50.0, value])
    assert str(value) not in str(problem.value)


def test_declared_ends_are_read_as_the_floats_that_data_are():
    mechanism = nw.laplace(epsilon=1, within=("0.3", "0.9"))
    assert 0.3 <= mechanism.release(0.9) <= 0.9
    assert 0.3 <= mechanism.release(0.3) <= 0.9


def test_the_lattice_depends_on_parameters_alone_and_resolves_everything():
    mechanism = nw.laplace(epsilon="0.001", sensitivity="0.3")
    assert mechanism.lattice.step <= Fraction(3, 10) / 512
    short = nw.laplace(epsilon=1, sensitivity=10, within=[(0, "0.01"), ("0.02", 5)])
    assert short.lattice.step <= Fraction(1, 1600)
    assert nw.laplace(epsilon=1, within=(0, 5), lattice="1/4").lattice == Lattice(-2)
    assert nw.laplace(epsilon=1, within=(0, 5), lattice=Lattice(-3)).lattice == Lattice(-3)
    for bad, message in (("0.3", "power of two"), (8, "coarser than an interval"), (2.0**-60, "lattice")):
        with pytest.raises(ParameterError, match=message):
            nw.laplace(epsilon=1, within=(0, 5), lattice=bad)


@pytest.mark.parametrize("within", [(0, 64), None, [(0, 64), (128, 256)]])
def test_a_coarse_lattice_does_not_weaken_the_promise_to_real_neighbours(within):
    """A sensitivity of 1 on a lattice of step 16: neighbours can land a whole step apart, which may cost only epsilon."""
    for scope in ("metric", "adjacent"):
        mechanism = nw.laplace(epsilon=1, within=within, scope=scope, lattice=16)
        assert mechanism.rate <= 1
        if within is not None:
            losses = mechanism.channel().distinguishability()
            assert losses[0, 1] <= 1 + 1e-12


def test_neighbours_across_a_gap_get_one_step_more_when_its_ends_are_no_lattice_points():
    assert nw.laplace(epsilon=1, within=[(0, 1), (2, 3)], lattice="1/8").reach == 8
    assert nw.laplace(epsilon=1, within=[(0, "1.03"), (2, 3)], lattice="1/8").reach == 9
    assert nw.laplace(epsilon=1, within=(0, "1.03"), lattice="1/8").reach == 8


@pytest.mark.parametrize("parameters", [{"within": (0, 100)}, {"within": [(0, 1), (2, 9)], "scope": "metric"}, {}])
def test_a_changed_certificate_is_refused(parameters):
    found = nw.laplace(epsilon=1, **parameters).certificate()
    key = "scale" if not parameters else "rate"
    value = Fraction(found.document["proof"][key])
    tampered = {
        **found.document["proof"],
        key: str(value * (Fraction(99, 100) if key == "scale" else Fraction(101, 100))),
    }
    rebuilt = nw.Certificate.build(
        mechanism="laplace",
        epsilon=found.epsilon,
        metric=found.document["claim"]["metric"],
        distances=found.document["claim"]["distances"],
        proof=tampered,
    )
    with pytest.raises(CertificateError, match="does not prove"):
        rebuilt.verify()


def test_tiny_and_large_budgets_are_proved_too():
    for epsilon in ("1/1000000", "1/100", 30, 100):
        for parameters in ({}, {"within": (0, 1)}, {"within": (0, None)}, {"excluding": [(0, "1/4")]}):
            mechanism = nw.laplace(epsilon=epsilon, **parameters)
            mechanism.certificate().verify()
            value = mechanism.release(0.0)
            assert math.isfinite(value)


def test_a_pickled_mechanism_is_small_and_draws_the_same():
    mechanism = nw.laplace(epsilon=1, within=(0, 100))
    mechanism.release([1.0, 2.0])
    blob = pickle.dumps(mechanism)
    assert len(blob) < 3000
    copy = pickle.loads(blob)
    assert copy == mechanism
    column = np.linspace(0, 100, 500)
    assert np.array_equal(*(m.release(column, np.random.default_rng(4)) for m in (mechanism, copy)))


def test_draws_of_a_seed_do_not_change():
    """The law and the order of random bits are a contract: a change here changes every simulation."""
    mechanism = nw.laplace(epsilon=1, within=(0, 100))
    again = [mechanism.release(np.array([0.0, 50.0, 100.0]), np.random.default_rng(7)).tolist() for _ in range(2)]
    assert again[0] == again[1]
    assert mechanism.release(50.0, np.random.default_rng(7)) == mechanism.release([50.0], np.random.default_rng(7))[0]
