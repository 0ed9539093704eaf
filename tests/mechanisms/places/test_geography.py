"""Noise on latitude and longitude: the projection, its reach, the poles and the date line. Error rate 1e-6 a test."""

import math
from fractions import Fraction

import numpy as np
import pytest
from claim_support import record_of
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.exceptions import CertificateError, DataError, MetricError, ParameterError
from noisewright.mechanisms.spatial.geographic import EARTH_RADIUS, HALF, MOST, LocalMetres

LEVEL = 1e-6
PARIS = (48.8566, 2.3522)


def great_circle(one, two):
    """The haversine formula."""
    (a, b), (c, d) = (map(math.radians, p) for p in (one, two))
    h = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * EARTH_RADIUS * math.asin(min(1.0, math.sqrt(h)))


@given(
    st.floats(-89, 89),
    st.floats(-180, 180),
    st.tuples(st.floats(0, 1), st.floats(0, 2 * math.pi)),
    st.tuples(st.floats(0, 1), st.floats(0, 2 * math.pi)),
)
def test_distances_within_reach_are_right_to_one_percent(latitude, longitude, first, second):
    metric = LocalMetres(latitude, longitude)
    plane = np.array([[metric.reach * r * math.cos(t), metric.reach * r * math.sin(t)] for r, t in (first, second)])
    one, two = metric.unproject(plane).tolist()
    on_globe, on_map = great_circle(one, two), math.dist(*plane.tolist())
    assert on_globe <= on_map * 1.01 + 1e-3
    assert on_map <= on_globe * 1.01 + 1e-3
    assert metric.distance(one, two) == pytest.approx(on_map, abs=1e-4, rel=1e-9)


def test_beyond_reach_the_distortion_is_more_than_one_percent():
    """The reach is not needlessly small: 3 % farther towards the pole, east-west distances are off by more."""
    for latitude in (10.0, 48.0, -60.0, 85.0):
        metric = LocalMetres(latitude, 0.0)
        beyond = math.degrees(metric.reach * 1.03 / EARTH_RADIUS)
        parallel = abs(latitude) + beyond
        ratio = math.cos(math.radians(latitude)) / math.cos(math.radians(parallel))
        assert ratio > 1.01


def test_reach_at_some_places():
    reaches = [LocalMetres(latitude, 0).reach / 1000 for latitude in (0, 30, 48.8566, 60, 80)]
    assert reaches == pytest.approx([887.7, 107.5, 54.4, 36.0, 11.1], rel=0.02)
    assert LocalMetres(-60, 0).reach == LocalMetres(60, 0).reach


def test_noise_has_the_planar_law_in_metres():
    mechanism = nw.mechanisms.geo_laplace(epsilon=math.log(2), radius=100, reference=PARIS)
    true = np.tile((48.9, 2.2), (50_000, 1))
    released = mechanism.release(true, np.random.default_rng(21))
    metres = mechanism.metric.project(released) - mechanism.metric.project(true)
    lengths = np.hypot(metres[:, 0], metres[:, 1])
    assert stats.kstest(lengths * float(mechanism.epsilon), stats.gamma(2).cdf).pvalue > LEVEL
    assert stats.kstest(np.arctan2(metres[:, 1], metres[:, 0]), stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > LEVEL
    assert mechanism.error() == pytest.approx(2 * 101 / math.log(2), rel=0.002)  # the map stretches by 1 % at most


def test_05_mp10_reading_names_the_radius():
    mechanism = nw.mechanisms.geo_laplace(epsilon=math.log(4), radius=200, reference=PARIS)
    text = mechanism.in_words()
    assert "any two places within 200 m of each other, rounding included, if the map makes at most 202.0" in text
    assert "change by a factor of at most 4." in text
    assert "at most 80 %" in text
    assert "can be told apart" in text
    assert "\n" not in text
    assert "e^30." in nw.mechanisms.geo_laplace(epsilon=30, radius=2500, reference=PARIS).in_words()
    assert "2.5 km" in nw.mechanisms.geo_laplace(epsilon=30, radius=2500, reference=PARIS).in_words()
    assert mechanism.map(200) == math.log(4)  # on the globe, before places are put on the map and rounded
    assert mechanism.guarantee.bound(202.001) < math.log(4) < mechanism.guarantee.bound(202.5)
    assert str(mechanism.guarantee).endswith(
        "per unit of metres around (48.8566, 2.3522) between points of the lattice 2^-3"
    )


def test_certificate_and_audit():
    mechanism = nw.mechanisms.geo_laplace(epsilon="1.4", radius=200, reference=PARIS)
    certificate = mechanism.certificate()
    assert certificate.numerics == "exact"
    metric = "metres around (48.8566, 2.3522) between points of the lattice 2^-3"
    assert certificate.verify() == (
        f"epsilon = 0.00692464 per unit of {metric}; level = 1.4 between any two places within 200 m of each other, "
        "rounding included, if the map makes at most 202.000001 m of that (stated, not proved here)"
    )
    assert str(nw.audit(mechanism).metric) == metric == str(mechanism.guarantee.metric)
    assert certificate.epsilon == Fraction("1.4") / (202 + Fraction(99, 70) / 8 + Fraction(1, 10**6))
    assert nw.audit(mechanism).value == pytest.approx(0.0069247, rel=1e-4)


@pytest.mark.parametrize(
    ("forged", "words"),
    [
        ({"radius": "203"}, "the level is too low, or the radius too large"),
        ({"on_map": "203"}, "the level is too low, or the radius too large"),
        ({"on_map": "199"}, "the level is too low, or the radius too large"),
        ({"level": "1.39"}, "the level is too low, or the radius too large"),
        (
            {"metric": record_of("metres around (48.8566, 2.3522) between points of the lattice 2^-9")},
            "not the one that the noise",
        ),
        (
            {"metric": record_of("metres around (0, 0) between points of the lattice 2^-3")},
            "says nothing about the metric",
        ),
        ({"metric": record_of("euclidean between points of the lattice 2^-3")}, "says nothing about the metric"),
    ],
)
def test_a_forged_radius_or_lattice_is_refused(forged, words):
    document = nw.mechanisms.geo_laplace(epsilon="1.4", radius=200, reference=PARIS).certificate().document
    changed = {**document, "claim": {**document["claim"], **forged}}
    with pytest.raises(CertificateError, match=words):
        nw.Certificate({**changed, "digest": checker.digest(changed)}).verify()


@pytest.mark.parametrize("outside", ["refuse", "clamp"])
@pytest.mark.parametrize("latitude", [0.0, 48.8566, -60.0])
def test_the_loss_across_a_rounding_border_is_within_the_map(latitude, outside):
    """Places less than a millimetre apart that are rounded to different points of the map."""
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=50, reference=(latitude, 2.0), lattice=4, outside=outside)
    rng, metric = np.random.default_rng(33), mechanism.guarantee.metric
    corners = 4 * (rng.integers(-500, 500, (300, 2)) + 0.5)
    places = mechanism.metric.unproject(np.repeat(corners, 2, axis=0) + rng.uniform(-3e-4, 3e-4, (600, 2)))
    spots = mechanism.lattice.indices(mechanism._metres(places))
    steps = np.hypot(*(spots[::2] - spots[1::2]).T)
    assert steps.max() > 1.4  # across both borders of a corner
    assert steps.min() == 0
    for one, two, apart in zip(places[::2].tolist(), places[1::2].tolist(), steps.tolist(), strict=True):
        loss, globe = float(mechanism.plane.rate) * apart, great_circle(one, two)
        assert globe < 2e-3
        assert loss <= mechanism.map(globe) * (1 + 1e-12)
        assert metric.distance(one, two) == pytest.approx(4 * apart, rel=1e-12)
        assert loss <= mechanism.guarantee.bound(metric.distance(one, two)) * (1 + 1e-12)
    assert mechanism.map(0) == 0
    assert mechanism.map(math.inf) == math.inf
    with pytest.raises(ParameterError, match="a distance is 0 or more"):
        mechanism.map(-1.0)


def test_the_metric_of_clamped_places_is_that_of_where_they_go():
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=200, reference=PARIS, outside="clamp")
    far = [(50.0, 2.3522), (50.1, 2.3522), (48.9, 2.3)]
    spots = mechanism.lattice.values(mechanism.lattice.indices(mechanism._metres(np.array(far))))
    found = mechanism.guarantee.metric.matrix(far)
    assert found[0, 1] == 0.0  # both on one spot of the rim
    assert found[0, 2] == pytest.approx(math.dist(spots[0], spots[2]), rel=1e-12)
    with pytest.raises(MetricError, match="other half of the globe"):
        mechanism.guarantee.metric.matrix([(-48.8566, -177.6478), PARIS])


@pytest.mark.parametrize("latitude", [0.0, 48.8566, -60.0, 85.0])
@pytest.mark.parametrize("outside", ["refuse", "clamp"])
def test_the_level_holds_between_places_on_the_globe(latitude, outside):
    """Pairs 200 m apart on the globe, near the rim where the map is worst: what is drawn keeps the level."""
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=200, reference=(latitude, 2.0), outside=outside)
    metric, rng = mechanism.metric, np.random.default_rng(32)
    angles = rng.uniform(0, 2 * np.pi, 3000)
    lengths = (metric.reach - 250) * (1 if outside == "refuse" else rng.uniform(0.9, 1.2, 3000))
    centre = np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], axis=-1)
    first = metric.unproject(centre)
    turned = rng.uniform(0, 2 * np.pi, 3000)
    second = metric.unproject(centre + 200 * np.stack([np.cos(turned), np.sin(turned)], axis=-1))
    apart = np.array([great_circle(a, b) for a, b in zip(first.tolist(), second.tolist(), strict=True)])
    spots = [mechanism.lattice.indices(mechanism._metres(places)) for places in (first, second)]
    losses = float(mechanism.plane.rate) * np.hypot(*(spots[0] - spots[1]).T)
    allowed = np.where(apart <= 200, 1.0, (1.01 * apart + 0.2) / (1.01 * 200))
    assert (losses <= allowed).all()
    assert losses.max() > 0.9


def test_clamping_refuses_the_other_half_of_the_globe():
    """Near the antipode no move to the rim is harmless: places a metre apart would end on opposite sides."""
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=10, reference=PARIS, outside="clamp")
    with pytest.raises(DataError, match="other half of the globe"):
        mechanism.release([(-48.8566, -177.6478)])


@pytest.mark.parametrize("longitude", [180.0, -180.0, 179.9995, -179.9995])
def test_the_date_line_is_no_border(longitude):
    """Fiji: noise of hundreds of metres around the line comes out on both sides, and distances across it are short."""
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=200, reference=(-17.0, 179.999))
    released = mechanism.release(np.tile((-17.0, longitude), (4000, 1)), np.random.default_rng(22))
    assert (released[:, 1] >= -180).all()
    assert (released[:, 1] < 180).all()
    east = released[:, 1] < 0
    assert 0.2 < east.mean() < 0.8
    assert max(great_circle((-17.0, longitude), p) for p in released.tolist()) < 6000
    assert mechanism.metric.distance((-17, 179.999), (-17, -179.999)) == pytest.approx(
        great_circle((-17, 179.999), (-17, -179.999)), rel=1e-6
    )


def test_noise_over_the_pole_comes_down_on_the_other_side():
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=5000, reference=(89.97, 10.0))
    released = mechanism.release(np.tile((89.97, 10.0), (4000, 1)), np.random.default_rng(23))
    assert (np.abs(released[:, 0]) <= 90).all()
    assert (released[:, 1] >= -180).all()
    assert (released[:, 1] < 180).all()
    south = nw.mechanisms.geo_laplace(epsilon=1, radius=5000, reference=(-89.97, 10.0))
    assert (south.release([(-89.97, 10.0)] * 500)[:, 0] >= -90).all()
    metric = LocalMetres(89.97, 10.0)
    beyond = metric.unproject(np.array([[math.radians(0.05) * EARTH_RADIUS, 0.0]]))[0]
    assert beyond == pytest.approx([89.98, -170.0])


def test_noise_larger_than_the_earth_is_still_a_place():
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=10**9, reference=PARIS)
    released = mechanism.release([PARIS] * 2000)
    assert (np.abs(released[:, 0]) <= 90).all()
    assert (np.abs(released[:, 1]) <= 180).all()
    assert np.isfinite(released).all()


@pytest.mark.parametrize("pole", [90, -90, "89.99999"])
def test_a_reference_at_a_pole_is_refused(pole):
    with pytest.raises(ParameterError, match="too near to a pole"):
        nw.mechanisms.geo_laplace(epsilon=1, radius=1, reference=(pole, 0))


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ((90.5, 2.3), "latitude is outside -90 to 90"),
        ((-91, 2.3), "latitude is outside -90 to 90"),
        ((48.8, 180.5), "longitude is outside -180 to 180"),
        ((48.8, 362.35), "subtract 360"),
        ((2.3522, 48.8566), "farther than 54.4 km"),
        ((48.8, -177.6), "farther than"),
        ((90, 0), "farther than"),
        ((math.nan, 2.3), "missing or infinite"),
        ((48.8, math.inf), "missing or infinite"),
        (("48.8", "2.3"), "not numbers"),
        ((48.8,), "2 columns"),
    ],
)
def test_bad_places_are_refused_without_being_shown(bad, words):
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=100, reference=PARIS)
    with pytest.raises(DataError, match=words) as caught:
        mechanism.release([bad, bad])
    message = str(caught.value)
    public = message.replace("-90 to 90", "").replace("-180 to 180", "").replace("infinite", "")
    assert not any(str(c) in public for c in bad if c != 0)


def test_clamping_keeps_to_the_disc():
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=10, reference=PARIS, outside="clamp")
    far = mechanism.release([(50.0, 2.3522), (48.8566, 4.0)] * 200, np.random.default_rng(24))
    lengths = np.linalg.norm(mechanism.metric.project(far), axis=1)
    assert (lengths < mechanism.reach + 400).all()
    assert (lengths > mechanism.reach / 1.02 - 400).all()
    # moving to the rim along the globe brings no two places farther apart
    rng = np.random.default_rng(25)
    places = np.stack([rng.uniform(-10, 90, 2000), rng.uniform(-50, 50, 2000)], axis=-1)
    places[1::2] = np.clip(places[::2] + rng.normal(0, 0.3, (1000, 2)), (-90, -180), (90, 180))
    clamped = mechanism.metric.towards(places)
    for i in range(0, 2000, 2):
        before, after = great_circle(places[i], places[i + 1]), great_circle(clamped[i], clamped[i + 1])
        assert after <= before + 1e-3
    assert np.hypot(*mechanism.metric.project(clamped).T).max() <= mechanism.reach


def test_remapping_to_places_grids_and_polygons():
    stations = [(48.8443, 2.3744), (48.8809, 2.3553), (48.8767, 2.3592), (48.842, 2.3219)]
    listed = nw.mechanisms.geo_laplace(epsilon=1, radius=1000, reference=PARIS, remap=stations)
    out = listed.release([PARIS] * 2000, np.random.default_rng(26))
    assert {tuple(p) for p in out.tolist()} == set(stations)
    plain = nw.mechanisms.geo_laplace(epsilon=1, radius=1000, reference=PARIS).release(
        [PARIS] * 2000, np.random.default_rng(26)
    )
    for noisy, moved in list(zip(plain.tolist(), out.tolist(), strict=True))[:300]:
        apart = [listed.metric.distance(noisy, s) for s in stations]
        assert listed.metric.distance(noisy, moved) == pytest.approx(min(apart))
    grid = nw.mechanisms.geo_laplace(
        epsilon=1, radius=500, reference=(-17, 180), remap=nw.mechanisms.Grid(5, 5, 0.01, (-17.02, 179.98))
    )
    cells = grid.release([(-17, -179.995)] * 3000, np.random.default_rng(27))
    assert len(np.unique(np.round(cells, 6), axis=0)) == 25
    assert set(np.round(np.unique(cells[:, 1]), 4).tolist()) == {179.98, 179.99, -180.0, -179.99, -179.98}
    corners = [(48.80, 2.25), (48.80, 2.45), (48.91, 2.45), (48.91, 2.25)]
    city = nw.mechanisms.geo_laplace(epsilon=1, radius=5000, reference=PARIS, remap=nw.mechanisms.Polygon(corners))
    inside = city.release([PARIS] * 2000, np.random.default_rng(28))
    assert (inside >= np.array(corners).min(axis=0) - 1e-9).all()
    assert (inside <= np.array(corners).max(axis=0) + 1e-9).all()
    assert city.error(at=PARIS) < city.error()
    assert city.certificate().verify()
    with pytest.raises(ParameterError, match="not on the globe"):
        nw.mechanisms.geo_laplace(
            epsilon=1, radius=1, reference=PARIS, remap=nw.mechanisms.Polygon([(0, 0), (99, 0), (0, 5)])
        )


def test_the_metric_measures_and_refuses():
    metric = LocalMetres(*PARIS)
    points = [PARIS, (48.86, 2.36), (48.85, 2.30)]
    assert metric.matrix(points).shape == (3, 3)
    exact = metric.exact(points)
    for i in range(3):
        for j in range(3):
            assert exact.between(i, j) <= Fraction(metric.distance(points[i], points[j]))
    with pytest.raises(MetricError, match="latitude"):
        metric.matrix([(99, 0), (0, 0)])
    picked = nw.exponential(points, epsilon="1/500", metric=metric)
    assert picked.certificate().verify().startswith("epsilon = 0.002 per unit of 'metres around")


def test_seeds_and_shapes():
    mechanism = nw.mechanisms.geo_laplace(epsilon=1, radius=50, reference=PARIS)
    pair = mechanism.release(PARIS, np.random.default_rng(1))
    assert isinstance(pair, tuple)
    assert pair == tuple(mechanism.release([PARIS], np.random.default_rng(1))[0].tolist())
    assert mechanism.release([]).shape == (0, 2)
    with pytest.raises(ParameterError, match="planar_geometric"):
        mechanism.channel()
    with pytest.raises(ParameterError, match="reference must be"):
        nw.mechanisms.geo_laplace(epsilon=1, radius=1, reference=(1, 2, 3))
    with pytest.raises(ParameterError, match="not a number"):
        nw.mechanisms.geo_laplace(epsilon=1, radius=1, reference=("north", 0))


def test_a_reading_says_the_quantiles_of_the_law():
    found = nw.mechanisms.geo_laplace(epsilon=1, radius=300, reference=(53.45, -2.2))
    lengths = [float(found.epsilon) * found.quantile(p) for p in (0.5, 0.95)]
    assert lengths == pytest.approx([HALF, MOST], rel=1e-12)
    assert (
        found.reading() == f"half within {found.quantile(0.5):.0f} m, 95 % within {found.quantile(0.95) / 1000:.2f} km"
    )
    moved = nw.mechanisms.geo_laplace(
        epsilon=1, radius=300, reference=(53.45, -2.2), remap=[(53.45, -2.2), (53.46, -2.2)]
    )
    assert moved.reading() == ""  # where places are moved to is another law
