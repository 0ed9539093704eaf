"""The truncated Laplace law of real numbers, and the lattice law's sums, against quadrature and direct sums."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranged_support import points_of, range_sets
from scipy.integrate import quad

from noisewright.exceptions import ParameterError
from noisewright.mechanisms.numeric.feasible_sets import Feasible
from noisewright.mechanisms.numeric.laplace_distribution import LatticeLaw, TruncatedLaplace, geometric_moments

SETS = {
    "line": None,
    "interval": (0, 4),
    "half line": (0, None),
    "half line down": (None, 1),
    "gaps": [(None, -1), (0, 1), (1.5, 4), (7, None)],
    "short": [(0, 1e-6), (2e-6, 3e-6)],
}


def places(feasible):
    ends = [float(e) for c in feasible.components for e in c if e is not None] or [0.0]
    middles = [float(lo + hi) / 2 for lo, hi in feasible.components if lo is not None and hi is not None]
    return [*ends, *middles]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_moments_agree_with_quadrature(name, scale):
    feasible = Feasible.parse(SETS[name])
    law = TruncatedLaplace(feasible, scale)
    far = 45 * scale
    for mu in places(feasible):
        pieces = []
        for lo, hi in feasible.components:
            low = min(mu, float(hi or mu)) - far if lo is None else float(lo)
            high = max(mu, float(lo or mu)) + far if hi is None else float(hi)
            pieces.extend([(low, mu), (mu, high)] if low < mu < high else [(low, high)])
        unit = min(scale, max(b - a for a, b in pieces))

        def integral(weight, pieces=pieces, mu=mu):
            return sum(quad(lambda x: weight(x) * float(law.density(x, mu)), a, b, limit=200)[0] for a, b in pieces)

        assert integral(lambda x: 1.0) == pytest.approx(1, abs=1e-8)
        assert float(law.mean(mu)) == pytest.approx(integral(lambda x: x), abs=1e-7 * unit + 1e-12)
        assert float(law.error(mu)) == pytest.approx(integral(lambda x, mu=mu: abs(x - mu)), abs=1e-7 * unit)
        assert float(law.error(mu, "squared")) == pytest.approx(
            integral(lambda x, mu=mu: (x - mu) ** 2), abs=1e-6 * unit**2
        )
        mean = float(law.mean(mu))
        assert float(law.variance(mu)) == pytest.approx(
            integral(lambda x, mean=mean: (x - mean) ** 2), abs=1e-6 * unit**2
        )


@pytest.mark.parametrize("name", SETS)
def test_quantile_inverts_cdf(name):
    feasible = Feasible.parse(SETS[name])
    law = TruncatedLaplace(feasible, 0.7)
    p = np.array([1e-9, 1e-3, 0.1, 0.25, 0.4999, 0.5, 0.75, 0.999, 1 - 1e-9])
    for mu in places(feasible):
        x = law.quantile(p, mu)
        assert (np.diff(x) >= 0).all()
        assert np.abs(law.cdf(x, mu) - p).max() < 1e-9
        assert np.isfinite(law.density(x, mu)).all()
    table = law.quantile(p[:, None], np.array(places(feasible))[None, :])
    assert table.shape == (p.size, len(places(feasible)))


def test_cdf_is_flat_in_gaps_and_reaches_both_ends():
    law = TruncatedLaplace(Feasible.parse([(0, 1), (2, 3)]), 1.0)
    assert law.cdf([-1, 3.5], 0.5).tolist() == [0.0, 1.0]
    assert float(law.cdf(1.0, 0.5)) == pytest.approx(float(law.cdf(1.9, 0.5)), rel=1e-14)
    assert float(law.density(1.5, 0.5)) == 0.0


def test_the_law_of_one_point_of_a_half_line_is_exponential():
    law = TruncatedLaplace(Feasible.parse((0, None)), 2.0)
    x = np.linspace(0, 9, 10)
    assert np.allclose(law.density(x, 0.0), np.exp(-x / 2) / 2, rtol=1e-14)
    assert np.allclose(law.quantile(1 - np.exp(-x[1:] / 2), 0.0), x[1:], rtol=1e-12)


def test_bad_arguments_are_refused():
    with pytest.raises(ParameterError, match="scale"):
        TruncatedLaplace(Feasible.parse(), math.inf)
    law = TruncatedLaplace(Feasible.parse((0, 1)), 1.0)
    with pytest.raises(ParameterError, match="feasible"):
        law.mean(2.0)
    with pytest.raises(ParameterError, match="strictly between"):
        law.quantile(0.0, 0.5)
    with pytest.raises(ParameterError, match="loss"):
        law.error(0.5, "log")
    assert pickle.loads(pickle.dumps(law)) == law


@given(st.floats(1e-9, 3), st.lists(st.integers(0, 300), min_size=1, max_size=5))
def test_geometric_moments_are_the_sums(rate, counts):
    found = geometric_moments(rate, np.array(counts, dtype=float))
    for column, count in enumerate(counts):
        t = np.arange(count)
        for p in range(3):
            assert found[p, column] == pytest.approx(math.fsum(t**p * np.exp(-rate * t)), rel=1e-12, abs=1e-300)
    endless = geometric_moments(0.5, np.array([math.inf]))[:, 0]
    t = np.arange(300)
    assert np.allclose(endless, [(t**p * np.exp(-0.5 * t)).sum() for p in range(3)], rtol=1e-12)


@given(range_sets(), st.floats(0.05, 2))
def test_lattice_normalisers_and_errors_are_the_sums(ranges, rate):
    law = LatticeLaw(rate, ranges)
    inputs = points_of(ranges, 3)
    outputs = np.array(points_of(ranges, 1200))
    which = np.array(
        [
            next(k for k, (lo, hi) in enumerate(ranges) if (lo is None or lo <= i) and (hi is None or i <= hi))
            for i in inputs
        ]
    )
    apart = np.abs(np.array(inputs)[:, None] - outputs[None, :])
    weights = np.exp(-rate * apart)
    z = weights.sum(axis=1)
    i = np.array(inputs)
    assert np.allclose(law.log_normaliser(which, i), np.log(z), atol=1e-10)
    assert np.allclose(law.expected("absolute", which, i), (weights * apart).sum(axis=1) / z, rtol=1e-9)
    assert np.allclose(law.expected("squared", which, i), (weights * apart**2).sum(axis=1) / z, rtol=1e-9)
    assert np.allclose(law.expected("zero-one", which, i), 1 - 1 / z, rtol=1e-9)
    ratios = law.log_ratio(which[:-1], i[:-1], which[1:], i[1:])
    assert np.allclose(ratios, np.diff(np.log(z)), atol=1e-10)
