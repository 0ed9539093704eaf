"""Noise for vectors: facts of the n-dimensional Laplace, and the exact product. Seeds are fixed; error rate 1e-6 a test."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import gammainc

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.exceptions import CertificateError, DataError, ParameterError
from noisewright.mechanisms.numeric.feasible_sets import LatticePoints
from noisewright.mechanisms.spatial.vectors import _uniform, spherical_noise

LEVEL = 1e-6


def test_07_f07_density_constants():
    assert nw.mechanisms.spherical_laplace(epsilon="0.7", dimension=1).constant == pytest.approx(0.35)
    assert nw.mechanisms.spherical_laplace(epsilon="0.7", dimension=2).constant == pytest.approx(0.49 / (2 * math.pi))
    assert nw.mechanisms.spherical_laplace(epsilon="1.3", dimension=3).constant == pytest.approx(0.0874159, rel=1e-6)
    assert nw.mechanisms.spherical_laplace(epsilon="0.4", dimension=5).constant == pytest.approx(1.62114e-5, rel=1e-5)
    for n, epsilon in ((1, "0.7"), (2, "0.7"), (3, "1.3"), (5, "0.4")):
        mechanism = nw.mechanisms.spherical_laplace(epsilon=epsilon, dimension=n)
        surface = 2 * math.pi ** (n / 2) / math.gamma(n / 2)

        def shell(r, mechanism=mechanism, n=n, surface=surface):
            return surface * r ** (n - 1) * float(np.exp(mechanism.log_density([r] + [0.0] * (n - 1))))

        assert integrate.quad(shell, 0, np.inf)[0] == pytest.approx(1, rel=1e-8)


def test_07_f08_directions_are_uniform():
    """Surface density Gamma(n/2) / (2 pi^(n/2)): 1/2, 1/(2 pi), 1/(4 pi); and draws that follow it."""
    for n, density in ((1, 1 / 2), (2, 1 / (2 * math.pi)), (3, 1 / (4 * math.pi))):
        assert math.gamma(n / 2) / (2 * math.pi ** (n / 2)) == pytest.approx(density)
    one, two, three = (spherical_noise(1, n, 50_000, np.random.default_rng(31 + n)) for n in (1, 2, 3))
    assert stats.binomtest(int((one > 0).sum()), len(one)).pvalue > LEVEL
    assert stats.kstest(np.arctan2(two[:, 1], two[:, 0]), stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > LEVEL
    heights = three[:, 2] / np.linalg.norm(three, axis=1)  # Archimedes: uniform on -1..1
    assert stats.kstest(heights, stats.uniform(-1, 2).cdf).pvalue > LEVEL


@pytest.mark.parametrize(("n", "radius", "spread", "variance"), [(300, 30, 1.732, 3.01), (100, 10, 1.0, 1.01)])
def test_07_f09_moments(n, radius, spread, variance):
    mechanism = nw.mechanisms.spherical_laplace(epsilon=10, dimension=n)
    assert mechanism.error() == pytest.approx(radius)
    draws = mechanism.release(np.zeros((20_000, n)), np.random.default_rng(32))
    lengths = np.linalg.norm(draws, axis=1)
    assert lengths.mean() == pytest.approx(radius, abs=6 * spread / math.sqrt(len(lengths)))
    assert lengths.std() == pytest.approx(spread, rel=0.05)
    assert math.sqrt(n) / 10 == pytest.approx(spread, abs=5e-4)
    assert (n + 1) / 100 == pytest.approx(variance)
    assert draws.var() == pytest.approx(variance, rel=0.01)
    assert abs(draws.mean()) < 6 * math.sqrt(variance / draws.size)
    assert mechanism.error("squared") == pytest.approx((lengths**2).mean(), rel=0.01)


def test_07_f10_the_plane_has_the_planar_quantiles():
    mechanism = nw.mechanisms.spherical_laplace(epsilon="0.7", dimension=2)
    found = [mechanism.quantile(p) for p in (0.01, 0.1, 0.5, 0.9, 0.999)]
    assert found == pytest.approx([0.212221, 0.759731, 2.397639, 5.556743, 13.190591], abs=5e-7)
    assert found == [nw.planar_laplace(epsilon="0.7").quantile(p) for p in (0.01, 0.1, 0.5, 0.9, 0.999)]


def test_07_f11_the_loss_of_the_density_never_exceeds_epsilon_and_approaches_it():
    mechanism = nw.mechanisms.spherical_laplace(epsilon="1.5", dimension=2)
    outputs = np.random.default_rng(33).normal(0, 5, (20_000, 2))
    loss = mechanism.log_density(outputs) - mechanism.log_density(outputs - np.array([1.0, 0.0]))
    assert np.abs(loss).max() <= 1.5 * (1 + 1e-12)
    assert np.abs(loss).max() > 1.499
    assert mechanism.map(1) == 1.5
    assert nw.audit(mechanism).value == 1.5


@pytest.mark.parametrize("n", [1, 2, 3, 100, 300])
def test_07_txt6_lengths_are_gamma(n):
    draws = spherical_noise("0.4", n, 20_000, np.random.default_rng(34))
    assert stats.kstest(np.linalg.norm(draws, axis=1) * 0.4, stats.gamma(n).cdf).pvalue > LEVEL


def test_07_f12_f14_hit_rates_of_a_single_vector():
    """For one vector the bound gammainc(n, eps Delta) is the probability itself; the corrected one for N = 2 as well."""
    mechanism = nw.mechanisms.spherical_laplace(epsilon=1, dimension=2)
    lengths = np.linalg.norm(mechanism.release(np.zeros((100_000, 2)), np.random.default_rng(35)), axis=1)
    assert (lengths <= 0.6).mean() == pytest.approx(mechanism.cdf(0.6), abs=6 * math.sqrt(0.12 / 100_000))
    for n, size, epsilon, delta, expected in ((1, 2, 1, 0.15, 0.0369), (2, 2, 1, 0.3, 0.0034)):
        assert gammainc(n * size, epsilon * size * delta) == pytest.approx(expected, abs=5e-5)
        draws = spherical_noise(epsilon, n, 400_000, np.random.default_rng(36)).reshape(-1, size, n)
        mean = np.linalg.norm(draws, axis=2).mean(axis=1)
        assert (mean <= delta).mean() == pytest.approx(expected, abs=6 * math.sqrt(expected / len(mean)) + 5e-5)


def test_07_txt6_losing_to_a_neighbour():
    """n = 100, D = 3.44, epsilon = 10: the projected noise crosses half of D with probability 0.0435, by the normal limit."""
    noise = spherical_noise(10, 100, 100_000, np.random.default_rng(37))
    lost = (noise[:, 0] > 3.44 / 2).mean()
    limit = stats.norm.sf(3.44 * 10 / (2 * math.sqrt(101)))
    assert limit == pytest.approx(0.0435, abs=5e-5)
    assert lost == pytest.approx(0.0437, abs=6 * math.sqrt(0.042 / 100_000))


def test_floating_is_said_and_proves_nothing():
    certificate = nw.mechanisms.spherical_laplace(epsilon=1, dimension=7).certificate()
    assert certificate.numerics == "floating"
    with pytest.raises(CertificateError, match="floating: a theorem holds for real numbers, but nothing is proved"):
        certificate.verify()
    relabelled = {**certificate.document, "numerics": "exact"}
    relabelled["digest"] = checker.digest(relabelled)
    with pytest.raises(CertificateError, match="does not prove"):
        nw.Certificate(relabelled).verify()


def test_an_exact_certificate_that_calls_itself_floating_is_not_proved():
    document = {**nw.mechanisms.product_laplace(epsilon=1, dimension=2).certificate().document, "numerics": "floating"}
    document["digest"] = checker.digest(document)
    with pytest.raises(checker.NotProved, match="floating"):
        checker.check(document)


def test_uniform_numbers_never_touch_the_ends():
    class Ends:
        for_release, label = False, "ends"

        def words(self, count):
            return np.array([0, (1 << 64) - 1] * count, dtype=np.uint64)[:count]

    assert _uniform(2, Ends()).tolist() == [2.0**-54, 1 - 2.0**-53]
    assert np.isfinite(spherical_noise(1, 4, 10, Ends())).all()


def test_numpy_global_state_is_not_used():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = nw.mechanisms.spherical_laplace(epsilon=1, dimension=3).release((0.0, 0.0, 0.0))
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    assert first != nw.mechanisms.spherical_laplace(epsilon=1, dimension=3).release((0.0, 0.0, 0.0))


def test_high_dimension_and_many_rows():
    wide = nw.mechanisms.spherical_laplace(epsilon=1, dimension=3000)
    assert np.linalg.norm(wide.release(np.zeros(3000))) == pytest.approx(3000, rel=0.15)
    assert wide.constant >= 0
    assert nw.mechanisms.spherical_laplace(epsilon=1, dimension=2).release(np.zeros((600_000, 2))).shape == (600_000, 2)


# Product


def test_product_coordinates_are_independent_discrete_laplace():
    mechanism = nw.mechanisms.product_laplace(epsilon="1/2", dimension=3, lattice=1)
    draws = mechanism.release(np.zeros((100_000, 3)), np.random.default_rng(41))
    a = math.exp(-0.5)
    for column in draws.T:
        counts = np.array([(column == k).sum() for k in range(-12, 13)])
        expected = np.array([(1 - a) / (1 + a) * a ** abs(k) for k in range(-12, 13)]) * len(draws)
        rest = len(draws) - expected.sum()
        assert stats.chisquare(np.append(counts, len(draws) - counts.sum()), np.append(expected, rest)).pvalue > LEVEL
    assert np.abs(np.corrcoef(draws.T) - np.eye(3)).max() < 6 / math.sqrt(len(draws))


def test_product_is_private_for_the_manhattan_metric_and_not_for_the_euclidean_one():
    mechanism = nw.mechanisms.product_laplace(epsilon=1, dimension=2)
    assert mechanism.guarantee.metric == LatticePoints(nw.metrics.Manhattan(), mechanism.lattice)
    assert mechanism.certificate().numerics == "exact"
    assert mechanism.certificate().verify() == "epsilon = 1 per unit of manhattan between points of the lattice 2^-10"
    # 07: i.i.d. one-dimensional noise is the L1 mechanism: along a diagonal it loses sqrt(2) per unit of length
    steps, scale = 512, mechanism.steps
    assert scale == 1 / (mechanism.epsilon * mechanism.lattice.step)
    assert mechanism.scale == 1
    loss = float(2 * steps / scale)
    assert loss == pytest.approx(mechanism.guarantee.bound(2 * steps * float(mechanism.lattice.step)))
    assert mechanism.map(2 * steps * float(mechanism.lattice.step)) == pytest.approx(float((2 * steps + 1) / scale))
    assert loss > 1.4 * math.hypot(steps, steps) * float(mechanism.lattice.step)
    assert nw.audit(mechanism).value == pytest.approx(1)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_loss_across_a_rounding_border_is_within_the_map(n):
    """Vectors a hair apart beside a border in every coordinate: each of them is rounded a whole step apart."""
    mechanism = nw.mechanisms.product_laplace(epsilon="1/2", dimension=n, lattice="1/4")
    first, second = (0.125 - 2.0**-30,) * n, (0.125,) * n
    steps = int(np.abs(np.subtract(*mechanism.lattice.indices([first, second]))).sum())
    loss = float(steps / mechanism.steps)  # reached at outputs beyond either vector
    assert steps == n
    assert loss == n / 8
    assert loss == mechanism.map(n * 2.0**-30)  # and no more is said than can happen
    assert mechanism.guarantee.metric.distance(first, second) == n / 4
    assert mechanism.guarantee.bound(n / 4) == loss
    assert str(nw.audit(mechanism).metric) == str(mechanism.guarantee.metric)
    assert mechanism.map(0) == 0
    assert mechanism.map(math.inf) == math.inf
    with pytest.raises(ParameterError, match="a distance is 0 or more"):
        mechanism.map(-1.0)


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.floats(-9, 9), min_size=2 * n, max_size=2 * n)))
def test_the_map_covers_all_pairs_of_vectors(coordinates):
    n = len(coordinates) // 2
    mechanism = nw.mechanisms.product_laplace(epsilon=1, dimension=n, lattice="1/2")
    x, y = coordinates[:n], coordinates[n:]
    steps = int(np.abs(np.subtract(*mechanism.lattice.indices([x, y]))).sum())
    apart = float(sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(x, y, strict=True)))
    assert float(steps / mechanism.steps) <= mechanism.map(apart * (1 + 2.0**-50))
    assert mechanism.guarantee.metric.distance(x, y) == steps / 2


def test_a_forged_lattice_in_the_name_of_the_metric_is_refused():
    certificate = nw.mechanisms.product_laplace(epsilon=1, dimension=3).certificate()
    assert certificate.verify() == "epsilon = 1 per unit of manhattan between points of the lattice 2^-10"
    for other in (-9, -11, 0):
        claim = {**certificate.document["claim"], "metric": {"base": "manhattan", "lattice": other}}
        document = {**certificate.document, "claim": claim}
        with pytest.raises(CertificateError, match="not the one that the noise is on"):
            nw.Certificate({**document, "digest": checker.digest(document)}).verify()


def test_product_errors_cover_draws():
    for n in (1, 2, 5):
        mechanism = nw.mechanisms.product_laplace(epsilon=2, dimension=n, lattice="1/2")
        points = np.full((100_000, n), 0.25)  # half-way between lattice points: the worst rounding
        apart = np.linalg.norm(mechanism.release(points, np.random.default_rng(42)) - points, axis=1)
        assert apart.mean() <= mechanism.error() + 6 * apart.std() / math.sqrt(len(apart))
        assert (apart**2).mean() == pytest.approx(mechanism.error("squared"), rel=0.03)
    assert nw.mechanisms.product_laplace(epsilon=2, dimension=1).error() == pytest.approx(0.5, rel=1e-3)
    assert nw.mechanisms.product_laplace(epsilon=2, dimension=4).error("squared") == pytest.approx(4 * 2 / 4, rel=1e-3)
    assert nw.mechanisms.product_laplace(epsilon=2, dimension=4).error("zero-one") == 1


def test_shapes_and_refusals():
    for make in (nw.mechanisms.spherical_laplace, nw.mechanisms.product_laplace):
        mechanism = make(epsilon=1, dimension=3)
        single = mechanism.release((1, 2, 3), np.random.default_rng(1))
        assert isinstance(single, tuple)
        assert single == tuple(mechanism.release([(1, 2, 3)], np.random.default_rng(1))[0].tolist())
        assert mechanism.release([]).shape == (0, 3)
        for bad in ([(1, 2)], [1.0], [[math.nan, 0, 0]], [["a", "b", "c"]], 3):
            with pytest.raises(DataError):
                mechanism.release(bad)
        for bad in (0, -3, 2.0, "3", True, 1 << 30):
            with pytest.raises(ParameterError, match="dimension"):
                make(epsilon=1, dimension=bad)
        with pytest.raises(ParameterError, match="no loss called"):
            mechanism.error("cubic")
        with pytest.raises(ParameterError, match="infinitely many outputs"):
            mechanism.channel()
        assert mechanism.epsilon == Fraction(1)
