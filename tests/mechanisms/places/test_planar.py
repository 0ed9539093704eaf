"""Planar Laplace and planar geometric: laws, closed forms, proofs, remappings. Seeds are fixed; error rate 1e-6 a test."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import qif
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import lambertw

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.exceptions import CertificateError, DataError, ParameterError
from noisewright.mechanisms.spatial.planar_laplace import Places, planar_moments
from noisewright.sampling import discrete_planar_laplace

LEVEL = 1e-6


def test_05_mp10_epsilon_within_a_radius():
    mechanism = nw.planar_laplace(epsilon=math.log(4), radius=200)
    step = mechanism.lattice.step
    assert mechanism.epsilon == Fraction(math.log(4)) / (200 + Fraction(99, 70) * step)
    assert mechanism.guarantee.epsilon < nw.Guarantee.geo(epsilon=math.log(4), radius=200).epsilon
    assert mechanism.map(200) == math.log(4)  # for the points themselves, before they are rounded
    assert 0.999 * math.log(4) < mechanism.guarantee.bound(200) < math.log(4)
    assert mechanism.guarantee.bound(200 + math.sqrt(2) * float(step)) == pytest.approx(math.log(4), rel=1e-6)
    # an adversary who knows the ball gains at most a factor e^level
    assert 0.799 < mechanism.guarantee.posterior(0.5, 200) <= 0.8


@pytest.mark.parametrize("lattice", ["auto", 1, 64, 1024])
def test_epsilon_holds_between_points_as_they_are(lattice):
    """Two points 200 apart, rounded away from each other: the loss of what is drawn, on the ray behind either, is in."""
    mechanism = nw.planar_laplace(epsilon=1, radius=200, lattice=lattice)
    step, rate = float(mechanism.lattice.step), float(mechanism.rate)
    rng, worst = np.random.default_rng(31), 0.0
    starts, angles = rng.uniform(0, step, (20_000, 2)), rng.uniform(0, 2 * np.pi, 20_000)
    for radius in (200.0, 200.0 * (1 - 1e-9), 0.3 * step):
        ends = starts + min(radius, 200.0) * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        moved = mechanism.lattice.indices(starts) - mechanism.lattice.indices(ends)
        worst = max(worst, rate * float(np.hypot(moved[:, 0], moved[:, 1]).max()))
    assert worst <= 1
    assert worst > 0.93 or lattice == 1024  # and the noise is not needlessly large
    assert mechanism.error() < 2 * (200 + 1.5 * step) * (1 + 1e-6) + step


def test_the_promise_in_words_says_which_points_it_is_about():
    text = nw.planar_laplace(epsilon="1.4", radius=200).in_words()
    assert "any two points within 200 of each other, rounding included, change by a factor of at most 4.06. " in text
    assert "at most 80.3 %" in text
    text = nw.planar_laplace(epsilon=1, lattice="1/4").in_words()
    assert "any two secrets at most 1 apart, rounded to steps of 0.25, change by a factor of at most 2.72" in text
    assert text.endswith("Rounding may move two points farther apart by up to 0.375.")
    assert "\n" not in text


def test_05_mp10_closed_forms_of_the_radius():
    mechanism = nw.planar_laplace(epsilon="0.7")
    for p in (1e-6, 0.01, 0.1, 0.5, 0.9, 0.999):
        by_lambert = -(1 / 0.7) * (lambertw((p - 1) / math.e, -1).real + 1)
        assert mechanism.quantile(p) == pytest.approx(by_lambert, rel=1e-7)
        r = mechanism.quantile(p)
        assert 1 - (1 + 0.7 * r) * math.exp(-0.7 * r) == pytest.approx(p, rel=1e-9)
        assert mechanism.cdf(r) == pytest.approx(p, rel=1e-12)
    assert mechanism.density([(0, 0)])[0] == pytest.approx(0.49 / (2 * math.pi))
    with pytest.raises(ParameterError, match="below 1"):
        mechanism.quantile(1)


def test_07_f10_planar_quantiles():
    mechanism = nw.planar_laplace(epsilon="0.7")
    found = [mechanism.quantile(p) for p in (0.01, 0.1, 0.5, 0.9, 0.999)]
    assert found == pytest.approx([0.212221, 0.759731, 2.397639, 5.556743, 13.190591], abs=5e-7)


def test_05_mp10_draws_follow_the_continuous_law():
    mechanism = nw.planar_laplace(epsilon="1/50")
    points = np.random.default_rng(3).uniform(-1e4, 1e4, (200_000, 2))
    noise = mechanism.release(points, np.random.default_rng(4)) - points
    lengths = np.hypot(noise[:, 0], noise[:, 1])
    assert stats.kstest(lengths, lambda r: np.array([mechanism.cdf(v) for v in r])).pvalue > LEVEL
    assert stats.kstest(np.arctan2(noise[:, 1], noise[:, 0]), stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > LEVEL
    assert lengths.mean() == pytest.approx(mechanism.error(), rel=6 * math.sqrt(0.5 / len(noise)))


def test_lattices_approach_the_plane():
    """The radius of coarse lattices is measurably off; the step of the default lattice makes no difference any more."""
    limits = [nw.planar_laplace(epsilon=1, lattice=2.0**-k).error() for k in range(1, 11)]
    gaps = [abs(e - 2) for e in limits]
    assert all(b < a for a, b in itertools.pairwise(gaps))
    assert gaps[-1] < 1e-6
    assert nw.planar_laplace(epsilon=1).error("squared") == pytest.approx(6, rel=1e-6)


@pytest.mark.parametrize("rate", ["2", "0.6", "0.25", "0.249", "0.1"])
def test_lattice_moments_against_brute_force(rate):
    theta = float(Fraction(rate))
    size = math.ceil(60 / theta)
    axis = np.arange(-size, size + 1)
    lengths = np.hypot(axis[:, None], axis[None, :])
    weights = np.exp(-theta * lengths)
    weights /= weights.sum()
    absolute, squared = planar_moments(Fraction(rate))
    assert squared == pytest.approx((weights * lengths**2).sum() + 0.5, rel=1e-10)
    # the mean length for the worst rounding, by brute force over displacements, is covered and nearly reached
    worst = max(
        (weights * np.hypot(axis[:, None] + a, axis[None, :] + b)).sum() for a in (0, 0.25, 0.5) for b in (0, 0.25, 0.5)
    )
    assert worst <= absolute <= worst + 0.2 * theta
    assert (weights * lengths).sum() <= absolute


def test_certificate_is_proved_and_a_stronger_claim_is_not():
    mechanism = nw.planar_laplace(epsilon="1/3", lattice="1/64")
    certificate = mechanism.certificate()
    assert certificate.numerics == "exact"
    assert certificate.verify() == "epsilon = 0.333334 per unit of euclidean between points of the lattice 2^-6"
    assert Fraction(certificate.document["proof"]["rate"]) == Fraction(1, 192)

    def altered(**changes):
        document = {**certificate.document}
        document["claim"] = {**document["claim"], **changes.get("claim", {})}
        document["proof"] = {**document["proof"], **changes.get("proof", {})}
        return nw.Certificate({**document, "digest": checker.digest(document)})

    assert altered(proof={"rate": "1/193"}).verify()
    for change in (
        {"claim": {"epsilon": "333/1000"}},
        {"proof": {"rate": "1/191"}},
        {"proof": {"rate": "0"}},
        {"proof": {"rate": "-1"}},
        {"claim": {"distances": {"shape": "steps", "distance": "1/65"}}},
        {"claim": {"distances": {"shape": "adjacent", "distance": "1/64"}}},
        {"claim": {"distances": {"shape": "steps", "distance": "-1/64"}}},
    ):
        with pytest.raises(CertificateError, match="rate of the noise is too large"):
            altered(**change).verify()


def test_the_promise_holds_for_the_lattice_law_and_is_tight():
    """All pairs of a window of lattice points, all outputs of a larger one, from exact exponents."""
    mechanism = nw.planar_laplace(epsilon="1/2", lattice=1)
    points = [(x, y) for x in range(3) for y in range(4)]
    outputs = [(x, y) for x in range(-9, 12) for y in range(-9, 13)]
    away = np.array([[math.dist(p, o) for o in outputs] for p in points])
    for i in range(len(points)):
        for j in range(len(points)):
            loss = (float(mechanism.rate) * (away[j] - away[i])).max()
            assert loss <= mechanism.guarantee.bound(math.dist(points[i], points[j])) + 1e-12
    assert (0.5 * (away[points.index((0, 3))] - away[points.index((0, 0))])).max() == pytest.approx(1.5)
    assert nw.audit(mechanism).value == 0.5
    assert "behind either" in str(nw.audit(mechanism))


@pytest.mark.parametrize("lattice", ["auto", 1, "1/16"])
@pytest.mark.parametrize("parameters", [{"epsilon": "1/2"}, {"epsilon": 1, "radius": 3}])
def test_the_loss_across_a_rounding_border_is_within_the_map(parameters, lattice):
    """Points a hair apart on either side of one border, or of two at a corner: they are rounded a whole step apart."""
    mechanism = nw.planar_laplace(**parameters, lattice=lattice)
    step, rate = float(mechanism.lattice.step), float(mechanism.rate)
    hair = step * 2.0**-20
    for first, second in (((step / 2 - hair, 0.0), (step / 2, 0.0)), ((step / 2 - hair,) * 2, (step / 2,) * 2)):
        steps = np.linalg.norm(np.subtract(*mechanism.lattice.indices([second, first])))
        loss, apart = rate * steps, math.dist(first, second)  # the loss is reached on the ray behind either point
        assert loss >= rate
        assert loss > 1000 * float(mechanism.epsilon) * apart  # a plain Euclidean promise would be broken
        assert loss <= mechanism.map(apart) * (1 + 1e-12)
        named = mechanism.guarantee.metric.distance(first, second)
        assert named == pytest.approx(step * steps, rel=1e-15)
        assert loss <= mechanism.guarantee.bound(named) * (1 + 1e-12)
        assert mechanism.guarantee.metric.exact([first, second]).between(0, 1) <= Fraction(named)
    assert str(nw.audit(mechanism).metric) == str(mechanism.guarantee.metric)
    assert mechanism.map(0) == 0
    assert mechanism.map(math.inf) == math.inf
    with pytest.raises(ParameterError, match="a distance is 0 or more"):
        mechanism.map(math.nan)


@given(st.tuples(*[st.floats(-50, 50)] * 4), st.sampled_from(["1/4", 1, 8]), st.sampled_from(["1/7", 2]))
def test_the_map_covers_all_pairs_of_points(coordinates, lattice, epsilon):
    mechanism = nw.planar_laplace(epsilon=epsilon, lattice=lattice)
    x, y = coordinates[:2], coordinates[2:]
    steps = np.linalg.norm(np.subtract(*mechanism.lattice.indices([x, y])))
    assert float(mechanism.rate) * steps <= mechanism.map(math.dist(x, y)) * (1 + 1e-12)
    assert mechanism.guarantee.metric.distance(x, y) == pytest.approx(float(mechanism.lattice.step) * steps)


def test_the_certificate_proves_the_level_between_points_as_they_are():
    mechanism = nw.planar_laplace(epsilon="1.4", radius=200)
    certificate = mechanism.certificate()
    name = "euclidean between points of the lattice 2^-3"
    kept = "level = 1.4 between any two points within 200 of each other, rounding included"
    assert certificate.verify() == f"epsilon = 0.00699382 per unit of {name}; {kept}"

    def altered(**claim):
        document = {**certificate.document, "claim": {**certificate.document["claim"], **claim}}
        return nw.Certificate({**document, "digest": checker.digest(document)})

    assert "within 199 of" in altered(radius="199").verify()
    assert "level = 1.5 " in altered(level="1.5").verify()
    for forged in (
        {"radius": "200.0001"},
        {"radius": "201"},
        {"level": "1.3999"},
        {"epsilon": str(certificate.epsilon * Fraction(10**6 + 1, 10**6))},  # a weaker claim about lattice points
    ):
        with pytest.raises(CertificateError, match="the level is too low, or the radius too large"):
            altered(**forged).verify()
    with pytest.raises(CertificateError, match="not the one that the noise is on"):
        altered(metric={"base": "euclidean", "lattice": -4}).verify()
    with pytest.raises(CertificateError, match="rounded to the lattice of the metric"):
        altered(metric={"base": "euclidean"}).verify()
    assert "level" not in nw.planar_laplace(epsilon=1).certificate().verify()


def test_outputs_are_on_the_lattice_and_inputs_are_rounded():
    mechanism = nw.planar_laplace(epsilon=1, lattice="1/4")
    out = mechanism.release(np.random.default_rng(1).random((5000, 2)))
    assert (out * 4 == np.round(out * 4)).all()
    # points that round to one lattice point are one secret: same seed, same output
    first, second = (mechanism.release(p, np.random.default_rng(9)) for p in ((0.26, 1.01), (0.2, 0.9)))
    assert first == second


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=20), st.integers(-20, 20))
def test_blocks_do_what_the_lattice_does(points, power):
    mechanism = nw.planar_laplace(epsilon=Fraction(1, 2) ** power, lattice=Fraction(2) ** (power - 6))
    indices = mechanism.lattice.indices(np.array(points))
    noise = discrete_planar_laplace(mechanism.rate, len(points), np.random.default_rng(13))
    expected = mechanism.lattice.values(indices + noise)
    assert mechanism.release(points, np.random.default_rng(13)).tolist() == expected.tolist()


def test_shapes():
    mechanism = nw.planar_laplace(epsilon=1)
    pair = mechanism.release((1, 2))
    assert isinstance(pair, tuple)
    assert [type(c) for c in pair] == [float, float]
    assert mechanism.release([[1, 2]]).shape == (1, 2)
    assert mechanism.release([]).shape == (0, 2)
    assert mechanism.release(np.empty((0, 2))).shape == (0, 2)
    for bad in (
        np.longdouble([[1, 2]]), np.array([[2**53 + 1, 0]]), np.array([[2**64 - 1, 0]], dtype=np.uint64), [[2**70, 0]],
        [[1, 2], 3], [[[1], [2, 3]]], [np.ones(2), np.ones(3)],
    ):  # fmt: skip
        with pytest.raises(DataError):
            mechanism.release(bad)
    for masked in (np.ma.masked_array([[1.0, 2.0]], [[True, False]]), [np.ma.masked_array([1.0, 2.0], [True, False])]):
        with pytest.raises(DataError, match="a masked column has missing values; fill or drop them first"):
            mechanism.release(masked)
    for bad in ([1, 2, 3], 5.0, [[1, 2, 3]], "ab", [(1, 2), (3,)], np.zeros((2, 2, 2)), [None, 1], [[True, False]]):
        with pytest.raises(DataError):
            mechanism.release(bad)


def test_a_far_point_is_refused_without_being_shown():
    mechanism = nw.planar_laplace(epsilon=1)
    with pytest.raises(DataError, match="too large") as caught:
        mechanism.release([(1.0, 2.0), (123456789e200, 0.0)])
    assert "123456789" not in str(caught.value)


@given(st.fractions("1/1000", 1000), st.integers(-8, 8))
def test_any_epsilon_and_step_is_certified(epsilon, power):
    mechanism = nw.planar_laplace(epsilon=epsilon, lattice=Fraction(2) ** power)
    mechanism.certificate().verify()
    assert mechanism.rate == epsilon * Fraction(2) ** power
    assert mechanism.error("squared") >= mechanism.error() ** 2 * (1 - 1e-9)
    assert nw.planar_laplace(epsilon=epsilon).error() == pytest.approx(2 / float(epsilon), rel=1e-5)


# Remappings


def test_polygon_against_a_plain_loop():
    rng = np.random.default_rng(5)
    star = [(0, 0), (4, 1), (9, -2), (7, 4), (10, 9), (5, 6), (1, 9), (2, 4)]
    polygon = nw.mechanisms.Polygon(star)
    points = rng.uniform(-5, 14, (3000, 2))
    moved = polygon.nearest(points)
    for point, found, inside in zip(points.tolist(), moved.tolist(), polygon.contains(points).tolist(), strict=True):
        assert inside == (winding(point, star) != 0)
        if inside:
            assert found == point
        else:
            assert math.dist(point, found) == pytest.approx(min(to_segment(point, a, b) for a, b in edges(star)))
            assert min(to_segment(found, a, b) for a, b in edges(star)) < 1e-12
    assert not polygon.convex
    assert nw.mechanisms.Polygon([(0, 0), (2, 0), (2, 2), (0, 2)]).convex
    assert nw.mechanisms.Polygon([(0, 0), (0, 2), (2, 2), (2, 0)]).convex
    assert not nw.mechanisms.Polygon([(0, 3), (2, -3), (-3, 1), (3, 1), (-2, -3)]).convex  # a pentagram turns twice


def edges(chain):
    return list(zip(chain, [*chain[1:], chain[0]], strict=True))


def winding(point, chain):
    angle = 0.0
    for a, b in edges(chain):
        one, two = (math.atan2(c[1] - point[1], c[0] - point[0]) for c in (a, b))
        angle += (two - one + math.pi) % (2 * math.pi) - math.pi
    return round(angle / (2 * math.pi))


def to_segment(p, a, b):
    best, steps = math.inf, 2000
    length = math.dist(a, b) ** 2
    t = max(0.0, min(1.0, ((p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1])) / length))
    for share in (0.0, t, 1.0, 1 / steps):
        best = min(best, math.dist(p, (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]))))
    return best


def test_grid_and_places_are_nearest():
    rng = np.random.default_rng(6)
    points = rng.uniform(-30, 60, (2000, 2))
    grid = nw.mechanisms.Grid(4, 7, step=(10, 5), origin=(-5, 2))
    every = grid.at(np.arange(28))
    assert len({tuple(p) for p in every.tolist()}) == 28
    apart = np.linalg.norm(points[:, None] - every[None], axis=2).min(axis=1)
    assert np.linalg.norm(points - grid.nearest(points), axis=1) == pytest.approx(apart)
    places = Places(tuple(map(tuple, every.tolist())))
    assert np.linalg.norm(points - places.nearest(points), axis=1) == pytest.approx(apart)
    assert grid.nearest([(1e300, -1e300)]).tolist() == [[25, 2]]


def test_remapped_releases_stay_in_public_places():
    polygon = nw.mechanisms.Polygon([(0, 0), (10, 0), (10, 10), (0, 10)])
    inside = nw.planar_laplace(epsilon="1/2", remap=polygon)
    out = inside.release(np.full((3000, 2), 5.0))
    assert out.min() >= 0
    assert out.max() <= 10
    assert (out == 10).any()
    shops = [(0, 0), (3, 4), (9, 1)]
    listed = nw.planar_laplace(epsilon="1/2", remap=shops)
    assert {tuple(p) for p in listed.release(np.full((3000, 2), 4.0)).tolist()} == set(shops)
    # the same seed with and without: the remapping looks at the noisy point alone
    plain = nw.planar_laplace(epsilon="1/2").release([(1, 1)] * 50, np.random.default_rng(8))
    assert (inside.release([(1, 1)] * 50, np.random.default_rng(8)) == polygon.nearest(plain)).all()
    assert listed.certificate().verify() == inside.certificate().verify()


def test_errors_after_remapping():
    polygon = nw.mechanisms.Polygon([(0, 0), (10, 0), (10, 10), (0, 10)])
    mechanism = nw.planar_laplace(epsilon=1, remap=polygon)
    draws = mechanism.release(np.tile((1.0, 9.0), (100_000, 1)), np.random.default_rng(2))
    for loss, power in (("absolute", 1), ("squared", 2)):
        apart = np.linalg.norm(draws - (1.0, 9.0), axis=1) ** power
        at = mechanism.error(loss, at=(1.0, 9.0))
        assert apart.mean() == pytest.approx(at, abs=6 * apart.std() / math.sqrt(len(apart)) + 0.01 * at)
        assert at < mechanism.error(loss)
    plain = nw.planar_laplace(epsilon=1)
    assert plain.error(at=(3.3, 4.4)) == pytest.approx(2, rel=2e-3)
    with pytest.raises(ParameterError, match="depends on the true point"):
        nw.planar_laplace(epsilon=1, remap=nw.mechanisms.Grid(2, 2)).error()
    with pytest.raises(ParameterError, match="no loss called"):
        plain.error("cubic")
    assert plain.error("zero-one") == 1.0


@pytest.mark.parametrize(
    "bad",
    [
        lambda: nw.mechanisms.Polygon([(0, 0), (1, 0)]),
        lambda: nw.mechanisms.Polygon([(0, 0), (1, 1), (2, 2)]),
        lambda: nw.mechanisms.Polygon([(0, 0), (1, 0), (1, 0), (0, 1)]),
        lambda: nw.mechanisms.Polygon([(0, 0), (1, math.nan), (0, 1)]),
        lambda: nw.mechanisms.Polygon("abc"),
        lambda: nw.mechanisms.Grid(0, 3),
        lambda: nw.mechanisms.Grid(3, 3, step=0),
        lambda: nw.mechanisms.Grid(2.5, 3),
        lambda: nw.mechanisms.Grid(3, 3, origin=(0, math.inf)),
        lambda: nw.mechanisms.Grid(3, 3, origin=5),
        lambda: Places(()),
        lambda: Places(((1, 2, 3),)),
    ],
)
def test_bad_remappings_are_refused(bad):
    with pytest.raises(ParameterError):
        bad()


# Planar geometric


@pytest.mark.parametrize(("columns", "rows", "step", "epsilon"), [(3, 3, 1.0, 1.0), (5, 5, 0.5, 0.8), (4, 4, 2.0, 0.5)])
def test_planar_geometric_against_qif(columns, rows, step, epsilon):
    ours = nw.mechanisms.planar_geometric(nw.mechanisms.Grid(columns, rows, step=step), epsilon=epsilon).channel()
    theirs = qif.mechanism.geo_ind.planar_geometric_grid(columns, rows, step, epsilon)
    # qif numbers cells row by row, and cuts its sums where they weigh about 1e-4
    order = [i * rows + j for j in range(rows) for i in range(columns)]
    assert np.abs(ours.matrix[np.ix_(order, order)] - theirs).max() < 5e-4


@pytest.mark.parametrize(
    "points",
    [[(i, j) for i in range(4) for j in range(3)], [(0, 0), (3, 1), (1, 4), (-2, 2), (5, 5)], [(0, 0), (0.5, 0.25)]],
)
@pytest.mark.parametrize("epsilon", ["1/4", "3/2"])
def test_planar_geometric_channel_is_private_and_drawn(points, epsilon):
    mechanism = nw.mechanisms.planar_geometric(points, epsilon=epsilon)
    channel = mechanism.channel()
    assert nw.audit(mechanism).value <= float(Fraction(epsilon)) * (1 + 1e-9)
    secret = points[-1]
    draws = mechanism.release([secret] * 60_000, np.random.default_rng(11))
    counts = np.array([(draws == np.array(p)).all(axis=1).sum() for p in points])
    assert counts.sum() == len(draws)
    expected = channel.row(secret) * len(draws)
    assert stats.chisquare(counts, expected).pvalue > LEVEL
    step = f", between points in steps of {mechanism.step}"
    assert mechanism.certificate().verify() == f"epsilon = {float(Fraction(epsilon)):g} per unit of euclidean{step}"


def test_planar_geometric_on_a_wide_grid_has_the_lattice_law_inside():
    mechanism = nw.mechanisms.planar_geometric(nw.mechanisms.Grid(31, 31), epsilon=1)
    row = mechanism.channel().row((15, 15))
    draws = discrete_planar_laplace(1, size=200_000, rng=np.random.default_rng(12))
    share = (draws == 0).all(axis=1).mean()
    assert row[mechanism.points.index((15, 15))] == pytest.approx(share, abs=6 * math.sqrt(share / 200_000))
    near = row[mechanism.points.index((15, 16))] / row[mechanism.points.index((15, 15))]
    assert near == pytest.approx(math.exp(-1), rel=1e-9)


def test_planar_geometric_refuses_what_it_does_not_know():
    mechanism = nw.mechanisms.planar_geometric([(0, 0), (2, 1), (5, 3)], epsilon=1, radius=2)
    assert mechanism.step == 1
    assert mechanism.epsilon == Fraction(1, 2)
    for bad in ([(2, 3)], [(0, 0), (2, 0)], [(7.5, 0)], [(math.nan, 0)]):
        with pytest.raises(DataError, match=r"declared places|missing or infinite"):
            mechanism.release(bad)
    assert isinstance(mechanism.release((2, 1)), tuple)
    fine = nw.mechanisms.planar_geometric([(0, 0), (2.0**-14, 0), (1, 1)], epsilon=1)
    assert fine.release([(1, 1)] * 5).shape == (5, 2)
    with pytest.raises(ParameterError, match="too fine a step"):
        fine.channel()
    scaled = dataclasses.replace(mechanism, epsilon=Fraction(3))
    assert scaled.rate == 3
