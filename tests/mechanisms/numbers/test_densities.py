"""The auditors for densities, against grids, quadrature and the finite auditor."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import quad

import noisewright as nw
from noisewright.base import MechanismAudit
from noisewright.mechanisms import audit as auditing
from noisewright.mechanisms.audit import Neighbours
from noisewright.mechanisms.numeric.privacy_loss import (
    LaplaceDensity,
    audit_family,
    audit_locations,
    laplace_density,
    pair_delta,
    pair_loss,
)

HALF_LINE = (0.0, math.inf)


@st.composite
def feasible_sets(draw, bounded=None):
    """Up to four intervals, perhaps reaching infinity."""
    count = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.floats(0.05, 3), min_size=2 * count, max_size=2 * count))
    ends = (np.cumsum(lengths) - draw(st.floats(0, 6))).tolist()
    pieces = [(ends[2 * i], ends[2 * i + 1]) for i in range(count)]
    if bounded is not True:
        if draw(st.booleans()):
            pieces[0] = (-math.inf, pieces[0][1])
        if draw(st.booleans()):
            pieces[-1] = (pieces[-1][0], math.inf)
    return pieces


@st.composite
def pairs(draw, one_scale=False, bounded=None):
    pieces = draw(feasible_sets(bounded))

    def place():
        low, high = draw(st.sampled_from(pieces))
        low, high = (high - 4 if low == -math.inf else low), (low + 4 if high == math.inf else high)
        low, high = (-2.0, 2.0) if math.isnan(low + high) or math.isinf(low) else (low, high)
        return min(high, low + (high - low) * draw(st.floats(0, 1)))

    first = draw(st.floats(0.2, 4))
    scales = (first, first if one_scale else draw(st.floats(0.2, 4)))
    return tuple(laplace_density(place(), scale=s, within=pieces) for s in scales)


def grid(density, points=4001, far=60.0):
    spans = [(max(low, -far), min(high, far)) for low, high in density.pieces]
    return np.concatenate([np.linspace(low, high, points) for low, high in spans])


def integral(function, density):
    total = 0.0
    for low, high in density.pieces:
        cuts = sorted({low, high, *(p for p in (density.location,) if low < p < high)})
        total += sum(quad(function, a, b, epsabs=1e-13, limit=200)[0] for a, b in pairwise(cuts))
    return total


@given(pairs(one_scale=True))
def test_au1_one_scale_is_exact(pair):
    loss = pair_loss(*pair)
    at = grid(pair[0])
    seen = np.abs(pair[0].log(at) - pair[1].log(at)).max()
    assert seen <= loss.value + 1e-9
    at = np.array([loss.output])
    assert abs(float((pair[0].log(at) - pair[1].log(at))[0])) == pytest.approx(loss.value, abs=1e-12)


@given(pairs(bounded=True))
def test_au1_two_scales_on_a_bounded_set_is_exact(pair):
    loss = pair_loss(*pair)
    at = grid(pair[0])
    assert np.abs(pair[0].log(at) - pair[1].log(at)).max() <= loss.value + 1e-9
    likelier = next(law for law in pair if law.location == loss.pair[0])
    other = pair[1] if likelier is pair[0] else pair[0]
    if pair[0].location != pair[1].location:
        assert float(likelier.log(loss.output) - other.log(loss.output)) == pytest.approx(loss.value, abs=1e-12)


def test_au1_different_tails_have_no_bound():
    first, second = (laplace_density(1, scale=s, within=HALF_LINE) for s in (1, 2))
    loss = pair_loss(first, second)
    assert (loss.value, loss.output) == (math.inf, math.inf)
    assert pair_loss(laplace_density(0, scale=1), laplace_density(0, scale=3)).value == math.inf
    left = [(-math.inf, 0.0)]
    assert (
        pair_loss(laplace_density(-1, scale=1, within=left), laplace_density(-1, scale=2, within=left)).output
        == -math.inf
    )
    assert "no bound" in str(loss)
    # The same two scales on a bounded set are fine.
    assert pair_loss(*(laplace_density(1, scale=s, within=(0, 5)) for s in (1, 2))).value < 4


@pytest.mark.parametrize("distance", [0.3, 1.0, 7.0])
def test_01_fact2_laplace_on_the_line(distance):
    """AU-1 loss of unbounded Laplace noise is exactly epsilon d / DF."""
    epsilon, sensitivity = 0.7, 2.0
    first, second = (laplace_density(m, scale=sensitivity / epsilon) for m in (0.0, distance))
    assert pair_loss(first, second).value == pytest.approx(epsilon * distance / sensitivity, rel=1e-14)


@given(feasible_sets(), st.floats(0.2, 4), st.floats(0.3, 3), st.floats(0, 1))
def test_mass_and_errors_match_quadrature(pieces, scale, ratio, where):
    high = min(pieces[0][1], 12.0)
    low = max(pieces[0][0], high - 6)
    density = LaplaceDensity(min(high, low + where * (high - low)), 1 / scale, ratio / scale, tuple(pieces))
    assert density.mass() == pytest.approx(1, rel=1e-12)
    assert integral(lambda x: float(density.pdf(x)), density) == pytest.approx(1, rel=1e-7)
    apart = integral(lambda x: float(density.pdf(x)) * abs(x - density.location), density)
    squared = integral(lambda x: float(density.pdf(x)) * (x - density.location) ** 2, density)
    assert density.error() == pytest.approx(apart, rel=1e-6)
    assert density.error("squared") == pytest.approx(squared, rel=1e-6)
    assert density.mass(high=density.location) + density.mass(low=density.location) == pytest.approx(1, rel=1e-12)


def test_a_flat_side_is_the_limit_of_a_small_rate():
    flat = LaplaceDensity(2.0, 0.0, 1.0, ((0.0, math.inf),))
    near = LaplaceDensity(2.0, 1e-7, 1.0, ((0.0, math.inf),))
    assert flat.total == pytest.approx(near.total, rel=1e-6)
    assert flat.error("squared") == pytest.approx(near.error("squared"), rel=1e-6)
    assert pair_loss(flat, LaplaceDensity(1.0, 0.5, 1.0, flat.pieces)).value < math.inf


@given(pairs(), st.floats(0, 3))
def test_au2_matches_quadrature(pair, epsilon):
    first, second = pair
    apart = abs(first.location - second.location)
    assume(apart == 0 or apart > 1e-9)  # a closer pair differs by rounding errors, which no quadrature integrates
    found = pair_delta(first, second, epsilon)
    factor = math.exp(epsilon)

    def excess(x):
        return max(0.0, float(first.pdf(x)) - factor * float(second.pdf(x)))

    total = 0.0
    inner = sorted({first.location, second.location, *(e for part in found.outputs for e in part if math.isfinite(e))})
    for low, high in first.pieces:
        cuts = sorted({low, high, *(c for c in inner if low < c < high)})
        total += sum(quad(excess, a, b, epsabs=1e-13, limit=200)[0] for a, b in pairwise(cuts))
    assert found.value == pytest.approx(total, rel=1e-6, abs=1e-10)
    assert 0 <= found.value <= found.probability + 1e-15


@given(pairs(one_scale=True))
def test_au2_vanishes_exactly_where_au1_says(pair):
    loss = pair_loss(*pair).value
    for first, second in (pair, pair[::-1]):
        assert pair_delta(first, second, loss * (1 + 1e-9) + 1e-12).value < 1e-13
    if loss > 1e-3:
        assert max(pair_delta(*p, loss * 0.9).value for p in (pair, pair[::-1])) > 0


def test_au2_agrees_with_the_finite_auditor_on_a_fine_grid():
    first, second = (laplace_density(m, scale=0.8, within=(0, 4)) for m in (0.5, 1.5))
    cells = np.linspace(0, 4, 801)
    matrix = [[law.mass(a, b) for a, b in pairwise(cells)] for law in (first, second)]
    channel = nw.Channel(matrix, normalise=True)
    for epsilon in (0.1, 0.5, 1.0):
        exact = max(pair_delta(first, second, epsilon).value, pair_delta(second, first, epsilon).value)
        assert channel.delta(epsilon) == pytest.approx(exact, abs=2e-5)
        assert channel.delta(epsilon) <= exact + 1e-12  # a grid can only lose information


def test_a_calibration_is_sufficient_and_minimal():
    """Uniform scale on a half line: 2 DF/eps for the metric scope, DF/ln((1+e^eps)/2) for the adjacent one."""
    epsilon, sensitivity = 0.7, 3.0
    scales = {"metric": 2 * sensitivity / epsilon, "adjacent": sensitivity / math.log((1 + math.exp(epsilon)) / 2)}
    for scope, scale in scales.items():
        for factor, private in ((1.0, True), (0.999, False)):

            def law(mu, at=scale * factor):
                return laplace_density(mu, scale=at, within=HALF_LINE)

            found = audit_family(law, audit_locations(HALF_LINE, sensitivity), sensitivity=sensitivity, scope=scope)
            assert (found.value <= epsilon * (1 + 1e-9)) is private
            assert found.value == pytest.approx(epsilon / factor, rel=2e-3)
            assert min(found.pair) == 0.0  # it binds at the wall
            assert isinstance(found, MechanismAudit)


def test_locations_cover_ends_and_neighbours():
    places = audit_locations([(0, 1), (2, math.inf)], 0.5, points=3)
    for wanted in (0.0, 0.5, 1.0, 2.0, 2.5, 1 - 0.5e-6):
        assert min(abs(p - wanted) for p in places) < 1e-12
    assert all(0 <= p <= 1 or p >= 2 for p in places)
    assert min(audit_locations(None)) < 0 < max(audit_locations(None))


def test_bad_densities_are_refused():
    with pytest.raises(nw.NoisewrightError, match="scale must be"):
        laplace_density(0, scale=0)
    with pytest.raises(nw.NoisewrightError, match="intervals of positive length"):
        laplace_density(0, scale=1, within=[(0, 1), (1, 2)])
    with pytest.raises(nw.NoisewrightError, match="point of its feasible set"):
        laplace_density(1.5, scale=1, within=[(0, 1), (2, 3)])
    with pytest.raises(nw.NoisewrightError, match="a rate must be"):
        LaplaceDensity(0.0, 0.0, 1.0)
    with pytest.raises(nw.NoisewrightError, match="one feasible set"):
        pair_loss(laplace_density(0, scale=1), laplace_density(0, scale=1, within=HALF_LINE))
    with pytest.raises(nw.NoisewrightError, match="epsilon must be"):
        pair_delta(laplace_density(0, scale=1), laplace_density(0, scale=1), -1)
    with pytest.raises(nw.NoisewrightError, match="no loss called 'zero-one'"):
        laplace_density(0, scale=1).error("zero-one")
    with pytest.raises(nw.NoisewrightError, match="lower end first"):
        laplace_density(0, scale=1).mass(2, 1)


# -- nw.audit ---------------------------------------------------------------------------------------------------------


def test_audit_of_an_unbounded_law_is_exact_and_in_words():
    found = nw.audit(nw.geometric(epsilon="1/3", sensitivity=5))
    assert found.value == pytest.approx(1 / 3, rel=1e-15)
    assert found.value >= 1 / 3
    assert "1/scale" in str(found)
    assert found.to_json()["words"]


def test_audit_of_an_adjacent_promise_looks_at_neighbours_only():
    """Randomised rounding of three points: neighbours lose ln 3, the two ends ln 9 over two steps, half a step ln 3."""
    channel = nw.Channel([[9, 3, 1], [3, 3, 3], [1, 3, 9]], [0, 1, 2], normalise=True)

    class Mine:
        name = "mine"
        guarantee = nw.Guarantee(1.2, nw.metrics.Line(), scope="adjacent")

        def channel(self):
            return channel

    found = nw.audit(Mine())
    losses = channel.distinguishability()
    assert found.value == pytest.approx(max(losses[0, 1], losses[1, 2]), rel=1e-12)
    assert "between neighbours (line at most 1)" in str(found)
    Mine.guarantee = nw.Guarantee(1.2, 0.5 * nw.metrics.Line(), scope="adjacent")
    assert nw.audit(Mine()).value == pytest.approx(losses.max(), rel=1e-12)  # now all are neighbours
    Mine.guarantee = nw.Guarantee(1.2, nw.metrics.Line(), delta=0.05, scope="adjacent")
    with_delta = nw.audit(Mine())
    assert with_delta.value < found.value
    assert channel.delta(with_delta.value, Neighbours(nw.metrics.Line())) <= 0.05 + 1e-9
    Mine.guarantee = nw.Guarantee(1.2, nw.metrics.Line(), delta=0.05)
    assert nw.audit(Mine()).delta == 0.05


def test_audit_without_any_means_says_so():
    class Blank:
        name = "blank"
        guarantee = nw.Guarantee(1.0, nw.metrics.Line())

        def channel(self):
            raise nw.exceptions.NoChannelError("it is infinite")

        def certificate(self, rng=None):
            raise nw.exceptions.GuaranteeError("none")

    with pytest.raises(nw.NoisewrightError, match="'blank' cannot be audited"):
        nw.audit(Blank())
    with pytest.raises(nw.NoisewrightError, match="only the promised metric"):
        nw.audit(nw.geometric(epsilon=1), nw.metrics.Discrete())
    assert nw.audit(nw.geometric(epsilon=1, within=(0, 3)), nw.metrics.Discrete()).value == pytest.approx(3, rel=1e-9)


@pytest.mark.parametrize("scope", ["adjacent", "metric"])
@pytest.mark.parametrize(
    "within", [(0, 5), [(0, 2), (3, 5)], [(-1, 1), (1.5, 2), (4, 6)]], ids=["interval", "gap", "two gaps"]
)
def test_the_law_in_a_certificate_gives_the_audit_of_the_channel(within, scope):
    """Two independent ways: all pairs of rows of the finite channel, and the few pairs that decide on the lattice."""
    mechanism = nw.laplace(epsilon="4/5", sensitivity="3/2", within=within, scope=scope, lattice="1/8")
    channel, law = auditing._on_channel(mechanism.channel(), mechanism.guarantee), auditing._without_channel(mechanism)
    assert law.value == pytest.approx(channel.value, rel=1e-8)
    assert law.value == pytest.approx(0.8, rel=1e-6)
    rows = [mechanism.channel().matrix[mechanism.channel().inputs.index(place)] for place in law.pair]
    loss = np.abs(np.log(rows[0] / rows[1])).max() / (1 if scope == "adjacent" else np.ptp(law.pair) / 1.5)
    assert loss == pytest.approx(channel.value, rel=1e-8)  # there may be two worst pairs, as on an interval
    assert math.log(law.probabilities[0] / law.probabilities[1]) == pytest.approx(
        law.value * (1 if scope == "adjacent" else abs(law.pair[0] - law.pair[1]) / 1.5), rel=1e-8
    )


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda: nw.laplace(epsilon="4/5", sensitivity=3),
        lambda: nw.laplace(epsilon="4/5", sensitivity="1/3", scope="metric"),
        lambda: nw.laplace(epsilon="4/5", within=(0, 100)),
        lambda: nw.laplace(epsilon="4/5", within=(0, None)),
        lambda: nw.laplace(epsilon="4/5", within=(None, 3), scope="metric", shape="symmetric"),
        lambda: nw.laplace(epsilon="4/5", within=(0, None), scope="metric"),
        lambda: nw.laplace(epsilon="4/5", excluding=[(0, 1), (2, 3)], scope="metric"),
        lambda: nw.mechanisms.curve(epsilon="4/5", sensitivity=2, grid=range(5)),
    ],
)
def test_audits_of_mechanisms_without_a_small_channel_meet_the_promise(mechanism):
    made = mechanism()
    found = nw.audit(made)
    # Rounding to the lattice is charged for in the metric scope, so a coarse lattice leaves a little of the promise unused.
    assert 0.8 * 0.96 <= found.value <= 0.8 * (1 + 1e-9)
    assert found.value <= 0.8 * (1 + 1e-9)
    assert str(found.metric) == str(made.guarantee.metric)
    assert ("between neighbours" in str(found)) is (made.guarantee.scope == "adjacent")


def test_01_fact27_scales_on_two_intervals():
    """[0,1] u [2,3] and [0,1] u [1.5,4], adjacent scope: the scales of the table, audited by AU-1."""
    table = {((0, 1), (2, 3)): (2.73295, 1.23077, 0.53160), ((0, 1), (1.5, 4)): (3.24757, 1.53134, 0.68718)}
    for within, scales in table.items():
        for epsilon, scale in zip((0.5, 1, 2), scales, strict=True):
            places = audit_locations(list(within), points=21)
            found = audit_family(
                lambda mu, s=scale, w=within: laplace_density(mu, scale=s, within=list(w)), places, scope="adjacent"
            )
            assert found.value == pytest.approx(epsilon, rel=2e-4)
