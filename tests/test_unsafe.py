"""The attack targets fail as the theory says, and cannot be mistaken for mechanisms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import lambertw
from scipy.stats import kstest

import noisewright as nw
from noisewright import unsafe
from noisewright.mechanisms import registry
from noisewright.mechanisms.numeric.privacy_loss import pair_delta, pair_loss

ALL = [unsafe.naive_redraw, unsafe.variable_scale_laplace, unsafe.float_laplace]


@pytest.mark.parametrize("make", ALL)
def test_unsafe_is_labelled_everywhere(make):
    target = make(epsilon=1)
    assert repr(target).startswith("UNSAFE")
    assert "UNSAFE" in make.__doc__
    assert "UNSAFE" in type(target).__doc__
    assert "UNSAFE" in unsafe.__doc__
    assert target.name.startswith("UNSAFE")
    with pytest.raises(nw.NoisewrightError, match=r"UNSAFE .* gets no certificate"):
        target.certificate()
    with pytest.raises(nw.NoisewrightError, match=r"UNSAFE .* guarantees nothing"):
        _ = target.guarantee
    with pytest.raises(nw.NoisewrightError, match="UNSAFE"):
        target.channel()
    assert nw.audit(target).value > target.claimed.epsilon * 1.4


def test_unsafe_is_not_registered():
    for name in registry.names():
        assert "unsafe" not in name
        assert registry.registry[name].make not in ALL


@pytest.mark.parametrize(
    ("epsilon", "loss"),
    [(0.01, 0.019901), (0.1, 0.190903), (0.5, 0.831797), (1, 1.489880), (2, 2.623081), (5, 5.689773)],
)
def test_01_fact4_naive_redraw(epsilon, loss):
    target = unsafe.naive_redraw(epsilon=epsilon)
    exact = pair_loss(target.density(0), target.density(1))
    assert exact.value == pytest.approx(loss, abs=6e-7)
    assert exact.value == pytest.approx(math.log(2 * math.exp(epsilon) - 1), rel=1e-12)
    found = target.audit()
    assert found.value == pytest.approx(loss, abs=6e-7)  # and no other pair of neighbours is worse
    assert set(found.pair) == {0.0, 1.0}
    assert target.audit("metric").value == pytest.approx(2 * epsilon, rel=1e-4)  # the general upper bound, at the wall


@given(st.floats(1e-3, 20), st.floats(1e-3, 5))
def test_01_fact5_naive_redraw_fails_at_every_distance(i, epsilon):
    target = unsafe.naive_redraw(epsilon=epsilon)
    loss = pair_loss(target.density(0), target.density(i)).value
    assert loss == pytest.approx(i * epsilon + math.log(2 - math.exp(-i * epsilon)), rel=1e-9)
    assert loss > i * epsilon


def test_01_fact6_constants():
    argument = -1 / (2 * math.e)
    assert lambertw(argument).real == pytest.approx(-0.23196095299, abs=1e-11)
    assert lambertw(argument, -1).real == pytest.approx(-2.67834699002, abs=1e-11)
    assert pytest.approx(1.58595417218, abs=1e-11) == unsafe.WALL_SCALE
    assert pytest.approx(0.76803904701, abs=1e-11) == unsafe.TURN


TABLE = {
    0: 1.585954, 0.01: 1.581830, 0.1: 1.546141, 0.25: 1.492077, 0.5: 1.415394, 0.75: 1.352926, 0.9: 1.321147, 1: 1.302017,
    1.1: 1.284371, 1.5: 1.226268, 2: 1.174710, 3: 1.113061, 5: 1.060775, 10: 1.026492, 20: 1.012363, 50: 1.004757,
    100: 1.002349,
}  # fmt: skip


def test_01_fact7_scale_table():
    np.testing.assert_allclose(unsafe.variable_scale(list(TABLE)), list(TABLE.values()), atol=6e-7)
    doubled = unsafe.variable_scale_laplace(epsilon=0.5, sensitivity=3, within=(-2, math.inf))
    np.testing.assert_allclose(
        doubled.scale(np.array(list(TABLE)) * 6 - 2), 6 * np.array(list(TABLE.values())), atol=5e-6
    )


def test_01_fact8_scale_falls_from_its_wall_value_to_one():
    s = np.concatenate([[0], np.geomspace(1e-6, 1e6, 20001)])
    c = unsafe.variable_scale(s)
    assert (np.diff(c) < 1e-12).all()
    assert (np.diff(c)[::200] < 0).all()
    assert c[0] == pytest.approx(unsafe.WALL_SCALE, rel=1e-12)
    assert c[-1] == pytest.approx(1, abs=1e-6)
    # Away from the branch point the two Lambert branches give the same scale; at s = 1 they meet.
    for value in (0.05, 0.3, 0.8, 1.2, 3.0, 8.0):
        factor = unsafe.WALL_SCALE * math.exp(value) / value
        v = lambertw(-(2 / factor) * math.exp(-1 / factor), 0 if value < 1 else -1).real
        assert float(unsafe.variable_scale(value)) == pytest.approx(-value / (v + 1 / factor), rel=1e-9)
    near = unsafe.variable_scale([1 - 1e-7, 1, 1 + 1e-7])
    np.testing.assert_allclose(near, 1 / unsafe.TURN, rtol=1e-6)


@given(st.floats(0, 30), st.floats(0, 30))
def test_01_fact9_the_wall_keeps_the_claim_exactly(a, b):
    low, high = sorted((a, b))
    target = unsafe.variable_scale_laplace(epsilon=0.8, sensitivity=2)
    first, second = target.density(low), target.density(high)
    allowed = 0.8 * (high - low) / 2
    assert float(first.log(0.0) - second.log(0.0)) == pytest.approx(allowed, abs=1e-9)
    outputs = np.linspace(0, high, 201)
    assert np.abs(first.log(outputs) - second.log(outputs)).max() <= allowed + 1e-9


def test_01_fact10_the_far_side_breaks_it():
    target = unsafe.variable_scale_laplace(epsilon=1)
    wall, inside = target.density(0), target.density(1)
    for output, loss in ((20, 2.213998), (100, 13.214302)):
        assert float(wall.log(output) - inside.log(output)) == pytest.approx(loss, abs=1e-5)
    failure = target.delta()
    assert failure.outputs == ((pytest.approx(11.171168, abs=1e-5), math.inf),)
    assert failure.probability == pytest.approx(8.7279e-4, rel=1e-4)
    assert failure.value == pytest.approx(1.56258e-4, rel=1e-5)
    assert pair_loss(wall, inside).value == math.inf
    found = target.audit()
    assert found.value == math.inf
    assert found.output > 11.2
    assert math.log(found.probabilities[0] / found.probabilities[1]) > 1
    assert "beyond 11.17" in str(found)
    assert "delta = 0.000157" in str(found)  # rounded up


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0.01, 2.0370e-5), (0.1, 1.6522e-4), (0.5, 3.0571e-4), (2, 1.5474e-5), (3, 9.2089e-7), (5, 1.7806e-9)],
)
def test_01_fact11_delta_of_the_worst_pair(epsilon, delta):
    target = unsafe.variable_scale_laplace(epsilon=epsilon)
    assert target.delta().value == pytest.approx(delta, rel=1e-4)
    assert target.delta().pair == (0.0, 1.0)
    for place in np.linspace(0, 5, 21):  # no other pair of neighbours is worse
        laws = target.density(place), target.density(place + 1)
        assert max(pair_delta(*p, epsilon).value for p in (laws, laws[::-1])) <= delta * 1.0001


def test_01_fact11_largest_delta():
    worst = minimize_scalar(
        lambda e: -unsafe.variable_scale_laplace(epsilon=float(e)).delta().value, bounds=(0.1, 1), method="bounded"
    )
    assert worst.x == pytest.approx(0.39316, abs=1e-3)
    assert -worst.fun == pytest.approx(3.1648e-4, rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_01_fact12_the_argument_is_the_branch_point(epsilon):
    """i = -W(ln(eps sigma0 / 2 DF) eps sigma0 / DF) / eps = 1/eps, because the argument is -1/e."""
    scale = unsafe.WALL_SCALE
    argument = math.log(scale / 2) * scale
    assert argument == pytest.approx(-1 / math.e, abs=1e-12)
    assert -lambertw(max(argument, -1 / math.e)).real / epsilon == pytest.approx(1 / epsilon, rel=1e-6)


@pytest.mark.parametrize(
    "target",
    [
        unsafe.naive_redraw(epsilon=1),
        unsafe.naive_redraw(epsilon=2, sensitivity=3, within=(-1, 4)),
        unsafe.variable_scale_laplace(epsilon=1),
    ],
    ids=str,
)
def test_draws_follow_the_stated_density(target):
    """Kolmogorov-Smirnov at error rate 1e-6, seed fixed."""
    for secret in (0.0, 0.7, 3.0):
        law = target.density(secret)
        draws = target.release(np.full(20_000, secret), np.random.default_rng(3))
        assert kstest(draws, np.vectorize(lambda y, law=law: law.mass(high=y))).pvalue > 1e-6
    assert isinstance(target.release(1.0), float)
    with pytest.raises(nw.NoisewrightError, match="outside the declared range"):
        target.release([1.0, math.nan])


@given(st.floats(-1e6, 1e6), st.sampled_from(["1/100", "1", "30"]), st.integers(0, 2**32))
def test_the_precision_attack_is_never_wrong(secret, epsilon, seed):
    target = unsafe.float_laplace(epsilon=epsilon)
    draws = target.release(np.full(500, secret), np.random.default_rng(seed))
    assert not target.impossible(draws, secret).any()


def test_the_precision_attack_identifies_the_secret():
    target = unsafe.float_laplace(epsilon=1)
    zeros, ones = (target.release(np.full(50_000, x), np.random.default_rng(5)) for x in (0.0, 1.0))
    seen = target.identify(zeros, [0, 1])
    assert np.mean(seen == 0) > 0.25
    assert not (seen == 1).any()
    assert not (target.identify(ones, [0, 1]) == 0).any()
    middle = zeros[np.abs(zeros) < 0.5]
    finer = np.fmod(middle, 2.0**-53) != 0
    assert finer.mean() > 0.5  # more than half are finer than any sum with 1 can be
    assert not (np.fmod(ones[np.abs(ones) < 0.5], 2.0**-53) != 0).any()


def test_the_float_audit_shows_an_output():
    target = unsafe.float_laplace(epsilon=1, sensitivity=2)
    found = nw.audit(target)
    assert found.value == math.inf
    assert target.impossible(found.output, 2.0)
    assert not target.impossible(found.output, 0.0)
    assert "no float noise added to 2 can produce" in str(found)


def test_exact_lattice_noise_survives_the_same_attack():
    target = unsafe.float_laplace(epsilon=1)
    safe = [nw.geometric(epsilon=1).release(np.full(20_000, x)).astype(float) for x in (0, 1)]
    for draws in safe:
        assert np.isnan(target.identify(draws, [0, 1])).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: unsafe.naive_redraw(epsilon=0),
        lambda: unsafe.naive_redraw(epsilon=1, within=(1, 1)),
        lambda: unsafe.variable_scale_laplace(epsilon=1, within=(0, 10)),
        lambda: unsafe.variable_scale_laplace(epsilon=1, sensitivity=-1),
        lambda: unsafe.variable_scale(-1),
        lambda: unsafe.float_laplace(epsilon="x"),
    ],
)
def test_bad_parameters_are_refused(call):
    with pytest.raises(nw.NoisewrightError, match=r"\w+ .*[.]$"):
        call()
